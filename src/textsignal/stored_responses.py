"""The folder of a model of several responses: a folder of two files for each, and one file that names them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from textsignal.data.write import file_names
from textsignal.errors import OutputError, StorageError
from textsignal.stored_json import is_text, read_json, shown

FORMAT, FORMAT_VERSION = "textsignal responses", 1
NAMES_FILE = "responses.json"
#: The most responses of a stored model.
MOST_RESPONSES = 10_000


def is_of_several(folder: Path) -> bool:
    """Whether a folder holds a model of several responses."""
    return (folder / NAMES_FILE).is_file()


def write_names(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """Write which responses there are; give the folder of each."""
    inner = dict(zip(names, file_names(names), strict=True))
    content = {"format": FORMAT, "format_version": FORMAT_VERSION, "responses": inner}
    try:
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / NAMES_FILE).write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model: {error.strerror or error}") from error
    return {name: folder / place for name, place in inner.items()}


def read_names(folder: Path) -> dict[str, str]:
    """Read which responses there are, in their order, and in which folder each is."""
    file = folder / NAMES_FILE
    content = read_json(file)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StorageError(f"{file} is not of {FORMAT}")
    version = content.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise StorageError(f"{file} has format {shown(version)}; this textsignal reads {FORMAT_VERSION}")
    inner = content.get("responses")
    if not isinstance(inner, dict) or not all(map(is_text, inner)) or not 0 < len(inner) <= MOST_RESPONSES:
        raise StorageError(f"{file} does not name its responses; save the model again")
    if list(inner.values()) != file_names(inner):
        raise StorageError(f"{file} names other folders than those of its responses; save the model again")
    return inner
