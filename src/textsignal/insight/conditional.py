"""What a fitted model knows of documents beside their text: covariates and offset."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.checks import check_choice, check_covariate_sizes, check_groups
from textsignal.data.covariates.design import Design, as_offset, as_table, missing_cells
from textsignal.data.covariates.formula import parse_formula
from textsignal.data.covariates.given import Given
from textsignal.errors import InputError, RowsError
from textsignal.reading.observed import Observed, Tokens

#: What to do with training documents whose covariates are missing.
MISSING = ("error", "drop")


def texts_and_covariates(texts: Any, covariates: Any) -> tuple[Iterable[str] | Tokens, Any]:
    """Texts and covariates, where a DataFrame may hold both: texts in its first column, covariates in the others.

    Examples
    --------
    >>> texts, covariates = texts_and_covariates(pd.DataFrame({"review": ["Fine."], "price": [3.0]}), None)
    >>> texts, list(covariates)
    (['Fine.'], ['price'])
    """
    if not isinstance(texts, pd.DataFrame):
        return texts, covariates
    if not len(texts.columns):
        raise InputError("a DataFrame of texts needs them in its first column")
    if covariates is None and len(texts.columns) > 1:
        covariates = texts.iloc[:, 1:]
    return texts.iloc[:, 0].tolist(), covariates


def observe_given(
    observed: Observed,
    *,
    covariates: Any,
    offset: ArrayLike | None,
    groups: ArrayLike | None,
    formula: str | None,
    missing: str,
) -> tuple[Observed, Design | None]:
    """Documents of training with what is given beside their text, and how that became numbers.

    missing : "error", or "drop" to leave out documents of which a covariate, or the offset, is missing.
    """
    check_choice("missing", missing, MISSING)
    if formula is not None and covariates is None:
        raise InputError(f"formula={formula!r} needs covariates; give them: fit(texts, responses, covariates=...)")
    table = as_table(covariates, len(observed.tokens))
    numbers = check_groups(groups, len(observed.tokens))
    if table is None and offset is None:
        return observed, None
    rows = np.arange(len(observed.tokens))
    if missing == "drop":
        rows = _complete(table, offset, formula, len(observed.tokens))
        observed, table = observed.at(rows), None if table is None else table.iloc[rows]
        offset = None if offset is None else np.asarray(offset, dtype=float)[rows]
        numbers = None if numbers is None else numbers[rows]
    with RowsError.among(rows):
        added = as_offset(offset, len(observed.tokens))
        design = Design.learn(table, formula, observed.weight, added)
        given = design.given(table, added, len(observed.tokens))
    check_covariate_sizes(given.columns, [repr(name) for name in design.names])
    return observed.with_given(Given(given.columns, given.offset, numbers)), design


def _complete(table: pd.DataFrame | None, offset: ArrayLike | None, formula: str | None, n_documents: int) -> Any:
    """Rows of which nothing is missing."""
    complete = np.ones(n_documents, dtype=bool)
    if table is not None:
        names = list(table.columns) if formula is None else parse_formula(formula).columns
        complete &= ~missing_cells(table[[name for name in names if name in table]]).any(axis=1).to_numpy()
    if isinstance(offset, Sized) and len(offset) == n_documents:
        complete &= np.isfinite(np.asarray(offset, dtype=float))
    if not complete.any():
        raise InputError("no document has all its covariates, so none is left; name fewer covariates")
    return np.flatnonzero(complete)
