"""From a fitted model and its documents to everything a report says."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal import evaluate
from textsignal.errors import InputError
from textsignal.figures.palette import topic_colors
from textsignal.report.values.browser import browser_model
from textsignal.report.values.data import (
    CloudWord,
    DocumentsSummary,
    FittedModel,
    Floats,
    Prediction,
    ReportData,
    ReportSettings,
    TopicCard,
)
from textsignal.report.values.documents import Documents, describe_documents
from textsignal.report.values.evidence import TEXT_CAP, evidence_of
from textsignal.report.values.headline import headline
from textsignal.report.values.numbers import length_bars, response_bars, response_effects, sizes
from textsignal.report.values.skill import prediction_of
from textsignal.report.values.wording import COMMON, RARER, one_line, region, visible
from textsignal.topics.reading import Reading
from textsignal.topics.table import unique_labels

#: Terms on a card and in the word cloud.
CARD_TERMS, CLOUD_TERMS = 15, 80
LIBRARIES = ("textsignal", "numpy", "scipy", "scikit-learn", "altair", "vl-convert-python")


def prepare(
    model: FittedModel,
    reading: Reading,
    responses: ArrayLike,
    held_out: ArrayLike | None = None,
    settings: ReportSettings | None = None,
) -> ReportData:
    """Compute all that a report says.

    Parameters
    ----------
    model : a fitted TextResponseModel.
    reading : the documents as the model reads them, those of training and others.
    responses : (documents,) NaN where there is no response.
    held_out : (documents,) which of them training has not seen; None where it has seen all.
    settings : title, names and what to leave out.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_topics=4).fit(reviews.texts, reviews.ratings)
    >>> report = prepare(model, model.read(reviews.texts), reviews.ratings)
    >>> len(report.topics), report.levels
    (4, (1, 2, 3, 4, 5))
    """
    settings = _plain(settings or ReportSettings())
    answers, unseen = _checked(model, reading, responses, held_out)
    documents = describe_documents(model, reading, answers, unseen)
    topics = _topics(model, documents)
    if settings.with_texts:
        topics = [replace(topic, evidence=evidence_of(model, documents, topic.number)) for topic in topics]
    prediction = prediction_of(documents, model.estimator_.family_)
    summary = _summary(model, documents, settings.dropped)
    rare, common = _shares(len(topics))
    return ReportData(
        title=settings.title or f"What moves {settings.subject}",
        response_name=settings.response_name,
        subject=settings.subject,
        unit=settings.unit,
        levels=tuple(int(level) for level in model.estimator_.levels_),
        expected=_expected(model),
        with_texts=settings.with_texts,
        text_cap=TEXT_CAP,
        headline=headline(topics, summary, prediction, settings, common=common),
        warning=_warning(prediction),
        topics=tuple(topics),
        rare=rare,
        common=common,
        strong=_strong(topics),
        prediction=prediction,
        browser=browser_model(model, model.estimator_.centred_effects),
        documents=summary,
        settings=_model_settings(model),
        versions=(("Python", platform.python_version()), *((name, version(name)) for name in LIBRARIES)),
        command=settings.command,
    )


def _plain(settings: ReportSettings) -> ReportSettings:
    """The settings with nothing in them that cannot be shown."""
    return replace(
        settings,
        title=one_line(settings.title),
        response_name=one_line(settings.response_name),
        unit=one_line(settings.unit),
        dropped=one_line(settings.dropped),
        command=visible(settings.command),
    )


def _expected(model: FittedModel) -> float:
    """Expected response of the average text."""
    fitted = model.estimator_.fitted_
    return float(fitted.family.mean(fitted.linear_predictor(fitted.mean_weights[None]))[0])


def _checked(
    model: FittedModel, reading: Reading, responses: ArrayLike, held_out: ArrayLike | None
) -> tuple[Floats, NDArray[np.bool_]]:
    n = len(reading.texts)
    answers = np.asarray(responses, dtype=float)
    if answers.shape != (n,):
        raise InputError(f"{n:,} texts, but {answers.size:,} responses; give one for each text")
    if not n:
        raise InputError("a report needs at least one text")
    model.estimator_.family_.encode(answers)
    unseen = np.zeros(n, dtype=bool) if held_out is None else np.asarray(held_out, dtype=bool)
    if unseen.shape != answers.shape:
        raise InputError(f"{n:,} texts, but held_out has {unseen.size:,} flags; give one for each text")
    return answers, unseen


def _shares(n_topics: int) -> tuple[float, float]:
    """Shares of all text up to which a topic is rarer, and from which it is common."""
    return RARER / n_topics, COMMON / n_topics


def _warning(prediction: Prediction | None) -> str | None:
    """Why the skill of training must not be believed."""
    if prediction is None:
        return None
    ours = prediction.rows[0]
    if ours.training is None or ours.held_out is None:
        return None
    return evaluate.overfit_warning(ours.training.r2, ours.held_out.r2, ours.held_out.documents)


def _topics(model: FittedModel, documents: Documents) -> list[TopicCard]:
    """Topics without evidence, largest effect on the response first."""
    table = model.topics(CARD_TERMS)
    centred, family = model.estimator_.centred_effects, model.estimator_.family_
    change = response_effects(
        family,
        model.estimator_.intercept_,
        centred.effects + centred.centre,
        model.estimator_.mean_weights_ * centred.size,
        model.estimator_.inference.smoothing,
    )
    colors = topic_colors(len(table))
    names = _unique(table)
    topics = []
    for row in table.itertuples():
        led = documents.responses[documents.leader == row.topic]
        answered = bool((~np.isnan(led)).any())
        topic = TopicCard(
            number=int(row.topic),
            label=names[row.topic],
            color=colors[row.topic],
            region="",
            terms=tuple(map(one_line, row.terms)),
            effect=float(row.effect),
            response_effect=float(change[row.topic]),
            interval=None,
            prevalence=float(row.prevalence),
            coherence=float(row.coherence),
            led=led.size,
            led_mean=float(np.nanmean(led)) if answered else None,
            led_responses=response_bars(led, family.levels) if answered else (),
            evidence=None,
        )
        topics.append(topic)
    strong = _strong(topics)
    rare, common = _shares(len(topics))
    placed = [
        replace(
            topic,
            region=region(topic.prevalence, topic.response_effect, rare=rare, common=common, strong=strong),
        )
        for topic in topics
    ]
    return sorted(placed, key=lambda topic: -abs(topic.response_effect))


def _strong(topics: Sequence[TopicCard]) -> float:
    """Mean absolute effect on the response: from here on a topic is strong."""
    return float(np.mean([abs(topic.response_effect) for topic in topics]))


def _unique(table: pd.DataFrame) -> dict[int, str]:
    """Labels by topic number; one that occurs twice gets the number behind it."""
    return dict(enumerate(unique_labels(table.sort_values("topic")["label"].map(one_line).tolist())))


def _summary(model: FittedModel, documents: Documents, dropped: str) -> DocumentsSummary:
    held_out = int(documents.held_out.sum())
    answered = bool((~np.isnan(documents.responses)).any())
    return DocumentsSummary(
        documents=documents.responses.size,
        training=documents.responses.size - held_out,
        held_out=held_out,
        without_response=int(np.isnan(documents.responses).sum()),
        without_known_term=int(documents.unknown.sum()),
        dropped=dropped,
        terms=len(model.vectorizer_.terms_),
        median_words=float(np.median(documents.reading.n_words)),
        mean_response=float(np.nanmean(documents.responses)) if answered else None,
        responses=response_bars(documents.responses, model.estimator_.family_.levels),
        lengths=length_bars(documents.reading.n_words),
        cloud=_cloud(model, documents),
    )


def _cloud(model: FittedModel, documents: Documents) -> tuple[CloudWord, ...]:
    """The terms in most documents, in the order of the alphabet, each with the topic that it mostly comes from."""
    n_documents = np.bincount(documents.reading.X.indices, minlength=len(model.vectorizer_.terms_))
    most = np.argsort(-n_documents, kind="stable")[:CLOUD_TERMS]
    most = most[n_documents[most] > 0]
    if not most.size:
        return ()
    counts = n_documents[most]
    parts = model.estimator_.mean_weights_[:, None] * model.estimator_.components_[:, most]
    words = [
        CloudWord(one_line(str(model.vectorizer_.terms_[j])), int(count), int(topic), int(size))
        for j, count, topic, size in zip(most, counts, parts.argmax(axis=0), sizes(counts), strict=True)
    ]
    return tuple(sorted(words, key=lambda word: word.term))


def _model_settings(model: FittedModel) -> tuple[tuple[str, str], ...]:
    vectorizer, estimator = model.vectorizer_, model.estimator_
    settings = {
        "Topics": f"{len(estimator.components_)}",
        "Estimator": repr(estimator),
        "Text": repr(vectorizer),
        "Response family": repr(estimator.family_),
        "Training texts": f"{model.n_documents_:,}",
        "Iterations": f"{estimator.n_iter_:,}, stopped: {estimator.stop_reason_}",
    }
    return tuple((name, one_line(value)) for name, value in settings.items())
