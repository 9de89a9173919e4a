"""Training of themes and tone: what texts are about, how they speak of it, and its effect on the response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.families.auto import Candidates
from textsignal.text.features import Features, TextCounts, content_terms, count_texts, learn_features
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import Choice, ThemeEffects, choose_family, fit_theme_effects
from textsignal.training.glm import fit_alone
from textsignal.training.theme_reading import (
    FittedThemes,
    PartlyRead,
    ThemeReading,
    ThemeTraining,
    by_document,
    count_units,
    read_features,
    read_together,
    readings_of,
    tone_of_terms,
)
from textsignal.training.themes import Themes, ThemeText, word_vectors
from textsignal.training.tone import Tone, fit_tone

#: Minimum number of texts with a feature, or with a content term; only one if there are at most FEW_TEXTS texts.
LEAST_FEATURE, LEAST_TERM, FEW_TEXTS = 2, 3, 50
#: Tone, and (texts,) the linear predictor of covariates and offset alone, None if absent.
LearntTone: TypeAlias = tuple[Tone, Vector | None]


@dataclass(frozen=True, eq=False)
class Response:
    """A response to explain.

    values : (texts,) on the family's scale, NaN if missing.
    candidates : its family, or several of which the best is taken.
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
    """Results for one response that do not depend on themes.

    effects : (features,) tone; unseen : (sentences,) tone that has not seen the responses; choice : of the family.
    """

    response: Response
    effects: Vector
    unseen: Vector
    choice: Choice


@dataclass(frozen=True, eq=False)
class Prepared:
    """Results of training that do not depend on the number of themes.

    terms, units : content terms and (sentences, terms) their counts; vectors : (terms, dimensions) of the terms.
    weight : (texts,) how often each counts.
    """

    read: PartlyRead
    language: str | None
    features: Features
    terms: Sequence[str]
    units: sp.csr_array
    vectors: Vector
    weight: Vector
    tones: Sequence[ToneOf]

    @property
    def term_tones(self) -> Vector:
        """(responses, terms) effects of the content terms."""
        return np.array([tone_of_terms(self.terms, self.features, tone.effects) for tone in self.tones])

    @property
    def family(self) -> Family:
        """Family of the first response."""
        return self.tones[0].response.simplest


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
    """Learn features, content terms and their vectors, and for each response tone and family.

    weight : (texts,) how often each counts; options : of `learn_lexicon`.
    """
    lexicon = learn_lexicon(texts.words, count_texts(texts, compute.engine), len(texts), **options)
    read = read_features(texts, lexicon.features, compute.engine)

    def learn(response: Response) -> LearntTone:
        y, words, offset = response.simplest.encode(response.values), response.simplest.of_words, None
        if response.given is not None:
            offset, words = fit_alone(response.given, y, weight, words, compute)
        return fit_tone(read.counts, lexicon.features.sizes, y, weight, words, compute, offset), offset

    return prepare_read(read, lexicon, [(each, partial(learn, each)) for each in responses], weight, compute)


def prepare_read(
    read: PartlyRead,
    lexicon: Lexicon,
    tones: Sequence[tuple[Response, Callable[[], LearntTone]]],
    weight: Vector,
    compute: Compute,
) -> Prepared:
    """Prepare themes from texts that have been read; tones : responses, each with a function that learns its tone."""
    texts, units = read.texts, count_units(read.texts, lexicon.terms, compute.engine)

    def with_family(response: Response, learn: Callable[[], LearntTone]) -> ToneOf:
        tone, offset = learn()
        unseen = read.unseen_tone(tone)
        whole = by_document(unseen[:, None], texts)[:, 0] + (0.0 if offset is None else offset)
        choice = choose_family(response.candidates, whole, tone.folds, response.values, weight, compute)
        return ToneOf(response, tone.effects, unseen, choice)

    # The tasks are independent.
    tasks: list[Callable[[], Any]] = [partial(with_family, *pair) for pair in tones]
    first: list[Callable[[], Any]] = [lambda: word_vectors(units), lambda: texts.keys]
    vectors, _, *tones_of = compute.engine.map(lambda task: task(), [*first, *tasks])
    return Prepared(read, lexicon.language, lexicon.features, lexicon.terms, units, vectors, weight, tones_of)


def fit_prepared(
    prepared: Prepared,
    *,
    n_themes: int,
    seed: int,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
    why: str = "",
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Learn themes, and for each response the GLM on them; return each model and its reading of these texts.

    All models have the same features, terms and themes.

    why : reason for the number of themes, for display; "" if the user set it.
    """
    read, units, terms, weight = prepared.read, prepared.units, prepared.terms, prepared.weight
    text = ThemeText(terms, prepared.term_tones, units, read.texts.documents, weight, seed_words or {})
    themes = text.themes(n_themes, prepared.family, seed, compute, vectors=prepared.vectors)
    readings = readings_of(read, units, [tone.effects for tone in prepared.tones], themes, compute)

    def fitted(of: ToneOf, reading: ThemeReading) -> FittedThemes:
        response, choice = of.response, of.choice
        training = ThemeTraining.of(reading, of.unseen, response.values, weight)
        effects, family, training = _level_two(training, themes, choice.family, compute, response.given)
        learnt = prepared.language, terms, prepared.features, of.effects, themes, effects, training
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
    """Replace the themes of models: sentences are placed anew and level 2 is fitted again; tone stays.

    texts, responses, weight, given : what level 2 is fitted to, responses for each model; tone of texts of training is
        out of fold.
    """
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

    Tone continues from its current effects by steps on the new texts alone, which fit its residuals there and are
    weighted by their share of all texts. The old tone has not seen the responses of the new texts, so level 2 is fitted
    to their old tone.

    responses : (texts,) on the user's scale, NaN if missing; weight : (texts,) how often each counts.
    n_known : number of texts that tone was trained on before.
    """
    y, words = model.family.encode(responses), model.family.of_words
    read = read_features(texts, model.features, compute.engine)
    units = count_units(texts, model.terms, compute.engine)
    (reading,) = readings_of(read, units, [model.tone], model.themes, compute)
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
