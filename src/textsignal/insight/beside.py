"""What may stand beside texts: the group of each, and when it was written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.checks import check_names
from textsignal.errors import InputError

Times = NDArray[np.datetime64]
#: Ways to read a column of dates, the first that reads all of it: one format for all, the day before the month, any.
READINGS: tuple[dict[str, Any], ...] = ({}, {"dayfirst": True}, {"format": "mixed"})
#: Whole numbers from and to here are years.
YEARS = (1000, 2999)


def as_groups(by: ArrayLike | pd.Series, n: int) -> pd.Series:
    """(documents,) the group of each, missing where it has none.

    Examples
    --------
    >>> as_groups(["inn", None], 2).isna().tolist()
    [False, True]
    """
    groups = _column(by, n, "by", "group")
    if groups.isna().all():
        raise InputError("by names no group: all its values are missing")
    check_names("by", groups)
    return groups


def as_times(over: ArrayLike | pd.Series, n: int, rows: NDArray[np.int64] | None = None) -> Times:
    """(documents,) the day of each, NaT where it has none.

    rows : (documents,) their numbers from 0, as errors name them; None where they follow each other.

    Examples
    --------
    >>> as_times(["August 24, 2015", None, "May 1, 2016"], 3)
    array(['2015-08-24',        'NaT', '2016-05-01'], dtype='datetime64[D]')
    >>> as_times(["soon"], 1)
    Traceback (most recent call last):
        ...
    textsignal.errors.InputError: over: 'soon' in row 1 is no date; give dates such as 2015-08-24, or years
    """
    cells = _column(over, n, "over", "date")
    cells = cells.mask(cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).astype(bool))
    if cells.isna().all():
        raise InputError("over holds no date: all its values are missing")
    times = _read(_years_as_text(cells))
    bad = np.flatnonzero(times.isna() & cells.notna())
    if bad.size:
        more = f", and {bad.size - 1:,} more" if bad.size > 1 else ""
        name, row = getattr(over, "name", None), bad[0] if rows is None else rows[bad[0]]
        raise InputError(
            f"{'over' if name is None else f'column {name!r}'}: {cells.iloc[bad[0]]!r} in row {row + 1:,} is no date"
            f"{more}; give dates such as 2015-08-24, or years"
        )
    return times.dt.tz_localize(None).to_numpy().astype("datetime64[D]")


def index_of(texts: Any) -> pd.Index | None:
    """Return the index of texts in a Series or DataFrame, for tables with one row per text; None for other texts."""
    return texts.index if isinstance(texts, pd.Series | pd.DataFrame) else None


def name_of(column: object, otherwise: str) -> str:
    """The name of a pandas column; `otherwise` for what has none.

    Examples
    --------
    >>> name_of(pd.Series([], name="hotel", dtype=str), "group"), name_of([], "group")
    ('hotel', 'group')
    """
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else otherwise


def _column(values: ArrayLike | pd.Series, n: int, name: str, noun: str) -> pd.Series:
    given = values.to_numpy() if isinstance(values, pd.Series) else np.atleast_1d(np.asarray(values, dtype=object))
    if given.shape != (n,):
        found = f"{len(given)} {noun}s" if given.ndim == 1 else f"the shape {given.shape}"
        raise InputError(f"{n} texts, but {name} has {found}; give one {noun} for each text")
    return pd.Series(given, dtype=given.dtype)


def _years_as_text(cells: pd.Series) -> pd.Series:
    """Years in numbers as dates are written; to pandas they would be nanoseconds."""
    try:
        numbers = pd.to_numeric(cells, errors="coerce")
    except OverflowError:  # a whole number of hundreds of digits
        return cells
    if not (numbers.isna() == cells.isna()).all() or not numbers.dropna().between(*YEARS).all():
        return cells
    return numbers.map(lambda year: f"{int(year):04d}-01-01", na_action="ignore")


def _read(cells: pd.Series) -> pd.Series:
    best: pd.Series | None = None
    for options in READINGS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas', on formats that it cannot infer
            try:
                times = pd.to_datetime(cells, errors="coerce", utc=True, **options)
            except (ValueError, TypeError, OverflowError):
                continue
        if best is None or times.notna().sum() > best.notna().sum():
            best = times
    return pd.Series(pd.NaT, index=cells.index, dtype="datetime64[ns, UTC]") if best is None else best
