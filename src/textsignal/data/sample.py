"""Rows that are drawn at random from tables larger than memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textsignal.checks import check_number
from textsignal.compute.hashing import Keys, drawn
from textsignal.data.source import Batch, Given, Notice, Source, read_batches
from textsignal.errors import InputError

#: Rows and text that are held before some of it is let go, beside what is wanted.
_SLACK = 1.25


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows that were drawn at random, in their order.

    table : numbered from 0; rows : (rows,) where each stands in the source, from 0; n_rows : of the source.
    files, firsts : names of the files or tables that they are of, and the first row of each.
    """

    table: pd.DataFrame
    rows: NDArray[np.int64]
    n_rows: int
    files: tuple[str, ...]
    firsts: NDArray[np.int64]

    @classmethod
    def all_of(cls, table: pd.DataFrame, name: str) -> SampledRows:
        """All rows of a table."""
        return cls(table, np.arange(len(table)), len(table), (name,), np.zeros(1, dtype=np.int64))

    @property
    def basis(self) -> str:
        """What rows these are, such as "a random 1,000 of 20,000 rows"; "" where they are all."""
        return "" if len(self.table) == self.n_rows else f"a random {len(self.table):,} of {self.n_rows:,} rows"

    @property
    def sentence(self) -> str:
        """The same in a sentence of a page."""
        return self.basis and f"They come from {self.basis}; row numbers count within these."

    @property
    def is_one_file(self) -> bool:
        """Whether these are all rows of one file or table, so that its rows have the numbers of the source."""
        return len(self.files) == 1 and not self.basis

    def place(self, row: int) -> str:
        """Where a row of the table stands, from 1; its file is named unless there is one of which all rows are here."""
        file = int(np.searchsorted(self.firsts, self.rows[row], side="right")) - 1
        number = f"{self.rows[row] - self.firsts[file] + 1}"
        return number if self.is_one_file else f"{number} of {self.files[file]}"

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Say what rows are counted over where an error names some of the table, but not by their places."""
        try:
            yield
        except InputError as error:
            said = str(error)
            if self.is_one_file or not re.search(r"\brows? \d", said) or any(file in said for file in self.files):
                raise
            over = f"the {len(self.table):,} that were drawn" if self.basis else f"all {len(self.files)} files"
            raise InputError(f"{said} (rows are counted over {over})") from error


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
        As in `read_batches`: "reviews/*.parquet" is a pattern; or what that gives.
    columns : list of str, or mapping from str to str
        Columns to keep; with what each is for, which errors name. By default all.
    n : int
        How many rows; all where there are no more.
    seed : int
        Of the draws.
    most_text : int, optional
        Characters of text that the rows hold at most, where they are two or more; fewer are drawn then.
    encoding, sheet, sep, notice
        As in `read_batches`.
    progress : function, optional
        Called with the number of rows that are read.

    Returns
    -------
    SampledRows
        `table` holds the rows in their order, `rows` says where they stand in the source, `n_rows` how many it has.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1).to_frame()
    >>> reviews.to_parquet(getfixture("tmp_path") / "reviews.parquet")
    >>> sample = sample_rows(getfixture("tmp_path") / "*.parquet", ["review", "rating"], n=200)
    >>> sample.basis
    'a random 200 of 300 rows'
    >>> model = TextResponseModel(n_topics=4).fit(sample.table["review"], sample.table["rating"])
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
    return SampledRows(kept.let_go(), kept.rows, n_rows, names, np.array(firsts, dtype=np.int64))


class _Kept:
    """Rows with the least random numbers so far: at most so many, and with at most so much text.

    A row that is let go would be so too had all rows come at once: it is the same sample in whatever batches they come.
    """

    def __init__(self, most_rows: int, most_text: int | None, seed: int) -> None:
        self.most_rows, self.most_text, self.seed = most_rows, np.inf if most_text is None else most_text, seed
        self.bound: np.uint64 | None = None  # the least random number that was excluded
        self.tables: list[pd.DataFrame] = []
        self.rows = np.zeros(0, dtype=np.int64)
        self.sizes = np.zeros(0, dtype=np.int64)

    def offer(self, batch: Batch) -> None:
        """Take some of these rows, which come after all others."""
        rows = batch.first + np.arange(len(batch))
        taken = np.arange(len(rows)) if self.bound is None else np.flatnonzero(self._draws(rows) < self.bound)
        self.tables.append(_at(batch.table, taken))
        self.rows = np.append(self.rows, rows[taken])
        self.sizes = np.append(self.sizes, _text_sizes(self.tables[-1]))
        if len(self.rows) > _SLACK * self.most_rows or self.sizes.sum() > _SLACK * self.most_text:
            self.let_go()

    def let_go(self) -> pd.DataFrame:
        """Hold no more than is wanted, in one table."""
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
    for place in range(table.shape[1]):
        cells = table.iloc[:, place]
        if isinstance(cells.dtype, pd.StringDtype) and cells.dtype.storage == "pyarrow":
            lengths = pc.utf8_length(pa.chunked_array(pa.array(cells, from_pandas=True)))
            sizes += pc.fill_null(lengths, 0).to_numpy()
        elif not pd.api.types.is_numeric_dtype(cells.dtype):
            sizes += np.array([len(cell) if isinstance(cell, str) else 0 for cell in cells], dtype=np.int64)
    return sizes
