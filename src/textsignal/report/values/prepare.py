"""From a fitted model and its documents to the content of a report."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups, as_times
from textsignal.insight.naming import Naming
from textsignal.reading.themes import Reading
from textsignal.report.values.browser import browser_model, check_n_documents, documents_to_browse
from textsignal.report.values.cards import TEXT_CAP, cards_with_ranges, ranges_of, theme_cards, with_comparisons
from textsignal.report.values.comparisons import group_table, other_responses, timeline
from textsignal.report.values.data import Floats, ReportData, ReportedModel, ReportSettings
from textsignal.report.values.documents import describe_documents, examples_of, summary_of
from textsignal.report.values.findings import findings, to_look_at
from textsignal.report.values.skill import prediction_of
from textsignal.report.values.wording import one_line, short_numbers, visible
from textsignal.uncertainty.effect_table import EffectTable

LIBRARIES = ("textsignal", "numpy", "scipy", "scikit-learn", "altair", "vl-convert-python")


def prepare(
    model: ReportedModel,
    reading: Reading,
    responses: ArrayLike,
    held_out: ArrayLike | None = None,
    settings: ReportSettings | None = None,
    *,
    groups: ArrayLike | pd.Series | None = None,
    times: ArrayLike | pd.Series | None = None,
    effects: EffectTable | None = None,
) -> ReportData:
    """Compute the content of a report.

    Parameters
    ----------
    model : a fitted TextResponseModel.
    reading : the documents as the model reads them, those of training and others.
    responses : (documents,) NaN if missing.
    held_out : (documents,) True if not used in training; None if all were.
    settings : title, names and what to include.
    groups, times : (documents,) the group and the date of each.
    effects : of the model on these documents, for ranges; None for a report without ranges.

    Returns
    -------
    The content of the page, without its looks.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_themes=4).fit(reviews.texts, reviews.ratings)
    >>> report = prepare(model, model.read(reviews.texts), reviews.ratings)
    >>> len(report.themes), report.levels
    (4, (1.0, 2.0, 3.0, 4.0, 5.0))
    """
    settings = _plain(settings or ReportSettings(), model.naming_)
    check_n_documents(settings.n_documents)
    answers, unseen = _checked(model, reading, responses, held_out)
    documents = describe_documents(
        model,
        reading,
        answers,
        unseen,
        None if groups is None else as_groups(groups, len(answers)),
        None if times is None else as_times(times, len(answers)),
    )
    documents = replace(documents, mask=settings.mask)
    cards = cards_with_ranges(theme_cards(model, documents, settings), effects)
    by_group, over_time = group_table(documents, cards, settings), timeline(documents, cards, settings)
    themes = with_comparisons(cards, by_group, over_time)
    prediction = prediction_of(documents, model.reader_.family)
    summary = summary_of(model, documents, settings.dropped)
    noun = "theme" if reading.clauses is None else "theme"
    ranges = ranges_of(themes, effects, settings, noun)
    return ReportData(
        title=settings.title or f"What moves {settings.naming.subject}",
        source=settings.source,
        made=_today(),
        version=version("textsignal"),
        naming=settings.naming,
        noun=noun,
        levels=tuple(documents.bins.levels.tolist()),
        bins=documents.bins,
        with_texts=settings.with_texts,
        text_cap=TEXT_CAP,
        findings=findings(
            themes, summary, prediction, settings, noun, one_line(f"{settings.basis} {model.reader_.basis}")
        ),
        themes=tuple(themes),
        groups=by_group,
        timeline=over_time,
        others=other_responses(settings.responses, themes),
        prediction=prediction,
        browser=browser_model(model.reader_, 0.0 if model.design_ is None else model.design_.offset or 0.0),
        given=one_line(model.naming_.condition),
        examples=examples_of(documents) if settings.with_texts else (),
        browse=documents_to_browse(model.reader_, documents, settings),
        documents=summary,
        checks=to_look_at(model, documents, themes, settings),
        ranges=ranges,
        settings=(*_model_settings(model, noun), *(() if ranges is None else (("Ranges", ranges.method),))),
        versions=(("Python", platform.python_version()), *((name, version(name)) for name in LIBRARIES)),
        command=settings.command,
    )


def _today() -> str:
    """Current day in UTC, or that of SOURCE_DATE_EPOCH: https://reproducible-builds.org."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d}"


def _plain(settings: ReportSettings, naming: Naming) -> ReportSettings:
    """Settings with the model's naming of the response, and without control characters."""
    return replace(
        settings,
        title=one_line(settings.title),
        response_name=one_line(settings.response_name),
        unit=one_line(settings.unit or naming.unit),
        event=one_line(naming.event),
        lower_is_better=naming.lower_is_better,
        is_class=naming.is_class,
        group_name=one_line(settings.group_name),
        time_name=one_line(settings.time_name),
        within=one_line(settings.within),
        source=one_line(settings.source),
        dropped=one_line(settings.dropped),
        command=visible(settings.command),
    )


def _checked(
    model: ReportedModel, reading: Reading, responses: ArrayLike, held_out: ArrayLike | None
) -> tuple[Floats, NDArray[np.bool_]]:
    n = len(reading.texts)
    answers = np.asarray(responses, dtype=float)
    if answers.shape != (n,):
        raise InputError(f"{n:,} texts, but {answers.size:,} responses; give one for each text")
    if not n:
        raise InputError("a report needs at least one text")
    model.reader_.family.encode(answers)
    unseen = np.zeros(n, dtype=bool) if held_out is None else np.asarray(held_out, dtype=bool)
    if unseen.shape != answers.shape:
        raise InputError(f"{n:,} texts, but held_out has {unseen.size:,} flags; give one for each text")
    return answers, unseen


def _model_settings(model: ReportedModel, noun: str) -> tuple[tuple[str, str], ...]:
    settings = {
        f"{noun.capitalize()}s": f"{len(model.reader_.profiles)}",
        **model.reader_.described,
        "Response family": short_numbers(repr(model.reader_.family)),
        "Training texts": f"{model.n_texts_:,}",
    }
    return tuple((name, one_line(value)) for name, value in settings.items())
