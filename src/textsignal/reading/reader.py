"""Interface of a TextResponseModel to its fitted components."""

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
    """A fitted model of texts. Labels are user-defined, None for themes labelled by their terms."""

    @property
    def family(self) -> Family:
        """The response's, with its scale."""

    @property
    def profiles(self) -> Array:
        """(themes, terms) as they are shown."""

    @property
    def terms(self) -> Sequence[str]:
        """Names of the terms."""

    @property
    def mergeable(self) -> tuple[Array, Vector]:
        """(themes, terms) themes, and (themes,) their weights when merged."""

    @property
    def coherence(self) -> Vector:
        """(themes,) mean NPMI of each theme's ten most probable terms in the training texts."""

    @property
    def described(self) -> dict[str, str]:
        """Name and value of the settings of the fit, for display."""

    @property
    def basis(self) -> str:
        """Sentence on the documents the model was learnt from; "" if from all that it knows."""

    def tokenise(self, texts: Iterable[str] | Tokens) -> Tokens:
        """Tokenise texts."""

    @property
    def covariates(self) -> tuple[Vector, Vector]:
        """Return (covariates,) effects of covariates, and their standard errors."""

    def read(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Reading:
        """Read texts; given : covariates and offset, None for average ones."""

    def predictions(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Predictions:
        """Return predictions alone, in less time than `read`."""

    @property
    def trained(self) -> Spoken | None:
        """Mentions of themes in the training texts, if kept."""

    def spoken(self, reading: Reading, responses: Vector | None, weight: Vector | None) -> Spoken:
        """Return mentions of themes in texts, by numbers that have not seen their responses."""

    def with_themes(self, themes: Array, weights: Vector, observed: Observed) -> Self:
        """Return a reader with other themes (themes, terms) of these weights, refitted to the documents."""

    def with_jobs(self, n_jobs: int | None) -> Self:
        """Return a reader with another number of threads."""
