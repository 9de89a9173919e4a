"""Tables from files: CSV, TSV, JSON, Parquet and Excel, packed or not; errors name file and line."""

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textsignal.errors import InputError, listed, one_line, shown

#: Errors raised by reading a damaged file.
UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile, pa.ArrowException)
#: Called with the name of a file that left a choice, and the choice that was made.
Notice = Callable[[str, str], None]
#: Inode, size and time of change, which identify the content of a file.
Stamp = tuple[int, int, int]
#: Approximate limit of the bytes of a table; rows of a delimited file from which the size of rows is estimated.
MOST_BYTES, FIRST_ROWS = 2**26, 1024
#: Options of `read_table`, and their names in messages.
OPTIONS = {"encoding": "encoding", "sheet": "sheet", "sep": "separator"}
#: Bytes of a block; bytes by which the kind of a file is recognised; characters that the separator is found by.
_BLOCK, _START, _SAMPLE = 2**20, 2**10, 2**16
#: Endings of packed files.
PACKED = (".gz", ".bz2", ".xz", ".zip")
#: UTF-32 is listed before UTF-16, as its mark starts with that of UTF-16.
_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
#: Encodings of wide characters, and the bytes of each four that are zero in plain letters.
_WIDE = {
    "utf-32-le": (False, True, True, True),
    "utf-32-be": (True, True, True, False),
    "utf-16-le": (False, True, False, True),
    "utf-16-be": (True, False, True, False),
}
_BEGINNINGS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook (.zip, .xlsx)",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel (.xls); save it as .xlsx",
    b"PAR1\x15": "a Parquet file (.parquet)",
    b"\x1f\x8b": "packed by gzip (.gz)",
    b"BZh9": "packed by bzip2 (.bz2)",
    b"\xfd7zXZ": "packed by xz (.xz)",
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
#: Separators tried by default, the likeliest first.
CANDIDATES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table, and the choice that was made if its file left one, such as "separated by semicolons", or ""."""

    table: pd.DataFrame
    choice: str = ""


def read_table(
    path: str | PathLike[str], *, encoding: str | None = None, sheet: str | None = None, sep: str | None = None
) -> pd.DataFrame:
    r"""Read a table from a file, in the format that its name ends in.

    CSV and TSV, JSON (.json, .jsonl or .ndjson: an object in each line, or one array of objects), all of these plain or
    packed (.gz, .bz2, .xz, .zip), Parquet and Excel (.xlsx). Cells of CSV, TSV and Excel are strings as written, so
    that the review "NA" stays a review and an empty cell is the empty string.

    Parameters
    ----------
    path : the file.
    encoding : of a CSV, TSV or JSON file. By default a byte order mark decides, and without one it is UTF-8.
    sheet : name of the sheet of an Excel file. By default the first.
    sep : separator of the cells of a CSV or TSV file: one character, or "tab". By default a tab in a TSV file; in a CSV
        file a comma, or the semicolon, tab or bar that splits its first lines evenly where commas do not.

    Returns
    -------
    pandas.DataFrame
        One row per record, numbered from 0.

    Raises
    ------
    InputError
        If the file is missing, of no known format, damaged, in another encoding, or without rows.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "reviews.csv").write_text("Review;Rating\nNA, or so;4\n")
    >>> read_table(folder / "reviews.csv").to_dict("records")
    [{'Review': 'NA, or so', 'Rating': '4'}]
    """
    return read_file(path, encoding=encoding, sheet=sheet, sep=sep).table


def read_file(
    path: str | PathLike[str], *, encoding: str | None = None, sheet: str | None = None, sep: str | None = None
) -> TableFile:
    """Read a table as `read_table` does, and report the choice that was made."""
    choices, part = [""], FilePart(Path(path), {"encoding": encoding, "sheet": sheet, "sep": sep})
    table = next(part.tables(lambda _, choice: choices.append(choice)), None)
    if table is None or table.empty:
        raise InputError(f"{path} has no rows")
    return TableFile(table, choices[-1])


@dataclass(frozen=True)
class Columns:
    """Requested columns with their roles, None for all; of_all_rows : True to include those of later rows only."""

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
    """Rows of a file.

    options : of `read_table`; columns : None for all; rows : most of a table, None for one table of all.
    groups : row groups of a Parquet file, None for all; stamp : of the file at first, None if it may change.
    """

    file: Path
    options: Mapping[str, str | None]
    columns: Columns | None = None
    rows: int | None = None
    groups: Sequence[int] | None = None
    stamp: Stamp | None = None

    def tables(self, notice: Notice | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows as tables, indexed from 0; raise InputError if the file is damaged or has changed."""
        format_ = _FORMATS[ending_of(self.file)]
        for name, value in self.options.items():
            if value is not None and name not in format_.options:
                raise InputError(f"{self.file} has no {OPTIONS[name]} to choose, but {name}={value!r} was given")
        tables, n_rows = format_.tables(self, notice or (lambda _, choice: None)), 0
        while True:
            after = f" (after row {n_rows:,})" if n_rows else ""
            try:
                check_file(self.file)
                table = next(tables, None)
            except (InputError, *UNREADABLE) as error:
                self._check_unchanged(after)
                if isinstance(error, InputError):
                    raise
                raise InputError(f"cannot read {self.file}{after}: {one_line(error)}") from error
            self._check_unchanged(after)
            if table is None:
                return
            n_rows += len(table)
            yield table

    def _check_unchanged(self, after: str) -> None:
        if self.stamp is not None and (not self.file.exists() or stamp_of(self.file) != self.stamp):
            raise InputError(f"{self.file} changed while it was read{after}; read it again when it is complete")

    def taken(self, names: Sequence[str]) -> list[str] | slice:
        """Return the columns to take of a table with these names, as an index of its columns."""
        return slice(None) if self.columns is None else self.columns.of(self.file, names)


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def ending_of(path: Path) -> str:
    """Return the ending that names the format of a file, such as ".csv" for "a.CSV.gz"; InputError if unknown."""
    for ending in _FORMATS:
        packings = ("", *PACKED) if ending in _TEXT_FORMATS else ("",)
        if path.name.lower().endswith(tuple(ending + packing for packing in packings)):
            return ending
    raise InputError(
        f"{path} is of no known format; its name must end in {', '.join(_TEXT_FORMATS)} "
        f"(with {', '.join(PACKED)} after it if packed), .parquet or .xlsx"
    )


def column(table: pd.DataFrame, name: str, role: str) -> pd.Series:
    """Return a column of a table; role : for error messages, such as "text"."""
    names = list(table.columns)
    if names.count(name) == 1:
        return table[name]
    asked = shown(name)
    if name in names:
        raise InputError(f"{names.count(name)} columns are called {asked}; which is the {role}? Rename the others")
    by_lower = {str(known).lower(): known for known in names}
    nearest = get_close_matches(str(name).lower(), by_lower, n=1)
    hint = f"; did you mean {shown(by_lower[nearest[0]])}?" if nearest else "."
    raise InputError(f"no column {asked} for the {role}{hint} The columns are: {listed(names)}")


def groups_of(table: pd.DataFrame, by: str, role: str = "by") -> pd.Series:
    """Return the group of every row, missing if the cell is empty."""
    from textsignal.checks import check_names  # loads scikit-learn, which the command line does not need to start

    cells = column(table, by, role)
    check_names(f"column {by!r}", cells)
    return cells.mask(cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).astype(bool))


def texts_of(table: pd.DataFrame, text: str) -> list[str]:
    """Return the text of every row; "" if missing."""
    cells = column(table, text, "text")
    return ["" if missing else str(cell) for cell, missing in zip(cells, cells.isna(), strict=True)]


def held_texts(table: pd.DataFrame, text: str) -> list[str] | pa.ChunkedArray:
    """Return the text of every row as an Arrow array if the column is one, else as `texts_of` does."""
    cells = column(table, text, "text")
    if not (isinstance(cells.dtype, pd.StringDtype) and cells.dtype.storage == "pyarrow"):
        return texts_of(table, text)
    return pc.fill_null(pa.chunked_array(pa.array(cells, from_pandas=True)), "")


def kept_columns(table: pd.DataFrame, keep: str | Sequence[str]) -> pd.DataFrame:
    """Return the named columns of a table, or every one for "all"."""
    if keep == "all":
        return table
    if isinstance(keep, str):
        raise InputError(f'keep={keep!r} is not known; give a list of columns, or "all"')
    return pd.DataFrame({name: column(table, name, "output") for name in keep}, index=table.index)


def _delimited_tables(part: FilePart, notice: Notice, *, default: str | None) -> Iterator[pd.DataFrame]:
    path, sep = part.file, part.options["sep"]
    encoding = encoding_of(path, part.options["encoding"])
    with _text_of(path, encoding), unpacked(path) as stream:
        separator = _check_separator(sep) if sep is not None else default or _find_separator(path, encoding)
        if sep is None and separator not in (default, ","):
            notice(str(path), f"separated by {CANDIDATES[separator]}")
        # The header is read as a row: pandas then renames no columns and makes no index of surplus cells.
        options = {"sep": separator, "header": None, "dtype": str, "na_filter": False, "encoding": encoding}
        try:
            with pd.read_csv(stream, **options, iterator=True) as reader, suppress(StopIteration):
                names = [str(name) for name in reader.get_chunk(1).iloc[0]]
                if any("\0" in name for name in names):
                    raise InputError(
                        f'{path}, line 1 holds zero bytes; if this is text, give encoding="utf-16" or what it is'
                    )
                taken, rows = part.taken(names), None if part.rows is None else min(part.rows, FIRST_ROWS)
                while True:
                    cells = reader.get_chunk(rows)
                    if part.rows is not None:
                        n_bytes = cells.memory_usage(index=False, deep=True).sum()
                        rows = _rows_within(n_bytes / len(cells), part.rows)
                    yield cells.set_axis(names, axis=1).loc[:, taken].reset_index(drop=True)
        except pd.errors.ParserError as error:
            raise InputError(f"{path}, {_malformed(path, encoding, separator) or one_line(error)}") from error
        except pd.errors.EmptyDataError as error:
            raise InputError(f"{path} is empty") from error


@contextmanager
def _text_of(path: Path, encoding: str) -> Iterator[None]:
    """Turn UnicodeError in the block into InputError that names the line."""
    try:
        yield
    except UnicodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error


def _rows_within(n_bytes: float, most: int) -> int:
    return int(np.clip(MOST_BYTES / max(n_bytes, 1.0), 1, most))


def _malformed(path: Path, encoding: str, separator: str) -> str | None:
    """Name the line in which a file is not CSV; pandas counts a cell of several lines as one."""
    with unpacked(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as lines:
        records = csv.reader(lines, delimiter=separator, strict=True)
        width, start = 0, 1
        try:
            for record in records:
                width = width or len(record)
                if len(record) > width:
                    return f"line {start:,}: {len(record)} cells under a header of {width}"
                start = records.line_num + 1
        except csv.Error as error:
            return f"line {start:,}: {error} (is a quotation mark left open, or not doubled?)"
    return None


def _json_tables(part: FilePart, _: Notice) -> Iterator[pd.DataFrame]:
    encoding = encoding_of(part.file, part.options["encoding"])
    taken: list[str] | None = None
    for records in _record_lists(part, encoding):
        # Of objects, as no other dtype holds half of a surrogate pair.
        table = pd.DataFrame(records, dtype=object)
        if part.columns is not None and taken is None:
            taken = _json_columns(part, part.columns, encoding, table)
        # Keys of other records are missing.
        yield table if taken is None else table.reindex(columns=taken)


def _record_lists(part: FilePart, encoding: str) -> Iterator[list[dict[str, Any]]]:
    records, n_characters = list[dict[str, Any]](), 0
    for record, size in _json_records(part.file, encoding):
        records.append(record)
        n_characters += size
        if part.rows is not None and (len(records) == part.rows or n_characters >= MOST_BYTES):
            yield records
            records, n_characters = [], 0
    if records:
        yield records


def _json_columns(part: FilePart, columns: Columns, encoding: str, first: pd.DataFrame) -> list[str]:
    """Columns to take, by the first records; the whole file is read only if these lack one, or for all columns."""
    keys = dict.fromkeys(first.columns)
    if columns.of_all_rows and (columns.roles is None or not set(columns.roles) <= set(keys)):
        keys = dict.fromkeys(key for record, _ in _json_records(part.file, encoding) for key in record)
    return columns.of(part.file, list(keys))


def _json_records(path: Path, encoding: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the objects of JSON lines or of one JSON array, which is read whole, and the characters of each line."""
    with _text_of(path, encoding), unpacked(path) as stream, io.TextIOWrapper(stream, encoding) as lines:
        is_first = True
        for number, line in enumerate(lines, 1):
            if is_first and line.lstrip().startswith("["):
                array = _parsed(
                    "\n" * (number - 1) + line + lines.read(), f"{path} begins as a JSON array but is not one"
                )
                for item, record in enumerate(array, 1):
                    yield _checked(record, f"{path}, item {item:,} of its JSON array"), 0
            elif line.strip():
                is_first, place = False, f"{path}, line {number:,}"
                yield _checked(_parsed(line, f"{place} is not JSON"), place), len(line)


def _parsed(text: str, problem: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{problem}: {one_line(error)}") from error


def _checked(record: Any, place: str) -> dict[str, Any]:
    """Return a value of JSON that is an object whose keys can name columns: JSON may write half of a surrogate pair."""
    if not isinstance(record, dict):
        raise InputError(f"{place} is not a JSON object; each item and each line must be one, such as {{...}}")
    for key in record:
        if not key.isascii() and any("\ud800" <= character <= "\udfff" for character in key):
            raise InputError(f"{place} has a key that holds half of a surrogate pair: {ascii(key)[:80]}; rename it")
    return record


def _parquet_tables(part: FilePart, _: Notice) -> Iterator[pd.DataFrame]:
    try:
        file = pq.ParquetFile(part.file, buffer_size=0 if part.rows is None else _BLOCK)
    except pa.ArrowException as error:
        raise InputError(f"{part.file} is not a readable Parquet file: {one_line(error)}") from error
    with file:
        if part.columns is None or part.rows is None:
            yield file.read().to_pandas(ignore_metadata=True)
            return
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


def metadata_of(path: Path) -> Any:
    """Return the metadata of a Parquet file; None for others and if damaged: the error is raised in reading."""
    try:
        return pq.read_metadata(path) if ending_of(path) == ".parquet" else None
    except (OSError, pa.ArrowException):
        return None


def row_groups(path: Path, columns: Columns, rows: int) -> Iterable[tuple[int, list[int] | None]]:
    """Return parts of a file to read separately: number of the first row, and row groups or None for all."""
    if (metadata := metadata_of(path)) is None:
        return [(0, None)]
    taken = columns.of(path, metadata.schema.to_arrow_schema().names)
    return _together(metadata, _rows_within(_row_bytes(metadata, taken), rows))


def _chunks(metadata: Any) -> Iterator[Any]:
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        yield from map(group.column, range(metadata.num_columns))


def _has_missing(chunk: Any) -> bool:
    known = chunk.statistics
    return bool(known is not None and known.has_null_count and known.null_count)


def _row_bytes(metadata: Any, taken: Sequence[str]) -> float:
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


def _excel_tables(part: FilePart, notice: Notice) -> Iterator[pd.DataFrame]:
    path, sheet = part.file, part.options["sheet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's, about unsupported styles and menus
        try:
            with pd.ExcelFile(path, engine="openpyxl") as book:
                names = list(book.sheet_names)
                if sheet is not None and sheet not in names:
                    raise InputError(f"{path} has no sheet {sheet!r}; it has {', '.join(names)}")
                cells = book.parse(sheet or 0, header=None, dtype=str, na_filter=False)
        except InputError:
            raise
        except Exception as error:  # a damaged workbook fails in zip, xml or openpyxl, each in its own way
            raise InputError(f"{path} is not a readable Excel file: {one_line(error)}") from error
    if sheet is None and names[1:]:
        notice(str(path), f"sheet {names[0]}; other sheets: {', '.join(names[1:])}")
    if not cells.empty:
        table = cells.iloc[1:].set_axis([str(name) for name in cells.iloc[0]], axis=1)
        yield from in_slices(table.loc[:, part.taken(list(table.columns))], part.rows)


def in_slices(table: pd.DataFrame, rows: int | None) -> Iterator[pd.DataFrame]:
    """Yield a table in parts of at most `rows`, indexed from 0; an empty table is one part."""
    size = max(len(table), 1) if rows is None else rows
    for start in range(0, max(len(table), 1), size):
        yield table.iloc[start : start + size].reset_index(drop=True)


@dataclass(frozen=True)
class _Format:
    tables: Callable[[FilePart, Notice], Iterator[pd.DataFrame]]
    options: tuple[str, ...] = ()


_TEXT_FORMATS = {
    ".csv": _Format(partial(_delimited_tables, default=None), ("encoding", "sep")),
    ".tsv": _Format(partial(_delimited_tables, default="\t"), ("encoding", "sep")),
    **dict.fromkeys([".jsonl", ".ndjson", ".json"], _Format(_json_tables, ("encoding",))),
}
_FORMATS = _TEXT_FORMATS | {".parquet": _Format(_parquet_tables), ".xlsx": _Format(_excel_tables, ("sheet",))}


def check_file(path: Path) -> None:
    """Raise InputError unless the path is a file that is not empty."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; give one file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is plain, packed by gzip, bzip2 or xz, or the only one in a zip archive."""
    openers: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    ending = path.suffix.lower()
    if ending in openers:
        try:
            with openers[ending](path) as stream:
                yield stream
        except lzma.LZMAError as error:  # the others raise OSError
            raise OSError(str(error)) from error
    elif ending == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name[:9] != "__MACOSX/" and name[-1] != "/"]
            if len(names) != 1:
                raise InputError(f"{path} must hold one file, but holds {len(names)}: {', '.join(names)}")
            with archive.open(names[0]) as stream:
                yield stream
    else:
        with path.open("rb") as stream:
            yield stream


def encoding_of(path: Path, given: str | None) -> str:
    """Return the given encoding, or that of a byte order mark, or UTF-8; InputError if the file is not text."""
    with unpacked(path) as stream:
        start = stream.read(_START)
    kind = next((kind for beginning, kind in _BEGINNINGS.items() if start.startswith(beginning)), None)
    if kind is not None:
        raise InputError(f"{path} is not text, in spite of its name: it looks like {kind}")
    marked = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    needs_mark = given is None or given.lower().replace("_", "-") in ("utf-16", "utf-32", "utf16", "utf32")
    if needs_mark and marked is None and (wide := _wide_encoding(start)) is not None:
        raise InputError(f'{path} looks like {wide} without a byte order mark; give encoding="{wide}"')
    if given is None:
        return marked or "utf-8"
    try:
        io.TextIOWrapper(io.BytesIO(), given)
    except (LookupError, ValueError) as error:
        raise InputError(f"encoding={given!r} is not known; give utf-8, cp1252, latin-1 or the like") from error
    return given


def _wide_encoding(start: bytes) -> str | None:
    """Wide encoding that matches the zero bytes at the start of a file; None if absent."""
    quads = [start[place : place + 4] for place in range(0, len(start) - 3, 4)]
    for encoding, zeros in _WIDE.items():
        fits = sum(tuple(byte == 0 for byte in quad) == zeros for quad in quads)
        if quads and fits > len(quads) / 2:
            return encoding
    return None


def _misfit(path: Path, encoding: str) -> str:
    """Message on the first position that is not in an encoding; the file is read block by block."""
    decoder, line, where, has_zero = codecs.getincrementaldecoder(encoding)(), 1, "", False
    with unpacked(path) as stream:
        while not (where and has_zero):
            block = stream.read(_BLOCK)
            has_zero |= b"\0" in block
            try:
                line += 0 if where else decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as fault:
                line += fault.object[: fault.start].decode(fault.encoding, "replace").count("\n")
                where = f"line {line:,}: byte 0x{fault.object[fault.start]:02x}"
            except UnicodeError:  # no byte order mark where there must be one
                where = f"line {line:,}: byte 0x{block[0]:02x}" if block else "its end"
            if not block:
                break
    if has_zero and not encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        return f"{where or 'a byte'} is not {encoding}, and there are zero bytes: this does not look like text"
    return f'{where or "a byte"} is not {encoding}; give its encoding, such as encoding="cp1252"'


def _find_separator(path: Path, encoding: str) -> str:
    """Return the likeliest separator that gives the header and all first rows the same number of cells, or a comma."""
    with unpacked(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        sample = text.read(_SAMPLE)
    return next((separator for separator in CANDIDATES if _parts_evenly(sample, separator)), ",")


def _parts_evenly(sample: str, separator: str) -> bool:
    try:
        records = [record for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator) if record]
    except csv.Error:  # a cell longer than the reader takes: the quotation marks are not of this separator
        return False
    if len(sample) == _SAMPLE:
        records = records[:-1]  # cut off in the middle
    return bool(records) and len(records[0]) > 1 and len({len(record) for record in records}) == 1


def _check_separator(sep: str) -> str:
    separator = {"tab": "\t", r"\t": "\t"}.get(sep, sep)
    if len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise InputError(f'sep={sep!r} is not a separator; give one character such as ";" or "|", or "tab"')
    return separator
