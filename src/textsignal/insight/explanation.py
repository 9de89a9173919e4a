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
from textsignal.families import Family
from textsignal.insight.examples import sentence_table
from textsignal.palette import NEGATIVE, POSITIVE
from textsignal.reading.themes import Reading
from textsignal.reading.words import shown_word
from textsignal.text.tokenise import Token, located_words
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.topics import word_shares

#: Most words listed for a theme, and the smallest share of one relative to the largest.
TOPIC_WORDS, LEAST_PART = 5, 0.25
#: Linear predictors that are closer than this count as equal; relative tolerance for large ones, limited by rounding.
SAME, ROUNDED = 1e-6, 1e-12
#: Themes, clauses and unknown words that are shown; characters of a text, and of a clause.
SHOWN, TEXT_CAP, SENTENCE_CAP = 8, 20_000, 120
#: Contributions below this share of the largest are not marked in the text; themes of fewer points are shown together.
FAINT, FAINT_POINTS = 0.05, 0.005
#: Scales of more levels are not shown as bars; length of a bar for a probability of 1.
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
        contribution of a theme = sum of its contributions by way of each word

    Attributes
    ----------
    text : the explained text, without HTML.
    baseline : linear predictor of a text of this size with the average mix of themes, with its covariates; neutral :
        description of that text.
    beyond : contribution of single words beyond the topics; 0 for a model without `word_residual`.
    linear_predictor : linear predictor of this text.
    baseline_prediction, prediction : expected responses at the baseline and at the linear predictor.
    slope : points of the response per unit of the linear predictor, along the line from the baseline to this text:
        points = contribution * slope, so points and the baseline's prediction add up to this prediction.
    probabilities : Series, probability of every level; empty if responses have no levels.
    unknown : True if the text has no known term; then the mean weights were used, and no word has a contribution.
    unknown_words : words that are in no term of the model, stop words aside.
    themes : DataFrame, largest contribution of either sign first. Columns: theme, label, contribution, points, words
        (those of this text that carry it most); for topics weight and effect (per unit of weight, against the average
        text); for themes share (of the text), tone (of the words about it) and speaking (effect of its share).
    words : DataFrame, in the same order. Columns: word (a term of the model, or "not" and a negated word), count,
        contribution, points, theme (the one that uses it most in this text, or its clause's main theme).
    marks : spans of the text with their contributions; a term of several words is spread evenly over them.
    sentences : DataFrame, one row per clause; None for a model of topics. Columns: sentence, start, end, theme, label,
        share, tone (the sum over its words), speaking (the effect of its themes), contribution (both), points.

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
        *rows, (total_name, total, _) = self._rows()
        lines = [self._headline, *(f"  {number:+8.3f}  {label}" for label, number, _ in rows)]
        lines.append(f"= {total:+8.3f}  {total_name}")
        if len(self.words) and not self.unknown:
            words = (f"{_visible(row.word)} {row.contribution:+.3f}" for row in self.words[:SHOWN].itertuples())
            lines.append(f"Words: {', '.join(words)}")
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return escaped HTML, with signs as well as colours."""
        *rows, (total_name, total, _) = self._rows()
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        return (
            f'<div class="textsignal-explanation"><p><b>{html.escape(self._headline)}</b></p>'
            f'<p style="white-space:pre-wrap;line-height:1.9">{"".join(map(_html_part, self._parts()))}</p>'
            '<table><thead><tr><th style="text-align:left">theme</th><th style="padding:0 1em">adds</th>'
            '<th style="text-align:left">by way of</th></tr></thead><tbody>'
            + "".join(_html_row(html.escape(label), f"{number:+.3f}", words) for label, number, words in rows)
            + _html_row(f"<b>{total_name}</b>", f"<b>{total:+.3f}</b>", [])
            + f"</tbody></table>{notes}</div>"
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        text = Text(overflow="fold")
        for part, contribution, strength in self._parts():
            sign = ("+" if contribution > 0 else "-") if strength else ""
            text.append(sign + part, style=_style(contribution, strength))
        yield text
        if self.sentences is not None:
            yield _sentence_rows(self.sentences)
        yield Text(f"\n{self._headline}", style="bold")
        if len(self.probabilities) <= MOST_BARS:
            bars, block = Table.grid(padding=(0, 1)), "#" if options.ascii_only else "█"
            for justify in ("right", "right", "left"):
                bars.add_column(justify=justify)
            for level, share in self.probabilities.items():
                bars.add_row(str(level), f"{share:.0%}", Text(block * round(BAR_LENGTH * share), style="cyan"))
            yield bars
        table = Table("theme", box=box.SIMPLE_HEAD)
        table.add_column("adds", justify="right")
        table.add_column("by way of", overflow="fold")
        *rows, (total_name, total, _) = self._rows()
        for label, number, words in rows:
            table.add_row(Text(label), Text(f"{number:+.2f}", style=_style(number)), Text(", ".join(words)))
        table.add_section()
        table.add_row(total_name, f"{total:+.2f}", "")
        yield table
        yield from map(Text, self._notes())

    @property
    def _headline(self) -> str:
        return f"Expected response {self.prediction:.2f}; {self.baseline_prediction:.2f} for {self.neutral}."

    def _notes(self) -> list[str]:
        """Remarks on words that the model does not know."""
        notes = []
        if self.unknown:
            notes.append("No word of this text is known to the model, so it is taken as an average text.")
        if self.unknown_words:
            listed = ", ".join(map(_visible, self.unknown_words[:SHOWN]))
            more = len(self.unknown_words) - SHOWN
            notes.append(f"Not in the model: {listed}" + (f" and {more} more" if more > 0 else ""))
        return notes

    def _rows(self) -> Iterator[tuple[str, float, list[str]]]:
        """Label, number and words of each addend, the sum last: points of the prediction, or the linear predictor."""
        in_points = self.sentences is not None
        yield "baseline", self.baseline_prediction if in_points else self.baseline, []
        numbers = self.themes["points" if in_points else "contribution"]
        shown = max(1, min(SHOWN, int((numbers.abs() >= FAINT_POINTS).sum()))) if in_points else SHOWN
        for row, number in zip(self.themes[:shown].itertuples(), numbers, strict=False):
            yield _visible(row.label), number, [_visible(word) for word in row.words]
        rest = numbers[shown:]
        if len(rest):
            yield f"{len(rest)} more theme{'s' if len(rest) > 1 else ''}", float(rest.sum()), []
        if self.beyond:
            yield "single words, beyond the themes", self.beyond, []
        total = ("expected response", self.prediction) if in_points else ("linear predictor", self.linear_predictor)
        yield *total, []

    def _parts(self) -> Iterator[tuple[str, float, float]]:
        """Spans of the text with contribution and its size relative to the largest, 0 if faint."""
        text = _visible(self.text[:TEXT_CAP])
        largest = max((abs(mark.contribution) for mark in self.marks), default=0.0)
        done = 0
        for mark in self.marks:
            if mark.end > len(text):
                break
            strength = abs(mark.contribution) / largest if largest else 0.0
            if strength >= FAINT and mark.end > mark.start:
                yield text[done : mark.start], 0.0, 0.0
                yield text[mark.start : mark.end], mark.contribution, strength
                done = mark.end
        cut = f" … (the first {TEXT_CAP:,} of {len(self.text):,} characters)"
        yield text[done:] + (cut if len(self.text) > TEXT_CAP else ""), 0.0, 0.0


def explain(reading: Reading, labels: Sequence[str]) -> Explanation:
    """Explain the prediction for the only text of a reading; labels : of all themes."""
    clauses, fitted, effects = reading.clauses, reading.fitted, reading.fitted.effects
    texts, places = clauses.texts, clauses.places[clauses.texts.sentence_of_word]
    by_theme = places * effects.gamma * clauses.word_tone(fitted.features)[:, None]
    names = [shown_word(texts.words[code], bool(no)) for code, no in zip(texts.codes, texts.negated, strict=True)]
    known = set(clauses.occurrences.words.tolist())
    tone, speaking = effects.gamma * clauses.tone[0], effects.beta * clauses.shares[0]
    # A negated word has a separate row; its theme is that of its first clause.
    columns = {"word": names, "contribution": by_theme.sum(axis=1), "theme": places.argmax(axis=1)}
    by_word = pd.DataFrame(columns).groupby("word", sort=False)
    tokens = [
        Token(token.word, start + token.start, start + token.end)
        for start, end in texts.spans.tolist()
        for token in located_words(texts.texts[0][start:end])
    ]
    return _explanation(
        texts.texts[0],
        reading.predictions,
        effects.constant + float(reading.predictions.given[0]),
        neutral="a text with nothing good or bad in it",
        unknown_words=tuple(dict.fromkeys(name for i, name in enumerate(names) if i not in known)),
        marks=_marks(tokens, by_theme.sum(axis=1)),
        themes={
            "theme": np.arange(fitted.n_themes),
            "label": list(labels),
            "share": clauses.shares[0],
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
            "words": [_leading_words(names, column) for column in by_theme.T],
        },
        words={
            "word": list(by_word.groups),
            "count": by_word.size().to_numpy(),
            "contribution": by_word["contribution"].sum().to_numpy(),
            "theme": by_word["theme"].first().to_numpy(),
        },
        sentences=sentence_table(clauses, effects, list(labels)).drop(columns="text"),
    )


def explain_topics(
    vectorizer: TextVectorizer, estimator: TopicEstimator, text: str, labels: Sequence[str]
) -> Explanation:
    """Explain the prediction of a fitted estimator for one text."""
    estimator.family_.check_trainable("explanations")
    located, row = vectorizer.locate(text), sp.csr_array(vectorizer.transform([text]))
    predictions, centred = estimator.predictions(row), estimator.centred_effects
    scaled = estimator.inference.rows(row)
    weights = predictions.weights[0] * centred.size
    contributions = weights * centred.effects
    used = estimator.components_[:, row.indices].astype(float)
    # A text with no known term got the mean weights, and no word of it contributes to these.
    shares = word_shares(row.data.astype(float), predictions.weights[0] * (not predictions.unknown[0]), used)
    names = [str(vectorizer.terms_[j]) for j in row.indices]
    by_word = contributions @ shares + scaled.data * estimator.word_effects_[scaled.indices]
    counts = np.bincount([term.column for term in located.terms], minlength=len(vectorizer.terms_))
    of_column = dict(zip(row.indices.tolist(), by_word, strict=True))
    added = np.zeros(len(located.tokens))
    for term in located.terms:
        added[list(term.positions)] += of_column[term.column] / (counts[term.column] * len(term.positions))
    return _explanation(
        located.text,
        predictions,
        estimator.intercept_ + centred.centre * float(weights.sum()),
        neutral="a text of average topics",
        unknown_words=tuple(located.unknown),
        marks=_marks(located.tokens, added),
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


def _explanation(
    text: str,
    predictions: Predictions,
    baseline: float,
    *,
    themes: dict[str, Any],
    words: dict[str, Any],
    sentences: pd.DataFrame | None = None,
    **others: Any,
) -> Explanation:
    """Add predictions and points of the response to the contributions of one text."""
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
        slope=slope,
        sentences=None if sentences is None else sentences.assign(points=sentences["contribution"] * slope),
        **others,
    )


def slope_of(family: Family, baseline: float, eta: float) -> float:
    """Return the slope of the mean response between baseline and eta, or its derivative if both are equal."""
    same = max(SAME, ROUNDED * abs(baseline))
    if abs(eta - baseline) < same:
        baseline, eta = baseline - same, baseline + same
    low, high = family.mean(np.array([baseline, eta]))
    return float((high - low) / (eta - baseline))


def _largest_first(columns: dict[str, Any], slope: float) -> pd.DataFrame:
    """Table by absolute contribution, with points of the response next to contributions."""
    table = pd.DataFrame(columns)
    table.insert(table.columns.get_loc("contribution") + 1, "points", table["contribution"] * slope)
    return table.sort_values("contribution", key=lambda c: -c.abs(), kind="stable", ignore_index=True)


def _leading(shares: Vector) -> NDArray[np.int64]:
    """Positions of the largest shares, largest first."""
    order = np.argsort(-shares, kind="stable")[:TOPIC_WORDS]
    return order[shares[order] > LEAST_PART * shares.max(initial=0)]


def _leading_words(names: Sequence[str], contributions: Vector) -> list[str]:
    total = pd.Series(contributions).groupby(np.array(names, dtype=object), sort=False).sum().abs()
    return [str(total.index[j]) for j in _leading(total.to_numpy())]


def _marks(tokens: Sequence[Token], added: Vector) -> tuple[Mark, ...]:
    """One mark per token; words that share a character are joined."""
    marks: list[Mark] = []
    for token, contribution in zip(tokens, added.tolist(), strict=True):
        start = token.start
        if marks and start < marks[-1].end:
            before = marks.pop()
            start, contribution = before.start, before.contribution + contribution
        marks.append(Mark(start, token.end, contribution))
    return tuple(marks)


def _sentence_rows(sentences: pd.DataFrame) -> Table:
    """Clauses with their theme and contribution in points of the response."""
    table = Table("sentence", "theme", box=box.SIMPLE_HEAD)
    table.columns[0].overflow = table.columns[1].overflow = "fold"
    table.add_column("adds", justify="right")
    for row in sentences[:SHOWN].itertuples():
        shown = _visible(" ".join(row.sentence.split()))
        cut = shown if len(shown) <= SENTENCE_CAP else f"{shown[:SENTENCE_CAP]} …"
        table.add_row(Text(cut), Text(_visible(row.label)), Text(f"{row.points:+.2f}", style=_style(row.points)))
    if len(sentences) > SHOWN:
        rest = sentences["points"][SHOWN:]
        table.add_row(f"{len(rest)} more sentences", "", f"{rest.sum():+.2f}")
    return table


def _html_row(label: str, number: str, words: Sequence[str]) -> str:
    return (
        f'<tr><td style="text-align:left">{label}</td><td style="text-align:right;padding:0 1em">{number}</td>'
        f'<td style="text-align:left">{html.escape(", ".join(words))}</td></tr>'
    )


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


def _style(contribution: float, strength: float = 0.0) -> str:
    """Green raises, red lowers; strong contributions are bold."""
    if contribution == 0:
        return ""
    return ("bold " if strength > 0.5 else "") + ("green" if contribution > 0 else "red")


def _visible(text: str) -> str:
    """Replace control characters and lone surrogates, one for one, so that positions stay."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t" else c for c in text
    )
