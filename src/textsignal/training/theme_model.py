"""Training of themes and tone: what people speak of, how they speak of it, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.families.auto import Candidates
from textsignal.text.counts import TextCounts, count_texts
from textsignal.text.features import Features, content_terms, learn_features
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import Choice, ThemeEffects, choose_family, fit_theme_effects
from textsignal.training.covariate_effects import fit_alone
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
from textsignal.training.themes import Themes, fit_themes
from textsignal.training.tone import Tone, fit_tone
from textsignal.training.word_vectors import word_vectors

#: Minimum number of documents with a feature, or with a content term.
LEAST_FEATURE, LEAST_TERM = 2, 3


@dataclass(frozen=True, eq=False)
class Response:
    """A response to explain.

    values : (documents,) on the family's scale, NaN if missing.
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
    weight : (documents,) how often each counts.
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
        """Of the first response."""
        return self.tones[0].response.simplest


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Features for tone and content terms for themes.

    language : its general words and negations are excluded from content terms.
    """

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
    many = n_documents > 50
    features = learn_features(words, counts, LEAST_FEATURE if many else 1, phrases=True)
    terms = content_terms(words, counts, language, stop_words, max_terms, LEAST_TERM if many else 1)
    if not terms:
        raise InputError("no content term is left: the texts are empty, or hold nothing but function words")
    return Lexicon(features, terms, language)


def prepare_themes(
    texts: SentenceTexts,
    responses: Sequence[Response],
    weight: Vector,
    *,
    language: str | None,
    stop_words: frozenset[str],
    max_terms: int,
    compute: Compute,
) -> Prepared:
    """Learn features, content terms and their vectors, and for each response tone and family.

    weight : (documents,) how often each counts; others as in `learn_lexicon`.
    """
    counts = count_texts(texts, compute.engine)
    lexicon = learn_lexicon(
        texts.words, counts, len(texts), language=language, stop_words=stop_words, max_terms=max_terms
    )
    read = read_features(texts, lexicon.features, compute.engine)
    tones = [partial(_tone_of, response, read, lexicon.features, weight, compute) for response in responses]
    return prepare_read(read, lexicon, responses, tones, weight, compute)


def prepare_read(
    read: PartlyRead,
    lexicon: Lexicon,
    responses: Sequence[Response],
    tones: Sequence[Callable[[], tuple[Tone, Vector | None]]],
    weight: Vector,
    compute: Compute,
) -> Prepared:
    """Prepare themes from texts that have been read.

    tones : for each response, a function that returns tone, and (documents,) the linear predictor of covariates and
        offset alone.
    """
    units = count_units(read.texts, lexicon.terms, compute.engine)

    def with_family(response: Response, tone: Callable[[], tuple[Tone, Vector | None]]) -> ToneOf:
        return _with_family(response, *tone(), read, weight, compute)

    # The tasks are independent.
    tasks: list[Callable[[], Any]] = [partial(with_family, *pair) for pair in zip(responses, tones, strict=True)]
    first: list[Callable[[], Any]] = [lambda: word_vectors(units), lambda: read.texts.keys]
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
    """Learn themes, and for each response the GLM on them; give each model and what it reads in these texts.

    All models have the same features, terms and themes.

    why : reason for the number of themes, for display; "" if the user set it.
    """
    read, units, terms, weight = prepared.read, prepared.units, prepared.terms, prepared.weight
    by_sentence = weight[read.texts.documents]
    themes = fit_themes(
        units,
        prepared.vectors,
        terms,
        by_sentence,
        prepared.term_tones,
        n_themes,
        seed,
        prepared.family,
        compute,
        seed_words,
    )
    readings = readings_of(read, units, [tone.effects for tone in prepared.tones], themes, compute)
    models = []
    for tone, reading in zip(prepared.tones, readings, strict=True):
        values, given, chosen = tone.response.values, tone.response.given, tone.choice
        effects, family, training = _level_two(
            reading, themes, tone.unseen, values, weight, chosen.family, compute, given
        )
        models.append(
            FittedThemes(
                family,
                chosen.described,
                prepared.language,
                terms,
                prepared.features,
                tone.effects,
                themes,
                effects,
                training,
                why,
            )
        )
    return list(zip(models, readings, strict=True))


def _tone_of(
    response: Response, read: PartlyRead, features: Features, weight: Vector, compute: Compute
) -> tuple[Tone, Vector | None]:
    """Tone, and (documents,) the linear predictor of covariates and offset alone; None if absent."""
    y, words, offset = response.simplest.encode(response.values), response.simplest.of_words, None
    if response.given is not None:
        offset, words = fit_alone(response.given, y, weight, words, compute)
    return fit_tone(read.counts, features.sizes, y, weight, words, compute, offset), offset


def _with_family(
    response: Response, tone: Tone, offset: Vector | None, read: PartlyRead, weight: Vector, compute: Compute
) -> ToneOf:
    """Tone with the family that suits it; offset : (documents,) what covariates and offset add by themselves."""
    texts = read.texts
    unseen = read.unseen_tone(tone)
    whole = by_document(unseen[:, None], texts)[:, 0] + (0.0 if offset is None else offset)
    choice = choose_family(response.candidates, whole, tone.folds, response.values, weight, compute)
    return ToneOf(response, tone.effects, unseen, choice)


def with_themes(
    models: Sequence[FittedThemes],
    themes: Themes,
    texts: SentenceTexts,
    responses: Sequence[Vector],
    weight: Vector,
    compute: Compute,
    given: Given | None = None,
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Models of the same themes with others: sentences are placed anew and level 2 is fitted again; tone stays.

    texts, responses, weight, given : what to fit level 2 to, responses for each model; tone of texts that were in
    training is out of fold.
    """
    readings = read_together([replace(model, themes=themes) for model in models], texts, compute)
    refitted = []
    for model, values, reading in zip(models, responses, readings, strict=True):
        unseen = model.training.unseen_tone(reading)
        effects, family, training = _level_two(reading, themes, unseen, values, weight, model.family, compute, given)
        refitted.append(replace(model, family=family, themes=themes, effects=effects, training=training, why=""))
    return list(zip(refitted, readings, strict=True))


def _level_two(
    reading: ThemeReading,
    themes: Themes,
    unseen: Vector,
    responses: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    given: Given | None,
) -> tuple[ThemeEffects, Family, ThemeTraining]:
    """Fit the GLM on themes; unseen : (sentences,) tone that has not seen the responses."""
    training = ThemeTraining.of(reading, unseen, responses, weight)
    y = family.encode(responses)
    effects, family = fit_theme_effects(
        training.tone, reading.shares, themes.prevalence, y, weight, family, compute, given
    )
    if given is not None:
        training = replace(training, given=given.linear_predictor(effects.covariate_effects))
    return effects, family, training
