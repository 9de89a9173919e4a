"""What to fix first and what to keep, in sentences: the same on the page, on the terminal, in notebooks and tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from textsignal.insight.naming import Naming
from textsignal.insight.ranges import MEASURES, is_clear, range_of
from textsignal.insight.table import with_lists_as_text
from textsignal.text.features import NOT
from textsignal.text.word_lists import JUDGING

#: Findings at most, and words that one names.
TO_FIX, TO_KEEP, WORDS = 3, 2, 4
#: Share of a step in the response below which a topic is said to move nothing: no finding is made of it.
NOTHING = 0.005
#: Words with a common beginning of so many letters are one: "room" and "rooms".
STEM = 4
_JUDGING = frozenset[str]().union(*JUDGING.values())
#: How people are shown the columns of tables.
FORMATS = {
    **dict.fromkeys(("effect", *MEASURES), "{:+.2f}"),
    **dict.fromkeys((f"{name}_{end}" for name in MEASURES for end in ("low", "high")), "{:+.2f}"),
    **dict.fromkeys(("reach", "share", "well", "badly"), "{:.0%}"),
    **dict.fromkeys(("coherence", "mean_response", "mean_elsewhere"), "{:.2f}"),
    "prevalence": "{:.1%}",
}


#: A topic as findings see it: a row of a table of drivers, or what has its names: label, reach, well, badly, lift,
#: worth, mean_response and mean_elsewhere (None or NaN without a response), for themes raises and lowers, and where
#: ranges were asked for lift_low, lift_high, lift_clear and the same of worth.
Topic = Any


def to_fix(topics: Sequence[Topic], naming: Naming, n: int = TO_FIX) -> list[Topic]:
    """Topics that cost most, clear ones first; those that bring more, or are only judged to be bad, come last."""
    costly = [topic for topic in topics if topic.lift >= NOTHING]

    def rank(topic: Topic) -> tuple[bool, bool, float]:
        last = topic.worth > topic.lift or _only_judged(topic, sides(naming)[0])
        return not is_clear(topic, "lift"), last, -topic.lift

    return sorted(costly, key=rank)[:n]


def to_keep(topics: Sequence[Topic], fixed: Sequence[Topic], naming: Naming, n: int = TO_KEEP) -> list[Topic]:
    """Topics that bring most, clear ones first, but those to fix; those that are only judged to be good come last.

    What speaks against a class may also be what speaks for it most: nothing is fixed there.
    """
    left_out = [] if naming.is_class else fixed
    valued = [topic for topic in topics if topic.worth >= NOTHING and topic not in left_out]

    def rank(topic: Topic) -> tuple[bool, bool, float]:
        return not is_clear(topic, "worth"), _only_judged(topic, sides(naming)[1]), -topic.worth

    return sorted(valued, key=rank)[:n]


def titles_of(fixed: Sequence[Topic], kept: Sequence[Topic], naming: Naming) -> tuple[str, str]:
    """Above what to fix and what to keep: whether anything in it is clear."""
    found = zip(naming.titles, (fixed, kept), MEASURES, strict=True)
    first, second = (
        f"{title}: none of these is clear" if topics and not any(is_clear(topic, name) for topic in topics) else title
        for title, topics, name in found
    )
    return first, second


def sides(naming: Naming) -> tuple[str, str]:
    """What holds the words that do harm, and those that do good."""
    return ("raises", "lowers") if naming.lower_is_better else ("lowers", "raises")


def _only_judged(topic: Topic, side: str) -> bool:
    return hasattr(topic, side) and not _telling(topic, getattr(topic, side))


def _telling(topic: Topic, words: Sequence[str]) -> list[str]:
    """Words that say something of a topic: none of its label's, and none that only judges.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> _telling(SimpleNamespace(label="room, bed"), ["rooms", "worst", "not clean", "tiny"])
    ['not clean', 'tiny']
    """
    named = {word[:STEM] for word in topic.label.replace(",", " ").split()}
    said = {word: word.removeprefix(NOT).split() for word in words}
    return [word for word in words if not (named & {part[:STEM] for part in said[word]} or _JUDGING & set(said[word]))]


def cost_of(topic: Topic, naming: Naming) -> str:
    """What follows a topic's name where it is to be fixed."""
    words = getattr(topic, sides(naming)[0], ())
    change = _what_if(topic, "lift", naming.stances[0], naming.rise[0], naming)
    return f"{_said(topic, topic.badly, naming.ways[0], words, naming)} {change}"


def worth_of(topic: Topic, naming: Naming) -> str:
    """What follows a topic's name where it is to be kept."""
    words = getattr(topic, sides(naming)[1], ())
    change = _what_if(topic, "worth", naming.stances[1], naming.rise[1], naming)
    return f"{_said(topic, topic.well, naming.ways[1], words, naming)} {change}"


def _what_if(topic: Topic, measure: str, kind: str, way: str, naming: Naming) -> str:
    change, span = naming.amount(getattr(topic, measure)), range_of(topic, measure)
    around, doubt = ("", "") if span is None else (f" ({span.written(naming)})", span.doubt)
    return f"If nothing {kind} were said of it, {naming.short_average} would be {change} {way}{around}.{doubt}"


def finding_of(topic: Topic, naming: Naming) -> str:
    """A topic in one or two sentences: what it costs or what it brings, whichever is more."""
    if max(topic.lift, topic.worth) < NOTHING:
        return f"“{topic.label}”: {topic.reach:.0%} of texts speak of it. It does not move {naming.subject}."
    return f"“{topic.label}”{cost_of(topic, naming) if topic.lift >= topic.worth else worth_of(topic, naming)}"


def _said(topic: Topic, share: float, how: str, words: Sequence[str], naming: Naming) -> str:
    """How many speak of a topic, how, and what the response is where they do."""
    telling = _telling(topic, words)[:WORDS]
    behind = f" ({', '.join(telling)})" if telling else ""
    said = f": {topic.reach:.0%} of texts speak of it, {share:.0%} of them {how}{behind}."
    here, elsewhere = topic.mean_response, topic.mean_elsewhere
    if here is None or elsewhere is None or np.isnan(here) or np.isnan(elsewhere):
        return said
    first, second = naming.mean(here, 1), naming.mean(elsewhere, 1)
    return said if first == second else f"{said} Where it comes up, {naming.average} is {first} instead of {second}."


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """A table of topics as people are shown it: rounded, and with lists as text."""
    columns = {
        name: table[name].map(FORMATS[name].format) if name in FORMATS else table[name] for name in table.columns
    }
    return with_lists_as_text(pd.DataFrame(columns))


class Drivers(pd.DataFrame):
    r"""A table of drivers that says in sentences what to fix first and what to keep; a notebook shows both.

    Whatever is made of it, such as a part of its rows, is an ordinary DataFrame.

    Examples
    --------
    >>> row = {"topic": 0, "label": "noise", "reach": 0.3, "well": 0.1, "badly": 0.5, "lift": 0.06, "worth": 0.01}
    >>> means = {"mean_response": 3.1, "mean_elsewhere": 4.0}
    >>> for said in Drivers.of(pd.DataFrame([row | means]), Naming("rating", "stars")).findings().to_fix:
    ...     print(said.replace(". ", ".\n"))
    “noise”: 30% of texts speak of it, 50% of them badly.
    Where it comes up, the average rating is 3.1 instead of 4.0.
    If nothing bad were said of it, the average would be 0.06 stars higher.
    """

    _metadata: ClassVar[list[str]] = ["naming"]
    naming: Naming

    @classmethod
    def of(cls, table: pd.DataFrame, naming: Naming) -> Drivers:
        """The table, with what the response is called."""
        made = cls(table)
        made.attrs |= table.attrs
        made.naming = naming
        return made

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def findings(self) -> Found:
        """What to fix first, and what to keep; nothing for a table by group or by class, or one without lifts."""
        fixed, kept = self._found()
        return Found(
            tuple(f"“{topic.label}”{cost_of(topic, self.naming)}" for topic in fixed),
            tuple(f"“{topic.label}”{worth_of(topic, self.naming)}" for topic in kept),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """Above what to fix and what to keep."""
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
            f"<p><strong>{title}</strong></p><ul>{''.join(f'<li>{escape(said)}</li>' for said in sentences)}</ul>"
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
