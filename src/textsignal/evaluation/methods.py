"""The methods that are compared: from one split of the texts to predictions for those held out.

All but our own predict a mean and probabilities. Probabilities are made of predictions in the same way for every
method, by a GLM of the family on its predictions for training texts that it had not seen. So no method is blamed for a
scale that another response has, or for overconfidence in texts it knows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Lasso
from sklearn.preprocessing import normalize

from textsignal.arrays import Array, Vector
from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.evaluation.baselines import PENALTIES, FitPath, Predict, choose_penalty, ridge_path, squared_error
from textsignal.families import Family
from textsignal.reading.observed import Tokens
from textsignal.reading.options import MAX_RAW_TERMS, MAX_TERMS, N_TOPICS, own_stop_words
from textsignal.text.features import count_terms
from textsignal.text.tokens import TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.glm import ResponseModel, fit_glm
from textsignal.training.word_effects import WordProblem

#: Responses of at most this number of different values are spread evenly over all folds.
MOST_STRATA = 20
#: Folds of the training documents by which penalties are chosen.
INNER_FOLDS = 5
#: Fewest training documents of a word, or pair of words.
LEAST_DOCUMENTS = 2
#: Ridge penalties of GLMs, in units of the loss' curvature; those of the lasso, in units of the least at which all
#: coefficients are 0 on all training documents (at twice that they are 0 on a part of them too). Strongest first.
GLM_PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
LASSO_PARTS = (2.0, *np.logspace(-0.25, -3, 12).tolist())
LASSO_TOL, LASSO_STEPS = 1e-3, 1000
#: Most multiplicative updates of the NMF.
NMF_UPDATES = 200
#: Penalty of the GLM on predictions, which have a spread of 1: enough that no slope runs away.
SLOPE_PENALTY = 1e-2


def fold_numbers(units: NDArray[np.int64], responses: Vector, n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return (documents,) folds of about equal size.

    The largest units are dealt first, each to the fold with the fewest documents; units of equal size by their response
    if it has few values, and else at random.

    units : (documents,) numbers of what is not split, such as groups, or copies of a text; responses : (documents,).

    Examples
    --------
    >>> fold_numbers(np.array([0, 0, 1, 2, 3]), np.array([1.0, 0, 0, 1, 1]), n_folds=2, seed=0)
    array([0, 0, 1, 1, 0])
    """
    numbers, first, places, sizes = np.unique(units, return_index=True, return_inverse=True, return_counts=True)
    levels, strata = np.unique(responses, return_inverse=True)
    of_units = strata[first] if levels.size <= MOST_STRATA else np.zeros(numbers.size, dtype=np.int64)
    order = np.lexsort((np.random.default_rng(seed).permutation(numbers.size), of_units, -sizes))
    loads = [(0, fold) for fold in range(n_folds)]
    folds = np.empty(numbers.size, dtype=np.int64)
    for unit in order.tolist():
        documents, fold = loads[0]
        folds[unit] = fold
        heapq.heapreplace(loads, (documents + int(sizes[unit]), fold))
    return folds[places]


@dataclass(frozen=True, eq=False)
class ComparedTexts:
    """Documents, all of which have a response.

    tokens : input of our model; words : of all documents; ngrams : (documents, terms) counts of words and pairs of
    them.
    given : (documents,) responses as they were given; numbers : in numbers.
    units : (documents,) numbers of the units that are held out together.
    """

    tokens: Tokens
    words: TokenisedTexts
    ngrams: sp.csr_array
    given: NDArray[Any]
    numbers: Vector
    units: NDArray[np.int64]

    def split(self, left_out: NDArray[np.bool_], seed: int) -> Split:
        """Split documents into those to learn from and those to predict."""
        train, test = np.flatnonzero(~left_out), np.flatnonzero(left_out)
        units = self.units[train]
        if np.ptp(units) == 0:  # the only group to learn from is split
            units = self.tokens.at(train).first_copies()
        inner = fold_numbers(units, self.numbers[train], INNER_FOLDS, seed)
        return Split(self, train, test, inner)


@dataclass(frozen=True, eq=False)
class Split:
    """Documents to learn from, and documents to predict; inner : (training documents,) folds of the former."""

    documents: ComparedTexts
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    inner: NDArray[np.int64]

    @property
    def numbers(self) -> Vector:
        """(training documents,) responses in numbers."""
        return self.documents.numbers[self.train]

    def encoded(self, family: Family) -> Vector:
        """Return (training documents,) responses as a family encodes them."""
        return family.encode(self.documents.given[self.train])

    def ngrams(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return (documents, terms) TF-IDF of words and pairs of words, rows of norm 1, of training and of the others.

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
    """Predictions of a method for documents that it has not seen.

    mean : (documents,) expected response, or (documents, classes) the probability of each.
    family, eta : the predictive distribution.
    """

    mean: Vector
    family: Family
    eta: Vector


def fit_ours(split: Split, model: Any) -> Outcome:
    """Fit our model, by one thread."""
    fitted = clone(model).set_params(n_jobs=1)
    tokens = split.documents.tokens
    fitted.fit(tokens.at(split.train), split.documents.given[split.train])
    predictions = fitted.predictions(tokens.at(split.test))
    return Outcome(predictions.mean, predictions.family, predictions.eta)


@dataclass(frozen=True)
class Method:
    """A method to compare with: name in tables, label in sentences, description, and its fit.

    gives : what it gives in addition to predictions; of_classes : True if it takes classes without an order.
    """

    name: str
    label: str
    described: str
    gives: str
    fit: Callable[[Split, Family, Any], Outcome]
    of_classes: bool = True


def fit_mean(split: Split, family: Family, model: Any) -> Outcome:
    """Predict the training mean, and the best constant of the family."""
    nothing, new = np.zeros(len(split.train)), np.zeros(len(split.test))
    fitted = _with_probabilities(split, family, nothing, new)
    if family.n_predictors > 1:
        return fitted
    return Outcome(np.full(len(split.test), split.numbers.mean()), fitted.family, fitted.eta)


def fit_ridge(split: Split, family: Family, model: Any) -> Outcome:
    """Fit ridge regression."""
    return _linear(split, family, *split.ngrams(), ridge_path(), PENALTIES)


def fit_lasso(split: Split, family: Family, model: Any) -> Outcome:
    """Fit the lasso."""
    X, X_new = split.ngrams()
    least = float(np.abs(X.T @ (split.numbers - split.numbers.mean())).max()) / len(split.train)
    return _linear(split, family, X, X_new, _lasso_path, [least * part for part in LASSO_PARTS])


def fit_words(split: Split, family: Family, model: Any) -> Outcome:
    """Fit a ridge-penalised GLM of the family."""
    return _glm(split, family, *split.ngrams())


def fit_two_stage(split: Split, family: Family, model: Any) -> Outcome:
    """Learn topics without the response, then fit a GLM of the family to each document's shares of them."""
    stop_words, words = own_stop_words(model), split.documents.words
    vectorizer = TextVectorizer(MAX_RAW_TERMS, MAX_TERMS, stop_words=stop_words, weighting="count")
    train, test = words.at(split.train), words.at(split.test)
    counts, new_counts = vectorizer.fit_transform(train), vectorizer.transform(test)
    # The number that "auto" chooses is known only after a fit of themes.
    n_topics = N_TOPICS if isinstance(model.n_topics, str) else model.n_topics or N_TOPICS
    shares, new_shares, _ = topic_shares(counts, new_counts, n_topics=n_topics)
    return _glm(split, family, sp.csr_array(shares), sp.csr_array(new_shares))


def topic_shares(
    counts: sp.csr_array, new_counts: sp.csr_array, *, n_topics: int, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Return topic shares of documents, and of new ones, and (topics, terms) shares of terms, by KL-NMF of counts.

    Shares predict better than the weights themselves, which grow with the length of a text. Weights of training
    documents are inferred from the text alone, as those of new ones.
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
    """Return (documents, terms) counts of all words and pairs of neighbouring words."""
    return sp.csr_array(count_terms(words, frozenset(), range(1, 3))[0], dtype=float)


def _linear(
    split: Split, family: Family, X: sp.csr_array, X_new: sp.csr_array, path: FitPath, penalties: Sequence[float]
) -> Outcome:
    """A linear regression on columns, by the penalty that predicts held-out documents best.

    Its predictions enter the GLM for probabilities as they are. Through the link they had a worse log score on ratings,
    two values and overdispersed counts (by .002 to .1), and a better one (by .02) only on Poisson counts.
    """
    y = split.numbers
    chosen = choose_penalty(path, X, y, split.inner, penalties, squared_error)
    assert chosen is not None
    predicted = path(X, y)(chosen.penalty)(X_new)
    low, high = y.min(), y.max()
    fitted = _with_probabilities(split, family, chosen.unseen.clip(low, high), predicted.clip(low, high))
    return Outcome(predicted, fitted.family, fitted.eta)


def _lasso_path(X: sp.csr_array, y: Vector) -> Callable[[float], Predict]:
    lasso = Lasso(warm_start=True, tol=LASSO_TOL, max_iter=LASSO_STEPS)
    columns = sp.csc_array(X)
    return lambda penalty: lasso.set_params(alpha=penalty).fit(columns, y).predict


def _glm(split: Split, family: Family, X: sp.csr_array, X_new: sp.csr_array) -> Outcome:
    """A GLM on columns, by the penalty that predicts held-out documents best; with a simpler loss for some families."""
    simple, y = family.of_words, split.encoded(family)

    def loss(y: Vector, eta: Vector) -> float:
        return float(np.sum(simple.loss(y, eta)))

    chosen = choose_penalty(_glm_path(simple), X, y, split.inner, GLM_PENALTIES, loss)
    assert chosen is not None
    predicted = _glm_path(simple)(X, y)(chosen.penalty)(X_new)
    return _with_probabilities(split, family, chosen.unseen, predicted)


def _glm_path(family: Family) -> FitPath:
    def path(X: sp.csr_array, y: Vector) -> Callable[[float], Predict]:
        problem = WordProblem(X, y, np.ones(len(y)), 0.0, family)
        unit, last = problem.curvature, [problem.constant]

        def fit(penalty: float) -> Predict:
            last[0] = problem.fit_ridge(np.full(X.shape[1], penalty * unit), last[0])
            effects = last[0].reshape(X.shape[1] + 1, *(() if family.n_predictors == 1 else (-1,)))
            return lambda new: new @ effects[:-1] + effects[-1]

        return fit

    return path


def _with_probabilities(split: Split, family: Family, unseen: Vector, new: Vector) -> Outcome:
    """A GLM of the family on predictions: `unseen` of training documents by fits that held them out, `new` of others.

    unseen, new : (documents,), or (documents, P).
    """
    columns, others = (each.reshape(len(each), -1) for each in (unseen, new))
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    with local_compute(1) as compute:
        model = ResponseModel(family, compute, SLOPE_PENALTY, fit_intercept=True)
        fit = fit_glm(model, (columns - centre) / spread, split.encoded(family), np.ones(len(columns)))
    eta = fit.linear_predictor((others - centre) / spread)
    return Outcome(fit.family.mean(eta), fit.family, eta)


METHODS = (
    Method(
        "mean",
        "the mean",
        "the mean of training, or how often each class is, whatever the text",
        "nothing",
        fit_mean,
    ),
    Method(
        "ridge",
        "ridge",
        "ridge regression on words and pairs of words",
        "a number for each word and pair of words",
        fit_ridge,
        of_classes=False,
    ),
    Method(
        "lasso",
        "the lasso",
        "lasso on words and pairs of words",
        "a number for each word or pair of words that it keeps",
        fit_lasso,
        of_classes=False,
    ),
    Method(
        "GLM",
        "the GLM on words",
        "ridge-penalised GLM of the family on words and pairs of words",
        "a number for each word and pair of words",
        fit_words,
    ),
    Method(
        "two-stage",
        "two-stage",
        "topics by scikit-learn's NMF, then a GLM of the family on them",
        "topics and what each is worth, but not the tone in which texts speak of them",
        fit_two_stage,
    ),
)
