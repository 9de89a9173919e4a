"""Files and folders that appear whole or not at all, and replace others only when told to."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
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
    # A folder that is there may be a disk of its own, so the scratch is inside it.
    with _scratch(target, [target, *target.parents]) as scratch:
        written = scratch / "new"
        written.mkdir()
        yield written
        _move(written, target)


@contextmanager
def whole_file(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a file to write to that becomes `target` when the block ends well, and vanishes when it does not."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise OutputError(f"{target} is no regular file and is not replaced; give another name")
    if target.exists() and not force:
        raise OutputError(f"{target} exists already; give another name, or --force (force=True) to replace it")
    with _scratch(target, target.parents) as scratch:
        written = scratch / target.name
        yield written
        target.parent.mkdir(parents=True, exist_ok=True)
        written.replace(target)


@contextmanager
def _scratch(target: Path, places: Sequence[Path]) -> Iterator[Path]:
    """A new folder in the first place that exists: on the target's disk, so that moving is a rename."""
    place = next(place for place in places if place.exists())
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=place))
    except OSError as error:
        raise OutputError(f"cannot write to {place}: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, target: Path) -> None:
    """Put what was written into its place, each part by one rename."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(target)
        return
    replaced = folder.with_name("old")
    replaced.mkdir()
    for written in sorted(folder.iterdir()):
        place = target / written.name
        # A rename replaces files by files alone.
        if place.exists() and (place.is_dir() or written.is_dir()):
            place.rename(replaced / written.name)
        written.replace(place)
