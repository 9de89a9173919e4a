"""Predictive training: weights are a function of the text in training too, and topics move so that it predicts.

With every topic summing to 1, x_i a row of terms of l2 norm 1 and t_i the text's length (mean 1):

    f_i(w; H) = sum_k w_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k,      w_i(H) = argmin f_i
    J(H, b)   = 1/M sum_i [ t_i f_i(w_i) + s loss(y_i, eta(w_i, b)) ] + s penalty |beta|^2 - s prior sum_kj m_j log H_kj

m is the corpus' mean term profile. The gradient goes through the weights by the implicit function theorem. Every step
uses the texts of one batch. Two measures reduce over-fitting: some terms of each text are dropped at random, and a
guide (a word-level regression) removes part of the noise from the responses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Array, Vector
from textsignal.compute.hashing import Keys, drawn
from textsignal.compute.kernels import Kernels, Means, Rows, pad
from textsignal.training.corpus import Addable, Block, Corpus, Parameters, Responses
from textsignal.training.draws import document_keys, thinned
from textsignal.training.fitted import FittedTopics, Losses, Run, Trace, Watch, fit_on_text, run
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import Inference, row_norms, unit_rows
from textsignal.training.start import PredictiveStart, better_start, predictive_start
from textsignal.training.word_effects import NO_GUIDE, Guide, fit_guide

#: How much a topic is drawn to the corpus' profile, and the first learning rate.
PRIOR, LEARNING_RATE = 0.003, 0.1
#: A text counts as at most this many times the median text's length.
LONGEST = 10.0
#: Texts of fewer terms are thinned proportionally less: dropping a word can change the meaning of a short text.
FULLY_THINNED = 20
#: Minimum number of batches in an epoch, so that small corpora take enough steps.
FEWEST_BATCHES = 32
#: A batch is cut into this many blocks, whatever the number of threads.
BLOCKS_A_BATCH = 2
#: Tolerance of inference in training, which starts from the weights of the previous epoch.
TRAINING_TOL, TRAINING_STEPS = 1e-3, 6
#: Tolerance of inference at the end, and for new texts.
FINAL_TOL = 1e-10


@dataclass(frozen=True)
class PredictiveSettings:
    """Settings of predictive training; `supervision` is s, on the scale of this corpus."""

    supervision: float
    smoothing: float
    thinning: float
    max_epochs: int
    batch_size: int
    seed: int


@dataclass(frozen=True)
class PredictiveSums(Addable):
    """Sums over one batch: gradients in the topics (terms, padded topics) and in the coefficients (topics + 1,)."""

    topics: Array
    coefficients: Vector


@dataclass(frozen=True)
class PredictiveState:
    """State of training after `epoch` epochs.

    parameters : logits of the topics, effects and intercepts; means, count : of the optimiser, and the steps it took.
    W : (texts, padded topics) the weights that inference starts from.
    """

    parameters: Vector
    means: Means
    count: int
    W: Array
    epoch: int
    losses: Losses


@dataclass(frozen=True, kw_only=True)
class Epoch(Responses):
    """Thinned texts in the order of one epoch; text_weight : (texts,)."""

    X: sp.csr_array
    text_weight: Array

    def blocks(self, start: int, stop: int) -> list[Block]:
        """Texts start..stop, in a few blocks."""
        n_blocks = min(BLOCKS_A_BATCH, stop - start)
        edges = [start + (stop - start) * part // n_blocks for part in range(n_blocks + 1)]
        names = ("W", "y", "response_weight", "tilt", "offset", "text_weight")
        return [
            Block(X=Rows.of(self.X, *edge), **{name: getattr(self, name)[slice(*edge)] for name in names})
            for edge in pairwise(edges)
        ]


@dataclass(frozen=True)
class Predictive:
    """The method: one iteration is one pass over all texts in random batches.

    corpus : rows of norm 1; length : (texts,); profile : (terms,) mean term profile, long texts counting more.
    keys : (texts,) that batches and thinning are drawn from.
    """

    corpus: Corpus
    length: Vector
    profile: Vector
    keys: Keys
    first: PredictiveStart
    guide: Guide
    response: ResponseModel
    settings: PredictiveSettings

    def init(self) -> PredictiveState:
        """Before the first epoch."""
        parameters = np.append(self.first.logits.ravel(), self.first.coefficients.ravel())
        means = Means(np.zeros_like(parameters), np.zeros_like(parameters))
        unknown = Losses(np.nan, np.nan, 0.0, self.settings.supervision)
        W = pad(self.first.weights, self.response.compute.kernels, self.corpus.X.dtype)
        return PredictiveState(parameters, means, 0, W, 0, unknown)

    def step(self, state: PredictiveState) -> PredictiveState:
        """One epoch, whose order and thinning follow from the texts, the seed and the epoch's number alone."""
        compute, settings = self.response.compute, self.settings
        keys = drawn(self.keys, settings.seed, state.epoch)
        order = np.argsort(keys, kind="stable")
        order = order[self.corpus.weight[order] > 0]
        weight = self.corpus.weight[order]
        texts = self._documents(state, order)
        n_batches = max(FEWEST_BATCHES, round(self.corpus.weight.sum() / settings.batch_size))
        edges = batch_edges(keys[order], weight, n_batches)
        flat, means = state.parameters.copy(), Means(*(mean.copy() for mean in state.means))
        gradient = np.empty_like(flat)
        parameters, count = self._parameters(flat), state.count
        for number, (start, stop) in enumerate(pairwise(edges)):
            # 1. Every text's weights, and the gradients in topics and coefficients.
            sums = compute.engine.sweep(self._block_step(parameters), texts.blocks(start, stop))
            self._gradient(sums, parameters, weight[start:stop].sum(), out=gradient)
            # 2. A step of the optimiser; its learning rate has a cosine decay to 0.
            count += 1
            epoch = state.epoch + number / (len(edges) - 1)
            rate = LEARNING_RATE * (1 + math.cos(math.pi * epoch / settings.max_epochs)) / 2
            compute.kernels.adam_step(flat, gradient, means, rate, count)
            parameters = self._parameters(flat)
        followed = state.W.copy()
        followed[order] = texts.W
        return PredictiveState(flat, means, count, followed, state.epoch + 1, self._losses(texts, parameters))

    def topics(self, state: PredictiveState) -> Array:
        """(topics, terms), each summing to 1."""
        HT = self._parameters(state.parameters.copy()).HT
        return np.ascontiguousarray(HT[:, : self.first.logits.shape[1]].T)

    def _documents(self, state: PredictiveState, order: np.ndarray) -> Epoch:
        settings, keys = self.settings, self.keys
        thinning = settings.thinning * np.minimum(1, np.diff(self.corpus.X.indptr) / FULLY_THINNED)
        X = thinned(self.corpus.X, thinning, keys, settings.seed, state.epoch, order)
        y, weight, length = self.corpus.y[order], self.corpus.weight[order], self.length[order]
        # A text without a term gets mean weights in the end, so it has no gradient here.
        observed = ~np.isnan(y) & (length > 0)
        return Epoch(
            X=X,
            y=np.where(observed, y, 0.0),
            text_weight=(weight * length).astype(X.dtype),
            response_weight=weight * observed,
            tilt=self.guide.tilt(X, order, y, self.response.family),
            offset=self.corpus.offsets[order],
            W=pad(state.W[order], self.response.compute.kernels, state.W.dtype),
        )

    def _split(self, flat: Vector) -> tuple[Vector, Vector]:
        """Views of the logits (terms, topics) and the coefficients (topics + 1,) or (topics + 1, P)."""
        logits, coefficients = np.split(flat, [self.first.logits.size])
        return logits.reshape(self.first.logits.shape), coefficients.reshape(self.first.coefficients.shape)

    def _parameters(self, flat: Vector) -> Parameters:
        """Topics and coefficients; logits are shifted in place."""
        kernels, dtype = self.response.compute.kernels, self.corpus.X.dtype
        logits, coefficients = self._split(flat)
        (n_terms, n_topics), lanes = logits.shape, kernels.lanes(dtype)
        HT = kernels.zeros((n_terms, -(-n_topics // lanes) * lanes), dtype)
        kernels.shares(logits, HT)
        beta = np.zeros((HT.shape[1], *coefficients.shape[1:]))
        beta[:n_topics] = coefficients[:-1]
        return Parameters(HT, beta, coefficients[-1].copy())

    def _block_step(self, parameters: Parameters) -> Callable[[Block], PredictiveSums]:
        kernels, settings = self.response.compute.kernels, self.settings
        HT, beta, smoothing = parameters.HT, parameters.beta, settings.smoothing

        def step(block: Block) -> PredictiveSums:
            kernels.infer(block.X, HT, block.W, smoothing, TRAINING_TOL, TRAINING_STEPS)
            eta = block.linear_predictor(parameters)
            slope = (block.response_weight * (self.response.family.gradient(block.y, eta) - block.tilt).T).T
            pull = settings.supervision * slope
            topics = kernels.implicit_sums(block.X, block.W, HT, pull, beta, block.text_weight, smoothing)
            effects = np.einsum("ik,i...->k...", block.W, slope, dtype=float)
            return PredictiveSums(topics, np.concatenate([effects, slope.sum(axis=0)[None]]))

        return step

    def _losses(self, texts: Epoch, parameters: Parameters) -> Losses:
        """Losses at an epoch's end, with the weights that each text had when its batch was seen."""
        compute, blocks = self.response.compute, texts.blocks(0, len(texts.y))

        def text_loss(block: Block) -> float:
            return _text_loss(compute.kernels, block.X, block.W, parameters.HT, block.text_weight)

        penalty = self.response.penalty_value(parameters) * self.corpus.weight.sum()
        response = self.response.loss(blocks, parameters)
        return Losses(compute.engine.sweep(text_loss, blocks), response, penalty, self.settings.supervision)

    def _gradient(self, sums: PredictiveSums, parameters: Parameters, n_texts: float, out: Vector) -> None:
        """Gradient of J over a batch in all parameters."""
        settings, kernels = self.settings, self.response.compute.kernels
        logits, coefficients = self._split(out)
        n_topics, prior = logits.shape[1], settings.supervision * PRIOR
        kernels.share_gradient(sums.topics, parameters.HT, self.profile, prior, n_texts, logits)
        coefficients[:-1] = sums.coefficients[:n_topics] / n_texts
        coefficients[:-1] += 2 * self.response.penalty * parameters.beta[:n_topics]
        coefficients[-1] = self.response.fit_intercept * sums.coefficients[-1] / n_texts
        coefficients *= settings.supervision


def _text_loss(kernels: Kernels, X: Rows, W: Array, HT: Array, weight: Array) -> float:
    sums = kernels.text_sums(X, W, HT, weight)
    return sums.log_loss + float(np.sum(sums.mass, dtype=float))


def scale_rows(X: sp.csr_array, weight: Vector) -> tuple[sp.csr_array, Vector]:
    """Scale rows to l2 norm 1; also return lengths (at most `LONGEST` medians), relative to their mean."""
    norm = row_norms(X)
    counted = (norm > 0) & (weight > 0)
    median = np.quantile(norm[counted], 0.5, weights=weight[counted], method="inverted_cdf") if counted.any() else 0.0
    length = np.minimum(norm, LONGEST * median)
    return unit_rows(X), length / max(float(np.average(length, weights=weight)), np.finfo(float).tiny)


def batch_edges(keys: Keys, weight: Vector, n_batches: int) -> np.ndarray:
    """Return the edges of batches of texts sorted by key: of equal weight, never splitting texts of one key."""
    first = np.searchsorted(keys, keys, side="left")
    before = (np.cumsum(weight) - weight)[first]
    number = np.floor(before * (n_batches / weight.sum()) * (1 + 1e-12)).astype(int)
    return np.append(np.flatnonzero(np.diff(number, prepend=-1)), len(keys))


def train_predictive(
    corpus: Corpus,
    length: Vector,
    response: ResponseModel,
    topics: Array,
    fine_topics: Array | None,
    settings: PredictiveSettings,
    watch: Watch,
) -> Run:
    """Run predictive training on rows of norm 1, with these lengths, starting from topics or from merged finer ones."""
    family, penalty = response.family, float(response.penalty) * float(corpus.weight.sum())
    glm = replace(response, penalty=penalty)
    profile = replace(corpus, weight=corpus.weight * length).profile

    def start(topics: Array) -> PredictiveStart:
        return predictive_start(topics, corpus, glm, profile, settings.smoothing, TRAINING_TOL)

    first = start(topics)
    if fine_topics is not None and settings.supervision:
        first = better_start(first, start(fine_topics), start)
    keys = document_keys(corpus.X)
    guide = fit_guide(corpus, first.weights, family, penalty, keys) if settings.supervision else NO_GUIDE
    guided = replace(settings, supervision=settings.supervision * guide.say)
    method = Predictive(corpus, length, profile, keys, first, guide, response, guided)
    solution = run(method, max_iter=settings.max_epochs, tol=0.0, watch=watch)
    # Training used thinned texts. Complete ones are more informative, so their effects are somewhat larger.
    tilt = guide.tilt(corpus.X, np.arange(len(corpus.y)), corpus.y, family)
    inference = Inference(method.topics(solution.state), settings.smoothing, FINAL_TOL, True)
    fitted, eta = fit_on_text(corpus, inference, glm, tilt)
    reason, n_epochs = solution.reason, len(solution.trace) - 1
    if reason == "max_iter":
        reason = f"all {n_epochs} epochs done" if n_epochs > 1 else "the only epoch done"
    fitted = replace(fitted, trace=Trace.of(solution.trace), reason=reason)
    return Run(fitted, _objective_of_whole_texts(corpus, length, fitted, eta, glm, settings.supervision))


def _objective_of_whole_texts(
    corpus: Corpus, length: Vector, fitted: FittedTopics, eta: Vector, glm: ResponseModel, supervision: float
) -> float:
    """Objective on texts that are not thinned and responses that are not tilted: comparable between starts."""
    X, W, engine, kernels = corpus.X, fitted.weights, glm.compute.engine, glm.compute.kernels
    assert W is not None
    HT = pad(fitted.topics.T, kernels, X.dtype)
    weight = (corpus.weight * length).astype(X.dtype)

    def text_loss(edges: tuple[int, int]) -> float:
        rows = slice(*edges)
        return _text_loss(kernels, Rows.of(X, *edges), pad(W[rows], kernels, X.dtype), HT, weight[rows])

    text = engine.sweep(text_loss, engine.cut(X.shape[0], X.nnz, X.shape[1]))
    observed = ~np.isnan(corpus.y)
    response = float(np.sum(corpus.weight[observed] * fitted.family.loss(corpus.y[observed], eta[observed])))
    return Losses(text, response, float(glm.penalty * np.sum(fitted.effects**2)), supervision).objective
