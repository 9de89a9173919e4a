"""Corpora simulated as in the paper, together with the truth behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import r2_score

from textsignal.arrays import Vector
from textsignal.errors import InputError

Rows = slice | Sequence[int] | NDArray[np.bool_ | np.int64] | None
Seed = int | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class SimulatedCorpus:
    """A corpus drawn from known topics and effects.

    Attributes
    ----------
    counts : (documents, terms) occurrences of each term in each document; a document may be empty.
    ratings : (documents,) observed ratings, 1 to `n_levels`.
    terms : names of the terms.
    weights : (documents, topics) true topic proportions W; rows sum to one.
    topics : (topics, terms) true term distributions H; rows sum to one.
    effects : (topics,) true coefficients beta on the log odds.
    probability : (documents,) true p = sigmoid(W beta), the chance of each level above the first.
    n_levels : number of rating levels.
    """

    counts: sp.csr_array
    ratings: NDArray[np.int64]
    terms: tuple[str, ...]
    weights: Vector
    topics: Vector
    effects: Vector
    probability: Vector
    n_levels: int

    @property
    def expected_ratings(self) -> Vector:
        """True mean of each rating, 1 + (n_levels - 1) p."""
        return 1 + (self.n_levels - 1) * self.probability

    def ceiling(self, rows: Rows = None) -> float:
        """R2 of the true expected ratings on `rows` (all by default): the best a model can reach."""
        return r_squared(self.ratings, self.expected_ratings, rows)

    def texts(self) -> list[str]:
        """Return the documents as text: each term's name repeated by its count, in order of the terms."""
        names = np.array(self.terms, dtype=object)
        tokens = np.repeat(names[self.counts.indices], self.counts.data.astype(np.int64))
        ends = np.cumsum(self.counts.sum(axis=1)).astype(np.int64)
        return [" ".join(document) for document in np.split(tokens, ends[:-1])]


def simulate_corpus(
    n_documents: int = 5000,
    n_terms: int = 2000,
    n_topics: int = 5,
    *,
    mean_length: float = 30,
    topic_sparsity: float = 0.05,
    term_sparsity: float = 0.01,
    effect_sd: float = 2.0,
    n_levels: int = 5,
    random_state: Seed = 0,
) -> SimulatedCorpus:
    """Draw a corpus and its ratings from the paper's data-generating process.

    With K topics and V terms, for topic k and document d::

        h_k    ~ Dirichlet(term_sparsity, ..., term_sparsity)       over V terms
        w_d    ~ Dirichlet(topic_sparsity, ..., topic_sparsity)     over K topics
        L_d    ~ Poisson(mean_length)
        x_d    ~ Multinomial(L_d, w_d H)
        beta_k ~ Normal(0, effect_sd^2)
        Y_d    ~ Binomial(n_levels - 1, sigmoid(w_d beta)),         rating = Y_d + 1

    The defaults are the paper's baseline. The text is drawn before effects and ratings, so corpora of one
    `random_state` that differ only in `effect_sd` or `n_levels` have the same text.

    Parameters
    ----------
    n_documents, n_terms, n_topics : size of the corpus and of its truth, each at least 1.
    mean_length : mean number of tokens of a document, above 0.
    topic_sparsity, term_sparsity : Dirichlet concentrations, above 0; the smaller, the fewer topics a document and
        terms a topic has.
    effect_sd : standard deviation of the effects; 0 makes ratings independent of the text.
    n_levels : number of rating levels, at least 2.
    random_state : seed of the draw, or a Generator; the same seed gives the same corpus.

    Returns
    -------
    SimulatedCorpus
        Counts and ratings together with the truth behind them.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from textsignal.datasets import simulate_corpus
    >>> corpus = simulate_corpus(n_documents=200, n_terms=50, n_topics=3)
    >>> corpus.counts.shape, corpus.topics.shape
    ((200, 50), (3, 50))
    >>> 0 < corpus.ceiling() < 1
    True
    """
    check_integer("n_documents", n_documents, at_least=1)
    check_integer("n_terms", n_terms, at_least=1)
    check_integer("n_topics", n_topics, at_least=1)
    check_integer("n_levels", n_levels, at_least=2)
    check_positive("mean_length", mean_length)
    check_positive("effect_sd", effect_sd, or_zero=True)
    rng = generator("random_state", random_state)

    topics = _dirichlet(rng, (n_topics, n_terms), "term_sparsity", term_sparsity)
    weights = _dirichlet(rng, (n_documents, n_topics), "topic_sparsity", topic_sparsity)
    counts = _draw_counts(rng, rng.poisson(mean_length, n_documents), weights, topics)
    effects = rng.normal(0, effect_sd, n_topics)
    probability = expit(weights @ effects)
    ratings = 1 + rng.binomial(n_levels - 1, probability)

    width = max(4, len(str(n_terms - 1)))
    terms = tuple(f"term{j:0{width}d}" for j in range(n_terms))
    return SimulatedCorpus(counts, ratings, terms, weights, topics, effects, probability, n_levels)


def _dirichlet(rng: np.random.Generator, shape: tuple[int, int], name: str, concentration: float) -> Vector:
    """Rows of a symmetric Dirichlet; InputError if double precision cannot represent them."""
    check_positive(name, concentration)
    rows = rng.dirichlet(np.full(shape[1], float(concentration)), size=shape[0])
    if not np.allclose(rows.sum(axis=1), 1):
        raise InputError(f"{name} must be within double precision, got {concentration!r}; try 1e-4 to 1e4")
    return rows


def _draw_counts(rng: np.random.Generator, lengths: NDArray[np.int64], weights: Vector, topics: Vector) -> sp.csr_array:
    """Draw Multinomial(length, w H) for each document: numbers of tokens by topic, then a term for each token.

    Memory is the tokens of one topic, not documents x terms.
    """
    n_documents, n_terms = len(weights), topics.shape[1]
    counts = sp.csr_array((n_documents, n_terms))
    for tokens, topic in zip(rng.multinomial(lengths, weights).T, topics, strict=True):
        documents = np.repeat(np.arange(n_documents, dtype=np.int32), tokens)
        drawn = rng.choice(n_terms, size=len(documents), p=topic).astype(np.int32)
        counts += sp.coo_array((np.ones(len(drawn)), (documents, drawn)), shape=counts.shape).tocsr()
    return counts


def r_squared(observed: NDArray[np.int64], predicted: Vector, rows: Rows) -> float:
    """R2 on the given rows, which must hold different ratings."""
    chosen = slice(None) if rows is None else rows
    y = observed[chosen]
    if len(np.unique(y)) < 2:
        raise InputError(f"rows must select at least two different ratings, got {len(y)} rows of one rating")
    return float(r2_score(y, predicted[chosen]))


def check_integer(name: str, value: int, *, at_least: int) -> None:
    """Raise unless `value` is a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} must be an integer of at least {at_least}, got {value!r}")


def check_positive(name: str, value: float, *, or_zero: bool = False) -> None:
    """Raise unless `value` is a finite number above 0, or 0 where that is allowed."""
    usable = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or value < 0 or (value == 0 and not or_zero):
        bound = "of at least 0" if or_zero else "above 0"
        raise InputError(f"{name} must be a finite number {bound}, got {value!r}")


def generator(name: str, seed: Seed) -> np.random.Generator:
    """Make the generator of a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an integer from 0 on, a Generator or None, got {seed!r}") from error
