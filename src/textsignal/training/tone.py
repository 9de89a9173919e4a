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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
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


@dataclass(frozen=True)
class Tone:
    """Effects of features on the linear predictor, and those of fits that each left a part of the documents out.

    effects : (features,).
    folds : (documents,) the fit that left each document out; fold_effects : (TONE_FOLDS, features) their effects.
    """

    effects: Vector
    folds: NDArray[np.int64]
    fold_effects: Vector

    def out_of_fold(self, documents: NDArray[np.int64], features: NDArray[np.int64]) -> Vector:
        """(occurrences,) effects of features in training documents, by fits that have not seen their responses."""
        return self.fold_effects[self.folds[documents], features]


def fit_tone(
    counts: sp.csr_array,
    sizes: Vector,
    y: Vector,
    weight: Vector,
    family: Family,
    kernels: Kernels,
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
        distinct = distinct_documents(Corpus(counts, y, weight, offset=offset).at(counted))
        left_out = np.empty(len(distinct.corpus.y), dtype=np.int64)
        left_out[distinct.places] = folds[counted]
        effects = _fits(distinct.corpus, left_out, sizes, family, kernels)[:-1, : TONE_FOLDS + 1]
    return Tone(effects[:, TONE_FOLDS].copy(), folds, effects[:, :TONE_FOLDS].T.copy())


def tone_folds(counts: sp.csr_array) -> NDArray[np.int64]:
    """(documents,) the fit that leaves each out, by what it says: copies of a text are left out together."""
    return (drawn(document_keys(counts), TONE_FOLDS) % np.uint64(TONE_FOLDS)).astype(np.int64)


def _fits(corpus: Corpus, folds: NDArray[np.int64], sizes: Vector, family: Family, kernels: Kernels) -> Vector:
    """(features + 1, fits) effects and constant of every fit, to documents with and without a response."""
    known = ~np.isnan(corpus.y)
    roots = sp.csr_array(corpus.X, dtype=float)
    roots.data = sizes[roots.indices] * np.sqrt(roots.data)
    answered = corpus.at(known)
    scale = _scale(answered, family)
    effects = _mean_of_runs(answered, roots[known], answered.y[:, None], folds[known], scale, family, kernels)
    if corpus.weight[~known].sum() < LEAST_SILENT * corpus.weight[known].sum():
        return effects
    eta = kernels.predictors(Rows.of(unit_rows(roots), 0, len(known)), effects) + corpus.offsets[:, None]
    y = np.where(known[:, None], corpus.y[:, None], _expected(family, np.asarray(eta, dtype=float)))
    # A document without a response is left out by no fit.
    return _mean_of_runs(corpus, roots, y, np.where(known, folds, -1), scale, family, kernels)


def _expected(family: Family, eta: Vector) -> Vector:
    """The encoded responses at which the loss has no slope; of words, slopes are linear in the response."""
    at_zero, at_one = (family.gradient(np.full(eta.shape, y), eta) for y in (0.0, 1.0))
    return at_zero / (at_zero - at_one)


def _mean_of_runs(
    corpus: Corpus,
    roots: sp.csr_array,
    y: Vector,
    folds: NDArray[np.int64],
    scale: _Scale,
    family: Family,
    kernels: Kernels,
) -> Vector:
    """(features + 1, fits) of `_descend`, the mean of more runs where documents are few."""
    n_runs = max(1, min(MOST_RUNS, MANY // len(folds)))
    return np.mean([_descend(corpus, roots, y, folds, scale, family, kernels, run) for run in range(n_runs)], axis=0)


@dataclass(frozen=True)
class _Visits:
    """Visits to documents in one pass.

    rows : (visits,) the document; keys : (visits,) what each visit draws from; part : (visits,) how much each counts.
    """

    rows: NDArray[np.int64]
    keys: Keys
    part: Vector


def _visits(corpus: Corpus, run: int) -> _Visits:
    """A document of w times the mean weight is visited w times, rounded up: no step is longer than others."""
    times = corpus.weight / corpus.weight.mean()
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


def _scale(corpus: Corpus, family: Family) -> _Scale:
    """The linear predictor's scale is a Newton step from a typical slope, halved while the loss rises too much by it.

    It rises more than a quadratic one where responses are rare events: the constant has little curvature there.
    """
    offset = corpus.offsets
    constant = best_constant(family, corpus.y, corpus.weight, offset)

    def mean(function: Callable[[Vector, Vector], Vector], eta: float) -> float:
        return float(np.average(function(corpus.y, eta + offset), weights=corpus.weight))

    square, curvature = mean(lambda y, eta: family.gradient(y, eta) ** 2, constant), mean(family.curvature, constant)
    most = mean(family.loss, constant) + square / curvature
    eta = square**0.5 / curvature
    while max(mean(family.loss, constant - eta), mean(family.loss, constant + eta)) > most:
        eta /= 2
    return _Scale(constant, square**0.5, eta)


def _descend(
    corpus: Corpus,
    roots: sp.csr_array,
    y: Vector,
    folds: NDArray[np.int64],
    scale: _Scale,
    family: Family,
    kernels: Kernels,
    run: int,
) -> Vector:
    """(features + 1, fits) effects and constant: without the documents of each fold, and of all documents.

    corpus : counts, weights and offsets; roots : (documents, features) of the counts, times sizes.
    y : (documents, fits) responses, all there, or (documents, 1) the same for all; folds : (documents,).
    run : draws are others in each.
    """
    visits = _visits(corpus, run)
    offset = corpus.offsets[visits.rows]
    n_fits = -(-(TONE_FOLDS + 1) // kernels.lanes(np.float64)) * kernels.lanes(np.float64)
    effects, squares = (kernels.zeros((roots.shape[1] + 1, n_fits), np.float64) for _ in range(2))
    effects[-1], squares[:] = scale.constant, 1.0
    sees = np.arange(n_fits) != folds[visits.rows, None]
    counting = sees * visits.part[:, None] / scale.slope
    for number in range(_n_passes(len(visits.rows))):
        order = np.argsort(drawn(visits.keys, PASSES, number), kind="stable")
        half = unit_halves(roots, visits.rows[order], visits.keys[order], number)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            X = Rows.of(half, start, start + len(batch))
            eta = np.asarray(kernels.predictors(X, effects), dtype=float) + offset[batch, None]
            observed = np.broadcast_to(y[visits.rows[batch]], eta.shape)
            slopes = counting[batch] * family.gradient(observed, eta)
            kernels.adagrad_step(X, slopes, effects, squares, STEP * scale.eta)
    return np.asarray(effects, dtype=float)
