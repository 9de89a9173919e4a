"""Claims of the paper and verdicts on them, which follow from our numbers alone."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reproduction.methods import label


class Verdict(enum.StrEnum):
    """Verdict on a claim."""

    agrees = "agrees"
    differs = "differs"
    unchecked = "cannot be checked"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and our verdict on it.

    Attributes
    ----------
    where : str
        Section, figure or table of the paper.
    statement : str
        The claim in a few words.
    paper, ours : str
        The paper's number and ours, formatted; empty if there is none.
    verdict : Verdict
        Our verdict.
    reason : str
        Explanation of the verdict.
    """

    where: str
    statement: str
    paper: str
    ours: str
    verdict: Verdict
    reason: str


def number_claim(
    where: str, statement: str, paper: float, ours: ArrayLike, *, within: float, agreed: str = "", differed: str
) -> Claim:
    """Compare a number of the paper with the mean of ours.

    Parameters
    ----------
    where, statement : str
        See `Claim`.
    paper : float
        The paper's number.
    ours : array-like
        One number per draw or split; empty if the method was not run.
    within : float
        Largest difference at which the numbers agree.
    agreed, differed : str
        Reason for either verdict.
    """
    values = np.atleast_1d(np.asarray(ours, dtype=float))
    if not values.size:
        return unchecked(where, statement, f"{paper:.3f}", "The methods concerned were not run.")
    agrees = abs(float(values.mean()) - paper) <= within
    verdict, reason = (Verdict.agrees, agreed) if agrees else (Verdict.differs, differed)
    return Claim(where, statement, f"{paper:.3f}", mean_and_spread(values), verdict, reason)


def statement_claim(
    where: str,
    statement: str,
    ours: str,
    holds: bool,
    *,
    paper: str = "",
    agreed: str = "",
    differed: str,
    not_run: str = "",
) -> Claim:
    """Judge a claim in words.

    Parameters
    ----------
    where, statement, ours, paper : str
        See `Claim`.
    holds : bool
        True if our numbers support the claim.
    agreed, differed : str
        Reason for either verdict.
    not_run : str
        Reason why the claim cannot be checked; empty if it can.
    """
    if not_run:
        return unchecked(where, statement, paper, not_run)
    verdict, reason = (Verdict.agrees, agreed) if holds else (Verdict.differs, differed)
    return Claim(where, statement, paper, ours, verdict, reason)


def unchecked(where: str, statement: str, paper: str, reason: str) -> Claim:
    """Return a claim that the available data cannot check."""
    return Claim(where, statement, paper, "", Verdict.unchecked, reason)


def mean_and_spread(values: ArrayLike) -> str:
    """Format the mean and, for several values, the standard deviation.

    Examples
    --------
    >>> mean_and_spread([0.5, 0.7])
    '0.600 ± 0.141'
    """
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    if numbers.size == 1:
        return f"{numbers[0]:z.3f}"
    return f"{numbers.mean():z.3f} ± {numbers.std(ddof=1):.3f}"


@dataclass(frozen=True, eq=False)
class Results:
    """Rows of a table, looked up by method and by one other column.

    Examples
    --------
    >>> table = pd.DataFrame({"method": ["ridge", "ridge"], "size": [500, 500], "r2": [0.5, 0.7]})
    >>> Results(table, "size").rows("r2", [500])
    [['ridge regression', '0.600 ± 0.141']]
    """

    table: pd.DataFrame
    by: str

    @property
    def methods(self) -> list[str]:
        """Methods that were run."""
        return self.table["method"].unique().tolist()

    @property
    def keys(self) -> list[Any]:
        """Values of the other column in ascending order."""
        return sorted(self.table[self.by].unique())

    def values(self, method: str, key: Any, column: str) -> pd.Series:
        """Return one value per seed; empty if the method was not run."""
        return self.table[(self.table["method"] == method) & (self.table[self.by] == key)][column]

    def mean(self, method: str, key: Any, column: str) -> float:
        """Return the mean over seeds; NaN if the method was not run."""
        return float(self.values(method, key, column).mean())

    def rows(self, column: str, keys: Iterable[Any]) -> list[list[str]]:
        """Return a row per method for a table on the page: its label, then mean and spread for each key."""
        keys = list(keys)
        return [[label(m), *(mean_and_spread(self.values(m, key, column)) for key in keys)] for m in self.methods]
