r"""HTML in texts: tags, comments, scripts and entities.

The patterns are plain enough for JavaScript, which runs them with the flags "gi": the report's page does as
`without_markup`. None looks back, and none can match across the beginning of another match, so that the time they
take grows with the length of a text and no faster, whatever it holds.
"""

import html
import re

#: An entity with its semicolon: &amp; &#39; &#x2019;
ENTITY = r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});"
#: A comment, up to its end; one that is never closed is kept.
COMMENT = r"<!--[^<-]*(?:(?:-(?!->)|<(?!!--))[^<-]*)*-->"
#: A script or a style sheet, with its content.
HIDDEN = r"<(script|style)(?=[ \t\r\n\f/>])[^<>]*>[^<]*(?:<(?!/?\1\b)[^<]*)*</\1[ \t\r\n\f]*>"
#: Document types, processing instructions and the like.
DECLARATION = r"<(?:![a-z\[]|\?[a-z])[^<>]*>"
_ATTRIBUTES = r"""(?:[ \t\r\n\f/](?:[^<>"']|"[^"<]*"|'[^'<]*')*)?"""
#: A tag inside a line, which does not separate words.
INLINE_TAG = (
    r"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong"
    rf"|sub|sup|tt|u|var|wbr){_ATTRIBUTES}>"
)
#: Any other tag; it ends a line.
TAG = rf"</?[a-z][a-z0-9:_-]*{_ATTRIBUTES}>"

_ENTITY = re.compile(ENTITY, re.IGNORECASE | re.ASCII)
#: Patterns and their replacements, in this order.
REPLACEMENTS = ((COMMENT, " "), (HIDDEN, " "), (DECLARATION, " "), (INLINE_TAG, ""), (TAG, "\n"))
_REPLACEMENTS = [(re.compile(pattern, re.IGNORECASE | re.ASCII), blank) for pattern, blank in REPLACEMENTS]


def without_markup(text: str) -> str:
    r"""Remove tags, comments and scripts from a text, and replace entities by characters.

    Entities are replaced first, so that a tag written with them (``&lt;br&gt;``) is removed too. Tags inside a line are
    deleted, all others end the line, so that no two words merge. Text that only looks like markup ("<3", "a < b > c",
    "R&D") is kept, and so is a tag or a comment without end.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text itself if it contains no markup.

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
