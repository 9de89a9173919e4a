"""Which rows of a table can be used: responses parsed, bad rows counted and named."""

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from textsignal.errors import InputError

_Cells: TypeAlias = pd.Series | Sequence[Any] | np.ndarray
_NO_RESPONSE = {"", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True, eq=False)
class ParsedResponse:
    """A response as numbers.

    Attributes
    ----------
    values : ndarray of float, shape (rows,)
        The numbers; NaN where there is none.
    unparsable : ndarray of bool, shape (rows,)
        Where the cell holds something that is no number; a row without response is not unparsable.
    cells : ndarray of object, shape (rows,)
        What was given.
    """

    values: np.ndarray
    unparsable: np.ndarray
    cells: np.ndarray


def parse_response(cells: _Cells) -> ParsedResponse:
    """Make numbers of a response's cells.

    An empty cell, a missing value and the words NA, N/A, NaN, null and None mean that there is no response.

    Parameters
    ----------
    cells : pandas.Series or sequence
        Strings or numbers.

    Returns
    -------
    ParsedResponse
        The numbers, and which cells hold none that is finite.

    Examples
    --------
    >>> response = parse_response(["4", " 5.0 ", "", "five", "inf"])
    >>> response.values
    array([ 4.,  5., nan, nan, nan])
    >>> response.unparsable
    array([False, False, False,  True,  True])
    """
    given = _objects(cells)
    said_missing = [isinstance(cell, str) and cell.strip().lower() in _NO_RESPONSE for cell in given]
    missing = pd.isna(given) | np.array(said_missing, dtype=bool)
    numbers = np.array([_number(cell) for cell in given], dtype=float)
    unparsable = ~missing & ~np.isfinite(numbers)
    return ParsedResponse(np.where(missing | unparsable, np.nan, numbers), unparsable, given)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows that are bad for one reason.

    Attributes
    ----------
    one, many : str
        The reason, for one row and for several.
    rows : ndarray of int
        The rows, counted from 0.
    cells : ndarray of object or None
        What stands in these rows, where that helps to find the fault.
    """

    one: str
    many: str
    rows: np.ndarray
    cells: np.ndarray | None = None

    def describe(self, limit: int = 5) -> str:
        """Say what is wrong in how many rows, and name the first of them, counted from 1."""
        named = [f"{row + 1}" for row in self.rows[:limit]]
        if self.cells is not None:
            named = [f"{row}: {_shown(cell)}" for row, cell in zip(named, self.cells, strict=False)]
        count = len(self.rows)
        rest = f" and {count - limit:,} more" if count > limit else ""
        words = (self.one, "row") if count == 1 else (self.many, "rows")
        return f"{count:,} {words[0]} ({words[1]} {', '.join(named)}{rest})"


@dataclass(frozen=True, eq=False)
class BadRows:
    """The rows of a table that cannot be used, and why; its length is their number.

    Attributes
    ----------
    n_rows : int
        Rows of the table, bad or not.
    problems : tuple of Problem
        The reasons that occur; a row may be bad for several.
    """

    n_rows: int
    problems: tuple[Problem, ...]

    @property
    def mask(self) -> np.ndarray:
        """Which rows are bad: ndarray of bool, shape (n_rows,)."""
        bad = np.zeros(self.n_rows, dtype=bool)
        for problem in self.problems:
            bad[problem.rows] = True
        return bad

    def __len__(self) -> int:
        return int(self.mask.sum())

    def describe(self, limit: int = 5) -> str:
        """Say in one line what is wrong and where; rows are counted from 1, the header not counted."""
        if not self.problems:
            return "no bad rows"
        reasons = ", ".join(problem.describe(limit) for problem in self.problems)
        return f"{len(self):,} bad row{'s' if len(self) > 1 else ''}: {reasons}"


def check_rows(
    texts: _Cells,
    response: ParsedResponse | None = None,
    *,
    levels: tuple[int, int] | None = None,
) -> BadRows:
    """Find the rows that cannot be used.

    A row is bad if its text is missing, blank or no string, or if its response is no number or, given
    `levels`, no whole number between them. A row without response is fine: its text is still used.

    Parameters
    ----------
    texts : pandas.Series or sequence
        The texts.
    response : ParsedResponse, optional
        The response beside them.
    levels : tuple of int, optional
        Lowest and highest response that is allowed.

    Returns
    -------
    BadRows
        Which rows, and why.

    Raises
    ------
    InputError
        If there is not one response a text.

    Examples
    --------
    >>> response = parse_response(["4", "five", "9", ""])
    >>> bad = check_rows(["Lovely.", "Fine.", " ", "Dull."], response, levels=(1, 5))
    >>> bad.describe()
    "2 bad rows: 1 empty text (row 3), 1 response that is no number (row 2: 'five'),
    1 response outside 1 to 5 (row 3: '9')"
    >>> bad.mask
    array([False,  True,  True, False])
    """
    given = _objects(texts)
    problems = _text_problems(given)
    if response is not None:
        if len(response.values) != len(given):
            raise InputError(f"{len(given):,} texts but {len(response.values):,} responses; each text needs one")
        problems += _response_problems(response, levels)
    return BadRows(len(given), tuple(problem for problem in problems if len(problem.rows)))


def _text_problems(texts: np.ndarray) -> list[Problem]:
    missing = pd.isna(texts)
    blank = np.array([isinstance(text, str) and not text.strip() for text in texts], dtype=bool)
    odd = ~missing & np.array([not isinstance(text, str) for text in texts], dtype=bool)
    return [
        Problem("empty text", "empty texts", np.flatnonzero(missing | blank)),
        Problem("text that is no string", "texts that are no strings", np.flatnonzero(odd), texts[odd]),
    ]


def _response_problems(response: ParsedResponse, levels: tuple[int, int] | None) -> list[Problem]:
    found = [("response that is no number", "responses that are no numbers", response.unparsable)]
    if levels is not None:
        low, high = levels
        outside = (response.values < low) | (response.values > high)
        broken = ~outside & ~np.isnan(response.values) & (response.values % 1 != 0)
        found += [
            (f"response outside {low} to {high}", f"responses outside {low} to {high}", outside),
            ("response that is no whole number", "responses that are no whole numbers", broken),
        ]
    return [Problem(one, many, np.flatnonzero(bad), response.cells[bad]) for one, many, bad in found]


def _objects(cells: _Cells) -> np.ndarray:
    return pd.Series(cells, dtype=object).to_numpy()


def _number(cell: Any) -> float:
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_0 as 10; nobody writes a response so
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _shown(cell: Any) -> str:
    return reprlib.repr(cell) if isinstance(cell, str) else reprlib.repr(str(cell)).strip("'")
