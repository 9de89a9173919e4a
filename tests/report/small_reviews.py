"""The reviews that the tests of the report read."""

import numpy as np

from textsignal.datasets import synthetic_reviews
from textsignal.report.values.data import ReportSettings

N, N_TRAINING = 400, 300
REVIEWS = synthetic_reviews(N, seed=11)
HELD_OUT = np.arange(N) >= N_TRAINING
SETTINGS = ReportSettings(response_name="Rating", unit="stars", command="textsignal fit reviews.csv")
