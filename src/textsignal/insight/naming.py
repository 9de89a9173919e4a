"""What the response is called, which way of it is better, and how its means and their changes are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textsignal.families import Family

#: What a step of the response is called where nobody says, and where its mean is a share.
POINTS, PERCENTAGE_POINTS = "points", "percentage points"
#: Responses that are called by what they are measured in.
NAMED_BY_UNIT = ("stars", "points")
#: Linear predictors beyond which every mean is at its end.
FAR = 700.0


@dataclass(frozen=True)
class Naming:
    """What the response, and one step of it, are called.

    given : covariates that effects are given, "" for none.
    event : of a response with two values, the one whose share the mean is; "" for others.
    lower_is_better : whether less of the response is better, as of severity.
    is_class : whether the event is one of several classes, against all others.

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
        """Names for a response of a family; unit : None for percentage points, what is counted, or points.

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
        """What effects are given, as a sentence; "" where that is nothing.

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
        """What the mean is the share of; "" where it is none."""
        return f"the share with {self.name} {self.event}" if self.event else ""

    @property
    def noted(self) -> str:
        """The response's name beside a value of it, as words."""
        return f"{self.name} {self.event}" if self.is_class else self.name

    @property
    def titles(self) -> tuple[str, str]:
        """Above what costs most and above what brings most: no class is better than another."""
        if self.is_class:
            return f"What speaks against {self.event}", f"What speaks for {self.event}"
        return "What to fix first", "What to keep"

    @property
    def stances(self) -> tuple[str, str]:
        """What may be said of a topic: "nothing bad" or "nothing against Dresses"."""
        return (f"against {self.event}", f"for {self.event}") if self.is_class else ("bad", "good")

    @property
    def ways(self) -> tuple[str, str]:
        """How a topic may be spoken of.

        Examples
        --------
        >>> Naming().ways, Naming("department", event="Dresses", is_class=True).ways
        (('badly', 'well'), ('with words against Dresses', 'with words for Dresses'))
        """
        return (
            ("with words " + self.stances[0], "with words " + self.stances[1]) if self.is_class else ("badly", "well")
        )

    @property
    def short_ways(self) -> tuple[str, str]:
        """The same where there is little room."""
        return ("against", "for") if self.is_class else self.ways

    @property
    def better(self) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if self.lower_is_better else 1

    @property
    def rise(self) -> tuple[str, str]:
        """What a mean response would be for the better, and for the worse: "higher" and "lower", or these reversed."""
        return ("lower", "higher") if self.lower_is_better else ("higher", "lower")

    @property
    def steps(self) -> float:
        """How many of what is written a difference of 1 is."""
        return 100.0 if self.event else 1.0

    @property
    def digits(self) -> int:
        """Digits of a difference behind the point."""
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
    """Whether responses are whole numbers from 0 on without end."""
    return not hasattr(family, "levels") and hasattr(family.distribution(np.zeros(1)), "pmf")
