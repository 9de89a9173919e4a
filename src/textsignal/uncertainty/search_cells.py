"""What a search measures: topics of one setting, on one fold that is held out or in the two halves of one cut.

On a fold topics are learnt from the other folds: deviance (minus twice the logarithm of the probability given to a
document's response, on average), R2, coherence and exclusivity. In the halves of a cut they are learnt twice, and
matched: stability is the mean cosine. Exclusivity is the mean share that a topic has in its ten leading terms: 1 where
no other topic uses them. Topics on a matrix are models of the text too: text_deviance is of words of one half of a
held-out document, given the other half.

Tasks run side by side, so each has one thread, and whoever runs them limits those of BLAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.estimators import GLMNMF
from textsignal.evaluation import metrics as evaluate
from textsignal.families import Family, log_scores
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed
from textsignal.reading.words import plain_profiles
from textsignal.text.tokens import SentenceTexts, TokenisedTexts
from textsignal.training import agreement
from textsignal.training.agreement import ThemeHalves
from textsignal.training.draws import unit_halves
from textsignal.training.halves import halves, match_topics
from textsignal.training.theme_model import Prepared, fit_prepared
from textsignal.training.theme_reading import PartlyRead, by_document, count_units, read_features, readings_of

Rows = NDArray[np.int64]
Values = dict[str, float]
#: Cuts into halves for topics on a matrix, each of which costs two fits.
TOPIC_CUTS = 3
#: What is measured on a fold, and in the halves of a cut; text_deviance of topics on a matrix alone.
FOLD_MEASURES, CUT_MEASURES = ("deviance", "r2", "coherence", "exclusivity", "text_deviance"), ("stability",)
#: How much of a word's probability is that in all documents, and what is added to its count there.
OVERALL, LEAST_COUNT = 0.02, 0.1


@dataclass(frozen=True, order=True)
class Setting:
    """What a search varies; supervision is None for themes, which have none."""

    n_topics: int
    supervision: float | None = None


@dataclass(frozen=True, order=True)
class SearchTask:
    """A setting on a fold, or in the halves of a cut, by number."""

    setting: Setting
    part: str
    number: int


class Cells(Protocol):
    """Documents, and what is learnt of them before there is a number of topics."""

    @property
    def n_cuts(self) -> int:
        """How often documents are cut into halves."""

    def prepare(self, tasks: Sequence[SearchTask], engine: Engine) -> None:
        """Learn what tasks share."""

    def measure(self, task: SearchTask) -> Values:
        """What a task is about."""


def folds_of(keys: Keys, n_folds: int, groups: NDArray[np.int64] | None, seed: int) -> NDArray[np.int64]:
    """(documents,) the fold of each: equal documents, or those of a group, in one; folds have about the same size.

    keys : (documents,) of their texts. Without groups folds do not depend on the order of documents.
    """
    if groups is None:
        distinct, place = np.unique(drawn(keys, seed), return_inverse=True)
        return np.asarray(place * n_folds // len(distinct), dtype=np.int64)
    fold = np.empty(len(keys), dtype=np.int64)
    for number, (_, rows) in enumerate(GroupKFold(n_folds).split(keys, groups=groups)):
        fold[rows] = number
    return fold


def _skill(family: Family, responses: Vector, eta: Vector) -> Values:
    known = ~np.isnan(responses)
    observed, eta = responses[known], eta[known]
    return {
        "deviance": float(2 * np.mean(log_scores(family, observed, eta))),
        "r2": evaluate.r2_score(observed, family.mean(eta)),
    }


def _of_profiles(profiles: Array, X: sp.csr_array) -> Values:
    """Means over topics; X : (documents, terms) of training."""
    return {
        "coherence": float(evaluate.coherence(X, profiles).mean()),
        "exclusivity": float(evaluate.exclusivity(np.asarray(profiles, dtype=float)).mean()),
    }


def _text_deviance(found: GLMNMF, X: sp.csr_array, X_test: sp.csr_array, keys: Keys) -> float:
    """Minus twice the mean logarithm of the probability of a word in one half of a document, given the other half.

    The probability is that of its topics, with a little of the words of all training documents X in it.
    """
    rows = np.arange(X_test.shape[0])
    known, hidden = (unit_halves(X_test, rows, keys, side) for side in (0, 1))
    topics, overall = _unit(found.components_), np.asarray(X.sum(axis=0), dtype=float) + LEAST_COUNT
    weights = _unit(found.transform(known) * np.sum(found.components_, axis=1))
    document, term = np.repeat(rows, np.diff(hidden.indptr)), hidden.indices
    chances = np.zeros(len(term))
    for topic, weight in zip(topics, weights.T, strict=True):
        chances += weight[document] * topic[term]
    chances = (1 - OVERALL) * chances + OVERALL * overall[term] / overall.sum()
    return float(-2 * np.average(np.log(chances), weights=hidden.data)) if len(term) else float("nan")


@dataclass(frozen=True, eq=False)
class _ThemeFold:
    """Training side, as far as it has no themes, and test side: features, counts of terms, responses."""

    prepared: Prepared
    read: PartlyRead
    units: sp.csr_array
    responses: Vector


@dataclass(eq=False)
class ThemeCells:
    """Themes and tone: tokens are shared by all, features, tone and vectors by all numbers of themes of a fold."""

    options: parts.Options
    observed: Observed
    folds: NDArray[np.int64]
    seed: int
    _prepared: dict[int, _ThemeFold] = field(default_factory=dict)
    _halves: ThemeHalves | None = None

    @property
    def n_cuts(self) -> int:
        """How often documents are cut into halves."""
        return agreement.CUTS

    def prepare(self, tasks: Sequence[SearchTask], engine: Engine) -> None:
        """Learn the tone of each fold that is asked for, and cut documents into halves."""
        todo = sorted({task.number for task in tasks if task.part == "fold"} - set(self._prepared))
        for number, found in zip(todo, engine.map(self._fold, todo), strict=True):
            self._prepared[number] = found
        if self._halves is None and any(task.part == "cut" for task in tasks):
            self._halves = self._cut(engine)

    def measure(self, task: SearchTask) -> Values:
        """What a task is about."""
        if task.part == "cut":
            assert self._halves is not None
            return {"stability": self._halves.cosine(task.setting.n_topics, task.number)}
        fold = self._prepared[task.number]
        with local_compute(1) as compute:
            ((fitted, training),) = fit_prepared(
                fold.prepared, n_themes=task.setting.n_topics, seed=self.seed, compute=compute
            )
            (reading,) = readings_of(fold.read, fold.units, [fitted.tone], fitted.themes, compute)
        eta = fitted.effects.linear_predictor(reading.tone, reading.shares)
        X = sp.csr_array(by_document(training.units, training.texts))
        return _skill(fitted.family, fold.responses, eta) | _of_profiles(plain_profiles(fitted), X)

    def _fold(self, number: int) -> _ThemeFold:
        train, test = (self.observed.at(np.flatnonzero(side)) for side in (self.folds != number, self.folds == number))
        prepared = self._prepare(train)
        assert isinstance(test.tokens, SentenceTexts)
        with LocalEngine() as engine:
            read = read_features(test.tokens, prepared.features, engine)
            units = count_units(test.tokens, prepared.terms, engine)
        return _ThemeFold(prepared, read, units, test.responses)

    def _prepare(self, observed: Observed) -> Prepared:
        assert isinstance(observed.tokens, SentenceTexts)
        response = parts.response_of(self.options, observed)
        with local_compute(1) as compute:
            return parts.prepare(self.options, [response], observed.tokens, observed.weight, compute)

    def _cut(self, engine: Engine) -> ThemeHalves:
        return ThemeHalves.of(self._prepare(self.observed), self.seed, engine)


@dataclass(eq=False)
class TopicCells:
    """Topics on a matrix: X is (documents, terms); texts, where these were given, are counted anew for each fold.

    responses : (documents,) NaN where there is none; keys : (documents,) of what documents say.
    """

    options: parts.Options
    X: sp.csr_array
    observed: Observed | None
    responses: Vector
    family: Family
    folds: NDArray[np.int64]
    keys: Keys
    seed: int
    _sides: dict[int, tuple[sp.csr_array, sp.csr_array]] = field(default_factory=dict)

    @property
    def n_cuts(self) -> int:
        """How often documents are cut into halves."""
        return TOPIC_CUTS

    def prepare(self, tasks: Sequence[SearchTask], engine: Engine) -> None:
        """Count terms of training and test side of each fold that is asked for."""
        todo = sorted({task.number for task in tasks if task.part == "fold"} - set(self._sides))
        for number, found in zip(todo, engine.map(self._fold, todo), strict=True):
            self._sides[number] = found

    def measure(self, task: SearchTask) -> Values:
        """What a task is about."""
        if task.part == "cut":
            first = 2 * task.number
            samples = halves(self.keys, first + 2, self.seed)[first:]
            topics = [self._fit(task.setting, self.X[rows], self.responses[rows], n) for n, rows in enumerate(samples)]
            return {"stability": float(match_topics(*[_unit(found.components_) for found in topics]).cosines.mean())}
        X, X_test = self._sides[task.number]
        out = self.folds == task.number
        found = self._fit(task.setting, X, self.responses[~out], 0)
        eta, profiles = found.predictions(X_test).eta, _unit(found.components_)
        measured = _skill(found.family_, self.responses[out], eta) | _of_profiles(profiles, X)
        return measured | {"text_deviance": _text_deviance(found, X, X_test, self.keys[out])}

    def _fit(self, setting: Setting, X: sp.csr_array, responses: Vector, seed: int) -> GLMNMF:
        return GLMNMF(
            setting.n_topics,
            family=self.family,
            training=parts.training_of(self.options),
            supervision=0.5 if setting.supervision is None else setting.supervision,
            random_state=self.seed + seed,
            n_jobs=1,
        ).fit(X, responses)

    def _fold(self, number: int) -> tuple[sp.csr_array, sp.csr_array]:
        train, test = (np.flatnonzero(side) for side in (self.folds != number, self.folds == number))
        if self.observed is None:
            return self.X[train], self.X[test]
        vectorizer, tokens = parts.new_vectorizer(self.options), self.observed.tokens
        assert isinstance(tokens, TokenisedTexts)
        counted = vectorizer.fit_transform(tokens.at(train))
        return sp.csr_array(counted), sp.csr_array(vectorizer.transform(tokens.at(test)))


def _unit(topics: Array) -> Vector:
    """(topics, terms) each summing to 1."""
    size = topics.sum(axis=1, keepdims=True)
    return np.asarray(topics / np.where(size > 0, size, 1), dtype=float)
