"""`textsignal fit`: from a table to a model, its tables and a report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import count, progress, report_settings, say
from textsignal.cli.options import (
    BadRowsOption,
    ByOption,
    CovariatesOption,
    DocumentsOption,
    EncodingOption,
    FileArgument,
    ForceOption,
    FormulaOption,
    JobsOption,
    LowerOption,
    NoTextsOption,
    OffsetOption,
    OnBadRows,
    OverOption,
    ResponseFamily,
    ResponseOption,
    SeedOption,
    SepOption,
    SheetOption,
    TextOption,
    Training,
    UnitOption,
    WeightsOption,
    names_of,
)
from textsignal.cli.screen import RESULTS, say_results, show_analysis, what_was_read
from textsignal.errors import InputError
from textsignal.tables.write import check_not_input, whole_folder


def fit(
    file: FileArgument,
    text: TextOption,
    response: ResponseOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of themes or topics.")] = 10,
    by: ByOption = None,
    over: OverOption = None,
    covariates: CovariatesOption = None,
    formula: FormulaOption = None,
    offset: OffsetOption = None,
    weights: WeightsOption = None,
    levels: Annotated[
        str | None, typer.Option("--levels", help="The response's scale, such as 1-5; default what is there.")
    ] = None,
    family: Annotated[
        ResponseFamily | None,
        typer.Option(
            "--family",
            help="What kind of response it is; auto looks at it and takes what predicts held-back texts best.",
            show_default="auto",
        ),
    ] = None,
    training: Annotated[
        Training | None,
        typer.Option(
            "--training",
            help="Themes and tone, topics that are moved to predict, or the paper's joint training.",
            show_default="themes",
        ),
    ] = None,
    supervision: Annotated[
        float | None,
        typer.Option(
            "--supervision",
            help="How much the response counts against the text; not with themes.",
            show_default="0.5",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            help="Fit the paper's model (JBNMF) with this weight; it has no --supervision, --training or --family.",
        ),
    ] = None,
    max_terms: Annotated[
        int | None,
        typer.Option("--max-terms", min=1, help="Terms to keep.", show_default="3000 for themes, else 2000"),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Of the texts: whose stop words and negations are used, or none.")
    ] = "english",
    stop_words: Annotated[
        str | None, typer.Option("--stop-words", help="Language of the words to leave out, or none.", show_default="")
    ] = None,
    ngrams: Annotated[
        int, typer.Option("--ngrams", min=1, help="Longest run of words that makes a term; not with themes.")
    ] = 1,
    holdout: Annotated[float, typer.Option("--holdout", help="Share of rows held back to measure skill.")] = 0.2,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    unit: UnitOption = None,
    lower_is_better: LowerOption = False,
    no_texts: NoTextsOption = False,
    documents: DocumentsOption = 1000,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    force: ForceOption = False,
) -> None:
    """Learn from a table what people speak of and what it is worth; write model, topics, documents and a report."""
    from textsignal.estimators import JBNMF
    from textsignal.model import TextResponseModel
    from textsignal.tables.analyse import analyse
    from textsignal.tables.read import read_file

    scale = scale_of(levels)
    _check_alone("--alpha", alpha, {"--supervision": supervision, "--training": training, "--family": family})
    model = TextResponseModel(
        max_terms=max_terms,
        language=None if language == "none" else language,
        stop_words={None: "auto", "none": None}.get(stop_words, stop_words),
        ngram_range=(1, ngrams),
        formula=formula,
    )
    if alpha is not None:
        model.set_params(estimator=JBNMF(topics, alpha=alpha, levels=scale, random_state=seed, n_jobs=jobs))
    else:
        how, strength = (training or Training.themes).value, 0.5 if supervision is None else supervision
        model.set_params(n_topics=topics, training=how, supervision=strength)
        model.set_params(levels=scale, random_state=seed, n_jobs=jobs)
        model.set_params(family=(family or ResponseFamily.auto).value)
    check_not_input(output / file.name, [file] if file.name in RESULTS else [])
    with whole_folder(output, force=force) as folder:
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        noun = "theme" if alpha is None and training in (None, Training.themes) else "topic"
        say(f"{what_was_read(file, read)} Fitting {count(topics, noun)}.")
        with progress(model) as fitting:
            analysis = analyse(
                read.table,
                text=text,
                response=response,
                model=fitting,
                levels=scale,
                holdout=holdout,
                seed=seed,
                on_bad_rows=on_bad_rows.value,
                by=by,
                over=over,
                unit=unit,
                lower_is_better=lower_is_better,
                covariates=names_of(covariates, read.table),
                offset=offset,
                weights=weights,
            )
        options = {"with_texts": not no_texts, "n_documents": documents}
        with report_settings(file=file, **options) as settings:
            analysis.write(folder, settings)
    show_analysis(analysis)
    say_results(output, by)


def _check_alone(flag: str, value: object, others: dict[str, object]) -> None:
    """Raise where an option of the paper's model is given beside one that this model does not have."""
    for other, given in others.items():
        if value is not None and given is not None:
            raise InputError(f"{flag} is of the paper's model, which has no {other}; give one of the two")


def scale_of(levels: str | None) -> tuple[int, int] | None:
    """Lowest and highest level of a scale such as "1-5", "1:5", "1 to 5" or "-2..2"."""
    if levels is None:
        return None
    match = re.fullmatch(r"(-?\d+)\s*(?:-|:|to|\.\.)\s*(-?\d+)", levels.strip())
    if match is None or int(match[1]) >= int(match[2]):
        raise InputError(f"--levels {levels}: give the lowest and the highest level, such as 1-5")
    return int(match[1]), int(match[2])
