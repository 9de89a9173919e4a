"""The simulation: what it measures, and what must stay true of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reproduction.methods import METHODS, Settings
from reproduction.samples import split_corpus
from reproduction.simulation import PAPER_R2, SIMULATION, fit_scrambled, recovery
from reproduction.study import Plan
from textsignal.datasets import simulate_corpus
from textsignal.estimators import JBNMF
from textsignal.evaluation.metrics import r2_score


def drawn(seed, n_documents=5000):
    """A draw with much to predict, its split and its ceiling on the test side."""
    corpus = simulate_corpus(n_documents, random_state=seed)
    split, test = split_corpus(corpus)
    return corpus, split, corpus.ceiling(test)


@pytest.fixture(scope="module", params=[2, 3])
def draw(request):
    return drawn(request.param)


def share(draw, method, n_topics, alpha=0.05):
    _, split, ceiling = draw
    predicted = METHODS[method].fit(split, Settings(n_topics, alpha)).predicted
    return r2_score(split.y_test, predicted) / ceiling


class TestStandingClaims:
    @pytest.mark.parametrize("alpha", [0.01, 0.1])
    def test_joint_training_with_adaptive_gamma_does_not_fall_above_the_true_number_of_topics(self, draw, alpha):
        at_truth = share(draw, "joint", 5, alpha)
        assert at_truth > 0.95
        assert min(share(draw, "joint", k, alpha) for k in (6, 10, 15)) > at_truth - 0.02

    def test_ridge_regression_comes_close_to_the_ceiling(self):
        assert share(drawn(2, n_documents=2500), "ridge", 5) > 0.85

    def test_predictive_training_is_not_behind_joint_training(self, draw):
        assert share(draw, "predictive", 5) > share(draw, "joint", 5) - 0.01

    def test_word_level_regression_of_ratings_beside_other_texts_gives_the_papers_numbers(self):
        for method, within in (("linear", 0.06), ("ridge", 0.03)):
            found = [fit_scrambled(method, seed)[0]["r2"] for seed in range(3)]
            assert abs(np.mean(found) - PAPER_R2[method]) < within


class TestRecovery:
    def test_the_truth_recovers_itself(self):
        corpus = simulate_corpus(200, 100, 4, random_state=1)
        model = JBNMF(4, max_iter=1).fit(corpus.counts, corpus.ratings)
        order = [2, 0, 3, 1]
        model.fitted_ = replace(
            model.fitted_,
            topics=corpus.topics[order],
            effects=corpus.effects[order],
            mean_weights=corpus.weights.mean(axis=0)[order],
        )
        found = recovery(corpus, model)
        assert found["cosine"] == pytest.approx(1)
        assert found["signs"] == 1
        assert found["effects"] == pytest.approx(1)

    def test_effects_of_the_wrong_sign_are_seen(self):
        corpus = simulate_corpus(200, 100, 4, random_state=1)
        model = JBNMF(4, max_iter=1).fit(corpus.counts, corpus.ratings)
        model.fitted_ = replace(
            model.fitted_, topics=corpus.topics, effects=-corpus.effects, mean_weights=corpus.weights.mean(axis=0)
        )
        found = recovery(corpus, model)
        assert found["signs"] == 0
        assert found["effects"] == pytest.approx(-1)

    def test_fewer_topics_than_there_are_cannot_recover_all(self):
        corpus = simulate_corpus(400, 100, 4, random_state=1)
        model = JBNMF(2).fit(corpus.counts, corpus.ratings)
        assert recovery(corpus, model)["cosine"] < 0.6


class TestCells:
    def test_every_cell_has_a_name_of_its_own(self):
        cells = SIMULATION.stages[0](Plan(2, tuple(METHODS), quick=False), {})
        assert len({cell.key for cell in cells}) == len(cells)

    @pytest.mark.parametrize("methods", [("mean", "linear", "ridge"), tuple(METHODS)])
    def test_only_wanted_methods_are_fitted(self, methods):
        cells = SIMULATION.stages[0](Plan(1, methods, quick=True), {})
        assert {cell.columns["method"] for cell in cells} == set(methods)

    def test_a_grid_of_other_alphas_is_other_cells(self):
        quick, full = (SIMULATION.stages[0](Plan(1, ("joint",), quick=quick), {}) for quick in (True, False))
        names = [{cell.key for cell in cells if cell.table == "simulation-sensitivity"} for cells in (quick, full)]
        assert not names[0] & names[1]


class TestPage:
    @pytest.fixture
    def tables(self):
        """Made-up results: published training falls with alpha above five topics, adaptive training has 0.9 there."""
        grid = [
            {
                "method": method,
                "seed": seed,
                "n_topics": k,
                "alpha": alpha,
                "share": share,
                "r2": share / 2,
                "rmse": 1.0,
            }
            for seed in (0, 1)
            for k in (2, 5, 6, 15)
            for alpha in (0.01, 0.1)
            for method, share in (("published", 0.95 - 3 * alpha * (k > 5)), ("joint", 0.9 if k > 5 else 0.97))
        ]
        methods = [
            {"method": name, "seed": seed, "r2": 0.5, "rmse": 1.45, "share": 0.9, "ceiling": 0.6}
            | {"cosine": 1.0, "signs": 1.0, "effects": 1.0}
            for name in METHODS
            for seed in (0, 1)
        ]
        mixed = [{"method": name, "seed": 0, "r2": -0.1, "rmse": 1.5, "share": -0.2} for name in ("linear", "ridge")]
        rows = {"methods": methods, "sensitivity": grid, "scrambled": mixed}
        return {f"simulation-{name}": pd.DataFrame(found) for name, found in rows.items()}

    def test_verdicts_follow_the_tables(self, tables):
        claims = SIMULATION.claims(Plan(2, tuple(METHODS), quick=True), tables)
        verdicts = {claim.statement.split(" (draw")[0]: claim for claim in claims}
        assert verdicts["ridge regression: test R2"].verdict == "differs"
        assert verdicts["mean: test RMSE"].verdict == "agrees"
        assert verdicts["models with too many topics deteriorate under larger alpha"].verdict == "agrees"
        best = verdicts["performance is best at the true number of topics, K=5"]
        assert best.verdict == "agrees"
        assert "0.970 at K=5 and at least 0.900 above" in best.reason

    def test_numbers_of_another_draw_are_not_compared(self, tables):
        methods = tables["simulation-methods"].assign(rmse=1.0)
        claims = SIMULATION.claims(Plan(2, tuple(METHODS), quick=True), {**tables, "simulation-methods": methods})
        numbers = [claim for claim in claims if claim.paper]
        assert {claim.verdict for claim in numbers} == {"cannot be checked"}

    def test_no_number_is_missing_from_page_and_claims(self, tables):
        plan = Plan(2, tuple(METHODS), quick=True)
        written = SIMULATION.section(plan, tables) + "".join(map(str, SIMULATION.claims(plan, tables)))
        assert "nan" not in written
