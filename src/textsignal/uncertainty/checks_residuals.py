"""Whether what text leaves unexplained goes with the length of the text, time, covariates or groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from textsignal.arrays import Vector
from textsignal.training.covariance import clustered_sandwich, sandwich
from textsignal.uncertainty.checks import DRAWS, LEVEL, MATTERS, Checked, Finding

Codes = NDArray[np.int64]
#: Groups from which on documents of a group are taken to depend on each other: fewer say too little of that.
LEAST_GROUPS = 20
LENGTH = "the length of the text"
#: Documents from which on something beside the text is looked at.
LEAST = 30
#: Quantiles of what residuals are compared at: low, middle, high.
ENDS = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Curve:
    """Residuals as a curve of the ranks of a number.

    at : residuals expected at its low, middle and high quantiles; slope, error : from the low to the high one.
    wald, freedom, rest : the statistic of there being no curve, its degrees of freedom and those of the residuals.
    """

    at: Vector
    slope: float
    error: float
    wald: float
    freedom: int
    rest: int

    @property
    def p_value(self) -> float:
        """Of there being no curve."""
        return float(stats.f.sf(self.wald / self.freedom, self.freedom, self.rest))

    def by_chance(self, level: float) -> float:
        """The range of a curve of this shape that a test of this level would just not find."""
        critical = self.freedom * float(stats.f.isf(level, self.freedom, self.rest))
        return self.range * (critical / max(self.wald, np.finfo(float).tiny)) ** 0.5

    @property
    def range(self) -> float:
        """Between the highest and the lowest."""
        return float(np.ptp(self.at))


def curve_of(residuals: Vector, number: Vector, weight: Vector, groups: Codes | None = None) -> Curve:
    """Regress residuals on ranks of a number and their squares, with errors that are robust, or between groups.

    residuals, number, weight : (documents,); groups : (documents,) numbers of groups, or None.

    Examples
    --------
    >>> number = np.arange(100.0)
    >>> curve = curve_of(0.01 * number + np.tile([0.1, -0.1], 50), number, np.ones(100))
    >>> round(curve.slope, 2), curve.p_value < 1e-6
    (0.8, True)
    """
    rank = (stats.rankdata(number) - 0.5) / len(number)
    basis = _basis(rank)
    hessian = basis.T @ (weight[:, None] * basis)
    inverse = np.linalg.pinv(hessian, hermitian=True)
    effects = inverse @ (basis.T @ (weight * residuals))
    slopes = weight * (residuals - basis @ effects)
    covariance = (
        sandwich(basis, slopes, hessian) if groups is None else clustered_sandwich(basis, slopes, hessian, groups)
    )
    at = _basis(np.array(ENDS))
    low_to_high = at[-1] - at[0]
    rest = covariance[1:, 1:]
    return Curve(
        at=at @ effects,
        slope=float(low_to_high @ effects),
        error=float(np.sqrt(max(low_to_high @ covariance @ low_to_high, 0.0))),
        wald=float(effects[1:] @ np.linalg.pinv(rest, hermitian=True) @ effects[1:]),
        freedom=int(np.linalg.matrix_rank(rest, hermitian=True)) or 1,
        rest=(len(rank) if groups is None else len(np.unique(groups))) - basis.shape[1],
    )


def _basis(rank: Vector) -> Vector:
    centred = 2 * rank - 1
    return np.column_stack([np.ones(len(rank)), centred, centred**2 - 1 / 3])


def between(residuals: Vector, codes: Codes, weight: Vector) -> float:
    """Variance between the means of groups, beyond what documents' own scatter makes of it.

    codes : (documents,) numbers of groups from 0 on.

    Examples
    --------
    >>> between(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]), np.ones(4))
    1.0
    """
    size = np.bincount(codes, weight)
    means = np.bincount(codes, weight * residuals) / size
    rest = np.bincount(codes, weight * (residuals - means[codes]) ** 2)
    freedom = max(len(residuals) - len(size), 1)
    mean = np.average(residuals, weights=weight)
    scatter = rest.sum() / weight.sum() * len(residuals) / freedom
    return float((size @ (means - mean) ** 2 - (len(size) - 1) * scatter * np.mean(weight)) / weight.sum())


def residuals(checked: Checked) -> list[Finding]:
    """Residuals against all that is known beside the words of the text."""
    left = checked.responses - checked.means
    numbers: dict[str, Any] = {}
    kinds: dict[str, Any] = {}
    numbers[LENGTH] = checked.reading.n_words[checked.rows].astype(float)
    shown: dict[str, Callable[[float], str]] = {LENGTH: lambda value: f"{value:.0f} words"}
    if checked.times is not None:
        name = checked.time_name
        days = checked.times[checked.rows]
        numbers[name] = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
        shown[name] = lambda value: str(np.datetime64(round(value), "D"))
    for name, column in () if checked.covariates is None else checked.covariates.iloc[checked.rows].items():
        is_number = pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > 2
        (numbers if is_number else kinds)[str(name)] = column.to_numpy()
    groups = None if checked.groups is None else checked.groups.iloc[checked.rows].to_numpy()
    found = []
    for name, values in numbers.items():
        found += _of_number(checked, left, name, values.astype(float), len(numbers), shown.get(name), groups)
    if groups is not None:
        kinds[checked.group_name] = groups
    for place, (name, cells) in enumerate(kinds.items()):
        found += _of_kinds(checked, left, name, cells, checked.rng(100 + place))
    return found


def _of_number(
    checked: Checked,
    left: Vector,
    name: str,
    values: Vector,
    n_tests: int,
    shown: Callable[[float], str] | None,
    groups: NDArray[Any] | None,
) -> list[Finding]:
    known = np.isfinite(values)
    if known.sum() < LEAST or np.unique(values[known]).size < 3:
        return [_untold(name)]
    curve = curve_of(left[known], values[known], checked.weight[known], _codes(groups, known))
    limit, naming = max(MATTERS * checked.spread, curve.by_chance(LEVEL / n_tests)), checked.naming
    measure = f"residuals against {name}: range from low to high"
    if curve.range <= limit:
        return [Finding("residuals", measure, curve.range, limit)]
    write = shown or (lambda value: f"{value:g}")
    ends = np.quantile(values[known], ENDS)
    parts = [f"{_signed(checked, at)} at {write(end)}" for at, end in zip(curve.at, ends, strict=True)]
    problem = (
        f"Responses go with {name} beyond what the text says: {', '.join(parts)} against the prediction, in "
        f"{naming.unit} (low to high {_signed(checked, curve.slope)}, standard error {naming.points(curve.error)}; "
        f"tolerated up to {naming.points(limit)}; {int(known.sum()):,} texts)."
    )
    return [Finding("residuals", measure, curve.range, limit, problem, _advice(name))]


def _of_kinds(
    checked: Checked, left: Vector, name: str, cells: NDArray[Any], rng: np.random.Generator
) -> list[Finding]:
    """Residuals of groups, or of levels of a category; null: documents dealt to groups at random."""
    codes, names = pd.factorize(pd.Series(cells))
    known = np.flatnonzero(codes >= 0)
    if len(known) < LEAST or not 1 < len(names) < len(known) / 2:
        return [_untold(name)]
    left, weight, codes = left[known], checked.weight[known], codes[known]
    value = between(left, codes, weight)
    draws = []
    for _ in range(DRAWS):
        order = rng.permutation(len(left))
        draws.append(between(left[order], codes, weight[order]))
    size = float(np.sqrt(max(value, 0.0)))
    limit = max(float(np.sqrt(max(*draws, 0.0))), MATTERS * checked.spread)
    measure, naming = f"residuals against {name}: standard deviation between its values", checked.naming
    if size <= limit:
        return [Finding("residuals", measure, size, limit)]
    counts, sizes = np.bincount(codes), np.bincount(codes, weight)
    means = np.bincount(codes, weight * left) / sizes
    # Examples are far off and have many texts: means are shrunk by their own error.
    shrunk = means * value / (value + np.var(left) / counts)
    low, high = int(shrunk.argmin()), int(shrunk.argmax())
    problem = (
        f"Responses differ by {name} beyond what the text says: by a standard deviation of {naming.amount(size)} "
        f"(tolerated up to {naming.points(limit)}), such as {_signed(checked, means[low])} for {names[low]} "
        f"({counts[low]:,} texts) and {_signed(checked, means[high])} for {names[high]} ({counts[high]:,})."
    )
    return [Finding("residuals", measure, size, limit, problem, _advice(name, checked.group_name))]


def _untold(name: str) -> Finding:
    nan = float("nan")
    return Finding("residuals", f"residuals against {name}: too few values, or texts of each value, to tell", nan, nan)


def _codes(groups: NDArray[Any] | None, known: NDArray[np.bool_]) -> Codes | None:
    """Numbers of groups, each document without one on its own; None where there are too few to tell."""
    if groups is None:
        return None
    codes, names = pd.factorize(pd.Series(groups[known]))
    if len(names) < LEAST_GROUPS:
        return None
    return np.where(codes < 0, len(names) + np.arange(len(codes)), codes).astype(np.int64)


def _signed(checked: Checked, difference: float) -> str:
    sign = "-" if difference < 0 else "+"
    return f"{sign}{checked.naming.points(difference)}"


def _advice(name: str, group_name: str = "") -> str:
    if name == group_name:
        return "Fit with groups=, so that standard errors mind them, or give them as a covariate."
    if name == LENGTH:
        return "Fit with the number of words as a covariate, or compare texts of like length."
    return f"Fit with {name} as a covariate, as a curve if it is one already: formula='bs({name}, 4)'."
