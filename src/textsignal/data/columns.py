"""Columns of a table by role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import pandas as pd

from textsignal.errors import InputError

#: Texts are this many times as long as the cells of any other column.
MUCH_LONGER = 3.0


@dataclass(frozen=True)
class Roles:
    """Names of the columns of a table; None or empty if absent.

    by : groups to compare; over : dates; groups : clusters of dependent texts, for intervals.
    """

    text: str
    responses: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    offset: str | None = None
    weights: str | None = None
    by: str | None = None
    over: str | None = None
    groups: str | None = None

    def with_covariates(self, names: Sequence[str]) -> Roles:
        """Return the columns with these covariates."""
        return replace(self, covariates=tuple(names))

    @property
    def response(self) -> str:
        """The only response."""
        (response,) = self.responses
        return response

    @property
    def by_column(self) -> dict[str, str]:
        """Column -> role."""
        single = {role: getattr(self, role) for role in ("by", "over", "groups", "offset", "weights")}
        roles = dict.fromkeys(self.covariates, "covariate") | {name: role for role, name in single.items() if name}
        return roles | dict.fromkeys(self.responses, "response") | {self.text: "text"}


def obvious_columns(
    table: pd.DataFrame, text: str | None, responses: tuple[str, ...] = (), response: str | None = None
) -> Roles:
    """Return the columns of texts and responses; those not named are taken if only one column can be meant.

    Texts are the only column of words, or else the one whose cells are much longer than those of any other. The
    response is the column called `response`, or else the only column of numbers.

    Examples
    --------
    >>> table = pd.DataFrame({"city": ["Rome"], "review": ["The staff were friendly and helpful."], "stars": [5]})
    >>> obvious_columns(table, None) == Roles("review", ("stars",))
    True
    """
    if text is None:
        words = {str(name): cells for name, cells in table.items() if name not in responses and _are_words(cells)}
        lengths = {name: float(cells.dropna().map(len).mean()) for name, cells in words.items()}
        longest = sorted(lengths, key=lambda name: -lengths[name])
        likely = [name for name in longest if lengths[longest[0]] < MUCH_LONGER * lengths[name]]
        if len(likely) != 1:
            names = likely or [str(name) for name in table.columns]
            raise InputError(f"which column holds the texts? Give text=NAME, one of {', '.join(names)}")
        text = longest[0]
    if not responses and response in table.columns:
        responses = (str(response),)
    elif not responses:
        numbers = [str(name) for name, cells in table.items() if name != text and _are_numbers(cells)]
        if len(numbers) != 1:
            others = [str(name) for name in table.columns if name != text]
            raise InputError(
                f"which column holds the response? Give response=NAME, one of {', '.join(numbers or others)}"
            )
        responses = (numbers[0],)
    return Roles(text, responses)


def _filled(cells: pd.Series) -> pd.Series:
    """Cells that are not empty."""
    return cells[cells.notna() & cells.map(lambda cell: not isinstance(cell, str) or bool(cell.strip()))]


def _are_numbers(cells: pd.Series) -> bool:
    """True if all cells are numbers, or written in numbers, as in a CSV file."""
    filled = _filled(cells)
    may_be = filled.map(lambda cell: isinstance(cell, Real | str) and not isinstance(cell, bool)).all()
    return bool(len(filled) and may_be and pd.to_numeric(filled, errors="coerce").notna().all())


def _are_words(cells: pd.Series) -> bool:
    """True if all cells are strings, and some are not written in numbers."""
    filled = _filled(cells)
    return bool(len(filled) and filled.map(lambda cell: isinstance(cell, str)).all() and not _are_numbers(cells))
