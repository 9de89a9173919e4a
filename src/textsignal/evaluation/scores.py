"""How well methods predict documents that they have not seen, and how sure their differences are.

A measure is a number and what each document adds to it: its influence, which is 0 on average. The difference of two
methods has the difference of both as its influence, so that documents are paired, and the standard error

    sqrt( G / (G - 1) * sum over G clusters of (sum of influences)^2 ) / documents

Clusters are groups, or copies of a text: documents that are left out together. It is that of other documents to
predict; how much fits would differ that had other documents to learn from is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from textsignal.arrays import Vector


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure, and (documents,) their influences on it."""

    value: float
    influence: Vector

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.influence - other.influence)

    def std_error(self, clusters: NDArray[np.int64]) -> float:
        """Of the value; clusters : (documents,) numbers of those that depend on each other."""
        sums = np.bincount(np.unique(clusters, return_inverse=True)[1], self.influence)
        if sums.size < 2:
            return float("nan")
        return float(np.sqrt(sums.size / (sums.size - 1) * np.sum(sums**2)) / len(self.influence))


def mean_of(scores: Vector) -> Estimate:
    """The mean of scores of documents, such as log scores.

    Examples
    --------
    >>> round(mean_of(np.array([1.0, 2, 3, 4])).std_error(np.arange(4)), 4)
    0.6455
    """
    value = float(np.mean(scores))
    return Estimate(value, scores - value)


def r2_of(responses: Vector, predicted: Vector) -> Estimate:
    """R2 = 1 - S / V, whose influences are -((y - predicted)^2 - (S / V) (y - mean y)^2) / V; NaN where V is 0."""
    errors, spreads = (responses - predicted) ** 2, (responses - responses.mean()) ** 2
    if not spreads.any():
        return Estimate(float("nan"), np.zeros(len(responses)))
    lost = float(errors.mean() / spreads.mean())
    return Estimate(1 - lost, (lost * spreads - errors) / spreads.mean())


def auc_of(happened: NDArray[np.bool_], predicted: Vector, folds: NDArray[np.int64]) -> Estimate:
    """Chance that of two documents of a fold the one that it happened to has the larger prediction.

    The mean over folds that have both, by their documents: predictions of different fits are not compared. Influences
    are those of DeLong, DeLong and Clarke-Pearson (1988).

    Examples
    --------
    >>> auc_of(np.array([True, True, False, False]), np.array([0.9, 0.4, 0.4, 0.1]), np.zeros(4, int)).value
    0.875
    """
    influence, ranks = np.zeros(len(predicted)), np.zeros(len(predicted))
    total, n_known = 0.0, 0
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        sides = rows[happened[rows]], rows[~happened[rows]]
        if not all(map(len, sides)):
            continue
        ranks[rows] = stats.rankdata(predicted[rows])
        above = [ranks[side] - stats.rankdata(predicted[side]) for side in sides]
        auc = float(above[0].mean() / len(sides[1]))
        placements = above[0] / len(sides[1]), 1 - above[1] / len(sides[0])
        for side, placement in zip(sides, placements, strict=True):
            influence[side] = len(rows) * (placement - auc) / len(side)
        total, n_known = total + len(rows) * auc, n_known + len(rows)
    if not n_known:
        return Estimate(float("nan"), influence)
    return Estimate(total / n_known, influence * len(predicted) / n_known)
