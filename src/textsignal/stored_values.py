"""Values of a stored model, checked to be of the type that they must have: a stored model may be damaged."""

from __future__ import annotations

from typing import Any

import numpy as np


def checked_list(name: str, value: Any, depth: int) -> Any:
    """A list of strings, or of such lists."""
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a list")
    if depth > 1:
        return [checked_list(name, inner, depth - 1) for inner in value]
    if not all(isinstance(inner, str) for inner in value):
        raise ValueError(f"{name} holds something other than strings")
    return value


def checked(name: str, value: Any, kind: type) -> Any:
    """A number or string of the type that it must have."""
    allowed = (int, float) if kind is float else kind
    if not isinstance(value, allowed) or isinstance(value, bool) != (kind is bool):
        raise ValueError(f"{name} is {value!r}, which is not of type {kind.__name__}")
    return kind(value)


def checked_array(
    name: str, arrays: dict[str, np.ndarray], dtypes: tuple[type, ...] = (np.float32, np.float64)
) -> np.ndarray:
    """An array of the type of numbers that it must have."""
    if arrays[name].dtype not in dtypes:
        wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise ValueError(f"{name} holds {arrays[name].dtype}, not numbers of {wanted}")
    return arrays[name]
