"""Sentences of a text, by where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Words with a full stop that ends no sentence: before a name or a number, whatever follows; and before a small letter.
_TITLES = """
    mr mrs ms dr prof st mt ft vs jr sr fr no nr approx apt ave blvd rd bldg dept inc ltd tel ca bzw
"""
_SHORT = "etc e.g i.e eg ie a.m p.m am pm u.s u.k d.h z.b usw min max hr hrs"
TITLES, SHORT_FORMS = frozenset(_TITLES.split()), frozenset(_SHORT.split())
#: Full stops of scripts that put no space behind them.
_OTHER_STOPS = "。！？｡।॥؟۔።"
_CLOSING = "\"'”’»)\\]"
#: Where a sentence may end: stops before a space, stops between a small and a capital letter, stops of other scripts,
#: line breaks and bullets.
_END = re.compile(
    rf"(?P<stop>[.!?…]+[{_CLOSING}]*)(?=\s|$)"
    r"|(?<=[^\W\d_])(?P<tight>[.!?…]+)(?=[A-ZÀ-ÖØ-Þ][^\W\d_]*[a-z\s])"
    r"|(?P<ellipsis>\.{2,}|…+)(?=\w)"
    rf"|[{_OTHER_STOPS}]+[{_CLOSING}]*"
    r"|(?P<line>[ \t]*\r?\n\s*)"
    r"|(?=[•▪◦‣●])"
)
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
_WORD = re.compile(r"\w[\w'’]*")
_PAUSE = re.compile(r"[,;:、，；：]+\s*|\s+[-–—]+\s+")
#: A run of more words without a stop is cut at its pauses, into parts of about so many.
LONGEST, PART = 40, 15


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence that holds a word, without the space around it, in order.

    A text that holds no word has no sentence; one without any punctuation is one sentence. A very long run without a
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
        if _holds_a_word(text, start, end):
            part = text[start:end]
            left = start + len(part) - len(part.lstrip())
            spans.extend(_parts(text, left, start + len(part.rstrip())))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    """Where sentences end, the end of the text last."""
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match["stop"] is not None and _is_short(text, start, match):
            continue
        if match["line"] is not None and _is_wrapped(text, match):
            continue
        yield end
        start = end
    yield len(text)


def _is_short(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a full stop belongs to a short form, an initial or the number of a list's item."""
    if match["stop"] != ".":
        return False
    last = _LAST_WORD.search(text, max(start, match.start() - 12), match.start())
    if last is None:
        return False
    word = last[0].lower()
    following = text[match.end() : match.end() + 2].strip()
    if word in TITLES:
        return word != "no" or following[:1].isdigit()
    if word in SHORT_FORMS:
        return not following[:1].isupper()
    is_initial = len(word) == 1 and word.isalpha() and last[0].isupper()
    is_number = word.isdigit() and last.start() - start < 4 and not text[start : last.start()].strip(" \t([-*•")
    return is_initial or is_number


def _is_wrapped(text: str, match: re.Match[str]) -> bool:
    """Whether a line break stands inside a sentence: between small letters, with no empty line."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return match["line"].count("\n") == 1 and (before.islower() or before == ",") and after.islower()


def _holds_a_word(text: str, start: int, end: int) -> bool:
    """Whether there is a letter, a digit or a picture."""
    return any(letter.isalnum() or (letter > "\u203f" and not letter.isspace()) for letter in text[start:end])


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span itself, or its parts where it is a very long run."""
    if end - start <= 2 * LONGEST or sum(1 for _ in _WORD.finditer(text, start, end)) <= LONGEST:
        yield start, end
        return
    first, last, words = start, start, 0
    for pause in _PAUSE.finditer(text, start, end):
        words += sum(1 for _ in _WORD.finditer(text, last, pause.start()))
        last = pause.end()
        if words >= PART and last < end:
            yield first, first + len(text[first:last].rstrip())
            first, words = last, 0
    yield first, end
