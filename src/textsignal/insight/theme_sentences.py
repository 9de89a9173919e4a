"""Sentences of texts: what each is about and what it adds, and those that show what a theme is."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.training.contributions import ThemeEffects
from textsignal.training.theme_reading import ThemeReading

#: A sentence is shown for a theme that takes up this share of it at least, with so many words.
LEAST_SHARE, LEAST_WORDS, MOST_WORDS = 0.5, 4, 40
#: A sentence of so few content terms counts half as typical as one of many.
FEW_TERMS = 2
#: Tone beyond this quantile of a theme's sentences counts no more: what is extreme is not typical.
EXTREME = 0.9


def sentence_contributions(reading: ThemeReading, effects: ThemeEffects) -> tuple[Vector, Vector]:
    """(sentences,) what each adds to the linear predictor by its tone, and by what it speaks of.

    sum_k p_k gamma_k * its tone,        sum_k p_k beta_k * its share of its document's words
    """
    texts = reading.texts
    words = np.diff(texts.indptr) / np.maximum(texts.n_words, 1)[texts.documents]
    return reading.places @ effects.gamma * reading.sentence_tone, reading.places @ effects.beta * words


def sentence_table(reading: ThemeReading, effects: ThemeEffects, labels: list[str]) -> pd.DataFrame:
    """One row per sentence of all texts.

    Columns: document, sentence, start, end (its place in the text), topic and theme (its main one), share (of that),
    tone and speaking (what it adds by how it speaks, and by what it speaks of), contribution (both).
    """
    texts, main = reading.texts, reading.places.argmax(axis=1)
    tone, speaking = sentence_contributions(reading, effects)
    return pd.DataFrame(
        {
            "document": texts.documents,
            "sentence": _sentences(reading, np.arange(len(main))),
            "start": texts.spans[:, 0],
            "end": texts.spans[:, 1],
            "topic": main,
            "theme": [labels[k] for k in main],
            "share": reading.places[np.arange(len(main)), main],
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
        }
    )


def find_sentences(
    reading: ThemeReading, effects: ThemeEffects, topic: int, n: int, raising: bool | None, responses: Vector
) -> pd.DataFrame:
    """Sentences that show what a theme is, one of a document, none twice.

    raising : True for those whose tone raises the response, False for lowers, None for the most typical ones.
    responses : (documents,). Columns: row, sentence, response, share (of the theme), contribution.
    """
    about = _typical(reading, topic)
    tone, speaking = sentence_contributions(reading, effects)
    score = about
    if raising is not None:
        # As if each sentence stood alone: in a long text it adds less, though it says the same.
        words = np.maximum(np.diff(reading.texts.indptr), 1)
        strength = tone * np.sqrt(reading.texts.n_words[reading.texts.documents] / words) * (1 if raising else -1)
        speaks = (about > 0) & (strength > 0)
        extreme = np.quantile(strength[speaks], EXTREME) if speaks.any() else 1.0
        score = np.where(speaks, about * np.minimum(strength / extreme, 1), 0.0)
    rows = _different(reading, np.argsort(-score, kind="stable")[: int(np.sum(score > 0))], n)
    documents = reading.texts.documents[rows]
    return pd.DataFrame(
        {
            "row": documents,
            "sentence": _sentences(reading, rows),
            "response": responses[documents],
            "share": reading.places[rows, topic],
            "contribution": (tone + speaking)[rows],
        }
    )


def _typical(reading: ThemeReading, topic: int) -> Vector:
    """(sentences,) how well each shows a theme; 0 where it does not."""
    n_terms = np.diff(reading.units.indptr)
    words = np.diff(reading.texts.indptr)
    fits = (words >= LEAST_WORDS) & (words <= MOST_WORDS) & (reading.places[:, topic] >= LEAST_SHARE) & (n_terms > 0)
    return np.where(fits, reading.places[:, topic] * n_terms / (n_terms + FEW_TERMS), 0.0)


def _sentences(reading: ThemeReading, rows: NDArray[np.int64]) -> pd.Series:
    texts = reading.texts
    found = [
        texts.texts[i][start:end]
        for i, (start, end) in zip(texts.documents[rows].tolist(), texts.spans[rows].tolist(), strict=True)
    ]
    return pd.Series(found, dtype=object)  # a text may hold what pandas' own strings cannot


def _different(reading: ThemeReading, ordered: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The first n of these sentences that are of different documents and say different things."""
    chosen: list[int] = []
    used: set[object] = set()
    for row in ordered.tolist():
        words = reading.texts.codes[reading.texts.indptr[row] : reading.texts.indptr[row + 1]].tobytes()
        document = int(reading.texts.documents[row])
        if len(chosen) == n:
            break
        if not {words, document} & used:
            chosen.append(row)
            used |= {words, document}
    return np.array(chosen, dtype=np.int64)
