"""A file's bytes, unpacked, and its text: what is wrong with either is said with its line."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from textsignal.errors import InputError

_BLOCK = 2**20
#: Characters that are shown of a name, and of the message of another package; names that are listed.
LONGEST_NAME, LONGEST_MESSAGE, MOST_NAMES = 60, 240, 20
#: Bytes that tell what a file is.
_START = 2**10
#: Endings of packed files.
PACKED = (".gz", ".bz2", ".xz", ".zip")
#: The first that a file begins with; UTF-32's begins with UTF-16's.
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


def check_file(path: Path) -> None:
    """Raise unless there is a file that holds something."""
    if path.is_dir():
        raise InputError(f"{path} is a directory; give one file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty")


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that is plain, packed by gzip, bzip2 or xz, or alone in a zip archive."""
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
    """The encoding that was given, or that of a byte order mark, or UTF-8; raise if the file is not text at all."""
    with unpacked(path) as stream:
        start = stream.read(_START)
    kind = next((kind for beginning, kind in _BEGINNINGS.items() if start.startswith(beginning)), None)
    if kind is not None:
        raise InputError(f"{path} is not text, whatever its name says: it looks like {kind}")
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
    """The encoding of wide characters that the zero bytes of a file's start are of; None if absent."""
    quads = [start[place : place + 4] for place in range(0, len(start) - 3, 4)]
    for encoding, zeros in _WIDE.items():
        fits = sum(tuple(byte == 0 for byte in quad) == zeros for quad in quads)
        if quads and fits > len(quads) / 2:
            return encoding
    return None


def misfit(path: Path, encoding: str) -> str:
    """Say where a file is not in an encoding."""
    where, has_zero = _misfit(path, encoding)
    if has_zero and not encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        return f"{where} is not {encoding}, and there are zero bytes: this does not look like text"
    return f'{where} is not {encoding}; give its encoding, such as encoding="cp1252"'


def _misfit(path: Path, encoding: str) -> tuple[str, bool]:
    """The first place that is not in an encoding, and True if the file holds a zero byte; read block by block."""
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
    return where or "a byte", has_zero


def one_line(error: Exception) -> str:
    """Put the message of an error on one line, cut where it is long; its type where it has none."""
    return shortened(str(error), LONGEST_MESSAGE) or type(error).__name__


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    r"""Text on one line, without characters that cannot be shown; its middle is cut where it is long.

    Examples
    --------
    >>> shortened("one\n two"), shortened("abcdefghij", 5)
    ('one two', 'ab...ij')
    """
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    half = most // 2
    return line if len(line) <= most else f"{line[:half]}...{line[-half:]}"


def short_repr(value: object) -> str:
    """A value as Python writes it, its middle cut where it is long."""
    return shortened(repr(value))


def listed(names: Sequence[object]) -> str:
    """Names with commas between them: the first ones and how many more, where there are many.

    Examples
    --------
    >>> listed(["text", "stars"]), listed([f"column {i}" for i in range(100)])[-29:]
    ('text, stars', 'column 18, column 19, 80 more')
    """
    shown = [shortened(str(name)) for name in names[:MOST_NAMES]]
    while len(shown) > 1 and len(", ".join(shown)) > LONGEST_MESSAGE:
        shown.pop()
    more = [f"{len(names) - len(shown):,} more"] if len(names) > len(shown) else []
    return ", ".join(shown + more)
