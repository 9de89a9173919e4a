"""Command line of the studies: ``python -m reproduction``."""

from __future__ import annotations

import enum
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from reproduction import STUDIES, Plan
from reproduction import reproduce as run
from reproduction.methods import methods_for
from reproduction.samples import samples_from_files, samples_from_google
from reproduction.study import StudyError
from textsignal.cli.console import say, study_progress
from textsignal.errors import TextSignalError, TrainingError
from textsignal.report.values.wording import without_place

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


class Training(enum.StrEnum):
    """Training to study."""

    joint = "joint"
    predictive = "predictive"
    both = "both"


class StudyName(enum.StrEnum):
    """Studies of the paper."""

    simulation = "simulation"
    hotels = "hotels"
    sample_size = "sample-size"
    length = "length"
    overfitting = "overfitting"
    all = "all"


@app.command(
    no_args_is_help=True,
    epilog="Example: python -m reproduction hotels --reviews tripadvisor_hotel_reviews.csv -o results/",
)
def reproduce(
    names: Annotated[list[StudyName], typer.Argument(help="Studies to run, or all.", metavar="STUDY...")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to. A stopped run resumes from it.")
    ] = Path("reproduction/results"),
    reviews: Annotated[
        list[str] | None,
        typer.Option("--reviews", help="Table of reviews: FILE for the main sample, or ROLE=FILE.", metavar="FILE"),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column of the texts; default Review or text.")] = None,
    response: Annotated[
        str | None, typer.Option("--response", help="Column of the ratings; default Rating or rating.")
    ] = None,
    google: Annotated[
        Path | None, typer.Option("--google", help="Folder of the published Google Local files of a state.")
    ] = None,
    state: Annotated[str, typer.Option("--state", help="As in the names of the Google Local files.")] = "New_York",
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Draws or splits to average over; default by study.")
    ] = None,
    training: Annotated[Training, typer.Option("--training", help="Training to study.")] = Training.both,
    quick: Annotated[bool, typer.Option("--quick", help="Small grids and few seeds.")] = False,
    page: Annotated[Path | None, typer.Option("--page", help="The page; default reproduction.md there.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per core.")] = -1,
) -> None:
    """Run the paper's studies: tables, figures, and a page that compares its claims with our results.

    Samples of reviews (ROLE): tripadvisor, fast-food, cafe, hotel.
    A stopped run resumes when it is started again.
    """
    samples = samples_from_google(google, state) if google is not None else {}
    samples |= samples_from_files(reviews or [], text=text, rating=response)
    every = StudyName.all in names
    chosen = [study for study in STUDIES.values() if study.name in names or (every and study.can_read(samples))]
    for study in STUDIES.values():
        if every and study not in chosen:
            say(f"{study.name} is skipped: it reads {', '.join(study.needs)}; see --reviews.")
    command = shlex.join(["python", "-m", "reproduction", *map(without_place, sys.argv[1:])])
    plan = Plan(seeds or 0, methods_for(training), quick, samples)
    with study_progress() as progress:
        written = run(chosen, output, plan, page_file=page, command=command, n_jobs=jobs, progress=progress)
    say(f"Written to {output}: tables and figures. The page: {written}")


def main() -> None:
    """Run the command line: exit code 0, 1 for a failure, 2 for bad input."""
    try:
        app()
    except (TextSignalError, OSError) as error:
        say(f"reproduction: {' '.join(str(error).split())}")
        failed = isinstance(error, TrainingError | StudyError) or not isinstance(error, TextSignalError)
        sys.exit(1 if failed else 2)


if __name__ == "__main__":
    main()
