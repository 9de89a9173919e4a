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
#: Change of the mean response below which a theme gives no finding.
NOTHING = 0.005
#: Words with this many first letters in common count as one: "room" and "rooms".
STEM = 4
_JUDGING = frozenset[str]().union(*JUDGING.values())
#: Formats of columns in tables for people.
FORMATS = {
    **dict.fromkeys(("effect", *MEASURES), "{:+.2f}"),
    **dict.fromkeys((f"{name}_{end}" for name in MEASURES for end in ("low", "high")), "{:+.2f}"),
    **dict.fromkeys(("mentions", "share", "praise", "complaints"), "{:.0%}"),
    **dict.fromkeys(("coherence", "mean_response", "mean_elsewhere"), "{:.2f}"),
    "prevalence": "{:.1%}",
}
#: A row of a table of drivers, or an object with its attributes: label, reach, well, badly, cost, gain, mean_response
#: and mean_elsewhere (None or NaN without a response), for themes raises and lowers, and with ranges cost_low,
#: cost_high, cost_clear and likewise for worth.
Theme = Any


def to_fix(themes: Sequence[Theme], naming: Naming, n: int = TO_FIX) -> list[Theme]:
    """Return the themes with the largest cost: clear ones first; last those worth more, or with judging words only."""
    costly = [theme for theme in themes if theme.cost >= NOTHING]

    def rank(theme: Theme) -> tuple[bool, bool, float]:
        last = theme.gain > theme.cost or _only_judged(theme, sides(naming)[0])
        return not is_clear(theme, "cost"), last, -theme.cost

    return sorted(costly, key=rank)[:n]


def to_keep(themes: Sequence[Theme], fixed: Sequence[Theme], naming: Naming, n: int = TO_KEEP) -> list[Theme]:
    """Return the themes with the largest worth, except `fixed`: clear ones first; last those with judging words only.

    A theme may be both the strongest evidence against a class and for it, so classes have no exception.
    """
    excluded = [] if naming.is_class else fixed
    valued = [theme for theme in themes if theme.gain >= NOTHING and theme not in excluded]

    def rank(theme: Theme) -> tuple[bool, bool, float]:
        return not is_clear(theme, "gain"), _only_judged(theme, sides(naming)[1]), -theme.gain

    return sorted(valued, key=rank)[:n]


def titles_of(fixed: Sequence[Theme], kept: Sequence[Theme], naming: Naming) -> tuple[str, str]:
    """Return the headings of what to fix and what to keep; they state if none of the themes is clear."""
    first, second = (
        f"{title}: none of these is clear" if themes and not any(is_clear(theme, name) for theme in themes) else title
        for title, themes, name in zip(naming.titles, (fixed, kept), MEASURES, strict=True)
    )
    return first, second


def sides(naming: Naming) -> tuple[str, str]:
    """Return the columns of the words that harm, and of those that help."""
    return ("raises", "lowers") if naming.lower_is_better else ("lowers", "raises")


def _only_judged(theme: Theme, side: str) -> bool:
    return hasattr(theme, side) and not _telling(theme, getattr(theme, side))


def _telling(theme: Theme, words: Sequence[str]) -> list[str]:
    """Words that add to the label of a theme and do not only judge.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> _telling(SimpleNamespace(label="room, bed"), ["rooms", "worst", "not clean", "tiny"])
    ['not clean', 'tiny']
    """
    named = {word[:STEM] for word in theme.label.replace(",", " ").split()}

    def tells(words: list[str]) -> bool:
        return not (named & {word[:STEM] for word in words} or _JUDGING & set(words))

    return [word for word in words if tells(word.removeprefix(NOT).split())]


def cost_of(theme: Theme, naming: Naming) -> str:
    """Return the sentences that follow the name of a theme to fix."""
    words = getattr(theme, sides(naming)[0], ())
    change = _what_if(theme, "cost", naming.stances[0], naming.rise[0], naming)
    return f"{_mentions(theme, theme.complaints, naming.ways[0], words, naming)} {change}"


def gain_of(theme: Theme, naming: Naming) -> str:
    """Return the sentences that follow the name of a theme to keep."""
    words = getattr(theme, sides(naming)[1], ())
    change = _what_if(theme, "gain", naming.stances[1], naming.rise[1], naming)
    return f"{_mentions(theme, theme.praise, naming.ways[1], words, naming)} {change}"


def _what_if(theme: Theme, measure: str, kind: str, way: str, naming: Naming) -> str:
    change, span = naming.amount(getattr(theme, measure)), range_of(theme, measure)
    around, doubt = ("", "") if span is None else (f" ({span.written(naming)})", span.doubt)
    return f"If nothing {kind} were said of it, {naming.short_average} would be {change} {way}{around}.{doubt}"


def finding_of(theme: Theme, naming: Naming) -> str:
    """Return a theme in one or two sentences: its cost or its gain, whichever is larger."""
    if max(theme.cost, theme.gain) < NOTHING:
        return f"“{theme.label}”: {theme.mentions:.0%} of texts speak of it. It does not move {naming.subject}."
    return f"“{theme.label}”{cost_of(theme, naming) if theme.cost >= theme.gain else gain_of(theme, naming)}"


def _mentions(theme: Theme, share: float, how: str, words: Sequence[str], naming: Naming) -> str:
    """Sentences on reach, tone and mean response of a theme."""
    telling = _telling(theme, words)[:WORDS]
    behind = f" ({', '.join(telling)})" if telling else ""
    mentions = f": {theme.mentions:.0%} of texts speak of it, {share:.0%} of them {how}{behind}."
    here, elsewhere = theme.mean_response, theme.mean_elsewhere
    if here is None or elsewhere is None or np.isnan(here) or np.isnan(elsewhere):
        return mentions
    first, second = naming.mean(here, 1), naming.mean(elsewhere, 1)
    return (
        mentions
        if first == second
        else f"{mentions} Where it comes up, {naming.average} is {first} instead of {second}."
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of themes for people: rounded, and with lists as text."""
    columns = {
        name: table[name].map(FORMATS[name].format) if name in FORMATS else table[name] for name in table.columns
    }
    return with_lists_as_text(pd.DataFrame(columns))


class Drivers(pd.DataFrame):
    r"""A table of drivers with findings in sentences, what to fix first and what to keep; a notebook shows both.

    Operations on it, such as selecting rows, return an ordinary DataFrame.

    Examples
    --------
    >>> row = {"theme": 0, "label": "noise", "mentions": 0.3, "praise": 0.1, "complaints": 0.5, "cost": 0.06, "gain": 0.01}
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
        """Return what to fix first and what to keep; empty for a table by group or class, or without costs."""
        fixed, kept = self._found()
        return Found(
            tuple(f"“{theme.label}”{cost_of(theme, self.naming)}" for theme in fixed),
            tuple(f"“{theme.label}”{gain_of(theme, self.naming)}" for theme in kept),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """Headings of what to fix and what to keep."""
        return titles_of(*self._found(), self.naming)

    def _found(self) -> tuple[list[Theme], list[Theme]]:
        if {"group", "class"} & {*self.columns} or "cost" not in self.columns:
            return [], []
        themes: list[Any] = list(self.itertuples(index=False))
        fixed = to_fix(themes, self.naming)
        return fixed, to_keep(themes, fixed, self.naming)

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
