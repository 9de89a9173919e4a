"""What themes are called, and the words that raise and lower them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal import evaluate
from textsignal.arrays import Vector
from textsignal.text.features import NEGATED, NOT, PHRASE, WORD, Features
from textsignal.topics.table import relevance, unique_labels
from textsignal.training.theme_reading import FittedThemes, ThemeReading, by_document

#: Entries of a label, and the most relevant terms they are chosen from.
LABEL_ENTRIES, LABEL_CHOICE = 3, 12
#: Of two words with a common beginning only one is in a label: "room" and "rooms".
STEM = 4
#: A term whose tone is so many times the usual one counts less in a label: "great" is what many themes are.
STRONG = 3.0
#: Two terms are named as a phrase where so large a share of the rarer one's occurrences is in it.
PHRASE_SHARE = 0.25
#: Words that are listed as raising and lowering a theme.
LISTED = 6


@dataclass(frozen=True, eq=False)
class ThemeWords:
    """What people are shown of themes, as the training texts have it.

    labels : (themes,) their most characteristic terms and phrases, distinct.
    raises, lowers : for each theme, the words that do so most, strongest first.
    coherence : (themes,) mean NPMI of each theme's ten most probable terms.
    """

    labels: list[str]
    raises: list[list[str]]
    lowers: list[list[str]]
    coherence: Vector

    def check(self, n_themes: int) -> None:
        """Raise ValueError unless there are words for every theme: a stored model may be damaged."""
        for name in ("labels", "raises", "lowers"):
            if len(getattr(self, name)) != n_themes:
                raise ValueError(f"{name} must be {n_themes}, one for each theme")


def theme_words(model: FittedThemes, reading: ThemeReading) -> ThemeWords:
    """Name themes and their words by what is read in texts."""
    sums = _sums(reading, model) * model.effects.gamma
    shown = _shown(model.features, set(model.terms))
    return ThemeWords(
        labels=theme_labels(model, reading),
        raises=[_strongest(column, model.features, shown) for column in sums.T],
        lowers=[_strongest(-column, model.features, shown) for column in sums.T],
        coherence=evaluate.coherence(sp.csr_array(by_document(reading.units, reading.texts)), plain_profiles(model)),
    )


def plain_profiles(model: FittedThemes) -> Vector:
    """(themes, terms) shares of terms in each theme by plain counts, each summing to 1."""
    profiles = model.themes.topics / model.themes.term_weights
    return profiles / profiles.sum(axis=1, keepdims=True)


def ranked_terms(model: FittedThemes) -> NDArray[np.int64]:
    """(themes, terms) numbers of terms, the most relevant first."""
    return np.argsort(-relevance(plain_profiles(model), model.themes.prevalence), axis=1, kind="stable")


def theme_labels(model: FittedThemes, reading: ThemeReading) -> list[str]:
    """What themes are called: their most relevant terms, less those that carry tone; neighbours as a phrase."""
    tone = _tone_of_terms(model)
    size = STRONG * np.sqrt(np.mean(tone**2)) or 1.0
    scores = relevance(plain_profiles(model), model.themes.prevalence) - np.log1p((tone / size) ** 2)
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :LABEL_CHOICE]
    phrases = _phrases(model, reading)
    return unique_labels([", ".join(_entries([model.terms[j] for j in row], phrases)) for row in ranked])


def _tone_of_terms(model: FittedThemes) -> Vector:
    number = {model.features.names[j]: j for j in np.flatnonzero(model.features.kinds == WORD).tolist()}
    return np.array([model.tone[number[term]] if term in number else 0.0 for term in model.terms])


def _phrases(model: FittedThemes, reading: ThemeReading) -> dict[tuple[str, str], float]:
    """Phrases of two terms: share of the rarer term's occurrences that are in the phrase."""
    counts = np.bincount(reading.occurrences.features, minlength=len(model.features))
    of_term = dict(zip(model.terms, np.asarray(reading.units.sum(axis=0)).ravel().tolist(), strict=True))
    found = {}
    for j in np.flatnonzero((model.features.kinds == PHRASE) & (counts > 0)).tolist():
        first, _, second = model.features.names[j].partition(" ")
        rarer = min(of_term.get(first, 0), of_term.get(second, 0))
        if rarer > 0:
            found[first, second] = float(counts[j] / rarer)
    return found


def _entries(terms: Sequence[str], phrases: dict[tuple[str, str], float]) -> list[str]:
    """Terms and phrases of a label; none shares its beginning with another."""
    chosen: list[str] = []
    used: set[str] = set()
    for term in terms:
        if term[:STEM] in used:
            continue
        partners = {
            pair: share
            for other in terms
            for pair in ((term, other), (other, term))
            if (share := phrases.get(pair, 0)) >= PHRASE_SHARE
        }
        pair = max(partners, key=lambda pair: partners[pair], default=None)
        if pair is not None and pair[0] != pair[1] and not {word[:STEM] for word in pair} & used:
            chosen.append(" ".join(pair))
            used |= {word[:STEM] for word in pair}
        else:
            chosen.append(term)
            used.add(term[:STEM])
        if len(chosen) == LABEL_ENTRIES:
            break
    return chosen


def _sums(reading: ThemeReading, model: FittedThemes) -> Vector:
    """(features, themes) what all occurrences of a feature add to a theme, more where it is the theme's own word.

    It counts by the root of how much more often the feature stands in the theme than any text does.
    """
    shape = (len(model.features), len(reading.places))
    where = (reading.occurrences.features, reading.sentence_of_occurrence)
    added = sp.csr_array(sp.coo_array((reading.values, where), shape)) @ reading.places
    stands = sp.csr_array(sp.coo_array((np.ones(len(reading.values)), where), shape)) @ reading.places
    total = np.maximum(stands.sum(axis=1, keepdims=True), 1)
    return np.asarray(added * np.sqrt(stands / total / np.maximum(model.themes.prevalence, 1e-9)))


def _shown(features: Features, terms: set[str]) -> NDArray[np.bool_]:
    """(features,) whether people are shown it: a content term, one under a negation, or a phrase with one."""
    allowed = {
        WORD: lambda name: name in terms,
        NEGATED: lambda name: name.removeprefix(NOT) in terms,
        PHRASE: lambda name: not terms.isdisjoint(name.split(" ")),
    }
    return np.array([allowed[kind](name) for name, kind in zip(features.names, features.kinds.tolist(), strict=True)])


def _strongest(sums: Vector, features: Features, shown: NDArray[np.bool_]) -> list[str]:
    """Names of the features of the largest sums; of those that say the same words only the first."""
    chosen: list[str] = []
    used: set[str] = set()
    for j in np.argsort(-np.where(shown, sums, 0.0), kind="stable")[: 6 * LISTED].tolist():
        words = set(features.names[j].split(" "))
        if sums[j] <= 0 or len(chosen) == LISTED:
            break
        if shown[j] and not words & used:
            chosen.append(features.names[j])
            used |= words - {NOT.strip()}
    return chosen
