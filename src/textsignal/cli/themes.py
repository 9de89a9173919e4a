"""`textsignal themes`: a model's themes, on the screen or in a file."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import count, out, say
from textsignal.cli.models import models_of, noun_of
from textsignal.cli.screen import driver_table, show_notes
from textsignal.data.write import check_not_input, whole_table


def themes(
    model: opt.ModelArgument,
    terms: Annotated[int, typer.Option("--terms", "-n", min=1, help="Terms to show for each theme.")] = 10,
    output: opt.Table = None,
    response: opt.OneResponse = None,
    label: opt.Class = None,
    force: opt.Force = False,
) -> None:
    """Show a model's themes: their frequency, effects and terms."""
    from textsignal.insight.drivers import stacked
    from textsignal.insight.findings import with_lists_as_text

    if output is not None:
        check_not_input(output, model.glob("**/*"))
    with nullcontext() if output is None else whole_table(output, force=force) as write:
        models = models_of(model, response, label)
        tables = {name: fitted.themes(terms) for name, fitted in models.items()}
        if write is None:
            for name, fitted in models.items():
                naming = fitted.naming_
                out.print(driver_table(tables[name], f"What moves {naming.subject}", naming))
                show_notes(fitted, tables[name])
                if naming.given:
                    say(naming.condition)
            return
        table = with_lists_as_text(stacked(tables, noun_of(models)) if len(tables) > 1 else next(iter(tables.values())))
        write(table)
    say(f"Written to {output}: {count(len(table), 'row')}")
