"""Fitted models of themes and tone, and their reading of texts.

Level 1 is the text: themes of sentences, tone of words. Level 2 is a GLM of the response on themes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.counting import word_sums
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.hashing import Keys
from textsignal.families import Family
from textsignal.stored_values import rule
from textsignal.text.features import WORD, Features, Occurrences, count_codes
from textsignal.text.tokenise import is_language_name
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import ThemeEffects, spoken_of
from textsignal.training.themes import MOST_SHARE, Themes, shares_of
from textsignal.training.tone import Tone


@dataclass(frozen=True, eq=False)
class ThemeTraining:
    """Documents stored with a model: those that level 2 was fitted to, and others added later.

    Tone is out of fold for documents of training, so it is independent of their response.

    keys : (documents,) of the texts, by which a text is known again.
    ends : (documents + 1,) where each document's sentences begin; sentence_tone : (sentences,) of each.
    tone, shares : (documents, themes); spoken : (documents, themes) True if the document mentions the theme.
    responses : (documents,) on the user's scale, NaN if missing; weight : (documents,) how often each counts.
    later : (documents,) True if added after the fit.
    given : (documents,) what covariates and offset add to the linear predictor; None if absent.
    """

    keys: Keys = field(metadata=rule(shape=("documents",)))
    ends: NDArray[np.int64] = field(metadata=rule(shape=(lambda sizes: sizes["documents"] + 1,), ends="sentences"))
    sentence_tone: Vector = field(metadata=rule(shape=("sentences",)))
    tone: Vector = field(metadata=rule(shape=("documents", "topics")))
    shares: Vector = field(metadata=rule(shape=("documents", "topics"), least=0, most=MOST_SHARE))
    spoken: NDArray[np.bool_] = field(metadata=rule(shape=("documents", "topics")))
    responses: Vector = field(metadata=rule(shape=("documents",), missing=True))
    weight: Vector = field(metadata=rule(shape=("documents",), least=0, filled=True))
    later: NDArray[np.bool_] = field(metadata=rule(shape=("documents",)))
    given: Vector | None = field(default=None, metadata=rule(shape=("documents",)))

    @classmethod
    def of(
        cls, reading: ThemeReading, unseen: Vector, responses: Vector, weight: Vector, given: Vector | None = None
    ) -> ThemeTraining:
        """Documents of training; unseen : (sentences,) tone that has not seen the responses."""
        texts = reading.texts
        return cls(
            keys=texts.keys,
            ends=sentence_ends(texts),
            sentence_tone=unseen,
            tone=reading.tone_by_theme(unseen),
            shares=reading.shares,
            spoken=reading.spoken,
            responses=responses,
            weight=weight,
            later=np.zeros(len(texts), dtype=bool),
            given=given,
        )

    def unseen_tone(self, reading: ThemeReading) -> Vector:
        """(sentences,) tone that has not seen the texts' responses: out of fold for texts that were in training."""
        tone = reading.sentence_tone.copy()
        row_of = {key: row for row, key in enumerate(self.keys.tolist())}
        rows = np.array([row_of.get(key, -1) for key in reading.texts.keys.tolist()], dtype=np.int64)
        ends = sentence_ends(reading.texts)
        for document in np.flatnonzero(rows >= 0).tolist():
            here = slice(ends[document], ends[document + 1])
            there = slice(self.ends[rows[document]], self.ends[rows[document] + 1])
            if here.stop - here.start == there.stop - there.start:
                tone[here] = self.sentence_tone[there]
        return tone


@dataclass(frozen=True, eq=False)
class FittedThemes:
    """A fitted model of themes and tone.

    chosen : reason for the family, for display; "" if the user set it.
    terms : content terms, the columns of the themes; features, tone : with (features,) their effects.
    training : what level 2 was fitted to.
    why : reason for the number of themes, for display; "" if the user set it.
    basis : a sentence on which documents what was learnt from; "" where all was from those of `training`.
    """

    family: Family = field(metadata=rule(shape=(1,), learnt=True))
    chosen: str
    language: str | None = field(metadata=rule(accepts=is_language_name))
    terms: Sequence[str] = field(metadata=rule(shape=("terms",), distinct=True))
    features: Features
    tone: Vector = field(metadata=rule(shape=("features",)))
    themes: Themes
    effects: ThemeEffects
    training: ThemeTraining
    why: str = ""
    basis: str = ""

    def check(self) -> None:
        """Raise ValueError if the responses of training are not of the family: a stored model may be damaged."""
        self.family.encode(self.training.responses)

    @property
    def n_themes(self) -> int:
        """Number of themes."""
        return len(self.themes.topics)

    @property
    def term_tone(self) -> Vector:
        """(terms,) tone of the content terms."""
        return tone_of_terms(self.terms, self.features, self.tone)


def tone_of_terms(terms: Sequence[str], features: Features, tone: Vector) -> Vector:
    """(terms,) tone of the feature that each term is as a word, 0 where it is none; tone : (features,)."""
    number = {features.names[j]: j for j in np.flatnonzero(features.kinds == WORD).tolist()}
    return np.array([tone[number[term]] if term in number else 0.0 for term in terms])


@dataclass(frozen=True, eq=False)
class ThemeReading:
    """Reading of texts by a model. Words add up to sentences, sentences to themes, themes to the linear predictor.

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
    def sentence_tone(self) -> Vector:
        """(sentences,) sum of the values of its occurrences."""
        n_sentences = len(self.texts.documents)
        return np.asarray(np.bincount(self.occurrences.sentences, weights=self.values, minlength=n_sentences), float)

    def word_tone(self, features: Features) -> Vector:
        """(all words,) sum of the values of its occurrences; half of a phrase is its first word's, as it is read."""
        occurrences = self.occurrences
        sums: Vector = word_sums(
            occurrences.words, occurrences.features, self.values, features.is_phrase, len(self.texts.codes)
        )
        return sums

    def tone_by_theme(self, sentence_tone: Vector) -> Vector:
        """(documents, themes) tone about each theme, from that of each sentence."""
        return by_document(self.places * sentence_tone[:, None], self.texts)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """(documents, themes) True if the document mentions the theme."""
        return spoken_of(self.places, self.has_terms, self.texts.documents, len(self.texts))


def knowing(
    model: FittedThemes, reading: ThemeReading, responses: Vector, weight: Vector, given: Vector
) -> FittedThemes:
    """The model with these documents, in this order, as those that it knows.

    weight : (documents,) how often each counts; given : (documents,) what covariates and offset add.
    """
    unseen = model.training.unseen_tone(reading)
    known = ThemeTraining.of(reading, unseen, responses, weight, given if given.any() else None)
    later = ~np.isin(known.keys, model.training.keys[~model.training.later])
    return replace(model, training=replace(known, later=later))


@dataclass(frozen=True, eq=False)
class PartlyRead:
    """Texts as far as they can be read without tone; counts : (documents, features)."""

    texts: SentenceTexts
    occurrences: Occurrences
    counts: sp.csr_array

    def tone_of_sentences(self, effects: Vector) -> Vector:
        """(sentences,) tone by effects (features,)."""
        return self.occurrences.tone_of_sentences(effects[None], np.zeros(len(self.texts.documents), np.int64))

    def unseen_tone(self, tone: Tone) -> Vector:
        """(sentences,) tone by fits that have not seen the responses; 0 for documents that no fit knows, fold -1."""
        return self.occurrences.tone_of_sentences(tone.fold_effects, tone.folds[self.texts.documents])


def read_features(texts: SentenceTexts, features: Features, engine: Engine) -> PartlyRead:
    """Find features and weigh them."""
    return PartlyRead(texts, *features.read(texts, engine))


def count_units(texts: SentenceTexts, terms: Sequence[str], engine: Engine) -> sp.csr_array:
    """(sentences, terms) counts of content terms."""
    number = {term: j for j, term in enumerate(terms)}
    column = np.array([number.get(word, -1) for word in texts.words], dtype=np.int32)
    return sp.csr_array(count_codes(texts.codes, texts.indptr, column, len(terms), engine.n_threads), dtype=float)


def sentence_ends(texts: SentenceTexts) -> NDArray[np.int64]:
    """(documents + 1,) where each document's sentences begin."""
    return np.searchsorted(texts.documents, np.arange(len(texts) + 1)).astype(np.int64)


def by_document(values: Vector | sp.csr_array, texts: SentenceTexts) -> Any:
    """Sums over the sentences of each document of values (sentences, columns)."""
    n_sentences = len(texts.documents)
    ones, columns = np.ones(n_sentences), np.arange(n_sentences)
    return sp.csr_array((ones, columns, sentence_ends(texts)), shape=(len(texts), n_sentences)) @ values


def text_shares(texts: SentenceTexts, places: Vector, prevalence: Vector) -> Vector:
    """(documents, themes) share of each text, by words; the prevalence for a text without words."""
    words = np.diff(texts.indptr).astype(float)
    return shares_of(by_document(places * words[:, None], texts), prevalence)


def read_together(models: Sequence[FittedThemes], texts: SentenceTexts, compute: Compute) -> list[ThemeReading]:
    """Read texts with models that share features, terms and themes."""
    first = models[0]
    read, units = read_features(texts, first.features, compute.engine), count_units(texts, first.terms, compute.engine)
    return readings_of(read, units, [model.tone for model in models], first.themes, compute)


def readings_of(
    read: PartlyRead, units: sp.csr_array, tones: Sequence[Vector], themes: Themes, compute: Compute
) -> list[ThemeReading]:
    """Put together what is read in texts, for each tone (features,); units : (sentences, terms) counts."""
    texts = read.texts
    places = themes.place(units, texts.documents, len(texts), compute)
    has_terms, shares = np.diff(units.indptr) > 0, text_shares(texts, places, themes.prevalence)

    def reading(effects: Vector) -> ThemeReading:
        sentence_tone = read.tone_of_sentences(effects)
        return ThemeReading(
            texts=texts,
            occurrences=read.occurrences,
            values=read.occurrences.values * effects[read.occurrences.features],
            places=places,
            has_terms=has_terms,
            tone=by_document(places * sentence_tone[:, None], texts),
            shares=shares,
            units=units,
        )

    return [reading(effects) for effects in tones]
