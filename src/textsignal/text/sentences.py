"""Sentences of a text, by their positions in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Words whose full stop does not end a sentence: before a name or a number; and before a small letter.
_TITLES = """
    mr mrs ms dr prof st mt ft vs jr sr fr no nr approx apt ave blvd rd bldg dept inc ltd tel ca bzw
"""
_SHORT = "etc e.g i.e eg ie a.m p.m am pm u.s u.k d.h z.b usw min max hr hrs"
TITLES, SHORT_FORMS = frozenset(_TITLES.split()), frozenset(_SHORT.split())
_ENDINGS = frozenset(word[-2:] for word in TITLES | SHORT_FORMS)
STOPS, BULLETS = ".!?…", "•▪◦‣●"
#: Full stops of scripts without a space after them.
OTHER_STOPS = "。！？｡।॥؟۔።"
CLOSING = "\"'”’»)\\]"
CAPITALS, COMMAS, DASHES, QUOTES = "A-ZÀ-ÖØ-Þ", ",;:、，；：", "-–—", "'’"
#: What may stand before the number of a list's item.
BEFORE_ITEM = " \t([-*•"
#: Where a sentence may end: stops before a space, stops between a small and a capital letter, dots before a word, stops
#: of other scripts, line breaks and bullets. One set of characters comes first, which `re` finds much sooner than
#: alternatives; the rest looks back at the character found, and tries a run only at its first character.
END = re.compile(
    rf"[{STOPS}{OTHER_STOPS}\n{BULLETS}](?:"
    rf"(?<=[{STOPS}])(?<![{STOPS}]{{2}})(?P<stop>[{STOPS}]*[{CLOSING}]*)(?=\s|$)"
    rf"|(?<=[^\W\d_][{STOPS}])[{STOPS}]*(?=[{CAPITALS}][^\W\d_]*[a-z\s])"
    r"|(?:(?<=\.)(?<!\.\.)\.+|(?<=…)(?<!……)…*)(?=\w)"
    rf"|(?<=[{OTHER_STOPS}])[{OTHER_STOPS}]*[{CLOSING}]*"
    r"|(?<=\n)(?P<line>\s*)"
    rf"|(?P<bullet>(?<=[{BULLETS}]))"
    r")"
)
LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
WORD = re.compile(rf"\w[\w{QUOTES}]*")
#: A letter, a digit or a picture.
HELD = re.compile("[^\\W_]|[\u2040-\u205e\u2060-\u2fff\u3001-\U0010ffff]")
PAUSE = re.compile(rf"[{COMMAS}]+\s*|\s+[{DASHES}]+\s+")
#: A run of more than `LONGEST` words without a stop is cut at its pauses, into parts of about `PART` words.
LONGEST, PART = 40, 15


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence with a word, without the space around it, in order.

    A text without words has no sentence; one without any punctuation is one sentence. A very long run without a
    full stop is cut at its commas.

    Examples
    --------
    >>> text = "Dr. Who stayed at 3.5 stars... Great view!Noisy, though (very)."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Who stayed at 3.5 stars...', 'Great view!', 'Noisy, though (very).']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        if HELD.search(text, start, end):
            part = text[start:end]
            left = start + len(part) - len(part.lstrip())
            right = start + len(part.rstrip())
            if right - left <= 2 * LONGEST or len(WORD.findall(text, left, right)) <= LONGEST:
                spans.append((left, right))
            else:
                spans.extend(_parts(text, left, right))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    """Where sentences end, the end of the text last."""
    start = 0
    for match in END.finditer(text):
        kind = match.lastgroup
        if kind == "stop":
            if not match["stop"] and _is_short(text, start, match.start()):
                continue
        elif kind == "line" and _is_wrapped(text, *match.span()):
            continue
        start = match.start() if kind == "bullet" else match.end()
        yield start
    yield len(text)


def _is_short(text: str, start: int, stop: int) -> bool:
    """True if the full stop at `stop` belongs to a short form, an initial or the number of a list's item."""
    ending = text[max(0, stop - 2) : stop].lower()
    if text[stop] != "." or (len(ending) == 2 and ending.isalpha() and ending not in _ENDINGS):
        return False
    last = LAST_WORD.search(text, max(start, stop - 12), stop)
    if last is None:
        return False
    word = last[0].lower()
    following = text[stop + 1 : stop + 9].lstrip()[:1]
    if word in TITLES:
        return word != "no" or following.isdigit()
    if word in SHORT_FORMS:
        return not following.isupper()
    is_initial = len(word) == 1 and word.isalpha() and last[0].isupper()
    is_number = word.isdigit() and last.start() - start < 4 and not text[start : last.start()].strip(BEFORE_ITEM)
    return is_initial or is_number


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """True if the line break from `start` to `end` is inside a sentence: between small letters, no empty line."""
    if "\n" in text[start + 1 : end] or not text[end : end + 1].islower():
        return False
    before = start - text.endswith("\r", 0, start)
    while before and text[before - 1] in " \t":
        before -= 1
    last = text[max(0, before - 1) : before]
    return last.islower() or last == ","


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of a very long run, cut at its pauses."""
    first, last, words = start, start, 0
    for pause in PAUSE.finditer(text, start, end):
        words += len(WORD.findall(text, last, pause.start()))
        last = pause.end()
        if words >= PART and last < end:
            yield first, first + len(text[first:last].rstrip())
            first, words = last, 0
    yield first, end
