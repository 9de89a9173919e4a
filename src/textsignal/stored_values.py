"""Declarations of stored values, and the one checker that reads them: a stored model may be damaged or forged.

Fitted values are dataclasses. The type hint of a field and its `rule` declare its type, the sizes of its axes by name
and its bounds. `Checker` rebuilds a dataclass from JSON and arrays, and raises ValueError for everything that is not
declared. Names of sizes stand for one number in the whole model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from textsignal.errors import StorageError, one_line, shortened, shown

#: The largest stored number: fits stay far below, and the product of three such numbers is finite. The smallest of
#: those that must be above 0: its inverse is not above the largest.
LARGEST, SMALLEST = 1e100, 1e-100
#: Beyond this, not every whole number is a float. The largest file of settings, in bytes.
LARGEST_WHOLE, MOST_BYTES = 2**53, 2**30
#: Sizes that may be 0.
MAY_BE_NONE = ("covariates", "features", "clauses", "verdict words")
#: A size: its name, "*name" for an axis that is absent if the size is 1, a number, or a function of other sizes.
Size = str | int | Callable[[Mapping[str, int]], int]
#: A number that stays whole if it is.
Number = int | float
#: A label of a class or a level of a scale.
Label = bool | int | float | str


def read_json(file: Path) -> Any:
    """Read a file of JSON without NaN, infinity, numbers beyond `LARGEST`, repeated names or endless nesting."""
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise ValueError(f"it has {size:,} bytes, and a model has at most {MOST_BYTES:,}")
        if not file.is_file():
            raise ValueError("it is not a file")
        return json.loads(
            file.read_bytes().decode("utf-8", "surrogatepass"),
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_refuse,
            object_pairs_hook=_unique,
        )
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        reason = f"{one_line(error)}); it may be truncated: save the model again"
        raise StorageError(f"{file} cannot be read ({reason}") from error


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)) or abs(number) > LARGEST:
        raise ValueError(f"it holds the number {shortened(text)}, which is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > math.log10(LARGEST):
        raise ValueError(f"it holds a number of {len(text):,} digits")
    return int(text)


def _refuse(text: str) -> None:
    raise ValueError(f"it holds {text}, which is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def is_text(value: str) -> bool:
    """True if a string consists of characters: half of a surrogate pair is not one."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Rule:
    """Constraints on a stored value that its type hint does not express.

    shape : sizes of an array's axes, the length of a list, linear predictors of a family, or the size that a number is.
    least, most : bounds of all numbers; below : function of the sizes that all numbers are below.
    infinite : True if any number is allowed, finite or not.
    missing : NaN is required instead of numbers if this function of the sizes is true; True allows NaN anywhere.
    filled : True if the array, or each of its rows, must have a number above 0.
    ends : name of the size that the array divides: its values increase from 0 to that size.
    only_with : name of the size without which an optional array must be absent.
    choices : allowed strings; accepts : true for allowed values; distinct : True if no item may occur twice.
    any_text : True if strings may hold half of a surrogate pair, as damaged texts do.
    learnt : True if no setting of a family may be open.
    """

    shape: tuple[Size, ...] | None = None
    least: float = -LARGEST
    most: float = LARGEST
    below: Callable[[Mapping[str, int]], int] | None = None
    missing: bool | Callable[[Mapping[str, int]], bool] = False
    infinite: bool = False
    filled: bool = False
    ends: str = ""
    only_with: str = ""
    choices: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] | None = None
    distinct: bool = False
    any_text: bool = False
    learnt: bool = False

    @property
    def of_items(self) -> Rule:
        """Constraints on the items of a list."""
        return Rule(least=self.least, most=self.most, choices=self.choices, any_text=self.any_text)


def rule(**constraints: Any) -> dict[str, Rule]:
    """Metadata of a dataclass field with constraints on its stored value."""
    return {"rule": Rule(**constraints)}


def stored_fields(value: Any) -> list[Field]:
    """Fields of a dataclass that are stored."""
    return [each for each in fields(value) if each.metadata.get("stored", True)]


#: Types of the fields of a dataclass, by name.
type_hints = cache(get_type_hints)


def declarations(kind: Any, named: Mapping[Any, Mapping[str, type]]) -> Iterator[Any]:
    """Dataclasses that a dataclass may consist of, itself first, with the types of their fields resolved."""
    yield kind
    for each in stored_fields(kind):
        kinds = alternatives(type_hints(kind)[each.name])
        for hint in (*kinds, *(inner for outer in kinds for inner in get_args(outer))):
            for found in named[hint].values() if hint in named else [hint] if is_dataclass(hint) else []:
                yield from declarations(found, named)


def rule_of(each: Field) -> Rule:
    """Constraints on a field."""
    return each.metadata.get("rule", Rule())


def is_array(hint: Any) -> bool:
    """True if a type hint is that of an array."""
    return hint is np.ndarray or get_origin(hint) is np.ndarray


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union; a type that is not a union is the only one."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


@dataclass
class Checker:
    """Stored values, rebuilt and checked one after the other.

    arrays : those that were not read yet; sizes : of axes, as far as they are known.
    named : protocol -> name -> dataclass; such values are stored with their name.
    """

    arrays: dict[str, np.ndarray]
    named: Mapping[Any, Mapping[str, type]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def finish(self) -> None:
        """Check everything that depends on several values; raise if an array was not read."""
        for check in self._waiting:
            check()
        for name, size in self.sizes.items():
            if size < 1 and name not in MAY_BE_NONE:
                raise ValueError(f"there are no {name}")
        if self.arrays:
            raise ValueError(f"the array {shown(min(self.arrays))} is not declared")

    def part(self, kind: Any, plain: Any, path: str) -> Any:
        """Rebuild a dataclass; every field must be there and follow its declaration."""
        if not isinstance(plain, dict):
            raise ValueError(f"{path} is {shown(plain)}; it must be an object with names")
        declared = {each.name: each for each in stored_fields(kind)}
        unknown = [name for name in plain if name not in declared]
        if unknown:
            raise ValueError(f"{path} has {shown(unknown[0])}, which is not known")
        made = kind(**{name: self._field(kind, each, plain, path) for name, each in declared.items()})
        if hasattr(made, "check"):
            self._waiting.append(made.check)
        return made

    def _field(self, kind: Any, each: Field, values: Mapping[str, Any], path: str) -> Any:
        hint, rule, inner = type_hints(kind)[each.name], rule_of(each), f"{path}.{each.name}"
        if rule.only_with:
            self._waiting.append(lambda: self._check_presence(inner, rule, values.get(each.name, ...) is None))
        if each.name in values:
            return self.value(hint, rule, values[each.name], inner)
        arrays = [option for option in alternatives(hint) if is_array(option)]
        if not arrays or inner not in self.arrays:
            raise ValueError(f"{inner} is missing")
        return self._array(arrays[0], rule, self.arrays.pop(inner), inner)

    def _check_presence(self, path: str, rule: Rule, absent: bool) -> None:
        if absent == bool(self.sizes.get(rule.only_with)):
            raise ValueError(f"{path} must be there if there are {rule.only_with}, and only then")

    def value(self, hint: Any, rule: Rule, value: Any, path: str) -> Any:
        """Check a value of JSON and return it as its type, such as a tuple for a list; `Any` is left to a `check`."""
        kinds = [kind for kind in alternatives(hint) if not is_array(kind)]
        if hint is Any or (value is None and NoneType in kinds):
            return value
        either = {int, float} <= {*kinds}
        for kind in kinds:
            if _is_of(value, kind, self.named):
                found = self._of_kind(Number if either and kind in (int, float) else kind, rule, value, path)
                if rule.accepts is not None and not rule.accepts(found):
                    break
                return found
        raise ValueError(f"{path} is {shown(value)}, which is not allowed")

    def _of_kind(self, kind: Any, rule: Rule, value: Any, path: str) -> Any:
        if kind in (int, float, Number):
            return self._number(kind, rule, value, path)
        if kind is str:
            return _text(rule, value, path)
        if kind in self.named:
            return self._named(kind, rule, value, path)
        if is_dataclass(kind):
            return self.part(kind, value, path)
        if get_origin(kind) is dict:
            inner = get_args(kind)[1]
            return {_text(rule, key, path): self.value(inner, rule.of_items, each, path) for key, each in value.items()}
        return self._items(kind, rule, value, path) if isinstance(value, list) else value

    def _number(self, kind: Any, rule: Rule, value: Any, path: str) -> Any:
        if rule.shape is not None:
            self._match((value,) if kind is int else (), rule.shape, path)
        if not rule.least <= value <= rule.most:
            raise ValueError(f"{path} is {shown(value)}; it must be from {rule.least:g} to {rule.most:g}")
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE and kind is not float:
            raise ValueError(f"{path} is {shown(value)}, which is too large")
        # Compiled functions are of one type: a whole number would have another one compiled, or read from a cache.
        return float(value) if kind is float else value

    def _named(self, kind: Any, rule: Rule, value: Mapping[str, Any], path: str) -> Any:
        """A value of one of several classes, by its name, such as a family."""
        settings = dict(value)
        name = settings.pop("name", None)
        if not isinstance(name, str) or name not in self.named[kind]:
            raise ValueError(f"{path} has the name {shown(name)}, which is not known")
        made = self.part(self.named[kind][name], settings, path)
        if rule.learnt and None in made.settings().values():
            raise ValueError(f"{path} has a setting that is left open")
        if rule.shape is not None:
            self._match((made.n_predictors,), rule.shape, path)
        return made

    def _items(self, kind: Any, rule: Rule, values: list[Any], path: str) -> Any:
        hints = get_args(kind)
        fixed = get_origin(kind) is tuple and hints[-1] is not ...
        if fixed and len(values) != len(hints):
            raise ValueError(f"{path} has {len(values)} items; it must have {len(hints)}")
        if rule.shape is not None:
            self._match((len(values),), rule.shape, path)
        if hints[0] is str and all(type(each) is str for each in values) and not rule.choices:
            _text(rule.of_items, "".join(values), path)  # a quarter of a million words, at once
            made = values
        else:
            made = [self.value(hints[0], rule.of_items, each, f"{path}.{number}") for number, each in enumerate(values)]
        if rule.distinct and len(set(made)) != len(made):
            raise ValueError(f"{path} has an item twice")
        return tuple(made) if get_origin(kind) is tuple else made

    def _array(self, hint: Any, rule: Rule, values: np.ndarray, path: str) -> np.ndarray:
        allowed = _dtypes(hint)
        if values.dtype not in allowed:
            wanted = " or ".join(np.dtype(dtype).name for dtype in allowed)
            raise ValueError(f"{path} holds {values.dtype}, not numbers of {wanted}")
        assert rule.shape is not None, f"{path} has no declared shape"
        self._match(values.shape, rule.shape, path)
        if rule.ends:
            if not values.size or values[0] != 0 or np.any(values[1:] < values[:-1]):
                raise ValueError(f"{path} must begin with 0 and never decrease")
            self._match((int(values[-1]),), (rule.ends,), path)
        if callable(rule.missing):
            self._waiting.append(lambda: self._check_missing(rule, values, path))
        elif not rule.infinite:
            _check_bounds(rule, values[~np.isnan(values)] if rule.missing else values, path)
        if rule.below is not None:
            below = rule.below
            self._waiting.append(lambda: _check_bounds(replace(rule, most=below(self.sizes) - 1), values, path))
        if rule.filled and not np.all(np.max(values, axis=-1, initial=0.0) > 0):
            raise ValueError(f"{path} must have numbers above 0{' in each row' if values.ndim > 1 else ''}")
        return values

    def _check_missing(self, rule: Rule, values: np.ndarray, path: str) -> None:
        assert callable(rule.missing)
        if not rule.missing(self.sizes):
            _check_bounds(rule, values, path)
        elif not np.isnan(values).all():
            raise ValueError(f"{path} must be missing")

    def _match(self, shape: tuple[int, ...], declared: tuple[Size, ...], path: str) -> None:
        """Check sizes against those that are known, and learn the others; wait for those that depend on more."""
        if any(callable(size) or str(size).startswith("*") for size in declared):
            self._waiting.append(lambda: self._check_shape(shape, declared, path))
            return
        if len(shape) == len(declared):
            for size, number in zip(declared, shape, strict=True):
                if isinstance(size, str):
                    self.sizes.setdefault(size, number)
        self._check_shape(shape, declared, path)

    def _check_shape(self, shape: tuple[int, ...], declared: tuple[Size, ...], path: str) -> None:
        expected = []
        for size in declared:
            if isinstance(size, str):
                number = self.sizes.get(size.removeprefix("*"), -1)
                expected += [] if size.startswith("*") and number == 1 else [number]
            else:
                expected.append(size(self.sizes) if callable(size) else size)
        if list(shape) != expected:
            raise ValueError(f"{path} has the size {_sizes(shape)}; it must be {_sizes(expected)}")


def _is_of(value: Any, kind: Any, named: Mapping[Any, Any]) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind in named or is_dataclass(kind) or get_origin(kind) is dict:
        return isinstance(value, dict)
    if get_origin(kind) in (list, tuple, Sequence):
        return isinstance(value, list)
    return isinstance(value, (int, float) if kind is float else kind)


def _text(rule: Rule, value: str, path: str) -> str:
    if rule.choices and value not in rule.choices:
        raise ValueError(f"{path} is {shown(value)}; allowed: {', '.join(rule.choices)}")
    if not rule.any_text and not is_text(value):
        raise ValueError(f"{path} holds half of a surrogate pair, which is not a character")
    return value


def _check_bounds(rule: Rule, values: np.ndarray, path: str) -> None:
    if not values.size or values.dtype == bool:
        return
    low, high = values.min().item(), values.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{path} holds values that are not finite numbers")
    if values.dtype.kind != "u" and not (rule.least <= low and high <= rule.most):
        wrong = low if low < rule.least else high
        raise ValueError(f"{path} holds {wrong:g}; allowed: {rule.least:g} to {rule.most:g}")


@cache
def _dtypes(hint: Any) -> tuple[type, ...]:
    (inner,) = get_args(get_args(hint)[1]) if len(get_args(hint)) > 1 else (np.float64,)
    return (np.float32, np.float64) if inner is np.floating else (inner,)


def _sizes(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes)) or "of one number"
