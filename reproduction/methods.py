"""Methods that the studies compare, each with one name, label and colour throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, RidgeCV

from reproduction.samples import Split
from textsignal.arrays import Vector
from textsignal.estimators import GLMNMF, JBNMF, TopicEstimator
from textsignal.evaluation.metrics import r2_score, rmse
from textsignal.families import Binomial

STARS = Binomial(n=4, lowest=1)
#: The paper's choice for its main sample.
N_TOPICS, ALPHA = 14, 0.05
#: Strengths of supervision in the paper's grid, and in a quick one.
ALPHAS, QUICK_ALPHAS = (0.01, 0.03, 0.05, 0.07, 0.1), (0.01, 0.05, 0.1)
#: Settings that the paper fixes. It leaves learning rate, start and ridge penalty open.
GAMMA, LAM, MAX_ITER, TOL = 400, 0.1, 500, 1e-4
#: Ridge penalties; leave-one-out error on the training side chooses one.
PENALTIES = np.logspace(-3, 3, 13)


@dataclass(frozen=True)
class Settings:
    """Settings of a fit; word-level methods ignore them."""

    n_topics: int = N_TOPICS
    alpha: float = ALPHA
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """Expected ratings of the training and the test side; `model` is None for word-level methods."""

    fitted: Vector
    predicted: Vector
    model: TopicEstimator | None = None


@dataclass(frozen=True)
class Method:
    """A method: its label, colour and marker on pages and figures, and its fit to a split."""

    label: str
    color: str
    marker: str
    fit: Callable[[Split, Settings], Outcome]


def regress(model: Any, split: Split) -> Outcome:
    """Fit a regression of scikit-learn on terms."""
    model.fit(split.X.toarray(), split.y)
    return Outcome(model.predict(split.X.toarray()), model.predict(split.X_test.toarray()))


def fit_published(
    split: Split, settings: Settings, *, learning_rate: float | None = None, uniform_start: bool = False
) -> Outcome:
    """Fit the paper's Algorithm 1, step for step.

    Parameters
    ----------
    split : Split
        Training and test side.
    settings : Settings
        Number of topics, alpha and seed.
    learning_rate : float, optional
        The paper leaves it open; None for the longest step that is safe for the data.
    uniform_start : bool
        True to draw weights and topics between 0 and 1, False to draw them on the scale of the text.
    """
    model = _jbnmf(settings)
    model.set_params(gamma=GAMMA, coefficient_step="gradient", learning_rate=learning_rate, init="random")
    W = H = None
    if uniform_start:
        rng = np.random.default_rng(settings.seed)
        W, H = rng.random((split.X.shape[0], settings.n_topics)), rng.random((settings.n_topics, split.X.shape[1]))
    return _outcome(model.fit(split.X, split.y, W=W, H=H), split.X_test)


def _fit_mean(split: Split, settings: Settings) -> Outcome:
    mean = split.y.mean()
    return Outcome(np.full(len(split.y), mean), np.full(len(split.y_test), mean))


def _fit_linear(split: Split, settings: Settings) -> Outcome:
    return regress(LinearRegression(), split)


def _fit_ridge(split: Split, settings: Settings) -> Outcome:
    return regress(RidgeCV(PENALTIES), split)


def _fit_joint(split: Split, settings: Settings) -> Outcome:
    """The paper's model with our defaults: adaptive gamma, Newton steps, a start from singular vectors."""
    return _outcome(_jbnmf(settings).fit(split.X, split.y), split.X_test)


def _fit_predictive(split: Split, settings: Settings) -> Outcome:
    """Predictive training with its defaults; it has no alpha."""
    model = GLMNMF(settings.n_topics, family=STARS, random_state=settings.seed, n_jobs=1)
    return _outcome(model.fit(split.counts, split.y), split.counts_test)


def _jbnmf(settings: Settings) -> JBNMF:
    return JBNMF(
        settings.n_topics,
        alpha=settings.alpha,
        lam=LAM,
        max_iter=MAX_ITER,
        tol=TOL,
        levels=(1, 5),
        random_state=settings.seed,
        n_jobs=1,
    )


def _outcome(model: TopicEstimator, X_test: object) -> Outcome:
    """As in the paper, training ratings use the weights of training, which saw the ratings; test ratings text alone."""
    eta = model.fitted_.linear_predictor(model.weights_)
    return Outcome(model.family_.mean(eta), model.predict(X_test), model)


METHODS = {
    "mean": Method("mean", "#999999", "s", _fit_mean),
    "linear": Method("linear regression", "#E69F00", "v", _fit_linear),
    "ridge": Method("ridge regression", "#009E73", "D", _fit_ridge),
    "published": Method("joint, as published", "#CC79A7", "P", fit_published),
    "joint": Method("joint, adaptive", "#0072B2", "o", _fit_joint),
    "predictive": Method("predictive", "#D55E00", "^", _fit_predictive),
}
BASELINES, JOINT, PREDICTIVE = ("mean", "linear", "ridge"), ("published", "joint"), ("predictive",)
#: Our methods by the option of the command line.
TRAININGS = {"joint": JOINT, "predictive": PREDICTIVE, "both": JOINT + PREDICTIVE}


def methods_for(training: str) -> tuple[str, ...]:
    """Return the methods to compare, baselines first."""
    return BASELINES + TRAININGS[training]


def label(method: str) -> str:
    """Return the label of a method on pages and figures."""
    return METHODS[method].label


def chosen(methods: Sequence[str], among: Sequence[str]) -> list[str]:
    """Return the methods of `among` that are to be run, in the order of `among`."""
    return [method for method in among if method in methods]


def scores(split: Split, outcome: Outcome) -> dict[str, float]:
    """Return R2 and RMSE on both sides, and the gap between the two R2."""
    train, test = r2_score(split.y, outcome.fitted), r2_score(split.y_test, outcome.predicted)
    return {
        "train_r2": train,
        "r2": test,
        "gap": train - test,
        "train_rmse": rmse(split.y, outcome.fitted),
        "rmse": rmse(split.y_test, outcome.predicted),
    }


def score_methods(split: Split, methods: Sequence[str], seed: int) -> list[dict[str, Any]]:
    """Return the scores of methods with the paper's settings, one row per method."""
    return [{"method": method, **scores(split, METHODS[method].fit(split, Settings(seed=seed)))} for method in methods]
