"""From a source of more rows than memory holds to a fitted model, and what it says of a random sample of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsignal import streaming
from textsignal.engines import Engine
from textsignal.model import TextResponseModel
from textsignal.tables.analyse import Analysis, analysis_of, check_ranges, with_ranges
from textsignal.tables.batches import Given, Source, read_batches
from textsignal.tables.covariates import Beside
from textsignal.tables.rows import ParsedResponse
from textsignal.tables.used import UsedRows, check_holdout, hold_out
from textsignal.topics.naming import Naming
from textsignal.topics.reading import Observed, Tokens


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
    unit: str | None = None,
    lower_is_better: bool = False,
    weights: str | None = None,
    interval: float | None = None,
    progress: streaming.Progress = streaming.say_nothing,
    engine: Engine | None = None,
) -> Analysis:
    """Fit `model` to a source, holding back a share of a random sample of its rows to measure skill.

    Tone is learnt from all rows but those that are held back and copies of them; themes, and everything that is said
    of them, from the rest of the sample.

    Parameters
    ----------
    source : as in `read_batches`: files, a pattern, a table, an Arrow dataset, tables; or a `Source`.
    text, response, weights : names of the columns.
    model : what to fit; it is fitted in place.
    memory, folder, engine : as in `TextResponseModel.fit`.
    holdout, seed, unit, lower_is_better, interval : as in `analyse`, of the sample.
    progress : called with what is done, how much of it, and of how much where that is known.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> analysis = analyse_source(table, text="review", response="rating", model=TextResponseModel(n_topics=5))
    >>> analysis.summary.train.documents, analysis.summary.held_out.documents
    (240, 60)
    """
    check_ranges(interval, None, weights)
    check_holdout(holdout)
    columns = streaming.columns_of(text, response, weights)
    batches = source if isinstance(source, Source) else read_batches(source, columns.roles)

    def held_out(tokens: Tokens) -> NDArray[np.bool_]:
        return hold_out(tokens.first_copies(), holdout, seed)

    found = streaming.fit_source(
        model, batches, columns, memory=memory, folder=folder, hold_out=held_out, progress=progress, engine=engine
    )
    model.take_source(found, response)
    model.naming_ = Naming.of(model.family_, response, unit, "", lower_is_better)
    used = _used(found.sample, found.held_out)
    values = found.sample.responses
    parsed = ParsedResponse(values, np.zeros(len(values), dtype=bool), values)
    analysis = analysis_of(model, model.read(used.tokens), used, parsed)
    analysis = replace(analysis, documents=analysis.documents.assign(row=found.rows + 1))
    return with_ranges(analysis, used, interval)


def _used(sample: Observed, held_out: NDArray[np.bool_]) -> UsedRows:
    """The sample as the rows that are used."""
    weight, rows = sample.sample_weight, np.arange(len(sample.tokens))
    weights = None if weight is None else ParsedResponse(sample.weight, np.zeros(len(rows), dtype=bool), sample.weight)
    return UsedRows(
        rows=rows,
        dropped="",
        tokens=sample.tokens,
        first_copies=sample.tokens.first_copies(),
        held_out=held_out,
        beside=Beside(weights=weights),
        by=None,
        groups=None,
        over=None,
        times=None,
    )
