"""`textsignal themes`: a model's themes, on the screen or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import count, out, say
from textsignal.cli.models import models_of, noun_of
from textsignal.cli.options import ClassOption, ForceOption, ModelArgument, OneResponseOption
from textsignal.cli.screen import theme_table
from textsignal.data.write import check_not_input, whole_table


def themes(
    model: ModelArgument,
    terms: Annotated[int, typer.Option("--terms", "-n", min=1, help="Terms to show for each theme.")] = 10,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV, TSV, JSON, Parquet or Excel file, by its name.")
    ] = None,
    response: OneResponseOption = None,
    label: ClassOption = None,
    force: ForceOption = False,
) -> None:
    """Show a model's themes: their frequency, effects and terms."""
    from textsignal.insight.findings import with_lists_as_text
    from textsignal.several import stacked

    if output is None:
        for fitted in models_of(model, response, label).values():
            out.print(theme_table(fitted, terms))
            if fitted.naming_.given:
                say(fitted.naming_.condition)
        return
    check_not_input(output, model.glob("**/*"))
    with whole_table(output, force=force) as write:
        models = models_of(model, response, label)
        tables = {name: fitted.themes(terms) for name, fitted in models.items()}
        table = with_lists_as_text(stacked(tables, noun_of(models)) if len(tables) > 1 else next(iter(tables.values())))
        write(table)
    say(f"Written to {output}: {count(len(table), 'row')}")
