"""Laws of predictive training: exact gradient, what it does not depend on, and how well it does."""

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from scipy import special

import textsignal as ts
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.kernels import compiled, reference
from textsignal.errors import InputError
from textsignal.families import Binomial, null_deviance
from textsignal.training.corpus import Corpus
from textsignal.training.draws import document_keys
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import infer_weights
from textsignal.training.predictive import Predictive, PredictiveSettings, scale_rows
from textsignal.training.start import predictive_start
from textsignal.training.word_effects import NO_GUIDE, Guide

N_DOCUMENTS, N_TERMS, N_TOPICS = 12, 9, 3
#: Seeds of starts.
SEEDS = (1, 2, 5)


def problem(seed=0, *, weighted=False, missing=False):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, size=(N_DOCUMENTS, N_TERMS)).astype(float)
    counts[:, 0] += 1
    X, length = scale_rows(sp.csr_array(counts), np.ones(N_DOCUMENTS))
    y = rng.integers(0, 5, N_DOCUMENTS).astype(float)
    if missing:
        y[:3] = np.nan
    weight = rng.integers(1, 4, N_DOCUMENTS).astype(float) if weighted else np.ones(N_DOCUMENTS)
    return Corpus(X, y, weight), length, rng.dirichlet(np.ones(N_TERMS), size=N_TOPICS)


def method_of(corpus, length, topics, engine, kernels=compiled, guide=NO_GUIDE, **changes):
    settings = {
        "supervision": 2.0,
        "penalty": 0.05,
        "fit_intercept": True,
        "smoothing": 0.2,
        "prior": 0.01,
        "thinning": 0.0,
        "learning_rate": 0.05,
        "max_epochs": 5,
        "batch_size": N_DOCUMENTS,
        "seed": 0,
    }
    response = ResponseModel(Binomial(4, 1), Compute(engine, kernels), settings["penalty"], fit_intercept=True)
    profile = Corpus(corpus.X, corpus.y, corpus.weight * length).profile
    first = predictive_start(topics, corpus, response, profile, smoothing=0.2, tol=1e-4)
    return Predictive(
        corpus=corpus,
        length=length,
        profile=profile,
        keys=document_keys(corpus.X),
        first=first,
        guide=guide,
        response=response,
        settings=PredictiveSettings(**(settings | changes)),
    )


def some_guide(seed):
    rng = np.random.default_rng(seed)
    return Guide(rng.standard_normal(N_DOCUMENTS), rng.standard_normal(N_TERMS), distrust=0.6)


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
    family, y = method.response.family, np.where(seen, corpus.y, 0)
    guided = family.gradient(y, method.guide.constant + X @ method.guide.words)
    loss = family.loss(y, eta) - method.guide.distrust * guided * eta
    documents = corpus.weight * (method.length * text + settings.supervision * seen * loss)
    penalty = settings.penalty * np.sum(coefficients[:-1] ** 2)
    prior = settings.prior * np.sum(method.profile * np.log(H))
    return documents.sum() / corpus.weight.sum() + settings.supervision * (penalty - prior)


@pytest.mark.parametrize("kernels", [reference, compiled], ids=["reference", "compiled"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("missing", [False, True], ids=["all seen", "some missing"])
@pytest.mark.parametrize("guided", [False, True], ids=["as they are", "guided"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gradient_equals_finite_differences(kernels, weighted, missing, guided, seed):
    rng = np.random.default_rng(seed + 100)
    with LocalEngine(1) as engine:
        guide = some_guide(seed) if guided else Guide(np.zeros(N_DOCUMENTS), np.zeros(N_TERMS), distrust=0.0)
        method = method_of(*problem(seed, weighted=weighted, missing=missing), engine, kernels, guide)
        state = method.init()
        flat = state.parameters + 0.3 * rng.standard_normal(state.parameters.size)
        flat[-N_TOPICS - 1 :] = rng.standard_normal(N_TOPICS + 1)
        parameters = method._parameters(flat)
        blocks = method._documents(state, np.arange(N_DOCUMENTS)).blocks(0, N_DOCUMENTS)
        for block in blocks:
            kernels.infer(block.X, parameters.HT, block.W, method.settings.smoothing, 1e-15, 100)
        sums = engine.sweep(method._block_step(parameters), blocks)
        gradient = np.empty_like(flat)
        method._gradient(sums, parameters, method.corpus.weight.sum(), out=gradient)
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
    from textsignal.compute.kernels import Rows, pad

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


@pytest.mark.usefixtures("threaded_blas")
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


class TestDocumentWeights:
    """A document that counts n times does what n copies of it would: its draws follow from its text alone."""

    @pytest.mark.parametrize("batch_size", [10, 500])
    @pytest.mark.parametrize("empty", [False, True], ids=["all filled", "one empty"])
    def test_whole_numbers_equal_repeated_rows(self, corpus, batch_size, empty):
        weight = np.arange(120) % 4
        rows = np.repeat(np.arange(120), weight)
        counts, ratings = corpus.counts[:120].toarray(), corpus.ratings[:120]
        counts[7] *= not empty
        weighted = predictive(batch_size=batch_size).fit(counts, ratings, sample_weight=weight)
        repeated = predictive(batch_size=batch_size).fit(counts[rows], ratings[rows])
        np.testing.assert_allclose(weighted.predict(counts), repeated.predict(counts), rtol=1e-7)
        np.testing.assert_allclose(weighted.mean_weights_, repeated.mean_weights_, rtol=1e-7)

    def test_the_order_of_documents_does_not_matter(self, model, corpus):
        order = np.random.default_rng(0).permutation(900)
        again = predictive().fit(corpus.counts[:900][order], corpus.ratings[:900][order])
        test = corpus.counts[900:]
        # Copies of a text stand in another order in their batch, which rounds otherwise.
        np.testing.assert_allclose(again.predict(test), model.predict(test), rtol=1e-3)


class TestNumberOfTopics:
    @pytest.mark.parametrize("n_topics", [1, 2, 3, 12, 50])
    def test_any_works(self, corpus, n_topics):
        fitted = ts.GLMNMF(n_topics, max_epochs=5).fit(corpus.counts[:900], corpus.ratings[:900])
        assert np.all(np.isfinite(fitted.predict(corpus.counts[900:])))
        np.testing.assert_allclose(fitted.components_.sum(axis=1), 1)

    def test_two_topics_find_most_of_what_five_do(self, model, corpus):
        two = ts.GLMNMF(2, max_epochs=15).fit(corpus.counts[:900], corpus.ratings[:900])
        test = slice(900, None)
        skill = model.score(corpus.counts[test], corpus.ratings[test])
        assert two.score(corpus.counts[test], corpus.ratings[test]) > 0.6 * skill

    def test_more_than_the_truth_predict_as_well(self, model, corpus):
        more = ts.GLMNMF(14, max_epochs=15).fit(corpus.counts[:900], corpus.ratings[:900])
        test = slice(900, None)
        skill = model.score(corpus.counts[test], corpus.ratings[test])
        assert more.score(corpus.counts[test], corpus.ratings[test]) > 0.95 * skill


class TestWithoutSupervision:
    def test_topics_do_not_look_at_the_response(self, corpus):
        shuffled = np.random.default_rng(0).permutation(corpus.ratings[:900])
        for n_topics in (3, 5):
            one, other = (
                ts.GLMNMF(n_topics, supervision=0, max_epochs=5).fit(corpus.counts[:900], y)
                for y in (corpus.ratings[:900], shuffled)
            )
            np.testing.assert_array_equal(one.components_, other.components_)

    def test_effects_are_a_glm_on_the_weights(self, corpus):
        y = corpus.ratings[:900] - 1
        fitted = ts.GLMNMF(5, supervision=0, penalty=0, max_epochs=5, levels=(1, 5)).fit(corpus.counts[:900], y + 1)
        glm = sm.GLM(np.column_stack([y, 4 - y]), sm.add_constant(fitted.weights_), family=sm.families.Binomial())
        theirs = glm.fit(tol=1e-14, maxiter=200).params
        np.testing.assert_allclose([fitted.intercept_, *fitted.coef_], theirs, rtol=1e-5)


class TestStopping:
    """The step size falls to 0 by design, so nothing moves at the end whatever was learnt: that is no convergence."""

    @pytest.mark.parametrize(
        ("max_epochs", "reason"), [(1, "the only epoch done"), (3, "all 3 epochs done"), (30, "all 30 epochs done")]
    )
    def test_all_epochs_are_done_and_nothing_is_claimed(self, corpus, max_epochs, reason):
        fitted = ts.GLMNMF(5, max_epochs=max_epochs).fit(corpus.counts[:300], corpus.ratings[:300])
        assert (fitted.stop_reason_, fitted.converged_, fitted.n_iter_) == (reason, False, max_epochs)


def test_a_constant_can_be_left_out(corpus):
    assert predictive(fit_intercept=False).fit(corpus.counts, corpus.ratings).intercept_ == 0


def test_starting_topics_may_be_given(corpus):
    fitted = ts.GLMNMF(5, max_epochs=5).fit(corpus.counts[:900], corpus.ratings[:900], H=corpus.topics + 1e-6)
    cosine = np.sum(fitted.components_ * corpus.topics, axis=1) / (
        np.linalg.norm(fitted.components_, axis=1) * np.linalg.norm(corpus.topics, axis=1)
    )
    assert cosine.min() > 0.9


class Recorded(ts.GLMNMF):
    """Keeps every run, and what whole documents and untouched responses lose by it."""

    def _train(self, task):
        run = super()._train(task)
        self.runs = [*getattr(self, "runs", []), (self._loss(run.fitted, task), run.fitted)]
        return run

    def _loss(self, fitted, task):
        rows, length = scale_rows(task.corpus.X, task.corpus.weight)
        X, y, D = rows.toarray(), task.corpus.y, fitted.weights @ fitted.topics
        text = length @ (D.sum(axis=1) - np.sum(X * np.log(D), axis=1))
        eta = fitted.intercept + fitted.weights @ fitted.effects
        response = task.family.loss(y, eta).sum() + self._penalty_of(task.family) * np.sum(fitted.effects**2)
        by_length = Corpus(sp.csr_array(rows * length[:, None]), y, task.corpus.weight)
        share = by_length.text_null_deviance() / null_deviance(task.family, y, task.corpus.weight)
        return text + self.supervision * share * response


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_of_several_starts_is_kept_by_what_compares_between_them(seed):
    # Few documents: their guides explain more or less by chance, so that starts differ in supervision.
    corpus = ts.datasets.simulate_corpus(n_documents=120, n_terms=100, random_state=seed)
    model = Recorded(4, n_init=4, max_epochs=3, random_state=seed).fit(corpus.counts, corpus.ratings)
    supervisions = {fitted.trace.supervision for _, fitted in model.runs}
    assert len(supervisions) > 1
    best = min(model.runs, key=lambda run: run[0])[1]
    assert model.fitted_ is best


def test_nearly_equal_documents_are_no_trouble():
    counts = np.ones((80, 6))
    counts[np.arange(80), np.arange(80) % 6] += 1e-3
    fitted = ts.GLMNMF(4).fit(counts, np.arange(80) % 5)
    assert np.all(np.isfinite(fitted.predict(counts)))


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
