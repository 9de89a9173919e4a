"""Lines of JSON that are kept as they come, so that what was stopped can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np


def kept_lines(kept: Path) -> Iterator[Any]:
    """What lines of a file hold, in JSON; a line cut short by a stop is left out."""
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)


def keep_line(value: Any, kept: Path) -> str:
    """Add a line, with one write, and see it to the disk; give it."""
    torn = kept.exists() and kept.stat().st_size > 0 and not _ends_a_line(kept)
    line = json.dumps(value, ensure_ascii=False, default=np.generic.item)
    with kept.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + line + "\n")
        file.flush()
        os.fsync(file.fileno())
    return line


def _ends_a_line(file: Path) -> bool:
    with file.open("rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) == b"\n"
