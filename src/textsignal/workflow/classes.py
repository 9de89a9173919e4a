"""From a table of texts and classes without an order to a fitted model, its held-out skill and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.data.roles import beside_texts
from textsignal.data.rows import ParsedResponse
from textsignal.errors import InputError, RowsError
from textsignal.estimators.predictions import accuracy
from textsignal.insight.naming import Naming
from textsignal.model import TextResponseModel
from textsignal.reading import options as parts
from textsignal.reading.classes import ClassReader, class_responses
from textsignal.reading.themes import ThemeReader
from textsignal.several import TextResponsesModel
from textsignal.workflow.analyse import Analysis, analysis_of, without_nan
from textsignal.workflow.apply import is_class
from textsignal.workflow.several import Analyses
from textsignal.workflow.used import UsedRows, n_classes, response_in, use_rows

#: Lower bound of probabilities in the log loss, which would be infinite at 0.
LEAST_CHANCE = 1e-15
#: Fields of the summary that differ between classes.
OF_CLASS = ("levels", "response_read", "made_of", "train", "held_out")


@dataclass(frozen=True)
class ClassSkill:
    """Skill of class predictions on the documents that have a class.

    accuracy : share predicted correctly; log_loss : mean of -log of the probability of the true class.
    frequency_accuracy, frequency_log_loss : of the class frequencies in training, regardless of the text.
    """

    documents: int
    accuracy: float
    log_loss: float
    frequency_accuracy: float
    frequency_log_loss: float


@dataclass(frozen=True)
class ClassAnalyses(Analyses):
    """A fitted model of classes without an order, and the analysis of each class against all others.

    classifier : the model of all classes; classes : documents of each.
    rows : one per document, as documents.csv has them.
    train, held_out : skill; that on training rows is by out-of-fold tone.
    """

    noun: ClassVar[str] = "class"

    classifier: TextResponseModel
    classes: dict[str, int]
    rows: pd.DataFrame
    train: ClassSkill
    held_out: ClassSkill | None

    def save(self, folder: Path) -> None:
        """Write the model of all classes."""
        self.classifier.save(folder)

    def documents(self) -> pd.DataFrame:
        """Return one row per document: its class, the predicted class, and the probability of each."""
        return self.rows

    def summary(self) -> dict[str, Any]:
        """Return the contents of summary.json."""
        each = {name: asdict(one.summary) for name, one in self.of_each.items()}
        shared = {name: value for name, value in next(iter(each.values())).items() if name not in OF_CLASS}
        skill = {"train": asdict(self.train), "held_out": None if self.held_out is None else asdict(self.held_out)}
        own = {name: {part: one[part] for part in ("made_of", "train", "held_out")} for name, one in each.items()}
        return without_nan(shared | {"classes": self.classes} | skill | {"each_against_others": own})


def has_classes(table: pd.DataFrame, response: str, model: TextResponseModel) -> bool:
    """True if a column has three or more classes without an order, as `model` would read it."""
    return n_classes(response_in(table, response, model.family, model.levels), model.family, model.levels) > 2


def analyse_classes(
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    model: TextResponseModel,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    by: str | None = None,
    over: str | None = None,
    covariates: Sequence[str] = (),
    weights: str | None = None,
) -> ClassAnalyses:
    """Fit `model` to a table, holding out a share of its rows to measure skill, as `analyse` does for numbers.

    Rows of a class that no training row has are not held out.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> table["kind"] = ["bad" if y < 3 else "fair" if y < 5 else "good" for y in table["rating"]]
    >>> model = TextResponseModel(n_topics=5, n_jobs=1)
    >>> analyses = analyse_classes(table, text="review", response="kind", model=model)
    >>> list(analyses.of_each), analyses.held_out.documents
    (['bad', 'fair', 'good'], 60)
    """
    if parts.training_of(model) != "themes":
        raise InputError('three or more classes without an order are explained by themes; give training="themes"')
    parsed = response_in(table, response, model.family, model.levels)
    used = use_rows(
        table,
        {response: parsed},
        text=text,
        tokenise=model.tokenise,
        ranges={response: None},
        beside=beside_texts(table, covariates, model.formula, None, weights, learn=True),
        holdout=holdout,
        seed=seed,
        on_bad_rows=on_bad_rows,
        by=by,
        over=over,
    )
    used.check(model, parsed)
    used = _with_all_classes(used, parsed.values[used.rows])
    training, labels = used.beside.at(~used.held_out), parsed.given[used.rows]
    with RowsError.among(used.rows[~used.held_out]):
        model.fit(
            used.tokens.at(np.flatnonzero(~used.held_out)),
            labels[~used.held_out],
            training.weight,
            covariates=training.covariates,
        )
    model.naming_ = Naming.of(model.family_, response, given=model.naming_.given)
    return _analyses_of(model, used, parsed)


def _with_all_classes(used: UsedRows, values: Vector) -> UsedRows:
    """Return the rows with those in training whose class no training row has."""
    held_out = used.held_out
    new = held_out & ~np.isnan(values) & ~np.isin(values, values[~held_out])
    return replace(used, held_out=held_out & ~np.isin(used.first_copies, used.first_copies[new]))


def _analyses_of(model: TextResponseModel, used: UsedRows, parsed: ParsedResponse) -> ClassAnalyses:
    """Analyse a model that was fitted to the rows not held out, and let it know all of them."""
    reader, family = model.reader_, model.family_
    assert isinstance(reader, ClassReader)
    names = [str(label) for label in reader.classes]
    single = {name: model.of(label) for name, label in zip(names, reader.classes, strict=True)}
    together = TextResponsesModel.of(single)
    with RowsError.among(used.rows):
        readings = together.read(used.tokens, covariates=used.beside.covariates)
    of_each: dict[str, Analysis] = {}
    for (name, one), own in zip(single.items(), class_responses(family, parsed.given), strict=True):
        as_numbers = replace(parsed, values=own, labels=None)
        of_each[name] = analysis_of(one, readings[name], used, as_numbers)
    known = [one.reader_ for one in single.values()]
    model.reader_ = replace(reader, readers=tuple(each for each in known if isinstance(each, ThemeReader)))
    eta = reader.predictors([reading.predictions.eta for reading in readings.values()])
    unseen = reader.predictors([each.trained.eta for each in model.reader_.readers])
    codes, held_out = family.encode(parsed.given[used.rows]), used.held_out
    rest = next(iter(of_each.values())).documents.drop(columns=["row", "response", "prediction", "unseen_prediction"])
    known_class = ~np.isnan(codes)
    labels = np.full(len(codes), None, dtype=object)
    labels[known_class] = family.levels[codes[known_class].astype(np.int64)]
    columns = {
        "row": used.rows + 1,
        "response": labels,
        "prediction": family.level(eta, "mode"),
        "unseen_prediction": family.level(unseen, "mode"),
    }
    chances = pd.DataFrame(family.mean(eta), columns=[f"p_{name}" for name in names])
    counts = [int(np.sum(codes == code)) for code in range(len(names))]
    return ClassAnalyses(
        together,
        of_each,
        classifier=model,
        classes=dict(zip(names, counts, strict=True)),
        rows=pd.concat([pd.DataFrame(columns), chances, rest], axis=1),
        train=_skill(codes, family.mean(unseen), ~held_out, ~held_out),
        held_out=_skill(codes, family.mean(unseen), held_out, ~held_out) if held_out.any() else None,
    )


def _skill(codes: Vector, chances: Vector, rows: NDArray[np.bool_], training: NDArray[np.bool_]) -> ClassSkill:
    """Skill on some rows; codes : (rows,) numbers of classes; chances : (rows, classes)."""
    known = rows & ~np.isnan(codes)
    if not known.any():
        return ClassSkill(0, *[float("nan")] * 4)
    truth = codes[known].astype(np.int64)
    learnt = codes[training & ~np.isnan(codes)].astype(np.int64)
    frequencies = np.bincount(learnt, minlength=chances.shape[1]) / len(learnt)
    by_text, by_frequency = (
        (accuracy(truth, each.argmax(axis=1)), _log_loss(truth, each))
        for each in (chances[known], np.tile(frequencies, (len(truth), 1)))
    )
    return ClassSkill(len(truth), *by_text, *by_frequency)


def _log_loss(truth: NDArray[np.int64], chances: Vector) -> float:
    given = np.take_along_axis(chances, truth[:, None], axis=1)
    return float(-np.log(np.maximum(given, LEAST_CHANCE)).mean())


def split_of_class(documents: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the documents.csv of a fit for one class against all others: `response` is 1 or 0."""
    return documents.assign(response=is_class(documents["response"], name))
