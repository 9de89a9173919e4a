"""What a fitted model consists of, and the refit that all trainings end with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families import Family, linear_predictor
from textsignal.inference import Inference
from textsignal.topics.effects import text_shares
from textsignal.training.corpus import Corpus
from textsignal.training.glm import GLMFit, ResponseModel, fit_glm
from textsignal.training.loop import Trace

#: Why training stopped, where nothing moved any more.
CONVERGED = "converged"


@dataclass(frozen=True)
class FittedTopics:
    """A fitted model: all that prediction needs, and the record of its training. Estimators keep it whole.

    family : of the response, with its scale.
    topics : (topics, terms) nonnegative.
    effects : (topics,); intercept : constant of the linear predictor.
    hessian : (topics + 1, topics + 1) of response loss and penalty in effects and intercept: their information.
    mean_weights : (topics,) of the training documents that have a known term; what a document without one gets.
    smoothing, tol, unit_rows : how weights are found, as in `Inference`.
    word_effects : (terms,) effects of single words beyond the topics.
    trace : losses of training.
    reason : why training stopped.
    weights : (documents, topics) of the training documents; None in a model that was stored.
    from_text : whether these follow from the text alone, as a new document's do.
    """

    family: Family
    topics: Array
    effects: Vector
    intercept: float
    hessian: Vector
    mean_weights: Vector
    smoothing: float
    tol: float
    unit_rows: bool
    word_effects: Vector
    trace: Trace
    reason: str
    weights: Array | None = field(default=None, metadata={"stored": False})
    from_text: bool = field(default=True, metadata={"stored": False})

    @property
    def inference(self) -> Inference:
        """How weights of documents are found."""
        return Inference(self.topics, self.smoothing, self.tol, self.unit_rows, self.mean_weights)

    @property
    def converged(self) -> bool:
        """Whether training stopped because nothing moved any more."""
        return self.reason == CONVERGED

    def linear_predictor(self, weights: Array) -> Vector:
        """(documents,) what the topics say of documents with these weights (documents, topics)."""
        return linear_predictor(weights, self.effects, self.intercept)

    def shares(self, weights: Array) -> Vector:
        """(documents, topics) the part of each document's text that each topic explains."""
        return text_shares(weights, self.topics, self.smoothing)

    def with_fit(self, topics: Array, fit: TextFit) -> Self:
        """Give the same model with other topics and what was fitted to them; effects of single words are left out."""
        return replace(
            self,
            family=fit.glm.family,
            topics=topics,
            effects=fit.glm.effects,
            intercept=fit.glm.intercept,
            hessian=fit.glm.hessian,
            mean_weights=fit.mean_weights,
            word_effects=np.zeros(topics.shape[1]),
            weights=fit.weights,
            from_text=True,
        )

    def check(self) -> None:
        """Raise a ValueError unless all values fit together and can be: compiled kernels trust them."""
        if None in self.family.settings().values():
            raise ValueError("the scale of the family is left open")
        n_topics, n_terms = self.topics.shape
        shapes = {"hessian": (n_topics + 1, n_topics + 1), "word_effects": (n_terms,)}
        shapes |= dict.fromkeys(["effects", "mean_weights"], (n_topics,))
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has shape {getattr(self, name).shape}; it must be {shape}")
        for name in ("topics", "effects", "intercept", "hessian", "mean_weights", "smoothing", "tol", "word_effects"):
            if not np.all(np.isfinite(getattr(self, name))):
                raise ValueError(f"{name} holds values that are not finite numbers")
        for name in ("topics", "mean_weights", "smoothing", "tol"):
            if np.any(np.less(getattr(self, name), 0)):
                raise ValueError(f"{name} holds values below 0")


@dataclass(frozen=True)
class TextFit:
    """Weights that follow from the text alone, and the GLM of the response on them.

    weights : (documents, topics), the mean weights for a document without a known term.
    mean_weights : (topics,) of the documents that have one.
    """

    weights: Array
    mean_weights: Vector
    glm: GLMFit


def fit_on_text(corpus: Corpus, inference: Inference, response: ResponseModel, tilt: Vector | None = None) -> TextFit:
    """Find weights from the text alone, as a new document's are, and fit effects and intercept to them.

    Weights that have seen the response, as joint training's have, bear other effects than a new document's do: the
    more so, the stronger the supervision.

    corpus : its text as inference takes it.
    tilt : (documents,) slopes that are taken off the response's loss.
    """
    inferred = inference.weights(corpus.X, response.compute)
    counted = corpus.weight * ~inferred.unknown
    if not counted.any():
        raise InputError("no document has a term that these topics use, so effects cannot be fitted")
    mean: Vector = np.average(inferred.weights, axis=0, weights=counted).astype(float, copy=False)
    inferred.weights[inferred.unknown] = mean
    glm = fit_glm(response, inferred.weights, corpus.y, corpus.weight, tilt=tilt)
    return TextFit(inferred.weights, mean, glm)


@dataclass(frozen=True)
class Run:
    """One training run.

    objective : by which runs from other starts compare: under a supervision that they all share.
    """

    fitted: FittedTopics
    objective: float
