r"""Removal of HTML from texts before they are read, and of addresses and phone numbers before they are shown.

The patterns of HTML are plain enough for JavaScript, which runs them with the flags "gi": the report's page does as
`without_markup`. None looks back, and none can match across the beginning of another match, so that the time they
take grows with the length of a text and no faster, whatever it holds.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

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
    """
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "<" in text:
        for pattern, blank in _REPLACEMENTS:
            text = pattern.sub(blank, text)
    return text


#: Replacements of e-mail addresses and phone numbers.
EMAIL_MASK, PHONE_MASK = "[e-mail]", "[phone]"

_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]++@(?:[\w-]++\.)+[^\W\d_][\w-]*\w")
#: A separator of groups of digits; characters that cannot precede a number: of a word, a price, an order, a decimal.
_SEP, _START = r"[ \xa0.\-\u2010\u2011\u2013]", r"(?<![\w$€£#])(?<![0-9][.,])"
_PHONE = re.compile(
    "(?:"
    # +44 (0)20 7946 0958
    rf"\+\(?[1-9](?:[()]?{_SEP}?[()]?[0-9]){{7,14}}"
    # 004917612345678
    rf"|{_START}00[1-9](?:{_SEP}?[0-9]){{7,12}}"
    # 0171 1234567, (020) 7946 0958, 030/1234567; 01-02-2019 10 is a date
    rf"|(?:\(|{_START})(?![0-9]{{2}}{_SEP}[0-9]{{2}}{_SEP}(?:19|20)[0-9]{{2}}(?![0-9]))"
    rf"0[1-9](?:[0-9]{{1,3}}[ ]?/(?=[ 0-9]))?(?:\)?{_SEP}?[0-9]){{7,10}}"
    # (555) 123-4567, 1-555-123-4567, 555.123.4567
    rf"|(?:(?:{_START}1{_SEP}?)?\([2-9][0-9]{{2}}\){_SEP}{{0,2}}|{_START}(?:1{_SEP})?[2-9][0-9]{{2}}(?:{_SEP}|/))"
    rf"[0-9]{{3}}{_SEP}?[0-9]{{4}}"
    # 5551234567, but neither 1000000000 nor 1111111111
    rf"|{_START}(?![0-9]*([0-9])\1{{5}})[0-9]{{10,15}}"
    ")(?![0-9])"
)


def masked_characters(text: str) -> Sequence[str]:
    """Return the display of each character: itself, or for an e-mail address or phone number a mask and then "".

    A stretch of a text can thus be cut by positions in the unmasked text. Phone numbers have a country code, an area
    code or at least ten digits; shorter ones cannot be distinguished from other numbers.
    """
    characters: list[str] | None = None
    unmasked = text
    for pattern, mask in ((_EMAIL, EMAIL_MASK), (_PHONE, PHONE_MASK)):
        # Repeated after matches are blanked out: a number may be recognised as such only without the one before it.
        while spans := [match.span() for match in pattern.finditer(unmasked)]:
            characters = characters or list(text)
            for start, end in spans:
                characters[start:end] = [mask, *[""] * (end - start - 1)]
            unmasked = pattern.sub(lambda match: "]" * len(match[0]), unmasked)
    return characters or text
