"""Estimates about themes with their intervals: a tidy table that prints, plots and explains itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from textsignal.arrays import Vector
from textsignal.insight.naming import MEASURES, Naming

#: Suffix of a quantity's name for the difference of a group to all others.
DIFFERENCE = "_difference"
#: Quantities that are not tested against 0.
SHARES = ("mentions",)


@dataclass(frozen=True, eq=False)
class EffectTable:
    """Estimates about themes with standard errors and intervals.

    frame : one row per theme and quantity, and group if there are groups: theme (its number), label, quantity,
        estimate, std_error, low, high, p_value (of no effect; NaN for a share), p_holm (of all themes together).
    level : of the intervals, such as .95.
    method : description of the method; naming : of the response.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
    >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
    >>> effects = model.estimate_effects()
    >>> costs = effects.to_frame().query("quantity == 'cost'")
    >>> bool((costs["low"] < costs["estimate"]).all())
    True
    """

    frame: pd.DataFrame
    level: float
    method: str
    naming: Naming

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.frame.copy()

    def of(self, quantity: str) -> pd.DataFrame:
        """Return the rows of one quantity, the largest estimate first."""
        rows = self.frame[self.frame["quantity"] == quantity]
        return rows.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities, in the order of the table."""
        return list(dict.fromkeys(self.frame["quantity"]))

    def summary(self) -> str:
        """Describe the significant effects and the method in plain words."""
        lines = []
        for name in MEASURES:
            rows = self.of(name)
            if "group" in rows or not len(rows):
                continue
            steps, digits, unit = self.naming.steps, self.naming.digits, self.naming.unit
            themes = [
                f"{row.label} ({steps * row.low:+.{digits}f} to {steps * row.high:+.{digits}f} {unit})"
                for row in rows[self.clear(rows)].itertuples()
            ]
            lines.append(f"Significant {name}s, all themes tested together (Holm): {'; '.join(themes) or 'none'}.")
        return "\n".join([*lines, self.method])

    def clear(self, rows: pd.DataFrame) -> pd.Series:
        """Return True for each row that is significantly above 0, with all themes tested together."""
        return (rows["p_holm"] < 1 - self.level) & (rows["estimate"] > 0)

    def __str__(self) -> str:
        shown = self.frame.drop(columns="theme").round(4).to_string(index=False)
        return f"{shown}\n\n{self.summary()}"

    def _repr_html_(self) -> str:
        shown = self.frame.drop(columns="theme").to_html(index=False, border=0, float_format="{:.3f}".format)
        return f"{shown}<p>{self.summary().replace(chr(10), '<br>')}</p>"


def effect_frame(
    cells: Mapping[tuple[object, str], tuple[Vector, Vector]], labels: Sequence[str], level: float, degrees: float
) -> pd.DataFrame:
    """Return one row per group, quantity and theme, with a column for the group if there are groups.

    cells : (group, or None, and quantity) -> (themes,) estimates and their standard errors.
    degrees : of freedom of the t distribution; infinite for the normal distribution.
    """
    law = t(degrees) if np.isfinite(degrees) else norm()
    estimates, errors = (np.concatenate(numbers) for numbers in zip(*cells.values(), strict=True))
    frame = pd.DataFrame(
        {
            "theme": np.tile(np.arange(len(labels)), len(cells)),
            "label": list(labels) * len(cells),
            "quantity": [quantity for _, quantity in cells for _ in labels],
            "estimate": estimates,
            "std_error": errors,
            "low": estimates - law.ppf(0.5 + level / 2) * errors,
            "high": estimates + law.ppf(0.5 + level / 2) * errors,
        }
    )
    groups = [group for group, _ in cells for _ in labels]
    if groups[0] is not None:
        frame.insert(0, "group", groups)
    shares = frame["quantity"].isin(SHARES)
    frame.loc[shares, ["low", "high"]] = frame.loc[shares, ["low", "high"]].clip(0.0, 1.0)
    z = np.divide(estimates, errors, out=np.full(len(errors), np.nan), where=errors > 0)
    frame["p_value"] = np.where(shares, np.nan, 2 * law.sf(np.abs(z)))
    # Tests of one quantity, over all themes and groups, are corrected together.
    of_quantity = frame.groupby("quantity", sort=False)["p_value"]
    return frame.assign(p_holm=of_quantity.transform(lambda p_values: holm(p_values.to_numpy())))


def with_intervals(drivers: pd.DataFrame, effects: EffectTable) -> pd.DataFrame:
    """Insert cost_low, cost_high and cost_clear, and those of the gain, into a table of drivers."""
    keys = [name for name in ("group", "theme") if name in drivers]
    for name in MEASURES:
        rows = effects.of(name)
        ends = drivers[keys].merge(rows.assign(clear=effects.clear(rows)), how="left", on=keys)
        for step, end in enumerate(("low", "high", "clear"), start=1):
            drivers.insert(drivers.columns.get_loc(name) + step, f"{name}_{end}", ends[end].to_numpy())
    return drivers


def holm(p_values: Vector) -> Vector:
    """Return Holm's p values, corrected for all tests together; NaN if not tested.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)))
    return corrected
