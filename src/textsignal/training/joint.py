"""Joint training, the paper's Algorithm 1: weights are free parameters that see text and response.

objective = KL(X || W H) + alpha [ sum loss(y, W beta) + lam |beta|^2 ],   W, H >= 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from textsignal.arrays import Array
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import pad
from textsignal.compute.kernels.reference import EPSILON
from textsignal.families import Family
from textsignal.training.coefficient_steps import CoefficientStep
from textsignal.training.corpus import Block, Corpus, Parameters, ResponseSums, Sums, place
from textsignal.training.fitted import FittedTopics
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import TOL
from textsignal.training.loop import Losses, Trace, Watch, run

#: Sums of responses that are not used.
NO_RESPONSE = ResponseSums(0.0, np.zeros(0), np.zeros((0, 0)))
#: Growth factor of gamma each time a document's loss would rise, and maximum number of attempts.
GAMMA_GROWTH, MOST_GAMMAS = 4.0, 40


class WeightRule(Protocol):
    """Step length of the multiplicative updates of the weights."""

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""


@dataclass(frozen=True)
class FixedGamma:
    """The paper's rule: one gamma for every document and iteration."""

    gamma: float

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        alphas = alpha * (block.response_weight > 0)
        slope = (alphas * response.family.gradient(block.y, block.linear_predictor(parameters)).T).T
        pull = response.compute.kernels.pull_on_weights(block.X, block.W, parameters.HT, block.scratch.pull)
        mass = parameters.HT.sum(axis=0)
        gamma = np.full(len(slope), self.gamma)
        moved = block.scratch.moved
        block.W[:] = response.compute.kernels.weight_step(block.W, pull, mass, slope, parameters.beta, gamma, moved).W


@dataclass(frozen=True)
class TextAlone:
    """Lee and Seung's updates, which ignore the response."""

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        kernels = response.compute.kernels
        pull = kernels.pull_on_weights(block.X, block.W, parameters.HT, block.scratch.pull)
        nothing, no_effects = np.zeros(len(block.W)), np.zeros(block.W.shape[1])
        mass, moved = parameters.HT.sum(axis=0), block.scratch.moved
        block.W[:] = kernels.weight_step(block.W, pull, mass, nothing, no_effects, nothing, moved).W


@dataclass(frozen=True)
class AdaptiveGamma:
    """gamma 0, and larger for just the documents whose own loss would rise.

    Given topics and coefficients the documents are independent, and a document's step is a scaled gradient step
    that a larger gamma shortens, so some gamma always lowers its loss. The text's part of the loss is bounded by
    the step's own majoriser, which costs no further pass over nonzeros.
    """

    def move(self, block: Block, parameters: Parameters, response: ResponseModel, alpha: float) -> None:
        """Change the block's weights in place."""
        family, kernels = response.family, response.compute.kernels
        eta = block.linear_predictor(parameters)
        offset = np.broadcast_to(block.offset, len(eta))
        alphas = alpha * (block.response_weight > 0)
        slope = (alphas * family.gradient(block.y, eta).T).T
        losses = alphas * family.loss(block.y, eta)
        pull = kernels.pull_on_weights(block.X, block.W, parameters.HT, block.scratch.pull)
        mass = parameters.HT.sum(axis=0)
        # Below this a change is rounding, not a rise.
        noise = np.finfo(block.W.dtype).eps * (np.einsum("ik,k->i", block.W, mass) + np.abs(losses))
        steepest = np.abs(slope).reshape(len(slope), -1).sum(axis=1)
        first_gamma = mass.mean() + steepest * np.abs(parameters.beta).max()
        gamma = np.zeros(len(slope))
        rows: slice | np.ndarray = slice(None)
        for _ in range(MOST_GAMMAS):
            W = block.W[rows]
            moved = block.scratch.moved[: len(W)]
            step = kernels.weight_step(W, pull[rows], mass, slope[rows], parameters.beta, gamma[rows], moved)
            moved_eta = (parameters.linear_predictor(step.W).T + offset[rows]).T
            after = alphas[rows] * family.loss(block.y[rows], moved_eta)
            rises = step.text_change + after - losses[rows] > noise[rows]
            if not rises.any():
                block.W[rows] = step.W
                break
            block.W[rows] = np.where(rises[:, None], W, step.W)
            rows = np.arange(len(slope))[rows][rises]
            gamma[rows] = np.maximum(GAMMA_GROWTH * gamma[rows], first_gamma[rows])


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
    weights' sweep, while a document is in cache.

    unit_topics : True if every topic is kept at sum 1. Otherwise a topic can shrink while its weights grow, which makes
        its coefficient and the penalty arbitrarily small, and its effect can diverge.
    """

    blocks: Sequence[Block]
    start: Parameters
    response: ResponseModel
    alpha: float
    weight_rule: WeightRule
    coefficient_step: CoefficientStep
    unit_topics: bool = False

    def init(self) -> JointState:
        """Sums at the start."""
        sums = self.response.compute.engine.sweep(lambda block: self._sums(block, self.start), self.blocks)
        return self._state(self.start, sums)

    def step(self, state: JointState) -> JointState:
        """One iteration of Algorithm 1."""
        # 1. Topics: H <- H * W^T R / W^T 1; with a sum of 1, the same majoriser is least at shares of H * W^T R.
        if self.unit_topics:
            HT = unit_topics((state.parameters.HT * state.sums.pull).T).T
        else:
            HT = state.parameters.HT * (state.sums.pull / (state.sums.mass + EPSILON))
        parameters = replace(state.parameters, HT=self._keep(HT))
        # 2. Coefficients.
        parameters = self.coefficient_step.move(self.response, self.blocks, parameters, state.sums.response)

        # 3. Weights, and the sums of the next iteration.
        def move(block: Block) -> Sums:
            self.weight_rule.move(block, parameters, self.response, self.alpha)
            return self._sums(block, parameters)

        return self._state(parameters, self.response.compute.engine.sweep(move, self.blocks))

    def _keep(self, HT: np.ndarray) -> np.ndarray:
        """Copy the topics into memory that suits the kernels."""
        kept = self.response.compute.kernels.zeros(HT.shape, self.start.HT.dtype)
        kept[:] = HT
        return kept

    def _sums(self, block: Block, parameters: Parameters) -> Sums:
        text = self.response.compute.kernels.text_sums(
            block.X, block.W, parameters.HT, block.text_weight, block.scratch.values
        )
        reconstructed = float(text.mass.astype(float) @ parameters.HT.sum(axis=0, dtype=float))
        return Sums(
            pull=text.pull,
            mass=text.mass,
            text_loss=block.text_constant + text.log_loss + reconstructed,
            response=self.response.sums(block, parameters) if self.coefficient_step.reads_response else NO_RESPONSE,
        )

    def _state(self, parameters: Parameters, sums: Sums) -> JointState:
        penalty = self.response.penalty_value(parameters)
        return JointState(parameters, sums, Losses(sums.text_loss, sums.response.loss, penalty, self.alpha))


@dataclass(frozen=True)
class JointSettings:
    """User settings of joint training.

    There is no intercept, as in the paper: rows of text have nearly constant totals, and free weights would trade
    such a constant for the response.

    unit_topics : as in `Joint`; False in the paper.
    """

    alpha: float
    penalty: float
    weight_rule: WeightRule
    coefficient_step: CoefficientStep
    max_iter: int
    tol: float
    unit_topics: bool = False


def train_joint(
    corpus: Corpus,
    family: Family,
    topics: Array,
    weights: Array,
    settings: JointSettings,
    compute: Compute,
    watch: Watch,
) -> FittedTopics:
    """Run joint training from topics (topics, terms) and weights (documents, topics)."""
    n_topics = len(topics)
    if settings.unit_topics:
        topics, weights = unit_topics(topics), weights * topics.sum(axis=1)
    response = ResponseModel(family, compute, settings.penalty, fit_intercept=False)
    blocks = place(corpus, weights, compute)
    HT = pad(topics.T, compute.kernels, corpus.X.dtype)
    first = settings.coefficient_step.settle(response, blocks, Parameters.without_effects(HT, family.n_predictors))
    rules = settings.weight_rule, settings.coefficient_step, settings.unit_topics
    method = Joint(blocks, first, response, settings.alpha, *rules)
    solution = run(method, max_iter=settings.max_iter, tol=settings.tol, watch=watch)
    parameters = settings.coefficient_step.settle(response, blocks, solution.state.parameters)
    sums = response.sweep(blocks, parameters)
    last = replace(solution.trace[-1], response=sums.loss, penalty=response.penalty_value(parameters))
    kept = np.append(np.arange(n_topics), HT.shape[1])
    weights = np.concatenate([block.W[:, :n_topics] for block in blocks])
    return FittedTopics(
        family=family,
        topics=np.ascontiguousarray(parameters.HT[:, :n_topics].T),
        effects=parameters.beta[:n_topics].copy(),
        intercept=parameters.intercept if family.n_predictors > 1 else float(parameters.intercept),
        hessian=response.information_of(sums, kept),
        mean_weights=np.average(weights, axis=0, weights=corpus.weight * corpus.has_text),
        smoothing=0.0,
        tol=TOL,
        unit_rows=False,
        word_effects=np.zeros(corpus.X.shape[1]),
        trace=Trace.of((*solution.trace[:-1], last)),
        reason=solution.reason,
        weights=weights,
        from_text=False,
    )


def unit_topics(topics: Array) -> Array:
    """Topics (topics, terms) scaled to sum to 1 each; a topic of zeros stays zero."""
    mass = topics.sum(axis=1)
    return topics / np.where(mass > 0, mass, 1)[:, None]
