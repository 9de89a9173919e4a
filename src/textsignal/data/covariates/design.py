"""Covariates: from a table to columns of numbers, coded as learnt in training.

Numbers stay as they are, yes and no become 1 and 0, and a category becomes a column for each level except the most
frequent one. Columns are centred at their means in training, so that the model's constant is for average covariates.

The factors of a formula are computed here, from its tree; formulaic codes categories and multiplies factors into terms.
It is given computed values to look up and no text to evaluate.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import prod
from typing import Any, Self

import numpy as np
import pandas as pd
from formulaic import ModelSpec, SimpleFormula
from formulaic.errors import FormulaicError
from formulaic.materializers.types import FactorValues
from formulaic.parser.types import Factor
from formulaic.parser.types import Term as FormulaicTerm
from formulaic.transforms import TRANSFORMS
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.checks import MOST
from textsignal.data.covariates.formula import (
    MAX_KNOTS,
    SPLINES,
    Call,
    Column,
    Formula,
    Node,
    Number,
    Operation,
    column_names,
    parse_formula,
    walk,
)
from textsignal.errors import InputError, listed, one_line, raise_rows, shown
from textsignal.families import linear_predictor
from textsignal.stored_values import rule

#: A category of more levels is an identifier; columns that a formula may make.
MOST_LEVELS, MAX_COLUMNS = 2000, 5_000
#: Name of the constant among the factors; no text of a formula's factor is empty.
CONSTANT = ""
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow}
FUNCTIONS = {"I": np.positive, "log": np.log, "log2": np.log2, "log10": np.log10, "exp": np.exp}
#: Functions that learn from training, and the names of what each learns.
LEARNS = {
    "bs": ("lower_bound", "upper_bound", "knots"),
    "cr": ("lower_bound", "upper_bound", "knots", "constraints", "cyclic"),
    "cc": ("lower_bound", "upper_bound", "knots", "constraints", "cyclic"),
    "center": ("ddof", "center", "scale"),
    "scale": ("ddof", "center", "scale"),
}
State = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Given:
    """Covariates and offset of texts, which effects of the text are conditional on.

    columns : (texts, columns) covariates, centred at their means in training; offset : (texts,) in linear predictors.
    groups : (texts,) numbers of groups of dependent texts, or None.
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
        """Number of columns."""
        return int(self.columns.shape[1])

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Return some of the texts."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, columns=self.columns[rows], offset=self.offset[rows], groups=groups)

    def linear_predictor(self, effects: Vector) -> Vector:
        """Return (texts,) offset + columns . effects."""
        return linear_predictor(self.columns, effects, 0.0) + self.offset


@dataclass(frozen=True)
class CovariateSource:
    """A column of the table. levels : of a category, the most frequent one first; None for numbers."""

    name: str
    levels: tuple[str, ...] | None = field(metadata=rule(distinct=True))


@dataclass(frozen=True)
class Design:
    """Coding of a table as columns of numbers.

    sources : columns of the table; formula : None for one column per source or level; state : what it learnt.
    names, means : (columns,) of the made columns; offset : mean in training, None if absent.
    """

    sources: tuple[CovariateSource, ...]
    formula: str | None
    state: State
    names: tuple[str, ...] = field(metadata=rule(shape=("covariates",)))
    means: tuple[float, ...] = field(metadata=rule(shape=("covariates",), least=-MOST, most=MOST))
    offset: float | None = field(metadata=rule(least=-MOST, most=MOST))

    @classmethod
    def learn(
        cls, table: pd.DataFrame | None, formula: str | None, weight: Vector, offset: Vector | None = None
    ) -> Self:
        """Learn the coding from complete covariates of training and the weights of texts."""
        parsed = None if formula is None else parse_formula(formula)
        mean_offset = None if offset is None else float(np.average(offset, weights=weight))
        if table is None:
            return cls((), formula, {}, (), (), mean_offset)
        names = [*map(str, table.columns)] if parsed is None else list(parsed.columns)
        _check_names(table, names)
        categories = frozenset() if parsed is None else parsed.categories
        sources = tuple(_learn_source(table[name], weight, categories) for name in names)
        first = cls(sources, formula, {}, (), (), mean_offset)
        made, state = first._matrix(first._coded(table), None)
        values = made.to_numpy(dtype=float)
        means = np.average(values, axis=0, weights=weight)
        return cls(sources, formula, state, tuple(map(str, made.columns)), tuple(means.tolist()), mean_offset)

    @cached_property
    def _parsed(self) -> Formula | None:
        return None if self.formula is None else parse_formula(self.formula)

    @property
    def covariates(self) -> list[str]:
        """Names of the table's columns."""
        return [source.name for source in self.sources]

    @property
    def average(self) -> Given:
        """One text of average covariates and offset."""
        return Given(np.zeros((1, len(self.names))), np.full(1, self.offset or 0.0))

    @property
    def condition(self) -> str:
        """Names of covariates and offset as a phrase; "" if absent."""
        parts = [*self.covariates, *([] if self.offset is None else ["the offset"])]
        return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))

    def columns(self, table: pd.DataFrame) -> Vector:
        """Return (texts, columns) for a table with at least the columns of training, in any order."""
        made, _ = self._matrix(self._coded(table), self.state)
        # Row by row: the bits of a text's sum then do not depend on the number of texts.
        return np.ascontiguousarray(made.to_numpy(dtype=float) - np.array(self.means))

    def given(self, table: pd.DataFrame | None, offset: Vector | None, n_documents: int) -> Given:
        """Return covariates and offset of texts; raise InputError unless they match training."""
        if self.sources and table is None:
            names = listed(self.covariates, shown)
            raise InputError(f"the model was fitted with covariates; give {names}: covariates=...")
        if table is not None and not self.sources:
            raise InputError("the model was fitted without covariates; remove them, or fit it with them")
        if (offset is None) != (self.offset is None):
            done = "without an offset; remove it" if self.offset is None else "with an offset; give one: offset=..."
            raise InputError(f"the model was fitted {done}")
        nothing = Given.nothing(n_documents)
        columns = nothing.columns if table is None else self.columns(table)
        return Given(columns, nothing.offset if offset is None else offset)

    def _coded(self, table: pd.DataFrame) -> pd.DataFrame:
        """Numbers as floats, and categories with the levels of training."""
        _check_names(table, self.covariates)
        missing = missing_cells(table[self.covariates])
        raise_rows(
            missing.to_numpy().any(axis=1),
            "covariates are missing or infinite in ",
            '; give them, or missing="drop" to fit without these texts',
            lambda row: ", ".join(missing.columns[missing.iloc[row]]),
            between="; ",
        )
        coded = {source.name: _coded(table[source.name], source) for source in self.sources}
        return pd.DataFrame(coded, index=pd.RangeIndex(len(table)))

    def _matrix(self, coded: pd.DataFrame, state: State | None) -> tuple[pd.DataFrame, State]:
        if self._parsed is not None:
            return _formula_columns(self._parsed, coded, state)
        columns: dict[str, Any] = {}
        for source in self.sources:
            if source.levels is None:
                columns[source.name] = coded[source.name]
            else:
                codes = coded[source.name].cat.codes.to_numpy()
                columns |= {f"{source.name}={level}": codes == k for k, level in enumerate(source.levels) if k}
        return pd.DataFrame(columns, index=coded.index, dtype=float), {}

    def check(self) -> None:
        """Raise ValueError unless the stored columns are those that the formula makes of the sources."""
        formula, covariates = self._parsed, self.covariates
        if len({*covariates}) < len(covariates) or (formula is not None and [*formula.columns] != covariates):
            raise ValueError("the columns of the covariates are not those of the formula")
        if any(source.levels is not None and not 1 <= len(source.levels) <= MOST_LEVELS for source in self.sources):
            raise ValueError(f"a category must have from 1 to {MOST_LEVELS:,} levels")
        if any(source.levels is None for source in self.sources if formula and source.name in formula.categories):
            raise ValueError("a category of the formula has no levels")
        _check_learnt(formula, self.state)
        kinds = {s.name: float if s.levels is None else pd.CategoricalDtype(list(s.levels)) for s in self.sources}
        no_rows = pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in kinds.items()})
        try:
            made = () if not self.sources else tuple(map(str, self._matrix(no_rows, self.state)[0].columns))
        except InputError as error:
            raise ValueError(f"the formula cannot be computed: {error}") from error
        if made != self.names:
            raise ValueError("the covariates make other columns than the model has")


def as_table(covariates: object, n_documents: int) -> pd.DataFrame | None:
    """Return covariates as a table with one row per text."""
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
        raise InputError("covariates has no columns; remove it, or give some")
    return table


def as_offset(offset: ArrayLike | None, n_documents: int) -> Vector | None:
    """Return an offset as one finite number per text."""
    if offset is None:
        return None
    try:
        values = np.asarray(offset, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the offset must be numbers: {error}") from error
    if values.shape != (n_documents,):
        raise InputError(f"{n_documents} texts, but the offset has the shape {values.shape}; give one number for each")
    raise_rows(~np.isfinite(values), "the offset is missing or infinite in ", "; give a finite number for each text")
    _raise_large(values, "the offset")
    return values


def _raise_large(values: Vector, what: str) -> None:
    """Raise RowsError if a number is so large that sums of squares could overflow."""
    advice = f"; numbers up to {MOST:g} are allowed: use a larger unit, or the logarithm"
    raise_rows(np.abs(values) > MOST, f"{what} is too large in ", advice, lambda row: f"{values[row]:g}")


def missing_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return (rows x columns) True if a covariate is missing or infinite."""
    infinite = table.map(lambda cell: isinstance(cell, float | np.floating) and np.isinf(cell))
    return table.isna() | infinite


def _learn_source(column: pd.Series, weight: Vector, categories: frozenset[str]) -> CovariateSource:
    """categories : columns that a formula takes as such."""
    name, kind = str(column.name), column.dtype
    numeric = pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)
    if pd.api.types.is_datetime64_any_dtype(kind) or pd.api.types.is_timedelta64_dtype(kind):
        raise InputError(f"covariate {shown(name)} contains times; give numbers, such as days since a date")
    if numeric and name not in categories:
        return CovariateSource(name, None)
    levels = pd.Series(weight).groupby(_labels(column), sort=True).sum().sort_values(ascending=False, kind="stable")
    if len(levels) > MOST_LEVELS:
        advice = "give numbers as numbers, and leave identifiers out"
        raise InputError(f"covariate {shown(name)} has {len(levels):,} levels; {advice}")
    return CovariateSource(name, tuple(map(str, levels.index)))


def _coded(column: pd.Series, source: CovariateSource) -> Any:
    name = shown(source.name)
    if source.levels is None:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = ~np.isfinite(numbers)
        raise_rows(bad, f"covariate {name} is not a number in ", cell=lambda row: shown(column.iloc[row]))
        _raise_large(numbers, f"covariate {name}")
        return numbers
    codes = pd.Index(source.levels).get_indexer(pd.Index(_labels(column)))
    advice = f"; there were {listed(source.levels, shown)}"
    unknown = f"covariate {name} has levels that were not in training: "
    raise_rows(codes < 0, unknown, advice, lambda row: shown(column.iloc[row]))
    return pd.Categorical.from_codes(codes, categories=list(source.levels))


def _labels(column: pd.Series) -> NDArray[Any]:
    """Levels as texts: 2019 and 2019.0 are one."""
    cells = column.astype(object)
    whole = [isinstance(cell, float | np.floating) and float(cell).is_integer() for cell in cells]
    return np.array([str(int(cell) if is_whole else cell) for cell, is_whole in zip(cells, whole, strict=True)], object)


def _check_names(table: pd.DataFrame, names: Sequence[str]) -> None:
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise InputError(f"covariates lack {listed(absent, shown)}; there are {listed(list(table.columns), shown)}")


def _formula_columns(formula: Formula, table: pd.DataFrame, learnt: State | None) -> tuple[pd.DataFrame, State]:
    """Return the columns that a formula makes of a coded table, and what its functions learnt, such as knots.

    learnt : None to learn from this table.
    """
    state: State = {} if learnt is None else {name: dict(values) for name, values in learnt.items()}
    if len({*map(_name, formula.factors)}) < len(formula.factors):
        raise InputError(f"formula={str(formula)!r} has a column that is called like one of its functions; rename it")
    values: dict[str, Any] = {CONSTANT: FactorValues(1, kind=Factor.Kind.CONSTANT)}
    values |= {_name(factor): _factor(factor, table, state, formula) for factor in formula.factors}
    terms = [tuple(map(_name, term)) for term in formula.terms]
    total = sum(prod(_width(values[name]) for name in term) for term in terms)
    if total > MAX_COLUMNS:
        raise InputError(f"formula={str(formula)!r} makes {total:,} columns; at most {MAX_COLUMNS:,} are allowed")
    columns = _product([(CONSTANT,), *terms], values, table.index, formula)
    _raise_infinite(columns, str(formula), list(formula.columns), table)
    return columns, {name: {key: _plain(value) for key, value in inner.items()} for name, inner in state.items()}


def _check_learnt(formula: Formula | None, learnt: State) -> None:
    """Raise ValueError if a formula cannot have learnt this."""
    nodes = [] if formula is None else [node for factor in formula.factors for node in walk(factor)]
    calls = {str(node): node.function for node in nodes if isinstance(node, Call) and node.function in LEARNS}
    if {*learnt} != {*calls}:
        raise ValueError("what the formula learnt does not belong to its functions")
    for text, function in calls.items():
        values = learnt[text]
        if {*values} != {*LEARNS[function]}:
            raise ValueError(f"what {function} learnt has other names than {', '.join(LEARNS[function])}")
        for name, value in values.items():
            _check_value(function, name, value)


def _check_value(function: str, name: str, value: Any) -> None:
    if name == "cyclic":
        allowed = value is (function == "cc")
    elif name == "knots":
        allowed = _are_numbers(value) and list(value) == sorted(value) and value[0] < value[-1]
    elif name == "constraints":
        allowed = value is None or (isinstance(value, list) and len(value) == 1 and _are_numbers(value[0]))
    else:
        optional = value is None and name in ("center", "scale")
        allowed = optional or (_are_numbers([value]) and (name != "scale" or value > 0))
    if not allowed:
        raise ValueError(f"{name} of {function} is not what that function learns")


def _are_numbers(values: Any) -> bool:
    """True for a list of finite numbers that is not too long."""
    if not isinstance(values, list) or not 1 <= len(values) <= 2 * MAX_KNOTS:
        return False
    return all(isinstance(each, int | float) and not isinstance(each, bool) and abs(each) < 1e300 for each in values)


def _name(factor: Node) -> str:
    return factor.name if isinstance(factor, Column) else str(factor)


def _factor(factor: Node, table: pd.DataFrame, state: State, formula: Formula) -> Any:
    """Return the values of a factor: a category, one column of numbers, or several of a spline."""
    if isinstance(factor, Column):
        return table[factor.name]
    if isinstance(factor, Call) and factor.function == "C" and isinstance(factor.argument, Column):
        return table[factor.argument.name]
    names = column_names(factor)
    category = next((name for name in names if isinstance(table[name].dtype, pd.CategoricalDtype)), None)
    if category is not None:
        raise InputError(f"formula={str(formula)!r} computes {factor} with {category!r}, which is not a number")
    with np.errstate(all="ignore"):
        values = _number(factor, table, state, formula)
    if isinstance(factor, Call) and factor.function in SPLINES:
        _raise_infinite(pd.DataFrame(dict(values), index=table.index), str(factor), names, table)
        return values
    column = pd.Series(np.broadcast_to(np.asarray(values, dtype=float), len(table)), index=table.index)
    _raise_infinite(column.to_frame(), str(factor), names, table)
    return column


def _number(node: Node, table: pd.DataFrame, state: State, formula: Formula) -> Any:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Column):
        return table[node.name].to_numpy(dtype=float)
    if isinstance(node, Operation):
        values = [_number(operand, table, state, formula) for operand in node.operands]
        if len(values) == 1:
            return -values[0] if node.operator == "-" else values[0]
        return reduce(ARITHMETIC[node.operator], map(np.asarray, values))
    argument = _number(node.argument, table, state, formula)
    if node.function in FUNCTIONS:
        return FUNCTIONS[node.function](argument)
    column = np.broadcast_to(np.asarray(argument, dtype=float), len(table))
    # One row that is not finite would make what is learnt of all rows so.
    _raise_infinite(pd.DataFrame({"": column}, index=table.index), str(node.argument), column_names(node), table)
    known = state.setdefault(str(node), {})
    if known.get("constraints") is not None:
        known["constraints"] = np.array(known["constraints"], dtype=float)
    try:
        return TRANSFORMS[node.function](column, _state=known, **dict(node.options))
    except (ValueError, ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
        raise _uncomputable(formula, node, error) from error


def _uncomputable(formula: Formula, node: Node, error: Exception) -> InputError:
    beyond = "; extrapolation=clip takes what lies beyond for the nearest" if "bounds" in str(error) else ""
    return InputError(f"formula={str(formula)!r}: {node} cannot be computed: {one_line(error)}{beyond}")


def _product(
    terms: Sequence[tuple[str, ...]], values: Mapping[str, Any], index: pd.Index, formula: Formula
) -> pd.DataFrame:
    """Return the columns of all terms but the constant, categories coded so that no column follows from others."""
    parts = [FormulaicTerm([Factor(name, eval_method=Factor.EvalMethod.LOOKUP) for name in term]) for term in terms]
    spec = ModelSpec(
        formula=SimpleFormula(parts, _ordering="none"), materializer="pandas", na_action="ignore", output="pandas"
    )
    try:
        made = spec.get_model_matrix(pd.DataFrame(index=index), context=dict(values))
    except (FormulaicError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise _uncomputable(formula, formula.tree, error) from error
    return pd.DataFrame(made).drop(columns="Intercept")


def _width(value: Any) -> int:
    if isinstance(value, pd.Series):
        return len(value.cat.categories) if isinstance(value.dtype, pd.CategoricalDtype) else 1
    return len(value)


def _raise_infinite(made: pd.DataFrame, text: str, names: Sequence[str], table: pd.DataFrame) -> None:
    """Raise if a computed value is not finite, naming the row, the term and the columns' values there."""
    raise_rows(
        ~(np.abs(made.to_numpy(dtype=float)) <= MOST).all(axis=1),
        f"{text[:300]} of the formula is not a finite number, or too large, in ",
        "; leave these rows out, or change the formula, as log(x + 1) for log(x)",
        lambda row: ", ".join(f"{name} {shown(table[name].iloc[row])}" for name in names),
        between="; ",
    )


def _plain(value: Any) -> Any:
    """Return numbers as JSON has them, to the bit."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int) else float(value)
