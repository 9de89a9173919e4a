"""Responses as they are given: numbers or labels, checked and named in errors."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError, shown

#: The largest response, whose square, and sums of squares, are far from what a float holds.
LARGEST_RESPONSE = 1e30


def as_numbers(y: ArrayLike) -> Vector:
    """Return responses as floats; infinities and non-numbers raise, naming the row."""
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the response must be numbers, NaN if missing: {_first_label(y, error)}") from error
    if values.ndim != 1:
        raise InputError(f"the response must be one number per text; its shape is {values.shape}")
    raise_at(np.isinf(values), values, "infinity or too large; a response must be finite, or NaN if missing")
    reason = f"too large; responses lie between {-LARGEST_RESPONSE:g} and {LARGEST_RESPONSE:g}"
    raise_at(np.abs(values) > LARGEST_RESPONSE, values, reason, "give them in a larger unit")
    return values


def _first_label(y: ArrayLike, error: Exception) -> str:
    """The first response that is not a number, and the family that would take it."""
    for row, value in enumerate(np.asarray(y, dtype=object).ravel()):
        try:
            float(value)
        except (TypeError, ValueError):
            fits = 'family="categorical" takes labels, family="bernoulli" two of them'
            return f"{value!r} is not (row {row + 1}; rows count from 1); {fits}"
    return str(error)


def check_whole(values: Vector, reason: str) -> None:
    """Raise if a value is not a whole number; NaN passes."""
    raise_at(~np.isnan(values) & (values != np.round(values)), values, reason)


def raise_at(bad: NDArray[np.bool_], values: NDArray[Any], reason: str, fits: str = "") -> None:
    """Raise an InputError that names up to five of the rows where `bad` is true, and what would fit."""
    rows = np.flatnonzero(bad)
    if rows.size:
        listed = ", ".join(f"row {row + 1}: {shown(values[row])}" for row in rows[:5])
        more = f" and {rows.size - 5} more" if rows.size > 5 else ""
        advice = f"; {fits}" if fits else ""
        raise InputError(f"response {reason} ({listed}{more}; rows count from 1){advice}")


def observed(values: Vector) -> Vector:
    """Return numbers that are not missing; raises if there are none."""
    if np.isnan(values).all():
        raise InputError("no text has a response (all are missing), so the scale cannot be learnt")
    return values[~np.isnan(values)]


def observed_numbers(y: ArrayLike) -> Vector:
    """Return responses that are not missing, as numbers; raises if there are none, or all are equal."""
    values = observed(as_numbers(y))
    if values.min() == values.max():
        raise constant_response(values[0])
    return values


def constant_response(value: Any) -> InputError:
    """Return the error for responses that are all equal."""
    return InputError(
        f"the response is constant (always {shown(value)}), so there is nothing to explain: it has a single value, or "
        "class; check the response column"
    )


Labels = tuple[Any, ...]


def as_labels(labels: Any) -> Labels:
    """Return labels as plain values: distinct, and either all numbers or all text."""
    plain = tuple(_plain(label) for label in labels)
    if len(set(plain)) != len(plain) or any(missing(label) for label in plain):
        raise InputError(f"labels={plain!r} must differ from each other, and none may be missing")
    if are_text(plain) and any(_is_number(label) for label in plain):
        raise InputError(f"labels={plain!r} must be all numbers or all text")
    return plain


def are_text(labels: Labels) -> bool:
    """True unless all labels are numbers or truth values."""
    return not all(_is_number(label) for label in labels)


def numbered(family: Any) -> str:
    """List the numbers that stand for levels which are text, for people; "" for others."""
    if not family.has_text:
        return ""
    return ", ".join(f"{level} as {number:g}" for level, number in zip(family.levels, family.numbers, strict=True))


def first_text(y: ArrayLike) -> tuple[int, Any] | None:
    """Return row and value of the first response that is not a number; None if all are numbers or missing."""
    values = as_response(y)
    if values.dtype.kind == "f":
        return None
    texts = ((row, value) for row, value in enumerate(values) if not missing(value) and not _is_number(value))
    return next(texts, None)


def ordered_categories(y: object) -> Labels | None:
    """Return the categories of an ordered pandas Categorical or Arrow dictionary, lowest first; None for others."""
    if getattr(getattr(y, "type", None), "ordered", False) and hasattr(y, "to_pandas"):
        y = y.to_pandas()
    dtype = getattr(y, "dtype", None)
    if not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return None
    return tuple(_plain(category) for category in dtype.categories)


def as_response(y: ArrayLike) -> NDArray[Any]:
    """Return (texts,) floats, NaN if missing; plain values if some responses are text or truth values."""
    dtype = np.asarray(y).dtype
    if dtype.kind in "cmM":
        raise InputError(f"the response must be numbers or labels, NaN if missing: {dtype} is given")
    if dtype.kind in "iuf":
        return np.asarray(y, dtype=float)
    values = as_column(y)
    if all(missing(value) or (_is_number(value) and not isinstance(value, bool)) for value in values):
        return np.array([np.nan if missing(value) else value for value in values], dtype=float)
    return values


def in_numbers(y: ArrayLike, family: Any) -> Vector:
    """Return (texts,) responses in numbers, NaN if missing: text by the numbers of its levels in the family."""
    if not family.has_text:
        return as_numbers(as_response(y))
    codes = family.encode(y)
    return np.where(np.isnan(codes), np.nan, family.numbers[np.nan_to_num(codes).astype(np.int64)])


def distinct_labels(y: ArrayLike) -> Labels:
    """Return the labels that occur, in order; raises if there are fewer than two."""
    labels = {label for label in _labels_in(y) if not missing(label)}
    if not labels:
        raise InputError("no text has a response (all are missing), so the classes cannot be learnt")
    if len(labels) == 1:
        raise constant_response(labels.pop())
    text = {label for label in labels if not _is_number(label)}
    if 0 < len(text) < len(labels):
        values = as_column(y)
        odd = np.array([value in text for value in values])
        raise_at(odd, values, "is text among numbers", "make all of them text, or correct these")
    return tuple(sorted(labels, key=str if text else None))


def encode_labels(y: ArrayLike, labels: Labels, fits: str, first: int = 0) -> Vector:
    """Return (texts,) the number of each label, NaN if missing; another label raises, naming the row.

    Numbers in place of text are those that stand for it, from `first` on; whole numbers of an integer type are
    positions in sorted order, as scikit-learn's `LabelEncoder` gives them to an estimator in `cross_val_predict`.
    """
    place = {label: float(code) for code, label in enumerate(labels)}
    if are_text(labels):
        by_number = sorted(labels, key=str) if np.asarray(y).dtype.kind in "iu" else labels
        start = 0 if by_number is not labels else first
        place |= {start + number: place[label] for number, label in enumerate(by_number)}
    values = _labels_in(y)
    codes = np.array([np.nan if missing(value) else place.get(value, -1.0) for value in values], dtype=float)
    listed = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
    raise_at(codes < 0, values, f"not one of the classes {listed}", fits)
    return codes


def missing(value: Any) -> bool:
    """True if a response is missing."""
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def as_column(y: ArrayLike) -> NDArray[Any]:
    """Return (texts,) responses as plain values."""
    values = pd.Series(y if isinstance(y, pd.Series) else np.asarray(y, dtype=object).ravel(), dtype=object)
    if np.ndim(y) != 1:
        raise InputError(f"the response must be one label per text; its shape is {np.shape(y)}")
    return np.array([_plain(value) for value in values] + [None], dtype=object)[:-1]


def _labels_in(y: ArrayLike) -> NDArray[Any]:
    """(texts,) labels, all hashable."""
    values = as_column(y)
    odd = np.array([not isinstance(value, Hashable) for value in values], dtype=bool)
    raise_at(odd, values, "neither a number nor a label")
    return values


def reads_as_number(text: str) -> bool:
    """True if a text is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own; a whole float as int, so that 1.0 and 1 are one label."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
