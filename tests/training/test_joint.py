"""Joint training: the published algorithm to the digit, descent at every iteration, what a fit does not depend on."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, xlogy
from sklearn.decomposition import NMF

from textsignal import GLMNMF, JBNMF
from textsignal.datasets import simulate_corpus
from textsignal.errors import TrainingError
from textsignal.estimators.predictions import r2_score
from textsignal.text.vectorise import TextVectorizer

joint_glm = partial(GLMNMF, training="joint")
both_estimators = pytest.mark.parametrize("estimator", [JBNMF, joint_glm], ids=["JBNMF", "GLMNMF"])
ALPHAS, TOPIC_NUMBERS = [0, 0.05, 0.5, 5, 50], [1, 5, 14, 40]


def random_factors(X, n_topics: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positive W and H whose product has the size of X."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(X.mean() / n_topics)
    W, H = rng.uniform(0.5, 1.5, (X.shape[0], n_topics)), rng.uniform(0.5, 1.5, (n_topics, X.shape[1]))
    return size * W, size * H


def assert_never_rises(model, X) -> None:
    objective = model.trace_["objective"].to_numpy()
    assert np.all(np.isfinite(objective))
    # What the sums are rounded to.
    rounding = 1e-13 * (abs(objective[0]) + X.sum())
    assert np.diff(objective).max() <= rounding


def assert_same_fit(one, other, rtol: float = 1e-6) -> None:
    """Same topics, effects and objective, up to rounding."""
    np.testing.assert_allclose(one.components_, other.components_, rtol=rtol, atol=rtol * one.components_.max())
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol * np.abs(one.coef_).max())
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=rtol)


def assert_same_bits(one, other) -> None:
    for name in ("components_", "weights_", "coef_", "intercept_", "objective_", "mean_weights_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


class TestDescent:
    """The objective is finite and never rises, whatever alpha and the number of topics are."""

    @pytest.mark.parametrize("n_topics", TOPIC_NUMBERS)
    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_on_counts(self, simulation, alpha, n_topics):
        model = JBNMF(n_topics, alpha=alpha, tol=0, max_iter=40, random_state=0)
        assert_never_rises(model.fit(simulation.counts, simulation.ratings), simulation.counts)

    @pytest.mark.parametrize("n_topics", TOPIC_NUMBERS)
    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_on_shares(self, simulation, shares, alpha, n_topics):
        model = JBNMF(n_topics, alpha=alpha, tol=0, max_iter=40, random_state=0)
        assert_never_rises(model.fit(shares, simulation.ratings), shares)

    @pytest.fixture(
        params=[("hotel_reviews_10k", "text", "rating"), ("short_reviews_10k", "text", "rating")],
        ids=["hotels", "short"],
        scope="class",
    )
    @classmethod
    def reviews(cls, request, review_file):
        texts, ratings = review_file(*request.param, n_rows=500)
        return sp.csr_array(TextVectorizer(max_terms=300).fit_transform(texts)), ratings

    @pytest.mark.parametrize("n_topics", TOPIC_NUMBERS)
    @pytest.mark.parametrize("alpha", ALPHAS)
    def test_on_real_reviews(self, reviews, alpha, n_topics):
        X, ratings = reviews
        model = JBNMF(n_topics, alpha=alpha, tol=0, max_iter=25, random_state=0)
        assert_never_rises(model.fit(X, ratings), X)

    @pytest.mark.parametrize("init", ["nndsvda", "random", "nmf"])
    @both_estimators
    def test_from_every_start(self, simulation, estimator, init):
        model = estimator(5, init=init, tol=0, max_iter=40, random_state=0)
        assert_never_rises(model.fit(simulation.counts, simulation.ratings), simulation.counts)

    @pytest.mark.parametrize("supervision", [0, 0.1, 1, 10, 100])
    def test_of_a_scaled_supervision(self, simulation, supervision):
        model = joint_glm(5, supervision=supervision, tol=0, max_iter=40, random_state=0)
        assert_never_rises(model.fit(simulation.counts, simulation.ratings), simulation.counts)

    def test_with_document_weights_and_missing_responses(self, simulation):
        rng = np.random.default_rng(0)
        y = np.where(rng.random(300) < 0.3, np.nan, simulation.ratings)
        model = JBNMF(5, alpha=0.5, tol=0, max_iter=40, random_state=0)
        model.fit(simulation.counts, y, rng.integers(0, 4, 300).astype(float))
        assert_never_rises(model, 4 * simulation.counts)

    def test_in_single_precision_up_to_its_rounding(self, simulation):
        model = JBNMF(5, alpha=0.5, tol=0, max_iter=40, random_state=0)
        objective = model.fit(simulation.counts.astype(np.float32), simulation.ratings).trace_["objective"]
        assert np.diff(objective).max() <= 1e-6 * objective[0]

    def test_starts_from_the_trace_s_first_row_and_is_worth_the_while(self, simulation):
        model = JBNMF(5, random_state=0).fit(simulation.counts, simulation.ratings)
        assert len(model.trace_) == model.n_iter_ + 1
        assert model.objective_[-1] < 0.5 * model.trace_["objective"][0]


@dataclass(frozen=True)
class Published:
    """Algorithm 1 of the paper, written down with dense matrices and nothing else; beta starts at zero."""

    X: np.ndarray
    Y: np.ndarray
    alpha: float
    lam: float
    gamma: float
    eta: float
    epsilon: float = 1e-16

    def objective(self, W, H, beta) -> float:
        D, p = W @ H, expit(W @ beta)
        text = np.sum(xlogy(self.X, self.X / np.where(self.X > 0, D, 1)) - self.X + D)
        rating = -np.sum(self.Y * np.log(p) + (4 - self.Y) * np.log(1 - p))
        return text + self.alpha * (rating + self.lam * np.sum(beta**2))

    def run(self, W, H, iterations: int):
        beta = np.zeros(len(H))
        objectives = [self.objective(W, H, beta)]
        for _ in range(iterations):
            R = self.X / (W @ H + self.epsilon)
            H = H * (W.T @ R) / (W.sum(axis=0)[:, None] + self.epsilon)
            p = expit(W @ beta)
            beta = beta - self.eta * self.alpha * (W.T @ (4 * p - self.Y) + 2 * self.lam * beta)
            p = expit(W @ beta)
            R = self.X / (W @ H + self.epsilon)
            G = np.outer(4 * p - self.Y, beta)
            A = R @ H.T + self.alpha * np.maximum(-G, 0) + self.gamma
            B = H.sum(axis=1) + self.alpha * np.maximum(G, 0) + self.gamma
            W = W * A / B
            objectives.append(self.objective(W, H, beta))
        return W, H, beta, np.array(objectives)


class TestPublishedAlgorithm:
    @pytest.mark.parametrize(("alpha", "gamma"), [(0.05, 400), (0.5, 400), (0.05, 1)])
    def test_is_followed_iterate_by_iterate(self, simulation, alpha, gamma):
        X, y = simulation.counts, simulation.ratings
        W, H = random_factors(X, 5)
        published = Published(X.toarray(), y - 1.0, alpha, lam=0.1, gamma=gamma, eta=0.01)
        exact_W, exact_H, exact_beta, exact_objectives = published.run(W, H, 30)
        model = JBNMF(
            5, alpha=alpha, lam=0.1, gamma=gamma, coefficient_step="gradient", learning_rate=0.01,
            init="random", tol=0, max_iter=30, levels=(1, 5),
        ).fit(X, y, W=W, H=H)  # fmt: skip
        np.testing.assert_allclose(model.trace_["objective"], exact_objectives, rtol=1e-9)
        np.testing.assert_allclose(model.weights_, exact_W, rtol=1e-9)
        np.testing.assert_allclose(model.components_, exact_H, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, exact_beta, rtol=1e-9)
        assert np.abs(exact_beta).max() > 0.01

    def test_stops_at_the_first_relative_change_below_the_tolerance(self, simulation):
        X, y, tol = simulation.counts, simulation.ratings, 5.15e-3
        W, H = random_factors(X, 5)
        *_, objectives = Published(X.toarray(), y - 1.0, 0.05, lam=0.1, gamma=400, eta=0.01).run(W, H, 60)
        changes = np.abs(np.diff(objectives)) / np.maximum(1, np.abs(objectives[:-1]))
        expected = int(np.flatnonzero(changes < tol)[0]) + 1
        model = JBNMF(
            5, gamma=400, coefficient_step="gradient", learning_rate=0.01, tol=tol, max_iter=60, levels=(1, 5)
        ).fit(X, y, W=W, H=H)
        assert 10 < expected < 60
        assert (model.n_iter_, model.stop_reason_, model.converged_) == (expected, "converged", True)

    def test_says_when_iterations_ran_out(self, simulation):
        model = JBNMF(5, max_iter=3).fit(simulation.counts, simulation.ratings)
        assert (model.n_iter_, model.stop_reason_, model.converged_) == (3, "max_iter", False)


class TestAgainstOtherPackages:
    def test_unsupervised_training_is_scikit_learns_kl_nmf(self, simulation):
        X = simulation.counts[simulation.counts.sum(axis=1) > 0]
        X = sp.csr_array(X[:, X.sum(axis=0) > 0])
        W, H = random_factors(X, 5)
        model = JBNMF(5, alpha=0, gamma=0, tol=0, max_iter=50).fit(X, simulation.ratings[: X.shape[0]], W=W, H=H)
        # scikit-learn updates its W first, we update H first: so its W is our H, of the transposed matrix.
        theirs = NMF(5, solver="mu", beta_loss="kullback-leibler", init="custom", tol=0, max_iter=50)
        their_H = theirs.fit_transform(X.T.toarray(), W=H.T.copy(), H=W.T.copy()).T
        their_W = theirs.components_.T
        np.testing.assert_allclose(model.components_, their_H, rtol=1e-8, atol=1e-8 * their_H.max())
        np.testing.assert_allclose(model.weights_, their_W, rtol=1e-8, atol=1e-8 * their_W.max())

    def test_unsupervised_training_does_not_look_at_the_response(self, simulation):
        shuffled = np.random.default_rng(0).permutation(simulation.ratings)
        one = JBNMF(5, alpha=0, random_state=0).fit(simulation.counts, simulation.ratings)
        other = JBNMF(5, alpha=0, random_state=0).fit(simulation.counts, shuffled)
        np.testing.assert_array_equal(one.components_, other.components_)
        np.testing.assert_array_equal(one.weights_, other.weights_)

    @pytest.mark.parametrize("alpha", [0.05, 5])
    def test_effects_given_the_weights_are_statsmodels_binomial_glm(self, simulation, alpha):
        y = simulation.ratings - 1
        model = JBNMF(5, alpha=alpha, lam=0, max_iter=30, levels=(1, 5)).fit(simulation.counts, simulation.ratings)
        glm = sm.GLM(np.column_stack([y, 4 - y]), model.weights_, family=sm.families.Binomial())
        theirs = glm.fit(tol=1e-14, maxiter=200).params
        np.testing.assert_allclose(model.coef_, theirs, rtol=1e-6)

    def test_effects_with_an_intercept_are_statsmodels_binomial_glm(self, simulation):
        y = simulation.ratings - 1
        model = joint_glm(5, penalty=0, max_iter=30, levels=(1, 5)).fit(simulation.counts, simulation.ratings)
        glm = sm.GLM(np.column_stack([y, 4 - y]), sm.add_constant(model.weights_), family=sm.families.Binomial())
        theirs = glm.fit(tol=1e-14, maxiter=200).params
        np.testing.assert_allclose([model.intercept_, *model.coef_], theirs, rtol=1e-6)


class TestDocumentWeights:
    @pytest.fixture
    def weight(self):
        return np.random.default_rng(0).integers(1, 4, 300)

    @both_estimators
    def test_whole_numbers_equal_repeated_rows(self, simulation, estimator, weight):
        X, y = simulation.counts, simulation.ratings
        assert np.all(X.sum(axis=1) > 0)
        rows = np.repeat(np.arange(300), weight)
        weighted = estimator(5, max_iter=20, tol=0, random_state=0).fit(X, y, weight)
        repeated = estimator(5, max_iter=20, tol=0, random_state=0).fit(X[rows], y[rows])
        assert_same_fit(weighted, repeated)
        np.testing.assert_allclose(weighted.mean_weights_, repeated.mean_weights_, rtol=1e-6)

    @both_estimators
    def test_whole_numbers_equal_repeated_rows_where_a_document_is_empty(self, simulation, estimator, weight):
        X, y = simulation.counts.toarray(), simulation.ratings
        X[3] = 0
        rows = np.repeat(np.arange(300), weight)
        weighted = estimator(5, max_iter=20, tol=0, random_state=0).fit(X, y, weight)
        repeated = estimator(5, max_iter=20, tol=0, random_state=0).fit(X[rows], y[rows])
        assert_same_fit(weighted, repeated)

    @both_estimators
    def test_zero_equals_removal(self, simulation, estimator, weight):
        X, y = simulation.counts, simulation.ratings
        weight = weight - 1.0
        kept = weight > 0
        weighted = estimator(5, max_iter=20, tol=0, random_state=0).fit(X, y, weight)
        removed = estimator(5, max_iter=20, tol=0, random_state=0).fit(X[kept], y[kept], weight[kept])
        assert_same_fit(weighted, removed)
        np.testing.assert_allclose(weighted.mean_weights_, removed.mean_weights_, rtol=1e-6)

    @both_estimators
    def test_zero_equals_removal_where_it_removes_the_highest_level(self, simulation, estimator):
        X, y = simulation.counts, simulation.ratings
        kept = y < 5
        weighted = estimator(3, max_iter=5).fit(X, y, kept.astype(float))
        removed = estimator(3, max_iter=5).fit(X[kept], y[kept])
        np.testing.assert_array_equal(weighted.levels_, removed.levels_)
        assert_same_fit(weighted, removed)


class TestRepeatability:
    @both_estimators
    @pytest.mark.usefixtures("threaded_blas")
    def test_threads_change_no_bits(self, estimator):
        corpus = simulate_corpus(n_documents=5000, n_terms=120, random_state=4)
        fits = [
            estimator(5, max_iter=6, random_state=0, n_jobs=n_jobs).fit(corpus.counts, corpus.ratings)
            for n_jobs in (1, 2, 3)
        ]
        for other in fits[1:]:
            assert_same_bits(fits[0], other)
            np.testing.assert_array_equal(fits[0].predict(corpus.counts), other.predict(corpus.counts))

    @pytest.mark.parametrize("init", ["nndsvda", "random", "nmf"])
    @both_estimators
    def test_fitting_twice_is_fitting_once(self, simulation, estimator, init):
        model = estimator(5, init=init, max_iter=10, random_state=3)
        first = model.fit(simulation.counts, simulation.ratings)
        again = estimator(5, init=init, max_iter=10, random_state=3).fit(simulation.counts, simulation.ratings)
        assert_same_bits(first, again)
        kept = first.components_.copy()
        np.testing.assert_array_equal(model.fit(simulation.counts, simulation.ratings).components_, kept)

    @both_estimators
    def test_inputs_are_not_changed(self, simulation, estimator):
        X, y = simulation.counts.copy(), simulation.ratings.astype(float)
        W, H = random_factors(X, 5)
        weight = np.ones(300)
        given = (X.data, X.indices, X.indptr, y, W, H, weight)
        copies = [array.copy() for array in given]
        estimator(5, max_iter=5).fit(X, y, weight, W=W, H=H)
        for array, copy in zip(given, copies, strict=True):
            np.testing.assert_array_equal(array, copy)

    @both_estimators
    def test_a_disordered_matrix_gives_the_same_fit_and_stays_as_it_is(self, simulation, estimator):
        X = simulation.counts
        # Every entry split in two, columns backwards, and a stored zero in every row.
        rows = [(X.indices[a:b][::-1], X.data[a:b][::-1]) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
        indices = [np.concatenate([columns, columns, [0]]) for columns, _ in rows]
        data = [np.concatenate([values / 2, values / 2, [0]]) for _, values in rows]
        indptr = np.cumsum([0, *map(len, data)])
        disordered = sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=X.shape)
        stored = disordered.data.copy()
        one = estimator(5, max_iter=5, random_state=0).fit(X, simulation.ratings)
        other = estimator(5, max_iter=5, random_state=0).fit(disordered, simulation.ratings)
        assert_same_bits(one, other)
        np.testing.assert_array_equal(disordered.data, stored)

    def test_read_only_memory_is_enough(self, simulation):
        X, y = simulation.counts.copy(), simulation.ratings.astype(float)
        for array in (X.data, X.indices, X.indptr, y):
            array.flags.writeable = False
        model = JBNMF(5, max_iter=5, random_state=0).fit(X, y)
        assert_same_bits(model, JBNMF(5, max_iter=5, random_state=0).fit(simulation.counts, simulation.ratings))


class TestMissingResponses:
    @pytest.fixture
    def y(self, simulation):
        return np.where(np.arange(300) % 3 == 0, np.nan, simulation.ratings)

    @both_estimators
    def test_documents_without_one_are_predicted_and_their_text_is_used(self, simulation, estimator, y):
        model = estimator(5, random_state=0).fit(simulation.counts, y)
        assert np.all(np.isfinite(model.predict(simulation.counts)))
        seen = ~np.isnan(y)
        without = estimator(5, random_state=0).fit(simulation.counts[seen], y[seen])
        assert np.abs(model.components_ - without.components_).max() > 1e-3 * model.components_.max()

    @both_estimators
    def test_what_stands_in_their_place_does_not_matter(self, simulation, estimator, y):
        weight = np.where(np.isnan(y), 0.0, 1.0)
        filled = np.where(np.isnan(y), 5.0, y)
        # With no weight their text is lost as well, so the response losses alone agree.
        one = estimator(5, max_iter=1, levels=(1, 5), random_state=0)
        W, H = random_factors(simulation.counts, 5)
        missing = one.fit(simulation.counts, y, W=W, H=H).trace_["response_loss"][0]
        unweighted = one.fit(simulation.counts, filled, weight, W=W, H=H).trace_["response_loss"][0]
        assert missing == pytest.approx(unweighted, rel=1e-12)

    def test_weights_of_a_document_without_one_follow_from_the_text_alone(self, simulation, y):
        X, missing = simulation.counts, np.isnan(y)
        model = JBNMF(5, alpha=50, tol=0, max_iter=300, random_state=0).fit(X, y)
        difference = np.abs(model.transform(X) - model.weights_).sum(axis=1) / model.weights_.sum(axis=1)
        assert np.median(difference[missing]) < 0.01
        assert np.median(difference[~missing]) > 0.1


class TestStepsThatAreTooLong:
    @pytest.mark.parametrize("alpha", [0.5, 5, 500, 1e6])
    @pytest.mark.parametrize("coefficient_step", ["newton", "gradient"])
    def test_raise_or_stay_finite_and_never_give_nan(self, simulation, shares, alpha, coefficient_step):
        model = JBNMF(
            5, alpha=alpha, gamma=0, coefficient_step=coefficient_step, max_iter=100, random_state=0, n_jobs=1
        )
        try:
            model.fit(shares, simulation.ratings)
        except TrainingError:
            return
        for values in (model.components_, model.weights_, model.coef_, model.objective_):
            assert np.all(np.isfinite(values))

    def test_an_overflow_ends_in_a_training_error_that_says_what_to_change(self, simulation, shares):
        model = JBNMF(5, gamma=0, coefficient_step="gradient", learning_rate=1e200, random_state=0, n_jobs=1)
        with pytest.raises(TrainingError, match=r'at iteration.*gamma="adaptive"'):
            model.fit(shares, simulation.ratings)


class TestTruth:
    @pytest.mark.parametrize("seed", [0, 3])
    @both_estimators
    def test_of_a_simulation_is_recovered(self, estimator, seed):
        corpus = simulate_corpus(n_documents=1500, n_terms=500, random_state=seed)
        order = np.random.default_rng(0).permutation(1500)
        train, test = order[:1200], order[1200:]
        model = estimator(5, random_state=0).fit(corpus.counts[train], corpus.ratings[train])
        found, true = (
            topics / np.linalg.norm(topics, axis=1, keepdims=True) for topics in (model.components_, corpus.topics)
        )
        cosine = found @ true.T
        assert cosine[linear_sum_assignment(-cosine)].min() > 0.9
        skill = r2_score(corpus.ratings[test], model.predict(corpus.counts[test]))
        assert skill > 0.95 * corpus.ceiling(test)

    def test_signs_of_strong_effects_are_recovered(self):
        corpus = simulate_corpus(n_documents=1500, n_terms=500, random_state=0)
        model = JBNMF(5, random_state=0).fit(corpus.counts, corpus.ratings)
        ours, theirs = linear_sum_assignment(-(model.components_ @ corpus.topics.T))
        strong = np.abs(corpus.effects[theirs]) > 1
        assert strong.sum() >= 2
        np.testing.assert_array_equal(np.sign(model.coef_[ours][strong]), np.sign(corpus.effects[theirs][strong]))


class TestStartsAndRestarts:
    def test_the_best_of_several_restarts_is_kept(self, simulation):
        # From this seed the first random start ends in a poor optimum.
        ends = [
            JBNMF(5, init="random", n_init=n_init, random_state=1)
            .fit(simulation.counts, simulation.ratings)
            .objective_[-1]
            for n_init in (1, 2, 3)
        ]
        assert np.all(np.diff(ends) <= 0)
        assert ends[-1] < 0.9 * ends[0]

    @pytest.fixture(params=[0, 0.05, 5], ids="alpha={}".format, scope="class")
    @classmethod
    def warm(cls, request, simulation):
        """A solution and the fit that starts from it."""
        X, y = simulation.counts, simulation.ratings
        solution = JBNMF(5, alpha=request.param, tol=1e-7, max_iter=3000).fit(X, y)
        return solution, JBNMF(5, alpha=request.param).fit(X, y, W=solution.weights_, H=solution.components_)

    def test_a_warm_start_from_a_solution_does_not_raise_the_objective(self, warm):
        solution, again = warm
        assert again.objective_[-1] <= solution.objective_[-1] * (1 + 1e-12)

    def test_a_warm_start_from_a_solution_stops_at_once(self, warm):
        _, again = warm
        assert (again.n_iter_, again.converged_) == (1, True)

    def test_topics_alone_are_enough_for_a_warm_start(self, simulation):
        X, y = simulation.counts, simulation.ratings
        solution = JBNMF(5, tol=1e-6).fit(X, y)
        again = JBNMF(5, max_iter=5).fit(X, y, H=solution.components_)
        cold = JBNMF(5, max_iter=5).fit(X, y)
        assert again.objective_[-1] < cold.objective_[-1]


class TestTrace:
    @both_estimators
    def test_parts_add_up_to_the_objective(self, simulation, estimator):
        model = estimator(5, max_iter=15).fit(simulation.counts, simulation.ratings)
        parts = model.trace_["text_loss"] + model.alpha_ * (model.trace_["response_loss"] + model.trace_["penalty"])
        np.testing.assert_allclose(model.trace_["objective"], parts, rtol=1e-12)
        np.testing.assert_array_equal(model.objective_, model.trace_["objective"][1:])

    def test_last_row_stands_at_the_values_given(self, simulation):
        X, y = simulation.counts.toarray(), simulation.ratings - 1.0
        model = JBNMF(5, alpha=0.5, lam=0.3, max_iter=15, levels=(1, 5)).fit(X, simulation.ratings)
        last = model.trace_.iloc[-1]
        D, eta = model.weights_ @ model.components_, model.weights_ @ model.coef_
        text = np.sum(xlogy(X, X / np.where(X > 0, D, 1)) - X + D)
        assert last["text_loss"] == pytest.approx(text, rel=1e-9)
        assert last["response_loss"] == pytest.approx(np.sum(4 * np.logaddexp(0, eta) - y * eta), rel=1e-9)
        assert last["penalty"] == pytest.approx(0.3 * np.sum(model.coef_**2), rel=1e-9)


class TestScaleOfGLMNMF:
    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, simulation):
        return joint_glm(5, max_iter=30, random_state=0).fit(simulation.counts, simulation.ratings)

    def test_topics_sum_to_one(self, model):
        np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-12)

    def test_weights_follow_from_the_text_alone(self, simulation, model):
        np.testing.assert_array_equal(model.weights_, model.transform(simulation.counts))

    def test_supervision_does_not_depend_on_the_unit_of_the_text(self, simulation):
        one = joint_glm(5, max_iter=1, random_state=0).fit(simulation.counts, simulation.ratings)
        other = joint_glm(5, max_iter=1, random_state=0).fit(100 * simulation.counts, simulation.ratings)
        assert other.alpha_ == pytest.approx(100 * one.alpha_, rel=1e-9)
