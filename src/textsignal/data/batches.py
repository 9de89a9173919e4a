"""Tables larger than memory: their rows in batches, from files, Arrow data or iterators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import escape, glob, has_magic
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from textsignal.data.batch_files import (
    FIRST_ROWS,
    Columns,
    Notice,
    Stamp,
    file_parts,
    frame_of,
    in_slices,
    row_groups,
    rows_in,
    stamp_of,
)
from textsignal.data.files import check_file, one_line
from textsignal.errors import InputError

#: Rows of a batch: enough to pay for what is done once a batch, few enough for any memory.
BATCH_ROWS = 2**15

#: A file, a pattern such as "reviews/*.parquet", a folder of Parquet files, several of these; a pandas or Arrow table,
#: an Arrow dataset or reader; or an iterable of tables.
Given: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a source, in their order.

    table : the wanted columns, rows numbered from 0; texts are held by Arrow.
    file : the file or table they are of, for errors.
    first : number of its first row over all files, from 0; row : the same within its file.
    number : of the file or table, from 0.
    """

    table: pd.DataFrame
    file: str
    first: int
    row: int
    number: int

    def __len__(self) -> int:
        return len(self.table)

    @property
    def place(self) -> str:
        """Its file and rows, for errors; rows are counted from 1 over the file."""
        return f"{self.file}, rows {self.row + 1:,} to {self.row + len(self):,}"


@dataclass(frozen=True)
class FilePart:
    """Rows of a file that somebody else may read: the batches of a `Source`, but that `first` is 0 for its own first.

    file, number : the file, and its number in the source; row : number of the first row; groups : row groups of a
    Parquet file, None for all of any file; others as in `Source`.
    """

    file: Path
    number: int
    row: int
    groups: Sequence[int] | None
    stamp: Stamp
    columns: Columns
    batch_rows: int
    options: Mapping[str, str | None]

    def __iter__(self) -> Iterator[Batch]:
        check_file(self.file)
        stamp = stamp_of(self.file)
        # On another machine a file may have another inode.
        if stamp[1:] != self.stamp[1:]:
            raise InputError(f"{self.file} has changed since the first look at it; read it again when it is complete")
        first, ignore = 0, lambda file, choice: None
        tables = file_parts(self.file, self.columns, self.batch_rows, ignore, stamp, self.groups, options=self.options)
        for table in tables:
            if len(table):
                yield Batch(table, str(self.file), first, self.row + first, self.number)
            first += len(table)


class Source:
    """Rows that can be read batch after batch, every `for` from the first one on.

    Parameters
    ----------
    source : what to read; see `read_batches`.
    columns, batch_rows, encoding, sheet, sep, notice : as in `read_batches`.

    Attributes
    ----------
    files : the files that are read, in this order; none where the source is not of files.
    """

    def __init__(
        self,
        source: Given,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        *,
        batch_rows: int = BATCH_ROWS,
        encoding: str | None = None,
        sheet: str | None = None,
        sep: str | None = None,
        notice: Notice | None = None,
    ) -> None:
        if isinstance(columns, str):
            raise InputError(f"columns={columns!r} is one name; give a list of names")
        if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
            raise InputError(f"batch_rows={batch_rows!r} is not a number of rows; give a whole number of at least 1")
        named = columns is None or isinstance(columns, Mapping)
        self.columns = Columns(columns if named else dict.fromkeys(columns or (), "table"))  # type: ignore[arg-type]
        self.batch_rows = batch_rows
        self.options = {"encoding": encoding, "sheet": sheet, "sep": sep}
        self.notice = notice or (lambda file, choice: None)
        self.files = _files_of(source)
        self._tables = None if self.files else _tables_of(source, self.options)
        self._stamps: dict[Path, Stamp] = {}
        self._is_read = False

    @property
    def is_one_shot(self) -> bool:
        """Whether it can be read once only."""
        return isinstance(self._tables, Iterator | pa.RecordBatchReader)

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        if isinstance(self._tables, pd.DataFrame | pa.Table):
            return len(self._tables)
        counts = [rows_in(file) for file in self.files]
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

    def parts(self) -> list[FilePart]:
        """What can be read apart, in order; together they give the batches that this source gives."""
        if not self.files:
            raise InputError("only files can be read by several workers; give a file, a pattern such as '*.parquet'")
        found = []
        for number, file in enumerate(self.files):
            check_file(file)
            stamp = self._stamps.setdefault(file, stamp_of(file))
            given = (stamp, self.columns, self.batch_rows, self.options)
            found += [
                FilePart(file, number, row, groups, *given)
                for row, groups in row_groups(file, self.columns, self.batch_rows)
            ]
        return found

    def has_column(self, name: str) -> bool:
        """Whether the first file has a column of this name, by its first rows."""
        if not self.files:
            return False
        check_file(self.files[0])
        stamp, ignore = stamp_of(self.files[0]), lambda file, choice: None
        parts = file_parts(self.files[0], Columns(of_all_rows=False), FIRST_ROWS, ignore, stamp, options=self.options)
        return any(name in part.columns for part in islice(parts, 1))

    def __iter__(self) -> Iterator[Batch]:
        """Read from the first row on; InputError where that has been done and cannot be again."""
        if self.is_one_shot and self._is_read:
            raise InputError(
                "this source is an iterator and was read already; give files or a table to read them twice"
            )
        self._is_read = True
        return self._batches()

    def _batches(self) -> Iterator[Batch]:
        first, row, last, number, has_cells = 0, 0, "", -1, False
        for name, parts in self._files() if self.files else self._memory():
            # A file may stand in the source twice; rows of other sources come in parts of the same name.
            if self.files or name != last:
                row, last, number = 0, name, number + 1
            for part in parts:
                if not part.empty:
                    yield Batch(part, name, first, row, number)
                first, row, has_cells = first + len(part), row + len(part), has_cells or not part.empty
        if not has_cells:
            raise InputError(f"{', '.join(map(str, self.files[:3])) or 'the source'} has no rows")

    def _files(self) -> Iterator[tuple[str, Iterator[pd.DataFrame]]]:
        for file in self.files:
            check_file(file)
            # What one pass has read is what every later one must find.
            stamp = self._stamps.setdefault(file, stamp_of(file))
            yield str(file), file_parts(file, self.columns, self.batch_rows, self.notice, stamp, options=self.options)

    def _memory(self) -> Iterator[tuple[str, Iterator[pd.DataFrame]]]:
        for name, table in _named_tables(self._tables, self.columns, self.batch_rows):
            frame = table if isinstance(table, pd.DataFrame) else frame_of(table)
            frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
            taken = self.columns.of(name, list(frame.columns))
            yield name, (part.reset_index(drop=True) for part in in_slices(frame[taken], self.batch_rows))


def read_batches(
    source: Given,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    batch_rows: int = BATCH_ROWS,
    encoding: str | None = None,
    sheet: str | None = None,
    sep: str | None = None,
    notice: Notice | None = None,
) -> Source:
    r"""Read a table of any length in batches of rows, in bounded memory.

    Together the batches hold the rows that `read_table` gives, cell by cell. Files are read in parts, whatever their
    packing, of Parquet about a row group at a time; only Excel and JSON arrays are read whole.

    Parameters
    ----------
    source : path-like, list of these, table, dataset, reader, or iterable of tables
        A file, a pattern such as "reviews/\*.parquet" (\*\* for folders within), a folder of Parquet files, or a list
        of these; a pandas, Arrow or other table that speaks Arrow; a `pyarrow.dataset.Dataset` or
        `pyarrow.RecordBatchReader`; an iterable of tables. A reader or an iterator can be read once.
    columns : list of str, or mapping from str to str
        Columns to read; with what each is for, which errors name. By default all.
    batch_rows : int
        Most rows of a batch; fewer where texts are long.
    encoding, sheet, sep : str, optional
        Of the files, as in `read_table`.
    notice : function, optional
        Called with the name of every file that left a choice, and what was chosen, such as "separated by semicolons".

    Returns
    -------
    Source
        Gives a `Batch` at a time, every loop over it from the first row on.

    Raises
    ------
    InputError
        In the loop, where a file is missing, damaged, lacks a column, or changes while it is read.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "may.csv").write_text("Review,Rating\nFine,4\nPoor,2\n")
    >>> _ = (folder / "june.csv").write_text("Review,Rating\nNA,3\n")
    >>> source = read_batches([folder / "may.csv", folder / "june.csv"], ["Review"])
    >>> [(batch.first, batch.table["Review"].tolist()) for batch in source]
    [(0, ['Fine', 'Poor']), (2, ['NA'])]
    """
    return Source(source, columns, batch_rows=batch_rows, encoding=encoding, sheet=sheet, sep=sep, notice=notice)


def _files_of(source: Given) -> tuple[Path, ...]:
    """The files of a source; none where it is not of files."""
    if isinstance(source, str | PathLike):
        return _matching(Path(source))
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        return tuple(file for one in source for file in _matching(Path(one)))
    return ()


def _matching(path: Path) -> tuple[Path, ...]:
    """A file, the files of a pattern, or the Parquet files of a folder; in the order of their names."""
    if path.is_dir():
        found = [Path(name) for name in glob(f"{escape(str(path))}/**/*.parquet", recursive=True)]  # noqa: PTH207
        if not (files := sorted(file for file in found if not file.name.startswith("_"))):
            raise InputError(f"{path} is a folder without Parquet files; give a pattern such as '{path}/*.csv'")
        return tuple(files)
    if path.exists() or not has_magic(str(path)):
        return (path,)
    # Of pathlib's, none takes a pattern from the root on.
    found = [Path(name) for name in glob(str(path), recursive=True)]  # noqa: PTH207
    files = sorted(file for file in found if file.is_file())
    if not files:
        raise InputError(f"no file matches {path}")
    return tuple(files)


def _tables_of(source: Given, options: Mapping[str, str | None]) -> Any:
    """What a source that is not of files holds."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} is of files, but the source is not of files; leave it out")
    if isinstance(source, pd.DataFrame | pa.Table | ds.Dataset | pa.RecordBatchReader):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        return source
    raise InputError(f"{type(source).__name__} is no source of rows; give a file, a pattern, a table, or tables")


def _named_tables(tables: Any, columns: Columns, rows: int) -> Iterator[tuple[str, Any]]:
    """Tables of a source, none much longer than `rows` where it is not in memory anyway."""
    if isinstance(tables, pd.DataFrame | pa.Table):
        yield "the table", tables
    elif isinstance(tables, ds.Dataset):
        taken = columns.of("the dataset", tables.schema.names)
        yield from _scanned(tables, taken, rows)
    elif isinstance(tables, pa.RecordBatchReader):
        for batch in tables:
            yield "the reader", batch
    else:
        for number, table in enumerate(tables, 1):
            yield f"table {number:,}", _as_table(number, table)


def _scanned(dataset: ds.Dataset, taken: list[str], rows: int) -> Iterator[tuple[str, Any]]:
    """Batches of a dataset in their order, hardly more than one of them in memory."""
    try:
        for fragment in dataset.get_fragments():
            found = fragment.to_batches(
                dataset.schema, columns=taken, batch_size=rows, batch_readahead=1, fragment_readahead=1
            )
            for batch in found:
                yield getattr(fragment, "path", "the dataset"), batch
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read the dataset: {one_line(error)}") from error


def _as_table(number: int, table: Any) -> Any:
    if isinstance(table, pd.DataFrame | pa.Table | pa.RecordBatch):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        return pa.table(table)
    raise InputError(f"item {number:,} of the source is a {type(table).__name__}; give pandas or Arrow tables")
