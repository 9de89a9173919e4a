"""From a table of texts and responses to a model of the paper's topics, its held-out skill and a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.data.roles import Roles
from textsignal.data.write import write_csv
from textsignal.families.responses import in_numbers
from textsignal.insight.findings import with_lists_as_text
from textsignal.reading.options import ResponseScale
from textsignal.topic_model import TopicModel
from textsignal.workflow.rows import check_holdout, hold_out, responses_in, rows_to_fit


@dataclass(frozen=True, eq=False)
class TopicAnalysis:
    """A fitted model of topics and the rows of a table.

    dropped : problems of excluded rows, "" if there are none; rows : (texts,) their positions in the table.
    texts, responses : (texts,) NaN if missing; held_out : (texts,) True if not used in training.
    """

    model: TopicModel
    dropped: str
    rows: NDArray[np.int64]
    texts: list[str]
    responses: Vector
    held_out: NDArray[np.bool_]

    def write(self, folder: Path) -> None:
        """Write model/, topics.csv, texts.csv and report.html into `folder`."""
        self.model.save(folder / "model")
        write_csv(with_lists_as_text(self.model.topics()), folder / "topics.csv")
        predictions = self.model.predictions(self.texts)
        columns: dict[str, Any] = {"row": self.rows + 1, "response": self.responses, "prediction": predictions.mean}
        columns |= {"held_out": self.held_out, "unknown": predictions.unknown}
        weights = {f"topic_{k}": weight for k, weight in enumerate(predictions.weights.T)}
        write_csv(pd.DataFrame(columns | weights), folder / "texts.csv", float_format="%.8g")
        self.model.report(folder / "report.html", texts=self.texts, responses=self.responses, held_out=self.held_out)


def analyse_topics(
    table: pd.DataFrame,
    columns: Roles,
    model: TopicModel,
    *,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
) -> TopicAnalysis:
    """Fit `model` to a table, holding back a share of its rows to measure skill, by the documented split."""
    check_holdout(holdout)
    scale = ResponseScale(getattr(model.estimator, "family", "binomial"), getattr(model.estimator, "levels", None))
    parsed = responses_in(table, columns.responses, [scale])
    rows = rows_to_fit(table, columns, [scale], parsed, on_bad_rows=on_bad_rows)
    texts, answers = np.array(rows.texts, dtype=object), parsed[columns.response].given[rows.numbers]
    _, first_copies = np.unique(texts, return_inverse=True)
    first_copies = pd.Series(np.arange(len(texts))).groupby(first_copies).transform("first").to_numpy()
    held_out = hold_out(first_copies, holdout, seed)
    model.fit(texts[~held_out].tolist(), answers[~held_out])
    responses = in_numbers(answers, model.family_)
    return TopicAnalysis(model, rows.dropped, rows.numbers, rows.texts, responses, held_out)
