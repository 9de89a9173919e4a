"""Checks of what users give to estimators, with errors that name the row, column or option."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import _check_sample_weight, validate_data

from textsignal.errors import InputError

#: Sizes between which squares, and sums of these, neither overflow nor vanish; of text in single precision too.
LEAST, MOST = 1e-30, 1e30
LEAST_OF_TEXT, MOST_OF_TEXT = 1e-15, 1e15
#: The largest penalty, smoothing or weight of the response that can be given.
LARGEST_OPTION = 1e15


def check_text_matrix(estimator: Any, X: Any, *, reset: bool) -> sp.csr_array:
    """Documents x terms as CSR of float32 or float64 with sorted indices and no stored zeros; X is not changed."""
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}
    matrix = sp.csr_array(validate_data(estimator, X, reset=reset, ensure_min_samples=1 if reset else 0, **options))
    _raise_at(matrix, np.isnan(matrix.data), "Input X contains NaN")
    _raise_at(matrix, np.isinf(matrix.data), "Input X contains infinity")
    _raise_at(matrix, matrix.data < 0, f"Negative values in data passed to {type(estimator).__name__}")
    if not matrix.has_canonical_format or np.any(matrix.data == 0):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    _raise_at(matrix, matrix.data > MOST_OF_TEXT, f"Values in X are above {MOST_OF_TEXT:g}")
    _raise_at(matrix, matrix.data < LEAST_OF_TEXT, f"Values in X are between 0 and {LEAST_OF_TEXT:g}")
    return matrix


def check_response(estimator: Any, X: sp.csr_array, y: Any) -> NDArray[Any]:
    """Return one response per text, unconverted: a number, NaN if missing, or a label."""
    if y is None:
        raise InputError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    # A list as objects: among text NumPy would make the word "nan" of a missing response.
    column: NDArray[Any] = column_or_1d(np.asarray(y, dtype=object) if isinstance(y, list) else y, warn=True)
    check_consistent_length(X, column)
    if column.dtype.kind in "cmM":
        raise InputError(f"the response must be numbers or labels, NaN if missing: {column.dtype} is given")
    return column


def check_weight(X: sp.csr_array, sample_weight: Any) -> NDArray[np.float64]:
    """Return the weight of each text: nonnegative, not all zero."""
    try:
        weight: NDArray[np.float64] = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"sample_weight must hold a number of at least 0 for each text: {error}") from error
    rows = np.flatnonzero((weight > MOST) | ((weight > 0) & (weight < LEAST)))
    if rows.size:
        raise InputError(
            f"sample_weight is {weight[rows[0]]:g} in row {rows[0] + 1} (rows count from 1); "
            f"give 0, or numbers from {LEAST:g} to {MOST:g}"
        )
    return weight


def check_covariate_sizes(columns: NDArray[np.float64], names: Iterable[str]) -> None:
    """Raise if a covariate is too large, or too small, to be squared; columns : (texts, names)."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    for name, size in zip(names, largest.tolist(), strict=True):
        if size > MOST or 0 < size < LEAST:
            raise InputError(
                f"covariates: the largest number of {name} is {size:g}; "
                f"give it in another unit, so that it is between {LEAST:g} and {MOST:g}"
            )


def check_offset(offset: NDArray[np.float64], most: float, family: str) -> None:
    """Raise if an offset is so large that nothing is left to explain; most : for this family, which is named."""
    rows = np.flatnonzero(np.abs(offset) > most)
    if rows.size:
        raise InputError(
            f"offset is {offset[rows[0]]:g} in row {rows[0] + 1} (rows count from 1); for the {family} family it must "
            f"lie between {-most:g} and {most:g}: it is added to the linear predictor, such as log(exposure)"
        )


def check_groups(groups: Any, n_documents: int) -> NDArray[np.int64] | None:
    """Return (texts,) numbers of groups; each text without a group forms a separate one."""
    if groups is None:
        return None
    column = pd.Series(np.asarray(groups).ravel())
    if len(column) != n_documents:
        raise InputError(f"{n_documents} texts, but {len(column)} groups; give one for each text")
    check_names("groups", column)
    codes, names = pd.factorize(column)
    alone = codes < 0
    codes[alone] = len(names) + np.arange(int(alone.sum()))
    return codes.astype(np.int64)


def check_names(name: str, values: pd.Series) -> None:
    """Raise if a value cannot name a group, such as a dict, naming its row."""
    for row, value in enumerate(values if values.dtype == object else ()):
        try:
            hash(value.encode() if isinstance(value, str) else value)
        except (TypeError, UnicodeEncodeError):  # the latter for half of a surrogate pair
            kind = f"{type(value).__name__} ({reprlib.repr(value)})"
            raise InputError(
                f"{name}: row {row + 1:,} holds a {kind}, which cannot name a group; give text or numbers"
            ) from None


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers: {error}") from error


def draw_seed(random_state: Any) -> int:
    """Return a seed from what scikit-learn accepts: a whole number of at least 0, a RandomState or None."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(
            f"random_state={random_state!r} is not a seed; "
            f"give a whole number from 0 to {2**32 - 1}, a RandomState or None"
        ) from error


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise unless `value` is one of `allowed`."""
    choices = list(allowed)
    if value not in choices:
        raise InputError(f"{name}={value!r} is not known; allowed: {', '.join(map(repr, choices))}")


def check_number(
    name: str, value: object, *, least: float, above: bool = False, whole: bool = False, most: float = np.inf
) -> None:
    """Raise unless `value` is a finite number, at least (or above) `least`, at most `most`, and whole if required."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    fits = number and np.isfinite(value) and (value > least if above else value >= least)  # type: ignore[operator,call-overload]
    if not fits or (whole and int(value) != value):  # type: ignore[call-overload]
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{name}={value!r} must be {kind} {'above' if above else 'of at least'} {least:g}")
    if value > most:  # type: ignore[operator]
        raise InputError(f"{name}={value!r} must be at most {most:g}")


def _raise_at(matrix: sp.csr_array, bad: NDArray[np.bool_], problem: str) -> None:
    places = np.flatnonzero(bad)
    if places.size:
        row = int(np.searchsorted(matrix.indptr, places[0], side="right")) - 1
        column, value = matrix.indices[places[0]], matrix.data[places[0]]
        raise InputError(
            f"{problem}: {places.size} in all, the first at row {row}, column {column} ({value}); "
            "X must hold finite numbers of at least 0"
        )
