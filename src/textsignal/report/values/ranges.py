"""What a report says of ranges: those of every card, what they are, and when something is called clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from textsignal.insight.naming import MEASURES, Naming, percent, with_clear
from textsignal.report.values.data import ReportSettings, TopicCard
from textsignal.uncertainty.effect_table import EffectTable, with_intervals

#: Why numbers and the middles of their ranges are not the same.
SHRUNK = {
    "theme": (
        "A number need not be in the middle of its range, and may even be outside: numbers are the model's, drawn "
        "towards what all themes have in common so that chance moves them less; ranges are of each theme by itself, "
        "corrected for what tone misses."
    ),
    "topic": (
        "A number need not be in the middle of its range: numbers are those of this model, ranges those of models that "
        "were learnt anew from samples of the texts and judged by texts that they had not seen."
    ),
}


@dataclass(frozen=True)
class Ranges:
    """What ranges are.

    level : such as .95; said : what they are, when something is called clear, and what they take for granted.
    note : why a number need not be in the middle of its range; "" where all are.
    method : how they were got, for those who know statistics.
    """

    level: float
    said: tuple[str, ...]
    note: str
    method: str


def cards_with_ranges(cards: Sequence[TopicCard], effects: EffectTable | None) -> list[TopicCard]:
    """Cards with the ranges of what they cost and bring; as they are where none were asked for."""
    if effects is None:
        return list(cards)
    table = pd.DataFrame({"topic": [card.number for card in cards], **dict.fromkeys(MEASURES, np.nan)})
    table = with_clear(with_intervals(table, effects), effects.frame, effects.level)
    found = table.drop(columns=["topic", *MEASURES]).astype(object)
    rows = found.where(found.notna(), None).to_dict("records")
    return [replace(card, **row) for card, row in zip(cards, rows, strict=True)]


def ranges_of(
    cards: Sequence[TopicCard], effects: EffectTable | None, settings: ReportSettings, noun: str
) -> Ranges | None:
    """What is said of ranges; None where none were asked for."""
    if effects is None:
        return None
    share, chance = percent(effects.level), percent(1 - effects.level)
    said = [
        f"Ranges in brackets are {share} confidence intervals, each {noun} by itself: were such texts gathered again "
        f"and again, {share} of ranges made like this would hold the true value.",
        f"What a {noun} costs or brings is marked “not clear” where it cannot be told from nothing with all "
        f"{len(cards)} {noun}s judged together (Holm’s correction): the chance that any {noun} is wrongly said to cost "
        f"something is at most {chance}, and the same holds for bringing something.",
    ]
    if settings.within:
        said.append(f"Texts of the same {settings.within.replace('_', ' ')} are taken to depend on each other.")
    if noun == "theme":
        known = any(card.stability is not None for card in cards)
        firm = "“comes back” on the cards says" if known else "model.stability() says"
        said.append(f"Ranges take the themes as they are; {firm} how firm these are.")
    differs = _differs(cards, effects, settings.naming)
    return Ranges(effects.level, tuple(said), SHRUNK[noun] if differs else "", f"{share}. {effects.method}")


def _differs(cards: Sequence[TopicCard], effects: EffectTable, naming: Naming) -> bool:
    """Whether a number, as it is written, differs from the estimate that its range is around."""
    for name in MEASURES:
        estimates = effects.of(name).set_index("topic")["estimate"]
        for card in cards:
            centre = estimates.loc[card.number]
            if not np.isnan(centre) and naming.points(centre) != naming.points(getattr(card, name)):
                return True
    return False
