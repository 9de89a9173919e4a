"""Terminal output of a fit: skill, themes, location of the results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from textsignal.cli.console import count, out, say
from textsignal.insight.naming import is_clear, percent, range_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from textsignal.insight.findings import Drivers
    from textsignal.insight.naming import Naming
    from textsignal.model import TextResponseModel
    from textsignal.uncertainty.search import Search
    from textsignal.workflow.analyse import Analysis, ClassResults, Part, Skill, Summary

#: Files of a fit.
RESULTS = (
    "themes.csv",
    "texts.csv",
    "clauses.parquet",
    "clauses.csv",
    "summary.json",
    "report.html",
    "drivers.csv",
    "responses.csv",
)
#: Largest number of groups, and of drivers of each, that are shown.
SHOWN_GROUPS, SHOWN_DRIVERS = 8, 3
#: Number of words of a theme that are shown for either sign.
SHOWN_WORDS = 4
#: Mark of a number that is not significant, and its explanation.
UNCLEAR = "?"
NOT_CLEAR = "?: not significant, all tested together (Holm)"
#: Costs and gains below this are not coloured.
NOTHING = 0.005
#: Maximum number of responses with a column each; number of themes that are shown for each if there are more.
MOST_COLUMNS, SHOWN_THEMES = 8, 2
NOTHING_HELD_OUT = "No row is held out, so skill on new texts is unknown.\n"
#: Settings of a fit that are stated elsewhere, in sentences.
NOT_SETTINGS = ("Texts", "Neutral mentions")
#: Title and caption of themes against responses, and against classes.
OF_RESPONSES = (
    "What moves which response: cost / gain",
    "In units of each response, shares in percentage points; the largest of each in colour. What-ifs on the fitted "
    "models, not causes",
)
OF_CLASSES = (
    "What moves which class: cost / gain",
    "cost: by how many percentage points the share of a class would be higher without words about the theme that "
    "lower it; gain: lower without words that raise it; the largest of each in colour. What-ifs on the fitted models, "
    "not causes",
)


def what_if(naming: Naming) -> str:
    """Explain cost and gain: they are what-ifs, not causes, wherever they are shown."""
    (better, worse), (bad, good) = naming.rise, naming.ways
    return (
        f"cost: by how many {naming.unit} {naming.short_average} would be {better} without {bad}; "
        f"gain: {worse} without {good}. What-ifs on the fitted model, not causes"
    )


def skill_table(train: Skill, held_out: Skill | None) -> Table:
    """Return the skill on training and held-out rows."""
    table = Table(title="How well the text predicts the response", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("texts")
    for name in ("number", "R2", "RMSE", "RMSE of the mean"):
        table.add_column(name, justify="right")
    for name, skill in (("training", train), ("held out", held_out)):
        if skill is not None:
            numbers = (f"{skill.r2:.3f}", f"{skill.rmse:.3f}", f"{skill.mean_baseline_rmse:.3f}")
            table.add_row(name, f"{skill.texts:,}", *numbers)
    return table


def driver_table(drivers: pd.DataFrame, title: str, naming: Naming, interval: float | None = None) -> Table:
    """Return what to fix first and what to keep; with a column of groups the first drivers of the largest ones.

    The overall verdict comes last, as it is neither fixed nor kept.
    interval : level of the intervals, which stand below the numbers; None if the table has none.
    """
    ranges = "" if interval is None else f". Below them: {percent(interval)} intervals, each by itself. {NOT_CLEAR}"
    bad, good = naming.short_ways
    table = titled_table(title, f"mentions, {bad}, {good}: shares of all texts; {what_if(naming)}{ranges}")
    grouped = "group" in drivers
    if grouped:
        table.add_column("group (texts)", overflow="fold")
    table.add_column("theme", overflow="fold")
    for name in ("mentions", bad, good, "cost", "gain"):
        table.add_column(name, justify="right", no_wrap=True)
    if not grouped:
        table.add_column("words that lower and raise it", overflow="fold")
    if grouped:
        shown = drivers[~drivers["is_overall"]].groupby("group", sort=False).head(SHOWN_DRIVERS)
    else:
        shown = drivers.sort_values("is_overall", kind="stable")
    groups = drivers["group"].unique()[:SHOWN_GROUPS] if grouped else ()
    last = None
    for row in shown.itertuples():
        if grouped and row.group not in groups:
            continue
        if row.is_overall or (grouped and last not in (None, row.group)):
            table.add_section()
        cells = [Text(f"{row.group} ({row.documents:,})" if row.group != last else "")] if grouped else []
        last = row.group if grouped else None
        table.add_row(*cells, Text(row.label), *_driver_cells(row, naming), *([] if grouped else [_words(row, naming)]))
    return table


def _driver_cells(row: Any, naming: Naming) -> list[str | Text]:
    return [
        *("<1%" if 0 < share < 0.005 else f"{share:.0%}" for share in (row.mentions, row.complaints, row.praise)),
        _with_range(row, "cost", naming, "red"),
        _with_range(row, "gain", naming, "green"),
    ]


def _with_range(row: Any, measure: str, naming: Naming, colour: str) -> Text:
    value, span = getattr(row, measure), range_of(row, measure)
    clear = is_clear(row, measure)
    number = Text(naming.points(value) + ("" if clear else f" {UNCLEAR}"))
    number.stylize(colour if value >= NOTHING and clear and not naming.has_no_direction else "")
    return number if span is None else number + Text(f"\n{span.written(naming)}", style="dim")


def _words(row: Any, naming: Naming) -> Text:
    lowers, raises = (", ".join(words[:SHOWN_WORDS]) for words in (row.lowers, row.raises))
    first, second = ("green", "red") if naming.lower_is_better else ("red", "green")
    first, second = ("", "") if naming.has_no_direction else (first, second)
    return Text(lowers or "–", style=first) + Text(" / ") + Text(raises or "–", style=second)


def titled_table(title: str, caption: str) -> Table:
    """Return an empty table with a title above and a caption below."""
    return Table(
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
    )


def topic_table(topics: pd.DataFrame) -> Table:
    """Return the paper's topics with effects in green and red, strongest positive one first."""
    table = titled_table(
        "What moves the response",
        "effect: on the linear predictor, per unit of weight, against the average text; prevalence: share of all text",
    )
    for name in ("topic", "effect", "prevalence", "coherence"):
        table.add_column(name, justify="right")
    table.add_column("terms", overflow="fold")
    for row in topics.itertuples():
        effect = Text(f"{row.effect:+.2f}", style="green" if row.effect > 0 else "red")
        coherence, terms = f"{row.coherence:.2f}", Text(", ".join(row.terms))
        table.add_row(str(row.topic), effect, f"{row.prevalence:.1%}", coherence, terms)
    return table


def search_table(found: Search) -> Table:
    """Return numbers of themes and their measures; the recommended one stands out."""
    table = titled_table(
        f"How many {found.noun}s",
        "deviance, r2: of held-out texts; coherence: NPMI; stability: cosine of those of two halves of the texts",
    )
    settings = list(found.recommended)
    measures = [name for name in found.table if f"{name}_se" in found.table]
    for name in (*settings, *measures):
        table.add_column(str(name), justify="right")
    for row in found.table.to_dict("records"):
        taken = all(row[name] == value for name, value in found.recommended.items())
        numbers = [f"{row[name]:.3f}" for name in measures]
        table.add_row(*(f"{row[name]:g}" for name in settings), *numbers, style="bold green" if taken else "")
    return table


def show_analysis(analysis: Analysis) -> None:
    """Show a fit: excluded rows, its skill and its themes."""
    basis = next(iter(analysis.parts.values())).reading.fitted.basis
    if basis:
        say(f"{basis} What follows is of the {count(analysis.summary.rows, 'text')} drawn at random.")
    if analysis.noun:
        _show_parts(analysis)
        return
    part = analysis.only
    _say_rows(analysis.summary, part.summary.response_read)
    _say_settings(part)
    out.print(skill_table(part.summary.train, part.summary.held_out))
    if part.summary.held_out is None:
        say(NOTHING_HELD_OUT)
    if part.summary.warning:
        say(f"Warning: {part.summary.warning}.\n")
    show_findings(part.overall)
    level, naming = None if part.effects is None else part.effects.level, part.model.naming_
    out.print(driver_table(part.overall, f"What moves {naming.subject}", naming, level))
    show_notes(part.model, part.overall)
    if part.effects is not None:
        out.print(Text(f"Intervals. {part.effects.method}\n"))
    if part.drivers is not None:
        out.print(driver_table(part.drivers, f"By {analysis.columns.by}, the largest groups", naming))


def _say_settings(part: Part) -> None:
    settings = {name: value for name, value in part.summary.made_of.items() if name not in NOT_SETTINGS}
    say("; ".join(f"{name}: {value}" for name, value in settings.items()) + ".\n")


def _say_rows(summary: Summary, response_read: str) -> None:
    """Show excluded rows, and remarks on the rows that were used."""
    if summary.dropped:
        say(f"Excluded: {summary.dropped}.")
    if response_read:
        say(f"How responses were read: {response_read}.")
    if summary.with_markup:
        say(f"HTML was removed from {count(summary.with_markup, 'text')}.")
    if summary.copies:
        copies = "1 row is a copy" if summary.copies == 1 else f"{summary.copies:,} rows are copies"
        say(f"{copies} of an earlier one; copies are kept on one side of the split.")
    if summary.without_response:
        say(f"Without a response, used for its words only: {count(summary.without_response, 'row')}.")
    if summary.without_known_term:
        say(f"Without a known word, taken as an average text: {count(summary.without_known_term, 'text')}.")


def _show_parts(analysis: Analysis) -> None:
    """Show a fit of several responses, or of classes: skill, and themes against responses."""
    first = next(iter(analysis.parts.values()))
    if analysis.classes is not None:
        listed = ", ".join(f"{name} ({texts:,})" for name, texts in analysis.classes.counts.items())
        classes = f"{len(analysis.parts)} classes without an order, each explained against all others: {listed}"
        _say_rows(analysis.summary, f"{classes}; if they have an order, give --levels")
        _say_settings(first)
        out.print(_class_skill_table(analysis.classes))
        held_out = analysis.classes.held_out
        if held_out is None:
            say(NOTHING_HELD_OUT)
        elif held_out.log_loss >= held_out.frequency_log_loss:
            say(
                "Warning: held-out texts are not predicted better than by frequencies alone; do not trust the themes.\n"
            )
    else:
        _say_rows(replace(analysis.summary, without_response=0), "")
        if "Number of themes" in first.summary.made_of:
            say(f"Number of themes: {first.summary.made_of['Number of themes']}.")
        for name, part in analysis.parts.items():
            say(f"{name}: {part.summary.made_of.get('Response', part.model.family_.name)}.")
            if part.summary.response_read:
                say(f"How {name} was read: {part.summary.response_read}.")
            if part.summary.without_response:
                say(f"Without {name}, used for its words only: {count(part.summary.without_response, 'row')}.")
            if part.summary.warning:
                say(f"Warning: {part.summary.warning}.")
        out.print(_part_skill_table(analysis))
    namings = {str(name): part.model.naming_ for name, part in analysis.parts.items()}
    out.print(response_table(analysis.model.compare(), namings))
    zones = {name: part.reading.fitted.words.zone for name, part in analysis.parts.items()}
    listed = ", ".join(f"from {zone.low:z.2f} to {zone.high:z.2f} for {name}" for name, zone in zones.items())
    out.print(Text(f"Neutral clauses, in log-odds: {listed}.\n"))


def _class_skill_table(classes: ClassResults) -> Table:
    table = titled_table(
        "How well the text predicts the class",
        "accuracy: share predicted correctly; log loss: of the probabilities, less is better; of frequencies: if the "
        "frequencies in training are predicted for every text. Training texts are predicted by out-of-fold tone",
    )
    table.add_column("texts")
    for title in ("number", "accuracy", "of frequencies", "log loss", "of frequencies"):
        table.add_column(title, justify="right")
    for name, skill in (("training", classes.train), ("held out", classes.held_out)):
        if skill is not None:
            right = (f"{skill.accuracy:.1%}", f"{skill.frequency_accuracy:.1%}")
            losses = (f"{skill.log_loss:.3f}", f"{skill.frequency_log_loss:.3f}")
            table.add_row(name, f"{skill.texts:,}", *right, *losses)
    return table


def _part_skill_table(analysis: Analysis) -> Table:
    table = Table(title="How well the text predicts each response", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("response")
    for title in ("texts", "training R2", "held-out R2", "RMSE", "RMSE of the mean"):
        table.add_column(title, justify="right")
    for name, part in analysis.parts.items():
        training, held_out = part.summary.train, part.summary.held_out
        best = held_out or training
        shown = "–" if held_out is None else f"{held_out.r2:.3f}"
        numbers = (f"{training.r2:.3f}", shown, f"{best.rmse:.3f}", f"{best.mean_baseline_rmse:.3f}")
        table.add_row(Text(str(name)), f"{best.texts:,}", *numbers)
    return table


def response_table(compared: pd.DataFrame, namings: Mapping[str, Naming]) -> Table:
    """Return cost and gain of each theme for each response; the largest of each in colour.

    The overall verdict, which has the last number, comes last and is not compared.
    """
    classes = all(naming.is_class for naming in namings.values())
    table = titled_table(*(OF_CLASSES if classes else OF_RESPONSES))
    names, overall = list(compared["cost"].columns), compared.index[compared.index.get_level_values("theme").argmax()]
    themes = compared.drop(index=[overall])
    if len(names) > MOST_COLUMNS:
        return _with_first_themes(table, themes, namings)
    table.add_column("theme", overflow="fold")
    for name in names:
        table.add_column(Text(name), justify="right")
    for (theme, label), row in compared.loc[[*themes.index, overall]].iterrows():
        cells = []
        if theme == overall[0]:
            table.add_section()
        for name in names:
            parts = []
            for measure, colour in (("cost", "bold red"), ("gain", "bold green")):
                most = themes[measure, name].idxmax()[0] == theme
                parts.append(Text(namings[name].points(row[measure, name]), style=colour if most else ""))
            cells.append(Text(" / ").join(parts))
        table.add_row(Text(label), *cells)
    return table


def _with_first_themes(table: Table, compared: pd.DataFrame, namings: Mapping[str, Naming]) -> Table:
    """Return one row per response: the themes of largest cost and gain."""
    table.add_column("class" if all(naming.is_class for naming in namings.values()) else "response", overflow="fold")
    for measure in ("cost", "gain"):
        table.add_column(f"most {measure}", overflow="fold")
    for name, naming in namings.items():
        cells = []
        for measure, colour in (("cost", "red"), ("gain", "green")):
            first = compared[measure, name].nlargest(SHOWN_THEMES)
            parts = [f"{label} {naming.points(value)}" for (_, label), value in first.items() if value >= NOTHING / 10]
            cells.append(Text("; ".join(parts) or "–", style=colour))
        table.add_row(Text(name), *cells)
    return table


def show_notes(model: TextResponseModel, drivers: pd.DataFrame) -> None:
    """Show which clauses are neutral, and the share of text on no theme; model : of one response, or of one class."""
    from textsignal.insight.findings import neutral_of, unplaced_of

    notes = [neutral_of(model.reader_.fitted.words.zone, model.naming_)]  # type: ignore[union-attr]
    if "unplaced" in drivers.attrs:
        notes.append(unplaced_of(drivers.attrs["unplaced"]))
    out.print(Text(" ".join(notes) + "\n"))


def show_findings(drivers: Drivers) -> None:
    """Show what to fix first and what to keep, in the words of the report."""
    found = drivers.findings()
    for title, sentences in zip(drivers.titles, found, strict=True):
        if sentences:
            out.print(Text(title, style="bold"))
            for number, sentence in enumerate(sentences, 1):
                out.print(Padding(Text(f"{number}. {sentence}"), (0, 0, 0, 2)))
            out.print()
    if drivers.naming.given:
        out.print(Text(drivers.naming.condition))
        out.print()
