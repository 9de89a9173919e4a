"""Vega as one script for the page, cached on disk because bundling takes a second."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

#: Parts of Vega that the page's charts need, in the versions of vl-convert 1.9; without maps and networks.
PARTS = {
    "vega-util@2.1.0": "{extend}",
    "vega-dataflow@6.1.0": "{transforms}",
    "vega-transforms@5.1.0": "* as transformsOfData",
    "vega-view-transforms@5.1.0": "* as transformsOfViews",
    "vega-encode@5.1.0": "* as encoders",
    "vega-parser@7.1.0": "{parse}",
    "vega-view@6.1.0": "{View}",
    "vega-interpreter@2.0.0": "{expressionInterpreter}",
    "vega-tooltip@1.0.0": "{Handler as Tooltip}",
}
SNIPPET = "\n".join(
    [
        *(f'import {names} from "/npm/{part}/+esm";' for part, names in PARTS.items()),
        "extend(transforms, transformsOfData, transformsOfViews, encoders);",
        "window.textsignalVega = {parse, View, expressionInterpreter, Tooltip};",
    ]
)


@cache
def library() -> str:
    """Return Vega in one script, half the size of Vega, Vega-Lite and Vega-Embed."""
    folder = _cache_folder()
    if folder is None:
        return _bundle()
    snippet = hashlib.sha256(SNIPPET.encode()).hexdigest()[:8]
    file = folder / f"vega-{version('vl-convert-python')}-{snippet}.js"
    script = _read(file)
    if script is None:
        script = _bundle()
        _write(file, script)
    return script


def _bundle() -> str:
    return str(vl_convert.javascript_bundle(SNIPPET))


def _cache_folder() -> Path | None:
    """Cache folder of the user; None if there is no home folder."""
    usual = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / usual) / "textsignal"
    except RuntimeError:  # no home folder
        return None


def _read(file: Path) -> str | None:
    """Script in a file, whose first line is the digest of the rest; None if absent or damaged."""
    try:
        digest, _, script = file.read_bytes().decode("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == _digest(script) else None


def _write(file: Path, script: str) -> None:
    """Cache a script, whole or not at all; a cache that cannot be written is ignored."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            new = Path(folder, file.name)
            new.write_bytes(f"{_digest(script)}\n{script}".encode())
            new.replace(file)
    except OSError:
        pass  # The cache only saves a second; the report does not depend on it.


def _digest(script: str) -> str:
    return f"// sha256 {hashlib.sha256(script.encode()).hexdigest()}"
