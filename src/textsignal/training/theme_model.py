"""Models of themes and tone: their training, and their reading of texts.

Level 1 is the text: themes of sentences, tone of words. Level 2 is a GLM of the response on themes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.counting import word_sums
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.hashing import Keys
from textsignal.compute.kernels import Rows, pad
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.families.auto import Candidates
from textsignal.stored_values import rule
from textsignal.text import prediction
from textsignal.text.features import (
    PHRASE_SIZE,
    WORD,
    Features,
    Known,
    Occurrences,
    TextCounts,
    content_terms,
    count_codes,
    count_texts,
    learn_features,
)
from textsignal.text.tokenise import is_language_name
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import Choice, ThemeEffects, choose_family, fit_theme_effects, spoken_of
from textsignal.training.glm import fit_alone
from textsignal.training.themes import MOST_SHARE, Themes, ThemeText, word_vectors
from textsignal.training.tone import Tone, fit_tone
from textsignal.training.topics import shares_of

#: Minimum number of texts with a feature, or with a content term; only one if there are at most FEW_TEXTS texts.
LEAST_FEATURE, LEAST_TERM, FEW_TEXTS = 2, 3, 50
#: Texts that a thread reads for prediction at once: their numbers stay in its cache.
BLOCK = 1024
#: Tone, and (texts,) the linear predictor of covariates and offset alone, None if absent.
LearntTone: TypeAlias = tuple[Tone, Vector | None]


@dataclass(frozen=True, eq=False)
class ThemeTraining:
    """Texts stored with a model: those that level 2 was fitted to, and others added later.

    keys : by which a text is recognised; ends : where each text's sentences begin.
    sentence_tone, tone : out of fold for texts of training, so independent of their response.
    spoken : True if the text mentions the theme; later : True if added after the fit.
    responses : on the user's scale, NaN if missing.
    given : what covariates and offset add to the linear predictor; None if absent.
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
        """Texts of training; unseen : (sentences,) tone that has not seen the responses."""
        texts, tone = reading.texts, reading.tone_by_theme(unseen)
        of_texts = tone, reading.shares, reading.spoken, responses, weight, np.zeros(len(texts), dtype=bool)
        return cls(texts.keys, texts.sentence_ends, unseen, *of_texts, given)

    def unseen_tone(self, reading: ThemeReading) -> Vector:
        """(sentences,) tone that has not seen the texts' responses: out of fold for texts of training."""
        tone, ends = reading.sentence_tone.copy(), reading.texts.sentence_ends
        row_of = {key: row for row, key in enumerate(self.keys.tolist())}
        for text, key in enumerate(reading.texts.keys.tolist()):
            row = row_of.get(key)
            if row is not None and ends[text + 1] - ends[text] == self.ends[row + 1] - self.ends[row]:
                tone[ends[text] : ends[text + 1]] = self.sentence_tone[self.ends[row] : self.ends[row + 1]]
        return tone


@dataclass(frozen=True, eq=False)
class FittedThemes:
    """A fitted model of themes and tone.

    terms : content terms, the columns of the themes; tone : effects of the features; effects : level 2.
    chosen, why : reasons for the family and for the number of themes, for display; "" if the user set it.
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

    occurrences, values : features in the texts, and (occurrences,) the tone of each times its share of its text.
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
        return np.asarray(word_sums(found.words, found.features, self.values, features.is_phrase, n_words))

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
    """Store these texts with the model, in this order; given : (texts,) what covariates and offset add."""
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


def by_document(values: Vector | sp.csr_array, texts: SentenceTexts) -> Any:
    """Sum values (sentences, columns) over the sentences of each text."""
    n = len(texts.documents)
    return sp.csr_array((np.ones(n), np.arange(n), texts.sentence_ends), shape=(len(texts), n)) @ values


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
    """Reading for prediction: tones (tones, texts, themes), shares (texts, themes); unknown : nothing is known."""

    tones: Vector
    shares: Vector
    unknown: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ThemePredictor:
    """Reads only what prediction needs: the numbers of a `ThemeReading` in a fraction of time and memory.

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
        sentences = texts.between(0, len(texts))
        words, themes, inference = self.of_words(texts.words), self.themes, self.themes.inference
        phrases, effects = (len(self.known.parts), self.known.phrases), np.stack(tones, axis=1)
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


@dataclass(frozen=True, eq=False)
class Response:
    """A response to explain: its values (texts,), NaN if missing, and families of which the best is taken.

    given : covariates and offset, whose part of the linear predictor tone does not learn; None if absent.
    """

    values: Vector
    candidates: Candidates
    given: Given | None = None

    @property
    def simplest(self) -> Family:
        """The first of the candidates; all encode alike."""
        return self.candidates.families[0]


@dataclass(frozen=True, eq=False)
class ToneOf:
    """Tone for one response: effects (features,), and (sentences,) tone that has not seen the responses."""

    response: Response
    effects: Vector
    unseen: Vector
    choice: Choice


@dataclass(frozen=True, eq=False)
class Prepared:
    """Results of training that do not depend on the number of themes; units : (sentences, terms), vectors of terms."""

    read: PartlyRead
    lexicon: Lexicon
    units: sp.csr_array
    vectors: Vector
    weight: Vector
    tones: Sequence[ToneOf]

    @property
    def term_tones(self) -> Vector:
        """(responses, terms) effects of the content terms."""
        return np.array([tone_of_terms(self.lexicon.terms, self.lexicon.features, tone.effects) for tone in self.tones])


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Features for tone, and content terms for themes, without general words and negations of the language."""

    features: Features
    terms: Sequence[str]
    language: str | None


def learn_lexicon(
    words: Sequence[str],
    counts: TextCounts,
    n_documents: int,
    *,
    language: str | None,
    stop_words: frozenset[str],
    max_terms: int,
) -> Lexicon:
    """Choose features and content terms; stop_words : excluded from content terms."""
    feature, term = (LEAST_FEATURE, LEAST_TERM) if n_documents > FEW_TEXTS else (1, 1)
    features = learn_features(words, counts, feature, phrases=True)
    terms = content_terms(words, counts, language, stop_words, max_terms, term)
    if not terms:
        raise InputError("no content term is left: the texts are empty, or hold nothing but function words")
    return Lexicon(features, terms, language)


def prepare_themes(
    texts: SentenceTexts, responses: Sequence[Response], weight: Vector, *, compute: Compute, **options: Any
) -> Prepared:
    """Learn features, content terms and their vectors, and for each response tone and family."""
    lexicon = learn_lexicon(texts.words, count_texts(texts, compute.engine), len(texts), **options)
    read = read_features(texts, lexicon.features, compute.engine)

    def learn(response: Response) -> LearntTone:
        y, words, offset = response.simplest.encode(response.values), response.simplest.of_words, None
        if response.given is not None:
            offset, words = fit_alone(response.given, y, weight, words, compute)
        return fit_tone(read.counts, lexicon.features.sizes, y, weight, words, compute, offset), offset

    return prepare_read(read, lexicon, responses, learn, weight, compute)


def prepare_read(
    read: PartlyRead,
    lexicon: Lexicon,
    responses: Sequence[Response],
    learn: Callable[[Response], LearntTone],
    weight: Vector,
    compute: Compute,
) -> Prepared:
    """Prepare themes from texts that have been read; learn : returns the tone of a response."""
    texts, units = read.texts, count_units(read.texts, lexicon.terms, compute.engine)

    def with_family(response: Response) -> ToneOf:
        tone, offset = learn(response)
        unseen = read.unseen_tone(tone)
        whole = by_document(unseen[:, None], texts)[:, 0] + (0.0 if offset is None else offset)
        choice = choose_family(response.candidates, whole, tone.folds, response.values, weight, compute)
        return ToneOf(response, tone.effects, unseen, choice)

    # The tasks are independent.
    tasks: list[Callable[[], Any]] = [partial(with_family, each) for each in responses]
    first: list[Callable[[], Any]] = [lambda: word_vectors(units), lambda: texts.keys]
    vectors, _, *tones_of = compute.engine.map(lambda task: task(), [*first, *tasks])
    return Prepared(read, lexicon, units, vectors, weight, tones_of)


def fit_prepared(
    prepared: Prepared,
    *,
    n_themes: int,
    seed: int,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
    why: str = "",
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Learn themes, and for each response the GLM on them; return each model and its reading of these texts."""
    read, lexicon, units, weight = prepared.read, prepared.lexicon, prepared.units, prepared.weight
    text = ThemeText(lexicon.terms, prepared.term_tones, units, read.texts.documents, weight, seed_words or {})
    themes = text.themes(n_themes, seed, compute, vectors=prepared.vectors)
    readings = readings_of(read, units, [tone.effects for tone in prepared.tones], themes, compute)

    def fitted(of: ToneOf, reading: ThemeReading) -> FittedThemes:
        response, choice = of.response, of.choice
        training = ThemeTraining.of(reading, of.unseen, response.values, weight)
        effects, family, training = _level_two(training, themes, choice.family, compute, response.given)
        learnt = lexicon.language, lexicon.terms, lexicon.features, of.effects, themes, effects, training
        return FittedThemes(family, choice.described, *learnt, why)

    return [(fitted(*pair), pair[1]) for pair in zip(prepared.tones, readings, strict=True)]


def with_themes(
    models: Sequence[FittedThemes],
    themes: Themes,
    texts: SentenceTexts,
    responses: Sequence[Vector],
    weight: Vector,
    compute: Compute,
    given: Given | None = None,
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Replace the themes of models: sentences are placed anew and level 2 is fitted again; tone stays."""
    readings = read_together([replace(model, themes=themes) for model in models], texts, compute)
    refitted = []
    for model, values, reading in zip(models, responses, readings, strict=True):
        training = ThemeTraining.of(reading, model.training.unseen_tone(reading), values, weight)
        effects, family, training = _level_two(training, themes, model.family, compute, given)
        refitted.append(replace(model, family=family, themes=themes, effects=effects, training=training, why=""))
    return list(zip(refitted, readings, strict=True))


def _level_two(
    training: ThemeTraining, themes: Themes, family: Family, compute: Compute, given: Given | None = None
) -> tuple[ThemeEffects, Family, ThemeTraining]:
    """Fit the GLM on themes."""
    columns, y = (training.tone, training.shares, themes.prevalence), family.encode(training.responses)
    effects, family = fit_theme_effects(*columns, y, training.weight, family, compute, given)
    if given is not None:
        training = replace(training, given=given.linear_predictor(effects.covariate_effects))
    return effects, family, training


def learn_more(
    model: FittedThemes, texts: SentenceTexts, responses: Vector, weight: Vector, n_known: int, compute: Compute
) -> FittedThemes:
    """Update tone with more texts and refit level 2; themes, features and terms stay fixed.

    Steps on the new texts alone fit the residuals of tone there, and are weighted by their share of all texts. Level 2
    is fitted to the old tone of the new texts, which has not seen their responses.

    responses : (texts,) on the user's scale, NaN if missing; n_known : texts that tone was trained on before.
    """
    y, words = model.family.encode(responses), model.family.of_words
    read = read_features(texts, model.features, compute.engine)
    (reading,) = readings_of(read, count_units(texts, model.terms, compute.engine), [model.tone], model.themes, compute)
    unseen = reading.sentence_tone
    by_now = np.asarray(by_document(unseen[:, None], texts)[:, 0], dtype=float)
    more = fit_tone(read.counts, model.features.sizes, y, weight, words, compute, by_now).effects
    known, new = model.training, ThemeTraining.of(reading, unseen, responses, weight)
    new = replace(new, ends=known.ends[-1] + new.ends[1:])
    names = [column.name for column in fields(ThemeTraining) if column.name != "given"]
    known = ThemeTraining(**{name: np.concatenate([getattr(known, name), getattr(new, name)]) for name in names})
    # Texts that were added after the fit keep weight 0.
    counting = replace(known, weight=np.where(known.later, 0.0, known.weight))
    effects, family, _ = _level_two(counting, model.themes, model.family, compute)
    share = len(texts) / (n_known + len(texts))
    return replace(model, tone=model.tone + share * more, effects=effects, family=family, training=known)
