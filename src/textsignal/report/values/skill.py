"""Skill of the model compared with baselines, and calibration of its probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textsignal.evaluation import metrics as evaluate
from textsignal.families import Family, best_constant, deviance
from textsignal.report.values.bins import Bins, bars_of
from textsignal.report.values.data import Agreement, Bar, Floats, Prediction, Reliability, Scores, SkillRow
from textsignal.report.values.documents import ReportTexts

#: Most documents to measure calibration on; bins of probabilities, of predictions and of the PIT.
MOST_MEASURED, BINS = 20_000, 10
#: Probability of the intervals whose coverage is measured.
INTERVAL = 0.8
NOTES = {
    "this model": "from what the text speaks of, and how",
    "its themes alone": "the same, without the single words",
    "ridge": "every term its own coefficient, penalised; penalty by cross-validation",
    "linear": "every term its own coefficient, not penalised",
    "mean": "the mean response of training, whatever the text says",
}
#: Note on a model of themes.
OUT_OF_FOLD = "themes and tone; training texts by tone of fits that left them out"


def prediction_of(documents: ReportTexts, family: Family) -> Prediction | None:
    """Measure skill and calibration, on held-out documents if there are any; None if no document has a response."""
    answered = ~np.isnan(documents.responses)
    if not answered.any():
        return None
    held_out = bool((answered & documents.held_out).any())
    measured = np.flatnonzero(answered & (documents.held_out == held_out))
    measured = measured[:: -(-measured.size // MOST_MEASURED)]
    predictions = documents.reading.predictions
    unseen = documents.spoken.eta
    responses, eta = documents.responses[measured], unseen[measured]
    meant, held = coverage(family, responses, eta)
    ways = {"this model": unseen}
    notes = NOTES if documents.reading.clauses is None else NOTES | {"this model": OUT_OF_FOLD}
    if predictions.beyond.any():
        ways["its themes alone"] = predictions.by_topics.eta
        notes = NOTES | {"this model": "themes, and what single words add beyond them"}
    means = {name: family.mean(eta) for name, eta in ways.items()} | documents.baselines
    ways |= {name: family.link(predicted) for name, predicted in documents.baselines.items()}
    return Prediction(
        held_out=held_out,
        rows=tuple(
            SkillRow(
                name,
                notes[name],
                scores(documents.responses, means[name], ways[name], family, answered & ~documents.held_out),
                scores(documents.responses, means[name], ways[name], family, answered & documents.held_out),
            )
            for name in ways
        ),
        agreement=agreement(responses, family.mean(eta), documents.bins),
        means=mean_agreement(responses, family.mean(eta)),
        reliability=reliability(documents.bins.chances(family, eta), documents.bins.happened(responses)),
        pit=pit(family, responses, eta),
        interval_meant=meant,
        interval_held=held,
        log_score=float(np.mean(family.log_scores(responses, eta))),
        log_score_without=without_text(family, documents.responses[answered & ~documents.held_out], responses),
    )


def scores(responses: Floats, mean: Floats, eta: Floats, family: Family, rows: NDArray[np.bool_]) -> Scores | None:
    """Return skill on those of `rows` that have a prediction, None if there are none; deviance is per document."""
    rows = rows & ~np.isnan(mean)
    if not rows.any():
        return None
    y = family.encode(responses[rows])
    mean_deviance = deviance(family, y, eta[rows]) / rows.sum()
    r2, rmse = evaluate.r2_score(responses[rows], mean[rows]), evaluate.rmse(responses[rows], mean[rows])
    return Scores(int(rows.sum()), r2, rmse, float(mean_deviance))


def reliability(probabilities: Floats, happened: Floats) -> tuple[Reliability, ...]:
    """Compare probabilities, in equal bins from 0 to 1, with observed frequencies.

    probabilities : (documents, levels); happened : (documents, levels) 1 for the observed level, else 0.

    Examples
    --------
    >>> reliability(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    (Reliability(probability=0.1, happened=0.5, count=2), Reliability(probability=0.9, happened=0.5, count=2))
    """
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    inside = (bins == b for b in range(BINS))
    return tuple(
        Reliability(round(float(probabilities[at].mean()), 6), round(float(happened[at].mean()), 6), int(at.sum()))
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
    distribution = family.distribution_of_numbers(eta)
    low, high = (np.asarray(end) for end in distribution.interval(INTERVAL))
    at_low = np.asarray(distribution.pmf(low)) if hasattr(distribution, "pmf") else np.zeros(np.shape(low))
    meant = distribution.cdf(high) - distribution.cdf(low) + at_low
    return float(np.mean(meant)), float(np.mean((responses >= low) & (responses <= high)))


def without_text(family: Family, training: Floats, responses: Floats) -> float:
    """Return the mean log score without text: of the frequencies of levels, or of the best constant."""
    known = training if training.size else responses
    if known.min() == known.max():
        return float("nan")
    if hasattr(family, "levels"):
        places, n_levels = family.encode(known).astype(np.int64), len(family.levels)
        counts = np.maximum(np.bincount(places, minlength=n_levels), 0.5)
        return float(-np.mean(np.log(counts / counts.sum())[family.encode(responses).astype(np.int64)]))
    y, ones = family.encode(known), np.ones(known.size)
    constant = np.full(known.size, best_constant(family, y, ones))
    alone = family.refit(y, constant, ones)
    return float(np.mean(alone.log_scores(responses, np.full(responses.size, constant[0]))))


def agreement(responses: Floats, mean: Floats, bins: Bins) -> tuple[Agreement, ...]:
    """Count documents by prediction, in equal steps of the scale, and by level, or step, of the response."""
    low, high, n_steps = bins.low, bins.high, 4 * BINS

    def step(values: Floats) -> NDArray[np.int64]:
        return np.clip(((values - low) / (high - low) * n_steps).astype(np.int64), 0, n_steps - 1)

    def middle(steps: Floats) -> Floats:
        return low + (steps + 0.5) / n_steps * (high - low)

    observed = responses if bins.levels.size else middle(step(responses).astype(float))
    cells, counts = np.unique(np.column_stack([step(mean), observed]), axis=0, return_counts=True)
    return tuple(
        Agreement(float(x), float(y), int(count))
        for x, y, count in zip(middle(cells[:, 0]), cells[:, 1], counts, strict=True)
    )


def mean_agreement(responses: Floats, mean: Floats) -> tuple[Agreement, ...]:
    """Return the mean prediction and mean response of tenths of the documents, by prediction."""
    tenths = evaluate.calibration_table(responses, mean, BINS).itertuples()
    return tuple(Agreement(tenth.predicted, tenth.observed, tenth.documents) for tenth in tenths)
