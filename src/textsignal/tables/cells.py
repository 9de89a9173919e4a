"""Texts, responses and weights of a batch; errors name file, row and column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.tables.batches import Batch
from textsignal.tables.rows import parse_response
from textsignal.text.encoded import checked_texts


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
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        wrong = np.isinf(values)
    else:
        parsed = parse_response(column)
        values, wrong = parsed.values, parsed.unparsable
        # How "4/5" or "yes" is read depends on all rows, which a batch does not know.
        wrong = ~np.isnan(values) if parsed.reading else wrong
    if wrong.any():
        row = _first(wrong)
        raise InputError(
            f"{_place(batch, row)}: {column.iloc[row]!r} in column {name!r} is not a number; "
            "a source needs numbers, and an empty cell where there is none"
        )
    return np.asarray(values, dtype=float)


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
