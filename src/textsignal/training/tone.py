"""Tone: what each feature of a text (word, negated word or phrase) adds to the linear predictor, wherever it stands.

A GLM of the response on z_if = size_f sqrt(n_if) / |size sqrt(n_i)| is fitted by stochastic gradient steps. Every pass
sees each document with half of its features left out at random, and the next pass the other half: features must
predict without the others. That, few passes and steps that shrink with what a feature has moved already (Adagrad) are
all that keeps effects small; nothing has to be chosen.

Documents without a response take part too: tone is fitted to those that have one, and then once more to all, with
expected responses, by each fit's own tone, for the missing ones. As every pass sees half of a document's features, the
rest of a text then informs about features that are rare among documents with a response.

Fits that each leave out a part of the documents run side by side with the fit of all: one visit to a document serves
all of them, and a fit that leaves it out takes a step of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu.tone import Steps
from textsignal.compute.hashing import Keys, drawn
from textsignal.compute.kernels import Kernels, Rows
from textsignal.families import Family, best_constant
from textsignal.training.corpus import Corpus
from textsignal.training.draws import half_memory, unit_halves
from textsignal.training.inference import unit_rows
from textsignal.training.tone_blocks import TONE_FOLDS, Blocks, ToneBlock, tone_block, tone_folds
from textsignal.training.tone_on_card import documents_on_card, visits_on_card, walk_on_card

#: Passes over the documents, at most; and the size of steps, in units of the linear predictor's scale.
PASSES, STEP = 25, 0.18
#: PASSES passes for up to MANY documents; more documents need fewer passes, at least LEAST_PASSES.
MANY, LEAST_PASSES = 10_000, 5
#: For few documents, effects are the mean of up to this many runs, to depend less on the draws.
MOST_RUNS = 4
#: Documents without a response are used if there are at least this many per document with one.
LEAST_SILENT = 0.5
#: Documents whose slopes are taken together, and whose halves are drawn together: few enough for their memory to be
#: used again, where new memory would have to be cleared.
BATCH, HALVED = 100, 12_800
#: Documents of a block, at most, and sums over blocks that are held at once. The mean of blocks that are too small
#: predicts worse: 8,000 hotel reviews had a test R2 of .708 in one block, .705 in two, .701 in four
#: and .690 in eight.
BLOCK, SUMS = 2**17, 8
#: Several blocks stop earlier if two passes gain less than this share of the total gain, on about HELD_BACK held-out
#: documents of the first block. For much smaller blocks that costs skill: hotel reviews in four
#: of 2,000 had a test R2 of .692 after the 14 passes that this gives, .702 after 25.
ENOUGH, HELD_BACK = 0.005, 2**13
#: Losses after which passes may stop.
LEAST_LOSSES = 4
#: The smallest change of a slope with the response: where a rate is endless, none is left.
LEAST_CHANGE = 1e-100


@dataclass(frozen=True)
class Tone:
    """Effects of features on the linear predictor, and those of fits that each left a part of the documents out.

    effects : (features,).
    folds : (documents,) the fit that left each document out; fold_effects : (TONE_FOLDS, features) their effects.
    """

    effects: Vector
    folds: NDArray[np.int64]
    fold_effects: Vector

    @classmethod
    def of(cls, effects: Vector, folds: NDArray[np.int64]) -> Tone:
        """From what `tone_effects` gives, and the fit that left each document out."""
        return cls(effects[:, TONE_FOLDS].copy(), folds, effects[:, :TONE_FOLDS].T.copy())


def fit_tone(
    counts: sp.csr_array,
    sizes: Vector,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    offset: Vector | None = None,
) -> Tone:
    """Effects of features on the response.

    Copies of a text are left out together. A document that counts twice is two copies of it, to the bit; all that
    matters of weights is how they compare.

    counts : (documents, features); sizes : (features,) what each counts.
    y : (documents,) encoded responses, NaN if missing; weight : (documents,) how often each counts.
    offset : (documents,) what is known of the linear predictor, so that tone does not learn it; None if absent.
    """
    folds = tone_folds(counts)
    counted = np.flatnonzero((weight > 0) & (np.diff(counts.indptr) > 0))
    corpus = Corpus(counts, y, weight, offset=offset)
    edges = np.linspace(0, len(counted), n_blocks_of(len(counted), BLOCK) + 1).astype(int)
    blocks = compute.engine.map(
        lambda rows: tone_block(corpus.at(rows), sizes),
        [counted[start:stop] for start, stop in pairwise(edges.tolist())],
    )
    effects = tone_effects(blocks, family, compute)
    return Tone.of(effects, folds)


def n_blocks_of(n_documents: int, most: int) -> int:
    """Number of parallel blocks of at most `most` documents: one, or an even number."""
    return 1 if n_documents <= most else 2 * -(-n_documents // (2 * most))


@dataclass(frozen=True)
class _Size:
    """Number of distinct documents, in total and in the largest block, and the sum of their weights."""

    n_documents: int
    largest: int
    weight: float
    n_features: int

    @classmethod
    def of(cls, weight: Vector, n_features: int) -> _Size:
        return cls(len(weight), len(weight), float(weight.sum()), n_features)

    def __add__(self, other: _Size) -> _Size:
        n_documents, largest = self.n_documents + other.n_documents, max(self.largest, other.largest)
        return _Size(n_documents, largest, self.weight + other.weight, self.n_features)


@dataclass(frozen=True, eq=False)
class _Responses:
    """Distinct responses and offsets with the sums of their weights; the size of what is answered, and of all."""

    y: Vector
    offset: Vector
    weight: Vector
    answered: _Size
    all: _Size

    @classmethod
    def of(cls, block: ToneBlock) -> _Responses:
        rows, weight, n_features = block.known, block.weight, len(block.sizes)
        sizes = _Size.of(weight[rows], n_features), _Size.of(weight, n_features)
        return cls._counted(block.y[rows, 0], block.offset[rows], weight[rows], *sizes)

    @classmethod
    def _counted(cls, y: Vector, offset: Vector, weight: Vector, answered: _Size, size: _Size) -> _Responses:
        # Pairs as complex numbers, which NumPy sorts ten times as fast as rows.
        pairs, index = np.unique(y + 1j * offset, return_inverse=True)
        total = np.asarray(np.bincount(index, weight, len(pairs)), dtype=float)
        return cls(pairs.real.copy(), pairs.imag.copy(), total, answered, size)

    def __add__(self, other: _Responses) -> _Responses:
        y, offset, weight = (
            np.concatenate(pair)
            for pair in ((self.y, other.y), (self.offset, other.offset), (self.weight, other.weight))
        )
        return self._counted(y, offset, weight, self.answered + other.answered, self.all + other.all)


def tone_effects(blocks: Sequence[Any], family: Family, compute: Compute) -> Vector:
    """(features, TONE_FOLDS + 1) effects of every fit, to documents with and without a response; that of all last.

    blocks : `Blocks`, as the engine keeps them.
    """
    responses = compute.engine.sweep(lambda block: _Responses.of(block.load()), blocks)
    if not len(responses.y) or np.ptp(responses.y) == 0:
        return np.zeros((responses.all.n_features, TONE_FOLDS + 1))
    scale = _scale(responses, family)
    if scale.slope == 0:  # what is known of the linear predictor explains every response
        return np.zeros((responses.all.n_features, TONE_FOLDS + 1))
    answered = compute.engine.keep(lambda block: block.then(ToneBlock.answered), blocks)
    effects = _mean_of_runs(answered, responses.answered, scale, family, compute)
    if responses.all.weight >= (1 + LEAST_SILENT) * responses.answered.weight:
        complete = partial(_completed, effects=effects, family=family, kernels=compute.kernels)
        completed = compute.engine.keep(lambda block: block.then(complete), blocks)
        effects = _mean_of_runs(completed, responses.all, scale, family, compute)
    return effects[:-1, : TONE_FOLDS + 1]


def _completed(block: ToneBlock, effects: Vector, family: Family, kernels: Kernels) -> ToneBlock:
    """Fill in missing responses by expected ones; all fits use the documents without a response."""
    rows = block.known
    eta = kernels.predictors(Rows.of(unit_rows(block.roots), 0, len(rows)), effects)
    expected = _expected(family, np.asarray(eta, dtype=float) + block.offset[:, None])
    return replace(block, y=np.where(rows[:, None], block.y, expected), folds=np.where(rows, block.folds, -1))


def _expected(family: Family, eta: Vector) -> Vector:
    """The encoded responses at which the loss has no slope; of words, slopes are linear in the response."""
    at_zero, at_one = (family.gradient(np.full(eta.shape, y), eta) for y in (0.0, 1.0))
    return at_zero / np.maximum(at_zero - at_one, LEAST_CHANGE)


def _mean_of_runs(blocks: Sequence[Any], size: _Size, scale: _Scale, family: Family, compute: Compute) -> Vector:
    """(features + 1, fits) of `_descend`, the mean of more runs where documents are few."""
    n_runs = max(1, min(MOST_RUNS, MANY // size.n_documents))
    return np.mean([_descend(blocks, size, scale, family, compute, run) for run in range(n_runs)], axis=0)


@dataclass(frozen=True)
class _Visits:
    """Visits to documents in one pass.

    rows : (visits,) the document; keys : (visits,) what each visit draws from; part : (visits,) how much each counts.
    """

    rows: NDArray[np.int64]
    keys: Keys
    part: Vector


def _visits(block: ToneBlock, mean: float, run: int) -> _Visits:
    """A document of w times the mean weight is visited w times, rounded up: no step is longer than others."""
    times = block.weight / mean
    often = np.ceil(times).astype(np.int64)
    rows = np.repeat(np.arange(len(often)), often)
    turn = np.arange(len(rows)) - np.repeat(np.cumsum(often) - often, often)
    keys = drawn(block.keys[rows] + turn.astype(np.uint64), PASSES, run)
    return _Visits(rows, keys, (times / often)[rows])


def _n_passes(n_documents: int) -> int:
    """Number of passes over a block of `n_documents`: total visits grow by the cube root beyond `MANY`.

    With 18,000 reviews 15 passes predicted as well as 25.
    """
    return max(LEAST_PASSES, round(PASSES * min(1.0, MANY / n_documents) ** (2 / 3)))


@dataclass(frozen=True)
class _Scale:
    """Scale of the response: the best constant, and the size of slopes there and of linear predictors."""

    constant: float
    slope: float
    eta: float


def _scale(responses: _Responses, family: Family) -> _Scale:
    """The linear predictor's scale is a Newton step from a typical slope, halved while the loss rises too much by it.

    It rises more than a quadratic one where responses are rare events: the constant has little curvature there.
    """
    observed, weight, offset = responses.y, responses.weight, responses.offset
    constant = best_constant(family, observed, weight, offset)

    def mean(function: Callable[[Vector, Vector], Vector], eta: float) -> float:
        return float(np.average(function(observed, eta + offset), weights=weight))

    square, curvature = mean(lambda y, eta: family.gradient(y, eta) ** 2, constant), mean(family.curvature, constant)
    most = mean(family.loss, constant) + square / curvature
    eta = square**0.5 / curvature
    while max(mean(family.loss, constant - eta), mean(family.loss, constant + eta)) > most:
        eta /= 2
    return _Scale(constant, square**0.5, eta)


@dataclass(frozen=True, eq=False)
class _Effects:
    """Where steps have come to: effects and constant, and Adagrad's sums of squares, each (features + 1, fits)."""

    effects: Array
    squares: Array

    def copy(self, kernels: Kernels) -> _Effects:
        """Copy into memory that suits the kernels."""
        own = _Effects(*(kernels.zeros(self.effects.shape, np.float64) for _ in range(2)))
        own.effects[:], own.squares[:] = self.effects, self.squares
        return own


@dataclass(frozen=True, eq=False)
class _Moved:
    """Updates of blocks from common effects: sums over blocks of squares, and of squares times moves."""

    squares: Array
    moves: Array

    def __add__(self, other: _Moved) -> _Moved:
        return _Moved(self.squares + other.squares, self.moves + other.moves)

    def after(self, before: _Effects, n_blocks: int) -> _Effects:
        """Mean of the blocks' effects, each feature weighted by its squares in the block."""
        moves = np.divide(self.moves, self.squares, out=np.zeros_like(self.moves), where=self.squares > 0)
        return _Effects(before.effects + moves, before.squares + self.squares / n_blocks)


def _descend(blocks: Sequence[Any], size: _Size, scale: _Scale, family: Family, compute: Compute, run: int) -> Vector:
    """(features + 1, fits) effects and constant: without the documents of each fold, and of all documents.

    Blocks take their steps side by side, and after every pass go on from their mean. Draws are others in each `run`.
    """
    kernels, lanes = compute.kernels, compute.kernels.lanes(np.float64)
    shape = (size.n_features + 1, -(-(TONE_FOLDS + 1) // lanes) * lanes)
    found = _Effects(kernels.zeros(shape, np.float64), kernels.zeros(shape, np.float64))
    found.effects[-1], found.squares[:] = scale.constant, 1.0
    walk = _Walk(size.weight / size.n_documents, scale, family, kernels, run)

    def walked(block: Blocks) -> _Effects:
        own = found.copy(kernels)
        walk.go(block.load(), own, number)
        return own

    def moved(block: Blocks) -> _Moved:
        own = walked(block)
        squares = own.squares - found.squares
        return _Moved(squares, squares * (own.effects - found.effects))

    if len(blocks) == 1:
        for number in range(_n_passes(size.largest)):  # noqa: B007 (steps see it)
            (found,) = compute.engine.map(walked, blocks)
        return np.asarray(found.effects, dtype=float)

    few = compute.engine.keep(lambda block: _left_out(block.load()), blocks[:1])

    def held_back() -> list[Any]:
        effects = found.effects
        return compute.engine.keep(lambda block: _held_back_loss(block, effects, family, kernels), few)

    losses: list[Any] = []
    for number in range(_n_passes(size.largest)):  # noqa: B007 (steps see it)
        losses += held_back()
        # The first losses are only needed for later comparisons, so they are not awaited.
        if len(losses) >= LEAST_LOSSES and _is_enough(compute.engine.map(float, losses)):
            break
        found = compute.engine.sweep(moved, blocks, SUMS).after(found, len(blocks))
    return np.asarray(found.effects, dtype=float)


def _is_enough(losses: Sequence[float]) -> bool:
    """True if the last two passes, over the two halves of texts, gained next to nothing.

    losses : from no pass on, at least `LEAST_LOSSES`.

    Examples
    --------
    >>> _is_enough([2.0, 1.5, 1.2, 1.1]), _is_enough([2.0, 1.5, 1.2, 1.1, 1.198])
    (False, True)
    """
    return losses[-3] - losses[-1] < ENOUGH * (losses[0] - losses[-1])


def _left_out(block: ToneBlock) -> ToneBlock:
    """Some documents of a block, of those that a fit has not seen."""
    rows = np.flatnonzero(block.folds >= 0)
    return block.at(rows[:: max(1, len(rows) // HELD_BACK)])


def _held_back_loss(block: ToneBlock, effects: Array, family: Family, kernels: Kernels) -> float:
    """Mean loss of documents, each by the fit that has not seen it."""
    n = len(block.folds)
    eta = np.asarray(kernels.predictors(Rows.of(unit_rows(block.roots), 0, n), effects), dtype=float)
    own, y = (np.arange(n), block.folds), np.broadcast_to(block.y, eta.shape)
    return float(np.average(family.loss(y[own], eta[own] + block.offset), weights=block.weight))


@dataclass(frozen=True, eq=False)
class _Walk:
    """Passes over blocks; mean : weight of a document."""

    mean: float
    scale: _Scale
    family: Family
    kernels: Kernels
    run: int

    def go(self, block: ToneBlock, at: _Effects, number: int) -> None:
        """Move effects and squares by one pass, in place."""
        visits, fits = _visits(block, self.mean, self.run), np.arange(at.effects.shape[1])
        if self.kernels is gpu:
            self._go_on_card(block, visits, at, number)
            return
        order = np.argsort(drawn(visits.keys, PASSES, number), kind="stable")
        nonzeros = np.diff(block.counts.indptr)[visits.rows[order]]
        most = max((int(nonzeros[start : start + HALVED].sum()) for start in range(0, len(order), HALVED)), default=0)
        memory = half_memory(block.counts, most)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = visits.rows[batch]
            if start % HALVED == 0:
                some = order[start : start + HALVED]
                half = unit_halves(block.counts, visits.rows[some], visits.keys[some], number, block.sizes, memory)
            X = Rows.of(half, start % HALVED, start % HALVED + len(batch))
            eta = np.asarray(self.kernels.predictors(X, at.effects), dtype=float) + block.offset[rows, None]
            slopes = self.family.gradient(np.broadcast_to(block.y[rows], eta.shape), eta)
            counting = (fits != block.folds[rows, None]) * visits.part[batch, None] / self.scale.slope
            self.kernels.adagrad_step(X, counting * slopes, at.effects, at.squares, STEP * self.scale.eta)

    def _go_on_card(self, block: ToneBlock, visits: _Visits, at: _Effects, number: int) -> None:
        there = visits_on_card(visits.rows, visits.keys, visits.part)
        documents = documents_on_card(block.roots, block.y, block.folds, block.offset, there)
        steps = Steps(PASSES, STEP * self.scale.eta, self.scale.slope)
        walk_on_card(documents, steps, self.family, number, at.effects, at.squares)
