"""Checks of matrices, responses and covariates given to an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from textsignal.checks import _numbers, check_covariate_sizes, check_groups
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError


def check_given(n_documents: int, covariates: Any, offset: Any, groups: Any = None) -> Given:
    """Covariates (documents, columns), which are numbers, offset and groups, as far as they are given."""
    columns = np.zeros((n_documents, 0)) if covariates is None else _numbers("covariates", covariates)
    offsets = np.zeros(n_documents) if offset is None else _numbers("offset", offset)
    for name, values, n_axes in (("covariates", columns, 2), ("offset", offsets, 1)):
        if values.ndim != n_axes or len(values) != n_documents:
            shape = "(documents, columns)" if n_axes == 2 else "(documents,)"
            raise InputError(f"{name} has shape {values.shape}; it must be {shape}, of {n_documents} documents")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            place = "row {}, column {}".format(*bad[0]) if n_axes == 2 else f"row {bad[0][0]}"
            raise InputError(f"{name} must be finite numbers; the first that is none is in {place}")
    check_covariate_sizes(columns, [f"column {number}" for number in range(columns.shape[1])])
    return Given(columns, offsets, check_groups(groups, n_documents))
