"""Findings in sentences, what to fix first and what to keep: shared by page, terminal, notebooks and tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from textsignal.insight.naming import MEASURES, Naming, is_clear, range_of
from textsignal.text.features import NOT
from textsignal.text.tokenise import JUDGING

#: Most findings of each kind, and most words that one names.
TO_FIX, TO_KEEP, WORDS = 3, 2, 4
#: Change of the mean response below which a topic gives no finding.
NOTHING = 0.005
#: Words with this many first letters in common count as one: "room" and "rooms".
STEM = 4
_JUDGING = frozenset[str]().union(*JUDGING.values())
#: Formats of columns in tables for people.
FORMATS = {
    **dict.fromkeys(("effect", *MEASURES), "{:+.2f}"),
    **dict.fromkeys((f"{name}_{end}" for name in MEASURES for end in ("low", "high")), "{:+.2f}"),
    **dict.fromkeys(("reach", "share", "well", "badly"), "{:.0%}"),
    **dict.fromkeys(("coherence", "mean_response", "mean_elsewhere"), "{:.2f}"),
    "prevalence": "{:.1%}",
}
#: A row of a table of drivers, or an object with its attributes: label, reach, well, badly, lift, worth, mean_response
#: and mean_elsewhere (None or NaN without a response), for themes raises and lowers, and with ranges lift_low,
#: lift_high, lift_clear and likewise for worth.
Topic = Any


def to_fix(topics: Sequence[Topic], naming: Naming, n: int = TO_FIX) -> list[Topic]:
    """Return the topics with the largest lift: clear ones first; last those worth more, or with judging words only."""
    costly = [topic for topic in topics if topic.lift >= NOTHING]

    def rank(topic: Topic) -> tuple[bool, bool, float]:
        last = topic.worth > topic.lift or _only_judged(topic, sides(naming)[0])
        return not is_clear(topic, "lift"), last, -topic.lift

    return sorted(costly, key=rank)[:n]


def to_keep(topics: Sequence[Topic], fixed: Sequence[Topic], naming: Naming, n: int = TO_KEEP) -> list[Topic]:
    """Return the topics with the largest worth, except `fixed`: clear ones first; last those with judging words only.

    A topic may be both the strongest evidence against a class and for it, so classes have no exception.
    """
    excluded = [] if naming.is_class else fixed
    valued = [topic for topic in topics if topic.worth >= NOTHING and topic not in excluded]

    def rank(topic: Topic) -> tuple[bool, bool, float]:
        return not is_clear(topic, "worth"), _only_judged(topic, sides(naming)[1]), -topic.worth

    return sorted(valued, key=rank)[:n]


def titles_of(fixed: Sequence[Topic], kept: Sequence[Topic], naming: Naming) -> tuple[str, str]:
    """Return the headings of what to fix and what to keep; they state if none of the topics is clear."""
    first, second = (
        f"{title}: none of these is clear" if topics and not any(is_clear(topic, name) for topic in topics) else title
        for title, topics, name in zip(naming.titles, (fixed, kept), MEASURES, strict=True)
    )
    return first, second


def sides(naming: Naming) -> tuple[str, str]:
    """Return the columns of the words that harm, and of those that help."""
    return ("raises", "lowers") if naming.lower_is_better else ("lowers", "raises")


def _only_judged(topic: Topic, side: str) -> bool:
    return hasattr(topic, side) and not _telling(topic, getattr(topic, side))


def _telling(topic: Topic, words: Sequence[str]) -> list[str]:
    """Words that add to the label of a topic and do not only judge.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> _telling(SimpleNamespace(label="room, bed"), ["rooms", "worst", "not clean", "tiny"])
    ['not clean', 'tiny']
    """
    named = {word[:STEM] for word in topic.label.replace(",", " ").split()}

    def tells(words: list[str]) -> bool:
        return not (named & {word[:STEM] for word in words} or _JUDGING & set(words))

    return [word for word in words if tells(word.removeprefix(NOT).split())]


def cost_of(topic: Topic, naming: Naming) -> str:
    """Return the sentences that follow the name of a topic to fix."""
    words = getattr(topic, sides(naming)[0], ())
    change = _what_if(topic, "lift", naming.stances[0], naming.rise[0], naming)
    return f"{_mentions(topic, topic.badly, naming.ways[0], words, naming)} {change}"


def worth_of(topic: Topic, naming: Naming) -> str:
    """Return the sentences that follow the name of a topic to keep."""
    words = getattr(topic, sides(naming)[1], ())
    change = _what_if(topic, "worth", naming.stances[1], naming.rise[1], naming)
    return f"{_mentions(topic, topic.well, naming.ways[1], words, naming)} {change}"


def _what_if(topic: Topic, measure: str, kind: str, way: str, naming: Naming) -> str:
    change, span = naming.amount(getattr(topic, measure)), range_of(topic, measure)
    around, doubt = ("", "") if span is None else (f" ({span.written(naming)})", span.doubt)
    return f"If nothing {kind} were said of it, {naming.short_average} would be {change} {way}{around}.{doubt}"


def finding_of(topic: Topic, naming: Naming) -> str:
    """Return a topic in one or two sentences: its cost or its gain, whichever is larger."""
    if max(topic.lift, topic.worth) < NOTHING:
        return f"“{topic.label}”: {topic.reach:.0%} of texts speak of it. It does not move {naming.subject}."
    return f"“{topic.label}”{cost_of(topic, naming) if topic.lift >= topic.worth else worth_of(topic, naming)}"


def _mentions(topic: Topic, share: float, how: str, words: Sequence[str], naming: Naming) -> str:
    """Sentences on reach, tone and mean response of a topic."""
    telling = _telling(topic, words)[:WORDS]
    behind = f" ({', '.join(telling)})" if telling else ""
    mentions = f": {topic.reach:.0%} of texts speak of it, {share:.0%} of them {how}{behind}."
    here, elsewhere = topic.mean_response, topic.mean_elsewhere
    if here is None or elsewhere is None or np.isnan(here) or np.isnan(elsewhere):
        return mentions
    first, second = naming.mean(here, 1), naming.mean(elsewhere, 1)
    return (
        mentions
        if first == second
        else f"{mentions} Where it comes up, {naming.average} is {first} instead of {second}."
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of topics for people: rounded, and with lists as text."""
    columns = {
        name: table[name].map(FORMATS[name].format) if name in FORMATS else table[name] for name in table.columns
    }
    return with_lists_as_text(pd.DataFrame(columns))


class Drivers(pd.DataFrame):
    r"""A table of drivers with findings in sentences, what to fix first and what to keep; a notebook shows both.

    Operations on it, such as selecting rows, return an ordinary DataFrame.

    Examples
    --------
    >>> row = {"topic": 0, "label": "noise", "reach": 0.3, "well": 0.1, "badly": 0.5, "lift": 0.06, "worth": 0.01}
    >>> means = {"mean_response": 3.1, "mean_elsewhere": 4.0}
    >>> for finding in Drivers.of(pd.DataFrame([row | means]), Naming("rating", "stars")).findings().to_fix:
    ...     print(finding.replace(". ", ".\n"))
    “noise”: 30% of texts speak of it, 50% of them badly.
    Where it comes up, the average rating is 3.1 instead of 4.0.
    If nothing bad were said of it, the average would be 0.06 stars higher.
    """

    _metadata: ClassVar[list[str]] = ["naming"]
    naming: Naming

    @classmethod
    def of(cls, table: pd.DataFrame, naming: Naming) -> Drivers:
        """Return the table with the names of its response."""
        made = cls(table)
        made.attrs |= table.attrs
        made.naming = naming
        return made

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def findings(self) -> Found:
        """Return what to fix first and what to keep; empty for a table by group or class, or without lifts."""
        fixed, kept = self._found()
        return Found(
            tuple(f"“{topic.label}”{cost_of(topic, self.naming)}" for topic in fixed),
            tuple(f"“{topic.label}”{worth_of(topic, self.naming)}" for topic in kept),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """Headings of what to fix and what to keep."""
        return titles_of(*self._found(), self.naming)

    def _found(self) -> tuple[list[Topic], list[Topic]]:
        if {"group", "class"} & {*self.columns} or "lift" not in self.columns:
            return [], []
        topics: list[Any] = list(self.itertuples(index=False))
        fixed = to_fix(topics, self.naming)
        return fixed, to_keep(topics, fixed, self.naming)

    def _repr_html_(self) -> str:
        """Findings, and the table below them."""
        found = self.findings()
        lists = [
            f"<p><strong>{title}</strong></p><ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"
            for title, sentences in zip(self.titles, found, strict=True)
            if sentences
        ]
        condition = f"<p>{escape(self.naming.condition)}</p>" if self.naming.given else ""
        condition += f"<p>{escape(self.attrs['basis'])}</p>" if "basis" in self.attrs else ""
        return "".join(lists) + condition + str(shown(self).to_html(index=False, border=0))


class Found(NamedTuple):
    """Findings as sentences."""

    to_fix: tuple[str, ...]
    to_keep: tuple[str, ...]


def with_lists_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its lists of words joined by commas."""
    return table.map(lambda value: ", ".join(value) if isinstance(value, list) else value)
