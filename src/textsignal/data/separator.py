"""What parts the cells of a delimited file, as its first lines tell."""

import csv
import io
from pathlib import Path

from textsignal.data.files import unpacked
from textsignal.errors import InputError

#: What may part cells where nobody says, the likeliest first.
CANDIDATES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 2**16


def find_separator(path: Path, encoding: str) -> str:
    """The likeliest separator that parts the header and every row after it into the same number of cells.

    At least two cells, in the first 65,536 characters. A comma where none does, and where several do.
    """
    with unpacked(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        sample = text.read(_SAMPLE)
    return next((separator for separator in CANDIDATES if _parts_evenly(sample, separator)), ",")


def check_separator(separator: str) -> str:
    """A separator that was given: one character, or the name of the tab; raise unless it can be one."""
    found = {"tab": "\t", r"\t": "\t"}.get(separator, separator)
    if len(found) != 1 or found in '"\r\n' or ord(found) > 127:
        raise InputError(f'sep={separator!r} cannot part cells; give one character such as ";" or "|", or "tab"')
    return found


def _parts_evenly(sample: str, separator: str) -> bool:
    try:
        records = [record for record in csv.reader(io.StringIO(sample, newline=""), delimiter=separator) if record]
    except csv.Error:  # a cell longer than the reader takes: the quotation marks are not of this separator
        return False
    if len(sample) == _SAMPLE:
        records = records[:-1]  # cut off in the middle
    return bool(records) and len(records[0]) > 1 and len({len(record) for record in records}) == 1
