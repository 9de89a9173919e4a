"""Reviews read from published files, with an account of excluded rows; the reader of TripAdvisor reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from textsignal.data.read import column, read_table
from textsignal.data.rows import parse_response
from textsignal.errors import InputError

#: Columns of the published file, and common names for them.
TEXT_COLUMNS, RATING_COLUMNS = ("Review", "review", "text"), ("Rating", "rating", "stars")


@dataclass(frozen=True)
class Excluded:
    """Rows of one file that were excluded, by reason.

    Attributes
    ----------
    file : str
        Name of the file.
    n_read : int
        Number of lines of the file, or rows of its table.
    reasons : mapping of str to int
        Number of excluded rows by reason; a row counts for its first reason only.
    broken_off : str
        Why reading ended before the file did, as in an incomplete download; empty if it did not.

    Examples
    --------
    >>> print(Excluded("reviews.csv", 1200, {"no text": 3, "repeated": 41}).describe())
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
        """Number of rows that were used."""
        return self.n_read - sum(self.reasons.values())

    def describe(self) -> str:
        """Return the number of used rows, and a line for each reason, the most frequent first."""
        lines = [f"{self.file}: {self.n_used:,} of {self.n_read:,} used"]
        width = max([len(f"{count:,}") for count in self.reasons.values()], default=0)
        lines += [f"    {count:{width},}  {reason}" for reason, count in self._by_count()]
        if self.broken_off:
            lines.append(f"    the file breaks off after {self.n_read:,} lines: {self.broken_off}")
        return "\n".join(lines)

    def in_short(self) -> str:
        """Return the reasons with their counts on one line."""
        return ", ".join(f"{count:,} {reason}" for reason, count in self._by_count())

    def _by_count(self) -> list[tuple[str, int]]:
        return sorted(self.reasons.items(), key=lambda item: -item[1])


@dataclass(frozen=True, eq=False)
class ReviewSample:
    """Reviews from published files.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per review: the columns `text` and `rating` (1 to 5), and those that the reader adds.
    excluded : tuple of Excluded
        Excluded rows of each file, the file of reviews first.
    """

    table: pd.DataFrame
    excluded: tuple[Excluded, ...]

    def describe(self) -> str:
        """Return the number of used and excluded rows of each file."""
        return "\n".join(account.describe() for account in self.excluded)


def read_tripadvisor(path: str | PathLike[str], *, text: str | None = None, rating: str | None = None) -> ReviewSample:
    r"""Read the TripAdvisor reviews that are published on Kaggle, or reviews from any similar table.

    The published file is a CSV file with the columns `Review` and `Rating`. All formats of `read_table` are accepted.
    Rows are excluded if their text is blank, if their rating is not a whole number from 1 to 5, or if an earlier row
    has the same text and rating.

    Parameters
    ----------
    path : path-like
        The file.
    text, rating : str, optional
        Columns, if they have other names than `Review`, `review`, `text` and `Rating`, `rating`, `stars`.

    Returns
    -------
    ReviewSample
        The columns `text` and `rating`, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has no usable row.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "tripadvisor_hotel_reviews.csv"
    >>> _ = path.write_text("Review,Rating\nlovely lobby,5\nlovely lobby,5\ncold soup,\n")
    >>> sample = read_tripadvisor(path)
    >>> sample.table.to_dict("records")
    [{'text': 'lovely lobby', 'rating': 5}]
    >>> print(sample.describe())
    tripadvisor_hotel_reviews.csv: 1 of 3 used
        1  no whole rating from 1 to 5
        1  repeated
    """
    cells = read_table(path)
    texts = column(cells, text or _present(cells, TEXT_COLUMNS), "text")
    ratings = column(cells, rating or _present(cells, RATING_COLUMNS), "rating")
    rows = pd.DataFrame({"text": texts, "rating": parse_response(ratings).values})
    no_text = np.array([not isinstance(cell, str) or not cell.strip() for cell in texts])
    no_rating = ~no_text & ~rows["rating"].isin([1, 2, 3, 4, 5])
    good = rows[~no_text & ~no_rating].astype({"rating": np.int64})
    table = good.drop_duplicates(ignore_index=True)

    counts = {
        "no text": int(no_text.sum()),
        "no whole rating from 1 to 5": int(no_rating.sum()),
        "repeated": len(good) - len(table),
    }
    excluded = Excluded(Path(path).name, len(rows), {reason: count for reason, count in counts.items() if count})
    if table.empty:
        raise InputError(f"{path} has no row that can be used: {excluded.in_short()}")
    return ReviewSample(table, (excluded,))


def _present(table: pd.DataFrame, names: Sequence[str]) -> str:
    """First name that is a column; the first of all if none is."""
    return next((name for name in names if name in table.columns), names[0])
