"""The file of a search: its first line says of what data and settings it is, each other one is a finished task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from textsignal.data.write import keep_line, kept_lines
from textsignal.errors import InputError, OutputError
from textsignal.uncertainty.search_cells import SearchTask, Setting, Values

#: What the first line is called.
OF = "search of"


class Finished:
    """Values of finished tasks, kept in a file where there is one.

    path : None for no file; of : name -> what the search is of, which must be the same in the file.
    """

    def __init__(self, path: Path | None, of: dict[str, Any]) -> None:
        self._path, self._lock = path, Lock()
        self._values: dict[SearchTask, Values] = {}
        if path is None:
            return
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file")
        lines = list(kept_lines(path))
        if lines:
            _check(path, lines[0], of)
        else:
            _begin(path, of)
        for line in lines[1:]:
            if isinstance(line, dict) and "part" in line:
                setting = Setting(line["n_topics"], line["supervision"])
                self._values[SearchTask(setting, line["part"], line["number"])] = line["values"]

    def __contains__(self, task: SearchTask) -> bool:
        return task in self._values

    def __getitem__(self, task: SearchTask) -> Values:
        return self._values[task]

    def keep(self, task: SearchTask, values: Values) -> None:
        """Take the values of a task, and write them down at once."""
        with self._lock:
            self._values[task] = values
            if self._path is not None:
                place = {"part": task.part, "number": task.number}
                keep_line(asdict(task.setting) | place | {"values": values}, self._path)


def _begin(path: Path, of: dict[str, Any]) -> None:
    """Write the first line, over what a stop may have left of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if not json.dumps({OF: of}, ensure_ascii=False).startswith(path.read_text(encoding="utf-8", errors="replace")):
            raise InputError(f"{path} is not a file of a search; give another name")
        path.unlink()
    keep_line({OF: of}, path)


def _check(path: Path, first: Any, of: dict[str, Any]) -> None:
    found = first.get(OF) if isinstance(first, dict) else None
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a file of a search; give another name")
    for name, value in of.items():
        if found.get(name) != value:
            what = (
                "other texts, responses or groups"
                if name == "data"
                else f"{name}={found.get(name)!r}, and this one of {name}={value!r}"
            )
            raise InputError(f"{path} holds a search of {what}; give another file, or remove it to begin anew")


def digest(arrays: Iterable[np.ndarray], texts: Iterable[str] = ()) -> str:
    """Names data: others have another."""
    found = hashlib.sha256()
    for values in arrays:
        found.update(f"{values.dtype.str}{values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    for text in texts:
        found.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]
