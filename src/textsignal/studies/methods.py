"""The methods that studies compare, with one name, label and colour each throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, RidgeCV

from textsignal.arrays import Vector
from textsignal.estimators import GLMNMF, JBNMF
from textsignal.estimators.base import TopicEstimator
from textsignal.estimators.skill import r2_score, rmse
from textsignal.studies.samples import STARS, Split

#: The paper's choice for its main sample.
N_TOPICS, ALPHA = 14, 0.05
#: Strengths of supervision that it tries, and fewer of them.
ALPHAS, QUICK_ALPHAS = (0.01, 0.03, 0.05, 0.07, 0.1), (0.01, 0.05, 0.1)
#: What the paper fixes. It leaves the learning rate, the start and the ridge penalty open.
GAMMA, LAM, MAX_ITER, TOL = 400, 0.1, 500, 1e-4
#: Ridge penalties, of which leave-one-out error on the training side chooses.
PENALTIES = np.logspace(-3, 3, 13)


@dataclass(frozen=True)
class Settings:
    """What a fit depends on beside the data; word-level methods ignore it."""

    n_topics: int = N_TOPICS
    alpha: float = ALPHA
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """fitted, predicted : (training, test documents) ratings expected; model : None for word-level methods."""

    fitted: Vector
    predicted: Vector
    model: TopicEstimator | None = None


@dataclass(frozen=True)
class Method:
    """label : on figures and pages; color : the same on all of them; fit : from a split to an outcome."""

    label: str
    color: str
    fit: Callable[[Split, Settings], Outcome]


def fit_mean(split: Split, settings: Settings) -> Outcome:
    """The training mean for every document."""
    centre = split.y.mean()
    return Outcome(np.full(len(split.y), centre), np.full(len(split.y_test), centre))


def fit_linear(split: Split, settings: Settings) -> Outcome:
    """Unregularised linear regression on terms, the solution of least norm where there are several."""
    return regress(LinearRegression(), split)


def fit_ridge(split: Split, settings: Settings) -> Outcome:
    """Ridge regression on terms."""
    return regress(RidgeCV(PENALTIES), split)


def regress(model: Any, split: Split) -> Outcome:
    """A regression of scikit-learn's on terms."""
    model.fit(split.X.toarray(), split.y)
    return Outcome(model.predict(split.X.toarray()), model.predict(split.X_test.toarray()))


def fit_published(
    split: Split, settings: Settings, *, learning_rate: float | None = None, uniform_start: bool = False
) -> Outcome:
    """The paper's Algorithm 1, step for step.

    It leaves two things open. learning_rate : None is one that is safe for the data. uniform_start : whether weights
    and topics are drawn between 0 and 1 and not on the scale of the text.
    """
    model = _papers_model(settings)
    model.set_params(gamma=GAMMA, coefficient_step="gradient", learning_rate=learning_rate, init="random")
    W = H = None
    if uniform_start:
        rng = np.random.default_rng(settings.seed)
        W, H = rng.random((split.X.shape[0], settings.n_topics)), rng.random((settings.n_topics, split.X.shape[1]))
    return _outcome(model.fit(split.X, split.y, W=W, H=H), split.X_test)


def fit_joint(split: Split, settings: Settings) -> Outcome:
    """The paper's model with our defaults: adaptive gamma, Newton steps, a start from singular vectors."""
    return _outcome(_papers_model(settings).fit(split.X, split.y), split.X_test)


def _papers_model(settings: Settings) -> JBNMF:
    """What the paper says about its model, with our defaults for how it is trained."""
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


def fit_predictive(split: Split, settings: Settings) -> Outcome:
    """Predictive training with its defaults; alpha plays no part."""
    model = GLMNMF(settings.n_topics, family=STARS, random_state=settings.seed, n_jobs=1)
    return _outcome(model.fit(split.counts, split.y), split.counts_test)


def _outcome(model: TopicEstimator, X_test: object) -> Outcome:
    """Training ratings from the weights that training left, as the paper takes them; test ratings from text alone."""
    eta = model.fitted_.linear_predictor(model.weights_)
    return Outcome(model.family_.mean(eta), model.predict(X_test), model)


METHODS = {
    "mean": Method("mean", "#999999", fit_mean),
    "linear": Method("linear regression", "#E69F00", fit_linear),
    "ridge": Method("ridge regression", "#009E73", fit_ridge),
    "published": Method("joint, as published", "#CC79A7", fit_published),
    "joint": Method("joint, adaptive", "#0072B2", fit_joint),
    "predictive": Method("predictive", "#D55E00", fit_predictive),
}
BASELINES, JOINT, PREDICTIVE = ("mean", "linear", "ridge"), ("published", "joint"), ("predictive",)
#: Our methods by what the user asks for.
TRAININGS = {"joint": JOINT, "predictive": PREDICTIVE, "both": JOINT + PREDICTIVE}


def methods_for(training: str) -> tuple[str, ...]:
    """Names of the methods to compare, baselines first."""
    return BASELINES + TRAININGS[training]


def label(method: str) -> str:
    """A method's name for people."""
    return METHODS[method].label


def scores(split: Split, outcome: Outcome) -> dict[str, float]:
    """R2 and RMSE on both sides, and the gap between the two R2."""
    train, test = r2_score(split.y, outcome.fitted), r2_score(split.y_test, outcome.predicted)
    return {
        "train_r2": train,
        "r2": test,
        "gap": train - test,
        "train_rmse": rmse(split.y, outcome.fitted),
        "rmse": rmse(split.y_test, outcome.predicted),
    }


def chosen(methods: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Those of `wanted` that are to be run, in the order of `wanted`."""
    return [method for method in wanted if method in methods]
