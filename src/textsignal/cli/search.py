"""`textsignal search`: how many themes to take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import out, say, study_progress
from textsignal.cli.screen import search_table
from textsignal.cli.tables import columns_in, what_was_read
from textsignal.errors import InputError


def search(
    file: opt.FileArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to; a stopped search resumes from it.")
    ],
    text: opt.Text = None,
    response: opt.Response = None,
    themes: Annotated[
        str | None,
        typer.Option(
            "--themes", "-k", help="Numbers to try, such as 5-12 or 5,8,12.", show_default="5 to 30, in two stages"
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    by: Annotated[
        str | None, typer.Option("--by", help="Column of groups that are held out together, such as a hotel.")
    ] = None,
    levels: opt.Levels = None,
    family: Annotated[
        str, typer.Option("--family", help="Family of the response.", metavar=f"[{'|'.join(opt.FAMILIES)}]")
    ] = "auto",
    max_terms: opt.MaxTerms = None,
    language: opt.Language = "english",
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
) -> None:
    """Try numbers of themes by cross-validation; write a table, a figure and a recommendation.

    A stopped search resumes when it is started again with the same folder.
    """
    from textsignal.data.read import read_file
    from textsignal.data.source import Source
    from textsignal.workflow.studies import search_table as run

    numbers = None if themes is None else numbers_in(themes)
    if family not in opt.FAMILIES:
        raise InputError(f"--family {family} is not known; give one of {', '.join(opt.FAMILIES)}")
    source = Source([str(file)], encoding=encoding, sheet=sheet, sep=sep)
    columns = columns_in(source, text, () if response is None else (response,), by=by)
    read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
    say(what_was_read(file, read))
    with study_progress() as progress:
        found = run(
            read.table,
            columns,
            output,
            n_themes=numbers,
            folds=folds,
            family=family,
            levels=opt.scale_of(levels),
            on_bad_rows=on_bad_rows.value,
            language=None if language == "none" else language,
            max_terms=max_terms,
            seed=seed,
            n_jobs=jobs,
            progress=lambda done, total: progress("search", done, total),
        )
    out.print(search_table(found))
    say(found.recommendation)
    say(f"Written to {output}: table.csv, search.png, search.svg, recommendation.txt")


def numbers_in(listed: str) -> list[int]:
    """Return whole numbers separated by commas; 5-8 stands for all from 5 to 8."""
    found: list[int] = []
    for part in listed.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if ends is None:
            raise InputError(f"--themes {listed}: give whole numbers, such as 5-12 or 5,8,12")
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    if not found:
        raise InputError(f"--themes {listed} is empty; give the smaller number first, such as 5-12")
    return found
