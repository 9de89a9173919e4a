"""Documents that speak of topics, for the tests of groups and periods."""

import numpy as np

from textsignal.families import Binomial
from textsignal.reading.spoken import Spoken

FAMILY = Binomial(4, 1)


def documents(n=600, topics=3, seed=0, weight=None):
    """Documents that say something, with no difference between any groups."""
    rng = np.random.default_rng(seed)
    spoken = rng.random((n, topics)) < 0.6
    tone = rng.normal(0.1, 0.5, (n, topics)) * spoken
    eta = 0.4 + tone.sum(axis=1)
    shares = np.full((n, topics), 1 / topics)
    return Spoken(FAMILY, eta, tone, shares, spoken, np.full(n, np.nan), np.ones(n) if weight is None else weight)


def with_problem(spoken, rows, topic=0, by=-1.0):
    """The same, but some documents speak worse of a topic."""
    tone = spoken.tone.copy()
    tone[rows, topic] += by * spoken.spoken[rows, topic]
    eta = 0.4 + tone.sum(axis=1)
    return Spoken(FAMILY, eta, tone, spoken.shares, spoken.spoken, spoken.responses, spoken.weight)
