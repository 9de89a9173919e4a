"""Which families a response may be of, by its looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.adjacent_categories import MOST_LEVELS, AdjacentCategories
from textsignal.families.base import Family, observed_numbers
from textsignal.families.bernoulli import Bernoulli
from textsignal.families.beta_binomial import BetaBinomial
from textsignal.families.binomial import Binomial
from textsignal.families.categorical import Categorical
from textsignal.families.gaussian import Gaussian
from textsignal.families.labels import first_text, is_all_text
from textsignal.families.negative_binomial import NegativeBinomial
from textsignal.families.ordinal import Ordinal
from textsignal.families.poisson import Poisson
from textsignal.families.stereotype import Stereotype

#: The name by which users leave the choice to us.
AUTO = "auto"
#: Whole numbers of more levels than this may be counts: those whose largest is so many times the median, and is rare.
LEAST_OF_COUNTS, TAIL, RARE = 10, 4, 0.01
#: One of a few values that is so many times further from the others than they are from each other is a stray code.
STRAY = 10


def labelled(y: ArrayLike, levels: ArrayLike | None = None) -> Family | None:
    """The family of responses that are text: Bernoulli of two labels, Categorical of more; None for other responses.

    levels : labels in order, of which more than two are Ordinal.

    Examples
    --------
    >>> labelled(["no", "yes", None]), labelled([1, 2])
    (Bernoulli(labels=('no', 'yes')), None)
    >>> labelled(["low", "high"], ["low", "mid", "high"])
    Ordinal(values=('low', 'mid', 'high'), thresholds=(-0.40..., 0.40...))
    """
    if levels is not None and first_text(levels) is not None:
        return (Bernoulli if np.size(levels) == 2 else Ordinal).from_levels(levels).learn(y)
    return Categorical().learn(y) if is_all_text(y) else None


@dataclass(frozen=True)
class Candidates:
    """Families that a response may be of.

    described : what the response looks like, for people; "" where the family was given.
    families : the simplest first, all with their scales; all encode a response alike, and have one loss for words.
    """

    described: str
    families: tuple[Family, ...]


def candidates(y: ArrayLike, levels: ArrayLike | None = None) -> Candidates:
    """What a response may be: two values, a few steps of a scale, counts, or any numbers.

    levels : the scale, such as (1, 5), where somebody knows it.

    Examples
    --------
    >>> candidates([0, 1, 1]).described, candidates([1.5, 2, 5]).described
    ('0 or 1', '1.5 to 5 in steps of 0.5')
    >>> candidates([0.12, 3.4, 2.2]).families
    (Gaussian(deviation=1.35...),)
    """
    values = observed_numbers(y)
    distinct = np.unique(values)
    if levels is None:
        _check_codes(distinct)
    scale = _scale(distinct) if levels is None else Binomial.from_levels(levels)
    n_levels = np.inf if scale is None or scale.n is None else scale.n + 1
    whole = scale is not None and scale.step == 1
    if levels is None and distinct.size == 2:
        low, high = distinct.tolist()
        return Candidates(f"{low:g} or {high:g}", (Bernoulli((low, high)),))
    if levels is None and whole and n_levels > LEAST_OF_COUNTS and _has_long_tail(values):
        return Candidates(
            f"counts from {values.min():g} to {values.max():g}", _learnt(y, Poisson(), NegativeBinomial())
        )
    if scale is not None and (n_levels <= MOST_LEVELS or levels is not None):
        return Candidates(_named(scale), _learnt(y, *_of_a_scale(scale)))
    return Candidates(f"numbers from {values.min():g} to {values.max():g}", _learnt(y, Gaussian()))


def _check_codes(distinct: Vector) -> None:
    """Raise where one of a few values lies far from all others, such as 999 or -1 for "no answer"."""
    if not 3 <= distinct.size <= MOST_LEVELS:
        return
    for rest, gap in ((distinct[:-1], distinct[-1] - distinct[-2]), (distinct[1:], distinct[1] - distinct[0])):
        if gap > STRAY * max(float(np.ptp(rest)), 1.0):
            low, high = (f"{end:g}" for end in (distinct[0], distinct[-1]))
            raise InputError(
                f"responses run from {low} to {high}, which looks like a stray code rather than a scale; "
                f"give the scale, e.g. levels=(1, 5), if {low} to {high} is meant say levels=({low}, {high})"
            )


def _scale(values: Vector) -> Binomial | None:
    """The coarsest scale of whole or half steps that all (distinct) values are on."""
    halves = 2 * (values - values.min())
    if not np.array_equal(2 * values, np.round(2 * values)) or halves.max() > 2**50:
        return None
    step = float(np.gcd.reduce(halves.astype(np.int64))) / 2
    lowest = float(values.min())
    return Binomial(round(float(np.ptp(values)) / step), _plain(lowest), _plain(step))


def _of_a_scale(scale: Binomial) -> list[Family]:
    """Families on a scale; those with a parameter for each level where there are not too many."""
    settings = scale.settings()
    found: list[Family] = [scale, BetaBinomial(**settings)]
    if len(scale.levels) <= MOST_LEVELS:
        found += [Ordinal(tuple(scale.levels.tolist())), AdjacentCategories(**settings), Stereotype(**settings)]
    return found


def _learnt(y: ArrayLike, *families: Family) -> tuple[Family, ...]:
    return tuple(family.learn(y) for family in families)


def _has_long_tail(values: Vector) -> bool:
    """Whether numbers from 0 on look like counts: a few large ones, far above the others."""
    highest = values.max()
    return bool(
        values.min() >= 0 and highest >= TAIL * max(float(np.median(values)), 1.0) and np.mean(values == highest) < RARE
    )


def _named(scale: Binomial) -> str:
    low, high = scale.levels[0], scale.levels[-1]
    return f"{low:g} to {high:g}" + ("" if scale.step == 1 else f" in steps of {scale.step:g}")


def _plain(value: float) -> Any:
    return int(value) if value.is_integer() else value
