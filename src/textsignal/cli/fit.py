"""`textsignal fit`: a model, its tables and a report from a table of texts and responses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import busy, count, report_settings, say, stream_progress
from textsignal.cli.screen import RESULTS, show_analysis
from textsignal.cli.tables import check_results, columns_in, engine_of, is_source, named, say_choice, what_was_read
from textsignal.data.write import whole_folder
from textsignal.errors import InputError


def fit(
    files: opt.FilesArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    text: opt.Text = None,
    response: opt.Responses = None,
    themes: opt.Themes = 10,
    by: opt.By = None,
    over: opt.Over = None,
    covariates: opt.Covariates = None,
    formula: opt.Formula = None,
    offset: opt.Offset = None,
    weights: opt.Weights = None,
    levels: opt.Levels = None,
    family: opt.Family = None,
    max_terms: opt.MaxTerms = None,
    language: opt.Language = "english",
    stop_words: Annotated[
        str | None,
        typer.Option(
            "--stop-words",
            help="Language of the words to exclude, or none.",
            show_default="that of the texts",
            rich_help_panel=opt.ADVANCED,
        ),
    ] = None,
    lexicon: opt.WordValues = opt.Lexicon.auto,
    neutral: opt.Neutral = None,
    holdout: Annotated[
        float, typer.Option("--holdout", help="Share of rows held out to measure skill.", rich_help_panel=opt.ADVANCED)
    ] = 0.2,
    interval: opt.Interval = None,
    groups: opt.Clusters = None,
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    memory: opt.Memory = None,
    folder: opt.Folder = None,
    engine: opt.Engine = None,
    scheduler: opt.Scheduler = None,
    unit: opt.Unit = None,
    lower_is_better: opt.Lower = False,
    no_texts: opt.NoTexts = False,
    no_mask: opt.NoMask = False,
    documents: opt.Documents = 1000,
    clauses: opt.Clauses = opt.ClauseTable.parquet,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    device: opt.Device = "cpu",
    force: opt.Force = False,
) -> None:
    """Fit a model to a table: themes and their effects; write model, themes, texts, clauses and a report."""
    from textsignal.data.read import read_file
    from textsignal.data.source import Source, read_batches
    from textsignal.model import TextResponseModel
    from textsignal.streaming import MEMORY
    from textsignal.workflow.analyse import analyse, analyse_source

    reading: dict[str, Any] = {"encoding": encoding, "sheet": sheet, "sep": sep}
    source, scale = Source(list(files), **reading), opt.scale_of(levels)
    names = list(response or ())
    columns = columns_in(
        source, text, names, offset=offset, weights=weights, by=by, over=over, groups=groups, covariates=()
    )
    family_option = opt.families_of(family, list(columns.responses))
    if isinstance(family_option, dict) and len(columns.responses) == 1:
        family_option = family_option.get(columns.response, "auto")
    model = TextResponseModel(
        themes,
        family=family_option,
        levels=scale,
        language=None if language == "none" else language,
        max_terms=max_terms,
        stop_words={None: "auto", "none": None}.get(stop_words, stop_words),
        lexicon=None if lexicon is opt.Lexicon.none else lexicon.value,
        neutral=neutral,
        formula=formula,
        random_state=seed,
        n_jobs=jobs,
        device=device,
    )
    options: dict[str, Any] = {
        "holdout": holdout,
        "seed": seed,
        "on_bad_rows": on_bad_rows.value,
        "unit": unit,
        "lower_is_better": lower_is_better,
        "interval": interval,
    }
    page: dict[str, Any] = {"with_texts": not no_texts, "mask": not no_mask, "n_documents": documents}
    what = "an automatic number of themes" if isinstance(themes, str) else count(themes, "theme")
    check_results(output, RESULTS, source)
    with whole_folder(output, force=force) as place:
        if is_source(files, memory, folder, engine, scheduler):
            _check_flags(
                {
                    "--covariates": covariates,
                    "--formula": formula,
                    "--offset": offset,
                    "more than one --response": len(columns.responses) > 1,
                }
            )
            batches = read_batches(list(files), columns.by_column, notice=say_choice, **reading)
            rows = "" if source.n_rows is None else f": {count(source.n_rows, 'row')}"
            say(f"{named(source)}{rows}. Fitting {what}; rows are read in batches.")
            with engine_of(engine, scheduler) as workers, stream_progress() as progress:
                analysis = analyse_source(
                    batches,
                    columns,
                    model,
                    memory=memory or MEMORY,
                    folder=folder,
                    engine=workers,
                    progress=progress,
                    **options,
                )
        else:
            read = read_file(Path(files[0]), **reading)
            of_several = f" for {len(columns.responses)} responses" if len(columns.responses) > 1 else ""
            say(f"{what_was_read(Path(files[0]), read)} Fitting {what}{of_several}.")
            whole = None if scale is None or isinstance(scale[0], str) else scale
            columns = columns.with_covariates(opt.names_of(covariates, read.table))
            with busy("Themes and tone"):
                analysis = analyse(read.table, columns, model, levels=whole, **options)
        with report_settings(source=named(source), **page) as settings:
            files = analysis.write(place, settings, None if clauses is opt.ClauseTable.none else clauses.value)
    show_analysis(analysis)
    say(f"\nWritten to {output}: {', '.join(files)}")
    pages = [name for name in files if name.endswith(".html")]
    say(f"Open {'the' if len(pages) == 1 else 'a'} report in a browser: {output / pages[0]}")


def _check_flags(given: dict[str, object]) -> None:
    """Raise if an option is given that a source cannot have."""
    for flag, value in given.items():
        if value:
            raise InputError(
                f"{flag} cannot be used with files that are read in batches (several, a pattern, a folder, or with "
                "--memory); remove it, or give one file without --memory"
            )
