"""Usable rows of a table, read by the roles of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.arrays import Flags, Rows
from textsignal.checks import check_choice, check_number
from textsignal.data.read import column, groups_of
from textsignal.data.roles import ModelInputs, Roles, model_inputs, only_held_out, with_problems
from textsignal.data.rows import BadRows, ParsedResponse, check_responses, parse_response
from textsignal.errors import InputError
from textsignal.families import FAMILIES, Family
from textsignal.families.auto import AUTO, of_order, reads_as_scale
from textsignal.families.classes import MOST_CLASSES
from textsignal.families.responses import first_text, ordered_categories
from textsignal.insight.inputs import Times, as_times
from textsignal.insight.naming import check_interval
from textsignal.reading.options import OF_ORDER, ResponseScale
from textsignal.uncertainty.effects import FEWEST_GROUPS

#: Families that are usually of whole numbers; a larger share of fractions than this is not a mistake.
OF_WHOLE_NUMBERS = (
    *("auto", "binomial", "beta-binomial", "adjacent-categories", "stereotype"),
    *("poisson", "negative-binomial"),
)
MOST_BROKEN = 0.2
#: What is done with rows that cannot be used.
BAD_ROWS = ("error", "drop")
#: Largest number of different texts for a column to be read as classes by default.
AUTO_CLASSES = 20


@dataclass(frozen=True, eq=False)
class TableRows:
    """Usable rows of a table.

    numbers : (rows,) their positions in the table; dropped : problems of the others, "" if there are none.
    texts : (rows,); inputs : covariates, offset and weights of the rows.
    groups, times, clusters : (rows,) values of the columns by, over and groups; None if absent.
    """

    numbers: Rows
    dropped: str
    texts: list[str]
    inputs: ModelInputs
    groups: pd.Series | None = None
    times: Times | None = None
    clusters: pd.Series | None = None


def usable(
    table: pd.DataFrame,
    columns: Roles,
    bad: BadRows,
    inputs: ModelInputs,
    on_bad_rows: str,
    responses: Mapping[str, ParsedResponse],
) -> TableRows:
    """Return the rows that can be used; raise if bad rows may not be dropped.

    bad : of texts and responses; inputs : covariates, offset and weights of the table.
    """
    bad = with_problems(bad, inputs)
    rows = usable_rows(bad, on_bad_rows)
    times = None if columns.over is None else as_times(column(table, columns.over, "over"), len(table))
    groups = None if columns.by is None else groups_of(table, columns.by)
    return TableRows(
        numbers=rows,
        dropped=bad.describe() if len(bad) else "",
        texts=column(table, columns.text, "text").to_numpy(dtype=object)[rows].tolist(),
        inputs=inputs.at(rows),
        groups=None if groups is None else groups.iloc[rows],
        times=None if times is None else times[rows],
        clusters=clusters_of(table, columns.groups, rows, [each.values for each in responses.values()]),
    )


def rows_to_fit(
    table: pd.DataFrame,
    columns: Roles,
    scales: Sequence[ResponseScale],
    parsed: Mapping[str, ParsedResponse],
    *,
    formula: str | None = None,
    levels: tuple[int, int] | None = None,
    on_bad_rows: str = "error",
) -> TableRows:
    """Return the rows that models of these responses can be fitted to.

    levels : lowest and highest response allowed; None takes those that occur.
    """
    ranges = {
        name: None if n_classes(each, scale) > 2 else levels or range_of(each, scale.family)
        for (name, each), scale in zip(parsed.items(), scales, strict=True)
    }
    inputs = model_inputs(table, columns.covariates, formula, columns.offset, columns.weights, learn=True)
    bad = check_responses(column(table, columns.text, "text"), parsed, ranges)
    rows = usable(table, columns, bad, inputs, on_bad_rows, parsed)
    excluded = np.ones(len(table), dtype=bool)
    excluded[rows.numbers] = False
    for (name, each), scale in zip(parsed.items(), scales, strict=True):
        values = each.given.copy()
        values[excluded] = None if each.labels is not None else np.nan
        try:
            scale.check(values)
        except InputError as error:
            raise InputError(f"response {name!r}: {error}" if len(parsed) > 1 else str(error)) from error
    return rows


def responses_in(
    table: pd.DataFrame, names: Sequence[str], scales: Sequence[ResponseScale]
) -> dict[str, ParsedResponse]:
    """Return the columns of responses, in numbers or labels of classes; several may not be of classes."""
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise InputError(f"response={twice[0]!r} is named twice")
    if len(names) == 1:
        return {names[0]: response_in(table, names[0], scales[0])}
    parsed = {name: response_in(table, name, scale, most=2) for name, scale in zip(names, scales, strict=True)}
    for (name, each), scale in zip(parsed.items(), scales, strict=True):
        if scale.is_auto and each.n_labels:
            labels = f"response {name!r} holds {each.n_labels:,} different texts"
            raise InputError(f"{labels}; next to other responses at most two are allowed, so fit it alone")
    return parsed


def response_in(table: pd.DataFrame, name: str, scale: ResponseScale, most: int = AUTO_CLASSES) -> ParsedResponse:
    """Return the column of a response, in numbers or labels of classes.

    most : maximum number of labels if family and levels are not given. More than two are then not labels if one begins
    with a digit: numbers in another notation have an order. Ordered categories of pandas are levels in
    their order, unless levels or a family without an order are given.
    """
    cells, family, levels = column(table, name, "response"), scale.family, scale.levels
    order = ordered_categories(cells) if levels is None and family in (AUTO, *OF_ORDER) else None
    if order is not None:
        of_order(order)
        return ParsedResponse.of_order(cells, order)
    if levels is not None or not scale.is_auto:
        ordered = levels is not None and first_text(levels) is not None
        classifies = getattr(FAMILIES.get(str(family), family), "classifies", False)
        parsed = parse_response(cells, MOST_CLASSES if ordered or classifies else 0)
        if classifies and parsed.n_labels > MOST_CLASSES:
            raise InputError(_too_many(name, parsed.n_labels))
        return parsed
    parsed = parse_response(cells, most)
    if parsed.labels is None and not parsed.n_labels:
        return parsed
    if any(str(cell).strip()[:1].isdigit() for cell in parsed.cells):
        return parse_response(cells, 2)
    if parsed.n_labels > most > 2:
        raise InputError(_too_many(name, parsed.n_labels))
    return parsed


def _too_many(name: str, n_labels: int) -> str:
    """Return the message for more texts than are read as classes."""
    labels = f"response {name!r} holds {n_labels:,} different texts"
    if n_labels > MOST_CLASSES:
        return f"{labels}, and more than {MOST_CLASSES} are too many for classes; name another column"
    return f'{labels}; up to {AUTO_CLASSES} are taken for classes: family="categorical" takes up to {MOST_CLASSES}'


def n_classes(response: ParsedResponse, scale: ResponseScale) -> int:
    """Return the number of classes without an order; 0 if the response is not of classes."""
    name = scale.family if isinstance(scale.family, str) else scale.family.name
    unordered = response.labels is not None and response.order is None
    if name != "categorical" and not (name == AUTO and scale.levels is None and unordered):
        return 0
    values = response.values
    return len(np.unique(values[~np.isnan(values)])) if scale.levels is None else np.size(scale.levels)


def range_of(response: ParsedResponse, family: str | Family) -> tuple[int, int] | None:
    """Return the range of responses; None if they need not be whole numbers, or are labels.

    Half stars are a scale, as `candidates` reads them; one half value alone, in a few rows, is a mistake.
    """
    known = response.values[~np.isnan(response.values)]
    name = family if isinstance(family, str) else family.name
    whole = response.labels is None and response.order is None and name in OF_WHOLE_NUMBERS
    broken = known[known % 1 != 0]
    if not known.size or not whole or broken.size > MOST_BROKEN * known.size:
        return None
    if name == AUTO and np.unique(broken).size > 1 and reads_as_scale(known):
        return None
    return int(np.floor(known.min())), int(np.ceil(known.max()))


def usable_rows(bad: BadRows, on_bad_rows: str) -> Rows:
    """Return the rows that can be used; raise if bad rows may not be dropped, or none is left."""
    check_choice("on_bad_rows", on_bad_rows, BAD_ROWS)
    if len(bad) and on_bad_rows == "error":
        raise InputError(f"{bad.describe()}. {bad.advice()}")
    rows = np.flatnonzero(~bad.mask)
    if rows.size == 0:
        raise InputError(f"no row is left: {bad.describe()}")
    return rows


def check_intervals(interval: float | None, groups: str | None, weights: str | None = None) -> None:
    """Raise if the level of intervals is invalid, or intervals are not available."""
    check_interval(interval)
    if groups is not None and interval is None:
        raise InputError(f"groups={groups!r} is for intervals; give interval=0.95 too")
    if weights is not None and interval is not None:
        raise InputError(
            f"interval={interval} cannot be combined with weights={weights!r}: a report counts every row once; "
            "leave one out"
        )


def clusters_of(table: pd.DataFrame, name: str | None, rows: Rows, responses: Sequence[ArrayLike]) -> pd.Series | None:
    """Return (rows,) clusters of dependent texts; None if not given. responses : of all rows of the table."""
    if name is None:
        return None
    clusters = groups_of(table, name, "groups").iloc[rows]
    for values in responses:
        answered = clusters[~np.isnan(np.asarray(values, dtype=float)[rows])]
        if answered.nunique() + int(answered.isna().sum()) < FEWEST_GROUPS:
            raise InputError(
                f"groups={name!r}: intervals need {FEWEST_GROUPS} or more groups of rows that have a response"
            )
    return clusters


def check_holdout(share: float) -> None:
    """Raise if a share to hold out is invalid."""
    if not 0 <= share < 1:
        raise InputError(f"holdout={share!r} must be at least 0 and below 1")


def hold_out(first_copies: Rows, share: float, seed: int, inputs: ModelInputs | None = None) -> Flags:
    """Split rows as documented: a permutation by default_rng(seed), its first part for training.

    Copies of a text stay together: a model that has seen a text predicts its copies too well. If that leaves one side
    empty, nothing is held out. Nor are rows with a level of a category that no training row has.
    """
    check_number("seed", seed, least=0, whole=True)
    n_rows = len(first_copies)
    n_training = round((1 - share) * n_rows)
    if n_training == 0:
        raise InputError(f"holdout={share!r} leaves none of the {n_rows:,} rows for training; hold back fewer")
    flags = np.zeros(n_rows, dtype=bool)
    flags[np.random.default_rng(seed).permutation(n_rows)[n_training:]] = True
    flags = flags[first_copies]
    if flags.all():
        return np.zeros(n_rows, dtype=bool)
    return flags if inputs is None else without_copies(flags, first_copies, only_held_out(inputs, flags))


def without_copies(flags: Flags, first_copies: Rows, excluded: Flags) -> Flags:
    """Return held-out flags, False for some rows and their copies."""
    return flags & ~np.isin(first_copies, first_copies[excluded])
