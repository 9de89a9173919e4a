"""From a source of more rows than memory holds to a fitted model, and its results on a random sample."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from textsignal import streaming
from textsignal.arrays import Vector
from textsignal.compute.engines import Engine
from textsignal.data.read import groups_of
from textsignal.data.roles import Beside
from textsignal.data.rows import BadRows, Dropping, ParsedResponse
from textsignal.data.source import Given, Source, read_batches
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups, as_times
from textsignal.insight.naming import Naming
from textsignal.model import TextResponseModel
from textsignal.workflow.analyse import Analysis, analysis_of, check_ranges, clusters_of, with_ranges
from textsignal.workflow.used import UsedRows, check_holdout, check_on_bad_rows, hold_out, range_of


def analyse_source(
    source: Given,
    *,
    text: str,
    response: str,
    model: TextResponseModel,
    memory: str | int = streaming.MEMORY,
    folder: str | Path | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    by: str | None = None,
    over: str | None = None,
    unit: str | None = None,
    lower_is_better: bool = False,
    weights: str | None = None,
    interval: float | None = None,
    groups: str | None = None,
    progress: streaming.Progress = streaming.say_nothing,
    engine: Engine | None = None,
) -> Analysis:
    """Fit `model` to a source, holding out a share of a random sample of its rows to measure skill.

    Tone is learnt from all rows but those held out and their copies; themes, and all results about them, from the rest
    of the sample.

    Parameters
    ----------
    source : as in `read_batches`: files, a pattern, a table, an Arrow dataset, tables; or a `Source`.
    text, response, weights : names of the columns.
    model : fitted in place.
    memory, folder, engine : as in `TextResponseModel.fit`.
    holdout, seed, by, over, unit, lower_is_better, interval, groups : as in `analyse`, of the sample.
    on_bad_rows : "error", or "drop" to exclude empty texts and responses that cannot be used, of all rows; if the
        model has levels that are whole numbers, other responses too.
    progress : called with the name of a step, the amount done, and the total if known.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> analysis = analyse_source(table, text="review", response="rating", model=TextResponseModel(n_themes=5))
    >>> analysis.summary.train.documents, analysis.summary.held_out.documents
    (240, 60)
    """
    check_ranges(interval, groups, weights)
    check_holdout(holdout)
    check_on_bad_rows(on_bad_rows)
    columns = replace(streaming.columns_of(text, response, weights), by=by, over=over, groups=groups)
    batches = source if isinstance(source, Source) else read_batches(source, columns.roles)
    dropping = Dropping(_whole_levels(model)) if on_bad_rows == "drop" else None
    with streaming.read_to_fit(
        model, batches, columns, memory=memory, folder=folder, engine=engine, dropping=dropping, progress=progress
    ) as read:
        with streaming.rows_of(batches):
            if dropping is not None and dropping.levels is None:
                _check_whole(read.found.responses, model)
            used = _used(read.found, columns, holdout, seed, len(batches.files))
        values = read.found.sample.responses
        clusters = clusters_of(read.found.beside, groups, used.rows, values)
        fitted = read.fit(used.held_out)
    model.take_source(fitted, response)
    model.naming_ = Naming.of(model.family_, response, unit, "", lower_is_better)
    parsed = ParsedResponse(values, np.zeros(len(values), dtype=bool), values)
    analysis = analysis_of(model, model.read(used.tokens), used, parsed)
    analysis = replace(analysis, documents=analysis.documents.assign(row=read.found.drawn.rows + 1))
    return replace(with_ranges(analysis, used, interval, clusters), within=groups)


def _used(
    found: streaming.Streamed, columns: streaming.SourceColumns, holdout: float, seed: int, n_files: int
) -> UsedRows:
    """The sample as the rows that are used."""
    sample, n = found.sample, len(found.sample.tokens)
    by, over = columns.by, columns.over
    weights = ParsedResponse(sample.weight, np.zeros(n, dtype=bool), sample.weight)
    groups = None if by is None else groups_of(found.beside, by)
    if groups is not None:
        as_groups(groups, n)
    first_copies = sample.tokens.first_copies()
    return UsedRows(
        rows=np.arange(n),
        dropped=_described(found.bad, n_files),
        tokens=sample.tokens,
        first_copies=first_copies,
        held_out=hold_out(first_copies, holdout, seed),
        beside=Beside(weights=None if columns.weight is None else weights),
        by=by,
        groups=groups,
        over=over,
        times=None if over is None else as_times(found.beside[over], n, found.drawn.rows),
    )


def _described(bad: BadRows, n_files: int) -> str:
    """Describe problems of excluded rows; "" if there are none."""
    if not len(bad):
        return ""
    return bad.describe() + (f"; rows count over all {n_files} files" if n_files > 1 else "")


def _whole_levels(model: TextResponseModel) -> tuple[int, int] | None:
    """Return lowest and highest level of a model, if all levels are whole numbers."""
    levels = np.asarray([] if model.levels is None else model.levels)
    if levels.shape != (2,) or levels.dtype.kind not in "iuf" or (levels % 1).any():
        return None
    return int(levels[0]), int(levels[1])


def _check_whole(responses: Vector, model: TextResponseModel) -> None:
    """Raise if a few responses are fractions, which only the whole source, not a batch, shows to be mistakes."""
    span = range_of(ParsedResponse(responses, np.isnan(responses), responses), model.family)
    broken = np.flatnonzero(responses % 1 > 0)
    if span is not None and broken.size:
        row = broken[0]
        raise InputError(
            f"{broken.size:,} of {np.sum(~np.isnan(responses)):,} responses are not whole numbers (row {row + 1:,}: "
            f'{responses[row]:g}); on_bad_rows="drop" leaves these out of a source where the scale is given, such as '
            f'levels={span}; family="gaussian" takes any numbers'
        )
