"""Bins of the response: one for each level, or equal ones with round edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textsignal.families import Family
from textsignal.report.values.data import Bar, Floats

#: Most bins of responses with levels, and approximate number of bins of responses without.
MOST_BARS, BARS = 21, 12
#: Share of the largest, and of the smallest, responses that go into the outer bins without widening them.
OUTERMOST = 0.005


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of the response.

    labels : (bins,); edges : (bins + 1,), where the outer bins also hold all that is beyond them.
    levels : (levels,) of the response, empty if it has none; whole : True if responses are whole numbers.
    """

    labels: tuple[str, ...]
    edges: Floats
    levels: Floats
    whole: bool = False

    @property
    def low(self) -> float:
        """Lower end of the scale."""
        return float(self.levels[0] if self.levels.size else self.edges[0])

    @property
    def high(self) -> float:
        """Upper end of the scale."""
        return float(self.levels[-1] if self.levels.size else self.edges[-1])

    def places(self, responses: Floats) -> NDArray[np.int64]:
        """Return (documents,) the bin of each response, from 0; -1 if missing."""
        places = np.clip(np.searchsorted(self.edges, responses, side="right") - 1, 0, len(self.labels) - 1)
        return np.where(np.isnan(responses), -1, places)

    def bars(self, responses: Floats) -> tuple[Bar, ...]:
        """Return the shares of responses in each bin, without missing ones."""
        known = responses[~np.isnan(responses)]
        shares = np.bincount(self.places(known), minlength=len(self.labels)) / max(known.size, 1)
        return bars_of(self.labels, self.edges, shares)

    def chances(self, family: Family, eta: Floats) -> Floats:
        """Return (documents, levels) probabilities of levels, or (documents, bins) of bins if there are no levels."""
        if self.levels.size:
            return family.level_probabilities(eta)
        inner = self.edges[1:-1] - (1 if self.whole else 0)
        below = np.asarray(family.distribution(eta[:, None]).cdf(inner[None, :]))
        ends = np.zeros((len(eta), 1)), np.ones((len(eta), 1))
        return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)

    def happened(self, responses: Floats) -> Floats:
        """Return 1 for the observed level or bin, else 0, in the shape of `chances`."""
        if self.levels.size:
            return (np.abs(responses[:, None] - self.levels) < 1e-9).astype(float)
        return (self.places(responses)[:, None] == np.arange(len(self.labels))).astype(float)


def bins_of(family: Family, responses: Floats) -> Bins:
    """Make a bin for each level, or equal ones with round edges if there are many levels or none.

    Examples
    --------
    >>> from textsignal.families import Binomial, Gaussian, Poisson
    >>> bins_of(Binomial(2, 1, 0.5), np.array([1.0, 2.0])).labels
    ('1', '1.5', '2')
    >>> bins_of(Gaussian(1.0), np.array([80.2, 91.0, 99.9])).labels[:2]
    ('below 82', '82 to 84')
    >>> bins_of(Poisson(), np.array([0.0, 3.0, 1.0])).labels
    ('0', '1', '2', '3 or more')
    """
    if hasattr(family, "levels"):
        return bins_of_levels(family.numbers, family.levels.tolist() if family.has_text else None)
    known = responses[~np.isnan(responses)]
    known = known if known.size else np.zeros(1)
    whole = hasattr(family.distribution(np.zeros(1)), "pmf") and bool(np.all(known == np.round(known)))
    return _of_counts(known) if whole else _of_numbers(known)


def bins_of_levels(levels: Floats, names: Sequence[str] | None = None) -> Bins:
    """Make bins of a response with levels, in order; names : of levels that are text."""
    if levels.size <= MOST_BARS:
        middles = (levels[1:] + levels[:-1]) / 2
        outer = levels[0] - (middles[0] - levels[0]), levels[-1] + (levels[-1] - middles[-1])
        edges = np.concatenate([[outer[0]], middles, [outer[1]]])
        return Bins(tuple(names or (f"{level:g}" for level in levels)), edges, levels)
    edges = np.linspace(levels[0], levels[-1], MOST_BARS)
    return Bins(tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges)), edges, levels)


def _of_counts(known: Floats) -> Bins:
    """Bins of counts; the last holds all larger counts too."""
    longest = max(float(np.quantile(known, 1 - 2 * OUTERMOST, method="higher")), 1.0)
    width = max(1, round(nice_step(longest / BARS))) if longest > MOST_BARS else 1
    starts = np.arange(0, longest + 1, width, dtype=float)
    labels = [f"{low:g}" if width == 1 else f"{low:g} to {low + width - 1:g}" for low in starts]
    labels[-1] = f"{starts[-1]:g} or more"
    return Bins(tuple(labels), np.append(starts, starts[-1] + width), np.empty(0), whole=True)


def _of_numbers(known: Floats) -> Bins:
    low, high = np.quantile(known, [OUTERMOST, 1 - OUTERMOST])
    step = nice_step((high - low) / BARS or 1.0)
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    if edges.size < 3:
        edges = step * (np.floor(low / step) + np.arange(-1, 3))
    edges = np.round(edges, 12)
    labels = [f"{start:g} to {stop:g}" for start, stop in pairwise(edges)]
    labels[0], labels[-1] = f"below {edges[1]:g}", f"{edges[-2]:g} or more"
    return Bins(tuple(labels), edges, np.empty(0))


def bars_of(labels: Sequence[str], edges: Floats, values: Floats) -> tuple[Bar, ...]:
    """Make the bars of a histogram; labels, values : (bins,); edges : (bins + 1,)."""
    return tuple(
        Bar(label, float(low), float(high), float(value))
        for label, low, high, value in zip(labels, edges[:-1], edges[1:], values, strict=True)
    )


def nice_step(rough: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least `rough`.

    Examples
    --------
    >>> nice_step(3), nice_step(0.07), nice_step(20)
    (5.0, 0.1, 20.0)
    """
    size = 10.0 ** np.floor(np.log10(rough))
    return float(next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9)))
