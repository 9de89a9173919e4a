"""What single documents do to numbers about themes, and so how far these numbers may be off.

The GLM on themes is fitted without shrinkage, as a shrunken number has no honest interval:

    eta_i = constant of i's fold + sum_k ( gamma_k c_ik + beta_k s_ik ) + x_i delta + offset_i

Tone c_ik is out of fold, and its zero differs a little from fold to fold. Every number about a theme is a mean over
documents of what changes where a part r_i = a_i (d . theta) of the linear predictor is taken away:

    Q     = sum_i v_i q_i / sum_i v_i,        q_i = mean(eta_i) - mean(eta_i - r_i)
    IF_i  = v_i (q_i - Q) / sum v  +  D . IF_theta,i,        D = dQ / d theta
    IF_theta,i = - B x_i w_i slope_i / sqrt(1 - h_i)

with B the inverse Hessian and h_i the leverage of document i (HC2). The variance of Q is the sum of IF_i^2, or of the
squares of their sums over groups within which documents depend on each other. Where tone is below 0 and where it is
above stays as it is: cost is negative where gamma is, so that under no effect it is as often below 0 as above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.families import Family
from textsignal.training.contributions import BETA_SPREAD
from textsignal.training.glm import ResponseModel, fit_glm

#: Betas and gammas are held to so many times the spread that the model expects: as good as not at all, but shares
#: that add up to 1, and themes of which nothing is said, leave some without data.
LOOSE = 30.0
#: Step of a numerical derivative, in units of the linear predictor; and the largest leverage that is believed.
STEP, MOST_LEVERAGE = 1e-4, 0.9


@dataclass(frozen=True, eq=False)
class Talk:
    """What documents say about themes, with their responses.

    family : with its own parameters, which are taken as known.
    tone, shares : (documents, themes), tone by words that have not seen the responses.
    spoken : (documents, themes) whether a document speaks of a theme; prevalence : (themes,).
    y : (documents,) encoded responses, NaN where there is none; weight : (documents,) how often each counts.
    folds : (documents,) the number of the tone that read each.
    given : covariates, offset, and groups within which documents depend on each other.
    better : 1 where more of the response is better, -1 where less is.
    """

    family: Family
    tone: Vector
    shares: Vector
    spoken: NDArray[np.bool_]
    prevalence: Vector
    y: Vector
    weight: Vector
    folds: NDArray[np.int64]
    given: Given
    better: int = 1

    @property
    def n_themes(self) -> int:
        """Number of themes."""
        return self.tone.shape[1]

    def at(self, rows: NDArray[np.int64]) -> Talk:
        """The same for some of the documents."""
        return replace(
            self,
            tone=self.tone[rows],
            shares=self.shares[rows],
            spoken=self.spoken[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            folds=self.folds[rows],
            given=self.given.at(rows),
        )


@dataclass(frozen=True, eq=False)
class LooseFit:
    """The GLM on themes without shrinkage.

    family : with its own parameters.
    columns : (documents, coefficients) tone, shares, folds and covariates, and 1 for the constant.
    coefficients : (coefficients,); eta : (documents,).
    influence : (documents, coefficients) what each document does to them.
    """

    talk: Talk
    family: Family
    columns: Vector
    coefficients: Vector
    eta: Vector
    influence: Vector

    @property
    def gamma(self) -> Vector:
        """(themes,) how much the tone about each theme counts."""
        return self.coefficients[: self.talk.n_themes]

    @cached_property
    def mean(self) -> Vector:
        """(documents,) expected responses."""
        return self.family.mean(self.eta)

    @cached_property
    def slope(self) -> Vector:
        """(documents,) their derivative by the linear predictor."""
        return mean_slope(self.family, self.eta)


def fit_loosely(talk: Talk, compute: Compute) -> LooseFit:
    """Fit the GLM on themes as good as without shrinkage."""
    given, family, n_themes = talk.given, talk.family, talk.n_themes
    folds = (talk.folds[:, None] == np.unique(talk.folds)[1:]).astype(float)
    columns = np.column_stack([talk.tone, talk.shares - talk.prevalence, folds, given.columns])
    spreads = [LOOSE * family.unit / family.of_words.unit, LOOSE * BETA_SPREAD * family.unit]
    penalty = np.zeros(columns.shape[1])
    penalty[: 2 * n_themes] = np.repeat(0.5 / np.square(spreads), n_themes)
    model = ResponseModel(family, compute, penalty, fit_intercept=True)
    fit = fit_glm(model, columns, talk.y, talk.weight, offset=given.offset)
    eta = fit.linear_predictor(columns) + given.offset
    every = np.column_stack([columns, np.ones(len(columns))])
    inverse = np.linalg.pinv(fit.hessian, hermitian=True)
    known = ~np.isnan(talk.y)
    y = np.where(known, talk.y, talk.y[known][0])
    moves = every @ inverse
    leverage = fit.family.curvature(y, eta) * np.einsum("ij,ij->i", moves, every)
    slopes = np.where(known, fit.family.gradient(y, eta) / np.sqrt(1 - np.minimum(leverage, MOST_LEVERAGE)), 0.0)
    influence = -moves * (talk.weight * slopes)[:, None]
    return LooseFit(talk, fit.family, every, fit.coefficients, eta, influence)


def mean_slope(family: Family, eta: Vector) -> Vector:
    """Return the derivative of the mean response by the linear predictor, numerically."""
    step = STEP * family.unit
    return (family.mean(eta + step) - family.mean(eta - step)) / (2 * step)


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers about themes, and what every document does to them: (themes,) and (documents, themes)."""

    estimates: Vector
    influence: Vector

    def minus(self, other: Measured) -> Measured:
        """The difference to others of the same documents."""
        return Measured(self.estimates - other.estimates, self.influence - other.influence)

    def variances(self, weight: Vector, groups: NDArray[np.int64] | None) -> Vector:
        """(themes,) variances; a document that counts twice is two.

        groups : (documents,) numbers of groups within which documents depend on each other, None where none do.
        """
        if groups is None:
            counted = weight > 0
            return np.asarray(np.sum(self.influence[counted] ** 2 / weight[counted, None], axis=0), dtype=float)
        sums = self._of_groups(groups)
        n_groups = len(np.unique(groups[weight > 0]))
        return np.asarray(n_groups / max(n_groups - 1, 1) * np.sum(sums**2, axis=0), dtype=float)

    def _of_groups(self, groups: NDArray[np.int64]) -> Vector:
        """(groups, themes) what the documents of each group do together."""
        numbers, places = np.unique(groups, return_inverse=True)
        sums = np.zeros((len(numbers), self.influence.shape[1]))
        np.add.at(sums, places, self.influence)
        return sums


def cost(fit: LooseFit, weight: Vector) -> Measured:
    """By how much the mean response would be better if nothing bad were said of a theme."""
    bad = np.where(fit.talk.better * fit.talk.tone < 0, fit.talk.tone, 0.0)
    return _of_tone(fit, bad, np.tile(weight[:, None], fit.talk.n_themes), -fit.talk.better)


def worth(fit: LooseFit, weight: Vector) -> Measured:
    """By how much the mean response would be worse if nothing good were said of a theme."""
    good = np.where(fit.talk.better * fit.talk.tone > 0, fit.talk.tone, 0.0)
    return _of_tone(fit, good, np.tile(weight[:, None], fit.talk.n_themes), fit.talk.better)


def tone(fit: LooseFit, weight: Vector) -> Measured:
    """What is said of a theme adds to the response, on average over the documents that speak of it."""
    return _of_tone(fit, fit.talk.tone, weight[:, None] * fit.talk.spoken, 1)


def speaking(fit: LooseFit, weight: Vector) -> Measured:
    """What speaking of a theme at all adds, whatever is said, on average over the documents that speak of it.

    Against the average text: all betas add up to 0 at the prevalences.
    """
    n_themes, n_coefficients = fit.talk.n_themes, len(fit.coefficients)
    directions = np.zeros((n_themes, n_coefficients))
    directions[:, n_themes : 2 * n_themes] = np.eye(n_themes) - fit.talk.prevalence
    return _measured(fit, fit.talk.shares, directions, weight[:, None] * fit.talk.spoken, 1)


def reach(fit: LooseFit, weight: Vector) -> Measured:
    """Share of documents that speak of a theme."""
    estimates = np.average(fit.talk.spoken, axis=0, weights=weight)
    return Measured(estimates, (fit.talk.spoken - estimates) * (weight / weight.sum())[:, None])


def gamma(fit: LooseFit, weight: Vector) -> Measured:
    """How much the tone about a theme counts, which is of all documents: 1 at face value."""
    return Measured(fit.gamma, fit.influence[:, : fit.talk.n_themes])


#: Numbers about themes, by name.
QUANTITIES: dict[str, Callable[[LooseFit, Vector], Measured]] = {
    "cost": cost,
    "gain": worth,
    "mentions": reach,
    "tone": tone,
    "speaking": speaking,
    "gamma": gamma,
}


def _of_tone(fit: LooseFit, parts: Vector, weight: Vector, sign: int) -> Measured:
    return _measured(fit, parts, np.eye(fit.talk.n_themes, len(fit.coefficients)), weight, sign)


def _measured(fit: LooseFit, parts: Vector, directions: Vector, weight: Vector, sign: int) -> Measured:
    """Mean changes where parts of the linear predictor are taken away, theme by theme.

    parts : (documents, themes) a_i above; directions : (themes, coefficients) d; weight : (documents, themes) v_i.
    """
    n_documents, n_themes = parts.shape
    estimates, influence = np.zeros(n_themes), np.zeros((n_documents, n_themes))
    for k in range(n_themes):
        total = weight[:, k].sum()
        if total <= 0:
            estimates[k], influence[:, k] = np.nan, np.nan
            continue
        share = weight[:, k] / total
        left = fit.eta - parts[:, k] * (directions[k] @ fit.coefficients)
        changes, slope = fit.mean - fit.family.mean(left), mean_slope(fit.family, left)
        estimates[k] = share @ changes
        derivative = (share * (fit.slope - slope)) @ fit.columns + (share * slope) @ parts[:, k] * directions[k]
        influence[:, k] = share * (changes - estimates[k]) + fit.influence @ derivative
    return Measured(sign * estimates, sign * influence)
