"""From a table of covariates to columns of numbers, as training has learnt to make them.

Numbers stay as they are, yes and no become 1 and 0, and a category becomes a column for each of its levels but the
most frequent one, which the others are compared with. All columns are around their means in training, so that the
model's constant is for average covariates, and a column that is constant is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.covariates.formula import check_state, matrix_of, read_formula
from textsignal.covariates.given import Given
from textsignal.errors import InputError, RowsError

#: A category of more levels is an identifier.
MOST_LEVELS = 2000
#: Rows that an error names.
NAMED = 5


@dataclass(frozen=True)
class Source:
    """A column of the table. levels : of a category, the most frequent one first; None for numbers."""

    name: str
    levels: tuple[str, ...] | None


@dataclass(frozen=True)
class Design:
    """How columns of numbers are made of a table.

    sources : the table's columns; formula : what is made of them, None for the columns themselves.
    state : what the formula's functions have learnt.
    names, means : (columns,) of the columns that are made.
    offset : mean offset in training; None where there was none.
    """

    sources: tuple[Source, ...]
    formula: str | None
    state: dict[str, Any]
    names: tuple[str, ...]
    means: tuple[float, ...]
    offset: float | None

    @classmethod
    def learn(
        cls, table: pd.DataFrame | None, formula: str | None, weight: Vector, offset: Vector | None = None
    ) -> Self:
        """Learn it from covariates of training, of which none is missing, and how often each document counts.

        Examples
        --------
        >>> table = pd.DataFrame({"price": [1.0, 3.0, 5.0], "country": ["it", "fr", "it"]})
        >>> design = Design.learn(table, None, np.ones(3))
        >>> design.names, design.columns(table)[:, 0]
        (('price', 'country=fr'), array([-2.,  0.,  2.]))
        """
        mean_offset = None if offset is None else float(np.average(offset, weights=weight))
        if table is None:
            return cls((), formula, {}, (), (), mean_offset)
        names, categories = ([*map(str, table.columns)], None) if formula is None else read_formula(formula)
        _check_names(table, names)
        sources = tuple(_learn_source(table[name], weight, categories) for name in names)
        first = cls(sources, formula, {}, (), (), mean_offset)
        made, state = first._matrix(first._coded(table), None)
        values = made.to_numpy(dtype=float)
        means = np.average(values, axis=0, weights=weight)
        return cls(sources, formula, state, tuple(map(str, made.columns)), tuple(means.tolist()), mean_offset)

    @property
    def covariates(self) -> list[str]:
        """Names of the table's columns."""
        return [source.name for source in self.sources]

    @property
    def average(self) -> Given:
        """One document of average covariates and offset."""
        return Given(np.zeros((1, len(self.names))), np.full(1, self.offset or 0.0))

    @property
    def condition(self) -> str:
        """What effects of the text are given, for sentences; "" for nothing."""
        parts = [*self.covariates, *([] if self.offset is None else ["the offset"])]
        return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)

    def columns(self, table: pd.DataFrame) -> Vector:
        """(documents, columns) of a table that has the columns of training, in any order, and others."""
        coded = self._coded(table)
        made, _ = self._matrix(coded, self.state)
        # Row by row: the bits of a document's sum then do not depend on how many documents there are.
        return np.ascontiguousarray(made.to_numpy(dtype=float) - np.array(self.means))

    def given(self, table: pd.DataFrame | None, offset: Vector | None, n_documents: int) -> Given:
        """Covariates and offset of documents; raises where one is missing, or was not in training."""
        if self.sources and table is None:
            raise InputError(f"the model was fitted with covariates; give {_listed(self.covariates)}: covariates=...")
        if table is not None and not self.sources:
            raise InputError("the model was fitted without covariates; leave them out, or fit it with them")
        if (offset is None) != (self.offset is None):
            done = "without an offset; leave it out" if self.offset is None else "with an offset; give one: offset=..."
            raise InputError(f"the model was fitted {done}")
        none = np.zeros((n_documents, 0))
        columns = none if table is None else self.columns(table)
        return Given(columns, np.zeros(n_documents) if offset is None else offset)

    def _coded(self, table: pd.DataFrame) -> pd.DataFrame:
        """Numbers as floats, and categories with the levels of training."""
        _check_names(table, self.covariates)
        raise_missing(table, self.covariates)
        coded = {source.name: _coded(table[source.name], source) for source in self.sources}
        return pd.DataFrame(coded, index=pd.RangeIndex(len(table)))

    def _matrix(self, coded: pd.DataFrame, state: dict[str, Any] | None) -> tuple[pd.DataFrame, dict[str, Any]]:
        if self.formula is not None:
            return matrix_of(self.formula, coded, state)
        columns: dict[str, Any] = {}
        for source in self.sources:
            if source.levels is None:
                columns[source.name] = coded[source.name]
            else:
                codes = coded[source.name].cat.codes.to_numpy()
                columns |= {f"{source.name}={level}": codes == k for k, level in enumerate(source.levels) if k}
        return pd.DataFrame(columns, index=coded.index, dtype=float), {}

    def plain(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        sources = [{"name": s.name, "levels": None if s.levels is None else list(s.levels)} for s in self.sources]
        rest = {"formula": self.formula, "state": self.state, "offset": self.offset}
        return {"sources": sources, "names": list(self.names), "means": list(self.means)} | rest

    @classmethod
    def of_plain(cls, stored: Mapping[str, Any]) -> Self:
        """Give it back from `plain`; raises ValueError, TypeError or KeyError where that cannot be."""
        sources = tuple(
            Source(_text(source["name"]), None if source["levels"] is None else tuple(map(_text, source["levels"])))
            for source in stored["sources"]
        )
        formula, offset = stored["formula"], stored["offset"]
        means = tuple(map(_number, stored["means"]))
        names = tuple(map(_text, stored["names"]))
        if len(means) != len(names):
            raise ValueError(f"{len(names)} columns of covariates have {len(means)} means")
        if formula is not None and not {*read_formula(_text(formula))[0]} <= {source.name for source in sources}:
            raise ValueError(f"the formula {formula!r} names other columns than the covariates have")
        offset = None if offset is None else _number(offset)
        return cls(sources, formula, check_state(stored["state"]), names, means, offset)


def as_table(covariates: object, n_documents: int) -> pd.DataFrame | None:
    """Covariates as a table with one row for each document."""
    if covariates is None:
        return None
    if isinstance(covariates, Mapping):
        covariates = pd.DataFrame(covariates)
    if not isinstance(covariates, pd.DataFrame):
        raise InputError(f"covariates must be a DataFrame with one row per text; {type(covariates).__name__} is given")
    if len(covariates) != n_documents:
        raise InputError(f"{n_documents} texts, but {len(covariates)} rows of covariates; give one for each text")
    table = covariates.set_axis(covariates.columns.map(str), axis=1)
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"two covariates are called {twice[0]!r}; names must differ")
    if not len(table.columns):
        raise InputError("covariates has no column; leave it out, or give some")
    return table


def as_offset(offset: ArrayLike | None, n_documents: int) -> Vector | None:
    """An offset as one finite number for each document."""
    if offset is None:
        return None
    try:
        values = np.asarray(offset, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the offset must be numbers: {error}") from error
    if values.shape != (n_documents,):
        raise InputError(f"{n_documents} texts, but the offset has the shape {values.shape}; give one number for each")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise RowsError("the offset is missing or infinite in ", *_rows(bad), "; give a finite number for each text")
    return values


def missing_cells(table: pd.DataFrame) -> pd.DataFrame:
    """(rows x columns) whether a covariate is missing; an infinite number is."""
    infinite = table.map(lambda cell: isinstance(cell, float | np.floating) and np.isinf(cell))
    return table.isna() | infinite


def raise_missing(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise where one of these covariates is missing, naming rows and columns."""
    missing = missing_cells(table[list(names)])
    bad = np.flatnonzero(missing.any(axis=1))
    if bad.size:
        names_of_each = [", ".join(missing.columns[cells]) for cells in missing.to_numpy()[bad[:NAMED]]]
        raise RowsError(
            "covariates are missing or infinite in ",
            *_rows(bad, names_of_each, between="; "),
            '; give them, or missing="drop" to fit without these documents',
        )


def _learn_source(column: pd.Series, weight: Vector, categories: set[str] | None) -> Source:
    """A column's kind; categories : those that a formula takes as such, None where there is no formula."""
    name, kind = str(column.name), column.dtype
    numeric = pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        raise InputError(f"covariate {name!r} holds times; give numbers, such as days since a date, or a category")
    if numeric and name not in (categories or ()):
        return Source(name, None)
    found = pd.Series(weight).groupby(_labels(column), sort=True).sum().sort_values(ascending=False, kind="stable")
    if len(found) > MOST_LEVELS:
        raise InputError(
            f"covariate {name!r} has {len(found):,} levels; give numbers as numbers, and leave identifiers out"
        )
    return Source(name, tuple(map(str, found.index)))


def _coded(column: pd.Series, source: Source) -> Any:
    """A column as floats, or as a category with the levels of training."""
    if source.levels is None:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise RowsError(f"covariate {source.name!r} is not a number in ", *_rows(bad, _shown(column, bad)))
        return numbers
    labels = _labels(column)
    codes = pd.Index(source.levels).get_indexer(pd.Index(labels))
    bad = np.flatnonzero(codes < 0)
    if bad.size:
        raise RowsError(
            f"covariate {source.name!r} has levels that were not in training: ",
            *_rows(bad, _shown(column, bad)),
            f"; there were {_listed(source.levels[:NAMED])}{' and others' if len(source.levels) > NAMED else ''}",
        )
    return pd.Categorical.from_codes(codes, categories=list(source.levels))


def _labels(column: pd.Series) -> NDArray[Any]:
    """Levels as texts: 2019 and 2019.0 are one."""
    return np.array([_label(cell) for cell in column.astype(object)], dtype=object)


def _label(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float | np.floating) and float(cell).is_integer() else str(cell)


def _check_names(table: pd.DataFrame, names: Sequence[str]) -> None:
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise InputError(f"covariates lack {_listed(absent)}; there are {_listed(list(table.columns))}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _shown(column: pd.Series, rows: NDArray[np.int64]) -> list[str]:
    """What stands in the first of some rows."""
    return [repr(cell) for cell in column.iloc[rows[:NAMED]]]


def _rows(rows: NDArray[np.int64], cells: Sequence[str] = (), between: str = ", ") -> list[str | int]:
    """The first of some rows, and what stands there, as pieces of an error."""
    named: list[str | int] = []
    for place, row in enumerate(rows[:NAMED].tolist()):
        named += [f"{between if place else ''}row ", row, *(f": {cell}" for cell in cells[place : place + 1])]
    more = f" and {rows.size - NAMED} more" if rows.size > NAMED else ""
    return [*named, f"{more} (rows count from 1)"]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)
