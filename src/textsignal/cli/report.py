"""`textsignal report`: the page of a stored model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textsignal.cli.console import report_settings, say
from textsignal.cli.fit_source import named
from textsignal.cli.models import one_model, rows_of_fit
from textsignal.cli.options import (
    BadRowsOption,
    ByOption,
    ClassOption,
    ClustersOption,
    DocumentsOption,
    EncodingOption,
    FilesArgument,
    ForceOption,
    IntervalOption,
    ModelArgument,
    NoMaskOption,
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
from textsignal.cli.sampled import SampleMemoryOption, check_output, rows_of


def report(
    model: ModelArgument,
    files: FilesArgument,
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    label: ClassOption = None,
    by: ByOption = None,
    over: OverOption = None,
    offset: OffsetOption = None,
    interval: IntervalOption = None,
    groups: ClustersOption = None,
    memory: SampleMemoryOption = None,
    title: Annotated[str, typer.Option("--title", help="Of the page.")] = "",
    unit: UnitOption = None,
    no_texts: NoTextsOption = False,
    no_mask: NoMaskOption = False,
    documents: DocumentsOption = 1000,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Write a report on a model to one self-contained HTML file."""
    from textsignal.data.source import Source
    from textsignal.workflow.analyse import check_ranges
    from textsignal.workflow.apply import columns_of, report_table

    source = Source(files, encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    check_ranges(interval, groups)
    fitted = one_model(model, response, label, names_column=True)
    columns = columns_of(fitted, over=over, groups=groups, by=by, offset=offset, response=response, text=text)
    sample = rows_of(source, files, columns, memory)
    page: dict[str, Any] = {"title": title, "with_texts": not no_texts, "mask": not no_mask, "n_documents": documents}
    with report_settings(source=named(source), basis=sample.sentence, **page) as settings, sample.counted():
        held_out = report_table(
            fitted,
            sample.table,
            output,
            text=text,
            response=response,
            split=None if sample.basis else rows_of_fit(model, fitted, response),
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
            place=sample.place,
        )
    if not held_out:
        say("No row is known to be held out, so skill is that on training rows. For rows new to the model say --new.")
    say(f"Written to {output}: open it in a browser")
