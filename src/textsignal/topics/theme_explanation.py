"""What themes, sentences and words add to one prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.estimators import Predictions
from textsignal.text.features import NOT, PHRASE
from textsignal.text.spans import Token, located_words
from textsignal.topics.explanation import Explanation, joined_marks, largest_first, leading, slope_of
from textsignal.topics.theme_sentences import sentence_table
from textsignal.training.theme_reading import FittedThemes, ThemeReading

NEUTRAL = "a text with nothing good or bad in it"


def explain_themes(
    model: FittedThemes, reading: ThemeReading, predictions: Predictions, labels: Sequence[str]
) -> Explanation:
    """Put together what is known of one text; reading and predictions are of one document."""
    effects, features, found = model.effects, model.features, reading.occurrences
    sentence = reading.sentence_of_occurrence
    by_theme = reading.places[sentence] * effects.gamma * reading.values[:, None]
    names = np.array([features.names[j] for j in found.features], dtype=object)
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
    slope = slope_of(predictions.family, effects.constant, float(predictions.eta[0]))
    sentences = sentence_table(reading, effects, list(labels)).drop(columns="document")
    return Explanation(
        text=reading.texts.texts[0],
        baseline=effects.constant,
        beyond=0.0,
        linear_predictor=float(predictions.eta[0]),
        baseline_prediction=float(predictions.family.mean(np.array([effects.constant]))[0]),
        prediction=float(predictions.mean[0]),
        probabilities=pd.Series(predictions.probabilities[0], index=predictions.family.levels, name="probability"),
        unknown=bool(predictions.unknown[0]),
        unknown_words=_unknown(reading, tokens),
        topics=largest_first(topics, slope),
        words=largest_first(_words(names, by_theme, reading.places[sentence].argmax(axis=1)), slope),
        marks=joined_marks(tokens, _by_token(model, reading, by_theme.sum(axis=1), len(tokens))),
        neutral=NEUTRAL,
        slope=slope,
        sentences=sentences.assign(points=sentences["contribution"] * slope),
    )


def _leading_words(names: np.ndarray, contributions: Vector) -> list[str]:
    total = pd.Series(contributions).groupby(names, sort=False).sum().abs()
    return [str(total.index[place]) for place in leading(total.to_numpy())]


def _words(names: np.ndarray, by_theme: Vector, main: np.ndarray) -> dict[str, object]:
    """Every word, negated word and phrase of the text: how often, what it adds, and its sentences' theme."""
    table = pd.DataFrame({"word": names, "contribution": by_theme.sum(axis=1), "topic": main})
    grouped = table.groupby("word", sort=False)
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


def _by_token(model: FittedThemes, reading: ThemeReading, contributions: Vector, n_tokens: int) -> Vector:
    """(words of the text,) what each adds; half of a phrase is its first word's."""
    words, is_phrase = reading.occurrences.words, model.features.kinds[reading.occurrences.features] == PHRASE
    added = np.bincount(words, weights=np.where(is_phrase, contributions / 2, contributions), minlength=n_tokens)
    first = np.bincount(words[is_phrase] - 1, weights=contributions[is_phrase] / 2, minlength=n_tokens)
    return np.asarray(added + first, dtype=float)


def _unknown(reading: ThemeReading, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Words and negated words that are no feature, each once."""
    texts = reading.texts
    known = {*reading.occurrences.words.tolist(), *np.flatnonzero(texts.negating).tolist()}
    names = [
        f"{NOT}{token.word}" if negated else token.word for token, negated in zip(tokens, texts.negated, strict=True)
    ]
    return tuple(dict.fromkeys(name for i, name in enumerate(names) if i not in known))
