"""Themes compared between groups, over time, and between responses to the same texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.data.write import file_names
from textsignal.insight.groups import (
    GroupComparison,
    GroupMeans,
    Trends,
    compare_groups,
    compare_periods,
    periods_of,
    trends_of,
)
from textsignal.insight.inputs import Times
from textsignal.insight.naming import Naming
from textsignal.reading.words import unique_labels
from textsignal.report.values.cards import ThemeCard
from textsignal.report.values.data import Named, Sentence
from textsignal.report.values.texts import ReportTexts
from textsignal.report.values.wording import changes, number, one_line, percent, points, signed_points, verbs

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


class CellMeasure(NamedTuple):
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

    tone: CellMeasure
    mentions: CellMeasure
    cost: CellMeasure
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
        if texts.reading.observed.groups is None:
            return None
        compared = compare_groups(texts.reading.mentions, texts.reading.observed.groups)
        full_names = [one_line(str(name)) for name in compared.names]
        names = unique_labels([name if len(name) <= NAME else f"{name[: NAME - 1]}…" for name in full_names])
        spread = float(texts.reading.fitted.family.mean(texts.reading.mentions.eta).std()) or 1.0
        full = (
            max(float(np.abs(means.shrunk[:SHOWN] - means.overall).max()), least * spread)
            for means, least in ((compared.tone, FULL_TONE), (compared.cost, FULL_COST))
        )
        sizes, without = [round(size) for size in compared.documents], int(texts.reading.observed.groups.isna().sum())
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
        tone, mentions, cost = (CellMeasure(float(each.overall[k])) for each in means)
        return GroupCell(tone, mentions, cost)

    def most(self, k: int, measure: str) -> list[str]:
        """Describe the groups in which theme k clearly costs most ("cost") or adds most ("gain")."""
        costs, adds = verbs(self.naming)
        means, verb = (self.compared.cost, costs) if measure == "cost" else (self.compared.gain, adds)
        groups = self._notable(means, k)[:ON_CARD]
        return [f"{self.names[g]} ({verb} {self.naming.points(means.shrunk[g, k])})" for g in groups]

    def _notable(self, means: GroupMeans, k: int) -> list[int]:
        """Groups with enough mentions and a mean clearly above that of all texts, the largest first."""
        as_written = np.round(means.shrunk[:, k], 2) > np.round(means.overall[k], 2)
        groups = np.flatnonzero((means.clear[:, k] > 0) & ~self.compared.few[:, k] & as_written)
        return sorted(groups.tolist(), key=lambda g: -means.shrunk[g, k])

    @staticmethod
    def _measure(means: GroupMeans, g: int, k: int, full: float) -> CellMeasure:
        """Mean coloured by its distance from that of all texts; full : negative if more is worse."""
        away = means.shrunk[g, k] - means.overall[k]
        return CellMeasure(float(means.shrunk[g, k]), float(np.clip(away / full, -1, 1)), int(means.clear[g, k]))

    def _facts(self, g: int, k: int) -> str:
        compared, unit = self.compared, self.naming.unit
        plain, signed = partial(points, naming=self.naming), partial(signed_points, naming=self.naming)
        n, mentions, bad = self.sizes[g], round(compared.spoken[g, k]), self.naming.ways[0]
        costs = verbs(self.naming)[0].capitalize()
        some = f"{mentions:,} of {n:,} texts mention it; {compared.complaints[g, k]:.0%} of all do so with {bad}."
        return " ".join(
            (
                some if mentions else f"None of {n:,} texts mentions it.",
                f"Tone: {_shrunk(compared.tone, g, k, signed, plain, unit)}.",
                f"Mentions: {_shrunk(compared.mentions, g, k, percent, percent, '')}.",
                f"{costs}: {_shrunk(compared.cost, g, k, plain, plain, f'{unit} of the average')}.",
            )
        )

    def findings(self, themes: Sequence[ThemeCard]) -> list[Sentence]:
        """Return sentences on what costs a group most compared with the others, and on what adds most to one.

        The overall verdict is excluded: it names nothing to change.
        """
        if len(self.names) == 1:
            return [Sentence("There is only one group")]
        compared, naming, sentences = self.compared, self.naming, []
        themes = [theme for theme in themes if not theme.is_overall]
        (costs, adds), (bad, good) = verbs(naming), naming.ways
        for means, verb, how, shares, most in (
            (compared.cost, costs, bad, compared.complaints, WORST),
            (compared.gain, adds, good, compared.praise, BEST),
        ):
            ends = [(theme.number, theme.label, g) for theme in themes for g in self._notable(means, theme.number)[:1]]
            for k, label, g in sorted(ends, key=lambda end: means.overall[end[0]] - means.shrunk[end[2], end[0]])[
                :most
            ]:
                name, amount = self.names[g], naming.amount(means.shrunk[g, k])
                changed = {"costs": f"costs {name} {amount} of the average", "adds": f"adds {amount} to {name}"}
                facts = (
                    f"{changed.get(verb, f'{verb} the average of {name} by {amount}')}, compared with "
                    f"{naming.points(means.overall[k])} overall: {compared.mentions.mean[g, k]:.0%} of its "
                    f"{self.sizes[g]:,} texts mention it, {shares[g, k]:.0%} of all with {how}"
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
    few: bool
    tone: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Timeline:
    """Themes over time.

    compared : periods; noun : of these, such as "years"; trends : None if all dates are equal.
    caution : a change in the length of texts, "" if none; without : number of texts without date.
    """

    compared: GroupComparison
    noun: str
    trends: Trends | None
    naming: Naming
    caution: str
    without: int

    @classmethod
    def of(cls, texts: ReportTexts) -> Timeline | None:
        """Follow themes over the dates of a report's texts; None without dates."""
        if texts.reading.observed.times is None:
            return None
        periods, trends = (
            periods_of(texts.reading.observed.times),
            trends_of(texts.reading.mentions, texts.reading.observed.times),
        )
        compared, without = compare_periods(texts.reading.mentions, periods), int((periods.codes < 0).sum())
        caution = "" if trends is None else _caution(texts.reading.n_words, texts.reading.observed.times, trends)
        return cls(compared, periods.noun, trends, texts.naming, caution, without)

    def points(self, k: int) -> list[Point]:
        """Return the periods of a theme."""
        points = []
        for g, name in enumerate(self.compared.names):
            n, tone = round(self.compared.spoken[g, k]), float(self.compared.tone.mean[g, k])
            band = float(BAND * self.compared.tone.error[g, k])
            low, high = tone - band, tone + band
            mentions, few = float(np.nan_to_num(self.compared.mentions.mean[g, k])), bool(self.compared.few[g, k])
            known = (tone, low, high) if n else (None, None, None)
            points.append(Point(str(name), n, mentions, few, *known))
        return points

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest end of all bands, except of few texts; they include 0."""
        points = [point for k in range(self.compared.spoken.shape[1]) for point in self.points(k) if not point.few]
        known = [end for point in points for end in (point.low, point.high) if end is not None]
        return min([0.0, *known]), max([0.0, *known])

    def clear(self, k: int) -> int:
        """Return 1 if a theme is clearly better than before, -1 if it is clearly worse, else 0."""
        return 0 if self.trends is None else self.naming.better * int(self.trends.tone.clear[k])

    def trend(self, k: int) -> str:
        """Return the first and last tone of a theme in words; "" if all dates are equal."""
        if self.trends is None:
            return ""
        before, after = (
            signed_points(tone[k], self.naming) for tone in (self.trends.tone.before, self.trends.tone.after)
        )
        better, worse = changes(self.naming)
        how = {1: better, -1: worse, 0: "no clear change"}[self.clear(k)]
        return f"{how}: {before}, then {after} {self.naming.unit}"

    def mentions(self, k: int) -> str:
        """Return the first and last share of texts that mention a theme in words; "" if all dates are equal."""
        if self.trends is None:
            return ""
        change = self.trends.mentions
        how = {1: "more often", -1: "less often", 0: "as often"}[int(change.clear[k])]
        return f"mentioned {how}: {change.before[k]:.0%}, then {change.after[k]:.0%}"

    def conclusion(self, themes: Sequence[ThemeCard]) -> Sentence:
        """Return all themes with clearly changed tone, the largest changes first, and some that are mentioned more.

        The overall verdict comes last in each list.
        """
        if self.trends is None:
            return Sentence("All dates are the same, so there is no change to report")
        tone, often = self.trends.tone, self.trends.mentions
        change, more = tone.after - tone.before, often.after - often.before
        by_change = sorted(themes, key=lambda theme: (theme.is_overall, -abs(change[theme.number])))
        by_mentions = sorted(themes, key=lambda theme: (theme.is_overall, -more[theme.number]))
        parts: list[str | Named] = []
        better, worse = changes(self.naming)
        for how, moved in (
            (f"clearly {worse}", [theme for theme in by_change if self.clear(theme.number) < 0]),
            ("mentioned more often", [theme for theme in by_mentions if often.clear[theme.number] > 0][:MORE_OFTEN]),
            (f"clearly {better}", [theme for theme in by_change if self.clear(theme.number) > 0]),
        ):
            for i, theme in enumerate(moved):
                k, points = theme.number, f"{signed_points(change[theme.number], self.naming)} {self.naming.unit}"
                facts = (
                    points
                    if how.startswith("clearly")
                    else f"{often.before[k]:.0%} of texts, then {often.after[k]:.0%}"
                )
                before = ", " if i else f"; {how}: " if parts else f"{how.capitalize()}: "
                parts += [before, Named(k, theme.label), f" ({facts})"]
        return Sentence(*parts or [f"No theme is clearly {better}, {worse} or mentioned more often than before"])


def _caution(n_words: NDArray[np.int64], times: Times, trends: Trends) -> str:
    """Warning if texts become longer or shorter, which changes how often everything is mentioned."""
    before, after = (float(np.median(n_words[rows])) for rows in (times <= trends.until, times >= trends.since))
    if abs(after - before) <= LENGTH * max(before, 1):
        return ""
    how, often = ("longer", "more") if after > before else ("shorter", "less")
    return (
        f"Texts became {how}: the median is {before:.0f} words in the first third and {after:.0f} in the last. This "
        f"alone makes every theme be mentioned {often} often."
    )


class Amount(NamedTuple):
    """Cost or gain of a theme for a response, in its unit, and in words with its size in standard deviations.

    shade : from 0 to 1, by standard deviations; most : True if no theme has more for this response.
    """

    shown: str
    shade: float
    most: bool
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
    def columns(self) -> list[tuple[str, str]]:
        """Name of each response, and its page, "" for the current one."""
        return [
            (one_line(name.replace("_", " ")), "" if name == self.own else page) for name, page in self.pages.items()
        ]

    def full(self, measure: str) -> float:
        """Return the standard deviations in full colour."""
        return float(np.nanmax(self.table[f"{measure}_sd"].to_numpy(), initial=0.0))

    def cells(self, theme: int) -> list[tuple[Amount, Amount]]:
        """Return the cost and the gain of a theme for each response."""
        return [(self._amount("cost", theme, name), self._amount("gain", theme, name)) for name in self.pages]

    def _amount(self, measure: str, theme: int, name: str) -> Amount:
        values, sizes = (self.table[kind, name].droplevel("label") for kind in (measure, f"{measure}_sd"))
        naming, full, size = self.namings[name], self.full(measure), float(sizes[theme])
        shade = float(np.clip(np.nan_to_num(size) / full, 0, 1)) if full > 0 else 0.0
        shown = naming.points(float(values[theme]))
        facts = f"{shown} {naming.unit} ({number(size)} standard deviations)"
        return Amount(shown, shade, bool(values[theme] == values.max() > 0), facts)


def other_responses(
    table: pd.DataFrame, namings: Mapping[str, Naming], noun: str = "response"
) -> dict[str, OtherResponses]:
    """Return what the page of each response needs to know of all; table : from `compared`; namings : by response."""
    return {name: OtherResponses(table, page_names(list(namings)), name, namings, noun) for name in namings}


def page_names(responses: Sequence[str]) -> dict[str, str]:
    """Return the file name of each response's page."""
    return {name: f"report-{file}.html" for name, file in zip(responses, file_names(responses), strict=True)}
