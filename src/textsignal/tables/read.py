"""From a file to a table, whatever the format."""

import csv
import gzip
import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from textsignal.errors import InputError

_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_table(path: str | PathLike[str], *, encoding: str | None = None, sheet: str | None = None) -> pd.DataFrame:
    r"""Read a table from a file, in the format that its name ends in.

    CSV and TSV (plain, .gz or .zip), JSON lines (.jsonl, .ndjson or .json, plain or .gz), Parquet and Excel
    (.xlsx). Cells of CSV, TSV and Excel come as strings exactly as written, so that the review "NA" stays a
    review and an empty cell is the empty string; `parse_response` makes numbers of them.

    Parameters
    ----------
    path : path-like
        The file.
    encoding : str, optional
        Of a CSV, TSV or JSON lines file. By default a byte order mark decides, and without one it is UTF-8.
    sheet : str, optional
        Name of the sheet of an Excel file. By default the first.

    Returns
    -------
    pandas.DataFrame
        One row a record, numbered from 0.

    Raises
    ------
    InputError
        If the file is missing, of no known format, damaged, in another encoding, or without rows.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "reviews.csv").write_text("Review,Rating\nNA,4\n")
    >>> read_table(folder / "reviews.csv").to_dict("records")
    [{'Review': 'NA', 'Rating': '4'}]
    """
    path = Path(path)
    file_format = _format_of(path)
    options = {"encoding": encoding, "sheet": sheet}
    chosen = options.pop(file_format.option, None)
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{path} has no {name} to choose, but {name}={value!r} was given")
    try:
        check_file(path)
        table = file_format.read(path, chosen)
    except (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"cannot read {path}: {one_line(error)}") from error
    if table.empty:
        raise InputError(f"{path} has no rows")
    return table


def column(table: pd.DataFrame, name: str, role: str) -> pd.Series:
    """Give the column of a table that is to play a role.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.
    name : str
        Name of the column.
    role : str
        What the column is for, such as "text" or "response"; errors name it.

    Returns
    -------
    pandas.Series
        The column.

    Raises
    ------
    InputError
        If there is no such column, or more than one.

    Examples
    --------
    >>> table = pd.DataFrame({"Review": ["good"], "Rating": [4]})
    >>> column(table, "Reveiw", "text")
    Traceback (most recent call last):
    textsignal.errors.InputError: no column 'Reveiw' for the text; did you mean 'Review'? The columns are: ...
    """
    names = list(table.columns)
    if names.count(name) == 1:
        return table[name]
    if name in names:
        raise InputError(f"{names.count(name)} columns are called {name!r}; which is the {role}? Rename the others")
    by_lower = {str(known).lower(): known for known in names}
    nearest = get_close_matches(str(name).lower(), by_lower, n=1)
    hint = f"; did you mean {by_lower[nearest[0]]!r}?" if nearest else "."
    raise InputError(f"no column {name!r} for the {role}{hint} The columns are: {', '.join(map(str, names))}")


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is plain, gzipped or alone in a zip archive."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as stream:
            yield cast(IO[bytes], stream)
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name[:9] != "__MACOSX/" and name[-1] != "/"]
            if len(names) != 1:
                raise InputError(f"{path} must hold one file, but holds {len(names)}: {', '.join(names)}")
            with archive.open(names[0]) as stream:
                yield stream
    else:
        with path.open("rb") as stream:
            yield stream


def _encoding_of(path: Path, given: str | None) -> str:
    if given is None:
        with unpacked(path) as stream:
            start = stream.read(3)
        return next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), "utf-8")
    try:
        io.TextIOWrapper(io.BytesIO(), given)
    except LookupError as error:
        raise InputError(f"unknown encoding {given!r}; give utf-8, cp1252, latin-1 or the like") from error
    return given


def _read_delimited(path: Path, encoding: str | None, *, separator: str) -> pd.DataFrame:
    encoding = _encoding_of(path, encoding)
    try:
        with unpacked(path) as stream:
            # The header is read as a row: pandas then renames no columns and makes no index of surplus cells.
            cells = pd.read_csv(stream, sep=separator, header=None, dtype=str, na_filter=False, encoding=encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error
    except pd.errors.ParserError as error:
        raise InputError(f"{path}, {_malformed(path, encoding, separator) or one_line(error)}") from error
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty") from error
    return _under_header(cells)


def _under_header(cells: pd.DataFrame) -> pd.DataFrame:
    table = cells.iloc[1:].reset_index(drop=True)
    table.columns = [str(name) for name in cells.iloc[0]]
    return table


def _misfit(path: Path, encoding: str) -> str:
    """Say where a file is not in an encoding."""
    with unpacked(path) as stream:
        content = stream.read()
    where = "a byte"
    try:
        content.decode(encoding)
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].decode(fault.encoding, "replace").count("\n") + 1
        where = f"line {line:,}: byte 0x{fault.object[fault.start]:02x}"
    return f'{where} is not {encoding}; give its encoding, such as encoding="cp1252" (--encoding cp1252)'


def _malformed(path: Path, encoding: str, separator: str) -> str | None:
    """Say in which line a file is no CSV; pandas counts a cell of several lines as one."""
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


def _read_json_lines(path: Path, encoding: str | None) -> pd.DataFrame:
    encoding = _encoding_of(path, encoding)
    try:
        with unpacked(path) as stream, io.TextIOWrapper(stream, encoding) as lines:
            records = [_record(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error
    return pd.DataFrame(records, dtype=object)  # of objects, as no other dtype holds half of a surrogate pair


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number:,} is no JSON: {one_line(error)}") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}, line {number:,} is no JSON object; each line must be one, such as {{...}}")
    return record


def _read_parquet(path: Path, _: None) -> pd.DataFrame:
    try:
        return pq.ParquetFile(path).read().to_pandas(ignore_metadata=True)
    except pa.ArrowException as error:
        raise InputError(f"{path} is no readable Parquet file: {one_line(error)}") from error


def _read_excel(path: Path, sheet: str | None) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's, on styles and menus that it leaves out
        try:
            with pd.ExcelFile(path, engine="openpyxl") as book:
                if sheet is not None and sheet not in book.sheet_names:
                    raise InputError(f"{path} has no sheet {sheet!r}; it has {', '.join(book.sheet_names)}")
                cells = book.parse(sheet or 0, header=None, dtype=str, na_filter=False)
        except InputError:
            raise
        except Exception as error:  # a damaged workbook fails in zip, xml or openpyxl, each in its own way
            raise InputError(f"{path} is no readable Excel file: {one_line(error)}") from error
    return cells if cells.empty else _under_header(cells)


def one_line(error: Exception) -> str:
    """Put the message of an error on one line; its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__


@dataclass(frozen=True)
class _Format:
    read: Callable[[Path, Any], pd.DataFrame]
    option: str = ""


_CSV = _Format(partial(_read_delimited, separator=","), "encoding")
_TSV = _Format(partial(_read_delimited, separator="\t"), "encoding")
_JSON_LINES = _Format(_read_json_lines, "encoding")
_FORMATS = {
    **dict.fromkeys([".csv", ".csv.gz", ".csv.zip"], _CSV),
    **dict.fromkeys([".tsv", ".tsv.gz", ".tsv.zip"], _TSV),
    **dict.fromkeys([".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz"], _JSON_LINES),
    ".parquet": _Format(_read_parquet),
    ".xlsx": _Format(_read_excel, "sheet"),
}


def _format_of(path: Path) -> _Format:
    for ending, file_format in _FORMATS.items():
        if path.name.lower().endswith(ending):
            return file_format
    raise InputError(f"{path} is of no known format; its name must end in {', '.join(_FORMATS)}")


def check_file(path: Path) -> None:
    """Raise unless there is a file that holds something."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; give one file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
