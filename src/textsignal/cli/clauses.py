"""`textsignal clauses`: the clauses of new texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import count, row_progress, say
from textsignal.cli.models import load_themes
from textsignal.cli.tables import check_output, columns_in, say_choice
from textsignal.data.write import whole_table


def clauses(
    model: opt.ModelArgument,
    files: opt.NewFilesArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="CSV, TSV, JSON lines or Parquet file, of any size; JSON; Excel.")
    ],
    text: opt.Text = None,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Write all clauses of any number of new texts, with theme, kind and contribution, a batch at a time."""
    from textsignal.data.source import Source
    from textsignal.workflow.stream import clause_batches, write_tables

    source = Source(files, encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    fitted, column = load_themes(model), text or columns_in(source, None, ("",)).text
    with whole_table(output, force=force) as write, row_progress("Clauses", source.n_rows) as progress:
        tables = clause_batches(
            fitted, files, column, encoding=encoding, sheet=sheet, sep=sep, notice=say_choice, progress=progress
        )
        written = write_tables(tables, write)
    say(f"Written to {output}: {count(written, 'clause')}")
