"""Explanation of one prediction: contributions of clauses, themes and words, as text, as HTML and on a terminal."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
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
from textsignal.insight.examples import clause_table
from textsignal.insight.naming import Naming
from textsignal.palette import NEGATIVE, POSITIVE
from textsignal.reading.themes import Reading
from textsignal.reading.words import UNPLACED, shown_word
from textsignal.text.tokenise import Token, function_words_of, located_words
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.topics import word_shares

#: Most words listed for a theme, and the smallest share of one relative to the largest.
TOPIC_WORDS, LEAST_PART = 5, 0.25
#: Linear predictors that are closer than this count as equal; relative tolerance for large ones, limited by rounding.
SAME, ROUNDED = 1e-6, 1e-12
#: Clauses, themes, words and unknown words that are shown; characters of a text, and of a clause.
SHOWN, TEXT_CAP, CLAUSE_CAP = 8, 20_000, 120
#: Contributions below this share of the largest are not marked in the text.
FAINT = 0.05
#: Scales of more levels are not shown as bars; length of a bar for a probability of 1.
MOST_BARS, BAR_LENGTH = 11, 40


@dataclass(frozen=True)
class Mark:
    """A span of the text, `text[start:end]`, and its contribution to the linear predictor."""

    start: int
    end: int
    contribution: float


@dataclass(frozen=True)
class Item:
    """A clause, a theme or a word in a list, its points of the response, and its theme or words."""

    name: str
    points: float
    detail: str = ""


@dataclass(frozen=True)
class Listed:
    """A list that adds up, as it is shown.

    heads : headings of names and details; items : their points have the digits that are shown; total : their sum.
    """

    heads: tuple[str, str]
    items: tuple[Item, ...]
    total: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Explanation of the response that the model expects of one text.

        linear predictor = baseline + sum of the themes' contributions + beyond
        contribution of a theme = sum of its contributions by way of each clause
        contribution of a clause = sum of those of its words + effect of its theme

    Clauses, themes and words are shown in points of the response, which each add up to prediction -
    baseline_prediction: the last shown digit is chosen so that they do so on the screen.

    Attributes
    ----------
    text : the explained text, without HTML.
    baseline : linear predictor of the text without what it contains, with its covariates; neutral : description of such
        a text.
    beyond : contribution of single words beyond the topics; 0 for a model without `word_residual`.
    linear_predictor : linear predictor of this text.
    baseline_prediction, prediction : expected responses at the baseline and at the linear predictor.
    slope : points of the response per unit of the linear predictor, along the line from the baseline to this text:
        points = contribution * slope, so points and the baseline's prediction add up to this prediction.
    probabilities : Series, probability of every level; empty if responses have no levels.
    unknown : True if the text has no known term; then the mean weights were used, and no word has a contribution.
    unknown_words : words that are in no term of the model, stop words aside.
    themes : DataFrame, largest contribution of either sign first. Columns: theme (-1 if unplaced), label, contribution,
        points, words (those of this text that carry it most); for topics weight and effect (per unit of weight, against
        the average text); for themes is_overall (True for the overall verdict), share (of the text), tone (of the words
        about it) and speaking (effect of its share).
    words : DataFrame, in the same order. Columns: word (a term of the model, or "not" and a negated word), count,
        contribution, points, theme (the one that uses it most in this text, or that of its first clause).
    marks : spans of the text with their contributions; a term of several words is spread evenly over them.
    clauses : DataFrame, one row per clause; None for a model of topics. Columns: clause, start, end, theme (-1 if
        unplaced), label, is_overall, kind, judgement, tone (the sum over its words), speaking (the effect of its
        theme), contribution (both), points.
    naming : name and unit of the response.

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
    clauses: pd.DataFrame | None = None
    naming: Naming = Naming()  # noqa: RUF009

    def __repr__(self) -> str:
        lines = [self._headline]
        for listed in self._lists():
            lines.append(f"{listed.heads[0].capitalize()}, in {self.naming.unit}")
            lines += [
                f"  {self._signed(item.points)}  {item.name}{f'  ({item.detail})' if item.detail else ''}"
                for item in listed.items
            ]
            lines.append(f"= {self._signed(listed.total)}  sum")
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return escaped HTML, with signs as well as colours."""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        text = "".join(self._html_part(*part) for part in self._parts())
        return (
            f'<div class="textsignal-explanation"><p><b>{html.escape(self._headline)}</b></p>'
            f'<p style="white-space:pre-wrap;line-height:1.9">{text}</p>'
            f"{''.join(map(self._html_table, self._lists()))}{notes}</div>"
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        text = Text(overflow="fold")
        for part, contribution, strength in self._parts():
            sign = ("+" if contribution > 0 else "-") if strength else ""
            text.append(sign + part, style=_style(contribution, strength))
        yield text
        yield Text(f"\n{self._headline}", style="bold")
        if len(self.probabilities) <= MOST_BARS:
            bars, block = Table.grid(padding=(0, 1)), "#" if options.ascii_only else "█"
            for justify in ("right", "right", "left"):
                bars.add_column(justify=justify)
            for level, share in self.probabilities.items():
                bars.add_row(str(level), f"{share:.0%}", Text(block * round(BAR_LENGTH * share), style="cyan"))
            yield bars
        for listed in self._lists():
            table = Table(box=box.SIMPLE_HEAD)
            table.add_column(listed.heads[0], overflow="fold")
            table.add_column(self.naming.unit, justify="right", no_wrap=True)
            table.add_column(listed.heads[1], overflow="fold")
            for item in listed.items:
                points = Text(self._signed(item.points), style=_style(item.points))
                table.add_row(Text(item.name), points, Text(item.detail))
            table.add_section()
            table.add_row("sum", self._signed(listed.total), "")
            yield table
        yield from map(Text, self._notes())

    @property
    def _headline(self) -> str:
        """Prediction and baseline; their difference is the sum of every list."""
        naming, percent = self.naming, "%" if self.naming.event else ""
        expected, baseline = (f"{value:z.{naming.digits}f}{percent}" for value in self._ends)
        name = f"{naming.measure}:" if naming.event else naming.name
        return f"Expected {_visible(name)} {expected}; {baseline} for {self.neutral}."

    @property
    def _ends(self) -> tuple[float, float]:
        """Prediction and its baseline in steps of the response, with the digits that are shown."""
        steps, digits = self.naming.steps, self.naming.digits
        return round(steps * self.prediction, digits), round(steps * self.baseline_prediction, digits)

    def _signed(self, number: float) -> str:
        return f"{number:+z.{self.naming.digits}f}"

    def _lists(self) -> list[Listed]:
        """Clauses, themes and words, in points that add up to the difference between prediction and baseline."""
        clauses = [] if self.clauses is None else list(self.clauses.itertuples())
        labels = dict(zip(self.themes["theme"], self.themes["label"], strict=True))
        mentioning = self.linear_predictor - self.baseline - float(self.words["contribution"].sum())
        lists = (
            self._listed(
                ("clauses", "theme"),
                [Item(_short(row.clause), row.points, f"{_visible(row.label)}: {row.kind}") for row in clauses],
            ),
            self._listed(
                ("themes", "by way of"),
                [
                    Item(_visible(row.label), row.points, ", ".join(map(_visible, row.words)))
                    for row in self._noticed(self.themes)
                ],
                Item("single words, beyond the themes", self.beyond * self.slope),
            ),
            self._listed(
                ("words", "theme"),
                [
                    Item(_visible(row.word), row.points, _visible(labels[row.theme]))
                    for row in self._noticed(self.words)
                ],
                Item("mentioning these themes at all", mentioning * self.slope),
            ),
        )
        return [listed for listed in lists if listed.items and not self.unknown]

    def _noticed(self, table: pd.DataFrame) -> list[Any]:
        """Rows with points that are not shown as 0, or all if there is none."""
        rows = list(table.itertuples())
        return [row for row in rows if self._is_shown(row.points)] or rows

    def _is_shown(self, points: float) -> bool:
        """True if points are not rounded to 0."""
        return abs(self.naming.steps * points) >= 0.5 * 10.0**-self.naming.digits

    def _listed(self, heads: tuple[str, str], items: Sequence[Item], rest: Item | None = None) -> Listed:
        """Return the items of the most points in their order, and the others as one, with digits that add up.

        rest : an item that comes last, unless it is shown as 0.
        """
        digits, (expected, baseline) = self.naming.digits, self._ends
        total = round(expected - baseline, digits)
        largest = sorted(range(len(items)), key=lambda i: -abs(items[i].points))
        shown, more = [items[i] for i in sorted(largest[:SHOWN])], [items[i] for i in largest[SHOWN:]]
        if more:
            noun = heads[0] if len(more) > 1 else heads[0].removesuffix("s")
            shown.append(Item(f"{len(more)} more {noun}", sum(item.points for item in more)))
        if rest is not None and self._is_shown(rest.points):
            shown.append(rest)
        rounded = adding_up(self.naming.steps * np.array([item.points for item in shown]), total, digits).tolist()
        listed = [replace(item, points=number) for item, number in zip(shown, rounded, strict=True)]
        if shown and shown[-1] is rest and not rounded[-1]:
            listed.pop()
        return Listed(heads, tuple(listed), total)

    def _html_table(self, listed: Listed) -> str:
        right = "text-align:right;padding:0 1em"
        rows = [(html.escape(item.name), item.points, html.escape(item.detail)) for item in listed.items]
        cells = "".join(
            f'<tr><td style="text-align:left">{name}</td><td style="{right}">{self._signed(number)}</td>'
            f'<td style="text-align:left">{detail}</td></tr>'
            for name, number, detail in [*rows, ("<b>sum</b>", listed.total, "")]
        )
        return (
            f'<table><thead><tr><th style="text-align:left">{listed.heads[0]}</th>'
            f'<th style="{right}">{html.escape(self.naming.unit)}</th>'
            f'<th style="text-align:left">{listed.heads[1]}</th></tr></thead><tbody>{cells}</tbody></table>'
        )

    def _html_part(self, text: str, contribution: float, strength: float) -> str:
        if not strength:
            return html.escape(text)
        shade = f"{POSITIVE if contribution > 0 else NEGATIVE}{round(46 + 100 * strength):02X}"
        points = self.naming.steps * self.slope * contribution
        return (
            f'<mark style="background:{shade};color:inherit;padding:0 .15em;border-radius:.2em" '
            f'title="{points:+.3f} {html.escape(self.naming.unit)}">{html.escape(text)}'
            f"<sup>{'+' if contribution > 0 else '−'}</sup></mark>"
        )

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


def explain(reading: Reading, labels: Sequence[str], naming: Naming) -> Explanation:
    """Explain the prediction for the only text of a reading; labels : of all themes."""
    clauses, fitted, effects = reading.clauses, reading.fitted, reading.fitted.effects
    texts, places = clauses.texts, clauses.clauses.places[clauses.texts.sentence_of_word]
    added = effects.gamma[places] * clauses.word_tone(fitted.features)
    by_theme = np.zeros((len(added), fitted.n_places))
    by_theme[np.arange(len(added)), places] = added
    names = [shown_word(texts.words[code], bool(no)) for code, no in zip(texts.codes, texts.negated, strict=True)]
    found = clauses.occurrences
    known = np.union1d(found.words, found.words[fitted.features.is_phrase[found.features]] - 1)
    unknown = np.setdiff1d(np.arange(len(names)), known)
    function_words = function_words_of(fitted.language)
    tone, speaking = effects.gamma * clauses.tone[0], effects.speaking(clauses.shares, clauses.clauses.evidence)[0]
    # A negated word has a separate row; its theme is that of its first clause.
    columns = {"word": names, "contribution": added, "theme": np.where(places < len(labels), places, -1)}
    by_word = pd.DataFrame(columns).groupby("word", sort=False)
    tokens = [
        Token(token.word, start + token.start, start + token.end)
        for start, end in texts.spans.tolist()
        for token in located_words(texts.texts[0][start:end])
    ]
    return _explanation(
        texts.texts[0],
        reading.predictions,
        float(effects.baseline(clauses.clauses.evidence)[0] + reading.predictions.given[0]),
        neutral=naming.plain_text,
        unknown_words=tuple(
            dict.fromkeys(names[i] for i in unknown if texts.words[texts.codes[i]] not in function_words)
        ),
        marks=_marks(tokens, added),
        themes={
            "theme": np.array([*range(len(labels)), -1]),
            "label": [*labels, UNPLACED],
            "is_overall": np.arange(len(labels) + 1) == len(labels) - 1,
            "share": clauses.shares[0],
            "tone": tone,
            "speaking": speaking,
            "contribution": tone + speaking,
            "words": [_leading_words(names, column, function_words) for column in by_theme.T],
        },
        words={
            "word": list(by_word.groups),
            "count": by_word.size().to_numpy(),
            "contribution": by_word["contribution"].sum().to_numpy(),
            "theme": by_word["theme"].first().to_numpy(),
        },
        clauses=clause_table(clauses, effects, labels, naming.direction).drop(columns="text"),
        naming=naming,
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
    clauses: pd.DataFrame | None = None,
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
        clauses=None if clauses is None else clauses.assign(points=clauses["contribution"] * slope),
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


def _leading_words(names: Sequence[str], contributions: Vector, function_words: Collection[str]) -> list[str]:
    """Words of the largest contributions; function words, as parts of phrases, only if there are no others."""
    total = pd.Series(contributions).groupby(np.array(names, dtype=object), sort=False).sum().abs()
    content = total[[name not in function_words for name in total.index]]
    total = content if content.any() else total
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


def _short(clause: str) -> str:
    """A clause on one line, its end cut off if it is long."""
    line = _visible(" ".join(clause.split()))
    return line if len(line) <= CLAUSE_CAP else f"{line[:CLAUSE_CAP]} …"


def adding_up(values: Vector, total: float, digits: int) -> Vector:
    """Return values rounded down or up, by the largest remainders, so that they add up to a total of so many digits."""
    scaled = np.asarray(values, dtype=float) * 10**digits
    down = np.floor(scaled)
    every, some = divmod(round(total * 10**digits - down.sum()), max(len(down), 1))
    down[np.argsort(down - scaled, kind="stable")[:some]] += 1
    return np.asarray((down + every) / 10**digits, dtype=float)


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
