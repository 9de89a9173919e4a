"""Skill and calibration of predictions, and coherence of topics."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.estimators.predictions import accuracy, known_responses, r2_score, rmse
from textsignal.families import Family
from textsignal.training.topics import coherence, exclusivity, top_terms

__all__ = [
    "accuracy",
    "calibration_table",
    "coherence",
    "exclusivity",
    "overfit_warning",
    "pit_shares",
    "r2_score",
    "rmse",
    "top_terms",
]

#: Least gap in R2 by which training skill is far above held-out skill, and least share of training's R2.
OVERFIT_GAP, OVERFIT_SHARE = 0.15, 0.35


def calibration_table(y: ArrayLike, predicted: ArrayLike, n_bins: int = 10) -> pd.DataFrame:
    """Return mean prediction and mean response in bins of texts with similar predictions, all about equally large.

    Columns: predicted, observed (means), standard_error (of the mean response, NaN for a single text), documents.
    Texts of equal predictions share a bin, so there may be fewer bins than `n_bins`.
    """
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InputError(f"n_bins={n_bins!r} must be a whole number of at least 1")
    observed, predictions, _ = known_responses(y, predicted, None)
    rank = stats.rankdata(predictions, method="min") - 1
    bins = np.floor(rank * n_bins / len(rank)).astype(int)
    grouped = pd.DataFrame({"predicted": predictions, "observed": observed}).groupby(bins)
    table = grouped.mean()
    table["standard_error"] = grouped["observed"].sem()
    table["documents"] = grouped.size()
    return table.reset_index(drop=True)


def pit_shares(family: Family, y: ArrayLike, eta: Vector, n_bins: int = 10, weight: ArrayLike | None = None) -> Vector:
    """Return (n_bins + 1,) shares of texts whose response lies below the quantiles of its predicted distribution.

    Under perfect calibration these are the levels of the quantiles: 0, .1, .2, ... A level of the response is spread
    evenly from P(below it) to P(up to it) (Czado, Gneiting and Held, 2009). No response may be missing.
    """
    responses, distribution = np.asarray(y, dtype=float), family.distribution_of_numbers(eta)
    high = np.asarray(distribution.cdf(responses))
    low = high - (np.asarray(distribution.pmf(responses)) if hasattr(distribution, "pmf") else 0.0)
    width = np.maximum(high - low, np.finfo(float).tiny)
    edges = np.linspace(0, 1, n_bins + 1)
    weights = np.ones(len(responses)) if weight is None else np.asarray(weight, dtype=float)
    below: Vector = np.clip((edges[:, None] - low) / width, 0, 1) @ (weights / weights.sum())
    return below


def overfit_warning(training_r2: float, held_out_r2: float, n_held_out: int) -> str | None:
    """Return a warning if training skill is far above held-out skill, else None.

    It is far above if the gap in R2 is larger than OVERFIT_GAP, larger than chance among n held-out texts
    (2 / sqrt(n)), and more than OVERFIT_SHARE of training's R2.
    """
    gap = training_r2 - held_out_r2
    if not gap > max(OVERFIT_GAP, 2 / np.sqrt(max(n_held_out, 1)), OVERFIT_SHARE * training_r2):
        return None
    return (
        f"R2 is {training_r2:.2f} on training texts, but only {held_out_r2:.2f} on held-out ones: much of what was "
        "learnt holds for the training texts alone. Believe the held-out number; more texts raise it"
    )
