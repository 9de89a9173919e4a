"""Output of all commands: results on standard output, remarks and progress on standard error."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from textsignal.report.values.data import ReportSettings

out = Console(soft_wrap=False)
err = Console(stderr=True, soft_wrap=True)


def say(line: str) -> None:
    """Write one remark, without formatting."""
    err.print(line, markup=False, highlight=False)


def count(number: int, noun: str) -> str:
    """Return a number of things: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def this_command() -> str:
    """Return the running command, as it could be typed again; files outside the folder without their paths."""
    from textsignal.report.values.wording import without_place

    return shlex.join(["textsignal", *map(without_place, sys.argv[1:])])


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show a moving bar on a terminal during a step of unknown length, and nothing elsewhere."""
    with Progress(console=err, disable=not err.is_terminal, transient=True) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def report_settings(**settings: Any) -> Iterator[ReportSettings]:
    """Return a report's settings, with a bar on a terminal while it is made, and the command that makes it again."""
    from textsignal.report.values.data import ReportSettings

    with busy("Report"):
        yield ReportSettings(command=this_command(), **settings)


@contextmanager
def row_progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal for finished rows, with their total if known; nothing elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}"), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=total, rows="")

        def progress(done: int) -> None:
            of_all = "" if total is None else f" of {total:,}"
            bar.update(task, completed=done, rows=f"{done:,}{of_all} rows")

        yield progress


@contextmanager
def stream_progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show the current step, in a bar on a terminal and a line each elsewhere; rows are counted while they are read."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}"), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    last: dict[str, int] = {}
    with Progress(*columns, console=err, disable=not err.is_terminal, transient=True) as bar:

        def progress(what: str, done: int, total: int | None) -> None:
            rows = f"{done:,}{'' if total is None else f' of {total:,}'} rows" if done else ""
            if what not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                tasks[what] = bar.add_task(what, total=total, rows="")
            bar.update(tasks[what], completed=done, total=total, rows=rows)
            # A line for every tenth of the rows, or every million if their number is unknown.
            step = done // 10**6 if total is None else 10 * done // max(total, 1)
            if not err.is_terminal and last.get(what) != step:
                last[what] = step
                say(f"{what}{f': {rows}' if rows else ''}")

        yield progress


@contextmanager
def sample_progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal for finished samples, in any order, and a line for every tenth of them elsewhere."""
    done = itertools.count(1)
    with study_progress("samples") as progress:
        yield lambda number: progress("Bootstrap", next(done), total)


@contextmanager
def study_progress(noun: str = "cells") -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each study on a terminal, and a line for every tenth of its cells, named `noun`, elsewhere."""
    tasks: dict[str, TaskID] = {}
    tenths: dict[str, int] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:

        def progress(study: str, done: int, total: int) -> None:
            if study not in tasks:
                tasks[study] = bar.add_task(study, total=total)
            bar.update(tasks[study], completed=done, total=total)
            tenth = 10 * done // max(total, 1)
            if not err.is_terminal and tenths.get(study) != tenth:
                tenths[study] = tenth
                say(f"{study}: {done:,} of {total:,} {noun} finished")

        yield progress
