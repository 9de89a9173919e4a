"""`textsignal drivers`: what to fix first and what to keep, over all texts or by group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textsignal.cli.console import count, out, say
from textsignal.cli.models import models_of, noun_of
from textsignal.cli.options import (
    ByOption,
    ClassOption,
    ClustersOption,
    EncodingOption,
    ForceOption,
    IntervalOption,
    ModelArgument,
    OffsetOption,
    SepOption,
    SheetOption,
    WeightsOption,
)
from textsignal.cli.screen import driver_table, show_findings, what_was_read
from textsignal.errors import InputError
from textsignal.tables.write import check_not_input, whole_table

if TYPE_CHECKING:
    from textsignal.topics.findings import Drivers


def drivers(
    model: ModelArgument,
    file: Annotated[
        Path | None, typer.Argument(help="Table of texts; without it those of training, if the model is of themes.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column that holds the texts.")] = None,
    response: Annotated[
        str | None,
        typer.Option("--response", help="Column that holds the response, for its means; which one, of several."),
    ] = None,
    label: ClassOption = None,
    by: ByOption = None,
    offset: OffsetOption = None,
    weights: WeightsOption = None,
    interval: IntervalOption = None,
    groups: ClustersOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV, TSV, JSON, Parquet or Excel file, by its name.")
    ] = None,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Show what to fix first and what to keep: how often each theme comes up, how, and what that is worth."""
    from textsignal.several import stacked
    from textsignal.tables.apply import drivers_table
    from textsignal.tables.read import read_file
    from textsignal.topics.table import with_lists_as_text

    if file is None and any(name is not None for name in (by, text, offset, weights)):
        raise InputError("--text, --by, --offset and --weights name columns of a table; give the table too")
    table = None
    if file is not None:
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        table = read.table
        if read.choice:
            say(what_was_read(file, read))
    found = models_of(model, response, label, names_column=file is not None)
    several, noun = len(found) > 1, noun_of(found)

    def tables() -> dict[str, Drivers]:
        own = set(table.columns) if several and noun == "response" and table is not None else set()
        columns = {name: name if name in own else response for name in found}
        options: dict[str, Any] = {"text": text, "by": by, "offset": offset, "weights": weights}
        options |= {"interval": interval, "groups": groups}
        return {name: drivers_table(one, table, response=columns[name], **options) for name, one in found.items()}

    if output is None:
        for one in tables().values():
            show_findings(one)
            title = f"What moves {one.naming.subject}" + (f", by {by}, the largest groups" if by else "")
            out.print(driver_table(one, title, one.naming, interval))
        return
    check_not_input(output, [*model.glob("**/*"), *([] if file is None else [file])])
    with whole_table(output, force=force) as write:
        made = with_lists_as_text(stacked(tables(), noun) if several else next(iter(tables().values())))
        write(made)
    say(f"Written to {output}: {count(len(made), 'row')}")
