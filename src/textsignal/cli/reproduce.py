"""`textsignal reproduce`: the paper's studies."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import say, study_progress, this_command


class Trainings(enum.StrEnum):
    """Which training a study looks at."""

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


def reproduce(
    names: Annotated[list[StudyName], typer.Argument(help="Studies to run, or all.", metavar="STUDY...")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to, and to go on from if stopped.")
    ] = Path("reproduction"),
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
        int | None, typer.Option("--seeds", min=1, help="Draws or splits to average over; default each study's own.")
    ] = None,
    training: Annotated[Trainings, typer.Option("--training", help="Which training to study.")] = Trainings.both,
    quick: Annotated[bool, typer.Option("--quick", help="Small grids and few seeds.")] = False,
    page: Annotated[
        Path | None, typer.Option("--page", help="Where the page goes; default reproduction.md in the folder.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one for each core.")] = -1,
) -> None:
    """Run the paper's studies: tables, figures, and a page that sets its claims beside what was found.

    Samples of reviews (ROLE): tripadvisor, fast-food, cafe, hotel.
    A run that was stopped goes on when it is started again.
    """
    from textsignal.studies import STUDIES, Wanted
    from textsignal.studies import reproduce as run
    from textsignal.studies.sources import samples_from_files, samples_from_google

    samples = samples_from_google(google, state) if google is not None else {}
    samples |= samples_from_files(reviews or [], text=text, rating=response)
    every = StudyName.all in names
    chosen = [study for study in STUDIES.values() if study.name in names or (every and study.can_read(samples))]
    for study in STUDIES.values():
        if every and study not in chosen:
            say(f"{study.name} is left out: it reads {', '.join(study.needs)}; see --reviews.")
    wanted = Wanted(seeds, training.value, quick, samples, this_command())
    with study_progress() as progress:
        written = run(chosen, output, wanted, page_file=page, n_jobs=jobs, progress=progress)
    say(f"Written to {output}: tables and figures. The page: {written}")
