"""`textsignal fit`: from a table to a model, its tables and a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textsignal.cli.console import count, progress, report_settings, say
from textsignal.cli.fit_source import check_flags, fit_source, is_source
from textsignal.cli.options import (
    ADVANCED,
    BadRowsOption,
    ByOption,
    ClustersOption,
    CovariatesOption,
    DeviceOption,
    DocumentsOption,
    EncodingOption,
    EngineOption,
    FamilyOption,
    FilesArgument,
    FolderOption,
    ForceOption,
    FormulaOption,
    IntervalOption,
    JobsOption,
    LevelsOption,
    LowerOption,
    MemoryOption,
    NoMaskOption,
    NoTextsOption,
    OffsetOption,
    OnBadRows,
    OverOption,
    ResponsesOption,
    SchedulerOption,
    SeedOption,
    SepOption,
    SheetOption,
    TextOption,
    ThemesOption,
    Training,
    UnitOption,
    WeightsOption,
    families_of,
    names_of,
    scale_of,
)
from textsignal.cli.screen import (
    RESULTS,
    say_pages,
    say_results,
    show_analyses,
    show_analysis,
    show_classes,
    what_was_read,
)
from textsignal.data.write import check_not_input, whole_folder
from textsignal.errors import InputError

if TYPE_CHECKING:
    from textsignal.model import TextResponseModel
    from textsignal.several import TextResponsesModel


def fit(
    files: FilesArgument,
    text: TextOption,
    response: ResponsesOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    themes: ThemesOption = 10,
    by: ByOption = None,
    over: OverOption = None,
    covariates: CovariatesOption = None,
    formula: FormulaOption = None,
    offset: OffsetOption = None,
    weights: WeightsOption = None,
    levels: LevelsOption = None,
    family: FamilyOption = None,
    training: Annotated[
        Training | None,
        typer.Option(
            "--training",
            help="Themes and tone, themes that are moved to predict, or the paper's joint training.",
            show_default="themes",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    supervision: Annotated[
        float | None,
        typer.Option(
            "--supervision",
            help="How much the response counts against the text; not with themes.",
            show_default="0.5",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            help="Fit the paper's model (JBNMF) with this weight; it has no --supervision, --training or --family.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    max_terms: Annotated[
        int | None,
        typer.Option(
            "--max-terms",
            min=1,
            help="Terms to keep.",
            show_default="3000 for themes, else 2000",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Of the texts: whose stop words and negations are used, or none.")
    ] = "english",
    stop_words: Annotated[
        str | None,
        typer.Option(
            "--stop-words",
            help="Language of the words to leave out, or none.",
            show_default="",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    ngrams: Annotated[
        int,
        typer.Option(
            "--ngrams", min=1, help="Longest run of words that makes a term; not with themes.", rich_help_panel=ADVANCED
        ),
    ] = 1,
    holdout: Annotated[
        float, typer.Option("--holdout", help="Share of rows held out to measure skill.", rich_help_panel=ADVANCED)
    ] = 0.2,
    interval: IntervalOption = None,
    groups: ClustersOption = None,
    on_bad_rows: BadRowsOption = OnBadRows.error,
    memory: MemoryOption = None,
    folder: FolderOption = None,
    engine: EngineOption = None,
    scheduler: SchedulerOption = None,
    unit: UnitOption = None,
    lower_is_better: LowerOption = False,
    no_texts: NoTextsOption = False,
    no_mask: NoMaskOption = False,
    documents: DocumentsOption = 1000,
    encoding: EncodingOption = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    device: DeviceOption = "cpu",
    force: ForceOption = False,
) -> None:
    """Fit a model to a table: themes and their effects; write model, themes, documents and a report."""
    from textsignal.data.read import read_file
    from textsignal.several import TextResponsesModel
    from textsignal.workflow.analyse import analyse
    from textsignal.workflow.classes import ClassAnalyses, analyse_classes, has_classes
    from textsignal.workflow.several import analyse_several

    scale = scale_of(levels)
    _check_alone("--alpha", alpha, {"--supervision": supervision, "--training": training, "--family": family})
    several = len(response) > 1
    options: dict[str, Any] = {
        "max_terms": max_terms,
        "language": None if language == "none" else language,
        "stop_words": {None: "auto", "none": None}.get(stop_words, stop_words),
        "formula": formula,
    }
    trained: dict[str, Any] = {
        "n_themes": themes,
        "family": families_of(family, response),
        "levels": scale,
        "training": (training or Training.themes).value,
        "random_state": seed,
        "n_jobs": jobs,
        "device": device,
    }
    page: dict[str, Any] = {"with_texts": not no_texts, "mask": not no_mask, "n_documents": documents}
    model: TextResponseModel | TextResponsesModel
    run: Callable[..., Any]
    if several:
        _check_shared({"--offset": offset, "--alpha": alpha, "--supervision": supervision}, "several responses")
        _check_one({"--interval": interval, "--groups": groups}, "several responses", "--response NAME")
        together = TextResponsesModel(**options, **trained)
        model, run = together, partial(analyse_several, responses=response, model=together)
    else:
        words = {"ngram_range": (1, ngrams)}
        supervised = {"supervision": 0.5 if supervision is None else supervision}
        one = _model_of_one(options | words, trained | supervised, alpha)
        ranges: dict[str, Any] = {"interval": interval, "groups": groups}
        model, run = one, partial(analyse, response=response[0], model=one, offset=offset, **ranges)
    if is_source(files, memory, folder, engine, scheduler):
        check_flags(
            {
                "--covariates": covariates,
                "--formula": formula,
                "--offset": offset,
                "--alpha": alpha,
                "more than one --response": several,
            }
        )
        fit_source(
            files,
            output,
            one,
            text=text,
            response=response[0],
            memory=memory,
            folder=folder,
            engine=engine,
            scheduler=scheduler,
            force=force,
            page=page,
            read={"encoding": encoding, "sheet": sheet, "sep": sep},
            what=_counted(themes, "theme"),
            holdout=holdout,
            seed=seed,
            on_bad_rows=on_bad_rows.value,
            by=by,
            over=over,
            unit=unit,
            lower_is_better=lower_is_better,
            weights=weights,
            **ranges,
        )
        return
    file = Path(files[0])
    check_not_input(output / file.name, [file] if file.name in RESULTS else [])
    with whole_folder(output, force=force) as place:
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        noun = "theme"
        of_several = f" for {len(response)} responses" if several else ""
        say(f"{what_was_read(file, read)} Fitting {_counted(themes, noun)}{of_several}.")
        if isinstance(model, TextResponsesModel) or not has_classes(read.table, response[0], model):
            whole = None if scale is None or isinstance(scale[0], str) else scale
            run = partial(run, levels=whole, unit=unit, lower_is_better=lower_is_better)
        else:
            _check_shared(
                {"--offset": offset, "--unit": unit, "--lower-is-better": lower_is_better or None},
                "three or more classes without an order",
            )
            _check_one({"--interval": interval, "--groups": groups}, "classes without an order", "--class NAME")
            run = partial(analyse_classes, response=response[0], model=model)
        with progress(model):
            found: Any = run(
                read.table,
                text=text,
                holdout=holdout,
                seed=seed,
                on_bad_rows=on_bad_rows.value,
                by=by,
                over=over,
                covariates=names_of(covariates, read.table),
                weights=weights,
            )
        with report_settings(file=file, **page) as settings:
            found.write(place, settings)
    if isinstance(found, ClassAnalyses):
        show_classes(found)
        say_pages(output, found, by)
    elif several:
        show_analyses(found)
        say_pages(output, found, by)
    else:
        show_analysis(found)
        say_results(output, by)


def _model_of_one(options: dict[str, Any], trained: dict[str, Any], alpha: float | None) -> TextResponseModel:
    """Return an unfitted model: the paper's if `alpha` is given."""
    from textsignal.estimators import JBNMF
    from textsignal.model import TextResponseModel

    if alpha is None:
        family = trained["family"]
        one = next(iter(family.values())) if isinstance(family, dict) else family
        return TextResponseModel(**options, **(trained | {"family": one}))
    kept = {name: trained[name] for name in ("n_themes", "levels", "random_state", "n_jobs")}
    return TextResponseModel(**options, device=trained["device"], estimator=JBNMF(alpha=alpha, **kept))


def _counted(number: int | str, noun: str) -> str:
    return f"an automatic number of {noun}s" if isinstance(number, str) else count(number, noun)


def _check_shared(options: dict[str, object], what: str) -> None:
    """Raise if an option is given that `what` cannot have."""
    for flag, given in options.items():
        if given is not None:
            raise InputError(f"{flag} cannot be had with {what}; leave it out")


def _check_one(options: dict[str, object], what: str, which: str) -> None:
    """Raise if intervals are requested for more than one response or class."""
    for flag, given in options.items():
        if given is not None:
            raise InputError(
                f"{flag} cannot be had with {what} at once; leave it out, then ask for one: textsignal report {which} "
                "--interval 0.95"
            )


def _check_alone(flag: str, value: object, others: dict[str, object]) -> None:
    """Raise if an option of the paper's model is combined with one that this model does not have."""
    for other, given in others.items():
        if value is not None and given is not None:
            raise InputError(f"{flag} is of the paper's model, which has no {other}; give one of the two")
