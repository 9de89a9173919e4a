"""From a table of texts and responses to a fitted model, of themes or of topics, its skill and a folder of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textsignal import streaming
from textsignal.arrays import Flags, Rows, Vector
from textsignal.checks import check_choice
from textsignal.compute.engines import Engine
from textsignal.data.read import groups_of
from textsignal.data.roles import ModelInputs, Roles
from textsignal.data.rows import Dropping, ParsedResponse
from textsignal.data.source import Given, Source, read_batches
from textsignal.data.write import whole_table, write_csv
from textsignal.errors import InputError, RowsError
from textsignal.estimators.predictions import accuracy
from textsignal.evaluation import metrics as evaluate
from textsignal.families.responses import in_numbers, numbered
from textsignal.insight.drivers import DRIVER_TERMS, grouped_drivers, stacked, with_words
from textsignal.insight.findings import Drivers, finding_of, with_lists_as_text
from textsignal.insight.inputs import as_groups, as_times
from textsignal.insight.naming import Naming
from textsignal.model import TextResponseModel
from textsignal.reading.options import ResponseScale, scale_of, scales_of
from textsignal.reading.several import ClassReader
from textsignal.reading.themes import Reading
from textsignal.report.values.data import ReportSettings
from textsignal.text.tokens import SentenceTexts
from textsignal.topic_model import TopicModel
from textsignal.uncertainty.effects import EffectTable, with_intervals
from textsignal.workflow.clauses import FORMATS, clause_tables
from textsignal.workflow.rows import (
    BAD_ROWS,
    TableRows,
    check_holdout,
    check_intervals,
    clusters_of,
    hold_out,
    n_classes,
    range_of,
    responses_in,
    rows_to_fit,
    without_copies,
)

#: Lower bound of probabilities in the log loss, which would be infinite at 0.
LEAST_CHANCE = 1e-15


@dataclass(frozen=True)
class Skill:
    """Skill on the texts that have a response, compared with the training mean as prediction."""

    texts: int
    r2: float
    rmse: float
    mean_baseline_rmse: float


@dataclass(frozen=True)
class ClassSkill:
    """Skill of class predictions on the texts that have a class.

    accuracy : share predicted correctly; log_loss : mean of -log of the probability of the true class.
    frequency_accuracy, frequency_log_loss : of the class frequencies in training, regardless of the text.
    """

    texts: int
    accuracy: float
    log_loss: float
    frequency_accuracy: float
    frequency_log_loss: float


@dataclass(frozen=True)
class Summary:
    """Summary of a fit.

    dropped : problems of excluded rows; "" if none was excluded.
    without_response : training and held-out rows with a text but no response.
    without_known_term : rows whose text holds no term of the model; they get the mean shares.
    with_markup : rows whose text held HTML, which was removed.
    copies : rows with the same words as an earlier one; copies are on one side of the split.
    terms, themes : number of content terms, and of themes without the overall verdict.
    """

    rows: int
    dropped: str
    without_response: int
    without_known_term: int
    with_markup: int
    copies: int
    terms: int
    themes: int


@dataclass(frozen=True)
class FitSummary:
    """Summary of a fit for one response, or for one class against all others.

    response_read : how a response that is not numeric was read; "" if it is numeric.
    without_response : rows with a text but no response.
    levels : lowest and highest level of the response; None if it has no levels.
    made_of : name and value of the settings of the fit.
    train, held_out : skill; that on training rows is by out-of-fold tone.
    """

    response_read: str
    without_response: int
    levels: tuple[float, float] | None
    made_of: dict[str, str]
    train: Skill
    held_out: Skill | None

    @property
    def warning(self) -> str | None:
        """Warning if training skill is far above held-out skill."""
        if self.held_out is None:
            return None
        return evaluate.overfit_warning(self.train.r2, self.held_out.r2, self.held_out.texts)


@dataclass(frozen=True, eq=False)
class Part:
    """Results for one response, or for one class against all others.

    reading : of all rows; overall : drivers in all of them; drivers : in each group, None if not requested.
    effects : effects of themes with their intervals; None if not requested.
    """

    model: TextResponseModel
    summary: FitSummary
    reading: Reading
    overall: Drivers
    drivers: pd.DataFrame | None
    effects: EffectTable | None = None

    def themes(self) -> pd.DataFrame:
        """Return the table of themes, with a finding on each, and with intervals if requested."""
        rows: list[Any] = list(self.overall.itertuples(index=False))
        findings = {row.theme: finding_of(row, self.model.naming_) for row in rows}
        table = with_lists_as_text(self.model.themes())
        if self.effects is not None:
            table = with_intervals(table, self.effects)
        return table.assign(finding=table["theme"].map(findings))


@dataclass(frozen=True, eq=False)
class ClassResults:
    """Results for all classes together; counts : texts of each class; train, held_out : skill."""

    counts: dict[str, int]
    train: ClassSkill
    held_out: ClassSkill | None


@dataclass(frozen=True, eq=False)
class Analysis:
    """A fitted model, its summary, and the texts with shares, predictions and the held-out flag.

    parts : results by response or by class; by None for a single response. classes : None unless of classes.
    texts : one row per text, as texts.csv has them.
    """

    model: TextResponseModel
    columns: Roles
    summary: Summary
    parts: Mapping[Any, Part]
    texts: pd.DataFrame
    classes: ClassResults | None = None

    @property
    def only(self) -> Part:
        """The results for the only response."""
        (part,) = self.parts.values()
        return part

    @property
    def noun(self) -> str:
        """Kind of the parts: "response" or "class"; "" for a single response."""
        return "" if None in self.parts else "response" if self.classes is None else "class"

    def write(self, folder: Path, settings: ReportSettings | None = None, clauses: str | None = "parquet") -> list[str]:
        """Write all files into `folder`: model, tables, summary, and a page for each response; return their names.

        clauses : format of the table of clauses, "parquet" or "csv"; None for no such table.
        """
        from textsignal.report.page.render import pages_of, write_pages  # charts are slow to import

        if clauses is not None:
            check_choice("clauses", clauses, FORMATS)
        self.model.save(folder / "model")
        write_csv(self._stacked({name: part.themes() for name, part in self.parts.items()}), folder / "themes.csv")
        drivers = {name: part.drivers for name, part in self.parts.items() if part.drivers is not None}
        if drivers:
            write_csv(with_lists_as_text(self._stacked(drivers)), folder / "drivers.csv")
        if self.noun:
            compared = self.model.compare()
            flat = {name: compared.xs(name, level="response", axis=1).reset_index() for name in self.parts}
            write_csv(stacked(flat, self.noun), folder / "responses.csv")
        write_csv(self.texts, folder / "texts.csv", float_format="%.8g")
        if clauses is not None:
            with whole_table(folder / f"clauses.{clauses}", force=False) as write:
                for table in self.clauses(with_texts=settings is None or settings.with_texts):
                    write(table)
        text = json.dumps(self.as_json(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "summary.json").write_text(text + "\n", encoding="utf-8")
        named = page_settings(settings, self.columns, self.summary.dropped)
        readings = [part.reading for part in self.parts.values()]
        write_pages(self.model, readings, folder, named, effects=None if self.noun else self.only.effects)
        tables = ["themes.csv", *(["responses.csv"] if self.noun else []), "texts.csv"]
        tables += [f"clauses.{clauses}"] * (clauses is not None) + ["summary.json"] + ["drivers.csv"] * bool(drivers)
        return ["model/", *tables, *pages_of(self.model).values()]

    def clauses(self, *, with_texts: bool = True) -> Iterator[pd.DataFrame]:
        """Yield the clauses of all texts, those of some texts at a time, by tone that has not seen their responses.

        Columns are as in `model.clauses`, but for the number of the text, which is its row in the table `texts`.
        with_texts : False to omit the column clause.
        """
        readings, rows = [part.reading for part in self.parts.values()], self.texts["row"].to_numpy()
        return clause_tables(self.model, readings, rows, unseen=True, with_texts=with_texts)

    def _stacked(self, tables: Mapping[Any, pd.DataFrame]) -> pd.DataFrame:
        return stacked(tables, self.noun) if self.noun else tables[None]

    def as_json(self) -> dict[str, Any]:
        """Return the contents of summary.json."""
        shared, each = asdict(self.summary), {name: asdict(part.summary) for name, part in self.parts.items()}
        if self.classes is not None:
            skill = asdict(self.classes)
            own = {name: {key: one[key] for key in ("made_of", "train", "held_out")} for name, one in each.items()}
            shared |= {"classes": skill.pop("counts")} | skill | {"each_against_others": own}
        else:
            shared |= each[None] if not self.noun else {"responses": each}
        return without_nan(shared)


def analyse(
    table: pd.DataFrame,
    columns: Roles,
    model: TextResponseModel,
    *,
    levels: tuple[int, int] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    unit: str | None = None,
    lower_is_better: bool = False,
    interval: float | None = None,
) -> Analysis:
    """Fit `model` to a table, holding back a share of its rows to measure skill.

    Parameters
    ----------
    table : one text per row.
    columns : names of the columns of texts, responses, covariates, and so on.
    model : fitted in place, to the rows not held out.
    levels : lowest and highest response allowed; None takes those that occur. If nearly all responses are whole
        numbers, the others are treated as mistakes, unless the model's family takes any numbers.
    holdout : share of rows held back; 0 for none.
    seed : of the split.
    on_bad_rows : "error", or "drop" to exclude empty texts and responses that cannot be used.
    unit : name of one step of the response, such as "stars"; None for a suitable default.
    lower_is_better : True if less of the response is better.
    interval : a level such as .95 for intervals of cost and gain; it takes as long as two or three fits.

    A row with a level of a category, or with a class, that no training row has is not held out. The model then knows
    all rows that were used, held out or not: its `drivers` are those of all, by tone that has not seen their responses.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> table = synthetic_reviews(300, seed=1).to_frame()
    >>> analysis = analyse(table, Roles("review", ("rating",)), TextResponseModel(n_themes=5))
    >>> analysis.only.summary.train.texts, analysis.only.summary.held_out.texts
    (240, 60)
    """
    names = columns.responses
    check_intervals(interval, columns.groups, columns.weights)
    check_holdout(holdout)
    scales = [scale_of(model.options)] if len(names) == 1 else scales_of(model.options, names)
    parsed = responses_in(table, names, scales)
    of_classes = n_classes(parsed[names[0]], scales[0]) > 2
    _check_parts(columns, of_classes, interval, unit, lower_is_better)
    rows = rows_to_fit(table, columns, scales, parsed, formula=model.formula, levels=levels, on_bad_rows=on_bad_rows)
    tokens = model.tokenise(rows.texts)
    first_copies = tokens.first_copies()
    held_out = hold_out(first_copies, holdout, seed, rows.inputs)
    answers = {name: each.given[rows.numbers] for name, each in parsed.items()}
    if of_classes:
        values = parsed[names[0]].values[rows.numbers]
        new = held_out & ~np.isnan(values) & ~np.isin(values, values[~held_out])
        held_out = without_copies(held_out, first_copies, new)
    responses = answers[names[0]] if len(names) == 1 else pd.DataFrame(answers)
    training = rows.inputs.at(~held_out)
    with RowsError.among(rows.numbers[~held_out]):
        model.fit(
            tokens.at(np.flatnonzero(~held_out)),
            responses[~held_out],
            training.weight,
            covariates=training.covariates,
            offset=training.added,
        )
    given = model.namings_[0].given
    families = [model.family_] if len(names) == 1 else [each.family_ for each in model.models.values()]
    model.namings_ = tuple(
        Naming.of(family, name, unit, given, lower_is_better or None)
        for family, name in zip(families, names, strict=True)
    )
    with RowsError.among(rows.numbers):
        return _analysis_of(model, tokens, responses, rows, columns, held_out, [*parsed.values()], interval)


def analyse_source(
    source: Given,
    columns: Roles,
    model: TextResponseModel,
    *,
    memory: str | int = streaming.MEMORY,
    folder: str | Path | None = None,
    engine: Engine | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    on_bad_rows: str = "error",
    unit: str | None = None,
    lower_is_better: bool = False,
    interval: float | None = None,
    progress: streaming.Progress = streaming.say_nothing,
) -> Analysis:
    """Fit `model` to a source, holding out a share of a random sample of its rows to measure skill.

    Tone is learnt from all rows but those held out and their copies; themes, and all results about them, from the rest
    of the sample.

    Parameters
    ----------
    source : as in `read_batches`: files, a pattern, a table, an Arrow dataset, tables; or a `Source`.
    columns : names of the columns; a source has no covariates and no offset.
    model : fitted in place.
    memory, folder, engine : as in `TextResponseModel.fit`.
    holdout, seed, unit, lower_is_better, interval : as in `analyse`, of the sample.
    on_bad_rows : "error", or "drop" to exclude empty texts and responses that cannot be used, of all rows; if the
        model has levels that are whole numbers, other responses too.
    progress : called with the name of a step, the amount done, and the total if known.
    """
    check_intervals(interval, columns.groups, columns.weights)
    check_holdout(holdout)
    check_choice("on_bad_rows", on_bad_rows, BAD_ROWS)
    scale = scale_of(model.options)
    batches = source if isinstance(source, Source) else read_batches(source, columns.by_column)
    dropping = Dropping(_whole_levels(scale)) if on_bad_rows == "drop" else None
    with streaming.read_to_fit(
        model.options,
        batches,
        columns,
        memory=memory,
        folder=folder,
        engine=engine,
        dropping=dropping,
        progress=progress,
    ) as read:
        read_rows, sample = read.found, read.found.sample
        with batches.counted():
            if dropping is not None and dropping.levels is None:
                _check_whole(read_rows.responses, scale)
            rows = _sampled_rows(read_rows, columns, len(batches.files))
        held_out = hold_out(sample.tokens.first_copies(), holdout, seed)
        model.take_source(read.fit(held_out), read_rows, columns.response, held_out)
    model.naming_ = Naming.of(model.family_, columns.response, unit, "", lower_is_better or None)
    parsed = ParsedResponse(sample.responses, np.zeros(len(sample), dtype=bool), sample.responses)
    analysis = _analysis_of(model, sample.tokens, parsed.given, rows, columns, held_out, [parsed], interval)
    return replace(analysis, texts=analysis.texts.assign(row=read_rows.drawn.rows + 1))


def _sampled_rows(read: streaming.Streamed, columns: Roles, n_files: int) -> TableRows:
    """Return the sample as rows to be analysed."""
    sample, n = read.sample, len(read.sample)
    weights = ParsedResponse(sample.weight, np.zeros(n, dtype=bool), sample.weight)
    groups = None if columns.by is None else groups_of(read.others, columns.by)
    if groups is not None:
        as_groups(groups, n)
    over_all = f"; rows count over all {n_files} files" if n_files > 1 else ""
    return TableRows(
        numbers=np.arange(n),
        dropped=f"{read.bad.describe()}{over_all}" if len(read.bad) else "",
        texts=[],
        inputs=ModelInputs(weights=None if columns.weights is None else weights),
        groups=groups,
        times=None if columns.over is None else as_times(read.others[columns.over], n, read.drawn.rows),
        clusters=clusters_of(read.others, columns.groups, np.arange(n), [sample.responses]),
    )


def _whole_levels(scale: ResponseScale) -> tuple[int, int] | None:
    """Return lowest and highest level, if all levels are whole numbers."""
    levels = np.asarray([] if scale.levels is None else scale.levels)
    if levels.shape != (2,) or levels.dtype.kind not in "iuf" or (levels % 1).any():
        return None
    return int(levels[0]), int(levels[1])


def _check_whole(responses: Vector, scale: ResponseScale) -> None:
    """Raise if a few responses are fractions, which only the whole source, not a batch, shows to be mistakes."""
    span = range_of(ParsedResponse(responses, np.isnan(responses), responses), scale.family)
    broken = np.flatnonzero(responses % 1 > 0)
    if span is not None and broken.size:
        row = broken[0]
        raise InputError(
            f"{broken.size:,} of {np.sum(~np.isnan(responses)):,} responses are not whole numbers (row {row + 1:,}: "
            f'{responses[row]:g}); on_bad_rows="drop" drops these from a source if the scale is given, such as '
            f'levels={span}; family="gaussian" takes any numbers'
        )


def _check_parts(
    columns: Roles, of_classes: bool, interval: float | None, unit: str | None, lower_is_better: bool
) -> None:
    """Raise if an option cannot be combined with several responses, or with classes."""
    if len(columns.responses) == 1 and not of_classes:
        return
    what = "classes" if of_classes else "several responses"
    if interval is not None:
        raise InputError(
            f"interval={interval} is for one response, not for {what}; remove it, and compute the intervals of one "
            "with `textsignal effects` or model.of(name).estimate_effects()"
        )
    unused: dict[str, object] = {"offset": columns.offset}
    if of_classes:  # shares of classes are in percentage points, and none of them is better
        unused |= {"unit": unit, "lower_is_better": lower_is_better or None}
    for name, value in unused.items():
        if value is not None:
            raise InputError(f"{name}={value!r} cannot be combined with {what}; remove it")


def _analysis_of(
    model: TextResponseModel,
    tokens: SentenceTexts,
    responses: Any,
    rows: TableRows,
    columns: Roles,
    held_out: Flags,
    parsed: list[ParsedResponse],
    interval: float | None,
) -> Analysis:
    """Summarise a model that was fitted to the rows not held out, and let it know all of them."""
    inputs = rows.inputs
    observed = model.observed(tokens, responses, inputs.weight, inputs.covariates, inputs.added)
    also: dict[str, Any] = {"groups": rows.groups, "times": rows.times, "held_out": held_out}
    readings = model.readings([replace(each, **also) for each in observed])
    model.know(readings)
    reader, parts = model.reader_, {}
    reads = parsed if len(parsed) == len(readings) else parsed * len(readings)
    for (name, one), reading, read in zip(model.models.items(), readings, reads, strict=True):
        parts[name if name is None else str(name)] = _part(one, reading, columns, read, rows.clusters, interval)
    classes, first = None, readings[0]
    texts = _texts_of(rows, first, {name: part.reading for name, part in parts.items()})
    if isinstance(reader, ClassReader):
        of_classes, classes = _classes_of(reader, readings, reader.family.encode(responses), held_out)
        # Columns from held_out on are the same for all classes.
        texts = pd.concat([texts[["row"]], of_classes, texts.loc[:, "held_out":]], axis=1)
    copies = tokens.first_copies() != np.arange(len(tokens))
    summary = Summary(
        rows=len(rows.numbers),
        dropped=rows.dropped,
        without_response=int(np.isnan(first.observed.responses).sum()),
        without_known_term=int(first.predictions.unknown.sum()),
        with_markup=tokens.n_cleaned,
        copies=int(copies.sum()),
        terms=len(model.terms_),
        themes=len(model.components_) - 1,
    )
    return Analysis(model, columns, summary, parts, texts, classes)


def _part(
    model: TextResponseModel,
    reading: Reading,
    columns: Roles,
    parsed: ParsedResponse,
    clusters: pd.Series | None,
    interval: float | None,
) -> Part:
    responses, mentions, held_out = reading.observed.responses, reading.mentions, reading.observed.unseen
    unseen = mentions.family.mean(mentions.eta)
    levels = np.asarray(getattr(model, "levels_", ())).tolist()
    summary = FitSummary(
        response_read=parsed.reading or numbered(model.family_),
        without_response=int(np.isnan(responses).sum()),
        levels=(levels[0], levels[-1]) if levels else None,
        made_of=model.reader_.described,  # type: ignore[union-attr]
        train=_skill(responses, unseen, ~held_out, ~held_out),
        held_out=_skill(responses, unseen, held_out, ~held_out) if held_out.any() else None,
    )

    def drivers(groups: pd.Series | None) -> pd.DataFrame:
        return with_words(model.reader_, grouped_drivers(mentions, groups), model.labels_, DRIVER_TERMS)  # type: ignore[arg-type]

    overall, effects = drivers(None), None
    if interval is not None:
        effects = model.effects_of(reading, groups=clusters, level=interval)
        overall = with_intervals(overall, effects)
    by_group = None if columns.by is None else drivers(reading.observed.groups)
    return Part(model, summary, reading, Drivers.of(overall, model.naming_), by_group, effects)


def _classes_of(
    reader: ClassReader, readings: list[Reading], codes: Vector, held_out: Flags
) -> tuple[pd.DataFrame, ClassResults]:
    """Return predictions of classes for every text, and their skill; codes : (texts,) NaN if missing."""
    family, names = reader.family, [str(label) for label in reader.labels]
    eta = reader.predictors([reading.predictions.eta for reading in readings])
    unseen = reader.predictors([reading.mentions.eta for reading in readings])
    known = ~np.isnan(codes)
    labels = np.full(len(codes), None, dtype=object)
    labels[known] = family.levels[codes[known].astype(np.int64)]
    columns = {
        "response": labels,
        "prediction": family.level(eta, "mode"),
        "unseen_prediction": family.level(unseen, "mode"),
    }
    chances = pd.DataFrame(family.mean(eta), columns=[f"p_{name}" for name in names])
    counts, means = {name: int(np.sum(codes == code)) for code, name in enumerate(names)}, family.mean(unseen)
    skill = [_class_skill(codes, means, flags, ~held_out) for flags in (~held_out, held_out)]
    together = ClassResults(counts, skill[0], skill[1] if held_out.any() else None)
    return pd.concat([pd.DataFrame(columns), chances], axis=1), together


def _class_skill(codes: Vector, chances: Vector, rows: Flags, training: Flags) -> ClassSkill:
    """Skill on some rows; codes : (rows,) numbers of classes; chances : (rows, classes)."""
    known = rows & ~np.isnan(codes)
    if not known.any():
        return ClassSkill(0, *[float("nan")] * 4)
    truth = codes[known].astype(np.int64)
    learnt = codes[training & ~np.isnan(codes)].astype(np.int64)
    frequencies = np.bincount(learnt, minlength=chances.shape[1]) / len(learnt)

    def measured(each: Vector) -> tuple[float, float]:
        of_truth = np.take_along_axis(each, truth[:, None], axis=1)
        return accuracy(truth, each.argmax(axis=1)), float(-np.log(np.maximum(of_truth, LEAST_CHANCE)).mean())

    return ClassSkill(len(truth), *measured(chances[known]), *measured(np.tile(frequencies, (len(truth), 1))))


def _skill(responses: Vector, predictions: Vector, rows: Flags, training: Flags) -> Skill:
    known = rows & ~np.isnan(responses)
    if not known.any():
        return Skill(0, *[float("nan")] * 3)
    y, predicted = responses[known], predictions[known]
    baseline = evaluate.rmse(y, np.full(len(y), np.nanmean(responses[training])))
    return Skill(len(y), evaluate.r2_score(y, predicted), evaluate.rmse(y, predicted), baseline)


def _texts_of(rows: TableRows, first: Reading, readings: Mapping[Any, Reading]) -> pd.DataFrame:
    """Return one row per text; columns that differ between responses end in the response's name."""
    columns: dict[str, Any] = {"row": rows.numbers + 1}
    for name, reading in readings.items():
        ending, mentions = "" if name is None else f"_{name}", reading.mentions
        columns[f"response{ending}"] = reading.observed.responses
        columns[f"prediction{ending}"] = reading.predictions.mean
        columns[f"unseen_prediction{ending}"] = mentions.family.mean(mentions.eta)
    columns |= {"held_out": first.observed.unseen, "unknown": first.predictions.unknown}
    return pd.DataFrame(columns | {f"theme_{k}": share for k, share in enumerate(first.predictions.weights.T)})


def page_settings(settings: ReportSettings | None, columns: Roles, dropped: str) -> ReportSettings:
    """Fill in a report's settings from the columns of a table."""
    filled = replace(settings or ReportSettings(), dropped=dropped, within=columns.groups or "")
    filled = replace(filled, group_name=columns.by) if columns.by else filled
    return replace(filled, time_name=columns.over) if columns.over else filled


def without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with None for NaN, which JSON cannot represent."""
    plain = {name: without_nan(value) if isinstance(value, dict) else value for name, value in values.items()}
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in plain.items()}


@dataclass(frozen=True, eq=False)
class TopicAnalysis:
    """A fitted model of topics and the rows of a table.

    dropped : problems of excluded rows, "" if there are none; rows : (texts,) their positions in the table.
    texts, responses : (texts,) NaN if missing; held_out : (texts,) True if not used in training.
    """

    model: TopicModel
    dropped: str
    rows: Rows
    texts: list[str]
    responses: Vector
    held_out: Flags

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
    _, first, copies = np.unique(texts, return_index=True, return_inverse=True)
    held_out = hold_out(first[copies], holdout, seed)
    model.fit(texts[~held_out].tolist(), answers[~held_out])
    responses = in_numbers(answers, model.family_)
    return TopicAnalysis(model, rows.dropped, rows.numbers, rows.texts, responses, held_out)
