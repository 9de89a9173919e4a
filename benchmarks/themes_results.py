"""Finished cells of `benchmarks/themes.py`, and the numbers that are read off them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from themes_measures import ASPECTS, NEGATIONS

#: Seeds that people's labels are averaged over.
JUDGED_SEEDS = (0, 1, 2)
#: The aspects whose partial correlations are averaged; value is shown only.
MEAN_OF = tuple(aspect for aspect in ASPECTS if aspect != "value")
USUAL = 14


@dataclass(frozen=True)
class Result:
    """A finished cell, a line of the results file."""

    question: str
    method: str
    set: str
    n_topics: int
    seed: int
    size: int | None
    values: dict[str, Any]
    machine: str


@dataclass(frozen=True)
class Results:
    """Finished cells by what they answer. What is not finished is None, or left out of a list."""

    cells: Sequence[Result]

    def values(
        self, question: str, method: str, set_name: str, n_topics: int = USUAL, seed: int = 0, size: int | None = None
    ) -> dict[str, Any]:
        """The values of one cell; empty if it is not finished."""
        wanted = (question, method, set_name, n_topics, seed, size)
        found = (c for c in self.cells if (c.question, c.method, c.set, c.n_topics, c.seed, c.size) == wanted)
        return next((cell.values for cell in found), {})

    def fit(self, method: str, set_name: str, field: str, n_topics: int = USUAL) -> Any:
        return self.values("fit", method, set_name, n_topics).get(field)

    def over_seeds(self, method: str, field: str, seeds: Sequence[int] | None = None) -> list[float]:
        """One number per seed, on hotel."""
        cells = [c for c in self.cells if (c.question, c.method, c.set, c.n_topics) == ("fit", method, "hotel", USUAL)]
        return [c.values[field] for c in cells if seeds is None or c.seed in seeds]

    def steady(self, method: str, set_name: str, n_topics: int = USUAL) -> float | None:
        return self.values("stability", method, set_name, n_topics).get("cosine")

    def aspects(self, method: str) -> dict[str, Any]:
        return self.values("aspects", method, "aspects")

    def aspect_mean(self, method: str) -> float | None:
        found = self.aspects(method)
        return float(np.mean([found[aspect]["r"] for aspect in MEAN_OF])) if found else None

    def aspects_right(self, method: str) -> int | None:
        found = self.aspects(method)
        return sum(found[aspect]["right"] for aspect in MEAN_OF) if found else None

    def noise(self, method: str, size: int, field: str) -> list[float]:
        """One number per permutation."""
        return [c.values[field] for c in self.cells if (c.question, c.method, c.size) == ("noise", method, size)]

    def negations(self, method: str) -> list[tuple[str, float, str, float, bool]]:
        """Negated phrase, its rating, its twin, the twin's rating, whether they are the right way round."""
        ratings = self.fit(method, "hotel", "ratings")
        if ratings is None:
            return []
        return [(a, ratings[a], b, ratings[b], (ratings[a] > ratings[b]) == above) for a, b, above in NEGATIONS]

    def negations_right(self, method: str) -> int | None:
        found = self.negations(method)
        return sum(right for *_, right in found) if found else None


@dataclass(frozen=True)
class Measure:
    """A column of a table. best : which number is ahead, None where none is."""

    name: str
    of: Callable[[str], float | None]
    best: Callable[[Sequence[float]], float] | None = max
    form: str = ".3f"

    def text(self, method: str) -> str:
        value = self.of(method)
        return "–" if value is None else format(value, self.form)


def mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
