"""Passes of tone on a GPU: a block is copied there, and updates of effects are copied back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.gpu.code import cupy
from textsignal.compute.gpu.tone import GAUSSIAN, LOGISTIC, NEGATIVE_BINOMIAL, CardTexts, Steps, Visits, walk
from textsignal.compute.hashing import Keys
from textsignal.compute.kernels import Rows
from textsignal.errors import InputError
from textsignal.families import Family, Gaussian, NegativeBinomial
from textsignal.families.binomial import Logistic


def slope_of(family: Family) -> str:
    """The derivative of the loss in CUDA, of a family whose loss effects of words are learnt by.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> slope_of(Binomial(4, 1))
    '4.0f / (1 + expf(-(eta))) - (y)'
    """
    match family:
        case Logistic():
            return LOGISTIC.format(steps=float(family._steps))
        case Gaussian():
            return GAUSSIAN.format(variance=float(family._deviation**2))
        case NegativeBinomial():
            dispersion = float(family._dispersion)
            return NEGATIVE_BINOMIAL.format(dispersion=dispersion, log=float(np.log(dispersion)))
    raise InputError(f'the family {type(family).__name__} has no slopes for device="cuda"; give device="cpu"')


def visits_on_card(rows: NDArray[np.int64], keys: Keys, part: Vector) -> Visits:
    """Visits of a pass; as in `training.tone`."""
    return Visits(cupy().asarray(keys), cupy().asarray(rows, np.int64), _single(part))


def documents_on_card(
    roots: sp.csr_array, y: Vector, folds: NDArray[np.int64], offset: Vector, visits: Visits
) -> CardTexts:
    """Documents of a block; as in `training.tone`."""
    cp = cupy()
    X = Rows(cp.asarray(roots.indptr, np.int64), cp.asarray(roots.indices, np.int32), _single(roots.data))
    return CardTexts(X, _single(y), cp.asarray(folds, np.int32), visits, _single(offset))


def walk_on_card(
    documents: CardTexts, steps: Steps, family: Family, number: int, effects: Array, squares: Array
) -> None:
    """Move effects and squares by one pass, in place; features absent from the block stay bitwise unchanged."""
    both = effects, squares
    moved = tuple(map(_single, both))
    walk(documents, steps, slope_of(family), number, *moved)
    for values, after in zip(both, moved, strict=True):
        values += (after - _single(values)).get()


def _single(values: Any) -> Any:
    """In single precision, on the card, without gaps."""
    return cupy().array(np.ascontiguousarray(values), np.float32)
