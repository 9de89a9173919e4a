"""Halves of the texts: themes learnt in each, their agreement, and the number of themes chosen by it.

Skill hardly depends on the number of themes, as mostly tone predicts. What does is whether themes learnt from other
texts are the same. So `n_topics="auto"` takes the largest number whose themes agree between two halves of the texts
about as well as those of any number: mean cosine within one standard error, or `NEAR`, of the greatest. Only themes are
learnt again in halves; words, their tone and vectors are those of all texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.engines.local import local_compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.text.tokenise import normalise
from textsignal.training.theme_model import Prepared
from textsignal.training.theme_reading import FittedThemes, ThemeReading
from textsignal.training.themes import Themes, fit_themes
from textsignal.training.word_vectors import TRIES, word_vectors

Rows = NDArray[np.int64]
#: Label -> words that a theme starts from.
SeedWords = Mapping[str, Sequence[str]] | None
#: Cuts into halves; the sentences and leading terms of a half at most; clusterings that a start is the best of. With 8
#: clusterings, numbers of themes differ by which start was lucky; with 40,000 sentences they rank as with 20,000.
CUTS, SENTENCES, TERMS, HALF_TRIES = 4, 20_000, 1000, 24
#: Fewest texts with a content term for each theme: half of them are in a half.
LEAST_EACH = 20
#: Numbers of topics that are tried first; then all between the neighbours of the chosen one. Two or three topics nearly
#: always agree and are of little use, so themes begin with 5.
COARSE_THEMES, COARSE_TOPICS = (5, 8, 12, 17, 23, 30), (3, 6, 10, 15, 22, 30)
#: At most this many numbers are listed one by one.
FEW = 4
#: Differences in stability up to this do not count.
NEAR = 0.01


def halves(keys: Keys, n_refits: int, seed: int, most: int | None = None) -> list[Rows]:
    """Draw the rows of each refit, ascending: refits 0 and 1 have the two halves of one cut, and so on.

    Cuts follow from keys, not from the order of texts, and copies stay together.

    keys : (texts,); most : largest number of texts of a half.
    """
    middle, samples = len(keys) // 2, []
    for refit in range(n_refits):
        order = np.argsort(drawn(keys, seed, refit // 2), kind="stable")
        half = order[middle:] if refit % 2 else order[:middle]
        samples.append(np.sort(half[:most]))
    return samples


@dataclass(frozen=True, eq=False)
class ThemeText:
    """Sentences that themes are learnt from.

    terms : content terms; tone : (terms,); units : (sentences, terms) counts.
    documents : (sentences,) the text of each, ascending; weight : (texts,) how often each counts.
    seeds : label -> normalised words that a theme starts from.
    """

    terms: Sequence[str]
    tone: Vector
    units: sp.csr_array
    documents: NDArray[np.int64]
    weight: Vector
    seeds: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, fitted: FittedThemes, reading: ThemeReading, weight: Vector, seed_words: SeedWords = None) -> ThemeText:
        """Take the sentences that a model has read; weight : (texts,)."""
        seeds = _normalised(seed_words)
        return cls(fitted.terms, fitted.term_tone, reading.units, reading.texts.documents, weight, seeds)

    @property
    def n_speaking(self) -> int:
        """Number of texts with a content term."""
        return len(np.unique(self.documents[np.diff(self.units.indptr) > 0]))

    def leading_terms(self, n: int) -> NDArray[np.int64]:
        """Return numbers of the n most frequent terms and of all seed words, ascending."""
        frequency = self.units.T @ self.weight[self.documents]
        first = np.argsort(-frequency, kind="stable")[:n]
        seeds = {word for words in self.seeds.values() for word in words}
        return np.union1d(first, [j for j, term in enumerate(self.terms) if term in seeds]).astype(np.int64)

    def at(self, rows: Rows) -> ThemeText:
        """Keep some of the texts, ascending."""
        kept = sentences_of(self.documents, rows)
        number = np.searchsorted(rows, self.documents[kept])
        return replace(self, units=self.units[kept], documents=number, weight=self.weight[rows])

    def with_terms(self, terms: NDArray[np.int64]) -> ThemeText:
        """Keep some of the terms."""
        names = [self.terms[j] for j in terms.tolist()]
        return replace(self, terms=names, tone=self.tone[terms], units=self.units[:, terms])

    def themes(
        self,
        n_themes: int,
        family: Family,
        seed: int,
        compute: Compute,
        tries: int = TRIES,
        vectors: Vector | None = None,
    ) -> Themes:
        """Learn themes as a model learns its own; tone of words stays as it is.

        vectors : of the terms, None to learn them from these sentences.
        """
        return fit_themes(
            self.units,
            word_vectors(self.units) if vectors is None else vectors,
            self.terms,
            self.weight[self.documents],
            self.tone[None],
            n_themes,
            seed,
            family,
            compute,
            dict(list(self.seeds.items())[:n_themes]),  # merged themes may be fewer than the seeded ones
            tries,
        )


def _normalised(seed_words: SeedWords) -> dict[str, list[str]]:
    return {label: [normalise(word) for word in words] for label, words in (seed_words or {}).items()}


def sentences_of(documents: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """Return numbers of the sentences of some texts; documents : (sentences,) the text of each."""
    return np.flatnonzero(np.isin(documents, rows))


@dataclass(frozen=True)
class Match:
    """The other topic that each topic is matched with, and (topics,) the cosine of their profiles."""

    numbers: NDArray[np.int64]
    cosines: Vector


def match_topics(profiles: Array, others: Array) -> Match:
    """Match topics one to one so that the sum of cosines is largest (the Hungarian method).

    profiles, others : (topics, terms) nonnegative; there are at least as many others.

    Examples
    --------
    >>> match_topics(np.array([[1.0, 0], [0, 1]]), np.array([[0.0, 2], [3, 0]]))
    Match(numbers=array([1, 0]), cosines=array([1., 1.]))
    """
    cosines = _unit(profiles) @ _unit(others).T
    rows, numbers = linear_sum_assignment(-cosines)
    return Match(numbers, cosines[rows, numbers])


def _unit(profiles: Array) -> Array:
    length = np.linalg.norm(profiles, axis=1, keepdims=True)
    return profiles / np.where(length > 0, length, 1)


@dataclass(frozen=True, eq=False)
class ThemeHalves:
    """The two halves of each cut and vectors of their terms, shared by all numbers of themes.

    texts, vectors : of the first half of the first cut, of its second, and so on.
    n_speaking : number of texts with a content term.
    """

    texts: Sequence[ThemeText]
    vectors: Sequence[Vector]
    family: Family
    n_speaking: int

    @classmethod
    def of(cls, prepared: Prepared, seed: int, engine: Engine, seed_words: SeedWords = None) -> ThemeHalves:
        """Cut texts into halves."""
        texts, tone, seeds = prepared.read.texts, _strength(prepared.term_tones), _normalised(seed_words)
        whole = ThemeText(prepared.terms, tone, prepared.units, texts.documents, prepared.weight, seeds)
        text = whole.with_terms(whole.leading_terms(TERMS))
        most = max(1, SENTENCES * len(texts) // max(len(texts.documents), 1))
        samples = [text.at(rows) for rows in halves(texts.keys, 2 * CUTS, seed, most)]
        vectors = engine.map(lambda sample: word_vectors(sample.units), samples)
        return cls(samples, vectors, prepared.family, whole.n_speaking)

    @property
    def most_themes(self) -> int:
        """Largest number of themes that halves of the texts can carry."""
        return self.n_speaking // LEAST_EACH

    def cosine(self, n_themes: int, cut: int) -> float:
        """Return the mean cosine of the profiles of themes of two halves, matched one to one."""
        with local_compute(1) as compute:
            profiles = []
            for half in (2 * cut, 2 * cut + 1):
                vectors = self.vectors[half]
                themes = self.texts[half].themes(n_themes, self.family, half + 1, compute, HALF_TRIES, vectors)
                profiles.append(themes.topics / themes.term_weights)
        return float(match_topics(*profiles).cosines.mean())


def _strength(tones: Vector) -> Vector:
    """(terms,) root mean square of several tones, each scaled to size 1."""
    sizes = np.sqrt(np.mean(tones**2, axis=1, keepdims=True))
    scaled = np.divide(tones, sizes, out=np.zeros_like(tones), where=sizes > 0)
    return np.asarray(np.sqrt(np.mean(scaled**2, axis=0)), dtype=float)


def dense_around(number: int, tried: Sequence[int]) -> list[int]:
    """Return numbers between the neighbours of `number` among those tried, ascending.

    Examples
    --------
    >>> dense_around(8, [5, 8, 12]), dense_around(5, [5, 8, 12])
    ([6, 7, 9, 10, 11], [6, 7])
    """
    lower = max((each for each in tried if each < number), default=number)
    upper = min((each for each in tried if each > number), default=number)
    return [each for each in range(lower + 1, upper) if each not in tried]


def most_stable(cells: pd.DataFrame) -> int:
    """Return the row label of the cell with the most topics whose stability is near the greatest.

    cells : columns n_topics, stability and stability_se.

    Examples
    --------
    >>> cells = pd.DataFrame({"n_topics": [5, 6, 9], "stability": [0.98, 0.97, 0.8], "stability_se": [0.02, 0.01, 0.1]})
    >>> most_stable(cells)
    1
    """
    best = cells["stability"].idxmax()
    near = max(NEAR, np.nan_to_num(cells.at[best, "stability_se"]))
    kept = cells[cells["stability"] >= cells.at[best, "stability"] - near]
    return int(kept["n_topics"].idxmax())


def why_stable(cells: pd.DataFrame, taken: int, noun: str, kept: pd.DataFrame | None = None) -> str:
    """Explain the choice of a number in a clause: its stability, and the best stability of larger numbers.

    taken : a row label; kept : the cells among which stability decides, None for all.
    """
    number, stability = cells.at[taken, "n_topics"], cells.at[taken, "stability"]
    others = cells if kept is None else kept
    more = others.loc[others["n_topics"] > number, "stability"]
    beyond = "" if more.empty else f", with more at best {more.max():.2f}"
    tried = cells["n_topics"].sort_values().tolist()
    listed = f"{tried[0]} to {tried[-1]}" if len(tried) > FEW else ", ".join(map(str, tried))
    return (
        f"of {listed} {noun}s, {number} are the most that come back "
        f"alike from either half of the texts (mean cosine {stability:.2f}{beyond})"
    )


@dataclass(frozen=True)
class ThemeNumber:
    """A number of themes and the reason for it in words, "" if the number was given."""

    number: int
    why: str = ""


def choose_number(prepared: Prepared, seed: int, compute: Compute, seed_words: SeedWords = None) -> ThemeNumber:
    """Choose the largest number of themes, from 5 to 30, that agree in halves of the texts."""
    with threadpool_limits(1):
        return _most_that_agree(ThemeHalves.of(prepared, seed, compute.engine, seed_words), compute)


def _most_that_agree(halves: ThemeHalves, compute: Compute) -> ThemeNumber:
    most, least = halves.most_themes, max(COARSE_THEMES[0], len(halves.texts[0].seeds))
    if most < least:
        raise InputError(
            f"{halves.n_speaking:,} texts with content terms are too few to choose a number of themes by; "
            f"it takes {least * LEAST_EACH:,}: give a number in place of n_topics='auto'"
        )
    coarse = [number for number in COARSE_THEMES if least <= number <= most] or [least]
    cells = _cells(halves, coarse, compute)
    taken = cells.at[most_stable(cells), "n_topics"]
    cells = pd.concat([cells, _cells(halves, dense_around(taken, coarse), compute)], ignore_index=True)
    row = most_stable(cells)
    return ThemeNumber(int(cells.at[row, "n_topics"]), why_stable(cells, row, "theme"))


def _cells(halves: ThemeHalves, numbers: Sequence[int], compute: Compute) -> pd.DataFrame:
    """Measure the stability of each number of themes, and its standard error over cuts."""
    # The largest first: no thread is left with a long one in the end.
    tasks = [(number, cut) for number in sorted(numbers, reverse=True) for cut in range(CUTS)]
    cosines = compute.engine.map(lambda task: halves.cosine(*task), tasks)
    table = pd.DataFrame(tasks, columns=["n_topics", "cut"]).assign(stability=cosines)
    cells = table.groupby("n_topics")["stability"].agg(["mean", "std"]).reset_index()
    return pd.DataFrame(
        {
            "n_topics": cells["n_topics"].astype(int),
            "stability": cells["mean"],
            "stability_se": cells["std"] / np.sqrt(CUTS),
        }
    )
