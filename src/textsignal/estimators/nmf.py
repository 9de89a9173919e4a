"""GLMNMF and JBNMF, scikit-learn estimators on a matrix of terms, with their base class. No numerics here."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
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
    LARGEST_OPTION,
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
from textsignal.families import Family, as_family, best_constant, null_deviance
from textsignal.training.corpus import Corpus, distinct_documents
from textsignal.training.draws import document_keys
from textsignal.training.fitted import FittedTopics, Losses, Run, Unit, Watch, fit_on_text
from textsignal.training.glm import ResponseModel, fit_alone
from textsignal.training.inference import Inference
from textsignal.training.joint import (
    AdaptiveGamma,
    FixedGamma,
    GradientStep,
    JointSettings,
    NewtonStep,
    WeightRule,
    train_joint,
    unit_topics,
)
from textsignal.training.predictive import PredictiveSettings, scale_rows, train_predictive
from textsignal.training.start import FINE_TOPICS, INITS, STARTS, Start, given_start, unsupervised_start
from textsignal.training.topics import CentredEffects, centred_effects, text_shares
from textsignal.training.word_effects import fit_word_effects

#: Default penalties. Predictive training fits effects and topics together, and needs more.
DEFAULT_PENALTIES = {"joint": 0.1, "predictive": 3.0}
#: Deviance of a text, on average, below which its response is explained but for rounding.
LEAST_SPREAD = 1e-12
#: Default tolerance of joint training.
DEFAULT_TOL = 1e-4


@dataclass(frozen=True)
class Task:
    """One training run; restart : its number; W, H : what the user gave to start from."""

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


@dataclass(eq=False, repr=False)
class TopicEstimator(
    Predicting, CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base class of both estimators: fitting from starts, inference, prediction."""

    n_topics: int = 10
    _: KW_ONLY
    max_iter: int = 500
    tol: Any = None
    init: str = "nndsvda"
    n_init: int = 1
    levels: ArrayLike | None = None
    random_state: Any = 0
    n_jobs: int | None = -1

    components_ = _learnt("topics", "(topics, terms) topics.")
    coef_ = _learnt("effects.T", "(topics,) effects; (classes - 1, topics) of classes against the first one.")
    intercept_ = _learnt("intercept", "Constant of the linear predictor; (classes - 1,) of classes against the first.")
    mean_weights_ = _learnt("mean_weights", "(topics,) mean weights of the training texts.")
    word_effects_ = _learnt("word_effects", "(terms,) effects of single words beyond the topics.")
    family_ = _learnt("family", "The response's family, with its scale.")
    levels_ = _learnt("family.levels", "The response's levels, lowest first; absent if it has none.")
    alpha_ = _learnt("trace.supervision", "The supervision on the scale of the paper's alpha.")
    stop_reason_ = _learnt("reason", "Why training stopped.")

    @property
    def weights_(self) -> Array:
        """(texts, topics) weights of the training texts; a loaded model has none."""
        if self.fitted_.weights is None:
            raise AttributeError("a stored model does not hold the weights of its training documents")
        return self.fitted_.weights

    @property
    def converged_(self) -> bool:
        """True if the objective converged."""
        return self.stop_reason_ == "converged"

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

    @abstractmethod
    def _train(self, task: Task) -> Run:
        """One training run; raises for options that are not allowed."""

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
        """Effects relative to the average text, with the prevalence of each topic."""
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
        W, H : weights (texts, topics) and topics (topics, terms) to start from; weights are inferred from H alone.
        """
        self._check_options()
        corpus, family = self._corpus(X, y, sample_weight)
        if not (covariates is None and offset is None):
            family.check_trainable("covariates and an offset")
            corpus = replace(corpus, given=check_given(len(corpus.y), covariates, offset, groups))
            check_offset(corpus.all_given.offset, family.largest_offset, family.name)
        unit = Unit.of(family, corpus.y, corpus.weight, getattr(self, "fit_intercept", False))
        corpus, family = unit.corpus(corpus), family.in_unit(unit.size)
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self)
        with local_compute(self.n_jobs) as compute:
            if corpus.given is not None:
                offset, family = fit_alone(corpus.given, corpus.y, corpus.weight, family, compute)
                corpus = replace(corpus, offset=offset)
            elif np.ptp(corpus.weight) > 0:
                # The family has been learnt from responses without their weights.
                _, family = fit_alone(corpus.all_given, corpus.y, corpus.weight, family, compute)
            tasks = (
                Task(corpus, family, compute, draw_seed(self.random_state) + n, n, W, H, partial(self._watch, context))
                for n in range(self.n_init)
            )
            fitted = min(map(self._train, tasks), key=lambda run: run.objective).fitted
        self.fitted_: FittedTopics = unit.restored(fitted, float(np.sum(corpus.weight * ~np.isnan(corpus.y))))
        context.call_on_fit_task_end(estimator=self)
        return self

    def predictions(
        self,
        documents: Any,
        weights: Array | None = None,
        *,
        covariates: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Predictions:
        """Predict weights (if not given), expected response, levels and their probabilities; inputs as in `fit`."""
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
            shares=text_shares(weights, fitted.topics, fitted.smoothing),
            unknown=fitted.inference.unknown(rows),
        )

    def transform(self, X: Any) -> Array:
        """Infer the weights of texts from their terms alone: (texts, topics)."""
        check_is_fitted(self)
        return self._weights(self.fitted_.inference.rows(check_text_matrix(self, X, reset=False)))

    def _weights(self, rows: sp.csr_array) -> Array:
        with local_compute(self.n_jobs) as compute:
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
                f"give more texts, or fewer than n_topics={self.n_topics}"
            )
        if np.sum(matrix.T @ weight) == 0:
            raise InputError("X is all zeros: no text has a known term, so there is nothing to learn from")
        counted = response if np.all(weight > 0) else np.where(weight > 0, response, np.array(np.nan, dtype=object))
        if np.all(pd.isna(counted)):
            raise InputError("no text has a response (all are missing), so there is nothing to explain")
        family = as_family(self._asked, self.levels).learn(counted)
        encoded = family.encode(counted)
        if np.nanmin(encoded) == np.nanmax(encoded):
            raise InputError("the response is constant, so there is nothing to explain; check the response column")
        if np.sum(matrix.T @ (weight * ~np.isnan(encoded))) == 0:
            raise InputError("no text that has a response has a known term, so there is nothing to learn from")
        return Corpus(matrix, encoded, weight), family

    def _start(self, task: Task, n_topics: int, *, unsupervised: bool) -> Start:
        """Topics and weights given by the user, or drawn; then unsupervised training if none are given."""
        # Only a random start differs between restarts, so further ones use it.
        name = {"nmf": "nndsvda"}.get(self.init, self.init) if task.restart == 0 else "random"
        start = STARTS[name](task.corpus, n_topics, task.seed, task.compute)
        if task.H is not None or task.W is not None:
            return given_start(task.corpus, start, task.W, task.H, task.compute)
        return unsupervised_start(task.corpus, start, task.compute) if unsupervised else start

    def _train_joint(self, task: Task, settings: JointSettings) -> FittedTopics:
        start = self._start(task, self.n_topics, unsupervised=self.init == "nmf")
        return train_joint(task.corpus, task.family, start.topics, start.weights, settings, task.compute, task.watch)

    def _watch(self, context: Any, iteration: int, losses: Losses) -> bool:
        """Notify scikit-learn's callbacks of an iteration; they may request to stop."""
        if not hasattr(self, "_skl_callbacks"):
            return False
        task = context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self)
        return bool(task.call_on_fit_task_end(estimator=self))


@dataclass(eq=False, repr=False)
class GLMNMF(TopicEstimator):
    """Topics that reconstruct the text and explain a response of any family.

    Predictive training, the default, makes weights a function of the text and moves the topics so that this function
    predicts; joint training, after the paper, minimises KL(X || W H) + s [ sum loss(y, W beta) + penalty u |beta|^2 ]
    over free weights, with topics that sum to 1 and u = (mean total of rows with a response) * terms / topics. s is
    scaled so that a `supervision` of 1 gives text and response equal weight: s = supervision * (text null deviance) /
    (response null deviance); predictive training multiplies it by twice the share of the response's deviance that words
    explain on held-back texts. Every topic is given as shares of terms that sum to 1, so that weights and effects
    compare between topics.

    Parameters
    ----------
    n_topics : number of topics.
    family : the response's: "binomial", "beta-binomial", "adjacent-categories", "stereotype", "proportion", "poisson",
        "negative-binomial" or "gaussian", with which it is a regressor that predicts means; "bernoulli", "ordinal" or
        "categorical", with which it is a classifier that predicts labels; or a family such as `Binomial(4, lowest=1)`.
    training : "predictive": weights follow from the text in training too; give counts, whose rows it scales to norm 1
        and whose lengths it uses. "joint": weights are free in training and depend on the response (the paper); effects
        are refitted on weights that follow from the terms alone.
    supervision : weight of the response against the text; 0 gives topics that ignore the response.
    penalty : on the squared effects, in units of the family's linear predictor (1 for logits and logarithms, standard
        deviations of a Gaussian response); None takes 0.1 for joint and 3 for predictive training.
    fit_intercept : True if the linear predictor has a constant.
    smoothing, thinning, max_epochs, batch_size : of predictive training: keeps weights off zero, as a share of the mean
        row total; share of a long text's terms dropped at random in each step; passes; texts in a step, at most.
    word_residual : True if single words may add to the linear predictor beyond the topics. Their effects are sparse,
        fitted last, and separate (`word_effects_`), which shows how much of the skill is due to the topics.
    max_iter, tol : of joint training: maximum number of iterations; relative change of the objective below which it
        stops, None for 1e-4. Predictive training runs all its epochs.
    init : "nndsvda", "random" or "nmf" (unsupervised training first). Restarts after the first start at random.
    n_init : number of starts; the one with the lowest objective is kept. Predictive training compares starts by
        whole texts and unchanged responses, under one supervision.
    levels : the response's scale, such as (1, 5) or (1, 5, 0.5), where `family` leaves it open; None learns it. Ordered
        text, such as ["low", "mid", "high"], has no order otherwise.
    random_state : seed.
    n_jobs : threads; -1 for all cores. Results are the same bits for any number.

    A text of weight 2 (`sample_weight`) is equivalent to two copies of it: joint training gives the same bits, for
    texts in any order, unless starting weights W are given; predictive training the same up to rounding.

    Attributes
    ----------
    components_, weights_ : (topics, terms) topics, each summing to 1; (texts, topics) weights of the training texts,
        from their terms alone.
    coef_, intercept_ : effects (topics,) and intercept; of three classes or more (classes - 1, topics) and
        (classes - 1,), against the first class.
    word_effects_ : (terms,) effects of single words beyond the topics; all 0 without `word_residual`.
    alpha_ : the supervision on the scale of the paper's alpha.
    objective_, trace_ : objective after every iteration; all parts of it, from the start on.
    n_iter_, converged_ : number of iterations or epochs; True if the objective converged: never in predictive training.
    stop_reason_ : "converged", "max_iter", "callback" or, for predictive training, "all 20 epochs done".
    levels_, classes_, family_ : the response's scale or classes, and the family that holds it.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=400, n_terms=200, random_state=2)
    >>> model = GLMNMF(n_topics=5, random_state=0).fit(corpus.counts, corpus.ratings)
    >>> model.components_.sum(axis=1).round(6)
    array([1., 1., 1., 1., 1.])
    """

    _: KW_ONLY
    family: str | Family = "binomial"
    training: str = "predictive"
    supervision: float = 0.5
    penalty: float | None = None
    fit_intercept: bool = True
    smoothing: float = 1.0
    thinning: float = 0.4
    max_epochs: int = 20
    batch_size: int = 200
    word_residual: bool = False

    def _train(self, task: Task) -> Run:
        check_choice("training", self.training, ["joint", "predictive"])
        check_number("supervision", self.supervision, least=0, most=LARGEST_OPTION)
        if self.penalty is not None:
            check_number("penalty", self.penalty, least=0, most=LARGEST_OPTION)
        if self.word_residual:
            task.family.check_trainable("word_residual")
        run = self._train_predictively(task) if self.training == "predictive" else self._train_jointly(task)
        if not self.word_residual:
            return run
        fitted, corpus = run.fitted, task.corpus
        assert fitted.weights is not None
        rows, given = fitted.inference.rows(corpus.X), corpus.all_given.linear_predictor(fitted.covariate_effects)
        eta = fitted.linear_predictor(fitted.weights) + given
        effects = fit_word_effects(rows, corpus.y, corpus.weight, eta, task.family, document_keys(rows))
        return replace(run, fitted=replace(fitted, word_effects=effects))

    def _train_jointly(self, task: Task) -> Run:
        if task.W is not None:
            return self._train_jointly_on(task)
        distinct = distinct_documents(task.corpus)
        run = self._train_jointly_on(replace(task, corpus=distinct.corpus))
        assert run.fitted.weights is not None
        others = run.fitted.inference.weights(task.corpus.X[distinct.places < 0], task.compute).weights
        return replace(run, fitted=replace(run.fitted, weights=distinct.for_all(run.fitted.weights, others)))

    def _train_jointly_on(self, task: Task) -> Run:
        corpus, family = task.corpus, task.family
        answered = replace(corpus, weight=np.where(np.isnan(corpus.y), 0.0, corpus.weight))
        settings = JointSettings(
            alpha=self.supervision * corpus.text_null_deviance() / _spread(corpus, family),
            penalty=self._penalty_of(family) * answered.mean_size * corpus.X.shape[1] / self.n_topics,
            weight_rule=AdaptiveGamma(),
            coefficient_step=NewtonStep(),
            max_iter=self.max_iter,
            tol=DEFAULT_TOL if self.tol is None else self.tol,
            unit_topics=True,
        )
        if not family.has_origin and self.fit_intercept:
            # A linear predictor of 0 has no meaning, and there is no intercept: weights would have to replace it.
            known = ~np.isnan(corpus.y)
            constant = best_constant(family, corpus.y[known], corpus.weight[known], corpus.offsets[known])
            task = replace(task, corpus=replace(corpus, offset=corpus.offsets + constant))
        fitted = self._train_joint(task, settings)
        response = ResponseModel(family, task.compute, self._penalty_of(family), self.fit_intercept)
        refitted, _ = fit_on_text(corpus, Inference(unit_topics(fitted.topics)), response)
        return Run(replace(refitted, trace=fitted.trace, reason=fitted.reason), fitted.trace.objective[-1])

    def _train_predictively(self, task: Task) -> Run:
        for name in ("max_epochs", "batch_size"):
            check_number(name, getattr(self, name), least=1, whole=True)
        check_number("smoothing", self.smoothing, least=0, above=True, most=LARGEST_OPTION)
        check_number("thinning", self.thinning, least=0)
        if self.thinning >= 1:
            raise InputError(f"thinning={self.thinning!r} leaves no term; it must be at least 0 and below 1")
        if task.W is not None:
            raise InputError('training="predictive" finds weights from the text; give starting topics H alone')
        X, length = scale_rows(task.corpus.X, task.corpus.weight)
        corpus, by_length = (replace(task.corpus, X=rows) for rows in (X, sp.csr_array(X * length[:, None])))
        starting = replace(task, corpus=by_length)
        settings = PredictiveSettings(
            supervision=self.supervision * by_length.text_null_deviance() / _spread(corpus, task.family),
            smoothing=self.smoothing / corpus.mean_size,
            thinning=self.thinning,
            max_epochs=self.max_epochs,
            batch_size=self.batch_size,
            seed=task.seed,
        )
        # Topics are merged by their effects, of which there must be one.
        finer = task.H is None and 1 < self.n_topics < FINE_TOPICS and task.family.n_predictors == 1
        topics = self._start(starting, self.n_topics, unsupervised=True).topics
        fine = self._start(starting, FINE_TOPICS, unsupervised=True).topics if finer else None
        penalty = self._penalty_of(task.family) / corpus.weight.sum()
        response = ResponseModel(task.family, task.compute, penalty, self.fit_intercept)
        return train_predictive(corpus, length, response, topics, fine, settings, task.watch)

    def _penalty_of(self, family: Family) -> float:
        """The penalty on effects in units of this family's linear predictor: points or cents are the same."""
        penalty = DEFAULT_PENALTIES[self.training] if self.penalty is None else self.penalty
        return penalty / family.unit**2

    @property
    def weighting(self) -> str:
        """The weighting of terms that this training is made for, as `TextVectorizer` names it."""
        return "count" if self.training == "predictive" else "tfidf"


def _spread(corpus: Corpus, family: Family) -> float:
    """The response's null deviance; raises if covariates and offset leave nothing of the response."""
    spread = null_deviance(family, corpus.y, corpus.weight, corpus.offsets)
    if spread <= LEAST_SPREAD * float(np.sum(corpus.weight * ~np.isnan(corpus.y))):
        raise InputError(
            "covariates and offset explain the response completely, which leaves nothing for the text to explain; "
            "drop those that follow from the response, or give more texts than covariates"
        )
    return spread


@dataclass(eq=False, repr=False)
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
    gamma : added to numerator and denominator of the weights' update, a number for every text (the paper: 400) or
        "adaptive": 0, and more only for the texts whose own loss would rise.
    max_iter, tol : maximum number of iterations; relative change of the objective below which training stops.
    coefficient_step : "newton" or "gradient" (the paper).
    learning_rate : of gradient steps; None takes the longest that is safe for the data at hand.
    levels : the rating scale, such as (1, 5); None learns it from the ratings.
    init, n_init, random_state, n_jobs : as in `GLMNMF`.

    A text of weight 2 (`sample_weight`) is equivalent to two copies of it, up to rounding; but a random start draws
    other weights for each copy, and an alpha of 5 or more amplifies rounding.

    Attributes
    ----------
    weights_ : (texts, topics) weights of the training texts at the end of training: they depend on the response, so
        `transform` gives others.
    components_, coef_, intercept_, objective_, trace_, n_iter_, stop_reason_, levels_, family_ : as in `GLMNMF`; topics
        may have any sum, and the intercept is 0.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=400, n_terms=200, random_state=2)
    >>> model = JBNMF(n_topics=5, random_state=0).fit(corpus.counts, corpus.ratings)
    >>> bool((model.trace_["objective"].diff().dropna() <= 0).all())
    True
    """

    _: KW_ONLY
    alpha: float = 0.05
    lam: float = 0.1
    gamma: float | str = "adaptive"
    tol: float = DEFAULT_TOL
    coefficient_step: str = "newton"
    learning_rate: float | None = None

    def _train(self, task: Task) -> Run:
        if task.corpus.given is not None:
            raise InputError('the paper\'s model has no covariates and no offset; GLMNMF(training="joint") takes them')
        check_number("alpha", self.alpha, least=0, most=LARGEST_OPTION)
        check_number("lam", self.lam, least=0, most=LARGEST_OPTION)
        check_choice("coefficient_step", self.coefficient_step, ["newton", "gradient"])
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, least=0, above=True)
        newton = self.coefficient_step == "newton"
        step = NewtonStep() if newton else GradientStep(self.alpha, self.learning_rate)
        rule: WeightRule = AdaptiveGamma()
        if isinstance(self.gamma, str):
            if self.gamma != "adaptive":
                raise InputError(f'gamma={self.gamma!r} is not known; give "adaptive" or a number of at least 0')
        else:
            check_number("gamma", self.gamma, least=0, most=LARGEST_OPTION)
            rule = FixedGamma(float(self.gamma))
        settings = JointSettings(self.alpha, self.lam, rule, step, self.max_iter, self.tol)
        fitted = self._train_joint(task, settings)
        return Run(fitted, fitted.trace.objective[-1])


def check_given(n_documents: int, covariates: Any, offset: Any, groups: Any = None) -> Given:
    """Check covariates (texts, columns), which are numbers, offset and groups; each may be None."""
    columns = np.zeros((n_documents, 0)) if covariates is None else _numbers("covariates", covariates)
    offsets = np.zeros(n_documents) if offset is None else _numbers("offset", offset)
    for name, values, n_axes in (("covariates", columns, 2), ("offset", offsets, 1)):
        if values.ndim != n_axes or len(values) != n_documents:
            shape = "(texts, columns)" if n_axes == 2 else "(texts,)"
            raise InputError(f"{name} has shape {values.shape}; it must be {shape}, for {n_documents} texts")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            place = "row {}, column {}".format(*bad[0]) if n_axes == 2 else f"row {bad[0][0]}"
            raise InputError(f"{name} must be finite numbers; the first that is not is in {place}")
    check_covariate_sizes(columns, [f"column {number}" for number in range(columns.shape[1])])
    return Given(columns, offsets, check_groups(groups, n_documents))
