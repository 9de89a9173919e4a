"""A large file of JSON lines, one line at a time: good lines are used, bad ones are counted with the reason."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from textsignal.data.read import check_file, one_line, unpacked
from textsignal.datasets.sample import LeftOut
from textsignal.errors import InputError

Record = dict[str, Any]
Progress = Callable[[int], None]

#: Bytes of a line that are held at once. A longer line, as of a file without line ends, is read as several.
LONGEST = 2**20
#: Lines between two reports of progress.
EVERY = 10_000


class Skip(Exception):
    """Why a line is left out."""


class _BrokenOff(Exception):
    """Why a file ends too early."""


def read_json_lines(path: Path, use: Callable[[Record], None], progress: Progress) -> LeftOut:
    """Hand the object in each line of a file to `use`, which raises `Skip` with the reason to leave it out.

    The file is plain, or gzipped where its name ends in .gz. One line is in memory at a time. Where a gzipped
    file breaks off, the whole lines before are used. `progress` is called with the number of lines read so
    far, every 10,000 lines and at the end.
    """
    reasons: Counter[str] = Counter()
    n_read, broken_off = 0, ""
    try:
        for line in _lines(path):
            n_read += 1
            try:
                use(_record(line))
            except Skip as reason:
                reasons[str(reason)] += 1
            if n_read % EVERY == 0:
                progress(n_read)
    except _BrokenOff as reason:
        broken_off = str(reason)
    progress(n_read)
    return LeftOut(path.name, n_read, dict(reasons), broken_off)


def check_used(path: Path, left_out: LeftOut) -> None:
    """Raise unless some line of a file was used."""
    if not left_out.n_used:
        start = first_line(path)[:60].decode("utf-8", "replace")
        raise InputError(f"no line of {path} can be used: {left_out.in_short()}; its first line begins {start!r}")


def first_line(path: Path) -> bytes:
    """First line of a file; raise if there is no file, if it is not what its name says, or if it is empty."""
    for line in _lines(path):
        return line
    raise InputError(f"{path} is empty")


def pick(fields: Callable[[Record], tuple[Any, ...]], record: Record) -> tuple[Any, ...]:
    """Pick the fields of a record that are needed; fields is an `itemgetter`."""
    try:
        return fields(record)
    except KeyError as missing:
        raise Skip(f"no key {missing}") from None


def encoded(*parts: str | None) -> bytes:
    """Encode strings as one, parted by zero bytes; half of a surrogate pair, which no table can hold, is skipped."""
    try:
        return "\0".join([part or "" for part in parts]).encode()
    except UnicodeEncodeError:
        raise Skip("half a character (a lone surrogate)") from None


def _lines(path: Path) -> Iterator[bytes]:
    n_read = 0
    try:
        check_file(path)
        with unpacked(path) as stream:
            for n_read, line in enumerate(iter(partial(stream.readline, LONGEST), b""), 1):  # noqa: B007
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        if n_read:
            raise _BrokenOff(one_line(error)) from error
        raise InputError(f"cannot read {path}: {one_line(error)}") from error
    except (OSError, RuntimeError) as error:
        raise InputError(f"cannot read {path}: {one_line(error)}") from error


def _record(line: bytes) -> Record:
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError:
        raise Skip("not in UTF-8") from None
    except (ValueError, RecursionError):
        raise Skip("no JSON") from None
    if type(record) is not dict:
        raise Skip("JSON, but no object")
    return record
