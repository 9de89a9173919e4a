"""From a table of texts and responses to a comparison of methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd
from numpy.typing import ArrayLike

from textsignal.data.roles import Beside
from textsignal.errors import InputError
from textsignal.evaluation.compare import Comparison, Progress, compare_methods
from textsignal.model import TextResponseModel
from textsignal.reading.observed import Tokens
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
    """Compare a model with simpler methods on a table, as `compare` does; rows and columns as in `analyse`.

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


def compare(
    texts: Iterable[str] | Tokens,
    responses: ArrayLike,
    *,
    folds: int = 5,
    groups: ArrayLike | None = None,
    model: TextResponseModel | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a model with simpler methods for the same responses.

    The others are the mean; ridge, lasso and a GLM of the response's family on words and pairs of words (rows of norm
    1, penalties by cross-validation within each training part); and two-stage, themes by scikit-learn's NMF with a GLM
    on them. Classes without an order have no ridge and no lasso. All learn from the same documents and predict the
    same others; those without a response are left out.

    Parameters
    ----------
    texts, responses : as in `TextResponseModel.fit`.
    folds : into which documents are cut, each left out once.
    groups : documents of a group, such as a hotel, are left out together, and standard errors are over groups. Without
        it only copies of a text are left out together.
    model : ours, with its options; not fitted, and not changed. None takes `TextResponseModel()`.
    seed : of the folds.
    n_jobs : threads, -1 for all cores; results are the same bits for any number.
    progress : called with a method's name, how many of its folds are done and how many there are.

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
    return compare_methods(
        model, texts, responses, folds=folds, groups=groups, seed=seed, n_jobs=n_jobs, progress=progress
    )
