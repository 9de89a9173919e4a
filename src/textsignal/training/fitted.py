"""Fitted topic models, the loop that trains them, the fit of effects at its end, and the unit of responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError, TrainingError
from textsignal.families import Family, linear_predictor
from textsignal.stored_values import rule
from textsignal.training.corpus import Corpus
from textsignal.training.glm import ROUNDING, ResponseModel, dispersion_of, fit_glm, standard_errors
from textsignal.training.inference import Inference

#: The largest number of topics and weights in a stored model: its square is finite in single precision too.
LARGEST_WEIGHT = 1e15
#: Range of standard deviations of responses that need no rescaling, and largest mean, in standard deviations.
ORDINARY, FAR = (1e-2, 1e4), 1e6


def _rows_of_hessian(sizes: Mapping[str, int]) -> int:
    return (sizes["topics"] + sizes["covariates"] + 1) * sizes["predictors"]


@dataclass(frozen=True)
class Losses:
    """One point of the trace."""

    text: float
    response: float
    penalty: float
    supervision: float

    @property
    def objective(self) -> float:
        """Objective of training: text + supervision * (response + penalty)."""
        return _objective(self.text, self.response, self.penalty, self.supervision)


@dataclass(frozen=True)
class Trace:
    """Losses at the start of training (NaN if the method has none there) and after every iteration."""

    text: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    response: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    penalty: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    supervision: float = field(metadata=rule(least=0))

    @classmethod
    def of(cls, losses: Sequence[Losses]) -> Self:
        """Collect losses."""
        parts = np.array([(each.text, each.response, each.penalty) for each in losses], dtype=float)
        text, response, penalty = parts.T.copy()
        return cls(text, response, penalty, losses[-1].supervision)

    @property
    def objective(self) -> Vector:
        """(iterations + 1,) what training minimises."""
        return _objective(self.text, self.response, self.penalty, self.supervision)


def _objective(text: Any, response: Any, penalty: Any, supervision: float) -> Any:
    # 0 * inf is nan: an unsupervised fit must not depend on the response at all.
    return text + (supervision * (response + penalty) if supervision else 0.0)


@dataclass(frozen=True)
class Solution:
    """Final state, losses at the start and after every iteration, and "converged", "max_iter" or "callback"."""

    state: Any
    trace: tuple[Losses, ...]
    reason: str


#: Called after every iteration with its number and losses; returning True stops training.
Watch = Callable[[int, Losses], bool]


def run(method: Any, *, max_iter: int, tol: float, watch: Watch) -> Solution:
    """Iterate `state = method.step(state)` from `method.init()` until `state.losses` are stable: the paper's rule."""
    state = method.init()
    trace = [state.losses]
    for iteration in range(1, max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # overflow from too long steps raises below
            state = method.step(state)
        trace.append(state.losses)
        before, after = trace[-2].objective, trace[-1].objective
        if not np.isfinite(after):
            raise TrainingError(
                f"the objective became {after} at iteration {iteration}; with a fixed gamma or learning rate "
                'steps can be too long: use gamma="adaptive" and coefficient_step="newton"'
            )
        if watch(iteration, state.losses):
            return Solution(state, tuple(trace), "callback")
        if tol > 0 and iteration > 1 and 0 < after - before < ROUNDING * abs(before):
            # Only rounding changed: the previous iteration had converged.
            return Solution(state, tuple(trace[:-1]), "converged")
        if abs(after - before) / max(1.0, abs(before)) < tol:
            return Solution(state, tuple(trace), "converged")
    return Solution(state, tuple(trace), "max_iter")


@dataclass(frozen=True)
class FittedTopics:
    """Fitted model: everything that prediction needs, and the record of training.

    hessian : of response loss and penalty in effects of topics and of covariates and in the intercept; P rows for each
        for P linear predictors.
    mean_weights : of the training texts that have a known term; assigned to texts without one.
    smoothing, tol, unit_rows : settings of `Inference`; word_effects : of single words beyond the topics.
    weights : (texts, topics) of the training texts; None in a stored model.
    covariates, covariate_errors : effects of covariates and their standard errors; None if absent.
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


#: Of a model that was not trained: `fit_on_text` fits effects alone.
NO_TRACE = Trace(np.zeros(0), np.zeros(0), np.zeros(0), 0.0)


def fit_on_text(
    corpus: Corpus, inference: Inference, response: ResponseModel, tilt: Vector | None = None
) -> tuple[FittedTopics, Vector]:
    """Infer weights from the terms alone, as for new texts, and fit the GLM on them; return the model and eta.

    Weights of joint training, which depend on the response, have other effects. Covariates are further columns, without
    a penalty. Their effects are refitted without the tilt, which would bias them towards their marginal effects.

    corpus : with X as `Inference.rows` returns it; tilt : as in `fit_glm`.
    """
    inferred = inference.weights(corpus.X, response.compute)
    counted = corpus.weight * ~inferred.unknown
    if not counted.any():
        raise InputError("no text has a term that these topics use, so effects cannot be fitted")
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
    fitted = FittedTopics(
        family=glm.family,
        topics=inference.topics,
        effects=glm.effects[: len(mean)],
        intercept=glm.intercept,
        hessian=glm.hessian,
        mean_weights=mean,
        smoothing=inference.smoothing,
        tol=inference.tol,
        unit_rows=inference.unit_rows,
        word_effects=np.zeros(inference.topics.shape[1]),
        trace=NO_TRACE,
        reason="",
        weights=weights,
        covariates=None if errors is None else glm.effects[len(mean) :],
        covariate_errors=errors,
    )
    return fitted, eta


@dataclass(frozen=True)
class Unit:
    """Training sees (response - centre) / size, of ordinary size; size is a power of 2, so that nothing is rounded."""

    centre: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, family: Family, y: Vector, weight: Vector, fit_intercept: bool) -> Unit:
        """Choose the unit: the identity for responses of ordinary size; no shift without an intercept."""
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
        """Return the model in the original unit of the responses; weight : total, of the texts that have one."""
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
