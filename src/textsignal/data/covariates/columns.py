"""The columns of numbers that a formula makes of a table.

Factors are computed here, from the formula's tree; formulaic codes categories and multiplies factors into terms. It is
given computed values to look up and no text to evaluate.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from formulaic import ModelSpec, SimpleFormula
from formulaic.errors import FormulaicError
from formulaic.materializers.types import FactorValues
from formulaic.parser.types import Factor
from formulaic.parser.types import Term as FormulaicTerm
from formulaic.transforms import TRANSFORMS

from textsignal.checks import MOST
from textsignal.data.covariates.formula import MAX_KNOTS, SPLINES, Call, Column, Formula, Node, Number, Operation
from textsignal.errors import InputError, RowsError

#: Columns that a formula may make.
MAX_COLUMNS = 5_000
#: Rows that an error names.
NAMED = 5
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


def formula_columns(
    formula: Formula, table: pd.DataFrame, learnt: Mapping[str, Any] | None
) -> tuple[pd.DataFrame, State]:
    """Return the columns that a formula makes of a table, and what its functions learnt, such as knots.

    Parameters
    ----------
    formula : the parsed formula.
    table : numbers as floats, and categories with the levels of training.
    learnt : what the functions learnt in training; None to learn it from this table.

    Raises
    ------
    RowsError
        If a factor is not a finite number in a row.
    """
    state: State = {} if learnt is None else {name: dict(values) for name, values in learnt.items()}
    texts = [_name(factor) for factor in formula.factors]
    if len({*texts}) < len(texts):
        raise InputError(f"formula={str(formula)!r} has a column that is called like one of its functions; rename it")
    values: dict[str, Any] = {CONSTANT: FactorValues(1, kind=Factor.Kind.CONSTANT)}
    for text, factor in zip(texts, formula.factors, strict=True):
        values[text] = _factor(factor, table, state, formula)
    _check_size(formula, values)
    terms = [(CONSTANT,), *(tuple(map(_name, term)) for term in formula.terms)]
    columns = _product(terms, values, table.index, formula)
    _raise_infinite(columns, str(formula), list(formula.columns), table)
    return columns, {name: _plain(inner) for name, inner in state.items()}


def check_learnt(formula: Formula, learnt: object) -> State:
    """Return what functions learnt, as it was stored; raise ValueError where a formula cannot have learnt it."""
    calls = {str(call): call.function for factor in formula.factors for call in _learning(factor)}
    if not isinstance(learnt, dict) or {*learnt} != {*calls}:
        raise ValueError("what the formula learnt does not belong to its functions")
    for text, function in calls.items():
        values = learnt[text]
        if not isinstance(values, dict) or {*values} != {*LEARNS[function]}:
            raise ValueError(f"what {function} learnt has other names than {', '.join(LEARNS[function])}")
        for name, value in values.items():
            _check_value(function, name, value)
    return learnt


def _check_value(function: str, name: str, value: Any) -> None:
    """Raise ValueError where a function cannot have learnt this."""
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
    return (
        isinstance(values, list)
        and 1 <= len(values) <= 2 * MAX_KNOTS
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        and all(abs(value) < 1e300 for value in values)
    )


def _name(factor: Node) -> str:
    return factor.name if isinstance(factor, Column) else str(factor)


def _learning(node: Node) -> list[Call]:
    """Return the calls in an expression whose functions learn from training."""
    if isinstance(node, Operation):
        return [call for operand in node.operands for call in _learning(operand)]
    if isinstance(node, Call):
        return [*_learning(node.argument), *([node] if node.function in LEARNS else [])]
    return []


def _factor(factor: Node, table: pd.DataFrame, state: State, formula: Formula) -> Any:
    """Return the values of a factor: a category, one column of numbers, or several of a spline."""
    if isinstance(factor, Column) and isinstance(table[factor.name].dtype, pd.CategoricalDtype):
        return table[factor.name]
    if isinstance(factor, Call) and factor.function == "C" and isinstance(factor.argument, Column):
        return table[factor.argument.name]
    names = _columns(factor)
    for name in names:
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            raise InputError(f"formula={str(formula)!r} computes {factor} with {name!r}, which is not a number")
    with np.errstate(all="ignore"):
        values = _number(factor, table, state, formula)
    if isinstance(factor, Call) and factor.function in SPLINES:
        _raise_infinite(pd.DataFrame(dict(values), index=table.index), str(factor), names, table)
        return values
    column = pd.Series(np.broadcast_to(np.asarray(values, dtype=float), len(table)), index=table.index)
    _raise_infinite(column.to_frame(), str(factor), names, table)
    return column


def _number(node: Node, table: pd.DataFrame, state: State, formula: Formula) -> Any:
    """Return the value of an expression in every row."""
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
    _raise_infinite(pd.DataFrame({"": column}, index=table.index), str(node.argument), _columns(node), table)
    known = state.setdefault(str(node), {})
    if known.get("constraints") is not None:
        known["constraints"] = np.array(known["constraints"], dtype=float)
    try:
        return TRANSFORMS[node.function](column, _state=known, **dict(node.options))
    except (ValueError, ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
        raise _uncomputable(formula, node, error) from error


def _uncomputable(formula: Formula, node: Node, error: Exception) -> InputError:
    message = (str(error).splitlines() or [type(error).__name__])[0][:300]
    beyond = "; extrapolation=clip takes what lies beyond for the nearest" if "bounds" in message else ""
    return InputError(f"formula={str(formula)!r}: {node} cannot be computed: {message}{beyond}")


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


def _check_size(formula: Formula, values: Mapping[str, Any]) -> None:
    """Raise where the terms have too many columns."""
    widths = {name: _width(value) for name, value in values.items()}
    total = sum(int(np.prod([widths[_name(factor)] for factor in term])) for term in formula.terms)
    if total > MAX_COLUMNS:
        raise InputError(f"formula={str(formula)!r} makes {total:,} columns; at most {MAX_COLUMNS:,} are allowed")


def _width(value: Any) -> int:
    """Return the number of columns of a factor's values."""
    if isinstance(value, pd.Series):
        return len(value.cat.categories) if isinstance(value.dtype, pd.CategoricalDtype) else 1
    return len(value) if isinstance(value, FactorValues) and hasattr(value, "keys") else 1


def _columns(node: Node) -> list[str]:
    """Return the names of the columns in an expression."""
    if isinstance(node, Column):
        return [node.name]
    if isinstance(node, Number):
        return []
    inner = node.operands if isinstance(node, Operation) else (node.argument,)
    return list(dict.fromkeys(name for each in inner for name in _columns(each)))


def _raise_infinite(made: pd.DataFrame, text: str, names: Sequence[str], table: pd.DataFrame) -> None:
    """Raise where a computed value is not finite, naming the row, the term and the columns' values there."""
    rows = np.flatnonzero(~(np.abs(made.to_numpy(dtype=float)) <= MOST).all(axis=1))
    if rows.size:
        pieces: list[str | int] = []
        for place, row in enumerate(rows[:NAMED].tolist()):
            cells = ", ".join(f"{name} {_cell(table[name].iloc[row])}" for name in names)
            pieces += ["; row " if place else "row ", row, f": {cells}"]
        more = f" and {rows.size - NAMED} more" if rows.size > NAMED else ""
        raise RowsError(
            f"{text[:300]} of the formula is not a finite number, or too large, in ",
            *pieces,
            f"{more} (rows count from 1); leave these rows out, or change the formula, as log(x + 1) for log(x)",
        )


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers as JSON has them, to the bit."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | list | tuple):
            return [plain(inner) for inner in value]
        return value if value is None or isinstance(value, bool | int) else float(value)

    return {name: plain(value) for name, value in values.items()}
