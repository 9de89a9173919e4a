"""What a report knows of every document: what the model and the baselines say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.evaluation.baselines import fit_baselines
from textsignal.insight.beside import Times
from textsignal.reading.observed import Reading
from textsignal.reading.spoken import Spoken
from textsignal.report.values.bins import Bins, _bars, bins_of
from textsignal.report.values.data import Bar, CloudWord, DocumentsSummary, Floats, ReportedModel
from textsignal.report.values.wording import one_line, visible
from textsignal.text.masking import masked_characters
from textsignal.training.inference import unit_rows

#: Training and held-out documents that baselines are compared on at most, each.
COMPARED = 20_000
#: Fewest training documents that baselines are fitted on.
FEWEST = 10


@dataclass(frozen=True)
class ReportTexts:
    """What is known of every document, in a few numbers each.

    reading : the texts as the model reads them.
    responses : (documents,), NaN where there is none.
    held_out : (documents,) whether training has not seen it.
    mean : (documents,) expected response.
    shares : (documents, topics) share of each topic in the text.
    spoken : what they say about topics, by numbers that have not seen their responses.
    baselines : name -> (documents,) predictions; NaN for documents that they are not compared on.
    groups, times : (documents,) the group of each, missing where it has none, and its day; None where none are known.
    mask : whether e-mail addresses and phone numbers are masked where a text is shown.
    """

    reading: Reading
    responses: Floats
    held_out: NDArray[np.bool_]
    mean: Floats
    shares: Floats
    spoken: Spoken
    baselines: dict[str, Floats]
    groups: pd.Series | None = None
    times: Times | None = None
    mask: bool = True

    def shown(self, row: int) -> Sequence[str]:
        """(characters,) what the page shows of each character of a document, as `masked_characters` gives it."""
        text = self.reading.texts[row]
        return masked_characters(text) if self.mask else text

    @cached_property
    def bins(self) -> Bins:
        """Stretches of the response that these documents are counted in."""
        return bins_of(self.spoken.family, self.responses)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """(documents,) whether it has no known term."""
        return self.reading.predictions.unknown

    @property
    def n_known(self) -> NDArray[np.int64]:
        """(documents,) number of different known terms."""
        return np.diff(self.reading.X.indptr)

    @property
    def leader(self) -> NDArray[np.int64]:
        """(documents,) each document's topic of most text; -1 for a document with no known term."""
        return np.where(self.unknown, -1, self.shares.argmax(axis=1))


def describe_documents(
    model: ReportedModel,
    reading: Reading,
    responses: Floats,
    held_out: NDArray[np.bool_],
    groups: pd.Series | None = None,
    times: Times | None = None,
) -> ReportTexts:
    """Put together what is known of every document; nothing is read or inferred again."""
    return ReportTexts(
        reading=reading,
        responses=responses,
        held_out=held_out,
        mean=reading.predictions.mean,
        shares=reading.predictions.shares,
        spoken=model.reader_.spoken(reading, responses, None).judged(model.naming_.better),
        baselines=_baselines(reading, responses, held_out),
        groups=groups,
        times=times,
    )


def _baselines(reading: Reading, responses: Floats, held_out: NDArray[np.bool_]) -> dict[str, Floats]:
    """Predictions of baselines fitted to some training documents, for these and as many held-out ones."""
    answered = ~np.isnan(responses)
    training, new = _sample(answered & ~held_out), _sample(answered & held_out)
    if training.size < FEWEST:
        return {}
    compared = np.concatenate([training, new])
    X = unit_rows(reading.X[compared])
    predicted = {}
    for name, regressor in fit_baselines(X[: training.size], responses[training]).items():
        predicted[name] = np.full(responses.size, np.nan)
        predicted[name][compared] = regressor.predict(X)
    return predicted


def _sample(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """At most COMPARED of these rows, at random, in their order."""
    chosen = np.flatnonzero(rows)
    if chosen.size > COMPARED:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, COMPARED, replace=False))
    return chosen


#: Bins of text lengths; the last one takes this share of the longest texts.
LENGTH_BINS, LONGEST = 20, 0.01


def length_bars(words: NDArray[np.int64]) -> tuple[Bar, ...]:
    """Number of texts by number of words, in equal bins; the last one holds all longer texts too.

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
    return _bars(labels, edges, counts)


def sizes(counts: NDArray[np.int64], steps: int = 6) -> NDArray[np.int64]:
    """Whole numbers from 1 to `steps`, by the square root of counts: (terms,).

    Examples
    --------
    >>> sizes(np.array([100, 25, 1]))
    array([6, 3, 1])
    """
    root = np.sqrt(counts)
    spread = max(float(root.max() - root.min()), np.finfo(float).tiny)
    return 1 + np.floor((root - root.min()) / spread * (steps - 1)).astype(np.int64)


#: Terms in the word cloud.
CLOUD_TERMS = 80


#: Where among all predictions examples are, and how many words they have.
EXAMPLES, EXAMPLE_WORDS = (0.1, 0.5, 0.9), (15, 60)


def summary_of(model: ReportedModel, documents: ReportTexts, dropped: str) -> DocumentsSummary:
    """Count and measure the documents; dropped : what was left out before."""
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
    """The terms in most documents, in the order of the alphabet, each with the topic that it mostly comes from."""
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
        CloudWord(one_line(str(terms[j])), int(count), int(topic), int(size))
        for j, count, topic, size in zip(most, counts, parts.argmax(axis=0), sizes(counts), strict=True)
    ]
    return tuple(sorted(words, key=lambda word: word.term))


def examples_of(documents: ReportTexts) -> tuple[str, ...]:
    """Texts to try, one that is predicted low, one in the middle and one high; neither short nor long."""
    n_words = documents.reading.n_words
    rows = np.flatnonzero((n_words >= EXAMPLE_WORDS[0]) & (n_words <= EXAMPLE_WORDS[1]))
    if rows.size < len(EXAMPLES):
        return ()
    order = rows[np.argsort(documents.mean[rows], kind="stable")]
    chosen = (int(order[int(place * (rows.size - 1))]) for place in EXAMPLES)
    return tuple(visible("".join(documents.shown(row))) for row in chosen)
