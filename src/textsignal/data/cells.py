"""Texts, responses and weights of a batch; errors name file, row and column, or such rows are left out and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.data.batches import Batch
from textsignal.data.rows import BadRows, ParsedResponse, Problem, check_rows, parse_response
from textsignal.data.texts import checked_texts
from textsignal.errors import InputError

#: Cells that are kept of rows that are bad for one reason.
NAMED = 5


@dataclass(frozen=True)
class Dropping:
    """Leave rows out that have no text, or a response or weight that cannot be used.

    levels : lowest and highest response, between which all are whole numbers; None for any.
    """

    levels: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class UsableRows:
    """Rows of a batch that can be used.

    rows : (documents,) their places in the batch; bad : the others.
    """

    rows: NDArray[np.int64]
    texts: Sequence[str]
    responses: Vector
    weight: Vector
    bad: BadRows

    @property
    def counted(self) -> Vector:
        """(rows of the batch,) responses that count, NaN where there is none."""
        counted = np.full(self.bad.n_rows, np.nan)
        counted[self.rows] = np.where(self.weight > 0, self.responses, np.nan)
        return counted


def usable_rows(
    batch: Batch, text: str, response: str, weight: str | None, dropping: Dropping | None = None
) -> UsableRows:
    """Texts, responses and weights of a batch, by the names of their columns.

    dropping : None where a row that cannot be used is an error; a text may then be "".
    """
    bad = BadRows(len(batch), ()) if dropping is None else _bad_rows(batch, text, response, weight, dropping.levels)
    rows = np.flatnonzero(~bad.mask)
    kept = batch if len(rows) == len(batch) else replace(batch, table=batch.table.iloc[rows].reset_index(drop=True))
    return UsableRows(rows, texts_in(kept, text), numbers_in(kept, response), weight_in(kept, weight), bad)


def _bad_rows(batch: Batch, text: str, response: str, weight: str | None, levels: tuple[int, int] | None) -> BadRows:
    bad = check_rows(batch.table[text], _parsed(batch.table[response]), levels=levels)
    if weight is None:
        return bad
    parsed = _parsed(batch.table[weight])
    wrong = ~(parsed.values >= 0)
    words = ("weight that cannot be used", "weights that cannot be used")
    problems = (*bad.problems, Problem(*words, np.flatnonzero(wrong), parsed.cells[wrong]))
    return replace(bad, problems=tuple(problem for problem in problems if len(problem.rows)))


def bad_together(parts: Sequence[BadRows]) -> BadRows:
    """Bad rows of parts that follow each other, with no more of their cells than are named.

    Examples
    --------
    >>> parts = [check_rows(["Fine.", ""]), check_rows([" ", "Dull."])]
    >>> bad_together(parts).describe()
    '2 bad rows: 2 empty texts (rows 2, 3)'
    """
    firsts = [*accumulate((bad.n_rows for bad in parts), initial=0)]
    found: dict[tuple[str, str], list[Problem]] = {}
    for first, bad in zip(firsts, parts, strict=False):
        for problem in bad.problems:
            moved = replace(problem, rows=problem.rows + first)
            found.setdefault((problem.one, problem.many), []).append(moved)
    return BadRows(firsts[-1], tuple(_as_one(problems) for problems in found.values()))


def _as_one(problems: Sequence[Problem]) -> Problem:
    cells = [problem.cells for problem in problems if problem.cells is not None]
    return replace(
        problems[0],
        rows=np.concatenate([problem.rows for problem in problems]),
        cells=np.concatenate(cells)[:NAMED] if cells else None,
    )


def beside_in(batch: Batch, names: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.object_]:
    """(rows, names) cells of other columns, as they were read."""
    return batch.table[list(names)].to_numpy(dtype=object)[rows]


def texts_in(batch: Batch, name: str) -> Sequence[str]:
    """The texts, in Arrow's memory where they are there."""
    column = batch.table[name]
    arrow = getattr(column.array, "_pa_array", None)
    missing = column.isna().to_numpy(dtype=bool)
    wrong = missing if arrow is not None else np.array([not isinstance(cell, str) for cell in column], dtype=bool)
    if wrong.any():
        row = _first(wrong)
        found = "no text" if missing[row] else f"a {type(column.iloc[row]).__name__} ({column.iloc[row]!r})"
        raise InputError(
            f'{_place(batch, row)}: column {name!r} holds {found}; every text must be a string, "" where there is none'
        )
    return checked_texts(column.tolist() if arrow is None else arrow)


def numbers_in(batch: Batch, name: str) -> Vector:
    """Numbers, NaN where there is none."""
    column = batch.table[name]
    parsed = _parsed(column)
    if parsed.unparsable.any():
        row = _first(parsed.unparsable)
        raise InputError(
            f"{_place(batch, row)}: {column.iloc[row]!r} in column {name!r} is not a number; "
            "a source needs numbers, and an empty cell where there is none"
        )
    return parsed.values


def _parsed(column: pd.Series) -> ParsedResponse:
    """Numbers of a column, NaN where there is none."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        wrong = np.isinf(values)
        return ParsedResponse(np.where(wrong, np.nan, values), wrong, column.to_numpy(dtype=object))
    parsed = parse_response(column)
    if not parsed.reading:
        return parsed
    # How "4/5" or "yes" is read depends on all rows, which a batch does not know.
    nothing = np.full(len(column), np.nan)
    return ParsedResponse(nothing, ~np.isnan(parsed.values), parsed.cells)


def weight_in(batch: Batch, name: str | None) -> Vector:
    """How often each row counts: once where no column says so."""
    if name is None:
        return np.ones(len(batch))
    values = numbers_in(batch, name)
    wrong = ~(values >= 0)
    if wrong.any():
        row = _first(wrong)
        found = "there is no weight" if np.isnan(values[row]) else f"the weight {values[row]:g}"
        raise InputError(f"{_place(batch, row)}: {found} in column {name!r}; it must be a number of at least 0")
    return values


def _first(wrong: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(wrong)[0])


def _place(batch: Batch, row: int) -> str:
    return f"{batch.file}, row {batch.row + 1 + row:,}"
