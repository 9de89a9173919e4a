"""From a table of texts and responses to a comparison of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from textsignal.data.roles import Beside
from textsignal.evaluation.compare import Progress, compare
from textsignal.evaluation.results import Comparison
from textsignal.model import TextResponseModel
from textsignal.workflow.used import n_classes, range_of, response_in, use_rows


@dataclass(frozen=True)
class TableComparison:
    """A comparison on the rows of a table.

    dropped : what was wrong with rows that were left out, "" where nothing was; response_read : how a response that is
    not written in numbers was read; without_response : rows with a text but no response, which are left out too.
    """

    comparison: Comparison
    dropped: str
    response_read: str
    without_response: int


def compare_table(
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    model: TextResponseModel,
    groups: str | None = None,
    folds: int = 5,
    levels: tuple[int, int] | None = None,
    seed: int = 0,
    on_bad_rows: str = "error",
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> TableComparison:
    """Hold a model against simpler ways on a table, as `compare` does; rows and columns as in `analyse`.

    groups : column of what is left out together, such as a hotel.
    """
    parsed = response_in(table, response, model.family, model.levels)
    of_classes = n_classes(parsed, model.family, model.levels) > 2
    used = use_rows(
        table,
        {response: parsed},
        text=text,
        tokenise=model.tokenise,
        ranges={response: None if of_classes else levels or range_of(parsed, model.family)},
        beside=Beside(),
        holdout=0.0,
        seed=seed,
        on_bad_rows=on_bad_rows,
        by=groups,
        over=None,
    )
    used.check(model, parsed)
    comparison = compare(
        used.tokens,
        parsed.given[used.rows],
        folds=folds,
        groups=used.groups,
        model=model,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    comparison = replace(comparison, rows=used.rows[comparison.rows - 1] + 1)
    return TableComparison(comparison, used.dropped, parsed.reading, len(used.rows) - len(comparison.rows))
