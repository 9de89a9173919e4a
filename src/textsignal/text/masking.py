"""E-mail addresses and phone numbers, which are masked wherever people read the texts of others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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


def masked(text: str) -> str:
    """Return a text with e-mail addresses and phone numbers masked.

    Phone numbers have a country code, an area code or at least ten digits; shorter ones cannot be distinguished from
    other numbers.

    Examples
    --------
    >>> masked("Ask for Ann (ann.lee@example.com, 555-123-4567): room 1204, $1,250 for 2019-05-01 to 2019-05-08.")
    'Ask for Ann ([e-mail], [phone]): room 1204, $1,250 for 2019-05-01 to 2019-05-08.'
    """
    return "".join(masked_characters(text))


def masked_characters(text: str) -> Sequence[str]:
    """Return for each character what is shown of it: itself, or of a masked stretch the mask first and then "".

    A stretch of a text can thus be cut by positions in the unmasked text.

    Examples
    --------
    >>> "".join(masked_characters("Mail a@b.org or call.")[5:15])
    '[e-mail] or'
    """
    characters: list[str] | None = None
    for start, end, mask in _stretches(text):
        characters = characters or list(text)
        characters[start:end] = [mask, *[""] * (end - start - 1)]
    return characters or text


def _stretches(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and mask of every masked stretch.

    The search is repeated after matches are blanked out: a number may be recognised as such only without the number
    before it, and masking a masked text must find nothing more.
    """
    for pattern, mask in ((_EMAIL, EMAIL_MASK), (_PHONE, PHONE_MASK)):
        while stretches := [match.span() for match in pattern.finditer(text)]:
            yield from ((*stretch, mask) for stretch in stretches)
            text = pattern.sub(lambda match: "]" * len(match[0]), text)
