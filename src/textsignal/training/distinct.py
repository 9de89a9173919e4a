"""Deduplicated documents in an order that depends only on their content.

Repeating a document, doubling its weight, or reordering documents then gives a bitwise identical problem. That matters
where training amplifies rounding: in joint training a document's step can overshoot, and a difference in the last
digit of a sum can lead to other topics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Array
from textsignal.training.corpus import Corpus
from textsignal.training.draws import content_keys, mixed_with


@dataclass(frozen=True)
class Distinct:
    """Distinct documents of nonzero weight.

    corpus : the distinct documents, with the total weight of each.
    places : (documents,) row of each document in the corpus, -1 for weight 0.
    """

    corpus: Corpus
    places: NDArray[np.int64]

    def for_all(self, values: Array, others: Array) -> Array:
        """Expand values (rows of the corpus, ...) to all documents; `others` for those of weight 0, in their order."""
        spread = np.empty((len(self.places), *values.shape[1:]), dtype=values.dtype)
        counts = self.places >= 0
        spread[counts] = values[self.places[counts]]
        spread[~counts] = others
        return spread


def distinct_documents(corpus: Corpus) -> Distinct:
    """Merge documents that are equal in text, response, covariates and offset.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [3.0, 3.0]]))
    >>> distinct = distinct_documents(Corpus(X, np.array([4.0, 1.0, 4.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])))
    >>> distinct.corpus.X.shape, sorted(distinct.corpus.weight.tolist())
    ((2, 2), [1.0, 2.0])
    >>> bool(distinct.places[0] == distinct.places[2])
    True
    """
    counts = np.flatnonzero(corpus.weight > 0)
    # 64-bit keys: among a million documents, a collision occurs once in 30 million corpora.
    given = () if corpus.given is None else (corpus.given.offset, *corpus.given.columns.T)
    offset = () if corpus.offset is None else (corpus.offset,)
    by_text = content_keys(corpus.X, corpus.y)[counts]
    keys = mixed_with(by_text, *(column[counts] for column in (*given, *offset)))
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    # Ordered by text and response, so that covariates and offset do not change the order.
    order = np.argsort(by_text[first], kind="stable")
    first, row = first[order], np.argsort(order)[row]
    places = np.full(len(corpus.y), -1)
    places[counts] = row
    weight = np.bincount(row, weights=corpus.weight[counts]).astype(float)
    return Distinct(replace(corpus.at(counts[first]), weight=weight), places)
