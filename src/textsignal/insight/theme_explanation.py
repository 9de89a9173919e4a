"""What themes, sentences and words add to one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.estimators import Predictions
from textsignal.insight.explanation import Explanation, joined_marks, largest_first, leading, slope_of
from textsignal.insight.theme_sentences import sentence_table
from textsignal.reading.words import shown_word
from textsignal.text.spans import Token, located_words
from textsignal.training.theme_reading import FittedThemes, ThemeReading

NEUTRAL = "a text with nothing good or bad in it"


def explain_themes(
    model: FittedThemes, reading: ThemeReading, predictions: Predictions, labels: Sequence[str]
) -> Explanation:
    """Put together what is known of one text; reading and predictions are of one document."""
    effects, texts = model.effects, reading.texts
    sentence = texts.sentence_of_word
    by_theme = reading.places[sentence] * effects.gamma * reading.word_tone(model.features)[:, None]
    names = [shown_word(texts.words[code], bool(no)) for code, no in zip(texts.codes, texts.negated, strict=True)]
    tone, speaking = effects.gamma * reading.tone[0], effects.beta * reading.shares[0]
    topics = {
        "topic": np.arange(model.n_themes),
        "label": list(labels),
        "share": reading.shares[0],
        "tone": tone,
        "speaking": speaking,
        "contribution": tone + speaking,
        "words": [_leading_words(names, column) for column in by_theme.T],
    }
    tokens = _tokens(reading)
    baseline = effects.constant + float(predictions.given[0])
    slope = slope_of(predictions.family, baseline, float(predictions.eta[0]))
    sentences = sentence_table(reading, effects, list(labels)).drop(columns="document")
    return Explanation(
        text=texts.texts[0],
        baseline=baseline,
        beyond=0.0,
        linear_predictor=float(predictions.eta[0]),
        baseline_prediction=float(predictions.family.mean(np.array([baseline]))[0]),
        prediction=float(predictions.mean[0]),
        probabilities=predictions.by_level.iloc[0].rename("probability"),
        unknown=bool(predictions.unknown[0]),
        unknown_words=_unknown(reading, tokens),
        topics=largest_first(topics, slope),
        words=largest_first(_words(names, by_theme, reading.places[sentence]), slope),
        marks=joined_marks(tokens, by_theme.sum(axis=1)),
        neutral=NEUTRAL,
        slope=slope,
        sentences=sentences.assign(points=sentences["contribution"] * slope),
    )


def _leading_words(names: Sequence[str], contributions: Vector) -> list[str]:
    total = pd.Series(contributions).groupby(np.array(names, dtype=object), sort=False).sum().abs()
    return [str(total.index[place]) for place in leading(total.to_numpy())]


def _words(names: Sequence[str], by_theme: Vector, places: Vector) -> dict[str, Any]:
    """Every word of the text, as itself or negated: how often, what it adds, and its first sentence's theme."""
    columns = {"word": list(names), "contribution": by_theme.sum(axis=1), "topic": places.argmax(axis=1)}
    grouped = pd.DataFrame(columns).groupby("word", sort=False)
    return {
        "word": list(grouped.groups),
        "count": grouped.size().to_numpy(),
        "contribution": grouped["contribution"].sum().to_numpy(),
        "topic": grouped["topic"].first().to_numpy(),
    }


def _tokens(reading: ThemeReading) -> list[Token]:
    """Every word of the text and where it stands, in the order of the reading's codes."""
    text = reading.texts.texts[0]
    return [
        Token(token.word, start + token.start, start + token.end)
        for start, end in reading.texts.spans.tolist()
        for token in located_words(text[start:end])
    ]


def _unknown(reading: ThemeReading, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Words and negated words that are in nothing the model knows, each once."""
    texts = reading.texts
    known = set(reading.occurrences.words.tolist())
    names = [shown_word(token.word, bool(no)) for token, no in zip(tokens, texts.negated, strict=True)]
    return tuple(dict.fromkeys(name for i, name in enumerate(names) if i not in known))
