"""Text scaled to rows of norm 1, with the lengths of the documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Vector
from textsignal.training.inference import row_norms, unit_rows

#: A document counts as at most this many times the median document's length.
LONGEST = 10.0


@dataclass(frozen=True)
class LengthScaled:
    """Text rows of l2 norm 1, and their original lengths (capped at `LONGEST` medians), relative to their mean."""

    X: sp.csr_array
    length: Vector


def scale_rows(X: sp.csr_array, weight: Vector | None = None) -> LengthScaled:
    """Scale every row to l2 norm 1; an empty row stays empty and has length 0.

    Examples
    --------
    >>> scaled = scale_rows(sp.csr_array(np.array([[3.0, 4.0], [0.0, 5.0]])))
    >>> scaled.X.toarray()
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    norm = row_norms(X)
    length = np.minimum(norm, LONGEST * _median(norm, np.ones(len(norm)) if weight is None else weight))
    return LengthScaled(unit_rows(X), length / max(float(np.average(length, weights=weight)), np.finfo(float).tiny))


def _median(values: Vector, weight: Vector) -> float:
    """Weighted median of the values above 0; 0 if there are none."""
    counted = (values > 0) & (weight > 0)
    if not counted.any():
        return 0.0
    values, weight = values[counted], weight[counted]
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(share, share[-1] / 2)])
