"""Stability of topics: whether they come back when they are learnt from other samples of the documents.

Topics of every refit are matched to the model's own, one to one, so that the cosines of their profiles are largest in
all. A topic comes back where that cosine is at least `SAME`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.checks import check_number
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.errors import InputError
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.observed import Observed
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.text.reading import text_keys
from textsignal.training.halves import SeedWords, ThemeText, halves, match_topics
from textsignal.training.theme_reading import ThemeReading
from textsignal.uncertainty.refits import MatrixRefits, ThemeRefits

#: Profiles of this cosine are of one topic. Measured on 4,800 matched pairs of themes, 10 and 14 each, of halves and
#: bootstrap samples of five sets of reviews (hotels, fast food, clothing, Google Local, synthetic): the two share 5 or
#: more of their 10 leading words in 95% of pairs above it and 15% of those below; in 66% of those from .65 to .7 and in
#: 52% of those from .6 to .65. It says which do in 93.5% of pairs; the best threshold of all, .625, in 93.7%.
SAME = 0.65
#: A topic that comes back in a smaller share of refits is unstable.
STABLE = 0.5
#: Fewest texts that halves are taken of; at least two for each topic.
FEWEST = 20
#: The quick check: refits, the sentences and leading terms of each at most, and clusterings its start is the best of.
#: Of 96 themes of four sets of reviews, on which these were chosen, it called unstable all 11 that come back in less
#: than half of 20 whole refits, 4 of the 12 from there to four fifths and 1 of the 73 above; more of any did no better.
QUICK_REFITS, QUICK_SENTENCES, QUICK_TERMS, QUICK_TRIES = 4, 20_000, 1000, 8


def comes_back(cosines: Vector) -> Vector:
    """(topics,) share of refits in which each topic comes back; cosines : (refits, topics) of matches."""
    return np.asarray(np.mean(cosines >= SAME, axis=0), dtype=float)


@dataclass(frozen=True, eq=False)
class Stability:
    """Cosines and lifts of the matches of every topic: (refits, topics)."""

    cosines: Vector
    lifts: Vector

    def table(self, labels: Sequence[str]) -> pd.DataFrame:
        """One row per topic, the least stable first; labels : (topics,)."""
        lifts = pd.DataFrame(np.where(self.cosines >= SAME, self.lifts, np.nan))
        table = pd.DataFrame(
            {
                "topic": np.arange(len(labels)),
                "label": list(labels),
                "comes_back": comes_back(self.cosines),
                "cosine": self.cosines.mean(axis=0),
                "lift_sd": lifts.std().to_numpy(),
                "lift_low": lifts.min().to_numpy(),
                "lift_high": lifts.max().to_numpy(),
            }
        )
        return table.sort_values(["comes_back", "cosine", "topic"], kind="stable", ignore_index=True)


def stability(
    reader: Reader,
    observed: Observed,
    n_refits: int,
    seed: int,
    n_jobs: int | None,
    seed_words: SeedWords = None,
    better: int = 1,
) -> Stability:
    """Refit topics to halves of the documents, each with another seed, and match them to the reader's own.

    better : 1 where more of the response is, -1 where less is.
    """
    check_number("n_refits", n_refits, least=1, whole=True)
    check_number("seed", seed, least=0, whole=True)
    refits = replace(_refits(reader, observed, seed_words), better=better)
    least = _least(len(reader.profiles))
    if refits.n_speaking < least:
        raise InputError(
            f"{refits.n_speaking:,} texts with known terms are too few to find {len(reader.profiles)} topics in halves "
            f"of them; stability needs at least {least:,}"
        )
    samples = halves(text_keys(observed.texts), int(n_refits), int(seed))

    def refit(number: int) -> tuple[Vector, Vector]:
        with local_compute(1) as compute:
            found = refits.refit(samples[number], int(seed) + number + 1, compute)
        match = match_topics(reader.profiles, found.profiles)
        return match.cosines, found.lifts[match.numbers]

    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        found = engine.map(refit, range(int(n_refits)))
    return Stability(np.array([cosines for cosines, _ in found]), np.array([lifts for _, lifts in found]))


def _least(n_topics: int) -> int:
    """Fewest texts that halves are taken of."""
    return max(FEWEST, 2 * n_topics)


def _refits(reader: Reader, observed: Observed, seed_words: SeedWords) -> ThemeRefits | MatrixRefits:
    if isinstance(reader, MatrixReader):
        if np.isnan(observed.responses).all():
            raise InputError("no document has a response (all are missing), so topics cannot be refitted")
        return MatrixRefits(reader, observed)
    assert isinstance(reader, ThemeReader)
    fitted, reading = reader.fitted, reader.read(observed.tokens).sentences
    assert reading is not None
    text = ThemeText.of(fitted, reading, observed.weight)
    unseen = fitted.training.unseen_tone(reading)
    fitted.family.encode(observed.responses)
    return ThemeRefits(fitted, reading.texts, text, unseen, observed.responses, seed_words, observed.given)


def quick_stability(reader: ThemeReader, reading: ThemeReading, seed_words: SeedWords = None) -> Vector | None:
    """(themes,) share of a few quick refits in which each theme comes back, for reports.

    Themes alone are refitted, from their most frequent terms and with fewer tries. None where not all texts of training
    are among those that were read, or where they are too few.
    """
    fitted, keys = reader.fitted, reading.texts.keys
    row_of = {key: row for row, key in enumerate(keys.tolist())}
    found = np.array([row_of.get(key, -1) for key in fitted.training.keys.tolist()], dtype=np.int64)
    if np.any(found < 0):
        return None
    # Copies of a text are one that counts more.
    weight = np.bincount(found, fitted.training.weight, len(keys)).astype(float)
    rows = np.unique(found)
    text = ThemeText.of(fitted, reading, weight).at(rows)
    if text.n_speaking < _least(fitted.n_themes):
        return None
    terms = text.leading_terms(QUICK_TERMS, seed_words)
    text, profiles = text.with_terms(terms), reader.profiles[:, terms]
    most = max(FEWEST, QUICK_SENTENCES * len(rows) // len(text.documents))
    samples = halves(keys[rows], QUICK_REFITS, 0, most)

    def cosines(number: int) -> Vector:
        with local_compute(1) as compute:
            themes = text.at(samples[number]).themes(fitted, number + 1, compute, seed_words, QUICK_TRIES)
        return match_topics(profiles, themes.topics / themes.term_weights).cosines

    with LocalEngine(reader.n_jobs) as engine, threadpool_limits(1):
        return comes_back(np.array(engine.map(cosines, range(QUICK_REFITS))))
