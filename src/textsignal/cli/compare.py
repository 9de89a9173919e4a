"""`textsignal compare`: a model against simpler ways to predict the same responses."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from textsignal.cli import options as opt
from textsignal.cli.console import count, out, say
from textsignal.cli.tables import check_results, columns_in, what_was_read
from textsignal.data.write import whole_folder

if TYPE_CHECKING:
    from textsignal.evaluation.compare import Comparison

#: Files that are written.
RESULTS = ("compare.csv", "predictions.csv", "summary.txt")


def compare(
    file: opt.FileArgument,
    text: opt.Text = None,
    response: opt.Response = None,
    groups: Annotated[
        str | None, typer.Option("--groups", help="Column of groups that are held out together, such as a hotel.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write to.")] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    themes: Annotated[int, typer.Option("--themes", "-k", min=1, help="Number of themes.")] = 10,
    levels: opt.Levels = None,
    family: Annotated[str | None, typer.Option("--family", help="Family of the response.", show_default="auto")] = None,
    language: opt.Language = "english",
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the folds and the start.")] = 0,
    jobs: opt.Jobs = -1,
    force: opt.Force = False,
) -> None:
    """Compare themes and tone with the mean, ridge, lasso, a GLM on words and a two-stage model, on the same folds."""
    from textsignal.data.read import read_file
    from textsignal.data.source import Source
    from textsignal.model import TextResponseModel
    from textsignal.workflow.studies import compare_table

    scale = opt.scale_of(levels)
    source = Source([str(file)], encoding=encoding, sheet=sheet, sep=sep)
    columns = columns_in(source, text, () if response is None else (response,), by=groups)
    model = TextResponseModel(
        themes,
        family=opt.families_of(None if family is None else [family], list(columns.responses)),
        levels=scale,
        language=None if language == "none" else language,
        random_state=seed,
        n_jobs=jobs,
    )
    if output is not None:
        check_results(output, RESULTS, source)
    with nullcontext() if output is None else whole_folder(output, force=force) as folder:
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        together = f", rows of a {groups} together" if groups else ""
        say(f"{what_was_read(file, read)} Held out in {folds} parts{together}, and predicted from the others.")
        compared = compare_table(
            read.table,
            columns,
            model,
            folds=folds,
            levels=None if scale is None or isinstance(scale[0], str) else scale,
            seed=seed,
            on_bad_rows=on_bad_rows.value,
            n_jobs=jobs,
            progress=_say_progress,
        )
        if folder is not None:
            compared.comparison.write(folder)
    if compared.dropped:
        say(f"Excluded: {compared.dropped}.")
    if compared.response_read:
        say(f"How responses were read: {compared.response_read}.")
    if compared.without_response:
        say(f"Excluded without response: {count(compared.without_response, 'row')}.")
    out.print()
    out.print(comparison_table(compared.comparison, groups))
    out.print()
    for sentence in compared.comparison.sentences:
        out.print(Text(sentence))
    if compared.comparison.caution:
        say(compared.comparison.caution)
    if output is not None:
        say(f"\nWritten to {output}: {', '.join(RESULTS)}")


def _say_progress(method: str, done: int, total: int) -> None:
    if done == total:
        say(f"{method}: {count(total, 'fold')} done")


def comparison_table(comparison: Comparison, groups: str | None) -> Table:
    """Return a table with one row per method, the best first; ours in bold."""
    first, second = comparison.measures
    over = f"over groups of {groups}" if groups else "over texts"
    table = Table(
        title=f"How well {len(comparison.rows):,} texts are predicted by fits that have not seen them",
        caption=_caption(comparison, over),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("method")
    for measure in (first, second):
        table.add_column(measure.label, justify="right")
        table.add_column("against ours", justify="right", no_wrap=True)
    table.add_column("folds\nbetter", justify="right")
    n_folds = len(comparison.families)
    for row in comparison.table.to_dict("records"):
        ours = row["method"] == "textsignal"
        cells = [
            cell
            for measure in (first, second)
            for cell in (
                f"{row[measure.name]:.3f}",
                "–" if ours else f"{row[measure.name + '_difference']:+.3f} ± {row[measure.name + '_std_error']:.3f}",
            )
        ]
        table.add_row(
            row["method"], *cells, "–" if ours else f"{row['folds_better']} of {n_folds}", style="bold" * ours
        )
    return table


def _caption(comparison: Comparison, over: str) -> str:
    first, second = comparison.measures
    names = ", ".join(dict.fromkeys(comparison.families))
    return (
        f"{first.label}: more is better; {second.label}: of the probability of each given response, less is better "
        f"(family: {names}); against ours: method less textsignal ± its standard error {over}, for these fits; folds "
        "better: in which the method is ahead of ours"
    )
