"""`textsignal fit` of more rows than memory holds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textsignal.cli.console import count, report_settings, say, stream_progress
from textsignal.cli.screen import RESULTS, say_results, show_analysis
from textsignal.data.write import check_not_input, whole_folder
from textsignal.errors import InputError

if TYPE_CHECKING:
    from textsignal.compute.engines.dask import DaskEngine
    from textsignal.data.source import Source
    from textsignal.model import TextResponseModel

#: Engines that may read files in batches.
ENGINES = ("local", "dask")


def is_source(files: Sequence[str], *asked: object) -> bool:
    """True if rows are read in batches: of several files, a pattern or a folder, or if requested.

    Examples
    --------
    >>> is_source(["reviews.csv"], None), is_source(["reviews-*.csv"], None), is_source(["reviews.csv"], "4GB")
    (False, True, True)
    """
    first = Path(files[0])
    pattern = has_magic(str(first)) and not first.exists()
    return len(files) > 1 or pattern or first.is_dir() or any(given is not None for given in asked)


def check_flags(given: dict[str, object]) -> None:
    """Raise if an option is given that a source cannot have."""
    for flag, value in given.items():
        if value:
            raise InputError(
                f"{flag} cannot be had of files that are read in batches (several, a pattern, a folder, or with "
                "--memory); leave it out, or give one file without --memory"
            )


def fit_source(
    files: Sequence[str],
    output: Path,
    model: TextResponseModel,
    *,
    text: str,
    response: str,
    memory: str | None,
    folder: Path | None,
    engine: str | None,
    scheduler: str | None,
    force: bool,
    page: dict[str, Any],
    read: dict[str, Any],
    what: str,
    **options: Any,
) -> None:
    """Fit a model to files; write and show the results.

    page : settings of the report; read : how files are read; what : is fitted; options : of `analyse_source`.
    """
    from textsignal.data.source import read_batches
    from textsignal.streaming import MEMORY, columns_of
    from textsignal.workflow.analyse_source import analyse_source

    others = {name: options[name] for name in ("by", "over", "groups")}
    columns = replace(columns_of(text, response, options["weights"]), **others)
    source = read_batches(list(files), columns.roles, notice=say_choice, **read)
    check_not_input(output / RESULTS[1], [file for file in source.files if file.name in RESULTS])
    with whole_folder(output, force=force) as place:
        rows = "" if source.n_rows is None else f": {count(source.n_rows, 'row')}"
        say(f"{named(source)}{rows}. Fitting {what}; rows are read in batches.")
        with engine_of(engine, scheduler) as workers, stream_progress() as progress:
            found = analyse_source(
                source,
                text=text,
                response=response,
                model=model,
                memory=memory or MEMORY,
                folder=folder,
                progress=progress,
                engine=workers,
                **options,
            )
        with report_settings(source=named(source), **page) as settings:
            found.write(place, settings)
    show_analysis(found)
    say_results(output, options["by"])


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


def named(source: Source) -> str:
    """Describe files in a few words."""
    names = [file.name for file in source.files]
    return names[0] if len(names) == 1 else f"{count(len(names), 'file')}, {names[0]} to {names[-1]}"


def say_choice(file: str, choice: str) -> None:
    """Report choices made in reading a file."""
    say(f"{Path(file).name}: {choice}.")
