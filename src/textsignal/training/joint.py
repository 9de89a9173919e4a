"""Joint training, the paper's Algorithm 1: weights are free parameters that depend on text and response.

objective = KL(X || W H) + alpha [ sum loss(y, W beta) + lam |beta|^2 ],   W, H >= 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import pad
from textsignal.compute.kernels.reference import EPSILON
from textsignal.families import Family
from textsignal.training.corpus import Addable, Block, Corpus, Parameters, ResponseSums, place
from textsignal.training.fitted import FittedTopics
from textsignal.training.glm import MOST_HALVINGS, Blocks, ResponseModel, fit_coefficients, newton_direction
from textsignal.training.inference import TOL
from textsignal.training.loop import Losses, Trace, Watch, run

#: Sums of responses that are not used.
NO_RESPONSE = ResponseSums(0.0, np.zeros(0), np.zeros((0, 0)))
#: Growth factor of gamma each time a text's loss would rise, and maximum number of attempts.
GAMMA_GROWTH, MOST_GAMMAS = 4.0, 40


class WeightRule(Protocol):
    """Step length of the multiplicative updates of the weights."""

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""


@dataclass(frozen=True)
class FixedGamma:
    """The paper's rule: one gamma for every text and iteration."""

    gamma: float

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        alphas = alpha * (block.response_weight > 0)
        slope = (alphas * response.family.gradient(block.y, block.linear_predictor(parameters)).T).T
        _step(block, parameters.HT, response, slope, parameters.beta, np.full(len(slope), self.gamma))


@dataclass(frozen=True)
class TextAlone:
    """Lee and Seung's updates, which ignore the response."""

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        nothing = np.zeros(len(block.W))
        _step(block, parameters.HT, response, nothing, np.zeros(block.W.shape[1]), nothing)


def _step(block: Block, HT: Array, response: ResponseModel, slope: Vector, beta: Vector, gamma: Vector) -> None:
    kernels = response.compute.kernels
    pull = kernels.pull_on_weights(block.X, block.W, HT, block.pull)
    block.W[:] = kernels.weight_step(block.W, pull, HT.sum(axis=0), slope, beta, gamma, block.moved).W


@dataclass(frozen=True)
class AdaptiveGamma:
    """gamma 0, and larger only for the texts whose own loss would rise.

    Given topics and coefficients the texts are independent, and a text's step is a scaled gradient step that a larger
    gamma shortens, so some gamma always lowers its loss. The change of the text loss is bounded by the step's own
    majoriser, which costs no further pass over nonzeros.
    """

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        family, kernels = response.family, response.compute.kernels
        eta = block.linear_predictor(parameters)
        offset = np.broadcast_to(block.offset, len(eta))
        alphas = alpha * (block.response_weight > 0)
        slope = (alphas * family.gradient(block.y, eta).T).T
        losses = alphas * family.loss(block.y, eta)
        pull = kernels.pull_on_weights(block.X, block.W, parameters.HT, block.pull)
        mass = parameters.HT.sum(axis=0)
        # Below this a change is rounding, not a rise.
        noise = np.finfo(block.W.dtype).eps * (np.einsum("ik,k->i", block.W, mass) + np.abs(losses))
        steepest = np.abs(slope).reshape(len(slope), -1).sum(axis=1)
        first_gamma = mass.mean() + steepest * np.abs(parameters.beta).max()
        gamma = np.zeros(len(slope))
        rows: slice | np.ndarray = slice(None)
        for _ in range(MOST_GAMMAS):
            W = block.W[rows]
            memory = None if block.moved is None else block.moved[: len(W)]
            step = kernels.weight_step(W, pull[rows], mass, slope[rows], parameters.beta, gamma[rows], memory)
            moved_eta = (parameters.linear_predictor(step.W).T + offset[rows]).T
            after = alphas[rows] * family.loss(block.y[rows], moved_eta)
            rises = step.text_change + after - losses[rows] > noise[rows]
            if not rises.any():
                block.W[rows] = step.W
                break
            block.W[rows] = np.where(rises[:, None], W, step.W)
            rows = np.arange(len(slope))[rows][rises]
            gamma[rows] = np.maximum(GAMMA_GROWTH * gamma[rows], first_gamma[rows])


class CoefficientStep:
    """Update of the coefficients, once per iteration, given the sums at the current weights; the base keeps them fixed.

    reads_response : True if the update needs these sums.
    """

    reads_response: ClassVar[bool] = True

    def move(self, model: ResponseModel, blocks: Blocks, parameters: Parameters, sums: ResponseSums) -> Parameters:
        """Return the parameters with updated coefficients."""
        return parameters

    def settle(self, model: ResponseModel, blocks: Blocks, parameters: Parameters) -> Parameters:
        """Return the parameters for the start, and for the end after the weights have converged."""
        return parameters


@dataclass(frozen=True)
class NoStep(CoefficientStep):
    """Fixed coefficients, for training that ignores the response."""

    reads_response: ClassVar[bool] = False


@dataclass(frozen=True)
class NewtonStep(CoefficientStep):
    """A Newton step, halved until loss and penalty do not rise; at the start and the end the GLM given the weights."""

    def move(self, model: ResponseModel, blocks: Blocks, parameters: Parameters, sums: ResponseSums) -> Parameters:
        """Return the parameters with updated coefficients, unchanged if no step length lowers the loss."""
        slope = model.slope(sums, parameters)
        direction = newton_direction(slope.ravel(), model.information(sums), model.moving(sums))
        return descend(model, blocks, parameters, sums, direction.reshape(slope.shape))

    def settle(self, model: ResponseModel, blocks: Blocks, parameters: Parameters) -> Parameters:
        """Fit the GLM given the weights."""
        return fit_coefficients(model, blocks, parameters)


@dataclass(frozen=True)
class GradientStep(CoefficientStep):
    """The paper's step: beta <- beta - rate * alpha * (gradient + 2 penalty beta).

    rate : the paper's eta, which it leaves open; None takes 1 / (alpha * largest eigenvalue of the Hessian), halved
        until loss and penalty do not rise, which is safe on every scale of text.
    """

    alpha: float
    rate: float | None

    def move(self, model: ResponseModel, blocks: Blocks, parameters: Parameters, sums: ResponseSums) -> Parameters:
        """Return the parameters with updated coefficients."""
        slope = model.slope(sums, parameters)
        if self.rate is not None:
            return parameters.with_coefficients(parameters.coefficients - self.rate * self.alpha * slope)
        if self.alpha == 0:
            return parameters
        moving = slice(None) if model.fit_intercept else slice(-1)
        curvature = float(np.linalg.eigvalsh(sums.hessian[moving, moving])[-1]) + 2 * float(np.max(model.penalty))
        return descend(model, blocks, parameters, sums, -slope / curvature)


def descend(
    model: ResponseModel, blocks: Blocks, parameters: Parameters, sums: ResponseSums, direction: Vector
) -> Parameters:
    """Step along `direction`, halving until loss and penalty do not rise; unchanged if no step is short enough."""
    before = sums.loss + model.penalty_value(parameters)
    for halving in range(MOST_HALVINGS):
        moved = parameters.with_coefficients(parameters.coefficients + 0.5**halving * direction)
        if model.loss(blocks, moved) + model.penalty_value(moved) <= before:
            return moved
    return parameters


@dataclass(frozen=True)
class JointSettings:
    """User settings of joint training.

    There is no intercept, as in the paper: rows of text have nearly constant totals, and free weights would trade
    such a constant for the response.

    unit_topics : True if every topic is kept at sum 1; False in the paper, where a topic can shrink while its weights
        grow, which makes its coefficient and the penalty arbitrarily small, and its effect can diverge.
    """

    alpha: float
    penalty: float
    weight_rule: WeightRule
    coefficient_step: CoefficientStep
    max_iter: int
    tol: float
    unit_topics: bool = False


@dataclass(frozen=True)
class Sums(Addable):
    """Sums of one sweep over texts, at the current weights and parameters.

    pull : (terms, padded topics) sum of weight * w x / (wH): the numerator of the topics' update.
    mass : (padded topics,) sum of weight * w: its denominator.
    text_loss : generalised KL divergence; response : sums over the responses.
    """

    pull: Array
    mass: Array
    text_loss: float
    response: ResponseSums


@dataclass(frozen=True)
class JointState:
    """Parameters, and the sums at them and at the blocks' weights."""

    parameters: Parameters
    sums: Sums
    losses: Losses


@dataclass(frozen=True)
class Joint:
    """The method: updates of topics, coefficients and weights in the paper's order.

    One sweep per iteration: the sums that the topics' and coefficients' updates need are taken at the end of the
    weights' sweep, while a text is in cache.
    """

    blocks: Sequence[Block]
    start: Parameters
    response: ResponseModel
    settings: JointSettings

    def init(self) -> JointState:
        """Sums at the start."""
        sums = self.response.compute.engine.sweep(lambda block: self._sums(block, self.start), self.blocks)
        return self._state(self.start, sums)

    def step(self, state: JointState) -> JointState:
        """One iteration of Algorithm 1."""
        settings, compute = self.settings, self.response.compute
        # 1. Topics: H <- H * W^T R / W^T 1; with a sum of 1, the same majoriser is least at shares of H * W^T R.
        if settings.unit_topics:
            moved = unit_topics((state.parameters.HT * state.sums.pull).T).T
        else:
            moved = state.parameters.HT * (state.sums.pull / (state.sums.mass + EPSILON))
        HT = compute.kernels.zeros(moved.shape, self.start.HT.dtype)
        HT[:] = moved
        # 2. Coefficients.
        topics = replace(state.parameters, HT=HT)
        parameters = settings.coefficient_step.move(self.response, self.blocks, topics, state.sums.response)

        # 3. Weights, and the sums of the next iteration.
        def move(block: Block) -> Sums:
            settings.weight_rule.move(block, parameters, self.response, settings.alpha)
            return self._sums(block, parameters)

        return self._state(parameters, compute.engine.sweep(move, self.blocks))

    def _sums(self, block: Block, parameters: Parameters) -> Sums:
        HT, kernels = parameters.HT, self.response.compute.kernels
        text = kernels.text_sums(block.X, block.W, HT, block.text_weight, block.values)
        reconstructed = float(text.mass.astype(float) @ HT.sum(axis=0, dtype=float))
        reads_response = self.settings.coefficient_step.reads_response
        response = self.response.sums(block, parameters) if reads_response else NO_RESPONSE
        return Sums(text.pull, text.mass, block.text_constant + text.log_loss + reconstructed, response)

    def _state(self, parameters: Parameters, sums: Sums) -> JointState:
        penalty = self.response.penalty_value(parameters)
        return JointState(parameters, sums, Losses(sums.text_loss, sums.response.loss, penalty, self.settings.alpha))


def train_joint(
    corpus: Corpus,
    family: Family,
    topics: Array,
    weights: Array,
    settings: JointSettings,
    compute: Compute,
    watch: Watch,
) -> FittedTopics:
    """Run joint training from topics (topics, terms) and weights (texts, topics)."""
    n_topics, step = len(topics), settings.coefficient_step
    if settings.unit_topics:
        topics, weights = unit_topics(topics), weights * topics.sum(axis=1)
    response = ResponseModel(family, compute, settings.penalty, fit_intercept=False)
    blocks = place(corpus, weights, compute)
    HT = pad(topics.T, compute.kernels, corpus.X.dtype)
    start = step.settle(response, blocks, Parameters.without_effects(HT, family.n_predictors))
    solution = run(Joint(blocks, start, response, settings), max_iter=settings.max_iter, tol=settings.tol, watch=watch)
    parameters = step.settle(response, blocks, solution.state.parameters)
    sums = response.sweep(blocks, parameters)
    last = replace(solution.trace[-1], response=sums.loss, penalty=response.penalty_value(parameters))
    weights = np.concatenate([block.W[:, :n_topics] for block in blocks])
    return FittedTopics(
        family=family,
        topics=np.ascontiguousarray(parameters.HT[:, :n_topics].T),
        effects=parameters.beta[:n_topics].copy(),
        intercept=parameters.intercept if family.n_predictors > 1 else float(parameters.intercept),
        hessian=response.information(sums, np.append(np.arange(n_topics), HT.shape[1])),
        mean_weights=np.average(weights, axis=0, weights=corpus.weight * (np.diff(corpus.X.indptr) > 0)),
        smoothing=0.0,
        tol=TOL,
        unit_rows=False,
        word_effects=np.zeros(corpus.X.shape[1]),
        trace=Trace.of((*solution.trace[:-1], last)),
        reason=solution.reason,
        weights=weights,
    )


def unit_topics(topics: Array) -> Array:
    """Topics (topics, terms) scaled to sum to 1 each; a topic of zeros stays zero."""
    mass = topics.sum(axis=1)
    return topics / np.where(mass > 0, mass, 1)[:, None]
