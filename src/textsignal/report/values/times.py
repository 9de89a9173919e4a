"""What a report says of time: a line of each topic over periods, and what changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textsignal.insight.groups import GroupComparison, Trends, compare_periods, day_name, periods_of, trends_of
from textsignal.insight.naming import Naming
from textsignal.report.values.beside_data import Line, Point, Timeline
from textsignal.report.values.data import Named, ReportSettings, Sentence, TopicCard
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.formats import signed_number

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
        conclusion=_conclusion(lines, trends, settings.naming),
        findings=_findings(topics, trends, settings),
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


def _conclusion(lines: Sequence[Line], trends: Trends | None, naming: Naming) -> Sentence:
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


def _findings(topics: Sequence[TopicCard], trends: Trends | None, settings: ReportSettings) -> tuple[Sentence, ...]:
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
