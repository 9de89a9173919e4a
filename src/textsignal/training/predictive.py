"""Predictive training: weights are a function of the text in training too, and topics move so that it predicts.

With every topic summing to 1, x_i a row of text of l2 norm 1 and t_i the document's length (mean 1):

    f_i(w; H) = sum_k w_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k,      w_i(H) = argmin f_i
    J(H, b)   = 1/M sum_i [ t_i f_i(w_i) + s loss(y_i, eta(w_i, b)) ] + s penalty |beta|^2 - s prior sum_kj m_j log H_kj

m is the corpus' mean term profile. The gradient goes through the weights by the implicit function theorem. Every step
sees the documents of one batch, each with some of its terms left out at random: that is what stops over-fitting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import special

from textsignal.engines import Engine
from textsignal.families import Family
from textsignal.inference import infer_weights
from textsignal.kernels import Array, Kernels, Rows, Vector, pad
from textsignal.kernels.reference import TINY
from textsignal.training.adam import Adam
from textsignal.training.block import NO_SCRATCH, Addable, Block, Corpus, Number, Parameters, ResponseSums
from textsignal.training.joint import Fitted
from textsignal.training.loop import Losses, Watch, run
from textsignal.training.response import ResponseModel, coefficients_for
from textsignal.training.start import Start

#: Share of the corpus' profile (and of all terms alike in that) mixed into the starting topics: a term at zero in a
#: topic could never come back.
PROFILE_IN_START = 1e-3
#: A batch is cut into this many blocks, whatever the number of threads.
BLOCKS_A_BATCH = 2
#: In training, weights are followed this closely from where they were an epoch ago.
TRAINING_TOL, TRAINING_STEPS = 1e-6, 8
#: For documents at the end, and for new ones.
FINAL_TOL = 1e-10


@dataclass(frozen=True)
class PredictiveSettings:
    """What a user chooses of predictive training; `supervision` is s, on the scale of this corpus."""

    supervision: float
    penalty: float
    smoothing: float
    prior: float
    thinning: float
    learning_rate: float
    max_epochs: int
    batch_size: int
    seed: int


@dataclass(frozen=True)
class LengthScaled:
    """Text rows of l2 norm 1, and the lengths they had, mean 1: (documents,)."""

    X: sp.csr_array
    length: Vector


def scale_rows(X: sp.csr_array) -> LengthScaled:
    """Bring every row to l2 norm 1; an empty one stays empty and counts nothing.

    Examples
    --------
    >>> scaled = scale_rows(sp.csr_array(np.array([[3.0, 4.0], [0.0, 5.0]])))
    >>> scaled.X.toarray()
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    norm = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=float))
    data = X.data / np.repeat(np.where(norm > 0, norm, 1), np.diff(X.indptr)).astype(X.dtype)
    scaled = sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
    return LengthScaled(scaled, norm / max(norm.mean(), np.finfo(float).tiny))


@dataclass(frozen=True)
class PredictiveSums(Addable):
    """What one batch adds up: gradient in the topics (terms, padded topics), and the responses' share."""

    gradient: Array
    response: ResponseSums


@dataclass(frozen=True)
class PredictiveState:
    """Where training stands after `epoch` epochs.

    logits : (terms, topics); topics are their softmax over terms.
    coefficients : (topics + 1,) effects, then the intercept.
    optimiser : Adam's means for both, flattened together.
    W : (documents, padded topics) the weights that inference starts from.
    """

    logits: Vector
    coefficients: Vector
    optimiser: Adam
    W: Array
    epoch: int
    losses: Losses


@dataclass(frozen=True)
class Predictive:
    """The method: one iteration is one pass over all documents in random batches.

    corpus : text rows of norm 1; length : (documents,) their lengths; profile : (terms,) the mean term profile, long
    documents counting more; start : (topics, terms).
    """

    corpus: Corpus
    length: Vector
    profile: Vector
    start: Array
    response: ResponseModel
    settings: PredictiveSettings

    def init(self) -> PredictiveState:
        """Topics of the start, the weights they give, and the effects that go with these."""
        everywhere = PROFILE_IN_START * (self.profile + PROFILE_IN_START / self.profile.size)
        logits = np.log(self.start.T + everywhere[:, None])
        topics = special.softmax(logits, axis=0).T
        weights = infer_weights(
            self.corpus.X, topics, smoothing=self.settings.smoothing, tol=TRAINING_TOL, kernels=self.response.kernels
        ).weights
        total = replace(self.response, penalty=self.settings.penalty * self.corpus.weight.sum())
        coefficients = coefficients_for(total, self.corpus, weights)
        optimiser = Adam.like(np.append(logits.ravel(), coefficients))
        unknown = Losses(np.nan, np.nan, 0.0, self.settings.supervision)
        W = pad(weights, self.response.kernels, self.corpus.X.dtype)
        return PredictiveState(logits, coefficients, optimiser, W, 0, unknown)

    def step(self, state: PredictiveState) -> PredictiveState:
        """One epoch. Its order and its thinning follow from the seed and the epoch's number alone."""
        rng = np.random.default_rng([self.settings.seed, state.epoch])
        order = rng.permutation(self.corpus.X.shape[0])
        X = thinned(self.corpus.X[order], self.settings.thinning, (self.settings.seed, state.epoch))
        W = self.response.kernels.zeros(state.W.shape, state.W.dtype)
        W[:] = state.W[order]
        n_batches = -(-len(order) // self.settings.batch_size)
        edges = np.linspace(0, len(order), n_batches + 1).astype(int)
        logits, coefficients, optimiser = state.logits, state.coefficients, state.optimiser
        response = 0.0
        for number, (start, stop) in enumerate(pairwise(edges)):
            blocks = self._blocks(X, W, order, start, stop)
            parameters = self._parameters(logits, coefficients)
            sums = self.response.engine.sweep(self._block_step(parameters), blocks)
            gradient = self._gradient(sums, parameters, max(self.corpus.weight[order[start:stop]].sum(), TINY))
            optimiser = optimiser.after(gradient)
            move = self._rate(state.epoch + number / n_batches) * optimiser.direction
            logits = logits - move[: logits.size].reshape(logits.shape)
            coefficients = coefficients - move[logits.size :]
            response += sums.response.loss
        followed = np.empty_like(state.W)
        followed[order] = W
        penalty = self.settings.penalty * self.corpus.weight.sum() * float(np.sum(coefficients[:-1] ** 2))
        text = self._text_loss(X, W, order, self._parameters(logits, coefficients))
        losses = Losses(text, response, penalty, self.settings.supervision)
        return PredictiveState(logits, coefficients, optimiser, followed, state.epoch + 1, losses)

    def _rate(self, epoch: float) -> float:
        """Learning rate with a cosine decay to 0."""
        return self.settings.learning_rate * (1 + np.cos(np.pi * epoch / self.settings.max_epochs)) / 2

    def _parameters(self, logits: Vector, coefficients: Vector) -> Parameters:
        HT = pad(special.softmax(logits, axis=0), self.response.kernels, self.corpus.X.dtype)
        beta = np.zeros(HT.shape[1])
        beta[: logits.shape[1]] = coefficients[:-1]
        return Parameters(HT, beta, float(coefficients[-1]))

    def _blocks(self, X: sp.csr_array, W: Array, order: np.ndarray, start: int, stop: int) -> list[Block]:
        observed = ~np.isnan(self.corpus.y)
        edges = np.linspace(start, stop, min(BLOCKS_A_BATCH, stop - start) + 1).astype(int)
        blocks = []
        for first, last in pairwise(edges):
            rows = order[first:last]
            weight = self.corpus.weight[rows]
            blocks.append(
                Block(
                    X=Rows.of(X, first, last),
                    y=np.where(observed[rows], self.corpus.y[rows], 0.0),
                    text_weight=(weight * self.length[rows]).astype(X.dtype),
                    response_weight=weight * observed[rows],
                    text_constant=0.0,
                    W=W[first:last],
                    scratch=NO_SCRATCH,
                )
            )
        return blocks

    def _block_step(self, parameters: Parameters) -> Callable[[Block], PredictiveSums]:
        kernels, settings = self.response.kernels, self.settings

        def step(block: Block) -> PredictiveSums:
            kernels.infer(block.X, parameters.HT, block.W, settings.smoothing, TRAINING_TOL, TRAINING_STEPS)
            eta = parameters.linear_predictor(block.W)
            slope = settings.supervision * block.response_weight * self.response.family.gradient(block.y, eta)
            gradient = kernels.implicit_sums(
                block.X, block.W, parameters.HT, slope, parameters.beta, block.text_weight, settings.smoothing
            )
            return PredictiveSums(gradient, self.response.sums(block, parameters))

        return step

    def _text_loss(self, X: sp.csr_array, W: Array, order: np.ndarray, parameters: Parameters) -> float:
        """Text loss at an epoch's end, with the weights each document had when its batch was seen."""

        def block_loss(block: Block) -> Number:
            text = self.response.kernels.text_sums(block.X, block.W, parameters.HT, block.text_weight)
            return Number(text.log_loss + float(np.sum(text.mass, dtype=float)))

        return self.response.engine.sweep(block_loss, self._blocks(X, W, order, 0, len(order))).value

    def _gradient(self, sums: PredictiveSums, parameters: Parameters, n_documents: float) -> Vector:
        """Gradient of J over a batch in (logits, coefficients), flattened."""
        n_topics = len(self.start)
        supervision, settings = self.settings.supervision, self.settings
        H = parameters.HT[:, :n_topics].astype(float)
        pull = sums.gradient[:, :n_topics].astype(float) / n_documents
        logits = H * (pull - np.sum(H * pull, axis=0)) - supervision * settings.prior * (self.profile[:, None] - H)
        effects = sums.response.gradient[:n_topics] / n_documents + 2 * settings.penalty * parameters.beta[:n_topics]
        intercept = sums.response.gradient[-1] / n_documents
        return np.concatenate([logits.ravel(), supervision * effects, [supervision * intercept]])


def thinned(X: sp.csr_array, rate: float, draw: tuple[int, int]) -> sp.csr_array:
    """X with a share `rate` of its nonzeros left out at random and the rest scaled up to make up for it.

    What is left out follows from the draw's two numbers, the document's own terms and the term: it depends neither on
    where the document stands nor on other documents, and equal documents are thinned alike.
    """
    if rate == 0:
        return X
    term = _mixed(X.indices.astype(np.uint64) + np.uint64(1))
    cell = _mixed(term ^ X.data.astype(np.float64).view(np.uint64))
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cell, dtype=np.uint64)])
    document = ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    seeds = _mixed(np.array(draw, dtype=np.uint64) + np.uint64(1))
    key = _mixed(_mixed(document + seeds[:1]) + seeds[1:])
    share = (_mixed(np.repeat(key, np.diff(X.indptr)) ^ term) >> np.uint64(11)) * 2.0**-53
    data = np.where(share >= rate, X.data / (1 - rate), 0).astype(X.dtype)
    kept = sp.csr_array((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    kept.eliminate_zeros()
    return kept


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: every bit of the result depends on every bit of the number."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def train_predictive(
    corpus: Corpus,
    length: Vector,
    family: Family,
    start: Start,
    settings: PredictiveSettings,
    engine: Engine,
    kernels: Kernels,
    watch: Watch,
    n_jobs: int | None,
) -> Fitted:
    """Run predictive training from starting topics, on text rows of norm 1."""
    response = ResponseModel(family, engine, kernels, settings.penalty, fit_intercept=True)
    topics = start.topics / start.topics.sum(axis=1, keepdims=True)
    profile = replace(corpus, weight=corpus.weight * length).profile
    method = Predictive(corpus, length, profile, topics, response, settings)
    solution = run(method, max_iter=settings.max_epochs, tol=0.0, watch=watch)
    topics = special.softmax(solution.state.logits, axis=0).T.astype(corpus.X.dtype)
    inferred = infer_weights(corpus.X, topics, smoothing=settings.smoothing, tol=FINAL_TOL, n_jobs=n_jobs)
    coefficients = solution.state.coefficients
    return Fitted(
        topics=np.ascontiguousarray(topics),
        weights=inferred.weights,
        effects=coefficients[:-1].copy(),
        intercept=float(coefficients[-1]),
        trace=solution.trace,
        reason=solution.reason,
    )
