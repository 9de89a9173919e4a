"""Sentences that show what a theme is and how people speak of it, with the words that carry their tone marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textsignal.insight.naming import Naming
from textsignal.insight.theme_sentences import find_sentences
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import Excerpt, Floats, Quote, QuoteGroup, Segment
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.evidence import TEXT_CAP, excerpt_of, response_of, segments
from textsignal.report.values.wording import visible
from textsignal.text.tokenise import located_words
from textsignal.text.tokens import SentenceTexts
from textsignal.training.theme_reading import FittedThemes, ThemeReading

#: Sentences shown of each kind.
SHOWN = 3
#: A word is marked that adds at least this part of what the strongest word of its sentence adds.
MARKED = 0.35


def sentence_quotes(
    reader: ThemeReader, documents: ReportTexts, theme: int, added: Floats, naming: Naming
) -> tuple[QuoteGroup, ...]:
    """Sentences that speak well of a theme, and those that speak badly of it; added : of `word_contributions`."""
    reading = documents.reading.sentences
    assert reading is not None
    groups = []
    for sign, title in ((1, f"Spoken of {naming.ways[1]}"), (-1, f"Spoken of {naming.ways[0]}")):
        raising = sign * documents.spoken.better > 0
        found = find_sentences(reading, reader.fitted.effects, theme, SHOWN, raising, documents.responses)
        places = zip(found["row"].tolist(), found["sentence"].tolist(), strict=True)
        quotes = (_quote(documents, reading.texts, _place(reading.texts, *place), added) for place in places)
        groups.append(QuoteGroup(title, sign, tuple(quotes)))
    return tuple(groups)


def _place(texts: SentenceTexts, document: int, sentence: str) -> int:
    """The number of a sentence of a document."""
    first, last = np.searchsorted(texts.documents, [document, document + 1]).tolist()
    spans = texts.spans[first:last].tolist()
    return next(first + i for i, (start, end) in enumerate(spans) if texts.texts[document][start:end] == sentence)


def _quote(documents: ReportTexts, texts: SentenceTexts, sentence: int, added: Floats) -> Quote:
    row = int(texts.documents[sentence])
    text, (start, end) = texts.texts[row], texts.spans[sentence].tolist()
    alone, words = text[start:end], added[texts.indptr[sentence] : texts.indptr[sentence + 1]]
    shown = documents.shown(row)
    return Quote(
        row=row + 1,
        response=response_of(documents, row),
        prediction=float(documents.mean[row]),
        share=None,
        held_out=bool(documents.held_out[row]),
        excerpt=Excerpt(segments(shown[start:end], tone_marks(alone, documents.spoken.better * words), 0, end - start)),
        around=_around(text, shown, start, end) if alone != text.strip() else None,
    )


def word_contributions(model: FittedThemes, reading: ThemeReading) -> Floats:
    """(all words,) what each adds by its tone to its document's linear predictor."""
    counts = (reading.places @ model.effects.gamma)[reading.texts.sentence_of_word]
    return np.asarray(counts * reading.word_tone(model.features), dtype=float)


def tone_marks(sentence: str, added: Floats) -> list[str]:
    """(characters,) "up" and "down" where a word adds much for better or worse, else "".

    added : (words of the sentence,) what each adds for the better.

    Examples
    --------
    >>> "".join(mark[:1] or "." for mark in tone_marks("so clean", np.array([0.0, 0.3])))
    '...uuuuu'
    """
    marks = [""] * len(sentence)
    tokens = located_words(sentence)
    if len(tokens) != len(added):  # a character that is several words
        return marks
    least = MARKED * np.abs(added).max(initial=0)
    for token, value in zip(tokens, added.tolist(), strict=True):
        if abs(value) >= least and value:
            marks[token.start : token.end] = ["up" if value > 0 else "down"] * (token.end - token.start)
    return marks


def _around(text: str, shown: Sequence[str], start: int, end: int) -> Excerpt:
    """The document around a sentence, which is marked; shown : (characters,) what is shown of each."""
    inside: NDArray[np.int8] = np.zeros(len(text), dtype=np.int8)
    inside[start:end] = 1
    if end - start > TEXT_CAP:
        return Excerpt((Segment(visible("".join(shown[start : start + TEXT_CAP])), "here"),), start > 0, True)
    return excerpt_of(text, shown, inside, ["here" if here else "" for here in inside])
