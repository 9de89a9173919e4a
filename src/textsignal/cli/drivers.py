"""`textsignal drivers`: what to fix first and what to keep, over all texts or by group."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import count, out, say
from textsignal.cli.models import models_of, noun_of
from textsignal.cli.screen import driver_table, show_findings, show_notes
from textsignal.cli.tables import check_output, columns_in, rows_of
from textsignal.data.write import whole_table
from textsignal.errors import InputError


def drivers(
    model: opt.ModelArgument,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Table of texts; by default those of training. Of several files, a folder of Parquet files or a "
            "pattern in quotes such as 'reviews/*.parquet', at most 100,000 rows at random are used.",
            metavar="[FILES]...",
        ),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Column that holds the texts.")] = None,
    response: Annotated[
        str | None,
        typer.Option(
            "--response",
            "-r",
            help="Column that holds the response, for its means; of a model of several, the response to show.",
        ),
    ] = None,
    label: opt.Class = None,
    by: opt.By = None,
    offset: opt.Offset = None,
    weights: opt.Weights = None,
    interval: opt.Interval = None,
    groups: opt.Clusters = None,
    memory: opt.SampleMemory = None,
    output: opt.Table = None,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Show what to fix first and what to keep: mentions, complaints, praise, cost and gain of each theme."""
    from textsignal.data.roles import Roles
    from textsignal.data.source import Source
    from textsignal.insight.drivers import stacked
    from textsignal.insight.findings import Drivers, with_lists_as_text
    from textsignal.workflow.apply import columns_for, drivers_table
    from textsignal.workflow.rows import check_intervals

    if not files and any(name is not None for name in (by, text, offset, weights)):
        raise InputError("--text, --by, --offset and --weights name columns of a table; give the table too")
    if not files and memory is not None:
        raise InputError(f"--memory {memory} is for reading a table; give the table too")
    check_intervals(interval, groups)
    source = Source(files, encoding=encoding, sheet=sheet, sep=sep) if files else None
    check_output(output, source, model, force=force)
    models = models_of(model, response, label, names_column=source is not None)
    several, noun = len(models) > 1, noun_of(models)
    tables: dict[str, Drivers] = {}
    if files and source is not None:
        head = source.head().columns
        own = {name: name if name in head else None for name in models} if several and noun == "response" else {}
        asked = () if response is None else (response,)
        known = next(iter(models.values())).naming_.response
        others: dict[str, Any] = {"by": by, "offset": offset, "weights": weights, "groups": groups}
        if text is not None and not asked:
            columns = Roles(text, **others)
        else:
            columns = columns_in(source, text, asked, response=known, **others)
        columns = replace(columns, responses=tuple(filter(None, own.values())) if own else columns.responses)
        needed = columns_for(next(iter(models.values())), columns)
        sample = rows_of(source, files, needed, memory)
        with sample.counted():
            for name, one in models.items():
                each = replace(columns, responses=() if own[name] is None else (name,)) if own else columns
                tables[name] = drivers_table(one, sample.table, each, interval=interval, place=sample.place)
    else:
        tables = {name: drivers_table(one, None, interval=interval) for name, one in models.items()}
    if output is None:
        for name, one in tables.items():
            show_findings(one)
            title = f"What moves {one.naming.subject}" + (f", by {by}, the largest groups" if by else "")
            out.print(driver_table(one, title, one.naming, interval))
            show_notes(models[name], one)
        return
    with whole_table(output, force=force) as write:
        made = with_lists_as_text(stacked(tables, noun) if several else next(iter(tables.values())))
        write(made)
    say(f"Written to {output}: {count(len(made), 'row')}")
