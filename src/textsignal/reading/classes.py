"""Themes and tone for classes without an order: each against all others, with the same themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from textsignal.arrays import Array, Vector
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Family, linear_predictor
from textsignal.families.classes import Bernoulli
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.spoken import Spoken
from textsignal.reading.themes import ThemeReader, predict_all, read_all, with_topics
from textsignal.stored_values import rule
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.glm import ResponseModel, fit_glm

#: The family of a class against all others.
ONE_CLASS = Bernoulli((0, 1))


@dataclass(frozen=True, eq=False)
class ClassReader:
    """Fitted models of themes and tone for each class against all others.

        log P(class c) / P(first class) = intercept_c + sum over classes d of slope_dc eta_d

    eta_d is the linear predictor of class d against all others, out of fold for training texts. The probabilities sum
    to 1 and are calibrated on texts that tone has not seen.

    family : a Categorical; readers : one for each class, with the same themes.
    coefficients : (classes + 1, classes - 1) slopes, and intercepts last.
    """

    family: Family = field(metadata=rule(shape=("further classes",), learnt=True))
    readers: tuple[ThemeReader, ...] = field(metadata=rule(shape=(lambda sizes: sizes["further classes"] + 1,)))
    coefficients: Vector = field(metadata=rule(shape=(lambda sizes: sizes["further classes"] + 2, "further classes")))

    @classmethod
    def of(cls, family: Family, readers: Sequence[ThemeReader]) -> ClassReader:
        """Combine readers that were fitted to `class_responses`; fit class probabilities to their predictors."""
        training = [reader.fitted.training for reader in readers]
        predictors = np.column_stack([reader.trained.eta for reader in readers])
        responses = np.column_stack([known.responses for known in training])
        y = np.where(np.isnan(responses).any(axis=1), np.nan, np.nan_to_num(responses).argmax(axis=1))
        with local_compute(readers[0].n_jobs) as compute:
            model = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True)
            fit = fit_glm(model, predictors, y, training[0].weight)
        return cls(family, tuple(readers), fit.coefficients)

    def check(self) -> None:
        """Raise ValueError if classes differ in their themes, or are only two: a stored model may be damaged."""
        if self.family.n_predictors == 1:
            raise ValueError(f"the {self.family.name} family is not of several classes")
        if not all(reader.shares_themes(self._first) for reader in self.readers):
            raise ValueError("classes have different themes")

    @property
    def _first(self) -> ThemeReader:
        return self.readers[0]

    @property
    def classes(self) -> list[Any]:
        """Labels of the classes."""
        labels: list[Any] = self.family.levels.tolist()
        return labels

    def of_class(self, label: object) -> ThemeReader:
        """Return the reader of one class against all others."""
        if label not in self.classes:
            raise InputError(f"there is no class {label!r}; classes are {', '.join(map(repr, self.classes))}")
        return self.readers[self.classes.index(label)]

    @property
    def profiles(self) -> Array:
        """(themes, terms) shares of terms by plain counts."""
        return self._first.profiles

    @property
    def terms(self) -> Sequence[str]:
        """Content terms."""
        return self._first.terms

    @property
    def mergeable(self) -> tuple[Array, Vector]:
        """Themes by which sentences are assigned, and their prevalences."""
        return self._first.mergeable

    @property
    def coherence(self) -> Vector:
        """(themes,) in the training texts."""
        return self._first.coherence

    @property
    def described(self) -> dict[str, str]:
        """Name and value of the settings of the fit, for display."""
        return self._first.described | {"Response": f"{len(self.classes)} classes, each against all others"}

    @property
    def basis(self) -> str:
        """Sentence on the documents the model was learnt from; "" if from all that it knows."""
        return self._first.basis

    def tokenise(self, texts: Iterable[str] | Tokens) -> Tokens:
        """Cut texts into sentences and words."""
        return self._first.tokenise(texts)

    @property
    def covariates(self) -> tuple[Vector, Vector]:
        """Raise: effects of covariates differ between classes."""
        raise self.of_one_class("effects of covariates")

    def read(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Reading:
        """Return class probabilities; contributions : (documents, themes, classes) to each class against all others."""
        readings = read_all(self.readers, texts, given)
        first, predictions = readings[0], self._together([each.predictions for each in readings])
        contributions = np.stack([each.contributions for each in readings], axis=-1)
        return replace(first, predictions=predictions, contributions=contributions, sentences=None)

    def predictions(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Predictions:
        """Return class probabilities, without the other results of `read`."""
        return self._together(predict_all(self.readers, texts, given))

    def _together(self, of_each: Sequence[Predictions]) -> Predictions:
        eta = self.predictors([each.eta for each in of_each])
        nothing = np.zeros_like(eta)
        return replace(of_each[0], family=self.family, eta=eta, beyond=nothing, given=nothing)

    def predictors(self, of_each: Sequence[Vector]) -> Vector:
        """Return (documents, classes - 1) linear predictors of the family; of_each : (documents,) of each class."""
        return linear_predictor(np.column_stack(of_each), self.coefficients[:-1], self.coefficients[-1])

    @property
    def trained(self) -> Spoken:
        """Raise: mentions of themes differ between classes."""
        raise self.of_one_class("drivers and reports")

    def spoken(self, reading: Reading, responses: Vector | None, weight: Vector | None) -> Spoken:
        """Raise: mentions of themes differ between classes."""
        raise self.of_one_class("drivers and reports")

    def with_topics(self, topics: Array, weights: Vector, observed: Observed) -> ClassReader:
        """Return a reader with other themes."""
        each = [replace(observed, responses=values) for values in class_responses(self.family, observed.responses)]
        return ClassReader.of(self.family, with_topics(self.readers, topics, weights, each))

    def with_jobs(self, n_jobs: int | None) -> ClassReader:
        """Return a reader with another number of threads."""
        return replace(self, readers=tuple(reader.with_jobs(n_jobs) for reader in self.readers))

    def observed_by_class(self, observed: Observed | None) -> dict[Any, Observed | None]:
        """Return documents with 1 for the class and 0 for others, by class; None if absent."""
        if observed is None:
            return dict.fromkeys(self.classes)
        values = class_responses(self.family, observed.responses)
        return {
            label: replace(observed, responses=own, family=ONE_CLASS)
            for label, own in zip(self.classes, values, strict=True)
        }

    def of_one_class(self, what: str) -> InputError:
        """Return the error for a request that is only defined for a single class."""
        return InputError(f"{what} are of one class against all others; ask for one: model.of({self.classes[0]!r})")


def class_responses(family: Family, responses: Vector) -> list[Vector]:
    """Return (documents,) for each class, 1 if it is the response and 0 if another is; NaN if missing."""
    codes = family.encode(responses)
    return [np.where(np.isnan(codes), np.nan, codes == number) for number in range(len(family.levels))]


def by_class(tables: dict[Any, pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables of classes, with the class in the first column."""
    columns = next(iter(tables.values())).columns
    together = pd.concat([pd.DataFrame(table).assign(**{"class": name}) for name, table in tables.items()])
    return together[["class", *columns]].reset_index(drop=True)
