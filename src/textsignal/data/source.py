"""Tables larger than memory: their rows in batches, from files, Arrow data or iterators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from glob import escape, glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from textsignal.data.read import (
    FIRST_ROWS,
    OPTIONS,
    Columns,
    FilePart,
    Notice,
    Stamp,
    check_file,
    in_slices,
    metadata_of,
    row_groups,
    stamp_of,
)
from textsignal.errors import InputError, one_line

#: Rows of a batch: enough to amortise work per batch, few enough for any memory.
BATCH_ROWS = 2**15
#: A file, a pattern such as "reviews/*.parquet", a folder of Parquet files, several of these; a pandas or Arrow table,
#: an Arrow dataset or reader; or an iterable of tables.
Given: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a source, in their order.

    table : index from 0; file : name of the file or table; number : of that, from 0.
    first : number of the first row over all files, from 0; row : number within its file.
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
        """File and rows, for errors; rows are counted from 1 within the file."""
        return f"{self.file}, rows {self.row + 1:,} to {self.row + len(self):,}"


@dataclass(frozen=True)
class SourcePart:
    """Rows of a file for another worker: batches as of a `Source`, but with `first` counted from row `row`."""

    part: FilePart
    number: int
    row: int

    def __iter__(self) -> Iterator[Batch]:
        file, known = self.part.file, self.part.stamp
        check_file(file)
        stamp = stamp_of(file)
        # The inode of a file may differ between machines.
        if known is None or stamp[1:] != known[1:]:
            raise InputError(f"{file} has changed since the first look at it; read it again when it is complete")
        first = 0
        for table in replace(self.part, stamp=stamp).tables():
            if len(table):
                yield Batch(table, str(file), first, self.row + first, self.number)
            first += len(table)


class Source:
    """Rows that are read in batches, as by `read_batches`; files : in the order of reading; empty for others."""

    def __init__(
        self,
        source: Given,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        *,
        batch_rows: int = BATCH_ROWS,
        notice: Notice | None = None,
        **options: str | None,
    ) -> None:
        if isinstance(columns, str):
            raise InputError(f"columns={columns!r} is one name; give a list of names")
        if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
            raise InputError(f"batch_rows={batch_rows!r} is not a number of rows; give a whole number of at least 1")
        named = columns is None or isinstance(columns, Mapping)
        self.columns = Columns(columns if named else dict.fromkeys(columns or (), "table"))  # type: ignore[arg-type]
        self.batch_rows, self.notice = batch_rows, notice
        self.options = dict.fromkeys(OPTIONS) | options
        self.files = _files_of(source)
        self._tables = None if self.files else _tables_of(source, self.options)
        self._stamps: dict[Path, Stamp] = {}
        self._is_read = False

    @property
    def is_one_shot(self) -> bool:
        """True if the source can be read only once."""
        return isinstance(self._tables, Iterator | pa.RecordBatchReader)

    @property
    def n_rows(self) -> int | None:
        """Number of rows if known without reading them, else None."""
        if isinstance(self._tables, pd.DataFrame | pa.Table):
            return len(self._tables)
        metadata = [metadata_of(file) for file in self.files]
        return sum(each.num_rows for each in metadata) if metadata and None not in metadata else None

    def counted(self) -> AbstractContextManager[None]:
        """Add to errors of the block that name rows that these are counted over all files."""
        n_files = len(self.files)
        return counted_over(f"all {n_files} files", map(str, self.files)) if n_files > 1 else nullcontext()

    def parts(self) -> list[SourcePart]:
        """Return parts that can be read separately, and together give the batches of this source."""
        if not self.files:
            raise InputError("only files can be read by several workers; give a file, a pattern such as '*.parquet'")
        return [
            SourcePart(replace(self._whole(file), groups=groups), number, row)
            for number, file in enumerate(self.files)
            for row, groups in row_groups(file, self.columns, self.batch_rows)
        ]

    def _whole(self, file: Path) -> FilePart:
        """A file that must not change between passes."""
        check_file(file)
        stamp = self._stamps.setdefault(file, stamp_of(file))
        return FilePart(file, self.options, self.columns, self.batch_rows, stamp=stamp)

    def head(self) -> pd.DataFrame:
        """Return the first rows of the first file."""
        check_file(self.files[0])
        return next(FilePart(self.files[0], self.options, Columns(of_all_rows=False), FIRST_ROWS).tables())

    def __iter__(self) -> Iterator[Batch]:
        """Read from the first row; raise InputError if an iterator was read already."""
        if self.is_one_shot and self._is_read:
            advice = "give files or a table to read them twice"
            raise InputError(f"this source is an iterator and was read already; {advice}")
        self._is_read = True
        return self._batches()

    def _batches(self) -> Iterator[Batch]:
        first, row, last, number, has_cells = 0, 0, "", -1, False
        for name, tables in self._files() if self.files else self._memory():
            # A file may occur twice in a source; tables of other sources share a name.
            if self.files or name != last:
                row, last, number = 0, name, number + 1
            for table in tables:
                if not table.empty:
                    yield Batch(table, name, first, row, number)
                first, row, has_cells = first + len(table), row + len(table), has_cells or not table.empty
        if not has_cells:
            raise InputError(f"{', '.join(map(str, self.files[:3])) or 'the source'} has no rows")

    def _files(self) -> Iterator[tuple[str, Iterator[pd.DataFrame]]]:
        for file in self.files:
            yield str(file), self._whole(file).tables(self.notice)

    def _memory(self) -> Iterator[tuple[str, Iterator[pd.DataFrame]]]:
        for name, table in _named_tables(self._tables, self.columns, self.batch_rows):
            frame = table if isinstance(table, pd.DataFrame) else table.to_pandas(ignore_metadata=True)
            frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
            taken = self.columns.of(name, list(frame.columns))
            yield name, in_slices(frame[taken], self.batch_rows)


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

    Together the batches hold the rows of `read_table`, cell by cell. Files are read in parts, packed or not, Parquet
    about a row group at a time; only Excel and JSON arrays are read whole.

    Parameters
    ----------
    source : a file, a pattern such as "reviews/\*.parquet" (\*\* for folders within), a folder of Parquet files, or a
        list of these; a pandas, Arrow or other table that speaks Arrow; a `pyarrow.dataset.Dataset` or
        `pyarrow.RecordBatchReader`; an iterable of tables. A reader or an iterator can be read once.
    columns : to read; as a mapping, with the role of each for error messages. By default all.
    batch_rows : most rows of a batch; fewer where texts are long.
    encoding, sheet, sep : of the files, as in `read_table`.
    notice : called with the name of every file that left a choice, and the choice, such as "separated by semicolons".

    Returns
    -------
    Source
        Yields batches; every loop over it starts at the first row.

    Raises
    ------
    InputError
        In the loop, if a file is missing, damaged, lacks a column, or changes while it is read.

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


@contextmanager
def counted_over(rows: str, files: Iterable[str]) -> Iterator[None]:
    """Add to errors of the block that name rows, but no file, which rows are counted."""
    try:
        yield
    except InputError as error:
        if not re.search(r"\brows? \d", message := str(error)) or any(file in message for file in files):
            raise
        raise InputError(f"{message} (rows are counted over {rows})") from error


def _files_of(source: Given) -> tuple[Path, ...]:
    if isinstance(source, str | PathLike):
        return _matching(Path(source))
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        return tuple(file for one in source for file in _matching(Path(one)))
    return ()


def _matching(path: Path) -> tuple[Path, ...]:
    """A file, the files of a pattern, or the Parquet files of a folder; sorted by name."""
    if path.is_dir():
        paths = [Path(name) for name in glob(f"{escape(str(path))}/**/*.parquet", recursive=True)]  # noqa: PTH207
        if not (files := sorted(file for file in paths if not file.name.startswith("_"))):
            raise InputError(f"{path} is a folder without Parquet files; give a pattern such as '{path}/*.csv'")
        return tuple(files)
    if path.exists() or not has_magic(str(path)):
        return (path,)
    # pathlib takes no absolute patterns.
    paths = [Path(name) for name in glob(str(path), recursive=True)]  # noqa: PTH207
    files = sorted(file for file in paths if file.is_file())
    if not files:
        raise InputError(f"no file matches {path}")
    return tuple(files)


def _tables_of(source: Given, options: Mapping[str, str | None]) -> Any:
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} is for files, but the source is not a file; remove it")
    if isinstance(source, pd.DataFrame | pa.Table | ds.Dataset | pa.RecordBatchReader):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        return source
    raise InputError(f"{type(source).__name__} is not a source of rows; give a file, a pattern, a table, or tables")


def _named_tables(tables: Any, columns: Columns, rows: int) -> Iterator[tuple[str, Any]]:
    """Tables of a source with their names; those not in memory yet are hardly longer than `rows`."""
    if isinstance(tables, pd.DataFrame | pa.Table):
        yield "the table", tables
    elif isinstance(tables, ds.Dataset):
        options = {"columns": columns.of("the dataset", tables.schema.names), "batch_size": rows}
        try:
            for fragment in tables.get_fragments():
                for batch in fragment.to_batches(tables.schema, **options, batch_readahead=1, fragment_readahead=1):
                    yield getattr(fragment, "path", "the dataset"), batch
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot read the dataset: {one_line(error)}") from error
    elif isinstance(tables, pa.RecordBatchReader):
        for batch in tables:
            yield "the reader", batch
    else:
        for number, table in enumerate(tables, 1):
            if not isinstance(table, pd.DataFrame | pa.RecordBatch) and not hasattr(table, "__arrow_c_stream__"):
                kind = type(table).__name__
                raise InputError(f"item {number:,} of the source is a {kind}; give pandas or Arrow tables")
            yield f"table {number:,}", table if isinstance(table, pd.DataFrame | pa.RecordBatch) else pa.table(table)
