"""Data whose truth is known: corpora simulated as in the paper, synthetic reviews with planted aspects."""

from textsignal._review_aspects import Aspect
from textsignal.datasets.simulated import SimulatedCorpus, simulate_corpus
from textsignal.datasets.synthetic import SyntheticReviews, synthetic_reviews

__all__ = ["Aspect", "SimulatedCorpus", "SyntheticReviews", "simulate_corpus", "synthetic_reviews"]
