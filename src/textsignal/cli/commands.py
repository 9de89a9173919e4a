"""The command line: every command is one public call, its options are that call's arguments."""

from __future__ import annotations

import enum
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console

from textsignal.cli.screen import skill_table, study_progress, topic_table
from textsignal.errors import InputError, StudyError, TextSignalError, TrainingError
from textsignal.tables.write import whole_file, whole_folder

if TYPE_CHECKING:
    import pandas as pd

    from textsignal.model import TextResponseModel
    from textsignal.report.values.data import ReportSettings
    from textsignal.tables.analyse import Analysis

app = typer.Typer(
    name="textsignal",
    help="Topics that explain a response: which themes move the number beside a text, by how much, how often.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
out = Console(soft_wrap=False)
err = Console(stderr=True, soft_wrap=True)

#: Topics of the demo: the planted aspects, and one for filler.
DEMO_TOPICS, DEMO_REVIEWS = 14, 3000


class OnBadRows(enum.StrEnum):
    """What to do with rows that cannot be used."""

    error = "error"
    drop = "drop"


class Training(enum.StrEnum):
    """How topics are trained."""

    joint = "joint"
    predictive = "predictive"


class Trainings(enum.StrEnum):
    """Which training a study looks at."""

    joint = "joint"
    predictive = "predictive"
    both = "both"


class StudyName(enum.StrEnum):
    """Studies of the paper."""

    simulation = "simulation"
    hotels = "hotels"
    sample_size = "sample-size"
    length = "length"
    overfitting = "overfitting"
    all = "all"


TextOption = Annotated[str, typer.Option("--text", help="Column that holds the texts.")]
ResponseOption = Annotated[str, typer.Option("--response", help="Column that holds the response.")]
OutOption = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
TopicsOption = Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the split and the start.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all cores.")]
BadRowsOption = Annotated[OnBadRows, typer.Option("--on-bad-rows", help="Rows with empty texts or unusable responses.")]
NoTextsOption = Annotated[bool, typer.Option("--no-texts", help="Leave every document out of the report.")]
UnitOption = Annotated[str, typer.Option("--unit", help="What one step of the response is called, such as stars.")]
EncodingOption = Annotated[str | None, typer.Option("--encoding", help="Of a CSV, TSV or JSON file; default UTF-8.")]
SheetOption = Annotated[str | None, typer.Option("--sheet", help="Of an Excel file; default the first.")]


@app.command(epilog="Example: textsignal demo -o demo/")
def demo(
    output: OutOption = None,
    force: ForceOption = False,
    jobs: JobsOption = -1,
) -> None:
    """Fit embedded synthetic hotel reviews and show what moves their rating."""
    from textsignal.datasets import synthetic_reviews
    from textsignal.model import TextResponseModel
    from textsignal.tables.analyse import analyse

    table = synthetic_reviews(DEMO_REVIEWS, seed=0).to_frame()
    _say(f"{DEMO_REVIEWS:,} synthetic hotel reviews (written by a grammar, not by guests), rated 1 to 5.")
    model = TextResponseModel(n_topics=DEMO_TOPICS, n_jobs=jobs)
    with _target(output, force) as folder:
        analysis = analyse(table, text="review", response="rating", model=_with_progress(model), levels=(1, 5))
        if folder is not None:
            with _report_settings("stars") as settings:
                analysis.write(folder, settings)
    _show(analysis)
    if output is not None:
        _say_results(output)


@app.command(epilog="Example: textsignal fit reviews.csv --text Review --response Rating -o out/")
def fit(
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines or Excel; .gz and .zip too.")],
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    topics: TopicsOption = 10,
    levels: Annotated[
        str | None, typer.Option("--levels", help="The response's scale, such as 1-5; default what is there.")
    ] = None,
    training: Annotated[
        Training,
        typer.Option("--training", help="Whether weights see the response (joint) or follow from the text alone."),
    ] = Training.predictive,
    supervision: Annotated[
        float, typer.Option("--supervision", help="How much the response counts against the text.")
    ] = 0.5,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Fit the paper's model (JBNMF) with this weight, in place of --supervision."),
    ] = None,
    max_terms: Annotated[int, typer.Option("--max-terms", min=1, help="Terms to keep.")] = 2000,
    stop_words: Annotated[
        str, typer.Option("--stop-words", help="Language of the words to leave out, or none.")
    ] = "english",
    ngrams: Annotated[int, typer.Option("--ngrams", min=1, help="Longest run of words that makes a term.")] = 1,
    holdout: Annotated[float, typer.Option("--holdout", help="Share of rows held back to measure skill.")] = 0.2,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    unit: UnitOption = "points",
    no_texts: NoTextsOption = False,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    force: ForceOption = False,
) -> None:
    """Learn topics and their effects from a table; write model, topics, documents, a summary and a report."""
    from textsignal.estimators import GLMNMF, JBNMF
    from textsignal.model import TextResponseModel
    from textsignal.parts import MAX_RAW_TERMS
    from textsignal.tables.analyse import analyse
    from textsignal.tables.read import read_table
    from textsignal.text.vectorise import TextVectorizer

    scale = _scale(levels)
    estimator = (
        GLMNMF(topics, training=training.value, supervision=supervision, levels=scale, random_state=seed, n_jobs=jobs)
        if alpha is None
        else JBNMF(topics, alpha=alpha, levels=scale, random_state=seed, n_jobs=jobs)
    )
    vectorizer = TextVectorizer(
        max(MAX_RAW_TERMS, max_terms),
        max_terms,
        stop_words=None if stop_words == "none" else stop_words,
        ngram_range=(1, ngrams),
        weighting=estimator.weighting,
    )
    model = TextResponseModel(vectorizer=vectorizer, estimator=estimator)
    with _target(output, force) as folder:
        assert folder is not None
        table = read_table(file, encoding=encoding, sheet=sheet)
        _say(f"{file.name}: {_count(len(table), 'row')}. Fitting {_count(topics, 'topic')}.")
        analysis = analyse(
            table,
            text=text,
            response=response,
            model=_with_progress(model),
            levels=scale,
            holdout=holdout,
            seed=seed,
            on_bad_rows=on_bad_rows.value,
        )
        with _report_settings(unit, with_texts=not no_texts) as settings:
            analysis.write(folder, settings)
    _show(analysis)
    _say_results(output)


@app.command(epilog="Example: textsignal predict out/model new.csv --text Review -o predictions.csv")
def predict(
    model: Annotated[Path, typer.Argument(help="Folder of a model that `textsignal fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines or Excel; .gz and .zip too.")],
    text: TextOption,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="CSV to write; default the screen.")] = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Predict the response of new texts."""
    from textsignal.model import load
    from textsignal.tables.analyse import predict_table
    from textsignal.tables.read import read_table

    with _csv(output, force) as target:
        predictions = predict_table(load(model), read_table(file, encoding=encoding, sheet=sheet), text)
        predictions.to_csv(target, index=False)
    unknown = int(predictions["unknown"].sum())
    if unknown:
        _say(f"Without a term the model knows, mean weights used: {unknown:,} of {_count(len(predictions), 'text')}.")
    _say_written(output, predictions)


@app.command(epilog="Example: textsignal topics out/model")
def topics(
    model: Annotated[Path, typer.Argument(help="Folder of a model that `textsignal fit` wrote.")],
    terms: Annotated[int, typer.Option("--terms", "-n", min=1, help="Terms to show for each topic.")] = 10,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="CSV to write in place.")] = None,
    force: ForceOption = False,
) -> None:
    """Show a model's topics: effect on the response, prevalence, coherence and terms."""
    from textsignal.model import load

    if output is None:
        out.print(topic_table(load(model), terms))
        return
    with _csv(output, force) as target:
        table = load(model).topics(terms)
        table["terms"] = table["terms"].map(", ".join)
        table.to_csv(target, index=False)
    _say_written(output, table)


@app.command(epilog='Example: textsignal explain out/model "The lobby is lovely but the room smelled."')
def explain(
    model: Annotated[Path, typer.Argument(help="Folder of a model that `textsignal fit` wrote.")],
    text: Annotated[str | None, typer.Argument(help="The text; - reads it from standard input.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read the text from this file.")] = None,
) -> None:
    """Say what topics and words add to the prediction for one text."""
    from textsignal.model import load

    if (text is None) == (file is None):
        raise InputError("give one text: in quotes, as - for standard input, or in a --file")
    out.print(load(model).explain(_one_text(text, file)))


@app.command(epilog="Example: textsignal report out/model reviews.csv --text Review --response Rating -o report.html")
def report(
    model: Annotated[Path, typer.Argument(help="Folder of a model that `textsignal fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines or Excel; .gz and .zip too.")],
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    title: Annotated[str, typer.Option("--title", help="Of the page.")] = "",
    unit: UnitOption = "points",
    no_texts: NoTextsOption = False,
    new: Annotated[bool, typer.Option("--new", help="Training has seen none of these rows.")] = False,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Write a report on a model: one HTML file that needs nothing else."""
    import pandas as pd

    from textsignal.model import load
    from textsignal.tables.analyse import report_table
    from textsignal.tables.read import read_table

    split = model.parent / "documents.csv"
    with _report_settings(unit, title=title, with_texts=not no_texts) as settings:
        held_out = report_table(
            load(model),
            read_table(file, encoding=encoding, sheet=sheet),
            output,
            text=text,
            response=response,
            split=pd.read_csv(split) if split.is_file() else None,
            new=new,
            settings=settings,
            on_bad_rows=on_bad_rows.value,
            force=force,
        )
    if not held_out:
        _say("No row is known to be held out, so skill is that on training rows. For rows new to the model say --new.")
    _say(f"Written to {output}: open it in a browser")


@app.command(epilog="Example: textsignal reproduce hotels --reviews tripadvisor_hotel_reviews.csv -o reproduction/")
def reproduce(
    names: Annotated[list[StudyName], typer.Argument(help="Studies to run, or all.", metavar="STUDY...")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to, and to go on from if stopped.")
    ] = Path("reproduction"),
    reviews: Annotated[
        list[str] | None,
        typer.Option("--reviews", help="Table of reviews: FILE for the main sample, or ROLE=FILE.", metavar="FILE"),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column of the texts; default Review or text.")] = None,
    response: Annotated[
        str | None, typer.Option("--response", help="Column of the ratings; default Rating or rating.")
    ] = None,
    google: Annotated[
        Path | None, typer.Option("--google", help="Folder of the published Google Local files of a state.")
    ] = None,
    state: Annotated[str, typer.Option("--state", help="As in the names of the Google Local files.")] = "New_York",
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Draws or splits to average over; default each study's own.")
    ] = None,
    training: Annotated[Trainings, typer.Option("--training", help="Which training to study.")] = Trainings.both,
    quick: Annotated[bool, typer.Option("--quick", help="Small grids and few seeds.")] = False,
    page: Annotated[
        Path | None, typer.Option("--page", help="Where the page goes; default reproduction.md in the folder.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one a core.")] = -1,
) -> None:
    """Run the paper's studies: tables, figures, and a page that sets its claims beside what was found.

    Samples of reviews (ROLE): tripadvisor, fast-food, cafe, hotel.
    A run that was stopped goes on when it is started again.
    """
    from textsignal.studies import STUDIES, Wanted
    from textsignal.studies import reproduce as run
    from textsignal.studies.sources import samples_from_files, samples_from_google

    samples = samples_from_google(google, state) if google is not None else {}
    samples |= samples_from_files(reviews or [], text=text, rating=response)
    every = StudyName.all in names
    chosen = [study for study in STUDIES.values() if study.name in names or (every and study.can_read(samples))]
    for study in STUDIES.values():
        if every and study not in chosen:
            _say(f"{study.name} is left out: it reads {', '.join(study.needs)}; see --reviews.")
    wanted = Wanted(seeds, training.value, quick, samples, shlex.join(["textsignal", *sys.argv[1:]]))
    with study_progress(err) as progress:
        written = run(chosen, output, wanted, page_file=page, n_jobs=jobs, progress=progress)
    _say(f"Written to {output}: tables and figures. The page: {written}")


def main() -> None:
    """Run the command line: exit code 0, 1 for a failure, 2 for bad input."""
    try:
        app()
    except (TrainingError, StudyError) as error:
        _fail(error, 1)
    except TextSignalError as error:
        _fail(error, 2)
    except OSError as error:  # a full disk, a folder taken away
        _fail(error, 1)


def _target(output: Path | None, force: bool) -> AbstractContextManager[Path | None]:
    return nullcontext() if output is None else whole_folder(output, force=force)


def _csv(output: Path | None, force: bool) -> AbstractContextManager[Path | TextIO]:
    return nullcontext(sys.stdout) if output is None else whole_file(output, force=force)


def _one_text(text: str | None, file: Path | None) -> str:
    """The text itself, or what is in the file or comes on standard input, in UTF-8."""
    if file is None and text != "-":
        return str(text)
    try:
        content = sys.stdin.buffer.read() if file is None else file.read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file or 'standard input'} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _say_written(output: Path | None, table: pd.DataFrame) -> None:
    if output is not None:
        _say(f"Written to {output}: {_count(len(table), 'row')}")


def _with_progress(model: TextResponseModel) -> TextResponseModel:
    """Show a bar on a terminal, and nothing elsewhere."""
    if not err.is_terminal:
        return model
    from sklearn.callback import ProgressBar

    return model.set_callbacks(ProgressBar())


@contextmanager
def _report_settings(unit: str, *, title: str = "", with_texts: bool = True) -> Iterator[ReportSettings]:
    """A report's settings, with a bar on a terminal while it is made, and this command as how to make it again."""
    from rich.progress import Progress

    from textsignal.report.values.data import ReportSettings

    command = shlex.join(["textsignal", *sys.argv[1:]])
    with Progress(console=err, disable=not err.is_terminal, transient=True) as bar:
        task = bar.add_task("Report", total=None)
        yield ReportSettings(
            title=title,
            unit=unit,
            with_texts=with_texts,
            command=command,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _say_results(output: Path) -> None:
    _say(f"\nWritten to {output}: model/, topics.csv, documents.csv, summary.json, report.html")
    _say(f"Open the report in a browser: {output / 'report.html'}")


def _scale(levels: str | None) -> tuple[int, int] | None:
    if levels is None:
        return None
    match = re.fullmatch(r"(-?\d+)\s*(?:-|:|to|\.\.)\s*(-?\d+)", levels.strip())
    if match is None or int(match[1]) >= int(match[2]):
        raise InputError(f"--levels {levels}: give the lowest and the highest level, such as 1-5")
    return int(match[1]), int(match[2])


def _show(analysis: Analysis) -> None:
    summary = analysis.summary
    if summary.dropped:
        _say(f"Left out {summary.dropped}.")
    if summary.without_response:
        _say(f"Without response, text used all the same: {_count(summary.without_response, 'row')}.")
    if summary.without_known_term:
        _say(f"Without a term the model knows, mean weights used: {_count(summary.without_known_term, 'text')}.")
    iterations = _count(summary.iterations, "iteration")
    _say(f"{_count(summary.terms, 'term')}, {iterations}, stopped: {summary.stop_reason}.\n")
    out.print(skill_table(summary.train, summary.held_out))
    out.print(topic_table(analysis.model, 8))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _say(line: str) -> None:
    err.print(line, markup=False, highlight=False)


def _fail(error: Exception, code: int) -> None:
    message = " ".join(str(error).split())
    err.print(f"textsignal: {message}", markup=False, highlight=False)
    sys.exit(code)
