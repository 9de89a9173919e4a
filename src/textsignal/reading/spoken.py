"""Statements of texts about themes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import Family


@dataclass(frozen=True, eq=False)
class Spoken:
    """What documents say about topics.

    family : of the response; eta : (documents,) linear predictor.
    tone : (documents, topics) the part of eta that would be 0 if a topic were spoken of neutrally.
    shares : (documents, topics) of each text; spoken : (documents, topics) whether a document speaks of a topic.
    responses : (documents,) NaN where there is none; weight : (documents,) how often each counts.
    better : 1 where more of the response is better, -1 where less is.
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
        """(documents, topics) what a topic adds to eta where it is spoken of badly, else 0."""
        return np.where(self.better * self.tone < 0, self.tone, 0.0)

    @property
    def good(self) -> Vector:
        """(documents, topics) what a topic adds to eta where it is spoken of well, else 0."""
        return np.where(self.better * self.tone > 0, self.tone, 0.0)

    def judged(self, better: int) -> Spoken:
        """The same where 1 more, or -1 less, of the response is better."""
        return replace(self, better=better)

    def at(self, rows: NDArray[np.int64]) -> Spoken:
        """The same for some of the documents."""
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
