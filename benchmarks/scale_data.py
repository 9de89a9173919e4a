"""Reviews without end: any number of made documents, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textsignal.datasets import synthetic_reviews
from textsignal.text.tokens import read_sentences

#: Made reviews whose sentences documents are put together from; how many a document has; documents of a batch.
POOL, SENTENCES, BATCH = 20_000, 6, 2**15
#: Names that stand among them, the k-th as often as 1 / k.
NAMES = 1_000_000


def endless(n_documents: int, seed: int = 0) -> Iterator[pa.Table]:
    """Tables of text and rating, `n_documents` rows in all.

    A document is six sentences of made reviews that have its rating (about 60 words together) and two names: so there
    is no end of words, and hardly any two documents are the same.
    """
    pool = synthetic_reviews(POOL, seed=seed)
    ratings = np.asarray(pool.ratings, dtype=float)
    read = read_sentences(pool.texts)
    sentences = [pool.texts[i][a:b] for i, (a, b) in zip(read.documents, read.spans, strict=True)]
    texts, of_sentence = pa.array(sentences, pa.large_string()), ratings[read.documents]
    levels, counts = np.unique(ratings, return_counts=True)
    places = [np.flatnonzero(of_sentence == level) for level in levels]
    for number, start in enumerate(range(0, n_documents, BATCH)):
        rng = np.random.default_rng([seed, number])
        size = min(BATCH, n_documents - start)
        level = rng.choice(len(levels), size, p=counts / counts.sum())
        # One draw for all levels: a share of the way through the sentences of its own.
        drawn = rng.random((SENTENCES, size))
        rows = np.empty((SENTENCES, size), dtype=np.int64)
        for k, own in enumerate(places):
            rows[:, level == k] = own[(drawn[:, level == k] * len(own)).astype(np.int64)]
        columns = [texts.take(pa.array(row)) for row in rows]
        for place in (2, 5):
            ranks = np.exp(rng.random(size) * np.log(NAMES)).astype(np.int64)
            numbers = pc.cast(pa.array(ranks), pa.large_string())
            columns.insert(place, pc.binary_join_element_wise(_large("Name"), numbers, _large("")))
        together = pc.binary_join_element_wise(*columns, _large(" "))
        yield pa.table({"text": together, "rating": pa.array(levels[level])})


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
