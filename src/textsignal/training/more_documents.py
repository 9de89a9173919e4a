"""Incremental training of a theme model: themes, features and terms stay fixed, tone is updated, level 2 refitted.

Tone continues from its current effects by steps on the new documents alone, which fit its residuals there and are
weighted by their share of all documents. The old tone has not seen the responses of the new documents, so level 2 is
fitted to their old tone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import fit_theme_effects
from textsignal.training.theme_reading import (
    FittedThemes,
    ThemeReading,
    ThemeTraining,
    by_document,
    count_units,
    read_features,
    readings_of,
)
from textsignal.training.tone import fit_tone


def learn_more(
    model: FittedThemes, texts: SentenceTexts, responses: Vector, weight: Vector, n_known: int, compute: Compute
) -> FittedThemes:
    """Update the model with more documents; n_known : number of documents that tone was trained on before.

    responses : (documents,) on the user's scale, NaN if missing; weight : (documents,) how often each counts.
    """
    y = model.family.encode(responses)
    read = read_features(texts, model.features, compute.engine)
    units = count_units(texts, model.terms, compute.engine)
    (reading,) = readings_of(read, units, [model.tone], model.themes, compute)
    unseen = reading.sentence_tone
    by_now = np.asarray(by_document(unseen[:, None], texts)[:, 0], dtype=float)
    more = fit_tone(read.counts, model.features.sizes, y, weight, model.family.of_words, compute, by_now).effects
    known = _joined(model.training, reading, unseen, responses, weight)
    # Documents that were added after the fit keep weight 0.
    counting = np.where(known.later, 0.0, known.weight)
    effects, family = fit_theme_effects(
        known.tone,
        known.shares,
        model.themes.prevalence,
        model.family.encode(known.responses),
        counting,
        model.family,
        compute,
    )
    share = len(texts) / (n_known + len(texts))
    return replace(model, tone=model.tone + share * more, effects=effects, family=family, training=known)


def _joined(
    known: ThemeTraining, reading: ThemeReading, unseen: Vector, responses: Vector, weight: Vector
) -> ThemeTraining:
    """Append the new documents to those of the model; unseen : (sentences,) tone of the new ones."""
    new = ThemeTraining.of(reading, unseen, responses, weight)
    new = replace(new, ends=known.ends[-1] + new.ends[1:])
    names = ("keys", "ends", "sentence_tone", "tone", "shares", "spoken", "responses", "weight", "later")
    return ThemeTraining(**{name: np.concatenate([getattr(known, name), getattr(new, name)]) for name in names})
