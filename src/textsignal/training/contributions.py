"""GLM of the response on themes: effects of the tone about each theme, and of mentioning it; choice of its family.

    eta_i = constant + sum_k ( gamma_k c_ik + beta_k s_ik ) + x_i delta + offset_i,        sum_k beta_k prevalence_k = 0

c_ik is the tone of text i about theme k, out of fold for training texts, so that it is independent of their response;
s_ik the theme's share of the text; x_i its covariates, whose effects are not penalised. gamma is shrunk towards one
number for all themes, beta towards 0: with many texts hardly, with few nearly all the way. All gammas together are
shrunk by 1 - (3 standard errors / gamma)^4 of the GLM with one gamma and no beta, and to 0 where that or its gamma is
below 0: hardly if tone has an effect, and to 0 if the response is noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.families import Family, best_constant, linear_predictor
from textsignal.families.auto import Candidates
from textsignal.stored_values import rule
from textsignal.training.glm import GLMFit, ResponseModel, dispersion_of, fit_glm, standard_errors

#: Standard deviations of gammas around their common one, and of betas around 0, a priori; the latter in
#: units of the linear predictor.
GAMMA_SPREAD, BETA_SPREAD = 0.3, 0.25
#: Prior standard deviation of the common gamma around 0: wide, but bounds gamma if out-of-fold tone is close to 0.
COMMON_SPREAD = 3.0
#: A common gamma of fewer standard errors than this is set to 0.
LEAST_ERRORS = 3.0
#: Number of groups of tone: a fit to thousands of texts then costs as little as one to hundreds.
GROUPS = 100
#: The GLM with one gamma starts from a fit to grouped texts if groups hold at least this many on average.
LEAST_ALIKE = 10
#: The GLM with a gamma per theme starts from a fit to every PART-th text if there are at least LEAST_OF_PARTS.
PART, LEAST_OF_PARTS = 10, 30_000


def n_columns(sizes: Mapping[str, int]) -> int:
    """Number of places of a clause: the themes, the overall verdict, and unplaced."""
    return sizes["topics"] + 2


def _rows_of_hessian(sizes: Mapping[str, int]) -> int:
    return 2 * n_columns(sizes) + sizes["covariates"] + 2


@dataclass(frozen=True, eq=False)
class ToneByTheme:
    """What texts say, by place.

    tone : (texts, places) of the clauses there; shares : (texts, places) of the words.
    evidence : (texts,) how much each text tells, from 0 to 1.
    """

    tone: Vector
    shares: Vector
    evidence: Vector


@dataclass(frozen=True)
class ThemeEffects:
    """Coefficients of the GLM on themes.

    constant : linear predictor of a text of nothing but neutral mentions; average : of a text that tells nothing.
    hessian : of loss and penalty, over the dispersion, in the common gamma, its deviations, the betas, the effects of
        covariates and the constant: its inverse is their covariance, if responses scatter alike everywhere.
    covariates, covariate_errors : effects of covariates and their standard errors; None if absent.
    """

    gamma: Vector = field(metadata=rule(shape=(n_columns,)))
    beta: Vector = field(metadata=rule(shape=(n_columns,)))
    constant: float
    average: float
    hessian: Vector = field(metadata=rule(shape=(_rows_of_hessian, _rows_of_hessian)))
    covariates: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))
    covariate_errors: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))

    @property
    def covariate_effects(self) -> Vector:
        """(covariates,) effects of covariates; empty if there are no covariates."""
        return np.zeros(0) if self.covariates is None else self.covariates

    def baseline(self, evidence: Vector) -> Vector:
        """(texts,) linear predictor without any contribution."""
        return self.average + evidence * (self.constant - self.average)

    def speaking(self, shares: Vector, evidence: Vector) -> Vector:
        """(texts, places) contribution of speaking of each place at all; shares : of the words of the texts."""
        return self.beta * shares * np.asarray(evidence)[:, None]

    def contributions(self, texts: ToneByTheme) -> Vector:
        """(texts, places) contribution of each place to the linear predictor."""
        return self.gamma * texts.tone + self.speaking(texts.shares, texts.evidence)

    def linear_predictor(self, texts: ToneByTheme) -> Vector:
        """(texts,) the baseline and all contributions."""
        return self.baseline(texts.evidence) + self.contributions(texts).sum(axis=1)


def residuals(family: Family, y: Vector, weight: Vector, offset: Vector) -> Vector:
    """Return (texts,) responses less what an offset explains, in standard deviations; 0 if missing or of weight 0.

    y : (texts,) encoded responses, NaN if missing; slopes of the family are linear in them.
    """
    known = ~np.isnan(y) & (weight > 0)
    left = np.zeros(len(y))
    if known.any() and np.ptp(y[known]) > 0:
        constant = best_constant(family, y[known], weight[known], offset[known])
        left[known] = -family.gradient(y[known], constant + offset[known])
        left[known] /= np.sqrt(np.average(left[known] ** 2, weights=weight[known])) or 1.0
    return left


def trusted_effect(
    column: Vector, y: Vector, weight: Vector, family: Family, compute: Compute, offset: Vector
) -> float:
    """Return the effect of one column (texts, 1) in a GLM, shrunk by 1 - (3 standard errors / effect)^4, or to 0."""
    penalty = np.array([0.5 / (COMMON_SPREAD * family.unit) ** 2])
    model = ResponseModel(family, compute, penalty, fit_intercept=True)
    fit = fit_glm(model, column, y, weight, offset=offset)
    dispersion = dispersion_of(fit.family, y, fit.linear_predictor(column) + offset, weight)
    return float(fit.coefficients[0]) * _trust(fit, dispersion)


def _trust(fit: GLMFit, dispersion: float) -> float:
    """Factor by which the first effect of a GLM is shrunk."""
    effect = float(fit.coefficients[0])
    error = float(dispersion * np.linalg.pinv(fit.hessian, hermitian=True)[0, 0]) ** 0.5
    return max(0.0, 1 - (LEAST_ERRORS * error / effect) ** 4) if effect else 0.0


def weigh(
    columns: Vector, y: Vector, weight: Vector, family: Family, compute: Compute, offset: Vector
) -> tuple[float, float]:
    """Return weights of tone and judgement in the linear predictor, by a GLM on both; neither is below 0.

    columns : (texts, 2) tone and mean judgement of each text, by fits that have not seen its response.
    """
    known = ~np.isnan(y) & (weight > 0)
    if not known.any() or np.ptp(y[known]) == 0:
        return 1.0, 0.0
    kept = [0, 1]
    while kept:
        # Tone is in units of the linear predictor, judgement is not.
        penalty = 0.5 / (COMMON_SPREAD * np.array([1.0, family.unit])[kept]) ** 2
        model = ResponseModel(family, compute, penalty, fit_intercept=True)
        fit = fit_glm(model, np.ascontiguousarray(columns[:, kept]), y, weight, offset=offset)
        effects = fit.effects
        if (effects >= 0).all():
            weights = np.zeros(2)
            weights[kept] = effects
            return float(weights[0]), float(weights[1])
        kept = [column for column, effect in zip(kept, effects, strict=True) if effect > 0]
    return 1.0, 0.0


def fit_theme_effects(
    texts: ToneByTheme,
    prevalence: Vector,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    given: Given | None = None,
) -> tuple[ThemeEffects, Family]:
    """Fit the GLM on themes; return its coefficients, and the family with its estimated parameters.

    prevalence : (places,) shares of an average text; y : (texts,) encoded responses, NaN if missing; given : covariates
    and offset, None if absent.
    """
    tone, evidence, n_themes = texts.tone, texts.evidence, texts.tone.shape[1]
    given = Given.nothing(len(y)) if given is None else given
    speaking = (texts.shares - prevalence) * evidence[:, None]
    columns = np.column_stack([tone.sum(axis=1), tone, speaking, given.columns])
    one, dispersion, trusted = _one_gamma(columns[:, :1], y, weight, family, compute, given)
    away = _average(one, np.column_stack([columns[:, :1], given.columns]), y, weight) - float(one.intercept)
    own_offset = given.offset
    given = replace(given, offset=own_offset + away * (1 - evidence))
    unit = one.family.unit
    of_gamma, of_beta = GAMMA_SPREAD * unit / one.family.of_words.unit, BETA_SPREAD * unit
    spreads = np.concatenate([[COMMON_SPREAD], np.full(n_themes, of_gamma), np.full(n_themes, of_beta)])
    penalty = np.concatenate([0.5 * dispersion / spreads**2, np.zeros(given.n_columns)])
    model = ResponseModel(one.family, compute, penalty, fit_intercept=True)
    start = np.concatenate([one.coefficients[:1], np.zeros(2 * n_themes), one.coefficients[1:]])
    if not given.n_columns:
        model, start = _nearer(model, start, columns, y, weight, given.offset)
    fit = fit_glm(model, columns, y, weight, offset=given.offset, start=start)
    gamma = trusted * (fit.effects[0] + fit.effects[1 : n_themes + 1])
    # Refit the remaining coefficients given the gammas. What the mean response is in the linear predictor depends on
    # the parameters of the family, which this fit has estimated.
    silent = given.offset - own_offset
    away = _average(fit, columns, y, weight, silent) - float(fit.intercept)
    rest = replace(model, family=fit.family, penalty=penalty[n_themes + 1 :])
    silent = away * (1 - evidence)
    start, offset = fit.coefficients[n_themes + 1 :], linear_predictor(tone, gamma, own_offset + silent)
    others = fit_glm(rest, columns[:, n_themes + 1 :], y, weight, offset=offset, start=start)
    average = _average(others, columns[:, n_themes + 1 :], y, weight, linear_predictor(tone, gamma, silent))
    # Shares sum to 1, so a common constant can be subtracted from all betas.
    beta = others.effects[:n_themes] - others.effects[:n_themes] @ prevalence
    constant = float(others.intercept)
    theme_effects = ThemeEffects(gamma, beta, constant, average, fit.hessian / (dispersion or 1.0))
    if given.n_columns:
        eta = fit.linear_predictor(columns) + given.offset
        errors = standard_errors(fit, columns, given, y, weight, eta, dispersion)
        theme_effects = replace(theme_effects, covariates=others.effects[n_themes:], covariate_errors=errors)
    return theme_effects, others.family


def _average(fit: GLMFit, columns: Vector, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> float:
    """Linear predictor whose mean is that of the texts by a fit, without the offsets that the user gave."""
    known = ~np.isnan(y) & (weight > 0)
    if not known.any():
        return float(fit.intercept)
    family = fit.family.from_zero
    means = family.mean((fit.linear_predictor(columns) + offset)[known])
    return float(family.link(np.atleast_1d(np.average(means, weights=weight[known])))[0])


def _one_gamma(
    tone: Vector, y: Vector, weight: Vector, family: Family, compute: Compute, given: Given
) -> tuple[GLMFit, float, float]:
    """GLM with one gamma for all themes and no beta, its dispersion, and the factor that all gammas are shrunk by."""
    penalty = np.concatenate([[0.5 / COMMON_SPREAD**2], np.zeros(given.n_columns)])
    columns = np.column_stack([tone, given.columns])
    model, start = ResponseModel(family, compute, penalty, fit_intercept=True), None
    if not given.n_columns and not given.offset.any():
        rows = np.flatnonzero(~np.isnan(y) & (weight > 0))
        alike, _, values, counts = grouped(tone[rows, 0], np.zeros(len(rows), np.int64), y[rows], weight[rows])
        if LEAST_ALIKE * len(alike) < len(rows):
            rough = fit_glm(model, alike, values, counts)
            model, start = replace(model, family=rough.family), rough.coefficients
    fit = fit_glm(model, columns, y, weight, offset=given.offset, start=start)
    dispersion = dispersion_of(fit.family, y, fit.linear_predictor(columns) + given.offset, weight)
    return fit, dispersion, _trust(fit, dispersion) if fit.coefficients[0] > 0 else 0.0


def _nearer(
    model: ResponseModel, start: Vector, columns: Vector, y: Vector, weight: Vector, offset: Vector
) -> tuple[ResponseModel, Vector]:
    """Start from a fit to a subset of the texts if there are many: its family and coefficients."""
    rows = np.flatnonzero(~np.isnan(y) & (weight > 0))
    if len(rows) < LEAST_OF_PARTS:
        return model, start
    subset = rows[::PART]
    rough = replace(model, penalty=float(weight[subset].sum() / weight[rows].sum()) * model.penalty)
    fit = fit_glm(rough, columns[subset], y[subset], weight[subset], offset=offset[subset], start=start)
    return replace(model, family=fit.family), fit.coefficients


def grouped(
    tone: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector
) -> tuple[Vector, NDArray[np.int64], Vector, Vector]:
    """Merge texts of similar tone, equal fold and equal response: tone (rows, 1), folds, responses, weights."""
    group = np.empty(len(tone), dtype=np.int64)
    group[np.argsort(tone, kind="stable")] = np.arange(len(tone)) * GROUPS // len(tone)
    size = np.maximum(np.bincount(group, weights=weight), np.finfo(float).tiny)
    means = np.bincount(group, weights=weight * tone) / size
    distinct_folds, fold = np.unique(folds, return_inverse=True)
    values, value = np.unique(responses, return_inverse=True)
    shape = GROUPS, distinct_folds.size, values.size
    kinds, places = np.unique(np.ravel_multi_index((group, fold, value), shape), return_inverse=True)
    group, fold, value = np.unravel_index(kinds, shape)
    counts = np.bincount(places, weights=weight).astype(float)
    return means[group][:, None], distinct_folds[fold], values[value], counts


@dataclass(frozen=True)
class Choice:
    """The chosen family, the response in words, and the log score of every candidate, smaller is better."""

    family: Family
    response: str
    scores: tuple[tuple[str, float], ...]

    @property
    def described(self) -> str:
        """The choice in words; "" if the user gave the family."""
        if not self.response:
            return ""
        text = f"{self.response}, {self.family.name}"
        if not self.scores:
            return text
        best, *others = sorted(self.scores, key=itemgetter(1))
        rest = ", ".join(f"{name} {score:.3f}" for name, score in others)
        return f"{text}, by the log score of held-back texts ({best[1]:.3f}; {rest})"


def choose_family(
    given: Candidates, tone: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector, compute: Compute
) -> Choice:
    """Return the family with the best mean log score on held-out texts, using a GLM on their tone alone.

    tone : (texts,) out of fold; responses : (texts,) on the user's scale, NaN if missing.
    """
    rows = np.flatnonzero(~np.isnan(responses) & (weight > 0))
    if len(given.families) == 1 or np.unique(folds[rows]).size < 2:
        return Choice(given.families[0], given.described, ())
    columns, fold_of, values, counts = grouped(tone[rows], folds[rows], responses[rows], weight[rows])

    def score(family: Family) -> float:
        """Cross-validated mean log score."""
        model, y = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True), family.encode(values)
        lost, start = np.empty(len(y)), None
        for fold in np.unique(fold_of):
            out = fold_of == fold
            fit = fit_glm(model, columns[~out], y[~out], counts[~out], start=start)
            model, start = replace(model, family=fit.family), fit.coefficients  # warm start for the next fold
            lost[out] = fit.family.log_scores(values[out], fit.linear_predictor(columns[out]))
        return float(np.average(lost, weights=counts))

    scores = [(family.name, score(family)) for family in given.families]
    best = int(np.argmin([lost for _, lost in scores]))
    return Choice(given.families[best], given.described, tuple(scores))
