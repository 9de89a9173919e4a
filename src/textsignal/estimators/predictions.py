"""Predictions for texts, their skill, and the prediction methods of models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import ClassifierTags, RegressorTags

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families import FAMILIES, Family, NoLevelsError
from textsignal.families.responses import as_column


@dataclass(frozen=True)
class Predictions:
    """Predictions for texts.

    eta : (texts,) linear predictor, intercept + weights . effects + beyond + given; (texts, P) of P classes other
        than the first.
    beyond, given : (texts,) the parts of eta due to single words beyond the topics, and to covariates and offset.
    weights, shares : (texts, topics) weights, and the part of each text that each topic explains; shares sum to 1.
    unknown : (texts,) True if a text has no known term; it has the mean weights of training.
    """

    family: Family
    eta: Vector
    beyond: Vector
    given: Vector
    weights: Array
    shares: Vector
    unknown: NDArray[np.bool_]

    @property
    def mean(self) -> NDArray[np.float64]:
        """(texts,) expected response, labels as their numbers; (texts, classes) probabilities without an order."""
        return self.family.mean(self.eta)

    @property
    def by_topics(self) -> Predictions:
        """Predictions of the topics without single words: the difference in skill is due to the words."""
        return replace(self, eta=self.eta - self.beyond, beyond=np.zeros_like(self.beyond))

    def level(self, rule: str = "round") -> NDArray[Any]:
        """(texts,) one level each: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.family.level(self.eta, rule)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(texts, levels) probability of every level."""
        return self.family.level_probabilities(self.eta)

    @property
    def by_level(self) -> pd.DataFrame:
        """(texts x levels) probabilities by level; no columns if responses have no levels."""
        if not hasattr(self.family, "levels"):
            return pd.DataFrame(index=range(len(self.eta)))
        return pd.DataFrame(self.probabilities, columns=self.family.levels)


class OfLevels:
    """A method of models whose responses have levels: `hasattr` is False for others, and a call raises the reason."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, kind: type | None = None) -> Any:
        if model is None:
            return self.method
        model.check_levels()
        return MethodType(self.method, model)


class Predicting:
    """Prediction methods of a model; one that was fitted with covariates or an offset needs those of the texts."""

    @property
    def _asked(self) -> str | Family:
        """The requested family, of a model or of its estimator; fixed in the paper's model."""
        return getattr(getattr(self, "estimator", None) or self, "family", "binomial")

    @property
    def _classifies(self) -> bool:
        """True if the requested family has classes."""
        return bool(getattr(FAMILIES.get(str(self._asked), self._asked), "classifies", False))

    @property
    def classes_(self) -> NDArray[Any]:
        """The response's levels, in the order of the columns of `predict_proba`; absent if it has none."""
        return self.levels_  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        """Tag as a classifier if the requested family, or that of "auto", has classes; else as a regressor."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        fitted = getattr(getattr(self, "reader_", None), "family", None)  # not family_, which reads tags itself
        if self._classifies or (fitted is not None and self._gives_labels(fitted)):
            two = getattr(fitted or self._asked, "name", self._asked) == "bernoulli"
            tags.estimator_type = "classifier"
            # Poor, since the matrices that scikit-learn checks estimators by are not text.
            tags.classifier_tags = ClassifierTags(multi_class=not two, poor_score=True)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags(poor_score=True)
            # Levels of a scale have probabilities too.
            tags.classifier_tags = ClassifierTags()
        return tags

    def check_levels(self) -> None:
        """Raise if it is known that responses have no levels."""
        kind = FAMILIES.get(str(self._asked), type(self._asked))
        known = getattr(self, "family_", None)
        if getattr(kind, "levels", None) is Family.levels or (known is not None and not hasattr(known, "levels")):
            name = getattr(known or kind, "name", "")
            raise NoLevelsError(f"responses of the {name} family have no levels; ask for means or the distribution")

    @abstractmethod
    def predictions(self, documents: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> Predictions:
        """Predict weights, expected responses, levels and their probabilities."""

    def predict(self, X: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Expected response of texts; the most probable label of classes, text, truth values and 0 or 1."""
        predictions = self.predictions(X, covariates=covariates, offset=offset)
        return predictions.level("mode") if self._gives_labels(predictions.family) else predictions.mean

    def _gives_labels(self, family: Family) -> bool:
        return self._classifies or family.has_text or (family.classifies and set(family.levels.tolist()) == {0, 1})

    def predict_level(
        self, X: Any, rule: str = "round", *, covariates: Any = None, offset: ArrayLike | None = None
    ) -> NDArray[Any]:
        """One level per text: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.predictions(X, covariates=covariates, offset=offset).level(rule)

    @OfLevels
    def predict_proba(self, X: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> NDArray[np.float64]:
        """Probability of every level: (texts, levels), in the order of `levels_`."""
        return self.predictions(X, covariates=covariates, offset=offset).probabilities

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: Any = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """R2 of the expected response over the texts that have one; of labels the share that is right."""
        predictions = self.predictions(X, covariates=covariates, offset=offset)
        if self._gives_labels(predictions.family):
            return accuracy(y, predictions.level("mode"), sample_weight)
        return r2_score(np.asarray(y, dtype=float), predictions.mean, sample_weight)


def r2_score(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Return 1 - sum (y - predicted)^2 / sum (y - mean y)^2 over texts with a response; NaN if these are constant."""
    observed, predictions, weights = known_responses(y, predicted, weight)
    spread = np.sum(weights * (observed - np.average(observed, weights=weights)) ** 2)
    error = np.sum(weights * (observed - predictions) ** 2)
    return float(1 - error / spread) if spread > 0 else float("nan")


def rmse(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Return the root of the mean squared error over texts that have a response."""
    observed, predictions, weights = known_responses(y, predicted, weight)
    return float(np.sqrt(np.average((observed - predictions) ** 2, weights=weights)))


def accuracy(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Return the share of texts whose label is predicted, of those that have one."""
    labels, others = as_column(y), as_column(predicted)
    known = ~pd.isna(labels)
    weights = np.ones(len(labels)) if weight is None else np.asarray(weight, dtype=float)
    return float(np.average(labels[known] == others[known], weights=weights[known]))


def known_responses(y: ArrayLike, predicted: ArrayLike, weight: ArrayLike | None) -> tuple[Any, Any, Any]:
    """Return responses, predictions and weights of the texts that have a response; raise if their sizes differ."""
    observed, predictions = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float)
    weights = np.ones(observed.shape) if weight is None else np.asarray(weight, dtype=float)
    if observed.shape != predictions.shape:
        raise InputError(f"{observed.shape[0]} responses, but {predictions.shape[0]} predictions")
    if weights.shape != observed.shape:
        raise InputError(f"{observed.shape[0]} responses, but weights of shape {weights.shape}; give one for each")
    known = ~np.isnan(observed)
    if not known.any():
        raise InputError("no text has a response, so skill cannot be measured")
    return observed[known], predictions[known], weights[known]
