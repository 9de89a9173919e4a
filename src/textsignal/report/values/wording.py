"""How a report writes names, texts and changes."""

from __future__ import annotations

import re
from pathlib import Path


def one_line(text: str) -> str:
    r"""A text that can stand in a chart, which control characters would bring down.

    Examples
    --------
    >>> one_line(" a\tb\n c")
    'a b c'
    """
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""A text with control characters as their pictures and half surrogates as the replacement character.

    Examples
    --------
    >>> visible("a\x00b\ud800")
    'a␀b�'
    """
    return "".join(map(_sign, text))


def _sign(character: str) -> str:
    code = ord(character)
    if code < 32 and character not in "\n\t":
        return chr(0x2400 + code)
    if 127 <= code < 160:
        return "␡"
    return "�" if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE else character


def cut(text: str, length: int) -> str:
    """A text of so many characters at most.

    Examples
    --------
    >>> cut("The Grand Hotel", 9), cut("Inn", 9)
    ('The Gran…', 'Inn')
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def without_place(argument: str) -> str:
    """An argument of a command without the way to a file: nobody else's machine has it, and it may say who made it.

    What lies below the current folder is named from there, anything else by its own name.

    Examples
    --------
    >>> without_place("/home/me/reviews.csv"), without_place("--page=/srv/page.md"), without_place("out/model")
    ('reviews.csv', '--page=page.md', 'out/model')
    """
    name, equals, value = ("", "", argument) if Path(argument).is_absolute() else argument.partition("=")
    path, here = Path(value), Path.cwd()
    if not path.is_absolute():
        return argument
    return f"{name}{equals}{path.relative_to(here) if path.is_relative_to(here) else path.name}"


def count(value: float) -> str:
    """A number of things.

    Examples
    --------
    >>> count(12345)
    '12,345'
    """
    return f"{value:,.0f}"


def percent(share: float, digits: int = 0) -> str:
    """A share of one.

    Examples
    --------
    >>> percent(0.125), percent(0.3456, 1)
    ('12%', '34.6%')
    """
    return f"{share:.{digits}%}"


def number(value: float, digits: int = 2) -> str:
    """A number with its minus as typographers write it; a dash where there is none.

    Examples
    --------
    >>> number(-1.234), number(-0.001), number(float("nan"))
    ('−1.23', '0.00', '–')
    """
    return "–" if value != value else f"{value:z.{digits}f}".replace("-", "−")


def signed_number(value: float, digits: int = 2) -> str:
    """A number with its sign, which nothing has none of.

    Examples
    --------
    >>> signed_number(0.421), signed_number(-0.421), signed_number(-0.001)
    ('+0.42', '−0.42', '0.00')
    """
    written = number(value, digits)
    return f"+{written}" if value > 0 and set(written) & set("123456789") else written


def short_numbers(text: str) -> str:
    """A text with at most three digits of any number that has more behind its point.

    Examples
    --------
    >>> short_numbers("Gaussian(deviation=2.224782041965393)")
    'Gaussian(deviation=2.22)'
    """
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.3g}", text)
