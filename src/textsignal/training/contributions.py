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

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.families import Family, linear_predictor, log_scores
from textsignal.families.auto import Candidates
from textsignal.stored_values import rule
from textsignal.training.corpus import grouped
from textsignal.training.covariance import dispersion_of, standard_errors
from textsignal.training.glm import GLMFit, ResponseModel, fit_glm

#: Standard deviations of gammas around their common one, and of betas around 0, a priori; the latter in
#: units of the linear predictor.
GAMMA_SPREAD, BETA_SPREAD = 0.3, 0.2
#: Prior standard deviation of the common gamma around 0: wide, but bounds gamma if out-of-fold tone is close to 0.
COMMON_SPREAD = 3.0
#: A text mentions a theme if the theme takes up this share of one of its sentences.
SPOKEN_SHARE = 0.5
#: A common gamma of fewer standard errors than this is set to 0.
LEAST_ERRORS = 3.0
#: The GLM with one gamma starts from a fit to grouped texts if groups hold at least this many on average.
LEAST_ALIKE = 10
#: The GLM with a gamma per theme starts from a fit to every PART-th text if there are at least LEAST_OF_PARTS.
PART, LEAST_OF_PARTS = 10, 30_000


def _rows_of_hessian(sizes: Mapping[str, int]) -> int:
    return 2 * sizes["topics"] + sizes["covariates"] + 2


@dataclass(frozen=True)
class ThemeEffects:
    """Coefficients of the GLM on themes.

    gamma, beta : (themes,); constant : the linear predictor of a text without words.
    hessian : (2 themes + covariates + 2, ...) of loss and penalty, over the dispersion, in the common gamma, its
        deviations, the betas, the effects of covariates and the constant: its inverse is their covariance, if responses
        scatter alike everywhere.
    covariates, covariate_errors : (covariates,) effects of covariates and their standard errors; None if absent.
    """

    gamma: Vector = field(metadata=rule(shape=("topics",)))
    beta: Vector = field(metadata=rule(shape=("topics",)))
    constant: float
    hessian: Vector = field(metadata=rule(shape=(_rows_of_hessian, _rows_of_hessian)))
    covariates: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))
    covariate_errors: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))

    @property
    def covariate_effects(self) -> Vector:
        """(covariates,) effects of covariates; empty if there are no covariates."""
        return np.zeros(0) if self.covariates is None else self.covariates

    def contributions(self, tone: Vector, shares: Vector) -> Vector:
        """(texts, themes) contribution of each theme to the linear predictor."""
        return self.gamma * tone + self.beta * shares

    def linear_predictor(self, tone: Vector, shares: Vector) -> Vector:
        """(texts,) the constant and all contributions."""
        return self.constant + self.contributions(tone, shares).sum(axis=1)


def fit_theme_effects(
    tone: Vector,
    shares: Vector,
    prevalence: Vector,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    given: Given | None = None,
) -> tuple[ThemeEffects, Family]:
    """Fit the GLM on themes; return its coefficients, and the family with its estimated parameters.

    tone, shares : (texts, themes); y : (texts,) encoded responses, NaN if missing.
    prevalence : (themes,) shares of a text without words, whose linear predictor is the constant.
    given : covariates and offset; None if absent.
    """
    n_themes = tone.shape[1]
    given = Given.nothing(len(y)) if given is None else given
    columns = np.column_stack([tone.sum(axis=1), tone, shares - prevalence, given.columns])
    one, dispersion, trusted = _one_gamma(columns[:, :1], y, weight, family, compute, given)
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
    # Refit the remaining coefficients given the gammas.
    rest = replace(model, family=fit.family, penalty=penalty[n_themes + 1 :])
    start, offset = fit.coefficients[n_themes + 1 :], linear_predictor(tone, gamma, given.offset)
    others = fit_glm(rest, columns[:, n_themes + 1 :], y, weight, offset=offset, start=start)
    # Shares sum to 1, so a common constant can be subtracted from all betas.
    beta = others.effects[:n_themes] - others.effects[:n_themes] @ prevalence
    theme_effects = ThemeEffects(gamma, beta, others.intercept, fit.hessian / (dispersion or 1.0))
    if given.n_columns:
        eta = fit.linear_predictor(columns) + given.offset
        errors = standard_errors(fit, columns, given, y, weight, eta, dispersion)
        theme_effects = replace(theme_effects, covariates=others.effects[n_themes:], covariate_errors=errors)
    return theme_effects, others.family


def _one_gamma(
    tone: Vector, y: Vector, weight: Vector, family: Family, compute: Compute, given: Given
) -> tuple[GLMFit, float, float]:
    """GLM with one gamma for all themes and no beta, its dispersion, and the factor that all gammas are shrunk by.

    tone : (texts, 1) of the whole text.
    """
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
    gamma = float(fit.coefficients[0])
    error = float(dispersion * np.linalg.pinv(fit.hessian, hermitian=True)[0, 0]) ** 0.5
    return fit, dispersion, max(0.0, 1 - (LEAST_ERRORS * error / gamma) ** 4) if gamma > 0 else 0.0


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


def spoken_of(
    places: Vector, has_terms: NDArray[np.bool_], documents: NDArray[np.int64], n_documents: int
) -> NDArray[np.bool_]:
    """(texts, themes) True if at least half of one of the text's sentences is about the theme.

    places : (sentences, themes); has_terms : (sentences,) True if the sentence has a content term.
    """
    spoken = np.zeros((n_documents, places.shape[1]), dtype=bool)
    rows = np.flatnonzero(has_terms & (places.max(axis=1, initial=0.0) >= SPOKEN_SHARE))
    spoken[documents[rows], places[rows].argmax(axis=1)] = True
    return spoken


@dataclass(frozen=True)
class Choice:
    """The chosen family, and a description of the choice for display; "" if there was one candidate only.

    Examples
    --------
    >>> from textsignal.families import Gaussian
    >>> Choice(Gaussian(1.0), "numbers from 80 to 100", ()).described
    'numbers from 80 to 100, gaussian'
    """

    family: Family
    response: str
    scores: tuple[tuple[str, float], ...]

    @property
    def described(self) -> str:
        """Description of the response, the family, and the log score of every candidate; smaller is better."""
        if not self.response:
            return ""
        text = f"{self.response}, {self.family.name}"
        if not self.scores:
            return text
        best, *others = sorted(self.scores, key=lambda score: score[1])
        rest = ", ".join(f"{name} {score:.3f}" for name, score in others)
        return f"{text}, by the log score of held-back texts ({best[1]:.3f}; {rest})"


def choose_family(
    given: Candidates, tone: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector, compute: Compute
) -> Choice:
    """Return the family with the best mean log score on held-out texts, using a GLM on their tone alone.

    tone : (texts,) out of fold; folds : (texts,) held out in turn.
    responses : (texts,) on the user's scale, NaN if missing; weight : (texts,) how often each counts.
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
            lost[out] = log_scores(fit.family, values[out], fit.linear_predictor(columns[out]))
        return float(np.average(lost, weights=counts))

    scores = [(family.name, score(family)) for family in given.families]
    best = int(np.argmin([lost for _, lost in scores]))
    return Choice(given.families[best], given.described, tuple(scores))
