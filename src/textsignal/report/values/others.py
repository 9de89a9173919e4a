"""What a report says of other responses to the same texts: topics against responses, and where their pages are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from textsignal.data.write import file_names
from textsignal.insight.naming import Naming
from textsignal.report.values.data import TopicCard
from textsignal.report.values.formats import number
from textsignal.report.values.wording import one_line

#: What stands side by side, and several of it.
NOUNS = {"response": "responses", "class": "classes"}


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


def responses_beside(
    table: pd.DataFrame, namings: Mapping[str, Naming], noun: str = "response"
) -> dict[str, OtherResponses]:
    """What the page of each response is told of all; table : as `compared` gives it; namings : of each response."""
    return {name: OtherResponses(table, page_names(list(namings)), name, namings, noun) for name in namings}


def page_names(responses: Sequence[str]) -> dict[str, str]:
    """File of each response's page.

    Examples
    --------
    >>> page_names(["stars", "front desk"])
    {'stars': 'report-stars.html', 'front desk': 'report-front-desk.html'}
    """
    return {name: f"report-{file}.html" for name, file in zip(responses, file_names(responses), strict=True)}


def other_responses(responses: OtherResponses | None, topics: Sequence[TopicCard]) -> Others | None:
    """Compare what topics cost and bring the responses; None where there is one alone."""
    if responses is None:
        return None
    names, table = list(responses.pages), responses.table.reset_index("label", drop=True)
    full = {measure: float(np.nanmax(table[f"{measure}_sd"].to_numpy(), initial=0.0)) for measure in ("lift", "worth")}

    def amount(measure: str, topic: int, name: str) -> Amount:
        values, sizes = table[measure][name], table[f"{measure}_sd"][name]
        shade = np.nan_to_num(sizes[topic]) / full[measure] if full[measure] > 0 else 0.0
        shown = responses.namings[name].points(float(values[topic]))
        return Amount(shown, float(np.clip(shade, 0, 1)), bool(values[topic] == values.max() > 0))

    def cell(topic: int, name: str) -> ResponseCell:
        lift, worth, naming = amount("lift", topic, name), amount("worth", topic, name), responses.namings[name]
        sizes = [number(float(table[measure][name][topic])) for measure in ("lift_sd", "worth_sd")]
        facts = (
            f"{one_line(name)}: costs {lift.shown} {naming.unit} ({sizes[0]} standard deviations), "
            f"brings {worth.shown} {naming.unit} ({sizes[1]} standard deviations)"
        )
        return ResponseCell(lift, worth, facts)

    return Others(
        columns=tuple(
            ResponseColumn(one_line(name.replace("_", " ")), "" if name == responses.own else responses.pages[name])
            for name in names
        ),
        rows=tuple(
            ResponseRow(topic.number, topic.label, tuple(cell(topic.number, name) for name in names))
            for topic in topics
        ),
        full_lift=full["lift"],
        full_worth=full["worth"],
        noun=responses.noun,
        nouns=NOUNS[responses.noun],
    )
