"""Documents that show what a topic on a matrix is, with the words that speak for it marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from textsignal.reading.matrix import MatrixReader
from textsignal.report.values.data import Excerpt, Floats, Quote, QuoteGroup, Segment
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import visible

#: Documents shown of each kind, and characters shown of a document at most.
TYPICAL, EXTREME, TEXT_CAP = 3, 2, 600
#: A document's share in a topic counts for known / (known + SHORT): a text of two words shows nothing.
SHORT = 10
#: A term is marked that comes from the topic by half or more in this document, and by this share in all of them.
MARKED, STRONGLY_MARKED = 0.2, 0.4


#: How levels of `topic_marks` are named.
MARKS = ("", "topic", "strong")


def document_quotes(
    reader: MatrixReader, documents: ReportTexts, topic: int, response_name: str
) -> tuple[QuoteGroup, ...]:
    """Documents led by a topic, those with most of it first; high and low are the scale's outer quarters."""
    bins = documents.bins
    quarter = (bins.high - bins.low) / 4
    score = documents.shares[:, topic] * documents.n_known / (documents.n_known + SHORT)
    led = np.flatnonzero(documents.leader == topic)
    order = led[np.argsort(-score[led], kind="stable")]
    kinds = [
        ("Typical documents", 0, order, TYPICAL),
        (
            f"Typical, with a high {response_name}",
            1,
            order[documents.responses[order] >= bins.high - quarter],
            EXTREME,
        ),
        (f"Typical, with a low {response_name}", -1, order[documents.responses[order] <= bins.low + quarter], EXTREME),
    ]
    used: set[str] = set()
    groups = []
    for title, sign, rows, n in kinds:
        chosen = _different(documents.reading.texts, rows, n, used)
        groups.append(QuoteGroup(title, sign, tuple(_quote(reader, documents, row, topic) for row in chosen)))
    return tuple(groups)


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


def _quote(reader: MatrixReader, documents: ReportTexts, row: int, topic: int) -> Quote:
    text, weights = documents.reading.texts[row], documents.reading.predictions.weights[row]
    levels = topic_marks(reader, text, weights.astype(float), topic)
    return Quote(
        row=row + 1,
        response=response_of(documents, row),
        prediction=float(documents.mean[row]),
        share=float(documents.shares[row, topic]),
        held_out=bool(documents.held_out[row]),
        excerpt=excerpt_of(text, documents.shown(row), levels, [MARKS[level] for level in levels]),
    )


def response_of(documents: ReportTexts, row: int) -> float | None:
    """A document's response, None where there is none."""
    response = float(documents.responses[row])
    return None if np.isnan(response) else response


def excerpt_of(text: str, shown: Sequence[str], importance: NDArray[np.int8], marks: Sequence[str]) -> Excerpt:
    """The most important stretch of a text; shown, importance, marks : (characters,)."""
    start, end = excerpt(text, importance)
    return Excerpt(segments(shown, marks, start, end), start > 0, end < len(text))


def topic_marks(reader: MatrixReader, text: str, weights: Floats, topic: int) -> NDArray[np.int8]:
    """(characters,) 2 where a term speaks strongly for the topic, 1 where it does so less, else 0.

    The share of term j that comes from topic k is w_k H_kj / (wH)_j, in a document by its own weights, in all
    documents by their mean.

    weights : (topics,) of the text.
    """
    marks = np.zeros(len(text), dtype=np.int8)
    located = reader.vectorizer.locate(text, cleaned=True)
    for term in located.terms:
        profile = reader.estimator.components_[:, term.column]
        here = _share(weights * profile, topic)
        overall = _share(reader.estimator.mean_weights_ * profile, topic)
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


def segments(shown: Sequence[str], marks: Sequence[str], start: int, end: int) -> tuple[Segment, ...]:
    """The stretch of a text, cut where the mark changes; what cannot be shown has a sign in its place.

    shown, marks : (characters,) what is shown of each, and its mark.

    Examples
    --------
    >>> segments("so clean", ["", "", "", *["up"] * 5], 0, 8)
    (Segment(text='so ', mark=''), Segment(text='clean', mark='up'))
    """
    runs = groupby(range(start, end), key=lambda i: marks[i])
    pieces = ((mark, "".join(shown[i] for i in run)) for mark, run in runs)
    return tuple(Segment(visible(piece), mark) for mark, piece in pieces if piece)
