"""The review sets that `benchmarks/skill.py` compares methods on, and their splits. They are not in this repository."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.preprocessing import normalize

import textsignal as ts
from textsignal.families import Binomial
from textsignal.reading.options import TOPIC_TERMS

TERMS, SPLITS = (2000, 500), (0, 1, 2)
STARS = Binomial(n=4, lowest=1)


@dataclass(frozen=True)
class Source:
    """A set: its name on the page, its file, columns, scale, and how many of its first rows count (None: all)."""

    name: str
    file: str
    text: str = "text"
    response: str = "rating"
    scale: Binomial = STARS
    rows: int | None = None

    def read(self, folder: Path) -> tuple[list[str], np.ndarray]:
        """Texts and responses, without rows that miss one of them."""
        table = pd.read_csv(self.path(folder), usecols=[self.text, self.response])[: self.rows].dropna()
        return table[self.text].astype(str).tolist(), table[self.response].to_numpy(float)

    def path(self, folder: Path) -> Path:
        return folder / f"{self.file}.csv.gz"


#: The four sets with the most to compare come first: a run that is stopped has those.
SOURCES = (
    Source("hotel_reviews_10k", "hotel_reviews_10k"),
    Source("short_reviews_10k", "short_reviews_10k"),
    Source("clothing_10k", "clothing_reviews_22k", rows=10_000),
    Source("tripadvisor_kaggle_2k", "tripadvisor_kaggle_2k", text="Review", response="Rating"),
    Source("hotel_reviews_long_10k", "hotel_reviews_long_10k"),
    Source("google_local_4k", "google_local_4k"),
    Source("wine_reviews_13k", "wine_reviews_13k", response="points", scale=Binomial(n=20, lowest=80)),
)
FIRST = 4


@dataclass(frozen=True)
class Side:
    """One side of a split.

    texts : documents; counts, tfidf : (documents, terms) of the same terms; y : (documents,) responses.
    """

    texts: list[str]
    counts: sp.csr_matrix
    tfidf: sp.csr_matrix
    y: np.ndarray

    @property
    def l2(self) -> sp.csr_matrix:
        """Counts with rows of norm 1."""
        return normalize(self.counts)


@dataclass(frozen=True)
class Split:
    """Training and test side of a set, its terms (alphabetical) and its scale."""

    train: Side
    test: Side
    terms: np.ndarray
    scale: Binomial


@lru_cache(maxsize=FIRST * len(SPLITS))
def load_split(source: Source, n_terms: int, seed: int, folder: Path) -> Split:
    texts, y = source.read(folder)
    order = np.random.default_rng(seed).permutation(len(texts))
    cut = int(0.8 * len(texts))
    train_texts, test_texts = ([texts[i] for i in part] for part in (order[:cut], order[cut:]))
    counter = ts.TextVectorizer(TOPIC_TERMS[0], n_terms, weighting="count", strip_markup=False).fit(train_texts)
    weigher = ts.TextVectorizer(TOPIC_TERMS[0], n_terms, weighting="tfidf", strip_markup=False).fit(train_texts)

    def side(documents: list[str], rows: np.ndarray) -> Side:
        return Side(documents, counter.transform(documents), weigher.transform(documents), y[rows])

    return Split(side(train_texts, order[:cut]), side(test_texts, order[cut:]), counter.terms_, source.scale)
