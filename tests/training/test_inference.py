"""Weights of new documents are the minimum of their own text loss, whatever else is asked about."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone

from textsignal import GLMNMF, JBNMF
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.kernels import reference
from textsignal.datasets import simulate_corpus
from textsignal.errors import InputError
from textsignal.training.inference import infer_weights

laws = settings(max_examples=25)
N_TOPICS, N_TERMS = 4, 30


def make_topics(seed: int = 0, n_topics: int = N_TOPICS) -> np.ndarray:
    """Topics of different sizes that all use all terms, some hardly."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(N_TERMS, 0.3), n_topics) * rng.uniform(0.5, 5, (n_topics, 1)) + 1e-6


def make_texts(n_documents: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(0.6, (n_documents, N_TERMS)).astype(float))


def text_loss(x: np.ndarray, w: np.ndarray, topics: np.ndarray, smoothing: float = 0.0) -> float:
    d = w @ topics
    fit = x[x > 0] @ np.log(d[x > 0])
    return float(d.sum() - fit - (smoothing * np.log(w).sum() if smoothing else 0.0))


def pull_and_mass(X: sp.csr_array, W: np.ndarray, topics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the text pulls each weight towards, and what holds it back: their difference is the gradient."""
    return (X.toarray() / (W @ topics)) @ topics.T, topics.sum(axis=1)


class TestOptimum:
    @laws
    @given(st.integers(0, 10**6))
    def test_satisfies_the_kkt_conditions(self, seed):
        X, topics = make_texts(5, seed), make_topics(seed)
        tol = 1e-6
        W = infer_weights(X, topics, tol=tol, max_iter=200_000).weights
        pull, mass = pull_and_mass(X, W, topics)
        total = X.sum(axis=1)[:, None]
        assert np.all(W >= 0)
        # No weight that would lower the loss by growing; none above zero that would by shrinking.
        assert np.all(pull <= mass * (1 + 10 * tol))
        assert np.all(W * np.abs(mass - pull) <= 10 * tol * np.maximum(total, 1))

    @pytest.mark.parametrize("smoothing", [0.0, 0.05])
    def test_is_within_tolerance_of_what_scipy_finds(self, smoothing):
        X, topics, tol = make_texts(8), make_topics(), 1e-4
        W = infer_weights(X, topics, smoothing=smoothing, tol=tol).weights
        for x, w in zip(X.toarray(), W, strict=True):
            scipys = minimize(
                lambda v, x=x: text_loss(x, v, topics, smoothing),
                np.ones(N_TOPICS),
                bounds=[(1e-12, None)] * N_TOPICS,
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
            )
            found = text_loss(x, np.maximum(w, 1e-300), topics, smoothing)
            assert found - scipys.fun <= tol * (x.sum() + smoothing * N_TOPICS)

    @laws
    @given(st.integers(0, 10**6), st.sampled_from([0.01, 0.05, 1.0]))
    def test_smoothing_gives_an_interior_stationary_point(self, seed, smoothing):
        X, topics = make_texts(5, seed), make_topics(seed)
        W = infer_weights(X, topics, smoothing=smoothing, tol=1e-9, max_iter=200_000).weights
        pull, mass = pull_and_mass(X, W, topics)
        assert np.all(W > 0)
        np.testing.assert_allclose(mass - pull - smoothing / W, 0, atol=1e-3 * mass.max())

    def test_the_truth_of_a_simulation_is_recovered(self):
        corpus = simulate_corpus(n_documents=200, n_terms=300, mean_length=400, random_state=3)
        W = infer_weights(corpus.counts, corpus.topics).weights
        shares = W / W.sum(axis=1, keepdims=True)
        assert np.mean(np.abs(shares - corpus.weights)) < 0.02

    def test_weights_of_a_document_carry_its_total(self):
        X, topics = make_texts(20), make_topics()
        W = infer_weights(X, topics).weights
        np.testing.assert_allclose(W @ topics.sum(axis=1), X.sum(axis=1), rtol=1e-9)

    def test_a_smaller_tolerance_takes_more_steps_up_to_the_most_allowed(self):
        X, topics = make_texts(20), make_topics()
        rough, fine = (infer_weights(X, topics, tol=tol).n_steps for tol in (1e-1, 1e-5))
        assert np.all(rough <= fine)
        assert rough.sum() < fine.sum()
        assert infer_weights(X, topics, tol=0, max_iter=7).n_steps.max() == 7

    def test_reference_kernels_find_the_same(self):
        X, topics = make_texts(10), make_topics()
        compiled_s, reference_s = (
            infer_weights(X, topics, compute=compute).weights for compute in (None, Compute(LocalEngine(1), reference))
        )
        np.testing.assert_allclose(compiled_s, reference_s, rtol=1e-8, atol=1e-8)


WAYS = {
    "predictive": GLMNMF(3, max_epochs=3),
    "joint": GLMNMF(3, training="joint", max_iter=10),
    "JBNMF": JBNMF(3, max_iter=10),
}


class TestOfAFittedModel:
    """A model brings all that its weights depend on."""

    @pytest.fixture(params=WAYS)
    def model(self, request, simulation):
        return clone(WAYS[request.param]).fit(simulation.counts, simulation.ratings)

    def test_weights_are_those_that_transform_gives(self, model, simulation):
        X = simulation.counts.toarray().astype(float)
        X[3] = 0
        inferred = infer_weights(sp.csr_array(X), model)
        np.testing.assert_array_equal(inferred.weights, model.transform(X))
        assert np.flatnonzero(inferred.unknown).tolist() == [3]

    @pytest.mark.parametrize("option", ["smoothing", "tol", "fallback"])
    def test_what_it_brings_cannot_be_given_besides(self, simulation, option):
        model = clone(WAYS["joint"]).fit(simulation.counts, simulation.ratings)
        with pytest.raises(InputError, match=f"brings its own {option}"):
            infer_weights(simulation.counts, model, **{option: 0.1})


class TestIndependence:
    @laws
    @given(st.integers(0, 29), st.sampled_from([0.0, 0.05]))
    def test_one_document_alone_gets_the_bits_it_gets_among_many(self, row, smoothing):
        X, topics = make_texts(30), make_topics()
        among = infer_weights(X, topics, smoothing=smoothing)
        alone = infer_weights(X[[row]], topics, smoothing=smoothing)
        np.testing.assert_array_equal(alone.weights[0], among.weights[row])
        assert alone.n_steps[0] == among.n_steps[row]

    @pytest.mark.parametrize("n_jobs", [1, 2, 3])
    @pytest.mark.usefixtures("threaded_blas")
    def test_blocks_and_threads_change_no_bits(self, n_jobs):
        X, topics = make_texts(5000), make_topics()
        whole = infer_weights(X, topics, n_jobs=n_jobs).weights
        parts = [infer_weights(X[start : start + 1000], topics, n_jobs=1).weights for start in range(0, 5000, 1000)]
        np.testing.assert_array_equal(whole, np.concatenate(parts))

    def test_terms_that_no_topic_uses_change_nothing(self):
        X, topics = make_texts(20), make_topics()
        unused = np.random.default_rng(1).poisson(3.0, (20, 5))
        wide_X = sp.csr_array(sp.hstack([X, sp.csr_array(unused.astype(float))]))
        wide_topics = np.column_stack([topics, np.zeros((N_TOPICS, 5))])
        expected = infer_weights(X, topics, tol=1e-8, max_iter=50_000).weights
        found = infer_weights(wide_X, wide_topics, tol=1e-8, max_iter=50_000).weights
        np.testing.assert_allclose(found, expected, atol=1e-2)

    def test_what_is_given_is_not_changed(self):
        X, topics, fallback = make_texts(20), make_topics(), np.ones(N_TOPICS)
        copies = [array.copy() for array in (X.data, X.indices, X.indptr, topics, fallback)]
        infer_weights(X, topics, fallback=fallback)
        for array, copy in zip((X.data, X.indices, X.indptr, topics, fallback), copies, strict=True):
            np.testing.assert_array_equal(array, copy)


class TestUnknownDocuments:
    def texts_with_an_empty_one(self) -> sp.csr_array:
        X = make_texts(6).toarray()
        X[[0, 3]] = 0
        return sp.csr_array(X)

    @pytest.mark.parametrize("smoothing", [0.0, 0.05])
    def test_get_the_fallback_and_are_flagged(self, smoothing):
        fallback = np.array([0.1, 0.2, 0.3, 0.4])
        result = infer_weights(self.texts_with_an_empty_one(), make_topics(), smoothing=smoothing, fallback=fallback)
        assert result.unknown.tolist() == [True, False, False, True, False, False]
        np.testing.assert_array_equal(result.weights[[0, 3]], [fallback, fallback])
        assert np.all(np.isfinite(result.weights))

    def test_get_zeros_where_there_is_no_fallback(self):
        result = infer_weights(self.texts_with_an_empty_one(), make_topics())
        np.testing.assert_array_equal(result.weights[[0, 3]], 0)

    def test_include_documents_none_of_whose_terms_any_topic_uses(self):
        topics = make_topics()
        topics[:, :2] = 0
        X = sp.csr_array(np.eye(3, N_TERMS))
        result = infer_weights(X, topics, fallback=np.ones(N_TOPICS))
        assert result.unknown.tolist() == [True, True, False]
        np.testing.assert_array_equal(result.weights[:2], 1)


class TestEdges:
    def test_float32_stays_float32_and_finds_the_same(self):
        X, topics = make_texts(30), make_topics()
        single = infer_weights(X.astype(np.float32), topics.astype(np.float32)).weights
        assert single.dtype == np.float32
        double = infer_weights(X, topics).weights
        for x, ours, exact in zip(X.toarray(), single.astype(float), double, strict=True):
            # Both are within the tolerance of the minimum.
            assert abs(text_loss(x, ours, topics) - text_loss(x, exact, topics)) <= 2e-4 * x.sum()

    def test_a_dead_topic_gets_no_weight_and_disturbs_no_other(self):
        topics = make_topics()
        with_dead = np.insert(topics, 1, 0.0, axis=0)
        X = make_texts(10)
        W = infer_weights(X, with_dead, tol=1e-8, max_iter=50_000).weights
        np.testing.assert_array_equal(W[:, 1], 0)
        alone = infer_weights(X, topics, tol=1e-8, max_iter=50_000).weights
        np.testing.assert_allclose(np.delete(W, 1, axis=1), alone, atol=1e-2)

    def test_one_topic_carries_the_documents_total(self):
        X, topics = make_texts(5), make_topics(n_topics=1)
        W = infer_weights(X, topics).weights
        np.testing.assert_allclose(W[:, 0], X.sum(axis=1) / topics.sum(), rtol=1e-9)

    def test_no_documents_get_no_weights(self):
        result = infer_weights(make_texts(5)[:0], make_topics())
        assert result.weights.shape == (0, N_TOPICS)

    def test_a_document_of_a_million_words_is_inferred(self):
        X = sp.csr_array(np.full((1, N_TERMS), 1e6 / N_TERMS))
        topics = make_topics()
        W = infer_weights(X, topics).weights
        assert W @ topics.sum(axis=1) == pytest.approx(1e6, rel=1e-9)


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (np.ones((2, 4)), "X has 3 terms, but the topics have 4"),
        ([[1.0, 1.0, 1.0]], "topics=list cannot be used here; give an array, or a fitted GLMNMF or JBNMF"),
    ],
)
def test_topics_that_do_not_fit_the_text_are_named(topics, message):
    with pytest.raises(InputError, match=message):
        infer_weights(sp.csr_array(np.ones((2, 3))), topics)
