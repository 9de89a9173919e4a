"""What the command line shows: tables, and bars of what takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from textsignal.model import TextResponseModel
    from textsignal.tables.analyse import Skill


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


@contextmanager
def study_progress(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar a study on a terminal, and a line for every tenth of its cells elsewhere."""
    tasks: dict[str, TaskID] = {}
    tenths: dict[str, int] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def told(study: str, done: int, total: int) -> None:
            if study not in tasks:
                tasks[study] = bar.add_task(study, total=total)
            bar.update(tasks[study], completed=done, total=total)
            tenth = 10 * done // max(total, 1)
            if not console.is_terminal and tenths.get(study) != tenth:
                tenths[study] = tenth
                console.print(f"{study}: {done:,} of {total:,} cells finished", markup=False, highlight=False)

        yield told
