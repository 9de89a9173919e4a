"""Training of themes and tone: what people speak of, how they speak of it, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textsignal.arrays import Vector
from textsignal.covariates.given import Given
from textsignal.engines import Compute
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.families.auto import Candidates
from textsignal.text.content import content_terms
from textsignal.text.features import learn_features
from textsignal.text.units import SentenceTexts
from textsignal.training.contributions import ThemeEffects, fit_theme_effects
from textsignal.training.covariate_effects import fit_alone
from textsignal.training.family_choice import choose_family
from textsignal.training.theme_reading import (
    FittedThemes,
    ThemeReading,
    ThemeTraining,
    by_document,
    count_units,
    read_features,
    read_themes,
    reading_of,
    sentence_ends,
    text_keys,
    tone_of_terms,
)
from textsignal.training.themes import Themes, fit_themes
from textsignal.training.tone import fit_tone
from textsignal.training.word_vectors import word_vectors

#: Features and content terms are in at least so many documents.
LEAST_FEATURE, LEAST_TERM = 2, 3


def fit_theme_model(
    texts: SentenceTexts,
    responses: Vector,
    weight: Vector,
    *,
    n_themes: int,
    candidates: Candidates,
    language: str | None,
    stop_words: frozenset[str],
    max_terms: int,
    seed: int,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
    given: Given | None = None,
) -> tuple[FittedThemes, ThemeReading]:
    """Learn themes, tone and the GLM on themes; give the model and what it reads in these texts.

    candidates : the response's family, or several of which the best is taken.
    responses : (documents,) on the family's scale, NaN where there is none; weight : (documents,) how often each
    counts; language : whose general words and negations are no content terms; stop_words : nor are these; given :
    covariates and offset, whose part of the linear predictor tone does not learn.
    """
    family = candidates.families[0]
    y = family.encode(responses)
    features = learn_features(texts, LEAST_FEATURE if len(texts) > 50 else 1, phrases=True)
    terms = content_terms(texts, language, stop_words, max_terms, LEAST_TERM if len(texts) > 50 else 1)
    if not terms:
        raise InputError("no content term is left: the texts are empty, or hold nothing but function words")
    read = read_features(texts, features)
    units = count_units(texts, terms)
    words, kernels = family.of_words, compute.kernels
    offset = None
    if given is not None:
        offset, words = fit_alone(given, y, weight, words, compute)
    # Neither needs the other.
    tasks: list[Callable[[], Any]] = [
        lambda: fit_tone(read.weighed.counts, features.sizes, y, weight, words, kernels, offset),
        lambda: word_vectors(units),
    ]
    tone, vectors = compute.engine.map(lambda task: task(), tasks)
    of_terms = tone_of_terms(terms, features, tone.effects)
    by_sentence = weight[texts.documents]
    themes = fit_themes(units, vectors, terms, by_sentence, of_terms, n_themes, seed, family, compute, seed_words)
    reading = reading_of(read, units, tone.effects, themes, compute)
    unseen = read.tone_of_sentences(tone.out_of_fold(texts.documents[read.sentences], read.occurrences.features))
    whole = by_document(unseen[:, None], texts)[:, 0] + (0.0 if offset is None else offset)
    choice = choose_family(candidates, whole, tone.folds, responses, weight, compute)
    effects, family, training = _level_two(reading, themes, unseen, responses, weight, choice.family, compute, given)
    said = choice.described
    return FittedThemes(family, said, language, terms, features, tone.effects, themes, effects, training), reading


def with_themes(
    model: FittedThemes,
    themes: Themes,
    texts: SentenceTexts,
    responses: Vector,
    weight: Vector,
    compute: Compute,
    given: Given | None = None,
) -> tuple[FittedThemes, ThemeReading]:
    """The model with other themes: sentences are placed anew and level 2 is fitted again; tone stays as it is.

    texts, responses, weight, given : what to fit level 2 to; tone of texts that were in training is out of fold.
    """
    reading = read_themes(replace(model, themes=themes), texts, compute)
    unseen = model.training.unseen_tone(reading)
    effects, family, training = _level_two(reading, themes, unseen, responses, weight, model.family, compute, given)
    return replace(model, family=family, themes=themes, effects=effects, training=training), reading


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
    tone, texts = reading.tone_by_theme(unseen), reading.texts
    y = family.encode(responses)
    effects, family = fit_theme_effects(tone, reading.shares, themes.prevalence, y, weight, family, compute, given)
    keys, ends = text_keys(texts.texts), sentence_ends(texts)
    spoken = reading.spoken
    held_out = np.zeros(len(keys), dtype=bool)
    beside = None if given is None else given.linear_predictor(effects.covariate_effects)
    training = ThemeTraining(keys, ends, unseen, tone, reading.shares, spoken, responses, weight, held_out, beside)
    return effects, family, training
