"""Data with a known truth: simulated corpora and synthetic reviews."""

from textsignal.datasets.simulated import SimulatedCorpus, simulate_corpus
from textsignal.datasets.synthetic import Aspect, SyntheticReviews, synthetic_reviews

__all__ = [
    "Aspect",
    "SimulatedCorpus",
    "SyntheticReviews",
    "simulate_corpus",
    "synthetic_reviews",
]
