"""`textsignal predict`: the response of new texts."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsignal.cli.console import count, say
from textsignal.cli.options import (
    EncodingOption,
    FileArgument,
    ForceOption,
    ModelArgument,
    OffsetOption,
    SepOption,
    SheetOption,
    TextOption,
    names_of,
)
from textsignal.cli.screen import what_was_read
from textsignal.tables.write import check_not_input, whole_table

if TYPE_CHECKING:
    import pandas as pd


def predict(
    model: ModelArgument,
    file: FileArgument,
    text: TextOption,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV, TSV, JSON, Parquet or Excel file, by its name; default the screen."),
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", help="Columns to carry over, parted by commas, or all.", metavar="COLUMNS")
    ] = None,
    offset: OffsetOption = None,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Predict the response of new texts."""
    from textsignal.loading import load
    from textsignal.several import TextResponsesModel
    from textsignal.tables.apply import predict_table
    from textsignal.tables.read import read_file
    from textsignal.tables.several import predict_several

    if output is not None:
        check_not_input(output, [file, *model.glob("**/*")])
    with nullcontext(_to_screen) if output is None else whole_table(output, force=force) as write:
        fitted = load(model)
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        if read.choice:
            say(what_was_read(file, read))
        columns = "all" if keep == "all" else names_of(keep, read.table)
        if isinstance(fitted, TextResponsesModel):
            predictions = predict_several(fitted, read.table, text, keep=columns)
        else:
            predictions = predict_table(fitted, read.table, text, keep=columns, offset=offset)
        write(predictions)
    unknown = int(predictions["unknown"].sum())
    if unknown:
        texts = count(len(predictions), "text")
        say(f"Without a word the model knows, taken as an average text: {unknown:,} of {texts}.")
    if output is not None:
        say(f"Written to {output}: {count(len(predictions), 'row')}")


def _to_screen(table: pd.DataFrame) -> None:
    table.to_csv(sys.stdout, index=False)
