"""Rows of a table or batch: texts checked, responses and weights parsed, bad rows counted and named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import NAMED, InputError, shortened, shown

if TYPE_CHECKING:
    from textsignal.data.source import Batch

_Cells: TypeAlias = pd.Series | Sequence[Any] | np.ndarray
#: From the number of a row, counted from 0, to its name in messages.
Place: TypeAlias = Callable[[int], str]
_NO_RESPONSE = {"", "na", "n/a", "nan", "null", "none"}
_OF_A_SCALE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:/|out of|of)\s*([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
#: Words for the lower and the higher of two responses.
_PAIRS = (("false", "true"), ("no", "yes"), ("neg", "pos"), ("negative", "positive"))
#: Share of bad rows up to which dropping them is suggested; texts of an Arrow array that are converted at a time.
_FEW, _AT_ONCE = 0.2, 1024


@dataclass(frozen=True, eq=False)
class ParsedResponse:
    """A response as numbers, each array (rows,).

    values : NaN if absent; unparsable : True if a cell holds something else than a number; cells : before parsing.
    reading : interpretation of cells that are not written as numbers, such as "no as 0 and yes as 1"; "" if all are.
    labels : text of the cells, if all are labels, which `values` number in sorted order.
    n_labels : number of different texts, if all cells are texts and too many for labels.
    order : all categories of a column whose categories have an order, lowest first.
    """

    values: np.ndarray
    unparsable: np.ndarray
    cells: np.ndarray
    reading: str = ""
    labels: np.ndarray | None = None
    n_labels: int = 0
    order: tuple[Any, ...] | None = None

    @property
    def given(self) -> Any:
        """(rows,) labels or numbers; an ordered pandas.Categorical if they have an order."""
        plain = self.values if self.labels is None else self.labels
        return plain if self.order is None else pd.Categorical(plain, list(self.order), ordered=True)

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Return some of the rows of a column of numbers."""
        return replace(self, values=self.values[rows], unparsable=self.unparsable[rows], cells=self.cells[rows])

    @classmethod
    def of_order(cls, cells: pd.Series, order: tuple[Any, ...]) -> Self:
        """Parse a column of ordered categories: text by its rank, from 1; numbers unchanged."""
        plain = cells.to_numpy(dtype=object)
        missing = pd.isna(plain)
        text = any(isinstance(category, str) for category in order)
        numbers = {category: float(rank) if text else float(category) for rank, category in enumerate(order, 1)}
        values = np.array([np.nan if gone else numbers[cell] for cell, gone in zip(plain, missing, strict=True)])
        labels: Any = np.where(missing, None, plain) if text else None
        return cls(values, np.zeros(len(values), dtype=bool), plain, labels=labels, order=order)


def parse_response(cells: _Cells, most_labels: int = 0) -> ParsedResponse:
    """Parse the cells of a response as numbers.

    An empty cell, a missing value and the words NA, N/A, NaN, null and None mean a missing response. If all other
    cells are written in the same way, "4/5", "4 out of 5" and "4 of 5" are 4; false and true, no and yes, neg and pos,
    negative and positive are 0 and 1, in any case. At most `most_labels` different texts, none of them a number, are
    labels of classes.
    """
    given = _objects(cells)
    blank = [isinstance(cell, str) and cell.strip().lower() in _NO_RESPONSE for cell in given]
    missing = pd.isna(given) | np.array(blank, dtype=bool)
    numbers, reading = _in_words(given[~missing]) or (np.array([_number(cell) for cell in given[~missing]]), "")
    values = np.full(len(given), np.nan)
    values[~missing] = numbers
    unparsable, n_labels = ~missing & ~np.isfinite(values), 0
    if unparsable.any() and np.array_equal(unparsable, ~missing) and all(isinstance(c, str) for c in given[~missing]):
        labels = np.full(len(given), None, dtype=object)
        labels[~missing] = [cell.strip() for cell in given[~missing]]
        names, codes = np.unique(labels[~missing].astype(str), return_inverse=True)
        if len(names) <= most_labels:
            values[~missing] = codes
            return ParsedResponse(values, np.zeros(len(given), dtype=bool), given, labels=labels)
        n_labels = len(names)
    return ParsedResponse(np.where(unparsable, np.nan, values), unparsable, given, reading, n_labels=n_labels)


def _in_words(cells: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Numbers and interpretation of cells that are all parts of one scale, or all one of two words."""
    if not len(cells) or not all(isinstance(cell, str) for cell in cells):
        return None
    words = [cell.strip().lower() for cell in cells]
    for low, high in _PAIRS:
        if set(words) <= {low, high}:
            return np.array([float(word == high) for word in words]), f"{low} as 0 and {high} as 1"
    parts = [part.groups() for word in words if (part := _OF_A_SCALE.fullmatch(word))]
    values, scales = np.array(parts, dtype=float).T if parts else (np.empty(0), np.empty(0))
    if len(parts) < len(words) or len(set(scales)) > 1 or (values > scales).any():
        return None
    return values, f"{shown(cells[0].strip())} as {values[0]:g}"


def from_one(row: int) -> str:
    """Count rows from 1."""
    return str(row + 1)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, counted from 0, that are bad for one reason, which is `one` or `many`; cells : if they show the fault."""

    one: str
    many: str
    rows: np.ndarray
    cells: np.ndarray | None = None

    @classmethod
    def at(cls, bad: NDArray[np.bool_], one: str, many: str, cells: np.ndarray | None = None) -> list[Self]:
        """Return the problem of the rows where `bad` is true, if any; cells : of all rows."""
        rows = np.flatnonzero(bad)
        return [cls(one, many, rows, None if cells is None else cells[rows])] if rows.size else []

    def describe(self, place: Place = from_one) -> str:
        """Return the number of rows and the names of the first."""
        named = [place(row) for row in self.rows[:NAMED].tolist()]
        if self.cells is not None:
            cells = [shortened(shown(cell) if isinstance(cell, str) else cell, 30) for cell in self.cells[:NAMED]]
            named = [f"{row}: {cell}" for row, cell in zip(named, cells, strict=True)]
        count = len(self.rows)
        rest = f" and {count - NAMED:,} more" if count > NAMED else ""
        words = (self.one, "row") if count == 1 else (self.many, "rows")
        return f"{count:,} {words[0]} ({words[1]} {', '.join(named)}{rest})"


@dataclass(frozen=True, eq=False)
class BadRows:
    """The rows of a table that cannot be used, and why; a row may be bad for several reasons.

    n_rows : of the table; hint : advice, if dropping bad rows does not help; fits : what would accept them.
    """

    n_rows: int
    problems: tuple[Problem, ...]
    hint: str = ""
    fits: str = ""
    place: Place = from_one

    @property
    def mask(self) -> np.ndarray:
        """(rows,) True for bad rows."""
        bad = np.zeros(self.n_rows, dtype=bool)
        for problem in self.problems:
            bad[problem.rows] = True
        return bad

    def __len__(self) -> int:
        return int(self.mask.sum())

    def describe(self) -> str:
        """Return one line on what is wrong and where; rows are counted without the header."""
        if not self.problems:
            return "no bad rows"
        reasons = ", ".join(problem.describe(self.place) for problem in self.problems)
        return f"{len(self):,} bad row{'s' if len(self) > 1 else ''}: {reasons}"

    def advice(self) -> str:
        """Return advice; dropping bad rows is suggested if they are few."""
        fits = f"; {self.fits}" if self.fits else ""
        if self.hint:
            return self.hint + fits
        if len(self) <= _FEW * self.n_rows:
            return f'Correct the table, or leave such rows out with on_bad_rows="drop"{fits}'
        return f"These are {len(self) / self.n_rows:.0%} of all rows: correct the table, or name other columns{fits}"


def check_rows(
    texts: _Cells, response: ParsedResponse | None = None, *, levels: tuple[int, int] | None = None
) -> BadRows:
    """Find rows whose text is missing, blank or not a string, or whose response is not a number or not a level.

    levels : the lowest and the highest; all are whole numbers. A row without response can be used.
    """
    given = _objects(texts)
    missing, strings = pd.isna(given), np.array([isinstance(text, str) for text in given], dtype=bool)
    blank = np.array([isinstance(text, str) and not text.strip() for text in given], dtype=bool)
    problems = Problem.at(missing | blank, "empty text", "empty texts")
    problems += Problem.at(~missing & ~strings, "text that is not a string", "texts that are not strings", given)
    if response is None:
        return BadRows(len(given), tuple(problems))
    if len(response.values) != len(given):
        raise InputError(f"{len(given):,} texts but {len(response.values):,} responses; each text needs one")
    values, cells = response.values, response.cells
    reasons = "response that is not a number", "responses that are not numbers"
    problems += Problem.at(response.unparsable, *reasons, cells)
    if levels is not None:
        outside, span = (values < levels[0]) | (values > levels[1]), f"outside {levels[0]} to {levels[1]}"
        problems += Problem.at(outside, f"response {span}", f"responses {span}", cells)
        broken = ~outside & ~np.isnan(values) & (values % 1 != 0)
        reasons = "response that is not a whole number", "responses that are not whole numbers"
        problems += Problem.at(broken, *reasons, cells)
    return BadRows(len(given), tuple(problems), _other_reading(response, levels), _what_fits(response, levels))


def unusable(name: str, values: ParsedResponse) -> list[Problem]:
    """Return the problem of missing or unusable values of a column, which is "weight" or "offset"."""
    bad = np.isnan(values.values) | ((values.values < 0) & (name == "weight"))
    return Problem.at(bad, f"{name} that cannot be used", f"{name}s that cannot be used", values.cells)


def check_responses(
    texts: _Cells, responses: Mapping[str, ParsedResponse], levels: Mapping[str, tuple[int, int] | None]
) -> BadRows:
    """Find unusable rows; with several responses, problems name the column."""
    found = {name: check_rows(texts, response, levels=levels[name]) for name, response in responses.items()}
    if len(found) == 1:
        return next(iter(found.values()))
    of_texts = check_rows(texts)
    problems = list(of_texts.problems)
    for name, bad in found.items():
        own = bad.problems[len(of_texts.problems) :]
        problems += [replace(each, one=f"{each.one} in {name}", many=f"{each.many} in {name}") for each in own]
    hint = next((f"{name}: {bad.hint}" for name, bad in found.items() if bad.hint), "")
    fits = next((f"{name}: {bad.fits}" for name, bad in found.items() if bad.fits), "")
    return BadRows(of_texts.n_rows, tuple(problems), hint, fits)


def _other_reading(response: ParsedResponse, levels: tuple[int, int] | None) -> str:
    """Advice on a response that is neither levels nor written as numbers in many rows."""
    numbers = response.values[np.isfinite(response.values)]
    if levels is not None and len(numbers) and np.mean(numbers % 1 != 0) > _FEW:
        span = f"from {numbers.min():g} to {numbers.max():g}"
        if (numbers * 2 % 1 == 0).all():
            return f"The response moves in halves, {span}: omit the scale, and steps of a half are taken"
        return (
            f'The response looks continuous, {span}: omit the scale, or give family="gaussian"; for whole levels '
            "round it, or cut it into a few (such as 1 to 5)"
        )
    parts = [_OF_A_SCALE.fullmatch(str(cell).strip()) for cell in response.cells[response.unparsable]]
    scales = {part[2] for part in parts if part}
    if len(scales) > 1:
        listed = ", ".join(sorted(scales, key=float)[:5])
        return f"Responses such as 4/5 are read where all have one scale; these have several ({listed}): make it one"
    if len(parts) > _FEW * len(response.cells):
        words = ", ".join(f"{low}/{high}" for low, high in _PAIRS)
        return (
            f"These are {len(parts) / len(response.cells):.0%} of all rows: name another column, or write responses as "
            f"numbers such as 4 or 4.0 (a point, no comma), as 4/5 or 4 out of 5, or as two words ({words})"
        )
    return ""


def _what_fits(response: ParsedResponse, levels: tuple[int, int] | None) -> str:
    if np.mean(response.unparsable) > _FEW:
        return 'family="categorical" takes text labels, family="bernoulli" two of them, family="ordinal" ordered ones'
    known = response.values[np.isfinite(response.values)]
    if levels is None or not len(known) or (known.min() >= levels[0] and known.max() <= levels[1]):
        return ""
    low, high = min(known.min(), levels[0]), max(known.max(), levels[1])
    return f'levels={low:g}-{high:g} would take these, family="gaussian" any numbers'


def _objects(cells: _Cells) -> np.ndarray:
    return pd.Series(cells, dtype=object).to_numpy()


def _number(cell: Any) -> float:
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_0 as 10
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


@dataclass(frozen=True, eq=False)
class ArrowTexts(Sequence[str]):
    """Texts in an Arrow array of large strings, converted to Python strings on access."""

    array: Any

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        return str(self.array[int(index)].as_py())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.array.slice(start, _AT_ONCE).to_pylist()


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Return the texts as a list, or as `ArrowTexts`; raise InputError that names the first that is not a string."""
    if isinstance(texts, ArrowTexts):
        return texts
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return _of_arrow(texts)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"a list of texts is needed, not a single {type(texts).__name__}; for one text give [text]")
    if isinstance(texts, Mapping | Set) and not isinstance(texts, KeysView):
        kind = type(texts).__name__
        raise InputError(f"a list of texts is needed, not a {kind}: its order may be another; give a list")
    if getattr(texts, "ndim", 1) != 1:
        raise InputError("a list of texts is needed, not a table; give one column of it")
    strings = list(texts)
    for position, text in enumerate(strings):
        if not isinstance(text, str):
            raise _no_string(position, text)
    return strings


def _no_string(position: int, text: object) -> InputError:
    what = f"text {position + 1} is a {type(text).__name__} ({shown(text)})"
    return InputError(f'{what}, counting from 1; every text must be a string, "" if missing')


def _of_arrow(texts: Any) -> ArrowTexts:
    kind = texts.type.value_type if pa.types.is_dictionary(texts.type) else texts.type
    if not any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        raise InputError(f"texts must be strings, but the Arrow array is of type {texts.type}")
    if texts.null_count:
        raise _no_string(pc.index(texts.is_null(), True).as_py(), None)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"the texts of the Arrow array are damaged: {error}") from error
    whole = texts.cast(pa.large_string())
    return ArrowTexts(whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole)


@dataclass(frozen=True)
class Dropping:
    """Drop rows without text, or with an unusable response or weight; levels : as in `check_rows`."""

    levels: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class UsableRows:
    """Rows of a batch that can be used; rows : (texts,) their numbers in the batch; bad : the others."""

    rows: NDArray[np.int64]
    texts: Sequence[str]
    responses: Vector
    weight: Vector
    bad: BadRows

    @property
    def counted(self) -> Vector:
        """(rows of the batch,) responses of usable rows with positive weight, else NaN."""
        counted = np.full(self.bad.n_rows, np.nan)
        counted[self.rows] = np.where(self.weight > 0, self.responses, np.nan)
        return counted


def usable_rows(
    batch: Batch, text: str, response: str, weight: str | None, dropping: Dropping | None = None
) -> UsableRows:
    """Return texts, responses and weights of a batch; with `dropping` None an unusable row raises InputError."""
    texts, values = batch.table[text], _parsed(batch.table[response])
    weights = None if weight is None else _parsed(batch.table[weight])
    bad = BadRows(len(batch), ())
    if dropping is None:
        _check_texts(batch, text)
        _check_numbers(batch, response, values)
        if weight is not None and weights is not None:
            _check_numbers(batch, weight, weights)
            least = f"in column {weight!r}; it must be a number of at least 0"
            _refuse(batch, np.isnan(weights.values), lambda _: f"a missing weight {least}")
            _refuse(batch, weights.values < 0, lambda row: f"the weight {weights.values[row]:g} {least}")
    else:
        bad = check_rows(texts, values, levels=dropping.levels)
        bad = replace(bad, problems=(*bad.problems, *([] if weights is None else unusable("weight", weights))))
    rows = np.flatnonzero(~bad.mask)
    kept = texts.array if len(rows) == len(texts) else texts.array[rows]
    held = checked_texts(kept._pa_array if hasattr(kept, "_pa_array") else kept.tolist())
    weight_of_rows = np.ones(len(rows)) if weights is None else weights.values[rows]
    return UsableRows(rows, held, values.values[rows], weight_of_rows, bad)


def _check_texts(batch: Batch, name: str) -> None:
    cells = batch.table[name]
    missing = cells.isna().to_numpy(dtype=bool)
    is_arrow = hasattr(cells.array, "_pa_array")
    wrong = missing if is_arrow else np.array([not isinstance(cell, str) for cell in cells], dtype=bool)

    def problem(row: int) -> str:
        what = "no text" if missing[row] else f"a {type(cells.iloc[row]).__name__} ({shown(cells.iloc[row])})"
        return f'column {name!r} holds {what}; every text must be a string, "" if missing'

    _refuse(batch, wrong, problem)


def _check_numbers(batch: Batch, name: str, parsed: ParsedResponse) -> None:
    cells = batch.table[name]
    problem = f"in column {name!r} is not a number; a source needs numbers, and an empty cell if one is missing"
    _refuse(batch, parsed.unparsable, lambda row: f"{shown(cells.iloc[row])} {problem}")


def _refuse(batch: Batch, wrong: NDArray[np.bool_], problem: Callable[[int], str]) -> None:
    """Raise InputError with the problem of the first wrong row; rows are counted from 1 within the file."""
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"{batch.file}, row {batch.row + 1 + row:,}: {problem(row)}")


def _parsed(column: pd.Series) -> ParsedResponse:
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        wrong = np.isinf(values)
        return ParsedResponse(np.where(wrong, np.nan, values), wrong, column.to_numpy(dtype=object))
    parsed = parse_response(column)
    if not parsed.reading:
        return parsed
    # The interpretation of "4/5" or "yes" depends on all rows, of which a batch is a part.
    return ParsedResponse(np.full(len(column), np.nan), ~np.isnan(parsed.values), parsed.cells)


def bad_together(parts: Sequence[BadRows]) -> BadRows:
    """Join the bad rows of consecutive parts, with at most NAMED cells for each problem."""
    firsts = [*accumulate((bad.n_rows for bad in parts), initial=0)]
    found: dict[str, list[Problem]] = {}
    for first, bad in zip(firsts, parts, strict=False):
        for problem in bad.problems:
            found.setdefault(problem.one, []).append(replace(problem, rows=problem.rows + first))
    return BadRows(firsts[-1], tuple(map(_as_one, found.values())))


def _as_one(problems: Sequence[Problem]) -> Problem:
    cells = [problem.cells for problem in problems if problem.cells is not None]
    rows = np.concatenate([problem.rows for problem in problems])
    return replace(problems[0], rows=rows, cells=np.concatenate(cells)[:NAMED] if cells else None)
