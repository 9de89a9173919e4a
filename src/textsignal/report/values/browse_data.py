"""What a page needs to predict by itself, and documents to look through, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Browser:
    """What the page needs to predict by itself, as JSON; None, and why, where it cannot."""

    model: dict[str, Any] | None
    reason: str


@dataclass(frozen=True)
class Browse:
    """Documents to look through.

    shown, documents : how many are in the page, and out of how many.
    longest : characters that are shown of each at most; n_cut : how many documents are longer.
    scale : length of the response's scale, which says how strongly a sentence is shaded.
    responses : names of what responses are found by; no_response : whether some document has none.
    groups : names of groups, empty where none are known; no_group : whether some document has none.
    group_name : what a group is called.
    columns : name -> what is known of each document, packed.
    """

    shown: int
    documents: int
    longest: int
    n_cut: int
    scale: float
    responses: tuple[str, ...]
    no_response: bool
    groups: tuple[str, ...]
    no_group: bool
    group_name: str
    columns: dict[str, str]
