"""Numbers and texts as a page takes them: deflated, in base64."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(values: NDArray[Any]) -> str:
    """The bytes of an array."""
    return _deflated(np.ascontiguousarray(values).tobytes())


def packed_lines(lines: Iterable[str], separator: str = "\n") -> str:
    """Texts, with a separator between them that none of them holds."""
    return _deflated(separator.join(lines).encode())


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")
