"""From a file to the texts and responses that can be used."""

import csv
import gzip
import io
import json
import reprlib
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from textsignal.errors import InputError

_Cells: TypeAlias = pd.Series | Sequence[Any] | np.ndarray
_NO_RESPONSE = {"", "na", "n/a", "nan", "null", "none"}
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_table(
    path: str | PathLike[str], *, encoding: str | None = None, sheet: str | None = None
) -> pd.DataFrame:
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
    _check_file(path)
    options = {"encoding": encoding, "sheet": sheet}
    chosen = options.pop(file_format.option, None)
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{path} has no {name} to choose, but {name}={value!r} was given")
    try:
        table = file_format.read(path, chosen)
    except (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"cannot read {path}: {_one_line(error)}") from error
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
        raise InputError(
            f"{names.count(name)} columns are called {name!r}; which is the {role}? Rename the others"
        )
    by_lower = {str(known).lower(): known for known in names}
    nearest = get_close_matches(str(name).lower(), by_lower, n=1)
    hint = f"; did you mean {by_lower[nearest[0]]!r}?" if nearest else "."
    raise InputError(f"no column {name!r} for the {role}{hint} The columns are: {', '.join(map(str, names))}")


@dataclass(frozen=True, eq=False)
class ParsedResponse:
    """A response as numbers.

    Attributes
    ----------
    values : ndarray of float, shape (rows,)
        The numbers; NaN where there is none.
    unparsable : ndarray of bool, shape (rows,)
        Where the cell holds something that is no number; a row without response is not unparsable.
    cells : ndarray of object, shape (rows,)
        What was given.
    """

    values: np.ndarray
    unparsable: np.ndarray
    cells: np.ndarray


def parse_response(cells: _Cells) -> ParsedResponse:
    """Make numbers of a response's cells.

    An empty cell, a missing value and the words NA, N/A, NaN, null and None mean that there is no response.

    Parameters
    ----------
    cells : pandas.Series or sequence
        Strings or numbers.

    Returns
    -------
    ParsedResponse
        The numbers, and which cells hold none that is finite.

    Examples
    --------
    >>> response = parse_response(["4", " 5.0 ", "", "five", "inf"])
    >>> response.values
    array([ 4.,  5., nan, nan, nan])
    >>> response.unparsable
    array([False, False, False,  True,  True])
    """
    given = _objects(cells)
    said_missing = [isinstance(cell, str) and cell.strip().lower() in _NO_RESPONSE for cell in given]
    missing = pd.isna(given) | np.array(said_missing, dtype=bool)
    numbers = np.array([_number(cell) for cell in given], dtype=float)
    unparsable = ~missing & ~np.isfinite(numbers)
    return ParsedResponse(np.where(missing | unparsable, np.nan, numbers), unparsable, given)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows that are bad for one reason.

    Attributes
    ----------
    one, many : str
        The reason, for one row and for several.
    rows : ndarray of int
        The rows, counted from 0.
    cells : ndarray of object or None
        What stands in these rows, where that helps to find the fault.
    """

    one: str
    many: str
    rows: np.ndarray
    cells: np.ndarray | None = None

    def describe(self, limit: int = 5) -> str:
        """Say what is wrong in how many rows, and name the first of them, counted from 1."""
        named = [f"{row + 1}" for row in self.rows[:limit]]
        if self.cells is not None:
            named = [f"{row}: {_shown(cell)}" for row, cell in zip(named, self.cells, strict=False)]
        count = len(self.rows)
        rest = f" and {count - limit:,} more" if count > limit else ""
        words = (self.one, "row") if count == 1 else (self.many, "rows")
        return f"{count:,} {words[0]} ({words[1]} {', '.join(named)}{rest})"


@dataclass(frozen=True, eq=False)
class BadRows:
    """The rows of a table that cannot be used, and why; its length is their number.

    Attributes
    ----------
    n_rows : int
        Rows of the table, bad or not.
    problems : tuple of Problem
        The reasons that occur; a row may be bad for several.
    """

    n_rows: int
    problems: tuple[Problem, ...]

    @property
    def mask(self) -> np.ndarray:
        """Which rows are bad: ndarray of bool, shape (n_rows,)."""
        bad = np.zeros(self.n_rows, dtype=bool)
        for problem in self.problems:
            bad[problem.rows] = True
        return bad

    def __len__(self) -> int:
        return int(self.mask.sum())

    def describe(self, limit: int = 5) -> str:
        """Say in one line what is wrong and where; rows are counted from 1, the header not counted."""
        if not self.problems:
            return "no bad rows"
        reasons = ", ".join(problem.describe(limit) for problem in self.problems)
        return f"{len(self):,} bad row{'s' if len(self) > 1 else ''}: {reasons}"


def check_rows(
    texts: _Cells,
    response: ParsedResponse | None = None,
    *,
    levels: tuple[int, int] | None = None,
) -> BadRows:
    """Find the rows that cannot be used.

    A row is bad if its text is missing, blank or no string, or if its response is no number or, given
    `levels`, no whole number between them. A row without response is fine: its text is still used.

    Parameters
    ----------
    texts : pandas.Series or sequence
        The texts.
    response : ParsedResponse, optional
        The response beside them.
    levels : tuple of int, optional
        Lowest and highest response that is allowed.

    Returns
    -------
    BadRows
        Which rows, and why.

    Raises
    ------
    InputError
        If there is not one response a text.

    Examples
    --------
    >>> response = parse_response(["4", "five", "9", ""])
    >>> bad = check_rows(["Lovely.", "Fine.", " ", "Dull."], response, levels=(1, 5))
    >>> bad.describe()
    "2 bad rows: 1 empty text (row 3), 1 response that is no number (row 2: 'five'),
    1 response outside 1 to 5 (row 3: '9')"
    >>> bad.mask
    array([False,  True,  True, False])
    """
    given = _objects(texts)
    problems = _text_problems(given)
    if response is not None:
        if len(response.values) != len(given):
            raise InputError(
                f"{len(given):,} texts but {len(response.values):,} responses; each text needs one"
            )
        problems += _response_problems(response, levels)
    return BadRows(len(given), tuple(problem for problem in problems if len(problem.rows)))


def _text_problems(texts: np.ndarray) -> list[Problem]:
    missing = pd.isna(texts)
    blank = np.array([isinstance(text, str) and not text.strip() for text in texts], dtype=bool)
    odd = ~missing & np.array([not isinstance(text, str) for text in texts], dtype=bool)
    return [
        Problem("empty text", "empty texts", np.flatnonzero(missing | blank)),
        Problem("text that is no string", "texts that are no strings", np.flatnonzero(odd), texts[odd]),
    ]


def _response_problems(response: ParsedResponse, levels: tuple[int, int] | None) -> list[Problem]:
    found = [("response that is no number", "responses that are no numbers", response.unparsable)]
    if levels is not None:
        low, high = levels
        outside = (response.values < low) | (response.values > high)
        broken = ~outside & ~np.isnan(response.values) & (response.values % 1 != 0)
        found += [
            (f"response outside {low} to {high}", f"responses outside {low} to {high}", outside),
            ("response that is no whole number", "responses that are no whole numbers", broken),
        ]
    return [Problem(one, many, np.flatnonzero(bad), response.cells[bad]) for one, many, bad in found]


def _objects(cells: _Cells) -> np.ndarray:
    return pd.Series(cells, dtype=object).to_numpy()


def _number(cell: Any) -> float:
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_0 as 10; nobody writes a response so
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _shown(cell: Any) -> str:
    return reprlib.repr(cell) if isinstance(cell, str) else reprlib.repr(str(cell)).strip("'")


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
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
        with _unpacked(path) as stream:
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
        with _unpacked(path) as stream:
            # The header is read as a row: pandas then renames no columns and makes no index of surplus cells.
            cells = pd.read_csv(
                stream, sep=separator, header=None, dtype=str, na_filter=False, encoding=encoding
            )
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error
    except pd.errors.ParserError as error:
        raise InputError(f"{path}, {_malformed(path, encoding, separator) or _one_line(error)}") from error
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty") from error
    return _under_header(cells)


def _under_header(cells: pd.DataFrame) -> pd.DataFrame:
    table = cells.iloc[1:].reset_index(drop=True)
    table.columns = [str(name) for name in cells.iloc[0]]
    return table


def _misfit(path: Path, encoding: str) -> str:
    """Say where a file is not in an encoding."""
    with _unpacked(path) as stream:
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
    with _unpacked(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as lines:
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
        with _unpacked(path) as stream, io.TextIOWrapper(stream, encoding) as lines:
            records = [_record(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, {_misfit(path, encoding)}") from error
    return pd.DataFrame(records, dtype=object)  # of objects, as no other dtype holds half of a surrogate pair


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number:,} is no JSON: {_one_line(error)}") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}, line {number:,} is no JSON object; each line must be one, such as {{...}}")
    return record


def _read_parquet(path: Path, _: None) -> pd.DataFrame:
    try:
        return pq.ParquetFile(path).read().to_pandas(ignore_metadata=True)
    except pa.ArrowException as error:
        raise InputError(f"{path} is no readable Parquet file: {_one_line(error)}") from error


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
            raise InputError(f"{path} is no readable Excel file: {_one_line(error)}") from error
    return cells if cells.empty else _under_header(cells)


def _one_line(error: Exception) -> str:
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


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a directory; give one file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")
