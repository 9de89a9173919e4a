"""Tone of documents that all lie on the card: the fits of `training.tone`, with the same draws and in larger batches.

Batches grow with the root of the visits so far. A step of Adagrad shrinks with that root, so what a batch moves in all
stays the same: on reviews and on made texts twice the root predicted as well as batches of 100, eight times fell apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textsignal.compute.gpu import blocks, cupy, function
from textsignal.compute.hashing import mix
from textsignal.compute.kernels import Rows

#: Fits computed together: one without each fold, and one of all documents.
FITS, FOLDS = 8, 5
#: Documents of the first batches; times the root of the visits so far; and at most.
LEAST_BATCH, BATCH_GROWTH, MOST_BATCH = 100, 2.0, 1 << 16
#: The slope of the loss in the linear predictor, in CUDA: of successes in this number of trials, of a number with this
#: variance, and of a count with this dispersion.
LOGISTIC, GAUSSIAN = "{steps}f / (1 + expf(-(eta))) - (y)", "((eta) - (y)) / {variance}f"
NEGATIVE_BINOMIAL = "1 / ({dispersion}f * (1 + expf(-(eta) - {log}f))) - (y) / (1 + expf((eta) + {log}f))"


@dataclass(frozen=True)
class Steps:
    """Settings from `training.tone`: the number that parts its draws, the length of steps and the size of slopes."""

    draw: int
    rate: float
    slope: float


@dataclass(frozen=True)
class Visits:
    """Visits to documents in one pass: its random key, document (None: each once) and weight (None: 1)."""

    keys: Any
    rows: Any = None
    part: Any = None


#: SplitMix64's finaliser, in CuPy.
mixed = mix.py_func


def drawn(keys: Any, *draw: int) -> Any:
    """(documents,) new numbers from keys, others for every draw; as `training.draws.drawn`."""
    for number in draw:
        keys = mixed(keys + np.uint64(mixed(cupy().array([number + 1], np.uint64)).get()[0]))
    return keys


@dataclass(frozen=True)
class CardTexts:
    """Documents on the card.

    X : (documents, features) roots of counts times sizes; folds : (documents,) int32 the fit that excludes each.
    y : (documents, FITS) responses, or (documents, 1) the same for all fits; offset : (documents,) or None for 0.
    """

    X: Rows
    y: Any
    folds: Any
    visits: Visits
    offset: Any = None


def walk(documents: CardTexts, steps: Steps, slope: str, number: int, effects: Any, squares: Any) -> None:
    """Move effects and squares, (features + 1, FITS), by the pass of a number, in place."""
    cp, X, visits, n_features = cupy(), documents.X, documents.visits, len(effects) - 1
    n_visits = len(visits.keys)
    sums = cp.zeros((n_features, 2 * FITS), np.uint64)
    slopes, scales = cp.empty((MOST_BATCH, FITS), np.float32), cp.empty(MOST_BATCH, np.float32)
    find, add, move = (
        function(name, "tone.cu", **{"SLOPE(y, eta)": slope}) for name in ("slopes", "gradients", "step")
    )
    constant, per_slope, rate = np.int64(n_features), np.float32(1 / steps.slope), np.float32(steps.rate)
    order = cp.argsort(drawn(visits.keys, steps.draw, number), kind="stable")
    cut = mixed(cp.array([number // 2 + 1], np.uint64)).get()[0], np.int32(number % 2)
    response = documents.y, np.int32(documents.y.shape[1]), documents.offset, documents.folds, visits.part, per_slope
    start = 0
    while start < n_visits:
        size = min(batch_size(number * n_visits + start), n_visits - start)
        grid = blocks(size, 8)
        given = (order[start : start + size], np.int32(size), visits.rows, visits.keys, *cut, *X)
        find(*grid, (*given, effects, constant, *response, slopes, scales))
        add(*grid, (*given, slopes, scales, sums))
        all_features = (blocks(n_features, 8)[0][0] + 1,), (256,)
        move(*all_features, (slopes, np.int32(size), rate, constant, sums, effects, squares))
        start += size


def batch_size(seen: int) -> int:
    """Documents of the next batch, after `seen` visits."""
    return int(min(max(LEAST_BATCH, BATCH_GROWTH * seen**0.5), MOST_BATCH))
