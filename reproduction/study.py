"""Studies: cells to compute, the tables they fill, and the figures, text and claims drawn from these tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from reproduction.claims import Claim
from reproduction.methods import METHODS
from reproduction.page import Section, page
from reproduction.samples import Sample
from textsignal.data.write import keep_line, kept_lines, write_csv
from textsignal.errors import InputError, OutputError, TextSignalError

Row = dict[str, Any]
Columns = dict[str, str | int | float]
#: Rows of finished cells by the name of their table.
Tables = Mapping[str, pd.DataFrame]
#: Called with the number of finished cells and of all cells.
Progress = Callable[[int, int], None]
#: Called with the name of a study, the number of its finished cells and of all its cells known so far.
StudyProgress = Callable[[str, int, int], None]

#: Finished cells of another version are computed again.
VERSION = version("textsignal")
#: File of finished cells in the output folder.
KEPT = "cells.jsonl"


class StudyError(TextSignalError, RuntimeError):
    """A cell of a study failed; the message names the cell. Finished cells are kept."""


@dataclass(frozen=True)
class Plan:
    """Options of a run.

    Attributes
    ----------
    seeds : int
        Number of draws or splits, with the seeds 0, 1, 2, ...; 0 for the default of each study.
    methods : tuple of str
        Methods to fit, see `methods.METHODS`.
    quick : bool
        True for small grids and few seeds.
    samples : mapping of str to Sample
        Review samples by role.
    """

    seeds: int = 0
    methods: tuple[str, ...] = tuple(METHODS)
    quick: bool = False
    samples: Mapping[str, Sample] = field(default_factory=dict)

    @property
    def times(self) -> str:
        """Number of draws or splits in words.

        Examples
        --------
        >>> Plan(seeds=3).times
        '3 times (seeds 0 to 2)'
        """
        return "once (seed 0)" if self.seeds == 1 else f"{self.seeds} times (seeds 0 to {self.seeds - 1})"


@dataclass(frozen=True)
class Cell:
    """A computation that is stored as soon as it is finished.

    Attributes
    ----------
    table : str
        Table that its rows belong to.
    columns : dict
        Columns that identify the cell in its table, such as method and seed.
    compute : callable
        Returns the rows. It must be picklable: a function of a module with bound arguments.
    data : str
        Digest of the sample that it reads, if any.
    """

    table: str
    columns: Columns
    compute: Callable[[], Sequence[Row]]
    data: str = ""

    @property
    def key(self) -> str:
        """Name of the cell in the file of finished cells."""
        return json.dumps([self.table, self.columns, self.data], sort_keys=True)

    def rows(self) -> list[Row]:
        """Compute the rows, with the identifying columns first."""
        return [self.columns | row for row in self.compute()]


@dataclass(frozen=True)
class Study:
    """A study of the paper.

    Attributes
    ----------
    name, title : str
        Name on the command line and heading on the page.
    needs : tuple of str
        Roles of the samples that it reads.
    seeds, quick_seeds : int
        Default number of draws or splits.
    stages : tuple of callables
        Each returns cells, given the tables of the stages before it.
    figures, section, claims : callables
        Return the figures by name, the Markdown and the claims, given the plan and all tables.

    Examples
    --------
    >>> from reproduction import STUDIES
    >>> STUDIES["length"].needs
    ('fast-food', 'cafe', 'hotel', 'tripadvisor')
    """

    name: str
    title: str
    needs: tuple[str, ...]
    seeds: int
    quick_seeds: int
    stages: tuple[Callable[[Plan, Tables], Sequence[Cell]], ...]
    figures: Callable[[Plan, Tables], dict[str, Figure]]
    section: Callable[[Plan, Tables], str]
    claims: Callable[[Plan, Tables], Sequence[Claim]]

    def can_read(self, samples: Mapping[str, Sample]) -> bool:
        """Return True if all samples that it needs are available."""
        return set(self.needs) <= samples.keys()


def run_cells(
    cells: Sequence[Cell], kept: Path, *, n_jobs: int = -1, progress: Progress | None = None
) -> dict[str, pd.DataFrame]:
    """Return the tables of cells, computing those that are not in the file `kept` yet.

    Parameters
    ----------
    cells : sequence of Cell
        Cells to compute; rows of the tables are in this order.
    kept : Path
        File of finished cells, one per line. New cells are appended; other cells in it are kept.
    n_jobs : int
        Number of processes; -1 for one per core.
    progress : callable, optional
        Called once at the start and after every cell.
    """
    finished = finished_cells(kept)
    todo = [cell for cell in cells if cell.key not in finished]
    report = progress or (lambda done, total: None)
    report(len(cells) - len(todo), len(cells))
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for done, (key, rows) in enumerate(workers(delayed(_compute)(cell) for cell in todo), len(cells) - len(todo) + 1):
        # Rows go through JSON, so that a first run and a later one give the same table.
        finished[key] = json.loads(keep_line([VERSION, key, rows], kept))[2]
        report(done, len(cells))
    gathered: dict[str, list[Row]] = {}
    for cell in cells:
        gathered.setdefault(cell.table, []).extend(finished[cell.key])
    return {table: pd.DataFrame(rows) for table, rows in gathered.items()}


def finished_cells(kept: Path) -> dict[str, list[Row]]:
    """Return the rows of finished cells of this version by key; lines cut short by a stop are ignored."""
    return {key: rows for written_by, key, rows in kept_lines(kept) if written_by == VERSION}


def _compute(cell: Cell) -> tuple[str, list[Row]]:
    """Key and rows of a cell, on one thread: cells already run in parallel."""
    try:
        with threadpool_limits(1):
            return cell.key, cell.rows()
    except Exception as error:
        raise StudyError(f"{cell.table}, {cell.columns}: {error}") from error


def reproduce(
    studies: Sequence[Study],
    folder: Path,
    plan: Plan,
    *,
    page_file: Path | None = None,
    command: str = "",
    n_jobs: int = -1,
    progress: StudyProgress | None = None,
) -> Path:
    """Run studies and write their tables (CSV), figures (PNG and SVG) and a page (Markdown).

    A stopped run resumes when it is started again with the same folder.

    Parameters
    ----------
    studies : sequence of Study
        Studies to run.
    folder : Path
        Output folder, which also holds the finished cells.
    plan : Plan
        Seeds, methods and samples.
    page_file : Path, optional
        The page; `reproduction.md` in the folder by default.
    command : str
        Command that writes the page, as shown on it.
    n_jobs : int
        Number of processes; -1 for one per core.
    progress : callable, optional
        Called after every cell.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        If a sample is missing.
    OutputError
        If the folder is a file, or holds files but no finished cells.
    StudyError
        If a cell fails.

    Examples
    --------
    >>> from reproduction import STUDIES
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=0)
    >>> sample = Sample("synthetic", tuple(reviews.texts), reviews.ratings.astype(float))
    >>> plan = Plan(seeds=1, methods=("linear", "ridge"), quick=True, samples={"hotel": sample})
    >>> page = reproduce([STUDIES["overfitting"]], getfixture("tmp_path"), plan, n_jobs=1)
    >>> page.name, (page.parent / "overfitting.csv").exists()
    ('reproduction.md', True)
    """
    _check_folder(folder)
    _check_samples(studies, plan.samples)
    folder.mkdir(parents=True, exist_ok=True)
    page_file = page_file or folder / "reproduction.md"
    sections = []
    for study in studies:
        resolved = replace(plan, seeds=plan.seeds or (study.quick_seeds if plan.quick else study.seeds))
        tables = _run(study, resolved, folder / KEPT, n_jobs, progress)
        for name, table in tables.items():
            write_csv(table, folder / f"{name}.csv", float_format="%.6g")
        links = {
            name: _save(figure, name, folder / f"{study.name}-{name}.png", page_file)
            for name, figure in study.figures(resolved, tables).items()
        }
        text, claims = study.section(resolved, tables), tuple(study.claims(resolved, tables))
        sections.append(Section(study.title, text, links, claims))
    page_file.parent.mkdir(parents=True, exist_ok=True)
    page_file.write_text(page(sections, plan.samples, command), encoding="utf-8")
    return page_file


def _run(study: Study, plan: Plan, kept: Path, n_jobs: int, progress: StudyProgress | None) -> Tables:
    """Tables of a study; every stage sees the tables of the cells before it."""
    cells: list[Cell] = []
    tables: Tables = {}
    report = None if progress is None else (lambda done, total: progress(study.name, done, total))
    for stage in study.stages:
        cells += stage(plan, tables)
        tables = run_cells(cells, kept, n_jobs=n_jobs, progress=report)
    return tables


def _save(figure: Figure, name: str, picture: Path, page_file: Path) -> str:
    """Link from the page to the PNG."""
    figure.savefig(picture)
    with mpl.rc_context({"svg.hashsalt": name}):  # reproducible bytes
        figure.savefig(picture.with_suffix(".svg"), metadata={"Date": None})
    return os.path.relpath(picture, page_file.parent).replace(os.sep, "/")


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
