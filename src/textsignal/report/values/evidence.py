"""The documents that show what a topic is, with the words that speak for it marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from textsignal.report.values.data import Evidence, FittedModel, Floats, Segment, ShownDocument
from textsignal.report.values.documents import Documents
from textsignal.report.values.wording import visible

#: Documents shown of each kind, and characters shown of a document at most.
TYPICAL, EXTREME, TEXT_CAP = 3, 2, 600
#: A document's share in a topic counts for known / (known + SHORT): a text of two words shows nothing.
SHORT = 10
#: A term is marked that comes from the topic by half or more in this document, and by this share in all of them.
MARKED, STRONGLY_MARKED = 0.2, 0.4


def evidence_of(model: FittedModel, documents: Documents, topic: int) -> Evidence:
    """Documents led by a topic, those with most of it first; high and low are the scale's outer quarters."""
    levels = model.estimator_.family_.levels
    quarter = (levels[-1] - levels[0]) / 4
    score = documents.shares[:, topic] * documents.n_known / (documents.n_known + SHORT)
    led = np.flatnonzero(documents.leader == topic)
    order = led[np.argsort(-score[led], kind="stable")]
    kinds = {
        "typical": order,
        "high": order[documents.responses[order] >= levels[-1] - quarter],
        "low": order[documents.responses[order] <= levels[0] + quarter],
    }
    used: set[str] = set()
    found = {}
    for kind, rows in kinds.items():
        chosen = _different(documents.reading.texts, rows, TYPICAL if kind == "typical" else EXTREME, used)
        found[kind] = tuple(_shown(model, documents, row, topic) for row in chosen)
    return Evidence(**found)


def _different(texts: Sequence[str], rows: NDArray[np.int64], n: int, used: set[str]) -> list[int]:
    """The first rows whose text was not used yet."""
    chosen: list[int] = []
    for row in rows.tolist():
        if len(chosen) == n:
            break
        if texts[row] not in used:
            used.add(texts[row])
            chosen.append(row)
    return chosen


def _shown(model: FittedModel, documents: Documents, row: int, topic: int) -> ShownDocument:
    text, weights = documents.reading.texts[row], documents.reading.predictions.weights[row]
    marks = topic_marks(model, text, weights.astype(float), topic)
    start, end = excerpt(text, marks)
    response = float(documents.responses[row])
    return ShownDocument(
        row=row + 1,
        response=None if np.isnan(response) else response,
        prediction=float(documents.mean[row]),
        share=float(documents.shares[row, topic]),
        held_out=bool(documents.held_out[row]),
        cut_before=start > 0,
        cut_after=end < len(text),
        segments=segments(text, marks, start, end),
    )


def topic_marks(model: FittedModel, text: str, weights: Floats, topic: int) -> NDArray[np.int8]:
    """(characters,) 2 where a term speaks strongly for the topic, 1 where it does so less, else 0.

    The share of term j that comes from topic k is w_k H_kj / (wH)_j, in a document by its own weights, in all
    documents by their mean.

    weights : (topics,) of the text.
    """
    marks = np.zeros(len(text), dtype=np.int8)
    located = model.vectorizer_.locate(text, cleaned=True)
    for term in located.terms:
        profile = model.estimator_.components_[:, term.column]
        here = _share(weights * profile, topic)
        overall = _share(model.estimator_.mean_weights_ * profile, topic)
        level = int(here >= 0.5) * (int(overall >= MARKED) + int(overall >= STRONGLY_MARKED))
        for position in term.positions:
            token = located.tokens[position]
            marks[token.start : token.end] = np.maximum(marks[token.start : token.end], level)
    return marks


def _share(parts: Floats, topic: int) -> float:
    return float(parts[topic] / max(parts.sum(), np.finfo(float).tiny))


def excerpt(text: str, marks: NDArray[np.int8], cap: int = TEXT_CAP) -> tuple[int, int]:
    """Start and end of a stretch of whole words, of at most `cap` characters, that holds most marks.

    Examples
    --------
    >>> text = "We stayed there. The bath was dirty. We left."
    >>> start, end = excerpt(text, np.array([letter in "bath dirty" for letter in text]) * 1, cap=22)
    >>> text[start:end]
    'The bath was dirty.'
    """
    if len(text) <= cap:
        return 0, len(text)
    sums = np.concatenate([[0], np.cumsum(marks)])
    inside = sums[cap:] - sums[:-cap]
    best = np.flatnonzero(inside == inside.max())
    start = int(best[best.size // 2])
    end = start + cap
    first, last = text.find(" ", start, end), text.rfind(" ", start, end)
    if start > 0 and text[start - 1] != " " and first >= 0:
        start = first + 1
    return start, last if end < len(text) and last > start else end


def segments(text: str, marks: NDArray[np.int8], start: int, end: int) -> tuple[Segment, ...]:
    """The stretch of a text, cut where the mark changes; what cannot be shown has a sign in its place.

    Examples
    --------
    >>> segments("so clean", np.array([0, 0, 0, 2, 2, 2, 2, 2]), 0, 8)
    (Segment(text='so ', mark=0), Segment(text='clean', mark=2))
    """
    runs = groupby(range(start, end), key=lambda i: int(marks[i]))
    return tuple(Segment(visible("".join(text[i] for i in run)), mark) for mark, run in runs)
