"""The exceptions textsignal raises: one tree, each message says what was given, what is allowed, what to do."""


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


class OutputError(TextSignalError, OSError):
    """What was asked for cannot be written: it exists already, or the place is not writable."""


class StorageError(TextSignalError, ValueError):
    """A stored model is missing, damaged, altered or of a newer format."""


class TrainingError(TextSignalError, ArithmeticError):
    """Training broke down; the message says at which iteration and what to change."""


class StudyError(TextSignalError, RuntimeError):
    """A cell of a study failed; the message names it. Cells that were finished are kept."""
