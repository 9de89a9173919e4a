"""Data whose truth is known: corpora simulated as in the paper, synthetic reviews with planted aspects."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from numbers import Integral, Real

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, logit

from textsignal import _review_aspects as grammar
from textsignal._review_aspects import Aspect
from textsignal.errors import InputError

__all__ = ["Aspect", "SimulatedCorpus", "SyntheticReviews", "simulate_corpus", "synthetic_reviews"]

Array = NDArray[np.float64]
Rows = slice | Sequence[int] | NDArray[np.bool_ | np.int64] | None
Seed = int | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class SimulatedCorpus:
    """A corpus drawn from known topics and effects.

    Attributes
    ----------
    counts : csr_array, documents x terms
        How often each term occurs in each document; a document may be empty.
    ratings : ndarray of int, documents
        Observed ratings, 1 to `n_levels`.
    terms : tuple of str
        Names of the terms.
    weights : ndarray, documents x topics
        True topic proportions W; rows sum to one.
    topics : ndarray, topics x terms
        True term distributions H; rows sum to one.
    effects : ndarray, topics
        True coefficients beta on the log odds.
    probability : ndarray, documents
        True p = sigmoid(W beta), the chance of each level above the first.
    n_levels : int
        Number of rating levels.
    """

    counts: sp.csr_array
    ratings: NDArray[np.int64]
    terms: tuple[str, ...]
    weights: Array
    topics: Array
    effects: Array
    probability: Array
    n_levels: int

    @property
    def expected_ratings(self) -> Array:
        """True mean of each rating, 1 + (n_levels - 1) p."""
        return 1 + (self.n_levels - 1) * self.probability

    def ceiling(self, rows: Rows = None) -> float:
        """R2 of the true expected ratings on `rows` (all by default): the most a model can hope for."""
        return _r_squared(self.ratings, self.expected_ratings, rows)

    def texts(self) -> list[str]:
        """Return the documents as text: each term's name as often as it occurs, in order of the terms."""
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
    n_documents, n_terms, n_topics : int
        Size of the corpus and of its truth, each at least 1.
    mean_length : float
        Mean number of tokens of a document, above 0.
    topic_sparsity, term_sparsity : float
        Dirichlet concentrations, above 0; the smaller, the fewer topics a document and terms a topic has.
    effect_sd : float
        Standard deviation of the effects; 0 makes ratings independent of the text.
    n_levels : int
        Number of rating levels, at least 2.
    random_state : int, Generator or None
        Seed of the draw; the same seed gives the same corpus.

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
    _check_integer("n_documents", n_documents, at_least=1)
    _check_integer("n_terms", n_terms, at_least=1)
    _check_integer("n_topics", n_topics, at_least=1)
    _check_integer("n_levels", n_levels, at_least=2)
    _check_positive("mean_length", mean_length)
    _check_positive("effect_sd", effect_sd, or_zero=True)
    rng = _generator("random_state", random_state)

    topics = _dirichlet(rng, (n_topics, n_terms), "term_sparsity", term_sparsity)
    weights = _dirichlet(rng, (n_documents, n_topics), "topic_sparsity", topic_sparsity)
    counts = _draw_counts(rng, rng.poisson(mean_length, n_documents), weights, topics)
    effects = rng.normal(0, effect_sd, n_topics)
    probability = expit(weights @ effects)
    ratings = 1 + rng.binomial(n_levels - 1, probability)

    width = max(4, len(str(n_terms - 1)))
    terms = tuple(f"term{j:0{width}d}" for j in range(n_terms))
    return SimulatedCorpus(counts, ratings, terms, weights, topics, effects, probability, n_levels)


def _dirichlet(rng: np.random.Generator, shape: tuple[int, int], name: str, concentration: float) -> Array:
    """Rows of a symmetric Dirichlet, refused when double precision cannot hold them."""
    _check_positive(name, concentration)
    rows = rng.dirichlet(np.full(shape[1], float(concentration)), size=shape[0])
    if not np.allclose(rows.sum(axis=1), 1):
        raise InputError(f"{name} must be within double precision, got {concentration!r}; try 1e-4 to 1e4")
    return rows


def _draw_counts(rng: np.random.Generator, lengths: NDArray[np.int64], weights: Array, topics: Array) -> sp.csr_array:
    """Draw Multinomial(length, w H) for each document without ever holding w H.

    A token of w H is a topic drawn from w, then a term drawn from that topic. So it is enough to draw how
    many tokens each topic gives a document, then their terms: memory is one topic's tokens, not documents x
    terms.
    """
    n_documents, n_terms = len(weights), topics.shape[1]
    counts = sp.csr_array((n_documents, n_terms))
    for tokens, topic in zip(rng.multinomial(lengths, weights).T, topics, strict=True):
        documents = np.repeat(np.arange(n_documents, dtype=np.int32), tokens)
        drawn = rng.choice(n_terms, size=len(documents), p=topic).astype(np.int32)
        counts += sp.coo_array((np.ones(len(drawn)), (documents, drawn)), shape=counts.shape).tocsr()
    return counts


@dataclass(frozen=True, eq=False)
class SyntheticReviews:
    """Synthetic hotel reviews: nobody wrote them, and what moves their ratings is known.

    Attributes
    ----------
    texts : list of str
        The reviews.
    ratings : ndarray of int, documents
        Stars, 1 to 5.
    aspects : tuple of Aspect
        What the reviews talk about, with the planted effect and share of each.
    mentions : ndarray of bool, documents x aspects
        Which review talks about which aspect.
    probability : ndarray, documents
        True chance of each star above the first, the reviewer's mood included.
    """

    texts: list[str]
    ratings: NDArray[np.int64]
    aspects: tuple[Aspect, ...]
    mentions: NDArray[np.bool_]
    probability: Array

    @property
    def expected_ratings(self) -> Array:
        """True mean of each rating, 1 + 4 p."""
        return 1 + 4 * self.probability

    def ceiling(self, rows: Rows = None) -> float:
        """R2 of the true expected ratings on `rows` (all by default).

        The mood is not in the text; without it the ceiling is about .01 lower.
        """
        return _r_squared(self.ratings, self.expected_ratings, rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the reviews as a table with the columns `review` and `rating`."""
        return pd.DataFrame({"review": self.texts, "rating": self.ratings})


def synthetic_reviews(n: int = 2000, seed: Seed = 0) -> SyntheticReviews:
    """Write synthetic hotel reviews with planted aspects.

    The reviews are synthetic: a grammar of this package writes them, no person did, and they describe no
    real hotel. Each talks about one to five of eleven aspects; some raise the rating, some lower it, some
    are common and neutral, and two are rare and strong. With m_a = 1 where aspect a is mentioned, else 0::

        eta    = intercept + sum_a effect_a m_a + mood,     mood ~ Normal(0, 0.25^2)
        rating = 1 + Binomial(4, sigmoid(eta))

    Parameters
    ----------
    n : int
        Number of reviews, at least 1.
    seed : int, Generator or None
        Seed of the draw; the same seed gives the same reviews.

    Returns
    -------
    SyntheticReviews
        Texts and ratings together with the truth behind them.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(n=50)
    >>> reviews.to_frame().columns.tolist()
    ['review', 'rating']
    >>> [aspect.name for aspect in reviews.aspects if aspect.effect == 0]
    ['location and transport', 'business trip', 'room furniture']
    """
    _check_integer("n", n, at_least=1)
    rng = _generator("seed", seed)
    aspects = grammar.ASPECTS
    mentions = _draw_mentions(rng, n, aspects)
    mood = rng.normal(0, grammar.MOOD_SD, n)
    probability = expit(grammar.INTERCEPT + mentions @ np.array([a.effect for a in aspects]) + mood)
    ratings = 1 + rng.binomial(4, probability)
    texts = [_write_review(rng, [aspects[a] for a in np.flatnonzero(row)]) for row in mentions]
    return SyntheticReviews(texts, ratings, aspects, mentions, probability)


def _draw_mentions(rng: np.random.Generator, n: int, aspects: tuple[Aspect, ...]) -> NDArray[np.bool_]:
    """Draw n sets of one to five aspects that do not contradict each other, each aspect at its planted share.

    A set's log probability is, up to a constant, the sum of its aspects' scores; each score is moved until
    the aspect's share is met. Of all distributions with these shares, this one has the greatest entropy.
    """
    sets = np.array(list(product([False, True], repeat=len(aspects))))
    sizes = sets.sum(axis=1)
    allowed = (sizes >= 1) & (sizes <= 5)
    for one, other in grammar.CONTRADICTIONS:
        allowed &= ~(sets[:, aspects.index(one)] & sets[:, aspects.index(other)])
    sets = sets[allowed]

    shares = np.array([aspect.share for aspect in aspects])
    scores = logit(shares)
    for _ in range(100):
        chance = np.exp(sets @ scores)
        chance /= chance.sum()
        scores += logit(shares) - logit(chance @ sets)
    return sets[rng.choice(len(sets), size=n, p=chance)]


class _Dealer:
    """Deals from tuples of phrases in random order, none of them twice before all have been dealt."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._decks: dict[tuple[str, ...], Iterator[str]] = {}

    def deal(self, phrases: tuple[str, ...]) -> str:
        if phrases not in self._decks:
            self._decks[phrases] = cycle([phrases[i] for i in self._rng.permutation(len(phrases))])
        return next(self._decks[phrases])

    def sentence(self, templates: tuple[str, ...], words: grammar.Words) -> str:
        """Deal a template and fill each of its `{slots}`."""
        return re.sub(r"\{(\w+)\}", lambda slot: self.deal(words[slot[1]]), self.deal(templates))


def _write_review(rng: np.random.Generator, aspects: list[Aspect]) -> str:
    """Write one or two sentences an aspect, in random order, between an opening and a closing."""
    dealer = _Dealer(rng)
    sentences: list[str] = []
    for aspect, repeats in _plan(rng, aspects):
        for _ in range(repeats):
            sentence = dealer.sentence(aspect.sentences, aspect.words)
            if sentences and rng.random() < 0.15:
                sentence = f"{dealer.sentence(grammar.CONNECTORS, grammar.FILLER_WORDS)} {sentence}"
            sentences.append(sentence)
    if len(aspects) < 3 or rng.random() < 0.5:
        sentences.insert(0, dealer.sentence(grammar.OPENINGS, grammar.FILLER_WORDS))
    if len(aspects) < 3 or rng.random() < 0.3:
        sentences.append(dealer.sentence(grammar.CLOSINGS, grammar.FILLER_WORDS))
    marks = np.where(rng.random(len(sentences)) < 0.07, "!", ".")
    text = " ".join(f"{s[0].upper()}{s[1:]}{mark}" for s, mark in zip(sentences, marks, strict=True))
    return f"{text} {dealer.deal(grammar.EMOJI)}" if rng.random() < 0.04 else text


def _plan(rng: np.random.Generator, aspects: list[Aspect]) -> list[tuple[Aspect, int]]:
    """Put the aspects in random order, each with its number of sentences: two for the strongest."""
    size = len(aspects)
    # At most six sentences keep a review of five aspects readable.
    n_twice = rng.integers(size == 1, min(size, 2, 6 - size), endpoint=True)
    strongest = sorted(aspects, key=lambda aspect: -abs(aspect.effect))[:n_twice]
    return [(aspects[i], 2 if aspects[i] in strongest else 1) for i in rng.permutation(size)]


def _r_squared(observed: NDArray[np.int64], predicted: Array, rows: Rows) -> float:
    """1 - residual / total sum of squares on the given rows."""
    chosen = slice(None) if rows is None else rows
    y, mean = observed[chosen], predicted[chosen]
    total = np.sum((y - y.mean()) ** 2) if len(y) else 0.0
    if total == 0:
        raise InputError(f"rows must select at least two different ratings, got {len(y)} rows of one rating")
    return float(1 - np.sum((y - mean) ** 2) / total)


def _check_integer(name: str, value: int, *, at_least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} must be an integer of at least {at_least}, got {value!r}")


def _check_positive(name: str, value: float, *, or_zero: bool = False) -> None:
    usable = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or value < 0 or (value == 0 and not or_zero):
        bound = "of at least 0" if or_zero else "above 0"
        raise InputError(f"{name} must be a finite number {bound}, got {value!r}")


def _generator(name: str, seed: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an integer from 0 on, a Generator or None, got {seed!r}") from error
