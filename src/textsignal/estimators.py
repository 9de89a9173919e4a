"""The scikit-learn surface: GLMNMF and JBNMF. No numerics here."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from textsignal.engines import Engine
from textsignal.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.evaluate import r2_score
from textsignal.families import Binomial, Family, as_family
from textsignal.inference import infer_weights
from textsignal.kernels import Array, compiled
from textsignal.training.block import Corpus
from textsignal.training.joint import (
    AdaptiveGamma,
    Fitted,
    FixedGamma,
    JointSettings,
    WeightRule,
    refit_on_text,
    train_joint,
)
from textsignal.training.loop import Losses, Watch
from textsignal.training.response import (
    CoefficientStep,
    GradientStep,
    NewtonStep,
    ResponseModel,
    null_deviance,
)
from textsignal.training.start import STARTS, Start, weights_for
from textsignal.validation import (
    check_choice,
    check_number,
    check_response,
    check_text_matrix,
    check_weight,
    draw_seed,
)

#: Iterations of unsupervised training that init="nmf" starts from.
NMF_ITERATIONS = 200


@dataclass(frozen=True)
class Predictions:
    """What a model says of documents.

    eta : (documents,) linear predictor, intercept + weights . effects.
    weights : (documents, topics).
    unknown : (documents,) whether a document has no known term; it got the mean weights of training.
    """

    family: Family
    eta: NDArray[np.float64]
    weights: Array
    unknown: NDArray[np.bool_]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(documents,) expected response, on the user's scale."""
        return self.family.mean(self.eta)

    def level(self, rule: str = "round") -> NDArray[np.int64]:
        """(documents,) one level each: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.family.level(self.eta, rule)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(documents, levels) probability of every level."""
        return np.asarray(self.family.distribution(self.eta[:, None]).pmf(self.family.levels[None, :]))


class TopicEstimator(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both estimators share: fitting from starts, inference, prediction."""

    n_topics: int
    levels: ArrayLike | None
    max_iter: int
    tol: float
    init: str
    n_init: int
    random_state: Any
    n_jobs: int | None

    @abstractmethod
    def _family(self) -> Family:
        """The family, as far as it is given."""

    @abstractmethod
    def _settings(self, corpus: Corpus, family: Family) -> JointSettings:
        """The training settings for this corpus; raises for options that are not allowed."""

    @abstractmethod
    def _finish(self, fitted: Fitted, corpus: Corpus, family: Family, engine: Engine) -> Fitted:
        """What is made of the best training run."""

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
        settings = self._settings(corpus, family)
        context = self._init_callback_context(max_subtasks=self.max_iter * self.n_init)
        context.call_on_fit_task_begin(estimator=self)
        with LocalEngine(self.n_jobs) as engine:

            def train(start: Start, chosen: JointSettings, watch: Watch) -> Fitted:
                return train_joint(corpus, family, start, chosen, engine, compiled, watch)

            best: Fitted | None = None
            for restart in range(self.n_init):
                start = self._start(corpus, settings, restart, train, W, H)
                fitted = train(start, settings, self._watch(context))
                if best is None or fitted.trace[-1].objective < best.trace[-1].objective:
                    best = fitted
            assert best is not None
            self._keep(self._finish(best, corpus, family, engine), family, corpus)
        context.call_on_fit_task_end(estimator=self)
        return self

    def predictions(self, X: Any) -> Predictions:
        """Everything the model says of documents: weights, expected response, levels and their probabilities."""
        check_is_fitted(self)
        matrix = check_text_matrix(self, X, reset=False)
        topics = self.components_.astype(matrix.dtype, copy=False)
        inferred = infer_weights(matrix, topics, fallback=self.mean_weights_, n_jobs=self.n_jobs)
        eta = self.intercept_ + np.einsum("ik,k->i", inferred.weights, self.coef_, dtype=np.float64)
        return Predictions(self.family_, eta, inferred.weights, inferred.unknown)

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

    def _start(self, corpus: Corpus, settings: JointSettings, restart: int, train: Any, W: Any, H: Any) -> Start:
        # Only a random start differs between restarts, so that is what further ones take.
        seed = draw_seed(self.random_state) + restart
        given = {"nmf": "nndsvda"}.get(self.init, self.init) if restart == 0 else "random"
        start = STARTS[given](corpus, self.n_topics, seed, self.n_jobs)
        if H is not None or W is not None:
            return _given_start(corpus, start, W, H, self.n_jobs)
        if self.init == "nmf":
            unsupervised = replace(settings, alpha=0.0, weight_rule=FixedGamma(0.0), max_iter=NMF_ITERATIONS)
            factors = train(start, unsupervised, lambda iteration, losses: False)
            return Start(factors.topics, factors.weights)
        return start

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


class JBNMF(TopicEstimator):
    """Joint Binomial NMF, the paper's model: topics that reconstruct the text and explain a bounded rating.

    Minimises KL(X || W H) + alpha [ binomial loss(y, W beta) + lam |beta|^2 ] with W, H >= 0 and no intercept.
    The defaults never let the objective rise. The paper's Algorithm 1, step for step, is
    `JBNMF(gamma=400, coefficient_step="gradient", init="random")`.

    Parameters
    ----------
    n_topics : number of topics.
    alpha : weight of the response against the text; 0 gives topics that ignore the response.
    lam : penalty on the effects.
    gamma : added to numerator and denominator of the weights' update, a number for every document (the paper: 400)
        or "adaptive": 0, and more for just the documents whose own loss would rise.
    max_iter, tol : most iterations; relative change of the objective below which training stops.
    coefficient_step : "newton" or "gradient" (the paper).
    learning_rate : of gradient steps; None takes the longest that is safe for the data at hand.
    init : "nndsvda", "random" or "nmf" (unsupervised training first). Restarts after the first start at random.
    n_init : number of starts; the one with the lowest objective is kept.
    levels : the rating scale, such as (1, 5); None learns it from the ratings seen.
    random_state : seed.
    n_jobs : threads; -1 for all cores. Results are the same bits for any number.

    Attributes
    ----------
    components_ : (topics, terms) topics.
    weights_ : (documents, topics) weights of the training documents, as training left them.
    coef_, intercept_ : effects and intercept (0).
    objective_, trace_ : objective after every iteration; all parts of it, from the start on.
    n_iter_, converged_, stop_reason_ : how long training took and why it stopped.
    levels_, family_ : the rating scale, and the family that holds it.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=400, n_terms=200, random_state=2)
    >>> model = JBNMF(n_topics=5, random_state=0).fit(corpus.counts, corpus.ratings)
    >>> model.components_.shape, model.coef_.shape
    ((5, 200), (5,))
    >>> bool(np.all(np.diff(model.objective_) <= 0))
    True
    >>> model.predict(corpus.counts[:2]).shape
    (2,)
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        alpha: float = 0.05,
        lam: float = 0.1,
        gamma: float | str = "adaptive",
        max_iter: int = 500,
        tol: float = 1e-4,
        coefficient_step: str = "newton",
        learning_rate: float | None = None,
        init: str = "nndsvda",
        n_init: int = 1,
        levels: ArrayLike | None = None,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.lam = lam
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.coefficient_step = coefficient_step
        self.learning_rate = learning_rate
        self.init = init
        self.n_init = n_init
        self.levels = levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        return Binomial() if self.levels is None else Binomial.from_levels(self.levels)

    def _settings(self, corpus: Corpus, family: Family) -> JointSettings:
        check_number("alpha", self.alpha, least=0)
        check_number("lam", self.lam, least=0)
        check_choice("coefficient_step", self.coefficient_step, ["newton", "gradient"])
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, least=0, above=True)
        step: CoefficientStep = NewtonStep()
        if self.coefficient_step == "gradient":
            step = GradientStep(self.alpha, self.learning_rate)
        return JointSettings(
            alpha=self.alpha,
            penalty=self.lam,
            weight_rule=_weight_rule(self.gamma),
            coefficient_step=step,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _finish(self, fitted: Fitted, corpus: Corpus, family: Family, engine: Engine) -> Fitted:
        return fitted


class GLMNMF(TopicEstimator):
    """Topics that reconstruct the text and explain a response of any family.

    Minimises KL(X || W H) + s [ sum loss(y, intercept + W beta) + penalty |beta|^2 ], where s is scaled so that a
    `supervision` of 1 gives text and response the same say: s = supervision * (text null deviance) / (response
    null deviance). Every topic is given as shares of terms that sum to 1, so that weights and effects compare
    between topics.

    Parameters
    ----------
    n_topics : number of topics.
    family : "binomial", or a family such as `Binomial(n=4, lowest=1)`.
    training : "joint": weights are free in training and see the response (the paper). Effects are refitted in the
        end on weights that follow from the text alone, as a new document's do.
    supervision : weight of the response against the text; 0 gives topics that ignore the response.
    penalty : on the squared effects.
    fit_intercept : whether the linear predictor has a constant.
    max_iter, tol : most iterations; relative change of the objective below which training stops.
    init : "nndsvda", "random" or "nmf" (unsupervised training first). Restarts after the first start at random.
    n_init : number of starts; the one with the lowest objective is kept.
    levels : the response's scale, such as (1, 5), in place of `family`; None learns it.
    random_state : seed.
    n_jobs : threads; -1 for all cores. Results are the same bits for any number.

    Attributes
    ----------
    components_ : (topics, terms) topics, each summing to 1.
    weights_ : (documents, topics) weights of the training documents, from their text alone.
    coef_, intercept_ : effects and intercept.
    alpha_ : the supervision on the scale of the paper's alpha.
    objective_, trace_ : objective after every iteration; all parts of it, from the start on.
    n_iter_, converged_, stop_reason_ : how long training took and why it stopped.
    levels_, family_ : the response's scale, and the family that holds it.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=400, n_terms=200, random_state=2)
    >>> model = GLMNMF(n_topics=5, random_state=0).fit(corpus.counts, corpus.ratings)
    >>> model.components_.sum(axis=1).round(6)
    array([1., 1., 1., 1., 1.])
    >>> model.predict_proba(corpus.counts[:2]).sum(axis=1).round(6)
    array([1., 1.])
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        family: str | Family = "binomial",
        training: str = "joint",
        supervision: float = 0.5,
        penalty: float = 0.1,
        fit_intercept: bool = True,
        max_iter: int = 500,
        tol: float = 1e-4,
        init: str = "nndsvda",
        n_init: int = 1,
        levels: ArrayLike | None = None,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_topics = n_topics
        self.family = family
        self.training = training
        self.supervision = supervision
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.n_init = n_init
        self.levels = levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _family(self) -> Family:
        family = as_family(self.family)
        return family if self.levels is None else Binomial.from_levels(self.levels)

    def _settings(self, corpus: Corpus, family: Family) -> JointSettings:
        check_choice("training", self.training, ["joint"])
        check_number("supervision", self.supervision, least=0)
        check_number("penalty", self.penalty, least=0)
        return JointSettings(
            alpha=self.supervision * corpus.text_null_deviance() / null_deviance(family, corpus.y, corpus.weight),
            penalty=self.penalty,
            weight_rule=AdaptiveGamma(),
            coefficient_step=NewtonStep(),
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _finish(self, fitted: Fitted, corpus: Corpus, family: Family, engine: Engine) -> Fitted:
        response = ResponseModel(family, engine, compiled, self.penalty, self.fit_intercept)
        return refit_on_text(fitted.with_unit_topics(), corpus, response, self.n_jobs)


def _weight_rule(gamma: float | str) -> WeightRule:
    if gamma == "adaptive":
        return AdaptiveGamma()
    if isinstance(gamma, str):
        raise InputError(f'gamma={gamma!r} is not known; give "adaptive" or a number of at least 0')
    check_number("gamma", gamma, least=0)
    return FixedGamma(float(gamma))


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
