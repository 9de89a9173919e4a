"""Documents of a report: predictions of the model and of baselines for each, and a summary of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.evaluation.methods import fit_baselines
from textsignal.insight.inputs import Times
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import Reading
from textsignal.report.values.bins import Bins, bars_of, bins_of
from textsignal.report.values.data import Bar, CloudWord, DocumentsSummary, Floats, ReportedModel
from textsignal.report.values.wording import one_line, visible
from textsignal.text.cleaning import masked_characters
from textsignal.training.inference import unit_rows

#: Most training documents, and most held-out documents, for baselines; fewest training documents to fit them.
COMPARED, FEWEST = 20_000, 10
#: Bins of text lengths, and share of the longest texts that go into the last one.
LENGTH_BINS, LONGEST = 20, 0.01
#: Terms in the word cloud.
CLOUD_TERMS = 80
#: Quantiles of the predictions of example texts, and least and most words of one.
EXAMPLES, EXAMPLE_WORDS = (0.1, 0.5, 0.9), (15, 60)


@dataclass(frozen=True)
class ReportTexts:
    """Documents with the numbers that a report needs of each.

    reading : the texts as the model reads them.
    responses : (documents,), NaN if missing.
    held_out : (documents,) True if not used in training.
    mean : (documents,) expected response.
    shares : (documents, themes) share of each theme in the text.
    spoken : statements about themes, by effects estimated without the document's response.
    baselines : name -> (documents,) predictions; NaN for documents that are not compared.
    groups, times : (documents,) group (missing values allowed) and day of each; None if absent.
    mask : mask e-mail addresses and phone numbers in texts.
    """

    reading: Reading
    responses: Floats
    held_out: NDArray[np.bool_]
    mean: Floats
    shares: Floats
    spoken: Mentions
    baselines: dict[str, Floats]
    groups: pd.Series | None = None
    times: Times | None = None
    mask: bool = True

    def shown(self, row: int) -> Sequence[str]:
        """Return (characters,) the characters of a document as displayed, from `masked_characters`."""
        text = self.reading.texts[row]
        return masked_characters(text) if self.mask else text

    @cached_property
    def bins(self) -> Bins:
        """Bins of the response."""
        return bins_of(self.spoken.family, self.responses)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """(documents,) True if it has no known term."""
        return self.reading.predictions.unknown

    @property
    def n_known(self) -> NDArray[np.int64]:
        """(documents,) number of different known terms."""
        return np.diff(self.reading.X.indptr)

    @property
    def leader(self) -> NDArray[np.int64]:
        """(documents,) theme of most of the text; -1 without a known term."""
        return np.where(self.unknown, -1, self.shares.argmax(axis=1))


def describe_documents(
    model: ReportedModel,
    reading: Reading,
    responses: Floats,
    held_out: NDArray[np.bool_],
    groups: pd.Series | None = None,
    times: Times | None = None,
) -> ReportTexts:
    """Collect predictions of the model and of baselines for documents that were already read."""
    return ReportTexts(
        reading=reading,
        responses=responses,
        held_out=held_out,
        mean=reading.predictions.mean,
        shares=reading.predictions.shares,
        spoken=reading.mentions,
        baselines=_baselines(reading, responses, held_out),
        groups=groups,
        times=times,
    )


def _baselines(reading: Reading, responses: Floats, held_out: NDArray[np.bool_]) -> dict[str, Floats]:
    """Predictions of baselines fitted to a sample of training documents, for these and a sample of held-out ones."""
    answered = ~np.isnan(responses)
    kinds = map(np.flatnonzero, (answered & ~held_out, answered & held_out))
    training, new = (rows[sample(rows.size, COMPARED)] for rows in kinds)
    if training.size < FEWEST:
        return {}
    compared = np.concatenate([training, new])
    X = unit_rows(reading.X[compared])
    predicted = {}
    for name, regressor in fit_baselines(X[: training.size], responses[training]).items():
        predicted[name] = np.full(responses.size, np.nan)
        predicted[name][compared] = regressor.predict(X)
    return predicted


def sample(n: int, most: int) -> NDArray[np.int64]:
    """Draw at most `most` of `n` rows without replacement, in order; the seed is fixed."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def length_bars(words: NDArray[np.int64]) -> tuple[Bar, ...]:
    """Count texts by number of words, in equal bins; the last one holds all longer texts too.

    Examples
    --------
    >>> sum(bar.value for bar in length_bars(np.array([3, 5, 8, 900])))
    4.0
    """
    longest = max(int(np.quantile(words, 1 - LONGEST, method="higher")), 1)
    width = -(-longest // LENGTH_BINS)
    edges = np.arange(0.0, longest + width, width)
    counts = np.histogram(np.minimum(words, edges[-1] - 1), bins=edges)[0]
    labels = [f"{low:.0f} to {high - 1:.0f} words" for low, high in pairwise(edges)]
    labels[-1] = f"{edges[-2]:.0f} words or more"
    return bars_of(labels, edges, counts)


def sizes(counts: NDArray[np.int64], steps: int = 6) -> NDArray[np.int64]:
    """Return (terms,) sizes from 1 to `steps`, by the square root of counts.

    Examples
    --------
    >>> sizes(np.array([100, 25, 1]))
    array([6, 3, 1])
    """
    root = np.sqrt(counts)
    spread = max(float(root.max() - root.min()), np.finfo(float).tiny)
    return 1 + np.floor((root - root.min()) / spread * (steps - 1)).astype(np.int64)


def summary_of(model: ReportedModel, documents: ReportTexts, dropped: str) -> DocumentsSummary:
    """Summarise the documents; dropped : a sentence on rows that were excluded before."""
    texts, held_out = documents.reading.texts, documents.held_out
    answered = bool((~np.isnan(documents.responses)).any())
    seen = {text for text, new in zip(texts, held_out.tolist(), strict=True) if not new}
    return DocumentsSummary(
        documents=len(texts),
        training=int((~held_out).sum()),
        held_out=int(held_out.sum()),
        without_response=int(np.isnan(documents.responses).sum()),
        without_known_term=int(documents.unknown.sum()),
        copies=len(texts) - len(set(texts)),
        leaked=sum(new and text in seen for text, new in zip(texts, held_out.tolist(), strict=True)),
        dropped=dropped,
        terms=len(model.reader_.terms),
        median_words=float(np.median(documents.reading.n_words)),
        mean_response=float(np.nanmean(documents.responses)) if answered else None,
        responses=documents.bins.bars(documents.responses),
        lengths=length_bars(documents.reading.n_words),
        cloud=_cloud(model, documents),
    )


def _cloud(model: ReportedModel, documents: ReportTexts) -> tuple[CloudWord, ...]:
    """Terms in most documents, in alphabetical order, each with its main theme."""
    terms, profiles = model.reader_.terms, model.reader_.profiles
    n_documents = np.bincount(documents.reading.X.indices, minlength=len(terms))
    most = np.argsort(-n_documents, kind="stable")[:CLOUD_TERMS]
    most = most[n_documents[most] > 0]
    if not most.size:
        return ()
    counts = n_documents[most]
    share = documents.shares.mean(axis=0) / np.maximum(profiles.sum(axis=1), np.finfo(float).tiny)
    parts = share[:, None] * profiles[:, most]
    words = [
        CloudWord(one_line(str(terms[j])), int(count), int(theme), int(size))
        for j, count, theme, size in zip(most, counts, parts.argmax(axis=0), sizes(counts), strict=True)
    ]
    return tuple(sorted(words, key=lambda word: word.term))


def examples_of(documents: ReportTexts) -> tuple[str, ...]:
    """Choose texts to try, neither short nor long, with a low, a middle and a high prediction."""
    n_words = documents.reading.n_words
    rows = np.flatnonzero((n_words >= EXAMPLE_WORDS[0]) & (n_words <= EXAMPLE_WORDS[1]))
    if rows.size < len(EXAMPLES):
        return ()
    order = rows[np.argsort(documents.mean[rows], kind="stable")]
    chosen = (int(order[int(quantile * (rows.size - 1))]) for quantile in EXAMPLES)
    return tuple(visible("".join(documents.shown(row))) for row in chosen)
