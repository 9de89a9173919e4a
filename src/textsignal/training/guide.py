"""The guide of predictive training: a ridge-penalised GLM on words, and how far it can be trusted.

Topics that move freely fit noise. A word-level regression that was penalised by what it predicts on held-back documents
fits less of it, so part of its residuals is taken off what topics are asked to explain:

    loss_i(eta) - m r_i eta,        r_i = d loss_i / d eta at the guide's linear predictor,        m in [0, 1]

For families with a canonical link that is the loss at the response (1 - m) y + m (guide's mean). m is the share of the
response's deviance that the guide leaves unexplained on held-back documents: with responses that no word predicts,
topics have nothing to learn from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from textsignal.families import Family
from textsignal.kernels import Array, Vector
from textsignal.training.corpus import Corpus
from textsignal.training.draws import Keys
from textsignal.training.glm import best_constant, null_deviance

#: Ridge penalties that are tried, strongest first, in units of the loss' curvature.
PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
#: One document in this many is held back to choose the penalty.
HELD_BACK = 5
#: Steps of the optimiser for one penalty; they start where the last penalty's ended.
MOST_STEPS = 100


@dataclass(frozen=True)
class Guide:
    """A linear predictor from words and from the weights that training starts with.

    constant : (documents,) intercept and the starting weights' part.
    words : (terms,) effects of words.
    distrust : m above.
    """

    constant: Vector
    words: Vector
    distrust: float

    @property
    def say(self) -> float:
        """How much say a response gets in training: 1 where words explain half its deviance, 0 where none."""
        return 2 * (1 - self.distrust)

    def tilt(self, X: sp.csr_array, rows: np.ndarray, y: Vector, family: Family) -> Vector:
        """m r_i for documents `rows`, whose text is X (thinned or not); 0 where there is no response."""
        if self.distrust == 0:
            return np.zeros(len(rows))
        eta = self.constant[rows] + X @ self.words
        return np.where(np.isnan(y), 0.0, self.distrust * family.gradient(np.nan_to_num(y), eta))


#: Takes responses as they are.
NO_GUIDE = Guide(np.zeros(0), np.zeros(0), distrust=0.0)


@dataclass(frozen=True)
class _Fit:
    """Coefficients (features + 1,), the constant last, of some of the documents."""

    coefficients: Vector

    def linear_predictor(self, features: sp.csr_array) -> Vector:
        return features @ self.coefficients[:-1] + self.coefficients[-1]


def fit_guide(corpus: Corpus, weights: Array, family: Family, penalty: float, keys: Keys) -> Guide:
    """Choose the words' penalty on held-back documents, then fit all.

    weights : (documents, topics) that training starts with; penalty : on their effects.
    keys : (documents,) of the documents' texts: copies of a text are held back together.
    """
    features = sp.csr_array(sp.hstack([corpus.X, weights]), dtype=float)
    seen = ~np.isnan(corpus.y) & (corpus.weight > 0)
    held_back = seen & (keys % np.uint64(HELD_BACK) == 0)
    rest = seen & ~held_back
    n_terms = corpus.X.shape[1]

    def ridge(strength: float) -> Vector:
        return np.concatenate([np.full(n_terms, strength), np.full(weights.shape[1], penalty)])

    with threadpool_limits(1):
        unit = _curvature(family, corpus.y[seen], corpus.weight[seen])
        strength, explained = _choose(features, corpus, family, rest, held_back, lambda size: ridge(size * unit))
        start = _null(features, family, corpus.y[seen], corpus.weight[seen])
        fit = _fit(features[seen], corpus.y[seen], corpus.weight[seen], family, ridge(strength * unit), start)
    eta = fit.linear_predictor(features)
    words = fit.coefficients[:n_terms]
    return Guide(eta - corpus.X @ words, words, float(np.clip(1 - explained, 0, 1)))


def _choose(
    features: sp.csr_array,
    corpus: Corpus,
    family: Family,
    rest: np.ndarray,
    held_back: np.ndarray,
    ridge: Callable[[float], Vector],
) -> tuple[float, float]:
    """The penalty with the smallest loss on held-back documents, and the deviance that it explains there."""
    y, weight = corpus.y, corpus.weight
    spread = null_deviance(family, y[held_back], weight[held_back]) if held_back.any() else 0.0
    if spread <= 0 or not rest.any():
        return PENALTIES[0], 0.0
    fit = _null(features, family, y[rest], weight[rest])
    inside, outside = features[rest], features[held_back]
    deviances: list[float] = []
    for size in PENALTIES:
        fit = _fit(inside, y[rest], weight[rest], family, ridge(size), fit)
        losses = family.loss(y[held_back], fit.linear_predictor(outside)) - family.best_loss(y[held_back])
        deviances.append(2 * float(np.sum(weight[held_back] * losses)))
        if deviances[-1] > min(deviances):
            break
    best = int(np.argmin(deviances))
    return PENALTIES[best], 1 - deviances[best] / spread


def _null(features: sp.csr_array, family: Family, y: Vector, weight: Vector) -> _Fit:
    return _Fit(np.append(np.zeros(features.shape[1]), best_constant(family, y, weight)))


def _curvature(family: Family, y: Vector, weight: Vector) -> float:
    """Mean curvature of the loss at the best constant: the scale that penalties are in."""
    eta = np.full(y.size, best_constant(family, y, weight))
    return float(np.average(family.curvature(y, eta), weights=weight))


def _fit(X: sp.csr_array, y: Vector, weight: Vector, family: Family, ridge: Vector, start: _Fit) -> _Fit:
    """Minimise  sum weight loss(y, X b + constant) + sum ridge b^2."""
    transposed = sp.csr_array(X.T)

    def value_and_slope(coefficients: Vector) -> tuple[float, Vector]:
        effects = coefficients[:-1]
        eta = X @ effects + coefficients[-1]
        pull = weight * family.gradient(y, eta)
        value = float(np.sum(weight * family.loss(y, eta)) + np.sum(ridge * effects**2))
        return value, np.append(transposed @ pull + 2 * ridge * effects, pull.sum())

    result = minimize(
        value_and_slope, start.coefficients, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS, "ftol": 1e-7}
    )
    return _Fit(result.x)
