"""Results of a fitted model on a table: drivers, effects, checks, predictions, a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.arrays import Flags, Rows, Vector
from textsignal.data.read import column, groups_of, held_texts, kept_columns, texts_of
from textsignal.data.roles import ModelInputs, Roles, model_inputs
from textsignal.data.rows import BadRows, ParsedResponse, Place, check_rows, from_one, parse_response
from textsignal.errors import InputError, RowsError
from textsignal.estimators import Predictions
from textsignal.families.classes import MOST_CLASSES
from textsignal.families.responses import as_column, in_numbers, missing
from textsignal.insight.findings import Drivers
from textsignal.model import TextResponseModel
from textsignal.report.values.data import ReportSettings
from textsignal.uncertainty.checks import Check
from textsignal.uncertainty.effects import EffectTable
from textsignal.workflow.analyse import page_settings
from textsignal.workflow.rows import TableRows, check_intervals, clusters_of, usable, usable_rows


def columns_for(model: TextResponseModel, columns: Roles) -> Roles:
    """Return the columns that a model needs of a table: those named, and its covariates by their names in training."""
    return replace(columns, covariates=() if model.design_ is None else tuple(model.design_.covariates))


def drivers_table(
    model: TextResponseModel,
    table: pd.DataFrame | None,
    columns: Roles | None = None,
    *,
    interval: float | None = None,
    place: Place = from_one,
) -> Drivers:
    """Return the drivers of a response in a table's texts, or in those of training if there is no table.

    columns : without a response there are no means. interval : a level such as .95 for intervals, which need
    responses; place : describes the location of a row in errors.
    """
    check_intervals(interval, None if columns is None else columns.groups)
    has_response = columns is not None and bool(columns.responses)
    if interval is not None and (table is None or not has_response):
        raise InputError(f"interval={interval} needs a table of texts and responses; give it, with text and response")
    if table is None:
        return model.drivers()
    if columns is None:
        raise InputError("a table was given without the names of its columns; give the column of the texts")
    texts = texts_of(table, columns.text)
    parsed = parsed_response(model, table, columns.response) if has_response else None
    inputs = _inputs(model, table, columns)
    problems, groups = inputs.problems(), None
    if parsed is not None:
        # Responses may be missing.
        numeric = replace(parsed, unparsable=np.zeros(len(table), dtype=bool))
        problems += check_rows(["-"] * len(table), numeric, levels=whole_levels(model)).problems
    if problems:
        raise InputError(f"{BadRows(len(table), problems, place=place).describe()}; correct the table")
    if parsed is not None:
        groups = clusters_of(table, columns.groups, np.arange(len(table)), [parsed.values])
    return model.drivers(
        None if columns.by is None else groups_of(table, columns.by),
        texts=texts,
        responses=None if parsed is None else parsed.values,
        sample_weight=inputs.weight,
        covariates=inputs.covariates,
        offset=inputs.added,
        interval=interval,
        groups=groups,
    )


def effects_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    columns: Roles,
    *,
    on_bad_rows: str = "error",
    place: Place = from_one,
    **options: Any,
) -> EffectTable:
    """Return effects of themes with their intervals, by a table; options : as in `model.estimate_effects`."""
    rows, responses = _usable(model, table, columns, on_bad_rows, place)
    return model.estimate_effects(
        rows.groups,
        groups=rows.clusters,
        texts=rows.texts,
        responses=responses,
        sample_weight=rows.inputs.weight,
        covariates=rows.inputs.covariates,
        offset=rows.inputs.added,
        **options,
    )


def check_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    columns: Roles,
    *,
    split: pd.DataFrame | None = None,
    new: bool = False,
    on_bad_rows: str = "error",
) -> Check:
    """Check a model and a table; named rows are those of the table, from 1.

    columns : covariates are those to compare residuals with, in addition to the model's.
    split : the texts.csv of the fit, to know which rows it held out; it counts only if rows and responses are the same.
    new : True if no row was used in training.
    on_bad_rows : "error", or "drop" to exclude rows without a text or with an unusable response.
    """
    parsed = parsed_response(model, table, columns.response)
    bad = check_rows(column(table, columns.text, "text"), parsed, levels=whole_levels(model))
    rows, inputs = usable_rows(bad, on_bad_rows), _inputs(model, table, columns)
    own = () if model.design_ is None else model.design_.covariates
    others = model_inputs(table, [name for name in columns.covariates if name not in own], learn=True)
    known = [each for each in (inputs.covariates, others.covariates) if each is not None]
    # Excluded rows keep their positions with weight 0, so that other rows keep their numbers.
    weight = np.zeros(len(table))
    weight[rows] = 1.0 if inputs.weight is None else inputs.weight[rows]
    responses = np.where(weight > 0, parsed.values, np.nan)
    held_out = np.full(len(table), new)
    held_out[rows] = held_out_rows(split, rows, parsed.values[rows], new)
    return model.check(
        [one if usable else "" for one, usable in zip(texts_of(table, columns.text), ~bad.mask, strict=True)],
        responses,
        held_out=held_out,
        sample_weight=weight,
        covariates=pd.concat(known, axis=1) if known else None,
        offset=inputs.added,
        by=None if columns.by is None else groups_of(table, columns.by),
        over=None if columns.over is None else column(table, columns.over, "over"),
    )


def report_table(
    model: TextResponseModel,
    table: pd.DataFrame,
    path: Path,
    columns: Roles,
    *,
    split: pd.DataFrame | None = None,
    new: bool = False,
    unit: str | None = None,
    settings: ReportSettings | None = None,
    on_bad_rows: str = "error",
    interval: float | None = None,
    force: bool = False,
    place: Place = from_one,
) -> int:
    """Write a model's report on a table, and return the number of rows known to be held out.

    split, new : as in `check_table`; unit : name of one step of the response, by default the one of the fit.
    settings : of the report; the response's name and excluded rows are filled in.
    interval, place : as in `drivers_table`.
    """
    from textsignal.report.page.render import write_report  # charts are slow to import

    check_intervals(interval, columns.groups)
    rows, responses = _usable(model, table, columns, on_bad_rows, place)
    inputs = rows.inputs
    with RowsError.among(rows.numbers):
        (observed,) = model.observed(rows.texts, responses, None, inputs.covariates, inputs.added)
        held_out = held_out_rows(split, rows.numbers, responses, new)
        observed = replace(observed, groups=rows.groups, times=rows.times, held_out=held_out)
        (reading,) = model.readings([observed])
    effects = None if interval is None else model.effects_of(reading, groups=rows.clusters, level=interval)
    settings = page_settings(settings, columns, rows.dropped)
    settings = replace(settings, response_name=columns.response, unit=unit or model.naming_.unit)
    write_report(model, path, reading, settings, effects=effects, force=force)
    return int(held_out.sum())


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

    Columns are as in `predict_batches`; level and probabilities only if the response has levels. Classes without an
    order have no mean: prediction is the most probable one, and there is no level.
    """
    texts = held_texts(table, text)
    inputs = _inputs(model, table, Roles(text, offset=offset))
    of_all: Any = model.predictions(texts, covariates=inputs.covariates, offset=inputs.added)
    columns: dict[str, Any] = {"row": np.arange(1, len(texts) + 1)}
    if isinstance(of_all, Predictions):
        by_ending = {"": of_all}
    else:
        by_ending = {f"_{name}": predictions for name, predictions in of_all.items()}
        columns["unknown"] = next(iter(of_all.values())).unknown
    for ending, predictions in by_ending.items():
        of_classes = predictions.family.n_predictors > 1
        columns[f"prediction{ending}"] = predictions.level("mode") if of_classes else predictions.mean
        if hasattr(predictions.family, "levels") and not of_classes:
            columns[f"level{ending}"] = predictions.level()
        columns.setdefault("unknown", predictions.unknown)
        columns |= {f"p{ending}_{level}": chances for level, chances in predictions.by_level.items()}
    made, kept = pd.DataFrame(columns), kept_columns(table, keep).reset_index(drop=True)
    if twice := [name for name in kept.columns if name in made.columns]:
        raise InputError(f"column {twice[0]!r} cannot be kept: predictions have one of that name; rename it")
    return pd.concat([made[["row"]], kept, made.drop(columns="row")], axis=1)


def _usable(
    model: TextResponseModel, table: pd.DataFrame, columns: Roles, on_bad_rows: str, place: Place
) -> tuple[TableRows, Vector]:
    """Return the usable rows of a table and their responses."""
    parsed = parsed_response(model, table, columns.response)
    bad = check_rows(column(table, columns.text, "text"), parsed, levels=whole_levels(model))
    inputs = _inputs(model, table, columns)
    rows = usable(table, columns, replace(bad, place=place), inputs, on_bad_rows, {columns.response: parsed})
    return rows, parsed.values[rows.numbers]


def _inputs(model: TextResponseModel, table: pd.DataFrame, columns: Roles) -> ModelInputs:
    """Return covariates, offset and weights of a table, covariates by their names in training."""
    names = () if model.design_ is None else model.design_.covariates
    return model_inputs(table, names, None, columns.offset, columns.weights)


def is_class(labels: ArrayLike, name: str) -> Vector:
    """Return (rows,) 1 if a label is the class of this name, 0 if it is another; NaN if missing."""
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
    if model.family_.has_text or not levels.size:
        return None
    whole = np.array_equal(levels, np.arange(levels[0], levels[0] + levels.size))
    return (int(levels[0]), int(levels[-1])) if whole else None


def held_out_rows(split: pd.DataFrame | None, rows: Rows, responses: Vector, new: bool) -> Flags:
    """Return (rows,) True for rows known to be held out: all if `new`, or by the texts.csv of a fit to these rows."""
    if new or split is None or not {"row", "response", "held_out"} <= set(split.columns):
        return np.full(len(rows), new)
    same = np.array_equal(split["row"], rows + 1)
    if not same or not np.allclose(split["response"].to_numpy(dtype=float), responses, equal_nan=True):
        return np.zeros(len(rows), dtype=bool)
    return split["held_out"].to_numpy(dtype=bool)
