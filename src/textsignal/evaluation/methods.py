"""The methods that are compared: from one split of documents to predictions for those that were left out.

All but our own say two things of a document: a mean, and probabilities. Whatever a method predicts, probabilities are
made of it in the same way, by a GLM of the family on its predictions for training documents that it had not seen. So
none is blamed for a scale that another response has, or for being too sure of texts it knows.
"""

from __future__ import annotations

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
from textsignal.evaluation.folds import fold_numbers
from textsignal.families import Family
from textsignal.reading.observed import Tokens
from textsignal.reading.options import MAX_RAW_TERMS, MAX_TERMS, N_TOPICS, own_stop_words
from textsignal.text.counts import count_terms
from textsignal.text.tokens import TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.glm import ResponseModel, fit_glm
from textsignal.training.word_effects import WordProblem

#: Folds of the training documents that penalties are chosen by.
INNER_FOLDS = 5
#: A word, or pair of words, must be in so many training documents.
LEAST_DOCUMENTS = 2
#: Ridge penalties of GLMs, in units of the loss' curvature; those of the lasso, in units of the least that leaves
#: nothing of all training documents (twice that leaves nothing of a part of them either). Strongest first.
GLM_PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
LASSO_PARTS = (2.0, *np.logspace(-0.25, -3, 12).tolist())
LASSO_TOL, LASSO_STEPS = 1e-3, 1000
#: Multiplicative updates of the NMF, at most.
NMF_UPDATES = 200
#: Penalty of the GLM on predictions, which have a spread of 1: enough that no slope runs away.
SLOPE_PENALTY = 1e-2


@dataclass(frozen=True, eq=False)
class ComparedTexts:
    """Documents, all of which have a response.

    tokens : as our model takes them; words : with their words; ngrams : (documents, terms) counts of all words and
    pairs of them.
    given : (documents,) responses as they were given; numbers : in numbers.
    units : (documents,) numbers of what is left out together.
    """

    tokens: Tokens
    words: TokenisedTexts
    ngrams: sp.csr_array
    given: NDArray[Any]
    numbers: Vector
    units: NDArray[np.int64]

    def split(self, left_out: NDArray[np.bool_], seed: int) -> Split:
        """Parts to learn from and to predict."""
        train, test = np.flatnonzero(~left_out), np.flatnonzero(left_out)
        units = self.units[train]
        if np.ptp(units) == 0:  # one group is all there is to learn from, and is parted
            units = self.tokens.at(train).first_copies()
        inner = fold_numbers(units, self.numbers[train], INNER_FOLDS, seed)
        return Split(self, train, test, inner)


@dataclass(frozen=True, eq=False)
class Split:
    """Documents to learn from, and documents to predict; inner : (training documents,) their own folds."""

    documents: ComparedTexts
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    inner: NDArray[np.int64]

    @property
    def numbers(self) -> Vector:
        """(training documents,) responses in numbers."""
        return self.documents.numbers[self.train]

    def encoded(self, family: Family) -> Vector:
        """(training documents,) responses as a family encodes them."""
        return family.encode(self.documents.given[self.train])

    def ngrams(self) -> tuple[sp.csr_array, sp.csr_array]:
        """(documents, terms) TF-IDF of words and pairs of words, rows of norm 1: of training, and of the others.

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
    """What a method says of documents that it has not seen.

    mean : (documents,) expected response, or (documents, classes) the probability of each.
    family, eta : the predictive distribution.
    """

    mean: Vector
    family: Family
    eta: Vector


def fit_ours(split: Split, model: Any) -> Outcome:
    """Our model, by one thread."""
    fitted = clone(model).set_params(n_jobs=1)
    tokens = split.documents.tokens
    fitted.fit(tokens.at(split.train), split.documents.given[split.train])
    predictions = fitted.predictions(tokens.at(split.test))
    return Outcome(predictions.mean, predictions.family, predictions.eta)


@dataclass(frozen=True)
class Method:
    """name : in tables; label : in sentences; described : what it is; gives : beside predictions.

    of_classes : whether it takes classes without an order.
    """

    name: str
    label: str
    described: str
    gives: str
    fit: Callable[[Split, Family, Any], Outcome]
    of_classes: bool = True


def fit_mean(split: Split, family: Family, model: Any) -> Outcome:
    """The training mean, and the best constant of the family."""
    nothing, new = np.zeros(len(split.train)), np.zeros(len(split.test))
    fitted = _with_probabilities(split, family, nothing, new)
    if family.n_predictors > 1:
        return fitted
    return Outcome(np.full(len(split.test), split.numbers.mean()), fitted.family, fitted.eta)


def fit_ridge(split: Split, family: Family, model: Any) -> Outcome:
    """Ridge regression."""
    return _linear(split, family, *split.ngrams(), ridge_path(), PENALTIES)


def fit_lasso(split: Split, family: Family, model: Any) -> Outcome:
    """The lasso."""
    X, X_new = split.ngrams()
    least = float(np.abs(X.T @ (split.numbers - split.numbers.mean())).max()) / len(split.train)
    return _linear(split, family, X, X_new, _lasso_path, [least * part for part in LASSO_PARTS])


def fit_words(split: Split, family: Family, model: Any) -> Outcome:
    """A ridge-penalised GLM of the family."""
    return _glm(split, family, *split.ngrams())


def fit_two_stage(split: Split, family: Family, model: Any) -> Outcome:
    """Topics without the response, then a GLM of the family on each document's shares of them."""
    stop_words, words = own_stop_words(model), split.documents.words
    vectorizer = TextVectorizer(MAX_RAW_TERMS, MAX_TERMS, stop_words=stop_words, weighting="count")
    train, test = words.at(split.train), words.at(split.test)
    counts, new_counts = vectorizer.fit_transform(train), vectorizer.transform(test)
    # Which number "auto" takes is known after a fit of themes alone.
    n_topics = N_TOPICS if isinstance(model.n_topics, str) else model.n_topics or N_TOPICS
    shares, new_shares, _ = topic_shares(counts, new_counts, n_topics=n_topics)
    return _glm(split, family, sp.csr_array(shares), sp.csr_array(new_shares))


def topic_shares(
    counts: sp.csr_array, new_counts: sp.csr_array, *, n_topics: int, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Shares of documents, and of new ones, in scikit-learn's KL-NMF of counts; (topics, terms) shares of terms.

    Shares predict better than the weights themselves, which grow with the length of a text. Weights of training are
    found from the text alone too.
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
    """(documents, terms) counts of all words and pairs of neighbouring words."""
    return sp.csr_array(count_terms(words, frozenset(), range(1, 3))[0], dtype=float)


def _linear(
    split: Split, family: Family, X: sp.csr_array, X_new: sp.csr_array, path: FitPath, penalties: Sequence[float]
) -> Outcome:
    """A linear regression on columns, by the penalty that predicts left-out documents best.

    Its predictions enter the GLM for probabilities as they are. By the link they had a worse log score on ratings, two
    values and scattered counts (by .002 to .1), and a better one (by .02) on Poisson counts alone.
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
    """A GLM on columns, by the penalty that predicts left-out documents best; words have a simpler loss if need be."""
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
            found = last[0].reshape(X.shape[1] + 1, *(() if family.n_predictors == 1 else (-1,)))
            return lambda new: new @ found[:-1] + found[-1]

        return fit

    return path


def _with_probabilities(split: Split, family: Family, unseen: Vector, new: Vector) -> Outcome:
    """A GLM of the family on predictions: `unseen` of training documents by fits that left them out, `new` of others.

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
