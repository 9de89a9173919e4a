"""An explanation as plain text, as HTML and on a terminal. Nothing is computed here but what is left out."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from textsignal.palette import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    import pandas as pd

    from textsignal.insight.explanation import Explanation

#: Topics, words and unknown words that are shown.
SHOWN = 8
#: Characters of a text that are shown.
TEXT_CAP = 20_000
#: Contributions below this share of the largest are not marked in the text.
FAINT = 0.05
#: Themes that add less than so many points are shown together; characters of a sentence that are shown.
FAINT_POINTS, SENTENCE_CAP = 0.005, 120
#: Scales of more levels are not shown as bars; how long a bar is for a probability of 1.
MOST_BARS, BAR_LENGTH = 11, 40


def as_text(explanation: Explanation) -> str:
    """Lines that add up: baseline, topics, linear predictor; then the words that count most."""
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
    """A fragment for notebooks, with signs beside colours; whatever the text holds is shown as text."""
    rows = "".join(
        f'<tr><td style="text-align:left">{_escaped(label)}</td>'
        f'<td style="text-align:right;padding:0 1em">{number:+.3f}</td>'
        f'<td style="text-align:left">{_escaped(", ".join(words))}</td></tr>'
        for label, number, words in _rows(explanation)
    )
    return (
        f'<div class="textsignal-explanation"><p><b>{_escaped(_headline(explanation))}</b></p>'
        f'<p style="white-space:pre-wrap;line-height:1.9">{"".join(map(_html_part, _parts(explanation)))}</p>'
        '<table><thead><tr><th style="text-align:left">topic</th><th style="padding:0 1em">adds</th>'
        f'<th style="text-align:left">by way of</th></tr></thead><tbody>{rows}'
        f'<tr><td style="text-align:left"><b>{_total_name(explanation)}</b></td>'
        f'<td style="text-align:right;padding:0 1em"><b>{_total(explanation):+.3f}</b></td>'
        "<td></td></tr></tbody></table>"
        + "".join(f"<p>{_escaped(note)}</p>" for note in _notes(explanation))
        + "</div>"
    )


def as_rich(explanation: Explanation, options: ConsoleOptions) -> Iterator[RenderableType]:
    """Parts for a terminal: the text with its signed words, the prediction, levels, topics and notes."""
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
    table = Table("topic" if explanation.sentences is None else "theme", box=box.SIMPLE_HEAD)
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
    """What a reader must know beside the numbers."""
    notes = []
    if explanation.unknown:
        notes.append("No word of this text is known to the model, so it is taken as an average text.")
    if explanation.unknown_words:
        listed = ", ".join(map(_visible, explanation.unknown_words[:SHOWN]))
        more = len(explanation.unknown_words) - SHOWN
        notes.append(f"Not in the model: {listed}" + (f" and {more} more" if more > 0 else ""))
    return notes


def _rows(explanation: Explanation) -> Iterator[tuple[str, float, list[str]]]:
    """Label, number and words of all that adds up: points to the prediction, or parts of the linear predictor."""
    in_points = explanation.sentences is not None
    yield "baseline", explanation.baseline_prediction if in_points else explanation.baseline, []
    topics = explanation.topics
    numbers = topics["points" if in_points else "contribution"]
    shown = SHOWN if not in_points else max(1, min(SHOWN, int((numbers.abs() >= FAINT_POINTS).sum())))
    for row, number in zip(topics[:shown].itertuples(), numbers, strict=False):
        yield _visible(row.label), number, [_visible(word) for word in row.words]
    rest = numbers[shown:]
    if len(rest):
        noun = "theme" if in_points else "topic"
        yield f"{len(rest)} more {noun}{'s' if len(rest) > 1 else ''}", float(rest.sum()), []
    if explanation.beyond:
        yield "single words, beyond the topics", explanation.beyond, []


def _total(explanation: Explanation) -> float:
    return explanation.linear_predictor if explanation.sentences is None else explanation.prediction


def _total_name(explanation: Explanation) -> str:
    return "linear predictor" if explanation.sentences is None else "expected response"


def _sentence_rows(sentences: pd.DataFrame) -> Table:
    """Every sentence with its theme and what it adds, in points of the response."""
    table = Table("sentence", "theme", box=box.SIMPLE_HEAD)
    table.columns[0].overflow = table.columns[1].overflow = "fold"
    table.add_column("adds", justify="right")
    for row in sentences[:SHOWN].itertuples():
        shown = _visible(" ".join(row.sentence.split()))
        cut = shown if len(shown) <= SENTENCE_CAP else f"{shown[:SENTENCE_CAP]} …"
        table.add_row(Text(cut), Text(_visible(row.theme)), Text(f"{row.points:+.2f}", style=_style(row.points, 0)))
    if len(sentences) > SHOWN:
        rest = sentences["points"][SHOWN:]
        table.add_row(Text(f"{len(rest)} more sentences"), Text(""), Text(f"{rest.sum():+.2f}"))
    return table


def _parts(explanation: Explanation) -> Iterator[tuple[str, float, float]]:
    """The text cut into parts: each with its contribution, and that relative to the largest, 0 where it is faint."""
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
        return _escaped(text)
    shade = f"{_color(contribution)}{round(46 + 100 * strength):02X}"
    sign = "+" if contribution > 0 else "−"
    return (
        f'<mark style="background:{shade};color:inherit;padding:0 .15em;border-radius:.2em" '
        f'title="{contribution:+.3f}">{_escaped(text)}<sup>{sign}</sup></mark>'
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
    """Green raises, red lowers; what counts most is bold."""
    if contribution == 0:
        return ""
    return ("bold " if strength > 0.5 else "") + ("green" if contribution > 0 else "red")


def _color(contribution: float) -> str:
    return POSITIVE if contribution > 0 else NEGATIVE


def _escaped(text: str) -> str:
    return html.escape(text)


def _visible(text: str) -> str:
    """The same length of text without what would steer a terminal or cannot be encoded."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t" else c for c in text
    )
