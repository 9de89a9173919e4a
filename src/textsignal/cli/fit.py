"""`textsignal fit`: from a table to a model, its tables and a report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import count, report_settings, say, with_progress
from textsignal.cli.options import (
    BadRowsOption,
    EncodingOption,
    FileArgument,
    ForceOption,
    JobsOption,
    NoTextsOption,
    OnBadRows,
    ResponseOption,
    SeedOption,
    SheetOption,
    TextOption,
    Training,
    UnitOption,
)
from textsignal.cli.screen import say_results, show_analysis
from textsignal.errors import InputError
from textsignal.tables.write import whole_folder


def fit(
    file: FileArgument,
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 10,
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
    from textsignal.model import MAX_RAW_TERMS, TextResponseModel
    from textsignal.tables.analyse import analyse
    from textsignal.tables.read import read_table
    from textsignal.text.vectorise import TextVectorizer

    scale = scale_of(levels)
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
    with whole_folder(output, force=force) as folder:
        table = read_table(file, encoding=encoding, sheet=sheet)
        say(f"{file.name}: {count(len(table), 'row')}. Fitting {count(topics, 'topic')}.")
        analysis = analyse(
            table,
            text=text,
            response=response,
            model=with_progress(model),
            levels=scale,
            holdout=holdout,
            seed=seed,
            on_bad_rows=on_bad_rows.value,
        )
        with report_settings(unit, with_texts=not no_texts) as settings:
            analysis.write(folder, settings)
    show_analysis(analysis)
    say_results(output)


def scale_of(levels: str | None) -> tuple[int, int] | None:
    """Lowest and highest level of a scale such as "1-5", "1:5", "1 to 5" or "-2..2"."""
    if levels is None:
        return None
    match = re.fullmatch(r"(-?\d+)\s*(?:-|:|to|\.\.)\s*(-?\d+)", levels.strip())
    if match is None or int(match[1]) >= int(match[2]):
        raise InputError(f"--levels {levels}: give the lowest and the highest level, such as 1-5")
    return int(match[1]), int(match[2])
