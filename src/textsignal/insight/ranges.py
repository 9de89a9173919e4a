"""Ranges of what topics cost and bring, and which of these can be told from nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from textsignal.errors import InputError
from textsignal.insight.naming import Naming

#: What has ranges.
MEASURES = ("lift", "worth")


@dataclass(frozen=True)
class Range:
    """A range of what a topic costs or brings.

    clear : whether it can be told from nothing, all topics judged together.

    Examples
    --------
    >>> stars = Naming("rating", "stars")
    >>> Range(0.042, 0.069, True).written(stars), Range(-0.011, 0.03, False).written(stars)
    ('0.04 to 0.07', '−0.01 to 0.03')
    >>> Range(0.001, 0.03, True).written(stars)
    '0.001 to 0.030'
    """

    low: float
    high: float
    clear: bool

    def written(self, naming: Naming, more: int = 0, sign: str = "") -> str:
        """Both ends, with a digit more where one of what is clear would be rounded to 0; sign : "+" to write it too."""
        ends = [naming.steps * end for end in (self.low, self.high)]
        digits = naming.digits + more
        digits += self.clear and any(not round(end, digits) for end in ends)
        return " to ".join(f"{end:{sign}z.{digits}f}".replace("-", "−") for end in ends)

    @property
    def doubt(self) -> str:
        """What is said behind it where it is not clear."""
        if self.clear:
            return ""
        if self.low <= 0 <= self.high:
            return " Not clear: the range includes no change at all."
        return " Not clear when all are judged together."


def percent(level: float) -> str:
    """A level as people say it.

    Examples
    --------
    >>> percent(0.95), percent(1 - 0.975)
    ('95%', '2.5%')
    """
    return f"{round(100 * level, 3):g}%"


def range_of(topic: Any, measure: str) -> Range | None:
    """The range of a topic's lift or worth, where it has one: a row of a table of drivers, or what has its names."""
    low, high = (getattr(topic, f"{measure}_{end}", None) for end in ("low", "high"))
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    return Range(float(low), float(high), bool(getattr(topic, f"{measure}_clear", True)))


def is_clear(topic: Any, measure: str) -> bool:
    """Whether a topic's lift or worth can be told from nothing; where nobody has looked, it is taken to be."""
    return bool(getattr(topic, f"{measure}_clear", None) in (None, True))


def told_from_nothing(rows: pd.DataFrame, level: float) -> pd.Series:
    """Whether each lift or worth is there, all topics judged together; rows : of an `EffectTable`."""
    return (rows["p_holm"] < 1 - level) & (rows["estimate"] > 0)


def with_clear(drivers: pd.DataFrame, effects: pd.DataFrame, level: float) -> pd.DataFrame:
    """A table of drivers that has ranges, with lift_clear and worth_clear behind these.

    effects : of an `EffectTable`; Holm's p values are of all topics, and groups, together.
    """
    keys = [name for name in ("group", "topic") if name in drivers]
    order = pd.MultiIndex.from_frame(drivers[keys])
    for name in MEASURES:
        rows = effects[effects["quantity"] == name]
        clear = told_from_nothing(rows, level)
        found = clear.set_axis(pd.MultiIndex.from_frame(rows[keys])).loc[order]
        drivers.insert(drivers.columns.get_loc(f"{name}_high") + 1, f"{name}_clear", found.to_numpy())
    return drivers


def check_interval(interval: float | None) -> None:
    """Raise where a level of ranges is none.

    Examples
    --------
    >>> check_interval(95)
    Traceback (most recent call last):
    textsignal.errors.InputError: interval=95 must be above 0 and below 1, such as 0.95
    """
    if interval is None:
        return
    if isinstance(interval, bool) or not isinstance(interval, int | float | np.number) or not 0 < interval < 1:
        raise InputError(f"interval={interval!r} must be above 0 and below 1, such as 0.95")
