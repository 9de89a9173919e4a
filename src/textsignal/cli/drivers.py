"""`textsignal drivers`: what to fix first and what to keep, over all texts or by group."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
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
from textsignal.cli.sampled import SampleMemoryOption, check_output, rows_of
from textsignal.cli.screen import driver_table, show_findings
from textsignal.data.write import whole_table
from textsignal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textsignal.insight.findings import Drivers


def drivers(
    model: ModelArgument,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Table of texts; without it those of training, if the model is of themes. Of several, of a folder of "
            "Parquet files or a pattern in quotes such as 'reviews/*.parquet', at most 100,000 rows at random.",
            metavar="[FILES]...",
        ),
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
    memory: SampleMemoryOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV, TSV, JSON, Parquet or Excel file, by its name.")
    ] = None,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Show what to fix first and what to keep: how often each theme comes up, how, and what that is worth."""
    from textsignal.data.source import Source
    from textsignal.insight.findings import with_lists_as_text
    from textsignal.several import stacked
    from textsignal.workflow.analyse import check_ranges
    from textsignal.workflow.apply import columns_of, drivers_table

    if not files and any(name is not None for name in (by, text, offset, weights)):
        raise InputError("--text, --by, --offset and --weights name columns of a table; give the table too")
    if not files and memory is not None:
        raise InputError(f"--memory {memory} is for reading a table; give the table too")
    if files and text is None:
        raise InputError("a table was given, but not which column holds the texts; give --text")
    check_ranges(interval, groups)
    source = Source(files, encoding=encoding, sheet=sheet, sep=sep) if files else None
    if output is not None:
        check_output(output, source, model, force=force)
    found = models_of(model, response, label, names_column=source is not None)
    several, noun = len(found) > 1, noun_of(found)
    options: dict[str, Any] = {"by": by, "offset": offset, "weights": weights, "groups": groups}
    table, own = None, set[str]()
    counted: Callable[[], AbstractContextManager[None]] = nullcontext
    if files and source is not None:
        columns = columns_of(next(iter(found.values())), response=response, text=text, **options)
        if several and noun == "response":
            own = {name for name in found if source.has_column(name)}
        sample = rows_of(source, files, dict.fromkeys(own, "response") | columns, memory)
        table, counted, options["place"] = sample.table, sample.counted, sample.place

    def tables() -> dict[str, Drivers]:
        columns = {name: name if name in own else response for name in found}
        given = {"text": text, "interval": interval} | options
        with counted():
            return {name: drivers_table(one, table, response=columns[name], **given) for name, one in found.items()}

    if output is None:
        for one in tables().values():
            show_findings(one)
            title = f"What moves {one.naming.subject}" + (f", by {by}, the largest groups" if by else "")
            out.print(driver_table(one, title, one.naming, interval))
        return
    with whole_table(output, force=force) as write:
        made = with_lists_as_text(stacked(tables(), noun) if several else next(iter(tables().values())))
        write(made)
    say(f"Written to {output}: {count(len(made), 'row')}")
