"""Halves of the texts: themes learnt in each, their agreement, and the number of themes chosen by it.

Skill hardly depends on the number of themes, as mostly tone predicts. What does is whether themes learnt from other
texts are the same. So `n_topics="auto"` takes the largest number whose themes agree between two halves of the texts
about as well as those of any number: mean cosine within one standard error, or `NEAR`, of the greatest. Only themes are
learnt again in halves; words, their tone and vectors are those of all texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Rows, Vector
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.engines.local import local_compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.errors import InputError
from textsignal.text.tokenise import normalise
from textsignal.training.theme_model import FittedThemes, Prepared, ThemeReading, by_sentence
from textsignal.training.themes import ThemeText, unit_vectors, word_vectors

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
    """Draw the rows of each refit, ascending, at most `most`: refits 0 and 1 have the halves of one cut, and so on.

    Cuts follow from keys (texts,), not from the order of texts, and copies stay together.
    """
    middle, samples = len(keys) // 2, []
    for refit in range(n_refits):
        order = np.argsort(drawn(keys, seed, refit // 2), kind="stable")
        half = order[middle:] if refit % 2 else order[:middle]
        samples.append(np.sort(half[:most]))
    return samples


def theme_text(fitted: FittedThemes, reading: ThemeReading, weight: Vector, seed_words: SeedWords = None) -> ThemeText:
    """Return the sentences that a model has read, to learn other themes from."""
    sentences, documents = by_sentence(reading.units, reading.texts)
    return ThemeText(fitted.terms, fitted.term_tone[None], sentences, documents, weight, _normalised(seed_words))


def _normalised(seed_words: SeedWords) -> dict[str, list[str]]:
    return {label: [normalise(word) for word in words] for label, words in (seed_words or {}).items()}


@dataclass(frozen=True, eq=False)
class Match:
    """The other topic that each topic is matched with, and (topics,) the cosine of their profiles."""

    numbers: NDArray[np.int64]
    cosines: Vector


def match_topics(profiles: Array, others: Array) -> Match:
    """Match topics (topics, terms) one to one with at least as many others: the sum of cosines is largest."""
    cosines = unit_vectors(profiles) @ unit_vectors(others).T
    rows, numbers = linear_sum_assignment(-cosines)
    return Match(numbers, cosines[rows, numbers])


@dataclass(frozen=True, eq=False)
class ThemeHalves:
    """Halves of the texts, cut several times, and vectors of their terms, for any number of themes.

    texts, vectors : of the first half of the first cut, of its second, and so on; n_speaking : those with a term.
    """

    texts: Sequence[ThemeText]
    vectors: Sequence[Vector]
    n_speaking: int

    @classmethod
    def of(cls, prepared: Prepared, seed: int, engine: Engine, seed_words: SeedWords = None) -> ThemeHalves:
        """Cut texts into halves."""
        texts, tones = prepared.read.texts, prepared.term_tones
        # Root mean square of several tones, each scaled to size 1.
        sizes = np.sqrt(np.mean(tones**2, axis=1, keepdims=True))
        scaled = np.divide(tones, sizes, out=np.zeros_like(tones), where=sizes > 0)
        tone, seeds = np.sqrt(np.mean(scaled**2, axis=0)), _normalised(seed_words)
        sentences, documents = by_sentence(prepared.units, texts)
        whole = ThemeText(prepared.dictionary.terms, tone[None], sentences, documents, prepared.weight, seeds)
        text = whole.with_terms(whole.leading_terms(TERMS))
        most = max(1, SENTENCES * len(texts) // max(len(documents), 1))
        samples = [text.at(rows) for rows in halves(texts.keys, 2 * CUTS, seed, most)]
        vectors = engine.map(lambda sample: word_vectors(sample.units), samples)
        return cls(samples, vectors, whole.n_speaking)

    def cosine(self, n_themes: int, cut: int) -> float:
        """Return the mean cosine of the profiles of themes of two halves, matched one to one."""
        with local_compute(1) as compute:
            profiles = []
            for half in (2 * cut, 2 * cut + 1):
                vectors = self.vectors[half]
                themes = self.texts[half].themes(n_themes, half + 1, compute, HALF_TRIES, vectors)
                profiles.append(themes.topics / themes.term_weights)
        return float(match_topics(*profiles).cosines.mean())


@dataclass(frozen=True)
class StableNumber:
    """A number of topics and their stability in halves of the texts: mean cosine over cuts, and its standard error."""

    n_topics: int
    stability: float
    error: float


def dense_around(number: int, tried: Sequence[int]) -> list[int]:
    """Return numbers between the neighbours of `number` among those tried, ascending."""
    lower = max((each for each in tried if each < number), default=number)
    upper = min((each for each in tried if each > number), default=number)
    return [each for each in range(lower + 1, upper) if each not in tried]


def most_stable(cells: Sequence[StableNumber]) -> StableNumber:
    """Return the largest number of topics whose stability is near the greatest."""
    best = max(cells, key=lambda cell: cell.stability)
    near = max(NEAR, np.nan_to_num(best.error))
    return max((cell for cell in cells if cell.stability >= best.stability - near), key=lambda cell: cell.n_topics)


def why_stable(
    taken: StableNumber, cells: Sequence[StableNumber], noun: str, kept: Sequence[StableNumber] | None = None
) -> str:
    """Explain in a clause the choice of a number among those tried; kept : those among which stability decides."""
    more = [cell.stability for cell in (cells if kept is None else kept) if cell.n_topics > taken.n_topics]
    beyond = f", with more at best {max(more):.2f}" if more else ""
    tried = sorted(cell.n_topics for cell in cells)
    listed = f"{tried[0]} to {tried[-1]}" if len(tried) > FEW else ", ".join(map(str, tried))
    return (
        f"of {listed} {noun}s, {taken.n_topics} are the most that are reproduced "
        f"in both halves of the texts (mean cosine {taken.stability:.2f}{beyond})"
    )


def choose_number(prepared: Prepared, seed: int, compute: Compute, seed_words: SeedWords = None) -> tuple[int, str]:
    """Choose the largest number of themes, from 5 to 30, that agree in halves of the texts; also return the reason."""
    with threadpool_limits(1):
        halves = ThemeHalves.of(prepared, seed, compute.engine, seed_words)
        most, least = halves.n_speaking // LEAST_EACH, max(COARSE_THEMES[0], len(seed_words or ()))
        if most < least:
            raise InputError(
                f"{halves.n_speaking:,} texts with content terms are too few to choose a number of themes by; "
                f"it takes {least * LEAST_EACH:,}: give a number in place of n_topics='auto'"
            )
        coarse = [number for number in COARSE_THEMES if least <= number <= most] or [least]
        cells = _stability(halves, coarse, compute)
        cells += _stability(halves, dense_around(most_stable(cells).n_topics, coarse), compute)
    taken = most_stable(cells)
    return taken.n_topics, why_stable(taken, cells, "theme")


def _stability(halves: ThemeHalves, numbers: Sequence[int], compute: Compute) -> list[StableNumber]:
    # The largest first: no thread is left with a long one in the end.
    tasks = [(number, cut) for number in sorted(numbers, reverse=True) for cut in range(CUTS)]
    cosines = dict(zip(tasks, compute.engine.map(lambda task: halves.cosine(*task), tasks), strict=True))
    of_each = {number: [cosines[number, cut] for cut in range(CUTS)] for number in sorted(numbers)}
    return [StableNumber(n, float(np.mean(own)), float(np.std(own, ddof=1) / CUTS**0.5)) for n, own in of_each.items()]
