"""Data with a known truth (simulated corpora, synthetic reviews) and readers of published reviews."""

from textsignal.datasets.google_local import read_google_local
from textsignal.datasets.review_aspects import Aspect
from textsignal.datasets.sample import LeftOut, ReviewSample
from textsignal.datasets.simulated import SimulatedCorpus, simulate_corpus
from textsignal.datasets.synthetic import SyntheticReviews, synthetic_reviews
from textsignal.datasets.tripadvisor import read_tripadvisor

__all__ = [
    "Aspect",
    "LeftOut",
    "ReviewSample",
    "SimulatedCorpus",
    "SyntheticReviews",
    "read_google_local",
    "read_tripadvisor",
    "simulate_corpus",
    "synthetic_reviews",
]
