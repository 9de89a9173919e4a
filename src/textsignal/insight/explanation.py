"""What topics and words add to one prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderableType

from textsignal.arrays import Vector
from textsignal.data.covariates.given import Given
from textsignal.estimators import Predictions
from textsignal.families import Family, check_trainable
from textsignal.insight import explanation_views as show
from textsignal.insight.theme_sentences import sentence_table
from textsignal.reading.classes import ClassReader
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import shown_word
from textsignal.text.tokenise import LocatedText, Token, located_words
from textsignal.training.effects import CentredEffects, word_shares
from textsignal.training.theme_reading import FittedThemes, ThemeReading

#: Words that are listed for a topic: so many, with at least this part of the largest share.
TOPIC_WORDS, LEAST_PART = 5, 0.25
#: Linear predictors that are closer than this are one.
SAME = 1e-6
#: The same as a share of large ones, which hold no smaller difference.
ROUNDED = 1e-12


@dataclass(frozen=True)
class Mark:
    """A part of the text, `text[start:end]`, and what it adds to the linear predictor."""

    start: int
    end: int
    contribution: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why the model expects this response of this text.

        linear predictor = baseline + sum of the topics' contributions + beyond
        a topic's contribution = sum of what it adds by way of each word

    Attributes
    ----------
    text : what is explained, without HTML.
    baseline : linear predictor of a text of this size that mixes topics as the average text does, with its covariates.
    beyond : what single words add beyond the topics; 0 for a model without `word_residual`.
    linear_predictor : that of this text.
    baseline_prediction, prediction : the expected responses at these two.
    probabilities : Series, probability of every level; empty where responses have no levels.
    unknown : whether the text has no known term; then the mean weights were used, and no word has a contribution.
    unknown_words : words that are in no term of the model, stop words aside.
    topics : DataFrame, largest contribution of either sign first. Columns: topic, label, contribution, points, words
        (those of this text that carry it most); for topics weight and effect (per unit of weight, against the average
        text); for themes share (of the text), tone and speaking (by how, and by that it is spoken of).
    words : DataFrame, in the same order. Columns: word (a term of the model, or "not" and a negated word), count,
        contribution, points, topic (the one that uses it most in this text, or its sentence's main theme).
    marks : places in the text with what they add; a term of several words is spread evenly over them.
    neutral : what the baseline is the prediction of.
    slope : points of the response per unit of the linear predictor, along the line from the baseline to this text. A
        column `points` is contribution * slope, so points and the baseline's prediction add up to this prediction.
    sentences : DataFrame, in their order, for a model of themes; else None. Columns: sentence, start, end, topic,
        theme, share, tone (the sum over its words), speaking (what speaking of its themes does), contribution (both),
        points.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
    >>> explanation = model.explain("Friendly staff, but a dirty bathroom.")
    >>> total = explanation.baseline + explanation.topics["contribution"].sum()
    >>> bool(abs(total - explanation.linear_predictor) < 1e-10)
    True
    >>> sorted(explanation.words["word"])[:3]
    ['bathroom', 'but', 'dirty']
    """

    text: str
    baseline: float
    beyond: float
    linear_predictor: float
    baseline_prediction: float
    prediction: float
    probabilities: pd.Series
    unknown: bool
    unknown_words: tuple[str, ...]
    topics: pd.DataFrame
    words: pd.DataFrame
    marks: tuple[Mark, ...]
    neutral: str
    slope: float
    sentences: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return show.as_text(self)

    def _repr_html_(self) -> str:
        return show.as_html(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        return show.as_rich(self, options)


def explain_text(
    *,
    located: LocatedText,
    row: sp.csr_array,
    direct: Vector,
    predictions: Predictions,
    centred: CentredEffects,
    intercept: float,
    topics: NDArray[np.floating],
    labels: Sequence[str],
    terms: Sequence[str],
) -> Explanation:
    """Put together what is known of one text.

    located, row, predictions : its words, its row of X and what the model says of it, each of one document.
    direct : (nonzeros of the row,) what its terms add beyond the topics.
    centred, intercept, topics, labels, terms : the model's, in the order of topics and terms.
    """
    weights = predictions.weights[0] * centred.size
    contributions = weights * centred.effects
    baseline = intercept + centred.centre * float(weights.sum()) + float(predictions.given[0])
    used = topics[:, row.indices].astype(float)
    # A text with no known term got the mean weights, and these are due to no word of it.
    shares = word_shares(row.data.astype(float), predictions.weights[0] * (not predictions.unknown[0]), used)
    named = [str(terms[j]) for j in row.indices]
    by_word = contributions @ shares + direct
    counts = np.bincount([term.column for term in located.terms], minlength=topics.shape[1])
    by_topic = {
        "topic": np.arange(len(weights)),
        "label": list(labels),
        "weight": weights,
        "effect": centred.effects,
        "contribution": contributions,
        "words": [[named[j] for j in leading(share)] for share in shares],
    }
    owner = np.argmax(predictions.weights[0][:, None] * used, axis=0)
    words = {"word": named, "count": counts[row.indices], "contribution": by_word, "topic": owner}
    slope = slope_of(predictions.family, baseline, float(predictions.eta[0]))
    return Explanation(
        text=located.text,
        baseline=baseline,
        beyond=float(predictions.beyond[0]),
        linear_predictor=float(predictions.eta[0]),
        baseline_prediction=float(predictions.family.mean(np.array([baseline]))[0]),
        prediction=float(predictions.mean[0]),
        probabilities=predictions.by_level.iloc[0].rename("probability"),
        unknown=bool(predictions.unknown[0]),
        unknown_words=tuple(located.unknown),
        topics=largest_first(by_topic, slope),
        words=largest_first(words, slope),
        marks=_marks(located, dict(zip(row.indices.tolist(), by_word, strict=True)), counts),
        neutral="a text of average topics",
        slope=slope,
    )


def slope_of(family: Family, baseline: float, eta: float) -> float:
    """Response per unit of the linear predictor along the line from the baseline to eta; where both are one, there.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> round(slope_of(Binomial(4, 1), 0.0, 0.0), 3), round(slope_of(Binomial(4, 1), 0.0, 2.0), 3)
    (1.0, 0.762)
    """
    same = max(SAME, ROUNDED * abs(baseline))
    if abs(eta - baseline) < same:
        baseline, eta = baseline - same, baseline + same
    low, high = family.mean(np.array([baseline, eta]))
    return float((high - low) / (eta - baseline))


def leading(shares: Vector) -> NDArray[np.int64]:
    """Places of the largest shares, largest first."""
    places = np.argsort(-shares, kind="stable")[:TOPIC_WORDS]
    return places[shares[places] > LEAST_PART * shares.max(initial=0)]


def largest_first(columns: dict[str, Any], slope: float) -> pd.DataFrame:
    """A table in the order of contributions of either sign, with these in points of the response too."""
    table = pd.DataFrame(columns)
    table.insert(table.columns.get_loc("contribution") + 1, "points", table["contribution"] * slope)
    return table.sort_values("contribution", key=lambda c: -c.abs(), kind="stable", ignore_index=True)


def _marks(located: LocatedText, by_term: dict[int, float], counts: NDArray[np.int64]) -> tuple[Mark, ...]:
    """Spread each term's contribution over its occurrences, and over the words of each."""
    added = np.zeros(len(located.tokens))
    for term in located.terms:
        added[list(term.positions)] += by_term[term.column] / (counts[term.column] * len(term.positions))
    return joined_marks(located.tokens, added)


def joined_marks(tokens: Sequence[Token], added: Vector) -> tuple[Mark, ...]:
    """A mark for every token and what it adds; several words in one character are one."""
    marks: list[Mark] = []
    for token, contribution in zip(tokens, added.tolist(), strict=True):
        if marks and token.start < marks[-1].end:  # several words in one character
            before = marks.pop()
            marks.append(Mark(before.start, token.end, before.contribution + contribution))
        else:
            marks.append(Mark(token.start, token.end, contribution))
    return tuple(marks)


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


@singledispatch
def explain(reader: Reader, text: str, labels: Sequence[str], given: Given | None = None) -> Explanation:
    """Explain the prediction of one text; labels : of all topics; given : covariates and offset, None for average."""
    raise TypeError(f"a {type(reader).__name__} explains nothing")


@explain.register(ThemeReader)
def _explain_theme(reader: ThemeReader, text: str, labels: Sequence[str], given: Given | None = None) -> Explanation:
    reading = reader.read([text], given)
    assert reading.sentences is not None
    return explain_themes(reader.fitted, reading.sentences, reading.predictions, labels)


@explain.register(MatrixReader)
def _explain_matrix(reader: MatrixReader, text: str, labels: Sequence[str], given: Given | None = None) -> Explanation:
    check_trainable(reader.family, "explanations")
    row = sp.csr_array(reader.vectorizer.transform([text]))
    scaled = reader.estimator.inference.rows(row)
    return explain_text(
        located=reader.vectorizer.locate(text),
        row=row,
        direct=scaled.data * reader.estimator.word_effects_[scaled.indices],
        predictions=reader._predictions(row, given),
        centred=reader.estimator.centred_effects,
        intercept=reader.estimator.intercept_,
        topics=reader.estimator.components_,
        labels=labels,
        terms=reader.terms,
    )


@explain.register(ClassReader)
def _explain_class(reader: ClassReader, text: str, labels: Sequence[str], given: Given | None = None) -> Explanation:
    raise reader.of_one_class("explanations")
