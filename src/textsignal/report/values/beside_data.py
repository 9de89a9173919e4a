"""What a report says of groups and of time, as values."""

from __future__ import annotations

from dataclasses import dataclass

from textsignal.report.values.data import Sentence


@dataclass(frozen=True)
class CellMeasure:
    """One number of a group and a topic, drawn towards all documents.

    shade : how it is coloured, from -1 (bad) over 0 to 1 (good); for shares from 0 to 1.
    clear : 1 and -1 where it is clearly above and below that of all documents, else 0.
    """

    value: float
    shade: float
    clear: int


@dataclass(frozen=True)
class GroupCell:
    """What a group says of a topic.

    tone : what it adds to the prediction of a text that speaks of it; reach : share of texts that do; lift : what it
    costs the group's average. few : whether few texts speak of it; facts : the numbers behind these in words.
    """

    topic: int
    tone: CellMeasure
    reach: CellMeasure
    lift: CellMeasure
    few: bool
    facts: str


@dataclass(frozen=True)
class GroupRow:
    """A group, how many documents it has, and a cell for each topic in the order of the report's topics.

    name : as it is shown, cut where it is long; full_name : by which its documents are found.
    """

    name: str
    full_name: str
    documents: int
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True)
class TopicGroups:
    """The groups that a topic costs and brings most, where that is clear: in words."""

    topic: int
    worst: tuple[str, ...]
    best: tuple[str, ...]


@dataclass(frozen=True)
class GroupTable:
    """Groups against topics.

    name : what groups are called; conclusion : what stands out most; findings : what else does.
    overall : all documents that have a group; rows : the largest groups first.
    n_groups : in all; other_documents : of groups that are not shown; without : documents without group.
    full_tone, full_lift : difference from all documents that is shown in full colour.
    topics : one for each topic, in the order of the report's.
    """

    name: str
    conclusion: Sentence
    findings: tuple[Sentence, ...]
    overall: GroupRow
    rows: tuple[GroupRow, ...]
    n_groups: int
    other_documents: int
    without: int
    full_tone: float
    full_lift: float
    topics: tuple[TopicGroups, ...]


@dataclass(frozen=True)
class Point:
    """A topic in a period; tone, low, high : None where nobody speaks of it, the last two being two errors away."""

    when: str
    documents: int
    spoken: int
    reach: float
    tone: float | None
    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True)
class Line:
    """A topic over time.

    trend, reached : how it is spoken of, and how often, at first and at last; "" where all dates are the same.
    change : in points of the response; clear : 1 for clearly better, -1 for clearly worse, else 0.
    """

    number: int
    label: str
    trend: str
    reached: str
    change: float
    clear: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Timeline:
    """Topics over time.

    name : what times are called; noun : what periods are, such as "years".
    conclusion : what changes; findings : the clearest changes; caution : what else changes, "" for nothing.
    thirds : when the first third of the documents ends and the last begins; "" where all dates are the same.
    lines : in the order of the report's topics, all drawn between low and high; without : documents without date.
    """

    name: str
    noun: str
    conclusion: Sentence
    findings: tuple[Sentence, ...]
    caution: str
    thirds: str
    lines: tuple[Line, ...]
    low: float
    high: float
    without: int
