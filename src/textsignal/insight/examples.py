"""Example texts and sentences: those that show best what a theme is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import check_trainable
from textsignal.training.contributions import ThemeEffects
from textsignal.training.theme_reading import ThemeReading

#: Least share of a theme in its example sentences; fewest and most words of these.
LEAST_SHARE, LEAST_WORDS, MOST_WORDS = 0.5, 4, 40
#: A sentence with this many content terms counts half as typical as a long one.
FEW_TERMS = 2
#: Tone is capped at this quantile of a theme's sentences, as extremes are not typical.
EXTREME = 0.9
#: Documents with a high or low response are chosen from this many times `n` of the most typical ones.
TYPICAL = 5


def sentence_contributions(reading: ThemeReading, effects: ThemeEffects) -> tuple[Vector, Vector]:
    """Return (sentences,) contributions to the linear predictor of the tone and of the themes of each sentence.

    sum_k p_k gamma_k * its tone,        sum_k p_k beta_k * its share of its document's words
    """
    texts = reading.texts
    words = np.diff(texts.indptr) / np.maximum(texts.n_words, 1)[texts.documents]
    return reading.places @ effects.gamma * reading.sentence_tone, reading.places @ effects.beta * words


def sentence_table(reading: ThemeReading, effects: ThemeEffects, labels: list[str]) -> pd.DataFrame:
    """Return one row per sentence of all texts.

    Columns: text (its position), sentence, start, end (position in the text), theme and label (of the main one), share
    (of that), tone and speaking (contributions of its tone and of its themes), contribution (both).
    """
    texts, main = reading.texts, reading.places.argmax(axis=1)
    tone, speaking = sentence_contributions(reading, effects)
    return pd.DataFrame(
        {
            "text": texts.documents,
            "sentence": _sentences(reading, np.arange(len(main))),
            "start": texts.spans[:, 0],
            "end": texts.spans[:, 1],
            "theme": main,
            "label": [labels[k] for k in main],
            "share": reading.places[np.arange(len(main)), main],
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
        }
    )


def find_sentences(
    reading: ThemeReading, effects: ThemeEffects, theme: int, n: int, raising: bool | None, responses: Vector
) -> pd.DataFrame:
    """Return example sentences of a theme, at most one per document, without repeats.

    raising : True for sentences whose tone raises the response, False for lowers, None for the most typical ones.
    responses : (documents,). Columns: row, sentence, response, share (of the theme), contribution.
    """
    about = _typical(reading, theme)
    tone, speaking = sentence_contributions(reading, effects)
    score = about
    if raising is not None:
        # Rescaled as if each sentence were the whole text: in a long text the same sentence contributes less.
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
            "share": reading.places[rows, theme],
            "contribution": (tone + speaking)[rows],
        }
    )


def _typical(reading: ThemeReading, theme: int) -> Vector:
    """(sentences,) score of each as an example of a theme; 0 if unsuitable."""
    n_terms = np.diff(reading.units.indptr)
    words = np.diff(reading.texts.indptr)
    fits = (words >= LEAST_WORDS) & (words <= MOST_WORDS) & (reading.places[:, theme] >= LEAST_SHARE) & (n_terms > 0)
    return np.where(fits, reading.places[:, theme] * n_terms / (n_terms + FEW_TERMS), 0.0)


def _sentences(reading: ThemeReading, rows: NDArray[np.int64]) -> pd.Series:
    texts = reading.texts
    found = [
        texts.texts[i][start:end]
        for i, (start, end) in zip(texts.documents[rows].tolist(), texts.spans[rows].tolist(), strict=True)
    ]
    return pd.Series(found, dtype=object)  # may hold lone surrogates


def _different(reading: ThemeReading, ordered: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """First n of these sentences with different documents and different words."""
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


def find_texts(
    theme: int,
    n: int,
    high: bool | None,
    texts: Sequence[str],
    responses: Vector,
    predictions: Predictions,
    metadata: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return texts in which a theme leads: row, text, response, prediction, share (of the theme), and `metadata`.

    high : True for the highest responses among the most typical texts (with a large share of the theme), False for the
        lowest, None for the most typical ones whatever their response.
    responses : (texts,) NaN if missing.
    """
    if high is not None and np.isnan(responses).all():
        raise InputError("none of these texts has a response; give responses, or high=None to do without")
    check_trainable(predictions.family, "typical texts")
    share = predictions.shares[:, theme]
    leads = np.argmax(predictions.shares, axis=1) == theme
    if high is not None:
        leads &= ~np.isnan(responses)
    typical = np.flatnonzero(leads)
    typical = typical[np.argsort(-share[typical], kind="stable")]
    if high is not None:
        typical = typical[: TYPICAL * n]
        typical = typical[np.argsort(responses[typical] * (-1 if high else 1), kind="stable")]
    rows = typical[:n]
    examples = pd.DataFrame(
        {
            "row": rows,
            "text": pd.Series([texts[i] for i in rows], dtype=object),  # may hold lone surrogates
            "response": responses[rows],
            "prediction": predictions.mean[rows],
            "share": share[rows],
        }
    )
    return examples if metadata is None else _with_metadata(examples, metadata, len(texts))


def _with_metadata(found: pd.DataFrame, metadata: pd.DataFrame, n_texts: int) -> pd.DataFrame:
    if len(metadata) != n_texts:
        raise InputError(f"{n_texts} texts, but {len(metadata)} rows of metadata; give one for each text")
    taken = [str(name) for name in metadata.columns if name in found.columns]
    if taken:
        raise InputError(f"metadata has columns with reserved names: {', '.join(taken)}; rename or remove them")
    return pd.concat([found, metadata.iloc[found["row"]].reset_index(drop=True)], axis=1)
