"""From a table of texts and responses to a fitted model, its held-out skill and a row for every document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.data.read import groups_of
from textsignal.data.roles import beside_texts
from textsignal.data.rows import ParsedResponse
from textsignal.data.write import write_csv
from textsignal.errors import InputError, RowsError
from textsignal.estimators import Predictions
from textsignal.evaluation import metrics as evaluate
from textsignal.families.responses import in_numbers, numbered
from textsignal.insight.drivers import DRIVER_TERMS, grouped_drivers, with_words
from textsignal.insight.findings import Drivers, finding_of, with_lists_as_text
from textsignal.insight.inputs import Times
from textsignal.insight.naming import Naming, check_interval
from textsignal.model import TextResponseModel
from textsignal.reading.observed import Reading
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import ReportSettings
from textsignal.uncertainty.effect_table import EffectTable, with_intervals
from textsignal.workflow.used import UsedRows, n_classes, range_of, response_in, use_rows

#: Minimum number of clusters for intervals.
FEWEST_GROUPS = 4


@dataclass(frozen=True)
class Skill:
    """Skill on the documents that have a response, compared with the training mean as prediction."""

    documents: int
    r2: float
    rmse: float
    mean_baseline_rmse: float


@dataclass(frozen=True)
class Summary:
    """Summary of a fit.

    dropped : problems of excluded rows; "" if none was excluded.
    response_read : how a response that is not numeric was read; "" if it is numeric.
    without_response : training and held-out rows with a text but no response.
    without_known_term : rows whose text holds no term of the model; they get the mean weights.
    with_markup : rows whose text held HTML, which was removed.
    copies : rows with the same words as an earlier one; copies are on one side of the split.
    levels : lowest and highest level of the response; None if it has no levels.
    made_of : name and value of the settings of the fit.
    train, held_out : skill; that of themes on training rows is by out-of-fold tone.
    """

    rows: int
    dropped: str
    response_read: str
    without_response: int
    without_known_term: int
    with_markup: int
    copies: int
    terms: int
    themes: int
    levels: tuple[float, float] | None
    made_of: dict[str, str]
    train: Skill
    held_out: Skill | None

    @property
    def warning(self) -> str | None:
        """Warning if training skill is far above held-out skill."""
        if self.held_out is None:
            return None
        return evaluate.overfit_warning(self.train.r2, self.held_out.r2, self.held_out.documents)


@dataclass(frozen=True)
class Analysis:
    """A fitted model, its summary, and the documents with weights, predictions and the held-out flag.

    reading : of the documents by the model; overall : drivers in all of them.
    by, drivers : the column of groups and the drivers in each; None if not requested.
    groups, times : (documents,) the group and the day of each; None if not requested.
    over : the column of dates.
    effects : effects of themes with their intervals; None if not requested. within : the column of clusters of
        dependent texts.
    """

    model: TextResponseModel
    summary: Summary
    documents: pd.DataFrame
    reading: Reading
    overall: Drivers
    by: str | None = None
    drivers: pd.DataFrame | None = None
    groups: pd.Series | None = None
    over: str | None = None
    times: Times | None = None
    effects: EffectTable | None = None
    within: str | None = None

    def write(self, folder: Path, report: ReportSettings | None = None) -> None:
        """Write model/, themes.csv, documents.csv, summary.json and report.html into `folder`; drivers.csv by group."""
        self.model.save(folder / "model")
        write_csv(self.themes(), folder / "themes.csv")
        if self.drivers is not None:
            write_csv(with_lists_as_text(self.drivers), folder / "drivers.csv")
        write_csv(self.documents, folder / "documents.csv", float_format="%.8g")
        text = json.dumps(without_nan(asdict(self.summary)), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        self.write_report(folder / "report.html", report)

    def write_report(self, file: Path, report: ReportSettings | None = None) -> None:
        """Write the page."""
        from textsignal.report.page.render import write_report  # charts are slow to import

        settings = filled_settings(report, self.model.naming_, self.summary.dropped, self.by, self.over, self.within)
        write_report(
            self.model,
            file,
            self.reading,
            self.documents["response"],
            self.documents["held_out"],
            settings,
            groups=self.groups,
            times=self.times,
            effects=self.effects,
        )

    def themes(self) -> pd.DataFrame:
        """Return the table of themes, with a finding on each, and with intervals if requested."""
        rows: list[Any] = list(self.overall.itertuples(index=False))
        findings = {row.theme: finding_of(row, self.model.naming_) for row in rows}
        table = with_lists_as_text(self.model.themes())
        if self.effects is not None:
            numbers = pd.DataFrame(self.overall).set_index("theme").filter(regex="^(cost|worth)").loc[table["theme"]]
            position = table.columns.get_loc("cost") if "cost" in table else len(table.columns)
            for step, name in enumerate(numbers.columns):
                table = table.drop(columns=name, errors="ignore")
                table.insert(position + step, name, numbers[name].to_numpy())
        return table.assign(finding=table["theme"].map(findings))


def analyse(
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    model: TextResponseModel,
    levels: tuple[int, int] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    by: str | None = None,
    over: str | None = None,
    unit: str | None = None,
    lower_is_better: bool = False,
    covariates: Sequence[str] = (),
    offset: str | None = None,
    weights: str | None = None,
    interval: float | None = None,
    groups: str | None = None,
) -> Analysis:
    """Fit `model` to a table, holding back a share of its rows to measure skill.

    Parameters
    ----------
    table : one document per row.
    text, response : names of the columns.
    model : fitted in place, to the rows not held out.
    levels : lowest and highest response allowed; None takes those that occur. If nearly all responses are whole
        numbers, the others are treated as mistakes, unless the model's family takes any numbers.
    holdout : share of rows held back; 0 for none.
    seed : of the split.
    on_bad_rows : "error", or "drop" to exclude empty texts and responses that cannot be used.
    by : column of groups with separate drivers.
    over : column of dates, for changes over time.
    unit : name of one step of the response, such as "stars"; None for a suitable default.
    lower_is_better : True if less of the response is better.
    covariates : columns of covariates; by default those of the model's formula.
    offset, weights : columns of the offset of linear predictors, and of the weight of each row.
    interval : a level such as .95 for intervals of cost and gain; it takes as long as two or three fits.
    groups : for the intervals: column of clusters of dependent texts.

    A row with a level of a category that no training row has is not held out. The model then knows all rows that were
    used, held out or not: its `drivers` are those of all, by tone that has not seen their responses.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> analysis = analyse(table, text="review", response="rating", model=TextResponseModel(n_themes=5))
    >>> analysis.summary.train.documents, analysis.summary.held_out.documents
    (240, 60)
    """
    check_ranges(interval, groups, weights)
    parsed = response_in(table, response, model.family, model.levels)
    if (found := n_classes(parsed, model.family, model.levels)) > 2:
        raise InputError(f"response {response!r} is of {found} classes without an order; analyse_classes takes these")
    beside = beside_texts(table, covariates, model.formula, offset, weights, learn=True)
    used = use_rows(
        table,
        {response: parsed},
        text=text,
        tokenise=model.tokenise,
        ranges={response: levels or range_of(parsed, model.family)},
        beside=beside,
        holdout=holdout,
        seed=seed,
        on_bad_rows=on_bad_rows,
        by=by,
        over=over,
    )
    used.check(model, parsed)
    clusters = clusters_of(table, groups, used.rows, parsed.values)
    training = used.beside.at(~used.held_out)
    with RowsError.among(used.rows[~used.held_out]):
        model.fit(
            used.tokens.at(np.flatnonzero(~used.held_out)),
            parsed.given[used.rows][~used.held_out],
            training.weight,
            covariates=training.covariates,
            offset=training.added,
        )
    model.naming_ = Naming.of(model.family_, response, unit, model.naming_.given, lower_is_better)
    with RowsError.among(used.rows):
        reading = model.read(used.tokens, covariates=used.beside.covariates, offset=used.beside.added)
    analysis = with_ranges(analysis_of(model, reading, used, parsed), used, interval, clusters)
    return replace(analysis, within=groups)


def with_ranges(
    analysis: Analysis, used: UsedRows, interval: float | None, clusters: pd.Series | None = None
) -> Analysis:
    """Add intervals of cost and gain to drivers, if a level is given.

    clusters : (documents,) of dependent texts.
    """
    if interval is None:
        return analysis
    model = analysis.model
    effects = model.estimate_effects(
        level=interval,
        groups=clusters,
        texts=used.tokens,
        responses=analysis.documents["response"],
        covariates=used.beside.covariates,
        offset=used.beside.added,
    )
    overall = with_intervals(pd.DataFrame(analysis.overall), effects)
    return replace(analysis, effects=effects, overall=Drivers.of(overall, model.naming_))


def analysis_of(model: TextResponseModel, reading: Reading, used: UsedRows, parsed: ParsedResponse) -> Analysis:
    """Summarise a model that was fitted to the rows not held out, and let it know all of them.

    reading : of all rows; parsed : the table's response.
    """
    responses = in_numbers(parsed.given[used.rows], model.family_)
    weight, held_out = used.beside.weight, used.held_out
    if isinstance(model.reader_, ThemeReader):
        model.reader_ = model.reader_.knowing(reading, responses, weight)
    predictions = reading.predictions
    spoken = model.reader_.spoken(reading, responses, weight).judged(model.naming_.better)
    unseen = spoken.family.mean(spoken.eta)
    summary = Summary(
        rows=len(used.rows),
        dropped=used.dropped,
        response_read=parsed.reading or numbered(model.family_),
        without_response=int(np.isnan(responses).sum()),
        without_known_term=int(predictions.unknown.sum()),
        with_markup=used.tokens.n_cleaned,
        copies=int(np.sum(used.first_copies != np.arange(len(used.rows)))),
        terms=len(model.terms_),
        themes=len(model.components_),
        levels=_ends(model),
        made_of=model.reader_.described,
        train=_skill(responses, unseen, ~held_out, ~held_out),
        held_out=_skill(responses, unseen, held_out, ~held_out) if held_out.any() else None,
    )

    def drivers(groups: pd.Series | None) -> pd.DataFrame:
        return with_words(model.reader_, grouped_drivers(spoken, groups), model.labels_, DRIVER_TERMS)

    return Analysis(
        model,
        summary,
        _documents(used.rows, responses, held_out, predictions, unseen),
        reading,
        Drivers.of(drivers(None), model.naming_),
        by=used.by,
        drivers=None if used.groups is None else drivers(used.groups),
        groups=used.groups,
        over=used.over,
        times=used.times,
    )


def check_ranges(interval: float | None, groups: str | None, weights: str | None = None) -> None:
    """Raise if the level of intervals is invalid, or intervals are not available."""
    check_interval(interval)
    if groups is not None and interval is None:
        raise InputError(f"groups={groups!r} are those of ranges; give interval=0.95 too")
    if weights is not None and interval is not None:
        raise InputError(
            f"interval={interval} cannot be had with weights={weights!r}: a report counts every row once; leave one out"
        )


def clusters_of(
    table: pd.DataFrame, name: str | None, rows: NDArray[np.int64], responses: NDArray[np.float64]
) -> pd.Series | None:
    """Return (rows,) clusters of dependent texts; None if not given.

    responses : of all rows of the table.
    """
    if name is None:
        return None
    found = groups_of(table, name, "groups").iloc[rows]
    answered = found[~np.isnan(responses[rows])]
    if answered.nunique() + int(answered.isna().sum()) < FEWEST_GROUPS:
        raise InputError(f"groups={name!r}: ranges need {FEWEST_GROUPS} or more groups of rows that have a response")
    return found


def filled_settings(
    report: ReportSettings | None,
    naming: Naming,
    dropped: str,
    by: str | None,
    over: str | None,
    within: str | None = None,
) -> ReportSettings:
    """Fill in a report's settings from a table."""
    settings = replace(report or ReportSettings(), response_name=naming.response, unit=naming.unit, dropped=dropped)
    settings = settings if within is None else replace(settings, within=within)
    settings = settings if by is None else replace(settings, group_name=by)
    return settings if over is None else replace(settings, time_name=over)


def _ends(model: TextResponseModel) -> tuple[float, float] | None:
    """Return lowest and highest level, if there are levels."""
    if not hasattr(model, "levels_"):
        return None
    low, high = np.asarray(model.levels_)[[0, -1]].tolist()
    return low, high


def _skill(
    responses: NDArray[np.float64],
    predictions: NDArray[np.float64],
    rows: NDArray[np.bool_],
    training: NDArray[np.bool_],
) -> Skill:
    known = rows & ~np.isnan(responses)
    if not known.any():
        return Skill(0, float("nan"), float("nan"), float("nan"))
    mean = np.full(int(known.sum()), np.nanmean(responses[training]))
    return Skill(
        documents=int(known.sum()),
        r2=evaluate.r2_score(responses[known], predictions[known]),
        rmse=evaluate.rmse(responses[known], predictions[known]),
        mean_baseline_rmse=evaluate.rmse(responses[known], mean),
    )


def _documents(
    rows: NDArray[np.int64],
    responses: NDArray[np.float64],
    held_out: NDArray[np.bool_],
    predictions: Predictions,
    unseen: NDArray[np.float64],
) -> pd.DataFrame:
    """Return one row per document. unseen : (documents,) predictions that have not seen the document, if available."""
    frame = pd.DataFrame(
        {
            "row": rows + 1,
            "response": responses,
            "prediction": predictions.mean,
            "unseen_prediction": unseen,
            "held_out": held_out,
            "unknown": predictions.unknown,
        }
    )
    weights: dict[str, Any] = {f"theme_{k}": column_ for k, column_ in enumerate(predictions.weights.T)}
    return pd.concat([frame, pd.DataFrame(weights)], axis=1)


def without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with None for NaN, which JSON cannot represent."""
    plain = {name: without_nan(value) if isinstance(value, dict) else value for name, value in values.items()}
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in plain.items()}
