"""Skill and calibration: right where truth is known."""

import numpy as np
import pytest
from scipy.special import expit

from textsignal.families import Binomial, level_probabilities
from textsignal.report.values import skill
from textsignal.report.values.texts import bins_of

STARS = Binomial(4, 1)
RNG = np.random.default_rng(0)
ETA = RNG.normal(0.5, 1.0, 40_000)
RATINGS = 1.0 + RNG.binomial(4, expit(ETA))


def test_true_probabilities_are_calibrated():
    probabilities, happened = level_probabilities(STARS, ETA), (RATINGS[:, None] == STARS.levels).astype(float)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    for point in skill.reliability(probabilities, happened):
        spread = np.sqrt(point.predicted * (1 - point.predicted) / point.cases)
        assert abs(point.predicted - point.observed) < 4.5 * spread
    assert sum(point.cases for point in skill.reliability(probabilities, happened)) == probabilities.size
    heights = np.array([bar.value for bar in skill.pit(STARS, RATINGS, ETA)])
    assert heights.mean() == pytest.approx(1)
    np.testing.assert_allclose(heights, 1, atol=0.05)
    meant, held = skill.coverage(STARS, RATINGS, ETA)
    assert meant >= skill.INTERVAL
    assert held == pytest.approx(meant, abs=0.01)


def test_predictions_that_are_too_sure_are_found_out():
    heights = [bar.value for bar in skill.pit(STARS, RATINGS, 3 * ETA)]
    assert min(heights[0], heights[-1]) > 1.3 > 1 > heights[5]
    meant, held = skill.coverage(STARS, RATINGS, 3 * ETA)
    assert held < meant - 0.05


def test_scores_are_those_of_the_definition():
    rows = np.arange(RATINGS.size) < 500
    y, p = RATINGS[rows] - 1, expit(ETA[rows])
    found = skill.scores(RATINGS, STARS.mean(ETA), ETA, STARS, rows)
    log_likelihood = y * np.log(p) + (4 - y) * np.log(1 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num(y * np.log(y / 4)) + np.nan_to_num((4 - y) * np.log(1 - y / 4))
    assert found.texts == 500
    assert found.deviance == pytest.approx(2 * np.mean(best - log_likelihood))
    assert found.rmse == pytest.approx(np.sqrt(np.mean((RATINGS[rows] - 1 - 4 * p) ** 2)))
    assert skill.scores(RATINGS, STARS.mean(ETA), ETA, STARS, np.zeros(RATINGS.size, bool)) is None


def test_the_true_model_has_the_least_deviance():
    rows = np.ones(RATINGS.size, bool)
    deviances = [skill.scores(RATINGS, STARS.mean(e), e, STARS, rows).deviance for e in (ETA, 0.5 * ETA, ETA + 0.5)]
    assert deviances[0] == min(deviances)


def test_agreement_counts_every_document_once():
    mean = STARS.mean(ETA)
    assert sum(cell.cases for cell in skill.agreement(RATINGS, mean, bins_of(STARS, RATINGS))) == RATINGS.size
    tenths = skill.mean_agreement(RATINGS, mean)
    assert sum(cell.cases for cell in tenths) == RATINGS.size
    assert np.average([c.observed for c in tenths], weights=[c.cases for c in tenths]) == pytest.approx(RATINGS.mean())
