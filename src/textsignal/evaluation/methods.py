"""Simpler methods to compare our model with: from texts and responses to predictions for others.

In a comparison all but our own predict a mean and probabilities. Probabilities are made of predictions in the same way
for every method, by a GLM of the family on its predictions for training texts that it had not seen. So no method is
blamed for a scale that another response has, or for overconfidence in texts it knows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.dummy import DummyRegressor
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import normalize

from textsignal.arrays import Array, Flags, Rows, Vector
from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.reading.options import N_THEMES, TOPIC_TERMS, own_stop_words
from textsignal.text.features import count_terms
from textsignal.text.tokens import SentenceTexts, TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.glm import ResponseModel, fit_glm
from textsignal.training.word_effects import WordProblem

#: Predictions of a fit for new texts, (texts, terms) -> (texts, ...).
Predict = Callable[[sp.csr_array], Vector]
#: Fits texts and their responses with one penalty after another, with a warm start if it can.
FitPath = Callable[[sp.csr_array, Vector], Callable[[float], Predict]]
#: Of responses and predictions.
Loss = Callable[[Vector, Vector], float]

#: Ridge penalties, strongest first.
PENALTIES = (100.0, 31.6, 10.0, 3.16, 1.0, 0.316, 0.1, 0.0316, 0.01)
#: Ridge penalties of GLMs, in units of the loss' curvature; those of the lasso, in units of the least at which all
#: coefficients are 0 on all training texts (at twice that they are 0 on a part of them too). Strongest first.
GLM_PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
LASSO_PARTS = (2.0, *np.logspace(-0.25, -3, 12).tolist())
#: Folds by which penalties are chosen: of a report's baselines, and of the training texts of a comparison.
FOLDS, INNER_FOLDS = 3, 5
#: Tolerances of ridge and linear regression, relative to the right-hand side, and of the lasso with its most steps.
RIDGE_TOL, LINEAR_TOL, LASSO_TOL, LASSO_STEPS = 1e-3, 1e-6, 1e-3, 1000
#: Responses of at most this number of different values are spread evenly over all folds.
MOST_STRATA = 20
#: Fewest training texts of a word, or pair of words; most multiplicative updates of the NMF.
LEAST_DOCUMENTS, NMF_UPDATES = 2, 200
#: Penalty of the GLM on predictions, which have a spread of 1: enough that no slope runs away.
SLOPE_PENALTY = 1e-2


def fit_baselines(X: sp.csr_array, y: Vector) -> dict[str, Any]:
    """Fit ridge and linear regression on terms, and the mean: name -> fitted regression; y has no missing values."""
    return {
        "ridge": fit_ridge(X, y),
        "linear": LinearRegression(tol=LINEAR_TOL).fit(X, y),
        "mean": DummyRegressor().fit(X, y),
    }


def fit_ridge(X: sp.csr_array, y: Vector) -> Any:
    """Fit ridge regression, its penalty chosen by cross-validation; equal rows are in one fold."""
    rows = [X.indices[start:end].tobytes() + X.data[start:end].tobytes() for start, end in pairwise(X.indptr.tolist())]
    numbers, distinct = pd.factorize(np.array(rows, dtype=object))
    folds = numbers * FOLDS // len(distinct)
    return _ridge(choose_penalty(_ridge_path, X, y, folds, PENALTIES, mean_squared_error)[0]).fit(X, y)


def choose_penalty(
    fit_path: FitPath, X: sp.csr_array, y: Vector, folds: Rows, penalties: Sequence[float], loss: Loss
) -> tuple[float, Vector]:
    """Return the penalty that predicts held-out folds best, and (texts, ...) its predictions out of fold.

    Penalties are tried, the strongest first, until the loss rises; it is the strongest if there is one fold. A search
    over all by scikit-learn would fit the weaker ones too, which take longest.
    """
    sides = [(folds == fold, fit_path(X[folds != fold], y[folds != fold])) for fold in np.unique(folds)]
    best, least = (penalties[0], np.full(len(y), np.nan)), np.inf
    for penalty in penalties if len(sides) > 1 else ():
        predictions = [(held_out, fit(penalty)(X[held_out])) for held_out, fit in sides]
        unseen = np.empty((len(y), *predictions[0][1].shape[1:]))
        for held_out, predicted in predictions:
            unseen[held_out] = predicted
        lost = loss(y, unseen)
        if lost > least:
            break
        best, least = (penalty, unseen), lost
    return best


def _ridge(penalty: float) -> Any:
    return Ridge(penalty, solver="sparse_cg", tol=RIDGE_TOL)


def _ridge_path(X: sp.csr_array, y: Vector) -> Callable[[float], Predict]:
    return lambda penalty: _ridge(penalty).fit(X, y).predict


def _lasso_path(X: sp.csr_array, y: Vector) -> Callable[[float], Predict]:
    lasso = Lasso(warm_start=True, tol=LASSO_TOL, max_iter=LASSO_STEPS)
    columns = sp.csc_array(X)
    return lambda penalty: lasso.set_params(alpha=penalty).fit(columns, y).predict


def _glm_path(family: Family, X: sp.csr_array, y: Vector) -> Callable[[float], Predict]:
    problem = WordProblem(X, y, np.ones(len(y)), 0.0, family)
    last = problem.constant

    def fit(penalty: float) -> Predict:
        nonlocal last
        last = problem.fit_ridge(np.full(X.shape[1], penalty * problem.curvature), last)
        effects = last.reshape(X.shape[1] + 1, *(() if family.n_predictors == 1 else (-1,)))
        return lambda new: new @ effects[:-1] + effects[-1]

    return fit


def fold_numbers(units: Rows, responses: Vector, n_folds: int, seed: int) -> Rows:
    """Return (texts,) folds of about equal size; units : (texts,) numbers of groups, or copies of a text, not split.

    The largest units are assigned first, each to the fold with the fewest texts; units of equal size by their response
    if it has few values, and else at random.
    """
    numbers, first, places, sizes = np.unique(units, return_index=True, return_inverse=True, return_counts=True)
    levels, strata = np.unique(responses, return_inverse=True)
    of_units = strata[first] if levels.size <= MOST_STRATA else np.zeros(numbers.size, dtype=np.int64)
    order = np.lexsort((np.random.default_rng(seed).permutation(numbers.size), of_units, -sizes))
    loads = [(0, fold) for fold in range(n_folds)]
    folds = np.empty(numbers.size, dtype=np.int64)
    for unit in order.tolist():
        n_texts, fold = loads[0]
        folds[unit] = fold
        heapq.heapreplace(loads, (n_texts + int(sizes[unit]), fold))
    return folds[places]


@dataclass(frozen=True, eq=False)
class ComparedTexts:
    """Texts, all of which have a response.

    tokens : input of our model; ngrams : (texts, terms) counts of `count_ngrams`; units : as of `fold_numbers`.
    given, numbers : (texts,) original responses, and as numbers.
    """

    tokens: SentenceTexts
    words: TokenisedTexts
    ngrams: sp.csr_array
    given: NDArray[Any]
    numbers: Vector
    units: Rows

    def split(self, left_out: Flags, seed: int) -> Split:
        """Split texts into those to learn from and those to predict."""
        train, test = np.flatnonzero(~left_out), np.flatnonzero(left_out)
        units, numbers = self.units[train], self.numbers[train]
        if np.ptp(units) == 0:  # the only group to learn from is split
            units = self.tokens.at(train).first_copies()
        return Split(self, train, test, fold_numbers(units, numbers, INNER_FOLDS, seed), numbers)


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of the texts to learn from and to predict; inner, numbers : (training texts,) folds and responses."""

    documents: ComparedTexts
    train: Rows
    test: Rows
    inner: Rows
    numbers: Vector

    def encoded(self, family: Family) -> Vector:
        """Return (training texts,) responses as a family encodes them."""
        return family.encode(self.documents.given[self.train])

    def ngrams(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return (texts, terms) TF-IDF of words and pairs of words, rows of norm 1, of training and of the others.

        On three sets of reviews ridge has an R2 that is .004 to .035 higher by TF-IDF than by counts.
        """
        counts = self.documents.ngrams[self.train]
        kept = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= LEAST_DOCUMENTS)
        if not kept.size:
            raise InputError(f"no word is in {LEAST_DOCUMENTS} of the texts, so there is nothing to learn from")
        weighed = TfidfTransformer().fit(counts[:, kept])
        train, test = (weighed.transform(self.documents.ngrams[rows][:, kept]) for rows in (self.train, self.test))
        return sp.csr_array(train), sp.csr_array(test)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions for new texts: mean (texts,), or probabilities (texts, classes), and their distribution."""

    mean: Vector
    family: Family
    eta: Vector


@dataclass(frozen=True)
class Method:
    """A method of a comparison: name in tables, label in sentences, and what it gives in addition to predictions.

    fit : from the texts, the family of ours (None before it is known) and our model to predictions.
    of_classes : label for a response of classes without an order; "" if not applicable; plural : of the label.
    """

    name: str
    label: str
    described: str
    gives: str
    fit: Callable[[Split, Any, Any], Outcome]
    of_classes: str = ""
    plural: bool = False

    @property
    def named(self) -> str:
        """The label at the beginning of a sentence."""
        return self.label[0].upper() + self.label[1:]

    def verb(self, one: str, many: str) -> str:
        """Return the form of a verb for the label."""
        return many if self.plural else one


def _fit_ours(split: Split, family: Family | None, model: Any) -> Outcome:
    """Our model, with one thread."""
    fitted = clone(model).set_params(n_jobs=1)
    tokens = split.documents.tokens
    fitted.fit(tokens.at(split.train), split.documents.given[split.train])
    predictions = fitted.predictions(tokens.at(split.test))
    return Outcome(predictions.mean, predictions.family, predictions.eta)


def _fit_mean(split: Split, family: Family, model: Any) -> Outcome:
    """The training mean, and the best constant of the family."""
    fitted = _with_probabilities(split, family, np.zeros(len(split.train)), np.zeros(len(split.test)))
    if family.n_predictors > 1:
        return fitted
    return Outcome(np.full(len(split.test), split.numbers.mean()), fitted.family, fitted.eta)


def _fit_lasso(split: Split, family: Family, model: Any) -> Outcome:
    X, X_new = split.ngrams()
    least = float(np.abs(X.T @ (split.numbers - split.numbers.mean())).max()) / len(split.train)
    return _linear(split, family, X, X_new, _lasso_path, [least * part for part in LASSO_PARTS])


def _fit_two_stage(split: Split, family: Family, model: Any) -> Outcome:
    """Topics without the response, then a GLM of the family on each text's shares of them."""
    stop_words, words = own_stop_words(model.language, model.stop_words), split.documents.words
    vectorizer = TextVectorizer(*TOPIC_TERMS, stop_words=stop_words, weighting="count")
    train, test = words.at(split.train), words.at(split.test)
    counts, new_counts = vectorizer.fit_transform(train), vectorizer.transform(test)
    # The number that "auto" chooses is known only after a fit of themes.
    n_topics = N_THEMES if isinstance(model.n_themes, str) else model.n_themes or N_THEMES
    shares, new_shares, _ = topic_shares(counts, new_counts, n_topics=n_topics)
    return _glm(split, family, sp.csr_array(shares), sp.csr_array(new_shares))


def topic_shares(
    counts: sp.csr_array, new_counts: sp.csr_array, *, n_topics: int, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Return topic shares of texts, and of new ones, and (topics, terms) shares of terms, by KL-NMF of counts.

    Shares predict better than the weights themselves, which grow with the length of a text. Weights of training
    texts are inferred from the text alone, as those of new ones.
    """
    nmf = NMF(
        min(n_topics, *counts.shape),
        init="nndsvda",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=NMF_UPDATES,
        random_state=seed,
    ).fit(counts)
    mass = nmf.components_.sum(axis=1)
    shares, new_shares = (normalize(nmf.transform(side) * mass, norm="l1") for side in (counts, new_counts))
    return shares, new_shares, nmf.components_ / mass[:, None]


def count_ngrams(words: TokenisedTexts) -> sp.csr_array:
    """Return (texts, terms) counts of all words and pairs of neighbouring words."""
    return sp.csr_array(count_terms(words, frozenset(), range(1, 3))[0], dtype=float)


def _linear(
    split: Split, family: Family, X: sp.csr_array, X_new: sp.csr_array, path: FitPath, penalties: Sequence[float]
) -> Outcome:
    """A linear regression on columns, by the penalty that predicts held-out texts best.

    Its predictions enter the GLM for probabilities untransformed. Through the link they had a worse log score on
    ratings, two values and overdispersed counts (by .002 to .1), and a better one (by .02) only on Poisson counts.
    """
    y = split.numbers
    penalty, unseen = choose_penalty(path, X, y, split.inner, penalties, mean_squared_error)
    predicted, low, high = path(X, y)(penalty)(X_new), y.min(), y.max()
    fitted = _with_probabilities(split, family, unseen.clip(low, high), predicted.clip(low, high))
    return Outcome(predicted, fitted.family, fitted.eta)


def _glm(split: Split, family: Family, X: sp.csr_array, X_new: sp.csr_array) -> Outcome:
    """A GLM on columns, by the penalty that predicts held-out texts best; with a simpler loss for some families."""
    simple, y = family.of_words, split.encoded(family)

    def loss(y: Vector, eta: Vector) -> float:
        return float(np.sum(simple.loss(y, eta)))

    path = partial(_glm_path, simple)
    penalty, unseen = choose_penalty(path, X, y, split.inner, GLM_PENALTIES, loss)
    return _with_probabilities(split, family, unseen, path(X, y)(penalty)(X_new))


def _with_probabilities(split: Split, family: Family, unseen: Vector, new: Vector) -> Outcome:
    """A GLM of the family on predictions (texts,) or (texts, P), `unseen` of training texts, out of fold."""
    columns, others = (each.reshape(len(each), -1) for each in (unseen, new))
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    with local_compute(1) as compute:
        model = ResponseModel(family, compute, SLOPE_PENALTY, fit_intercept=True)
        fit = fit_glm(model, (columns - centre) / spread, split.encoded(family), np.ones(len(columns)))
    eta = fit.linear_predictor((others - centre) / spread)
    return Outcome(fit.family.mean(eta), fit.family, eta)


#: Our model's name among methods, and the method.
OURS = "textsignal"
OUR_METHOD = Method(
    name=OURS,
    label="themes and tone",
    described="themes and tone",
    gives="the themes of texts, their tone, and their costs and gains",
    fit=_fit_ours,
    of_classes="themes and tone",
    plural=True,
)
_OF_EACH_WORD = "a number for each word and pair of words"
#: Methods to compare ours with.
METHODS = (
    Method(
        name="mean",
        label="the mean",
        described="the mean of training, or how often each class is, whatever the text",
        gives="nothing",
        fit=_fit_mean,
        of_classes="how often classes are",
    ),
    Method(
        name="ridge",
        label="ridge",
        described="ridge regression on words and pairs of words",
        gives=_OF_EACH_WORD,
        fit=lambda split, family, model: _linear(split, family, *split.ngrams(), _ridge_path, PENALTIES),
    ),
    Method(
        name="lasso",
        label="the lasso",
        described="lasso on words and pairs of words",
        gives="a number for each word or pair of words that it keeps",
        fit=_fit_lasso,
    ),
    Method(
        name="GLM",
        label="the GLM on words",
        described="ridge-penalised GLM of the family on words and pairs of words",
        gives=_OF_EACH_WORD,
        fit=lambda split, family, model: _glm(split, family, *split.ngrams()),
        of_classes="the GLM on words",
    ),
    Method(
        name="two-stage",
        label="two-stage",
        described="topics by scikit-learn's NMF, then a GLM of the family on them",
        gives="topics and their effects, but not the tone of their mentions",
        fit=_fit_two_stage,
        of_classes="two-stage",
    ),
)
