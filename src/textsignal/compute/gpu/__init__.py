"""CUDA versions of the kernels; CuPy, of the extra `gpu`, is imported when first needed and compiles them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from textsignal.errors import InputError

HERE = Path(__file__).parent
#: Threads of a block where nothing asks for another number.
THREADS = 256
NO_CARD = "the GPU kernels need an NVIDIA card, and none is there"


@cache
def missing() -> str:
    """Describe the missing requirements of the GPU kernels; "" if there are none."""
    try:
        import cupy
    except ImportError:
        return "the GPU kernels need CuPy: pip install 'textsignal[gpu]'"
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else NO_CARD
    except cupy.cuda.runtime.CUDARuntimeError:
        return NO_CARD


@cache
def cupy() -> Any:
    """The module cupy."""
    if missing():
        raise InputError(missing())
    import cupy

    return cupy


@cache
def function(name: str, *files: str, **defined: Any) -> Any:
    """The CUDA function `name` of files that are compiled as one, with macros `defined` before them."""
    return _module(files, tuple(sorted(defined.items()))).get_function(name)


@cache
def _module(files: tuple[str, ...], defined: tuple[tuple[str, Any], ...]) -> Any:
    macros = [f"#define {name} {value}" for name, value in defined]
    code = "\n".join([*macros, *((HERE / file).read_text(encoding="utf-8") for file in files)])
    return cupy().RawModule(code=code, options=("-std=c++17",))


def blocks(n_items: int, lanes: int, threads: int = THREADS) -> tuple[tuple[int], tuple[int]]:
    """Grid and block for `n_items` of `lanes` lanes each."""
    return (max(1, -(-n_items * lanes // threads)),), (threads,)
