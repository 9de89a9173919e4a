"""Exceptions of textsignal, in one tree, and the wording of values in messages, which are short, on one line.

Messages name the invalid value, the allowed ones and a remedy.
"""

import reprlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Characters of a message, and of a value or name in it; names that are listed; rows that are named.
LONGEST_MESSAGE, LONGEST_VALUE, MOST_NAMES, NAMED = 240, 60, 20, 5


class TextSignalError(Exception):
    """Base class of all errors that textsignal raises on purpose."""


class InputError(TextSignalError, ValueError):
    """Invalid input: a column, row, value or option cannot be used."""


class RowsError(InputError):
    """Rows cannot be used: the message in pieces, of which whole numbers are rows, counted from 0."""

    def __str__(self) -> str:
        return self.counted_from(1)

    def counted_from(self, first: int) -> str:
        """Return the message, if the first row has this number."""
        return "".join(piece if isinstance(piece, str) else str(piece + first) for piece in self.args)

    @staticmethod
    @contextmanager
    def among(rows: Sequence[int] | NDArray[np.int64]) -> Iterator[None]:
        """Renumber rows of errors inside the block to their numbers in a larger table."""
        try:
            yield
        except RowsError as error:
            pieces = [piece if isinstance(piece, str) else int(rows[piece]) for piece in error.args]
            raise RowsError(*pieces) from None


class OutputError(TextSignalError, OSError):
    """Output cannot be written: it exists already, or the location is not writable."""


class StorageError(TextSignalError, ValueError):
    """A stored model is missing, damaged, altered or of a newer format."""


class TrainingError(TextSignalError, ArithmeticError):
    """Training diverged; the message names the iteration and a remedy."""


def shortened(text: object, most: int = LONGEST_VALUE) -> str:
    """Return a text on one line, without characters that cannot be printed, its middle cut if it is long."""
    line, half = str(text), most // 2
    if len(line) > 4 * most:
        line = f"{line[: 2 * most]}...{line[-2 * most :]}"
    line = " ".join("".join(character if character.isprintable() else " " for character in line).split())
    return line if len(line) <= most else f"{line[:half]}...{line[-half:]}"


def one_line(error: Exception) -> str:
    """Return the message of an error on one line, shortened in the middle if long; its type if empty."""
    return shortened(error, LONGEST_MESSAGE) or type(error).__name__


def shown(value: Any) -> str:
    """Return a value as Python writes it, short even if it is long or nested; numbers of NumPy as plain numbers."""
    if isinstance(value, np.floating):
        return f"{value:.15g}"
    return shortened(_SHORT.repr(value.item() if isinstance(value, np.number) else value))


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = LONGEST_VALUE
        self.maxlevel = 2


_SHORT = _Short()


def listed(names: Sequence[object], write: Callable[[object], str] = shortened) -> str:
    """Return names with commas between them: the first ones and how many more, if there are many."""
    first = [write(name) for name in names[:MOST_NAMES]]
    while len(first) > 1 and len(", ".join(first)) > LONGEST_MESSAGE:
        first.pop()
    more = [f"{len(names) - len(first):,} more"] if len(names) > len(first) else []
    return ", ".join(first + more)


def raise_rows(
    bad: NDArray[np.bool_],
    problem: str,
    advice: str = "",
    cell: Callable[[int], str] | None = None,
    between: str = ", ",
) -> None:
    """Raise RowsError with the first rows where `bad` is true; cell : the text of a row's cell."""
    rows = np.flatnonzero(bad)
    if rows.size:
        pieces: list[str | int] = []
        for row in rows[:NAMED].tolist():
            pieces += [between if pieces else "", "row ", row, "" if cell is None else f": {cell(row)}"]
        more = f" and {rows.size - NAMED} more" if rows.size > NAMED else ""
        raise RowsError(problem, *pieces, f"{more} (rows count from 1){advice}")
