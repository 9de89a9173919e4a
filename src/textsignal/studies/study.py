"""What a study is made of: cells to compute, tables they fill, figures and claims drawn from these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from textsignal.studies.claims import Claim
from textsignal.studies.samples import Sample

Row = dict[str, Any]
Place = dict[str, str | int | float]
#: Rows of finished cells, a table for each name.
Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Plan:
    """What was asked for.

    seeds : how many draws or splits are averaged over; they are 0, 1, 2, ...
    methods : names of the methods to fit (see `methods.METHODS`).
    quick : whether a small grid will do.
    samples : review samples by role.
    """

    seeds: int
    methods: tuple[str, ...]
    quick: bool
    samples: Mapping[str, Sample] = field(default_factory=dict)

    @property
    def times(self) -> str:
        """How often something is drawn or split, in words.

        Examples
        --------
        >>> Plan(seeds=3, methods=(), quick=False).times
        '3 times (seeds 0 to 2)'
        """
        return "once (seed 0)" if self.seeds == 1 else f"{self.seeds} times (seeds 0 to {self.seeds - 1})"


@dataclass(frozen=True)
class Cell:
    """One computation, kept once it is finished.

    table : the table that its rows go to.
    place : what names it there, such as method and seed; these are columns of its rows.
    compute : gives its rows; a function of a module with its arguments bound, so that it travels to other processes.
    data : digest of the sample it reads, if any: other data make another cell.
    """

    table: str
    place: Place
    compute: Callable[[], Sequence[Row]]
    data: str = ""

    @property
    def key(self) -> str:
        """The cell's name in the file of finished cells."""
        return json.dumps([self.table, self.place, self.data], sort_keys=True)

    def rows(self) -> list[Row]:
        """What it computes, with its place in front."""
        return [self.place | row for row in self.compute()]


@dataclass(frozen=True)
class Study:
    """One study of the paper.

    name, title : on the command line; on the page.
    needs : roles of the samples that it reads.
    seeds, quick_seeds : how many draws or splits it takes where the user does not say.
    stages : each gives cells, knowing the tables of those before it.
    figures : names and figures.
    section : Markdown that says what was done and found, figures and claims apart.
    claims : what the paper says, beside what was found.

    Examples
    --------
    >>> from textsignal.studies import STUDIES
    >>> STUDIES["length"].needs
    ('fast-food', 'cafe', 'hotel', 'tripadvisor')
    """

    name: str
    title: str
    needs: tuple[str, ...]
    seeds: int
    quick_seeds: int
    stages: tuple[Callable[[Plan, Tables], Sequence[Cell]], ...]
    figures: Callable[[Plan, Tables], dict[str, Figure]]
    section: Callable[[Plan, Tables], str]
    claims: Callable[[Plan, Tables], Sequence[Claim]]

    def can_read(self, samples: Mapping[str, Sample]) -> bool:
        """Whether all samples that it needs are there."""
        return set(self.needs) <= samples.keys()
