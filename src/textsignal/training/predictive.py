"""Predictive training: weights are a function of the text in training too, and topics move so that it predicts.

With every topic summing to 1, x_i a row of text of l2 norm 1 and t_i the document's length (mean 1):

    f_i(w; H) = sum_k w_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k,      w_i(H) = argmin f_i
    J(H, b)   = 1/M sum_i [ t_i f_i(w_i) + s loss(y_i, eta(w_i, b)) ] + s penalty |beta|^2 - s prior sum_kj m_j log H_kj

m is the corpus' mean term profile. The gradient goes through the weights by the implicit function theorem. Every step
sees the documents of one batch. Two things stop over-fitting: each document comes with some of its terms left out at
random, and a guide (a word-level regression) takes part of the noise out of the responses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy import special

from textsignal.engines import Engine
from textsignal.families import Family
from textsignal.kernels import Array, Kernels, Rows, Vector, pad
from textsignal.training.adam import Adam
from textsignal.training.beginning import Beginning, begin, better_beginning, text_weights
from textsignal.training.block import NO_SCRATCH, Addable, Block, Corpus, Number, Parameters, ResponseSums
from textsignal.training.draws import Keys, document_keys, drawn, thinned
from textsignal.training.guide import NO_GUIDE, Guide, fit_guide
from textsignal.training.joint import Fitted
from textsignal.training.loop import Losses, Watch, run
from textsignal.training.response import ResponseModel, coefficients_for

#: Documents of fewer terms are thinned less, in proportion: a short text without a word can be another text.
FULLY_THINNED = 20
#: A document counts as at most this many times the median document's length.
LONGEST = 10.0
#: At least this many batches an epoch, so that few documents make enough steps too.
FEWEST_BATCHES = 32
#: A batch is cut into this many blocks, whatever the number of threads.
BLOCKS_A_BATCH = 2
#: In training, weights are followed this closely from where they were an epoch ago.
TRAINING_TOL, TRAINING_STEPS = 1e-6, 8
#: For documents at the end, and for new ones.
FINAL_TOL = 1e-10
#: Training has converged when this last part of its epochs brought hardly anything.
LAST_PART = 0.2


@dataclass(frozen=True)
class PredictiveSettings:
    """What a user chooses of predictive training; `supervision` is s and `smoothing` c, on the scale of this corpus."""

    supervision: float
    penalty: float
    fit_intercept: bool
    smoothing: float
    prior: float
    thinning: float
    learning_rate: float
    max_epochs: int
    batch_size: int
    tol: float
    seed: int


@dataclass(frozen=True)
class LengthScaled:
    """Text rows of l2 norm 1, and the lengths they had (cut at `LONGEST` medians), relative to their mean."""

    X: sp.csr_array
    length: Vector


def scale_rows(X: sp.csr_array, weight: Vector | None = None) -> LengthScaled:
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
    length = np.minimum(norm, LONGEST * _median(norm, np.ones(len(norm)) if weight is None else weight))
    return LengthScaled(scaled, length / max(float(np.average(length, weights=weight)), np.finfo(float).tiny))


def _median(values: Vector, weight: Vector) -> float:
    """The smallest value that has half the weight of those above 0 at or below it; 0 where there is none."""
    counted = (values > 0) & (weight > 0)
    if not counted.any():
        return 0.0
    values, weight = values[counted], weight[counted]
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(share, share[-1] / 2)])


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
    documents counting more; keys : (documents,) that batches and thinning are drawn from.
    first : where training begins.
    """

    corpus: Corpus
    length: Vector
    profile: Vector
    keys: Keys
    first: Beginning
    guide: Guide
    response: ResponseModel
    settings: PredictiveSettings

    def init(self) -> PredictiveState:
        """Before the first epoch."""
        first = self.first
        optimiser = Adam.like(np.append(first.logits.ravel(), first.coefficients))
        unknown = Losses(np.nan, np.nan, 0.0, self.settings.supervision)
        W = pad(first.weights, self.response.kernels, self.corpus.X.dtype)
        return PredictiveState(first.logits, first.coefficients, optimiser, W, 0, unknown)

    def step(self, state: PredictiveState) -> PredictiveState:
        """One epoch. Its order and its thinning follow from the texts, the seed and the epoch's number alone."""
        keys = drawn(self.keys, self.settings.seed, state.epoch)
        order = np.argsort(keys, kind="stable")
        order = order[self.corpus.weight[order] > 0]
        X = thinned(self.corpus.X[order], self._thinning[order], self.keys[order], self.settings.seed, state.epoch)
        W = self.response.kernels.zeros((len(order), state.W.shape[1]), state.W.dtype)
        W[:] = state.W[order]
        edges = batch_edges(keys[order], self.corpus.weight[order], self._n_batches)
        logits, coefficients, optimiser = state.logits, state.coefficients, state.optimiser
        response = 0.0
        for number, (start, stop) in enumerate(pairwise(edges)):
            blocks = self._blocks(X, W, order, start, stop)
            parameters = self._parameters(logits, coefficients)
            sums = self.response.engine.sweep(self._block_step(parameters), blocks)
            gradient = self._gradient(sums, parameters, self.corpus.weight[order[start:stop]].sum())
            optimiser = optimiser.after(gradient)
            move = self._rate(state.epoch + number / (len(edges) - 1)) * optimiser.direction
            logits = logits - move[: logits.size].reshape(logits.shape)
            coefficients = coefficients - move[logits.size :]
            response += sums.response.loss
        followed = state.W.copy()
        followed[order] = W
        penalty = self.settings.penalty * self.corpus.weight.sum() * float(np.sum(coefficients[:-1] ** 2))
        text = self._text_loss(X, W, order, self._parameters(logits, coefficients))
        losses = Losses(text, response, penalty, self.settings.supervision)
        return PredictiveState(logits, coefficients, optimiser, followed, state.epoch + 1, losses)

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
        return self.settings.learning_rate * (1 + np.cos(np.pi * epoch / self.settings.max_epochs)) / 2

    def _parameters(self, logits: Vector, coefficients: Vector) -> Parameters:
        HT = pad(special.softmax(logits, axis=0), self.response.kernels, self.corpus.X.dtype)
        beta = np.zeros(HT.shape[1])
        beta[: logits.shape[1]] = coefficients[:-1]
        return Parameters(HT, beta, float(coefficients[-1]))

    def _blocks(self, X: sp.csr_array, W: Array, order: np.ndarray, start: int, stop: int) -> list[Block]:
        # A document without a term gets mean weights in the end, so it teaches nothing about them.
        observed = ~np.isnan(self.corpus.y) & (self.length > 0)
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
                    tilt=self.guide.tilt(X[first:last], rows, self.corpus.y[rows], self.response.family),
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
            slope = self.response.family.gradient(block.y, eta) - block.tilt
            slope = settings.supervision * block.response_weight * slope
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
        n_topics = self.first.logits.shape[1]
        supervision, settings = self.settings.supervision, self.settings
        H = parameters.HT[:, :n_topics].astype(float)
        pull = sums.gradient[:, :n_topics].astype(float) / n_documents
        logits = H * (pull - np.sum(H * pull, axis=0)) - supervision * settings.prior * (self.profile[:, None] - H)
        effects = sums.response.gradient[:n_topics] / n_documents + 2 * settings.penalty * parameters.beta[:n_topics]
        intercept = settings.fit_intercept * sums.response.gradient[-1] / n_documents
        return np.concatenate([logits.ravel(), supervision * effects, [supervision * intercept]])


def batch_edges(keys: Keys, weight: Vector, n_batches: int) -> np.ndarray:
    """Where batches begin, and the last one ends, among documents in the order of their keys.

    Batches hold equal weight, not equal numbers of rows, and never part documents of one key: a document that counts
    twice falls where its two copies would.

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


def has_settled(trace: Sequence[Losses], tol: float) -> bool:
    """Whether the last part of the epochs changed the objective, on average, by less than `tol` of its size.

    Every epoch leaves out other terms, so single objectives differ by chance; means over a part of the epochs do less.
    """
    objectives = np.array([losses.objective for losses in trace[1:]])
    part = max(1, round(LAST_PART * len(objectives)))
    if len(objectives) < 2 * part:
        return False
    before, after = objectives[-2 * part : -part].mean(), objectives[-part:].mean()
    return bool(abs(after - before) / max(1.0, abs(before)) < tol)


def train_predictive(
    corpus: Corpus,
    length: Vector,
    family: Family,
    topics: Array,
    fine_topics: Array | None,
    settings: PredictiveSettings,
    engine: Engine,
    kernels: Kernels,
    watch: Watch,
    n_jobs: int | None,
) -> Fitted:
    """Run predictive training on text rows of norm 1.

    length : (documents,) how long the documents were; topics : (topics, terms) to start from.
    fine_topics : (more topics, terms) that may be merged to start from instead; or None.
    """
    response = ResponseModel(family, engine, kernels, settings.penalty, settings.fit_intercept)
    glm = replace(response, penalty=settings.penalty * corpus.weight.sum())
    profile = replace(corpus, weight=corpus.weight * length).profile

    def infer(topics: Array, tol: float = TRAINING_TOL) -> Array:
        return text_weights(corpus, topics, settings.smoothing, tol, n_jobs)

    def begin_with(topics: Array) -> Beginning:
        return begin(topics, corpus, glm, profile, infer)

    first = begin_with(topics)
    if fine_topics is not None and settings.supervision:
        first = better_beginning(first, begin_with(fine_topics), begin_with)
    keys = document_keys(corpus.X)
    method = Predictive(
        corpus=corpus,
        length=length,
        profile=profile,
        keys=keys,
        first=first,
        guide=fit_guide(corpus, first.weights, family, glm.penalty, keys) if settings.supervision else NO_GUIDE,
        response=response,
        settings=settings,
    )
    solution = run(method, max_iter=settings.max_epochs, tol=0.0, watch=watch)
    found = special.softmax(solution.state.logits, axis=0).T.astype(corpus.X.dtype)
    weights = infer(found, FINAL_TOL)
    # Training saw thinned documents. Whole ones tell more, so they bear somewhat larger effects.
    tilt = method.guide.tilt(corpus.X, np.arange(len(corpus.y)), corpus.y, family)
    coefficients = coefficients_for(glm, corpus, weights, tilt)
    reason = {"max_iter": "converged" if has_settled(solution.trace, settings.tol) else "max_epochs"}
    return Fitted(
        topics=np.ascontiguousarray(found),
        weights=weights,
        effects=coefficients[:-1].copy(),
        intercept=float(coefficients[-1]),
        trace=solution.trace,
        reason=reason.get(solution.reason, solution.reason),
        smoothing=settings.smoothing,
    )
