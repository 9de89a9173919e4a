"""Fitted topic models, and the refit at the end of every training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families import Family, linear_predictor
from textsignal.stored_values import rule
from textsignal.training.corpus import Corpus
from textsignal.training.covariate_effects import dispersion_of, standard_errors
from textsignal.training.effects import text_shares
from textsignal.training.glm import GLMFit, ResponseModel, fit_glm
from textsignal.training.inference import Inference
from textsignal.training.loop import Trace

#: Reason for stopping if training converged.
CONVERGED = "converged"
#: The largest number of topics and weights in a stored model: its square is finite in single precision too.
LARGEST_WEIGHT = 1e15


def _rows_of_hessian(sizes: Mapping[str, int]) -> int:
    return (sizes["topics"] + sizes["covariates"] + 1) * sizes["predictors"]


@dataclass(frozen=True)
class FittedTopics:
    """Fitted model: everything that prediction needs, and the record of training.

    family : of the response, with its scale.
    topics : (topics, terms) nonnegative.
    effects : (topics,); intercept : constant of the linear predictor. For P linear predictors (topics, P) and (P,), and
        the hessian has P rows for each.
    hessian : (topics + covariates + 1, ...) of response loss and penalty in effects of topics and of covariates and in
        the intercept: their information.
    mean_weights : (topics,) of the training documents that have a known term; assigned to documents without one.
    smoothing, tol, unit_rows : settings of `Inference`.
    word_effects : (terms,) effects of single words beyond the topics.
    trace : losses of training.
    reason : why training stopped.
    weights : (documents, topics) of the training documents; None in a stored model.
    from_text : True if these are inferred from the text alone, like those of new documents.
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
    from_text: bool = field(default=True, metadata={"stored": False})
    covariates: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))
    covariate_errors: Vector | None = field(default=None, metadata=rule(shape=("covariates",), only_with="covariates"))

    @property
    def inference(self) -> Inference:
        """Inference of the weights of documents."""
        return Inference(self.topics, self.smoothing, self.tol, self.unit_rows, self.mean_weights)

    @property
    def converged(self) -> bool:
        """True if training stopped because the objective converged."""
        return self.reason == CONVERGED

    @property
    def covariate_effects(self) -> Vector:
        """(covariates,) effects of covariates; empty if there are no covariates."""
        return np.zeros(0) if self.covariates is None else self.covariates

    def linear_predictor(self, weights: Array) -> Vector:
        """(documents,) linear predictor of the topics, from weights (documents, topics)."""
        return linear_predictor(weights, self.effects, self.intercept)

    def shares(self, weights: Array) -> Vector:
        """(documents, topics) the part of each document's text that each topic explains."""
        return text_shares(weights, self.topics, self.smoothing)

    def with_fit(self, topics: Array, fit: TextFit) -> Self:
        """Return the model with other topics and the fit on them; effects of single words are removed."""
        return replace(
            self,
            family=fit.glm.family,
            topics=topics,
            effects=fit.effects,
            intercept=fit.glm.intercept,
            hessian=fit.glm.hessian,
            mean_weights=fit.mean_weights,
            word_effects=np.zeros(topics.shape[1]),
            weights=fit.weights,
            from_text=True,
            covariates=fit.covariates,
            covariate_errors=fit.covariate_errors,
        )


@dataclass(frozen=True)
class TextFit:
    """Weights inferred from the text alone, and the GLM of the response on them.

    weights : (documents, topics), the mean weights for a document without a known term.
    mean_weights : (topics,) of the documents that have one.
    glm : effects of topics, then of covariates.
    linear_predictor : (documents,) by topics, covariates and offset.
    covariate_errors : (covariates,) standard errors of the latter; None if absent.
    """

    weights: Array
    mean_weights: Vector
    glm: GLMFit
    linear_predictor: Vector
    covariate_errors: Vector | None

    @property
    def effects(self) -> Vector:
        """(topics,) effects of topics."""
        return self.glm.effects[: len(self.mean_weights)]

    @property
    def covariates(self) -> Vector | None:
        """(covariates,) effects of covariates; None if absent."""
        return None if self.covariate_errors is None else self.glm.effects[len(self.mean_weights) :]


def fit_on_text(corpus: Corpus, inference: Inference, response: ResponseModel, tilt: Vector | None = None) -> TextFit:
    """Infer weights from the text alone, as for new documents, and fit effects and intercept on them.

    Covariates are further columns, without a penalty. If responses are tilted, the effects of covariates are
    refitted to untilted ones given those of topics: a tilt would bias them towards their marginal effects.

    Weights that depend on the response, as in joint training, have other effects than weights of new documents; the
    difference grows with the supervision.

    corpus : with text as `Inference.rows` returns it.
    tilt : (documents,) slopes subtracted from the response's loss.
    """
    inferred = inference.weights(corpus.X, response.compute)
    counted = corpus.weight * ~inferred.unknown
    if not counted.any():
        raise InputError("no document has a term that these topics use, so effects cannot be fitted")
    mean: Vector = np.average(inferred.weights, axis=0, weights=counted).astype(float, copy=False)
    inferred.weights[inferred.unknown] = mean
    given, y, weight = corpus.all_given, corpus.y, corpus.weight
    columns: Array = np.column_stack([inferred.weights, given.columns]) if given.n_columns else inferred.weights
    penalty = np.concatenate([np.full(len(mean), response.penalty), np.zeros(given.n_columns)])
    glm = fit_glm(replace(response, penalty=penalty), columns, y, weight, tilt=tilt, offset=given.offset)
    if given.n_columns and tilt is not None:
        glm = _untilted(glm, inferred.weights, corpus, response)
    eta = (glm.linear_predictor(columns).T + given.offset).T
    errors = None
    if given.n_columns:
        dispersion = dispersion_of(glm.family, y, eta, weight)
        errors = standard_errors(glm, columns, given, y, weight, eta, dispersion)
    return TextFit(inferred.weights, mean, glm, eta, errors)


def _untilted(glm: GLMFit, weights: Array, corpus: Corpus, response: ResponseModel) -> GLMFit:
    """Refit effects of covariates and the intercept to untilted responses; effects of topics stay fixed."""
    given, effects = corpus.all_given, glm.effects[: weights.shape[1]]
    offset = linear_predictor(weights, effects, 0.0) + given.offset
    model = replace(response, family=glm.family, penalty=0.0)
    others = fit_glm(model, given.columns, corpus.y, corpus.weight, offset=offset)
    return replace(glm, family=others.family, coefficients=np.concatenate([effects, others.coefficients]))


@dataclass(frozen=True)
class Run:
    """One training run.

    objective : for comparing runs from different starts, under a common supervision.
    """

    fitted: FittedTopics
    objective: float
