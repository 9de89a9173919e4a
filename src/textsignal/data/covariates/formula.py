"""Formulas of covariates, such as "log(price) * C(country) + bs(age, 4)", parsed into a tree.

A formula is made of column names, numbers, operators and the functions in `FUNCTIONS`. Nothing else has a node in the
tree, and no part of a formula reaches Python's evaluator: `covariates.columns` computes the tree. Stored models hold
the tree, which `formula_from` checks as strictly as `parse_formula` checks text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from textsignal.errors import InputError

#: Limits on a formula: characters of text, nested brackets, operations (a sum is one), terms, factors of one term.
MAX_LENGTH, MAX_DEPTH, MAX_OPERATIONS, MAX_TERMS, MAX_FACTORS = 5_000, 40, 100, 200, 10
#: Limits on a spline: columns or knots, and degree.
MAX_KNOTS, MAX_DEGREE = 100, 10
#: Limit on the numbers in a formula.
MAX_NUMBER = 1e300
#: Characters of a formula shown in messages.
SHOWN = 120
#: Binary operators by how tightly they bind.
OPERATORS = {"+": 1, "-": 1, "*": 2, "/": 2, ":": 3, "**": 4}
UNARY = ("+", "-")
CONSTANT = "takes the constant away; leave 0 and -1 out: the model has its own constant"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`]*)`"
    r"|(?P<sign>\*\*|[-+*/:^(),=\[\]~]))"
)


@dataclass(frozen=True)
class Column:
    """A column of the table."""

    name: str

    def __str__(self) -> str:
        return self.name if re.fullmatch(r"[^\W\d]\w*", self.name) else f"`{self.name}`"


@dataclass(frozen=True)
class Number:
    """A finite number."""

    value: float

    def __str__(self) -> str:
        short = f"{self.value:g}"
        return short if float(short) == self.value else repr(self.value)


@dataclass(frozen=True)
class Operation:
    """An operator and its operands: one, two, or for a sum any number."""

    operator: str
    operands: tuple[Node, ...]

    def __str__(self) -> str:
        level = OPERATORS[self.operator]
        if len(self.operands) == 1:
            return f"{self.operator}{_bracketed(self.operands[0], 4)}"
        first, others = (level + 1, level) if self.operator == "**" else (level, level + 1)
        texts = [_bracketed(self.operands[0], first), *(_bracketed(each, others) for each in self.operands[1:])]
        return (":" if self.operator == ":" else f" {self.operator} ").join(texts)


@dataclass(frozen=True)
class Call:
    """A function of `FUNCTIONS`, its argument, and the values of its options by name."""

    function: str
    argument: Node
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        options = [f"{name}={_shown_option(value)}" for name, value in self.options]
        if self.options and self.options[0][0] == "df":
            options[0] = _shown_option(self.options[0][1])
        return f"{self.function}({', '.join([str(self.argument), *options])})"


Node = Column | Number | Operation | Call
#: A product of factors, each a column or a call.
Term = tuple[Node, ...]


def _whole(least: int, most: int) -> Callable[[Any], Any]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or value not in range(least, most + 1):
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(value)

    return check


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MAX_NUMBER:
        raise ValueError(f"must be a number below {MAX_NUMBER:g}")
    return float(value)


def _numbers(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_KNOTS:
        raise ValueError(f"must be a list of at most {MAX_KNOTS} numbers, such as [10, 20]")
    return tuple(_number(each) for each in value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be True or False")
    return value


def _word(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return value

    return check


_BOUNDS = {"lower_bound": _number, "upper_bound": _number}
_BEYOND = {"extrapolation": _word("raise", "clip", "zero", "extend")}
_SIZE = {"df": _whole(1, MAX_KNOTS), "knots": _numbers}
_CUBIC = {**_SIZE, **_BOUNDS, "constraints": _word("center"), **_BEYOND}
#: Functions of formulas; for each, its options in order and the check of each option's value.
FUNCTIONS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "C": {},
    "I": {},
    "bs": {**_SIZE, "degree": _whole(0, MAX_DEGREE), "include_intercept": _flag, **_BOUNDS, **_BEYOND},
    "cr": _CUBIC,
    "cc": _CUBIC,
    "center": {},
    "scale": {"center": _flag, "scale": _flag, "ddof": _whole(0, 10)},
    **{name: {} for name in ("log", "log2", "log10", "exp")},
}
#: Functions of several columns, which can be a factor and not an operand.
SPLINES = ("bs", "cr", "cc")
ADVICE = f"it may have names of columns, numbers, + - * / ** : and {', '.join(FUNCTIONS)}"


class _Invalid(ValueError):
    """A formula that cannot be: the message completes "formula=... "."""


@dataclass(frozen=True)
class Formula:
    """A parsed formula.

    terms : without the constant, main effects first; columns : of the table; categories : the columns inside C(...).
    """

    tree: Node
    terms: tuple[Term, ...]
    columns: tuple[str, ...]
    categories: frozenset[str]

    def __str__(self) -> str:
        return str(self.tree)

    def plain(self) -> Any:
        """Return the tree as JSON holds it."""
        return _plain(self.tree)

    @property
    def factors(self) -> list[Node]:
        """Return the distinct factors of all terms."""
        return list(dict.fromkeys(factor for term in self.terms for factor in term))


def parse_formula(text: str) -> Formula:
    """Parse the text of a formula; raise InputError where it is not one.

    Examples
    --------
    >>> formula = parse_formula("log(price) * C(country)")
    >>> formula.columns, sorted(formula.categories), [":".join(map(str, term)) for term in formula.terms]
    (('price', 'country'), ['country'], ['log(price)', 'C(country)', 'log(price):C(country)'])
    """
    if not isinstance(text, str):
        raise InputError(f"formula must be text such as 'log(price) + C(country)'; {type(text).__name__} is given")
    shown = repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
    try:
        if len(text) > MAX_LENGTH:
            raise _Invalid(f"has {len(text):,} characters; at most {MAX_LENGTH:,} are allowed")
        return _checked(_Parser(text).parse())
    except _Invalid as error:
        raise InputError(f"formula={shown} {error}") from None


def formula_from(plain: Any) -> Formula:
    """Rebuild a formula from `Formula.plain`; raise ValueError where it is not one."""
    return _checked(_node_from(plain, 0))


def walk(node: Node) -> Iterator[Node]:
    """Yield an expression and all expressions inside it."""
    yield node
    for inner in node.operands if isinstance(node, Operation) else (node.argument,) if isinstance(node, Call) else ():
        yield from walk(inner)


def column_names(node: Node) -> list[str]:
    """Return the names of the columns in an expression, each once."""
    return list(dict.fromkeys(each.name for each in walk(node) if isinstance(each, Column)))


class _Parser:
    """Precedence climbing over the tokens of a formula."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at, self.depth, self.operations = 0, 0, 0

    def parse(self) -> Node:
        node = self.expression(1)
        if self.kind != "end":
            raise _Invalid(f"cannot be read at {self.value!r}; {ADVICE}")
        return node

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0]

    @property
    def value(self) -> str:
        return self.tokens[self.at][1]

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, sign: str) -> bool:
        accepted = self.kind == "sign" and self.value == sign
        self.at += accepted
        return accepted

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            got = "ends" if self.kind == "end" else f"has {self.value!r}"
            raise _Invalid(f"{got} where {sign!r} should be; {ADVICE}")

    def expression(self, level: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Invalid(f"is nested too deeply; at most {MAX_DEPTH} levels are allowed")
        left = self.operand()
        while self.kind == "sign" and OPERATORS.get(self.value, 0) >= level:
            operator = self.next()
            above = OPERATORS[operator] + (operator != "**")
            right = self.expression(above)
            if operator == "+" and isinstance(left, Operation) and left.operator == "+" and len(left.operands) > 1:
                # A sum of any length is one operation, so that the tree stays flat.
                left = Operation("+", (*left.operands, right))
            else:
                left = self.operation(operator, left, right)
        self.depth -= 1
        return left

    def operation(self, operator: str, *operands: Node) -> Operation:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            raise _Invalid(f"has more than {MAX_OPERATIONS} operations")
        return Operation(operator, operands)

    def operand(self) -> Node:
        if self.kind == "sign" and self.value in UNARY:
            return self.operation(self.next(), self.expression(OPERATORS["**"]))
        if self.kind == "number":
            return _number_node(float(self.next()))
        if self.kind == "quoted":
            return Column(self.next())
        if self.kind == "name":
            name = self.next()
            return self.call(name) if self.accept("(") else Column(name)
        if self.accept("~"):
            raise _Invalid("names a response; give the covariates alone, without '~'")
        self.expect("(")
        inner = self.expression(1)
        self.expect(")")
        return inner

    def call(self, function: str) -> Node:
        if function not in FUNCTIONS:
            raise _Invalid(f"calls {function!r}; {ADVICE}")
        argument = self.expression(1)
        given: dict[str, Any] = {}
        while self.accept(","):
            is_named = self.kind == "name" and self.tokens[self.at + 1] == ("sign", "=")
            name = self.next() if is_named else next(iter(list(FUNCTIONS[function])[len(given) :]), "")
            self.at += is_named
            if name in given:
                raise _Invalid(f"has {name!r} twice in {function}")
            given[name] = self.option()
        self.expect(")")
        return _call(function, argument, given)

    def option(self) -> Any:
        if self.accept("["):
            values = []
            while not self.accept("]"):
                values.append(self.signed())
                if not self.accept(","):
                    self.expect("]")
                    break
            return values
        if self.kind == "name":
            word = self.next()
            return {"True": True, "False": False}.get(word, word)
        return self.signed()

    def signed(self) -> float:
        sign = -1.0 if self.accept("-") else 1.0
        if self.kind != "number":
            raise _Invalid(f"has {self.value!r} where an option's value should be: a number, True, False or a word")
        return sign * _number_node(float(self.next())).value


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            character = text[at:].lstrip()[:1]
            hint = "; words need no quotes, as in extrapolation=clip" if character in "'\"" else ""
            raise _Invalid(f"holds {character!r}, which a formula may not; {ADVICE}{hint}")
        kind = str(match.lastgroup)
        yield kind, "**" if match[kind] == "^" else match[kind]
        at = match.end()
    yield "end", ""


def _number_node(value: float) -> Number:
    if not 0 <= value < MAX_NUMBER:
        raise _Invalid(f"holds a number that is not below {MAX_NUMBER:g}")
    return Number(value)


def _call(function: str, argument: Node, given: Mapping[str, Any]) -> Call:
    """Return a call whose options are checked, in the order in which the function has them."""
    options = FUNCTIONS[function]
    for name in given:
        if name not in options:
            allowed = f"takes {', '.join(options)}" if options else "takes one argument and no options"
            what = f"gives {function} the option {name[:SHOWN]!r}" if name else f"gives {function} too many arguments"
            raise _Invalid(f"{what}; it {allowed}")
    if function == "C" and not isinstance(argument, Column):
        raise _Invalid("has C of something other than the name of a column")
    checked = []
    for name, check in options.items():
        if name in given:
            try:
                checked.append((name, check(given[name])))
            except ValueError as error:
                raise _Invalid(f"has {name} of {function} that {error}") from None
    names = [name for name, _ in checked]
    if "df" in names and "knots" in names:
        raise _Invalid(f"gives {function} both df and knots; give one of them")
    if function in ("cr", "cc") and not {"df", "knots"} & {*names}:
        raise _Invalid(f"gives {function} neither df nor knots; give one of them")
    return Call(function, argument, tuple(checked))


def _checked(tree: Node) -> Formula:
    """Return the formula of a tree, in which splines and categories are factors and everything has its columns."""
    terms = tuple(sorted(_terms(tree), key=len))
    factors = list(dict.fromkeys(factor for term in terms for factor in term))
    categories = [column_names(factor)[0] for factor in factors if isinstance(factor, Call) and factor.function == "C"]
    names: list[str] = []
    for factor in factors:
        if not isinstance(factor, Call):
            names += _arithmetic_columns(factor)
        elif factor.function != "C":
            names += _arithmetic_columns(factor.argument)
    both = {*names} & {*categories}
    if both:
        raise _Invalid(f"takes {min(both)!r} as a category and as a number; give a copy of the column")
    columns = tuple(dict.fromkeys(names + categories))
    if not columns:
        raise _Invalid("names no column")
    return Formula(tree, terms, columns, frozenset(categories))


def _arithmetic_columns(factor: Node) -> list[str]:
    """Return the names of an expression's columns; raise if it is not arithmetic."""
    for node in walk(factor):
        if isinstance(node, Call) and (node.function == "C" or node.function in SPLINES):
            raise _Invalid(f"has {node.function} inside of another function or operation")
        if isinstance(node, Operation) and node.operator == ":":
            raise _Invalid("has ':' inside of a function")
    return column_names(factor)


def _terms(node: Node) -> list[Term]:
    """Return the terms of a tree, each once; the constant is none."""
    if isinstance(node, Column | Call):
        return [(node,)]
    if isinstance(node, Number):
        if node.value == 1:
            return []
        raise _Invalid(CONSTANT if node.value == 0 else f"has {node} as a term; write arithmetic as I(2 * price)")
    if len(node.operands) == 1:
        if node.operator == "-":
            raise _Invalid(CONSTANT)
        return _terms(node.operands[0])
    if node.operator == "+":
        return _distinct(term for operand in node.operands for term in _terms(operand))
    first, second = node.operands
    left = _terms(first)
    if node.operator == "**":
        return _power(left, second)
    if node.operator == "-" and isinstance(second, Number):
        raise _Invalid(CONSTANT)
    right = _terms(second)
    if node.operator in ("*", "/", ":") and not (left and right):
        raise _Invalid(f"has a number next to {node.operator!r}; write arithmetic as I(2 * price)")
    if node.operator == "-":
        removed = {frozenset(term) for term in right}
        return [term for term in left if frozenset(term) not in removed]
    if node.operator == ":":
        return _products(left, right)
    if node.operator == "*":
        return _distinct([*left, *right, *_products(left, right)])
    return _distinct([*left, *_products([tuple(factor for term in left for factor in term)], right)])


def _power(terms: list[Term], exponent: Node) -> list[Term]:
    if not isinstance(exponent, Number) or exponent.value not in range(1, MAX_FACTORS + 1):
        raise _Invalid(f"has an exponent that is not a whole number from 1 to {MAX_FACTORS}")
    made = terms
    for _ in range(int(exponent.value) - 1):
        made = _distinct([*made, *_products(made, terms)])
    return made


def _products(left: list[Term], right: list[Term]) -> list[Term]:
    return _distinct(tuple(dict.fromkeys((*one, *other))) for one, other in product(left, right))


def _distinct(terms: Iterable[Term]) -> list[Term]:
    """Return terms without repetitions; raise as soon as there are too many."""
    distinct: dict[frozenset[Node], Term] = {}
    for term in terms:
        if len(term) > MAX_FACTORS:
            raise _Invalid(f"has a product of more than {MAX_FACTORS} factors")
        distinct.setdefault(frozenset(term), term)
        if len(distinct) > MAX_TERMS:
            raise _Invalid(f"has more than {MAX_TERMS} terms; name fewer")
    return list(distinct.values())


def _plain(node: Node) -> Any:
    if isinstance(node, Column):
        return {"column": node.name}
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Operation):
        return {"operator": node.operator, "operands": [_plain(operand) for operand in node.operands]}
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in node.options}
    return {"function": node.function, "argument": _plain(node.argument), "options": options}


def _node_from(plain: Any, depth: int) -> Node:
    """Rebuild a node from `_plain`; raise ValueError where it is none."""
    if depth > MAX_DEPTH + MAX_OPERATIONS:
        raise _Invalid("is nested too deeply")
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        return _number_node(_number(plain))
    match plain:
        case {"column": str(name), **rest} if not rest and "`" not in name:
            return Column(name)
        case {"operator": str(operator), "operands": [inner], **rest} if not rest and operator in UNARY:
            return Operation(operator, (_node_from(inner, depth + 1),))
        case {"operator": str(operator), "operands": [_, _, *more] as inner, **rest} if not rest:
            if operator in OPERATORS and (operator == "+" or not more):
                return Operation(operator, tuple(_node_from(each, depth + 1) for each in inner))
        case {"function": str(function), "argument": argument, "options": dict(options), **rest} if not rest:
            if function in FUNCTIONS:
                return _call(function, _node_from(argument, depth + 1), options)
    raise _Invalid("holds something other than columns, numbers, operators and known functions")


def _bracketed(node: Node, level: int) -> str:
    """Return the text of an operand, in brackets where it binds less tightly than `level`."""
    binds = level
    if isinstance(node, Operation):
        binds = OPERATORS["**"] if len(node.operands) == 1 else OPERATORS[node.operator]
    return f"({node})" if binds < level else str(node)


def _shown_option(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown_option, value))}]"
    return str(Number(value)) if isinstance(value, float) else str(value)
