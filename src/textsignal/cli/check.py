"""`textsignal check`: problems of a stored model and its data, and remedies."""

from __future__ import annotations

from typing import Annotated

import typer

from textsignal.cli.console import count, out, say
from textsignal.cli.models import one_model, rows_of_fit
from textsignal.cli.options import (
    BadRowsOption,
    ClassOption,
    EncodingOption,
    FileArgument,
    ForceOption,
    ModelArgument,
    OffsetOption,
    OnBadRows,
    ResponseOption,
    SepOption,
    SheetOption,
    TableOption,
    TextOption,
    WeightsOption,
    names_of,
)
from textsignal.cli.tables import check_output, columns_in, what_was_read
from textsignal.data.write import whole_table


def check(
    model: ModelArgument,
    file: FileArgument,
    text: TextOption = None,
    response: ResponseOption = None,
    label: ClassOption = None,
    by: Annotated[str | None, typer.Option("--by", help="Column of groups, such as a hotel.")] = None,
    over: Annotated[str | None, typer.Option("--over", help="Column of dates.")] = None,
    covariates: Annotated[
        str | None,
        typer.Option("--covariates", help="Further columns to compare residuals with, separated by commas."),
    ] = None,
    offset: OffsetOption = None,
    weights: WeightsOption = None,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    output: TableOption = None,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Check a model and its data, with a remedy for each problem: calibration, residuals, copies, leaks, ..."""
    from textsignal.data.read import read_file
    from textsignal.data.source import Source
    from textsignal.workflow.apply import check_table

    source = Source([str(file)], encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
    if read.choice:
        say(what_was_read(file, read))
    fitted = one_model(model, response, label, names_column=True)
    columns = columns_in(
        source,
        text,
        () if response is None else (response,),
        response=fitted.naming_.response,
        by=by,
        over=over,
        covariates=tuple(names_of(covariates, read.table)),
        offset=offset,
        weights=weights,
    )
    split = rows_of_fit(model, fitted, columns.response)
    checked = check_table(fitted, read.table, columns, split=split, new=new, on_bad_rows=on_bad_rows.value)
    for line in checked.lines():
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if output is not None:
        with whole_table(output, force=force) as write:
            made = checked.to_frame()
            write(made.assign(rows=[", ".join(map(str, rows)) for rows in made["rows"]]))
        say(f"Written to {output}: {count(len(made), 'row')}")
