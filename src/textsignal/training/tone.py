"""Tone: what each feature of a text (word, negated word or phrase) adds to the linear predictor, wherever it stands.

A GLM of the response on z_if = size_f sqrt(n_if) / |size sqrt(n_i)| is fitted by stochastic gradient steps. Every pass
sees each document with half of its features left out at random, and the next pass the other half: features must say
something without the others. That, few passes and steps that shrink with what a feature has moved already (Adagrad) are
all that keeps effects small; nothing has to be chosen.

Documents without a response take part too: tone is fitted to those that have one, and then once more to all, with
expected responses, by each fit's own tone, where there is none. As every pass sees half of a document's features, the
rest of a text then tells features of which the responses said little what they mean.

Fits that each leave out a part of the documents run side by side with the fit of all: one visit to a document serves
all of them, and a fit that leaves it out takes a step of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.engines import Compute
from textsignal.families import Family, best_constant
from textsignal.inference import unit_rows
from textsignal.kernels import Kernels, Rows
from textsignal.training.corpus import Corpus
from textsignal.training.distinct import distinct_documents
from textsignal.training.draws import Keys, document_keys, drawn, unit_halves

#: Fits that each leave out a part of the documents, for tone that has not seen its response.
TONE_FOLDS = 5
#: Passes over the documents; and the size of steps, in units of the linear predictor's scale.
PASSES, STEP = 25, 0.18
#: Up to so many documents; more of them need fewer passes, though not fewer than the least.
MANY, LEAST_PASSES = 10_000, 5
#: Few documents have effects that are the mean of several runs, at most so many: they depend less on the draws.
MOST_RUNS = 4
#: Documents without a response take part where there are at least so many to one with a response: fewer tell nothing.
LEAST_SILENT = 0.5
#: Documents whose slopes are taken together.
BATCH = 100
#: Documents of a block, at most, and sums over blocks that are held at once.
BLOCK, SUMS = 50_000, 8


@dataclass(frozen=True)
class Tone:
    """Effects of features on the linear predictor, and those of fits that each left a part of the documents out.

    effects : (features,).
    folds : (documents,) the fit that left each document out; fold_effects : (TONE_FOLDS, features) their effects.
    """

    effects: Vector
    folds: NDArray[np.int64]
    fold_effects: Vector


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
    y : (documents,) encoded responses, NaN where there is none; weight : (documents,) how often each counts.
    offset : (documents,) what is known of the linear predictor, so that tone does not learn it; None for nothing.
    """
    folds = tone_folds(counts)
    observed = ~np.isnan(y) & (weight > 0) & (np.diff(counts.indptr) > 0)
    effects = np.zeros((counts.shape[1], TONE_FOLDS + 1))
    if observed.any() and np.ptp(y[observed]) > 0:
        counted = np.flatnonzero((weight > 0) & (np.diff(counts.indptr) > 0))
        corpus = Corpus(counts, y, weight, offset=offset)
        edges = np.linspace(0, len(counted), _n_blocks(len(counted)) + 1).astype(int)
        blocks = compute.engine.map(
            lambda rows: _block(corpus.at(rows), folds[rows], sizes),
            [counted[start:stop] for start, stop in pairwise(edges.tolist())],
        )
        effects = _fits(blocks, family, compute)[:-1, : TONE_FOLDS + 1]
    return Tone(effects[:, TONE_FOLDS].copy(), folds, effects[:, :TONE_FOLDS].T.copy())


def tone_folds(counts: sp.csr_array) -> NDArray[np.int64]:
    """(documents,) the fit that leaves each out, by what it says: copies of a text are left out together."""
    return (drawn(document_keys(counts), TONE_FOLDS) % np.uint64(TONE_FOLDS)).astype(np.int64)


def _n_blocks(n_documents: int) -> int:
    """Blocks whose steps are taken side by side: one, or an even number of them."""
    return 1 if n_documents <= BLOCK else 2 * -(-n_documents // (2 * BLOCK))


@dataclass(frozen=True, eq=False)
class _Block:
    """Distinct documents whose steps are taken one after the other.

    corpus : counts, weights and offsets; roots : (documents, features) of the counts, times sizes.
    y : (documents, fits) responses, all there, or (documents, 1) the same for all; folds : (documents,).
    """

    corpus: Corpus
    roots: sp.csr_array
    y: Vector
    folds: NDArray[np.int64]

    def at(self, rows: NDArray[np.bool_]) -> _Block:
        """Some of the documents."""
        if rows.all():
            return self
        return _Block(self.corpus.at(rows), self.roots[rows], self.y[rows], self.folds[rows])


def _block(corpus: Corpus, folds: NDArray[np.int64], sizes: Vector) -> _Block:
    distinct = distinct_documents(corpus)
    left_out = np.empty(len(distinct.corpus.y), dtype=np.int64)
    left_out[distinct.places] = folds
    roots = sp.csr_array(distinct.corpus.X, dtype=float, copy=True)
    roots.data = sizes[roots.indices] * np.sqrt(roots.data)
    return _Block(distinct.corpus, roots, distinct.corpus.y[:, None], left_out)


def _fits(blocks: Sequence[_Block], family: Family, compute: Compute) -> Vector:
    """(features + 1, fits) effects and constant of every fit, to documents with and without a response."""
    known = [~np.isnan(block.corpus.y) for block in blocks]
    answered = [block.at(rows) for block, rows in zip(blocks, known, strict=True) if rows.any()]
    scale = _scale([block.corpus for block in answered], family)
    effects = _mean_of_runs(answered, scale, family, compute)
    with_response = sum(block.corpus.weight[rows].sum() for block, rows in zip(blocks, known, strict=True))
    without = sum(block.corpus.weight[~rows].sum() for block, rows in zip(blocks, known, strict=True))
    if without < LEAST_SILENT * with_response:
        return effects

    def completed(block: _Block) -> _Block:
        rows = ~np.isnan(block.corpus.y)
        eta = compute.kernels.predictors(Rows.of(unit_rows(block.roots), 0, len(rows)), effects)
        expected = _expected(family, np.asarray(eta, dtype=float) + block.corpus.offsets[:, None])
        # A document without a response is left out by no fit.
        return replace(block, y=np.where(rows[:, None], block.y, expected), folds=np.where(rows, block.folds, -1))

    return _mean_of_runs(compute.engine.map(completed, blocks), scale, family, compute)


def _expected(family: Family, eta: Vector) -> Vector:
    """The encoded responses at which the loss has no slope; of words, slopes are linear in the response."""
    at_zero, at_one = (family.gradient(np.full(eta.shape, y), eta) for y in (0.0, 1.0))
    return at_zero / (at_zero - at_one)


def _mean_of_runs(blocks: Sequence[_Block], scale: _Scale, family: Family, compute: Compute) -> Vector:
    """(features + 1, fits) of `_descend`, the mean of more runs where documents are few."""
    n_runs = max(1, min(MOST_RUNS, MANY // sum(len(block.folds) for block in blocks)))
    return np.mean([_descend(blocks, scale, family, compute, run) for run in range(n_runs)], axis=0)


@dataclass(frozen=True)
class _Visits:
    """Visits to documents in one pass.

    rows : (visits,) the document; keys : (visits,) what each visit draws from; part : (visits,) how much each counts.
    """

    rows: NDArray[np.int64]
    keys: Keys
    part: Vector


def _visits(corpus: Corpus, mean: float, run: int) -> _Visits:
    """A document of w times the mean weight is visited w times, rounded up: no step is longer than others."""
    times = corpus.weight / mean
    often = np.ceil(times).astype(np.int64)
    rows = np.repeat(np.arange(len(often)), often)
    turn = np.arange(len(rows)) - np.repeat(np.cumsum(often) - often, often)
    keys = drawn(document_keys(corpus.X)[rows] + turn.astype(np.uint64), PASSES, run)
    return _Visits(rows, keys, (times / often)[rows])


def _n_passes(n_visits: int) -> int:
    """Passes over so many documents: visits in all grow by the cube root of what is more than `MANY`.

    With 18,000 reviews 15 passes predicted as well as 25.
    """
    return max(LEAST_PASSES, round(PASSES * min(1.0, MANY / n_visits) ** (2 / 3)))


@dataclass(frozen=True)
class _Scale:
    """What is large for this response: the best constant, and the size of slopes there and of linear predictors."""

    constant: float
    slope: float
    eta: float


def _scale(parts: Sequence[Corpus], family: Family) -> _Scale:
    """The linear predictor's scale is a Newton step from a typical slope, halved while the loss rises too much by it.

    It rises more than a quadratic one where responses are rare events: the constant has little curvature there.
    """
    responses, weight, offset = (
        np.concatenate(values) for values in zip(*((part.y, part.weight, part.offsets) for part in parts), strict=True)
    )
    constant = best_constant(family, responses, weight, offset)

    def mean(function: Callable[[Vector, Vector], Vector], eta: float) -> float:
        return float(np.average(function(responses, eta + offset), weights=weight))

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
        """The same in other memory, which suits the kernels."""
        own = _Effects(*(kernels.zeros(self.effects.shape, np.float64) for _ in range(2)))
        own.effects[:], own.squares[:] = self.effects, self.squares
        return own


@dataclass(frozen=True, eq=False)
class _Moved:
    """What blocks did, each from the same effects: sums over them of squares, and of squares times moves."""

    squares: Array
    moves: Array

    def __add__(self, other: _Moved) -> _Moved:
        return _Moved(self.squares + other.squares, self.moves + other.moves)

    def after(self, before: _Effects, n_blocks: int) -> _Effects:
        """The mean of the blocks' effects, of a feature by how much each block has to say of it."""
        moves = np.divide(self.moves, self.squares, out=np.zeros_like(self.moves), where=self.squares > 0)
        return _Effects(before.effects + moves, before.squares + self.squares / n_blocks)


def _descend(blocks: Sequence[_Block], scale: _Scale, family: Family, compute: Compute, run: int) -> Vector:
    """(features + 1, fits) effects and constant: without the documents of each fold, and of all documents.

    Blocks take their steps side by side, and after every pass go on from their mean. Draws are others in each `run`.
    """
    kernels, lanes = compute.kernels, compute.kernels.lanes(np.float64)
    shape = (blocks[0].roots.shape[1] + 1, -(-(TONE_FOLDS + 1) // lanes) * lanes)
    found = _Effects(kernels.zeros(shape, np.float64), kernels.zeros(shape, np.float64))
    found.effects[-1], found.squares[:] = scale.constant, 1.0
    mean = sum(block.corpus.weight.sum() for block in blocks) / sum(len(block.folds) for block in blocks)
    walks = [_Walk(block, _visits(block.corpus, mean, run), scale, family, kernels) for block in blocks]

    def moved(walk: _Walk) -> _Moved:
        own = found.copy(kernels)
        walk.go(own, number)
        squares = own.squares - found.squares
        return _Moved(squares, squares * (own.effects - found.effects))

    for number in range(_n_passes(max(len(walk.visits.rows) for walk in walks))):
        if len(walks) == 1:
            walks[0].go(found, number)
        else:
            found = compute.engine.sweep(moved, walks, SUMS).after(found, len(walks))
    return np.asarray(found.effects, dtype=float)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Passes over one block."""

    block: _Block
    visits: _Visits
    scale: _Scale
    family: Family
    kernels: Kernels

    def go(self, at: _Effects, number: int) -> None:
        """Move effects and squares by one pass, in place."""
        visits, block = self.visits, self.block
        order = np.argsort(drawn(visits.keys, PASSES, number), kind="stable")
        half = unit_halves(block.roots, visits.rows[order], visits.keys[order], number)
        offset, fits = block.corpus.offsets, np.arange(at.effects.shape[1])
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows = visits.rows[batch]
            X = Rows.of(half, start, start + len(batch))
            eta = np.asarray(self.kernels.predictors(X, at.effects), dtype=float) + offset[rows, None]
            slopes = self.family.gradient(np.broadcast_to(block.y[rows], eta.shape), eta)
            counting = (fits != block.folds[rows, None]) * visits.part[batch, None] / self.scale.slope
            self.kernels.adagrad_step(X, counting * slopes, at.effects, at.squares, STEP * self.scale.eta)
