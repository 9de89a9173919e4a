"""Tables larger than memory: their rows in batches, from files, Arrow data or iterators."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape, glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from textsignal.data.read import (
    UNREADABLE,
    check_file,
    column,
    delimited,
    encoding_of,
    ending_of,
    given_options,
    header_of,
    json_record,
    one_line,
    read_file,
    text_of,
    unpacked,
)
from textsignal.errors import InputError

#: Rows of a batch: enough to amortise work per batch, few enough for any memory.
BATCH_ROWS = 2**15
#: A file, a pattern such as "reviews/*.parquet", a folder of Parquet files, several of these; a pandas or Arrow table,
#: an Arrow dataset or reader; or an iterable of tables.
Given: TypeAlias = Any
#: Approximate limit of the bytes of a part; rows of a delimited file from which the size of rows is estimated.
MOST_BYTES, FIRST_ROWS = 2**26, 1024
#: Bytes that Parquet reads at once of each column.
_BUFFER = 2**20
#: Called with the name of a file that left a choice, and the choice that was made.
Notice = Callable[[str, str], None]
#: Inode, size and time of change, which identify the content of a file.
Stamp = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a source, in their order.

    table : the requested columns, index from 0; texts are held by Arrow.
    file : name of the file or table, for errors.
    first : number of its first row over all files, from 0; row : number within its file.
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
        """File and rows, for errors; rows are counted from 1 within the file."""
        return f"{self.file}, rows {self.row + 1:,} to {self.row + len(self):,}"


@dataclass(frozen=True)
class FilePart:
    """Rows of a file for another worker: batches as of a `Source`, but with `first` counted from its first row.

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
        # The inode of a file may differ between machines.
        if stamp[1:] != self.stamp[1:]:
            raise InputError(f"{self.file} has changed since the first look at it; read it again when it is complete")
        first, ignore = 0, lambda file, choice: None
        tables = file_parts(self.file, self.columns, self.batch_rows, ignore, stamp, self.groups, options=self.options)
        for table in tables:
            if len(table):
                yield Batch(table, str(self.file), first, self.row + first, self.number)
            first += len(table)


class Source:
    """Rows that are read in batches; every loop starts at the first row.

    Parameters
    ----------
    source : what to read; see `read_batches`.
    columns, batch_rows, encoding, sheet, sep, notice : as in `read_batches`.

    Attributes
    ----------
    files : the files in the order of reading; empty for other sources.
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
        """True if the source can be read only once."""
        return isinstance(self._tables, Iterator | pa.RecordBatchReader)

    @property
    def n_rows(self) -> int | None:
        """Number of rows if known without reading them, else None."""
        if isinstance(self._tables, pd.DataFrame | pa.Table):
            return len(self._tables)
        counts = [rows_in(file) for file in self.files]
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

    def parts(self) -> list[FilePart]:
        """Return parts that can be read separately, in order; together they give the batches of this source."""
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

    def head(self) -> pd.DataFrame:
        """Return the first rows of the first file."""
        check_file(self.files[0])
        stamp, ignore = stamp_of(self.files[0]), lambda file, choice: None
        parts = file_parts(self.files[0], Columns(of_all_rows=False), FIRST_ROWS, ignore, stamp, options=self.options)
        return next(iter(parts))

    def __iter__(self) -> Iterator[Batch]:
        """Read from the first row; raise InputError if an iterator was read already."""
        if self.is_one_shot and self._is_read:
            raise InputError(
                "this source is an iterator and was read already; give files or a table to read them twice"
            )
        self._is_read = True
        return self._batches()

    def _batches(self) -> Iterator[Batch]:
        first, row, last, number, has_cells = 0, 0, "", -1, False
        for name, parts in self._files() if self.files else self._memory():
            # A file may occur twice in a source; parts of other sources share a name.
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
            # Every later pass must find what the first one has read.
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

    Together the batches hold the rows of `read_table`, cell by cell. Files are read in parts, packed or not, Parquet
    about a row group at a time; only Excel and JSON arrays are read whole.

    Parameters
    ----------
    source : path-like, list of these, table, dataset, reader, or iterable of tables
        A file, a pattern such as "reviews/\*.parquet" (\*\* for folders within), a folder of Parquet files, or a list
        of these; a pandas, Arrow or other table that speaks Arrow; a `pyarrow.dataset.Dataset` or
        `pyarrow.RecordBatchReader`; an iterable of tables. A reader or an iterator can be read once.
    columns : list of str, or mapping from str to str
        Columns to read; as a mapping, with the role of each for error messages. By default all.
    batch_rows : int
        Most rows of a batch; fewer where texts are long.
    encoding, sheet, sep : str, optional
        Of the files, as in `read_table`.
    notice : function, optional
        Called with the name of every file that left a choice, and the choice, such as "separated by semicolons".

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


def _files_of(source: Given) -> tuple[Path, ...]:
    """Files of a source; empty for other sources."""
    if isinstance(source, str | PathLike):
        return _matching(Path(source))
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        return tuple(file for one in source for file in _matching(Path(one)))
    return ()


def _matching(path: Path) -> tuple[Path, ...]:
    """A file, the files of a pattern, or the Parquet files of a folder; sorted by name."""
    if path.is_dir():
        found = [Path(name) for name in glob(f"{escape(str(path))}/**/*.parquet", recursive=True)]  # noqa: PTH207
        if not (files := sorted(file for file in found if not file.name.startswith("_"))):
            raise InputError(f"{path} is a folder without Parquet files; give a pattern such as '{path}/*.csv'")
        return tuple(files)
    if path.exists() or not has_magic(str(path)):
        return (path,)
    # pathlib takes no absolute patterns.
    found = [Path(name) for name in glob(str(path), recursive=True)]  # noqa: PTH207
    files = sorted(file for file in found if file.is_file())
    if not files:
        raise InputError(f"no file matches {path}")
    return tuple(files)


def _tables_of(source: Given, options: Mapping[str, str | None]) -> Any:
    """Tables of a source that is not of files."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} is of files, but the source is not of files; leave it out")
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
        taken = columns.of("the dataset", tables.schema.names)
        yield from _scanned(tables, taken, rows)
    elif isinstance(tables, pa.RecordBatchReader):
        for batch in tables:
            yield "the reader", batch
    else:
        for number, table in enumerate(tables, 1):
            yield f"table {number:,}", _as_table(number, table)


def _scanned(dataset: ds.Dataset, taken: list[str], rows: int) -> Iterator[tuple[str, Any]]:
    """Batches of a dataset in order, with hardly more than one in memory."""
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


@dataclass(frozen=True)
class Columns:
    """Requested columns.

    roles : purpose of each by its name; None for all columns.
    of_all_rows : True to include columns that only later rows have, as in JSON lines.
    """

    roles: Mapping[str, str] | None = None
    of_all_rows: bool = True

    def of(self, file: str, names: Sequence[str]) -> list[str]:
        """Return the columns to take of a file with these names; raise InputError if one is missing or repeated."""
        table = pd.DataFrame(columns=pd.Index(names, dtype=object))
        try:
            for name, role in (self.roles or dict.fromkeys(names, "output")).items():
                column(table, name, role)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
        return list(names) if self.roles is None else list(self.roles)


@dataclass(frozen=True)
class FileParts:
    """Options for reading a file in parts.

    rows : most of a part; notice : called with a choice that was made; options : of `read_table`.
    groups : row groups to read of a Parquet file, None for all.
    """

    columns: Columns
    rows: int
    notice: Notice
    options: Mapping[str, str]
    groups: Sequence[int] | None = None

    def tell(self, path: Path, choice: str) -> None:
        """Pass a choice on to `notice`."""
        if choice:
            self.notice(str(path), choice)


def rows_within(n_bytes: float, most: int) -> int:
    """Return the rows of a part, at most `most`; n_bytes : of a row."""
    return int(np.clip(MOST_BYTES / max(n_bytes, 1.0), 1, most))


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def file_parts(
    path: Path,
    columns: Columns,
    rows: int,
    notice: Notice,
    stamp: Stamp,
    groups: Sequence[int] | None = None,
    *,
    options: Mapping[str, str | None] | None = None,
) -> Iterator[pd.DataFrame]:
    r"""Yield a file in parts of at most `rows`; raise InputError if it is damaged or does not match `stamp`.

    Examples
    --------
    >>> file = getfixture("tmp_path") / "reviews.csv"
    >>> _ = file.write_text("Review,Rating\nFine,4\nPoor,2\nNA,1\n")
    >>> for part in file_parts(file, Columns(), 2, print, stamp_of(file)):
    ...     part["Review"].tolist()
    ['Fine', 'Poor']
    ['NA']
    """
    given = given_options(path, **(options or {}))
    parts = _PARTS[ending_of(path)](path, FileParts(columns, rows, notice, given, groups))
    n_rows = 0
    while True:
        try:
            check_file(path)
            part = next(parts, None)
        except (InputError, *UNREADABLE, pa.ArrowException) as error:
            _check_unchanged(path, stamp, n_rows)
            if isinstance(error, InputError):
                raise
            raise InputError(f"cannot read {path}{_after(n_rows)}: {one_line(error)}") from error
        _check_unchanged(path, stamp, n_rows)
        if part is None:
            return
        n_rows += len(part)
        yield part.reset_index(drop=True)


def rows_in(path: Path) -> int | None:
    """Return the number of rows of a file if its metadata has it, else None."""
    try:
        return int(pq.read_metadata(path).num_rows) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):  # damaged: the error is raised when it is read
        return None


def row_groups(path: Path, columns: Columns, rows: int) -> list[tuple[int, list[int] | None]]:
    """Return the parts of a file that can be read separately: number of the first row, and row groups or None for all.

    Small row groups of a Parquet file are read together.
    """
    try:
        metadata = pq.read_metadata(path) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):  # damaged: the error is raised when it is read
        metadata = None
    if metadata is None:
        return [(0, None)]
    taken = columns.of(str(path), metadata.schema.to_arrow_schema().names)
    return list(_together(metadata, rows_within(_row_bytes(metadata, taken), rows)))


def _row_bytes(metadata: Any, taken: Sequence[str]) -> float:
    """Bytes of these columns in a row, by the metadata."""
    n_bytes, _ = _column_sizes(metadata)
    used = sum(size for name, size in n_bytes.items() if name.partition(".")[0] in taken or name in taken)
    return used / max(metadata.num_rows, 1)


def _together(metadata: Any, most: int) -> Iterator[tuple[int, list[int] | None]]:
    """Row groups to read together, with the number of their first row."""
    first, n_rows, groups = 0, 0, list[int]()
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).num_rows
        if groups and n_rows + size > most:
            yield first, groups
            first, n_rows, groups = first + n_rows, 0, []
        n_rows, groups = n_rows + size, [*groups, group]
    yield first, groups


def in_slices(table: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """Return a table in parts of at most `rows`; an empty table is one part."""
    return (table.iloc[start : start + rows] for start in range(0, max(len(table), 1), rows))


def _check_unchanged(path: Path, stamp: Stamp, n_rows: int) -> None:
    if not path.exists() or stamp_of(path) != stamp:
        raise InputError(f"{path} changed while it was read{_after(n_rows)}; read it again when it is complete")


def _after(n_rows: int) -> str:
    return f" (after row {n_rows:,})" if n_rows else ""


def _delimited_parts(path: Path, parts: FileParts, *, default: str | None) -> Iterator[pd.DataFrame]:
    options = parts.options
    with delimited(path, options.get("encoding"), options.get("sep"), default) as file, unpacked(path) as stream:
        parts.tell(path, file.choice)
        with pd.read_csv(stream, **file.options, iterator=True) as reader:
            names = header_of(path, reader.get_chunk(1))
            taken = parts.columns.of(str(path), names)
            rows = min(parts.rows, FIRST_ROWS)
            while (cells := _next_rows(reader, rows)) is not None:
                rows = rows_within(cells.memory_usage(index=False, deep=True).sum() / len(cells), parts.rows)
                yield cells.set_axis(names, axis=1)[taken]


def _next_rows(reader: Any, rows: int) -> pd.DataFrame | None:
    try:
        return reader.get_chunk(rows)
    except StopIteration:
        return None


def _json_parts(path: Path, parts: FileParts) -> Iterator[pd.DataFrame]:
    encoding = encoding_of(path, parts.options.get("encoding"))
    taken: list[str] | None = None
    with text_of(path, encoding):
        for records in _record_lists(path, encoding, parts.rows):
            if records is None:
                yield from _whole_parts(path, parts)
                return
            if taken is None:
                taken = _json_columns(path, parts.columns, encoding, records)
            # dtype object as in `read_table`; keys of other records are missing
            yield pd.DataFrame(records, dtype=object).reindex(columns=taken)


def _record_lists(path: Path, encoding: str, rows: int) -> Iterator[list[dict[str, Any]] | None]:
    """Records of JSON lines, `rows` at a time; only None if the file is one array."""
    with unpacked(path) as stream, io.TextIOWrapper(stream, encoding) as lines:
        records: list[dict[str, Any]] = []
        n_characters, is_first = 0, True
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if is_first and line.lstrip().startswith("["):
                yield None
                return
            records.append(json_record(path, number, line))
            n_characters, is_first = n_characters + len(line), False
            if len(records) == rows or n_characters >= MOST_BYTES:
                yield records
                records, n_characters = [], 0
        if records:
            yield records


def _json_columns(path: Path, columns: Columns, encoding: str, records: list[dict[str, Any]]) -> list[str]:
    """Columns to take, by the first records; the whole file is read only if these lack one, or for all columns."""
    keys = _keys(records)
    if columns.of_all_rows and (columns.roles is None or not set(columns.roles) <= set(keys)):
        keys = _keys(record for found in _record_lists(path, encoding, FIRST_ROWS) for record in found or ())
    return columns.of(str(path), keys)


def _keys(records: Any) -> list[str]:
    return list(dict.fromkeys(key for record in records for key in record))


def _parquet_parts(path: Path, parts: FileParts) -> Iterator[pd.DataFrame]:
    try:
        file = pq.ParquetFile(path, buffer_size=_BUFFER)
    except pa.ArrowException as error:
        raise InputError(f"{path} is not a readable Parquet file: {one_line(error)}") from error
    with file:
        taken = parts.columns.of(str(path), file.schema_arrow.names)
        _, with_missing = _column_sizes(file.metadata)
        rows = rows_within(_row_bytes(file.metadata, taken), parts.rows)
        # Columns of integers with missing values are floats in every part, as in a table of all rows.
        kinds = {field.name: pa.types.is_integer(field.type) for field in file.schema_arrow}
        floats = {name: float for name in taken if kinds[name] and name in with_missing}
        # Reading some row groups gives the same parts as reading all. Few are passed at once, as Arrow keeps what it
        # has read of them in memory.
        apart = [groups for _, groups in _together(file.metadata, rows)]
        for groups in apart if parts.groups is None else [parts.groups]:
            for batch in file.iter_batches(rows, row_groups=groups, columns=taken):
                yield frame_of(batch)[taken].astype(floats)


def _column_sizes(metadata: Any) -> tuple[dict[str, int], set[str]]:
    """Bytes of each column, and the columns with missing values, by the metadata."""
    n_bytes: dict[str, int] = {}
    with_missing = set()
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            name, known = chunk.path_in_schema, chunk.statistics
            n_bytes[name] = n_bytes.get(name, 0) + chunk.total_uncompressed_size
            if known is not None and known.has_null_count and known.null_count:
                with_missing.add(name)
    return n_bytes, with_missing


def frame_of(table: Any) -> pd.DataFrame:
    """Return an Arrow table or batch as a DataFrame; texts are not copied."""
    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    return whole.to_pandas(ignore_metadata=True)


def _whole_parts(path: Path, parts: FileParts) -> Iterator[pd.DataFrame]:
    """Parts of a format that is read whole."""
    read = read_file(path, **parts.options)
    parts.tell(path, read.choice)
    taken = parts.columns.of(str(path), list(read.table.columns))
    yield from in_slices(read.table[taken], parts.rows)


_PARTS: dict[str, Callable[[Path, FileParts], Iterator[pd.DataFrame]]] = {
    ".csv": partial(_delimited_parts, default=None),
    ".tsv": partial(_delimited_parts, default="\t"),
    **dict.fromkeys([".jsonl", ".ndjson", ".json"], _json_parts),
    ".parquet": _parquet_parts,
    ".xlsx": _whole_parts,
}
