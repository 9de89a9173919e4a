"""Run studies and write what they give: tables, figures and a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from textsignal.data.write import write_csv
from textsignal.errors import InputError, OutputError
from textsignal.studies.cells import run_cells
from textsignal.studies.methods import methods_for
from textsignal.studies.page import Part, page
from textsignal.studies.samples import Sample
from textsignal.studies.study import Cell, Plan, Study

#: File of finished cells in the folder of results.
KEPT = "cells.jsonl"
#: Called with the name of a study, the number of its finished cells and of all its cells so far known.
StudyProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Wanted:
    """What the user asks for.

    seeds : draws or splits to average over; None takes each study's own number.
    training : "joint", "predictive" or "both".
    quick : whether small grids and few seeds will do.
    samples : review samples by role.
    command : how to make the page again, as it will stand there.

    Examples
    --------
    >>> from textsignal.studies import Wanted
    >>> Wanted(quick=True).training
    'both'
    """

    seeds: int | None = None
    training: str = "both"
    quick: bool = False
    samples: Mapping[str, Sample] = field(default_factory=dict)
    command: str = ""


def reproduce(
    studies: Sequence[Study],
    folder: Path,
    wanted: Wanted,
    *,
    page_file: Path | None = None,
    n_jobs: int = -1,
    progress: StudyProgress | None = None,
) -> Path:
    """Run studies and write a CSV for each of their tables, figures as PNG and SVG, and a page in Markdown.

    A run that was stopped goes on where it was when it is started again with the same folder.

    Parameters
    ----------
    studies : what to run.
    folder : where to write; finished cells are kept in it.
    wanted : what is asked for.
    page_file : the page, if not `reproduction.md` in the folder.
    n_jobs : processes.
    progress : called after every cell.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(200, seed=0)
    >>> sample = ts.studies.Sample("synthetic", tuple(reviews.texts), reviews.ratings.astype(float))
    >>> wanted = ts.studies.Wanted(seeds=1, training="predictive", quick=True, samples={"hotel": sample})
    >>> page = ts.studies.reproduce([ts.studies.STUDIES["overfitting"]], getfixture("tmp_path"), wanted, n_jobs=1)
    >>> page.name, (page.parent / "overfitting.csv").exists()
    ('reproduction.md', True)
    """
    _check_folder(folder)
    _check_samples(studies, wanted.samples)
    folder.mkdir(parents=True, exist_ok=True)
    page_file = page_file or folder / "reproduction.md"
    parts = []
    for study in studies:
        plan = _plan(study, wanted)
        tables = _run(study, plan, folder / KEPT, n_jobs, progress)
        for name, table in tables.items():
            write_csv(table, folder / f"{name}.csv", float_format="%.6g")
        figures = _save_figures(study, plan, tables, folder, page_file)
        parts.append(Part(study.title, study.section(plan, tables), figures, tuple(study.claims(plan, tables))))
    page_file.parent.mkdir(parents=True, exist_ok=True)
    page_file.write_text(page(parts, wanted.samples, wanted.command), encoding="utf-8")
    return page_file


def _run(
    study: Study, plan: Plan, kept: Path, n_jobs: int, progress: StudyProgress | None
) -> Mapping[str, pd.DataFrame]:
    """Tables of a study, stage by stage: all cells known so far make the tables that the next stage sees."""
    cells: list[Cell] = []
    tables: dict[str, pd.DataFrame] = {}
    for stage in study.stages:
        cells += stage(plan, tables)
        of_study = None if progress is None else (lambda done, total: progress(study.name, done, total))
        tables = run_cells(cells, kept, n_jobs=n_jobs, progress=of_study)
    return tables


def _plan(study: Study, wanted: Wanted) -> Plan:
    seeds = wanted.seeds or (study.quick_seeds if wanted.quick else study.seeds)
    samples = {role: wanted.samples[role] for role in study.needs}
    return Plan(seeds, methods_for(wanted.training), wanted.quick, samples)


def _save_figures(
    study: Study, plan: Plan, tables: Mapping[str, pd.DataFrame], folder: Path, page_file: Path
) -> dict[str, str]:
    """Links from the page to the figures, by their names."""
    links = {}
    for name, figure in study.figures(plan, tables).items():
        picture = folder / f"{study.name}-{name}.png"
        figure.savefig(picture)
        with mpl.rc_context({"svg.hashsalt": name}):  # the same figure has the same bytes
            figure.savefig(picture.with_suffix(".svg"), metadata={"Date": None})
        links[name] = os.path.relpath(picture, page_file.parent).replace(os.sep, "/")
    return links


def _check_samples(studies: Sequence[Study], samples: Mapping[str, Sample]) -> None:
    for study in studies:
        missing = [role for role in study.needs if role not in samples]
        if missing:
            raise InputError(
                f"study {study.name} reads reviews that were not given: {', '.join(missing)}; "
                f"give a file with --reviews {missing[0]}=FILE"
            )


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / KEPT).exists():
        raise OutputError(f"{folder} holds other things and no {KEPT} of an earlier run; give another name")
