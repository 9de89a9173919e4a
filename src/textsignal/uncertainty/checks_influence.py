"""Whether a single document, or a group, makes a lift what it is.

The lift of topic k is a mean over documents, and the GLM's coefficients in it were fitted to them. Without some of them
it changes by their part of the mean, and by what the coefficients change (one Newton step):

    lift_k(-g) - lift_k ~ sum_g w (lift_k - d_k) / (W - W_g)  +  grad_k . H^-1 sum_g slope x

d_k is a document's own part of the lift, x its columns (what each topic adds, shares of its text, 1), slope the
derivative of its loss, H = sum w curvature x x'. Themes and the tone of words stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.reading.spoken import Spoken
from textsignal.uncertainty.checks import DRAWS, Checked, Finding

#: How far a lift may move by one document, in standard errors that all others give it.
ONE_MATTERS = 1.0
#: Share of a lift that a group may make up; lifts below this share of the responses' deviation are next to nothing.
GROUP_MATTERS, NOTHING = 0.5, 0.01
#: Half the step of numeric derivatives of means, in units of the linear predictor.
STEP = 1e-4


@dataclass(frozen=True, eq=False)
class Influence:
    """What lifts are made of.

    lifts : (topics,); parts : (documents, topics) of each lift; weight : (documents,).
    moves : (documents, topics) how each lift changes by the coefficients when a document is left out.
    """

    lifts: Vector
    parts: Vector
    weight: Vector
    moves: Vector

    @property
    def of_documents(self) -> Vector:
        """(documents, topics) how each lift changes when a document is left out."""
        rest = np.maximum(self.weight.sum() - self.weight, np.finfo(float).tiny)
        return (self.weight / rest)[:, None] * (self.lifts - self.parts) + self.moves

    @property
    def in_errors(self) -> Vector:
        """(documents, topics) the same in standard errors of lifts, by the jackknife over all other documents."""
        squares = self.of_documents**2
        return np.sqrt(squares / np.maximum(squares.sum(axis=0) - squares, np.finfo(float).tiny))

    def of_groups(self, codes: NDArray[np.int64]) -> Vector:
        """(groups, topics) how each lift changes when a group is left out; codes : (documents,) -1 for none."""
        rows = np.flatnonzero(codes >= 0)
        shape = (int(codes.max()) + 1, len(codes))
        sums = sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=shape)
        rest = np.maximum(self.weight.sum() - sums @ self.weight, np.finfo(float).tiny)
        return np.asarray(sums @ self._away / rest[:, None] + sums @ self.moves, dtype=float)

    @cached_property
    def _away(self) -> Vector:
        return self.weight[:, None] * (self.lifts - self.parts)


def influence_on_lifts(spoken: Spoken) -> Influence:
    """What lifts are made of, and how they move without each document."""
    family, eta, weight, bad = spoken.family, spoken.eta, spoken.weight, spoken.bad
    total, n_topics = weight.sum(), spoken.tone.shape[1]
    before = family.mean(eta)
    without = eta[:, None] - bad
    parts = spoken.better * (family.mean(without.ravel()).reshape(without.shape) - before[:, None])
    lifts = weight @ parts / total

    columns = np.column_stack([spoken.tone, spoken.shares, np.ones(len(eta))])
    y = family.encode(spoken.responses)
    known = ~np.isnan(y)
    slopes, curvature = np.zeros(len(eta)), np.zeros(len(eta))
    slopes[known] = weight[known] * family.gradient(y[known], eta[known])
    curvature[known] = weight[known] * family.curvature(y[known], eta[known])
    hessian = columns.T @ (curvature[:, None] * columns)

    def steepness(at: Vector) -> Vector:
        step = STEP * family.unit
        return (family.mean(at + step) - family.mean(at - step)) / (2 * step)

    here, gradients = steepness(eta), np.empty((columns.shape[1], n_topics))
    for k in range(n_topics):
        there = steepness(without[:, k])
        gradients[:, k] = (weight * (there - here)) @ columns
        gradients[k, k] -= weight @ (there * bad[:, k])
    step = np.linalg.pinv(hessian, hermitian=True) @ (spoken.better * gradients / total)
    return Influence(lifts, parts, weight, (columns * slopes[:, None]) @ step)


def influence(checked: Checked) -> list[Finding]:
    """Documents, and groups, without which a lift would be another."""
    found = influence_on_lifts(checked.spoken)
    findings = [_of_documents(checked, found)]
    if checked.groups is not None:
        codes, names = pd.factorize(checked.groups)
        if len(names) > 1:
            findings.append(_of_groups(checked, found, codes.astype(np.int64), names))
    return findings


def _of_documents(checked: Checked, found: Influence) -> Finding:
    moved, shares = found.of_documents, found.in_errors
    measure = "change of a lift without one text, in standard errors of all others"
    matters = (shares > ONE_MATTERS) & (np.abs(moved) > NOTHING * checked.spread)
    if not matters.any():
        return Finding("influence", measure, float(shares.max()), ONE_MATTERS)
    shares = np.where(matters, shares, 0.0)
    row, k = divmod(int(shares.argmax()), shares.shape[1])
    value = float(shares[row, k])
    naming = checked.naming
    largest = [int(r) + 1 for r in np.argsort(-shares.max(axis=1), kind="stable") if matters[r].any()]
    problem = (
        f"Without the text in row {row + 1:,} the lift of “{checked.labels[k]}” would be "
        f"{_lift(checked, found.lifts[k] + moved[row, k])} instead of {_lift(checked, found.lifts[k])} {naming.unit} "
        f"(a change of {value:.1f} standard errors of all others)."
    )
    advice = "Read that text and check its response and weight before you report this lift."
    return Finding("influence", measure, value, ONE_MATTERS, problem, advice, tuple(largest[:5]))


def _of_groups(checked: Checked, found: Influence, codes: NDArray[np.int64], names: pd.Index) -> Finding:
    """Null: documents dealt to groups at random, for each topic by itself."""
    moved, rng = found.of_groups(codes), checked.rng(200)
    draws = [np.abs(found.of_groups(rng.permutation(codes))).max(axis=0) for _ in range(DRAWS)]
    least = NOTHING * checked.spread
    lifts = np.maximum(np.abs(found.lifts), least)
    limits = np.maximum(np.max(draws, axis=0) / lifts, GROUP_MATTERS)
    shares = np.where(np.abs(found.lifts) > least, np.abs(moved) / lifts, 0.0)
    group, k = divmod(int((shares / limits).argmax()), shares.shape[1])
    value, limit = float(shares[group, k]), float(limits[k])
    measure = f"change of a lift without one {checked.group_name}, as a share of it"
    if value <= limit:
        return Finding("influence", measure, value, limit)
    problem = (
        f"Without {names[group]} ({int((codes == group).sum()):,} texts) the lift of “{checked.labels[k]}” would be "
        f"{_lift(checked, found.lifts[k] + moved[group, k])} instead of {_lift(checked, found.lifts[k])} "
        f"{checked.naming.unit} (a change of {value:.0%}; tolerated up to {limit:.0%})."
    )
    advice = f"It is a matter of that {checked.group_name} rather than of all: see drivers(by=...)."
    return Finding("influence", measure, value, limit, problem, advice)


def _lift(checked: Checked, lift: float) -> str:
    naming = checked.naming
    return f"{naming.steps * lift:.{naming.digits + 1}f}"
