"""Random samples of rows from tables larger than memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.checks import check_number
from textsignal.compute.hashing import Keys, drawn
from textsignal.data.source import Batch, Given, Notice, Source, read_batches
from textsignal.errors import InputError

#: Rows and text in memory, relative to the limits, at which the surplus is discarded.
_SLACK = 1.25


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows that were drawn at random, in the order of the source.

    table : index from 0; rows : (rows,) row numbers in the source, from 0; n_rows : of the source.
    files, firsts : names of the files or tables of the source, and the first row of each.
    """

    table: pd.DataFrame
    rows: NDArray[np.int64]
    n_rows: int
    files: tuple[str, ...]
    firsts: NDArray[np.int64]

    @classmethod
    def all_of(cls, table: pd.DataFrame, name: str) -> SampledRows:
        """Return a sample that is a whole table."""
        return cls(table, np.arange(len(table)), len(table), (name,), np.zeros(1, dtype=np.int64))

    @property
    def basis(self) -> str:
        """Description such as "a random 1,000 of 20,000 rows"; "" if these are all rows."""
        return "" if len(self.table) == self.n_rows else f"a random {len(self.table):,} of {self.n_rows:,} rows"

    @property
    def sentence(self) -> str:
        """`basis` as a sentence for a report."""
        return self.basis and f"They come from {self.basis}; row numbers count within these."

    @property
    def is_one_file(self) -> bool:
        """True if these are all rows of one file or table, so that row numbers are those of the source."""
        return len(self.files) == 1 and not self.basis

    def place(self, row: int) -> str:
        """Return the number of a row in its file, from 1, with the name of the file unless `is_one_file`."""
        file = int(np.searchsorted(self.firsts, self.rows[row], side="right")) - 1
        number = f"{self.rows[row] - self.firsts[file] + 1}"
        return number if self.is_one_file else f"{number} of {self.files[file]}"

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Add to errors of the block that name rows without a file what these rows are counted over."""
        try:
            yield
        except InputError as error:
            message = str(error)
            named = any(file in message for file in self.files)
            if self.is_one_file or named or not re.search(r"\brows? \d", message):
                raise
            over = f"the {len(self.table):,} that were drawn" if self.basis else f"all {len(self.files)} files"
            raise InputError(f"{message} (rows are counted over {over})") from error


def sample_rows(
    source: Given,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    n: int = 100_000,
    seed: int = 0,
    *,
    most_text: int | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    sep: str | None = None,
    notice: Notice | None = None,
    progress: Callable[[int], None] | None = None,
) -> SampledRows:
    """Draw rows at random from a table of any length, in bounded memory.

    Which rows these are depends on the seed and their number over all files, not on how rows are cut into files.

    Parameters
    ----------
    source : path-like, list of these, table, dataset, reader, or iterable of tables
        As in `read_batches`, such as "reviews/*.parquet"; or a `Source`.
    columns : list of str, or mapping from str to str
        Columns to keep; as a mapping, with the role of each for error messages. By default all.
    n : int
        Number of rows; all rows of a shorter source.
    seed : int
        Seed of the draws.
    most_text : int, optional
        Most characters of text in the rows; fewer rows are drawn to stay below it, but at least one.
    encoding, sheet, sep, notice
        As in `read_batches`.
    progress : function, optional
        Called with the number of rows read so far.

    Returns
    -------
    SampledRows
        The rows in their order (`table`), their numbers in the source (`rows`), and its number of rows (`n_rows`).

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1).to_frame()
    >>> reviews.to_parquet(getfixture("tmp_path") / "reviews.parquet")
    >>> sample = sample_rows(getfixture("tmp_path") / "*.parquet", ["review", "rating"], n=200)
    >>> sample.basis
    'a random 200 of 300 rows'
    >>> model = TextResponseModel(n_themes=4).fit(sample.table["review"], sample.table["rating"])
    """
    check_number("n", n, least=1, whole=True)
    check_number("seed", seed, least=0, whole=True)
    options: dict[str, Any] = {"encoding": encoding, "sheet": sheet, "sep": sep, "notice": notice}
    batches = source if isinstance(source, Source) else read_batches(source, columns, **options)
    kept = _Kept(n, most_text, seed)
    files: dict[int, tuple[str, int]] = {}
    n_rows = 0
    for batch in batches:
        files.setdefault(batch.number, (batch.file, batch.first - batch.row))
        kept.offer(batch)
        n_rows = batch.first + len(batch)
        if progress is not None:
            progress(n_rows)
    names, firsts = zip(*files.values(), strict=True)
    return SampledRows(kept.discard(), kept.rows, n_rows, names, np.array(firsts, dtype=np.int64))


class _Kept:
    """Rows with the least random numbers so far, within limits of rows and text.

    A discarded row would also be discarded from all rows at once, so the sample does not depend on batches.
    """

    def __init__(self, most_rows: int, most_text: int | None, seed: int) -> None:
        self.most_rows, self.most_text, self.seed = most_rows, np.inf if most_text is None else most_text, seed
        self.bound: np.uint64 | None = None  # the least random number that was excluded
        self.tables: list[pd.DataFrame] = []
        self.rows = np.zeros(0, dtype=np.int64)
        self.sizes = np.zeros(0, dtype=np.int64)

    def offer(self, batch: Batch) -> None:
        """Take some of these rows, which follow all earlier ones."""
        rows = batch.first + np.arange(len(batch))
        taken = np.arange(len(rows)) if self.bound is None else np.flatnonzero(self._draws(rows) < self.bound)
        self.tables.append(_at(batch.table, taken))
        self.rows = np.append(self.rows, rows[taken])
        self.sizes = np.append(self.sizes, _text_sizes(self.tables[-1]))
        if len(self.rows) > _SLACK * self.most_rows or self.sizes.sum() > _SLACK * self.most_text:
            self.discard()

    def discard(self) -> pd.DataFrame:
        """Discard rows beyond the limits and return the others as one table."""
        draws = self._draws(self.rows)
        order = np.argsort(draws, kind="stable")
        n = min(self.most_rows, max(1, int(np.sum(self.sizes[order].cumsum() <= self.most_text))))
        if n < len(order):
            self.bound = draws[order[n]]
        kept = np.sort(order[:n])
        filled = [table for table in self.tables if len(table)]
        self.tables = [_at(pd.concat(filled, ignore_index=True), kept)]
        self.rows, self.sizes = self.rows[kept], self.sizes[kept]
        return self.tables[0]

    def _draws(self, rows: NDArray[np.int64]) -> Keys:
        return drawn(rows.astype(np.uint64), self.seed)


def _at(table: pd.DataFrame, rows: NDArray[np.int64]) -> pd.DataFrame:
    return table if len(rows) == len(table) else table.iloc[rows].reset_index(drop=True)


def _text_sizes(table: pd.DataFrame) -> NDArray[np.int64]:
    """(rows,) characters of all cells that are texts."""
    sizes = np.zeros(len(table), dtype=np.int64)
    for position, dtype in enumerate(table.dtypes):
        cells = table.iloc[:, position]
        if isinstance(dtype, pd.StringDtype):
            sizes += cells.str.len().fillna(0).to_numpy(dtype=np.int64)
        elif not pd.api.types.is_numeric_dtype(dtype):
            sizes += np.array([len(cell) if isinstance(cell, str) else 0 for cell in cells], dtype=np.int64)
    return sizes
