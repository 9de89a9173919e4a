"""Inputs that accompany texts: covariates, offset, groups and dates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sized
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.checks import check_choice, check_covariate_sizes, check_groups, check_names
from textsignal.data.covariates.design import Design, Given, as_offset, as_table, missing_cells
from textsignal.data.covariates.formula import parse_formula
from textsignal.errors import InputError, RowsError, shown
from textsignal.reading.observed import Observed
from textsignal.text.tokens import SentenceTexts

Times = NDArray[np.datetime64]
#: Ways to read dates: one format for all, day first, mixed formats. The first that reads most is used.
READINGS: tuple[dict[str, Any], ...] = ({}, {"dayfirst": True}, {"format": "mixed"})
#: Whole numbers in this range are years.
YEARS = (1000, 2999)
#: Treatments of training texts with missing covariates.
MISSING = ("error", "drop")


def as_groups(by: ArrayLike | pd.Series, n: int) -> pd.Series:
    """Return (texts,) group of each text, missing if absent."""
    groups = _column(by, n, "by", "group")
    if groups.isna().all():
        raise InputError("by names no group: all its values are missing")
    check_names("by", groups)
    return groups


def as_times(over: ArrayLike | pd.Series, n: int, rows: NDArray[np.int64] | None = None) -> Times:
    """Return (texts,) the day of each, NaT if it has none.

    rows : (texts,) row numbers from 0 for error messages; None if consecutive.
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
        where = "over" if name is None else f"column {name!r}"
        raise InputError(
            f"{where}: {shown(cells.iloc[bad[0]])} in row {row + 1:,} is not a date{more}; "
            "give dates such as 2015-08-24, or years"
        )
    return times.dt.tz_localize(None).to_numpy().astype("datetime64[D]")


def index_of(texts: Any) -> pd.Index | None:
    """Return the index of texts in a Series or DataFrame; None for other texts."""
    return texts.index if isinstance(texts, pd.Series | pd.DataFrame) else None


def name_of(column: object, otherwise: str) -> str:
    """Return the name of a pandas column; `otherwise` if it has none."""
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else otherwise


def _column(values: ArrayLike | pd.Series, n: int, name: str, noun: str) -> pd.Series:
    cells = values.to_numpy() if isinstance(values, pd.Series) else np.atleast_1d(np.asarray(values, dtype=object))
    if cells.shape != (n,):
        size = f"{len(cells)} {noun}s" if cells.ndim == 1 else f"the shape {cells.shape}"
        raise InputError(f"{n} texts, but {name} has {size}; give one {noun} for each text")
    return pd.Series(cells, dtype=cells.dtype)


def _years_as_text(cells: pd.Series) -> pd.Series:
    """Return years as text, since pandas reads numbers as nanoseconds."""
    try:
        numbers = pd.to_numeric(cells, errors="coerce")
    except OverflowError:  # a whole number of hundreds of digits
        return cells
    if not (numbers.isna() == cells.isna()).all() or not numbers.dropna().between(*YEARS).all():
        return cells
    return numbers.map(lambda year: f"{int(year):04d}-01-01", na_action="ignore")


def _read(cells: pd.Series) -> pd.Series:
    best = pd.Series(pd.NaT, index=cells.index, dtype="datetime64[ns, UTC]")
    for options in READINGS:
        with warnings.catch_warnings(), suppress(ValueError, TypeError, OverflowError):
            warnings.simplefilter("ignore")  # about formats that pandas cannot infer
            times = pd.to_datetime(cells, errors="coerce", utc=True, **options)
            if times.notna().sum() > best.notna().sum():
                best = times
    return best


def texts_and_covariates(texts: Any, covariates: Any) -> tuple[Iterable[str] | SentenceTexts, Any]:
    """Split a DataFrame into texts, its first column, and covariates, the others; return other inputs unchanged."""
    if not isinstance(texts, pd.DataFrame):
        return texts, covariates
    if not len(texts.columns):
        raise InputError("a DataFrame of texts needs them in its first column")
    if covariates is None and len(texts.columns) > 1:
        covariates = texts.iloc[:, 1:]
    return texts.iloc[:, 0].tolist(), covariates


def observe_given(
    observed: Observed,
    *,
    covariates: Any,
    offset: ArrayLike | None,
    groups: ArrayLike | None,
    formula: str | None,
    missing: str,
) -> tuple[Observed, Design | None]:
    """Add covariates, offset and groups to training texts; return these and the design of the covariates.

    missing : "error", or "drop" to exclude texts with a missing covariate or offset.
    """
    check_choice("missing", missing, MISSING)
    if formula is not None and covariates is None:
        raise InputError(f"formula={formula!r} needs covariates; give them: fit(texts, responses, covariates=...)")
    table = as_table(covariates, len(observed))
    numbers = check_groups(groups, len(observed))
    if table is None and offset is None:
        return observed, None
    rows = np.arange(len(observed))
    if missing == "drop":
        rows = _complete(table, offset, formula, len(observed))
        observed, table = observed.at(rows), None if table is None else table.iloc[rows]
        offset = None if offset is None else np.asarray(offset, dtype=float)[rows]
        numbers = None if numbers is None else numbers[rows]
    with RowsError.among(rows):
        added = as_offset(offset, len(observed))
        design = Design.learn(table, formula, observed.weight, added)
        given = design.given(table, added, len(observed))
    check_covariate_sizes(given.columns, [repr(name) for name in design.names])
    return replace(observed, given=Given(given.columns, given.offset, numbers)), design


def _complete(table: pd.DataFrame | None, offset: ArrayLike | None, formula: str | None, n_texts: int) -> Any:
    """Rows without missing values."""
    complete = np.ones(n_texts, dtype=bool)
    if table is not None:
        names = list(table.columns) if formula is None else parse_formula(formula).columns
        complete &= ~missing_cells(table[[name for name in names if name in table]]).any(axis=1).to_numpy()
    if isinstance(offset, Sized) and len(offset) == n_texts:
        complete &= np.isfinite(np.asarray(offset, dtype=float))
    if not complete.any():
        raise InputError("every text lacks a covariate, so none can be used; name fewer covariates")
    return np.flatnonzero(complete)
