"""What a report says, as values: every number and sentence of the page, and nothing of how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.data.covariates.design import Design
from textsignal.insight.naming import Naming
from textsignal.insight.revise import Labels
from textsignal.reading.reader import Reader
from textsignal.training.halves import SeedWords
from textsignal.uncertainty.stability import QUICK_REFITS, STABLE

if TYPE_CHECKING:
    from textsignal.report.values.bins import Bins
    from textsignal.uncertainty.checks import Finding

Floats = NDArray[np.float64]


class ReportedModel(Protocol):
    """What a report asks of a fitted `TextResponseModel`."""

    reader_: Reader
    labels_: Labels
    n_documents_: int
    naming_: Naming
    design_: Design | None
    seed_words: SeedWords


@dataclass(frozen=True)
class ReportSettings:
    """What a report cannot learn from model and data.

    title : of the page; "" for "What moves" and the response.
    response_name : what the response is called, such as "Rating".
    unit : what one step of it is called, such as "stars"; event, lower_is_better, is_class : as in `Naming`, from
        the model.
    with_texts : whether documents are shown.
    mask : whether e-mail addresses and phone numbers in them are masked.
    n_documents : how many of the documents are put into the page, to be looked through.
    group_name, time_name : what groups and times are called, where there are some.
    source : where the documents come from, such as a file's name; "" where nobody knows.
    dropped : what was left out before fitting, and why.
    basis : a sentence on which rows the documents are a sample of; "" where they are all.
    command : how to make the report again; "" where nobody knows.
    responses : other responses to the same texts, and their pages; None where there are none.
    within : what texts that depend on each other have in common, such as "hotel"; "" where none do.
    """

    title: str = ""
    response_name: str = "response"
    unit: str = ""
    with_texts: bool = True
    mask: bool = True
    n_documents: int = 1000
    group_name: str = "group"
    time_name: str = "date"
    source: str = ""
    dropped: str = ""
    command: str = ""
    responses: OtherResponses | None = None
    event: str = ""
    lower_is_better: bool = False
    is_class: bool = False
    within: str = ""
    basis: str = ""

    @property
    def naming(self) -> Naming:
        """What sentences call the response."""
        return Naming(self.response_name, self.unit, "", self.event, self.lower_is_better, self.is_class)


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: its label, where it starts and ends, and how many or what share it holds."""

    label: str
    low: float
    high: float
    value: float


@dataclass(frozen=True)
class Segment:
    """A piece of a text, and how it is marked.

    mark : "" for plain; "topic" where it speaks for a topic, "strong" where it does so strongly; "up" and "down" where
        it raises and lowers the prediction; "here" for the sentence that is meant.
    """

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Excerpt:
    """A stretch of a text in pieces, and whether something was cut off before and after it."""

    segments: tuple[Segment, ...]
    cut_before: bool = False
    cut_after: bool = False


@dataclass(frozen=True)
class Quote:
    """A document, or a sentence of one, that is shown.

    row : of the document, from 1; response, prediction : the document's, None where there is no response.
    share : of the document that is about the topic; None for a sentence.
    around : the document around a sentence; None where the sentence is all of it, and for a document.
    """

    row: int
    response: float | None
    prediction: float
    share: float | None
    held_out: bool
    excerpt: Excerpt
    around: Excerpt | None = None


@dataclass(frozen=True)
class QuoteGroup:
    """Quotes of one kind under their title; `sign` is 1 for what speaks well of a topic, -1 for badly, else 0."""

    title: str
    sign: int
    quotes: tuple[Quote, ...]


@dataclass(frozen=True)
class TopicCard:
    """What a report says of one topic, or theme.

    number : its column of `transform`; terms : most relevant first.
    reach : share of documents that speak of it; share : of all text; spoken : how many documents speak of it.
    mean_response, mean_elsewhere : mean response where it is spoken of, and in the others; None without one.
    well, badly : shares of the documents that speak of it in which it raises and lowers the prediction.
    raises, lowers : words that do so most; empty where the model has no tone.
    lift, worth : by how much the mean response would rise if nothing bad were said of it, and fall if nothing good
        were: what-ifs on the fitted model.
    effect, prevalence : of topics on a matrix, its coefficient and share of weight; None for themes.
    spoken_responses, elsewhere_responses : how responses are distributed, in shares.
    stability : share of refits to halves of the training texts in which it comes back; None where that is not known.
    evidence : quotes that show it; None where no text may be shown.
    trend, worst, best : how it changes, and the groups that it costs and brings most; empty where nothing is known.
    lift_low, lift_high, lift_clear : range of the lift, and whether it can be told from nothing, all topics judged
        together; the same of worth. None where nobody asked.
    """

    number: int
    label: str
    terms: tuple[str, ...]
    reach: float
    share: float
    spoken: int
    mean_response: float | None
    mean_elsewhere: float | None
    well: float
    badly: float
    raises: tuple[str, ...]
    lowers: tuple[str, ...]
    lift: float
    worth: float
    coherence: float
    effect: float | None
    prevalence: float | None
    spoken_responses: tuple[Bar, ...]
    elsewhere_responses: tuple[Bar, ...]
    stability: float | None
    evidence: tuple[QuoteGroup, ...] | None
    trend: str = ""
    worst: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    lift_low: float | None = None
    lift_high: float | None = None
    lift_clear: bool | None = None
    worth_low: float | None = None
    worth_high: float | None = None
    worth_clear: bool | None = None

    @property
    def topic(self) -> int:
        """Its number, as findings name it."""
        return self.number

    @property
    def unstable(self) -> bool:
        """Whether other samples of the texts cut it differently more often than not."""
        return self.stability is not None and self.stability < STABLE

    @property
    def comes_back(self) -> str:
        """How often it comes back, in words: so few refits have no percentages."""
        return "" if self.stability is None else f"{round(self.stability * QUICK_REFITS)} of {QUICK_REFITS}"


@dataclass(frozen=True)
class Scores:
    """How well responses are predicted: R2, root mean squared error, mean deviance of a document."""

    documents: int
    r2: float
    rmse: float
    deviance: float


@dataclass(frozen=True)
class SkillRow:
    """One way to predict; None where there are no such documents or the way was not fitted."""

    name: str
    note: str
    training: Scores | None
    held_out: Scores | None

    @property
    def gap(self) -> float | None:
        """By how much training's R2 is above held-out's."""
        return None if self.training is None or self.held_out is None else self.training.r2 - self.held_out.r2


@dataclass(frozen=True)
class Reliability:
    """Levels given a probability near `probability` happened in a share `happened` of `count` cases."""

    probability: float
    happened: float
    count: int


@dataclass(frozen=True)
class Agreement:
    """Documents with a prediction around `predicted` and the response `observed`."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True)
class Prediction:
    """How well the model predicts, on held-out documents where there are some (`held_out`).

    means : predicted against mean observed response, in bins of predictions.
    interval_meant, interval_held : probability of the 80% intervals, which levels make larger, and share inside.
    log_score, log_score_without : mean of a document, by the model and without its text; the smaller the better.
    """

    held_out: bool
    rows: tuple[SkillRow, ...]
    agreement: tuple[Agreement, ...]
    means: tuple[Agreement, ...]
    reliability: tuple[Reliability, ...]
    pit: tuple[Bar, ...]
    interval_meant: float
    interval_held: float
    log_score: float
    log_score_without: float


@dataclass(frozen=True)
class CloudWord:
    """A term of the word cloud: documents it is in, its topic's number, and its size from 1 to 6."""

    term: str
    documents: int
    topic: int
    size: int


@dataclass(frozen=True)
class DocumentsSummary:
    """The documents of a report in some numbers; `mean_response` is None where none has a response.

    copies : documents whose text an earlier one has; leaked : held-out documents whose text training has seen.
    """

    documents: int
    training: int
    held_out: int
    without_response: int
    without_known_term: int
    copies: int
    leaked: int
    dropped: str
    terms: int
    median_words: float
    mean_response: float | None
    responses: tuple[Bar, ...]
    lengths: tuple[Bar, ...]
    cloud: tuple[CloudWord, ...]


@dataclass(frozen=True)
class Named:
    """A topic in a sentence: its number, and the label that the page may put another name in place of."""

    number: int
    label: str

    def __str__(self) -> str:
        return f"“{self.label}”"


@dataclass(frozen=True)
class Sentence:
    """A sentence in its parts, some of which name a topic.

    Examples
    --------
    >>> str(Sentence(("Most is said of ", Named(3, "staff, desk"), ".")))
    'Most is said of “staff, desk”.'
    """

    parts: tuple[str | Named, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


@dataclass(frozen=True)
class Findings:
    """The report in a few sentences.

    lead : what was read; titles : above what to fix and to keep; to_fix, to_keep : a topic each.
    conclusion : what the chart of drivers shows.
    trust : how far all this can be believed; warnings : what speaks against it.
    """

    lead: Sentence
    titles: tuple[str, str]
    to_fix: tuple[Sentence, ...]
    to_keep: tuple[Sentence, ...]
    conclusion: Sentence
    trust: tuple[Sentence, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ReportData:
    """All that a report says, in the order of the page.

    naming : what the response is called, which way of it is better, and how its numbers are written.
    noun : what a topic is called: "topic" or "theme".
    levels : of the response, empty where it has none; bins : stretches of it that are counted in.
    source, made, version : where the documents come from, the day it was made, and what made it.
    findings : the report in some sentences.
    topics : the largest lift first.
    groups, timeline : topics by group and over time; None where documents have no groups, no dates.
    others : topics by response, where texts have several; None where they have one.
    given : what effects are given, in a sentence; "" for nothing.
    examples : texts to try.
    browse : documents to look through; None where none are shown.
    checks : what looks wrong, beyond warnings.
    ranges : what is said of ranges; None where none were asked for.
    settings : name and value of what makes the model; versions : of what computed it.
    """

    title: str
    source: str
    made: str
    version: str
    naming: Naming
    noun: str
    levels: tuple[float, ...]
    bins: Bins
    with_texts: bool
    text_cap: int
    findings: Findings
    topics: tuple[TopicCard, ...]
    groups: GroupTable | None
    timeline: Timeline | None
    others: Others | None
    prediction: Prediction | None
    browser: Browser
    given: str
    examples: tuple[str, ...]
    browse: Browse | None
    documents: DocumentsSummary
    checks: tuple[Finding, ...]
    ranges: Ranges | None
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str


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


@dataclass(frozen=True, eq=False)
class OtherResponses:
    """Responses to the same texts.

    table : as `topics.responses.compared` gives it; pages : file of each response's page; own : the page's response.
    namings : what each is called; noun : "response", or "class" where they are classes of one.
    """

    table: pd.DataFrame
    pages: Mapping[str, str]
    own: str
    namings: Mapping[str, Naming]
    noun: str = "response"


@dataclass(frozen=True)
class ResponseColumn:
    """A response by name, and its page: "" for that of the page itself."""

    name: str
    page: str


@dataclass(frozen=True)
class Amount:
    """What a topic costs or brings a response, in its own steps.

    shade : from 0 to 1, by its standard deviations; most : whether no topic has more for this response.
    """

    shown: str
    shade: float
    most: bool


@dataclass(frozen=True)
class ResponseCell:
    """What a topic costs and brings a response; facts : in words."""

    lift: Amount
    worth: Amount
    facts: str


@dataclass(frozen=True)
class ResponseRow:
    """A topic, and a cell for each response."""

    number: int
    label: str
    cells: tuple[ResponseCell, ...]


@dataclass(frozen=True)
class Others:
    """Topics against responses, in the order of the report's topics.

    full_lift, full_worth : standard deviations that are shown in full colour.
    noun : "response" or "class"; nouns : of several.
    """

    columns: tuple[ResponseColumn, ...]
    rows: tuple[ResponseRow, ...]
    full_lift: float
    full_worth: float
    noun: str
    nouns: str


@dataclass(frozen=True)
class Ranges:
    """What ranges are.

    level : such as .95; said : what they are, when something is called clear, and what they take for granted.
    note : why a number need not be in the middle of its range; "" where all are.
    method : how they were got, for those who know statistics.
    """

    level: float
    said: tuple[str, ...]
    note: str
    method: str
