"""Skill of the model compared with baselines, and calibration of its probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsignal.evaluation import metrics as evaluate
from textsignal.families import Family, best_constant, deviance, distribution_of_numbers, log_scores
from textsignal.report.values.data import Floats
from textsignal.report.values.texts import Bar, Bins, ReportTexts, bars_of

#: Most texts to measure calibration on; bins of probabilities, of predictions and of the PIT.
MOST_MEASURED, BINS = 20_000, 10
#: Probability of the intervals whose coverage is measured.
INTERVAL = 0.8
NOTES = {
    "this model": "themes and tone; training texts are predicted by fits that excluded them",
    "ridge": "a coefficient for every term, penalised; penalty by cross-validation",
    "linear": "a coefficient for every term, not penalised",
    "mean": "the mean response of training for every text",
}


class Scores(NamedTuple):
    """Skill of predictions: R2, root mean squared error, mean deviance per text."""

    texts: int
    r2: float
    rmse: float
    deviance: float


class SkillRow(NamedTuple):
    """Scores of one predictor; None without such texts, or if it was not fitted."""

    name: str
    note: str
    training: Scores | None
    held_out: Scores | None

    @property
    def gap(self) -> float | None:
        """R2 on training texts minus R2 on held-out texts."""
        return None if self.training is None or self.held_out is None else self.training.r2 - self.held_out.r2


class Agreement(NamedTuple):
    """Number of `cases` with a prediction near `predicted` and the observation, or mean observation, `observed`."""

    predicted: float
    observed: float
    cases: int


@dataclass(frozen=True)
class Prediction:
    """Skill and calibration, on held-out texts if there are any (`held_out`).

    agreement : predictions against responses; means : their means in bins of predictions; reliability : probabilities
        of levels against observed frequencies.
    interval_meant, interval_held : probability of the 80% intervals, larger for discrete responses, and share inside.
    log_score, log_score_without : mean per text, with the text and without it; the smaller the better.
    """

    held_out: bool
    rows: tuple[SkillRow, ...]
    agreement: tuple[Agreement, ...]
    means: tuple[Agreement, ...]
    reliability: tuple[Agreement, ...]
    pit: tuple[Bar, ...]
    interval_meant: float
    interval_held: float
    log_score: float
    log_score_without: float

    def measured(self, name: str) -> Scores | None:
        """Return the scores of one predictor, on held-out texts if there are any."""
        rows = (row for row in self.rows if row.name == name)
        return next((row.held_out if self.held_out else row.training for row in rows), None)


def prediction_of(texts: ReportTexts) -> Prediction | None:
    """Measure skill and calibration, on held-out texts if there are any; None if no text has a response."""
    family, answered = texts.reading.fitted.family, ~np.isnan(texts.reading.observed.responses)
    if not answered.any():
        return None
    held_out = bool((answered & texts.reading.observed.unseen).any())
    measured = np.flatnonzero(answered & (texts.reading.observed.unseen == held_out))
    measured = measured[:: -(-measured.size // MOST_MEASURED)]
    responses, eta = texts.reading.observed.responses[measured], texts.reading.mentions.eta[measured]
    meant, held = coverage(family, responses, eta)
    training, new = answered & ~texts.reading.observed.unseen, answered & texts.reading.observed.unseen
    means = {"this model": family.mean(texts.reading.mentions.eta)} | texts.baselines
    etas = {"this model": texts.reading.mentions.eta} | {
        name: family.link(mean) for name, mean in texts.baselines.items()
    }
    return Prediction(
        held_out=held_out,
        rows=tuple(
            SkillRow(
                name,
                NOTES[name],
                *(scores(texts.reading.observed.responses, mean, etas[name], family, rows) for rows in (training, new)),
            )
            for name, mean in means.items()
        ),
        agreement=agreement(responses, family.mean(eta), texts.bins),
        means=mean_agreement(responses, family.mean(eta)),
        reliability=reliability(texts.bins.chances(family, eta), texts.bins.happened(responses)),
        pit=pit(family, responses, eta),
        interval_meant=meant,
        interval_held=held,
        log_score=float(np.mean(log_scores(family, responses, eta))),
        log_score_without=without_text(family, texts.reading.observed.responses[training], responses),
    )


def scores(responses: Floats, mean: Floats, eta: Floats, family: Family, rows: NDArray[np.bool_]) -> Scores | None:
    """Return skill on those of `rows` that have a prediction, None if there are none; deviance is per text."""
    rows = rows & ~np.isnan(mean)
    if not rows.any():
        return None
    mean_deviance = deviance(family, family.encode(responses[rows]), eta[rows]) / rows.sum()
    r2, rmse = evaluate.r2_score(responses[rows], mean[rows]), evaluate.rmse(responses[rows], mean[rows])
    return Scores(int(rows.sum()), r2, rmse, float(mean_deviance))


def reliability(probabilities: Floats, happened: Floats) -> tuple[Agreement, ...]:
    """Compare probabilities, in equal bins from 0 to 1, with observed frequencies.

    probabilities : (texts, levels); happened : (texts, levels) 1 for the observed level, else 0.
    """
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    inside = (bins == b for b in range(BINS))
    return tuple(
        Agreement(round(float(probabilities[at].mean()), 6), round(float(happened[at].mean()), 6), int(at.sum()))
        for at in inside
        if at.any()
    )


def pit(family: Family, responses: Floats, eta: Floats) -> tuple[Bar, ...]:
    """Return the histogram of the probability integral transform: 1 in every bin under perfect calibration.

    A level is spread evenly from P(below it) to P(up to it) (Czado, Gneiting and Held, 2009).
    """
    edges = np.linspace(0, 1, BINS + 1)
    labels = [f"{start:.0%} to {stop:.0%}" for start, stop in pairwise(edges)]
    return bars_of(labels, edges, np.diff(evaluate.pit_shares(family, responses, eta, BINS)) * BINS)


def coverage(family: Family, responses: Floats, eta: Floats) -> tuple[float, float]:
    """Return the mean probability of central intervals, above INTERVAL for discrete responses, and the share inside."""
    distribution = distribution_of_numbers(family, eta)
    low, high = (np.asarray(end) for end in distribution.interval(INTERVAL))
    at_low = np.asarray(distribution.pmf(low)) if hasattr(distribution, "pmf") else np.zeros(np.shape(low))
    meant = distribution.cdf(high) - distribution.cdf(low) + at_low
    return float(np.mean(meant)), float(np.mean((responses >= low) & (responses <= high)))


def without_text(family: Family, training: Floats, responses: Floats) -> float:
    """Return the mean log score without text: of the frequencies of levels, or of the best constant."""
    known = training if training.size else responses
    if known.min() == known.max():
        return float("nan")
    y = family.encode(known)
    if hasattr(family, "levels"):
        counts = np.maximum(np.bincount(y.astype(np.int64), minlength=len(family.levels)), 0.5)
        return float(-np.mean(np.log(counts / counts.sum())[family.encode(responses).astype(np.int64)]))
    ones = np.ones(known.size)
    constant = np.full(known.size, best_constant(family, y, ones))
    alone = family.refit(y, constant, ones)
    return float(np.mean(log_scores(alone, responses, np.full(responses.size, constant[0]))))


def agreement(responses: Floats, mean: Floats, bins: Bins) -> tuple[Agreement, ...]:
    """Count texts by prediction, in equal steps of the scale, and by level, or step, of the response."""
    low, high, n_steps = bins.low, bins.high, 4 * BINS

    def step(values: Floats) -> NDArray[np.int64]:
        return np.clip(((values - low) / (high - low) * n_steps).astype(np.int64), 0, n_steps - 1)

    def middle(steps: Floats) -> Floats:
        return low + (steps + 0.5) / n_steps * (high - low)

    observed = responses if bins.levels.size else middle(step(responses).astype(float))
    cells, counts = np.unique(np.column_stack([step(mean), observed]), axis=0, return_counts=True)
    numbers = zip(middle(cells[:, 0]).tolist(), cells[:, 1].tolist(), counts.tolist(), strict=True)
    return tuple(Agreement(*of_cell) for of_cell in numbers)


def mean_agreement(responses: Floats, mean: Floats) -> tuple[Agreement, ...]:
    """Return the mean prediction and mean response of tenths of the texts, by prediction."""
    tenths = evaluate.calibration_table(responses, mean, BINS).itertuples()
    return tuple(Agreement(tenth.predicted, tenth.observed, tenth.documents) for tenth in tenths)
