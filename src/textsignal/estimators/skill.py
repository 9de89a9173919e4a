"""Skill of predictions on texts that have a response."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.errors import InputError
from textsignal.families.responses import as_column


def r2_score(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """1 - sum (y - predicted)^2 / sum (y - mean y)^2 over documents that have a response.

    NaN where all responses are the same, since nothing can be explained then.

    Examples
    --------
    >>> r2_score([1, 2, 3], [1, 2, 4])
    0.5
    """
    observed, predictions, weights = known_responses(y, predicted, weight)
    spread = np.sum(weights * (observed - np.average(observed, weights=weights)) ** 2)
    error = np.sum(weights * (observed - predictions) ** 2)
    return float(1 - error / spread) if spread > 0 else float("nan")


def rmse(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Root of the mean squared error over documents that have a response.

    Examples
    --------
    >>> rmse([1, 2, 3, np.nan], [1, 2, 3, 9])
    0.0
    """
    observed, predictions, weights = known_responses(y, predicted, weight)
    return float(np.sqrt(np.average((observed - predictions) ** 2, weights=weights)))


def accuracy(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Share of documents whose label is predicted, of those that have one.

    Examples
    --------
    >>> accuracy(["no", "yes", None, "yes"], ["no", "yes", "no", "no"]).__round__(3)
    0.667
    """
    labels, others = as_column(y), as_column(predicted)
    known = ~pd.isna(labels)
    weights = np.ones(len(labels)) if weight is None else np.asarray(weight, dtype=float)
    return float(np.average(labels[known] == others[known], weights=weights[known]))


def known_responses(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None) -> tuple[Any, Any, Any]:
    """Return responses, predictions and weights of the texts that have a response; raise if their sizes differ."""
    observed, predictions = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float)
    weights = np.ones(observed.shape) if weight is None else np.asarray(weight, dtype=float)
    if observed.shape != predictions.shape:
        raise InputError(f"{observed.shape[0]} responses, but {predictions.shape[0]} predictions")
    if weights.shape != observed.shape:
        raise InputError(f"{observed.shape[0]} responses, but weights of shape {weights.shape}; give one for each")
    known = ~np.isnan(observed)
    if not known.any():
        raise InputError("no document has a response, so skill cannot be measured")
    return observed[known], predictions[known], weights[known]
