"""`textsignal demo`: embedded synthetic reviews, fitted and shown."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from textsignal.cli.console import progress, report_settings, say
from textsignal.cli.options import ForceOption, JobsOption
from textsignal.cli.screen import say_results, show_analysis
from textsignal.data.write import whole_folder

#: Themes of the demo: the planted aspects, and one for filler.
DEMO_TOPICS, DEMO_REVIEWS = 14, 3000
#: Columns of their table.
COLUMNS: dict[str, Any] = {"text": "review", "response": "rating", "by": "hotel", "over": "date"}


def demo(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write.")] = None,
    force: ForceOption = False,
    jobs: JobsOption = -1,
) -> None:
    """Fit embedded synthetic hotel reviews and show what moves their rating."""
    from textsignal.datasets import synthetic_reviews
    from textsignal.model import TextResponseModel
    from textsignal.workflow.analyse import analyse

    table = synthetic_reviews(DEMO_REVIEWS, seed=0).to_frame()
    say(f"{DEMO_REVIEWS:,} synthetic hotel reviews (written by a grammar, not by guests), rated 1 to 5.")
    model = TextResponseModel(n_themes=DEMO_TOPICS, training="themes", n_jobs=jobs)
    with nullcontext() if output is None else whole_folder(output, force=force) as folder:
        with progress(model):
            analysis = analyse(table, model=model, levels=(1, 5), unit="stars", **COLUMNS)
        if folder is not None:
            with report_settings(source="synthetic hotel reviews") as settings:
                analysis.write(folder, settings)
    show_analysis(analysis)
    if output is not None:
        say_results(output, COLUMNS["by"])
