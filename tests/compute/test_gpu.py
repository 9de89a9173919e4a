"""Themes and tone of texts that all lie on the card are those of the NumPy kernels, the same bits every time."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from benchmarks import gpu_reading
from textsignal import TextResponseModel
from textsignal.compute import hashing
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.gpu import code as gpu_code
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu import themes as gpu_themes
from textsignal.compute.gpu import tone as gpu_tone
from textsignal.compute.kernels import Rows, compiled, pad, reference
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.families import Bernoulli, Binomial, Gaussian, NegativeBinomial, Ordinal, Poisson
from textsignal.training import draws
from textsignal.training.corpus import Corpus
from textsignal.training.inference import infer_weights
from textsignal.training.joint import AdaptiveGamma, JointSettings, NewtonStep, NoStep, TextAlone, train_joint
from textsignal.training.tone import slope_of

needs_card = pytest.mark.skipif(bool(gpu_code.missing()), reason=gpu_code.missing())
N_TOPICS = 16


@pytest.mark.skipif(not gpu_code.missing(), reason="a card is there")
def test_without_a_card_the_kernels_say_what_is_missing():
    with pytest.raises(InputError, match="GPU kernels need"):
        gpu.pull_on_weights(Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)), *np.zeros((2, 1, 8)))


@pytest.mark.skipif(not gpu_code.missing(), reason="a card is there")
def test_without_a_card_a_model_says_so():
    with pytest.raises(InputError, match="device='cuda': the GPU kernels need"):
        TextResponseModel(2, device="cuda").fit(["one", "two", "three"], [1, 2, 3])


def test_a_device_must_be_one_that_is_known():
    with pytest.raises(InputError, match="device='tpu' is not known; give 'cpu' or 'cuda'"):
        TextResponseModel(2, device="tpu").fit(["one", "two", "three"], [1, 2, 3])


def test_a_family_without_slopes_in_cuda_says_so():
    with pytest.raises(InputError, match="Ordinal has no slopes"):
        slope_of(Ordinal((1, 2, 3)))
    assert slope_of(Poisson().of_words)


def test_mixing_is_that_of_the_draws():
    numbers = np.random.default_rng(0).integers(0, 2**63, 20).astype(np.uint64)
    np.testing.assert_array_equal(gpu_tone.mixed(numbers), [hashing.mix(number) for number in numbers])


def test_batches_grow_with_the_root_of_what_was_seen():
    sizes = [gpu_tone.batch_size(seen) for seen in (0, 10_000, 1_000_000, 10**12)]
    assert sizes == [gpu_tone.LEAST_BATCH, 200, 2000, gpu_tone.MOST_BATCH]


def sentences(n=3000, n_terms=400, seed=0):
    """Short rows of weighted counts, one of them empty and one long, and topics."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, n_terms), density=4 / n_terms, rng=rng, format="lil")
    X[3], X[5, :60] = 0, 1.0
    X = sp.csr_array(X, dtype=np.float32)
    X.eliminate_zeros()
    HT = np.zeros((n_terms, N_TOPICS), np.float32)
    HT[:, :14] = rng.dirichlet(np.full(n_terms, 0.3), 14).T + 1e-4
    return X, HT


def on_card(X):
    cp = gpu_code.cupy()
    rows = Rows.of(X, 0, X.shape[0])
    return Rows(*(cp.asarray(values) for values in rows))


def assert_near(ours, theirs, rtol=2e-5):
    np.testing.assert_allclose(ours.get(), theirs, rtol=rtol, atol=rtol * np.abs(theirs).max())


@needs_card
class TestThemes:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("n_terms", [400, 5000], ids=["one table", "several tables"])
    def test_a_step_is_that_of_the_reference(self, n_terms, weighted):
        cp, (X, HT) = gpu_code.cupy(), sentences(n_terms=n_terms)
        rng, rows = np.random.default_rng(1), Rows.of(X, 0, X.shape[0])
        W = rng.exponential(1, (X.shape[0], N_TOPICS)).astype(np.float32)
        W[:, 14:] = 0
        weight = rng.integers(0, 3, len(W)).astype(np.float32) if weighted else np.ones(len(W), np.float32)
        placed = gpu_themes.CardSentences.of(rows, n_terms, weight if weighted else None)
        order = placed.order.get()
        ours = cp.asarray(W[order])
        sums = gpu_themes.theme_step(placed, ours, cp.asarray(HT), loss=True)
        mass = HT.sum(axis=0)
        moved = W * reference.pull_on_weights(rows, W, HT) / np.where(mass > 0, mass, 1)
        theirs = reference.text_sums(rows, moved, HT, weight)
        assert_near(ours, moved[order])
        assert_near(sums.products, HT * theirs.pull)
        assert_near(sums.mass, theirs.mass)
        assert sums.log_loss == pytest.approx(theirs.log_loss, rel=1e-5)
        # Topics that are not there stay so.
        assert not sums.products.get()[:, 14:].any()

    def test_learning_is_joint_training_with_the_text_alone(self):
        X, HT = sentences()
        ours = gpu_themes.learn_themes(gpu_themes.CardSentences.of(Rows.of(X, 0, X.shape[0]), X.shape[1]), HT, 3)
        corpus = Corpus(X, np.full(X.shape[0], np.nan), np.ones(X.shape[0]))
        settings = JointSettings(0.0, 0.0, TextAlone(), NoStep(), 3, 0.0)
        with LocalEngine(1) as engine:
            compute = Compute(engine, compiled)
            start = infer_weights(X, HT[:, :14].T.copy(), tol=0.0, max_iter=5, compute=compute).weights
            given = (Binomial(4, 1), HT[:, :14].T.copy(), start, settings, compute)
            found = train_joint(corpus, *given, lambda iteration, losses: False)
        mass = found.topics.sum(axis=1)
        prevalence = found.weights.sum(axis=0) * mass
        assert_near(ours.HT[:, :14], found.topics.T / mass, rtol=1e-3)
        assert_near(ours.prevalence[:14], prevalence / prevalence.sum(), rtol=1e-3)

    def test_the_same_bits_every_time(self):
        X, HT = sentences()
        placed = gpu_themes.CardSentences.of(Rows.of(X, 0, X.shape[0]), X.shape[1])
        once, again = (gpu_themes.learn_themes(placed, HT, 3) for _ in range(2))
        np.testing.assert_array_equal(once.HT.get(), again.HT.get())
        np.testing.assert_array_equal(once.prevalence.get(), again.prevalence.get())

    def test_inference_is_that_of_the_reference(self):
        X, HT = sentences(300)
        ours = gpu_reading.infer_themes(on_card(X), gpu_code.cupy().asarray(HT), 1e-3, 500)
        theirs = infer_weights(X, HT[:, :14].T.copy(), tol=1e-3, max_iter=500).weights
        assert_near(ours[:, :14], theirs, rtol=5e-3)

    def test_documents_add_up_what_their_sentences_say(self):
        cp, rng = gpu_code.cupy(), np.random.default_rng(2)
        ends = np.array([0, 3, 3, 7, 9])
        W = rng.exponential(1, (9, N_TOPICS)).astype(np.float32)
        W[1], W[7:] = 0, 0
        words, tone = rng.integers(1, 9, 9).astype(np.float32), rng.normal(size=9).astype(np.float32)
        prevalence = rng.dirichlet(np.ones(N_TOPICS)).astype(np.float32)
        places = cp.asarray(W)
        placed = gpu_reading.place(places, *(cp.asarray(values) for values in (ends, words, tone, prevalence)))
        documents = np.repeat(np.arange(4), np.diff(ends))
        of_document = sp.csr_array((np.ones(9), (documents, np.arange(9))), shape=(4, 9))

        def shares(weights, otherwise):
            total = weights.sum(axis=1, keepdims=True)
            return np.where(total > 0, weights / np.where(total > 0, total, 1), otherwise)

        expected = shares(W, shares(of_document @ W, prevalence)[documents])
        assert_near(places, expected)
        assert_near(placed.tone, of_document @ (expected * tone[:, None]))
        assert_near(placed.shares, shares(of_document @ (expected * words[:, None]), prevalence))


@needs_card
class TestTone:
    STEPS, CONSTANT, PASSES = gpu_tone.Steps(draw=25, rate=0.1, slope=1.2), 0.3, 4

    @staticmethod
    def documents(n=3000, n_features=500, seed=0):
        rng = np.random.default_rng(seed)
        X = sp.random_array((n, n_features), density=0.05, rng=rng, format="csr", data_sampler=rng.exponential)
        y = rng.integers(0, 5, n).astype(np.float32)
        return sp.csr_array(X, dtype=np.float32), y, rng.integers(0, 5, n).astype(np.int32)

    def fit(self, X, y, folds):
        cp, rows = gpu_code.cupy(), on_card(X)
        visits = gpu_tone.Visits(gpu_reading.document_keys(rows))
        documents = gpu_tone.CardTexts(rows, cp.asarray(y).reshape(len(y), -1), cp.asarray(folds), visits)
        given = X.shape[1], self.STEPS, slope_of(Binomial(4, 1)), self.CONSTANT, self.PASSES
        return gpu_reading.fit_tone(documents, *given).get()

    def in_numpy(self, X, y, folds):
        """The same batches, in double precision."""
        keys, seen = draws.document_keys(X), 0
        effects, squares = np.zeros((X.shape[1] + 1, gpu_tone.FITS)), np.ones((X.shape[1] + 1, gpu_tone.FITS))
        effects[-1] = self.CONSTANT
        for number in range(self.PASSES):
            order = np.argsort(hashing.drawn(keys, self.STEPS.draw, number), kind="stable")
            halves = draws.unit_halves(sp.csr_array(X, dtype=float), order, keys[order], number)
            start = 0
            while start < len(order):
                stop = min(len(order), start + gpu_tone.batch_size(seen + start))
                batch, Z = order[start:stop], sp.hstack([halves[start:stop], np.ones((stop - start, 1))]).tocsr()
                sees = folds[batch, None] != np.arange(gpu_tone.FITS)
                slopes = sees * Binomial(4, 1).gradient(y[batch, None], Z @ effects) / self.STEPS.slope
                squares += Z.power(2).T @ slopes**2
                effects -= self.STEPS.rate * (Z.T @ slopes) / np.sqrt(squares)
                start = stop
            seen += len(order)
        return effects

    def test_draws_are_those_of_training(self):
        X = self.documents()[0]
        keys = gpu_reading.document_keys(on_card(X))
        np.testing.assert_array_equal(keys.get(), draws.document_keys(X))
        np.testing.assert_array_equal(gpu_tone.drawn(keys, 3, 7).get(), hashing.drawn(draws.document_keys(X), 3, 7))

    def test_a_fit_is_that_of_numpy_with_the_same_batches(self):
        given = self.documents()
        np.testing.assert_allclose(self.fit(*given), self.in_numpy(*given), rtol=0, atol=2e-4)

    def test_the_same_bits_every_time(self):
        given = self.documents()
        np.testing.assert_array_equal(self.fit(*given), self.fit(*given))

    def test_every_fit_may_have_responses_of_its_own(self):
        X, y, folds = self.documents()
        own = np.tile(y[:, None], (1, gpu_tone.FITS))
        np.testing.assert_array_equal(self.fit(X, own, folds), self.fit(X, y, folds))
        own[:, 3] = 4 - own[:, 3]
        changed = np.any(self.fit(X, own, folds) != self.fit(X, y, folds), axis=0)
        assert np.flatnonzero(changed).tolist() == [3]

    @pytest.mark.parametrize(
        "family", [Binomial(4, 1), Bernoulli(), Gaussian(1.7), NegativeBinomial(0.3)], ids=lambda f: type(f).__name__
    )
    def test_slopes_are_those_of_the_family(self, family):
        cp, eta, y = gpu_code.cupy(), np.linspace(-90, 90, 181), np.arange(181.0) % 2
        slope = cp.ElementwiseKernel("float32 y, float32 eta", "float32 z", f"z = {slope_of(family)}", "slope_of_tests")
        found = slope(cp.asarray(y, np.float32), cp.asarray(eta, np.float32)).get()
        np.testing.assert_allclose(found, family.gradient(y, eta), rtol=1e-5, atol=1e-6)

    def test_a_fit_does_not_see_the_documents_of_its_fold(self):
        X, y, folds = self.documents()
        other = np.where(folds == 2, 4 - y, y).astype(np.float32)
        before, after = self.fit(X, y, folds), self.fit(X, other, folds)
        np.testing.assert_array_equal(before[:, 2], after[:, 2])
        assert np.all(np.any(before != after, axis=0)[[0, 1, 3, 4, 5]])

    def test_tone_of_sentences_is_the_sum_of_their_occurrences(self):
        cp, X = gpu_code.cupy(), self.documents(200)[0]
        rng = np.random.default_rng(3)
        effects = rng.normal(size=(X.shape[1] + 1, gpu_tone.FITS)).astype(np.float32)
        documents, folds = np.repeat(np.arange(50), 4).astype(np.int32), rng.integers(0, 5, 50).astype(np.int32)
        each = X @ effects[:-1]
        given = on_card(X), cp.asarray(documents), cp.asarray(effects)
        assert_near(gpu_reading.sentence_tone(*given), each[:, gpu_tone.FOLDS])
        theirs = each[np.arange(200), folds[documents]]
        assert_near(gpu_reading.sentence_tone(*given, cp.asarray(folds)), theirs)


@needs_card
class TestInTraining:
    """Engines move a block at a time."""

    @pytest.mark.parametrize("smoothing", [0.0, 0.05])
    def test_inference_is_that_of_the_compiled_kernels(self, smoothing):
        X, HT = sentences(500)
        with LocalEngine(1) as engine:
            found = [
                infer_weights(
                    X.astype(float), HT[:, :14].T.copy(), smoothing=smoothing, compute=Compute(engine, kernels)
                )
                for kernels in (gpu, compiled)
            ]
        np.testing.assert_allclose(found[0].weights, found[1].weights, rtol=1e-9, atol=1e-12)

    def test_joint_training_is_that_of_the_compiled_kernels(self):
        X, HT = sentences(500)
        rng, found = np.random.default_rng(5), []
        corpus = Corpus(X.astype(float), rng.integers(0, 5, 500).astype(float), np.ones(500))
        settings = JointSettings(0.05, 0.1, AdaptiveGamma(), NewtonStep(), 5, 0.0)
        start = HT[:, :14].T.astype(float), rng.exponential(1, (500, 14))
        for kernels in (gpu, compiled):
            with LocalEngine(1) as engine:
                given = (Binomial(4, 1), *start, settings, Compute(engine, kernels))
                found.append(train_joint(corpus, *given, lambda iteration, losses: False))
        np.testing.assert_allclose(found[0].topics, found[1].topics, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(found[0].effects, found[1].effects, rtol=1e-7, atol=1e-9)

    @pytest.mark.parametrize("n_topics", [3, 14, 17])
    def test_implicit_sums_are_the_reference_s(self, n_topics):
        X = sentences(60)[0].astype(float)
        rng, found = np.random.default_rng(4), []
        W, H = rng.exponential(1, (60, n_topics)) + 0.1, rng.exponential(1, (n_topics, X.shape[1]))
        slope, beta, weight = rng.normal(size=60), rng.normal(size=n_topics), rng.exponential(1, 60)
        for kernels in (gpu, reference):
            padded, HT = pad(W, kernels, X.dtype), pad(H.T, kernels, X.dtype)
            effects = np.concatenate([beta, np.zeros(HT.shape[1] - n_topics)])
            sums = kernels.implicit_sums(Rows.of(X, 0, 60), padded, HT, slope, effects, weight, 0.2)
            found.append(sums[:, :n_topics])
        np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-9)


@needs_card
class TestModels:
    """A model that learns on the card is the one that the processor learns, as far as batches of tone allow."""

    @staticmethod
    def fit(device, responses=None, n=3000):
        made = synthetic_reviews(n, seed=2)
        return TextResponseModel(8, device=device).fit(made.texts, made.ratings if responses is None else responses)

    def test_in_memory(self):
        new, (here, there) = synthetic_reviews(500, seed=5), (self.fit(device) for device in ("cpu", "cuda"))
        one, other = here.predict(new.texts), there.predict(new.texts)
        assert np.corrcoef(one, other)[0, 1] > 0.99
        assert np.std(one - new.ratings) == pytest.approx(np.std(other - new.ratings), rel=0.03)
        np.testing.assert_array_equal(self.fit("cuda").predict(new.texts), other)

    def test_some_without_a_response(self):
        made = synthetic_reviews(1500, seed=2)
        ratings = np.where(np.arange(1500) % 2, np.nan, made.ratings)
        one, other = (self.fit(device, ratings, 1500).predict(made.texts) for device in ("cpu", "cuda"))
        assert np.corrcoef(one, other)[0, 1] > 0.98

    def test_in_blocks(self, tmp_path, monkeypatch):
        made = synthetic_reviews(3000, seed=2)
        table = pd.DataFrame({"text": made.texts, "rating": made.ratings})
        table.to_parquet(tmp_path / "reviews.parquet")
        monkeypatch.setattr("textsignal.training.streamed.BLOCK", 1000)
        one, other = (
            TextResponseModel(8, device=device).fit(tmp_path / "reviews.parquet", "rating", text="text")
            for device in ("cpu", "cuda")
        )
        assert np.corrcoef(one.predict(made.texts), other.predict(made.texts))[0, 1] > 0.99
