"""Columns of a table by role, and the values of covariates, offset and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.checks import check_names
from textsignal.data.covariates.design import missing_cells
from textsignal.data.covariates.formula import parse_formula
from textsignal.data.read import column
from textsignal.data.rows import BadRows, ParsedResponse, Problem, parse_response, unusable
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

    @property
    def of_sample(self) -> list[str]:
        """Columns that are needed only for texts in memory: by, over and groups."""
        return list(dict.fromkeys(name for name in (self.by, self.over, self.groups) if name is not None))


def obvious_columns(
    table: pd.DataFrame, text: str | None, responses: tuple[str, ...] = (), response: str | None = None
) -> Roles:
    """Return the columns of texts and responses; those not named are taken if only one column can be meant.

    Texts are the only column of words, or else the one whose cells are much longer than those of any other. The
    response is the column called `response`, or else the only column of numbers.
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


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """Covariates, offset and weights of the texts of a table; None if absent.

    covariates : one row per text; offset, weights : (rows,) parsed.
    """

    covariates: pd.DataFrame | None = None
    offset: ParsedResponse | None = None
    weights: ParsedResponse | None = None

    def problems(self) -> tuple[Problem, ...]:
        """Return the rows with missing or unusable values."""
        problems: list[Problem] = []
        if self.covariates is not None:
            for name, missing in missing_cells(self.covariates).items():
                problems += Problem.at(missing.to_numpy(), f"missing {name}", f"missing values of {name}")
        for name, parsed in (("offset", self.offset), ("weight", self.weights)):
            problems += [] if parsed is None else unusable(name, parsed)
        return tuple(problems)

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> ModelInputs:
        """Return some of the rows."""
        return replace(
            self,
            covariates=None if self.covariates is None else self.covariates.iloc[np.arange(len(self.covariates))[rows]],
            offset=None if self.offset is None else self.offset.at(rows),
            weights=None if self.weights is None else self.weights.at(rows),
        )

    @property
    def added(self) -> Vector | None:
        """(rows,) the offset."""
        return None if self.offset is None else self.offset.values

    @property
    def weight(self) -> Vector | None:
        """(rows,) the weights."""
        return None if self.weights is None else self.weights.values


def model_inputs(
    table: pd.DataFrame,
    covariates: Sequence[str] = (),
    formula: str | None = None,
    offset: str | None = None,
    weights: str | None = None,
    *,
    learn: bool = False,
) -> ModelInputs:
    """Return covariates, offset and weights by the names of their columns.

    formula : names the covariates if these are not listed.
    learn : True in training, to convert a column of texts that are all numbers; later the model decides.
    """
    names = list(covariates) or ([] if formula is None else parse_formula(formula).columns)
    columns = {name: _cells(column(table, name, "covariate"), learn) for name in names}
    return ModelInputs(
        covariates=pd.DataFrame(columns) if columns else None,
        offset=None if offset is None else parse_response(column(table, offset, "offset")),
        weights=None if weights is None else parse_response(column(table, weights, "weights")),
    )


def with_problems(bad: BadRows, columns: ModelInputs) -> BadRows:
    """Return bad rows together with those of covariates, offset and weights."""
    return replace(bad, problems=(*bad.problems, *columns.problems()))


def only_held_out(columns: ModelInputs, held_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (rows,) True for held-out rows with a level of a category that no training row has."""
    new = np.zeros(len(held_out), dtype=bool)
    if columns.covariates is None:
        return new
    for _, cells in columns.covariates.items():
        if not pd.api.types.is_numeric_dtype(cells.dtype):
            new |= held_out & ~cells.isin(cells[~held_out]).to_numpy()
    return new


def _cells(cells: pd.Series, learn: bool) -> pd.Series:
    """Stripped texts, missing if empty; with `learn`, numbers if all are numbers."""
    cells = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if pd.api.types.is_numeric_dtype(cells.dtype) or pd.api.types.is_bool_dtype(cells.dtype):
        return cells
    check_names(f"column {cells.name!r}", cells)
    texts = cells.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    texts = texts.mask(texts.map(lambda cell: isinstance(cell, str) and not cell).astype(bool))
    if not learn:
        return texts
    try:
        numbers = pd.to_numeric(texts, errors="coerce")
    except OverflowError:  # a whole number of hundreds of digits
        return texts
    return numbers if (numbers.notna() == texts.notna()).all() else texts
