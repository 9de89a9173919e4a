"""Covariates: from a table to columns of numbers, coded as learnt in training.

Numbers stay as they are, yes and no become 1 and 0, and a category becomes a column for each of its levels but the
most frequent one, which the others are compared with. All columns are around their means in training, so that the
model's constant is for average covariates, and a column that is constant is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.checks import MOST
from textsignal.data.covariates.columns import NAMED, State, check_learnt, formula_columns
from textsignal.data.covariates.formula import Formula, formula_from, parse_formula
from textsignal.errors import InputError, RowsError
from textsignal.families import linear_predictor
from textsignal.stored_values import shown

#: Names that an error lists.
LISTED = 20
#: A category of more levels is an identifier.
MOST_LEVELS = 2000


@dataclass(frozen=True)
class CovariateSource:
    """A column of the table. levels : of a category, the most frequent one first; None for numbers."""

    name: str
    levels: tuple[str, ...] | None


@dataclass(frozen=True)
class Design:
    """Coding of a table as columns of numbers.

    sources : columns of the table; formula : of the made columns, None for one per source or level.
    state : learnt by the functions of the formula.
    names, means : (columns,) of the made columns.
    offset : mean offset in training; None if absent.
    """

    sources: tuple[CovariateSource, ...]
    formula: Formula | None
    state: State
    names: tuple[str, ...]
    means: tuple[float, ...]
    offset: float | None

    @classmethod
    def learn(
        cls, table: pd.DataFrame | None, formula: str | None, weight: Vector, offset: Vector | None = None
    ) -> Self:
        """Learn the coding from complete covariates of training and the weights of documents.

        Examples
        --------
        >>> table = pd.DataFrame({"price": [1.0, 3.0, 5.0], "country": ["it", "fr", "it"]})
        >>> design = Design.learn(table, None, np.ones(3))
        >>> design.names, design.columns(table)[:, 0]
        (('price', 'country=fr'), array([-2.,  0.,  2.]))
        """
        parsed = None if formula is None else parse_formula(formula)
        mean_offset = None if offset is None else float(np.average(offset, weights=weight))
        if table is None:
            return cls((), parsed, {}, (), (), mean_offset)
        names = [*map(str, table.columns)] if parsed is None else list(parsed.columns)
        _check_names(table, names)
        categories = frozenset() if parsed is None else parsed.categories
        sources = tuple(_learn_source(table[name], weight, categories) for name in names)
        first = cls(sources, parsed, {}, (), (), mean_offset)
        made, state = first._matrix(first._coded(table), None)
        values = made.to_numpy(dtype=float)
        means = np.average(values, axis=0, weights=weight)
        return cls(sources, parsed, state, tuple(map(str, made.columns)), tuple(means.tolist()), mean_offset)

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
        """Names of covariates and offset as a phrase; "" if absent."""
        parts = [*self.covariates, *([] if self.offset is None else ["the offset"])]
        return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)

    def columns(self, table: pd.DataFrame) -> Vector:
        """Return (documents, columns) for a table with at least the columns of training, in any order."""
        coded = self._coded(table)
        made, _ = self._matrix(coded, self.state)
        # Row by row: the bits of a document's sum then do not depend on how many documents there are.
        return np.ascontiguousarray(made.to_numpy(dtype=float) - np.array(self.means))

    def given(self, table: pd.DataFrame | None, offset: Vector | None, n_documents: int) -> Given:
        """Return covariates and offset of documents; raise InputError unless they match training."""
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

    def _matrix(self, coded: pd.DataFrame, state: State | None) -> tuple[pd.DataFrame, State]:
        if self.formula is not None:
            return formula_columns(self.formula, coded, state)
        columns: dict[str, Any] = {}
        for source in self.sources:
            if source.levels is None:
                columns[source.name] = coded[source.name]
            else:
                codes = coded[source.name].cat.codes.to_numpy()
                columns |= {f"{source.name}={level}": codes == k for k, level in enumerate(source.levels) if k}
        return pd.DataFrame(columns, index=coded.index, dtype=float), {}

    def plain(self) -> dict[str, Any]:
        """Return the design as values of JSON."""
        sources = [{"name": s.name, "levels": None if s.levels is None else list(s.levels)} for s in self.sources]
        formula = None if self.formula is None else self.formula.plain()
        rest = {"formula": formula, "state": self.state, "offset": self.offset}
        return {"sources": sources, "names": list(self.names), "means": list(self.means)} | rest

    @classmethod
    def of_plain(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuild the design from `plain`; raise ValueError, TypeError or KeyError if that is impossible."""
        sources = tuple(
            CovariateSource(_text(source["name"]), None if source["levels"] is None else _levels(source["levels"]))
            for source in stored["sources"]
        )
        covariates = [source.name for source in sources]
        offset = None if stored["offset"] is None else _finite(stored["offset"])
        formula = None if stored["formula"] is None else formula_from(stored["formula"])
        if len({*covariates}) < len(covariates) or (formula is not None and [*formula.columns] != covariates):
            raise ValueError("the columns of the covariates are not those of the formula")
        if any(source.levels is None for source in sources if formula and source.name in formula.categories):
            raise ValueError("a category of the formula has no levels")
        if formula is None and stored["state"] != {}:
            raise ValueError("a state is stored without a formula")
        state = {} if formula is None else check_learnt(formula, stored["state"])
        design = cls(sources, formula, state, tuple(map(_text, stored["names"])), _means(stored["means"]), offset)
        try:
            names = () if not sources else tuple(map(str, design._matrix(design._no_rows(), state)[0].columns))
        except InputError as error:
            raise ValueError(f"the formula cannot be computed: {error}") from error
        if names != design.names or len(names) != len(design.means):
            raise ValueError("the covariates make other columns than the model has")
        return design

    def _no_rows(self) -> pd.DataFrame:
        """Return a coded table without rows, from which columns and their names are made as from any other."""

        def no_cells(source: CovariateSource) -> Any:
            return pd.Series([], dtype=float) if source.levels is None else pd.Categorical([], list(source.levels))

        return pd.DataFrame({source.name: no_cells(source) for source in self.sources})


def as_table(covariates: object, n_documents: int) -> pd.DataFrame | None:
    """Return covariates as a table with one row per document."""
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
        raise InputError(f"two covariates are called {shown(twice[0])}; names must differ")
    if not len(table.columns):
        raise InputError("covariates has no column; leave it out, or give some")
    return table


def as_offset(offset: ArrayLike | None, n_documents: int) -> Vector | None:
    """Return an offset as one finite number per document."""
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
    raise_large(values, "the offset")
    return values


def raise_large(values: Vector, what: str) -> None:
    """Raise RowsError if a number is so large that sums of squares could overflow."""
    bad = np.flatnonzero(np.abs(values) > MOST)
    if bad.size:
        raise RowsError(
            f"{what} is too large in ",
            *_rows(bad, [f"{value:g}" for value in values[bad[:NAMED]]]),
            f"; numbers up to {MOST:g} are allowed: use a larger unit, or the logarithm",
        )


def missing_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return (rows x columns) True if a covariate is missing or infinite."""
    infinite = table.map(lambda cell: isinstance(cell, float | np.floating) and np.isinf(cell))
    return table.isna() | infinite


def raise_missing(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise RowsError if one of these covariates is missing, naming rows and columns."""
    missing = missing_cells(table[list(names)])
    bad = np.flatnonzero(missing.any(axis=1))
    if bad.size:
        names_of_each = [", ".join(missing.columns[cells]) for cells in missing.to_numpy()[bad[:NAMED]]]
        raise RowsError(
            "covariates are missing or infinite in ",
            *_rows(bad, names_of_each, between="; "),
            '; give them, or missing="drop" to fit without these documents',
        )


def _learn_source(column: pd.Series, weight: Vector, categories: frozenset[str]) -> CovariateSource:
    """Return a column's kind; categories : columns that a formula takes as such."""
    name, kind = str(column.name), column.dtype
    numeric = pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        raise InputError(f"covariate {shown(name)} holds times; give numbers, such as days since a date, or a category")
    if numeric and name not in categories:
        return CovariateSource(name, None)
    found = pd.Series(weight).groupby(_labels(column), sort=True).sum().sort_values(ascending=False, kind="stable")
    if len(found) > MOST_LEVELS:
        raise InputError(
            f"covariate {shown(name)} has {len(found):,} levels; give numbers as numbers, and leave identifiers out"
        )
    return CovariateSource(name, tuple(map(str, found.index)))


def _coded(column: pd.Series, source: CovariateSource) -> Any:
    """A column as floats, or as a category with the levels of training."""
    if source.levels is None:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise RowsError(f"covariate {shown(source.name)} is not a number in ", *_rows(bad, _shown(column, bad)))
        raise_large(numbers, f"covariate {shown(source.name)}")
        return numbers
    labels = _labels(column)
    codes = pd.Index(source.levels).get_indexer(pd.Index(labels))
    bad = np.flatnonzero(codes < 0)
    if bad.size:
        raise RowsError(
            f"covariate {shown(source.name)} has levels that were not in training: ",
            *_rows(bad, _shown(column, bad)),
            f"; there were {_listed(source.levels)}",
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
    return ", ".join(map(shown, names[:LISTED])) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def _shown(column: pd.Series, rows: NDArray[np.int64]) -> list[str]:
    """Cells of the first of these rows."""
    return [shown(cell) for cell in column.iloc[rows[:NAMED]]]


def _rows(rows: NDArray[np.int64], cells: Sequence[str] = (), between: str = ", ") -> list[str | int]:
    """First of these rows with their cells, as parts of an error."""
    named: list[str | int] = []
    for place, row in enumerate(rows[:NAMED].tolist()):
        named += [f"{between if place else ''}row ", row, *(f": {cell}" for cell in cells[place : place + 1])]
    more = f" and {rows.size - NAMED} more" if rows.size > NAMED else ""
    return [*named, f"{more} (rows count from 1)"]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a name of a covariate is {type(value).__name__}, not text")
    return value


def _levels(values: object) -> tuple[str, ...]:
    """Return the levels of a category, each once."""
    levels = tuple(map(_text, values)) if isinstance(values, list) else ()
    if not 1 <= len({*levels}) == len(levels) <= MOST_LEVELS:
        raise ValueError("the levels of a category must be a list of different texts")
    return levels


def _means(values: object) -> tuple[float, ...]:
    if not isinstance(values, list):
        raise ValueError("the means of covariates are not a list")
    return tuple(map(_finite, values))


def _finite(value: object) -> float:
    """Return a number of a stored design, which may be as large as a covariate."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
        raise ValueError("a mean of the covariates or the offset is not a number, or too large")
    return float(value)


@dataclass(frozen=True, eq=False)
class Given:
    """Covariates and offset of documents, which effects of the text are conditional on.

    columns : (documents, columns) covariates, centred at their means in training; no columns without covariates.
    offset : (documents,) added to the linear predictor, such as the logarithm of an exposure.
    groups : (documents,) numbers of groups of dependent documents, or None.
    """

    columns: Vector
    offset: Vector
    groups: NDArray[np.int64] | None = None

    @classmethod
    def nothing(cls, n_documents: int) -> Self:
        """Return no covariates and an offset of 0."""
        return cls(np.zeros((n_documents, 0)), np.zeros(n_documents))

    @property
    def n_columns(self) -> int:
        """Number of covariates' columns."""
        return int(self.columns.shape[1])

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Return some of the documents."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, columns=self.columns[rows], offset=self.offset[rows], groups=groups)

    def linear_predictor(self, effects: Vector) -> Vector:
        """Return (documents,) offset + columns . effects."""
        return linear_predictor(self.columns, effects, 0.0) + self.offset
