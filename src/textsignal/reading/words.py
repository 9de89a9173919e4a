"""Labels of themes, and the words that raise and lower them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.counting import count_numbers, placed_sums
from textsignal.stored_values import rule
from textsignal.text.features import NOT, PHRASE
from textsignal.text.tokenise import DESCRIBING
from textsignal.text.tokens import SentenceTexts
from textsignal.training.theme_model import FittedThemes, ThemeReading, by_document
from textsignal.training.topics import coherence as term_coherence

#: Label of the theme of clauses that judge the whole.
OVERALL = "Overall verdict"
#: Label of clauses on no theme.
UNPLACED = "unplaced"
#: Entries of a label, and the most relevant terms they are chosen from.
LABEL_ENTRIES, LABEL_CHOICE = 3, 12
#: Of two words with a common beginning only one is in a label: "room" and "rooms".
STEM = 4
#: A term whose tone is this many times the median counts less in a label: "great" fits many themes.
STRONG = 3.0
#: Penalty on the relevance of a term that only describes or judges: larger than the range of relevances.
LAST = 1e3
#: Two terms are named as a phrase if at least this share of the rarer one's occurrences is in it.
PHRASE_SHARE = 0.25
#: Maximum number of words listed as raising and lowering a theme.
LISTED = 8
#: Minimum contribution of a listed word, as a share of the largest in the theme.
LEAST_PART = 0.05
#: Weight of a term's share of the theme against its lift over the corpus, as in pyLDAvis.
RELEVANCE = 0.6


def relevance(themes: Array, prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
    """Return the relevance of each term to each theme: (themes, terms).

        relevance = trade_off log p(term | theme) + (1 - trade_off) log [ p(term | theme) / p(term) ]

    themes : (themes, terms), each summing to 1; prevalence : (themes,) summing to 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(themes)
        lift = share - np.log(prevalence @ themes)
    return np.where(themes > 0, trade_off * share + (1 - trade_off) * lift, -np.inf)


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Return labels by theme number; duplicates get the number appended: "room (2)"."""
    counts = Counter(labels)
    return [f"{label} ({k})" if counts[label] > 1 else label for k, label in enumerate(labels)]


def has_no_pairs(sizes: Mapping[str, int]) -> bool:
    """True if there is a single term, so that the coherence of themes is not a number."""
    return sizes["terms"] == 1


def n_labelled(sizes: Mapping[str, int]) -> int:
    """Number of themes, with the overall verdict."""
    return sizes["topics"] + 1


@dataclass(frozen=True, eq=False)
class ThemeWords:
    """Displayed labels and words of themes, the overall verdict last, by the training texts.

    labels : (themes,) distinct; raises, lowers : the words that raise and lower the response most, strongest first.
    coherence : (themes,) mean NPMI of the ten most probable terms of each theme.
    """

    labels: list[str] = field(metadata=rule(shape=(n_labelled,)))
    raises: list[list[str]] = field(metadata=rule(shape=(n_labelled,)))
    lowers: list[list[str]] = field(metadata=rule(shape=(n_labelled,)))
    coherence: Vector = field(metadata=rule(shape=(n_labelled,), missing=has_no_pairs))


def theme_words(models: Sequence[FittedThemes], readings: Sequence[ThemeReading]) -> list[ThemeWords]:
    """Label themes, and for each model choose their words, by the reading of texts."""
    units = sp.csr_array(by_document(readings[0].units, readings[0].texts))
    labels, coherence = _labels(models, readings[0]), term_coherence(units, plain_profiles(models[0]))
    words = []
    for model, reading in zip(models, readings, strict=True):
        sums = _sums(reading, model)
        raises, lowers = ([_strongest(sign * column, reading.texts) for column in sums.T] for sign in (1, -1))
        words.append(ThemeWords(labels, raises, lowers, coherence))
    return words


def shown_word(word: str, negated: bool) -> str:
    """Return a word for display: a negated one is "not clean"."""
    return NOT + word if negated else word


def plain_profiles(model: FittedThemes) -> Vector:
    """(themes + 1, terms) shares of terms in each theme, and in overall verdicts, by plain counts; each sums to 1."""
    profiles = model.topics / model.themes.term_weights
    return profiles / profiles.sum(axis=1, keepdims=True)


def relevances(model: FittedThemes) -> Vector:
    """(themes + 1, terms) relevance of each term to each theme, and to overall verdicts."""
    prevalence = np.maximum(model.prevalence[:-1], 1e-9)
    return relevance(plain_profiles(model), prevalence / prevalence.sum())


def ranked_terms(model: FittedThemes) -> NDArray[np.int64]:
    """(themes + 1, terms) numbers of terms, the most relevant first."""
    return np.argsort(-relevances(model), axis=1, kind="stable")


def _labels(models: Sequence[FittedThemes], reading: ThemeReading) -> list[str]:
    """Labels of themes, common to all models: their most relevant terms; neighbouring terms become a phrase.

    Terms that carry tone count less, and those that only describe or judge do not count unless there are no others.
    """
    model, tones = models[0], [model.term_tone for model in models]
    strength = [(tone / (STRONG * np.sqrt(np.mean(tone**2)) or 1.0)) ** 2 for tone in tones]
    scores = relevances(model)[:-1] - np.log1p(np.mean(strength, axis=0))
    describing = DESCRIBING.get(model.language or "", frozenset())
    scores = np.where([term in describing for term in model.terms], scores - LAST, scores)
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :LABEL_CHOICE]
    leading = [[model.terms[j] for j in row] for row in ranked]
    phrases = _phrases(model, reading, {f"{a} {b}" for row in leading for a in row for b in row if a != b})
    return unique_labels([*(", ".join(_entries(row, phrases)) for row in leading), OVERALL])


def _phrases(model: FittedThemes, reading: ThemeReading, names: set[str]) -> dict[tuple[str, str], float]:
    """Return phrases of these names: share of the rarer term's occurrences that are in the phrase."""
    matches = np.array([name in names for name in model.features.names], dtype=bool) & (model.features.kinds == PHRASE)
    counts = count_numbers(reading.occurrences.features, len(model.features))
    of_term = dict(zip(model.terms, np.asarray(reading.units.sum(axis=0)).ravel().tolist(), strict=True))
    pairs = {j: tuple(model.features.names[j].split(" ")) for j in np.flatnonzero(matches).tolist()}
    return {(a, b): float(counts[j] / max(1, min(of_term[a], of_term[b]))) for j, (a, b) in pairs.items()}


def _entries(terms: Sequence[str], phrases: dict[tuple[str, str], float]) -> list[str]:
    """Terms and phrases of a label; none shares its beginning with another."""
    chosen: list[str] = []
    used: set[str] = set()
    for term in terms:
        if term[:STEM] in used:
            continue
        pairs = [pair for other in terms for pair in ((term, other), (other, term))]
        pair = max(pairs, key=lambda pair: phrases.get(pair, 0.0))
        of_pair = {word[:STEM] for word in pair}
        if phrases.get(pair, 0.0) >= PHRASE_SHARE and pair[0] != pair[1] and not of_pair & used:
            chosen.append(" ".join(pair))
            used |= of_pair
        else:
            chosen.append(term)
            used.add(term[:STEM])
        if len(chosen) == LABEL_ENTRIES:
            break
    return chosen


def _sums(reading: ThemeReading, model: FittedThemes) -> Vector:
    """(2 words, themes) contribution of a word to a theme in all texts, plain, then negated; 0 unless a content term.

    Weighted by the root of (share of the word's occurrences in the theme / prevalence), so that specific words lead.
    """
    texts, terms = reading.texts, set(model.terms)
    content = np.array([word in terms for word in texts.words], dtype=bool)
    tone = reading.word_tone(model.features)
    places = reading.clauses.places
    stands, added = placed_sums(texts.codes, texts.negated, texts.indptr, tone, content, places, model.n_places)
    total = np.maximum(stands.sum(axis=1, keepdims=True), 1)
    more_often = stands / total / np.maximum(model.prevalence, 1e-9)
    return np.asarray(added * np.sqrt(more_often) * model.effects.gamma)[:, :-1]


def _strongest(sums: Vector, texts: SentenceTexts) -> list[str]:
    """Return the words of the largest sums, if large enough compared with the largest of either sign."""
    order = np.argsort(-sums, kind="stable")[:LISTED]
    least = LEAST_PART * np.abs(sums).max(initial=0.0)
    return [shown_word(texts.words[j // 2], bool(j % 2)) for j in order.tolist() if sums[j] > least]
