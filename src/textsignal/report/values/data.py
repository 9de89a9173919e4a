"""Content of a report as frozen values: every number and sentence of the page, and nothing of its looks."""

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
from textsignal.training.halves import SeedWords
from textsignal.uncertainty.stability import QUICK_REFITS, STABLE

if TYPE_CHECKING:
    from textsignal.reading.themes import ThemeReader
    from textsignal.report.values.bins import Bins
    from textsignal.uncertainty.checks import Finding

Floats = NDArray[np.float64]


class ReportedModel(Protocol):
    """Attributes of a fitted `TextResponseModel` that a report reads."""

    reader_: ThemeReader
    labels_: Labels
    n_documents_: int
    naming_: Naming
    design_: Design | None
    seed_words: SeedWords


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report: names, and what to include.

    title : of the page; "" for "What moves" and the response.
    response_name : name of the response, such as "Rating".
    unit : name of one step of it, such as "stars"; event, lower_is_better, is_class : as in `Naming`, from the model.
    with_texts : include documents.
    mask : mask e-mail addresses and phone numbers in them.
    n_documents : most documents to look through.
    group_name, time_name : names of groups and times.
    source : origin of the documents, such as a file name; "" if unknown.
    dropped : a sentence on rows that were excluded before fitting, and why.
    basis : a sentence on the rows that the documents are a sample of; "" if they are all rows.
    command : command that reproduces the report; "" if unknown.
    responses : other responses to the same texts, and their pages; None if absent.
    within : name of the groups within which texts depend on each other, such as "hotel"; "" if they are independent.
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
        """Names of the response in sentences."""
        return Naming(self.response_name, self.unit, "", self.event, self.lower_is_better, self.is_class)


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: label, edges, and count or share."""

    label: str
    low: float
    high: float
    value: float


@dataclass(frozen=True)
class Segment:
    """A piece of a text and its mark.

    mark : "" for plain; "theme" for evidence of a theme, "strong" for strong evidence; "up" and "down" for words that
        improve and worsen the prediction; "here" for the sentence that is quoted.
    """

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Excerpt:
    """A stretch of a text in pieces; cut_before, cut_after : True if the text goes on there."""

    segments: tuple[Segment, ...]
    cut_before: bool = False
    cut_after: bool = False


@dataclass(frozen=True)
class Quote:
    """A quoted document, or a sentence of one.

    row : of the document, from 1; response, prediction : of the document; response is None if missing.
    share : of the document that is about the theme; None for a sentence.
    around : the document around a sentence; None if the sentence is all of it, and for a document.
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
    """Quotes of one kind under their title; sign : 1 for praise, -1 for complaints, else 0."""

    title: str
    sign: int
    quotes: tuple[Quote, ...]


@dataclass(frozen=True)
class ThemeCard:
    """Numbers and quotes of one theme, or theme.

    number : its column of `transform`; terms : most relevant first.
    reach : share of documents that mention it; share : of all text; spoken : number of documents that mention it.
    mean_response, mean_elsewhere : mean response of documents that mention it, and of the others; None if unknown.
    well, badly : shares of the documents that mention it in which it raises and lowers the prediction.
    raises, lowers : words that do so most; empty if the model has no tone.
    cost, gain : rise of the mean response without complaints about it, and fall without praise, by the fitted model.
    effect, prevalence : coefficient and share of weight of a theme on a matrix; None for themes.
    spoken_responses, elsewhere_responses : distribution of responses, in shares.
    stability : share of refits to halves of the training texts that reproduce it; None if unknown.
    evidence : quotes; None if no text may be displayed.
    trend, worst, best : change over time, and the groups that it costs and brings most; empty if unknown.
    cost_low, cost_high, cost_clear : range of the cost, and True if it is significant with all themes judged
        together; likewise for worth. None without ranges.
    """

    number: int
    label: str
    terms: tuple[str, ...]
    mentions: float
    share: float
    spoken: int
    mean_response: float | None
    mean_elsewhere: float | None
    praise: float
    complaints: float
    raises: tuple[str, ...]
    lowers: tuple[str, ...]
    cost: float
    gain: float
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
    cost_low: float | None = None
    cost_high: float | None = None
    cost_clear: bool | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    gain_clear: bool | None = None

    @property
    def theme(self) -> int:
        """Number of the theme, under the name that `insight.findings` reads."""
        return self.number

    @property
    def unstable(self) -> bool:
        """True if most refits to other samples of the texts do not reproduce it."""
        return self.stability is not None and self.stability < STABLE

    @property
    def reproduced(self) -> str:
        """Number of refits that reproduce it, in words: too few for a percentage."""
        return "" if self.stability is None else f"{round(self.stability * QUICK_REFITS)} of {QUICK_REFITS}"


@dataclass(frozen=True)
class Scores:
    """Skill of predictions: R2, root mean squared error, mean deviance per document."""

    documents: int
    r2: float
    rmse: float
    deviance: float


@dataclass(frozen=True)
class SkillRow:
    """Scores of one predictor; None without such documents, or if it was not fitted."""

    name: str
    note: str
    training: Scores | None
    held_out: Scores | None

    @property
    def gap(self) -> float | None:
        """R2 on training documents minus R2 on held-out documents."""
        return None if self.training is None or self.held_out is None else self.training.r2 - self.held_out.r2


@dataclass(frozen=True)
class Reliability:
    """Of `count` levels with a probability near `probability`, the share `happened` was observed."""

    probability: float
    happened: float
    count: int


@dataclass(frozen=True)
class Agreement:
    """Number of documents with a prediction near `predicted` and the response `observed`."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True)
class Prediction:
    """Skill and calibration, on held-out documents if there are any (`held_out`).

    means : predicted against mean observed response, in bins of predictions.
    interval_meant, interval_held : probability of the 80% intervals, larger for discrete responses, and share inside.
    log_score, log_score_without : mean per document, with the text and without it; the smaller the better.
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
    """A term of the word cloud: number of documents that contain it, its main theme, and its size from 1 to 6."""

    term: str
    documents: int
    theme: int
    size: int


@dataclass(frozen=True)
class DocumentsSummary:
    """Counts and distributions of the documents of a report; mean_response : None without responses.

    copies : documents that repeat the text of an earlier one; leaked : held-out documents with a text of training.
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
    """A theme in a sentence: its number, and its label, which a reader of the page may rename."""

    number: int
    label: str

    def __str__(self) -> str:
        return f"“{self.label}”"


@dataclass(frozen=True)
class Sentence:
    """A sentence in parts, some of which name a theme.

    Examples
    --------
    >>> str(Sentence(("Most texts mention ", Named(3, "staff, desk"), ".")))
    'Most texts mention “staff, desk”.'
    """

    parts: tuple[str | Named, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


@dataclass(frozen=True)
class Findings:
    """Main results of a report in sentences.

    lead : the data; titles : of what to fix and what to keep; to_fix, to_keep : one theme per sentence.
    conclusion : of the chart of drivers.
    trust : skill and sample size; warnings : reasons for doubt.
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
    """Content of a report, in the order of the page.

    naming : names of the response, its better direction, and the format of its numbers.
    noun : "theme" or "theme".
    levels : of the response, empty if it has none; bins : of the response.
    source, made, version : origin of the documents, day of the report, and version of this package.
    findings : main results in sentences.
    themes : the largest cost first.
    groups, timeline : themes by group and over time; None without groups, without dates.
    others : themes by response; None if texts have only one.
    given : a sentence on the covariates that effects are conditional on; "" without covariates.
    examples : texts to try.
    browse : documents to look through; None if no texts are displayed.
    checks : problems beyond the warnings.
    ranges : explanation of ranges; None without ranges.
    settings : names and values of the model's settings; versions : of libraries.
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
    themes: tuple[ThemeCard, ...]
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
    """One number of a group and a theme, shrunk towards that of all documents.

    shade : colour, from -1 (bad) to 1 (good); for shares from 0 to 1.
    clear : 1 and -1 if clearly above and below that of all documents, else 0.
    """

    value: float
    shade: float
    clear: int


@dataclass(frozen=True)
class GroupCell:
    """A theme in a group.

    tone : contribution to the prediction of a text that mentions it; reach : share of texts that mention it; cost : its
    cost to the group's average. few : True if few texts mention it; facts : the numbers behind these in words.
    """

    theme: int
    tone: CellMeasure
    mentions: CellMeasure
    cost: CellMeasure
    few: bool
    facts: str


@dataclass(frozen=True)
class GroupRow:
    """A group, its number of documents, and a cell for each theme in the order of the report.

    name : as displayed, cut if long; full_name : name by which its documents are found.
    """

    name: str
    full_name: str
    documents: int
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True)
class ThemeGroups:
    """Groups that a theme clearly costs and brings most, in words."""

    theme: int
    worst: tuple[str, ...]
    best: tuple[str, ...]


@dataclass(frozen=True)
class GroupTable:
    """Groups against themes.

    name : name of the grouping; conclusion : the largest difference; findings : the next ones.
    overall : all documents that have a group; rows : the largest groups first.
    n_groups : of all documents; other_documents : of groups beyond `rows`; without : documents without group.
    full_tone, full_cost : difference from all documents in full colour.
    themes : one for each theme, in the order of the report.
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
    full_cost: float
    themes: tuple[ThemeGroups, ...]


@dataclass(frozen=True)
class Point:
    """A theme in a period; tone, low, high : mean and two standard errors around it, None without mentions."""

    when: str
    documents: int
    spoken: int
    mentions: float
    tone: float | None
    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True)
class Line:
    """A theme over time.

    trend, reached : first and last tone, and first and last share of mentions, in words; "" if all dates are equal.
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
    """Themes over time.

    name : name of the dates; noun : of periods, such as "years".
    conclusion : all changes; findings : the clearest ones; caution : a change in the length of texts, "" if none.
    thirds : end of the first third of the documents and start of the last; "" if all dates are equal.
    lines : in the order of the report's themes, all between low and high; without : documents without date.
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
    """Model as JSON, for predictions in the browser; None, with a reason, if the page cannot predict."""

    model: dict[str, Any] | None
    reason: str


@dataclass(frozen=True)
class Browse:
    """Documents to look through.

    shown, documents : number of documents in the page, and of all.
    longest : most characters of each; n_cut : number of documents that are longer.
    scale : length of the response's scale, for the shades of sentences.
    responses : labels of the bins of responses; no_response : True if a document has none.
    groups : names of groups, empty without groups; no_group : True if a document has none.
    group_name : name of the grouping.
    columns : name -> packed values of all documents.
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

    table : from `compared`; pages : file of each response's page; own : the page's response.
    namings : of each response; noun : "response", or "class" for classes of one response.
    """

    table: pd.DataFrame
    pages: Mapping[str, str]
    own: str
    namings: Mapping[str, Naming]
    noun: str = "response"


@dataclass(frozen=True)
class ResponseColumn:
    """Name of a response and its page, "" for the current one."""

    name: str
    page: str


@dataclass(frozen=True)
class Amount:
    """Cost or gain of a theme for a response, in its unit.

    shade : from 0 to 1, by standard deviations; most : True if no theme has more for this response.
    """

    shown: str
    shade: float
    most: bool


@dataclass(frozen=True)
class ResponseCell:
    """Cost and gain of a theme for a response; facts : in words."""

    cost: Amount
    gain: Amount
    facts: str


@dataclass(frozen=True)
class ResponseRow:
    """A theme, and a cell for each response."""

    number: int
    label: str
    cells: tuple[ResponseCell, ...]


@dataclass(frozen=True)
class Others:
    """Themes against responses, in the order of the report's themes.

    full_cost, full_gain : standard deviations in full colour.
    noun : "response" or "class"; nouns : its plural.
    """

    columns: tuple[ResponseColumn, ...]
    rows: tuple[ResponseRow, ...]
    full_cost: float
    full_gain: float
    noun: str
    nouns: str


@dataclass(frozen=True)
class Ranges:
    """Explanation of ranges.

    level : such as .95; sentences : meaning, definition of "clear", and assumptions.
    note : on numbers that are not the centre of their range; "" if all are.
    method : of estimation, for statisticians.
    """

    level: float
    sentences: tuple[str, ...]
    note: str
    method: str
