"""Mentions of themes in texts: their tone and shares, and the responses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import Family


@dataclass(frozen=True, eq=False)
class Mentions:
    """Mentions of themes in texts, by tone that has not seen their responses.

    eta : (texts,) linear predictor; tone : (texts, themes) part of eta that would be 0 if mentions were neutral.
    shares : (texts, themes) of each text; mentioned : (texts, themes) True if a text mentions a theme.
    responses : (texts,) NaN if missing; weight : (texts,) how often each counts.
    better : 1 if more of the response is better, -1 if less is.
    """

    family: Family
    eta: Vector
    tone: Vector
    shares: Vector
    mentioned: NDArray[np.bool_]
    responses: Vector
    weight: Vector
    better: int = 1

    @property
    def bad(self) -> Vector:
        """(texts, themes) contribution to eta of complaints, else 0."""
        return np.where(self.better * self.tone < 0, self.tone, 0.0)

    @property
    def good(self) -> Vector:
        """(texts, themes) contribution to eta of praise, else 0."""
        return np.where(self.better * self.tone > 0, self.tone, 0.0)

    def at(self, rows: NDArray[np.int64]) -> Mentions:
        """Return the mentions in some of the texts."""
        names = ("eta", "tone", "shares", "mentioned", "responses", "weight")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})
