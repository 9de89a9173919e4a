"""Topics by group: how often and how each group speaks of them, small groups drawn towards all documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.reading.spoken import Spoken

#: A mean of fewer documents than this rests on few.
FEW = 10
#: A group differs clearly from all documents if its mean is this many standard deviations away; means that differ by
#: less than the second number differ by rounding alone.
CLEAR, ROUNDING = 2.0, 1e-9


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means by group, and what they say of the groups by empirical Bayes (method of moments).

    With n_g documents of mean m_g in group g, n documents of mean m in all of G groups::

        within   s2 = sum_g sum_i (v_i - m_g)^2 / (n - G)
        between  t2 = max(0, [sum_g n_g (m_g - m)^2 - (G - 1) s2] / [n - sum_g n_g^2 / n])
        shrunk      = m + B_g (m_g - m),    B_g = t2 / (t2 + s2 / n_g)
        sd          = sqrt((1 - B_g) t2)    of what is shrunk, given the documents
        error       = sqrt(s2 / n_g)        of the mean itself

    s2 is pooled, so that a group of two documents that happen to agree is not believed. The model is taken as given:
    only which documents there are is uncertain. Documents count as often as their weight says.

    count : (groups, topics) n_g; mean : NaN where n_g is 0; shrunk, sd, error : like it; overall : (topics,) m.
    """

    count: Vector
    mean: Vector
    shrunk: Vector
    sd: Vector
    error: Vector
    overall: Vector

    @property
    def clear(self) -> NDArray[np.int64]:
        """(groups, topics) 1 and -1 where a group is clearly above and below all documents, else 0."""
        away = self.shrunk - self.overall
        return np.where(np.abs(away) > np.maximum(CLEAR * self.sd, ROUNDING), np.sign(away), 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """What groups say about topics.

    names : of the groups; documents : (groups,) weight of each; spoken : (groups, topics) of those that speak of it.
    well, badly : (groups, topics) shares of these in which it moves the linear predictor for the better and worse.
    reach : share of documents that speak of it.
    tone : what its tone adds to the predicted response of a document that speaks of it,
        mean(eta) - mean(eta - tone), in points of the response.
    lift, worth : by how much the mean response would be better if nothing bad were said of it, worse if nothing good.
    """

    names: tuple[Any, ...]
    documents: Vector
    spoken: Vector
    well: Vector
    badly: Vector
    reach: GroupMeans
    tone: GroupMeans
    lift: GroupMeans
    worth: GroupMeans

    @property
    def few(self) -> NDArray[np.bool_]:
        """(groups, topics) whether few documents of a group speak of a topic."""
        return self.spoken < FEW


def compare_groups(spoken: Spoken, groups: pd.Series) -> GroupComparison:
    """Compare groups, the largest first; groups : (documents,) the group of each, missing for what is left out.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> yes, half = np.ones((4, 1), dtype=bool), np.array([0.5, -0.5, 0.5, 0.5])
    >>> one = Spoken(Binomial(4, 1), half, half[:, None], np.ones((4, 1)), yes, np.full(4, 4.0), np.ones(4))
    >>> found = compare_groups(one, pd.Series(["inn", "inn", "inn", None]))
    >>> found.names, found.documents.tolist(), found.badly.round(2).tolist()
    (('inn',), [3.0], [[0.33]])
    """
    codes, names = pd.factorize(groups)
    weights = np.bincount(codes[codes >= 0], weights=spoken.weight[codes >= 0], minlength=len(names))
    order = sorted(np.flatnonzero(weights > 0), key=lambda g: (-weights[g], str(names[g])))
    if not order:
        raise InputError("no document of any group counts: the weights of all are 0")
    places = np.full(len(names) + 1, -1)
    places[order] = np.arange(len(order))
    return compare(spoken, places[codes], [names[g] for g in order])


def compare(spoken: Spoken, codes: NDArray[np.int64], names: Sequence[Any]) -> GroupComparison:
    """Compare documents by codes : (documents,) the number of the group of each, -1 for those to be left out."""
    rows = np.flatnonzero(codes >= 0)
    part, codes, n = spoken.at(rows), codes[rows], len(names)
    mean, before = part.family.mean, part.family.mean(part.eta)
    measures: dict[str, list[GroupMeans]] = {name: [] for name in ("reach", "tone", "lift", "worth", "well", "badly")}
    for tone, bad, good, speaks in zip(part.tone.T, part.bad.T, part.good.T, part.spoken.T, strict=True):
        here = part.weight * speaks
        for name, values, weight in (
            ("reach", speaks.astype(float), part.weight),
            ("tone", before - mean(part.eta - tone), here),
            ("lift", part.better * (mean(part.eta - bad) - before), part.weight),
            ("worth", part.better * (before - mean(part.eta - good)), part.weight),
            ("well", (good != 0).astype(float), here),
            ("badly", (bad != 0).astype(float), here),
        ):
            measures[name].append(group_means(values, weight, codes, n))
    means = {name: _side_by_side(parts) for name, parts in measures.items()}
    return GroupComparison(
        names=tuple(names),
        documents=_sums(part.weight, codes, n),
        spoken=means["tone"].count,
        well=means["well"].mean,
        badly=means["badly"].mean,
        reach=means["reach"],
        tone=means["tone"],
        lift=means["lift"],
        worth=means["worth"],
    )


def group_means(values: Vector, weight: Vector, codes: NDArray[np.int64], n_groups: int) -> GroupMeans:
    """Means of values (documents,) by group, each (groups,); `GroupMeans` has the formulas.

    Examples
    --------
    >>> found = group_means(np.array([1.0, 3.0, 6.0, 8.0]), np.ones(4), np.array([0, 0, 1, 1]), 2)
    >>> found.mean, found.shrunk.round(2)
    (array([2., 7.]), array([2.2, 6.8]))
    """
    count = _sums(weight, codes, n_groups)
    total, used = count.sum(), count > 0
    overall = float(weight @ values / total) if total > 0 else np.nan
    mean = np.full(n_groups, np.nan)
    mean[used] = _sums(weight * values, codes, n_groups)[used] / count[used]
    spread = weight @ (values - np.nan_to_num(mean)[codes]) ** 2
    apart = count[used] @ (mean[used] - overall) ** 2
    freedom, groups_less_one = total - used.sum(), used.sum() - 1
    if freedom > 0 and groups_less_one > 0:
        within = spread / freedom
        between = max(0.0, (apart - groups_less_one * within) / (total - count @ count / total))
    else:  # One group, or as many as documents: what groups differ by cannot be told from what documents differ by.
        within, between = (spread + apart) / max(total - 1, 1), 0.0
    scale = between * count + within
    kept = np.divide(between * count, scale, out=np.zeros(n_groups), where=scale > 0)
    return GroupMeans(
        count=count,
        mean=mean,
        shrunk=overall + kept * (np.where(used, mean, overall) - overall),
        sd=np.sqrt((1 - kept) * between),
        error=np.sqrt(np.divide(within, count, out=np.full(n_groups, np.nan), where=used)),
        overall=np.array(overall),
    )


def _sums(values: Vector, codes: NDArray[np.int64], n_groups: int) -> Vector:
    return np.bincount(codes, weights=values, minlength=n_groups).astype(float)


def _side_by_side(parts: Sequence[GroupMeans]) -> GroupMeans:
    return GroupMeans(
        *(np.stack([getattr(part, field.name) for part in parts], axis=-1) for field in fields(GroupMeans))
    )
