"""Reviews that were read from published files, and an account of what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class LeftOut:
    """What was left out of one file, and why.

    Attributes
    ----------
    file : str
        Name of the file.
    n_read : int
        Lines of the file, or rows of its table, that were read.
    reasons : mapping of str to int
        How many were left out for each reason; one that is bad for several reasons counts for the first.
    broken_off : str
        Why reading ended before the file did, as in an incomplete download; empty if it did not.

    Examples
    --------
    >>> from textsignal.datasets import LeftOut
    >>> print(LeftOut("reviews.csv", 1200, {"no text": 3, "repeated": 41}).describe())
    reviews.csv: 1,156 of 1,200 used
        41  repeated
         3  no text
    """

    file: str
    n_read: int
    reasons: Mapping[str, int]
    broken_off: str = ""

    @property
    def n_used(self) -> int:
        """How many were used: all that were read and not left out."""
        return self.n_read - sum(self.reasons.values())

    def describe(self) -> str:
        """Say how many were used and left out: a line for each reason, the most frequent first."""
        lines = [f"{self.file}: {self.n_used:,} of {self.n_read:,} used"]
        width = max([len(f"{count:,}") for count in self.reasons.values()], default=0)
        lines += [f"    {count:{width},}  {reason}" for reason, count in self._by_count()]
        if self.broken_off:
            lines.append(f"    the file breaks off after {self.n_read:,} lines: {self.broken_off}")
        return "\n".join(lines)

    def in_short(self) -> str:
        """Say in a few words why rows were left out."""
        return ", ".join(f"{count:,} {reason}" for reason, count in self._by_count())

    def _by_count(self) -> list[tuple[str, int]]:
        return sorted(self.reasons.items(), key=lambda item: -item[1])


@dataclass(frozen=True, eq=False)
class ReviewSample:
    """Reviews from published files.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per review, with the columns `text` and `rating` (1 to 5) and those that the reader adds.
    left_out : tuple of LeftOut
        What was left out of each file, the file of reviews first.

    Examples
    --------
    >>> import pandas as pd
    >>> from textsignal.datasets import LeftOut, ReviewSample
    >>> table = pd.DataFrame({"text": ["lovely lobby"], "rating": [5]})
    >>> print(ReviewSample(table, (LeftOut("reviews.csv", 2, {"repeated": 1}),)).describe())
    reviews.csv: 1 of 2 used
        1  repeated
    """

    table: pd.DataFrame
    left_out: tuple[LeftOut, ...]

    def describe(self) -> str:
        """Say what was used of each file, and what was left out and why."""
        return "\n".join(account.describe() for account in self.left_out)
