"""Names and units of a response, the better direction, and means, changes and intervals in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textsignal.errors import InputError
from textsignal.families import Family

#: Default unit of a response, and the unit if its mean is a share; names of responses that are also their unit.
POINTS, PERCENTAGE_POINTS = "points", "percentage points"
NAMED_BY_UNIT = ("stars", "points")
#: Linear predictors beyond which every mean has reached its limit.
FAR = 700.0
#: Columns that can have intervals.
MEASURES = ("cost", "gain")


@dataclass(frozen=True)
class Naming:
    """Name of the response, and the unit of its changes.

    given : covariates that effects are conditional on, "" if none.
    event : for a response with two values, the one whose share is the mean; "" otherwise.
    lower_is_better : True if less is better.
    is_class : True if the event is one of several classes, against all others.
    has_no_direction : True if neither more nor less is better, as for counts and prices: texts then raise and lower the
        response, without praise and complaints; cost is by how much they lower its mean, gain by how much they raise
        it.
    """

    response: str = "response"
    unit: str = POINTS
    given: str = ""
    event: str = ""
    lower_is_better: bool = False
    is_class: bool = False
    has_no_direction: bool = False

    @classmethod
    def of(
        cls,
        family: Family,
        response: str,
        unit: str | None = None,
        given: str = "",
        lower_is_better: bool | None = None,
    ) -> Naming:
        """Return names for a response of a family.

        unit : None for the default of the family; lower_is_better : None if unknown. More is then better on a scale of
        levels; of a count, and of numbers without bounds, neither more nor less is.
        """
        event, has_levels = _event(family), hasattr(family, "levels")
        naming = cls(
            response,
            PERCENTAGE_POINTS if event else POINTS,
            given,
            event,
            lower_is_better=bool(lower_is_better),
            has_no_direction=not has_levels and lower_is_better is None,
        )
        counts = not has_levels and hasattr(family.distribution(np.zeros(1)), "pmf")
        named = naming.name.lower() in NAMED_BY_UNIT or (counts and naming.name.endswith("s"))
        return replace(naming, unit=unit or (naming.name if named and not event else naming.unit))

    @property
    def condition(self) -> str:
        """Sentence that names the covariates; "" if there are none."""
        sentence = f"All of this is given {self.given}: texts are compared with others of the same {self.given}."
        return sentence if self.given else ""

    @property
    def name(self) -> str:
        """The response's name as words."""
        return " ".join(self.response.replace("_", " ").split()) or "response"

    @property
    def subject(self) -> str:
        """The response in sentences; quoted if it has two values, as its name is often a verb or an adjective."""
        if self.is_class:
            return f"“{self.name}: {self.event}”"
        return f"“{self.name}”" if self.event else f"the {self.name}"

    @property
    def average(self) -> str:
        """The mean response in sentences."""
        return f"the {self.measure}"

    @property
    def measure(self) -> str:
        """The mean response without an article."""
        return f"share with {self.name} {self.event}" if self.event else f"average {self.name}"

    @property
    def short_average(self) -> str:
        """The mean response in sentences that contain its unit too."""
        return self.average if self.event else "the average"

    @property
    def noted(self) -> str:
        """Name of the response for axes and columns of its values."""
        return f"{self.name} {self.event}" if self.is_class else self.name

    @property
    def titles(self) -> tuple[str, str]:
        """Headings of the largest costs and gains."""
        if self.is_class:
            return f"What speaks against {self.event}", f"What speaks for {self.event}"
        if self.has_no_direction:
            return f"What lowers {self.subject} most", f"What raises {self.subject} most"
        return "What to fix first", "What to keep"

    @property
    def ways(self) -> tuple[str, str]:
        """Nouns for what harms and what helps."""
        if self.is_class:
            return f"words against {self.event}", f"words for {self.event}"
        if self.has_no_direction:
            return f"words that lower {self.subject}", f"words that raise {self.subject}"
        return "complaints", "praise"

    @property
    def short_ways(self) -> tuple[str, str]:
        """`ways` for narrow columns."""
        if self.is_class:
            return "against", "for"
        return ("lowers", "raises") if self.has_no_direction else self.ways

    @property
    def better(self) -> int:
        """Sign of an improvement: -1 if less is better, else 1."""
        return -1 if self.lower_is_better else 1

    @property
    def direction(self) -> int:
        """1 if more is better, -1 if less is, 0 if neither is, as for a class."""
        return 0 if self.has_no_direction or self.is_class else self.better

    @property
    def plain_text(self) -> str:
        """A text that explanations compare with."""
        if self.is_class:
            return f"a text like it with nothing for or against {self.event} in it"
        if self.has_no_direction:
            return "a text like it with nothing in it that raises or lowers this"
        return "a text like it with nothing good or bad in it"

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
        """Return a difference of means without its sign, and its unit."""
        return f"{self.points(difference)} {self.unit}"

    def mean(self, value: float, digits: int = 2) -> str:
        """A mean response: "3.5" or "34%"."""
        return f"{value:.0%}" if self.event else f"{value:z.{digits}f}"


def _event(family: Family) -> str:
    """The second of two levels, where the mean is its share."""
    two = hasattr(family, "levels") and len(family.levels) == 2
    if not two or not np.allclose(family.mean(np.array([-FAR, FAR])), [0, 1]):
        return ""
    level = family.levels[1]
    return f"{level:g}" if isinstance(level, int | float | np.number) else str(level)


@dataclass(frozen=True)
class Range:
    """Interval of the cost or gain of a theme; clear : True if significant, with all themes tested together."""

    low: float
    high: float
    clear: bool

    def written(self, naming: Naming, more: int = 0, sign: str = "") -> str:
        """Return both ends, with one more decimal if an end of a clear interval rounds to 0; sign : "+" to show it."""
        ends = [naming.steps * end for end in (self.low, self.high)]
        digits = naming.digits + more
        digits += self.clear and any(not round(end, digits) for end in ends)
        return " to ".join(f"{end:{sign}z.{digits}f}".replace("-", "−") for end in ends)

    @property
    def doubt(self) -> str:
        """Sentence to append if the interval is not clear, else ""."""
        if self.clear:
            return ""
        includes_0 = self.low <= 0 <= self.high
        return (
            " Not clear: the interval includes 0." if includes_0 else " Not clear when all themes are tested together."
        )


def percent(level: float) -> str:
    """Return a level as a percentage without rounding errors, such as "95%" or "2.5%"."""
    return f"{round(100 * level, 3):g}%"


def range_of(theme: Any, measure: str) -> Range | None:
    """Return the interval of a theme's cost or gain, None if it has none; theme : a row of a table of drivers."""
    low, high = (getattr(theme, f"{measure}_{end}", np.nan) for end in ("low", "high"))
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return None
    return Range(float(low), float(high), bool(getattr(theme, f"{measure}_clear", True)))


def is_clear(theme: Any, measure: str) -> bool:
    """Return True if a theme's cost or gain is significant, or was not tested."""
    return getattr(theme, f"{measure}_clear", None) in (None, True)


def check_interval(interval: float | None) -> None:
    """Raise InputError unless the level of intervals is None or between 0 and 1."""
    number = isinstance(interval, int | float | np.number) and not isinstance(interval, bool)
    if interval is not None and not (number and 0 < interval < 1):
        raise InputError(f"interval={interval!r} must be above 0 and below 1, such as 0.95")
