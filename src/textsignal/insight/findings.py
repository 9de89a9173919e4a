"""Findings in sentences, and what to fix first and what to keep: for the page, the terminal, notebooks and tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from textsignal.insight.naming import MEASURES, Naming, is_clear, range_of
from textsignal.text.features import NOT
from textsignal.text.tokenise import JUDGING

if TYPE_CHECKING:
    from textsignal.training.judgement import Zone

#: Most findings of each kind, and most words that one names.
TO_FIX, TO_KEEP, WORDS = 3, 2, 4
#: Change of the mean response below which a theme gives no finding.
NOTHING = 0.005
#: Words with this many first letters in common count as one: "room" and "rooms".
STEM = 4
_JUDGING = frozenset[str]().union(*JUDGING.values())
#: Formats of columns in tables for people.
FORMATS = {
    **dict.fromkeys(("effect", *MEASURES, "cost_per_complaint", "gain_per_praise"), "{:+.2f}"),
    **dict.fromkeys((f"{name}_{end}" for name in MEASURES for end in ("low", "high")), "{:+.2f}"),
    **dict.fromkeys(("mentions", "complaints", "praise", "neutral", "share", "share_of_low", "share_of_gap"), "{:.0%}"),
    **dict.fromkeys(("coherence", "mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere"), "{:.2f}"),
    "prevalence": "{:.1%}",
}
#: A row of a table of drivers, or an object with its columns as attributes. Optional: raises and lowers, and intervals,
#: such as cost_low, cost_high and cost_clear. Means of responses are None or NaN if there are none.
Theme = Any


def to_fix(themes: Sequence[Theme], naming: Naming, n: int = TO_FIX) -> list[Theme]:
    """Return the themes with the largest cost: clear ones first; last those of larger gain, or judging words only.

    The overall verdict is excluded. Where no direction is better, a larger gain does not matter.
    """
    return _ranked(themes, 0, naming)[:n]


def to_keep(themes: Sequence[Theme], fixed: Sequence[Theme], naming: Naming, n: int = TO_KEEP) -> list[Theme]:
    """Return the themes with the largest gain, except `fixed`: clear ones first; last those with judging words only.

    The overall verdict is excluded. A theme may be the strongest evidence both against a class and for it, and may both
    raise and lower a price: there is no other exception for these.
    """
    both = naming.is_class or naming.has_no_direction
    return _ranked([theme for theme in themes if both or theme not in fixed], 1, naming)[:n]


def _ranked(themes: Sequence[Theme], side: int, naming: Naming) -> list[Theme]:
    """Themes by cost (side 0) or gain (side 1)."""
    measure, words = MEASURES[side], sides(naming)[side]

    def rank(theme: Theme) -> tuple[bool, bool, float]:
        only_judged = hasattr(theme, words) and not _telling(theme, getattr(theme, words))
        last = only_judged or (side == 0 and not naming.has_no_direction and theme.gain > theme.cost)
        return not is_clear(theme, measure), last, -getattr(theme, measure)

    ranked = [theme for theme in themes if not theme.is_overall and getattr(theme, measure) >= NOTHING]
    return sorted(ranked, key=rank)


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


def _telling(theme: Theme, words: Sequence[str]) -> list[str]:
    """Words that add to the label of a theme and do not only judge."""
    named = {word[:STEM] for word in theme.label.replace(",", " ").split()}

    def tells(words: list[str]) -> bool:
        return not (named & {word[:STEM] for word in words} or _JUDGING & set(words))

    return [word for word in words if tells(word.removeprefix(NOT).split())]


def cost_of(theme: Theme, naming: Naming) -> str:
    """Return the sentences that follow the name of a theme to fix."""
    return _sentences(theme, 0, theme.complaints, theme.mean_complaint, theme.cost_per_complaint, naming)


def gain_of(theme: Theme, naming: Naming) -> str:
    """Return the sentences that follow the name of a theme to keep."""
    return _sentences(theme, 1, theme.praise, theme.mean_praise, theme.gain_per_praise, naming)


def finding_of(theme: Theme, naming: Naming) -> str:
    """Return a theme in two or three sentences: its cost or its gain, whichever is larger."""
    if max(theme.cost, theme.gain) < NOTHING:
        return f"“{theme.label}”: {_share(theme.mentions)} of texts mention it. It does not move {naming.subject}."
    return f"“{theme.label}”{cost_of(theme, naming) if theme.cost >= theme.gain else gain_of(theme, naming)}"


def unplaced_of(share: float) -> str:
    """Return a sentence on the share of the words that are in clauses on no clear theme."""
    return (
        f"{_share(share).capitalize()} of all words are in clauses that name no theme clearly; these count in no row."
    )


def neutral_of(zone: Zone, naming: Naming) -> str:
    """Return a sentence on the judgements that a clause must exceed to be more than a neutral mention."""
    ends = (zone.low, zone.high) if naming.better > 0 else (-zone.high, -zone.low)
    low, high = (f"{end:z.2f}" for end in ends)
    if naming.is_class or naming.has_no_direction:
        sides = (
            f"lowers {naming.subject} below {low} and raises it above {high}, in log-odds of raising against lowering"
        )
    else:
        sides = f"is a complaint below {low} and praise above {high}, in log-odds of praise against complaint"
    return f"A clause {sides}; between them it is neutral."


def _share(share: float) -> str:
    """A share of texts or words: small ones are not written as 0%."""
    return "under 1%" if 0 < share < 0.005 else f"{share:.0%}"


def _sentences(theme: Theme, side: int, share: float, mean: float | None, each: float, naming: Naming) -> str:
    """Sentences on cost (side 0) or gain (side 1): share of texts, their mean response, effect of each and of all."""
    measure, way = MEASURES[side], naming.ways[side]
    telling = _telling(theme, getattr(theme, sides(naming)[side], ()))[:WORDS]
    listed = f" ({', '.join(telling)})" if telling else ""
    average = "" if mean is None or np.isnan(mean) else f"; their {naming.measure} is {naming.mean(mean, 1)}"
    interval = range_of(theme, measure)
    around, doubt = ("", "") if interval is None else (f" ({interval.written(naming)})", interval.doubt)
    total, change = getattr(theme, measure), naming.rise[side]
    if naming.is_class or naming.has_no_direction:
        verb, one = f"mention it with {way}", "Each of these texts"
    else:
        verb, one = (("complain about it", "Each complaint"), ("praise it", "Each text with praise"))[side]
    costs = "costs" if side == 0 and not naming.has_no_direction else "takes off"
    return (
        f": {_share(share)} of texts {verb}{listed}{average}. {one} {costs if change == 'higher' else 'adds'} "
        f"{naming.amount(each)}, together {naming.points(total)}: without {way}, {naming.short_average} would be "
        f"{naming.amount(total)} {change}{around}.{doubt}"
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of themes for people: rounded, and with lists as text."""
    rounded = {name: table[name].map(FORMATS[name].format) for name in table.columns if name in FORMATS}
    return with_lists_as_text(table.assign(**rounded))


class Drivers(pd.DataFrame):
    r"""A table of drivers with findings in sentences, what to fix first and what to keep; a notebook shows both.

    Operations on it, such as selecting rows, return an ordinary DataFrame.
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
    def notes(self) -> tuple[str, ...]:
        """Sentences on covariates, on the texts, and on the share of text on no theme, as far as they apply."""
        unplaced = self.attrs.get("unplaced")
        of_unplaced = "" if unplaced is None else unplaced_of(unplaced)
        return tuple(note for note in (self.naming.condition, self.attrs.get("basis"), of_unplaced) if note)

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
        lists = [
            f"<p><strong>{title}</strong></p><ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"
            for title, sentences in zip(self.titles, self.findings(), strict=True)
            if sentences
        ]
        notes = [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join([*lists, *notes, shown(self).to_html(index=False, border=0)])


class Found(NamedTuple):
    """Findings as sentences."""

    to_fix: tuple[str, ...]
    to_keep: tuple[str, ...]


def with_lists_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its lists of words joined by commas."""
    return table.map(lambda value: ", ".join(value) if isinstance(value, list) else value)
