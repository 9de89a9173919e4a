"""Which rows of a table can be used: responses parsed, bad rows counted and named."""

import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd

from textsignal.errors import InputError

_Cells: TypeAlias = pd.Series | Sequence[Any] | np.ndarray
#: Where a row, counted from 0, stands, in words.
Place: TypeAlias = Callable[[int], str]
_NO_RESPONSE = {"", "na", "n/a", "nan", "null", "none"}
_OF_A_SCALE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:/|out of|of)\s*([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
#: Words for the lower and the higher of two responses.
_PAIRS = (("false", "true"), ("no", "yes"), ("neg", "pos"), ("negative", "positive"))
#: Share of bad rows up to which leaving them out is worth a thought.
_FEW = 0.2


@dataclass(frozen=True, eq=False)
class ParsedResponse:
    """A response as numbers.

    Attributes
    ----------
    values : ndarray of float, shape (rows,)
        The numbers; NaN where there is none.
    unparsable : ndarray of bool, shape (rows,)
        Where the cell holds something that is not a number; a row without response is not unparsable.
    cells : ndarray of object, shape (rows,)
        What was given.
    reading : str
        How cells that are not written as numbers were read, such as "no as 0 and yes as 1"; "" where all are.
    labels : ndarray of object, shape (rows,), or None
        The cells' text, None where there is none, where all are labels; `values` then number them in sorted order.
    n_labels : int
        How many different texts there are, where all cells are text that is no number and too many for labels.
    order : tuple or None
        All categories of a column whose categories have an order, lowest first.
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
        """(rows,) labels, or numbers; an ordered pandas.Categorical of either if they have an order."""
        plain = self.values if self.labels is None else self.labels
        return plain if self.order is None else pd.Categorical(plain, list(self.order), ordered=True)

    @classmethod
    def of_order(cls, cells: pd.Series, order: tuple[Any, ...]) -> Self:
        """A column whose categories have an order: text by its place in it, from 1 on; numbers as they are.

        Examples
        --------
        >>> kinds = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
        >>> ParsedResponse.of_order(pd.Series(["mid", None, "low"], dtype=kinds), ("low", "mid", "high")).values
        array([ 2., nan,  1.])
        """
        plain = cells.to_numpy(dtype=object)
        missing = pd.isna(plain)
        text = any(isinstance(category, str) for category in order)
        numbers = {category: float(place) if text else float(category) for place, category in enumerate(order, 1)}
        values = np.array([np.nan if gone else numbers[cell] for cell, gone in zip(plain, missing, strict=True)])
        labels: Any = np.where(missing, None, plain) if text else None
        return cls(values, np.zeros(len(values), dtype=bool), plain, labels=labels, order=order)


def parse_response(cells: _Cells, most_labels: int = 0) -> ParsedResponse:
    """Make numbers of a response's cells.

    An empty cell, a missing value and the words NA, N/A, NaN, null and None mean that there is no response. Where all
    other cells say so in the same way, "4/5", "4 out of 5" and "4 of 5" are 4; false and true, no and yes, neg and pos,
    negative and positive are 0 and 1, in any case.

    Parameters
    ----------
    cells : pandas.Series or sequence
        Strings or numbers.
    most_labels : int
        How many different texts, none of which is a number, may be labels of classes.

    Returns
    -------
    ParsedResponse
        The numbers, and which cells hold none that is finite.

    Examples
    --------
    >>> response = parse_response(["4", " 5.0 ", "", "five", "inf"])
    >>> response.values
    array([ 4.,  5., nan, nan, nan])
    >>> response.unparsable
    array([False, False, False,  True,  True])
    >>> parse_response(["4.0 out of 5", "2/5", ""]).values
    array([ 4.,  2., nan])
    >>> parse_response(["Yes", "no"]).reading
    'no as 0 and yes as 1'
    >>> parse_response(["good", "bad", "N/A"], most_labels=2).labels
    array(['good', 'bad', None], dtype=object)
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
    """Numbers of cells that all are parts of one scale or all are one of two words, and how they were read."""
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
    return values, f"{_shown(cells[0].strip())} as {values[0]:g}"


def from_one(row: int) -> str:
    """The number of a row, counted from 1."""
    return str(row + 1)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows that are bad for one reason.

    Attributes
    ----------
    one, many : str
        The reason, for one row and for several.
    rows : ndarray of int
        The rows, counted from 0.
    cells : ndarray of object or None
        What stands in these rows, where that helps to find the fault.
    """

    one: str
    many: str
    rows: np.ndarray
    cells: np.ndarray | None = None

    def describe(self, limit: int = 5, place: Place = from_one) -> str:
        """Say what is wrong in how many rows, and name the first of them by their places."""
        named = [place(row) for row in self.rows[:limit].tolist()]
        if self.cells is not None:
            named = [f"{row}: {_shown(cell)}" for row, cell in zip(named, self.cells, strict=False)]
        count = len(self.rows)
        rest = f" and {count - limit:,} more" if count > limit else ""
        words = (self.one, "row") if count == 1 else (self.many, "rows")
        return f"{count:,} {words[0]} ({words[1]} {', '.join(named)}{rest})"


@dataclass(frozen=True, eq=False)
class BadRows:
    """The rows of a table that cannot be used, and why; its length is their number.

    Attributes
    ----------
    n_rows : int
        Rows of the table, bad or not.
    problems : tuple of Problem
        The reasons that occur; a row may be bad for several.
    hint : str
        What to do, where leaving bad rows out is no cure.
    fits : str
        Which family or scale would take them.
    place : function
        Where a row stands, in words; by default its number, counted from 1.
    """

    n_rows: int
    problems: tuple[Problem, ...]
    hint: str = ""
    fits: str = ""
    place: Place = from_one

    @property
    def mask(self) -> np.ndarray:
        """Which rows are bad: ndarray of bool, shape (n_rows,)."""
        bad = np.zeros(self.n_rows, dtype=bool)
        for problem in self.problems:
            bad[problem.rows] = True
        return bad

    def __len__(self) -> int:
        return int(self.mask.sum())

    def describe(self, limit: int = 5) -> str:
        """Say in one line what is wrong and where; rows are counted without the header."""
        if not self.problems:
            return "no bad rows"
        reasons = ", ".join(problem.describe(limit, self.place) for problem in self.problems)
        return f"{len(self):,} bad row{'s' if len(self) > 1 else ''}: {reasons}"

    def advice(self) -> str:
        """Say what can be done about bad rows: leaving them out is for a few."""
        fits = f"; {self.fits}" if self.fits else ""
        if self.hint:
            return self.hint + fits
        if len(self) <= _FEW * self.n_rows:
            return f'Correct the table, or leave such rows out with on_bad_rows="drop"{fits}'
        return f"These are {len(self) / self.n_rows:.0%} of all rows: correct the table, or name other columns{fits}"


def check_rows(
    texts: _Cells,
    response: ParsedResponse | None = None,
    *,
    levels: tuple[int, int] | None = None,
) -> BadRows:
    """Find the rows that cannot be used.

    A row is bad if its text is missing, blank or not a string, or if its response is not a number or, given
    `levels`, not a whole number between them. A row without response is fine: its text is still used.

    Parameters
    ----------
    texts : pandas.Series or sequence
        The texts.
    response : ParsedResponse, optional
        The response beside them.
    levels : tuple of int, optional
        Lowest and highest response that is allowed.

    Returns
    -------
    BadRows
        Which rows, and why.

    Raises
    ------
    InputError
        If there is not one response for each text.

    Examples
    --------
    >>> response = parse_response(["4", "five", "9", ""])
    >>> bad = check_rows(["Lovely.", "Fine.", " ", "Dull."], response, levels=(1, 5))
    >>> bad.describe()
    "2 bad rows: 1 empty text (row 3), 1 response that is not a number (row 2: 'five'),
    1 response outside 1 to 5 (row 3: '9')"
    >>> bad.mask
    array([False,  True,  True, False])
    """
    given = _objects(texts)
    problems, hint, fits = _text_problems(given), "", ""
    if response is not None:
        if len(response.values) != len(given):
            raise InputError(f"{len(given):,} texts but {len(response.values):,} responses; each text needs one")
        problems += _response_problems(response, levels)
        hint, fits = _other_reading(response, levels), _what_fits(response, levels)
    return BadRows(len(given), tuple(problem for problem in problems if len(problem.rows)), hint, fits)


def check_responses(
    texts: _Cells, responses: Mapping[str, ParsedResponse], levels: Mapping[str, tuple[int, int] | None]
) -> BadRows:
    """Find the rows that cannot be used; where there are several responses, what is wrong with one names its column.

    Examples
    --------
    >>> responses = {name: parse_response([cell]) for name, cell in (("stars", "9"), ("votes", "9"))}
    >>> check_responses(["Fine."], responses, {"stars": (1, 5), "votes": None}).describe()
    "1 bad row: 1 response outside 1 to 5 in stars (row 1: '9')"
    """
    found = {name: check_rows(texts, response, levels=levels[name]) for name, response in responses.items()}
    first, *others = found.values()
    if not others:
        return first
    of_texts = check_rows(texts).problems
    problems = list(of_texts)
    for name, bad in found.items():
        own = bad.problems[len(of_texts) :]
        problems += [replace(each, one=f"{each.one} in {name}", many=f"{each.many} in {name}") for each in own]
    hints, fits = (
        [f"{name}: {said}" for name, said in each if said]
        for each in (
            [(name, bad.hint) for name, bad in found.items()],
            [(name, bad.fits) for name, bad in found.items()],
        )
    )
    return BadRows(first.n_rows, tuple(problems), hints[0] if hints else "", fits[0] if fits else "")


def _text_problems(texts: np.ndarray) -> list[Problem]:
    missing = pd.isna(texts)
    blank = np.array([isinstance(text, str) and not text.strip() for text in texts], dtype=bool)
    odd = ~missing & np.array([not isinstance(text, str) for text in texts], dtype=bool)
    return [
        Problem("empty text", "empty texts", np.flatnonzero(missing | blank)),
        Problem("text that is not a string", "texts that are not strings", np.flatnonzero(odd), texts[odd]),
    ]


def _response_problems(response: ParsedResponse, levels: tuple[int, int] | None) -> list[Problem]:
    found = [("response that is not a number", "responses that are not numbers", response.unparsable)]
    if levels is not None:
        low, high = levels
        outside = (response.values < low) | (response.values > high)
        broken = ~outside & ~np.isnan(response.values) & (response.values % 1 != 0)
        found += [
            (f"response outside {low} to {high}", f"responses outside {low} to {high}", outside),
            ("response that is not a whole number", "responses that are not whole numbers", broken),
        ]
    return [Problem(one, many, np.flatnonzero(bad), response.cells[bad]) for one, many, bad in found]


def _other_reading(response: ParsedResponse, levels: tuple[int, int] | None) -> str:
    """What can be done with a response that most rows have, and that is neither levels nor written as a number."""
    numbers = response.values[np.isfinite(response.values)]
    if levels is not None and len(numbers) and np.mean(numbers % 1 != 0) > _FEW:
        span = f"from {numbers.min():g} to {numbers.max():g}"
        if (numbers * 2 % 1 == 0).all():
            return f"The response moves in halves, {span}: leave the scale out, and steps of a half are taken"
        return (
            f'The response looks continuous, {span}: leave the scale out, or give family="gaussian"; for whole levels '
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
    """The family, or the scale, that would take responses which this one does not."""
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
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_0 as 10; nobody writes a response so
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _shown(cell: Any) -> str:
    return reprlib.repr(cell) if isinstance(cell, str) else reprlib.repr(str(cell)).strip("'")
