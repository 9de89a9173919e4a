"""How good a fit is: skill of predictions and coherence of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from textsignal.errors import InputError
from textsignal.families import Family, distribution_of_numbers
from textsignal.families.labels import as_column

#: Training skill is far above held-out skill from this gap in R2 on, and from this share of training's R2.
OVERFIT_GAP, OVERFIT_SHARE = 0.15, 0.35


def r2_score(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """1 - sum (y - predicted)^2 / sum (y - mean y)^2 over documents that have a response.

    NaN where all responses are the same, since nothing can be explained then.

    Examples
    --------
    >>> r2_score([1, 2, 3], [1, 2, 4])
    0.5
    """
    observed, predictions, weights = _known(y, predicted, weight)
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
    observed, predictions, weights = _known(y, predicted, weight)
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


def calibration_table(y: ArrayLike, predicted: ArrayLike, n_bins: int = 10) -> pd.DataFrame:
    """Mean prediction and mean response in bins of documents with alike predictions, as many in each bin.

    Columns: predicted, observed (means), standard_error (of the mean response, NaN for a single document), documents.
    Documents of equal predictions share a bin, so there may be fewer bins than asked for.

    Examples
    --------
    >>> calibration_table([1, 2, 4, 5], [2, 2, 4, 4], n_bins=2)
       predicted  observed  standard_error  documents
    0        2.0       1.5             0.5          2
    1        4.0       4.5             0.5          2
    """
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InputError(f"n_bins={n_bins!r} must be a whole number of at least 1")
    observed, predictions, _ = _known(y, predicted, None)
    rank = stats.rankdata(predictions, method="min") - 1
    bins = np.floor(rank * n_bins / len(rank)).astype(int)
    grouped = pd.DataFrame({"predicted": predictions, "observed": observed}).groupby(bins)
    table = grouped.mean()
    table["standard_error"] = grouped["observed"].sem()
    table["documents"] = grouped.size()
    return table.reset_index(drop=True)


def pit_shares(
    family: Family, y: ArrayLike, eta: NDArray[np.float64], n_bins: int = 10, weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """(n_bins + 1,) share of documents whose response lies below each of equal parts of its predicted distribution.

    Under perfect calibration it is that part: 0, .1, .2, ... A level takes up the stretch from P(below it) to P(up to
    it), spread evenly (Czado, Gneiting and Held, 2009). No response is missing.

    Examples
    --------
    >>> from textsignal.families import Bernoulli
    >>> pit_shares(Bernoulli((0, 1)), [0, 1], np.zeros(2), n_bins=4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    responses, distribution = np.asarray(y, dtype=float), distribution_of_numbers(family, eta)
    high = np.asarray(distribution.cdf(responses))
    low = high - (np.asarray(distribution.pmf(responses)) if hasattr(distribution, "pmf") else 0.0)
    width = np.maximum(high - low, np.finfo(float).tiny)
    edges = np.linspace(0, 1, n_bins + 1)
    weights = np.ones(len(responses)) if weight is None else np.asarray(weight, dtype=float)
    below: NDArray[np.float64] = np.clip((edges[:, None] - low) / width, 0, 1) @ (weights / weights.sum())
    return below


def top_terms(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.int64]:
    """(topics, n) numbers of each topic's most probable terms, ties by term number.

    Examples
    --------
    >>> top_terms(np.array([[0.1, 0.6, 0.3]]), n=2)
    array([[1, 2]])
    """
    return np.argsort(-topics, axis=1, kind="stable")[:, :n]


def coherence(X: sp.csr_array, topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Mean NPMI of all pairs of each topic's n most probable terms, by co-occurrence in the documents of X.

        npmi(a, b) = log( p(a, b) / (p(a) p(b)) ) / -log p(a, b);   -1 for a pair that never co-occurs

    Examples
    --------
    >>> X = sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    >>> coherence(X, np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), n=2)
    array([ 1., -1.])
    """
    best = top_terms(topics, n)
    terms, place = np.unique(best, return_inverse=True)
    place = place.reshape(best.shape)
    present = (sp.csc_array(X)[:, terms] != 0).astype(float)
    joint = np.asarray((present.T @ present).todense()) / X.shape[0]
    single = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / np.outer(single, single)) / -np.log(joint)
    npmi = np.where(joint > 0, npmi, -1.0)
    # Terms in every document: always together, neither more nor less than by chance.
    npmi = np.where(joint >= 1, 1.0, npmi)
    first, second = np.triu_indices(best.shape[1], k=1)
    if first.size == 0:
        return np.full(len(best), np.nan)
    return npmi[place[:, first], place[:, second]].mean(axis=1)


def exclusivity(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Mean share of each topic in its n most probable terms: 1 when no other topic uses them.

    Examples
    --------
    >>> exclusivity(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]), n=2)
    array([0.75, 0.75])
    """
    totals = topics.sum(axis=0)
    share = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return np.take_along_axis(share, top_terms(topics, n), axis=1).mean(axis=1)


def overfit_warning(training_r2: float, held_out_r2: float, n_held_out: int) -> str | None:
    """What to say where training skill is far above held-out skill; None where it is not.

    It is far above where the gap in R2 is larger than OVERFIT_GAP, larger than chance among so few held-out documents
    (2 / sqrt(n)), and more than OVERFIT_SHARE of training's R2.

    Examples
    --------
    >>> overfit_warning(0.96, 0.58, 400)
    'R2 is 0.96 on training texts, but only 0.58 on held-out ones: ...'
    >>> overfit_warning(0.75, 0.69, 2000) is None
    True
    """
    gap = training_r2 - held_out_r2
    if not gap > max(OVERFIT_GAP, 2 / np.sqrt(max(n_held_out, 1)), OVERFIT_SHARE * training_r2):
        return None
    return (
        f"R2 is {training_r2:.2f} on training texts, but only {held_out_r2:.2f} on held-out ones: much of what was "
        "learnt holds for the training texts alone. Believe the held-out number; more texts raise it"
    )


def _known(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None) -> tuple[Any, Any, Any]:
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
