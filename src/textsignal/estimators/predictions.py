"""Predictions for documents, and the prediction methods of models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import ClassifierTags, RegressorTags

from textsignal.arrays import Array, Vector
from textsignal.estimators.skill import accuracy, r2_score
from textsignal.families import FAMILIES, Family, NoLevelsError, level_probabilities


@dataclass(frozen=True)
class Predictions:
    """Predictions for documents.

    eta : (documents,) linear predictor, intercept + weights . effects + beyond + given; (documents, P) of P classes
        other than the first.
    beyond : (documents,) the part of eta that single words add beyond the topics; 0 without `word_residual`.
    given : (documents,) the part of eta that covariates and offset add; 0 without these.
    weights : (documents, topics).
    shares : (documents, topics) the part of each document's text that each topic explains; rows sum to 1.
    unknown : (documents,) whether a document has no known term; it got the mean weights of training.
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
        """(documents,) expected response, on the user's scale: of text by the numbers that stand for it.

        Classes without an order have the probability of each: (documents, classes).
        """
        return self.family.mean(self.eta)

    @classmethod
    def joined(cls, parts: Sequence[Predictions], order: NDArray[np.int64]) -> Predictions:
        """Predictions of several sets of documents as one, in this order."""

        def together(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])[order]

        names = [field.name for field in fields(cls) if field.name != "family"]
        return cls(parts[0].family, **{name: together(name) for name in names})

    @property
    def by_topics(self) -> Predictions:
        """Predictions of the topics without single words: the difference in skill is due to the words."""
        return replace(self, eta=self.eta - self.beyond, beyond=np.zeros_like(self.beyond))

    def level(self, rule: str = "round") -> NDArray[Any]:
        """(documents,) one level each: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.family.level(self.eta, rule)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(documents, levels) probability of every level."""
        return level_probabilities(self.family, self.eta)

    @property
    def by_level(self) -> pd.DataFrame:
        """(documents x levels) probabilities by level; no columns if responses have no levels."""
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
    """Prediction methods of a model.

    covariates, offset : of the documents, as in `fit`; a model that was fitted with them needs them.
    """

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
        """The response's levels, in the order of the columns of `predict_proba`; absent where it has none."""
        return self.levels_  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        """Tag as a classifier if the requested family has classes, or "auto" has found classes; else a regressor.

        Scores are called poor, since the matrices that scikit-learn checks estimators by are not text.
        """
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        fitted = getattr(getattr(self, "reader_", None), "family", None)  # not family_, which asks for tags itself
        if self._classifies or (fitted is not None and self._gives_labels(fitted)):
            two = getattr(fitted or self._asked, "name", self._asked) == "bernoulli"
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=not two, poor_score=True)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags(poor_score=True)
            # Levels of a scale have probabilities too.
            tags.classifier_tags = ClassifierTags()
        return tags

    def check_levels(self) -> None:
        """Raise where it is known that responses have no levels."""
        kind = FAMILIES.get(str(self._asked), type(self._asked))
        known = getattr(self, "family_", None)
        if getattr(kind, "levels", None) is Family.levels or (known is not None and not hasattr(known, "levels")):
            name = getattr(known or kind, "name", "")
            raise NoLevelsError(f"responses of the {name} family have no levels; ask for means or the distribution")

    @abstractmethod
    def predictions(self, documents: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> Predictions:
        """Predict weights, expected responses, levels and their probabilities."""

    def predict(self, X: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Expected response of documents, on the user's scale; of a classifier the most probable label.

        By "auto" text, truth values and 0 or 1 are predicted as labels too: `predict_proba` has their chances, and
        `predictions(X).mean` the expected response.
        """
        predictions = self.predictions(X, covariates=covariates, offset=offset)
        return predictions.level("mode") if self._gives_labels(predictions.family) else predictions.mean

    def _gives_labels(self, family: Family) -> bool:
        return self._classifies or family.has_text or (family.classifies and set(family.levels.tolist()) == {0, 1})

    def predict_level(
        self, X: Any, rule: str = "round", *, covariates: Any = None, offset: ArrayLike | None = None
    ) -> NDArray[Any]:
        """One level per document: the rounded expectation ("round") or the most probable level ("mode")."""
        return self.predictions(X, covariates=covariates, offset=offset).level(rule)

    @OfLevels
    def predict_proba(self, X: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> NDArray[np.float64]:
        """Probability of every level: (documents, levels), in the order of `levels_`."""
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
        """R2 of the expected response over the documents that have one; of labels the share that is right."""
        predictions = self.predictions(X, covariates=covariates, offset=offset)
        if self._gives_labels(predictions.family):
            return accuracy(y, predictions.level("mode"), sample_weight)
        return r2_score(np.asarray(y, dtype=float), predictions.mean, sample_weight)
