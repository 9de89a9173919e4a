"""What a report says of groups: a table of groups against topics, and where they differ most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textsignal.insight.groups import GroupComparison, GroupMeans, compare_groups
from textsignal.insight.naming import Naming
from textsignal.reading.labels import unique_labels
from textsignal.reading.spoken import Spoken
from textsignal.report.values.beside_data import CellMeasure, GroupCell, GroupRow, GroupTable, TopicGroups
from textsignal.report.values.data import Named, ReportSettings, Sentence, TopicCard
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.formats import number, signed_number
from textsignal.report.values.wording import cut, one_line

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
