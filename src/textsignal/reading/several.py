"""Readers of the same themes for several responses, or for classes without an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from textsignal.arrays import Vector
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Family
from textsignal.families.classes import Bernoulli
from textsignal.reading.observed import Observed
from textsignal.reading.themes import ThemeReader, predict_all
from textsignal.stored_values import rule
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.glm import ResponseModel, fit_glm, linear_predictor

#: The family of a class against all others.
ONE_CLASS = Bernoulli((0, 1))


@dataclass(frozen=True, eq=False)
class ResponseReader:
    """Fitted models of themes and tone for several responses, with the same themes.

    names : of the responses; readers : one for each.
    """

    noun: ClassVar[str] = "response"

    names: tuple[str, ...] = field(metadata=rule(shape=("responses",), distinct=True, any_text=True))
    readers: tuple[ThemeReader, ...] = field(metadata=rule(shape=("responses",)))

    def check(self) -> None:
        """Raise ValueError if responses differ in their themes: a stored model may be damaged."""
        check_themes(self.names, self.readers)

    @property
    def labels(self) -> list[Any]:
        """Names of the responses."""
        return list(self.names)

    def with_readers(self, readers: Sequence[ThemeReader]) -> ResponseReader:
        """Return the same responses with other readers."""
        return replace(self, readers=tuple(readers))


@dataclass(frozen=True, eq=False)
class ClassReader:
    """Fitted models of themes and tone for each class against all others, with the same themes.

        log P(class c) / P(first class) = intercept_c + sum over classes d of slope_dc eta_d

    eta_d is the linear predictor of class d against all others, out of fold for training texts. The probabilities sum
    to 1 and are calibrated on texts that tone has not seen.

    family : a Categorical; readers : one for each class.
    coefficients : (classes + 1, classes - 1) slopes, and intercepts last.
    """

    noun: ClassVar[str] = "class"

    family: Family = field(metadata=rule(shape=("further classes",), learnt=True))
    readers: tuple[ThemeReader, ...] = field(metadata=rule(shape=(lambda sizes: sizes["further classes"] + 1,)))
    coefficients: Vector = field(metadata=rule(shape=(lambda sizes: sizes["further classes"] + 2, "further classes")))

    @classmethod
    def of(cls, family: Family, readers: Sequence[ThemeReader]) -> ClassReader:
        """Combine readers that were fitted to `class_responses`; fit class probabilities to their predictors."""
        training = [reader.fitted.training for reader in readers]
        predictors = np.column_stack([reader.known().eta for reader in readers])
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
        check_themes(self.labels, self.readers)

    @property
    def labels(self) -> list[Any]:
        """Labels of the classes."""
        labels: list[Any] = self.family.levels.tolist()
        return labels

    def with_readers(self, readers: Sequence[ThemeReader]) -> ClassReader:
        """Return the same classes with other readers; class probabilities are refitted."""
        return ClassReader.of(self.family, readers)

    def predictions(self, tokens: SentenceTexts, given: Given | None = None) -> Predictions:
        """Return class probabilities."""
        of_each = predict_all(self.readers, tokens, given)
        eta = self.predictors([each.eta for each in of_each])
        nothing = np.zeros_like(eta)
        return replace(of_each[0], family=self.family, eta=eta, beyond=nothing, given=nothing)

    def predictors(self, of_each: Sequence[Vector]) -> Vector:
        """Return (texts, classes - 1) linear predictors of the family; of_each : (texts,) of each class."""
        return linear_predictor(np.column_stack(of_each), self.coefficients[:-1], self.coefficients[-1])


#: A model of one response, of several, or of classes.
Reader = ThemeReader | ResponseReader | ClassReader


def check_themes(names: Sequence[Any], readers: Sequence[ThemeReader]) -> None:
    """Raise ValueError if a reader has other themes than the first."""
    for name, reader in zip(names, readers, strict=True):
        if not reader.shares_themes(readers[0]):
            raise ValueError(f"the themes of {name!r} are not those of the others")


def by_class(family: Family, observed: Observed) -> list[Observed]:
    """Return the texts for each class: the response is 1 for the class, 0 for others, NaN if missing."""
    codes = family.encode(observed.responses)
    answers = [np.where(np.isnan(codes), np.nan, codes == number) for number in range(len(family.levels))]
    return [observed.answering(values, ONE_CLASS) for values in answers]


def of_one(reader: ResponseReader | ClassReader, what: str) -> InputError:
    """Return the error for a request that is only defined for one response, or one class."""
    kind = "class against all others" if reader.noun == "class" else "response"
    return InputError(f"{what} are of one {kind}; ask for one: model.of({reader.labels[0]!r})")
