"""Comparison of our model with simpler methods, by cross-validation on the same folds.

A measure is a number and the influence of each text on it, which is 0 on average. The difference of two methods has the
difference of both as its influence, so that texts are paired, and the standard error

    sqrt( G / (G - 1) * sum over G clusters of (sum of influences)^2 ) / texts

Clusters are groups, or copies of a text: texts that are held out together. The error is that of other texts to predict;
it does not contain how much fits to other texts would differ.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from textsignal.arrays import Flags, Rows, Vector
from textsignal.checks import check_groups, check_number
from textsignal.compute.engines.local import LocalEngine
from textsignal.data.write import write_csv
from textsignal.errors import InputError
from textsignal.evaluation.methods import (
    METHODS,
    OUR_METHOD,
    OURS,
    ComparedTexts,
    Method,
    Outcome,
    Split,
    count_ngrams,
    fold_numbers,
)
from textsignal.families import Binomial, Family, as_family
from textsignal.families.auto import AUTO, candidates
from textsignal.families.responses import constant_response
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, response_column
from textsignal.text.tokens import SentenceTexts, tokenised

#: Called with a method's name, the number of folds done, and of all folds.
Progress = Callable[[str, int, int], None]
#: Differences of fewer standard errors are frequent by chance; standard errors over fewer units are rough.
CLEAR, FEW_UNITS = 2.0, 20
#: Fewest texts of a fold; most classes without an order.
FEWEST_OF_FOLD, MOST_CLASSES = 10, 20


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure, and (texts,) the influence of each on it."""

    value: float
    influence: Vector

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.influence - other.influence)

    def std_error(self, clusters: Rows) -> float:
        """Return the standard error; clusters : (texts,) numbers of those that depend on each other."""
        sums = np.bincount(np.unique(clusters, return_inverse=True)[1], self.influence)
        if sums.size < 2:
            return float("nan")
        return float(np.sqrt(sums.size / (sums.size - 1) * np.sum(sums**2)) / len(self.influence))


def mean_of(scores: Vector) -> Estimate:
    """Return the mean of scores of texts, such as log scores."""
    value = float(np.mean(scores))
    return Estimate(value, scores - value)


def r2_of(responses: Vector, predicted: Vector) -> Estimate:
    """Return R2 = 1 - S / V with influences -((y - predicted)^2 - (S / V) (y - mean y)^2) / V; NaN if V is 0."""
    errors, spreads = (responses - predicted) ** 2, (responses - responses.mean()) ** 2
    if not spreads.any():
        return Estimate(float("nan"), np.zeros(len(responses)))
    lost = float(errors.mean() / spreads.mean())
    return Estimate(1 - lost, (lost * spreads - errors) / spreads.mean())


def auc_of(happened: Flags, predicted: Vector, folds: Rows) -> Estimate:
    """Return the AUC, the mean over folds that have both values, weighted by their texts.

    Predictions of different fits are not compared. Influences are those of DeLong, DeLong and Clarke-Pearson (1988).
    """
    influence, ranks = np.zeros((2, len(predicted)))
    total, n_known = 0.0, 0
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        sides = rows[happened[rows]], rows[~happened[rows]]
        if not all(map(len, sides)):
            continue
        ranks[rows] = stats.rankdata(predicted[rows])
        above = [ranks[side] - stats.rankdata(predicted[side]) for side in sides]
        auc = float(above[0].mean() / len(sides[1]))
        placements = above[0] / len(sides[1]), 1 - above[1] / len(sides[0])
        for side, placement in zip(sides, placements, strict=True):
            influence[side] = len(rows) * (placement - auc) / len(side)
        total, n_known = total + len(rows) * auc, n_known + len(rows)
    if not n_known:
        return Estimate(float("nan"), influence)
    return Estimate(total / n_known, influence * len(predicted) / n_known)


@dataclass(frozen=True)
class Standing:
    """A method's value of one measure; ahead : this less ours, with its standard error."""

    method: Method
    value: float
    ahead: float
    std_error: float

    def __str__(self) -> str:
        return f"{self.method.label} {self.number}"

    @property
    def number(self) -> str:
        """Three digits, without a minus before 0."""
        return f"{self.value:z.3f}"

    @property
    def difference(self) -> str:
        """The difference to ours in units of its standard error."""
        size, error = abs(self.ahead), self.std_error
        against = f"its standard error ({error:.3f})"
        if not size > error:
            return f"the difference of {size:.3f} is not larger than {against}, so they count as equal"
        often = "which is rarely due to chance" if size >= CLEAR * error else "which is often due to chance"
        return f"the difference of {size:.3f} is {size / error:.1f} times {against}, {often}"


def say_best(measure: str, standings: Mapping[str, Standing], best_by_log_score: str, *, clear: bool) -> str:
    """Describe the best of the methods, in this order, and its difference to ours; clear : if it beats the mean."""
    best, other, *_ = standings.values()
    mean, by_score = standings["mean"], standings[best_by_log_score].method
    if not clear:
        named = "" if best == mean else f", {best}"
        return (
            f"No method predicts clearly better than {mean.method.label} ({measure} {mean.number}{named}): the "
            "texts do not explain the response, or there are too few of them to show it."
        )
    method, is_best = best.method, by_score.verb("is", "are")
    other_view = "" if by_score == method else f" (by the log score {by_score.label} {is_best} best)"
    begin = f"{method.named} {method.verb('predicts', 'predict')} best{other_view}: {measure} {best.number}"
    if method.name == OURS:
        return f"{begin}, and {other.method.label}, the next, {other.number}; {other.difference}."
    return f"{begin}, and {standings[OURS]}; {best.difference}."


def say_gain(standings: Mapping[str, Standing], *, text_tells: bool) -> str:
    """Describe what ours gives in addition to predictions; text_tells : True if ours clearly beats the mean."""
    own = standings[OURS].method
    if not text_tells:
        mean = standings["mean"].method
        return (
            f"{own.named} {own.verb('is', 'are')} not clearly better than {mean.label} here, so do not interpret what "
            f"{own.verb('it shows', 'they show')} about the response."
        )
    rival = next(standing.method for name, standing in standings.items() if name != OURS)
    gives = f"{own.label} {own.verb('gives', 'give')} {own.gives}"
    return f"In addition to predictions, {gives}; {rival.label} gives {rival.gives}."


@dataclass(frozen=True)
class Metric:
    """A measure of skill: name of its columns, label in sentences, sign 1 if larger is better, -1 if smaller is."""

    name: str
    label: str
    sign: int


R2, AUC, ACCURACY = Metric("r2", "R2", 1), Metric("auc", "AUC", 1), Metric("accuracy", "accuracy", 1)
LOG_SCORE, LOG_LOSS = Metric("log_score", "log score", -1), Metric("log_score", "log loss", -1)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions for all texts by fits that held each out: mean as of `Outcome`, and (texts,) log scores."""

    method: Method
    mean: Vector
    log_scores: Vector


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of our model with simpler ones on the same folds.

    family : of the response, with the scale of all texts; families : the one chosen in each fold.
    given, numbers : (texts,) original responses, and as numbers.
    rows : (texts,) their rows in the input, from 1; folds : (texts,) the fold that held each out.
    units : (texts,) numbers of the units that are held out together; predicted : by the name of each method.
    """

    family: Family
    families: tuple[str, ...]
    given: NDArray[Any]
    numbers: Vector
    rows: Rows
    folds: Rows
    units: Rows
    predicted: Mapping[str, Predicted]

    @property
    def measures(self) -> tuple[Metric, Metric]:
        """R2 of numbers, AUC of two values or accuracy of classes; and the log score, called log loss for classes."""
        if self.family.n_predictors > 1:
            return ACCURACY, LOG_LOSS
        return (AUC, LOG_LOSS) if self.family.name == "bernoulli" else (R2, LOG_SCORE)

    @property
    def leading(self) -> Metric:
        """The measure that methods are ordered by: R2 of numbers, else the log loss."""
        return R2 if R2 in self.measures else LOG_LOSS

    def estimate(self, name: str, measure: Metric, rows: Flags | slice = slice(None)) -> Estimate:
        """A method by one measure, on all texts or some of them."""
        predicted = self.predicted[name]
        if measure.name == LOG_SCORE.name:
            return mean_of(predicted.log_scores[rows])
        if measure == R2:
            return r2_of(self.numbers[rows], predicted.mean[rows])
        codes = self.family.encode(self.given[rows])
        if measure == AUC:
            return auc_of(codes == 1, predicted.mean[rows], self.folds[rows])
        return mean_of((predicted.mean[rows].argmax(axis=1) == codes).astype(float))

    def standing(self, name: str, measure: Metric) -> Standing:
        """A method by one measure, compared with ours."""
        estimate = self.estimate(name, measure)
        difference = estimate - self.estimate(OURS, measure)
        method = self.predicted[name].method
        return Standing(method, estimate.value, difference.value, difference.std_error(self.units))

    @cached_property
    def table(self) -> pd.DataFrame:
        """Table with one row per method, the best by the leading measure first.

        Columns: method; for both measures its value, the difference to ours (method less ours) and its standard error,
        paired over texts or groups; folds_better (the number that beat ours, by the leading measure); described.
        """
        rows = []
        for name, predicted in self.predicted.items():
            row: dict[str, object] = {"method": name}
            for measure in self.measures:
                standing = self.standing(name, measure)
                row[measure.name] = standing.value
                row[f"{measure.name}_difference"] = standing.ahead
                row[f"{measure.name}_std_error"] = standing.std_error
            ahead = self._by_fold(name) - self._by_fold(OURS)
            row["folds_better"] = int(np.sum(self.leading.sign * ahead > 0))
            rows.append(row | {"described": predicted.method.described})
        ascending = self.leading.sign < 0
        return pd.DataFrame(rows).sort_values(self.leading.name, ascending=ascending, kind="stable", ignore_index=True)

    def _by_fold(self, name: str) -> Vector:
        """(folds,) leading measure of a method in each fold."""
        folds = range(len(self.families))
        return np.array([self.estimate(name, self.leading, self.folds == fold).value for fold in folds])

    @cached_property
    def sentences(self) -> tuple[str, str]:
        """Sentences on the best method, and on what ours gives in addition to predictions."""
        leading = self.leading
        standings = {name: self.standing(name, leading) for name in self.table["method"]}
        label = leading.label if leading.sign > 0 else f"{leading.label} (less is better)"
        best, best_by_log_score = next(iter(standings)), self.table.set_index("method")["log_score"].idxmin()
        return (
            say_best(label, standings, best_by_log_score, clear=self._beats_the_mean(best)),
            say_gain(standings, text_tells=self._beats_the_mean(OURS)),
        )

    def _beats_the_mean(self, name: str) -> bool:
        """True if a method is significantly better than the mean."""
        difference = self.estimate(name, self.leading) - self.estimate("mean", self.leading)
        return self.leading.sign * difference.value > CLEAR * difference.std_error(self.units)

    @property
    def caution(self) -> str:
        """Caution about the standard errors, "" if there is none."""
        n_units = np.unique(self.units).size
        return f"There are only {n_units} groups, so that standard errors are rough." if n_units < FEW_UNITS else ""

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Table of texts: row, fold, response, and each method's prediction by a fit that held the text out."""
        table = pd.DataFrame({"row": self.rows, "fold": self.folds + 1, "response": self.given})
        for name, predicted in self.predicted.items():
            mean = predicted.mean
            table[name] = self.family.levels[mean.argmax(axis=1)] if mean.ndim > 1 else mean
        return table

    def __str__(self) -> str:
        shown = self.table.drop(columns="described").to_string(index=False, float_format="{:.3f}".format)
        return "\n".join(line for line in [shown, *self.sentences, self.caution] if line)

    def write(self, folder: Path) -> None:
        """Write compare.csv, predictions.csv and summary.txt into a folder."""
        write_csv(self.table, folder / "compare.csv")
        write_csv(self.predictions, folder / "predictions.csv", float_format="%.8g")
        (folder / "summary.txt").write_text(f"{self}\n", encoding="utf-8")


def compare_methods(
    model: Any,
    texts: Iterable[str] | SentenceTexts,
    responses: ArrayLike,
    folds: int,
    groups: ArrayLike | None,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> Comparison:
    """Compare a model, which is neither fitted nor changed, with simpler methods; see `workflow.compare`."""
    if model.formula is not None:
        raise InputError(f"formula={model.formula!r}: compare does not support covariates; remove the formula")
    if getattr(model.family, "name", model.family) == "proportion":
        raise InputError(
            "compare takes scales, two values, counts, any numbers and classes, but not shares (family='proportion'), "
            "whose weights it does not support"
        )
    check_number("folds", folds, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    tokens, n_folds = model.tokenise(texts), int(folds)
    observed = parts.scale_of(model.options).observe(tokens, responses)
    column, clusters = response_column(len(tokens), responses), check_groups(groups, len(tokens))
    rows = _usable(observed, n_folds)
    model, family = _with_scale(model, observed.at(rows))
    kept, numbers = tokens.at(rows), observed.responses[rows]
    units = kept.first_copies() if clusters is None else clusters[rows]
    n_units = np.unique(units).size
    if n_units < n_folds:
        what = "different texts" if clusters is None else "groups"
        raise InputError(f"there are {n_units} {what}, and folds={n_folds} need at least as many; give fewer folds")
    words = tokenised(kept.texts)
    given = column[rows] if family.has_text else numbers
    compared = ComparedTexts(kept, words, count_ngrams(words), given, numbers, units)
    of_texts = fold_numbers(units, numbers, n_folds, int(seed))
    _check_training(numbers, of_texts, family)
    splits = [compared.split(of_texts == fold, int(seed)) for fold in range(n_folds)]
    methods = [OUR_METHOD, *METHODS]
    if family.n_predictors > 1:
        methods = [replace(method, label=method.of_classes) for method in methods if method.of_classes]
    outcomes = _outcomes(splits, methods, model, n_jobs, progress)
    joined = (_joined(method, splits, of_splits) for method, of_splits in zip(methods, outcomes, strict=True))
    families = tuple(outcome.family.name for outcome in outcomes[0])
    predicted = {predicted.method.name: predicted for predicted in joined}
    return Comparison(family, families, given, numbers, rows + 1, of_texts, units, predicted)


def _outcomes(
    splits: Sequence[Split], methods: Sequence[Method], model: Any, n_jobs: int | None, progress: Progress | None
) -> list[list[Outcome]]:
    """Predictions of each method for each split; ours first, whose family the others take."""
    done, lock = Counter[str](), Lock()

    def fitted(method: Method, number: int, family: Family | None) -> Outcome:
        outcome = method.fit(splits[number], family, model)
        with lock:
            done[method.name] += 1
            if progress is not None:
                progress(method.name, done[method.name], len(splits))
        return outcome

    (ours, *others), numbers = methods, range(len(splits))
    with LocalEngine(n_jobs) as engine, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the lasso, at penalties that are not chosen
        first = engine.map(lambda number: fitted(ours, number, None), numbers)
        tasks = [(method, number, first[number].family) for method in others for number in numbers]
        outcomes = [*first, *engine.map(lambda task: fitted(*task), tasks)]
    return [outcomes[start : start + len(splits)] for start in range(0, len(outcomes), len(splits))]


def _joined(method: Method, splits: Sequence[Split], outcomes: Sequence[Outcome]) -> Predicted:
    """Predictions for all texts, in their order."""
    order = np.argsort(np.concatenate([split.test for split in splits]))
    scores = [
        outcome.family.log_scores(split.documents.given[split.test], outcome.eta)
        for split, outcome in zip(splits, outcomes, strict=True)
    ]
    mean = np.concatenate([outcome.mean for outcome in outcomes])[order]
    return Predicted(method, mean, np.concatenate(scores)[order])


def _with_scale(model: Any, observed: Observed) -> tuple[Any, Family]:
    """The model with the scale, or classes, of all responses, as a fold may lack some; and the simplest family."""
    if observed.family is not None and observed.family.has_text:
        family = observed.family
    elif isinstance(model.family, str) and model.family == AUTO:
        family = candidates(observed.responses, model.levels).families[0]
        if isinstance(family, Binomial):
            model = clone(model).set_params(levels=(family.levels[0], family.levels[-1], family.step))
        return model, family
    else:
        family = as_family(model.family, model.levels).learn(observed.responses)
    return clone(model).set_params(family=family, levels=None), family


def _usable(observed: Observed, n_folds: int) -> Rows:
    """Rows with a response; raise if they are too few, or responses are constant."""
    rows = np.flatnonzero(~np.isnan(observed.responses))
    if rows.size < FEWEST_OF_FOLD * n_folds:
        raise InputError(
            f"{rows.size:,} texts have a response, and folds={n_folds} need at least {FEWEST_OF_FOLD * n_folds}; give "
            "more texts, or fewer folds"
        )
    if np.ptp(observed.responses[rows]) == 0:
        raise constant_response(observed.responses[rows[0]])
    return rows


def _check_training(numbers: Vector, folds: Rows, family: Family) -> None:
    """Raise if the texts outside a fold are too little to learn from."""
    of_classes = family.n_predictors > 1
    if of_classes and family.n_predictors >= MOST_CLASSES:
        raise InputError(
            f"the response is of {family.n_predictors + 1} classes without an order; compare takes up to {MOST_CLASSES}"
        )
    values = np.unique(numbers)
    for fold in np.unique(folds):
        learnt = np.unique(numbers[folds != fold])
        missing = np.setdiff1d(values, learnt)
        if of_classes and missing.size:
            label = family.levels[family.numbers == missing[0]][0]
            raise InputError(
                f"all texts of the class {label!r} are held out together, so it cannot be learnt; remove the class"
            )
        if learnt.size < 2:
            raise InputError(
                f"without fold {fold + 1} all responses are {learnt[0]:g}, so there is nothing to learn; give fewer "
                "folds, or more texts"
            )
