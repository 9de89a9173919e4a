"""Tables that are written batch after batch, and appear whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from textsignal.data.files import PACKED, one_line
from textsignal.data.write import whole_file, write_csv, writer_of
from textsignal.errors import OutputError

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def whole_batches(target: Path, *, force: bool) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Give a function that adds rows to a file, which becomes `target` when the block ends well, as `whole_file` does.

    Formats are those of `whole_table`. CSV, TSV, JSON lines and Parquet are written as the rows come; JSON arrays and
    Excel when all are there. The disk has taken all of it before the file has its name.

    Examples
    --------
    >>> import pandas as pd
    >>> file = getfixture("tmp_path") / "numbers.csv"
    >>> with whole_batches(file, force=False) as write:
    ...     write(pd.DataFrame({"number": [1, 2]}))
    ...     write(pd.DataFrame({"number": [3]}))
    >>> file.read_text().split()
    ['number', '1', '2', '3']
    """
    write_whole = writer_of(target)
    ending = next((ending for ending in _ROWS if _unpacked(target).endswith(ending)), None)
    with whole_file(target, force=force) as file:
        try:
            rows = _Collected(lambda table: write_whole(table, file)) if ending is None else _ROWS[ending](file)
        except OSError as error:
            raise OutputError(f"cannot write to {target}: {error.strerror or error}") from error
        try:
            yield partial(_told, target, rows.write)
            _told(target, rows.finish)
            with file.open("rb") as written:
                os.fsync(written.fileno())
        finally:
            with suppress(Exception):  # what went wrong before is what is told
                rows.close()


def _unpacked(target: Path) -> str:
    name = target.name.lower()
    return next((name.removesuffix(packed) for packed in PACKED if name.endswith(packed)), name)


def _told(target: Path, step: Callable[..., None], *given: Any) -> None:
    """Do a step of writing; what goes wrong is said of the file."""
    import pyarrow as pa

    try:
        step(*given)
    except (ValueError, TypeError, pa.ArrowException) as error:  # half a character, a column of several types
        raise OutputError(f"{target} cannot hold this table: {one_line(error)}") from error
    except OSError as error:  # a full disk
        raise OSError(error.errno, error.strerror or one_line(error), str(target)) from error


class _Rows(Protocol):
    """A file that rows are added to; `finish` writes what is left, `close` may be called whatever has happened."""

    def write(self, table: pd.DataFrame) -> None: ...

    def finish(self) -> None: ...

    def close(self) -> None: ...


class _TextRows:
    """Rows of text, packed where the file's name says so. put : writes a table to a stream, with its header or not."""

    def __init__(self, file: Path, put: Callable[[pd.DataFrame, IO[str], bool], None]) -> None:
        self.put, self.is_first, self.opened = put, True, ExitStack()
        raw = self.opened.enter_context(file.open("wb"))
        packed = self.opened.enter_context(_packed(raw, file))
        self.stream = self.opened.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline=""))

    def write(self, table: pd.DataFrame) -> None:
        self.put(table, self.stream, self.is_first)
        self.is_first = False

    def finish(self) -> None:
        self.opened.close()

    def close(self) -> None:
        self.opened.close()


@contextmanager
def _packed(raw: IO[bytes], file: Path) -> Iterator[Any]:
    """A stream into a file, packed by what its name ends in."""
    ending = file.suffix.lower()
    if ending == ".zip":
        archive = zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED)
        with archive, archive.open(file.stem, "w", force_zip64=True) as stream:
            yield stream
    elif ending == ".gz":
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
            yield stream
    elif ending in (".bz2", ".xz"):
        with bz2.BZ2File(raw, "w") if ending == ".bz2" else lzma.LZMAFile(raw, "w") as stream:
            yield stream
    else:
        yield raw


def _put_csv(table: pd.DataFrame, stream: IO[str], is_first: bool, *, separator: str) -> None:
    write_csv(table, stream, separator, header=is_first)


def _put_json(table: pd.DataFrame, stream: IO[str], is_first: bool) -> None:
    table.to_json(stream, orient="records", lines=True, force_ascii=False, double_precision=15)


class _ParquetRows:
    """Rows of a Parquet file; the first ones decide what its columns hold."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.writer: Any = None

    def write(self, table: pd.DataFrame) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.writer is None:
            schema = pa.Schema.from_pandas(table, preserve_index=False)
            # A column of which nothing is known yet may hold texts later.
            fields = [pa.field(one.name, pa.string()) if pa.types.is_null(one.type) else one for one in schema]
            self.writer = pq.ParquetWriter(self.file, pa.schema(fields))
        self.writer.write_table(pa.Table.from_pandas(table, schema=self.writer.schema, preserve_index=False))

    def finish(self) -> None:
        self.close()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class _Collected:
    """Rows of a format that is written at once. write_whole : does that."""

    def __init__(self, write_whole: Callable[[pd.DataFrame], None]) -> None:
        self.write_whole = write_whole
        self.tables: list[pd.DataFrame] = []

    def write(self, table: pd.DataFrame) -> None:
        self.tables.append(table)

    def finish(self) -> None:
        import pandas as pd

        self.write_whole(pd.concat(self.tables, ignore_index=True))

    def close(self) -> None:
        self.tables.clear()


_ROWS: dict[str, Callable[[Path], _Rows]] = {
    ".csv": partial(_TextRows, put=partial(_put_csv, separator=",")),
    ".tsv": partial(_TextRows, put=partial(_put_csv, separator="\t")),
    **dict.fromkeys([".jsonl", ".ndjson"], partial(_TextRows, put=_put_json)),
    ".parquet": _ParquetRows,
}
