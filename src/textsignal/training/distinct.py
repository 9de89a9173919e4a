"""Documents that differ, each once, in an order that follows from them alone.

Whether a document is repeated or counts twice, and in which order documents stand, is then the same problem to the
bit. That matters where training amplifies rounding: in joint training a document's step can overshoot, and from one
last digit of a sum other topics can grow.
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
    """Every document that counts, once.

    corpus : as often as each document counts in all.
    places : (documents,) the row of the corpus that each document became, -1 for one that does not count.
    """

    corpus: Corpus
    places: NDArray[np.int64]

    def for_all(self, values: Array, others: Array) -> Array:
        """Values (rows of the corpus, ...) for all documents; `others` for those that do not count, in their order."""
        spread = np.empty((len(self.places), *values.shape[1:]), dtype=values.dtype)
        counts = self.places >= 0
        spread[counts] = values[self.places[counts]]
        spread[~counts] = others
        return spread


def distinct_documents(corpus: Corpus) -> Distinct:
    """Equal documents, by text, response, covariates and offset, become one.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [3.0, 3.0]]))
    >>> found = distinct_documents(Corpus(X, np.array([4.0, 1.0, 4.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])))
    >>> found.corpus.X.shape, sorted(found.corpus.weight.tolist()), bool(found.places[0] == found.places[2])
    ((2, 2), [1.0, 2.0], True)
    """
    counts = np.flatnonzero(corpus.weight > 0)
    # Keys of 64 bits: among a million documents two different ones are taken for equal once in 30 million corpora.
    given = () if corpus.given is None else (corpus.given.offset, *corpus.given.columns.T)
    offset = () if corpus.offset is None else (corpus.offset,)
    by_text = content_keys(corpus.X, corpus.y)[counts]
    keys = mixed_with(by_text, *(column[counts] for column in (*given, *offset)))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    # In the order of text and response, so that what is given beside them changes none.
    order = np.argsort(by_text[first], kind="stable")
    first, place = first[order], np.argsort(order)[place]
    places = np.full(len(corpus.y), -1)
    places[counts] = place
    weight = np.bincount(place, weights=corpus.weight[counts]).astype(float)
    return Distinct(replace(corpus.at(counts[first]), weight=weight), places)
