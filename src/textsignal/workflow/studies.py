"""Studies on a table: a comparison with other methods, and a search for a number of themes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.data.roles import Roles
from textsignal.data.write import write_csv
from textsignal.errors import InputError, OutputError
from textsignal.evaluation.compare import Comparison, compare_methods
from textsignal.evaluation.compare import Progress as FoldProgress
from textsignal.families.auto import AUTO
from textsignal.model import TextResponseModel
from textsignal.reading.options import ResponseScale, scale_of
from textsignal.text.tokens import SentenceTexts
from textsignal.uncertainty.search import Search, search
from textsignal.workflow.rows import responses_in, rows_to_fit

#: File of finished tasks in the folder of results.
KEPT = "cells.jsonl"


@dataclass(frozen=True)
class TableComparison:
    """A comparison on the rows of a table.

    dropped : problems of excluded rows, "" if there are none; response_read : how a response that is not written in
    numbers was read; without_response : rows with a text but no response, which are excluded too.
    """

    comparison: Comparison
    dropped: str
    response_read: str
    without_response: int


def compare_table(
    table: pd.DataFrame,
    columns: Roles,
    model: TextResponseModel,
    *,
    levels: tuple[int, int] | None = None,
    on_bad_rows: str = "error",
    **options: Any,
) -> TableComparison:
    """Compare a model with simpler methods on a table, as `compare` does.

    columns : `by` is held out together, such as a hotel; levels, on_bad_rows : as in `analyse`; options : of `compare`.
    """
    scale = scale_of(model.options)
    parsed = responses_in(table, columns.responses, [scale])
    rows = rows_to_fit(table, columns, [scale], parsed, levels=levels, on_bad_rows=on_bad_rows)
    given = parsed[columns.response].given[rows.numbers]
    comparison = compare(model.tokenise(rows.texts), given, groups=rows.groups, model=model, **options)
    without_response = len(rows.numbers) - len(comparison.rows)
    comparison = replace(comparison, rows=rows.numbers[comparison.rows - 1] + 1)
    return TableComparison(comparison, rows.dropped, parsed[columns.response].reading, without_response)


def compare(
    texts: Iterable[str] | SentenceTexts,
    responses: ArrayLike,
    *,
    folds: int = 5,
    groups: ArrayLike | None = None,
    model: TextResponseModel | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: FoldProgress | None = None,
) -> Comparison:
    """Compare a model with simpler methods for the same responses.

    The others are the mean; ridge, lasso and a GLM of the response's family on words and pairs of words (rows of norm
    1, penalties by cross-validation within each training part); and two-stage, topics by scikit-learn's NMF with a GLM
    on them. Classes without an order have no ridge and no lasso. All learn from the same texts and predict the
    same others; those without a response are excluded.

    Parameters
    ----------
    texts, responses : as in `TextResponseModel.fit`.
    folds : number of parts, each held out once.
    groups : texts of a group, such as a hotel, are held out together, and standard errors are over groups. Without
        it only copies of a text are held out together.
    model : ours, with its options; not fitted, and not changed. None takes `TextResponseModel()`.
    seed : of the folds.
    n_jobs : threads, -1 for all cores; results are the same bits for any number.
    progress : called with a method's name, the number of its folds that are done, and the number of all.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(120, seed=1)
    >>> compared = ts.compare(reviews.texts, reviews.ratings, folds=2, model=ts.TextResponseModel(n_themes=4))
    >>> sorted(compared.table["method"])
    ['GLM', 'lasso', 'mean', 'ridge', 'textsignal', 'two-stage']
    """
    model = TextResponseModel() if model is None else model
    if not isinstance(model, TextResponseModel):
        raise InputError(f"model={model!r} must be a TextResponseModel; compare takes one response")
    return compare_methods(model, texts, responses, folds, groups, seed, n_jobs, progress)


def search_table(
    table: pd.DataFrame,
    columns: Roles,
    folder: Path,
    *,
    family: str = AUTO,
    levels: Any = None,
    on_bad_rows: str = "error",
    seed: int = 0,
    **options: Any,
) -> Search:
    """Search for a number of themes, and write table.csv, a figure and a recommendation into a folder.

    Finished tasks are kept there, so that a stopped search resumes: the folder is new, empty, or of an earlier search.

    columns, on_bad_rows : as in `compare_table`; family, levels and other options : as in `search`.
    """
    from textsignal import plots  # matplotlib is slow to import

    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / KEPT).exists():
        raise OutputError(f"{folder} holds other things and no {KEPT} of an earlier search; give another name")
    scale, whole = ResponseScale(family, levels), None if levels is None or isinstance(levels[0], str) else levels
    parsed = responses_in(table, columns.responses, [scale])
    rows = rows_to_fit(table, columns, [scale], parsed, levels=whole, on_bad_rows=on_bad_rows)
    result = search(
        rows.texts,
        parsed[columns.response].given[rows.numbers],
        groups=None if rows.groups is None else np.asarray(rows.groups),
        family=family,
        levels=levels,
        random_state=seed,
        resume=folder / KEPT,
        **options,
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(result.table, folder / "table.csv", float_format="%.6g")
    (folder / "recommendation.txt").write_text(result.recommendation + "\n", encoding="utf-8")
    for ending in ("png", "svg"):
        plots.search(result).savefig(folder / f"search.{ending}")
    return result
