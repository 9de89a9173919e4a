"""What a report says, as values: every number and sentence of the page, and nothing of how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.estimators import TopicEstimator
from textsignal.text.vectorise import TextVectorizer

Floats = NDArray[np.float64]


class FittedModel(Protocol):
    """What a report asks of a fitted `TextResponseModel`."""

    vectorizer_: TextVectorizer
    estimator_: TopicEstimator
    n_documents_: int

    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """One row per topic: topic, label, effect, prevalence, coherence, terms."""


@dataclass(frozen=True)
class ReportSettings:
    """What a report cannot learn from model and data.

    title : of the page; "" for "What moves" and the response.
    response_name : what the response is called, such as "Rating".
    unit : what one step of the response is called, such as "stars".
    with_texts : whether documents are shown.
    dropped : what was left out before fitting, and why.
    command : how to make the report again; "" where nobody knows.
    """

    title: str = ""
    response_name: str = "response"
    unit: str = "points"
    with_texts: bool = True
    dropped: str = ""
    command: str = ""

    @property
    def subject(self) -> str:
        """The response as sentences name it."""
        return f"the {self.response_name}"


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: its label, where it starts and ends, and how many or what share it holds."""

    label: str
    low: float
    high: float
    value: float


@dataclass(frozen=True)
class Segment:
    """A piece of a text; `mark` is 0 for plain, 1 where it speaks for the topic, 2 where it does so strongly."""

    text: str
    mark: int = 0


@dataclass(frozen=True)
class ShownDocument:
    """A document that is shown: its row from 1, response (None if there is none), prediction, the topic's share."""

    row: int
    response: float | None
    prediction: float
    share: float
    held_out: bool
    cut_before: bool
    cut_after: bool
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Evidence:
    """Documents led by a topic: the most typical, and the most typical with a high and a low response."""

    typical: tuple[ShownDocument, ...]
    high: tuple[ShownDocument, ...]
    low: tuple[ShownDocument, ...]


@dataclass(frozen=True)
class TopicCard:
    """What a report says of one topic.

    number : its column of `transform`.
    region : where it stands on the map: "common and strong", "neutral", ...
    terms : most relevant first.
    effect : coefficient on the linear predictor, against the average text.
    response_effect : change of the average text's expected response when the topic's share rises by `STEP`.
    interval : of the effect, where it is known.
    led : number of documents whose largest weight is this topic's; led_mean : their mean response, None without one.
    led_responses : how their responses are distributed, in shares.
    """

    number: int
    label: str
    color: str
    region: str
    terms: tuple[str, ...]
    effect: float
    response_effect: float
    interval: tuple[float, float] | None
    prevalence: float
    coherence: float
    led: int
    led_mean: float | None
    led_responses: tuple[Bar, ...]
    evidence: Evidence | None


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
    """

    held_out: bool
    rows: tuple[SkillRow, ...]
    agreement: tuple[Agreement, ...]
    means: tuple[Agreement, ...]
    reliability: tuple[Reliability, ...]
    pit: tuple[Bar, ...]
    interval_meant: float
    interval_held: float


@dataclass(frozen=True)
class CloudWord:
    """A term of the word cloud: documents it is in, its topic's number, and its size from 1 to 6."""

    term: str
    documents: int
    topic: int
    size: int


@dataclass(frozen=True)
class DocumentsSummary:
    """The documents of a report in some numbers; `mean_response` is None where none has a response."""

    documents: int
    training: int
    held_out: int
    without_response: int
    without_known_term: int
    dropped: str
    terms: int
    median_words: float
    mean_response: float | None
    responses: tuple[Bar, ...]
    lengths: tuple[Bar, ...]
    cloud: tuple[CloudWord, ...]


@dataclass(frozen=True)
class Browser:
    """What the page needs to predict by itself, as JSON; None, and why, where it cannot."""

    model: dict[str, Any] | None
    reason: str


@dataclass(frozen=True)
class Sentence:
    """One sentence of the headline; `topic` is the number of the topic whose label stands between its two halves.

    The label stands apart so that the page can put another name in its place. Without a topic all is in `before`.

    Examples
    --------
    >>> str(Sentence("Talked about most is ", 3, "staff, desk", ": 12% of all text."))
    'Talked about most is “staff, desk”: 12% of all text.'
    """

    before: str
    topic: int | None = None
    label: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.before if self.topic is None else f"{self.before}“{self.label}”{self.after}"


@dataclass(frozen=True)
class ReportData:
    """All that a report says, in the order of the page.

    response_name, subject : the response as charts and as sentences name it.
    expected : response of the average text.
    headline : the report in some sentences, the first on the data, each further one a finding.
    warning : why the skill of training must not be believed; None where it may be.
    topics : largest absolute effect on the response first.
    rare, common : shares of all text up to which a topic is rarer, and from which it is common.
    strong : absolute response effect from which a topic is strong.
    settings : name and value of what makes the model; versions : of what computed it.
    """

    title: str
    response_name: str
    subject: str
    unit: str
    levels: tuple[int, ...]
    expected: float
    with_texts: bool
    text_cap: int
    headline: tuple[Sentence, ...]
    warning: str | None
    topics: tuple[TopicCard, ...]
    rare: float
    common: float
    strong: float
    prediction: Prediction | None
    browser: Browser
    documents: DocumentsSummary
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str
