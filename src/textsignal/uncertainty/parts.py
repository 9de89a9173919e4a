"""Groups of documents that numbers about themes are told of, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.uncertainty.influence import QUANTITIES, LooseFit


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Documents by which numbers are told: (documents,) weights of each group, and of those it differs from.

    names : of the groups; none for all documents.
    """

    names: Sequence[object]
    weights: Sequence[Vector]
    others: Sequence[Vector]

    def at(self, rows: NDArray[np.int64]) -> Subgroups:
        """The same of some of the documents."""
        own, others = ([weight[rows] for weight in weights] for weights in (self.weights, self.others))
        return Subgroups(self.names, own, others)


def parts_of(by: ArrayLike | pd.Series | None, weight: Vector) -> Subgroups:
    """All documents, or those of each group, the largest first."""
    if by is None:
        return Subgroups([None], [weight], [np.zeros_like(weight)])
    groups = as_groups(by, len(weight))
    named = weight * groups.notna().to_numpy()
    found = []
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        own = np.zeros_like(weight)
        own[rows] = weight[rows]
        if own.sum() > 0:
            found.append((name, own))
    if not found:
        raise InputError("no document of any group counts: the weights of all are 0")
    found.sort(key=lambda one: (-one[1].sum(), str(one[0])))
    names, weights = zip(*found, strict=True)
    return Subgroups(names, weights, [named - own for own in weights])


def numbers(fit: LooseFit, parts: Subgroups) -> Vector:
    """(parts, quantities, 2, themes) of each part, and of the documents that it differs from; NaN where none count."""
    nothing = np.full(fit.talk.n_themes, np.nan)
    found = [
        [
            [quantity(fit, weight).estimates if weight.sum() > 0 else nothing for weight in pair]
            for quantity in QUANTITIES.values()
        ]
        for pair in zip(parts.weights, parts.others, strict=True)
    ]
    return np.array(found)
