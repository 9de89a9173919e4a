"""Explanation of one prediction: contributions of themes and words, as text, as HTML and on a terminal."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from textsignal.arrays import Vector
from textsignal.estimators import Predictions, TopicEstimator
from textsignal.families import Family, check_trainable
from textsignal.insight.examples import sentence_table
from textsignal.palette import NEGATIVE, POSITIVE
from textsignal.reading.themes import Reading
from textsignal.reading.words import shown_word
from textsignal.text.tokenise import LocatedText, Token, located_words
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.theme_reading import ThemeReading
from textsignal.training.topics import word_shares

#: Most words listed for a theme, and the smallest share of one relative to the largest.
TOPIC_WORDS, LEAST_PART = 5, 0.25
#: Linear predictors that are closer than this count as equal.
SAME = 1e-6
#: Relative tolerance for large linear predictors, limited by rounding.
ROUNDED = 1e-12
#: Themes, words and unknown words that are shown.
SHOWN = 8
#: Characters of a text that are shown.
TEXT_CAP = 20_000
#: Contributions below this share of the largest are not marked in the text.
FAINT = 0.05
#: Themes that add fewer points are shown together; characters of a sentence that are shown.
FAINT_POINTS, SENTENCE_CAP = 0.005, 120
#: Scales of more levels are not shown as bars; how long a bar is for a probability of 1.
MOST_BARS, BAR_LENGTH = 11, 40


@dataclass(frozen=True)
class Mark:
    """A span of the text, `text[start:end]`, and its contribution to the linear predictor."""

    start: int
    end: int
    contribution: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of the response that the model expects of one text.

        linear predictor = baseline + sum of the themes' contributions + beyond
        a theme's contribution = sum of what it adds by way of each word

    Attributes
    ----------
    text : the explained text, without HTML.
    baseline : linear predictor of a text of this size that mixes themes as the average text does, with its covariates.
    beyond : what single words add beyond the themes; 0 for a model without `word_residual`.
    linear_predictor : linear predictor of this text.
    baseline_prediction, prediction : expected responses at the baseline and at the linear predictor.
    probabilities : Series, probability of every level; empty if responses have no levels.
    unknown : True if the text has no known term; then the mean weights were used, and no word has a contribution.
    unknown_words : words that are in no term of the model, stop words aside.
    themes : DataFrame, largest contribution of either sign first. Columns: theme, label, contribution, points, words
        (those of this text that carry it most); for themes weight and effect (per unit of weight, against the average
        text); for themes share (of the text), tone (of the words about it) and speaking (effect of its share).
    words : DataFrame, in the same order. Columns: word (a term of the model, or "not" and a negated word), count,
        contribution, points, theme (the one that uses it most in this text, or its sentence's main theme).
    marks : spans of the text with their contributions; a term of several words is spread evenly over them.
    neutral : description of the text that the baseline stands for.
    slope : points of the response per unit of the linear predictor, along the line from the baseline to this text. A
        column `points` is contribution * slope, so points and the baseline's prediction add up to this prediction.
    sentences : DataFrame, in their order, for a model of themes; else None. Columns: sentence, start, end, theme,
        theme, share, tone (the sum over its words), speaking (the effect of its themes), contribution (both),
        points.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
    >>> explanation = model.explain("Friendly staff, but a dirty bathroom.")
    >>> total = explanation.baseline + explanation.themes["contribution"].sum()
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
    themes: pd.DataFrame
    words: pd.DataFrame
    marks: tuple[Mark, ...]
    neutral: str
    slope: float
    sentences: pd.DataFrame | None = None

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        return as_rich(self, options)


def _explanation(
    text: str,
    predictions: Predictions,
    *,
    baseline: float,
    neutral: str,
    themes: dict[str, Any],
    words: dict[str, Any],
    sentences: pd.DataFrame | None = None,
    **parts: Any,
) -> Explanation:
    """Add predictions and points of the response to the contributions of one text; parts : other fields."""
    eta = float(predictions.eta[0])
    slope = slope_of(predictions.family, baseline, eta)
    return Explanation(
        text=text,
        baseline=baseline,
        beyond=float(predictions.beyond[0]),
        linear_predictor=eta,
        baseline_prediction=float(predictions.family.mean(np.array([baseline]))[0]),
        prediction=float(predictions.mean[0]),
        probabilities=predictions.by_level.iloc[0].rename("probability"),
        unknown=bool(predictions.unknown[0]),
        themes=_largest_first(themes, slope),
        words=_largest_first(words, slope),
        neutral=neutral,
        slope=slope,
        sentences=None if sentences is None else sentences.assign(points=sentences["contribution"] * slope),
        **parts,
    )


def slope_of(family: Family, baseline: float, eta: float) -> float:
    """Return the slope of the mean response between baseline and eta, or its derivative if both are equal.

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


def _leading(shares: Vector) -> NDArray[np.int64]:
    """Positions of the largest shares, largest first."""
    places = np.argsort(-shares, kind="stable")[:TOPIC_WORDS]
    return places[shares[places] > LEAST_PART * shares.max(initial=0)]


def _largest_first(columns: dict[str, Any], slope: float) -> pd.DataFrame:
    """Table by absolute contribution, with points of the response next to contributions."""
    table = pd.DataFrame(columns)
    table.insert(table.columns.get_loc("contribution") + 1, "points", table["contribution"] * slope)
    return table.sort_values("contribution", key=lambda c: -c.abs(), kind="stable", ignore_index=True)


def _marks(located: LocatedText, by_term: dict[int, float], counts: NDArray[np.int64]) -> tuple[Mark, ...]:
    """Spread each term's contribution over its occurrences, and over the words of each."""
    added = np.zeros(len(located.tokens))
    for term in located.terms:
        added[list(term.positions)] += by_term[term.column] / (counts[term.column] * len(term.positions))
    return _joined_marks(located.tokens, added)


def _joined_marks(tokens: Sequence[Token], added: Vector) -> tuple[Mark, ...]:
    """One mark per token; words that share a character are joined."""
    marks: list[Mark] = []
    for token, contribution in zip(tokens, added.tolist(), strict=True):
        if marks and token.start < marks[-1].end:
            before = marks.pop()
            marks.append(Mark(before.start, token.end, before.contribution + contribution))
        else:
            marks.append(Mark(token.start, token.end, contribution))
    return tuple(marks)


def _leading_words(names: Sequence[str], contributions: Vector) -> list[str]:
    total = pd.Series(contributions).groupby(np.array(names, dtype=object), sort=False).sum().abs()
    return [str(total.index[place]) for place in _leading(total.to_numpy())]


def _words(names: Sequence[str], by_theme: Vector, places: Vector) -> dict[str, Any]:
    """Columns of the table of words, where a negated word is separate: the theme is that of its first sentence."""
    columns = {"word": list(names), "contribution": by_theme.sum(axis=1), "theme": places.argmax(axis=1)}
    grouped = pd.DataFrame(columns).groupby("word", sort=False)
    return {
        "word": list(grouped.groups),
        "count": grouped.size().to_numpy(),
        "contribution": grouped["contribution"].sum().to_numpy(),
        "theme": grouped["theme"].first().to_numpy(),
    }


def _tokens(reading: ThemeReading) -> list[Token]:
    """Words of the text with their positions, in the order of the reading's codes."""
    text = reading.texts.texts[0]
    return [
        Token(token.word, start + token.start, start + token.end)
        for start, end in reading.texts.spans.tolist()
        for token in located_words(text[start:end])
    ]


def _unknown(reading: ThemeReading, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Words and negated words that no feature of the model contains, each once."""
    texts = reading.texts
    known = set(reading.occurrences.words.tolist())
    names = [shown_word(token.word, bool(no)) for token, no in zip(tokens, texts.negated, strict=True)]
    return tuple(dict.fromkeys(name for i, name in enumerate(names) if i not in known))


def explain(reading: Reading, labels: Sequence[str]) -> Explanation:
    """Explain the prediction for the only text of a reading; labels : of all themes."""
    clauses, predictions, fitted = reading.clauses, reading.predictions, reading.fitted
    texts, effects, sentence = clauses.texts, fitted.effects, clauses.texts.sentence_of_word
    by_theme = clauses.places[sentence] * effects.gamma * clauses.word_tone(fitted.features)[:, None]
    names = [shown_word(texts.words[code], bool(no)) for code, no in zip(texts.codes, texts.negated, strict=True)]
    tone, speaking = effects.gamma * clauses.tone[0], effects.beta * clauses.shares[0]
    tokens = _tokens(clauses)
    return _explanation(
        texts.texts[0],
        predictions,
        baseline=effects.constant + float(predictions.given[0]),
        neutral="a text with nothing good or bad in it",
        unknown_words=_unknown(clauses, tokens),
        marks=_joined_marks(tokens, by_theme.sum(axis=1)),
        themes={
            "theme": np.arange(fitted.n_themes),
            "label": list(labels),
            "share": clauses.shares[0],
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
            "words": [_leading_words(names, column) for column in by_theme.T],
        },
        words=_words(names, by_theme, clauses.places[sentence]),
        sentences=sentence_table(clauses, effects, list(labels)).drop(columns="text"),
    )


def explain_topics(
    vectorizer: TextVectorizer, estimator: TopicEstimator, text: str, labels: Sequence[str]
) -> Explanation:
    """Explain the prediction of a fitted estimator for one text."""
    check_trainable(estimator.family_, "explanations")
    located, row = vectorizer.locate(text), sp.csr_array(vectorizer.transform([text]))
    predictions, centred = estimator.predictions(row), estimator.centred_effects
    scaled = estimator.inference.rows(row)
    direct = scaled.data * estimator.word_effects_[scaled.indices]  # what words add beyond the topics
    weights = predictions.weights[0] * centred.size
    contributions = weights * centred.effects
    used = estimator.components_[:, row.indices].astype(float)
    # A text with no known term got the mean weights, and no word of it contributes to these.
    shares = word_shares(row.data.astype(float), predictions.weights[0] * (not predictions.unknown[0]), used)
    names = [str(vectorizer.terms_[j]) for j in row.indices]
    by_word = contributions @ shares + direct
    counts = np.bincount([term.column for term in located.terms], minlength=len(vectorizer.terms_))
    return _explanation(
        located.text,
        predictions,
        baseline=estimator.intercept_ + centred.centre * float(weights.sum()),
        neutral="a text of average topics",
        unknown_words=tuple(located.unknown),
        marks=_marks(located, dict(zip(row.indices.tolist(), by_word, strict=True)), counts),
        themes={
            "theme": np.arange(len(weights)),
            "label": list(labels),
            "weight": weights,
            "effect": centred.effects,
            "contribution": contributions,
            "words": [[names[j] for j in _leading(share)] for share in shares],
        },
        words={
            "word": names,
            "count": counts[row.indices],
            "contribution": by_word,
            "theme": np.argmax(predictions.weights[0][:, None] * used, axis=0),
        },
    )


def as_text(explanation: Explanation) -> str:
    """Return lines that add up: baseline, themes, linear predictor; then the words with the largest contributions."""
    rows = [f"  {number:+8.3f}  {label}" for label, number, _ in _rows(explanation)]
    words = [f"{_visible(row.word)} {row.contribution:+.3f}" for row in explanation.words[:SHOWN].itertuples()]
    return "\n".join(
        [
            _headline(explanation),
            *rows,
            f"= {_total(explanation):+8.3f}  {_total_name(explanation)}",
            *([f"Words: {', '.join(words)}"] if words and not explanation.unknown else []),
            *_notes(explanation),
        ]
    )


def as_html(explanation: Explanation) -> str:
    """Return an escaped HTML fragment for notebooks, with signs as well as colours."""
    rows = "".join(
        f'<tr><td style="text-align:left">{html.escape(label)}</td>'
        f'<td style="text-align:right;padding:0 1em">{number:+.3f}</td>'
        f'<td style="text-align:left">{html.escape(", ".join(words))}</td></tr>'
        for label, number, words in _rows(explanation)
    )
    return (
        f'<div class="textsignal-explanation"><p><b>{html.escape(_headline(explanation))}</b></p>'
        f'<p style="white-space:pre-wrap;line-height:1.9">{"".join(map(_html_part, _parts(explanation)))}</p>'
        '<table><thead><tr><th style="text-align:left">theme</th><th style="padding:0 1em">adds</th>'
        f'<th style="text-align:left">by way of</th></tr></thead><tbody>{rows}'
        f'<tr><td style="text-align:left"><b>{_total_name(explanation)}</b></td>'
        f'<td style="text-align:right;padding:0 1em"><b>{_total(explanation):+.3f}</b></td>'
        "<td></td></tr></tbody></table>"
        + "".join(f"<p>{html.escape(note)}</p>" for note in _notes(explanation))
        + "</div>"
    )


def as_rich(explanation: Explanation, options: ConsoleOptions) -> Iterator[RenderableType]:
    """Yield what a terminal shows: the text with signed words, the prediction, levels, themes and notes."""
    text = Text(overflow="fold")
    for part, contribution, strength in _parts(explanation):
        sign = {1: "+", -1: "-"}[1 if contribution > 0 else -1] if strength else ""
        text.append(sign + part, style=_style(contribution, strength))
    yield text
    if explanation.sentences is not None:
        yield _sentence_rows(explanation.sentences)
    yield Text(f"\n{_headline(explanation)}", style="bold")
    if len(explanation.probabilities) <= MOST_BARS:
        yield _level_bars(explanation, "#" if options.ascii_only else "█")
    table = Table("theme" if explanation.sentences is None else "theme", box=box.SIMPLE_HEAD)
    table.add_column("adds", justify="right")
    table.add_column("by way of", overflow="fold")
    for label, number, words in _rows(explanation):
        table.add_row(Text(label), Text(f"{number:+.2f}", style=_style(number, 0)), Text(", ".join(words)))
    table.add_section()
    table.add_row(Text(_total_name(explanation)), Text(f"{_total(explanation):+.2f}"), Text(""))
    yield table
    for note in _notes(explanation):
        yield Text(note)


def _headline(explanation: Explanation) -> str:
    return (
        f"Expected response {explanation.prediction:.2f}; "
        f"{explanation.baseline_prediction:.2f} for {explanation.neutral}."
    )


def _notes(explanation: Explanation) -> list[str]:
    """Remarks on words that the model does not know."""
    notes = []
    if explanation.unknown:
        notes.append("No word of this text is known to the model, so it is taken as an average text.")
    if explanation.unknown_words:
        listed = ", ".join(map(_visible, explanation.unknown_words[:SHOWN]))
        more = len(explanation.unknown_words) - SHOWN
        notes.append(f"Not in the model: {listed}" + (f" and {more} more" if more > 0 else ""))
    return notes


def _rows(explanation: Explanation) -> Iterator[tuple[str, float, list[str]]]:
    """Label, number and words of each addend: points of the prediction, or terms of the linear predictor."""
    in_points = explanation.sentences is not None
    yield "baseline", explanation.baseline_prediction if in_points else explanation.baseline, []
    themes = explanation.themes
    numbers = themes["points" if in_points else "contribution"]
    shown = SHOWN if not in_points else max(1, min(SHOWN, int((numbers.abs() >= FAINT_POINTS).sum())))
    for row, number in zip(themes[:shown].itertuples(), numbers, strict=False):
        yield _visible(row.label), number, [_visible(word) for word in row.words]
    rest = numbers[shown:]
    if len(rest):
        noun = "theme" if in_points else "theme"
        yield f"{len(rest)} more {noun}{'s' if len(rest) > 1 else ''}", float(rest.sum()), []
    if explanation.beyond:
        yield "single words, beyond the themes", explanation.beyond, []


def _total(explanation: Explanation) -> float:
    return explanation.linear_predictor if explanation.sentences is None else explanation.prediction


def _total_name(explanation: Explanation) -> str:
    return "linear predictor" if explanation.sentences is None else "expected response"


def _sentence_rows(sentences: pd.DataFrame) -> Table:
    """Sentences with their theme and contribution in points of the response."""
    table = Table("sentence", "theme", box=box.SIMPLE_HEAD)
    table.columns[0].overflow = table.columns[1].overflow = "fold"
    table.add_column("adds", justify="right")
    for row in sentences[:SHOWN].itertuples():
        shown = _visible(" ".join(row.sentence.split()))
        cut = shown if len(shown) <= SENTENCE_CAP else f"{shown[:SENTENCE_CAP]} …"
        table.add_row(Text(cut), Text(_visible(row.label)), Text(f"{row.points:+.2f}", style=_style(row.points, 0)))
    if len(sentences) > SHOWN:
        rest = sentences["points"][SHOWN:]
        table.add_row(Text(f"{len(rest)} more sentences"), Text(""), Text(f"{rest.sum():+.2f}"))
    return table


def _parts(explanation: Explanation) -> Iterator[tuple[str, float, float]]:
    """Spans of the text with contribution and its size relative to the largest, 0 if faint."""
    text = _visible(explanation.text[:TEXT_CAP])
    largest = max((abs(mark.contribution) for mark in explanation.marks), default=0.0)
    done = 0
    for mark in explanation.marks:
        if mark.end > len(text):
            break
        strength = abs(mark.contribution) / largest if largest else 0.0
        if strength >= FAINT and mark.end > mark.start:
            yield text[done : mark.start], 0.0, 0.0
            yield text[mark.start : mark.end], mark.contribution, strength
            done = mark.end
    cut = f" … (the first {TEXT_CAP:,} of {len(explanation.text):,} characters)"
    yield text[done:] + (cut if len(explanation.text) > TEXT_CAP else ""), 0.0, 0.0


def _html_part(part: tuple[str, float, float]) -> str:
    text, contribution, strength = part
    if not strength:
        return html.escape(text)
    shade = f"{POSITIVE if contribution > 0 else NEGATIVE}{round(46 + 100 * strength):02X}"
    sign = "+" if contribution > 0 else "−"
    return (
        f'<mark style="background:{shade};color:inherit;padding:0 .15em;border-radius:.2em" '
        f'title="{contribution:+.3f}">{html.escape(text)}<sup>{sign}</sup></mark>'
    )


def _level_bars(explanation: Explanation, block: str) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_column()
    for level, probability in explanation.probabilities.items():
        table.add_row(str(level), f"{probability:.0%}", Text(block * round(BAR_LENGTH * probability), style="cyan"))
    return table


def _style(contribution: float, strength: float) -> str:
    """Green raises, red lowers; strong contributions are bold."""
    if contribution == 0:
        return ""
    return ("bold " if strength > 0.5 else "") + ("green" if contribution > 0 else "red")


def _visible(text: str) -> str:
    """Replace control characters and lone surrogates, one for one, so that positions stay."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t" else c for c in text
    )
