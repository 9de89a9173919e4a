"""Tone: what each feature of a text (word, negated word or phrase) adds to the linear predictor, wherever it stands.

A GLM of the response on z_if = size_f sqrt(n_if) / |size sqrt(n_i)| is fitted by stochastic gradient steps. Every pass
sees each text without a random half of its features, and the next pass sees the other half: features must predict
without the others. That, few passes and steps that shrink with what a feature has moved already (Adagrad) are all that
keeps effects small; there is nothing to choose.

Texts without a response take part too: tone is fitted to those that have one, and then once more to all, with expected
responses, by each fit's own tone, for the missing ones. As every pass sees half of a text's features, the rest of a
text then informs about features that are rare among texts with a response.

Fits that each exclude a part of the texts run alongside the fit of all: one visit to a text serves all of them, and a
fit that excludes it takes a step of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.gpu import cupy
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu.tone import GAUSSIAN, LOGISTIC, NEGATIVE_BINOMIAL, CardTexts, Steps, Visits, walk
from textsignal.compute.hashing import Keys, drawn
from textsignal.compute.kernels import Kernels, Rows
from textsignal.errors import InputError
from textsignal.families import Family, Gaussian, NegativeBinomial, best_constant
from textsignal.families.binomial import Logistic
from textsignal.training.corpus import Corpus, distinct_documents
from textsignal.training.draws import document_keys, half_memory, unit_halves
from textsignal.training.inference import unit_rows

#: Fits that each exclude a part of the texts, for tone that has not seen its response.
TONE_FOLDS = 5
#: Passes over the texts, at most; and the size of steps, in units of the linear predictor's scale.
PASSES, STEP = 25, 0.18
#: PASSES passes for up to MANY texts; more texts need fewer passes, at least LEAST_PASSES.
MANY, LEAST_PASSES = 10_000, 5
#: For few texts, effects are the mean of up to this many runs, to depend less on the draws.
MOST_RUNS = 4
#: Texts without a response are used if there are at least this many per text with one.
LEAST_SILENT = 0.5
#: Texts whose slopes are taken together, and whose halves are drawn together: few enough to reuse their memory, where
#: new memory would have to be cleared, and for another thread to draw the next ones meanwhile.
BATCH, HALVED = 100, 3200
#: Texts of a block, at most, and sums over blocks that are held at once. The mean of blocks that are too small predicts
#: worse: 8,000 hotel reviews had a test R2 of .708 in one block, .705 in two, .701 in four and .690 in eight.
BLOCK, SUMS = 2**17, 8
#: Several blocks stop earlier if two passes gain less than this share of the total gain, on about HELD_BACK held-out
#: texts of the first block. For much smaller blocks that costs skill: hotel reviews in four of 2,000 had a test R2 of
#: .692 after the 14 passes that this gives, .702 after 25.
ENOUGH, HELD_BACK = 0.005, 2**13
#: Losses after which passes may stop.
LEAST_LOSSES = 4
#: The smallest change of a slope with the response: a rate without an end leaves none.
LEAST_CHANGE = 1e-100


@dataclass(frozen=True)
class Tone:
    """Effects (features,) on the linear predictor, and (TONE_FOLDS, features) of fits that exclude texts of a fold."""

    effects: Vector
    folds: NDArray[np.int64]
    fold_effects: Vector

    @classmethod
    def of(cls, effects: Vector, folds: NDArray[np.int64]) -> Tone:
        """Take the columns of `tone_effects` apart."""
        return cls(effects[:, TONE_FOLDS].copy(), folds, effects[:, :TONE_FOLDS].T.copy())


@dataclass(frozen=True, eq=False)
class ToneBlock:
    """Distinct texts whose steps are taken one after the other.

    counts : (texts, features); sizes : (features,) what each counts; keys : (texts,) what each draws from.
    y : (texts, fits) responses, or (texts, 1) if equal for all fits, NaN if missing.
    """

    counts: sp.csr_array
    sizes: Vector
    keys: Keys
    y: Vector
    weight: Vector
    offset: Vector
    folds: NDArray[np.int64]

    @cached_property
    def roots(self) -> sp.csr_array:
        """(texts, features) roots of the counts, times sizes."""
        X = self.counts
        return sp.csr_array((self.sizes[X.indices] * np.sqrt(X.data, dtype=float), X.indices, X.indptr), shape=X.shape)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(texts,) True if the text has a response."""
        return ~np.isnan(self.y[:, 0])

    def load(self) -> ToneBlock:
        """Return the block, which is in memory, unlike a `StoredBlock`."""
        return self

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> ToneBlock:
        """Apply a step."""
        return step(self)

    def answered(self) -> ToneBlock:
        """Return the texts that have a response."""
        return self if self.known.all() else self.at(np.flatnonzero(self.known))

    def at(self, rows: NDArray[np.int64]) -> ToneBlock:
        """Return a subset of the texts."""
        columns: list[Any] = [self.keys, self.y, self.weight, self.offset, self.folds]
        return ToneBlock(self.counts[rows], self.sizes, *(column[rows] for column in columns))


def tone_block(corpus: Corpus, sizes: Vector) -> ToneBlock:
    """Return a block of texts; corpus : counts of features, encoded responses, weights and offset."""
    X = corpus.X
    if X.data.dtype != np.uint16:
        small = X.data.astype(np.uint16 if X.data.max(initial=0) < 2**16 else float)
        values = small if np.array_equal(small, X.data) else X.data.astype(float)
        X = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
    distinct = distinct_documents(replace(corpus, X=X)).corpus
    keys, offset = document_keys(distinct.X), np.broadcast_to(distinct.offsets, len(distinct.y))
    return ToneBlock(distinct.X, sizes, keys, distinct.y[:, None], distinct.weight, offset, _folds_of(keys))


def tone_folds(counts: sp.csr_array) -> NDArray[np.int64]:
    """(texts,) the fit that excludes each text, by its content: copies of a text are excluded together."""
    return _folds_of(document_keys(counts))


def _folds_of(keys: Keys) -> NDArray[np.int64]:
    return (drawn(keys, TONE_FOLDS) % np.uint64(TONE_FOLDS)).astype(np.int64)


def fit_tone(
    counts: sp.csr_array,
    sizes: Vector,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    offset: Vector | None = None,
    start: Vector | None = None,
) -> Tone:
    """Fit the effects of features on the response; only ratios of weights matter.

    counts : (texts, features); sizes : (features,) what each counts; y : (texts,) encoded responses, NaN if missing.
    start : (features,) effects that steps start from, and that effects of rare features stay near; None for 0.
    """
    counted = np.flatnonzero((weight > 0) & (np.diff(counts.indptr) > 0))
    corpus = Corpus(counts, y, weight, offset=offset)
    edges = np.linspace(0, len(counted), n_blocks_of(len(counted), BLOCK) + 1).astype(int)
    rows = [counted[start:stop] for start, stop in pairwise(edges.tolist())]
    blocks = compute.engine.map(lambda of_block: tone_block(corpus.at(of_block), sizes), rows)
    return Tone.of(tone_effects(blocks, family, compute, start), tone_folds(counts))


def n_blocks_of(n_documents: int, most: int) -> int:
    """Return the number of parallel blocks of at most `most` texts: one, or an even number."""
    return 1 if n_documents <= most else 2 * -(-n_documents // (2 * most))


@dataclass(frozen=True)
class _Size:
    """Number of distinct texts, in total and in the largest block, the sum of their weights, and their features."""

    n_documents: int
    largest: int
    weight: float
    n_features: int

    def __add__(self, other: _Size) -> _Size:
        n_documents, largest = self.n_documents + other.n_documents, max(self.largest, other.largest)
        return _Size(n_documents, largest, self.weight + other.weight, self.n_features)


@dataclass(frozen=True, eq=False)
class _Responses:
    """Distinct pairs, response + i offset, with the sums of their weights; the size of answered texts, and of all."""

    pairs: NDArray[np.complex128]
    weight: Vector
    answered: _Size
    all: _Size

    @classmethod
    def of(cls, block: ToneBlock) -> _Responses:
        rows, every = block.known, block.weight
        weights = every[rows], every
        sizes = (_Size(len(each), len(each), float(each.sum()), len(block.sizes)) for each in weights)
        return cls._distinct(block.y[rows, 0] + 1j * block.offset[rows], every[rows], *sizes)

    @classmethod
    def _distinct(cls, pairs: NDArray[np.complex128], weight: Vector, answered: _Size, size: _Size) -> _Responses:
        # NumPy sorts complex numbers ten times as fast as rows.
        pairs, index = np.unique(pairs, return_inverse=True)
        return cls(pairs, np.asarray(np.bincount(index, weight, len(pairs)), dtype=float), answered, size)

    def __add__(self, other: _Responses) -> _Responses:
        pairs, weight = np.append(self.pairs, other.pairs), np.append(self.weight, other.weight)
        return self._distinct(pairs, weight, self.answered + other.answered, self.all + other.all)


def tone_effects(
    blocks: Sequence[Any], family: Family, compute: Compute, start: Vector | None = None, batch: int = BATCH
) -> Vector:
    """(features, TONE_FOLDS + 1) effects of every fit, that of all texts last, to `ToneBlock`s or `StoredBlock`s.

    start : (features,) effects before the first step, None for 0; batch : texts whose slopes are taken together.
    """
    responses = compute.engine.sweep(lambda block: _Responses.of(block.load()), blocks)
    none = np.zeros((responses.all.n_features, TONE_FOLDS + 1))
    start = none[:, 0] if start is None else start
    if not len(responses.pairs) or np.ptp(responses.pairs.real) == 0:
        return none
    scale = _scale(responses, family)
    if scale.slope == 0:  # the offset explains every response
        return none

    def fit(step: Callable[[ToneBlock], ToneBlock], size: _Size) -> Vector:
        """Mean of several runs if texts are few; step : applied to blocks first."""
        prepared = compute.engine.keep(lambda block: block.then(step), blocks)
        n_runs = max(1, min(MOST_RUNS, MANY // size.n_documents))
        mean = size.weight / size.n_documents
        walks = [_Walk(mean, scale, family, compute.kernels, batch, run) for run in range(n_runs)]
        return np.mean([_descend(prepared, size, each, start, compute) for each in walks], axis=0)

    effects = fit(ToneBlock.answered, responses.answered)
    if responses.all.weight >= (1 + LEAST_SILENT) * responses.answered.weight:
        complete = partial(_completed, effects=effects, family=family, kernels=compute.kernels)
        effects = fit(complete, responses.all)
    return effects[:-1, : TONE_FOLDS + 1]


def _completed(block: ToneBlock, effects: Vector, family: Family, kernels: Kernels) -> ToneBlock:
    """Fill in missing responses by expected ones; all fits use the texts without a response."""
    rows = block.known
    expected = _expected(family, _linear_predictors(block, effects, kernels) + block.offset[:, None])
    return replace(block, y=np.where(rows[:, None], block.y, expected), folds=np.where(rows, block.folds, -1))


def _linear_predictors(block: ToneBlock, effects: Array, kernels: Kernels) -> Vector:
    """(texts, fits) without the offset."""
    rows = Rows.of(unit_rows(block.roots), 0, len(block.folds))
    return np.asarray(kernels.predictors(rows, effects), dtype=float)


def _expected(family: Family, eta: Vector) -> Vector:
    """Encoded responses at which the loss has no slope; slopes of these families are linear in the response."""
    at_zero, at_one = (family.gradient(np.full(eta.shape, y), eta) for y in (0.0, 1.0))
    return at_zero / np.maximum(at_zero - at_one, LEAST_CHANGE)


@dataclass(frozen=True)
class _Scale:
    """Scale of the response: the best constant, and the size of slopes there and of linear predictors."""

    constant: float
    slope: float
    eta: float


def _scale(responses: _Responses, family: Family) -> _Scale:
    """Take a Newton step from a typical slope as the linear predictor's scale, halved while the loss rises too much."""
    observed, offset, weight = responses.pairs.real.copy(), responses.pairs.imag.copy(), responses.weight
    constant = best_constant(family, observed, weight, offset)

    def mean(function: Callable[[Vector, Vector], Vector], eta: float) -> float:
        return float(np.average(function(observed, eta + offset), weights=weight))

    square, curvature = mean(lambda y, eta: family.gradient(y, eta) ** 2, constant), mean(family.curvature, constant)
    most = mean(family.loss, constant) + square / curvature
    eta = square**0.5 / curvature
    # Rare events have little curvature at the constant: their loss rises more than a quadratic one.
    while max(mean(family.loss, constant - eta), mean(family.loss, constant + eta)) > most:
        eta /= 2
    return _Scale(constant, square**0.5, eta)


@dataclass(frozen=True, eq=False)
class _State:
    """Effects and constant, and Adagrad's sums of squares, each (features + 1, fits)."""

    effects: Array
    squares: Array


def _descend(blocks: Sequence[Any], size: _Size, passes: _Walk, start: Vector, compute: Compute) -> Vector:
    """(features + 1, fits) effects and constant, from a start (features,).

    Blocks take their steps in parallel, and after every pass continue from their mean, in which each feature has the
    weight of its squares in the block.
    """
    engine, kernels, lanes = compute.engine, compute.kernels, compute.kernels.lanes(np.float64)
    shape = (size.n_features + 1, -(-(TONE_FOLDS + 1) // lanes) * lanes)

    def copied(effects: Any, squares: Any) -> _State:
        own = _State(kernels.zeros(shape, np.float64), kernels.zeros(shape, np.float64))
        own.effects[:], own.squares[:] = effects, squares
        return own

    state = copied(0.0, 1.0)
    state.effects[:-1], state.effects[-1] = start[:, None], passes.scale.constant
    # Total visits grow by the cube root beyond `MANY` texts: with 18,000 reviews 15 passes predicted as well as 25.
    n_passes = max(LEAST_PASSES, round(PASSES * min(1.0, MANY / size.largest) ** (2 / 3)))

    def walked(block: Any, ahead: Any = map) -> _State:
        own = copied(state.effects, state.squares)
        passes.go(block.load(), own, number, ahead)
        return own

    def moved(block: Any) -> Array:
        """Squares of the block, and squares times moves."""
        own, sums = walked(block), np.empty((2, *shape))
        np.subtract(own.squares, state.squares, out=sums[0])
        np.multiply(sums[0], own.effects - state.effects, out=sums[1])
        return sums

    if len(blocks) == 1:
        for number in range(n_passes):  # noqa: B007 (steps see it)
            (state,) = engine.map(partial(walked, ahead=map if engine.is_spread else engine.ahead), blocks)
        return np.asarray(state.effects, dtype=float)

    def held_back(block: Any) -> ToneBlock:
        """Some texts of those that a fit has not seen."""
        texts = block.load()
        rows = np.flatnonzero(texts.folds >= 0)
        return texts.at(rows[:: max(1, len(rows) // HELD_BACK)])

    few = engine.keep(held_back, blocks[:1])

    losses: list[Any] = []
    for number in range(n_passes):  # noqa: B007 (steps see it)
        loss = partial(_held_back_loss, effects=state.effects, family=passes.family, kernels=kernels)
        losses += engine.keep(loss, few)
        # The first losses are only needed for later comparisons, so they are not awaited.
        if len(losses) >= LEAST_LOSSES:
            values = engine.map(float, losses)
            # The last two passes cover both halves of texts.
            if values[-3] - values[-1] < ENOUGH * (values[0] - values[-1]):
                break
        squares, products = engine.sweep(moved, blocks, SUMS)
        moves = np.divide(products, squares, out=np.zeros_like(products), where=squares > 0)
        state = _State(state.effects + moves, state.squares + squares / len(blocks))
    return np.asarray(state.effects, dtype=float)


def _held_back_loss(block: ToneBlock, effects: Array, family: Family, kernels: Kernels) -> float:
    """Mean loss of texts, each by the fit that has not seen it."""
    eta = _linear_predictors(block, effects, kernels)
    own, y = (np.arange(len(eta)), block.folds), np.broadcast_to(block.y, eta.shape)
    return float(np.average(family.loss(y[own], eta[own] + block.offset), weights=block.weight))


@dataclass(frozen=True, eq=False)
class _Walk:
    """Passes over blocks; mean : weight of a text; batch : texts whose slopes are taken together; run : of draws."""

    mean: float
    scale: _Scale
    family: Family
    kernels: Kernels
    batch: int
    run: int

    def go(self, block: ToneBlock, state: _State, number: int, ahead: Any = map) -> None:
        """Move effects and squares by one pass, in place; ahead : `map`, or one that prepares the next item early."""
        # A text of w times the mean weight is visited w times, rounded up: no step is longer than others.
        times = block.weight / self.mean
        often = np.ceil(times).astype(np.int64)
        rows = np.repeat(np.arange(len(often)), often)
        turn = np.arange(len(rows)) - np.repeat(np.cumsum(often) - often, often)
        keys = drawn(block.keys[rows] + turn.astype(np.uint64), PASSES, self.run)
        visits = Visits(keys, rows, (times / often)[rows])
        if self.kernels is gpu:
            self._go_on_card(block, visits, state, number)
            return
        order = np.argsort(drawn(visits.keys, PASSES, number), kind="stable")
        starts, shape = range(0, len(order), HALVED), state.effects.shape
        nonzeros = np.diff(block.counts.indptr)[visits.rows[order]]
        most = max((int(nonzeros[start : start + HALVED].sum()) for start in starts), default=0)
        memory = [half_memory(block.counts, most) for _ in range(2)]

        def halved(start: int) -> tuple[sp.csr_array, Vector, Vector, Vector]:
            """Halves of texts, their responses, their offset, and how much each counts in each fit."""
            some, own = order[start : start + HALVED], memory[start // HALVED % 2]
            rows = visits.rows[some]
            half = unit_halves(block.counts, rows, visits.keys[some], number, block.sizes, own)
            part = visits.part[some, None] / self.scale.slope
            counting = (np.arange(shape[1]) != block.folds[rows, None]) * part
            return half, np.broadcast_to(block.y[rows], counting.shape), block.offset[rows, None], counting

        step = STEP * self.scale.eta
        for half, y, offset, counting in ahead(halved, starts):
            for start in range(0, len(y), self.batch):
                at = slice(start, start + self.batch)
                X = Rows.of(half, start, min(start + self.batch, len(y)))
                eta = np.asarray(self.kernels.predictors(X, state.effects), dtype=float) + offset[at]
                slopes = counting[at] * self.family.gradient(y[at], eta)
                self.kernels.adagrad_step(X, slopes, state.effects, state.squares, step)

    def _go_on_card(self, block: ToneBlock, visits: Visits, state: _State, number: int) -> None:
        """Copy the block to the GPU and updates back; features absent from the block stay bitwise unchanged."""
        cp, roots = cupy(), block.roots
        X = Rows(cp.asarray(roots.indptr, np.int64), cp.asarray(roots.indices, np.int32), _single(roots.data))
        there = Visits(cp.asarray(visits.keys), cp.asarray(visits.rows, np.int64), _single(visits.part))
        texts = CardTexts(X, _single(block.y), cp.asarray(block.folds, np.int32), there, _single(block.offset))
        effects, squares = _single(state.effects), _single(state.squares)
        steps = Steps(PASSES, STEP * self.scale.eta, self.scale.slope)
        walk(texts, steps, slope_of(self.family), number, effects, squares)
        for values, after in ((state.effects, effects), (state.squares, squares)):
            values += (after - _single(values)).get()


def _single(values: Any) -> Any:
    """Copy to the GPU, in single precision and without gaps."""
    return cupy().array(np.ascontiguousarray(values), np.float32)


def slope_of(family: Family) -> str:
    """Return the derivative of the loss in CUDA, for a family by which effects of words are learnt."""
    match family:
        case Logistic():
            return LOGISTIC.format(steps=float(family._steps))
        case Gaussian():
            return GAUSSIAN.format(variance=float(family._deviation**2))
        case NegativeBinomial():
            dispersion = float(family._dispersion)
            return NEGATIVE_BINOMIAL.format(dispersion=dispersion, log=float(np.log(dispersion)))
    raise InputError(f'the family {type(family).__name__} has no slopes for device="cuda"; give device="cpu"')
