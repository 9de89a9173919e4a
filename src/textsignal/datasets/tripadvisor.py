"""The TripAdvisor hotel reviews that are published on Kaggle."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from textsignal.data.read import column, read_table
from textsignal.data.rows import parse_response
from textsignal.datasets.sample import LeftOut, ReviewSample
from textsignal.errors import InputError

#: Columns of the published file, and common names for them.
TEXT_COLUMNS, RATING_COLUMNS = ("Review", "review", "text"), ("Rating", "rating", "stars")


def read_tripadvisor(path: str | PathLike[str], *, text: str | None = None, rating: str | None = None) -> ReviewSample:
    r"""Read the TripAdvisor reviews in the format in which Kaggle publishes them, or reviews from any such table.

    That is a CSV file with the columns `Review` and `Rating`; other columns are ignored, and any other format
    of `read_table` will do. Rows are left out if their text is blank, if their rating is not a whole number
    from 1 to 5, or if an earlier row has the same text and rating.

    Parameters
    ----------
    path : path-like
        The file.
    text, rating : str, optional
        Columns, where they are not called as in the published file, or `text` and `rating`.

    Returns
    -------
    ReviewSample
        The columns `text` and `rating`, in the order of the file, and what was left out.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has no row that can be used.

    Examples
    --------
    >>> from textsignal.datasets import read_tripadvisor
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
    left_out = LeftOut(Path(path).name, len(rows), {reason: count for reason, count in counts.items() if count})
    if table.empty:
        raise InputError(f"{path} has no row that can be used: {left_out.in_short()}")
    return ReviewSample(table, (left_out,))


def _present(table: pd.DataFrame, names: Sequence[str]) -> str:
    """The first of these names that a column has, and the first of all if none has."""
    return next((name for name in names if name in table.columns), names[0])
