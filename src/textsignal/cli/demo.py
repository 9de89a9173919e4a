"""`textsignal demo`: embedded synthetic reviews, fitted and shown."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import busy, report_settings, say
from textsignal.cli.screen import show_analysis
from textsignal.data.write import whole_folder

#: Themes of the demo: the planted aspects, and one for filler.
DEMO_THEMES, DEMO_REVIEWS = 14, 3000


def demo(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write to.")] = None,
    force: opt.Force = False,
    jobs: opt.Jobs = -1,
) -> None:
    """Fit embedded synthetic hotel reviews and show what moves their rating."""
    from textsignal.data.roles import Roles
    from textsignal.datasets import synthetic_reviews
    from textsignal.model import TextResponseModel
    from textsignal.workflow.analyse import analyse

    table = synthetic_reviews(DEMO_REVIEWS, seed=0).to_frame()
    say(f"{DEMO_REVIEWS:,} synthetic hotel reviews (written by a grammar, not by guests), rated 1 to 5.")
    columns = Roles("review", ("rating",), by="hotel", over="date")
    model = TextResponseModel(n_themes=DEMO_THEMES, n_jobs=jobs)
    with nullcontext() if output is None else whole_folder(output, force=force) as folder:
        with busy("Themes and tone"):
            analysis = analyse(table, columns, model, levels=(1, 5), unit="stars")
        if folder is not None:
            with report_settings(source="synthetic hotel reviews") as settings:
                files = analysis.write(folder, settings)
    show_analysis(analysis)
    if output is not None:
        say(f"\nWritten to {output}: {', '.join(files)}")
        say(f"Open the report in a browser: {output / 'report.html'}")
