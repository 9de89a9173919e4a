"""From a table of texts and several responses to a fitted model, its held-out skill and its files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from textsignal.data.read import held_texts, kept_columns
from textsignal.data.roles import beside_texts
from textsignal.data.write import write_csv
from textsignal.errors import InputError, RowsError
from textsignal.families.auto import AUTO
from textsignal.insight.findings import with_lists_as_text
from textsignal.insight.naming import Naming
from textsignal.report.values.comparisons import page_names, responses_beside
from textsignal.report.values.data import ReportSettings
from textsignal.several import TextResponsesModel, stacked
from textsignal.workflow.analyse import Analysis, analysis_of, without_nan
from textsignal.workflow.used import range_of, response_in, use_rows

#: Columns of documents.csv that differ between responses.
OF_EACH = ("response", "prediction", "unseen_prediction")


@dataclass(frozen=True)
class Analyses:
    """A fitted model of several responses, and the analysis of each.

    noun : "response" or "class".
    """

    noun: ClassVar[str] = "response"

    model: TextResponsesModel
    of_each: Mapping[str, Analysis]

    def write(self, folder: Path, report: ReportSettings | None = None) -> None:
        """Write model/, themes.csv, responses.csv, documents.csv, summary.json and a page for each response.

        With groups, drivers.csv too.
        """
        self.save(folder / "model")
        themes = {name: each.themes() for name, each in self.of_each.items()}
        write_csv(stacked(themes, self.noun), folder / "themes.csv")
        table = self.model.compare()
        write_csv(_flat(table, self.noun), folder / "responses.csv")
        if drivers := {name: each.drivers for name, each in self.of_each.items() if each.drivers is not None}:
            write_csv(with_lists_as_text(stacked(drivers, self.noun)), folder / "drivers.csv")
        write_csv(self.documents(), folder / "documents.csv", float_format="%.8g")
        text = json.dumps(self.summary(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        beside = responses_beside(table, {name: each.model.naming_ for name, each in self.of_each.items()}, self.noun)
        for name, each in self.of_each.items():
            settings = replace(report or ReportSettings(), responses=beside[name])
            each.write_report(folder / self.pages[name], settings)

    @property
    def pages(self) -> dict[str, str]:
        """File of each response's page."""
        return page_names(list(self.of_each))

    def save(self, folder: Path) -> None:
        """Write the model."""
        self.model.save(folder)

    def summary(self) -> dict[str, Any]:
        """Return the contents of summary.json."""
        return {"responses": {name: without_nan(asdict(each.summary)) for name, each in self.of_each.items()}}

    def documents(self) -> pd.DataFrame:
        """Return one row per document; columns that differ between responses end in the response's name."""
        first = next(iter(self.of_each.values())).documents
        own = {
            f"{measure}_{name}": each.documents[measure] for name, each in self.of_each.items() for measure in OF_EACH
        }
        rest = first.drop(columns=["row", *OF_EACH])
        return pd.concat([first[["row"]], pd.DataFrame(own), rest], axis=1)


def analyse_several(
    table: pd.DataFrame,
    *,
    text: str,
    responses: Sequence[str],
    model: TextResponsesModel,
    levels: tuple[int, int] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    by: str | None = None,
    over: str | None = None,
    unit: str | None = None,
    lower_is_better: bool = False,
    covariates: Sequence[str] = (),
    weights: str | None = None,
) -> Analyses:
    """Fit `model` to a table, holding out a share of its rows to measure skill, as `analyse` does for one response.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> table["good"] = table["rating"] > 3
    >>> model = TextResponsesModel(n_themes=5)
    >>> analyses = analyse_several(table, text="review", responses=["rating", "good"], model=model)
    >>> [each.summary.held_out.documents for each in analyses.of_each.values()]
    [60, 60]
    """
    if twice := [name for number, name in enumerate(responses) if name in responses[:number]]:
        raise InputError(f"response={twice[0]!r} is named twice")
    families = model.family if isinstance(model.family, Mapping) else dict.fromkeys(responses, model.family)
    asked = {name: families.get(name, "auto") for name in responses}
    parsed = {name: response_in(table, name, family, most=2) for name, family in asked.items()}
    for name, family in asked.items():
        if family == AUTO and parsed[name].n_labels:
            labels = f"response {name!r} holds {parsed[name].n_labels:,} different texts"
            raise InputError(f"{labels}; with other responses it may hold two, so fit it alone")
    ranges = {name: levels or range_of(parsed[name], family) for name, family in asked.items()}
    used = use_rows(
        table,
        parsed,
        text=text,
        tokenise=model.tokenise,
        ranges=ranges,
        beside=beside_texts(table, covariates, model.formula, None, weights, learn=True),
        holdout=holdout,
        seed=seed,
        on_bad_rows=on_bad_rows,
        by=by,
        over=over,
    )
    for name, single in model.unfitted(responses).items():
        try:
            used.check(single, parsed[name])
        except InputError as error:
            raise InputError(f"response {name!r}: {error}") from error
    training, values = used.beside.at(~used.held_out), {name: parsed[name].given[used.rows] for name in responses}
    with RowsError.among(used.rows[~used.held_out]):
        model.fit(
            used.tokens.at(np.flatnonzero(~used.held_out)),
            pd.DataFrame(values)[~used.held_out],
            training.weight,
            covariates=training.covariates,
        )
    with RowsError.among(used.rows):
        readings = model.read(used.tokens, covariates=used.beside.covariates)
    of_each = {}
    for name, single in model.models_.items():
        single.naming_ = Naming.of(single.family_, name, unit, single.naming_.given, lower_is_better)
        of_each[name] = analysis_of(single, readings[name], used, parsed[name])
    return Analyses(model, of_each)


def predict_several(
    model: TextResponsesModel, table: pd.DataFrame, text: str, *, keep: str | Sequence[str] = ()
) -> pd.DataFrame:
    """Return predictions of all responses for a table's texts, one row per text: nothing is dropped.

    Columns: row (from 1), the table's columns to `keep`, unknown, and for each response its prediction, level and
    probabilities of levels as in `predict_table`, with the response's name: prediction_stars, p_stars_5.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> responses = pd.DataFrame({"stars": reviews.ratings, "good": reviews.ratings > 3})
    >>> model = TextResponsesModel(n_themes=5).fit(reviews.texts, responses)
    >>> list(predict_several(model, pd.DataFrame({"review": ["Friendly staff."]}), "review"))[:4]
    ['row', 'unknown', 'prediction_stars', 'level_stars']
    """
    texts = held_texts(table, text)
    first = next(iter(model.models_.values()))
    names = () if first.design_ is None else first.design_.covariates
    of_each = model.predictions(texts, covariates=beside_texts(table, names).covariates)
    columns: dict[str, Any] = {"row": np.arange(1, len(texts) + 1), "unknown": next(iter(of_each.values())).unknown}
    for name, predictions in of_each.items():
        columns[f"prediction_{name}"] = predictions.mean
        if hasattr(predictions.family, "levels"):
            columns[f"level_{name}"] = predictions.level()
        columns |= {f"p_{name}_{level}": chances for level, chances in predictions.by_level.items()}
    made = pd.DataFrame(columns)
    kept = kept_columns(table, keep).reset_index(drop=True)
    if twice := [name for name in kept.columns if name in made.columns]:
        raise InputError(f"column {twice[0]!r} cannot be kept: predictions have one of that name; rename it")
    return pd.concat([made[["row"]], kept, made.drop(columns="row")], axis=1)


def split_of(documents: pd.DataFrame, response: str) -> pd.DataFrame:
    """Return the documents.csv of a fit for one response, with it in the column `response`."""
    return documents.rename(columns={f"response_{response}": "response"})


def _flat(compared: pd.DataFrame, noun: str) -> pd.DataFrame:
    """Return one row per theme and response."""
    names = compared["cost"].columns
    return stacked({name: compared.xs(name, level="response", axis=1).reset_index() for name in names}, noun)
