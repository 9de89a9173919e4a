"""Which rows of a table a model is fitted to, and which are held back."""

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

#: Families of whole numbers as a rule; more broken numbers than this share are no mistakes.
OF_WHOLE_NUMBERS = (
    *("auto", "binomial", "beta-binomial", "adjacent-categories", "stereotype"),
    *("poisson", "negative-binomial"),
)
MOST_BROKEN = 0.2
#: Different texts up to which a column is taken for classes where nobody says so.
AUTO_CLASSES = 20


@dataclass(frozen=True, eq=False)
class UsedRows:
    """Rows of a table that are used.

    rows : (documents,) their positions; dropped : what was wrong with the others, "" where nothing was.
    first_copies : (documents,) the first with the same words; held_out : (documents,) whether training sees it not.
    beside : what stands beside texts; by, over : columns of groups and dates; groups, times : what they hold.
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
        """Raise where a used row's response cannot be of the family that a model asks for, naming it in the table."""
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
    """Find the rows to use, read their texts and hold some of them back, as `analyse` says.

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
    """The column of a response, in numbers or labels of classes.

    most : how many different texts are labels where family and levels are left open. More than two are then none if
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
    """What is said of more texts than are taken for classes."""
    found = f"response {name!r} holds {n_labels:,} different texts"
    if n_labels > MOST_CLASSES:
        return f"{found}, and more than {MOST_CLASSES} are too many for classes; name another column"
    return f'{found}; up to {AUTO_CLASSES} are taken for classes: family="categorical" takes up to {MOST_CLASSES}'


def n_classes(response: ParsedResponse, family: str | Family, levels: ArrayLike | None = None) -> int:
    """How many classes without an order the responses are of; 0 where they are of none."""
    name = family if isinstance(family, str) else family.name
    unordered = response.labels is not None and response.order is None
    if name != "categorical" and not (name == AUTO and levels is None and unordered):
        return 0
    return len(np.unique(response.values[~np.isnan(response.values)])) if levels is None else np.size(levels)


def range_of(response: ParsedResponse, family: str | Family) -> tuple[int, int] | None:
    """The whole numbers that the responses lie between; None where they need not be whole, or are labels.

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
    """The rows that can be used; an error where bad ones may not be left out, or none is left."""
    check_on_bad_rows(on_bad_rows)
    if len(bad) and on_bad_rows == "error":
        raise InputError(f"{bad.describe()}. {bad.advice()}")
    rows = np.flatnonzero(~bad.mask)
    if rows.size == 0:
        raise InputError(f"no row is left: {bad.describe()}")
    return rows


def check_on_bad_rows(given: str) -> None:
    """Raise where nobody knows what to do with bad rows."""
    if given not in ("error", "drop"):
        raise InputError(f'on_bad_rows={given!r} is not known; give "error" or "drop"')


def check_holdout(share: float) -> None:
    """Raise where a share to hold back is none."""
    if not 0 <= share < 1:
        raise InputError(f"holdout={share!r} must be at least 0 and below 1")


def hold_out(first_copies: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """The documented split: a permutation by default_rng(seed), its first part for training.

    Copies of a text go where the first of them goes: a model that has seen a text predicts its copies too well. Where
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
