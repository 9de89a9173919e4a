"""Example texts and clauses: those that show best what a theme is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.reading.themes import Reading
from textsignal.reading.words import UNPLACED
from textsignal.text.scanning import APART
from textsignal.text.tokenise import stop_words
from textsignal.training.contributions import ThemeEffects
from textsignal.training.theme_model import Clauses, FittedThemes, ThemeReading

#: Fewest and most words of an example clause; longer than LONG, it counts less, and so does a part of a sentence.
LEAST_WORDS, MOST_WORDS, LONG, PART = 4, 25, 15, 0.7
#: A clause with this many content terms counts half as typical as a long one.
FEW_TERMS = 2
#: Least share of the content terms of an example that is its theme's, each by how likely the term means that theme.
CERTAIN = 0.5
#: Largest share of the words of an example, without stop words, that are in another one.
ALIKE = 0.5
#: Signs of a clause that is hard to read: sentences and words without a space between them, and a pause after one.
UNREADABLE = re.compile(
    r"[^\W\d_][.!?,;:…][^\W\d_]{2,}|[a-zß-öø-ÿ][A-ZÀ-Þ]|\s[,;.!?]|[-–:;]{2,}|\w- |\n|([^\W\d_]{3,}) +\1 +\1\b"
)
#: Judgements are capped at this quantile of a theme's clauses, as extremes are not typical; and an example of a
#: complaint or of praise is this many times as far from 0 as the neutral zone.
EXTREME, WELL_OUTSIDE = 0.9, 1.5
#: Texts with a high or low response are chosen from this many times `n` of the most typical ones.
TYPICAL = 5
#: Kinds of clauses, by the sign of what they say about the response: for better, neutral, for worse; and of responses
#: of which nothing is better.
KINDS, DIRECTIONS = {1: "praise", 0: "neutral", -1: "complaint"}, {1: "raises", 0: "neutral", -1: "lowers"}


def clause_contributions(
    reading: ThemeReading, clauses: Clauses, effects: ThemeEffects, rows: NDArray[np.int64] | None = None
) -> tuple[Vector, Vector]:
    """Return (clauses,) contributions of the tone and of the theme of each clause to the linear predictor.

    gamma_k * its tone,        beta_k * its share of its text's words

    rows : numbers of clauses; None for all.
    """
    texts, of = reading.texts, slice(None) if rows is None else rows
    places, documents = clauses.places[of], texts.documents[of]
    words = clauses.words[of] / np.maximum(texts.n_words, 1)[documents]
    return effects.gamma[places] * clauses.tone[of], effects.beta[places] * words * clauses.evidence[documents]


def clause_table(
    reading: ThemeReading,
    effects: ThemeEffects,
    labels: Sequence[str],
    better: int,
    unseen: Clauses | None = None,
    among: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """Return one row per clause of all texts, or of some.

    Columns: text (its position), clause, start, end (in the text), theme (-1 if unplaced), label, is_overall, kind,
    judgement (log-odds of praise against complaint), tone and speaking (contributions of its tone and of its theme),
    contribution (both).

    better : 1 if more of the response is better, -1 if less is, 0 if neither.
    unseen : clauses by tone that has not seen the responses, None for that of all texts.
    among : the first of the texts, and the one after the last; None for all.
    """
    clauses = reading.clauses if unseen is None else unseen
    texts, n_themes = reading.texts, len(labels)
    first, last = among or (0, len(texts))
    rows = np.arange(texts.sentence_ends[first], texts.sentence_ends[last])
    tone, speaking = clause_contributions(reading, clauses, effects, rows)
    names, places = np.array([*labels, UNPLACED], dtype=object), clauses.places[rows]
    kinds = DIRECTIONS if better == 0 else KINDS
    of_kinds = np.array([kinds[-1], kinds[0], kinds[1]], dtype=object)
    return pd.DataFrame(
        {
            "text": texts.documents[rows],
            "clause": _clauses(reading, rows),
            "start": texts.spans[rows, 0],
            "end": texts.spans[rows, 1],
            "theme": np.where(places < n_themes, places, -1).astype(np.int64),
            "label": names[places],
            "is_overall": places == n_themes - 1,
            "kind": of_kinds[1 + clauses.kinds[rows] * (better or 1)],
            "judgement": clauses.judgement[rows] * (better or 1),
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
        }
    )


def find_clauses(reading: Reading, theme: int, n: int, kind: int | None) -> pd.DataFrame:
    """Return example clauses of a theme: short, readable and different ones, fewer rather than doubtful.

    At most one of each text.

    kind : 1 for clear cases of clauses that raise the response, -1 for those that lower it, None for the most typical
    ones. Columns: row, clause, response, judgement, contribution.
    """
    read, fitted = reading.clauses, reading.fitted
    judgement, zone = read.clauses.judgement, fitted.words.zone
    score = _typical(read, fitted, theme)
    if kind is not None:
        least, strength = WELL_OUTSIDE * (zone.high if kind > 0 else -zone.low), kind * judgement
        is_kind = (read.clauses.kinds == kind) & (reading.unseen.kinds == kind)
        clear = (score > 0) & is_kind & (strength > least)
        extreme = np.quantile(strength[clear], EXTREME) if clear.any() else 1.0
        score = np.where(clear, score * np.minimum(strength / max(extreme, 1e-12), 1), 0.0)
    ordered = np.argsort(-score, kind="stable")[: int(np.sum(score > 0))]
    rows = _different(read, ordered, n, stop_words(fitted.language))
    tone, speaking = clause_contributions(read, read.clauses, fitted.effects, rows)
    documents = read.texts.documents[rows]
    return pd.DataFrame(
        {
            "row": documents,
            "clause": _clauses(read, rows),
            "response": reading.observed.responses[documents],
            "judgement": judgement[rows],
            "contribution": tone + speaking,
        }
    )


def _typical(reading: ThemeReading, fitted: FittedThemes, theme: int) -> Vector:
    """(clauses,) score of each as an example of a theme; 0 if unsuitable.

    A clause that got its theme from the one before cannot be read by itself.
    """
    n_terms, words = reading.units.sum(axis=1), np.diff(reading.texts.indptr)
    fits = (words >= LEAST_WORDS) & (words <= MOST_WORDS) & (reading.clauses.places == theme)
    if theme < fitted.n_themes:
        fits &= (n_terms > 0) & (reading.units @ fitted.themes.uses[theme] >= CERTAIN * n_terms)
    joined = np.append(reading.texts.joined, APART)
    whole = (joined[:-1] == APART) & (joined[1:] == APART)
    score = (n_terms + 1) / (n_terms + 1 + FEW_TERMS) * np.minimum(LONG / np.maximum(words, 1), 1)
    return np.where(fits, score * np.where(whole, 1.0, PART), 0.0)


def _clauses(reading: ThemeReading, rows: NDArray[np.int64]) -> pd.Series:
    texts = reading.texts
    places = zip(texts.documents[rows].tolist(), texts.spans[rows].tolist(), strict=True)
    return _as_objects([texts.texts[i][start:end] for i, (start, end) in places])


def _as_objects(texts: list[str]) -> pd.Series:
    """Texts that may contain lone surrogates."""
    return pd.Series(texts, dtype=object)


def _different(reading: ThemeReading, ordered: NDArray[np.int64], n: int, without: frozenset[str]) -> NDArray[np.int64]:
    """First n of these clauses that are readable, from different texts and with different words.

    without : words that do not matter for a difference.
    """
    chosen: list[int] = []
    documents: set[int] = set()
    seen: list[frozenset[str]] = []
    texts = reading.texts
    for row in ordered.tolist():
        if len(chosen) == n:
            break
        codes, document = texts.codes[texts.indptr[row] : texts.indptr[row + 1]], int(texts.documents[row])
        start, end = texts.spans[row].tolist()
        if document in documents or not is_readable(texts.texts[document][start:end]):
            continue
        words = frozenset(texts.words[code] for code in codes.tolist())
        words = words - without or words
        if all(len(words & other) <= ALIKE * min(len(words), len(other)) for other in seen):
            chosen.append(row)
            documents.add(document)
            seen.append(words)
    return np.array(chosen, dtype=np.int64)


def is_readable(clause: str) -> bool:
    """Return True unless a clause runs several together, repeats a word, or has a bracket of which the other is cut."""
    return UNREADABLE.search(clause) is None and clause.count("(") == clause.count(")")


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

    high : True for the highest responses among texts with the largest shares of the theme, False for the lowest, None
        for the largest shares whatever the response. responses : (texts,) NaN if missing.
    """
    if high is not None and np.isnan(responses).all():
        raise InputError("none of these texts has a response; give responses, or high=None to do without")
    predictions.family.check_trainable("typical texts")
    share = predictions.shares[:, theme]
    leads = np.argmax(predictions.shares, axis=1) == theme
    rows = np.flatnonzero(leads if high is None else leads & ~np.isnan(responses))
    rows = rows[np.argsort(-share[rows], kind="stable")]
    if high is not None:
        rows = rows[: TYPICAL * n]
        rows = rows[np.argsort(responses[rows] * (-1 if high else 1), kind="stable")]
    rows = rows[:n]
    examples = pd.DataFrame(
        {
            "row": rows,
            "text": _as_objects([texts[i] for i in rows.tolist()]),
            "response": responses[rows],
            "prediction": predictions.mean[rows],
            "share": share[rows],
        }
    )
    if metadata is None:
        return examples
    if len(metadata) != len(texts):
        raise InputError(f"{len(texts)} texts, but {len(metadata)} rows of metadata; give one for each text")
    taken = [str(name) for name in metadata.columns if name in examples.columns]
    if taken:
        raise InputError(f"metadata has columns with reserved names: {', '.join(taken)}; rename or remove them")
    return pd.concat([examples, metadata.iloc[rows].reset_index(drop=True)], axis=1)
