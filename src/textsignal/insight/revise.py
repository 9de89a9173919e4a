"""Revisions of themes by the user: renamed, merged or dropped."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError

Labels = list[str | None]
#: A theme's number, or its label.
Theme = int | str


@dataclass(frozen=True, eq=False)
class Revision:
    """Themes before or after a revision.

    themes : (themes, terms) profiles, of any scale; weights : (themes,) prevalence divided by the sum of the profile.
    labels : the user's, None if a theme has none; names : displayed before the revision.
    """

    themes: Array
    weights: Vector
    labels: Labels
    names: Sequence[str]


def theme_number(theme: Theme, labels: Sequence[str], noun: str = "theme") -> int:
    """Return the number of a theme that is given by number or by label; noun : "theme" or "topic", for messages."""
    if isinstance(theme, str):
        numbers = [k for k, label in enumerate(labels) if label == theme]
        if len(numbers) != 1:
            count = f"{len(numbers)} {noun}s have" if numbers else f"no {noun} has"
            listed = "; ".join(f"{k} {label!r}" for k, label in enumerate(labels))
            raise InputError(f"{count} the label {theme!r}; give a number or one of: {listed}")
        return numbers[0]
    try:
        number = operator.index(theme)
    except TypeError:
        raise InputError(f"{noun}={theme!r} is neither a number nor a label of a {noun}") from None
    if isinstance(theme, bool) or not 0 <= number < len(labels):
        raise InputError(f"{noun}={theme!r} is not a {noun}; {noun}s are numbered from 0 to {len(labels) - 1}")
    return number


def renamed(new: Mapping[Theme, str | None], own: Labels, names: Sequence[str]) -> Labels:
    """Return the user's labels after some are changed; None removes the label of a theme.

    own : the labels before, None if a theme has none; names : displayed names of all themes.
    """
    labels = list(own)
    for theme, label in new.items():
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise InputError(f"label={label!r} must be a text that is not empty, or None for the theme's terms")
        labels[theme_number(theme, names)] = label
    for label in labels:
        if label is not None and labels.count(label) > 1:
            raise InputError(
                f"two themes would be called {label!r}; labels must differ (to make one of two, merge them)"
            )
    return labels


def merged(before: Revision, group: Iterable[Theme], label: str | None) -> Revision:
    """Replace several themes by the mean of their profiles, weighted by prevalence, at the position of the first."""
    numbers = _numbers(group, before.names)
    if len(numbers) < 2:
        raise InputError(f"merging needs at least two themes, and {len(numbers)} was given")
    first, *others = numbers
    themes, weights, own = before.themes.copy(), before.weights.copy(), before.weights[numbers]
    themes[first] = np.average(before.themes[numbers], axis=0, weights=own if own.sum() > 0 else None)
    weights[first] = own.sum()
    freed = [None if k in numbers else kept for k, kept in enumerate(before.labels)]
    labels = renamed({first: label}, freed, before.names)
    return _without(Revision(themes, weights, labels, before.names), others)


def dropped(before: Revision, group: Iterable[Theme]) -> Revision:
    """Remove themes."""
    numbers = _numbers(group, before.names)
    if len(numbers) == len(before.themes):
        raise InputError(f"dropping all {len(before.themes)} themes leaves no model; keep at least one")
    return _without(before, numbers)


def _without(before: Revision, numbers: Sequence[int]) -> Revision:
    kept = [k for k in range(len(before.themes)) if k not in numbers]
    labels, names = [before.labels[k] for k in kept], [before.names[k] for k in kept]
    return Revision(before.themes[kept], before.weights[kept], labels, names)


def _numbers(group: Iterable[Theme], names: Sequence[str]) -> list[int]:
    """Return sorted unique numbers of themes; a single theme need not be in a list."""
    listed = [group] if isinstance(group, str | int | np.integer) else list(group)
    return sorted({theme_number(theme, names) for theme in listed})
