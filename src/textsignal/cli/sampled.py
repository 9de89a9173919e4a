"""Rows for commands on a stored model: all of one file, or a random sample of files that are read in batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textsignal.cli.console import say, stream_progress
from textsignal.cli.fit_source import is_source, named, say_choice
from textsignal.cli.screen import what_was_read
from textsignal.data.write import check_not_input, check_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textsignal.data.sample import SampledRows
    from textsignal.data.source import Source

#: Bytes that the libraries take; those of a character where most is asked of the sample: a report with ranges, of 20
#: themes, took 63.
BASE, BYTES_PER_CHARACTER = 2**29, 100

SampleMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="What may be taken, such as 4GB: rows are read in batches, and at most 100,000 at random are used.",
        show_default="4GB for several files, else one file is read whole",
    ),
]


def check_output(output: Path, source: Source | None, model: Path, *, force: bool) -> None:
    """Raise before reading if a file cannot be written."""
    check_not_input(output, [*(source.files if source is not None else ()), *model.glob("**/*")])
    check_target(output, force=force)


def rows_of(source: Source, given: list[str], columns: Mapping[str, str], memory: str | None) -> SampledRows:
    """Read rows of files; report choices made in reading them, and whether they are a sample.

    given : names of the files as they were typed; columns : to read in batches, with the role of each.
    """
    from textsignal import streaming
    from textsignal.data.read import read_file
    from textsignal.data.sample import SampledRows, sample_rows
    from textsignal.data.source import read_batches

    if not is_source(given, memory):
        (file,) = source.files
        read = read_file(file, **source.options)
        if read.choice:
            say(what_was_read(file, read))
        return SampledRows.all_of(read.table, str(file))
    most_text = (streaming.memory_of(memory or streaming.MEMORY) - BASE) // BYTES_PER_CHARACTER
    read_as: dict[str, Any] = source.options
    batches, n_rows = read_batches(given, columns, notice=say_choice, **read_as), source.n_rows
    with stream_progress() as progress:
        found = sample_rows(
            batches,
            n=streaming.MOST_SAMPLED,
            most_text=most_text,
            progress=lambda done: progress("Reading", done, n_rows),
        )
    if found.basis:
        say(f"{named(source)}: what follows is of {found.basis}.")
    return found
