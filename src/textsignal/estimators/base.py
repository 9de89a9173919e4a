"""Base class of both estimators: validation, starts, inference, prediction and fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from textsignal.arrays import Array, Vector
from textsignal.checks import (
    _numbers,
    check_choice,
    check_covariate_sizes,
    check_groups,
    check_number,
    check_offset,
    check_response,
    check_text_matrix,
    check_weight,
    draw_seed,
)
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators.predictions import Predicting, Predictions
from textsignal.families import Family, check_trainable
from textsignal.training.corpus import Corpus
from textsignal.training.fitted import FittedTopics, Run, Unit, fit_on_text
from textsignal.training.glm import ResponseModel, fit_alone
from textsignal.training.inference import Inference
from textsignal.training.joint import JointSettings, train_joint
from textsignal.training.loop import Losses, Watch
from textsignal.training.start import INITS, STARTS, Start, given_start, unsupervised_start
from textsignal.training.topics import CentredEffects, centred_effects


@dataclass(frozen=True)
class Task:
    """One training run: its data, where it is computed, and what the user requested to start from."""

    corpus: Corpus
    family: Family
    compute: Compute
    seed: int
    restart: int
    W: ArrayLike | None
    H: ArrayLike | None
    watch: Watch


def _learnt(path: str, doc: str) -> property:
    """Read-only attribute of `fitted_`."""
    return property(attrgetter(f"fitted_.{path}"), doc=doc)


class TopicEstimator(
    Predicting, CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base class of both estimators: fitting from starts, inference, prediction."""

    n_topics: int
    levels: ArrayLike | None
    max_iter: int
    tol: Any
    init: str
    n_init: int
    random_state: Any
    n_jobs: int | None
    #: Everything that was learnt; the attributes of scikit-learn's names are read from it.
    fitted_: FittedTopics

    components_ = _learnt("topics", "(topics, terms) topics.")
    coef_ = _learnt("effects.T", "(topics,) effects; (classes - 1, topics) of classes against the first one.")
    intercept_ = _learnt("intercept", "Constant of the linear predictor; (classes - 1,) of classes against the first.")
    mean_weights_ = _learnt("mean_weights", "(topics,) mean weights of the training texts.")
    word_effects_ = _learnt("word_effects", "(terms,) effects of single words beyond the topics.")
    family_ = _learnt("family", "The response's family, with its scale.")
    levels_ = _learnt("family.levels", "The response's levels, lowest first; absent if it has none.")
    alpha_ = _learnt("trace.supervision", "The supervision on the scale of the paper's alpha.")
    stop_reason_ = _learnt("reason", "Why training stopped.")
    converged_ = _learnt("converged", "True if training stopped because the objective converged.")

    @property
    def weights_(self) -> Array:
        """(texts, topics) weights of the training texts; a loaded model has none."""
        if self.fitted_.weights is None:
            raise AttributeError("a stored model does not hold the weights of its training documents")
        return self.fitted_.weights

    @property
    def n_iter_(self) -> int:
        """Iterations, or epochs, of training."""
        return len(self.fitted_.trace.text) - 1

    @property
    def objective_(self) -> Vector:
        """(iterations,) objective after every iteration."""
        return self.fitted_.trace.objective[1:]

    @property
    def trace_(self) -> pd.DataFrame:
        """The objective and its parts, at the start and after every iteration."""
        trace = self.fitted_.trace
        columns = {"text_loss": trace.text, "response_loss": trace.response, "penalty": trace.penalty}
        return pd.DataFrame(columns | {"objective": trace.objective}).rename_axis("iteration")

    @property
    @abstractmethod
    def asked_family(self) -> Family:
        """The family, as far as it is given."""

    @abstractmethod
    def _train(self, task: Task) -> Run:
        """One training run; raises for options that are not allowed."""

    @abstractmethod
    def _response_model(self, family: Family, compute: Compute) -> ResponseModel:
        """The GLM of the response on given weights."""

    def _compute(self) -> AbstractContextManager[Compute]:
        """The engine and the kernels that everything is computed with."""
        return local_compute(self.n_jobs)

    @property
    def weighting(self) -> str:
        """The weighting of terms that this training is made for, as `TextVectorizer` names it."""
        return "tfidf"

    @property
    def inference(self) -> Inference:
        """Inference of the weights."""
        check_is_fitted(self)
        return self.fitted_.inference

    @property
    def centred_effects(self) -> CentredEffects:
        """Effects on one scale, against the average text, with each topic's prevalence."""
        check_is_fitted(self)
        fitted = self.fitted_
        return centred_effects(fitted.topics, fitted.mean_weights, fitted.effects, fitted.smoothing)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        W: ArrayLike | None = None,
        H: ArrayLike | None = None,
    ) -> Self:
        """Learn topics and effects.

        With covariates, effects of topics are adjusted for them: topics are learnt with the linear predictor of the
        covariates as offset, and a final GLM has effects of both.

        Parameters
        ----------
        X : (texts, terms) nonnegative matrix, sparse or dense.
        y : (texts,) responses: numbers, or labels of classes; NaN or None if missing; the text is used anyway.
        sample_weight : (texts,) how often each text counts.
        covariates : (texts, columns) numbers; their effects are not penalised.
        offset : (texts,) added to the linear predictor, such as the logarithm of an exposure.
        groups : (texts,) within which texts depend on each other: standard errors of covariates allow for them.
        W : (texts, topics) weights to start from.
        H : (topics, terms) topics to start from. With H alone the weights are inferred from it.
        """
        self._check_options()
        corpus, family = self._corpus(X, y, sample_weight)
        if not (covariates is None and offset is None):
            check_trainable(family, "covariates and an offset")
            corpus = replace(corpus, given=check_given(len(corpus.y), covariates, offset, groups))
            check_offset(corpus.all_given.offset, family.largest_offset, family.name)
        unit = Unit.of(family, corpus.y, corpus.weight, getattr(self, "fit_intercept", False))
        corpus, family = unit.corpus(corpus), family.in_unit(unit.size)
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        with self._compute() as compute:
            if corpus.given is not None:
                offset, family = fit_alone(corpus.given, corpus.y, corpus.weight, family, compute)
                corpus = replace(corpus, offset=offset)
            elif np.ptp(corpus.weight) > 0:
                # The family has been learnt from responses without their weights.
                _, family = fit_alone(corpus.all_given, corpus.y, corpus.weight, family, compute)
            tasks = (
                Task(corpus, family, compute, draw_seed(self.random_state) + n, n, W, H, self._watch(context))
                for n in range(self.n_init)
            )
            fitted = min(map(self._train, tasks), key=lambda run: run.objective).fitted
        self.fitted_ = unit.restored(fitted, float(np.sum(corpus.weight * ~np.isnan(corpus.y))))
        context.call_on_fit_task_end(estimator=self)
        return self

    def with_topics(
        self, topics: Array, X: Any, y: Any, sample_weight: ArrayLike | None = None, given: Given | None = None
    ) -> Self:
        """Return a new estimator with these topics in place of the current ones; the record of training stays.

        Weights are inferred from the terms alone, as those of new texts are, and effects and intercept are refitted on
        them. Effects of single words belonged to the old topics and are discarded.

        Parameters
        ----------
        topics : (topics, terms) nonnegative.
        X, y, sample_weight : as in `fit`; given : covariates and offset.
        """
        check_is_fitted(self)
        matrix = check_text_matrix(self, X, reset=False)
        response = check_response(self, matrix, y)
        fitted = self.fitted_
        encoded = fitted.family.encode(response)
        if np.isnan(encoded).all():
            raise InputError("no document has a response (all are missing), so effects cannot be refitted")
        weight = check_weight(matrix, sample_weight)
        corpus = Corpus(fitted.inference.rows(matrix), encoded, weight, given)
        with self._compute() as compute:
            how = replace(fitted.inference, topics=topics, fallback=None)
            fit = fit_on_text(corpus, how, self._response_model(fitted.family, compute))
        other = copy(self).set_params(n_topics=len(topics))
        other.fitted_ = fit.model(fitted.trace, fitted.reason)
        return other

    def predictions(
        self,
        documents: Any,
        weights: Array | None = None,
        *,
        covariates: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Predictions:
        """Predict weights, expected response, levels and their probabilities.

        Parameters
        ----------
        documents : (texts, terms) as in `fit`.
        weights : (texts, topics) inferred from their terms, if known already.
        covariates, offset : as in `fit`.
        """
        check_is_fitted(self)
        fitted = self.fitted_
        rows = fitted.inference.rows(check_text_matrix(self, documents, reset=False))
        weights = self._weights(rows) if weights is None else weights
        beyond = np.asarray(rows @ fitted.word_effects, dtype=np.float64)
        covered, effects = check_given(rows.shape[0], covariates, offset), fitted.covariate_effects
        if covered.n_columns != len(effects):
            raise InputError(
                f"covariates have {covered.n_columns} columns, and the model was fitted with {len(effects)}; give these"
            )
        given = covered.linear_predictor(effects)
        return Predictions(
            family=fitted.family,
            eta=(fitted.linear_predictor(weights).T + beyond + given).T,
            beyond=beyond,
            given=given,
            weights=weights,
            shares=fitted.shares(weights),
            unknown=fitted.inference.unknown(rows),
        )

    def transform(self, X: Any) -> Array:
        """Infer the weights of texts from their terms alone: (texts, topics)."""
        check_is_fitted(self)
        return self._weights(self.fitted_.inference.rows(check_text_matrix(self, X, reset=False)))

    def _weights(self, rows: sp.csr_array) -> Array:
        with self._compute() as compute:
            return self.fitted_.inference.weights(rows, compute).weights

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _check_options(self) -> None:
        for name in ("n_topics", "max_iter", "n_init"):
            check_number(name, getattr(self, name), least=1, whole=True)
        if self.tol is not None:
            check_number("tol", self.tol, least=0)
        check_choice("init", self.init, INITS)
        if self.n_jobs == 0:
            raise InputError("n_jobs=0 gives no thread to work; give a number of threads, or -1 for all cores")

    def _corpus(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Corpus, Family]:
        matrix = check_text_matrix(self, X, reset=True)
        response = check_response(self, matrix, y)
        weight = check_weight(matrix, sample_weight)
        if matrix.shape[0] < self.n_topics:
            raise InputError(
                f"{matrix.shape[0]} sample(s) cannot carry {self.n_topics} topics (n_samples={matrix.shape[0]}); "
                f"give more documents, or fewer than n_topics={self.n_topics}"
            )
        if np.sum(matrix.T @ weight) == 0:
            raise InputError("X is all zeros: no document has a known term, so there is nothing to learn from")
        counted = response if np.all(weight > 0) else np.where(weight > 0, response, np.array(np.nan, dtype=object))
        if np.all(pd.isna(counted)):
            raise InputError("no document has a response (all are missing), so there is nothing to explain")
        family = self.asked_family.learn(counted)
        encoded = family.encode(counted)
        if np.nanmin(encoded) == np.nanmax(encoded):
            raise InputError("the response is constant, so there is nothing to explain; check the response column")
        if np.sum(matrix.T @ (weight * ~np.isnan(encoded))) == 0:
            raise InputError("no document that has a response has a known term, so there is nothing to learn from")
        return Corpus(matrix, encoded, weight), family

    def _start(self, task: Task, n_topics: int, *, unsupervised: bool) -> Start:
        """Topics and weights given by the user, or drawn; then unsupervised training if none are given."""
        # Only a random start differs between restarts, so further ones use it.
        name = {"nmf": "nndsvda"}.get(self.init, self.init) if task.restart == 0 else "random"
        start = STARTS[name](task.corpus, n_topics, task.seed, task.compute)
        if task.H is not None or task.W is not None:
            return given_start(task.corpus, start, task.W, task.H, task.compute)
        return unsupervised_start(task.corpus, task.family, start, task.compute) if unsupervised else start

    def _train_joint(self, task: Task, settings: JointSettings) -> FittedTopics:
        start = self._start(task, self.n_topics, unsupervised=self.init == "nmf")
        return train_joint(task.corpus, task.family, start.topics, start.weights, settings, task.compute, task.watch)

    def _watch(self, context: Any) -> Watch:
        """Notify scikit-learn's callbacks of every iteration; they may request to stop."""

        def watch(iteration: int, losses: Losses) -> bool:
            if not hasattr(self, "_skl_callbacks"):
                return False
            task = context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return watch


def check_given(n_documents: int, covariates: Any, offset: Any, groups: Any = None) -> Given:
    """Check covariates (texts, columns), which are numbers, offset and groups; each may be None."""
    columns = np.zeros((n_documents, 0)) if covariates is None else _numbers("covariates", covariates)
    offsets = np.zeros(n_documents) if offset is None else _numbers("offset", offset)
    for name, values, n_axes in (("covariates", columns, 2), ("offset", offsets, 1)):
        if values.ndim != n_axes or len(values) != n_documents:
            shape = "(documents, columns)" if n_axes == 2 else "(documents,)"
            raise InputError(f"{name} has shape {values.shape}; it must be {shape}, of {n_documents} documents")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            place = "row {}, column {}".format(*bad[0]) if n_axes == 2 else f"row {bad[0][0]}"
            raise InputError(f"{name} must be finite numbers; the first that is none is in {place}")
    check_covariate_sizes(columns, [f"column {number}" for number in range(columns.shape[1])])
    return Given(columns, offsets, check_groups(groups, n_documents))
