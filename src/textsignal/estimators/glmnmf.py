"""GLMNMF: topics that explain the text and a response of any family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from textsignal.checks import LARGEST_OPTION, check_choice, check_number
from textsignal.compute.engines import Compute
from textsignal.errors import InputError
from textsignal.estimators.base import Task, TopicEstimator
from textsignal.families import Family, as_family, best_constant, check_trainable, null_deviance
from textsignal.training.corpus import Corpus, distinct_documents
from textsignal.training.draws import document_keys
from textsignal.training.fitted import FittedTopics, Run, fit_on_text
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import Inference
from textsignal.training.joint import AdaptiveGamma, JointSettings, NewtonStep, unit_topics
from textsignal.training.predictive import PredictiveSettings, scale_rows, train_predictive
from textsignal.training.start import FINE_TOPICS
from textsignal.training.word_effects import fit_word_effects

#: Of predictive training: how much a topic is drawn to the corpus' profile, and the first learning rate.
PRIOR, LEARNING_RATE = 0.003, 0.1
#: Default penalties. Predictive training fits effects and topics together, and needs more.
DEFAULT_PENALTIES = {"joint": 0.1, "predictive": 3.0}
#: Deviance of a text, on average, below which its response is explained but for rounding.
LEAST_SPREAD = 1e-12
#: Default tolerance of joint training.
DEFAULT_TOL = 1e-4


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
        and whose lengths it uses. "joint": weights are free in training and depend on the response (the paper). Effects
        are refitted in the end on weights that follow from the terms alone, as a new text's do.
    supervision : weight of the response against the text; 0 gives topics that ignore the response.
    penalty : on the squared effects, in units of the family's linear predictor (1 for logits and logarithms, standard
        deviations of a Gaussian response); None takes 0.1 for joint and 3 for predictive training.
    fit_intercept : True if the linear predictor has a constant.
    smoothing, thinning, max_epochs, batch_size : of predictive training: what keeps weights off zero, as a share of
        the mean row total; share of a long text's terms dropped at random in each step; passes over the texts; maximum
        number of texts in a step.
    word_residual : True if single words may add to the linear predictor beyond the topics. Their effects are sparse,
        fitted last, and separate (`word_effects_`), which shows how much of the skill is due to the topics.
    max_iter : of joint training: maximum number of iterations.
    tol : of joint training: relative change of the objective below which it stops; None takes 1e-4. Predictive
        training runs all its epochs, with steps that become shorter down to 0.
    init : "nndsvda", "random" or "nmf" (unsupervised training first). Restarts after the first start at random.
    n_init : number of starts; the one with the lowest objective is kept. Predictive training compares starts by
        whole texts and unchanged responses, under one supervision.
    levels : the response's scale, such as (1, 5) or (1, 5, 0.5), where `family` leaves it open; None learns it. Ordered
        text, such as ["low", "mid", "high"], has no other way to tell its order.
    random_state : seed.
    n_jobs : threads; -1 for all cores. Results are the same bits for any number.

    A text of weight 2 (`sample_weight`) is equivalent to two copies of it: joint training gives the same bits, for
    texts in any order, unless starting weights W are given; predictive training the same up to rounding.

    Attributes
    ----------
    components_ : (topics, terms) topics, each summing to 1.
    weights_ : (texts, topics) weights of the training texts, from their terms alone.
    coef_, intercept_ : effects (topics,) and intercept; of three classes or more, each but the first has its own
        against it: (classes - 1, topics) and (classes - 1,).
    word_effects_ : (terms,) effects of single words beyond the topics; all 0 without `word_residual`.
    alpha_ : the supervision on the scale of the paper's alpha.
    objective_, trace_ : objective after every iteration; all parts of it, from the start on.
    n_iter_ : iterations of joint, epochs of predictive training.
    stop_reason_ : why training stopped: "converged", "max_iter", "callback" or, for predictive training, "all 20
        epochs done".
    converged_ : True if training stopped because the objective converged; never for predictive training.
    levels_, classes_, family_ : the response's scale or classes, and the family that holds it.

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
        training: str = "predictive",
        supervision: float = 0.5,
        penalty: float | None = None,
        fit_intercept: bool = True,
        smoothing: float = 1.0,
        thinning: float = 0.4,
        max_epochs: int = 20,
        batch_size: int = 200,
        word_residual: bool = False,
        max_iter: int = 500,
        tol: float | None = None,
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
        self.smoothing = smoothing
        self.thinning = thinning
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.word_residual = word_residual
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.n_init = n_init
        self.levels = levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def asked_family(self) -> Family:
        """The family, as far as it is given."""
        return as_family(self.family, self.levels)

    def _train(self, task: Task) -> Run:
        check_choice("training", self.training, ["joint", "predictive"])
        check_number("supervision", self.supervision, least=0, most=LARGEST_OPTION)
        if self.penalty is not None:
            check_number("penalty", self.penalty, least=0, most=LARGEST_OPTION)
        if self.word_residual:
            check_trainable(task.family, "word_residual")
        run = self._train_predictively(task) if self.training == "predictive" else self._train_jointly(task)
        return replace(run, fitted=self._with_word_effects(run.fitted, task)) if self.word_residual else run

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
        inference = Inference(unit_topics(fitted.topics))
        fit = fit_on_text(corpus, inference, self._response_model(family, task.compute))
        return Run(fit.model(fitted.trace, fitted.reason), fitted.trace.objective[-1])

    def _response_model(self, family: Family, compute: Compute) -> ResponseModel:
        return ResponseModel(family, compute, self._penalty_of(family), self.fit_intercept)

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
            penalty=self._penalty_of(task.family) / corpus.weight.sum(),
            fit_intercept=self.fit_intercept,
            smoothing=self.smoothing / corpus.mean_size,
            prior=PRIOR,
            thinning=self.thinning,
            learning_rate=LEARNING_RATE,
            max_epochs=self.max_epochs,
            batch_size=self.batch_size,
            seed=task.seed,
        )
        # Topics are merged by their effects, of which there must be one.
        finer = task.H is None and 1 < self.n_topics < FINE_TOPICS and task.family.n_predictors == 1
        topics = self._start(starting, self.n_topics, unsupervised=True).topics
        fine = self._start(starting, FINE_TOPICS, unsupervised=True).topics if finer else None
        return train_predictive(corpus, length, task.family, topics, fine, settings, task.compute, task.watch)

    def _with_word_effects(self, fitted: FittedTopics, task: Task) -> FittedTopics:
        corpus = task.corpus
        rows = fitted.inference.rows(corpus.X)
        assert fitted.weights is not None
        given = corpus.all_given.linear_predictor(fitted.covariate_effects)
        eta = fitted.linear_predictor(fitted.weights) + given
        effects = fit_word_effects(rows, corpus.y, corpus.weight, eta, task.family, document_keys(rows))
        return replace(fitted, word_effects=effects)

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
            "covariates and offset explain the response completely, so that nothing is left for the text to explain; "
            "leave out those that follow from the response, or give more documents than covariates"
        )
    return spread
