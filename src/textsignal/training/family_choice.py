"""Choice of the family that fits a response best, given the tone of the texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.families import Family, log_scores
from textsignal.families.auto import Candidates
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.corpus import grouped
from textsignal.training.glm import ResponseModel, fit_glm


@dataclass(frozen=True)
class Choice:
    """The chosen family, and a description of the choice for display; "" if there was one candidate only.

    Examples
    --------
    >>> from textsignal.families import Gaussian
    >>> Choice(Gaussian(1.0), "numbers from 80 to 100", ()).described
    'numbers from 80 to 100, gaussian'
    """

    family: Family
    response: str
    scores: tuple[tuple[str, float], ...]

    @property
    def described(self) -> str:
        """Description of the response, the family, and the log score of every candidate; smaller is better."""
        if not self.response:
            return ""
        text = f"{self.response}, {self.family.name}"
        if not self.scores:
            return text
        best, *others = sorted(self.scores, key=lambda score: score[1])
        rest = ", ".join(f"{name} {score:.3f}" for name, score in others)
        return f"{text}, by the log score of held-back texts ({best[1]:.3f}; {rest})"


def choose_family(
    given: Candidates,
    tone: Vector,
    folds: NDArray[np.int64],
    responses: Vector,
    weight: Vector,
    compute: Compute,
) -> Choice:
    """Return the family with the best mean log score on held-out documents, using a GLM on their tone alone.

    tone : (documents,) out of fold; folds : (documents,) held out in turn.
    responses : (documents,) on the user's scale, NaN if missing; weight : (documents,) how often each counts.
    """
    rows = np.flatnonzero(~np.isnan(responses) & (weight > 0))
    if len(given.families) == 1 or np.unique(folds[rows]).size < 2:
        return Choice(given.families[0], given.described, ())
    alike = grouped(tone[rows], folds[rows], responses[rows], weight[rows])
    scores = [_score(family, *alike, compute) for family in given.families]
    names = [family.name for family in given.families]
    return Choice(given.families[int(np.argmin(scores))], given.described, tuple(zip(names, scores, strict=True)))


def _score(
    family: Family, columns: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector, compute: Compute
) -> float:
    """Cross-validated mean log score."""
    model, y = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True), family.encode(responses)
    lost, start = np.empty(len(y)), None
    for fold in np.unique(folds):
        out = folds == fold
        fit = fit_glm(model, columns[~out], y[~out], weight[~out], start=start)
        model, start = replace(model, family=fit.family), fit.coefficients  # warm start for the next fold
        lost[out] = log_scores(fit.family, responses[out], fit.linear_predictor(columns[out]))
    return float(np.average(lost, weights=weight))
