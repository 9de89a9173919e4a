"""From a fitted model and its texts to the content of a report."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from textsignal.errors import InputError
from textsignal.insight.naming import Naming, percent
from textsignal.reading.themes import Reading
from textsignal.report.values.browser import MOST, Browse, browser_model, texts_to_browse
from textsignal.report.values.cards import ThemeCard, theme_cards
from textsignal.report.values.comparisons import GroupTable, OtherResponses, Timeline
from textsignal.report.values.data import ReportedModel, ReportSettings
from textsignal.report.values.findings import Findings, findings, to_look_at
from textsignal.report.values.skill import Prediction, prediction_of
from textsignal.report.values.texts import (
    Bins,
    ReportTexts,
    TextsSummary,
    baselines_of,
    bins_of,
    examples_of,
    summary_of,
)
from textsignal.report.values.wording import one_line, short_numbers, visible
from textsignal.training.judgement import Zone
from textsignal.uncertainty.checks import Finding
from textsignal.uncertainty.effects import EffectTable

LIBRARIES = ("textsignal", "numpy", "scipy", "scikit-learn", "altair", "vl-convert-python")


@dataclass(frozen=True)
class ReportData:
    """Content of a report, in the order of the page.

    settings : names, and what to include; made : day of the report; naming : names of the response; bins : of it.
    basis : a sentence on the texts that the model was fitted to; "" if they are all.
    findings : main results in sentences; ranges : level of intervals and its complement; None without intervals.
    themes : the largest cost first, the overall verdict last; zone : judgements of neutral mentions, in log-odds.
    groups, timeline : themes by group and over time; None without groups, without dates.
    others : themes by response; None if texts have only one.
    model : for predictions in the browser; None if the page cannot compute the response's family.
    examples : texts to try; browse : texts to look through; None if no texts are displayed.
    checks : problems beyond the warnings.
    model_settings : names and values of the model's settings; versions : of libraries.
    """

    settings: ReportSettings
    made: str
    naming: Naming
    bins: Bins
    basis: str
    findings: Findings
    ranges: tuple[str, str] | None
    themes: tuple[ThemeCard, ...]
    zone: Zone
    groups: GroupTable | None
    timeline: Timeline | None
    others: OtherResponses | None
    prediction: Prediction | None
    model: dict[str, Any] | None
    examples: tuple[str, ...]
    browse: Browse | None
    summary: TextsSummary
    checks: tuple[Finding, ...]
    model_settings: dict[str, str]
    versions: dict[str, str]

    @property
    def n_themes(self) -> int:
        """Number of themes, without the overall verdict."""
        return sum(not theme.is_overall for theme in self.themes)


def prepare(
    model: ReportedModel, reading: Reading, settings: ReportSettings | None = None, effects: EffectTable | None = None
) -> ReportData:
    """Compute the content of a report.

    reading : the texts as the model reads them, with their responses, groups, times and held-out flags.
    effects : of the model on these texts; None for a report without intervals.
    """
    reader, given = model.reader_, settings or ReportSettings()
    naming = replace(
        model.naming_,
        response=one_line(given.response_name or model.naming_.response),
        unit=one_line(given.unit or model.naming_.unit),
        event=one_line(model.naming_.event),
        given=one_line(model.naming_.given),
    )
    settings = _plain(given, naming)
    if not 0 <= settings.n_documents <= MOST:
        raise InputError(f"n_documents is {settings.n_documents:,}: a report can contain between 0 and {MOST:,} texts")
    if not len(reading.texts):
        raise InputError("a report needs at least one text")
    observed = reading.observed
    reader.family.encode(observed.responses)
    texts = ReportTexts(
        settings=settings,
        naming=naming,
        reading=replace(reading, better=naming.better),
        bins=bins_of(reader.family, observed.responses),
        mean=reading.predictions.mean,
        baselines=baselines_of(reading.X, observed.responses, observed.unseen),
    )
    themes = theme_cards(model, texts, effects)
    prediction, summary = prediction_of(texts), summary_of(reader, texts)
    described = {
        "Themes": f"{reader.fitted.n_themes}, and the overall verdict",
        **reader.described,
        "Response family": short_numbers(repr(reader.family)),
        "Training texts": f"{model.n_texts_:,}",
        **({} if effects is None else {"Intervals": f"{percent(effects.level)}. {effects.method}"}),
    }
    return ReportData(
        settings=settings,
        made=_today(),
        naming=naming,
        bins=texts.bins,
        basis=one_line(f"{settings.basis} {reader.fitted.basis}"),
        findings=findings(themes, summary, prediction, naming),
        ranges=None if effects is None else (percent(effects.level), percent(1 - effects.level)),
        themes=tuple(themes),
        zone=reader.fitted.words.zone,
        groups=GroupTable.of(texts),
        timeline=Timeline.of(texts),
        others=settings.responses,
        prediction=prediction,
        model=browser_model(reader, 0.0 if model.design_ is None else model.design_.offset or 0.0),
        examples=examples_of(texts) if settings.with_texts else (),
        browse=texts_to_browse(reader, texts),
        summary=summary,
        checks=to_look_at(reader, texts, themes),
        model_settings={name: one_line(value) for name, value in described.items()},
        versions={"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
    )


def _today() -> str:
    """Current day in UTC, or that of SOURCE_DATE_EPOCH: https://reproducible-builds.org."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d}"


def _plain(settings: ReportSettings, naming: Naming) -> ReportSettings:
    """Settings with a title, and without control characters."""
    names = ("group_name", "time_name", "within", "source", "dropped")
    plain: dict[str, Any] = {name: one_line(getattr(settings, name)) for name in names}
    return replace(
        settings,
        title=one_line(settings.title) or f"What moves {naming.subject}",
        command=visible(settings.command),
        **plain,
    )
