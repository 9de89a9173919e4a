"""Texts cut into sentences and words in plain Python: the compiled pass must give the same bits."""

import numpy as np

from textsignal.data.rows import checked_texts
from textsignal.text.sentences import BEFORE_ITEM, END, HELD, LAST_WORD, LONGEST, PART, PAUSE, SHORT_FORMS, TITLES, WORD
from textsignal.text.tokenise import negates, normalise
from textsignal.text.tokens import PAUSES, SCOPE, WORD_OR_PAUSE, SentenceTexts, negation_of

ENDINGS = frozenset(word[-2:] for word in TITLES | SHORT_FORMS)


def read_sentences(texts, language="english", clean=str):
    """Do as `textsignal.text.tokens.read_sentences` does."""
    given = checked_texts(texts)
    cleaned = [clean(text) for text in given]
    numbers, codes, under, ends = {}, [], [], [0]
    spans = [sentence_spans(text) for text in cleaned]
    for text, of_text in zip(cleaned, spans, strict=True):
        for start, end in of_text:
            left = 0
            for token in WORD_OR_PAUSE.findall(normalise(f" {' '.join(text[start:end].split())} ")):
                if token in PAUSES:
                    left = 0
                    continue
                codes.append(numbers.setdefault(token, len(numbers)))
                under.append(left > 0)
                left = SCOPE if negates(token, language) else max(0, left - 1)
            ends.append(len(codes))
    _, content = negation_of(list(numbers), language)
    codes, under = np.array(codes, np.int32), np.array(under, bool)
    return SentenceTexts(
        texts=cleaned,
        documents=np.repeat(np.arange(len(cleaned)), [len(of_text) for of_text in spans]),
        spans=np.array([span for of_text in spans for span in of_text], np.int64).reshape(-1, 2),
        words=list(numbers),
        codes=codes,
        indptr=np.array(ends, np.int64),
        under=under,
        negated=under & content[codes],
        cleaned=np.array([before != after for before, after in zip(given, cleaned, strict=True)], dtype=bool),
    )


def sentence_spans(text):
    """Start and end of every sentence with a word, without the space around it, in order."""
    spans = []
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


def _ends(text):
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


def _is_short(text, start, stop):
    """True if the full stop at `stop` belongs to a short form, an initial or the number of a list's item."""
    ending = text[max(0, stop - 2) : stop].lower()
    if text[stop] != "." or (len(ending) == 2 and ending.isalpha() and ending not in ENDINGS):
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


def _is_wrapped(text, start, end):
    """True if the line break from `start` to `end` is inside a sentence: between small letters, no empty line."""
    if "\n" in text[start + 1 : end] or not text[end : end + 1].islower():
        return False
    before = start - text.endswith("\r", 0, start)
    while before and text[before - 1] in " \t":
        before -= 1
    last = text[max(0, before - 1) : before]
    return last.islower() or last == ","


def _parts(text, start, end):
    """Parts of a very long run, cut at its pauses."""
    first, last, words = start, start, 0
    for pause in PAUSE.finditer(text, start, end):
        words += len(WORD.findall(text, last, pause.start()))
        last = pause.end()
        if words >= PART and last < end:
            yield first, first + len(text[first:last].rstrip())
            first, words = last, 0
    yield first, end
