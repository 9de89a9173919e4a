"""Effects of single words on the linear predictor, penalised by what they predict on held-back texts.

Two uses, one problem: sum_i weight_i loss(y_i, offset_i + x_i . effects + constant) + penalty.

The **guide** of predictive training is a ridge-penalised GLM on words and starting weights. Topics that move freely fit
noise. A word-level regression whose penalty is chosen on held-back texts fits less of it, so part of its residuals is
subtracted from what topics have to explain:

    loss_i(eta) - m r_i eta,        r_i = d loss_i / d eta at the guide's linear predictor,        m in [0, 1]

For families with a canonical link that is the loss at the response (1 - m) y + m (guide's mean). m is the share of the
response's deviance that the guide leaves unexplained on held-back texts: with responses that no word predicts, topics
have nothing to learn from them.

The **word residual** is the effect of single words beyond the topics, whose linear predictor is the offset: a sparse
term, so that a reader sees how little remains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Vector
from textsignal.compute.hashing import Keys
from textsignal.families import Family, best_constant, constant_predictor, deviance, null_deviance
from textsignal.training.corpus import Corpus

#: Ridge penalties that are tried, strongest first, in units of the loss' curvature.
RIDGES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
#: Sparse penalties that are tried, as shares of the smallest one at which every effect is 0.
SPARSE_SHARES = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)
#: One text in this many is held back to choose the penalty.
HELD_BACK = 5
#: Steps of the optimiser for one penalty; they start where the last penalty's ended.
MOST_STEPS = 100


@dataclass(frozen=True)
class WordProblem:
    """Effects of words, for texts that all have a response. Coefficients are effects, then a constant.

    Coefficients of P linear predictors are adjacent, feature by feature.

    X : (texts, features): words, and whatever else has an effect.
    y : (texts,) encoded responses; weight : (texts,) how often each text counts.
    offset : (texts,) the known part of the linear predictor, or 0.0.
    """

    X: sp.csr_array
    y: Vector
    weight: Vector
    offset: Vector | float
    family: Family

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return sp.csr_array(self.X.T)

    @property
    def _several(self) -> tuple[int, ...]:
        """Trailing shape of the coefficients: an axis of linear predictors if there are several."""
        return () if self.family.n_predictors == 1 else (self.family.n_predictors,)

    def part(self, rows: NDArray[np.bool_]) -> WordProblem:
        """Return the problem for a subset of the texts."""
        offset = self.offset[rows] if isinstance(self.offset, np.ndarray) else self.offset
        return WordProblem(self.X[rows], self.y[rows], self.weight[rows], offset, self.family)

    def linear_predictor(self, coefficients: Vector) -> Vector:
        """(texts,) offset + X effects + constant."""
        coefficients = coefficients.reshape(self.X.shape[1] + 1, *self._several)
        eta: Vector = self.offset + self.X @ coefficients[:-1] + coefficients[-1]
        return eta

    def loss_and_slope(self, coefficients: Vector) -> tuple[float, Vector]:
        """Loss without a penalty, and its gradient."""
        eta = self.linear_predictor(coefficients)
        pull = (self.weight * self.family.gradient(self.y, eta).T).T
        loss = float(np.sum(self.weight * self.family.loss(self.y, eta)))
        return loss, np.append((self._transposed @ pull).ravel(), pull.sum(axis=0))

    def deviance(self, coefficients: Vector) -> float:
        """Twice the loss above the smallest possible one."""
        return deviance(self.family, self.y, self.linear_predictor(coefficients), self.weight)

    @property
    def null(self) -> Vector:
        """No effects, and no constant."""
        return np.zeros(self.X.shape[1] + 1)

    @property
    def constant(self) -> Vector:
        """No effects, and the best constant."""
        constant = best_constant(self.family, self.y, self.weight, self.offset)
        return np.append(np.zeros(self.X.shape[1] * self.family.n_predictors), constant)

    @property
    def curvature(self) -> float:
        """Mean curvature of the loss at the best constant: the scale that ridge penalties are in."""
        constant = best_constant(self.family, self.y, self.weight, self.offset)
        curvature = self.family.curvature(self.y, constant_predictor(constant, self.y, self.offset))
        of_each = curvature if curvature.ndim == 1 else np.einsum("ipp->i", curvature) / self.family.n_predictors
        return float(np.average(of_each, weights=self.weight))

    @property
    def strongest(self) -> float:
        """The smallest sparse penalty at which no feature has an effect."""
        return float(np.abs(self.loss_and_slope(self.null)[1][:-1]).max())

    def fit_ridge(self, ridge: Vector, start: Vector) -> Vector:
        """Minimise  loss + sum ridge effects^2  over effects and constant."""
        penalty = np.repeat(ridge, self.family.n_predictors)

        def value_and_slope(coefficients: Vector) -> tuple[float, Vector]:
            effects = coefficients[: len(penalty)]
            loss, slope = self.loss_and_slope(coefficients)
            slope[: len(penalty)] += 2 * penalty * effects
            return float(loss + np.sum(penalty * effects**2)), slope

        return _minimum(value_and_slope, start, ftol=1e-7)

    def fit_sparse(self, strength: float, start: Vector) -> Vector:
        """Minimise  loss + strength sum |effects|  over effects alone, by positive and negative parts."""

        def coefficients_of(parts: Vector) -> Vector:
            up, down = np.split(parts, 2)
            return np.append(up - down, start[-1])

        def value_and_slope(parts: Vector) -> tuple[float, Vector]:
            loss, slopes = self.loss_and_slope(coefficients_of(parts))
            slope = slopes[:-1]
            return loss + strength * parts.sum(), np.concatenate([slope, -slope]) + strength

        first = np.concatenate([np.maximum(start[:-1], 0), np.maximum(-start[:-1], 0)])
        return coefficients_of(_minimum(value_and_slope, first, ftol=1e-8, bounds=Bounds(0, np.inf)))


def _minimum(
    value_and_slope: Callable[[Vector], tuple[float, Vector]], start: Vector, ftol: float, bounds: Bounds | None = None
) -> Vector:
    options = {"maxiter": MOST_STEPS, "ftol": ftol}
    minimum: Vector = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return minimum


@dataclass(frozen=True)
class HeldBack:
    """Texts to fit, and texts held back to choose a penalty by."""

    rest: WordProblem
    outside: WordProblem

    def best(
        self, penalties: tuple[float, ...], fit: Callable[[float, Vector], Vector], start: Vector
    ) -> tuple[float, float]:
        """Return the penalty with the smallest deviance on held-back texts, and that deviance.

        Penalties are tried strongest first, each from where the last one's fit ended, until the deviance rises.
        """
        coefficients, deviances = start, list[float]()
        for penalty in penalties:
            coefficients = fit(penalty, coefficients)
            deviances.append(self.outside.deviance(coefficients))
            if deviances[-1] > min(deviances):
                break
        least = int(np.argmin(deviances))
        return penalties[least], deviances[least]


def hold_back(problem: WordProblem, keys: Keys) -> HeldBack | None:
    """Hold back texts by their keys, so that copies are on the same side; None if a side is empty."""
    outside = keys % np.uint64(HELD_BACK) == 0
    if not outside.any() or outside.all():
        return None
    return HeldBack(problem.part(~outside), problem.part(outside))


@dataclass(frozen=True)
class Guide:
    """A linear predictor from words and from the weights that training starts with.

    constant : (texts,) intercept and the starting weights' part; words : (terms,) effects of words. Both have another
        axis if there are several linear predictors.
    distrust : m in the module's formula.
    """

    constant: Vector
    words: Vector
    distrust: float

    @property
    def say(self) -> float:
        """Factor of the supervision in training: 1 if words explain half its deviance, 0 if none."""
        return 2 * (1 - self.distrust)

    def tilt(self, X: sp.csr_array, rows: NDArray[np.int64], y: Vector, family: Family) -> Vector:
        """m r_i for texts `rows`, whose terms are X (thinned or not); 0 if the response is missing."""
        if self.distrust == 0:
            return np.zeros((len(rows), family.n_predictors) if family.n_predictors > 1 else len(rows))
        eta = self.constant[rows] + X @ self.words
        return np.where(np.isnan(y), 0.0, self.distrust * family.gradient(np.nan_to_num(y), eta).T).T


#: Leaves responses as they are.
NO_GUIDE = Guide(np.zeros(0), np.zeros(0), distrust=0.0)


def fit_guide(corpus: Corpus, weights: Array, family: Family, penalty: float, keys: Keys) -> Guide:
    """Choose the words' ridge penalty on held-back texts, then fit all.

    weights : (texts, topics) that training starts with; penalty : on their effects.
    keys : (texts,) of their content.
    """
    features = sp.csr_array(sp.hstack([corpus.X, weights]), dtype=float)
    whole = WordProblem(features, corpus.y, corpus.weight, 0.0 if corpus.offset is None else corpus.offset, family)
    observed = ~np.isnan(corpus.y) & (corpus.weight > 0)
    problem, n_terms = whole.part(observed), corpus.X.shape[1]
    with threadpool_limits(1):
        unit, sides, best, explained = problem.curvature, hold_back(problem, keys[observed]), RIDGES[0], 0.0

        def ridge(size: float) -> Vector:
            return np.concatenate([np.full(n_terms, size * unit), np.full(weights.shape[1], penalty)])

        if sides is not None:
            rest, held = sides.rest, sides.outside
            spread = null_deviance(family, held.y, held.weight, held.offset)
            if spread > 0:
                best, left = sides.best(RIDGES, lambda size, at: rest.fit_ridge(ridge(size), at), rest.constant)
                explained = 1 - left / spread
        coefficients = problem.fit_ridge(ridge(best), problem.constant)
    words = coefficients[: n_terms * family.n_predictors].reshape(n_terms, *problem._several)
    return Guide(whole.linear_predictor(coefficients) - corpus.X @ words, words, float(np.clip(1 - explained, 0, 1)))


def fit_word_effects(X: sp.csr_array, y: Vector, weight: Vector, eta: Vector, family: Family, keys: Keys) -> Vector:
    """(terms,) effects of words beyond the linear predictor eta (texts,), which stays as it is; most are 0.

    X : (texts, terms); y : encoded responses, NaN if missing; keys : (texts,) of their content.
    """
    observed = ~np.isnan(y) & (weight > 0)
    problem = WordProblem(sp.csr_array(X, dtype=float), y, weight, eta, family).part(observed)
    sides = hold_back(problem, keys[observed])
    if sides is None:
        return problem.null[:-1]
    with threadpool_limits(1):
        rest, strongest = sides.rest, sides.rest.strongest
        share, _ = sides.best(SPARSE_SHARES, lambda share, start: rest.fit_sparse(share * strongest, start), rest.null)
        return problem.fit_sparse(share * problem.strongest, problem.null)[:-1]
