"""Samples of reviews that studies read, and their splits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.datasets import SimulatedCorpus
from textsignal.families import Binomial
from textsignal.text.vectorise import TextVectorizer

#: The paper's vocabulary: terms by frequency, and of these by summed TF-IDF.
MAX_RAW_TERMS, MAX_TERMS = 2000, 500
TRAINING_SHARE = 0.8
STARS = Binomial(n=4, lowest=1)


@dataclass(frozen=True, eq=False)
class Sample:
    """Reviews with ratings of 1 to 5.

    name : what the sample is called on the page, such as the name of its file.
    texts, ratings : (documents,) each.

    Examples
    --------
    >>> from textsignal.studies import Sample
    >>> sample = Sample("reviews.csv", ("a fine stay", "cold soup"), np.array([4.0, 2.0]))
    >>> len(sample), sample.median_words
    (2, 2.5)
    """

    name: str
    texts: tuple[str, ...]
    ratings: Vector

    def __len__(self) -> int:
        return len(self.texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self.digest == other.digest

    def __hash__(self) -> int:
        """The same for copies in other processes, so that what is made of a sample can be kept there."""
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """Names the data: other texts or ratings have another."""
        found = hashlib.sha256(self.ratings.tobytes())
        for text in self.texts:
            found.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
        return found.hexdigest()[:16]

    @cached_property
    def median_words(self) -> float:
        """Median number of words."""
        return float(np.median([len(text.split()) for text in self.texts]))

    def training_side(self, seed: int) -> Sample:
        """The documents that `split_sample` trains on, as a sample of their own: to choose settings within them."""
        rows, _ = split_rows(len(self), seed)
        return self._at(rows)

    def drawn(self, n: int, seed: int) -> Sample:
        """`n` reviews drawn without replacement, in their order; all of them where there are no more."""
        if n >= len(self):
            return self
        return self._at(np.sort(np.random.default_rng(seed).choice(len(self), n, replace=False)))

    def _at(self, rows: NDArray[np.int64]) -> Sample:
        return Sample(self.name, tuple(self.texts[i] for i in rows), self.ratings[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test side of the same documents.

    X, X_test : (documents, terms) what word-level regression and joint training read.
    counts, counts_test : (documents, terms) of the same terms, what predictive training reads.
    y, y_test : (documents,) ratings.
    terms : (terms,) names.
    """

    X: sp.csr_array
    X_test: sp.csr_array
    counts: sp.csr_array
    counts_test: sp.csr_array
    y: Vector
    y_test: Vector
    terms: NDArray[np.str_]


def split_sample(
    sample: Sample, seed: int, max_terms: int = MAX_TERMS, stop_words: str | Iterable[str] | None = "english"
) -> Split:
    """The sample's split of this seed: 80% training, terms and document frequencies from the training side alone."""
    train, test = split_rows(len(sample), seed)
    sides = [[sample.texts[i] for i in rows] for rows in (train, test)]
    # As the paper does, texts are read as they are, with what HTML is in them.
    tfidf = TextVectorizer(MAX_RAW_TERMS, max_terms, stop_words=stop_words, strip_markup=False)
    count = TextVectorizer(MAX_RAW_TERMS, max_terms, stop_words=stop_words, strip_markup=False, weighting="count")
    return Split(
        X=tfidf.fit_transform(sides[0]),
        X_test=tfidf.transform(sides[1]),
        counts=count.fit_transform(sides[0]),
        counts_test=count.transform(sides[1]),
        y=sample.ratings[train],
        y_test=sample.ratings[test],
        terms=tfidf.terms_,
    )


def split_corpus(corpus: SimulatedCorpus) -> tuple[Split, NDArray[np.int64]]:
    """A simulated corpus' split of seed 0, on its counts, and the rows of the test side."""
    train, test = split_rows(len(corpus.ratings), 0)
    counts, counts_test = corpus.counts[train].astype(float), corpus.counts[test].astype(float)
    y = corpus.ratings.astype(float)
    return Split(counts, counts_test, counts, counts_test, y[train], y[test], np.array(corpus.terms)), test


def split_rows(n_documents: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the training and of the test side."""
    order = np.random.default_rng(seed).permutation(n_documents)
    cut = int(TRAINING_SHARE * n_documents)
    return order[:cut], order[cut:]
