"""`textsignal effects`: effects of themes with valid intervals and tests."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from textsignal.cli import options as opt
from textsignal.cli.console import busy, count, out, sample_progress, say
from textsignal.cli.screen import NOT_CLEAR, SHOWN_DRIVERS, SHOWN_GROUPS, UNCLEAR, titled_table, what_if
from textsignal.cli.tables import check_output, opened
from textsignal.data.write import whole_table
from textsignal.insight.naming import MEASURES, Range, percent

if TYPE_CHECKING:
    from rich.table import Table

    from textsignal.uncertainty.effects import EffectTable


class IntervalMethod(enum.StrEnum):
    """Methods for intervals."""

    crossfit = "crossfit"
    bootstrap = "bootstrap"
    plugin = "plugin"


def effects(
    model: opt.ModelArgument,
    files: opt.FilesArgument,
    text: opt.Text = None,
    response: opt.Response = None,
    label: opt.Class = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Column of groups to compare, each against all others.")
    ] = None,
    groups: opt.Clusters = None,
    method: Annotated[
        IntervalMethod,
        typer.Option(
            "--method",
            help="Method of the intervals; plugin takes themes and tone as known, so its intervals are too narrow.",
        ),
    ] = IntervalMethod.crossfit,
    level: Annotated[float, typer.Option("--level", help="Level of the intervals.")] = 0.95,
    refits: Annotated[int, typer.Option("--refits", min=2, help="Samples of the bootstrap.")] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of samples and halves.")] = 0,
    offset: opt.Offset = None,
    weights: opt.Weights = None,
    memory: opt.SampleMemory = None,
    output: opt.Table = None,
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    force: opt.Force = False,
) -> None:
    """Show the effects of themes on the response, with valid intervals and tests; differences between groups too."""
    from textsignal.data.source import Source
    from textsignal.workflow.apply import effects_table

    source = Source(files, encoding=encoding, sheet=sheet, sep=sep)
    check_output(output, source, model, force=force)
    others: dict[str, Any] = {"groups": groups, "by": by, "offset": offset, "weights": weights}
    fitted, columns, sample = opened(model, source, files, response, label, text=text, memory=memory, **others)
    resamples = method == IntervalMethod.bootstrap
    with sample_progress(refits) if resamples else busy("Intervals") as progress, sample.counted():
        estimated = effects_table(
            fitted,
            sample.table,
            columns,
            method=method.value,
            level=level,
            n_refits=refits,
            seed=seed,
            on_bad_rows=on_bad_rows.value,
            progress=progress,
            place=sample.place,
        )
    if output is None:
        out.print(interval_table(estimated, by))
        out.print(estimated.summary(), markup=False, highlight=False)
        return
    with whole_table(output, force=force) as write:
        write(estimated.to_frame())
    say(f"Written to {output}: {count(len(estimated.frame), 'row')}")
    say(estimated.summary())


def interval_table(effects: EffectTable, by: str | None) -> Table:
    """Return cost and gain with their intervals; with groups the first of the largest ones, and their differences."""
    naming = effects.naming
    table = titled_table(
        f"What moves {naming.subject}, {percent(effects.level)} intervals"
        + (f", by {by}, the largest groups" if by else ""),
        f"{what_if(naming)}. Not shrunk, so that they may be below 0. {NOT_CLEAR}",
    )
    grouped = "group" in effects.frame
    if grouped:
        table.add_column("group", overflow="fold")
    table.add_column("theme", overflow="fold")
    shown = [*MEASURES, *(["cost_difference"] if grouped else [])]
    for name in shown:
        table.add_column(name.replace("_difference", "\nagainst others"), justify="right", no_wrap=True)
    frame = effects.frame if grouped else effects.frame.assign(group="")
    rows = {(row.group, row.theme, row.quantity): row for row in frame.itertuples()}
    costs = frame[frame["quantity"] == "cost"].sort_values("estimate", ascending=False, kind="stable")
    for group in frame["group"].unique()[:SHOWN_GROUPS]:
        first = costs[costs["group"] == group].head(SHOWN_DRIVERS if grouped else len(costs))
        for place, row in enumerate(first.itertuples()):
            numbers = [_interval(rows.get((group, row.theme, name)), effects) for name in shown]
            table.add_row(*([Text(str(group) if place == 0 else "")] if grouped else []), Text(row.label), *numbers)
        if grouped:
            table.add_section()
    return table


def _interval(row: Any, effects: EffectTable) -> Text:
    """Return an estimate and its interval: "+0.06 (+0.04 to +0.07)"."""
    if row is None or row.std_error != row.std_error:
        return Text("–")
    naming, clear = effects.naming, bool(row.p_holm < 1 - effects.level)
    estimate = f"{naming.steps * row.estimate:+z.{naming.digits}f}".replace("-", "−")
    span = Range(row.low, row.high, clear).written(naming, sign="+")
    colour = "" if not clear else "red" if (row.estimate > 0) == (row.quantity != "gain") else "green"
    return Text(f"{estimate} ({span}){'' if clear else f' {UNCLEAR}'}", style=colour)
