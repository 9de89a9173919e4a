"""JBNMF: the paper's model."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from textsignal.checks import LARGEST_OPTION, check_choice, check_number
from textsignal.compute.engines import Compute
from textsignal.errors import InputError
from textsignal.estimators.base import Task, TopicEstimator
from textsignal.families import Family, as_family
from textsignal.training.fitted import Run
from textsignal.training.glm import ResponseModel
from textsignal.training.joint import AdaptiveGamma, FixedGamma, GradientStep, JointSettings, NewtonStep, WeightRule


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
    init : "nndsvda", "random" or "nmf" (unsupervised training first). Restarts after the first start at random.
    n_init : number of starts; the one with the lowest objective is kept.
    levels : the rating scale, such as (1, 5); None learns it from the ratings.
    random_state : seed.
    n_jobs : threads; -1 for all cores. Results are the same bits for any number.

    A text of weight 2 (`sample_weight`) is equivalent to two copies of it, up to rounding; but a random start draws
    other weights for each copy, and an alpha of 5 or more amplifies rounding.

    Attributes
    ----------
    components_ : (topics, terms) topics.
    weights_ : (texts, topics) weights of the training texts at the end of training: they depend on the response, so
        `transform` gives others.
    coef_, intercept_ : effects and intercept (0).
    objective_, trace_ : objective after every iteration; all parts of it, from the start on.
    n_iter_, converged_, stop_reason_ : number of iterations, and why training stopped.
    levels_, family_ : the rating scale, and the family that holds it.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=400, n_terms=200, random_state=2)
    >>> model = JBNMF(n_topics=5, random_state=0).fit(corpus.counts, corpus.ratings)
    >>> model.components_.shape, model.coef_.shape
    ((5, 200), (5,))
    >>> bool((model.trace_["objective"].diff().dropna() <= 0).all())
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

    @property
    def asked_family(self) -> Family:
        """The binomial, as far as it is given."""
        return as_family("binomial", self.levels)

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
        settings = JointSettings(self.alpha, self.lam, _weight_rule(self.gamma), step, self.max_iter, self.tol)
        fitted = self._train_joint(task, settings)
        return Run(fitted, fitted.trace.objective[-1])

    def _response_model(self, family: Family, compute: Compute) -> ResponseModel:
        return ResponseModel(family, compute, self.lam, fit_intercept=False)


def _weight_rule(gamma: float | str) -> WeightRule:
    if gamma == "adaptive":
        return AdaptiveGamma()
    if isinstance(gamma, str):
        raise InputError(f'gamma={gamma!r} is not known; give "adaptive" or a number of at least 0')
    check_number("gamma", gamma, least=0, most=LARGEST_OPTION)
    return FixedGamma(float(gamma))
