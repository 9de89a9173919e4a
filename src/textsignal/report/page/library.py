"""The scripts that draw a report's charts in the browser, kept on disk: putting them together takes a second."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert


@cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    folder = _cache_folder()
    if folder is None:
        return _bundle()
    file = folder / f"vega-{version('vl-convert-python')}.js"
    kept = _read(file)
    if kept is None:
        kept = _bundle()
        _keep(file, kept)
    return kept


def _bundle() -> str:
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _cache_folder() -> Path | None:
    """Where programs of this user keep what they can make again; None where there is no such place."""
    usual = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / usual) / "textsignal"
    except RuntimeError:  # nobody's home
        return None


def _read(file: Path) -> str | None:
    """The script in a file, whose first line is the digest of the rest; None where there is none or it is damaged."""
    try:
        digest, _, script = file.read_bytes().decode("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == _digest(script) else None


def _keep(file: Path, script: str) -> None:
    """Write a script for the next time, whole or not at all; where nothing can be written, it is made again then."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            new = Path(folder, file.name)
            new.write_bytes(f"{_digest(script)}\n{script}".encode())
            new.replace(file)
    except OSError:
        pass  # The cache saves a second and nothing else: a report is the same without it.


def _digest(script: str) -> str:
    return f"// sha256 {hashlib.sha256(script.encode()).hexdigest()}"
