"""The reviews that the tests of the report read."""

from dataclasses import replace

import numpy as np

from textsignal.datasets import synthetic_reviews
from textsignal.model import with_columns
from textsignal.report.page.render import write_report as write_page
from textsignal.report.values.data import ReportSettings
from textsignal.report.values.prepare import prepare as content

N, N_TRAINING = 400, 300
REVIEWS = synthetic_reviews(N, seed=11)
HELD_OUT = np.arange(N) >= N_TRAINING
SETTINGS = ReportSettings(response_name="Rating", unit="stars", command="textsignal fit reviews.csv")


def answered(reading, responses, held_out=None, groups=None, times=None):
    """The reading of texts with other responses, groups, dates and held-out flags."""
    observed = with_columns(reading.observed, held_out, groups, times)
    return replace(reading, observed=replace(observed, responses=np.asarray(responses, dtype=float)))


def prepare(model, reading, responses, held_out=None, settings=None, *, groups=None, times=None, effects=None):
    """The content of a report on texts with these responses."""
    return content(model, answered(reading, responses, held_out, groups, times), settings, effects)


def write_report(model, file, reading, responses, held_out=None, settings=None, *, groups=None, times=None):
    """The page of a report on texts with these responses."""
    write_page(model, file, answered(reading, responses, held_out, groups, times), settings)
