"""Mentions of themes in texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import Family


@dataclass(frozen=True, eq=False)
class Spoken:
    """Mentions of themes in documents.

    family : of the response; eta : (documents,) linear predictor.
    tone : (documents, themes) the part of eta that would be 0 if a theme were mentioned neutrally.
    shares : (documents, themes) of each text; spoken : (documents, themes) True if a document mentions a theme.
    responses : (documents,) NaN if missing; weight : (documents,) of each document.
    better : 1 if more of the response is better, -1 if less is.
    """

    family: Family
    eta: Vector
    tone: Vector
    shares: Vector
    spoken: NDArray[np.bool_]
    responses: Vector
    weight: Vector
    better: int = 1

    @property
    def bad(self) -> Vector:
        """(documents, themes) contribution to eta of negative mentions, else 0."""
        return np.where(self.better * self.tone < 0, self.tone, 0.0)

    @property
    def good(self) -> Vector:
        """(documents, themes) contribution to eta of positive mentions, else 0."""
        return np.where(self.better * self.tone > 0, self.tone, 0.0)

    def judged(self, better: int) -> Spoken:
        """Return the mentions with `better` set: 1 if more of the response is better, -1 if less is."""
        return replace(self, better=better)

    def at(self, rows: NDArray[np.int64]) -> Spoken:
        """Return the mentions of some of the documents."""
        return Spoken(
            self.family,
            self.eta[rows],
            self.tone[rows],
            self.shares[rows],
            self.spoken[rows],
            self.responses[rows],
            self.weight[rows],
            self.better,
        )
