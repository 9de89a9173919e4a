"""The documents of a report in some numbers."""

from __future__ import annotations

import numpy as np

from textsignal.report.values.data import CloudWord, DocumentsSummary, ReportedModel
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.numbers import length_bars, sizes
from textsignal.report.values.wording import one_line, visible

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
