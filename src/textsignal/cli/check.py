"""`textsignal check`: problems of a stored model and its data, and remedies."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import count, out, say
from textsignal.cli.models import rows_of_fit
from textsignal.cli.tables import check_output, opened
from textsignal.data.write import whole_table


def check(
    model: opt.ModelArgument,
    file: opt.FileArgument,
    text: opt.Text = None,
    response: opt.Response = None,
    label: opt.Class = None,
    by: Annotated[str | None, typer.Option("--by", help="Column of groups, such as a hotel.")] = None,
    over: Annotated[str | None, typer.Option("--over", help="Column of dates.")] = None,
    covariates: Annotated[
        str | None, typer.Option("--covariates", help="Further columns to compare residuals with, separated by commas.")
    ] = None,
    offset: opt.Offset = None,
    weights: opt.Weights = None,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    output: opt.Table = None,
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Check a model and its data, with a remedy for each problem: calibration, residuals, copies, leaks, ..."""
    from textsignal.data.source import Source
    from textsignal.workflow.apply import check_table

    source = Source([str(file)], encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    others: dict[str, Any] = {"text": text, "by": by, "over": over, "offset": offset, "weights": weights}
    fitted, columns, sample = opened(model, source, [str(file)], response, label, **others)
    columns = columns.with_covariates(opt.names_of(covariates, sample.table))
    split = rows_of_fit(model, fitted, columns.response)
    checked = check_table(fitted, sample.table, columns, split=split, new=new, on_bad_rows=on_bad_rows.value)
    for line in checked.lines():
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if output is not None:
        with whole_table(output, force=force) as write:
            made = checked.to_frame()
            write(made.assign(rows=[", ".join(map(str, rows)) for rows in made["rows"]]))
        say(f"Written to {output}: {count(len(made), 'row')}")
