"""Formulas of covariates, such as "log(price) * C(country) + bs(age, 4)", by formulaic.

Formulas are evaluated as Python, and stored models hold them: only names of columns, numbers, arithmetic and the
functions below are let through.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
from formulaic import Formula, ModelSpec
from formulaic.errors import FormulaicError

from textsignal.errors import InputError

#: Functions that formulas may use.
FUNCTIONS = ("C", "I", "bs", "cr", "cc", "center", "scale", "log", "log2", "log10", "exp")
#: What their arguments may be made of.
ALLOWED = (
    *(ast.Expression, ast.Call, ast.Name, ast.Load, ast.Constant, ast.keyword, ast.List, ast.Tuple),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UnaryOp, ast.USub, ast.UAdd),
)
_QUOTED = re.compile(r"`([^`]*)`")


def read_formula(text: str) -> tuple[list[str], set[str]]:
    """Names of the columns that a formula takes, and which of them it takes as categories: those in C(...).

    Examples
    --------
    >>> read_formula("log(price) + C(country)")
    (['price', 'country'], {'country'})
    """
    quoted: list[str] = []
    for factor in _factors(text):
        if factor.eval_method.value == "lookup":
            quoted.append(f"`{factor.expr}`")
        elif factor.eval_method.value == "python":
            quoted.append(factor.expr)
    numbers, categories = list[str](), list[str]()
    for expression in quoted:
        names, plain = _QUOTED.findall(expression), expression
        for number, name in enumerate(names):
            plain = plain.replace(f"`{name}`", f"quoted_{number}_")
        tree = _parsed(plain, text)
        _check(tree, text)
        _collect(tree, names, numbers, categories, text)
    both = {*numbers} & {*categories}
    if both:
        raise InputError(
            f"formula={text!r} takes {min(both)!r} as a category and as a number; give a copy of the column"
        )
    columns = list(dict.fromkeys(numbers + categories))
    return columns, {*categories}


def matrix_of(text: str, table: pd.DataFrame, state: Mapping[str, Any] | None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The columns that a formula makes of a table, and what its functions have learnt (knots, means).

    state : what they learnt in training, None to learn it now. Categories are those that the table's columns have.
    """
    spec = ModelSpec(
        formula=Formula(text),
        materializer="pandas",
        na_action="raise",
        output="pandas",
        transform_state={name: dict(learnt) for name, learnt in (state or {}).items()},
    )
    try:
        made = spec.get_model_matrix(table)
    except (FormulaicError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        said = str(error).splitlines()[0]
        beyond = "; bs(..., extrapolation='clip') takes what lies beyond for the nearest" if "bounds" in said else ""
        raise InputError(f"formula={text!r} cannot be computed: {said}{beyond}") from error
    if "Intercept" not in made.columns:
        raise InputError(f"formula={text!r} takes the constant away; leave 0 and -1 out: the model has one of its own")
    learnt = {name: _plain(values) for name, values in made.model_spec.transform_state.items()}
    return pd.DataFrame(made).drop(columns="Intercept"), learnt


def _factors(text: str) -> list[Any]:
    """All factors of all terms."""
    try:
        terms = Formula(text)
        if hasattr(terms, "lhs"):
            raise InputError(f"formula={text!r} names a response; give the covariates alone, without '~'")
        return [factor for term in terms for factor in term.factors]
    except (FormulaicError, ValueError, SyntaxError, AttributeError) as error:
        raise InputError(f"formula={text!r} cannot be read: {error}") from error


def _parsed(expression: str, text: str) -> ast.Expression:
    try:
        return ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise InputError(f"formula={text!r} cannot be read: {error}") from error


def _check(tree: ast.Expression, text: str) -> None:
    """Raise unless there is nothing in it but what is allowed."""
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise InputError(f"formula={text!r} holds what a formula may not; {_advice()}")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
            raise InputError(f"formula={text!r} calls {ast.unparse(node.func)!r}; {_advice()}")


def _advice() -> str:
    return f"it may have names of columns, numbers, + - * / ** : and {', '.join(FUNCTIONS)}"


def _collect(tree: ast.AST, quoted: list[str], numbers: list[str], categories: list[str], text: str) -> None:
    """Sort names of columns into those of numbers and those of categories."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    in_category: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
            if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Name):
                raise InputError(f"formula={text!r}: C takes the name of a column and nothing else")
            in_category.add(id(node.args[0]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            found = re.fullmatch(r"quoted_(\d+)_", node.id)
            name = quoted[int(found[1])] if found else node.id
            (categories if id(node) in in_category else numbers).append(name)


def check_state(state: object) -> dict[str, Any]:
    """What functions learnt, as it was stored; raise ValueError where it is not numbers by name."""
    if not isinstance(state, dict) or not all(isinstance(inner, dict) for inner in state.values()):
        raise ValueError("what the formula learnt is not numbers by name")
    values = [value for inner in state.values() for value in inner.values()]
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    if not all(one is None or isinstance(one, int | float) for one in flat):
        raise ValueError("what the formula learnt is not numbers by name")
    return state


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as JSON has them, to the bit."""

    def plain(value: Any) -> Any:
        if isinstance(value, Collection) and not isinstance(value, str):
            return [plain(inner) for inner in value]
        return value if value is None or isinstance(value, bool | int) else float(value)

    return {name: plain(value) for name, value in values.items()}
