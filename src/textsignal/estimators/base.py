"""What both estimators share: validation, starts, inference, prediction and fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from textsignal.checks import (
    check_choice,
    check_number,
    check_response,
    check_text_matrix,
    check_weight,
    draw_seed,
)
from textsignal.engines import Engine
from textsignal.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.evaluate import r2_score
from textsignal.families import Family, level_probabilities
from textsignal.inference import infer_weights
from textsignal.kernels import Array, compiled
from textsignal.topics.effects import CentredEffects, centred_effects
from textsignal.training.beginning import text_weights
from textsignal.training.corpus import Corpus
from textsignal.training.glm import NoStep, ResponseModel, coefficients_for
from textsignal.training.joint import (
    Fitted,
    FixedGamma,
    JointSettings,
    train_joint,
)
from textsignal.training.loop import Losses, Watch
from textsignal.training.predictive import scale_rows
from textsignal.training.start import STARTS, Start, weights_for

#: Iterations of unsupervised training that init="nmf" starts from, and the change at which it stops.
NMF_ITERATIONS, NMF_TOL = 200, 1e-6


@dataclass(frozen=True)
class Inference:
    """How weights follow from text: `infer_weights` with these arguments, on rows of l2 norm 1 if `unit_rows`."""

    smoothing: float
    tol: float
    unit_rows: bool

    def rows(self, matrix: sp.csr_array) -> sp.csr_array:
        """The text as inference takes it."""
        return scale_rows(matrix).X if self.unit_rows else matrix


@dataclass(frozen=True)
class Task:
    """One training run: what is given, where it is computed, and what the user asked to start from."""

    corpus: Corpus
    family: Family
    engine: Engine
    seed: int
    restart: int
    W: ArrayLike | None
    H: ArrayLike | None
    watch: Watch


@dataclass(frozen=True)
class Predictions:
    """What a model says of documents.

    eta : (documents,) linear predictor, intercept + weights . effects + beyond.
    beyond : (documents,) the part of eta that single words add beyond the topics; 0 without `word_residual`.
    weights : (documents, topics).
    unknown : (documents,) whether a document has no known term; it got the mean weights of training.
    """

    family: Family
    eta: NDArray[np.float64]
    beyond: NDArray[np.float64]
    weights: Array
    unknown: NDArray[np.bool_]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(documents,) expected response, on the user's scale."""
        return self.family.mean(self.eta)

    @property
    def shares(self) -> Array:
        """(documents, topics) share of each document's text in each topic."""
        total = self.weights.sum(axis=1, keepdims=True)
        return self.weights / np.where(total > 0, total, 1)

    @classmethod
    def joined(cls, parts: Sequence[Predictions], order: NDArray[np.int64]) -> Predictions:
        """Predictions of several sets of documents as one, in this order."""

        def together(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])[order]

        names = [field.name for field in fields(cls) if field.name != "family"]
        return cls(parts[0].family, **{name: together(name) for name in names})

    @property
    def by_topics(self) -> Predictions:
        """What the topics say without single words: the difference in skill is what topics do not carry."""
        return replace(self, eta=self.eta - self.beyond, beyond=np.zeros_like(self.beyond))

    def level(self, rule: str = "round") -> NDArray[np.int64]:
        """(documents,) one level each: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.family.level(self.eta, rule)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(documents, levels) probability of every level."""
        return level_probabilities(self.family, self.eta)


class TopicEstimator(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both estimators share: fitting from starts, inference, prediction."""

    n_topics: int
    levels: ArrayLike | None
    max_iter: int
    tol: Any
    init: str
    n_init: int
    random_state: Any
    n_jobs: int | None

    @abstractmethod
    def _family(self) -> Family:
        """The family, as far as it is given."""

    @abstractmethod
    def _train(self, task: Task) -> Fitted:
        """One training run; raises for options that are not allowed."""

    @abstractmethod
    def _response_model(self, family: Family, engine: Engine) -> ResponseModel:
        """The GLM of the response on given weights."""

    @property
    def weighting(self) -> str:
        """The weighting of terms that this training is made for, as `TextVectorizer` names it."""
        return "tfidf"

    @property
    def inference(self) -> Inference:
        """How weights are found."""
        return Inference(smoothing=0.0, tol=1e-4, unit_rows=False)

    @property
    def text_weights(self) -> NDArray[np.float64]:
        """(topics,) mean weights as far as the text gives them, without what smoothing adds to every topic.

        A document's weights solve  mass_k w_k = w_k pull_k + smoothing,  mass being the topic's sum over terms, and
        w_k pull_k is the part of its text in topic k.
        """
        check_is_fitted(self)
        mass = self.components_.sum(axis=1, dtype=float)
        return np.maximum(self.mean_weights_ - self.smoothing_ / np.where(mass > 0, mass, 1), 0.0)

    @property
    def centred_effects(self) -> CentredEffects:
        """Effects on one scale, against the average text, with each topic's prevalence."""
        return centred_effects(self.components_, self.mean_weights_, self.text_weights, self.coef_)

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        W: ArrayLike | None = None,
        H: ArrayLike | None = None,
    ) -> Self:
        """Learn topics and effects.

        Parameters
        ----------
        X : (documents, terms) nonnegative matrix, sparse or dense.
        y : (documents,) responses; NaN where there is none, the text is used all the same.
        sample_weight : (documents,) how often each document counts.
        W : (documents, topics) weights to start from.
        H : (topics, terms) topics to start from. With H alone the weights are found from it.
        """
        self._check_options()
        corpus, family = self._corpus(X, y, sample_weight)
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        with LocalEngine(self.n_jobs) as engine:
            tasks = (
                Task(corpus, family, engine, draw_seed(self.random_state) + n, n, W, H, self._watch(context))
                for n in range(self.n_init)
            )
            best = min(map(self._train, tasks), key=lambda run: run.trace[-1].objective)
        self._keep(best, family, corpus)
        context.call_on_fit_task_end(estimator=self)
        return self

    def with_topics(self, topics: Array, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Give a new estimator with these topics in place of its own; the record of training stays.

        Weights are found from the text alone, as those of new documents are, and effects and intercept are refitted on
        them. Effects of single words belonged to the old topics and are left out.

        Parameters
        ----------
        topics : (topics, terms) nonnegative.
        X, y, sample_weight : as in `fit`.
        """
        check_is_fitted(self)
        matrix = check_text_matrix(self, X, reset=False)
        response = check_response(self, matrix, y)
        if np.isnan(response).all():
            raise InputError("no document has a response (all are missing), so effects cannot be refitted")
        rows = self.inference.rows(matrix)
        corpus = Corpus(rows, self.family_.encode(response), check_weight(matrix, sample_weight))
        found = text_weights(
            corpus, topics.astype(rows.dtype, copy=False), self.inference.smoothing, self.inference.tol, self.n_jobs
        )
        with LocalEngine(self.n_jobs) as engine:
            coefficients = coefficients_for(self._response_model(self.family_, engine), corpus, found)
        other = copy(self).set_params(n_topics=len(topics))
        other.components_, other.weights_ = topics, found
        other.mean_weights_ = corpus.mean_weights(found)
        other.coef_, other.intercept_ = coefficients[:-1].copy(), float(coefficients[-1])
        other.word_effects_ = np.zeros_like(self.word_effects_)
        return other

    def predictions(self, X: Any) -> Predictions:
        """Everything the model says of documents: weights, expected response, levels and their probabilities."""
        check_is_fitted(self)
        matrix = check_text_matrix(self, X, reset=False)
        rows = self.inference.rows(matrix)
        inferred = infer_weights(
            rows,
            self.components_.astype(rows.dtype, copy=False),
            smoothing=self.inference.smoothing,
            tol=self.inference.tol,
            fallback=self.mean_weights_,
            n_jobs=self.n_jobs,
        )
        eta = self.intercept_ + np.einsum("ik,k->i", inferred.weights, self.coef_, dtype=np.float64)
        beyond = np.asarray(rows @ self.word_effects_, dtype=np.float64)
        return Predictions(self.family_, eta + beyond, beyond, inferred.weights, inferred.unknown)

    def transform(self, X: Any) -> Array:
        """Weights of documents, found from their text alone: (documents, topics)."""
        return self.predictions(X).weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Expected response of documents, on the user's scale."""
        return self.predictions(X).mean

    def predict_level(self, X: Any, rule: str = "round") -> NDArray[np.int64]:
        """One level a document: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.predictions(X).level(rule)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every level: (documents, levels), in the order of `levels_`."""
        return self.predictions(X).probabilities

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R2 of the expected response over the documents that have one."""
        return r2_score(np.asarray(y, dtype=float), self.predict(X), sample_weight)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        # Levels have probabilities, though the estimator is no classifier.
        tags.classifier_tags = ClassifierTags()
        return tags

    def _check_options(self) -> None:
        check_number("n_topics", self.n_topics, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("n_init", self.n_init, least=1, whole=True)
        if self.tol is not None:
            check_number("tol", self.tol, least=0)
        check_choice("init", self.init, [*STARTS, "nmf"])
        if self.n_jobs == 0:
            raise InputError("n_jobs=0 gives no thread to work; give a number of threads, or -1 for all cores")

    def _corpus(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Corpus, Family]:
        matrix = check_text_matrix(self, X, reset=True)
        response = check_response(self, matrix, y)
        weight = check_weight(matrix, sample_weight)
        if matrix.shape[0] < self.n_topics:
            raise InputError(
                f"{matrix.shape[0]} sample(s) cannot carry {self.n_topics} topics (n_samples={matrix.shape[0]}); "
                "give more documents or a smaller n_topics"
            )
        if np.sum(matrix.T @ weight) == 0:
            raise InputError("X is all zeros: no document has a known term, so there is nothing to learn from")
        counted = np.where(weight > 0, response, np.nan)
        if np.all(np.isnan(counted)):
            raise InputError("no document has a response (all are missing), so there is nothing to explain")
        family = self._family().learn(counted)
        corpus = Corpus(matrix, family.encode(counted), weight)
        if np.nanmin(counted) == np.nanmax(counted):
            raise InputError("the response is constant, so there is nothing to explain; check the response column")
        return corpus, family

    def _start(self, task: Task, n_topics: int) -> Start:
        # Only a random start differs between restarts, so that is what further ones take.
        given = {"nmf": "nndsvda"}.get(self.init, self.init) if task.restart == 0 else "random"
        start = STARTS[given](task.corpus, n_topics, task.seed, self.n_jobs)
        if task.H is None and task.W is None:
            return start
        return _given_start(task.corpus, start, task.W, task.H, self.n_jobs)

    def _train_joint(self, task: Task, settings: JointSettings) -> Fitted:
        start = self._start(task, self.n_topics)
        if self.init == "nmf" and task.H is None and task.W is None:
            start = self._nmf_start(task, start)
        return train_joint(task.corpus, task.family, start, settings, task.engine, compiled, task.watch)

    def _nmf_start(self, task: Task, start: Start) -> Start:
        """Unsupervised topics and weights, from a start."""
        settings = JointSettings(0.0, 0.0, FixedGamma(0.0), NoStep(), NMF_ITERATIONS, NMF_TOL)
        nobody: Watch = lambda iteration, losses: False  # noqa: E731
        factors = train_joint(task.corpus, task.family, start, settings, task.engine, compiled, nobody)
        return Start(factors.topics, factors.weights)

    def _watch(self, context: Any) -> Watch:
        """Tell scikit-learn's callbacks of every iteration; they may ask to stop."""

        def watch(iteration: int, losses: Losses) -> bool:
            if not hasattr(self, "_skl_callbacks"):
                return False
            task = context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(estimator=self)
            return bool(task.call_on_fit_task_end(estimator=self))

        return watch

    def _keep(self, fitted: Fitted, family: Family, corpus: Corpus) -> None:
        self.components_ = fitted.topics
        self.weights_ = fitted.weights
        self.coef_ = fitted.effects
        self.intercept_ = fitted.intercept
        self.smoothing_ = fitted.smoothing
        self.word_effects_ = np.zeros(corpus.X.shape[1]) if fitted.word_effects is None else fitted.word_effects
        self.mean_weights_ = corpus.mean_weights(fitted.weights)
        self.family_ = family
        self.levels_ = family.levels
        self.n_iter_ = len(fitted.trace) - 1
        self.stop_reason_ = fitted.reason
        self.converged_ = fitted.reason == "converged"
        self.alpha_ = fitted.trace[-1].supervision
        self.trace_ = pd.DataFrame(
            {
                "text_loss": [losses.text for losses in fitted.trace],
                "response_loss": [losses.response for losses in fitted.trace],
                "penalty": [losses.penalty for losses in fitted.trace],
                "objective": [losses.objective for losses in fitted.trace],
            }
        ).rename_axis("iteration")
        self.objective_ = self.trace_["objective"].to_numpy()[1:]


def _given_start(corpus: Corpus, start: Start, W: Any, H: Any, n_jobs: int | None) -> Start:
    """The user's topics and weights in place of the start's."""
    topics = start.topics if H is None else _checked("H", H, start.topics.shape)
    if W is not None:
        return Start(topics, _checked("W", W, start.weights.shape))
    return Start(topics, weights_for(corpus, topics, n_jobs))


def _checked(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    given = np.asarray(values, dtype=float)
    if given.shape != shape:
        raise InputError(f"{name} has shape {given.shape}; it must be {shape}")
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        raise InputError(f"{name} must hold finite numbers of at least 0")
    return given
