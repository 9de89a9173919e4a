"""The exceptions textsignal raises: one tree, each message says what was given, what is allowed, what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


class TextSignalError(Exception):
    """Root of every error that textsignal raises on purpose.

    Examples
    --------
    >>> import textsignal as ts
    >>> issubclass(ts.errors.InputError, ts.errors.TextSignalError)
    True
    """


class InputError(TextSignalError, ValueError):
    """What was given cannot be used: a column, row, value or option is wrong."""


class RowsError(InputError):
    """Rows cannot be used: the message in pieces, of which whole numbers are rows, counted from 0.

    Examples
    --------
    >>> error = RowsError("there is no price in row ", 2, "; give one")
    >>> str(error), error.counted_from(101)
    ('there is no price in row 3; give one', 'there is no price in row 103; give one')
    """

    def __str__(self) -> str:
        return self.counted_from(1)

    def counted_from(self, first: int) -> str:
        """The message, where the first row has this number."""
        return "".join(piece if isinstance(piece, str) else str(piece + first) for piece in self.args)

    @staticmethod
    @contextmanager
    def among(rows: Sequence[int] | NDArray[np.int64]) -> Iterator[None]:
        """Give rows of errors inside the block the numbers that they have in a larger table.

        Examples
        --------
        >>> with RowsError.among([0, 7, 9]):
        ...     raise RowsError("there is no price in row ", 2)
        Traceback (most recent call last):
            ...
        textsignal.errors.RowsError: there is no price in row 10
        """
        try:
            yield
        except RowsError as error:
            pieces = [piece if isinstance(piece, str) else int(rows[piece]) for piece in error.args]
            raise RowsError(*pieces) from None


class OutputError(TextSignalError, OSError):
    """What was asked for cannot be written: it exists already, or the place is not writable."""


class StorageError(TextSignalError, ValueError):
    """A stored model is missing, damaged, altered or of a newer format."""


class TrainingError(TextSignalError, ArithmeticError):
    """Training broke down; the message says at which iteration and what to change."""
