"""Names and units of a response, which direction is better, and how means, changes and ranges are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textsignal.errors import InputError
from textsignal.families import Family

#: Default unit of a response, and the unit if its mean is a share.
POINTS, PERCENTAGE_POINTS = "points", "percentage points"
#: Names of responses that are also their unit.
NAMED_BY_UNIT = ("stars", "points")
#: Linear predictors beyond which every mean has reached its limit.
FAR = 700.0
#: Columns that can have ranges.
MEASURES = ("cost", "gain")


@dataclass(frozen=True)
class Naming:
    """Names of the response and of one step of it.

    given : covariates that effects are conditional on, "" if none.
    event : of a response with two values, the one whose share the mean is; "" for others.
    lower_is_better : True if less of the response is better, as of severity.
    is_class : True if the event is one of several classes, against all others.

    Examples
    --------
    >>> Naming("overall_rating", "stars").subject
    'the overall rating'
    >>> Naming("rating", "stars").amount(0.0612), Naming("bought", "percentage points", event="1").amount(0.0612)
    ('0.06 stars', '6.1 percentage points')
    """

    response: str = "response"
    unit: str = POINTS
    given: str = ""
    event: str = ""
    lower_is_better: bool = False
    is_class: bool = False

    @classmethod
    def of(
        cls, family: Family, response: str, unit: str | None = None, given: str = "", lower_is_better: bool = False
    ) -> Naming:
        """Return names for a response of a family; unit : None for the default of the family.

        Examples
        --------
        >>> from textsignal.families import Bernoulli, Binomial, Poisson
        >>> Naming.of(Bernoulli((0, 1)), "recommended").event, Naming.of(Binomial(4, 1), "stars").event
        ('1', '')
        >>> Naming.of(Poisson(), "helpful_votes").unit, Naming.of(Poisson(), "n").unit
        ('helpful votes', 'points')
        """
        event = _event(family)
        plain = cls(response, POINTS, given, event, lower_is_better)
        named = plain.name.lower() in NAMED_BY_UNIT or (_counts(family) and plain.name.endswith("s"))
        made = PERCENTAGE_POINTS if event else plain.name if named else POINTS
        return cls(response, unit or made, given, event, lower_is_better)

    @property
    def condition(self) -> str:
        """Sentence that names the covariates; "" if there are none.

        Examples
        --------
        >>> Naming(given="price and country").condition
        'All of this is given price and country: texts are compared with others of the same price and country.'
        """
        if not self.given:
            return ""
        return f"All of this is given {self.given}: texts are compared with others of the same {self.given}."

    @property
    def name(self) -> str:
        """The response's name as words."""
        return " ".join(self.response.replace("_", " ").split()) or "response"

    @property
    def subject(self) -> str:
        """The response as sentences name it; what is 0 or 1 is often called by a verb or an adjective.

        Examples
        --------
        >>> Naming("department", event="Dresses", is_class=True).subject
        '“department: Dresses”'
        """
        if self.is_class:
            return f"“{self.name}: {self.event}”"
        return f"“{self.name}”" if self.event else f"the {self.name}"

    @property
    def average(self) -> str:
        """The mean response as sentences name it."""
        return self.share or f"the average {self.name}"

    @property
    def short_average(self) -> str:
        """The mean response as sentences name it that say its unit too."""
        return self.share or "the average"

    @property
    def share(self) -> str:
        """Name of the mean if it is a share, else ""."""
        return f"the share with {self.name} {self.event}" if self.event else ""

    @property
    def noted(self) -> str:
        """Name of the response for axes and columns of its values."""
        return f"{self.name} {self.event}" if self.is_class else self.name

    @property
    def titles(self) -> tuple[str, str]:
        """Headings of the largest costs and gains; no class is better than another."""
        if self.is_class:
            return f"What speaks against {self.event}", f"What speaks for {self.event}"
        return "What to fix first", "What to keep"

    @property
    def stances(self) -> tuple[str, str]:
        """Completions of "nothing ..." for costs and gains: "bad" or "against Dresses", "good" or "for Dresses"."""
        return (f"against {self.event}", f"for {self.event}") if self.is_class else ("bad", "good")

    @property
    def ways(self) -> tuple[str, str]:
        """Adverbs for texts that lower and raise the response.

        Examples
        --------
        >>> Naming().ways, Naming("department", event="Dresses", is_class=True).ways
        (('complaints', 'praise'), ('with words against Dresses', 'with words for Dresses'))
        """
        return (
            ("with words " + self.stances[0], "with words " + self.stances[1])
            if self.is_class
            else ("complaints", "praise")
        )

    @property
    def short_ways(self) -> tuple[str, str]:
        """`ways` for narrow columns."""
        return ("against", "for") if self.is_class else self.ways

    @property
    def better(self) -> int:
        """1 if more is better, -1 if less is."""
        return -1 if self.lower_is_better else 1

    @property
    def rise(self) -> tuple[str, str]:
        """Direction of a change for the better and for the worse: "higher" and "lower", or the reverse."""
        return ("lower", "higher") if self.lower_is_better else ("higher", "lower")

    @property
    def steps(self) -> float:
        """Factor from the response to its unit: 100 for shares, else 1."""
        return 100.0 if self.event else 1.0

    @property
    def digits(self) -> int:
        """Decimals of a difference."""
        return 1 if self.event else 2

    def points(self, difference: float) -> str:
        """A difference of means in steps, without its sign."""
        return f"{self.steps * abs(difference):.{self.digits}f}"

    def amount(self, difference: float) -> str:
        """A difference of means, without its sign, and what it is measured in."""
        return f"{self.points(difference)} {self.unit}"

    def mean(self, value: float, digits: int = 2) -> str:
        """A mean response.

        Examples
        --------
        >>> Naming().mean(3.456, 1), Naming(event="1").mean(0.345)
        ('3.5', '34%')
        """
        return f"{value:.0%}" if self.event else f"{value:z.{digits}f}"


def _event(family: Family) -> str:
    """The second of two levels, where the mean is its share."""
    if not hasattr(family, "levels") or len(family.levels) != 2:
        return ""
    if not np.allclose(family.mean(np.array([-FAR, FAR])), [0, 1]):
        return ""
    level = family.levels[1]
    return f"{level:g}" if isinstance(level, int | float | np.number) else str(level)


def _counts(family: Family) -> bool:
    """True if responses are counts: whole numbers from 0 without upper limit."""
    return not hasattr(family, "levels") and hasattr(family.distribution(np.zeros(1)), "pmf")


@dataclass(frozen=True)
class Range:
    """Interval of the cost or gain of a theme.

    clear : True if it is significant, with all themes tested together.

    Examples
    --------
    >>> stars = Naming("rating", "stars")
    >>> Range(0.042, 0.069, True).written(stars), Range(-0.011, 0.03, False).written(stars)
    ('0.04 to 0.07', '−0.01 to 0.03')
    >>> Range(0.001, 0.03, True).written(stars)
    '0.001 to 0.030'
    """

    low: float
    high: float
    clear: bool

    def written(self, naming: Naming, more: int = 0, sign: str = "") -> str:
        """Return both ends, with one more decimal if an end of a clear range rounds to 0; sign : "+" to show it."""
        ends = [naming.steps * end for end in (self.low, self.high)]
        digits = naming.digits + more
        digits += self.clear and any(not round(end, digits) for end in ends)
        return " to ".join(f"{end:{sign}z.{digits}f}".replace("-", "−") for end in ends)

    @property
    def doubt(self) -> str:
        """Sentence to append if the range is not clear, else ""."""
        if self.clear:
            return ""
        if self.low <= 0 <= self.high:
            return " Not clear: the range includes no change at all."
        return " Not clear when all are judged together."


def percent(level: float) -> str:
    """Return a level as a percentage.

    Examples
    --------
    >>> percent(0.95), percent(1 - 0.975)
    ('95%', '2.5%')
    """
    return f"{round(100 * level, 3):g}%"


def range_of(theme: Any, measure: str) -> Range | None:
    """Return the range of a theme's cost or gain, None if it has none; theme : a row of a table of drivers."""
    low, high = (getattr(theme, f"{measure}_{end}", None) for end in ("low", "high"))
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    return Range(float(low), float(high), bool(getattr(theme, f"{measure}_clear", True)))


def is_clear(theme: Any, measure: str) -> bool:
    """Return True if a theme's cost or gain is significant, or was not tested."""
    return bool(getattr(theme, f"{measure}_clear", None) in (None, True))


def check_interval(interval: float | None) -> None:
    """Raise InputError unless the level of ranges is None or between 0 and 1.

    Examples
    --------
    >>> check_interval(95)
    Traceback (most recent call last):
    textsignal.errors.InputError: interval=95 must be above 0 and below 1, such as 0.95
    """
    if interval is None:
        return
    if isinstance(interval, bool) or not isinstance(interval, int | float | np.number) or not 0 < interval < 1:
        raise InputError(f"interval={interval!r} must be above 0 and below 1, such as 0.95")
