"""Values shared by the parts of a report: settings, the fitted model, and sentences that name themes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from textsignal.data.covariates.design import Design
from textsignal.insight.naming import Naming
from textsignal.insight.revise import Labels
from textsignal.training.halves import SeedWords

if TYPE_CHECKING:
    from textsignal.report.values.comparisons import OtherResponses

Floats = NDArray[np.float64]


class ReportedModel(Protocol):
    """Attributes of a fitted `TextResponseModel` that a report reads."""

    reader_: Any
    labels_: Labels
    n_texts_: int
    naming_: Naming
    design_: Design | None
    seed_words: SeedWords


class ReportedModels(Protocol):
    """Attributes of a fitted `TextResponseModel` of one response, several, or classes."""

    @property
    def names(self) -> list[Any]:
        """Names of the responses, or classes; empty for a single response."""

    @property
    def models(self) -> Mapping[Any, ReportedModel]:
        """The model of each, by name; the only one by None."""

    @property
    def theme_names(self) -> list[str]:
        """(themes,) labels."""


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report: names, and what to include.

    title : of the page; "" for "What moves" and the response.
    response_name, unit : names of the response and of one step, such as "Rating" and "stars"; "" for the model's.
    with_texts : include texts; mask : mask e-mail addresses and phone numbers in them.
    n_documents : most texts to look through.
    group_name, time_name : names of groups and times.
    source : origin of the texts, such as a file name; "" if unknown.
    dropped : a sentence on rows that were excluded before fitting, and why.
    basis : a sentence on the rows that the texts are a sample of; "" if they are all rows.
    command : command that reproduces the report; "" if unknown.
    responses : other responses to the same texts, and their pages; None if absent.
    within : name of the groups within which texts depend on each other, such as "hotel"; "" if they are independent.
    """

    title: str = ""
    response_name: str = ""
    unit: str = ""
    with_texts: bool = True
    mask: bool = True
    n_documents: int = 1000
    group_name: str = "group"
    time_name: str = "date"
    source: str = ""
    dropped: str = ""
    basis: str = ""
    command: str = ""
    responses: OtherResponses | None = None
    within: str = ""


class Named(NamedTuple):
    """A theme in a sentence: its number, and its label, which a reader of the page may rename."""

    number: int
    label: str

    def __str__(self) -> str:
        return f"“{self.label}”"


class Sentence:
    """A sentence in parts, some of which name a theme."""

    def __init__(self, *parts: str | Named) -> None:
        self.parts = parts

    def __str__(self) -> str:
        return "".join(map(str, self.parts))
