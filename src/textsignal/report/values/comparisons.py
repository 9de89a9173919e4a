"""Themes compared between groups, over time, and between responses to the same texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from textsignal.data.write import file_names
from textsignal.insight.groups import (
    GroupComparison,
    GroupMeans,
    Trends,
    compare_groups,
    compare_periods,
    day_name,
    periods_of,
    trends_of,
)
from textsignal.insight.naming import Naming
from textsignal.reading.labels import unique_labels
from textsignal.report.values.cards import ThemeCard
from textsignal.report.values.data import Named, Sentence
from textsignal.report.values.texts import ReportTexts
from textsignal.report.values.wording import cut, number, one_line, percent, points, signed_points, stances

#: Most groups in the table, characters of a name, and groups on a card.
SHOWN, NAME, ON_CARD = 25, 60, 3
#: Most sentences about the worst groups and the best.
WORST, BEST = 4, 2
#: Smallest difference in full colour, as a share of the spread of predictions.
FULL_TONE, FULL_COST = 0.05, 0.0125
#: Half the width of the band around a line over time, in standard errors.
BAND = 2
#: Relative change in length of texts that is reported; most themes that are mentioned more often.
LENGTH, MORE_OFTEN = 0.1, 2
#: Plurals of what the columns of the table of other responses are.
NOUNS = {"response": "responses", "class": "classes"}
Format = Callable[[float], str]


class Measure(NamedTuple):
    """One number of a group and a theme, shrunk towards that of all texts.

    shade : colour, from -1 (bad) to 1 (good); for shares from 0 to 1.
    clear : 1 and -1 if clearly above and below that of all texts, else 0.
    """

    value: float
    shade: float = 0.0
    clear: int = 0


class GroupCell(NamedTuple):
    """A theme in a group.

    tone : contribution to the prediction of a text that mentions it; mentions : share of texts that mention it; cost :
    its cost to the group's average. few : True if few texts mention it; facts : the numbers behind these in words.
    """

    tone: Measure
    mentions: Measure
    cost: Measure
    few: bool = False
    facts: str = ""


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Groups against themes, the largest groups first.

    names : as displayed, cut if long; full_names : by which their texts are found; sizes : number of texts of each.
    without : number of texts without group; full_tone, full_cost : difference from all texts in full colour.
    """

    compared: GroupComparison
    naming: Naming
    names: list[str]
    full_names: list[str]
    sizes: list[int]
    without: int
    full_tone: float
    full_cost: float

    @classmethod
    def of(cls, texts: ReportTexts) -> GroupTable | None:
        """Compare the groups of a report's texts; None without groups."""
        if texts.groups is None:
            return None
        compared = compare_groups(texts.spoken, texts.groups)
        full_names = [one_line(str(name)) for name in compared.names]
        names = unique_labels([cut(name, NAME) for name in full_names])
        spread = float(texts.family.mean(texts.eta).std()) or 1.0
        full = (
            max(float(np.abs(means.shrunk[:SHOWN] - means.overall).max()), least * spread)
            for means, least in ((compared.tone, FULL_TONE), (compared.cost, FULL_COST))
        )
        sizes, without = [round(size) for size in compared.documents], int(texts.groups.isna().sum())
        return cls(compared, texts.naming, names, full_names, sizes, without, *full)

    @property
    def shown(self) -> range:
        """Numbers of the groups in the table."""
        return range(min(SHOWN, len(self.names)))

    def cell(self, g: int, k: int) -> GroupCell:
        """Return theme k in group g."""
        compared = self.compared
        tone = self._measure(compared.tone, g, k, self.naming.better * self.full_tone)
        mentions = self._measure(compared.mentions, g, k, 1.0)._replace(shade=float(compared.mentions.shrunk[g, k]))
        cost = self._measure(compared.cost, g, k, -self.full_cost)
        return GroupCell(tone, mentions, cost, bool(compared.few[g, k]), self._facts(g, k))

    def overall(self, k: int) -> GroupCell:
        """Return theme k in all texts that have a group."""
        means = (self.compared.tone, self.compared.mentions, self.compared.cost)
        return GroupCell(*(Measure(float(each.overall[k])) for each in means))

    def worst(self, k: int) -> list[str]:
        """Return the groups that theme k clearly costs most, in words."""
        return self._most(self.compared.cost, k, "costs")

    def best(self, k: int) -> list[str]:
        """Return the groups to which theme k clearly adds most, in words."""
        return self._most(self.compared.gain, k, "adds")

    def _most(self, means: GroupMeans, k: int, verb: str) -> list[str]:
        groups = self._notable(means, k)[:ON_CARD]
        return [f"{self.names[g]} ({verb} {self.naming.points(means.shrunk[g, k])})" for g in groups]

    def _notable(self, means: GroupMeans, k: int) -> list[int]:
        """Groups with enough mentions and a mean clearly above that of all texts, the largest first."""
        as_written = np.round(means.shrunk[:, k], 2) > np.round(means.overall[k], 2)
        groups = np.flatnonzero((means.clear[:, k] > 0) & ~self.compared.few[:, k] & as_written)
        return sorted(groups.tolist(), key=lambda g: -means.shrunk[g, k])

    @staticmethod
    def _measure(means: GroupMeans, g: int, k: int, full: float) -> Measure:
        """Mean coloured by its distance from that of all texts; full : negative if more is worse."""
        away = means.shrunk[g, k] - means.overall[k]
        return Measure(float(means.shrunk[g, k]), float(np.clip(away / full, -1, 1)), int(means.clear[g, k]))

    def _facts(self, g: int, k: int) -> str:
        compared, unit = self.compared, self.naming.unit
        plain, signed = partial(points, naming=self.naming), partial(signed_points, naming=self.naming)
        n, mentions, bad = self.sizes[g], round(compared.spoken[g, k]), stances(self.naming)[0]
        some = f"{mentions:,} of {n:,} texts mention it, {compared.complaints[g, k]:.0%} of them with {bad}."
        return " ".join(
            (
                some if mentions else f"None of {n:,} texts mentions it.",
                f"Tone: {_shrunk(compared.tone, g, k, signed, plain, unit)}.",
                f"Mentions: {_shrunk(compared.mentions, g, k, percent, percent, '')}.",
                f"Cost: {_shrunk(compared.cost, g, k, plain, plain, f'{unit} of the average')}.",
            )
        )

    def findings(self, themes: Sequence[ThemeCard]) -> list[Sentence]:
        """Return sentences on what costs a group most compared with the others, and on what adds most to one."""
        if len(self.names) == 1:
            return [Sentence("There is only one group")]
        compared, naming, sentences = self.compared, self.naming, []
        bad, good = stances(naming)
        for means, verb, how, shares, most in (
            (compared.cost, "costs", bad, compared.complaints, WORST),
            (compared.gain, "adds", good, compared.praise, BEST),
        ):
            ends = [(theme.number, theme.label, g) for theme in themes for g in self._notable(means, theme.number)[:1]]
            for k, label, g in sorted(ends, key=lambda end: means.overall[end[0]] - means.shrunk[end[2], end[0]])[
                :most
            ]:
                name, amount = self.names[g], naming.amount(means.shrunk[g, k])
                facts = (
                    f"{f'costs {name} {amount} of the average' if verb == 'costs' else f'adds {amount} to {name}'}, "
                    f"compared with {naming.points(means.overall[k])} overall: {compared.mentions.mean[g, k]:.0%} of "
                    f"its {self.sizes[g]:,} texts mention it, {shares[g, k]:.0%} of them with {how}"
                )
                sentences.append(Sentence(Named(k, label), f" {facts}"))
        return sentences or [Sentence("No group differs clearly from the others")]


def _shrunk(means: GroupMeans, g: int, k: int, mean: Format, error: Format, unit: str) -> str:
    """Mean of a group shrunk towards all texts, with both of these."""
    spread = f" ± {error(means.sd[g, k])}" if means.sd[g, k] > 0 else ""
    alone = f"{mean(means.mean[g, k])} in its own texts, " if means.count[g, k] else ""
    shrunk = f"{mean(means.shrunk[g, k])}{spread} {unit}".strip()
    return f"{shrunk} ({alone}{mean(means.overall[k])} overall)"


class Point(NamedTuple):
    """A theme in a period; tone, low, high : mean and two standard errors around it, None without mentions.

    texts : number of texts that mention it; mentions : their share; few : True if there are few.
    """

    when: str
    texts: int
    mentions: float
    tone: float | None
    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True)
class Line:
    """A theme over time.

    trend, mentions : first and last tone, and first and last share of mentions, in words; "" if all dates are equal.
    change : in points of the response; clear : 1 for clearly better, -1 for clearly worse, else 0.
    """

    number: int
    label: str
    points: tuple[Point, ...]
    trend: str = ""
    mentions: str = ""
    change: float = 0.0
    clear: int = 0


@dataclass(frozen=True)
class Timeline:
    """Themes over time.

    noun : of periods, such as "years".
    conclusion : clear changes; caution : a change in the length of texts, "" if none.
    thirds : end of the first third of the texts and start of the last; "" if all dates are equal.
    lines : in the order of the report's themes, all between low and high; without : texts without date.
    """

    noun: str
    conclusion: Sentence
    caution: str
    thirds: str
    lines: tuple[Line, ...]
    low: float
    high: float
    without: int


def timeline(texts: ReportTexts, themes: Sequence[ThemeCard]) -> Timeline | None:
    """Follow themes over the dates of a report's texts; None without dates."""
    if texts.times is None:
        return None
    periods = periods_of(texts.times)
    compared, trends = compare_periods(texts.spoken, periods), trends_of(texts.spoken, texts.times)
    lines = tuple(_line(compared, trends, theme, texts.naming) for theme in themes)
    bounds = [value for line in lines for point in line.points if not point.few for value in (point.low, point.high)]
    known = [value for value in bounds if value is not None] or [0.0]
    return Timeline(
        noun=periods.noun,
        conclusion=_change_conclusion(lines, trends, texts.naming),
        caution="" if trends is None else _caution(texts, trends),
        thirds="" if trends is None else _thirds(trends),
        lines=lines,
        low=min(*known, 0.0),
        high=max(*known, 0.0),
        without=int((periods.codes < 0).sum()),
    )


def _thirds(trends: Trends) -> str:
    return f"the first third of the texts (to {day_name(trends.until)}), then the last (since {day_name(trends.since)})"


def _line(compared: GroupComparison, trends: Trends | None, theme: ThemeCard, naming: Naming) -> Line:
    k = theme.number
    points = []
    for g, name in enumerate(compared.names):
        n, mean, error = round(compared.spoken[g, k]), float(compared.tone.mean[g, k]), compared.tone.error[g, k]
        ends = (mean, float(mean - BAND * error), float(mean + BAND * error)) if n else (None, None, None)
        mentions = float(np.nan_to_num(compared.mentions.mean[g, k]))
        points.append(Point(str(name), n, mentions, *ends, few=bool(compared.few[g, k])))
    if trends is None:
        return Line(k, theme.label, tuple(points))
    tone, often = trends.tone, trends.mentions
    clear = naming.better * int(tone.clear[k])
    before, after = signed_points(tone.before[k], naming), signed_points(tone.after[k], naming)
    trend = {1: "better", -1: "worse", 0: "no clear change"}[clear]
    mentions_trend = {1: "mentioned more often", -1: "mentioned less often", 0: "mentioned as often"}[
        int(often.clear[k])
    ]
    return Line(
        k,
        theme.label,
        tuple(points),
        trend=f"{trend}: {before}, then {after} {naming.unit}",
        mentions=f"{mentions_trend}: {often.before[k]:.0%}, then {often.after[k]:.0%}",
        change=float(tone.after[k] - tone.before[k]),
        clear=clear,
    )


def _change_conclusion(lines: Sequence[Line], trends: Trends | None, naming: Naming) -> Sentence:
    """All themes with clearly changed tone, the largest changes first, and some that are mentioned more often."""
    if trends is None:
        return Sentence("All dates are the same, so there is no change to report")
    mentions, by_change = trends.mentions, sorted(lines, key=lambda line: -abs(line.change))
    often = sorted(lines, key=lambda line: mentions.before[line.number] - mentions.after[line.number])
    more = [line for line in often if mentions.clear[line.number] > 0][:MORE_OFTEN]
    parts: list[str | Named] = []
    for how, moved in (
        ("clearly worse", [line for line in by_change if line.clear < 0]),
        ("mentioned more often", more),
        ("clearly better", [line for line in by_change if line.clear > 0]),
    ):
        for i, line in enumerate(moved):
            k, tone = line.number, f"{signed_points(line.change, naming)} {naming.unit}"
            facts = f"{mentions.before[k]:.0%} of texts, then {mentions.after[k]:.0%}" if moved is more else tone
            title = how if parts else how.capitalize()
            before = ", " if i else f"; {title}: " if parts else f"{title}: "
            parts += [before, Named(k, line.label), f" ({facts})"]
    return (
        Sentence(*parts) if parts else Sentence("No theme is clearly better, worse or mentioned more often than before")
    )


def _caution(texts: ReportTexts, trends: Trends) -> str:
    """Warning if texts become longer or shorter, which changes how often everything is mentioned."""
    assert texts.times is not None
    parts = (texts.n_words[rows] for rows in (texts.times <= trends.until, texts.times >= trends.since))
    before, after = (float(np.median(words)) for words in parts)
    if abs(after - before) <= LENGTH * max(before, 1):
        return ""
    how, often = ("longer", "more") if after > before else ("shorter", "less")
    return (
        f"Texts became {how}: the median is {before:.0f} words in the first third and {after:.0f} in the last. This "
        f"alone makes every theme be mentioned {often} often."
    )


class ResponseCell(NamedTuple):
    """Cost and gain of a theme for a response, in its unit; facts : in words.

    cost_shade, gain_shade : from 0 to 1, by standard deviations.
    cost_most, gain_most : True if no theme has more for this response.
    """

    cost: str
    cost_shade: float
    cost_most: bool
    gain: str
    gain_shade: float
    gain_most: bool
    facts: str


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

    @property
    def nouns(self) -> str:
        """Plural of the noun."""
        return NOUNS[self.noun]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Name of each response, and its page, "" for the current one."""
        return [(_named(name), "" if name == self.own else page) for name, page in self.pages.items()]

    def full(self, measure: str) -> float:
        """Return the standard deviations in full colour."""
        return float(np.nanmax(self.table[f"{measure}_sd"].to_numpy(), initial=0.0))

    def cells(self, theme: int) -> list[ResponseCell]:
        """Return the cost and gain of a theme for each response."""
        return [self._cell(theme, name, naming) for name, naming in self.namings.items()]

    def _cell(self, theme: int, name: str, naming: Naming) -> ResponseCell:
        parts, facts = [], []
        for measure, verb in (("cost", "costs"), ("gain", "adds")):
            columns = (self.table[kind, name].droplevel("label") for kind in (measure, f"{measure}_sd"))
            (value, most), (size, _) = ((float(column[theme]), column.max()) for column in columns)
            shown, full = naming.points(value), self.full(measure)
            shade = float(np.clip(np.nan_to_num(size) / full, 0, 1)) if full > 0 else 0.0
            parts += [shown, shade, bool(value == most > 0)]
            facts.append(f"{verb} {shown} {naming.unit} ({number(size)} standard deviations)")
        return ResponseCell(*parts, facts=f"{_named(name)}: {', '.join(facts)}")


def _named(response: str) -> str:
    return one_line(response.replace("_", " "))


def responses_beside(
    table: pd.DataFrame, namings: Mapping[str, Naming], noun: str = "response"
) -> dict[str, OtherResponses]:
    """Return what the page of each response needs to know of all; table : from `compared`; namings : by response."""
    return {name: OtherResponses(table, page_names(list(namings)), name, namings, noun) for name in namings}


def page_names(responses: Sequence[str]) -> dict[str, str]:
    """Return the file name of each response's page.

    Examples
    --------
    >>> page_names(["stars", "front desk"])
    {'stars': 'report-stars.html', 'front desk': 'report-front-desk.html'}
    """
    return {name: f"report-{file}.html" for name, file in zip(responses, file_names(responses), strict=True)}
