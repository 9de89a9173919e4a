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

#: Parts of Vega that the page's charts need, in the versions that vl-convert 1.9 holds; maps and networks stay out.
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
    """What draws Vega's charts, in one script: half the size of Vega, Vega-Lite and Vega-Embed."""
    folder = _cache_folder()
    if folder is None:
        return _bundle()
    made_of = hashlib.sha256(SNIPPET.encode()).hexdigest()[:8]
    file = folder / f"vega-{version('vl-convert-python')}-{made_of}.js"
    kept = _read(file)
    if kept is None:
        kept = _bundle()
        _keep(file, kept)
    return kept


def _bundle() -> str:
    return str(vl_convert.javascript_bundle(SNIPPET))


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
