"""Compilation of loops, without the interpreter lock, and cached on disk if possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

NO_PLACE = (
    "compiled code cannot be kept on disk, so every start compiles it anew, which takes about ten seconds: neither "
    "the package's folder nor the home folder can be written to; NUMBA_CACHE_DIR can name a folder that can"
)


def compiling(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a loop with numba and these options; cached if a folder is writable, else it warns."""
    settings = {"nogil": True, "error_model": "numpy", **options}

    def compiled(loop: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **settings)(loop)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
        _warn_once()
        return njit(**settings)(loop)

    return compiled


@cache
def _warn_once() -> None:
    warnings.warn(NO_PLACE, RuntimeWarning, stacklevel=3)
