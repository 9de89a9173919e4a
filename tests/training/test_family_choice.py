"""The family that predicts held-back responses best is the true one, where there is enough to tell."""

import numpy as np
import pytest

from textsignal.compute.engines.local import local_compute
from textsignal.families import (
    AdjacentCategories,
    BetaBinomial,
    Binomial,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Stereotype,
)
from textsignal.families.auto import Candidates, candidates
from textsignal.training.contributions import choose_family

N = 4000
TRUTH = [
    Binomial(4, 1),
    BetaBinomial(6, 0, dispersion=0.5),
    Ordinal((1, 2, 3, 4, 5), (-4.0, -0.2, 0.1, 4.1)),
    AdjacentCategories(4, 1, offsets=(2.0, -2.0, 0.0, -1.5, 1.5)),
    Stereotype(4, 1, offsets=(2.0, -2.0, 0.0, -1.5, 1.5), places=(0.0, 0.2, 0.4, 2.5, 4.0)),
    Poisson(),
    NegativeBinomial(1.0),
]


def chosen(family, n=N, seed=0, **changed):
    rng = np.random.default_rng(seed)
    eta = rng.normal(1.0 if family.name in ("poisson", "negative-binomial") else 0.3, 1.0, n)
    y = family.sample(eta, rng).astype(float)
    given = {"given": candidates(y), "tone": eta, "folds": np.arange(n) % 5, "responses": y, "weight": np.ones(n)}
    with local_compute(1) as compute:
        return choose_family(**(given | changed), compute=compute)


@pytest.mark.parametrize("family", TRUTH, ids=lambda family: family.name)
def test_the_truth_scores_best_or_as_well_as_what_holds_it_as_a_part(family):
    choice = chosen(family)
    scores = dict(choice.scores)
    assert scores[choice.family.name] == min(scores.values())
    assert scores[family.name] < min(scores.values()) + 0.005
    assert f"{scores[choice.family.name]:.3f};" in choice.described


def test_nothing_is_compared_where_one_family_fits():
    choice = chosen(Binomial(4, 1), given=Candidates("", (Binomial(4, 1),)))
    assert (choice.family, choice.scores, choice.described) == (Binomial(4, 1), (), "")


def test_weights_count_as_copies_do():
    family, n = TRUTH[3], 400
    one = chosen(family, n, weight=np.where(np.arange(n) < 200, 2.0, 1.0))
    rng = np.random.default_rng(0)
    eta = rng.normal(0.3, 1.0, n)
    y = family.sample(eta, rng).astype(float)
    rows = np.concatenate([np.arange(n), np.arange(200)])
    given = {"tone": eta[rows], "folds": rows % 5, "responses": y[rows], "weight": np.ones(n + 200)}
    two = chosen(family, n, given=candidates(y), **given)
    for (name, score), (other, copies) in zip(one.scores, two.scores, strict=True):
        assert name == other
        assert score == pytest.approx(copies, abs=0.02)


def test_missing_responses_are_left_out():
    family = TRUTH[3]
    rng = np.random.default_rng(0)
    eta = rng.normal(0.3, 1.0, N)
    y = np.where(np.arange(N) % 3 == 0, np.nan, family.sample(eta, rng))
    assert chosen(family, given=candidates(y), responses=y).family.name == family.name
