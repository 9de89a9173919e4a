"""Responses of other kinds than stars, beside ridge-penalised GLMs on words: cells of `docs/responses.md`.

A cell is one line of the page, split and method, and gives one number: the larger, the better. Run by
`benchmarks/responses.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import responses_several
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV, PoissonRegressor, RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import textsignal as ts
from textsignal.estimators.predictions import r2_score
from textsignal.families import Family, NegativeBinomial, Poisson, deviance
from textsignal.reading.options import TOPIC_TERMS
from textsignal.training.word_effects import WordProblem

N_TOPICS, N_TERMS, SPLITS = 14, 2000, (0, 1, 2)
#: Penalties that peers are tuned over by cross-validation, and its folds.
STRENGTHS, ALPHAS, COUNT_ALPHAS, FOLDS = np.logspace(-1, 3, 9), np.logspace(-2, 3, 11), np.logspace(-5, 0, 11), 3
#: What covariates are multiplied by beside words, tuned with the penalty: one penalty is for both.
SIZES = (0.1, 0.3, 1.0)
#: Levels of a category with fewer training rows are one, "other".
RARE = 10
#: Names of peers: the first on the same terms as in the first table, the other on single words and pairs.
PEERS = ("2,000 terms", "1-2-grams")
OURS = "textsignal"


@dataclass(frozen=True)
class Sides:
    """Training and test rows of a table, and the number of the split."""

    train: pd.DataFrame
    test: pd.DataFrame
    split: int

    def texts(self) -> tuple[list[str], list[str]]:
        return self.train["text"].tolist(), self.test["text"].tolist()

    def of(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        return self.train[column].to_numpy(float), self.test[column].to_numpy(float)


def words(sides: Sides, peer: str) -> tuple[Any, Any]:
    """Training and test rows of norm 1."""
    train, test = sides.texts()
    if peer == PEERS[0]:
        counter = ts.TextVectorizer(TOPIC_TERMS[0], N_TERMS, weighting="count")
        return normalize(counter.fit_transform(train)), normalize(counter.transform(test))
    grams = TfidfVectorizer(ngram_range=(1, 2), min_df=3, sublinear_tf=True)
    return grams.fit_transform(train), grams.transform(test)


def recommended(sides: Sides, method: str) -> float:
    """Area under the ROC curve."""
    y, new_y = sides.of("recommended")
    if method == OURS:
        train, test = sides.texts()
        model = ts.TextResponseModel(N_TOPICS, n_jobs=1).fit(train, y)
        return float(roc_auc_score(new_y, model.predict_proba(test)[:, 1]))
    X, new = words(sides, method)
    logistic = LogisticRegressionCV(
        Cs=STRENGTHS, cv=FOLDS, scoring="roc_auc", max_iter=2000, l1_ratios=(0.0,), use_legacy_attributes=False
    )
    return float(roc_auc_score(new_y, logistic.fit(X, y).predict_proba(new)[:, 1]))


class RidgeGLM(BaseEstimator):
    """A ridge-penalised GLM of any family, by L-BFGS; alpha : of the mean loss, as scikit-learn's."""

    def __init__(self, family: Family, alpha: float = 1.0) -> None:
        self.family, self.alpha = family, alpha

    def fit(self, X: sp.csr_array, y: np.ndarray) -> RidgeGLM:
        problem = WordProblem(sp.csr_array(X), y, np.ones(len(y)), 0.0, self.family)

        def value_and_slope(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
            loss, slope = problem.loss_and_slope(coefficients)
            effects = np.append(coefficients[:-1], 0.0)
            return loss / len(y) + self.alpha / 2 * float(effects @ effects), slope / len(y) + self.alpha * effects

        options = {"maxiter": 1000, "ftol": 1e-10, "gtol": 1e-6}
        found = minimize(value_and_slope, problem.constant, jac=True, method="L-BFGS-B", options=options)
        self.coefficients_ = found.x
        return self

    def predict(self, X: sp.csr_array) -> np.ndarray:
        return self.family.mean(X @ self.coefficients_[:-1] + self.coefficients_[-1])

    def score(self, X: sp.csr_array, y: np.ndarray) -> float:
        return -deviance(self.family, y, self.family.link(self.predict(X)))


def votes(sides: Sides, method: str, family: str) -> float:
    """Share of the deviance explained; a negative binomial's with the dispersion of training counts, for all alike."""
    y, new_y = sides.of("positive_feedback_count")
    judge = Poisson() if family == "poisson" else NegativeBinomial().learn(y)
    if method == OURS:
        train, test = sides.texts()
        expected = ts.TextResponseModel(N_TOPICS, family=family, n_jobs=1).fit(train, y).predict(test)
    else:
        X, new = words(sides, method)
        glm = PoissonRegressor(max_iter=1000) if family == "poisson" else RidgeGLM(judge)
        scoring = "neg_mean_poisson_deviance" if family == "poisson" else None
        expected = GridSearchCV(glm, {"alpha": COUNT_ALPHAS}, cv=FOLDS, scoring=scoring).fit(X, y).predict(new)
    left, nothing = (deviance(judge, new_y, np.log(mean)) for mean in (expected, np.full(len(new_y), y.mean())))
    return 1 - left / nothing


def points(sides: Sides, method: str, given: bool) -> float:
    """R2; a Gaussian response."""
    y, new_y = sides.of("points")
    beside = covariates(sides) if given else (None, None)
    if method == OURS:
        train, test = sides.texts()
        model = ts.TextResponseModel(N_TOPICS, family="gaussian", n_jobs=1).fit(train, y, covariates=beside[0])
        return float(model.score(test, new_y, covariates=beside[1]))
    X, new = words(sides, method)
    fits = [(RidgeCV(ALPHAS, cv=FOLDS).fit(rows, y), new_rows) for rows, new_rows in with_columns(X, new, *beside)]
    best, rows = max(fits, key=lambda fit: fit[0].best_score_)
    return float(r2_score(new_y, best.predict(rows)))


def covariates(sides: Sides) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Logarithm of the price, whether it is missing (the median then), country and variety, rare ones as one."""
    median = np.log(sides.train["price"]).median()
    tables = []
    for table in (sides.train, sides.test):
        price = np.log(table["price"])
        columns = {"log_price": price.fillna(median), "no_price": price.isna().astype(float)}
        for name in ("country", "variety"):
            counts = sides.train[name].value_counts()
            columns[name] = table[name].where(table[name].isin(counts.index[counts >= RARE]), "other")
        tables.append(pd.DataFrame(columns))
    return tables[0], tables[1]


def with_columns(X: Any, new: Any, train: pd.DataFrame | None, test: pd.DataFrame | None) -> list[tuple[Any, Any]]:
    """Words and standardised covariates of several sizes."""
    if train is None or test is None:
        return [(X, new)]
    both = pd.get_dummies(pd.concat([train, test]), dtype=float).to_numpy()
    old = both[: len(train)]
    both = (both - old.mean(axis=0)) / np.where(old.std(axis=0) > 0, old.std(axis=0), 1)
    parts = [size * sp.csr_array(part) for size in SIZES for part in np.split(both, [len(train)])]
    rows = [sp.hstack([words, part]).tocsr() for words, part in zip([X, new] * len(SIZES), parts, strict=True)]
    return list(zip(rows[::2], rows[1::2], strict=True))


def missing(sides: Sides, method: str) -> float:
    """R2 of ratings by a tenth of the training responses; the split's number says which tenth."""
    (train, test), (y, new_y) = sides.texts(), sides.of("rating")
    known = np.random.default_rng(sides.split).permutation(len(y))[: len(y) // 10]
    holed = np.full(len(y), np.nan)
    holed[known] = y[known]
    if method != OURS:
        train, holed = [train[row] for row in known], y[known]
    model = ts.TextResponseModel(N_TOPICS, random_state=sides.split, n_jobs=1).fit(train, holed)
    return float(r2_score(new_y, model.predictions(test).mean))


@dataclass(frozen=True)
class Line:
    """A line of the page: its set, how a method's number is got, and other methods than ours."""

    name: str
    measure: str
    file: str
    number: Callable[[Sides, str], float]
    others: tuple[str, ...] = PEERS
    one_split: bool = False


CLOTHING, WINE, HOTEL = "clothing_reviews_22k", "wine_reviews_13k", "hotel_reviews_10k"
MISSING = "hotel: nine tenths of the ratings missing"
LINES = (
    Line("clothing: recommended", "AUC", CLOTHING, recommended),
    Line("clothing: feedback count, Poisson", "deviance explained", CLOTHING, partial(votes, family="poisson")),
    Line(
        "clothing: feedback count, negative binomial",
        "deviance explained",
        CLOTHING,
        partial(votes, family="negative-binomial"),
    ),
    Line("wine: points", "R2", WINE, partial(points, given=False)),
    Line("wine: points given price, country, variety", "R2", WINE, partial(points, given=True)),
    Line(MISSING, "R2", HOTEL, missing, ("the labelled tenth alone",), one_split=True),
)
SEVERAL = "hotel ratings: "


def cell(line: Line, split: int, method: str, folder: Path) -> float:
    table = pd.read_csv(folder / f"{line.file}.csv.gz").dropna(subset=["text"]).reset_index(drop=True)
    table = table.fillna({name: "unknown" for name in ("country", "variety") if name in table})
    order = np.random.default_rng(0 if line.one_split else split).permutation(len(table))
    train, test = (table.iloc[rows] for rows in np.split(order, [int(0.8 * len(table))]))
    with threadpool_limits(1):
        return line.number(Sides(train, test, split), method)


def cells() -> list[tuple[Line, int, str]]:
    return [(line, split, method) for line in LINES for split in SPLITS for method in (OURS, *line.others)]


def several(folder: Path) -> list[dict[str, Any]]:
    """Results of seven ratings at once, beside a fit of each alone."""
    found = responses_several.table(folder)
    return [
        {"line": f"{SEVERAL}{row.response}", "split": 0, "method": method, "value": value}
        for row in found.itertuples()
        for method, value in ((OURS, row.together_r2), ("alone", row.alone_r2))
    ]
