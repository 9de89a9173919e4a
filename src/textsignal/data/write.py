"""Files, tables and folders that are written completely or not at all, and replace others only with `force`.

Output is first written to a hidden scratch folder on the same disk, named after its target, this machine and this
process. A killed process leaves its scratch folder; the next write to the same target removes it. A write killed at any
moment leaves the old results or the new ones, never a mixture. Only if the folder itself cannot be replaced (it is a
mount point or the working folder, or the system cannot exchange two folders) may a kill leave some results missing; the
others are of one run, the scratch folder is complete, and the next write to that folder first moves it into place.
"""

from __future__ import annotations

import bz2
import csv
import ctypes
import gzip
import io
import json
import lzma
import os
import re
import shutil
import socket
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas.api.types import is_numeric_dtype

from textsignal.data.read import PACKED
from textsignal.errors import OutputError, one_line

#: Writes rows to a file, after those that it wrote before.
Write: TypeAlias = Callable[[pd.DataFrame], None]

_HOST = re.sub(r"\W+", "_", socket.gethostname())
_HERE = -100  # AT_FDCWD: a path counts from the working folder
_EXCHANGE = 2  # RENAME_EXCHANGE
_FORMULA = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)
_NUMBER = re.compile(r"'*[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?%?")
_LONGEST_CELL = 32_767
_NOT_IN_EXCEL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_renameat2 = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
#: Most characters of a response in names of files.
LONGEST = 40


@contextmanager
def whole_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to write into that becomes `target` if the block succeeds, and is removed if it fails.

    With `force` an existing `target` keeps its other files.
    """
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file; give the name of a folder")
    place = target.resolve()  # a link to a folder stays a link
    _clean(place)
    if target.is_dir() and any(target.iterdir()) and not force:
        raise OutputError(f"{target} exists already; give another name, or force=True to replace it")
    exchange = _can_be_exchanged(place)
    with _scratch(place, place.parents if exchange else [place, *place.parents]) as scratch:
        written = scratch / "new"
        written.mkdir()
        yield written
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            written.rename(place)
        elif not (exchange and _exchanged(written, place)):
            _put_into(written.rename(scratch / "whole"), place)


@contextmanager
def whole_file(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a file to write to that becomes `target` if the block succeeds, and is removed if it fails."""
    check_target(target, force=force)
    _clean(target)
    with _scratch(target, target.parents) as scratch:
        written = scratch / target.name
        yield written
        target.parent.mkdir(parents=True, exist_ok=True)
        written.replace(target)


def check_target(target: Path, *, force: bool) -> None:
    """Raise OutputError if a file cannot be written, or exists and `force` is False."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise OutputError(f"{target} is not a regular file and is not replaced; give another name")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already; give another name, or force=True to replace it")


@contextmanager
def whole_table(target: Path, *, force: bool) -> Iterator[Write]:
    """Give a function that adds rows to a file, which becomes `target` if the block succeeds, as with `whole_file`.

    The name ends in the format: CSV, TSV, JSON lines (.jsonl, .ndjson) and JSON (.json: one array), plain or packed,
    Parquet and Excel (.xlsx). JSON arrays and Excel are written at the end, the others batch by batch; the first batch
    sets the types of a Parquet file. Texts that a spreadsheet would run as formulas get an apostrophe in CSV and TSV,
    and are stored as texts in Excel. The file is synchronised to disk before it is renamed.

    Examples
    --------
    >>> file = getfixture("tmp_path") / "numbers.csv"
    >>> with whole_table(file, force=False) as write:
    ...     write(pd.DataFrame({"number": [1, 2]}))
    ...     write(pd.DataFrame({"number": [3]}))
    >>> file.read_text().split()
    ['number', '1', '2', '3']
    """
    rows = next((rows for ending, rows in _FORMATS.items() if target.name.lower().endswith(ending)), None)
    if rows is None:
        raise OutputError(
            f"{target} is of no format that can be written; its name must end in {', '.join(_TEXT_FORMATS)} "
            f"(with {', '.join(PACKED)} after it to pack it), .parquet or .xlsx"
        )
    with whole_file(target, force=force) as file:
        opened = ExitStack()
        try:
            yield partial(_attempt, target, _attempt(target, opened.enter_context, rows(file)))
            _attempt(target, opened.close)
            with file.open("rb") as written:
                os.fsync(written.fileno())
        except BaseException as error:
            with suppress(Exception):  # the first error is raised
                opened.__exit__(type(error), error, error.__traceback__)
            raise


def _attempt(target: Path, step: Callable[..., Any], *given: Any) -> Any:
    """Do a step of writing; errors name the file."""
    try:
        return step(*given)
    except (ValueError, TypeError, pa.ArrowException) as error:  # half a character, a column of several types
        raise OutputError(f"{target} cannot hold this table: {one_line(error)}") from error
    except OSError as error:  # a full disk
        raise OSError(error.errno, error.strerror or one_line(error), str(target)) from error


def write_csv(
    table: pd.DataFrame,
    file: Path | IO[str],
    separator: str = ",",
    *,
    header: bool = True,
    float_format: str | None = None,
) -> None:
    """Write a table as CSV without formulas, as `without_formulas` returns it."""
    safe = without_formulas(table)
    # A carriage return ends a row for a spreadsheet, but Python before 3.13 does not quote a cell because of one.
    texts = (safe.iloc[:, number] for number, dtype in enumerate(safe.dtypes) if not is_numeric_dtype(dtype))
    returns = any("\r" in cell for column in (safe.columns, *texts) for cell in column if isinstance(cell, str))
    quoting = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    safe.to_csv(file, index=False, sep=separator, header=header, float_format=float_format, quoting=quoting)


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with an apostrophe before texts, and names of columns, that a spreadsheet takes for a formula.

    Numbers are kept, also those that are texts, such as "-5".

    Examples
    --------
    >>> table = pd.DataFrame({"@hotel": ["=1+1", "-5", "- cold", "fine"], "effect": [-0.5, 0, 1, 2]})
    >>> safe = without_formulas(table)
    >>> list(safe), safe["'@hotel"].tolist()
    (["'@hotel", 'effect'], ["'=1+1", '-5', "'- cold", 'fine'])
    >>> with_formulas(safe).equals(table)
    True
    """
    return _changed(table, lambda cell: f"'{cell}" if _is_formula(cell) else cell)


def with_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table that `without_formulas` was given."""
    return _changed(table, lambda cell: cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell)


def _is_formula(cell: str) -> bool:
    """True if a spreadsheet takes a cell, with or without apostrophes before it, for a formula.

    A cell that has some gets one more, so that removing one always gives back what there was.
    """
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None


def _changed(table: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Change the texts of a table and the names of its columns."""
    changed = table.rename(columns=lambda name: change(name) if isinstance(name, str) else name)
    for number, dtype in enumerate(table.dtypes):
        if not is_numeric_dtype(dtype):
            column = table.iloc[:, number].tolist()
            cells = [change(cell) if isinstance(cell, str) else cell for cell in column]
            if any(cell is not old for cell, old in zip(cells, column, strict=True)):
                kept = dtype if isinstance(dtype, pd.StringDtype) else object
                changed.isetitem(number, pd.Series(cells, index=table.index, dtype=kept))
    return changed


@contextmanager
def _text_file(file: Path) -> Iterator[IO[str]]:
    """Open a file for text, packed by its ending."""
    with ExitStack() as opened:
        raw: Any = opened.enter_context(file.open("wb"))
        ending = file.suffix.lower()
        if ending == ".zip":
            archive = opened.enter_context(zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED))
            raw = opened.enter_context(archive.open(file.stem, "w", force_zip64=True))
        elif ending == ".gz":
            raw = opened.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        elif ending == ".bz2":
            raw = opened.enter_context(bz2.BZ2File(raw, "w"))
        elif ending == ".xz":
            raw = opened.enter_context(lzma.LZMAFile(raw, "w"))
        yield opened.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline=""))


@contextmanager
def _csv_rows(file: Path, separator: str) -> Iterator[Write]:
    with _text_file(file) as stream:
        is_first = chain([True], repeat(False))
        yield lambda table: write_csv(table, stream, separator, header=next(is_first))


@contextmanager
def _json_rows(file: Path) -> Iterator[Write]:
    with _text_file(file) as stream:
        yield partial(_write_json, file=stream, lines=True)


def _write_json(table: pd.DataFrame, file: Path | IO[str], lines: bool) -> None:
    table.to_json(file, orient="records", lines=lines, force_ascii=False, double_precision=15)


@contextmanager
def _parquet_rows(file: Path) -> Iterator[Write]:
    with ExitStack() as opened:
        writers: list[pq.ParquetWriter] = []

        def write(table: pd.DataFrame) -> None:
            if not writers:
                schema = pa.Schema.from_pandas(table, preserve_index=False)
                # A column without values so far may hold texts later.
                fields = [pa.field(one.name, pa.string()) if pa.types.is_null(one.type) else one for one in schema]
                writers.append(opened.enter_context(pq.ParquetWriter(file, pa.schema(fields))))
            writers[0].write_table(pa.Table.from_pandas(table, schema=writers[0].schema, preserve_index=False))

        yield write


@contextmanager
def _collected(file: Path, write_whole: Callable[[pd.DataFrame, Path], None]) -> Iterator[Write]:
    """Rows of a format that is written at once."""
    tables: list[pd.DataFrame] = []
    yield tables.append
    write_whole(pd.concat(tables, ignore_index=True), file)


def _write_excel(table: pd.DataFrame, file: Path) -> None:
    """Write a workbook in which no text is taken for a formula or cut."""

    def storable(cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        if len(cell) > _LONGEST_CELL:
            raise ValueError(
                f"a text of {len(cell):,} characters, and Excel takes {_LONGEST_CELL:,}; write .csv or .parquet"
            )
        return _NOT_IN_EXCEL.sub("\N{REPLACEMENT CHARACTER}", cell)

    cells = table.map(storable)
    with pd.ExcelWriter(file, engine="openpyxl") as book:
        cells.to_excel(book, index=False)
        for row in book.book.active.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    cell.data_type = "s"


_TEXT_FORMATS: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
    ".csv": partial(_csv_rows, separator=","),
    ".tsv": partial(_csv_rows, separator="\t"),
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
    ".json": partial(_collected, write_whole=partial(_write_json, lines=False)),
}
_FORMATS: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
    **{ending + packed: rows for ending, rows in _TEXT_FORMATS.items() for packed in ("", *PACKED)},
    ".parquet": _parquet_rows,
    ".xlsx": partial(_collected, write_whole=_write_excel),
}


def check_not_input(output: Path, inputs: Iterable[Path]) -> None:
    """Raise OutputError if an output is one of the inputs, which even `force` does not replace."""
    for given in inputs:
        if output.exists() and given.exists() and output.samefile(given):
            raise OutputError(f"{output} is read by this command and is not replaced; give another name")


@contextmanager
def _scratch(target: Path, places: Sequence[Path]) -> Iterator[Path]:
    """New folder in the first existing place: on the disk of the target, so that moving is a rename."""
    place = next(place for place in places if place.exists())
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{_prefix(target)}{os.getpid()}-", dir=place))
    except OSError as error:
        raise OutputError(f"cannot write to {place}: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    if os.name != "posix":  # signal 0 would end the process elsewhere
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it lives, and belongs to another user
        return True
    return True


def _clean(target: Path) -> None:
    """Finish an interrupted move and remove what processes on this machine left when they were killed."""
    name = re.compile(re.escape(_prefix(target)) + r"(\d+)-\w+")
    for place in (target, next(parent for parent in target.parents if parent.exists())):
        try:
            folders = [*place.iterdir()]
        except OSError:  # no folder, or not readable: writing to it raises the error
            continue
        for folder in folders:
            if (match := name.fullmatch(folder.name)) and not _lives(int(match[1])):
                if (folder / "whole").is_dir():
                    _put_into(folder / "whole", target)
                shutil.rmtree(folder, ignore_errors=True)


def _prefix(target: Path) -> str:
    return f".{target.name}-textsignal-{_HOST}-"


def _put_into(folder: Path, target: Path) -> None:
    """Move new files into a folder after moving all old ones away, so that two runs are never mixed."""
    replaced = folder.with_name("old")
    replaced.mkdir(exist_ok=True)
    parts = sorted(folder.iterdir())
    for part in parts:
        if os.path.lexists(target / part.name):
            (target / part.name).rename(replaced / part.name)
    for part in parts:
        part.rename(target / part.name)


def _can_be_exchanged(folder: Path) -> bool:
    """True if a new folder may replace this one without side effects."""
    if _renameat2 is None or not folder.is_dir() or os.path.ismount(folder):
        return False
    in_use = folder == Path.cwd() or folder in Path.cwd().parents
    return not in_use and os.access(folder.parent, os.W_OK) and folder.stat().st_uid == os.geteuid()


def _exchanged(written: Path, place: Path) -> bool:
    """Exchange a folder, in one step, for a new one with the new files and links to the others.

    Return False, without a change, if the disk does not support links or exchange.
    """
    assert _renameat2 is not None
    merged = written.with_name("merged")
    merged.mkdir()
    try:
        for folder in (written, place):
            for part in folder.iterdir():
                if not os.path.lexists(merged / part.name):
                    _link(part, merged / part.name)
    except OSError:
        return False
    shutil.copymode(place, merged)
    return not _renameat2(_HERE, os.fsencode(merged), _HERE, os.fsencode(place), _EXCHANGE)


def _link(source: Path, target: Path) -> None:
    """Link a file, or a folder and its content."""
    link = partial(os.link, follow_symlinks=False)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, copy_function=link)
    else:
        link(source, target)


def file_names(names: Iterable[str]) -> list[str]:
    """Return unique names of files for responses: lower-case letters, digits, _ and -.

    Examples
    --------
    >>> file_names(["Overall", "front desk", "overall", "../.."])
    ['overall', 'front-desk', 'overall-2', 'response']
    """
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:LONGEST] or "response"
        number, unique = 1, plain
        while unique in found:
            number += 1
            unique = f"{plain}-{number}"
        found.append(unique)
    return found


def kept_lines(kept: Path) -> Iterator[Any]:
    """Yield the values in a file of JSON lines; an incomplete line is skipped."""
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)


def keep_line(value: Any, kept: Path) -> str:
    """Append a value as a JSON line in one write, synchronise it to disk, and return the line."""
    line = json.dumps(value, ensure_ascii=False, default=np.generic.item)
    with kept.open("ab+") as file:
        file.seek(max(file.tell() - 1, 0))
        torn = file.read(1) not in (b"", b"\n")
        file.write((("\n" if torn else "") + line + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
    return line
