"""Mentions of themes in texts: complaints, praise and neutral mentions, and the responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import Family
from textsignal.training.theme_model import TextsByTheme

#: Attributes with a row for each text.
OF_TEXTS = (
    "eta",
    "tone",
    "shares",
    "complaint",
    "praise",
    "mentioned",
    "complains",
    "praises",
    "unplaced",
    "responses",
    "weight",
)


@dataclass(frozen=True, eq=False)
class Mentions:
    """Mentions of themes in texts, by tone that has not seen their responses. The last theme is the overall verdict.

    eta : (texts,) linear predictor; tone : (texts, themes) contribution of what is said about a theme.
    complaint, praise : (texts, themes) part of it that is due to complaints, and to praise.
    shares : (texts, themes) of each text; mentioned, complains, praises : (texts, themes) True if a text mentions a
        theme, complains about it, and praises it.
    unplaced : (texts,) share of the text that is on no theme.
    responses : (texts,) NaN if missing; weight : (texts,) how often each counts.
    better : 1 if more of the response is better, -1 if less is.
    """

    family: Family
    eta: Vector
    tone: Vector
    complaint: Vector
    praise: Vector
    shares: Vector
    mentioned: NDArray[np.bool_]
    complains: NDArray[np.bool_]
    praises: NDArray[np.bool_]
    unplaced: Vector
    responses: Vector
    weight: Vector
    better: int = 1

    @classmethod
    def of(
        cls,
        family: Family,
        eta: Vector,
        gamma: Vector,
        texts: TextsByTheme,
        responses: Vector,
        weight: Vector,
        better: int,
    ) -> Self:
        """Return mentions from clauses summed by place; gamma : (places,)."""
        rows = slice(None), slice(None, -1)
        raising, lowering = gamma * texts.raising, gamma * texts.lowering
        good, bad = (raising, lowering) if better > 0 else (lowering, raising)
        praises, complains = (texts.raises, texts.lowers) if better > 0 else (texts.lowers, texts.raises)
        return cls(
            family=family,
            eta=eta,
            tone=(gamma * texts.tone)[rows],
            complaint=bad[rows],
            praise=good[rows],
            shares=texts.shares[rows],
            mentioned=texts.mentions[rows],
            complains=complains[rows],
            praises=praises[rows],
            unplaced=texts.shares[:, -1],
            responses=responses,
            weight=weight,
            better=better,
        )

    @property
    def n_themes(self) -> int:
        """Number of themes, with the overall verdict."""
        return self.tone.shape[1]

    def at(self, rows: NDArray[np.int64]) -> Mentions:
        """Return the mentions in some of the texts."""
        return replace(self, **{name: getattr(self, name)[rows] for name in OF_TEXTS})
