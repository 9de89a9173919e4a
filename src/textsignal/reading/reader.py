"""What a TextResponseModel asks of what it was fitted with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, Self

from textsignal.arrays import Array, Vector
from textsignal.data.covariates.design import Given
from textsignal.estimators import Predictions
from textsignal.families import Family
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.spoken import Spoken


class Reader(Protocol):
    """A fitted model of texts. Labels are the user's own, None for what a topic is called by its terms."""

    @property
    def family(self) -> Family:
        """The response's, with its scale."""

    @property
    def profiles(self) -> Array:
        """(topics, terms) as they are shown."""

    @property
    def terms(self) -> Sequence[str]:
        """Names of the terms."""

    @property
    def mergeable(self) -> tuple[Array, Vector]:
        """(topics, terms) topics, and (topics,) what each counts where several become one."""

    @property
    def coherence(self) -> Vector:
        """(topics,) mean NPMI of each topic's ten most probable terms in the training texts."""

    @property
    def described(self) -> dict[str, str]:
        """Name and value of what made it, for people."""

    @property
    def basis(self) -> str:
        """A sentence on which documents what was learnt from; "" where all was from those that it knows."""

    def tokenise(self, texts: Iterable[str] | Tokens) -> Tokens:
        """Texts with their words."""

    @property
    def covariates(self) -> tuple[Vector, Vector]:
        """(covariates,) effects of covariates, and their standard errors."""

    def read(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Reading:
        """Everything it says of texts; given : covariates and offset, None for average ones."""

    def predictions(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Predictions:
        """What it says of the response: that part of `read`, in less time."""

    @property
    def trained(self) -> Spoken | None:
        """What the training texts say about topics, where that is kept."""

    def spoken(self, reading: Reading, responses: Vector | None, weight: Vector | None) -> Spoken:
        """What texts say about topics, by numbers that have not seen their responses."""

    def with_topics(self, topics: Array, weights: Vector, observed: Observed) -> Self:
        """The same with other topics (topics, terms) of these weights, refitted to what was observed."""

    def with_jobs(self, n_jobs: int | None) -> Self:
        """The same with another number of threads."""
