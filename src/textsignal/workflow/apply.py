"""Results of a fitted model on a table: drivers, predictions, a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.data.read import column, groups_of, held_texts, kept_columns, texts_of
from textsignal.data.roles import Beside, beside_texts, with_problems
from textsignal.data.rows import BadRows, ParsedResponse, Place, check_rows, from_one, parse_response
from textsignal.errors import InputError, RowsError
from textsignal.families.classes import MOST_CLASSES
from textsignal.families.responses import as_column, in_numbers, missing
from textsignal.insight.findings import Drivers
from textsignal.insight.inputs import as_times
from textsignal.model import TextResponseModel
from textsignal.report.values.data import ReportSettings
from textsignal.uncertainty.effect_table import EffectTable
from textsignal.uncertainty.effects import LEVEL, REFITS, Progress
from textsignal.workflow.analyse import check_ranges, clusters_of, filled_settings
from textsignal.workflow.used import usable_rows


def drivers_table(
    model: TextResponseModel,
    table: pd.DataFrame | None,
    *,
    text: str | None = None,
    response: str | None = None,
    by: str | None = None,
    offset: str | None = None,
    weights: str | None = None,
    interval: float | None = None,
    groups: str | None = None,
    place: Place = from_one,
) -> Drivers:
    """Return the drivers of the response in a table's texts, or in those of training if there is no table.

    text, response, by, offset, weights : names of the columns; without a response there are no means. Covariates are
    found by their names in training. interval : a level such as .95 for intervals, which need responses;
    groups : column of clusters of dependent texts; place : describes the location of a row in errors.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> drivers_table(model, reviews.to_frame(), text="review", response="rating").equals(model.drivers())
    True
    """
    check_ranges(interval, groups)
    if interval is not None and (table is None or response is None):
        raise InputError(f"interval={interval} needs a table of texts and responses; give it, with text and response")
    if table is None:
        return model.drivers()
    if text is None:
        raise InputError("a table was given, but not which column holds the texts; give text='...'")
    texts = texts_of(table, text)
    parsed = None if response is None else parsed_response(model, table, response)
    responses = None if parsed is None else parsed.values
    beside = _beside(model, table, offset, weights)
    _check_numbers(model, parsed, beside, len(table), place)
    return model.drivers(
        None if by is None else groups_of(table, by),
        texts=texts,
        responses=responses,
        sample_weight=beside.weight,
        covariates=beside.covariates,
        offset=beside.added,
        interval=interval,
        groups=None if responses is None else clusters_of(table, groups, np.arange(len(table)), responses),
    )


def effects_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    by: str | None = None,
    groups: str | None = None,
    method: str = "crossfit",
    level: float = LEVEL,
    n_refits: int = REFITS,
    seed: int = 0,
    offset: str | None = None,
    weights: str | None = None,
    on_bad_rows: str = "error",
    progress: Progress | None = None,
    place: Place = from_one,
) -> EffectTable:
    """Return effects of themes with their intervals, by a table: `model.estimate_effects` with names of columns.

    place : describes the location of a row in errors.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=4).fit(reviews.texts, reviews.ratings)
    >>> effects = effects_table(model, reviews.to_frame(), text="review", response="rating", method="plugin")
    >>> effects.quantities[:2]
    ['cost', 'gain']
    """
    parsed = parsed_response(model, table, response)
    beside = _beside(model, table, offset, weights)
    texts = column(table, text, "text")
    rows = usable_rows(_bad_rows(model, texts, parsed, beside, place), on_bad_rows)
    own = beside.at(rows)
    return model.estimate_effects(
        None if by is None else groups_of(table, by).iloc[rows],
        groups=clusters_of(table, groups, rows, parsed.values),
        method=method,
        level=level,
        n_refits=n_refits,
        seed=seed,
        texts=texts.to_numpy(dtype=object)[rows].tolist(),
        responses=parsed.values[rows],
        sample_weight=own.weight,
        covariates=own.covariates,
        offset=own.added,
        progress=progress,
    )


def _beside(
    model: TextResponseModel, table: pd.DataFrame, offset: str | None = None, weights: str | None = None
) -> Beside:
    """Return covariates, offset and weights of a table, covariates by their names in training."""
    names = () if model.design_ is None else model.design_.covariates
    return beside_texts(table, names, None, offset, weights)


def columns_of(model: TextResponseModel, **columns: str | None) -> dict[str, str]:
    """Return the columns of a table that a model needs, with the role of each; columns : name by role.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> columns_of(model, text="review", response="rating", by=None)
    {'review': 'text', 'rating': 'response'}
    """
    covariates = () if model.design_ is None else model.design_.covariates
    return dict.fromkeys(covariates, "covariate") | {name: role for role, name in columns.items() if name is not None}


def _bad_rows(
    model: TextResponseModel, texts: pd.Series, response: ParsedResponse, beside: Beside, place: Place
) -> BadRows:
    """Return rows that cannot be used, with their locations."""
    bad = check_rows(texts, response, levels=whole_levels(model))
    return replace(with_problems(bad, beside), place=place)


def _check_numbers(
    model: TextResponseModel, response: ParsedResponse | None, beside: Beside, n_rows: int, place: Place
) -> None:
    """Raise if covariates, offset, weights or responses do not fit the model; responses may be missing."""
    problems = beside.problems()
    if response is not None:
        numeric = replace(response, unparsable=np.zeros(n_rows, dtype=bool))
        problems += check_rows(["-"] * n_rows, numeric, levels=whole_levels(model)).problems
    if problems:
        raise InputError(f"{BadRows(n_rows, problems, place=place).describe()}; correct the table")


def predict_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    text: str,
    *,
    keep: str | Sequence[str] = (),
    offset: str | None = None,
) -> pd.DataFrame:
    """Return predictions for a table's texts, one row per text: nothing is dropped.

    Covariates are found by their names in training; offset : the column of the offset.

    Columns: row (from 1), the table's columns to `keep` (names, or "all"), prediction (expected response), level (it
    rounded), unknown (no known term: the mean weights were used, as for an empty text), and the probability of every
    level; without levels where responses have none. Classes without an order have no mean: prediction is the most
    probable one, and there is no level.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> predict_table(model, pd.DataFrame({"review": ["Friendly staff.", ""]}), "review")["unknown"].tolist()
    [False, True]
    """
    texts = held_texts(table, text)
    beside = _beside(model, table, offset)
    predictions = model.predictions(texts, covariates=beside.covariates, offset=beside.added)
    of_classes = predictions.family.n_predictors > 1
    frame = pd.DataFrame(
        {
            "row": np.arange(1, len(texts) + 1),
            "prediction": predictions.level("mode") if of_classes else predictions.mean,
            "unknown": predictions.unknown,
        }
    )
    if hasattr(predictions.family, "levels") and not of_classes:
        frame.insert(2, "level", predictions.level())
    made = pd.concat([frame, predictions.by_level.add_prefix("p_")], axis=1)
    kept = kept_columns(table, keep).reset_index(drop=True)
    if twice := [name for name in kept.columns if name in made.columns]:
        raise InputError(f"column {twice[0]!r} cannot be kept: predictions have one of that name; rename it")
    return pd.concat([made[["row"]], kept, made.drop(columns="row")], axis=1)


def report_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    path: Path,
    *,
    text: str,
    response: str,
    split: pd.DataFrame | None = None,
    new: bool = False,
    by: str | None = None,
    over: str | None = None,
    unit: str | None = None,
    settings: ReportSettings | None = None,
    on_bad_rows: str = "error",
    offset: str | None = None,
    interval: float | None = None,
    groups: str | None = None,
    force: bool = False,
    place: Place = from_one,
) -> int:
    """Write a model's report on a table, and return the number of rows known to be held out.

    Parameters
    ----------
    split : the documents.csv of the fit, to know which rows it held out; it counts only if rows and responses are
        the same.
    new : True if no row was used in training.
    by, over : columns of groups and of dates.
    unit : name of one step of the response; by default the one of the fit.
    settings : of the report; the response's name and excluded rows are filled in.
    offset : column of the offset; covariates are found by their names in training.
    interval : a level such as .95 for intervals; groups : column of clusters of dependent texts.
    place : describes the location of a row in errors and notes on excluded rows.

    Examples
    --------
    >>> import tempfile
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> from textsignal.workflow.analyse import analyse
    >>> fit = analyse(table, text="review", response="rating", model=TextResponseModel(n_themes=5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "report.html")
    ...     report_table(fit.model, table, file, text="review", response="rating", split=fit.documents)
    60
    """
    from textsignal.report.page.render import write_report  # charts are slow to import

    check_ranges(interval, groups)
    parsed = parsed_response(model, table, response)
    texts = column(table, text, "text")
    beside = _beside(model, table, offset)
    bad = _bad_rows(model, texts, parsed, beside, place)
    rows = usable_rows(bad, on_bad_rows)
    beside, responses = beside.at(rows), parsed.values[rows]
    used = texts.to_numpy(dtype=object)[rows].tolist()
    with RowsError.among(rows):
        reading = model.read(used, covariates=beside.covariates, offset=beside.added)
    held_out = np.full(len(rows), new)
    if split is not None and not new and is_of(split, rows, responses):
        held_out = split["held_out"].to_numpy(dtype=bool)
    dropped = bad.describe() if len(bad) else ""
    naming = replace(model.naming_, response=response, unit=unit or model.naming_.unit)
    filled = filled_settings(settings, naming, dropped, by, over, groups)
    effects = None
    if interval is not None:
        effects = model.estimate_effects(
            level=interval,
            groups=clusters_of(table, groups, rows, parsed.values),
            texts=used,
            responses=responses,
            covariates=beside.covariates,
            offset=beside.added,
        )
    write_report(
        model,
        path,
        reading,
        responses,
        held_out,
        filled,
        groups=None if by is None else groups_of(table, by).iloc[rows],
        times=None if over is None else as_times(column(table, over, "over"), len(table))[rows],
        effects=effects,
        force=force,
    )
    return int(held_out.sum())


def is_class(labels: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return (rows,) 1 if a label is the class of this name, 0 if it is another; NaN if missing.

    Examples
    --------
    >>> is_class(["a", "b", None], "a")
    array([ 1.,  0., nan])
    """
    return np.array([np.nan if missing(label) else float(str(label) == name) for label in as_column(labels)])


def parsed_response(model: TextResponseModel, table: pd.DataFrame, response: str) -> ParsedResponse:
    """Return a table's response in numbers, labels encoded as in the model."""
    has_labels = model.family_.has_text or model.naming_.is_class
    parsed = parse_response(column(table, response, "response"), MOST_CLASSES if has_labels else 0)
    if model.naming_.is_class:
        return replace(parsed, values=is_class(parsed.given, model.naming_.event), labels=None)
    return replace(parsed, values=in_numbers(parsed.given, model.family_))


def whole_levels(model: TextResponseModel) -> tuple[int, int] | None:
    """Return lowest and highest level, if all whole numbers between are levels too."""
    levels = np.asarray(getattr(model, "levels_", ()))
    if (
        model.family_.has_text
        or not levels.size
        or not np.array_equal(levels, np.arange(levels[0], levels[0] + levels.size))
    ):
        return None
    return int(levels[0]), int(levels[-1])


def is_of(split: pd.DataFrame, rows: NDArray[np.int64], responses: NDArray[np.float64]) -> bool:
    """True if a fit's documents are these rows with these responses."""
    if not {"row", "response", "held_out"} <= set(split.columns):
        return False
    same_rows = np.array_equal(split["row"], rows + 1)
    return same_rows and np.allclose(split["response"].to_numpy(dtype=float), responses, equal_nan=True)
