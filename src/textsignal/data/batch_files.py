"""A file's rows a part at a time, in bounded memory: the rows that `read_table` would give."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from textsignal.data.files import check_file, encoding_of, one_line, unpacked
from textsignal.data.read import (
    UNREADABLE,
    column,
    delimited,
    ending_of,
    given_options,
    header_of,
    json_record,
    read_file,
    text_of,
)
from textsignal.errors import InputError

#: Bytes that a part holds at most, about; rows of a delimited file after which their size is known.
MOST_BYTES, FIRST_ROWS = 2**26, 1024
#: What Parquet reads at once of each column.
_BUFFER = 2**20

#: What is told of a file that left a choice: the file, and what was chosen.
Notice = Callable[[str, str], None]
#: Inode, size and time of change: a file of which one differs is another.
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Columns:
    """The columns that are wanted.

    roles : what each is for, by its name; None for all columns.
    of_all_rows : whether a column that only later rows have counts, as JSON lines may have it.
    """

    roles: Mapping[str, str] | None = None
    of_all_rows: bool = True

    def of(self, file: str, names: Sequence[str]) -> list[str]:
        """The columns to take of a file that has these; raise where one is not there, or twice."""
        table = pd.DataFrame(columns=pd.Index(names, dtype=object))
        try:
            for name, role in (self.roles or dict.fromkeys(names, "output")).items():
                column(table, name, role)
        except InputError as error:
            raise InputError(f"{file}: {error}") from error
        return list(names) if self.roles is None else list(self.roles)


@dataclass(frozen=True)
class FileParts:
    """How a file is cut.

    rows : most of a part; notice : what was chosen is told to it; options : of `read_table`.
    groups : row groups of a Parquet file that are wanted, None for all.
    """

    columns: Columns
    rows: int
    notice: Notice
    options: Mapping[str, str]
    groups: Sequence[int] | None = None

    def tell(self, path: Path, choice: str) -> None:
        """Tell what was chosen, where something was."""
        if choice:
            self.notice(str(path), choice)

    def rows_of(self, n_bytes: float) -> int:
        """Most rows of a part where each takes so many bytes."""
        return rows_within(n_bytes, self.rows)


def rows_within(n_bytes: float, most: int) -> int:
    """Rows that a part holds, at most `most`, where each takes so many bytes."""
    return int(np.clip(MOST_BYTES / max(n_bytes, 1.0), 1, most))


def stamp_of(path: Path) -> Stamp:
    """By which a file is known not to have changed."""
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
    r"""The rows of a file, in parts of at most so many; raise where it is damaged, or is not what `stamp` says.

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
    """How many rows a file has, where it says so without being read."""
    try:
        return int(pq.read_metadata(path).num_rows) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):  # damaged: reading it says how
        return None


def row_groups(path: Path, columns: Columns, rows: int) -> list[tuple[int, list[int] | None]]:
    """What can be read apart of a file: number of the first row, and row groups; all of it where it has none.

    Row groups of a Parquet file are taken together up to what a part holds.
    """
    try:
        metadata = pq.read_metadata(path) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):  # damaged: reading it says how
        metadata = None
    if metadata is None:
        return [(0, None)]
    taken = columns.of(str(path), metadata.schema.to_arrow_schema().names)
    return list(_together(metadata, rows_within(_row_bytes(metadata, taken), rows)))


def _row_bytes(metadata: Any, taken: Sequence[str]) -> float:
    """Bytes of these columns in a row, as far as the file says."""
    n_bytes, _ = _column_sizes(metadata)
    used = sum(size for name, size in n_bytes.items() if name.partition(".")[0] in taken or name in taken)
    return used / max(metadata.num_rows, 1)


def _together(metadata: Any, most: int) -> Iterator[tuple[int, list[int] | None]]:
    """Row groups that are read together, with the number of their first row."""
    first, n_rows, groups = 0, 0, list[int]()
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).num_rows
        if groups and n_rows + size > most:
            yield first, groups
            first, n_rows, groups = first + n_rows, 0, []
        n_rows, groups = n_rows + size, [*groups, group]
    yield first, groups


def in_slices(table: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """A table in parts of at most so many rows; itself where it has none."""
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
                rows = parts.rows_of(cells.memory_usage(index=False, deep=True).sum() / len(cells))
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
            # Of objects, as in `read_table`; a key that no record here has is missing.
            yield pd.DataFrame(records, dtype=object).reindex(columns=taken)


def _record_lists(path: Path, encoding: str, rows: int) -> Iterator[list[dict[str, Any]] | None]:
    """Records of JSON lines, so many at a time; None alone where the file is one array."""
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
    """The columns to take, by the first records; the whole file is asked only where these lack one, or for all."""
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
        rows = parts.rows_of(_row_bytes(file.metadata, taken))
        # Whole numbers of which some are missing are floats in every part, as in a table of all rows.
        kinds = {field.name: pa.types.is_integer(field.type) for field in file.schema_arrow}
        floats = {name: float for name in taken if kinds[name] and name in with_missing}
        # Whoever reads some of the row groups gets the parts that whoever reads all of them gets. Arrow holds what it
        # has read of those that it is given.
        apart = [groups for _, groups in _together(file.metadata, rows)]
        for groups in apart if parts.groups is None else [parts.groups]:
            for batch in file.iter_batches(rows, row_groups=groups, columns=taken):
                yield frame_of(batch)[taken].astype(floats)


def _column_sizes(metadata: Any) -> tuple[dict[str, int], set[str]]:
    """Bytes of each column, and the columns of which values are missing, as far as the file says."""
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
    """An Arrow table or batch as pandas holds it; texts stay where they are."""
    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    return whole.to_pandas(ignore_metadata=True)


def _whole_parts(path: Path, parts: FileParts) -> Iterator[pd.DataFrame]:
    """Of a format that cannot be read in parts."""
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
