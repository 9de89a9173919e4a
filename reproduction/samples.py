"""Samples of reviews: read from files in the roles that they have in the paper, and split into training and test."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reproduction.google_local import read_google_local
from reproduction.reviews import ReviewSample, read_tripadvisor
from textsignal.arrays import Vector
from textsignal.datasets import SimulatedCorpus
from textsignal.errors import InputError
from textsignal.text.vectorise import TextVectorizer

#: The paper's vocabulary: most frequent terms, and of these the terms with the largest summed TF-IDF.
MAX_RAW_TERMS, MAX_TERMS = 2000, 500
TRAINING_SHARE = 0.8
#: The size of the paper's main sample, and the fewest reviews that can be split.
MOST_REVIEWS, LEAST_REVIEWS = 10_000, 50


@dataclass(frozen=True, eq=False)
class Sample:
    """Reviews with ratings of 1 to 5.

    Attributes
    ----------
    name : str
        Name on the page, such as the name of the file.
    texts : tuple of str, of length n_documents
    ratings : array of shape (n_documents,)

    Examples
    --------
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
        """Hash the content, so that copies in other processes share cached splits."""
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """Digest of texts and ratings."""
        digest = hashlib.sha256(self.ratings.tobytes())
        for text in self.texts:
            digest.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    @cached_property
    def median_words(self) -> float:
        """Median number of words."""
        return float(np.median([len(text.split()) for text in self.texts]))

    def training_side(self, seed: int) -> Sample:
        """Return the training side of `split_sample` as a sample, to choose settings on."""
        return self._at(split_rows(len(self), seed)[0])

    def drawn(self, n: int, seed: int) -> Sample:
        """Draw at most `n` reviews without replacement, in their order."""
        if n >= len(self):
            return self
        return self._at(np.sort(np.random.default_rng(seed).choice(len(self), n, replace=False)))

    def _at(self, rows: NDArray[np.int64]) -> Sample:
        return Sample(self.name, tuple(self.texts[i] for i in rows), self.ratings[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test side of a sample.

    Attributes
    ----------
    X, X_test : sparse arrays of shape (n_documents, n_terms)
        Input of word-level regression and joint training.
    counts, counts_test : sparse arrays of shape (n_documents, n_terms)
        Counts of the same terms, input of predictive training.
    y, y_test : arrays of shape (n_documents,)
        Ratings.
    terms : array of shape (n_terms,)
    """

    X: sp.csr_array
    X_test: sp.csr_array
    counts: sp.csr_array
    counts_test: sp.csr_array
    y: Vector
    y_test: Vector
    terms: NDArray[np.str_]


def split_rows(n_documents: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the training and of the test side."""
    order = np.random.default_rng(seed).permutation(n_documents)
    cut = int(TRAINING_SHARE * n_documents)
    return order[:cut], order[cut:]


def split_sample(
    sample: Sample, seed: int, max_terms: int = MAX_TERMS, stop_words: str | Iterable[str] | None = "english"
) -> Split:
    """Split a sample 80/20; terms and document frequencies come from the training side alone."""
    train, test = split_rows(len(sample), seed)
    sides = [[sample.texts[i] for i in rows] for rows in (train, test)]
    # As in the paper, HTML is not removed.
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
    """Split the counts of a simulated corpus with seed 0; return also the rows of the test side."""
    train, test = split_rows(len(corpus.ratings), 0)
    counts, counts_test = corpus.counts[train].astype(float), corpus.counts[test].astype(float)
    y = corpus.ratings.astype(float)
    return Split(counts, counts_test, counts, counts_test, y[train], y[test], np.array(corpus.terms)), test


@dataclass(frozen=True)
class Role:
    """A sample of the paper; those of Google Local have a category and a minimum length."""

    title: str
    category: str | None = None
    min_words: int = 0


ROLES = {
    "tripadvisor": Role("TripAdvisor hotels"),
    "fast-food": Role("fast food (Google Local)", "fast food restaurant"),
    "cafe": Role("cafes (Google Local)", "cafe"),
    "hotel": Role("hotels, 30 words or more (Google Local)", "hotel", min_words=30),
}


def samples_from_files(
    files: Sequence[str], *, text: str | None = None, rating: str | None = None
) -> dict[str, Sample]:
    r"""Read samples from tables.

    Parameters
    ----------
    files : sequence of str
        "ROLE=FILE" with a role of `ROLES`, or "FILE" for tripadvisor; one review per row.
    text, rating : str, optional
        Columns; None for those of the published files.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "reviews.csv"
    >>> _ = path.write_text("Review,Rating\n" + "".join(f"room {i} was fine,{1 + i % 5}\n" for i in range(60)))
    >>> samples_from_files([f"hotel={path}"])["hotel"].texts[:2]
    ('room 0 was fine', 'room 1 was fine')
    """
    samples: dict[str, Sample] = {}
    for item in files:
        role, separator, file = item.partition("=")
        if not separator or role not in ROLES:
            if separator and not Path(item).exists():
                raise InputError(
                    f"{role!r} is not a sample of the paper; there are {', '.join(ROLES)}, as in hotel=FILE"
                )
            role, file = "tripadvisor", item
        if role in samples:
            raise InputError(f"two files were given for {role}: {samples[role].name} and {Path(file).name}")
        samples[role] = _sample(ROLES[role], read_tripadvisor(file, text=text, rating=rating))
    return samples


def samples_from_google(folder: Path, state: str) -> dict[str, Sample]:
    """Draw the paper's three subsets from `review-<state>.json.gz` and `meta-<state>.json.gz`, the published files."""
    files = [folder / f"{kind}-{state}.json.gz" for kind in ("review", "meta")]
    return {
        name: _sample(
            role, read_google_local(*files, category=role.category, min_words=role.min_words, limit=MOST_REVIEWS)
        )
        for name, role in ROLES.items()
        if role.category is not None
    }


def _sample(role: Role, reviews: ReviewSample) -> Sample:
    """At most `MOST_REVIEWS` reviews."""
    excluded = reviews.excluded[0]
    texts, ratings = tuple(reviews.table["text"].tolist()), reviews.table["rating"].to_numpy(dtype=np.float64)
    if len(texts) < LEAST_REVIEWS:
        raise InputError(
            f"{excluded.file} gives {len(texts)} reviews for {role.title}, and a study needs at least {LEAST_REVIEWS}; "
            f"left out: {excluded.in_short() or 'nothing'}"
        )
    if np.ptp(ratings) == 0:
        raise InputError(
            f"every review of {excluded.file} has the rating {ratings[0]:g}, so there is nothing to explain"
        )
    return Sample(excluded.file, texts, ratings).drawn(MOST_REVIEWS, seed=0)
