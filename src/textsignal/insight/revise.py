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


@dataclass(frozen=True)
class Revision:
    """themes : (themes, terms) profiles; weights : (themes,); labels : the user's, None if a theme has none."""

    themes: Array
    weights: Vector
    labels: Labels


def theme_number(theme: Theme, labels: Sequence[str], noun: str = "theme") -> int:
    """Return the number of a theme that is given by number or by label; noun : "theme" or "topic", for messages.

    Examples
    --------
    >>> theme_number("noise", ["staff", "noise"]), theme_number(0, ["staff", "noise"])
    (1, 0)
    """
    if isinstance(theme, str):
        found = [k for k, label in enumerate(labels) if label == theme]
        if len(found) != 1:
            count = f"{len(found)} {noun}s have" if found else f"no {noun} has"
            listed = "; ".join(f"{k} {label!r}" for k, label in enumerate(labels))
            raise InputError(f"{count} the label {theme!r}; give a number or one of: {listed}")
        return found[0]
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
        labels[theme_number(theme, names)] = _checked_label(label)
    given = [label for label in labels if label is not None]
    for label in given:
        if given.count(label) > 1:
            raise InputError(
                f"two themes would be called {label!r}; labels must differ (to make one of two, merge them)"
            )
    return labels


def merged(
    group: Iterable[Theme],
    label: str | None,
    *,
    themes: Array,
    weights: Vector,
    own: Labels,
    names: Sequence[str],
) -> Revision:
    """Replace several themes by one: the mean of their profiles, weighted by prevalence.

    It takes the position of the first. themes : (themes, terms), of any scale; weights : (themes,) prevalence divided
    by the sum of the theme.

    Examples
    --------
    >>> themes = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> merged(
    ...     [2, 0], "both", themes=themes, weights=np.array([3.0, 1.0, 1.0]), own=[None, "x", None], names="axb"
    ... )
    Revision(themes=array([[0.75, 0.25], [0.5 , 0.5 ]]), weights=array([4., 1.]), labels=['both', 'x'])
    """
    numbers = _numbers(group, names)
    if len(numbers) < 2:
        raise InputError(f"merging needs at least two themes, and {len(numbers)} was given")
    parts = weights[numbers]
    profile = np.average(themes[numbers], axis=0, weights=parts if parts.sum() > 0 else None)
    first, *others = numbers
    changed, together = themes.copy(), weights.copy()
    changed[first], together[first] = profile, parts.sum()
    labels = renamed({first: label}, [None if k in numbers else kept for k, kept in enumerate(own)], names)
    return _without(others, changed, together, labels)


def dropped(group: Iterable[Theme], *, themes: Array, weights: Vector, own: Labels, names: Sequence[str]) -> Revision:
    """Remove themes."""
    numbers = _numbers(group, names)
    if len(numbers) == len(themes):
        raise InputError(f"dropping all {len(themes)} themes leaves no model; keep at least one")
    return _without(numbers, themes, weights, own)


def _without(numbers: Sequence[int], themes: Array, weights: Vector, labels: Labels) -> Revision:
    kept = [k for k in range(len(themes)) if k not in numbers]
    return Revision(themes[kept], weights[kept], [labels[k] for k in kept])


def _numbers(group: Iterable[Theme], names: Sequence[str]) -> list[int]:
    """Sorted unique numbers of themes; a single theme needs no list."""
    listed = [group] if isinstance(group, str | int | np.integer) else list(group)
    return sorted({theme_number(theme, names) for theme in listed})


def _checked_label(label: str | None) -> str | None:
    if label is not None and (not isinstance(label, str) or not label.strip()):
        raise InputError(f"label={label!r} must be a text that is not empty, or None for the theme's terms")
    return label
