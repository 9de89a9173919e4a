"""What methods came to on the same documents: a table, and two sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.data.write import write_csv
from textsignal.evaluation.scores import Estimate, auc_of, mean_of, r2_of
from textsignal.evaluation.wording import CLEAR, Party, Standing, say_best, say_worth
from textsignal.families import Family

#: Our model's name among methods.
OURS = "textsignal"


@dataclass(frozen=True)
class Measure:
    """name : of columns; label : for people; sign : 1 where more is better, -1 where less is."""

    name: str
    label: str
    sign: int


R2, AUC, ACCURACY = Measure("r2", "R2", 1), Measure("auc", "AUC", 1), Measure("accuracy", "accuracy", 1)
LOG_SCORE, LOG_LOSS = Measure("log_score", "log score", -1), Measure("log_score", "log loss", -1)
#: Standard errors over fewer units are rough.
FEW_UNITS = 20


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a method says of all documents, by fits that left each out.

    mean : (documents,) expected responses, or (documents, classes) the probability of each; log_scores : (documents,).
    """

    mean: Vector
    log_scores: Vector


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our model and simpler ones on the same folds.

    family : of the response, with the scale of all documents; families : the one that each fold took.
    given, numbers : (documents,) responses as they were given, and in numbers.
    rows : (documents,) their rows in what was given, from 1; folds : (documents,) the fold that left each out.
    units : (documents,) numbers of those that were left out together.
    predicted : by name of method; parties : what sentences say of each.
    described : what each method is.
    """

    family: Family
    families: tuple[str, ...]
    given: NDArray[Any]
    numbers: Vector
    rows: NDArray[np.int64]
    folds: NDArray[np.int64]
    units: NDArray[np.int64]
    predicted: Mapping[str, Predicted]
    parties: Mapping[str, Party]
    described: Mapping[str, str]

    @property
    def measures(self) -> tuple[Measure, Measure]:
        """R2 of numbers, AUC of two values, accuracy of classes; and the log score of all, the log loss of classes."""
        if self.family.n_predictors > 1:
            return ACCURACY, LOG_LOSS
        return (AUC, LOG_LOSS) if self.family.name == "bernoulli" else (R2, LOG_SCORE)

    @property
    def leading(self) -> Measure:
        """The measure that methods are ordered by: R2 of numbers, else the log loss, which minds every chance."""
        return R2 if R2 in self.measures else LOG_LOSS

    def estimate(self, name: str, measure: Measure, rows: NDArray[np.bool_] | slice = slice(None)) -> Estimate:
        """A method by one measure, on all documents or some of them."""
        said = self.predicted[name]
        if measure.name == LOG_SCORE.name:
            return mean_of(said.log_scores[rows])
        if measure == R2:
            return r2_of(self.numbers[rows], said.mean[rows])
        codes = self.family.encode(self.given[rows])
        if measure == AUC:
            return auc_of(codes == 1, said.mean[rows], self.folds[rows])
        return mean_of((said.mean[rows].argmax(axis=1) == codes).astype(float))

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method, the best by the leading measure first.

        Columns: method; for both measures its value, its difference to ours (method less ours) and the standard error
        of that, paired over documents, or over whole groups; folds_better (the number of folds in which the method is
        better than ours, by the leading measure); described.
        """
        found = []
        for name in self.predicted:
            row: dict[str, object] = {"method": name}
            for measure in self.measures:
                estimate = self.estimate(name, measure)
                difference = estimate - self.estimate(OURS, measure)
                row[measure.name] = estimate.value
                row[f"{measure.name}_difference"] = difference.value
                row[f"{measure.name}_std_error"] = difference.std_error(self.units)
            row["folds_better"] = self._folds_better(name)
            row["described"] = self.described[name]
            found.append(row)
        table = pd.DataFrame(found)
        order = np.argsort(-self.leading.sign * table[self.leading.name].to_numpy(), kind="stable")
        return table.iloc[order].reset_index(drop=True)

    def _folds_better(self, name: str) -> int:
        ahead = [
            self.estimate(name, self.leading, rows).value - self.estimate(OURS, self.leading, rows).value
            for rows in (self.folds == fold for fold in range(len(self.families)))
        ]
        return int(np.sum(self.leading.sign * np.array(ahead) > 0))

    @cached_property
    def sentences(self) -> tuple[str, str]:
        """Which method is best and whether that is more than chance; what ours gives beside predictions."""
        name, sign = self.leading.name, self.leading.sign
        columns = self.table[["method", name, f"{name}_difference", f"{name}_std_error"]].itertuples(index=False)
        standings = {method: Standing(value, sign * ahead, error) for method, value, ahead, error in columns}
        best_by_log_score = str(self.table["method"].iloc[int(np.argmin(self.table["log_score"]))])
        best = next(iter(standings))
        label = self.leading.label if sign > 0 else f"{self.leading.label} (less is better)"
        return (
            say_best(label, standings, self.parties, OURS, best_by_log_score, clear=self._beats_the_mean(best)),
            say_worth(standings, self.parties, OURS, text_tells=self._beats_the_mean(OURS)),
        )

    def _beats_the_mean(self, name: str) -> bool:
        """Whether a method is better than the mean by more than chance gives."""
        difference = self.estimate(name, self.leading) - self.estimate("mean", self.leading)
        return self.leading.sign * difference.value > CLEAR * difference.std_error(self.units)

    @property
    def caution(self) -> str:
        """What to mind of the standard errors, "" where there is nothing."""
        n_units = np.unique(self.units).size
        return f"There are only {n_units} groups, so that standard errors are rough." if n_units < FEW_UNITS else ""

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row per document: row, fold, response, and what each method predicts by a fit that left it out."""
        table = pd.DataFrame({"row": self.rows, "fold": self.folds + 1, "response": self.given})
        for name, said in self.predicted.items():
            of_classes = said.mean.ndim > 1
            table[name] = self.family.levels[said.mean.argmax(axis=1)] if of_classes else said.mean
        return table

    def __str__(self) -> str:
        shown = self.table.drop(columns="described").to_string(index=False, float_format="{:.3f}".format)
        return "\n".join(line for line in [shown, *self.sentences, self.caution] if line)

    def write(self, folder: Path) -> None:
        """Write compare.csv, predictions.csv and summary.txt into a folder."""
        write_csv(self.table, folder / "compare.csv")
        write_csv(self.predictions, folder / "predictions.csv", float_format="%.8g")
        (folder / "summary.txt").write_text(f"{self}\n", encoding="utf-8")
