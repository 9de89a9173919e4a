"""Coherence and exclusivity of topics, by the texts they were learnt from."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def top_terms(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.int64]:
    """(topics, n) numbers of each topic's most probable terms, ties by term number.

    Examples
    --------
    >>> top_terms(np.array([[0.1, 0.6, 0.3]]), n=2)
    array([[1, 2]])
    """
    return np.argsort(-topics, axis=1, kind="stable")[:, :n]


def coherence(X: sp.csr_array, topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Mean NPMI of all pairs of each topic's n most probable terms, by co-occurrence in the documents of X.

        npmi(a, b) = log( p(a, b) / (p(a) p(b)) ) / -log p(a, b);   -1 for a pair that never co-occurs

    Examples
    --------
    >>> X = sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    >>> coherence(X, np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), n=2)
    array([ 1., -1.])
    """
    best = top_terms(topics, n)
    terms, column = np.unique(best, return_inverse=True)
    column = column.reshape(best.shape)
    present = (sp.csc_array(X)[:, terms] != 0).astype(float)
    joint = np.asarray((present.T @ present).todense()) / X.shape[0]
    single = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / np.outer(single, single)) / -np.log(joint)
    npmi = np.where(joint > 0, npmi, -1.0)
    # Terms in every document: always together, neither more nor less than by chance.
    npmi = np.where(joint >= 1, 1.0, npmi)
    first, second = np.triu_indices(best.shape[1], k=1)
    if first.size == 0:
        return np.full(len(best), np.nan)
    return npmi[column[:, first], column[:, second]].mean(axis=1)


def exclusivity(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Mean share of each topic in its n most probable terms: 1 when no other topic uses them.

    Examples
    --------
    >>> exclusivity(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]), n=2)
    array([0.75, 0.75])
    """
    totals = topics.sum(axis=0)
    share = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return np.take_along_axis(share, top_terms(topics, n), axis=1).mean(axis=1)
