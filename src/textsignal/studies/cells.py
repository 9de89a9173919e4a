"""Compute cells in parallel and keep each as soon as it is finished, so that a stopped run can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from textsignal.data.write import keep_line, kept_lines
from textsignal.errors import StudyError
from textsignal.studies.study import Cell, Row

#: Finished cells of another version are computed again.
VERSION = version("textsignal")
#: Called with the number of finished cells and of all cells.
Progress = Callable[[int, int], None]


def run_cells(
    cells: Sequence[Cell], kept: Path, *, n_jobs: int = -1, progress: Progress | None = None
) -> dict[str, pd.DataFrame]:
    """Give the tables of all cells, computing those that `kept` does not hold yet.

    Parameters
    ----------
    cells : what to compute; rows come in this order, whatever order cells finish in.
    kept : file of finished cells, one per line. It is added to; cells in it that were not asked for stay there.
    n_jobs : processes; -1 for one per core.
    progress : called after every cell.
    """
    finished = finished_cells(kept)
    todo = [cell for cell in cells if cell.key not in finished]
    done = len(cells) - len(todo)
    if progress is not None:
        progress(done, len(cells))
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for key, rows in workers(delayed(_computed)(cell) for cell in todo):
        # Rows are taken as a later run will read them.
        finished[key] = json.loads(keep_line([VERSION, key, rows], kept))[2]
        done += 1
        if progress is not None:
            progress(done, len(cells))
    return _tables((cell.table, finished[cell.key]) for cell in cells)


def finished_cells(kept: Path) -> dict[str, list[Row]]:
    """Rows of each finished cell of this version by its key; a line cut short by a stop is not a cell."""
    finished = {}
    for of, key, rows in kept_lines(kept):
        if of == VERSION:
            finished[key] = rows
    return finished


def _computed(cell: Cell) -> tuple[str, list[Row]]:
    """A cell's key and rows. Cells are computed side by side, so each has one thread."""
    try:
        with threadpool_limits(1):
            return cell.key, cell.rows()
    except Exception as error:
        raise StudyError(f"{cell.table}, {cell.place}: {error}") from error


def _tables(found: Iterable[tuple[str, list[Row]]]) -> dict[str, pd.DataFrame]:
    gathered: dict[str, list[Row]] = {}
    for table, rows in found:
        gathered.setdefault(table, []).extend(rows)
    return {table: pd.DataFrame(rows) for table, rows in gathered.items()}
