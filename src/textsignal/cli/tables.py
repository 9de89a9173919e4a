"""Rows for commands on tables: columns that the file makes obvious, whole files, samples of files read in batches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textsignal.cli.console import count, say, stream_progress
from textsignal.data.write import check_not_input, check_target
from textsignal.errors import InputError

if TYPE_CHECKING:
    from textsignal.compute.engines.dask import DaskEngine
    from textsignal.data.read import TableFile
    from textsignal.data.roles import Roles
    from textsignal.data.sample import SampledRows
    from textsignal.data.source import Source
    from textsignal.model import TextResponseModel

#: Bytes that the libraries take; those of a character where a report with intervals, of 20 themes, is made (63).
BASE, BYTES_PER_CHARACTER = 2**29, 100
#: Engines that may read files in batches.
ENGINES = ("local", "dask")


def is_source(files: Sequence[str], *requested: object) -> bool:
    """True if rows are read in batches: of several files, a pattern or a folder, or if requested."""
    first = Path(files[0])
    pattern = has_magic(str(first)) and not first.exists()
    return len(files) > 1 or pattern or first.is_dir() or any(each is not None for each in requested)


def columns_in(
    source: Source, text: str | None, responses: Sequence[str], *, response: str | None = None, **others: Any
) -> Roles:
    """Return the columns of files by role; text and response are those that the file makes obvious if not named.

    response : name of a response that is taken if a column has it.
    """
    from textsignal.data.roles import Roles, obvious_columns

    if text is not None and responses:
        return Roles(text, tuple(responses), **others)
    taken = obvious_columns(source.head(), text, tuple(responses), response)
    named = [f"text {taken.text!r}"] * (text is None) + [f"response {taken.response!r}"] * (not responses)
    say(f"Columns taken: {', '.join(named)}.")
    return Roles(taken.text, taken.responses, **others)


def check_output(output: Path | None, source: Source | None, model: Path, *, force: bool) -> None:
    """Raise before reading if a file cannot be written."""
    if output is not None:
        check_not_input(output, [*(source.files if source is not None else ()), *model.glob("**/*")])
        check_target(output, force=force)


def check_results(folder: Path, results: Sequence[str], source: Source) -> None:
    """Raise if one of these files of a folder is an input."""
    for name in results:
        check_not_input(folder / name, source.files)


def rows_of(source: Source, files: list[str], columns: Roles, memory: str | None) -> SampledRows:
    """Read rows of files; report choices made in reading them, and whether they are a sample.

    files : names of the files as they were typed.
    """
    from textsignal import streaming
    from textsignal.data.read import read_file
    from textsignal.data.sample import SampledRows, sample_rows
    from textsignal.data.source import read_batches

    options: dict[str, Any] = source.options
    if not is_source(files, memory):
        (file,) = source.files
        read = read_file(file, **options)
        if read.choice:
            say(what_was_read(file, read))
        return SampledRows.all_of(read.table, str(file))
    most_text = (streaming.memory_of(memory or streaming.MEMORY) - BASE) // BYTES_PER_CHARACTER
    batches, n_rows = read_batches(files, columns.by_column, notice=say_choice, **options), source.n_rows
    with stream_progress() as progress:
        sample = sample_rows(
            batches,
            n=streaming.MOST_SAMPLED,
            most_text=most_text,
            progress=lambda done: progress("Reading", done, n_rows),
        )
    if sample.basis:
        say(f"{named(source)}: what follows is of {sample.basis}.")
    return sample


def opened(
    folder: Path, source: Source, files: list[str], response: str | None, label: str | None, **others: Any
) -> tuple[TextResponseModel, Roles, SampledRows]:
    """Return the model of a response or class, the columns that it needs, and the rows; others : columns and memory."""
    from textsignal.cli.models import one_model
    from textsignal.workflow.apply import columns_for

    memory, text = others.pop("memory", None), others.pop("text")
    fitted = one_model(folder, response, label, names_column=True)
    asked = () if response is None else (response,)
    columns = columns_in(source, text, asked, response=fitted.naming_.response, **others)
    return fitted, columns, rows_of(source, files, columns_for(fitted, columns), memory)


def what_was_read(file: Path, read: TableFile) -> str:
    """Describe the rows of a file, and choices made in reading it."""
    return f"{file.name}: {count(len(read.table), 'row')}{f' ({read.choice})' if read.choice else ''}."


def named(source: Source) -> str:
    """Describe files in a few words."""
    names = [file.name for file in source.files]
    return names[0] if len(names) == 1 else f"{count(len(names), 'file')}, {names[0]} to {names[-1]}"


def say_choice(file: str, choice: str) -> None:
    """Report choices made in reading a file."""
    say(f"{Path(file).name}: {choice}.")


def engine_of(name: str | None, scheduler: str | None) -> AbstractContextManager[DaskEngine | None]:
    """Return the requested engine; None for this machine."""
    if name not in (None, *ENGINES):
        raise InputError(f"--engine {name} is not known; give {' or '.join(ENGINES)}")
    if (name == "dask") != (scheduler is not None):
        raise InputError("--engine dask and --scheduler ADDRESS belong together; give both, or neither")
    if scheduler is None:
        return nullcontext()
    from textsignal.compute.engines.dask import connect

    return connect(scheduler)
