"""What a report says of topics that other samples of the texts would have cut differently."""

from __future__ import annotations

from collections.abc import Sequence

from textsignal.reading.observed import Reading
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import ReportedModel, TopicCard
from textsignal.uncertainty.stability import quick_stability

#: Unstable topics that are named; from this share of all on, fewer of them are advised.
NAMED, MANY = 3, 1 / 3


def topic_stability(model: ReportedModel, reading: Reading) -> list[float | None]:
    """(topics,) share of quick refits in which each comes back; None for topics on a matrix and for other texts."""
    reader, n_topics = model.reader_, len(model.reader_.profiles)
    if not isinstance(reader, ThemeReader) or reading.sentences is None:
        return [None] * n_topics
    shares = quick_stability(reader, reading.sentences, model.seed_words)
    return [None] * n_topics if shares is None else shares.tolist()


def unstable(cards: Sequence[TopicCard]) -> str | None:
    """A warning that names the topics that are unstable, in the order of the cards; None where none is."""
    found = [f"“{card.label}”" for card in cards if card.unstable]
    if not found:
        return None
    named = found if len(found) <= NAMED + 1 else [*found[:NAMED], f"{len(found) - NAMED} more"]
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    verb, them = ("is", "it") if len(found) == 1 else ("are", "them")
    warning = f"{listed} {verb} cut differently in other samples of these texts: read {them} with care."
    return f"{warning} Fewer themes may be steadier." if len(found) >= MANY * len(cards) else warning
