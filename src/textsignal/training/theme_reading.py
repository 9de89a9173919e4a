"""Fitted models of themes and tone, and their reading of texts.

Level 1 is the text: themes of sentences, tone of words. Level 2 is a GLM of the response on themes.

`ThemePredictor` reads for prediction only: its numbers equal those of a `ThemeReading`, in a fraction of time and
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.counting import word_sums
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.hashing import Keys
from textsignal.compute.kernels import Rows, pad
from textsignal.families import Family
from textsignal.stored_values import rule
from textsignal.text import prediction
from textsignal.text.features import PHRASE_SIZE, WORD, Features, Known, Occurrences, count_codes
from textsignal.text.prediction import Sentences
from textsignal.text.tokenise import is_language_name
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import ThemeEffects, spoken_of
from textsignal.training.themes import MOST_SHARE, Themes, shares_of
from textsignal.training.tone import Tone

#: Texts that a thread reads for prediction at once: their numbers stay in its cache.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class ThemeTraining:
    """Texts stored with a model: those that level 2 was fitted to, and others added later.

    Tone is out of fold for texts of training, so it is independent of their response.

    keys : (texts,) by which a text is recognised.
    ends : (texts + 1,) where each text's sentences begin; sentence_tone : (sentences,) of each.
    tone, shares : (texts, themes); spoken : (texts, themes) True if the text mentions the theme.
    responses : (texts,) on the user's scale, NaN if missing; weight : (texts,) how often each counts.
    later : (texts,) True if added after the fit.
    given : (texts,) what covariates and offset add to the linear predictor; None if absent.
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
        """Return texts of training; unseen : (sentences,) tone that has not seen the responses."""
        texts, tone = reading.texts, reading.tone_by_theme(unseen)
        of_texts = tone, reading.shares, reading.spoken, responses, weight, np.zeros(len(texts), dtype=bool)
        return cls(texts.keys, sentence_ends(texts), unseen, *of_texts, given)

    def unseen_tone(self, reading: ThemeReading) -> Vector:
        """(sentences,) tone that has not seen the texts' responses: out of fold for texts of training."""
        tone, ends = reading.sentence_tone.copy(), sentence_ends(reading.texts)
        row_of = {key: row for row, key in enumerate(self.keys.tolist())}
        for text, key in enumerate(reading.texts.keys.tolist()):
            row = row_of.get(key)
            if row is not None and ends[text + 1] - ends[text] == self.ends[row + 1] - self.ends[row]:
                tone[ends[text] : ends[text + 1]] = self.sentence_tone[self.ends[row] : self.ends[row + 1]]
        return tone


@dataclass(frozen=True, eq=False)
class FittedThemes:
    """A fitted model of themes and tone.

    chosen : reason for the family, for display; "" if the user set it.
    terms : content terms, the columns of the themes; features, tone : with (features,) their effects.
    training : what level 2 was fitted to.
    why : reason for the number of themes, for display; "" if the user set it.
    basis : a sentence on the texts that each part was learnt from; "" if all was learnt from those of `training`.
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
    """(terms,) tone of the feature that equals each term, 0 if there is none; tone : (features,)."""
    number = {features.names[j]: j for j in np.flatnonzero(features.kinds == WORD).tolist()}
    return np.array([tone[number[term]] if term in number else 0.0 for term in terms])


@dataclass(frozen=True, eq=False)
class ThemeReading:
    """Reading of texts by a model. Words add up to sentences, sentences to themes, themes to the linear predictor.

    texts : cut into sentences.
    occurrences, values : features in them, and (occurrences,) the tone of each times its share of its text.
    places : (sentences, themes) share of each sentence in each theme; has_terms : (sentences,) True if it has a term.
    tone, shares : (texts, themes) tone about each theme, and share of the text.
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
        return np.asarray(np.bincount(self.occurrences.sentences, self.values, len(self.texts.documents)), float)

    def word_tone(self, features: Features) -> Vector:
        """(all words,) sum of the values of its occurrences; half of a phrase belongs to its first word."""
        found, n_words = self.occurrences, len(self.texts.codes)
        sums: Vector = word_sums(found.words, found.features, self.values, features.is_phrase, n_words)
        return sums

    def tone_by_theme(self, sentence_tone: Vector) -> Vector:
        """(texts, themes) tone about each theme, from that of each sentence."""
        return by_document(self.places * sentence_tone[:, None], self.texts)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """(texts, themes) True if the text mentions the theme."""
        return spoken_of(self.places, self.has_terms, self.texts.documents, len(self.texts))


def knowing(
    model: FittedThemes, reading: ThemeReading, responses: Vector, weight: Vector, given: Vector
) -> FittedThemes:
    """Return the model with these texts, in this order, as those stored with it.

    weight : (texts,) how often each counts; given : (texts,) what covariates and offset add.
    """
    unseen = model.training.unseen_tone(reading)
    known = ThemeTraining.of(reading, unseen, responses, weight, given if given.any() else None)
    later = ~np.isin(known.keys, model.training.keys[~model.training.later])
    return replace(model, training=replace(known, later=later))


@dataclass(frozen=True, eq=False)
class PartlyRead:
    """Reading of texts before tone is known; counts : (texts, features)."""

    texts: SentenceTexts
    occurrences: Occurrences
    counts: sp.csr_array

    def tone_of_sentences(self, effects: Vector) -> Vector:
        """(sentences,) tone by effects (features,)."""
        return self.occurrences.tone_of_sentences(effects[None], np.zeros(len(self.texts.documents), np.int64))

    def unseen_tone(self, tone: Tone) -> Vector:
        """(sentences,) tone by fits that have not seen the responses; 0 for texts of fold -1, which no fit has seen."""
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
    """(texts + 1,) where each text's sentences begin."""
    return np.searchsorted(texts.documents, np.arange(len(texts) + 1)).astype(np.int64)


def by_document(values: Vector | sp.csr_array, texts: SentenceTexts) -> Any:
    """Sum values (sentences, columns) over the sentences of each text."""
    n = len(texts.documents)
    return sp.csr_array((np.ones(n), np.arange(n), sentence_ends(texts)), shape=(len(texts), n)) @ values


def text_shares(texts: SentenceTexts, places: Vector, prevalence: Vector) -> Vector:
    """(texts, themes) share of each text, by words; the prevalence for a text without words."""
    return shares_of(by_document(places * np.diff(texts.indptr).astype(float)[:, None], texts), prevalence)


def read_together(models: Sequence[FittedThemes], texts: SentenceTexts, compute: Compute) -> list[ThemeReading]:
    """Read texts with models that share features, terms and themes."""
    first = models[0]
    read, units = read_features(texts, first.features, compute.engine), count_units(texts, first.terms, compute.engine)
    return readings_of(read, units, [model.tone for model in models], first.themes, compute)


def readings_of(
    read: PartlyRead, units: sp.csr_array, tones: Sequence[Vector], themes: Themes, compute: Compute
) -> list[ThemeReading]:
    """Return a reading of texts for each tone (features,); units : (sentences, terms) counts."""
    texts, occurrences = read.texts, read.occurrences
    places = themes.place(units, texts.documents, len(texts), compute)
    has_terms, shares = np.diff(units.indptr) > 0, text_shares(texts, places, themes.prevalence)

    def reading(effects: Vector) -> ThemeReading:
        values = occurrences.values * effects[occurrences.features]
        tone = by_document(places * read.tone_of_sentences(effects)[:, None], texts)
        return ThemeReading(texts, occurrences, values, places, has_terms, tone, shares, units)

    return [reading(effects) for effects in tones]


@dataclass(frozen=True, eq=False)
class ToneAndShares:
    """Reading of texts for prediction.

    tones : (tones, texts, themes) tone about each theme; shares : (texts, themes).
    unknown : (texts,) True if there is neither a feature nor a content term.
    """

    tones: Vector
    shares: Vector
    unknown: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ThemePredictor:
    """Reads only what prediction needs.

    numbers : of all words that features and content terms are made of; known : the features.
    words : (words + 1, 4) what each word is, as `text.prediction` has it; the last row is of all other words.
    """

    themes: Themes
    known: Known
    numbers: dict[str, int]
    words: NDArray[np.int32]

    @classmethod
    def of(cls, model: FittedThemes) -> ThemePredictor:
        """Number the words of the model's features and content terms."""
        known = model.features.known
        kinds = (known.words, known.negated, known.parts, {word: j for j, word in enumerate(model.terms)})
        words = {word: number for number, word in enumerate(dict.fromkeys(word for each in kinds for word in each))}
        columns = np.full((len(words) + 1, len(kinds)), -1, dtype=np.int32)
        for column, each in enumerate(kinds):
            columns[[words[word] for word in each], column] = list(each.values())
        return cls(model.themes, known, words, columns)

    def of_words(self, words: Sequence[str]) -> NDArray[np.int32]:
        """(words, 4) rows of `words` for distinct words."""
        return self.words[np.fromiter((self.numbers.get(word, -1) for word in words), np.int64, len(words))]

    def read(self, texts: SentenceTexts, tones: Sequence[Vector], compute: Compute) -> ToneAndShares:
        """Read texts, in blocks of them; tones : each (features,)."""
        sentences = Sentences(sentence_ends(texts), texts.indptr, texts.codes, texts.under, texts.negated)
        words, themes, inference = self.of_words(texts.words), self.themes, self.themes.inference
        phrases, effects = (len(self.known.parts), self.known.phrases), np.stack(list(tones), axis=1)
        topics: Array = pad(themes.topics.T, compute.kernels, np.dtype(float))
        tone = np.empty((len(tones), len(texts), len(themes.topics)))
        shares = np.empty(tone.shape[1:])
        sentence_tone = np.empty((len(texts.documents), len(tones)))
        has_feature, has_term = np.zeros((2, len(texts)), dtype=bool)

        def read_block(first: int) -> None:
            block = (sentences, first, min(first + BLOCK, len(texts)))
            outputs = (sentence_tone, has_feature)
            prediction.read_tone(*block, words, *phrases, effects, PHRASE_SIZE, *outputs)
            rows = Rows(*prediction.read_terms(*block, words, themes.term_weights, has_term))
            weights, _ = inference.of_block(rows, topics, compute.kernels)
            prediction.gather(*block, weights, themes.prevalence, sentence_tone, tone, shares)

        compute.engine.map(read_block, range(0, len(texts), BLOCK))
        return ToneAndShares(tone, shares, ~(has_feature | has_term))
