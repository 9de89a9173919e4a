"""What topics and words add to one prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderableType

from textsignal.arrays import Vector
from textsignal.estimators import Predictions
from textsignal.text.spans import LocatedText
from textsignal.topics import explanation_views as show
from textsignal.topics.effects import CentredEffects, word_shares

#: Words that are listed for a topic: so many, with at least this part of the largest share.
TOPIC_WORDS, LEAST_PART = 5, 0.25


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
    baseline : linear predictor of a text of this size that mixes topics as the average text does.
    beyond : what single words add beyond the topics; 0 for a model without `word_residual`.
    linear_predictor : that of this text.
    baseline_prediction, prediction : the expected responses at these two.
    probabilities : Series, probability of every level.
    unknown : whether the text has no known term; then the mean weights were used, and no word has a contribution.
    unknown_words : words that are in no term of the model, stop words aside.
    topics : DataFrame, largest contribution of either sign first. Columns: topic, label, weight, effect (per unit of
        weight, against the average text), contribution (weight times effect), words (those of this text that carry
        it most).
    words : DataFrame, in the same order. Columns: word (a term of the model), count, contribution, topic (the one that
        uses it most in this text).
    marks : places in the text with what they add; a term of several words is spread evenly over them.

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
    baseline = intercept + centred.centre * float(weights.sum())
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
        "words": [[named[j] for j in _leading(share)] for share in shares],
    }
    owner = np.argmax(predictions.weights[0][:, None] * used, axis=0)
    words = {"word": named, "count": counts[row.indices], "contribution": by_word, "topic": owner}
    return Explanation(
        text=located.text,
        baseline=baseline,
        beyond=float(predictions.beyond[0]),
        linear_predictor=float(predictions.eta[0]),
        baseline_prediction=float(predictions.family.mean(np.array([baseline]))[0]),
        prediction=float(predictions.mean[0]),
        probabilities=pd.Series(predictions.probabilities[0], index=predictions.family.levels, name="probability"),
        unknown=bool(predictions.unknown[0]),
        unknown_words=tuple(located.unknown),
        topics=_largest_first(by_topic),
        words=_largest_first(words),
        marks=_marks(located, dict(zip(row.indices.tolist(), by_word, strict=True)), counts),
    )


def _leading(shares: Vector) -> NDArray[np.int64]:
    """Places of the largest shares, largest first."""
    places = np.argsort(-shares, kind="stable")[:TOPIC_WORDS]
    return places[shares[places] > LEAST_PART * shares.max(initial=0)]


def _largest_first(columns: dict[str, Any]) -> pd.DataFrame:
    """A table in the order of contributions of either sign."""
    return pd.DataFrame(columns).sort_values("contribution", key=lambda c: -c.abs(), kind="stable", ignore_index=True)


def _marks(located: LocatedText, by_term: dict[int, float], counts: NDArray[np.int64]) -> tuple[Mark, ...]:
    """Spread each term's contribution over its occurrences, and over the words of each."""
    added = np.zeros(len(located.tokens))
    for term in located.terms:
        added[list(term.positions)] += by_term[term.column] / (counts[term.column] * len(term.positions))
    marks: list[Mark] = []
    for token, contribution in zip(located.tokens, added.tolist(), strict=True):
        if marks and token.start < marks[-1].end:  # several words in one character
            before = marks.pop()
            marks.append(Mark(before.start, token.end, before.contribution + contribution))
        else:
            marks.append(Mark(token.start, token.end, contribution))
    return tuple(marks)
