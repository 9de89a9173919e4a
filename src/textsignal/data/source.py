"""Tables larger than memory: their rows in batches, from files, Arrow data or iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from glob import escape, glob, has_magic
from itertools import islice
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
    json_records,
    parquet_file,
    read_file,
    unpacked,
)
from textsignal.errors import InputError, one_line

#: Rows of a batch: enough to amortise work per batch, few enough for any memory.
BATCH_ROWS = 2**15
#: A file, a pattern such as "reviews/*.parquet", a folder of Parquet files, several of these; a pandas or Arrow table,
#: an Arrow dataset or reader; or an iterable of tables.
Given: TypeAlias = Any
#: Approximate limit of the bytes of a part; rows of a delimited file from which the size of rows is estimated.
MOST_BYTES, FIRST_ROWS = 2**26, 1024
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
class Columns:
    """Requested columns.

    roles : purpose of each by its name; None for all columns.
    of_all_rows : True to include columns that only later rows have, as in JSON lines.
    """

    roles: Mapping[str, str] | None = None
    of_all_rows: bool = True

    def of(self, file: object, names: Sequence[str]) -> list[str]:
        """Return the columns to take of a file with these names; raise InputError if one is missing or repeated."""
        table = pd.DataFrame(columns=pd.Index(names, dtype=object))
        try:
            for name, role in (self.roles or dict.fromkeys(names, "output")).items():
                column(table, name, role)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
        return list(names) if self.roles is None else list(self.roles)


@dataclass(frozen=True)
class FilePart:
    """Rows of a file: batches as of a `Source`, but with `first` counted from its first row.

    file, number : the file, and its number in the source; row : number of the first row; groups : row groups of a
    Parquet file, None for all of any file; stamp : of the file when it was first looked at; rows : most of a batch;
    options : of `read_table`.
    """

    file: Path
    number: int
    row: int
    groups: Sequence[int] | None
    stamp: Stamp
    columns: Columns
    rows: int
    options: Mapping[str, str | None]

    def __iter__(self) -> Iterator[Batch]:
        """Read in another process, maybe on another machine, on which the inode of the file differs."""
        check_file(self.file)
        own = replace(self, stamp=_stamp_of(self.file))
        if own.stamp[1:] != self.stamp[1:]:
            raise InputError(f"{self.file} has changed since the first look at it; read it again when it is complete")
        first = 0
        for table in own.tables():
            if len(table):
                yield Batch(table, str(self.file), first, self.row + first, self.number)
            first += len(table)

    def tables(self, notice: Notice | None = None) -> Iterator[pd.DataFrame]:
        """Yield tables of at most `rows`; raise InputError if the file is damaged or does not match `stamp`."""
        given_options(self.file, **self.options)
        tables = _TABLES[ending_of(self.file)](self, notice)
        n_rows = 0
        while True:
            after = f" (after row {n_rows:,})" if n_rows else ""
            problem: Exception | None = None
            table = None
            try:
                check_file(self.file)
                table = next(tables, None)
            except (InputError, *UNREADABLE) as error:
                problem = error
            if not self.file.exists() or _stamp_of(self.file) != self.stamp:
                raise InputError(f"{self.file} changed while it was read{after}; read it again when it is complete")
            if isinstance(problem, InputError):
                raise problem
            if problem is not None:
                raise InputError(f"cannot read {self.file}{after}: {one_line(problem)}") from problem
            if table is None:
                return
            n_rows += len(table)
            yield table.reset_index(drop=True)


class Source:
    """Rows that are read in batches, as `read_batches` describes; every loop starts at the first row.

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
        self.notice = notice
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
        metadata = [_metadata(file) for file in self.files]
        return sum(each.num_rows for each in metadata) if metadata and None not in metadata else None

    def parts(self) -> list[FilePart]:
        """Return parts that can be read separately, in order; together they give the batches of this source."""
        if not self.files:
            raise InputError("only files can be read by several workers; give a file, a pattern such as '*.parquet'")
        return [
            self._part(file, number, row, groups)
            for number, file in enumerate(self.files)
            for row, groups in _row_groups(file, self.columns, self.batch_rows)
        ]

    def _part(self, file: Path, number: int, row: int = 0, groups: Sequence[int] | None = None) -> FilePart:
        """Rows of a file, in which every later pass must find what the first one has read."""
        check_file(file)
        stamp = self._stamps.setdefault(file, _stamp_of(file))
        return FilePart(file, number, row, groups, stamp, self.columns, self.batch_rows, self.options)

    def has_column(self, name: str) -> bool:
        """Return True if the first file has a column of this name in its first rows."""
        if not self.files:
            return False
        check_file(self.files[0])
        stamp, columns = _stamp_of(self.files[0]), Columns(of_all_rows=False)
        start = FilePart(self.files[0], 0, 0, None, stamp, columns, FIRST_ROWS, self.options)
        return any(name in table.columns for table in islice(start.tables(), 1))

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
        for number, file in enumerate(self.files):
            yield str(file), self._part(file, number).tables(self.notice)

    def _memory(self) -> Iterator[tuple[str, Iterator[pd.DataFrame]]]:
        for name, table in _named_tables(self._tables, self.columns, self.batch_rows):
            frame = table if isinstance(table, pd.DataFrame) else table.to_pandas(ignore_metadata=True)
            frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
            taken = self.columns.of(name, list(frame.columns))
            yield name, (part.reset_index(drop=True) for part in _in_slices(frame[taken], self.batch_rows))


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


def _stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _rows_within(n_bytes: float, most: int) -> int:
    """Rows of a table, at most `most`; n_bytes : of a row."""
    return int(np.clip(MOST_BYTES / max(n_bytes, 1.0), 1, most))


def _in_slices(table: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """A table in parts of at most `rows`; an empty table is one part."""
    return (table.iloc[start : start + rows] for start in range(0, max(len(table), 1), rows))


def _delimited_tables(part: FilePart, notice: Notice | None, *, default: str | None) -> Iterator[pd.DataFrame]:
    path, given = part.file, part.options
    with delimited(path, given["encoding"], given["sep"], default) as file, unpacked(path) as stream:
        if file.choice and notice is not None:
            notice(str(path), file.choice)
        with pd.read_csv(stream, **file.options, iterator=True) as reader:
            names = header_of(path, reader.get_chunk(1))
            taken, rows = part.columns.of(path, names), min(part.rows, FIRST_ROWS)
            with suppress(StopIteration):
                while True:
                    cells = reader.get_chunk(rows)
                    rows = _rows_within(cells.memory_usage(index=False, deep=True).sum() / len(cells), part.rows)
                    yield cells.set_axis(names, axis=1)[taken]


def _json_tables(part: FilePart, _: Notice | None) -> Iterator[pd.DataFrame]:
    encoding = encoding_of(part.file, part.options["encoding"])
    taken: list[str] | None = None
    for records in _record_lists(part, encoding):
        taken = _json_columns(part, encoding, records) if taken is None else taken
        # dtype object as in `read_table`; keys of other records are missing
        yield pd.DataFrame(records, dtype=object).reindex(columns=taken)


def _record_lists(part: FilePart, encoding: str) -> Iterator[list[dict[str, Any]]]:
    records, n_characters = list[dict[str, Any]](), 0
    for record, size in json_records(part.file, encoding):
        records.append(record)
        n_characters += size
        if len(records) == part.rows or n_characters >= MOST_BYTES:
            yield records
            records, n_characters = [], 0
    if records:
        yield records


def _json_columns(part: FilePart, encoding: str, records: Iterable[dict[str, Any]]) -> list[str]:
    """Columns to take, by the first records; the whole file is read only if these lack one, or for all columns."""
    roles, keys = part.columns.roles, dict.fromkeys(key for record in records for key in record)
    if part.columns.of_all_rows and (roles is None or not set(roles) <= set(keys)):
        keys = dict.fromkeys(key for record, _ in json_records(part.file, encoding) for key in record)
    return part.columns.of(part.file, list(keys))


def _excel_tables(part: FilePart, notice: Notice | None) -> Iterator[pd.DataFrame]:
    file = read_file(part.file, **part.options)
    if file.choice and notice is not None:
        notice(str(part.file), file.choice)
    yield from _in_slices(file.table[part.columns.of(part.file, list(file.table.columns))], part.rows)


def _parquet_tables(part: FilePart, _: Notice | None) -> Iterator[pd.DataFrame]:
    with parquet_file(part.file, buffer_size=2**20) as file:
        taken = part.columns.of(part.file, file.schema_arrow.names)
        rows = _rows_within(_row_bytes(file.metadata, taken), part.rows)
        # Columns of integers with missing values are floats in every table, as in a table of all rows.
        integers = {field.name for field in file.schema_arrow if pa.types.is_integer(field.type)}
        holed = {chunk.path_in_schema for chunk in _chunks(file.metadata) if _has_missing(chunk)}
        floats = {name: float for name in taken if name in integers & holed}
        # Few row groups are read at once, as Arrow keeps them in memory; some give the same tables as all.
        together = [groups for _, groups in _together(file.metadata, rows)] if part.groups is None else [part.groups]
        for groups in together:
            for batch in file.iter_batches(rows, row_groups=groups, columns=taken):
                yield batch.to_pandas(ignore_metadata=True)[taken].astype(floats)


def _metadata(path: Path) -> Any:
    """Metadata of a Parquet file; None for other files, and if it is damaged, which raises an error in reading."""
    try:
        return pq.read_metadata(path) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):
        return None


def _row_groups(path: Path, columns: Columns, rows: int) -> Iterable[tuple[int, list[int] | None]]:
    """Parts of a file that can be read separately: number of the first row, and row groups or None for all."""
    if (metadata := _metadata(path)) is None:
        return [(0, None)]
    taken = columns.of(path, metadata.schema.to_arrow_schema().names)
    return _together(metadata, _rows_within(_row_bytes(metadata, taken), rows))


def _chunks(metadata: Any) -> Iterator[Any]:
    """Columns of all row groups, one group after the other."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        yield from map(group.column, range(metadata.num_columns))


def _has_missing(chunk: Any) -> bool:
    known = chunk.statistics
    return bool(known is not None and known.has_null_count and known.null_count)


def _row_bytes(metadata: Any, taken: Sequence[str]) -> float:
    """Bytes of these columns in a row, by the metadata."""
    sizes = [
        chunk.total_uncompressed_size
        for chunk in _chunks(metadata)
        if chunk.path_in_schema in taken or chunk.path_in_schema.partition(".")[0] in taken
    ]
    return sum(sizes) / max(metadata.num_rows, 1)


def _together(metadata: Any, most: int) -> Iterator[tuple[int, list[int]]]:
    """Small row groups to read together, with the number of their first row."""
    first, n_rows, groups = 0, 0, list[int]()
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).num_rows
        if groups and n_rows + size > most:
            yield first, groups
            first, n_rows, groups = first + n_rows, 0, []
        n_rows, groups = n_rows + size, [*groups, group]
    yield first, groups


_TABLES: dict[str, Callable[[FilePart, Notice | None], Iterator[pd.DataFrame]]] = {
    ".csv": partial(_delimited_tables, default=None),
    ".tsv": partial(_delimited_tables, default="\t"),
    **dict.fromkeys([".jsonl", ".ndjson", ".json"], _json_tables),
    ".parquet": _parquet_tables,
    ".xlsx": _excel_tables,
}
