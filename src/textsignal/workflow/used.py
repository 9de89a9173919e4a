"""Rows of a table that a model is fitted to, and rows that are held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.data.read import column, groups_of
from textsignal.data.roles import Beside, only_held_out, with_problems
from textsignal.data.rows import BadRows, ParsedResponse, check_responses, parse_response
from textsignal.errors import InputError
from textsignal.families import FAMILIES, Family
from textsignal.families.auto import AUTO, of_order, reads_as_scale
from textsignal.families.classes import MOST_CLASSES
from textsignal.families.responses import first_text, ordered_categories
from textsignal.insight.inputs import Times, as_times
from textsignal.reading.observed import Tokens
from textsignal.reading.options import OF_ORDER, Options, check_response

#: Families that are usually of whole numbers; a larger share of fractions than this is not a mistake.
OF_WHOLE_NUMBERS = (
    *("auto", "binomial", "beta-binomial", "adjacent-categories", "stereotype"),
    *("poisson", "negative-binomial"),
)
MOST_BROKEN = 0.2
#: Maximum number of different texts for a column to be read as classes by default.
AUTO_CLASSES = 20


@dataclass(frozen=True, eq=False)
class UsedRows:
    """Rows of a table that are used.

    rows : (documents,) their positions; dropped : problems of the others, "" if there are none.
    first_copies : (documents,) the first with the same words; held_out : (documents,) True if not used in training.
    beside : covariates, offset and weights; by, over : columns of groups and dates; groups, times : their values.
    """

    rows: NDArray[np.int64]
    dropped: str
    tokens: Tokens
    first_copies: NDArray[np.int64]
    held_out: NDArray[np.bool_]
    beside: Beside
    by: str | None
    groups: pd.Series | None
    over: str | None
    times: Times | None

    def check(self, model: Options, response: ParsedResponse) -> None:
        """Raise if a used row's response does not fit the family of a model, naming the row of the table."""
        column, others = response.given.copy(), np.ones(len(response.values), dtype=bool)
        others[self.rows] = False
        column[others] = None if response.labels is not None else np.nan
        check_response(model, column)


def use_rows(
    table: pd.DataFrame,
    responses: Mapping[str, ParsedResponse],
    *,
    text: str,
    tokenise: Callable[[list[str]], Tokens],
    ranges: Mapping[str, tuple[int, int] | None],
    beside: Beside,
    holdout: float,
    seed: int,
    on_bad_rows: str,
    by: str | None,
    over: str | None,
) -> UsedRows:
    """Find the rows to use, read their texts and hold some of them out, as `analyse` describes.

    ranges : whole numbers that responses lie between, None for any numbers.
    """
    check_holdout(holdout)
    texts = column(table, text, "text")
    groups = None if by is None else groups_of(table, by)
    times = None if over is None else as_times(column(table, over, "over"), len(table))
    bad = with_problems(check_responses(texts, responses, ranges), beside)
    rows = usable_rows(bad, on_bad_rows)
    beside = beside.at(rows)
    tokens = tokenise(texts.to_numpy(dtype=object)[rows].tolist())
    first_copies = tokens.first_copies()
    held_out = hold_out(first_copies, holdout, seed)
    held_out &= ~np.isin(first_copies, first_copies[only_held_out(beside, held_out)])
    return UsedRows(
        rows=rows,
        dropped=bad.describe() if len(bad) else "",
        tokens=tokens,
        first_copies=first_copies,
        held_out=held_out,
        beside=beside,
        by=by,
        groups=None if groups is None else groups.iloc[rows],
        over=over,
        times=None if times is None else times[rows],
    )


def response_in(
    table: pd.DataFrame,
    name: str,
    family: str | Family,
    levels: ArrayLike | None = None,
    most: int = AUTO_CLASSES,
) -> ParsedResponse:
    """Return the column of a response, in numbers or labels of classes.

    most : maximum number of labels if family and levels are left open. More than two are then not labels if
    one begins with a digit: numbers that are written in another way have an order. Ordered categories of pandas are
    levels in their order, unless levels or a family without an order are given.
    """
    cells = column(table, name, "response")
    order = ordered_categories(cells) if levels is None and family in (AUTO, *OF_ORDER) else None
    if order is not None:
        of_order(order)
        return ParsedResponse.of_order(cells, order)
    if levels is not None or not (isinstance(family, str) and family == AUTO):
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


def n_classes(response: ParsedResponse, family: str | Family, levels: ArrayLike | None = None) -> int:
    """Return the number of classes without an order; 0 if the response is not of classes."""
    name = family if isinstance(family, str) else family.name
    unordered = response.labels is not None and response.order is None
    if name != "categorical" and not (name == AUTO and levels is None and unordered):
        return 0
    return len(np.unique(response.values[~np.isnan(response.values)])) if levels is None else np.size(levels)


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


def usable_rows(bad: BadRows, on_bad_rows: str) -> NDArray[np.int64]:
    """Return the rows that can be used; raise if bad rows may not be dropped, or none is left."""
    check_on_bad_rows(on_bad_rows)
    if len(bad) and on_bad_rows == "error":
        raise InputError(f"{bad.describe()}. {bad.advice()}")
    rows = np.flatnonzero(~bad.mask)
    if rows.size == 0:
        raise InputError(f"no row is left: {bad.describe()}")
    return rows


def check_on_bad_rows(given: str) -> None:
    """Raise if the treatment of bad rows is unknown."""
    if given not in ("error", "drop"):
        raise InputError(f'on_bad_rows={given!r} is not known; give "error" or "drop"')


def check_holdout(share: float) -> None:
    """Raise if a share to hold out is invalid."""
    if not 0 <= share < 1:
        raise InputError(f"holdout={share!r} must be at least 0 and below 1")


def hold_out(first_copies: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """The documented split: a permutation by default_rng(seed), its first part for training.

    Copies of a text stay together: a model that has seen a text predicts its copies too well. If
    that leaves one side empty, nothing is held out.
    """
    if seed < 0:
        raise InputError(f"seed={seed} must be a whole number of at least 0")
    n_rows = len(first_copies)
    n_training = round((1 - share) * n_rows)
    if n_training == 0:
        raise InputError(f"holdout={share!r} leaves none of the {n_rows:,} rows for training; hold back fewer")
    flags = np.zeros(n_rows, dtype=bool)
    flags[np.random.default_rng(seed).permutation(n_rows)[n_training:]] = True
    flags = flags[first_copies]
    return np.zeros(n_rows, dtype=bool) if flags.all() else flags
