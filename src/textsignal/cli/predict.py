"""`textsignal predict`: the response of new texts."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import count, row_progress, say
from textsignal.cli.models import load_themes
from textsignal.cli.tables import columns_in, say_choice
from textsignal.data.write import check_not_input, whole_table, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from textsignal.data.source import Source


def predict(
    model: opt.ModelArgument,
    files: opt.NewFilesArgument,
    text: opt.Text = None,
    output: opt.Table = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", help="Columns to carry over, separated by commas, or all.", metavar="COLUMNS"),
    ] = None,
    offset: opt.Offset = None,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Predict the response of any number of new texts, read and written a batch at a time."""
    from textsignal.data.source import Source
    from textsignal.workflow.stream import predict_batches, write_predictions

    source = Source(files, encoding=encoding, sheet=sheet, sep=sep)
    if output is not None:
        check_not_input(output, [*source.files, *model.glob("**/*")])
    with nullcontext(_to_screen()) if output is None else whole_table(output, force=force) as write:
        predictions = predict_batches(
            load_themes(model),
            files,
            text or columns_in(source, None, ("",)).text,
            keep=_kept(keep, source),
            offset=offset,
            encoding=encoding,
            sheet=sheet,
            sep=sep,
            notice=say_choice,
        )
        with row_progress("Predicting", source.n_rows) as progress:
            done = write_predictions(predictions, write, progress)
    if done.unknown:
        texts = count(done.rows, "text")
        say(f"Without a word the model knows, taken as an average text: {done.unknown:,} of {texts}.")
    if output is not None:
        say(f"Written to {output}: {count(done.rows, 'row')}")


def _kept(keep: str | None, source: Source) -> str | list[str]:
    """Return columns to carry over, separated by commas; a column whose name holds commas is one."""
    if keep is None or keep == "all":
        return keep or []
    if "," in keep and keep in source.head().columns:
        return [keep]
    return [name.strip() for name in keep.split(",")]


def _to_screen() -> Callable[[pd.DataFrame], None]:
    """Write tables to the screen, one header for all."""
    header = iter((True,))
    return lambda table: write_csv(table, sys.stdout, header=next(header, False))
