"""Fitted topic models, the fit of effects at the end of every training, and the unit of responses in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families import Family, linear_predictor
from textsignal.stored_values import rule
from textsignal.training.corpus import Corpus
from textsignal.training.covariance import dispersion_of, standard_errors
from textsignal.training.glm import GLMFit, ResponseModel, fit_glm
from textsignal.training.inference import Inference
from textsignal.training.loop import Trace

#: The largest number of topics and weights in a stored model: its square is finite in single precision too.
LARGEST_WEIGHT = 1e15
#: Range of standard deviations of responses that need no rescaling, and largest mean, in standard deviations.
ORDINARY, FAR = (1e-2, 1e4), 1e6


def _rows_of_hessian(sizes: Mapping[str, int]) -> int:
    return (sizes["topics"] + sizes["covariates"] + 1) * sizes["predictors"]


@dataclass(frozen=True)
class FittedTopics:
    """Fitted model: everything that prediction needs, and the record of training.

    topics : (topics, terms) nonnegative.
    effects : (topics,); intercept : constant of the linear predictor. For P linear predictors (topics, P) and (P,), and
        the hessian has P rows for each.
    hessian : (topics + covariates + 1, ...) of response loss and penalty in effects of topics and of covariates and in
        the intercept: their information.
    mean_weights : (topics,) of the training texts that have a known term; assigned to texts without one.
    smoothing, tol, unit_rows : settings of `Inference`.
    word_effects : (terms,) effects of single words beyond the topics.
    trace, reason : losses of training, and why it stopped.
    weights : (texts, topics) of the training texts; None in a stored model.
    covariates, covariate_errors : (covariates,) effects of covariates and their standard errors; None if absent.
    """

    family: Family = field(metadata=rule(shape=("predictors",), learnt=True))
    topics: Array = field(metadata=rule(shape=("topics", "terms"), least=0, most=LARGEST_WEIGHT))
    effects: Vector = field(metadata=rule(shape=("topics", "*predictors")))
    intercept: float | Vector = field(metadata=rule(shape=("*predictors",)))
    hessian: Vector = field(metadata=rule(shape=(_rows_of_hessian, _rows_of_hessian)))
    mean_weights: Vector = field(metadata=rule(shape=("topics",), least=0, most=LARGEST_WEIGHT))
    smoothing: float = field(metadata=rule(least=0, most=LARGEST_WEIGHT))
    tol: float = field(metadata=rule(least=0))
    unit_rows: bool
    word_effects: Vector = field(metadata=rule(shape=("terms",)))
    trace: Trace
    reason: str
    weights: Array | None = field(default=None, metadata={"stored": False})
    covariates: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))
    covariate_errors: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))

    @property
    def inference(self) -> Inference:
        """Inference of the weights of texts."""
        return Inference(self.topics, self.smoothing, self.tol, self.unit_rows, self.mean_weights)

    @property
    def covariate_effects(self) -> Vector:
        """(covariates,) effects of covariates; empty if there are no covariates."""
        return np.zeros(0) if self.covariates is None else self.covariates

    def linear_predictor(self, weights: Array) -> Vector:
        """(texts,) linear predictor of the topics, from weights (texts, topics)."""
        return linear_predictor(weights, self.effects, self.intercept)


@dataclass(frozen=True)
class TextFit:
    """Weights inferred from the terms alone, and the GLM of the response on them.

    weights : (texts, topics), the mean weights for a text without a known term.
    mean_weights : (topics,) of the texts that have one.
    glm : effects of topics, then of covariates; covariate_errors : (covariates,) standard errors, None if absent.
    linear_predictor : (texts,) by topics, covariates and offset.
    """

    inference: Inference
    weights: Array
    mean_weights: Vector
    glm: GLMFit
    linear_predictor: Vector
    covariate_errors: Vector | None

    @property
    def effects(self) -> Vector:
        """(topics,) effects of topics."""
        return self.glm.effects[: len(self.mean_weights)]

    def model(self, trace: Trace, reason: str) -> FittedTopics:
        """Return the fitted model, without effects of single words; trace, reason : of its training."""
        return FittedTopics(
            family=self.glm.family,
            topics=self.inference.topics,
            effects=self.effects,
            intercept=self.glm.intercept,
            hessian=self.glm.hessian,
            mean_weights=self.mean_weights,
            smoothing=self.inference.smoothing,
            tol=self.inference.tol,
            unit_rows=self.inference.unit_rows,
            word_effects=np.zeros(self.inference.topics.shape[1]),
            trace=trace,
            reason=reason,
            weights=self.weights,
            covariates=None if self.covariate_errors is None else self.glm.effects[len(self.mean_weights) :],
            covariate_errors=self.covariate_errors,
        )


def fit_on_text(corpus: Corpus, inference: Inference, response: ResponseModel, tilt: Vector | None = None) -> TextFit:
    """Infer weights from the terms alone, as for new texts, and fit effects and intercept on them.

    Weights that depend on the response, as in joint training, have other effects than weights of new texts. Covariates
    are further columns, without a penalty. If responses are tilted, the effects of covariates are refitted to untilted
    ones given those of topics: a tilt would bias them towards their marginal effects.

    corpus : with X as `Inference.rows` returns it; tilt : (texts,) slopes subtracted from the response's loss.
    """
    inferred = inference.weights(corpus.X, response.compute)
    counted = corpus.weight * ~inferred.unknown
    if not counted.any():
        raise InputError("no document has a term that these topics use, so effects cannot be fitted")
    weights = inferred.weights
    mean: Vector = np.average(weights, axis=0, weights=counted).astype(float, copy=False)
    weights[inferred.unknown] = mean
    given, y, weight = corpus.all_given, corpus.y, corpus.weight
    columns: Array = np.column_stack([weights, given.columns]) if given.n_columns else weights
    penalty = np.concatenate([np.full(len(mean), response.penalty), np.zeros(given.n_columns)])
    glm = fit_glm(replace(response, penalty=penalty), columns, y, weight, tilt=tilt, offset=given.offset)
    if given.n_columns and tilt is not None:
        effects = glm.effects[: len(mean)]
        offset = linear_predictor(weights, effects, 0.0) + given.offset
        others = fit_glm(replace(response, family=glm.family, penalty=0.0), given.columns, y, weight, offset=offset)
        glm = replace(glm, family=others.family, coefficients=np.concatenate([effects, others.coefficients]))
    eta = (glm.linear_predictor(columns).T + given.offset).T
    errors = None
    if given.n_columns:
        dispersion = dispersion_of(glm.family, y, eta, weight)
        errors = standard_errors(glm, columns, given, y, weight, eta, dispersion)
    return TextFit(inference, weights, mean, glm, eta, errors)


@dataclass(frozen=True)
class Unit:
    """Training sees (response - centre) / size, in the range that its steps and tolerances are designed for.

    size is a power of 2, so that nothing is rounded.
    """

    centre: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, family: Family, y: Vector, weight: Vector, fit_intercept: bool) -> Unit:
        """Choose the unit; the identity if the response is of ordinary size or has no unit.

        y : (texts,) encoded responses, NaN if missing; without an intercept they are not shifted.
        """
        if not family.in_units:
            return cls()
        known = ~np.isnan(y) & (weight > 0)
        mean = float(np.average(y[known], weights=weight[known]))
        if ORDINARY[0] <= family.unit <= ORDINARY[1] and abs(mean) <= FAR * family.unit:
            return cls()
        return cls(mean if fit_intercept else 0.0, 2.0 ** round(np.log2(family.unit)))

    def corpus(self, corpus: Corpus) -> Corpus:
        """The corpus with responses and offset in this unit."""
        given = corpus.given
        given = None if given is None else replace(given, offset=given.offset / self.size)
        return replace(corpus, y=(corpus.y - self.centre) / self.size, given=given)

    def restored(self, fitted: FittedTopics, weight: float) -> FittedTopics:
        """Return the model in the original unit of the responses; weight : of the texts that have one."""
        if self == Unit():
            return fitted
        size, trace = self.size, fitted.trace
        effects, errors = fitted.covariates, fitted.covariate_errors
        return replace(
            fitted,
            family=fitted.family.in_unit(1 / size),
            effects=fitted.effects * size,
            intercept=fitted.intercept * size + self.centre,
            hessian=fitted.hessian / size**2,
            word_effects=fitted.word_effects * size,
            trace=replace(trace, response=trace.response + weight * np.log(size)),
            covariates=None if effects is None else effects * size,
            covariate_errors=None if errors is None else errors * size,
        )


@dataclass(frozen=True)
class Run:
    """One training run; objective : for comparing runs from different starts, under a common supervision."""

    fitted: FittedTopics
    objective: float
