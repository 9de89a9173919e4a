"""Themes compared between groups, over time, and between responses to the same texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

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
from textsignal.reading.words import unique_labels
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
    ThemeCard,
    ThemeGroups,
    Timeline,
)
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import cut, number, one_line, percent, points, signed_points

#: Most groups in the table, characters of a name, and groups on a card.
SHOWN, NAME, ON_CARD = 25, 60, 3
#: Most sentences about the worst groups and the best.
WORST, BEST = 4, 2
#: Smallest difference in full colour, as a share of the spread of predictions.
FULL_TONE, FULL_LIFT = 0.05, 0.0125
#: Half the width of the band around a line over time, in standard errors.
BAND = 2
#: Most findings over time; relative change in length of texts that is reported; most themes that come up more often.
FINDINGS, LENGTH, MORE_OFTEN = 4, 0.1, 2
#: Plurals of what the columns of the table of other responses are.
NOUNS = {"response": "responses", "class": "classes"}
Format = Callable[[float], str]


def group_table(documents: ReportTexts, themes: Sequence[ThemeCard], settings: ReportSettings) -> GroupTable | None:
    """Compare the groups of a report's documents; None without groups."""
    if documents.groups is None:
        return None
    compared = compare_groups(documents.spoken, documents.groups)
    full_names = [one_line(str(name)) for name in compared.names]
    names = unique_labels([cut(name, NAME) for name in full_names])
    shown = range(min(SHOWN, len(names)))
    spread = float(documents.spoken.family.mean(documents.spoken.eta).std()) or 1.0
    full_tone = max(_most(compared.tone, shown), FULL_TONE * spread)
    full_cost = max(_most(compared.cost, shown), FULL_LIFT * spread)
    conclusion, *others = _findings(compared, names, themes, settings) or [_nothing(compared)]
    return GroupTable(
        name=settings.group_name,
        conclusion=conclusion,
        findings=tuple(others),
        overall=_overall(compared, themes),
        rows=tuple(
            GroupRow(
                names[g],
                full_names[g],
                round(compared.documents[g]),
                tuple(_cell(compared, g, theme.number, full_tone, full_cost, settings.naming) for theme in themes),
            )
            for g in shown
        ),
        n_groups=len(names),
        other_documents=round(compared.documents[len(shown) :].sum()),
        without=int(documents.groups.isna().sum()),
        full_tone=full_tone,
        full_cost=full_cost,
        themes=tuple(_theme_groups(compared, names, theme, settings.naming) for theme in themes),
    )


def _most(means: GroupMeans, shown: range) -> float:
    return float(np.abs(means.shrunk[shown] - means.overall).max())


def _cell(compared: GroupComparison, g: int, k: int, full_tone: float, full_cost: float, naming: Naming) -> GroupCell:
    reach = float(compared.mentions.shrunk[g, k])
    return GroupCell(
        theme=k,
        tone=_measure(compared.tone, g, k, naming.better * full_tone),
        mentions=CellMeasure(reach, reach, int(compared.mentions.clear[g, k])),
        cost=_measure(compared.cost, g, k, -full_cost),
        few=bool(compared.few[g, k]),
        facts=_facts(compared, g, k, naming),
    )


def _measure(means: GroupMeans, g: int, k: int, full: float) -> CellMeasure:
    """Mean coloured by its distance from that of all documents; full : negative if more is worse."""
    away = means.shrunk[g, k] - means.overall[k]
    return CellMeasure(float(means.shrunk[g, k]), float(np.clip(away / full, -1, 1)), int(means.clear[g, k]))


def _overall(compared: GroupComparison, themes: Sequence[ThemeCard]) -> GroupRow:
    def measure(means: GroupMeans, k: int) -> CellMeasure:
        return CellMeasure(float(means.overall[k]), 0.0, 0)

    cells = [
        GroupCell(
            k, measure(compared.tone, k), measure(compared.mentions, k), measure(compared.cost, k), few=False, facts=""
        )
        for k in (theme.number for theme in themes)
    ]
    return GroupRow("all", "", round(compared.documents.sum()), tuple(cells))


def _facts(compared: GroupComparison, g: int, k: int, naming: Naming) -> str:
    plain, signed = partial(points, naming=naming), partial(signed_points, naming=naming)
    n, spoken = round(compared.documents[g]), round(compared.spoken[g, k])
    mentions = f"{spoken:,} of {n:,} texts speak of it, {compared.complaints[g, k]:.0%} of them {naming.ways[0]}"
    return " ".join(
        (
            f"{mentions if spoken else f'None of {n:,} texts speaks of it'}.",
            f"How: {_shrunk(compared.tone, g, k, signed, plain, naming.unit)}.",
            f"How often: {_shrunk(compared.mentions, g, k, percent, percent, '')}.",
            f"Costs: {_shrunk(compared.cost, g, k, plain, plain, f'{naming.unit} of the average')}.",
        )
    )


def _shrunk(means: GroupMeans, g: int, k: int, mean: Format, error: Format, unit: str) -> str:
    """Mean of a group shrunk towards all documents, with both of these."""
    spread = f" ± {error(means.sd[g, k])}" if means.sd[g, k] > 0 else ""
    alone = f"{mean(means.mean[g, k])} by its own texts, " if means.count[g, k] else ""
    shrunk = f"{mean(means.shrunk[g, k])}{spread} {unit}".strip()
    return f"{shrunk} ({alone}{mean(means.overall[k])} over all)"


def _notable(compared: GroupComparison, means: GroupMeans, k: int) -> list[int]:
    """Groups with enough mentions and a mean clearly above that of all documents, the largest first."""
    as_written = np.round(means.shrunk[:, k], 2) > np.round(means.overall[k], 2)
    groups = np.flatnonzero((means.clear[:, k] > 0) & ~compared.few[:, k] & as_written)
    return sorted(groups.tolist(), key=lambda g: -means.shrunk[g, k])


def _theme_groups(compared: GroupComparison, names: Sequence[str], theme: ThemeCard, naming: Naming) -> ThemeGroups:
    def listed(means: GroupMeans, verb: str) -> tuple[str, ...]:
        groups = _notable(compared, means, theme.number)[:ON_CARD]
        return tuple(f"{names[g]} ({verb} {naming.points(means.shrunk[g, theme.number])})" for g in groups)

    return ThemeGroups(theme.number, listed(compared.cost, "costs"), listed(compared.gain, "brings"))


def _findings(
    compared: GroupComparison, names: Sequence[str], themes: Sequence[ThemeCard], settings: ReportSettings
) -> list[Sentence]:
    """Sentences on what costs a group most compared with the others, and what brings one most."""
    sentences = []
    for means, verb, how, shares, most in (
        (compared.cost, "costs", settings.naming.ways[0], compared.complaints, WORST),
        (compared.gain, "brings", settings.naming.ways[1], compared.praise, BEST),
    ):
        ends = [(theme, g) for theme in themes for g in _notable(compared, means, theme.number)[:1]]
        ends.sort(key=lambda end: means.overall[end[0].number] - means.shrunk[end[1], end[0].number])
        for theme, g in ends[:most]:
            k = theme.number
            facts = (
                f" {verb} {names[g]} {settings.naming.amount(means.shrunk[g, k])} of the average, against "
                f"{settings.naming.points(means.overall[k])} over all: {compared.mentions.mean[g, k]:.0%} of its "
                f"{round(compared.documents[g]):,} texts speak of it, {shares[g, k]:.0%} of them {how}"
            )
            sentences.append(Sentence((Named(k, theme.label), facts)))
    return sentences


def _nothing(compared: GroupComparison) -> Sentence:
    if len(compared.names) == 1:
        return Sentence(("There is one group alone, and nothing to compare it with",))
    return Sentence(("No group stands out clearly",))


def timeline(documents: ReportTexts, themes: Sequence[ThemeCard], settings: ReportSettings) -> Timeline | None:
    """Follow themes over the dates of a report's documents; None without dates."""
    if documents.times is None:
        return None
    periods = periods_of(documents.times)
    compared, trends = compare_periods(documents.spoken, periods), trends_of(documents.spoken, documents.times)
    lines = tuple(_line(compared, trends, theme, settings.naming) for theme in themes)
    bounds = [value for line in lines for point in line.points if not point.few for value in (point.low, point.high)]
    known = [value for value in bounds if value is not None] or [0.0]
    return Timeline(
        name=settings.time_name,
        noun=periods.noun,
        conclusion=_change_conclusion(lines, trends, settings.naming),
        findings=_changes(themes, trends, settings),
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


def _line(compared: GroupComparison, trends: Trends | None, theme: ThemeCard, naming: Naming) -> Line:
    k = theme.number
    line = []
    for g, name in enumerate(compared.names):
        spoken, tone, error = round(compared.spoken[g, k]), compared.tone.mean[g, k], compared.tone.error[g, k]
        line.append(
            Point(
                when=str(name),
                documents=round(compared.documents[g]),
                spoken=spoken,
                mentions=float(np.nan_to_num(compared.mentions.mean[g, k])),
                tone=float(tone) if spoken else None,
                low=float(tone - BAND * error) if spoken else None,
                high=float(tone + BAND * error) if spoken else None,
                few=bool(compared.few[g, k]),
            )
        )
    if trends is None:
        return Line(k, theme.label, "", "", 0.0, 0, tuple(line))
    how, often = trends.tone, trends.mentions
    clear = naming.better * int(how.clear[k])
    before, after = signed_points(how.before[k], naming), signed_points(how.after[k], naming)
    trend = {1: "spoken of better", -1: "spoken of worse", 0: "no clear change"}[clear]
    reached = {1: "more often", -1: "less often", 0: "as often as before"}[int(often.clear[k])]
    return Line(
        number=k,
        label=theme.label,
        trend=f"{trend}: {before}, then {after} {naming.unit}",
        reached=f"{reached}: {often.before[k]:.0%}, then {often.after[k]:.0%}",
        change=float(how.after[k] - how.before[k]),
        clear=clear,
        points=tuple(line),
    )


def _change_conclusion(lines: Sequence[Line], trends: Trends | None, naming: Naming) -> Sentence:
    if trends is None:
        return Sentence(("All dates are the same, so nothing can be said of change",))
    often = sorted(lines, key=lambda line: trends.mentions.before[line.number] - trends.mentions.after[line.number])
    clauses = [
        *_changed_tone([line for line in lines if line.clear < 0], "worse", naming),
        *[_more_often(line, trends) for line in often if trends.mentions.clear[line.number] > 0][:MORE_OFTEN],
        *_changed_tone([line for line in lines if line.clear > 0], "better", naming),
    ]
    if not clauses:
        return Sentence(("Nothing is spoken of clearly better, worse or more often than before",))
    return Sentence((*clauses[0], *(part for clause in clauses[1:] for part in ("; ", *clause))))


def _changed_tone(lines: Sequence[Line], how: str, naming: Naming) -> list[list[str | Named]]:
    """At most one clause, on all themes with better or worse tone than before, the largest changes first."""
    if not lines:
        return []
    parts: list[str | Named] = []
    for line in sorted(lines, key=lambda line: -abs(line.change)):
        parts += [", "] if parts else []
        parts += [Named(line.number, line.label), f" ({signed_points(line.change, naming)} {naming.unit})"]
    return [[*parts, f" {'is' if len(lines) == 1 else 'are'} spoken of {how} than before"]]


def _more_often(line: Line, trends: Trends) -> list[str | Named]:
    before, after = (change[line.number] for change in (trends.mentions.before, trends.mentions.after))
    return [
        Named(line.number, line.label),
        f" comes up more often than before ({before:.0%} of texts, then {after:.0%})",
    ]


def _changes(themes: Sequence[ThemeCard], trends: Trends | None, settings: ReportSettings) -> tuple[Sentence, ...]:
    """Sentences on clear changes of tone, those that concern most texts first."""
    if trends is None:
        return ()
    change = trends.tone
    moved = [theme for theme in themes if change.clear[theme.number]]
    moved.sort(key=lambda theme: -theme.mentions * abs(change.after[theme.number] - change.before[theme.number]))
    return tuple(_changed(theme, trends, settings.naming) for theme in moved[:FINDINGS])


def _changed(theme: ThemeCard, trends: Trends, naming: Naming) -> Sentence:
    k, change = theme.number, trends.tone
    facts = (
        f" is spoken of {'better' if naming.better * change.clear[k] > 0 else 'worse'} than before: on balance "
        f"{signed_points(change.before[k], naming)} {naming.unit} for a text that does until {day_name(trends.until)}, "
        f"{signed_points(change.after[k], naming)} since {day_name(trends.since)} (standard error of the change "
        f"{naming.steps * change.error[k]:.{naming.digits + 1}f})."
    )
    return Sentence((Named(k, theme.label), facts))


def _caution(documents: ReportTexts, trends: Trends | None) -> str:
    """Warning if texts become longer or shorter, which changes how often everything comes up."""
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


def other_responses(responses: OtherResponses | None, themes: Sequence[ThemeCard]) -> Others | None:
    """Compare what themes cost and bring the responses; None if there is only one."""
    if responses is None:
        return None
    names, table = list(responses.pages), responses.table.reset_index("label", drop=True)
    full = {measure: float(np.nanmax(table[f"{measure}_sd"].to_numpy(), initial=0.0)) for measure in ("cost", "gain")}

    def amount(measure: str, theme: int, name: str) -> Amount:
        values, sizes = table[measure][name], table[f"{measure}_sd"][name]
        shade = np.nan_to_num(sizes[theme]) / full[measure] if full[measure] > 0 else 0.0
        shown = responses.namings[name].points(float(values[theme]))
        return Amount(shown, float(np.clip(shade, 0, 1)), bool(values[theme] == values.max() > 0))

    def cell(theme: int, name: str) -> ResponseCell:
        cost, gain, naming = amount("cost", theme, name), amount("gain", theme, name), responses.namings[name]
        sizes = [number(float(table[measure][name][theme])) for measure in ("cost_sd", "gain_sd")]
        facts = (
            f"{one_line(name)}: costs {cost.shown} {naming.unit} ({sizes[0]} standard deviations), "
            f"brings {gain.shown} {naming.unit} ({sizes[1]} standard deviations)"
        )
        return ResponseCell(cost, gain, facts)

    return Others(
        columns=tuple(
            ResponseColumn(one_line(name.replace("_", " ")), "" if name == responses.own else responses.pages[name])
            for name in names
        ),
        rows=tuple(
            ResponseRow(theme.number, theme.label, tuple(cell(theme.number, name) for name in names))
            for theme in themes
        ),
        full_cost=full["cost"],
        full_gain=full["gain"],
        noun=responses.noun,
        nouns=NOUNS[responses.noun],
    )
