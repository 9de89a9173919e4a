"""Influence of single texts on numbers about themes, and the variances of these numbers.

The GLM on themes is fitted without shrinkage, as a shrunken number has no valid interval:

    eta_i = constant of i's fold + sum_k ( gamma_k c_ik + beta_k s_ik ) + x_i delta + offset_i

Tone c_ik is out of fold, and its zero differs a little from fold to fold. Every number about a theme is a mean over
texts of the change of the mean response if a part r_i = a_i (d . theta) of the linear predictor is removed:

    Q     = sum_i v_i q_i / sum_i v_i,        q_i = mean(eta_i) - mean(eta_i - r_i)
    IF_i  = v_i (q_i - Q) / sum v  +  D . IF_theta,i,        D = dQ / d theta
    IF_theta,i = - B x_i w_i slope_i / sqrt(1 - h_i)

with B the inverse Hessian and h_i the leverage of text i (HC2). The variance of Q is the sum of IF_i^2, or of the
squares of their sums over groups within which texts depend on each other. The sign of each tone is taken as known: a
cost is negative where gamma is, so that under no effect it is as often below 0 as above.
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
from textsignal.training.theme_model import TextsByTheme

#: Betas and gammas are held to this many times the spread that the model expects: hardly at all, but shares add up to
#: 1, and themes that no text mentions have no data.
LOOSE = 30.0
#: Step of a numerical derivative, in units of the linear predictor; and the largest leverage that is used.
STEP, MOST_LEVERAGE = 1e-4, 0.9


@dataclass(frozen=True, eq=False)
class Talk:
    """Tone and shares of themes in texts, with their responses.

    family : with its own parameters, which are taken as known.
    texts : clauses summed by place, by words that have not seen the responses; prevalence : (places,).
    y : (texts,) encoded responses, NaN if missing; weight : (texts,) how often each counts.
    folds : (texts,) number of the tone that read each.
    given : covariates, offset, and groups within which texts depend on each other.
    away : linear predictor of a text that tells nothing, less that of one of nothing but neutral mentions.
    better : 1 if more of the response is better, -1 if less is.
    """

    family: Family
    texts: TextsByTheme
    prevalence: Vector
    y: Vector
    weight: Vector
    folds: NDArray[np.int64]
    given: Given
    away: float = 0.0
    better: int = 1

    @property
    def n_places(self) -> int:
        """Number of places of a clause: the themes, the overall verdict, and unplaced."""
        return self.texts.tone.shape[1]

    @property
    def n_themes(self) -> int:
        """Number of themes, with the overall verdict."""
        return self.n_places - 1

    @property
    def mentioned(self) -> NDArray[np.bool_]:
        """(texts, themes) True if a text mentions a theme."""
        return self.texts.mentions[:, :-1]

    def at(self, rows: NDArray[np.int64]) -> Talk:
        """Return some of the texts."""
        own = {name: getattr(self, name)[rows] for name in ("y", "weight", "folds")}
        return replace(self, given=self.given.at(rows), texts=self.texts.at(rows), **own)


@dataclass(frozen=True, eq=False)
class LooseFit:
    """The GLM on themes without shrinkage.

    family : with its own parameters.
    columns : (texts, coefficients) tone, shares, folds and covariates, and 1 for the constant.
    coefficients : (coefficients,); eta : (texts,).
    influence : (texts, coefficients) change of them by each text.
    """

    talk: Talk
    family: Family
    columns: Vector
    coefficients: Vector
    eta: Vector
    influence: Vector

    @cached_property
    def mean(self) -> Vector:
        """(texts,) expected responses."""
        return self.family.mean(self.eta)

    @cached_property
    def slope(self) -> Vector:
        """(texts,) their derivative by the linear predictor."""
        return mean_slope(self.family, self.eta)


def fit_loosely(talk: Talk, compute: Compute) -> LooseFit:
    """Fit the GLM on themes with next to no shrinkage."""
    given, family, n_places = talk.given, talk.family, talk.n_places
    folds = (talk.folds[:, None] == np.unique(talk.folds)[1:]).astype(float)
    told = talk.texts.evidence[:, None]
    speaking, offset = (talk.texts.shares - talk.prevalence) * told, given.offset + talk.away * (1 - told[:, 0])
    columns = np.column_stack([talk.texts.tone, speaking, folds, given.columns])
    spreads = [LOOSE * family.unit / family.of_words.unit, LOOSE * BETA_SPREAD * family.unit]
    penalty = np.zeros(columns.shape[1])
    penalty[: 2 * n_places] = np.repeat(0.5 / np.square(spreads), n_places)
    model = ResponseModel(family, compute, penalty, fit_intercept=True)
    fit = fit_glm(model, columns, talk.y, talk.weight, offset=offset)
    eta = fit.linear_predictor(columns) + offset
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
    """A number about each theme, (themes,), and the influence of every text on it, (texts, themes)."""

    talk: Talk
    estimates: Vector
    influence: Vector

    def minus(self, other: Measured) -> Measured:
        """Return the difference to another number in the same texts."""
        return Measured(self.talk, self.estimates - other.estimates, self.influence - other.influence)

    @property
    def variances(self) -> Vector:
        """(themes,) variances; a text that counts twice is two texts."""
        weight, groups = self.talk.weight, self.talk.given.groups
        if groups is None:
            counted = weight > 0
            return np.asarray(np.sum(self.influence[counted] ** 2 / weight[counted, None], axis=0), dtype=float)
        numbers, places = np.unique(groups, return_inverse=True)
        sums = np.zeros((len(numbers), self.influence.shape[1]))
        np.add.at(sums, places, self.influence)
        n_groups = len(np.unique(groups[weight > 0]))
        return np.asarray(n_groups / max(n_groups - 1, 1) * np.sum(sums**2, axis=0), dtype=float)


def cost(fit: LooseFit, weight: Vector) -> Measured:
    """Return the rise of the mean response, for the better, without the complaints about a theme."""
    return _of_tone(fit, weight, -1)


def gain(fit: LooseFit, weight: Vector) -> Measured:
    """Return the loss of the mean response without the praise of a theme."""
    return _of_tone(fit, weight, 1)


def tone(fit: LooseFit, weight: Vector) -> Measured:
    """Return the mean contribution of tone about a theme in texts that mention it."""
    directions = np.eye(fit.talk.n_themes, len(fit.coefficients))
    return _measured(fit, fit.talk.texts.tone[:, :-1], directions, weight[:, None] * fit.talk.mentioned)


def speaking(fit: LooseFit, weight: Vector) -> Measured:
    """Return the mean contribution of mentioning a theme, whatever the tone, in texts that mention it.

    Against the average text: all betas add up to 0 at the prevalences.
    """
    n_themes, n_places = fit.talk.n_themes, fit.talk.n_places
    directions = np.zeros((n_themes, len(fit.coefficients)))
    directions[:, n_places : 2 * n_places] = np.eye(n_themes, n_places) - fit.talk.prevalence
    texts = fit.talk.texts
    shares = (texts.shares * texts.evidence[:, None])[:, :-1]
    return _measured(fit, shares, directions, weight[:, None] * fit.talk.mentioned)


def mentions(fit: LooseFit, weight: Vector) -> Measured:
    """Return the share of texts that mention a theme."""
    mentioned = fit.talk.mentioned
    estimates = np.average(mentioned, axis=0, weights=weight)
    return Measured(fit.talk, estimates, (mentioned - estimates) * (weight / weight.sum())[:, None])


def gamma(fit: LooseFit, weight: Vector) -> Measured:
    """Return the coefficient of tone about a theme, in all texts: 1 at face value."""
    n_themes = fit.talk.n_themes
    return Measured(fit.talk, fit.coefficients[:n_themes], fit.influence[:, :n_themes])


#: Numbers about themes, by name.
QUANTITIES: dict[str, Callable[[LooseFit, Vector], Measured]] = {
    "cost": cost,
    "gain": gain,
    "mentions": mentions,
    "tone": tone,
    "speaking": speaking,
    "gamma": gamma,
}


def _of_tone(fit: LooseFit, weight: Vector, side: int) -> Measured:
    """Cost (side -1) or gain (side 1): the change if complaints, or praise, were neutral mentions."""
    talk = fit.talk
    sign = side * talk.better
    parts = (talk.texts.raising if sign > 0 else talk.texts.lowering)[:, :-1]
    directions = np.eye(talk.n_themes, len(fit.coefficients))
    return _measured(fit, parts, directions, np.broadcast_to(weight[:, None], parts.shape), sign)


def _measured(fit: LooseFit, parts: Vector, directions: Vector, weight: Vector, sign: int = 1) -> Measured:
    """Mean changes if parts of the linear predictor are removed, theme by theme.

    parts : (texts, themes) a_i above; directions : (themes, coefficients) d; weight : (texts, themes) v_i.
    """
    n_texts, n_themes = parts.shape
    estimates, influence = np.zeros(n_themes), np.zeros((n_texts, n_themes))
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
    return Measured(fit.talk, sign * estimates, sign * influence)
