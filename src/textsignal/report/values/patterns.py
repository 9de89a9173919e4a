r"""Python's patterns as JavaScript writes them, for regular expressions with the flag "u".

There `\w`, `\d`, `\s` and `\b` know less of Unicode than Python's, no quantifier is possessive (ours are for speed
alone), and groups are named without a P.
"""

from __future__ import annotations

import re

_LETTER = r"\p{L}\p{N}_"
#: What is space to Python, inside a class.
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: Classes of Python that JavaScript can only name as a whole: letters, and letters and digits.
_WHOLE = {r"[^\W\d_]": r"[\p{L}\p{Nl}\p{No}]", r"[^\W_]": r"[\p{L}\p{N}]"}
_INSIDE = {r"\w": _LETTER, r"\s": SPACE, r"\d": r"\p{Nd}"}
_BOUNDARY = rf"(?:(?<=[{_LETTER}])(?![{_LETTER}])|(?<![{_LETTER}])(?=[{_LETTER}]))"
_OUTSIDE = {name: f"[{members}]" for name, members in _INSIDE.items()} | {
    r"\b": _BOUNDARY,
    "(?P<": "(?<",
    "$": r"(?=\n?$)",
    **{f"{quantifier}+": quantifier for quantifier in ("*", "+", "?", "}")},
}
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_PART = re.compile(rf"({_CLASS.pattern})|(\\.|\(\?P<|[*+?}}]\+|\$|.)", re.DOTALL)


def javascript(pattern: str) -> str:
    r"""A pattern of Python's `re` for JavaScript's "u" flag.

    Examples
    --------
    >>> javascript(r"(?P<word>[^\W_]+)*+\d")
    '(?<word>[\\p{L}\\p{N}]+)*[\\p{Nd}]'
    """
    return _PART.sub(_translated, pattern)


def _translated(part: re.Match[str]) -> str:
    if part[1] is None:
        return _OUTSIDE.get(part[2], part[2])
    if part[1] in _WHOLE:
        return _WHOLE[part[1]]
    return re.sub(r"\\.", lambda escape: _INSIDE.get(escape[0], escape[0]), part[1], flags=re.DOTALL)
