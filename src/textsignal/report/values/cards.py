"""What a report says of every topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textsignal.insight.drivers import driver_table, topics_of, with_words
from textsignal.insight.naming import Naming
from textsignal.reading.labels import unique_labels
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.beside_data import GroupTable, Timeline
from textsignal.report.values.data import Floats, QuoteGroup, ReportedModel, ReportSettings, TopicCard
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.evidence import document_quotes
from textsignal.report.values.sentence_quotes import sentence_quotes, word_contributions
from textsignal.report.values.stability import topic_stability
from textsignal.report.values.wording import one_line

#: Terms on a card.
CARD_TERMS = 15
Quotes = Callable[[int], tuple[QuoteGroup, ...]]


def topic_cards(model: ReportedModel, documents: ReportTexts, settings: ReportSettings) -> list[TopicCard]:
    """One card per topic, the largest lift first."""
    reader = model.reader_
    table = with_words(reader, driver_table(documents.spoken), model.labels_, CARD_TERMS)
    described = topics_of(reader, model.labels_, 1).set_index("topic")
    stability = topic_stability(model, documents.reading)
    names = unique_labels(table["label"].map(one_line).tolist())
    cards = [
        _card(row, names[row["topic"]], described.loc[row["topic"]], documents, reader, stability[row["topic"]])
        for row in table.to_dict("records")
    ]
    cards.sort(key=lambda card: -card.lift)
    if not settings.with_texts:
        return cards
    quotes = _quotes(reader, documents, settings.naming)
    return [replace(card, evidence=quotes(card.number)) for card in cards]


def cards_beside(cards: Sequence[TopicCard], groups: GroupTable | None, timeline: Timeline | None) -> list[TopicCard]:
    """Cards, in the same order, with what groups and time say of their topics."""
    told = list(cards)
    if groups is not None:
        told = [replace(card, worst=of.worst, best=of.best) for card, of in zip(told, groups.topics, strict=True)]
    if timeline is not None:
        told = [
            replace(card, trend=f"{line.trend}; {line.reached}") if line.trend else card
            for card, line in zip(told, timeline.lines, strict=True)
        ]
    return told


def _card(
    row: dict[str, Any], label: str, described: Any, documents: ReportTexts, reader: Reader, stability: float | None
) -> TopicCard:
    """Card without evidence; row : of the table of drivers; described : of the table of topics."""
    spoken = documents.spoken.spoken[:, row["topic"]]
    here, elsewhere = documents.responses[spoken], documents.responses[~spoken]
    return TopicCard(
        number=int(row["topic"]),
        label=label,
        terms=tuple(map(one_line, row["terms"])),
        reach=float(row["reach"]),
        share=float(row["share"]),
        spoken=int(spoken.sum()),
        mean_response=_mean(here),
        mean_elsewhere=_mean(elsewhere),
        well=float(np.nan_to_num(row["well"])),
        badly=float(np.nan_to_num(row["badly"])),
        raises=tuple(map(one_line, row.get("raises", ()))),
        lowers=tuple(map(one_line, row.get("lowers", ()))),
        lift=float(row["lift"]),
        worth=float(row["worth"]),
        coherence=float(described["coherence"]),
        effect=float(described["effect"]) if "effect" in described else None,
        prevalence=float(described["prevalence"]) if "prevalence" in described else None,
        spoken_responses=() if _mean(here) is None else documents.bins.bars(here),
        elsewhere_responses=documents.bins.bars(elsewhere),
        stability=stability,
        evidence=None,
    )


def _mean(responses: Floats) -> float | None:
    """Mean of the responses that are there."""
    known = responses[~np.isnan(responses)]
    return float(known.mean()) if known.size else None


def _quotes(reader: Reader, documents: ReportTexts, naming: Naming) -> Quotes:
    """What gives the quotes of a topic: documents for topics on a matrix, sentences for themes."""
    if isinstance(reader, MatrixReader):
        return lambda topic: document_quotes(reader, documents, topic, naming.response)
    assert isinstance(reader, ThemeReader)
    assert documents.reading.sentences is not None
    added = word_contributions(reader.fitted, documents.reading.sentences)
    return lambda topic: sentence_quotes(reader, documents, topic, added, naming)
