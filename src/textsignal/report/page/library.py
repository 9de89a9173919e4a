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
SNIPPET = "\n".join(f'import {names} from "/npm/{part}/+esm";' for part, names in PARTS.items()) + (
    "\nextend(transforms, transformsOfData, transformsOfViews, encoders);"
    "\nwindow.textsignalVega = {parse, View, expressionInterpreter, Tooltip};"
)


@cache
def library() -> str:
    """Return Vega in one script, half the size of Vega, Vega-Lite and Vega-Embed."""
    usual = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / usual) / "textsignal"
    except RuntimeError:  # no home folder
        return str(vl_convert.javascript_bundle(SNIPPET))
    snippet = hashlib.sha256(SNIPPET.encode()).hexdigest()[:8]
    file = folder / f"vega-{version('vl-convert-python')}-{snippet}.js"
    try:  # The first line is the digest of the rest.
        digest, _, script = file.read_bytes().decode("utf-8").partition("\n")
        if digest == _digest(script):
            return script
    except (OSError, UnicodeDecodeError):
        pass  # absent or damaged
    script = str(vl_convert.javascript_bundle(SNIPPET))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:  # whole or not at all
            Path(place, file.name).write_bytes(f"{_digest(script)}\n{script}".encode())
            Path(place, file.name).replace(file)
    except OSError:
        pass  # The cache only saves a second; the report does not depend on it.
    return script


def _digest(script: str) -> str:
    return f"// sha256 {hashlib.sha256(script.encode()).hexdigest()}"
