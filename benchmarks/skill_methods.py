"""The methods that `benchmarks/skill.py` compares: from one split of a set to predictions, and topics if there are any.

Every method sees the same terms, except ridge on 1-2-grams, which counts its own. All have 14 topics, seed 0 and one
thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import scipy.sparse as sp
from skill_data import Split
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.preprocessing import normalize

import textsignal as ts
from textsignal.evaluation.methods import topic_shares
from textsignal.families import Binomial

N_TOPICS, SEED = 14, 0
#: Ridge penalties, those of the paper's studies; five folds of the training part choose one.
PENALTIES = np.logspace(-3, 3, 13)
#: Inverse penalties of the binomial GLM, tried on a fifth of the training part.
GLM_STRENGTHS = np.logspace(-2, 4, 13)
TOMOTOPY_SWEEPS, TOPICA_ITERATIONS = 500, 25
SUPERVISIONS = (0.2, 0.5, 1.0, 3.0)


@dataclass(frozen=True)
class Outcome:
    """predicted : (test documents,) expected responses; topics : (topics, terms) shares of terms, or None."""

    predicted: np.ndarray
    topics: np.ndarray | None = None


@dataclass(frozen=True)
class Method:
    """name : for the command line; label : for the page; own_terms : whether it ignores the number of terms."""

    name: str
    label: str
    run: Callable[[Split], Outcome]
    own_terms: bool = False


def mean(split: Split) -> Outcome:
    return Outcome(np.full(len(split.test.y), split.train.y.mean()))


def linear(split: Split) -> Outcome:
    return Outcome(LinearRegression().fit(split.train.tfidf, split.train.y).predict(split.test.tfidf))


def ridge(X: sp.csr_matrix, y: np.ndarray, X_test: sp.csr_matrix) -> Outcome:
    return Outcome(RidgeCV(PENALTIES, cv=5).fit(X, y).predict(X_test))


def ridge_paper(split: Split) -> Outcome:
    return ridge(split.train.tfidf, split.train.y, split.test.tfidf)


def ridge_l2(split: Split) -> Outcome:
    return ridge(split.train.l2, split.train.y, split.test.l2)


def ridge_ngrams(split: Split) -> Outcome:
    counter = CountVectorizer(ngram_range=(1, 2), min_df=2, dtype=np.float64)
    X = normalize(counter.fit_transform(split.train.texts))
    return ridge(X, split.train.y, normalize(counter.transform(split.test.texts)))


def binomial_l2(split: Split) -> Outcome:
    return Outcome(binomial_glm(split.train.l2, split.train.y, split.test.l2, split.scale))


def two_stage(split: Split) -> Outcome:
    """KL-NMF of counts, then the binomial GLM on each document's shares of topics, from text alone on both sides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        shares, new_shares, topics = topic_shares(split.train.counts, split.test.counts, n_topics=N_TOPICS, seed=SEED)
    X, X_test = sp.csr_matrix(shares), sp.csr_matrix(new_shares)
    return Outcome(binomial_glm(X, split.train.y, X_test, split.scale), topics)


def binomial_glm(X: sp.csr_matrix, y: np.ndarray, X_test: sp.csr_matrix, scale: Binomial) -> np.ndarray:
    """Expected responses under a ridge-penalised binomial GLM; the last fifth of training chooses the penalty."""
    encoded = scale.encode(y)
    cut = int(0.8 * len(y))

    def held_out_loss(strength: float) -> float:
        model = binomial_fit(X[:cut], encoded[:cut], scale.n, strength)
        return scale.loss(encoded[cut:], model.decision_function(X[cut:])).sum()

    best = min(GLM_STRENGTHS, key=held_out_loss)
    return scale.mean(binomial_fit(X, encoded, scale.n, best).decision_function(X_test))


def binomial_fit(X: sp.csr_matrix, encoded: np.ndarray, n: int, strength: float) -> LogisticRegression:
    """Every document once as a success and once as a failure: exactly the binomial likelihood, divided by n."""
    labels = np.repeat([1, 0], len(encoded))
    weight = np.concatenate([encoded, n - encoded]) / n
    return LogisticRegression(C=strength, max_iter=1000).fit(sp.vstack([X, X], format="csr"), labels, weight)


def tomotopy_slda(split: Split) -> Outcome:
    import tomotopy

    centre, spread = split.train.y.mean(), split.train.y.std()
    model = tomotopy.SLDAModel(k=N_TOPICS, vars=["l"], seed=SEED)
    for words, y in zip(tokens(split.train.counts, split.terms), split.train.y, strict=True):
        model.add_doc(words, [(y - centre) / spread])  # it leaves empty documents out
    model.train(TOMOTOPY_SWEEPS, workers=1)
    documents = tokens(split.test.counts, split.terms)
    known = np.array([len(words) > 0 for words in documents])
    new = [model.make_doc(words) for words in documents if words]
    model.infer(new, workers=1)
    predicted = np.full(len(documents), centre)
    predicted[known] += spread * np.ravel(model.estimate(new))
    topics = np.array([model.get_topic_word_dist(k) for k in range(N_TOPICS)])
    return Outcome(predicted, in_columns(topics, model.used_vocabs, split.terms))


def topica_slda(split: Split) -> Outcome:
    import topica

    centre, spread = split.train.y.mean(), split.train.y.std()
    documents, new = tokens(split.train.counts, split.terms), tokens(split.test.counts, split.terms)
    taught, known = (np.array([len(words) > 0 for words in side]) for side in (documents, new))
    model = topica.SupervisedLDA(N_TOPICS, seed=SEED)
    model.fit(
        [words for words in documents if words],
        (split.train.y[taught] - centre) / spread,
        iters=TOPICA_ITERATIONS,
        keep_theta_draws=False,
        num_threads=1,
        progress=False,
    )
    predicted = np.full(len(new), centre)
    predicted[known] += spread * np.asarray(model.predict([words for words in new if words]))
    return Outcome(predicted, in_columns(np.asarray(model.topic_word), model.vocabulary, split.terms))


def tokens(counts: sp.csr_matrix, terms: np.ndarray) -> list[list[str]]:
    """The words of every document, in the order of columns."""
    words, ends = np.repeat(terms[counts.indices], counts.data.astype(int)), np.cumsum(counts.sum(axis=1)).astype(int)
    return [part.tolist() for part in np.split(words, np.ravel(ends)[:-1])]


def in_columns(topics: np.ndarray, vocabulary: list[str], terms: np.ndarray) -> np.ndarray:
    """Topics over a package's own vocabulary as topics over our terms."""
    column = {term: j for j, term in enumerate(terms)}
    placed = np.zeros((len(topics), len(terms)))
    placed[:, [column[word] for word in vocabulary]] = topics
    return placed


def ours(split: Split, *, training: str, supervision: float) -> Outcome:
    model = ts.GLMNMF(
        N_TOPICS, training=training, supervision=supervision, family=split.scale, random_state=SEED, n_jobs=1
    )
    X, X_test = (
        (split.train.tfidf, split.test.tfidf) if training == "joint" else (split.train.counts, split.test.counts)
    )
    model.fit(X, split.train.y)
    return Outcome(model.predict(X_test), model.components_)


@cache
def warm_up() -> None:
    """Compile our kernels, so that no method's time holds it."""
    reviews = ts.datasets.synthetic_reviews(300, seed=0)
    for training, weighting in (("joint", "tfidf"), ("predictive", "count")):
        X = ts.TextVectorizer(weighting=weighting).fit_transform(reviews.texts)
        ts.GLMNMF(N_TOPICS, training=training, n_jobs=1).fit(X, reviews.ratings).predict(X)


def predictive(supervision: float) -> Method:
    run = partial(ours, training="predictive", supervision=supervision)
    return Method(f"predictive-{supervision:g}", f"textsignal predictive, supervision {supervision:g}", run)


METHODS = (
    Method("mean", "mean of training responses", mean, own_terms=True),
    Method("linear", "linear on the paper's X", linear),
    Method("ridge-paper", "ridge on the paper's X", ridge_paper),
    Method("ridge-l2", "ridge on l2 X", ridge_l2),
    Method("binomial-l2", "binomial GLM, ridge penalty, on l2 X", binomial_l2),
    Method("ridge-ngrams", "ridge on all 1-2-grams", ridge_ngrams, own_terms=True),
    Method("two-stage", "two-stage: NMF, then GLM", two_stage),
    Method("tomotopy", "tomotopy sLDA", tomotopy_slda),
    Method("topica", "topica SupervisedLDA", topica_slda),
    Method("joint", "textsignal joint", partial(ours, training="joint", supervision=ts.GLMNMF().supervision)),
    *map(predictive, SUPERVISIONS),
)
