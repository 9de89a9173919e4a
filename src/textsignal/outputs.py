"""Files and folders that appear whole or not at all, and replace others only when told to."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textsignal.errors import OutputError


@contextmanager
def whole_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to write into that becomes `target` when the block ends well, and vanishes when it does not.

    Where `target` exists, `force` replaces in it what was written and leaves other files alone.
    """
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file; give the name of a folder")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise OutputError(f"{target} exists already; give another name, or --force (force=True) to replace it")
    folder = _scratch(target)
    try:
        yield folder
        folder.chmod(0o755)
        _move(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def whole_file(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a file to write to that becomes `target` when the block ends well, and vanishes when it does not."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder; give the name of a file")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already; give another name, or --force (force=True) to replace it")
    folder = _scratch(target)
    try:
        yield folder / target.name
        (folder / target.name).replace(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _scratch(target: Path) -> Path:
    """A new folder beside `target`, so that moving is a rename."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise OutputError(f"cannot write to {target.parent}: {error.strerror or error}") from error


def _move(folder: Path, target: Path) -> None:
    """Put what was written into its place, each part by one rename."""
    if not target.exists():
        folder.rename(target)
        return
    for written in sorted(folder.iterdir()):
        place = target / written.name
        if place.is_dir():
            old = folder / f"{written.name}.old"
            place.rename(old)
        written.replace(place)
