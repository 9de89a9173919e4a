"""Compiled and GPU kernels are the reference kernels, and all keep the laws that training builds on."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.compute import gpu as gpu_code
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.kernels import Rows, compiled, pad, reference

N_DOCUMENTS, N_TERMS = 60, 45
EMPTY, FULL = 5, 7
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}

laws = settings(max_examples=40)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
topic_numbers = pytest.mark.parametrize("n_topics", [1, 3, 8, 14, 16, 17, 40])
on_card = pytest.param(gpu, id="gpu", marks=pytest.mark.skipif(bool(gpu_code.missing()), reason=gpu_code.missing()))
fast_kernels = pytest.mark.parametrize("fast", [pytest.param(compiled, id="compiled"), on_card])
all_kernels = pytest.mark.parametrize(
    "kernels", [pytest.param(reference, id="reference"), pytest.param(compiled, id="compiled"), on_card]
)


@dataclass(frozen=True)
class Case:
    """One block of documents: one is empty, one has every term; some weights and topic entries are exactly 0."""

    X: sp.csr_array
    W: np.ndarray
    H: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray

    def padded(self, kernels):
        """Weights and transposed topics as the kernels take them."""
        return pad(self.W, kernels, self.X.dtype), pad(self.H.T, kernels, self.X.dtype)

    def rows(self, start=0, stop=N_DOCUMENTS):
        return Rows.of(self.X, start, stop)


def make_case(n_topics: int, dtype=np.float64, seed: int = 0) -> Case:
    rng = np.random.default_rng(seed)
    X = rng.exponential(2, (N_DOCUMENTS, N_TERMS)) * (rng.random((N_DOCUMENTS, N_TERMS)) < 0.2)
    X[EMPTY] = 0
    X[FULL] = rng.exponential(1, N_TERMS) + 0.1
    W, H = rng.exponential(1, (N_DOCUMENTS, n_topics)), rng.exponential(1, (n_topics, N_TERMS))
    # Every document keeps its first topic, so that every term is reconstructed.
    W[:, 1:][rng.random((N_DOCUMENTS, n_topics - 1)) < 0.2] = 0
    H[1:][rng.random((n_topics - 1, N_TERMS)) < 0.2] = 0
    return Case(
        X=sp.csr_array(X.astype(dtype)),
        W=W.astype(dtype),
        H=H.astype(dtype),
        weight=rng.integers(0, 3, N_DOCUMENTS).astype(dtype),
        slope=rng.normal(0, 2, N_DOCUMENTS) * (rng.random(N_DOCUMENTS) < 0.8),
        beta=rng.normal(0, 2, n_topics),
        gamma=rng.exponential(5, N_DOCUMENTS) * (rng.random(N_DOCUMENTS) < 0.5),
    )


def text_losses(case: Case, W: np.ndarray, documents: slice = slice(None)) -> np.ndarray:
    """Each document's text loss, up to a constant: sum_k mass_k w_k - sum_j x_j log (wH)_j."""
    D = W @ case.H
    logs = np.log(D, out=np.zeros_like(D), where=D > 0)
    return D.sum(axis=1) - (case.X.toarray()[documents] * logs).sum(axis=1)


def step_of(kernels, case: Case):
    W, HT = case.padded(kernels)
    pull = kernels.pull_on_weights(case.rows(), W, HT)
    beta = np.zeros(W.shape[1])
    beta[: case.beta.size] = case.beta
    return kernels.weight_step(W, pull, HT.sum(axis=0), case.slope, beta, case.gamma)


def assert_same(ours: np.ndarray, reference_s: np.ndarray, dtype) -> None:
    """Equal up to rounding over the topics there are, and zero in the padding behind them."""
    n_topics = reference_s.shape[-1]
    scale = np.abs(reference_s).max()
    np.testing.assert_allclose(ours[..., :n_topics], reference_s, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale)
    np.testing.assert_array_equal(ours[..., n_topics:], 0)


@fast_kernels
@dtypes
@topic_numbers
class TestFastIsTheReference:
    def test_pull_on_weights(self, n_topics, dtype, fast):
        case = make_case(n_topics, dtype)
        ours, theirs = (k.pull_on_weights(case.rows(), *case.padded(k)) for k in (fast, reference))
        assert ours.dtype == dtype
        assert_same(ours, theirs, dtype)

    def test_text_sums(self, n_topics, dtype, fast):
        case = make_case(n_topics, dtype)
        ours, theirs = (k.text_sums(case.rows(), *case.padded(k), case.weight) for k in (fast, reference))
        assert ours.pull.dtype == dtype
        assert_same(ours.pull, theirs.pull, dtype)
        assert_same(ours.mass, theirs.mass, dtype)
        assert ours.log_loss == pytest.approx(theirs.log_loss, rel=TOLERANCE[dtype])

    def test_weight_step(self, n_topics, dtype, fast):
        case = make_case(n_topics, dtype)
        ours, theirs = step_of(fast, case), step_of(reference, case)
        assert ours.W.dtype == dtype
        assert_same(ours.W, theirs.W, dtype)
        scale = np.abs(theirs.text_change).max()
        np.testing.assert_allclose(ours.text_change, theirs.text_change, atol=TOLERANCE[dtype] * scale, rtol=0)

    def test_response_sums(self, n_topics, dtype, fast):
        case = make_case(n_topics, dtype)
        curvature = case.gamma
        (ours_1, ours_2), (theirs_1, theirs_2) = (
            k.response_sums(case.padded(k)[0], case.slope, curvature) for k in (fast, reference)
        )
        # The intercept stands behind the padded topics.
        kept = [*range(n_topics), -1]
        padding = slice(n_topics, -1)
        np.testing.assert_allclose(ours_1[kept], theirs_1, rtol=1e-12, atol=1e-12 * np.abs(theirs_1).max())
        np.testing.assert_allclose(ours_2[np.ix_(kept, kept)], theirs_2, rtol=1e-12)
        np.testing.assert_array_equal(ours_1[padding], 0)
        np.testing.assert_array_equal(ours_2[padding], 0)
        np.testing.assert_array_equal(ours_2[:, padding], 0)

    @pytest.mark.parametrize("smoothing", [0.0, 0.05])
    def test_infer(self, n_topics, dtype, fast, smoothing):
        case = make_case(n_topics, dtype)
        results = []
        for kernels in (fast, reference):
            W, HT = case.padded(kernels)
            # A tolerance that is never met: all steps are taken.
            steps = kernels.infer(case.rows(), HT, W, smoothing, -1.0, 20)
            np.testing.assert_array_equal(np.delete(steps, EMPTY), 20)
            results.append(W)
        ours, theirs = results
        # Rounding grows with the steps.
        allowed = 50 * TOLERANCE[dtype]
        np.testing.assert_allclose(ours[:, :n_topics], theirs, rtol=allowed, atol=allowed)
        np.testing.assert_array_equal(ours[:, n_topics:], 0)


@fast_kernels
@topic_numbers
def test_fast_and_reference_stop_inference_at_the_same_step(n_topics, fast):
    case = make_case(n_topics)
    steps = []
    for kernels in (fast, reference):
        W, HT = case.padded(kernels)
        kernels.infer(case.rows(), HT, W, 0.0, -1.0, 1)
        steps.append(kernels.infer(case.rows(), HT, W, 0.0, 1e-3, 500))
    np.testing.assert_array_equal(*steps)
    assert n_topics == 1 or steps[0].max() > 1


@fast_kernels
def test_fast_and_reference_treat_a_dead_topic_alike(fast):
    case = make_case(3)
    case.H[1] = 0
    results = []
    for kernels in (fast, reference):
        W, HT = case.padded(kernels)
        kernels.infer(case.rows(), HT, W, 0.1, -1.0, 50)
        results.append(W[:, :3])
    np.testing.assert_allclose(*results, rtol=1e-9)


@all_kernels
class TestLaws:
    def test_pull_on_weights_is_the_papers_formula(self, kernels):
        case = make_case(4)
        R = case.X.toarray() / (case.W @ case.H)
        assert_same(kernels.pull_on_weights(case.rows(), *case.padded(kernels)), R @ case.H.T, np.float64)

    def test_text_sums_are_the_papers_formulas(self, kernels):
        case = make_case(4)
        X, D = case.X.toarray(), case.W @ case.H
        sums = kernels.text_sums(case.rows(), *case.padded(kernels), case.weight)
        weighted = case.W * case.weight[:, None]
        assert_same(sums.pull, (X / D).T @ weighted, np.float64)
        assert_same(sums.mass, weighted.sum(axis=0), np.float64)
        assert sums.log_loss == pytest.approx(-np.sum(case.weight[:, None] * X * np.log(D)), rel=1e-12)

    def test_weight_step_is_the_papers_formula(self, kernels):
        case = make_case(4)
        G = np.outer(case.slope, case.beta)
        A = (case.X.toarray() / (case.W @ case.H)) @ case.H.T + np.maximum(-G, 0) + case.gamma[:, None]
        B = case.H.sum(axis=1) + np.maximum(G, 0) + case.gamma[:, None]
        assert_same(step_of(kernels, case).W, case.W * A / B, np.float64)

    def test_response_sums_are_gradient_and_hessian_with_an_intercept(self, kernels):
        case = make_case(4)
        Z = np.column_stack([case.padded(kernels)[0], np.ones(N_DOCUMENTS)])
        gradient, hessian = kernels.response_sums(case.padded(kernels)[0], case.slope, case.gamma)
        np.testing.assert_allclose(gradient, Z.T @ case.slope, rtol=1e-11)
        np.testing.assert_allclose(hessian, Z.T @ np.diag(case.gamma) @ Z, rtol=1e-11)

    def test_empty_documents_pull_nothing_and_a_full_one_is_summed_in_full(self, kernels):
        case = make_case(4)
        pull = kernels.pull_on_weights(case.rows(), *case.padded(kernels))
        np.testing.assert_array_equal(pull[EMPTY], 0)
        x = case.X[[FULL]].toarray()[0]
        assert np.count_nonzero(x) == N_TERMS
        np.testing.assert_allclose(pull[FULL, :4], case.H @ (x / (case.W[FULL] @ case.H)), rtol=1e-12)

    def test_a_block_of_empty_documents_sums_to_its_mass_alone(self, kernels):
        case = make_case(4)
        W, HT = case.padded(kernels)
        sums = kernels.text_sums(case.rows(EMPTY, EMPTY + 1), W[[EMPTY]], HT, np.ones(1))
        np.testing.assert_array_equal(sums.pull, 0)
        np.testing.assert_array_equal(sums.mass[:4], case.W[EMPTY])
        assert sums.log_loss == 0

    @laws
    @given(cut=st.integers(0, N_DOCUMENTS), n_topics=st.integers(1, 8), seed=st.integers(0, 99))
    def test_text_sums_of_two_parts_add_up_to_the_whole(self, kernels, cut, n_topics, seed):
        case = make_case(n_topics, seed=seed)
        W, HT = case.padded(kernels)
        whole = kernels.text_sums(case.rows(), W, HT, case.weight)
        first = kernels.text_sums(case.rows(0, cut), W[:cut], HT, case.weight[:cut])
        second = kernels.text_sums(case.rows(cut), W[cut:], HT, case.weight[cut:])
        np.testing.assert_allclose(first.pull + second.pull, whole.pull, rtol=1e-11)
        np.testing.assert_allclose(first.mass + second.mass, whole.mass, rtol=1e-11)
        assert first.log_loss + second.log_loss == pytest.approx(whole.log_loss, rel=1e-11, abs=1e-9)

    @laws
    @given(
        n_topics=st.integers(1, 8),
        seed=st.integers(0, 999),
        supervision=st.sampled_from([0.0, 0.1, 10.0, 1e4]),
        gamma=st.sampled_from([0.0, 1e-3, 1.0, 400.0]),
    )
    def test_text_change_bounds_the_change_of_the_text_loss(self, kernels, n_topics, seed, supervision, gamma):
        drawn = make_case(n_topics, seed=seed)
        case = Case(drawn.X, drawn.W, drawn.H, drawn.weight, supervision * drawn.slope, drawn.beta, gamma * drawn.gamma)
        step = step_of(kernels, case)
        before, after = text_losses(case, case.W), text_losses(case, np.asarray(step.W[:, :n_topics]))
        rounding = 1e-10 * (np.abs(before) + np.abs(after) + np.abs(step.text_change))
        assert np.all(after - before <= step.text_change + rounding)

    @laws
    @given(n_topics=st.integers(1, 8), seed=st.integers(0, 999))
    def test_an_unsupervised_step_lowers_the_text_loss_of_every_document(self, kernels, n_topics, seed):
        drawn = make_case(n_topics, seed=seed)
        case = Case(drawn.X, drawn.W, drawn.H, drawn.weight, 0 * drawn.slope, drawn.beta, drawn.gamma)
        assert np.all(step_of(kernels, case).text_change <= 1e-10 * np.abs(text_losses(case, case.W)))

    @pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
    def test_inference_ends_within_tolerance_of_the_minimum_wherever_it_starts(self, kernels, size):
        case, few = make_case(4), slice(0, 10)
        best, HT = pad(np.ones((10, 4)), compiled, np.float64), case.padded(compiled)[1]
        compiled.infer(case.rows(0, 10), HT, best, 0.0, -1.0, 3000)
        W, HT = pad(np.full((10, 4), size), kernels, np.float64), case.padded(kernels)[1]
        kernels.infer(case.rows(0, 10), HT, W, 0.0, 1e-4, 3000)
        found, least = (text_losses(case, np.asarray(weights[:, :4]), few) for weights in (W, best))
        assert np.all(found - least <= 1e-4 * case.X[few].sum(axis=1) + 1e-9)

    def test_what_is_given_is_not_changed(self, kernels):
        case = make_case(4)
        W, HT = case.padded(kernels)
        copies = [array.copy() for array in (case.X.data, W, HT)]
        pull = kernels.pull_on_weights(case.rows(), W, HT)
        kernels.text_sums(case.rows(), W, HT, case.weight)
        beta = np.zeros(W.shape[1])
        kernels.weight_step(W, pull, HT.sum(axis=0), case.slope, beta, case.gamma)
        kernels.response_sums(W, case.slope, case.gamma)
        for array, copy in zip((case.X.data, W, HT), copies, strict=True):
            np.testing.assert_array_equal(array, copy)


class TestFitsSideBySide:
    """Linear predictors and Adagrad's steps of several fits on the same documents."""

    @staticmethod
    def fits(n_fits, kernels, seed=0):
        rng = np.random.default_rng(seed)
        effects, squares = rng.normal(size=(N_TERMS + 1, n_fits)), 1 + rng.random((N_TERMS + 1, n_fits))
        slopes = rng.normal(size=(N_DOCUMENTS, n_fits))
        return [pad(values, kernels, np.dtype(float)) for values in (effects, squares, slopes)]

    @fast_kernels
    @pytest.mark.parametrize("n_fits", [1, 6, 8, 11])
    def test_fast_is_the_reference(self, n_fits, fast):
        X, found = make_case(2).rows(), []
        for kernels in (reference, fast):
            effects, squares, slopes = self.fits(n_fits, kernels)
            squares[:, n_fits:] = 1
            kernels.adagrad_step(X, slopes, effects, squares, 0.2)
            found.append([values[:, :n_fits] for values in (effects, squares, kernels.predictors(X, effects))])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)

    @all_kernels
    def test_each_fit_is_its_own(self, kernels):
        X = make_case(2).rows()
        together = self.fits(8, kernels)
        alone = [pad(values[:, 3:4], kernels, np.dtype(float)) for values in self.fits(8, kernels)]
        alone[1][:, 1:] = 1
        for effects, squares, slopes in (together, alone):
            kernels.adagrad_step(X, slopes, effects, squares, 0.2)
        np.testing.assert_array_equal(together[0][:, 3], alone[0][:, 0])

    @all_kernels
    def test_no_slope_no_step(self, kernels):
        effects, squares, slopes = self.fits(8, kernels)
        before = effects.copy()
        slopes[:, 2] = 0
        kernels.adagrad_step(make_case(2).rows(), slopes, effects, squares, 0.2)
        np.testing.assert_array_equal(effects[:, 2], before[:, 2])
        assert np.any(effects != before, axis=0).sum() == 7

    @all_kernels
    def test_an_empty_document_moves_the_constant_alone(self, kernels):
        effects, squares, slopes = self.fits(8, kernels)
        before = effects.copy()
        kernels.adagrad_step(make_case(2).rows(EMPTY, EMPTY + 1), slopes[EMPTY : EMPTY + 1], effects, squares, 0.2)
        np.testing.assert_array_equal(effects[:-1], before[:-1])
        assert np.all(effects[-1] != before[-1])


class TestMemory:
    """Nothing of size nonzeros x topics is allocated."""

    @pytest.mark.parametrize("name", ["pull_on_weights", "text_sums"])
    def test_peak_stays_far_below_nonzeros_times_topics(self, name):
        rng, n_topics = np.random.default_rng(0), 40
        X = sp.random_array((2000, 500), density=0.1, rng=rng, format="csr")
        W, HT = (pad(rng.random((n, n_topics)), compiled, X.dtype) for n in X.shape)
        weight = [np.ones(len(W))] if name == "text_sums" else []
        arguments = (Rows.of(X, 0, len(W)), W, HT, *weight)
        kernel = getattr(compiled, name)
        kernel(*arguments)  # compiling allocates too
        tracemalloc.start()
        kernel(*arguments)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 0 < peak < X.nnz * n_topics * 8 / 2


class TestRows:
    def test_a_part_shares_the_memory_of_the_whole(self):
        X = make_case(2).X
        part = Rows.of(X, 10, 20)
        assert np.shares_memory(part.data, X.data)
        assert np.shares_memory(part.indices, X.indices)

    @laws
    @given(st.integers(0, N_DOCUMENTS), st.integers(0, N_DOCUMENTS))
    def test_a_part_is_these_rows(self, one, other):
        start, stop = sorted((one, other))
        X = make_case(2).X
        part = Rows.of(X, start, stop)
        assert part.n_documents == stop - start
        again = sp.csr_array((part.data, part.indices, part.indptr), shape=(stop - start, N_TERMS))
        np.testing.assert_array_equal(again.toarray(), X.toarray()[start:stop])


@dtypes
@topic_numbers
@all_kernels
def test_padding_is_whole_vectors_of_zeros_behind_the_topics(kernels, n_topics, dtype):
    matrix = np.random.default_rng(0).random((5, n_topics)).astype(dtype)
    padded = pad(matrix, kernels, np.dtype(dtype))
    assert padded.shape[1] % kernels.lanes(dtype) == 0
    assert padded.shape[1] - n_topics < kernels.lanes(dtype)
    np.testing.assert_array_equal(padded[:, :n_topics], matrix)
    np.testing.assert_array_equal(padded[:, n_topics:], 0)
