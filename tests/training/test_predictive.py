"""Laws of predictive training: exact gradient, thinning, and what follows from them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special

import textsignal as ts
from textsignal.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.families import Binomial
from textsignal.inference import infer_weights
from textsignal.kernels import compiled, reference
from textsignal.training.block import Corpus
from textsignal.training.predictive import Predictive, PredictiveSettings, scale_rows, thinned
from textsignal.training.response import ResponseModel

N_DOCUMENTS, N_TERMS, N_TOPICS = 12, 9, 3


def problem(seed=0, *, weighted=False, missing=False):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, size=(N_DOCUMENTS, N_TERMS)).astype(float)
    counts[:, 0] += 1
    scaled = scale_rows(sp.csr_array(counts))
    y = rng.integers(0, 5, N_DOCUMENTS).astype(float)
    if missing:
        y[:3] = np.nan
    weight = rng.integers(1, 4, N_DOCUMENTS).astype(float) if weighted else np.ones(N_DOCUMENTS)
    return Corpus(scaled.X, y, weight), scaled.length, rng.dirichlet(np.ones(N_TERMS), size=N_TOPICS)


def method_of(corpus, length, start, engine, kernels=compiled, **changes):
    settings = {
        "supervision": 2.0,
        "penalty": 0.05,
        "smoothing": 0.2,
        "prior": 0.01,
        "thinning": 0.0,
        "learning_rate": 0.05,
        "max_epochs": 5,
        "batch_size": N_DOCUMENTS,
        "seed": 0,
    }
    response = ResponseModel(Binomial(4, 1), engine, kernels, settings["penalty"], fit_intercept=True)
    profile = Corpus(corpus.X, corpus.y, corpus.weight * length).profile
    return Predictive(corpus, length, profile, start, response, PredictiveSettings(**(settings | changes)))


def objective(method, flat):
    """J of the module's formula, with weights found anew by an independent call."""
    n_logits = N_TERMS * N_TOPICS
    logits, coefficients = flat[:n_logits].reshape(N_TERMS, N_TOPICS), flat[n_logits:]
    H = special.softmax(logits, axis=0).T
    settings, corpus = method.settings, method.corpus
    W = infer_weights(corpus.X, H, smoothing=settings.smoothing, tol=1e-14).weights
    X = corpus.X.toarray()
    text = W.sum(axis=1) - np.sum(X * np.log(W @ H), axis=1) - settings.smoothing * np.log(W).sum(axis=1)
    seen = ~np.isnan(corpus.y)
    eta = coefficients[-1] + W @ coefficients[:-1]
    loss = method.response.family.loss(np.where(seen, corpus.y, 0), eta)
    documents = corpus.weight * (method.length * text + settings.supervision * seen * loss)
    penalty = settings.penalty * np.sum(coefficients[:-1] ** 2)
    prior = settings.prior * np.sum(method.profile * np.log(H))
    return documents.sum() / corpus.weight.sum() + settings.supervision * (penalty - prior)


@pytest.mark.parametrize("kernels", [reference, compiled], ids=["reference", "compiled"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("missing", [False, True], ids=["all seen", "some missing"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gradient_equals_finite_differences(kernels, weighted, missing, seed):
    rng = np.random.default_rng(seed + 100)
    with LocalEngine(1) as engine:
        method = method_of(*problem(seed, weighted=weighted, missing=missing), engine, kernels)
        state = method.init()
        logits = state.logits + 0.3 * rng.standard_normal(state.logits.shape)
        coefficients = rng.standard_normal(N_TOPICS + 1)
        parameters = method._parameters(logits, coefficients)
        W = kernels.zeros(state.W.shape, np.float64)
        W[:] = state.W
        order = np.arange(N_DOCUMENTS)
        for block in method._blocks(method.corpus.X, W, order, 0, N_DOCUMENTS):
            kernels.infer(block.X, parameters.HT, block.W, method.settings.smoothing, 1e-15, 100)
        blocks = method._blocks(method.corpus.X, W, order, 0, N_DOCUMENTS)
        sums = engine.sweep(method._block_step(parameters), blocks)
        gradient = method._gradient(sums, parameters, method.corpus.weight.sum())
        flat = np.append(logits.ravel(), coefficients)
        step = 1e-5
        numeric = np.array(
            [
                (objective(method, flat + step * unit) - objective(method, flat - step * unit)) / (2 * step)
                for unit in np.eye(flat.size)
            ]
        )
    np.testing.assert_allclose(gradient, numeric, atol=1e-5 * np.abs(numeric).max())


@pytest.mark.parametrize("n_topics", [1, 3, 8, 17])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_implicit_sums_equal_the_reference(n_topics, dtype):
    from textsignal.kernels import Rows, pad

    corpus, length, _ = problem(5)
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.ones(N_TERMS), size=n_topics)
    X = corpus.X.astype(dtype)
    weights = infer_weights(X.astype(float), topics, smoothing=0.2, tol=1e-12).weights
    slope, beta = rng.standard_normal(N_DOCUMENTS), rng.standard_normal(n_topics)
    found = []
    for kernels in (compiled, reference):
        HT, W = pad(topics.T, kernels, np.dtype(dtype)), pad(weights, kernels, np.dtype(dtype))
        padded = np.zeros(HT.shape[1])
        padded[:n_topics] = beta
        rows = Rows.of(X, 0, N_DOCUMENTS)
        sums = kernels.implicit_sums(rows, W, HT, slope, padded, length.astype(dtype), 0.2)
        found.append(sums[:, :n_topics])
        assert not sums[:, n_topics:].any()
    tolerance = 1e-9 if dtype == np.float64 else 2e-3
    np.testing.assert_allclose(found[0], found[1], atol=tolerance * np.abs(found[1]).max())


class TestThinning:
    X = sp.csr_array(np.random.default_rng(3).poisson(1.0, size=(400, 60)).astype(float))

    def test_leaves_out_about_the_share_asked_for_and_keeps_the_mean(self):
        kept = thinned(self.X, 0.4, (0, 0))
        assert abs(kept.nnz / self.X.nnz - 0.6) < 0.02
        assert abs(kept.sum() / self.X.sum() - 1) < 0.05

    def test_of_nothing_changes_nothing(self):
        assert thinned(self.X, 0.0, (0, 0)) is self.X

    def test_does_not_depend_on_where_a_document_stands(self):
        order = np.random.default_rng(0).permutation(self.X.shape[0])
        here, there = thinned(self.X, 0.4, (1, 2))[order], thinned(self.X[order], 0.4, (1, 2))
        assert abs(here - there).nnz == 0

    @pytest.mark.parametrize("other", [(1, 3), (2, 2)])
    def test_differs_by_seed_and_epoch(self, other):
        assert abs(thinned(self.X, 0.4, (1, 2)) - thinned(self.X, 0.4, other)).nnz > 0

    def test_does_not_change_its_input(self):
        before = self.X.copy()
        thinned(self.X, 0.4, (0, 1))
        assert abs(before - self.X).nnz == 0


@pytest.fixture(scope="module")
def corpus():
    return ts.datasets.simulate_corpus(n_documents=1200, n_terms=300, random_state=2)


def predictive(**options):
    return ts.GLMNMF(5, training="predictive", max_epochs=15, **options)


@pytest.fixture(scope="module")
def model(corpus):
    return predictive().fit(corpus.counts[:900], corpus.ratings[:900])


def test_a_simulation_is_predicted_near_its_ceiling(model, corpus):
    test = slice(900, None)
    assert model.score(corpus.counts[test], corpus.ratings[test]) > 0.9 * corpus.ceiling(np.arange(900, 1200))


def test_topics_are_shares_of_terms(model):
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_training_weights_are_what_transform_gives(model, corpus):
    np.testing.assert_allclose(model.transform(corpus.counts[:900]), model.weights_, rtol=1e-6)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(model, corpus):
    again = predictive(n_jobs=1).fit(corpus.counts[:900], corpus.ratings[:900])
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_only_the_direction_and_length_of_rows_count(model, corpus):
    again = predictive().fit(4 * corpus.counts[:900], corpus.ratings[:900])
    np.testing.assert_allclose(again.predict(corpus.counts[900:]), model.predict(corpus.counts[900:]), rtol=1e-4)


def test_permuted_responses_are_not_predicted(corpus):
    shuffled = np.random.default_rng(0).permutation(corpus.ratings)
    fitted = predictive().fit(corpus.counts[:900], shuffled[:900])
    assert abs(fitted.score(corpus.counts[900:], shuffled[900:])) < 0.05


def test_weights_equal_repetition_in_one_batch(corpus):
    rows = np.repeat(np.arange(120), np.arange(120) % 3)
    counts, ratings = corpus.counts[:120], corpus.ratings[:120]
    weighted = predictive(batch_size=500).fit(counts, ratings, sample_weight=np.arange(120) % 3)
    repeated = predictive(batch_size=500).fit(counts[rows], ratings[rows])
    np.testing.assert_allclose(weighted.predict(counts), repeated.predict(counts), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 0}, "smoothing=0 must be"),
        ({"thinning": 1.0}, "thinning=1.0 leaves no term"),
        ({"batch_size": 0}, "batch_size=0 must be"),
        ({"training": "guess"}, "training='guess' is not known; allowed: 'joint', 'predictive'"),
    ],
)
def test_bad_options_get_a_clear_error(corpus, options, message):
    with pytest.raises(InputError, match=message):
        ts.GLMNMF(3, **({"training": "predictive"} | options)).fit(corpus.counts, corpus.ratings)
