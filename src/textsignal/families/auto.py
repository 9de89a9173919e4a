"""Candidate families of a response, by its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import Family
from textsignal.families.binomial import WIDEST_SCALE, BetaBinomial, Binomial, plain, stray_code
from textsignal.families.classes import Bernoulli, Categorical
from textsignal.families.ordinal import MOST_LEVELS, AdjacentCategories, Ordinal, Stereotype
from textsignal.families.responses import (
    Labels,
    as_response,
    constant_response,
    first_text,
    missing,
    observed_numbers,
    reads_as_number,
)
from textsignal.families.unbounded import Gaussian, NegativeBinomial, Poisson

#: The name by which users leave the choice of a family to the data.
AUTO = "auto"
#: Whole numbers with more levels than this may be counts, if the largest is at least `TAIL` medians and rare.
LEAST_OF_COUNTS, TAIL, RARE = 10, 4, 0.01
#: One of a few values is a stray code if its distance to the others is more than `STRAY` times their range.
STRAY = 10
#: Numbers that questionnaires use for a missing answer.
MISSING_CODES = frozenset(
    sign * code
    for code in (8, 9, *(77, 88, 97, 98, 99), *(777, 888, 997, 998, 999), *(7777, 8888, 9997, 9998, 9999), 99999)
    for sign in (1, -1)
) | {-1}
#: Such codes are in at most this share of rows, next to a scale of at most this span.
MOST_CODES, WIDEST_RATED = 0.1, 100
#: A code is very far from a scale if its distance is more than this many spans.
VERY_FAR = 5
#: The end of a scale that is next to codes has at least this share of rows, and number; the tail of counts has less.
LEAST_NEXT_TO_CODES, FEWEST_NEXT_TO_CODES = 0.05, 10


def labelled(y: ArrayLike, levels: ArrayLike | None = None) -> Family | None:
    """Return the family of text and truth values, Bernoulli or Categorical, or of ordered `levels`; None for others."""
    if levels is not None and first_text(levels) is not None:
        return (Bernoulli if np.size(levels) == 2 else Ordinal).from_levels(levels).learn(y)
    responses = as_response(y)
    if responses.dtype.kind == "f":
        return None
    values = [value for value in responses if not missing(value)]
    if levels is None and values and all(isinstance(value, bool) for value in values):
        return Bernoulli().learn(y)
    text = values and all(isinstance(value, str) for value in values) and not all(map(reads_as_number, values))
    return Categorical().learn(y) if text else None


def of_order(categories: Labels) -> Family:
    """Return the family of ordered categories, lowest first, also of those that do not occur."""
    if not categories:
        raise InputError("no text has a response (all are missing), and there are no categories")
    if len(categories) == 1:
        raise constant_response(categories[0])
    known = all(isinstance(category, str | bool | int | float) for category in categories)
    if not known or len({isinstance(category, str) for category in categories}) > 1:
        odd = next((each for each in categories if not isinstance(each, str)), categories[0])
        raise InputError(
            f"ordered categories must be all text or all numbers; {str(odd)!r} is of type {type(odd).__name__}: "
            "make them text with .cat.rename_categories(str)"
        )
    if not isinstance(categories[0], str) and list(categories) != sorted(categories):
        listed = ", ".join(map(str, categories[:5])) + (", ..." if len(categories) > 5 else "")
        raise InputError(
            f"ordered categories that are numbers must increase, but they are {listed}: make them text with "
            ".cat.rename_categories(str), or drop their order with .cat.as_unordered()"
        )
    if len(categories) > MOST_LEVELS:
        raise InputError(
            f"the response has {len(categories)} ordered categories; there may be {MOST_LEVELS} at most: merge some of "
            "them, or give numbers"
        )
    return (Bernoulli if len(categories) == 2 else Ordinal)(categories)


@dataclass(frozen=True)
class Candidates:
    """The response in words, "" if its family was given, and candidate families, the simplest first.

    All encode a response alike, and share one loss for words.
    """

    described: str
    families: tuple[Family, ...]


def candidates(y: ArrayLike, levels: ArrayLike | None = None) -> Candidates:
    """Return candidate families of a response: two values, a few steps of a scale, counts, or any numbers."""
    values = observed_numbers(y)
    if levels is not None:
        scale = Binomial.from_levels(levels)
        return Candidates(scale.described, _of_a_scale(scale, y))
    described, families = _by_values(values, y)
    remark = _missing_codes(values)
    return Candidates(f"{described} ({remark})" if remark else described, families)


def _by_values(values: Vector, y: ArrayLike) -> tuple[str, tuple[Family, ...]]:
    """Description of the response by its values, and its families."""
    distinct = np.unique(values)
    low, high = distinct[[0, -1]].tolist()
    if 3 <= distinct.size <= MOST_LEVELS:  # one value far from all others is a code for "no answer": 999 or -1
        for rest, gap in ((distinct[:-1], high - distinct[-2]), (distinct[1:], distinct[1] - low)):
            if gap > STRAY * max(float(np.ptp(rest)), 1.0):
                raise stray_code(f"{low:g}", f"{high:g}")
    scale = _scale(distinct)
    n_levels = np.inf if scale is None or scale.n is None else scale.n + 1
    if distinct.size == 2:
        return f"{low:g} or {high:g}", (Bernoulli((low, high)),)
    # Numbers from 0 on look like counts if a few are large, far above the others.
    tail = low >= 0 and high >= TAIL * max(float(np.median(values)), 1.0) and np.mean(values == high) < RARE
    if scale is not None and scale.step == 1 and n_levels > LEAST_OF_COUNTS and tail:
        return f"counts from {low:g} to {high:g}", (Poisson().learn(y), NegativeBinomial().learn(y))
    if scale is not None and n_levels <= MOST_LEVELS:
        return scale.described, _of_a_scale(scale, y)
    return f"numbers from {low:g} to {high:g}", (Gaussian().learn(y),)


def _missing_codes(values: Vector) -> str:
    """A remark on values that look like codes for "no answer" next to a small scale; "" if absent.

    Codes are rare, at one end, and as far from all other values as these are from each other; below a scale from 1 on
    a negative code need not be as far. Many rows are at that end of the scale, unlike in the tail of counts: in its
    last third if codes are very far, else at its last level.
    """
    distinct, counts = np.unique(values, return_counts=True)
    for sign in (1, -1):
        order = np.argsort(-sign * distinct)  # from the end at which codes are searched for
        ends, rows = distinct[order], counts[order]
        for n_codes in range(1, min(3, len(ends) - 2) + 1):
            codes = sorted(ends[:n_codes])
            if all(code in MISSING_CODES and sign * code > 0 for code in codes) and _are_codes(ends, rows, n_codes):
                listed = ", ".join(f"{code:g}" for code in codes)
                look = "look like codes" if n_codes > 1 else "looks like a code"
                low, high = sorted((ends[n_codes], ends[-1]))
                return (
                    f"{listed} in {rows[:n_codes].sum():,} of {rows.sum():,} rows {look} for a missing answer next to "
                    f"{low:g} to {high:g}: if so, make these cells empty"
                )
    return ""


def _are_codes(ends: Vector, rows: NDArray[np.int64], n_codes: int) -> bool:
    """True if the first values are codes, from the end on. ends : distinct values; rows : with each of them."""
    rest, n_rows = ends[n_codes:], rows[n_codes:]
    span, gap = abs(float(rest[-1] - rest[0])), abs(float(ends[n_codes - 1] - rest[0]))
    if span > WIDEST_RATED or rows[:n_codes].sum() > MOST_CODES * rows.sum() or not reads_as_scale(rest, WIDEST_RATED):
        return False
    below = ends[0] < 0 and rest[0] == 1 and len(rest) <= LEAST_OF_COUNTS
    far = abs(float(ends[0] - rest[0])) >= span and gap >= 3
    next_to = np.abs(rest - rest[0]) <= (span / 3 if gap > VERY_FAR * span else 0)
    least = max(LEAST_NEXT_TO_CODES * rows.sum(), FEWEST_NEXT_TO_CODES)
    return (below or far) and bool(n_rows[next_to].sum() >= least)


def reads_as_scale(values: Vector, widest: int = MOST_LEVELS - 1) -> bool:
    """True if numbers are levels of a scale of whole or half steps, at most `widest` of them."""
    distinct = np.unique(values)
    scale = _scale(distinct) if distinct.size > 1 else None
    return scale is not None and scale.n is not None and scale.n <= widest


def _scale(values: Vector) -> Binomial | None:
    """The coarsest scale of whole or half steps that all (distinct) values are on."""
    halves = 2 * (values - values.min())
    if not np.array_equal(2 * values, np.round(2 * values)) or halves.max() > 2**50:
        return None
    step = float(np.gcd.reduce(halves.astype(np.int64))) / 2
    lowest, n = float(values.min()), round(float(np.ptp(values)) / step)
    return Binomial(n, plain(lowest), plain(step)) if n <= WIDEST_SCALE else None


def _of_a_scale(scale: Binomial, y: ArrayLike) -> tuple[Family, ...]:
    """Families on a scale; those with a parameter for each level if there are not too many."""
    settings = scale.settings()
    families: list[Family] = [scale, BetaBinomial(**settings)]
    if len(scale.levels) <= MOST_LEVELS:
        families += [Ordinal(tuple(scale.levels.tolist())), AdjacentCategories(**settings), Stereotype(**settings)]
    return tuple(family.learn(y) for family in families)
