"""Values as JSON holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def as_plain(value: Any) -> Any:
    """A value as JSON holds it. A random generator cannot be stored and becomes None: the fit is done."""
    if isinstance(value, dict):
        return {name: as_plain(inner) for name, inner in value.items()}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        return value.tolist()
    if isinstance(value, tuple | list | range):
        return [as_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value
