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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textsignal.errors import InputError, listed, one_line, shown

#: Errors raised by reading a damaged file.
UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile, pa.ArrowException)
_OPTIONS = {"encoding": "encoding", "sheet": "sheet", "sep": "separator"}
_BLOCK = 2**20
#: Bytes by which the kind of a file is recognised.
_START = 2**10
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
_SAMPLE = 2**16


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table, and the choice that was made if its file left one, such as "separated by semicolons", else ""."""

    table: pd.DataFrame
    choice: str = ""


def read_table(
    path: str | PathLike[str], *, encoding: str | None = None, sheet: str | None = None, sep: str | None = None
) -> pd.DataFrame:
    r"""Read a table from a file, in the format that its name ends in.

    CSV and TSV, JSON (.json, .jsonl or .ndjson: an object in each line, or one array of objects), all of these plain or
    packed (.gz, .bz2, .xz, .zip), Parquet and Excel (.xlsx). Cells of CSV, TSV and Excel come as strings exactly as
    written, so that the review "NA" stays a review and an empty cell is the empty string; `parse_response` makes
    numbers of them.

    Parameters
    ----------
    path : path-like
        The file.
    encoding : str, optional
        Of a CSV, TSV or JSON file. By default a byte order mark decides, and without one it is UTF-8.
    sheet : str, optional
        Name of the sheet of an Excel file. By default the first.
    sep : str, optional
        What parts the cells of a CSV or TSV file: one character, or "tab". By default a tab in a TSV file; in a CSV
        file a comma, or the semicolon, tab or bar that parts its first lines evenly where commas do not.

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
    path = Path(path)
    given = given_options(path, encoding=encoding, sheet=sheet, sep=sep)
    try:
        check_file(path)
        file = _FORMATS[ending_of(path)](path, **given)
    except UNREADABLE as error:
        raise InputError(f"cannot read {path}: {one_line(error)}") from error
    if file.table.empty:
        raise InputError(f"{path} has no rows")
    return file


def given_options(path: Path, **options: str | None) -> dict[str, str]:
    """Return the options that are not None; raise InputError if one does not apply to the format of the file."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in signature(_FORMATS[ending_of(path)]).parameters:
            raise InputError(f"{path} has no {_OPTIONS[name]} to choose, but {name}={value!r} was given")
    return given


def ending_of(path: Path) -> str:
    """Return the ending that names the format of a file, without that of its packing; raise InputError if unknown.

    Examples
    --------
    >>> ending_of(Path("Reviews.CSV.gz")), ending_of(Path("reviews.parquet"))
    ('.csv', '.parquet')
    """
    for ending in _FORMATS:
        packings = ("", *PACKED) if ending in _TEXT_FORMATS else ("",)
        if path.name.lower().endswith(tuple(ending + packing for packing in packings)):
            return ending
    raise InputError(
        f"{path} is of no known format; its name must end in {', '.join(_TEXT_FORMATS)} "
        f"(with {', '.join(PACKED)} after it if packed), .parquet or .xlsx"
    )


def column(table: pd.DataFrame, name: str, role: str) -> pd.Series:
    """Return a column of a table; role : its purpose for error messages, such as "text" or "response".

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
    asked = shown(name)
    if name in names:
        raise InputError(f"{names.count(name)} columns are called {asked}; which is the {role}? Rename the others")
    by_lower = {str(known).lower(): known for known in names}
    nearest = get_close_matches(str(name).lower(), by_lower, n=1)
    hint = f"; did you mean {shown(by_lower[nearest[0]])}?" if nearest else "."
    raise InputError(f"no column {asked} for the {role}{hint} The columns are: {listed(names)}")


def groups_of(table: pd.DataFrame, by: str, role: str = "by") -> pd.Series:
    """Return the group of every row, missing if the cell is empty; role : of the column, for error messages."""
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


def _read_delimited(
    path: Path, encoding: str | None = None, sep: str | None = None, *, default: str | None
) -> TableFile:
    with delimited(path, encoding, sep, default) as file, unpacked(path) as stream:
        cells = pd.read_csv(stream, **file.options)
    return TableFile(_under_header(path, cells), file.choice)


@dataclass(frozen=True)
class Delimited:
    """Options of `pandas.read_csv` for a file, and the choice that was made."""

    options: dict[str, Any]
    choice: str


@contextmanager
def delimited(path: Path, encoding: str | None, sep: str | None, default: str | None) -> Iterator[Delimited]:
    """Give options to read a delimited file; errors of the block name its line; default : separator."""
    encoding = encoding_of(path, encoding)
    with text_of(path, encoding):
        separator = _check_separator(sep) if sep is not None else default or _find_separator(path, encoding)
        chosen = sep is None and separator not in (default, ",")
        # The header is read as a row: pandas then renames no columns and makes no index of surplus cells.
        options = {"sep": separator, "header": None, "dtype": str, "na_filter": False, "encoding": encoding}
        try:
            yield Delimited(options, f"separated by {CANDIDATES[separator]}" if chosen else "")
        except pd.errors.ParserError as error:
            raise InputError(f"{path}, {_malformed(path, encoding, separator) or one_line(error)}") from error
        except pd.errors.EmptyDataError as error:
            raise InputError(f"{path} is empty") from error


@contextmanager
def text_of(path: Path, encoding: str) -> Iterator[None]:
    """Turn UnicodeError in the block into InputError that names the line."""
    try:
        yield
    except UnicodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error


def header_of(path: Path, cells: pd.DataFrame) -> list[str]:
    """Return the names of the columns from the first row."""
    names = [str(name) for name in cells.iloc[0]]
    if any("\0" in name for name in names):
        raise InputError(f'{path}, line 1 holds zero bytes; if this is text, give encoding="utf-16" or what it is')
    return names


def _under_header(path: Path, cells: pd.DataFrame) -> pd.DataFrame:
    return cells.iloc[1:].reset_index(drop=True).set_axis(header_of(path, cells), axis=1)


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


def _read_json(path: Path, encoding: str | None = None) -> TableFile:
    records = [record for record, _ in json_records(path, encoding_of(path, encoding))]
    # Of objects, as no other dtype holds half of a surrogate pair.
    return TableFile(pd.DataFrame(records, dtype=object))


def json_records(path: Path, encoding: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the objects of JSON lines or of one JSON array, which is read whole, and the characters of each line."""
    with text_of(path, encoding), unpacked(path) as stream, io.TextIOWrapper(stream, encoding) as lines:
        is_first = True
        for number, line in enumerate(lines, 1):
            if is_first and line.lstrip().startswith("["):
                yield from ((record, 0) for record in _array(path, "\n" * (number - 1) + line + lines.read()))
            elif line.strip():
                is_first = False
                yield _json_record(path, number, line), len(line)


def _array(path: Path, text: str) -> Iterator[dict[str, Any]]:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} begins as a JSON array but is not one: {one_line(error)}") from error
    for number, record in enumerate(records, 1):
        yield _checked(record, f"{path}, item {number:,} of its JSON array")


def _json_record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number:,} is not JSON: {one_line(error)}") from error
    return _checked(record, f"{path}, line {number:,}")


def _checked(record: Any, place: str) -> dict[str, Any]:
    """Return a value of JSON that is an object whose keys can name columns: JSON may write half of a surrogate pair."""
    if not isinstance(record, dict):
        raise InputError(f"{place} is not a JSON object; each item and each line must be one, such as {{...}}")
    for key in record:
        if not key.isascii() and any("\ud800" <= character <= "\udfff" for character in key):
            raise InputError(f"{place} has a key that holds half of a surrogate pair: {ascii(key)[:80]}; rename it")
    return record


def _read_parquet(path: Path) -> TableFile:
    with parquet_file(path) as file:
        return TableFile(file.read().to_pandas(ignore_metadata=True))


@contextmanager
def parquet_file(path: Path, buffer_size: int = 0) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; raise InputError if that fails."""
    try:
        file = pq.ParquetFile(path, buffer_size=buffer_size)
    except pa.ArrowException as error:
        raise InputError(f"{path} is not a readable Parquet file: {one_line(error)}") from error
    with file:
        yield file


def _read_excel(path: Path, sheet: str | None = None) -> TableFile:
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
    choice = f"sheet {names[0]}; other sheets: {', '.join(names[1:])}" if sheet is None and names[1:] else ""
    return TableFile(cells if cells.empty else _under_header(path, cells), choice)


_TEXT_FORMATS: dict[str, Callable[..., TableFile]] = {
    ".csv": partial(_read_delimited, default=None),
    ".tsv": partial(_read_delimited, default="\t"),
    **dict.fromkeys([".jsonl", ".ndjson", ".json"], _read_json),
}
_FORMATS = _TEXT_FORMATS | {".parquet": _read_parquet, ".xlsx": _read_excel}


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
    """Return the given encoding, or that of a byte order mark, or UTF-8; raise InputError if the file is not text."""
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
    """Likeliest separator that gives the header and every row the same number of cells, at least two.

    Judged by the first 65,536 characters; a comma if several or none do.
    """
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
    """Separator by its name or itself; raise InputError if it is not one character that can part cells."""
    separator = {"tab": "\t", r"\t": "\t"}.get(sep, sep)
    if len(separator) != 1 or separator in '"\r\n' or ord(separator) > 127:
        raise InputError(f'sep={sep!r} cannot part cells; give one character such as ";" or "|", or "tab"')
    return separator
