"""Checks of a fitted model and a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.data.read import column, groups_of, texts_of
from textsignal.data.roles import beside_texts
from textsignal.data.rows import check_rows
from textsignal.model import TextResponseModel
from textsignal.uncertainty.checks import Check
from textsignal.workflow.apply import is_of, parsed_response, whole_levels
from textsignal.workflow.used import usable_rows


def check_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    split: pd.DataFrame | None = None,
    new: bool = False,
    by: str | None = None,
    over: str | None = None,
    covariates: Sequence[str] = (),
    offset: str | None = None,
    weights: str | None = None,
    on_bad_rows: str = "error",
) -> Check:
    """Check a model and a table; named rows are those of the table, from 1.

    Parameters
    ----------
    split : the documents.csv of the fit, to know which rows it held out; it counts only if rows and responses are
        the same.
    new : True if no row was used in training.
    by, over, offset, weights : columns of groups, dates, offset and weights.
    covariates : columns to compare residuals with, in addition to the model's covariates.
    on_bad_rows : "error", or "drop" to exclude rows without a text or with an unusable response.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(150, seed=1).to_frame()
    >>> model = TextResponseModel(n_themes=3).fit(table["review"], table["rating"])
    >>> check_table(model, table, text="review", response="rating", by="hotel", over="date").looked_at[:2]
    ('skill', 'calibration')
    """
    parsed = parsed_response(model, table, response)
    bad = check_rows(column(table, text, "text"), parsed, levels=whole_levels(model))
    rows = usable_rows(bad, on_bad_rows)
    own = () if model.design_ is None else model.design_.covariates
    beside = beside_texts(table, own, None, offset, weights)
    others = beside_texts(table, [name for name in covariates if name not in own], learn=True)
    known = [each for each in (beside.covariates, others.covariates) if each is not None]
    # Excluded rows keep their positions with weight 0, so that other rows keep their numbers.
    weight = np.zeros(len(table))
    weight[rows] = 1.0 if beside.weight is None else beside.weight[rows]
    responses = np.where(weight > 0, parsed.values, np.nan)
    held_out = np.full(len(table), new)
    if split is not None and not new and is_of(split, rows, parsed.values[rows]):
        held_out[rows] = split["held_out"].to_numpy(dtype=bool)
    return model.check(
        [one if usable else "" for one, usable in zip(texts_of(table, text), ~bad.mask, strict=True)],
        responses,
        held_out=held_out,
        sample_weight=weight,
        covariates=pd.concat(known, axis=1) if known else None,
        offset=beside.added,
        by=None if by is None else groups_of(table, by),
        over=None if over is None else column(table, over, "over"),
    )
