r"""Text that was a web page: its tags, comments, scripts and entities.

The patterns are plain enough for JavaScript, which runs them with the flags "gi": the report's page does the same as
`without_markup`. None looks back, and none can match across the beginning of another match, so that the time they
take grows with the length of a text and no faster, whatever it holds.
"""

import html
import re

#: An entity with its semicolon: &amp; &#39; &#x2019;
ENTITY = r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});"
#: A comment, up to its end; one that is never closed is left alone.
COMMENT = r"<!--[^<-]*(?:(?:-(?!->)|<(?!!--))[^<-]*)*-->"
#: A script or a style sheet, with all that is in it.
HIDDEN = r"<(script|style)(?=[ \t\r\n\f/>])[^<>]*>[^<]*(?:<(?!/?\1\b)[^<]*)*</\1[ \t\r\n\f]*>"
#: Document types, processing instructions and the like.
DECLARATION = r"<(?:![a-z\[]|\?[a-z])[^<>]*>"
_ATTRIBUTES = r"""(?:[ \t\r\n\f/](?:[^<>"']|"[^"<]*"|'[^'<]*')*)?"""
#: A tag inside a line, which parts no words.
INLINE_TAG = (
    r"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong"
    rf"|sub|sup|tt|u|var|wbr){_ATTRIBUTES}>"
)
#: Any other tag; it ends a line.
TAG = rf"</?[a-z][a-z0-9:_-]*{_ATTRIBUTES}>"

_ENTITY = re.compile(ENTITY, re.IGNORECASE | re.ASCII)
#: What is replaced, in this order, and by what.
REPLACEMENTS = ((COMMENT, " "), (HIDDEN, " "), (DECLARATION, " "), (INLINE_TAG, ""), (TAG, "\n"))
_REPLACEMENTS = [(re.compile(pattern, re.IGNORECASE | re.ASCII), blank) for pattern, blank in REPLACEMENTS]


def without_markup(text: str) -> str:
    r"""Give a text without tags, comments and scripts, and with characters for entities.

    Entities come first, so that a tag written with them (``&lt;br&gt;``) goes too. Tags inside a line leave nothing
    behind, all others end the line: no two words melt into one. What only looks like markup ("<3", "a < b > c",
    "R&D") is left alone, and so is a tag or a comment without end.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text itself where it holds no markup.

    Examples
    --------
    >>> without_markup("<p>Lovely caf&eacute; <3</p><script>alert(1)</script>Fish &amp; <b>ch</b>ips<br>again")
    '\nLovely café <3\n Fish & chips\nagain'
    """
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "<" in text:
        for pattern, blank in _REPLACEMENTS:
            text = pattern.sub(blank, text)
    return text
