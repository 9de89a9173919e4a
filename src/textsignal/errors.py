"""Exceptions of textsignal, in one tree. Messages name the invalid value, the allowed ones and a remedy."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


class TextSignalError(Exception):
    """Base class of all errors that textsignal raises on purpose.

    Examples
    --------
    >>> import textsignal as ts
    >>> issubclass(ts.errors.InputError, ts.errors.TextSignalError)
    True
    """


class InputError(TextSignalError, ValueError):
    """Invalid input: a column, row, value or option cannot be used."""


class RowsError(InputError):
    """Rows cannot be used: the message in pieces, of which whole numbers are rows, counted from 0.

    Examples
    --------
    >>> error = RowsError("price is missing in row ", 2, "; give one")
    >>> str(error), error.counted_from(101)
    ('price is missing in row 3; give one', 'price is missing in row 103; give one')
    """

    def __str__(self) -> str:
        return self.counted_from(1)

    def counted_from(self, first: int) -> str:
        """Return the message, if the first row has this number."""
        return "".join(piece if isinstance(piece, str) else str(piece + first) for piece in self.args)

    @staticmethod
    @contextmanager
    def among(rows: Sequence[int] | NDArray[np.int64]) -> Iterator[None]:
        """Renumber rows of errors inside the block to their numbers in a larger table.

        Examples
        --------
        >>> with RowsError.among([0, 7, 9]):
        ...     raise RowsError("price is missing in row ", 2)
        Traceback (most recent call last):
            ...
        textsignal.errors.RowsError: price is missing in row 10
        """
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
