"""What the command line shows of a fit: skill, topics, where the results are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from textsignal.cli.console import count, out, say

if TYPE_CHECKING:
    from pathlib import Path

    from textsignal.model import TextResponseModel
    from textsignal.tables.analyse import Analysis, Skill
    from textsignal.tables.read import TableFile

#: What a fit writes.
RESULTS = ("model/", "topics.csv", "documents.csv", "summary.json", "report.html")


def skill_table(train: Skill, held_out: Skill | None) -> Table:
    """How well training and held-out rows are predicted."""
    table = Table(title="How well the text predicts the response", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("documents")
    for name in ("number", "R2", "RMSE", "RMSE of the mean"):
        table.add_column(name, justify="right")
    for name, skill in (("training", train), ("held out", held_out)):
        if skill is not None:
            numbers = (f"{skill.r2:.3f}", f"{skill.rmse:.3f}", f"{skill.mean_baseline_rmse:.3f}")
            table.add_row(name, f"{skill.documents:,}", *numbers)
    return table


def topic_table(model: TextResponseModel, n_terms: int) -> Table:
    """Topics with effects in green and red, strongest positive one first."""
    table = Table(
        title="What moves the response",
        caption="effect: on the linear predictor, per unit of weight, against the average text; "
        "prevalence: share of all text",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("topic", justify="right")
    table.add_column("effect", justify="right")
    table.add_column("prevalence", justify="right")
    table.add_column("coherence", justify="right")
    table.add_column("terms", overflow="fold")
    for row in model.topics(n_terms).itertuples():
        colour = "green" if row.effect > 0 else "red"
        table.add_row(
            str(row.topic),
            Text(f"{row.effect:+.2f}", style=colour),
            f"{row.prevalence:.1%}",
            f"{row.coherence:.2f}",
            Text(", ".join(row.terms)),
        )
    return table


def show_analysis(analysis: Analysis) -> None:
    """What a fit came to: what was left out, its skill and its topics."""
    summary = analysis.summary
    if summary.dropped:
        say(f"Left out {summary.dropped}.")
    if summary.response_read:
        say(f"How responses were read: {summary.response_read}.")
    if summary.with_markup:
        say(f"With HTML, its tags and entities taken out: {count(summary.with_markup, 'text')}.")
    if summary.copies:
        rows = "1 row says" if summary.copies == 1 else f"{summary.copies:,} rows say"
        say(f"{rows} the same as an earlier one; copies are kept on one side of the split.")
    if summary.without_response:
        say(f"Without response, text used all the same: {count(summary.without_response, 'row')}.")
    if summary.without_known_term:
        say(f"Without a term the model knows, mean weights used: {count(summary.without_known_term, 'text')}.")
    say("; ".join(f"{name}: {value}" for name, value in summary.made_of.items()) + ".\n")
    out.print(skill_table(summary.train, summary.held_out))
    if summary.held_out is None:
        say("No row is held out, so nothing says how well new texts are predicted.\n")
    if summary.warning:
        say(f"Warning: {summary.warning}.\n")
    out.print(topic_table(analysis.model, 8))


def what_was_read(file: Path, read: TableFile) -> str:
    """How many rows a file has, and what was chosen where it left a choice."""
    return f"{file.name}: {count(len(read.table), 'row')}{f' ({read.choice})' if read.choice else ''}."


def say_results(output: Path) -> None:
    """Where the results of a fit lie."""
    say(f"\nWritten to {output}: {', '.join(RESULTS)}")
    say(f"Open the report in a browser: {output / 'report.html'}")
