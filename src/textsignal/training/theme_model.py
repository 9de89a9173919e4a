"""The model of themes and tone: what people speak of, how they speak of it, and what it is worth.

Level 1 is the text: themes of sentences, tone of words. Level 2 is a GLM of the response on themes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.engines import Compute
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.text.content import content_terms
from textsignal.text.features import WORD, Features, Occurrences, Weighed, learn_features, weigh
from textsignal.text.units import SentenceTexts
from textsignal.training.contributions import ThemeEffects, fit_theme_effects, spoken_of
from textsignal.training.themes import Themes, fit_themes
from textsignal.training.tone import fit_tone

#: Features and content terms are in at least so many documents.
LEAST_FEATURE, LEAST_TERM = 2, 3


@dataclass(frozen=True, eq=False)
class ThemeTraining:
    """What level 2 was fitted to: tone out of fold, which has not seen its response.

    tone, shares : (documents, themes); spoken : (documents, themes) whether a document speaks of a theme.
    responses : (documents,) on the user's scale, NaN where there is none; weight : (documents,) how often each counts.
    """

    tone: Vector
    shares: Vector
    spoken: NDArray[np.bool_]
    responses: Vector
    weight: Vector


@dataclass(frozen=True, eq=False)
class FittedThemes:
    """A fitted model of themes and tone.

    terms : content terms, the columns of the themes; features, tone : with (features,) their effects.
    training : what level 2 was fitted to.
    """

    family: Family
    language: str
    terms: Sequence[str]
    features: Features
    tone: Vector
    themes: Themes
    effects: ThemeEffects
    training: ThemeTraining

    @property
    def n_themes(self) -> int:
        """Number of themes."""
        return len(self.themes.topics)


@dataclass(frozen=True, eq=False)
class ThemeReading:
    """What the model reads in texts. Words add up to sentences, sentences to themes, themes to the linear predictor.

    texts : the documents, cut into sentences.
    occurrences, values : features in them, and (occurrences,) what each carries of its document times its tone.
    places : (sentences, themes) share of each sentence in each theme; has_terms : (sentences,) whether it has a term.
    tone, shares : (documents, themes) tone about each theme, and share of the text.
    units : (sentences, terms) counts of content terms.
    """

    texts: SentenceTexts
    occurrences: Occurrences
    values: Vector
    places: Vector
    has_terms: NDArray[np.bool_]
    tone: Vector
    shares: Vector
    units: sp.csr_array = field(repr=False)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """(documents, themes) whether a document speaks of a theme."""
        return spoken_of(self.places, self.has_terms, self.texts.documents, len(self.texts))


@dataclass(frozen=True, eq=False)
class _Read:
    """Texts as far as they can be read without tone."""

    texts: SentenceTexts
    occurrences: Occurrences
    weighed: Weighed

    def tone_of_sentences(self, effects: Vector) -> Vector:
        """(sentences,) sum over the occurrences of what each carries, times its effect (occurrences,)."""
        values = self.weighed.values * effects
        return np.asarray(np.bincount(self.sentences, weights=values, minlength=len(self.texts.documents)), dtype=float)

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """(occurrences,) the sentence of each."""
        return self.texts.sentence_of_word[self.occurrences.words]


def _read(texts: SentenceTexts, features: Features) -> _Read:
    occurrences = features.find(texts)
    documents = texts.documents[texts.sentence_of_word]
    return _Read(texts, occurrences, weigh(occurrences, features, documents, len(texts)))


def count_units(texts: SentenceTexts, terms: Sequence[str]) -> sp.csr_array:
    """(sentences, terms) counts of content terms."""
    number = {term: j for j, term in enumerate(terms)}
    column = np.array([number.get(word, -1) for word in texts.words], dtype=np.int64)[texts.codes]
    known = column >= 0
    rows, shape = texts.sentence_of_word[known], (len(texts.documents), len(terms))
    return sp.csr_array(sp.coo_array((np.ones(int(known.sum())), (rows, column[known])), shape=shape))


def _by_document(values: Vector, documents: NDArray[np.int64], n_documents: int) -> Vector:
    """Sums over the sentences of each document of values (sentences, themes)."""
    order = sp.csr_array(
        (np.ones(len(documents)), (documents, np.arange(len(documents)))), shape=(n_documents, len(documents))
    )
    return np.asarray(order @ values)


def _shares(texts: SentenceTexts, places: Vector, prevalence: Vector) -> Vector:
    """(documents, themes) share of each text, by words; the prevalence for a text without words."""
    words = np.diff(texts.indptr).astype(float)
    in_theme = _by_document(places * words[:, None], texts.documents, len(texts))
    total = in_theme.sum(axis=1, keepdims=True)
    return np.where(total > 0, in_theme / np.where(total > 0, total, 1), prevalence)


def fit_theme_model(
    texts: SentenceTexts,
    responses: Vector,
    weight: Vector,
    *,
    n_themes: int,
    family: Family,
    language: str,
    max_terms: int,
    seed: int,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
) -> tuple[FittedThemes, ThemeReading]:
    """Learn themes, tone and the GLM on themes; give the model and what it reads in these texts.

    responses : (documents,) on the family's scale, NaN where there is none; weight : (documents,) how often each
    counts.
    """
    y = family.encode(responses)
    features = learn_features(texts, LEAST_FEATURE if len(texts) > 50 else 1, phrases=True)
    terms = content_terms(texts, language, max_terms, LEAST_TERM if len(texts) > 50 else 1)
    if not terms:
        raise InputError("no content term is left: the texts are empty, or hold nothing but function words")
    read = _read(texts, features)
    tone = fit_tone(read.weighed.counts, features.sizes, y, weight, family, compute.kernels)
    words = {features.names[j]: float(tone.effects[j]) for j in np.flatnonzero(features.kinds == WORD).tolist()}
    of_terms = np.array([words.get(term, 0.0) for term in terms])
    units = count_units(texts, terms)
    themes = fit_themes(units, terms, weight[texts.documents], of_terms, n_themes, seed, family, compute, seed_words)
    reading = _reading(read, units, tone.effects, themes, compute)
    unseen = tone.out_of_fold(texts.documents[read.sentences], read.occurrences.features)
    out_of_fold = _tone(read, unseen, reading.places)
    effects = fit_theme_effects(out_of_fold, reading.shares, y, weight, family, compute)
    training = ThemeTraining(out_of_fold, reading.shares, reading.spoken, responses, weight)
    return FittedThemes(family, language, terms, features, tone.effects, themes, effects, training), reading


def read_themes(model: FittedThemes, texts: SentenceTexts, compute: Compute) -> ThemeReading:
    """What a fitted model reads in texts."""
    return _reading(_read(texts, model.features), count_units(texts, model.terms), model.tone, model.themes, compute)


def _tone(read: _Read, effects: Vector, places: Vector) -> Vector:
    """(documents, themes) tone of what each document says about each theme; effects (occurrences,)."""
    sentences = read.tone_of_sentences(effects)
    return _by_document(places * sentences[:, None], read.texts.documents, len(read.texts))


def _reading(read: _Read, units: sp.csr_array, effects: Vector, themes: Themes, compute: Compute) -> ThemeReading:
    texts = read.texts
    places = themes.place(units, texts.documents, len(texts), compute)
    of_occurrences = effects[read.occurrences.features]
    return ThemeReading(
        texts=texts,
        occurrences=read.occurrences,
        values=read.weighed.values * of_occurrences,
        places=places,
        has_terms=np.diff(units.indptr) > 0,
        tone=_tone(read, of_occurrences, places),
        shares=_shares(texts, places, themes.prevalence),
        units=units,
    )
