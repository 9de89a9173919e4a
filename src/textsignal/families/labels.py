"""Responses that are labels: strings, truth values or numbers that stand for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import constant_response, raise_at

Labels = tuple[Any, ...]


def as_labels(labels: Any) -> Labels:
    """Labels as plain strings, truth values or numbers; each once."""
    plain = tuple(_plain(label) for label in labels)
    if len(set(plain)) != len(plain) or any(missing(label) for label in plain):
        raise InputError(f"labels={plain!r} must differ from each other, and none may be missing")
    return plain


def distinct_labels(y: ArrayLike) -> Labels:
    """The labels that occur, in order; raises where there are not two."""
    found = {label for label in as_column(y) if not missing(label)}
    if not found:
        raise InputError("no document has a response (all are missing), so the classes cannot be learnt")
    if len(found) == 1:
        raise constant_response(found.pop())
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=str))


def encode_labels(y: ArrayLike, labels: Labels, fits: str) -> Vector:
    """(documents,) number of each response's label, NaN where there is none; another label raises, naming the row."""
    values, place = as_column(y), {label: float(code) for code, label in enumerate(labels)}
    codes = np.array([np.nan if missing(value) else place.get(value, -1.0) for value in values], dtype=float)
    listed = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
    raise_at(codes < 0, values, f"not one of the classes {listed}", fits)
    return codes


def missing(value: Any) -> bool:
    """Whether a response is none."""
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def as_array(labels: Labels) -> NDArray[Any]:
    """(classes,) labels: numbers or truth values where all are, else objects."""
    kinds = {type(label) for label in labels}
    return np.array(labels) if kinds <= {int, float} or kinds == {bool} else np.array(labels, dtype=object)


def as_column(y: ArrayLike) -> NDArray[Any]:
    """(documents,) responses as plain values."""
    values = pd.Series(y if isinstance(y, pd.Series) else np.asarray(y, dtype=object).ravel(), dtype=object)
    if np.ndim(y) != 1:
        raise InputError(f"the response must be one label per document; its shape is {np.shape(y)}")
    return np.array([_plain(value) for value in values] + [None], dtype=object)[:-1]


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own; a whole float as int, so that 1.0 and 1 are one label."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
