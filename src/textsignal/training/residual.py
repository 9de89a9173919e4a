"""What single words say of the response beyond the topics: a sparse term, so that a reader sees how little is left.

    sum_i weight_i loss(y_i, eta_i + x_i . delta) + strength sum_j |delta_j|,      eta_i from the topics, kept as it is

The strength is the one with the smallest loss on held-back documents, or one so large that delta is 0.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, minimize
from threadpoolctl import threadpool_limits

from textsignal.families import Family
from textsignal.kernels import Vector
from textsignal.training.draws import Keys
from textsignal.training.guide import HELD_BACK, MOST_STEPS

#: Strengths that are tried, as shares of the smallest one at which every word's effect is 0.
STRENGTHS = (0.5, 0.3, 0.2, 0.1, 0.05)


def fit_word_effects(X: sp.csr_array, y: Vector, weight: Vector, eta: Vector, family: Family, keys: Keys) -> Vector:
    """(terms,) effects of words beyond the linear predictor eta (documents,); most are 0.

    X : (documents, terms); y : encoded responses, NaN where there is none; keys : (documents,) of the documents' texts.
    """
    seen = ~np.isnan(y) & (weight > 0)
    X, y, weight, eta, keys = sp.csr_array(X[seen], dtype=float), y[seen], weight[seen], eta[seen], keys[seen]
    held_back = keys % np.uint64(HELD_BACK) == 0
    nothing = np.zeros(X.shape[1])
    if not held_back.any() or held_back.all():
        return nothing

    def part(rows: np.ndarray) -> _Problem:
        return _Problem(X[rows], y[rows], weight[rows], eta[rows], family)

    with threadpool_limits(1):
        rest, outside = part(~held_back), part(held_back)
        losses, effects = [outside.loss(nothing)], nothing
        for share in STRENGTHS:
            effects = rest.fit(share * rest.strongest, effects)
            losses.append(outside.loss(effects))
            if losses[-1] > min(losses):
                break
        best = int(np.argmin(losses))
        if best == 0:
            return nothing
        whole = part(np.ones(len(y), dtype=bool))
        return whole.fit(STRENGTHS[best - 1] * whole.strongest, nothing)


class _Problem:
    """Words beyond a linear predictor, for some documents."""

    def __init__(self, X: sp.csr_array, y: Vector, weight: Vector, eta: Vector, family: Family) -> None:
        self.X, self.transposed = X, sp.csr_array(X.T)
        self.y, self.weight, self.eta, self.family = y, weight, eta, family

    def loss(self, effects: Vector) -> float:
        """Without the penalty."""
        return float(np.sum(self.weight * self.family.loss(self.y, self.eta + self.X @ effects)))

    def slope(self, effects: Vector) -> Vector:
        """Gradient of the loss."""
        slope: Vector = self.transposed @ (self.weight * self.family.gradient(self.y, self.eta + self.X @ effects))
        return slope

    @property
    def strongest(self) -> float:
        """The smallest strength at which no word has an effect."""
        return float(np.abs(self.slope(np.zeros(self.X.shape[1]))).max())

    def fit(self, strength: float, start: Vector) -> Vector:
        """Minimise over positive and negative parts, where the penalty is linear."""

        def value_and_slope(parts: Vector) -> tuple[float, Vector]:
            up, down = np.split(parts, 2)
            slope = self.slope(up - down)
            return self.loss(up - down) + strength * parts.sum(), np.concatenate([slope, -slope]) + strength

        first = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)])
        result = minimize(
            value_and_slope,
            first,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0, np.inf),
            options={"maxiter": MOST_STEPS, "ftol": 1e-8},
        )
        up, down = np.split(result.x, 2)
        effects: Vector = up - down
        return effects
