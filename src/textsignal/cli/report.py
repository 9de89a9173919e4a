"""`textsignal report`: the page of a stored model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import report_settings, say
from textsignal.cli.models import rows_of_fit
from textsignal.cli.tables import check_output, named, opened


def report(
    model: opt.ModelArgument,
    files: opt.FilesArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    text: opt.Text = None,
    response: opt.Response = None,
    label: opt.Class = None,
    by: opt.By = None,
    over: opt.Over = None,
    offset: opt.Offset = None,
    interval: opt.Interval = None,
    groups: opt.Clusters = None,
    memory: opt.SampleMemory = None,
    title: Annotated[str, typer.Option("--title", help="Title of the page.")] = "",
    unit: opt.Unit = None,
    no_texts: opt.NoTexts = False,
    no_mask: opt.NoMask = False,
    documents: opt.Documents = 1000,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Write a report on a model to one self-contained HTML file."""
    from textsignal.data.source import Source
    from textsignal.workflow.apply import report_table
    from textsignal.workflow.rows import check_intervals

    source = Source(files, encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    check_intervals(interval, groups)
    others: dict[str, Any] = {"over": over, "groups": groups, "by": by, "offset": offset}
    fitted, columns, sample = opened(model, source, files, response, label, text=text, memory=memory, **others)
    page: dict[str, Any] = {"title": title, "with_texts": not no_texts, "mask": not no_mask, "n_documents": documents}
    with report_settings(source=named(source), basis=sample.sentence, **page) as settings, sample.counted():
        held_out = report_table(
            fitted,
            sample.table,
            output,
            columns,
            split=None if sample.basis else rows_of_fit(model, fitted, columns.response),
            new=new,
            unit=unit,
            settings=settings,
            on_bad_rows=on_bad_rows.value,
            interval=interval,
            force=force,
            place=sample.place,
        )
    if not held_out:
        say("No row is known to be held out, so skill is that on training rows. For rows new to the model give --new.")
    say(f"Written to {output}: open it in a browser")
