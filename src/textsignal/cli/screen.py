"""Terminal output of a fit: skill, themes, location of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from textsignal.cli.console import count, out, say
from textsignal.insight.naming import is_clear, percent, range_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from textsignal.data.read import TableFile
    from textsignal.insight.findings import Drivers
    from textsignal.insight.naming import Naming
    from textsignal.model import TextResponseModel
    from textsignal.uncertainty.search import Search
    from textsignal.workflow.analyse import Analysis, Skill, Summary
    from textsignal.workflow.classes import ClassAnalyses
    from textsignal.workflow.several import Analyses

#: Files of a fit.
RESULTS = ("model/", "themes.csv", "documents.csv", "summary.json", "report.html")
#: Further files with groups; maximum number of groups, and of drivers of each, that are shown.
GROUPS, SHOWN_GROUPS, SHOWN_DRIVERS = "drivers.csv", 8, 3
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
#: Title and caption of themes against responses, and against classes.
OF_RESPONSES = (
    "What moves which response: cost / gain",
    "In steps of each response, shares in percentage points; the most of each in colour. What-ifs on the fitted "
    "models, not causes",
)
OF_CLASSES = (
    "What moves which class: cost / gain",
    "cost: by how many percentage points the share of a class would be higher if nothing were said of the theme that "
    "speaks against it; worth: lower, if nothing were that speaks for it; the most of each in colour. What-ifs on the "
    "fitted models, not causes",
)


def what_if(naming: Naming) -> str:
    """Explain cost and gain: they are what-ifs, not causes, wherever they are shown."""
    (better, worse), (bad, good) = naming.rise, naming.stances
    return (
        f"cost: by how many {naming.unit} {naming.short_average} would be {better} if nothing {bad} were said of it; "
        f"worth: {worse}, if nothing {good} were. What-ifs on the fitted model, not causes"
    )


def skill_table(train: Skill, held_out: Skill | None) -> Table:
    """Return the skill on training and held-out rows."""
    table = Table(title="How well the text predicts the response", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("documents")
    for name in ("number", "R2", "RMSE", "RMSE of the mean"):
        table.add_column(name, justify="right")
    for name, skill in (("training", train), ("held out", held_out)):
        if skill is not None:
            numbers = (f"{skill.r2:.3f}", f"{skill.rmse:.3f}", f"{skill.mean_baseline_rmse:.3f}")
            table.add_row(name, f"{skill.documents:,}", *numbers)
    return table


def theme_table(model: TextResponseModel, n_terms: int) -> Table:
    """Return themes by cost, or themes by effect, with numbers in green and red."""
    themes = model.themes(n_terms)
    if "cost" not in themes:
        return effect_table(themes, model.naming_)
    return driver_table(themes, f"What moves {model.naming_.subject}", model.naming_)


def driver_table(drivers: pd.DataFrame, title: str, naming: Naming, interval: float | None = None) -> Table:
    """Return what to fix first and what to keep; with a column of groups the first drivers of the largest ones.

    interval : level of the intervals, which stand below the numbers; None if the table has none.
    """
    ranges = "" if interval is None else f". Below them: {percent(interval)} ranges, each by itself. {NOT_CLEAR}"
    table = titled_table(
        title,
        f"spoken of: share of texts; {naming.short_ways[0]}: share of these; mean there: {naming.average} in these; "
        + what_if(naming)
        + ranges,
    )
    grouped = "group" in drivers
    if grouped:
        table.add_column("group (texts)", overflow="fold")
    table.add_column("theme", overflow="fold")
    for name in ("spoken\nof", naming.short_ways[0], "mean\nthere", "cost", "gain"):
        table.add_column(name, justify="right", no_wrap=True)
    if not grouped:
        table.add_column("words that lower and raise it" if "raises" in drivers else "terms", overflow="fold")
    shown = drivers.groupby("group", sort=False).head(SHOWN_DRIVERS) if grouped else drivers
    groups = drivers["group"].unique()[:SHOWN_GROUPS] if grouped else ()
    last = None
    for row in shown.itertuples():
        if grouped and row.group not in groups:
            continue
        if grouped and last not in (None, row.group):
            table.add_section()
        cells = [Text(f"{row.group} ({row.documents:,})" if row.group != last else "")] if grouped else []
        last = row.group if grouped else None
        table.add_row(*cells, Text(row.label), *_driver_cells(row, naming), *([] if grouped else [_words(row, naming)]))
    return table


def _driver_cells(row: Any, naming: Naming) -> list[str | Text]:
    return [
        f"{row.mentions:.0%}",
        "–" if row.complaints != row.complaints else f"{row.complaints:.0%}",
        "–" if row.mean_response != row.mean_response else naming.mean(row.mean_response),
        _with_range(row, "cost", naming, "red"),
        _with_range(row, "gain", naming, "green"),
    ]


def _with_range(row: Any, measure: str, naming: Naming, colour: str) -> Text:
    value, span = getattr(row, measure), range_of(row, measure)
    clear = is_clear(row, measure)
    number = Text(naming.points(value) + ("" if clear else f" {UNCLEAR}"))
    number.stylize(colour if value >= NOTHING and clear else "")
    return number if span is None else number + Text(f"\n{span.written(naming)}", style="dim")


def _words(row: Any, naming: Naming) -> Text:
    if not hasattr(row, "raises"):
        return Text(", ".join(row.terms))
    lowers, raises = (", ".join(words[:SHOWN_WORDS]) for words in (row.lowers, row.raises))
    first, second = ("green", "red") if naming.lower_is_better else ("red", "green")
    return Text(lowers or "–", style=first) + Text(" / ") + Text(raises or "–", style=second)


def titled_table(title: str, caption: str) -> Table:
    """Return an empty table with a title above and a caption below."""
    return Table(title=title, caption=caption, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD)


def effect_table(themes: pd.DataFrame, naming: Naming) -> Table:
    """Return themes with effects in green and red, strongest positive one first."""
    table = titled_table(
        f"What moves {naming.subject}",
        "effect: on the linear predictor, per unit of weight, against the average text; prevalence: share of all text",
    )
    table.add_column("theme", justify="right")
    table.add_column("effect", justify="right")
    table.add_column("prevalence", justify="right")
    table.add_column("coherence", justify="right")
    table.add_column("terms", overflow="fold")
    for row in themes.itertuples():
        colour = "green" if naming.better * row.effect > 0 else "red"
        table.add_row(
            str(row.theme),
            Text(f"{row.effect:+.2f}", style=colour),
            f"{row.prevalence:.1%}",
            f"{row.coherence:.2f}",
            Text(", ".join(row.terms)),
        )
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
    summary = analysis.summary
    basis = analysis.model.reader_.basis
    if basis:
        say(f"{basis} What follows is of the {count(summary.rows, 'text')} drawn at random.")
    _say_rows(summary, summary.response_read)
    made_of = {name: value for name, value in summary.made_of.items() if name != "Documents"}
    say("; ".join(f"{name}: {value}" for name, value in made_of.items()) + ".\n")
    out.print(skill_table(summary.train, summary.held_out))
    if summary.held_out is None:
        say(NOTHING_HELD_OUT)
    if summary.warning:
        say(f"Warning: {summary.warning}.\n")
    show_findings(analysis.overall)
    if analysis.effects is None:
        out.print(theme_table(analysis.model, 8))
    else:
        naming = analysis.model.naming_
        out.print(driver_table(analysis.overall, f"What moves {naming.subject}", naming, analysis.effects.level))
        out.print(Text(f"Ranges. {analysis.effects.method}\n"))
    if analysis.drivers is not None:
        out.print(driver_table(analysis.drivers, f"By {analysis.by}, the largest groups", analysis.model.naming_))


def _say_rows(summary: Summary, response_read: str) -> None:
    """Show excluded rows, and remarks on the rows that were used."""
    if summary.dropped:
        say(f"Left out {summary.dropped}.")
    if response_read:
        say(f"How responses were read: {response_read}.")
    if summary.with_markup:
        say(f"With HTML, its tags and entities taken out: {count(summary.with_markup, 'text')}.")
    if summary.copies:
        rows = "1 row says" if summary.copies == 1 else f"{summary.copies:,} rows say"
        say(f"{rows} the same as an earlier one; copies are kept on one side of the split.")
    if summary.without_response:
        say(f"Without response, text used all the same: {count(summary.without_response, 'row')}.")
    if summary.without_known_term:
        say(f"Without a word the model knows, taken as an average text: {count(summary.without_known_term, 'text')}.")


def show_classes(analyses: ClassAnalyses) -> None:
    """Show a fit of classes without an order: skill compared with frequencies, and themes against classes."""
    listed = ", ".join(f"{name} ({documents:,})" for name, documents in analyses.classes.items())
    classes = f"{len(analyses.classes)} classes without an order, each explained against all others: {listed}"
    _say_rows(next(iter(analyses.of_each.values())).summary, f"{classes}; if they have an order, give --levels")
    say("; ".join(f"{name}: {value}" for name, value in analyses.classifier.reader_.described.items()) + ".\n")
    skill = titled_table(
        "How well the text predicts the class",
        "accuracy: share predicted right; log loss: of the chances, less is better; of frequencies: those of classes "
        "in training, whatever the text. Training texts are predicted by tone that has not seen them",
    )
    skill.add_column("documents")
    for title in ("number", "accuracy", "of frequencies", "log loss", "of frequencies"):
        skill.add_column(title, justify="right")
    for name, found in (("training", analyses.train), ("held out", analyses.held_out)):
        if found is not None:
            right = (f"{found.accuracy:.1%}", f"{found.frequency_accuracy:.1%}")
            losses = (f"{found.log_loss:.3f}", f"{found.frequency_log_loss:.3f}")
            skill.add_row(name, f"{found.documents:,}", *right, *losses)
    out.print(skill)
    if analyses.held_out is None:
        say(NOTHING_HELD_OUT)
    elif analyses.held_out.log_loss >= analyses.held_out.frequency_log_loss:
        say("Warning: held-out texts are not predicted better than by frequencies alone; make nothing of the themes.\n")
    namings = {name: each.model.naming_ for name, each in analyses.of_each.items()}
    out.print(response_table(analyses.model.compare(), namings))


def show_analyses(analyses: Analyses) -> None:
    """Show a fit of several responses: skill of each, and themes against responses."""
    first = next(iter(analyses.of_each.values())).summary
    if first.dropped:
        say(f"Left out {first.dropped}.")
    for name, each in analyses.of_each.items():
        if each.summary.response_read:
            say(f"How {name} was read: {each.summary.response_read}.")
        if each.summary.without_response:
            say(f"Without {name}, text used all the same: {count(each.summary.without_response, 'row')}.")
    if "Number of themes" in first.made_of:
        say(f"Number of themes: {first.made_of['Number of themes']}.")
    for name, each in analyses.of_each.items():
        say(f"{name}: {each.summary.made_of.get('Response', each.model.family_.name)}.")
        if each.summary.warning:
            say(f"Warning: {each.summary.warning}.")
    skill = Table(title="How well the text predicts each response", title_justify="left", box=box.SIMPLE_HEAD)
    skill.add_column("response")
    for title in ("documents", "training R2", "held-out R2", "RMSE", "RMSE of the mean"):
        skill.add_column(title, justify="right")
    for name, each in analyses.of_each.items():
        training, held_out = each.summary.train, each.summary.held_out
        best = held_out or training
        shown = "–" if held_out is None else f"{held_out.r2:.3f}"
        numbers = (f"{training.r2:.3f}", shown, f"{best.rmse:.3f}", f"{best.mean_baseline_rmse:.3f}")
        skill.add_row(Text(name), f"{best.documents:,}", *numbers)
    out.print(skill)
    namings = {name: each.model.naming_ for name, each in analyses.of_each.items()}
    out.print(response_table(analyses.model.compare(), namings))


def response_table(compared: pd.DataFrame, namings: Mapping[str, Naming]) -> Table:
    """Return cost and gain of each theme for each response; the largest of each in colour."""
    classes = all(naming.is_class for naming in namings.values())
    table = titled_table(*(OF_CLASSES if classes else OF_RESPONSES))
    names = list(compared["cost"].columns)
    if len(names) > MOST_COLUMNS:
        return _with_first_themes(table, compared, namings)
    table.add_column("theme", overflow="fold")
    for name in names:
        table.add_column(Text(name), justify="right")
    for (theme, label), row in compared.iterrows():
        cells = []
        for name in names:
            parts = []
            for measure, colour in (("cost", "bold red"), ("gain", "bold green")):
                most = compared[measure, name].idxmax()[0] == theme
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


def say_pages(output: Path, analyses: Analyses, by: str | None = None) -> None:
    """Show the location of the results of a fit of several responses."""
    pages = list(analyses.pages.values())
    others = ("model/", "themes.csv", "responses.csv", "documents.csv", "summary.json", *([GROUPS] if by else []))
    say(f"\nWritten to {output}: {', '.join([*others, *pages])}")
    say(f"Open a report in a browser: {output / pages[0]}")


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


def what_was_read(file: Path, read: TableFile) -> str:
    """Show the number of rows of a file, and choices made in reading it."""
    return f"{file.name}: {count(len(read.table), 'row')}{f' ({read.choice})' if read.choice else ''}."


def say_results(output: Path, by: str | None = None) -> None:
    """Show the location of the results of a fit."""
    results = RESULTS if by is None else (*RESULTS, GROUPS)
    say(f"\nWritten to {output}: {', '.join(results)}")
    say(f"Open the report in a browser: {output / 'report.html'}")
