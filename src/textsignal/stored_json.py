"""Files of JSON that may be damaged or forged, and short messages about what they hold."""

from __future__ import annotations

import json
import math
import reprlib
from pathlib import Path
from typing import Any

from textsignal.errors import StorageError

#: The largest stored number. Fits stay far below, and the product of three such numbers is finite.
LARGEST = 1e100
#: The largest file of settings, in bytes.
MOST_BYTES = 2**30
#: Characters of a message that quotes a stored model, and of a value in it.
LONGEST_MESSAGE, LONGEST_VALUE = 240, 60


def shown(value: Any) -> str:
    """A value as an error names it: short, whatever it is."""
    return shortened(_SHORT.repr(value), LONGEST_VALUE)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = LONGEST_VALUE
_SHORT.maxlevel = 2


def shortened(text: object, most: int = LONGEST_MESSAGE) -> str:
    r"""A text of at most `most` characters, in one line, all of which can be printed.

    Examples
    --------
    >>> shortened("a line\nand " + 500 * "x", 30)
    'a line\\nand xxxxxx...xxxxxx...'
    """
    line = str(text)
    if len(line) > most:
        line = f"{line[: most - most // 3 - 3]}...{line[-(most // 3) :]}"
    line = "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def read_json(file: Path) -> Any:
    """Read a file of JSON; StorageError, in one line, for everything that a stored model does not hold.

    That is NaN and infinity, numbers beyond `LARGEST`, names that occur twice, nesting without end, and files beyond
    `MOST_BYTES`.
    """
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise ValueError(f"it has {size:,} bytes, and a model has at most {MOST_BYTES:,}")
        if not file.is_file():
            raise ValueError("it is not a file")
        return json.loads(
            file.read_bytes().decode("utf-8", "surrogatepass"),
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_refuse,
            object_pairs_hook=_unique,
        )
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise StorageError(
            f"{file} cannot be read ({shortened(error) or type(error).__name__}); it may be truncated: "
            "save the model again"
        ) from error


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)) or abs(number) > LARGEST:
        raise ValueError(f"it holds the number {shortened(text, LONGEST_VALUE)}, which is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > math.log10(LARGEST):
        raise ValueError(f"it holds a number of {len(text):,} digits")
    return int(text)


def _refuse(text: str) -> None:
    raise ValueError(f"it holds {text}, which is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def is_text(value: str) -> bool:
    """True if a string consists of characters: half of a surrogate pair is not one."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
