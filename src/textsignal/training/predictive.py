"""Predictive training: weights are a function of the text in training too, and topics move so that it predicts.

With every topic summing to 1, x_i a row of text of l2 norm 1 and t_i the document's length (mean 1):

    f_i(w; H) = sum_k w_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k,      w_i(H) = argmin f_i
    J(H, b)   = 1/M sum_i [ t_i f_i(w_i) + s loss(y_i, eta(w_i, b)) ] + s penalty |beta|^2 - s prior sum_kj m_j log H_kj

m is the corpus' mean term profile. The gradient goes through the weights by the implicit function theorem. Every step
uses the documents of one batch. Two measures reduce over-fitting: some terms of each document are dropped at random,
and a guide (a word-level regression) removes part of the noise from the responses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.compute.kernels import Means, Rows, pad
from textsignal.families import Family
from textsignal.training.corpus import NO_SCRATCH, Addable, AddedNumber, Block, Corpus, Parameters
from textsignal.training.draws import document_keys, thinned
from textsignal.training.fitted import FittedTopics, Run, TextFit, fit_on_text
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import Inference
from textsignal.training.loop import Losses, Solution, Trace, Watch, run
from textsignal.training.start import PredictiveStart, better_start, predictive_start
from textsignal.training.word_effects import NO_GUIDE, Guide, fit_guide

#: Documents of fewer terms are thinned proportionally less: dropping a word can change the meaning of a short text.
FULLY_THINNED = 20
#: Minimum number of batches in an epoch, so that small corpora take enough steps.
FEWEST_BATCHES = 32
#: A batch is cut into this many blocks, whatever the number of threads.
BLOCKS_A_BATCH = 2
#: Tolerance of inference in training, which starts from the weights of the previous epoch.
TRAINING_TOL, TRAINING_STEPS = 1e-3, 6
#: Tolerance of inference at the end, and for new documents.
FINAL_TOL = 1e-10


@dataclass(frozen=True)
class PredictiveSettings:
    """User settings of predictive training; `supervision` is s and `smoothing` c, on the scale of this corpus."""

    supervision: float
    penalty: float
    fit_intercept: bool
    smoothing: float
    prior: float
    thinning: float
    learning_rate: float
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

    parameters : (terms * topics + topics + 1,) logits of the topics, effects, intercept, of each linear predictor.
    means, count : of the optimiser, and the steps it has taken.
    W : (documents, padded topics) the weights that inference starts from.
    """

    parameters: Vector
    means: Means
    count: int
    W: Array
    epoch: int
    losses: Losses


@dataclass(frozen=True)
class Epoch:
    """Thinned documents in the order of one epoch. All arrays have one row per document."""

    X: sp.csr_array
    y: Vector
    text_weight: Array
    response_weight: Vector
    tilt: Vector
    offset: Vector
    W: Array

    def blocks(self, start: int, stop: int) -> list[Block]:
        """Documents start..stop, in a few blocks."""
        n_blocks = min(BLOCKS_A_BATCH, stop - start)
        edges = [start + (stop - start) * part // n_blocks for part in range(n_blocks + 1)]
        return [
            Block(
                X=Rows.of(self.X, first, last),
                y=self.y[first:last],
                text_weight=self.text_weight[first:last],
                response_weight=self.response_weight[first:last],
                tilt=self.tilt[first:last],
                offset=self.offset[first:last],
                text_constant=0.0,
                W=self.W[first:last],
                scratch=NO_SCRATCH,
            )
            for first, last in pairwise(edges)
        ]


@dataclass(frozen=True)
class Predictive:
    """The method: one iteration is one pass over all documents in random batches.

    corpus : text rows of norm 1; length : (documents,) their lengths; profile : (terms,) the mean term profile, long
    documents counting more; keys : (documents,) that batches and thinning are drawn from.
    first : the initial state.
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
        """One epoch. Its order and its thinning follow from the texts, the seed and the epoch's number alone."""
        kernels, settings = self.response.compute.kernels, self.settings
        keys = drawn(self.keys, settings.seed, state.epoch)
        order = np.argsort(keys, kind="stable")
        order = order[self.corpus.weight[order] > 0]
        weight = self.corpus.weight[order]
        documents = self._documents(state, order)
        edges = batch_edges(keys[order], weight, self._n_batches)
        flat, means = state.parameters.copy(), Means(*(mean.copy() for mean in state.means))
        gradient = np.empty_like(flat)
        parameters, count = self._parameters(flat), state.count
        for number, (start, stop) in enumerate(pairwise(edges)):
            # 1. Every document's weights, and the gradients in topics and coefficients.
            sums = self.response.compute.engine.sweep(self._block_step(parameters), documents.blocks(start, stop))
            self._gradient(sums, parameters, weight[start:stop].sum(), out=gradient)
            # 2. A step of the optimiser.
            count += 1
            kernels.adam_step(flat, gradient, means, self._rate(state.epoch + number / (len(edges) - 1)), count)
            parameters = self._parameters(flat)
        followed = state.W.copy()
        followed[order] = documents.W
        losses = self._losses(documents, parameters)
        return PredictiveState(flat, means, count, followed, state.epoch + 1, losses)

    def topics(self, state: PredictiveState) -> Array:
        """(topics, terms), each summing to 1."""
        HT = self._parameters(state.parameters.copy()).HT
        return np.ascontiguousarray(HT[:, : self.first.logits.shape[1]].T)

    @property
    def _thinning(self) -> Vector:
        """(documents,) share of each document's terms that is left out."""
        n_terms = np.diff(self.corpus.X.indptr)
        share: Vector = self.settings.thinning * np.minimum(1, n_terms / FULLY_THINNED)
        return share

    @property
    def _n_batches(self) -> int:
        return max(FEWEST_BATCHES, round(self.corpus.weight.sum() / self.settings.batch_size))

    def _rate(self, epoch: float) -> float:
        """Learning rate with a cosine decay to 0."""
        return self.settings.learning_rate * (1 + math.cos(math.pi * epoch / self.settings.max_epochs)) / 2

    def _documents(self, state: PredictiveState, order: np.ndarray) -> Epoch:
        X = thinned(self.corpus.X, self._thinning, self.keys, self.settings.seed, state.epoch, order)
        y, weight, length = self.corpus.y[order], self.corpus.weight[order], self.length[order]
        # A document without a term gets mean weights in the end, so it has no gradient here.
        observed = ~np.isnan(y) & (length > 0)
        W = self.response.compute.kernels.zeros((len(order), state.W.shape[1]), state.W.dtype)
        W[:] = state.W[order]
        return Epoch(
            X=X,
            y=np.where(observed, y, 0.0),
            text_weight=(weight * length).astype(X.dtype),
            response_weight=weight * observed,
            tilt=self.guide.tilt(X, order, y, self.response.family),
            offset=self.corpus.offsets[order],
            W=W,
        )

    def _split(self, flat: Vector) -> tuple[Vector, Vector]:
        """Views of the logits (terms, topics) and the coefficients (topics + 1,), of P linear predictors (.., P)."""
        shape = self.first.logits.shape
        logits, coefficients = np.split(flat, [shape[0] * shape[1]])
        return logits.reshape(shape), coefficients.reshape(self.first.coefficients.shape)

    def _parameters(self, flat: Vector) -> Parameters:
        """Topics and coefficients; logits are shifted in place."""
        kernels = self.response.compute.kernels
        logits, coefficients = self._split(flat)
        lanes = kernels.lanes(self.corpus.X.dtype)
        HT = kernels.zeros((logits.shape[0], -(-logits.shape[1] // lanes) * lanes), self.corpus.X.dtype)
        kernels.shares(logits, HT)
        beta = np.zeros((HT.shape[1], *coefficients.shape[1:]))
        beta[: logits.shape[1]] = coefficients[:-1]
        return Parameters(HT, beta, coefficients[-1].copy())

    def _block_step(self, parameters: Parameters) -> Callable[[Block], PredictiveSums]:
        kernels, settings = self.response.compute.kernels, self.settings

        def step(block: Block) -> PredictiveSums:
            kernels.infer(block.X, parameters.HT, block.W, settings.smoothing, TRAINING_TOL, TRAINING_STEPS)
            eta = block.linear_predictor(parameters)
            slope = (block.response_weight * (self.response.family.gradient(block.y, eta) - block.tilt).T).T
            topics = kernels.implicit_sums(
                block.X,
                block.W,
                parameters.HT,
                settings.supervision * slope,
                parameters.beta,
                block.text_weight,
                settings.smoothing,
            )
            effects = np.einsum("ik,i...->k...", block.W, slope, dtype=float)
            return PredictiveSums(topics, np.concatenate([effects, slope.sum(axis=0)[None]]))

        return step

    def _losses(self, documents: Epoch, parameters: Parameters) -> Losses:
        """Losses at an epoch's end, with the weights that each document had when its batch was seen."""
        blocks = documents.blocks(0, len(documents.y))

        def block_loss(block: Block) -> AddedNumber:
            text = self.response.compute.kernels.text_sums(block.X, block.W, parameters.HT, block.text_weight)
            return AddedNumber(text.log_loss + float(np.sum(text.mass, dtype=float)))

        text = self.response.compute.engine.sweep(block_loss, blocks).value
        penalty = self.response.penalty_value(parameters) * self.corpus.weight.sum()
        return Losses(text, self.response.loss(blocks, parameters), penalty, self.settings.supervision)

    def _gradient(self, sums: PredictiveSums, parameters: Parameters, n_documents: float, out: Vector) -> None:
        """Gradient of J over a batch in all parameters."""
        settings = self.settings
        logits, coefficients = self._split(out)
        prior = settings.supervision * settings.prior
        self.response.compute.kernels.share_gradient(
            sums.topics, parameters.HT, self.profile, prior, n_documents, logits
        )
        n_topics = logits.shape[1]
        coefficients[:-1] = sums.coefficients[:n_topics] / n_documents
        coefficients[:-1] += 2 * settings.penalty * parameters.beta[:n_topics]
        coefficients[-1] = settings.fit_intercept * sums.coefficients[-1] / n_documents
        coefficients *= settings.supervision


def batch_edges(keys: Keys, weight: Vector, n_batches: int) -> np.ndarray:
    """Return the edges of batches of documents sorted by key.

    Batches hold equal weight, not equal numbers of rows, and never split documents of one key: a document of weight
    2 falls into the batch of its two copies.

    Examples
    --------
    >>> keys = np.array([1, 2, 2, 3], dtype=np.uint64)
    >>> batch_edges(keys, np.ones(4), n_batches=2)
    array([0, 3, 4])
    >>> batch_edges(keys[[0, 1, 3]], np.array([1.0, 2.0, 1.0]), n_batches=2)
    array([0, 2, 3])
    """
    first = np.searchsorted(keys, keys, side="left")
    before = (np.cumsum(weight) - weight)[first]
    number = np.floor(before * (n_batches / weight.sum()) * (1 + 1e-12)).astype(int)
    return np.append(np.flatnonzero(np.diff(number, prepend=-1)), len(keys))


def train_predictive(
    corpus: Corpus,
    length: Vector,
    family: Family,
    topics: Array,
    fine_topics: Array | None,
    settings: PredictiveSettings,
    compute: Compute,
    watch: Watch,
) -> Run:
    """Run predictive training on text rows of norm 1.

    length : (documents,) lengths of the documents; topics : (topics, terms) to start from.
    fine_topics : (more topics, terms) that may be merged to start from instead; or None.
    """
    response = ResponseModel(family, compute, settings.penalty, settings.fit_intercept)
    glm = replace(response, penalty=settings.penalty * corpus.weight.sum())
    profile = replace(corpus, weight=corpus.weight * length).profile

    def start(topics: Array) -> PredictiveStart:
        return predictive_start(topics, corpus, glm, profile, settings.smoothing, TRAINING_TOL)

    first = start(topics)
    if fine_topics is not None and settings.supervision:
        first = better_start(first, start(fine_topics), start)
    keys = document_keys(corpus.X)
    penalty = settings.penalty * float(corpus.weight.sum())
    guide = fit_guide(corpus, first.weights, family, penalty, keys) if settings.supervision else NO_GUIDE
    method = Predictive(
        corpus=corpus,
        length=length,
        profile=profile,
        keys=keys,
        first=first,
        guide=guide,
        response=response,
        settings=replace(settings, supervision=settings.supervision * guide.say),
    )
    solution = run(method, max_iter=settings.max_epochs, tol=0.0, watch=watch)
    trained = method.topics(solution.state)
    # Training used thinned documents. Complete ones are more informative, so their effects are somewhat larger.
    tilt = guide.tilt(corpus.X, np.arange(len(corpus.y)), corpus.y, family)
    fit = fit_on_text(corpus, Inference(trained, settings.smoothing, FINAL_TOL), glm, tilt)
    # Every start has a separate guide, so training objectives are not comparable between starts.
    objective = _losses_of_whole_documents(corpus, length, trained, fit, glm, settings.supervision).objective
    return Run(_fitted(trained, fit, settings, solution), objective)


def _fitted(
    topics: Array, fit: TextFit, settings: PredictiveSettings, solution: Solution[PredictiveState]
) -> FittedTopics:
    """Assemble the fitted model; the loop's reason "max_iter" means that all epochs are done."""
    done = f"all {solution.n_iter} epochs done" if solution.n_iter > 1 else "the only epoch done"
    return FittedTopics(
        family=fit.glm.family,
        topics=topics,
        effects=fit.effects,
        intercept=fit.glm.intercept,
        hessian=fit.glm.hessian,
        mean_weights=fit.mean_weights,
        smoothing=settings.smoothing,
        tol=FINAL_TOL,
        unit_rows=True,
        word_effects=np.zeros(topics.shape[1]),
        trace=Trace.of(solution.trace),
        reason=done if solution.reason == "max_iter" else solution.reason,
        weights=fit.weights,
        covariates=fit.covariates,
        covariate_errors=fit.covariate_errors,
    )


def _losses_of_whole_documents(
    corpus: Corpus, length: Vector, topics: Array, fit: TextFit, glm: ResponseModel, supervision: float
) -> Losses:
    """Losses of the final model on the original documents: not thinned, responses not tilted."""
    compute, X = glm.compute, corpus.X
    HT = pad(topics.T, compute.kernels, X.dtype)
    weight = (corpus.weight * length).astype(X.dtype)

    def text_loss(edges: tuple[int, int]) -> AddedNumber:
        rows = slice(*edges)
        W = pad(fit.weights[rows], compute.kernels, X.dtype)
        sums = compute.kernels.text_sums(Rows.of(X, *edges), W, HT, weight[rows])
        return AddedNumber(sums.log_loss + float(np.sum(sums.mass, dtype=float)))

    text = compute.engine.sweep(text_loss, compute.engine.cut(X.shape[0], X.nnz, X.shape[1])).value
    observed = ~np.isnan(corpus.y)
    eta = fit.linear_predictor
    response = float(np.sum(corpus.weight[observed] * fit.glm.family.loss(corpus.y[observed], eta[observed])))
    return Losses(text, response, float(glm.penalty * np.sum(fit.effects**2)), supervision)
