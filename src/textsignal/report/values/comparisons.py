"""What a report says of groups: a table of groups against topics, and where they differ most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from textsignal.data.write import file_names
from textsignal.insight.groups import GroupComparison, GroupMeans, compare_groups
from textsignal.insight.naming import Naming
from textsignal.insight.periods import Trends, compare_periods, day_name, periods_of, trends_of
from textsignal.reading.labels import unique_labels
from textsignal.reading.spoken import Spoken
from textsignal.report.values.data import (
    Amount,
    CellMeasure,
    GroupCell,
    GroupRow,
    GroupTable,
    Line,
    Named,
    OtherResponses,
    Others,
    Point,
    ReportSettings,
    ResponseCell,
    ResponseColumn,
    ResponseRow,
    Sentence,
    Timeline,
    TopicCard,
    TopicGroups,
)
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import cut, number, one_line, signed_number

#: Groups that are shown, characters of a name, and groups that a card names at most.
SHOWN, NAME, ON_CARD = 25, 60, 3
#: Sentences about the worst and the best at most.
WORST, BEST = 4, 2
#: How a number is written.
Written = Callable[[float], str]
#: Difference in full colour at least: these shares of the spread of predictions.
FULL_TONE, FULL_LIFT = 0.05, 0.0125


def group_table(documents: ReportTexts, topics: Sequence[TopicCard], settings: ReportSettings) -> GroupTable | None:
    """Compare the groups of a report's documents; None where there are none."""
    if documents.groups is None:
        return None
    found = compare_groups(documents.spoken, documents.groups)
    full_names = [one_line(str(name)) for name in found.names]
    names = unique_labels([cut(name, NAME) for name in full_names])
    shown = range(min(SHOWN, len(names)))
    spread = _spread(documents.spoken)
    full_tone = max(_most(found.tone, shown), FULL_TONE * spread)
    full_lift = max(_most(found.lift, shown), FULL_LIFT * spread)
    said = _findings(found, names, topics, settings) or [_nothing(found)]
    notable = tuple(_topic_groups(found, names, topic, settings.naming) for topic in topics)
    return GroupTable(
        name=settings.group_name,
        conclusion=said[0],
        findings=tuple(said[1:]),
        overall=_overall(found, topics),
        rows=tuple(
            GroupRow(
                names[g],
                full_names[g],
                round(found.documents[g]),
                tuple(_cell(found, g, topic.number, full_tone, full_lift, settings.naming) for topic in topics),
            )
            for g in shown
        ),
        n_groups=len(names),
        other_documents=round(found.documents[len(shown) :].sum()),
        without=int(documents.groups.isna().sum()),
        full_tone=full_tone,
        full_lift=full_lift,
        topics=notable,
    )


def _spread(spoken: Spoken) -> float:
    """Standard deviation of predictions; 1 where all are the same."""
    return float(spoken.family.mean(spoken.eta).std()) or 1.0


def _most(means: GroupMeans, shown: range) -> float:
    return float(np.abs(means.shrunk[shown] - means.overall).max())


def _cell(found: GroupComparison, g: int, k: int, full_tone: float, full_lift: float, naming: Naming) -> GroupCell:
    reach = float(found.reach.shrunk[g, k])
    return GroupCell(
        topic=k,
        tone=_measure(found.tone, g, k, naming.better * full_tone),
        reach=CellMeasure(reach, reach, int(found.reach.clear[g, k])),
        lift=_measure(found.lift, g, k, -full_lift),
        few=bool(found.few[g, k]),
        facts=_facts(found, g, k, naming),
    )


def _measure(means: GroupMeans, g: int, k: int, full: float) -> CellMeasure:
    """A mean, coloured by how far it is from that of all documents; full : below 0 where more is worse."""
    away = means.shrunk[g, k] - means.overall[k]
    return CellMeasure(float(means.shrunk[g, k]), float(np.clip(away / full, -1, 1)), int(means.clear[g, k]))


def _overall(found: GroupComparison, topics: Sequence[TopicCard]) -> GroupRow:
    def measure(means: GroupMeans, k: int) -> CellMeasure:
        return CellMeasure(float(means.overall[k]), 0.0, 0)

    cells = [
        GroupCell(k, measure(found.tone, k), measure(found.reach, k), measure(found.lift, k), few=False, facts="")
        for k in (topic.number for topic in topics)
    ]
    return GroupRow("all", "", round(found.documents.sum()), tuple(cells))


def _facts(found: GroupComparison, g: int, k: int, naming: Naming) -> str:
    """The numbers behind a cell."""

    def points(value: float) -> str:
        return number(naming.steps * value, naming.digits)

    def change(value: float) -> str:
        return signed_number(naming.steps * value, naming.digits)

    n, spoken = round(found.documents[g]), round(found.spoken[g, k])
    said = f"{spoken:,} of {n:,} texts speak of it, {found.badly[g, k]:.0%} of them {naming.ways[0]}" if spoken else ""
    return " ".join(
        (
            f"{said or f'None of {n:,} texts speaks of it'}.",
            f"How: {_drawn(found.tone, g, k, change, points, naming.unit)}.",
            f"How often: {_drawn(found.reach, g, k, _percent, _percent, '')}.",
            f"Costs: {_drawn(found.lift, g, k, points, points, f'{naming.unit} of the average')}.",
        )
    )


def _drawn(means: GroupMeans, g: int, k: int, mean: Written, error: Written, unit: str) -> str:
    """A mean of a group drawn towards all documents, with what it was drawn from and to."""
    spread = f" ± {error(means.sd[g, k])}" if means.sd[g, k] > 0 else ""
    alone = f"{mean(means.mean[g, k])} by its own texts, " if means.count[g, k] else ""
    given = f"{mean(means.shrunk[g, k])}{spread} {unit}".strip()
    return f"{given} ({alone}{mean(means.overall[k])} over all)"


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _told(found: GroupComparison, means: GroupMeans, k: int) -> list[int]:
    """Groups that a topic clearly costs, or brings, more than all, the most first; enough of their documents speak."""
    as_written = np.round(means.shrunk[:, k], 2) > np.round(means.overall[k], 2)
    groups = np.flatnonzero((means.clear[:, k] > 0) & ~found.few[:, k] & as_written)
    return sorted(groups.tolist(), key=lambda g: -means.shrunk[g, k])


def _topic_groups(found: GroupComparison, names: Sequence[str], topic: TopicCard, naming: Naming) -> TopicGroups:
    def listed(means: GroupMeans, verb: str) -> tuple[str, ...]:
        groups = _told(found, means, topic.number)[:ON_CARD]
        return tuple(f"{names[g]} ({verb} {naming.points(means.shrunk[g, topic.number])})" for g in groups)

    return TopicGroups(topic.number, listed(found.lift, "costs"), listed(found.worth, "brings"))


def _findings(
    found: GroupComparison, names: Sequence[str], topics: Sequence[TopicCard], settings: ReportSettings
) -> list[Sentence]:
    """What costs a group most beyond the others, and what brings one most."""
    sentences = []
    for means, verb, how, shares, most in (
        (found.lift, "costs", settings.naming.ways[0], found.badly, WORST),
        (found.worth, "brings", settings.naming.ways[1], found.well, BEST),
    ):
        ends = [(topic, g) for topic in topics for g in _told(found, means, topic.number)[:1]]
        ends.sort(key=lambda end: means.overall[end[0].number] - means.shrunk[end[1], end[0].number])
        for topic, g in ends[:most]:
            k = topic.number
            said = (
                f" {verb} {names[g]} {settings.naming.amount(means.shrunk[g, k])} of the average, against "
                f"{settings.naming.points(means.overall[k])} over all: {found.reach.mean[g, k]:.0%} of its "
                f"{round(found.documents[g]):,} texts speak of it, {shares[g, k]:.0%} of them {how}"
            )
            sentences.append(Sentence((Named(k, topic.label), said)))
    return sentences


def _nothing(found: GroupComparison) -> Sentence:
    """What is said where no group stands out."""
    if len(found.names) == 1:
        return Sentence(("There is one group alone, and nothing to compare it with",))
    return Sentence(("No group stands out clearly",))


#: Standard errors that the band of a line is wide on either side.
BAND = 2


#: Findings at most; share by which texts become longer or shorter before that is said.
FINDINGS, LENGTH = 4, 0.1


#: Topics that are said to come up more often, at most.
MORE_OFTEN = 2


def timeline(documents: ReportTexts, topics: Sequence[TopicCard], settings: ReportSettings) -> Timeline | None:
    """Topics over the dates of a report's documents; None where there are no dates."""
    if documents.times is None:
        return None
    periods = periods_of(documents.times)
    found, trends = compare_periods(documents.spoken, periods), trends_of(documents.spoken, documents.times)
    lines = tuple(_line(found, trends, topic, settings.naming) for topic in topics)
    bounds = [value for line in lines for point in line.points if not point.few for value in (point.low, point.high)]
    known = [value for value in bounds if value is not None] or [0.0]
    return Timeline(
        name=settings.time_name,
        noun=periods.noun,
        conclusion=_change_conclusion(lines, trends, settings.naming),
        findings=_changes(topics, trends, settings),
        caution=_caution(documents, trends),
        thirds=_thirds(trends),
        lines=lines,
        low=min(*known, 0.0),
        high=max(*known, 0.0),
        without=int((periods.codes < 0).sum()),
    )


def _thirds(trends: Trends | None) -> str:
    if trends is None:
        return ""
    return f"the first third of the texts (to {day_name(trends.until)}), then the last (since {day_name(trends.since)})"


def _line(found: GroupComparison, trends: Trends | None, topic: TopicCard, naming: Naming) -> Line:
    k = topic.number
    points = []
    for g, name in enumerate(found.names):
        spoken, tone, error = round(found.spoken[g, k]), found.tone.mean[g, k], found.tone.error[g, k]
        points.append(
            Point(
                when=str(name),
                documents=round(found.documents[g]),
                spoken=spoken,
                reach=float(np.nan_to_num(found.reach.mean[g, k])),
                tone=float(tone) if spoken else None,
                low=float(tone - BAND * error) if spoken else None,
                high=float(tone + BAND * error) if spoken else None,
                few=bool(found.few[g, k]),
            )
        )
    if trends is None:
        return Line(k, topic.label, "", "", 0.0, 0, tuple(points))
    how, often = trends.tone, trends.reach
    clear = naming.better * int(how.clear[k])
    trend = {1: "spoken of better", -1: "spoken of worse", 0: "no clear change"}[clear]
    reached = {1: "more often", -1: "less often", 0: "as often as before"}[int(often.clear[k])]
    return Line(
        number=k,
        label=topic.label,
        trend=f"{trend}: {_change(how.before[k], naming)}, then {_change(how.after[k], naming)} {naming.unit}",
        reached=f"{reached}: {often.before[k]:.0%}, then {often.after[k]:.0%}",
        change=float(how.after[k] - how.before[k]),
        clear=clear,
        points=tuple(points),
    )


def _change_conclusion(lines: Sequence[Line], trends: Trends | None, naming: Naming) -> Sentence:
    """What changes, by name."""
    if trends is None:
        return Sentence(("All dates are the same, so nothing can be said of change",))
    often = sorted(lines, key=lambda line: trends.reach.before[line.number] - trends.reach.after[line.number])
    said = [
        *_changed_tone([line for line in lines if line.clear < 0], "worse", naming),
        *[_more_often(line, trends) for line in often if trends.reach.clear[line.number] > 0][:MORE_OFTEN],
        *_changed_tone([line for line in lines if line.clear > 0], "better", naming),
    ]
    if not said:
        return Sentence(("Nothing is spoken of clearly better, worse or more often than before",))
    return Sentence((*said[0], *(part for parts in said[1:] for part in ("; ", *parts))))


def _changed_tone(lines: Sequence[Line], how: str, naming: Naming) -> list[list[str | Named]]:
    """One clause on topics that are spoken of better, or worse, those that change most first; none without any."""
    if not lines:
        return []
    parts: list[str | Named] = []
    for line in sorted(lines, key=lambda line: -abs(line.change)):
        parts += [", "] if parts else []
        parts += [Named(line.number, line.label), f" ({_change(line.change, naming)} {naming.unit})"]
    return [[*parts, f" {'is' if len(lines) == 1 else 'are'} spoken of {how} than before"]]


def _more_often(line: Line, trends: Trends) -> list[str | Named]:
    before, after = (change[line.number] for change in (trends.reach.before, trends.reach.after))
    said = f" comes up more often than before ({before:.0%} of texts, then {after:.0%})"
    return [Named(line.number, line.label), said]


def _changes(topics: Sequence[TopicCard], trends: Trends | None, settings: ReportSettings) -> tuple[Sentence, ...]:
    """The clear changes in how topics are spoken of, those of most texts first."""
    if trends is None:
        return ()
    change = trends.tone
    moved = [topic for topic in topics if change.clear[topic.number]]
    moved.sort(key=lambda topic: -topic.reach * abs(change.after[topic.number] - change.before[topic.number]))
    return tuple(_changed(topic, trends, settings.naming) for topic in moved[:FINDINGS])


def _changed(topic: TopicCard, trends: Trends, naming: Naming) -> Sentence:
    k, change = topic.number, trends.tone
    said = (
        f" is spoken of {'better' if naming.better * change.clear[k] > 0 else 'worse'} than before: on balance "
        f"{_change(change.before[k], naming)} {naming.unit} for a text that does until {day_name(trends.until)}, "
        f"{_change(change.after[k], naming)} since {day_name(trends.since)} (standard error of the change "
        f"{naming.steps * change.error[k]:.{naming.digits + 1}f})."
    )
    return Sentence((Named(k, topic.label), said))


def _change(value: float, naming: Naming) -> str:
    return signed_number(naming.steps * value, naming.digits)


def _caution(documents: ReportTexts, trends: Trends | None) -> str:
    """Whether texts become longer or shorter, which moves how often everything is spoken of."""
    if trends is None or documents.times is None:
        return ""
    words, times = documents.reading.n_words, documents.times
    before, after = (float(np.median(words[rows])) for rows in (times <= trends.until, times >= trends.since))
    if abs(after - before) <= LENGTH * max(before, 1):
        return ""
    how, often = ("longer", "more") if after > before else ("shorter", "less")
    return (
        f"Texts became {how}: half of them have up to {before:.0f} words in the first third and up to {after:.0f} in "
        f"the last. By that alone, everything is spoken of {often} often."
    )


#: What stands side by side, and several of it.
NOUNS = {"response": "responses", "class": "classes"}


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
