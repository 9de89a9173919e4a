"""`textsignal report`: the page of a stored model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import report_settings, say
from textsignal.cli.models import one_model, rows_of_fit
from textsignal.cli.options import (
    BadRowsOption,
    ByOption,
    ClassOption,
    ClustersOption,
    DocumentsOption,
    EncodingOption,
    FileArgument,
    ForceOption,
    IntervalOption,
    ModelArgument,
    NoTextsOption,
    OffsetOption,
    OnBadRows,
    OverOption,
    ResponseOption,
    SepOption,
    SheetOption,
    TextOption,
    UnitOption,
)
from textsignal.cli.screen import what_was_read
from textsignal.tables.write import check_not_input


def report(
    model: ModelArgument,
    file: FileArgument,
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    label: ClassOption = None,
    by: ByOption = None,
    over: OverOption = None,
    offset: OffsetOption = None,
    interval: IntervalOption = None,
    groups: ClustersOption = None,
    title: Annotated[str, typer.Option("--title", help="Of the page.")] = "",
    unit: UnitOption = None,
    no_texts: NoTextsOption = False,
    documents: DocumentsOption = 1000,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Write a report on a model: one HTML file that needs nothing else."""
    from textsignal.tables.apply import report_table
    from textsignal.tables.read import read_file

    check_not_input(output, [file, *model.glob("**/*")])
    read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
    if read.choice:
        say(what_was_read(file, read))
    options = {"title": title, "with_texts": not no_texts, "n_documents": documents}
    fitted = one_model(model, response, label, names_column=True)
    with report_settings(file=file, **options) as settings:
        held_out = report_table(
            fitted,
            read.table,
            output,
            text=text,
            response=response,
            split=rows_of_fit(model, fitted, response),
            new=new,
            by=by,
            over=over,
            unit=unit,
            settings=settings,
            on_bad_rows=on_bad_rows.value,
            offset=offset,
            interval=interval,
            groups=groups,
            force=force,
        )
    if not held_out:
        say("No row is known to be held out, so skill is that on training rows. For rows new to the model say --new.")
    say(f"Written to {output}: open it in a browser")
