"""`textsignal themes`: a model's themes, on the screen or in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from textsignal.cli.console import count, out, say
from textsignal.cli.models import models_of, noun_of
from textsignal.cli.options import ClassOption, ForceOption, ModelArgument, OneResponseOption, TableOption
from textsignal.cli.screen import driver_table
from textsignal.cli.tables import check_output
from textsignal.data.write import whole_table


def themes(
    model: ModelArgument,
    terms: Annotated[int, typer.Option("--terms", "-n", min=1, help="Terms to show for each theme.")] = 10,
    output: TableOption = None,
    response: OneResponseOption = None,
    label: ClassOption = None,
    force: ForceOption = False,
) -> None:
    """Show a model's themes: their frequency, effects and terms."""
    from textsignal.insight.drivers import stacked
    from textsignal.insight.findings import with_lists_as_text

    check_output(output, None, model, force=force)
    models = models_of(model, response, label)
    if output is None:
        for fitted in models.values():
            naming = fitted.naming_
            out.print(driver_table(fitted.themes(terms), f"What moves {naming.subject}", naming))
            if naming.given:
                say(naming.condition)
        return
    with whole_table(output, force=force) as write:
        tables = {name: fitted.themes(terms) for name, fitted in models.items()}
        table = with_lists_as_text(stacked(tables, noun_of(models)) if len(tables) > 1 else next(iter(tables.values())))
        write(table)
    say(f"Written to {output}: {count(len(table), 'row')}")
