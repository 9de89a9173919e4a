"""Texts that are there more than once, and texts that say the response itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from textsignal.arrays import Vector
from textsignal.estimators.skill import r2_score
from textsignal.uncertainty.checks import LEVEL, Checked, Finding

#: Texts of fewer words are alike by chance.
LEAST_WORDS = 8
#: Share of texts that are copies from which on they matter.
COPIES_MATTER = 0.01
#: A word fixes the response where this share of its texts have the same one; the most telling words of people's own
#: meet it in this share. Responses of more levels are taken in so many parts.
FIXED, TELLING, PARTS = 0.98, 0.9, 20
#: Stated numbers that are the response go with it to this correlation at least; texts with one that matter.
STATED, LEAST_STATED, STATED_SHARE = 0.7, 10, 0.03
#: Words and rows that are named at most.
NAMED = 5
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {name: value for value, name in enumerate(_NAMES)}
_NUMBER = rf"(\d{{1,3}}(?:[.,]\d)?|{'|'.join(NUMBERS)})"
#: A number out of another, a number of stars, and a number that something is rated: texts that may state it hold one of
#: these words.
STATEMENTS = (
    (("/", "out of", "out-of"), re.compile(rf"\b{_NUMBER}[ -]{{0,2}}(?:out[ -]of|/)[ ]?{_NUMBER}\b")),
    (("star",), re.compile(rf"\b{_NUMBER}[ -]{{0,2}}stars?\b()")),
    (
        ("rate", "rating", "score"),
        re.compile(rf"\b(?:rating|rated?|score)\b(?: it| this| a| of| is|:| =){{0,2}} ?{_NUMBER}\b()"),
    ),
)


def duplicates(checked: Checked) -> list[Finding]:
    """Texts that occur more than once, as they are or but for case, spaces and punctuation."""
    long = checked.reading.n_words >= LEAST_WORDS
    texts = pd.Series(list(checked.reading.texts), dtype=object)
    plain = texts.map(plain_text)
    exact, alike = (each.duplicated() & long for each in (texts, plain))
    found = [
        _copies(exact.to_numpy(), texts, "texts that an earlier one has", "are copies of others"),
        _copies(
            (alike & ~exact).to_numpy(),
            plain,
            "texts that differ from an earlier one in case, spaces or punctuation alone",
            "differ from others in case, spaces or punctuation alone",
        ),
    ]
    if checked.held_out.any() and not checked.held_out.all():
        found.append(_in_both(checked, plain, long))
    return found


def plain_text(text: str) -> str:
    """A text without case, punctuation and more than one space.

    Examples
    --------
    >>> plain_text(" A Room,  with view! ")
    'a room with view'
    """
    return " ".join(re.sub(r"[^\w\s]", "", text.lower()).split())


def _copies(later: NDArray[np.bool_], texts: pd.Series, measure: str, how: str) -> Finding:
    n, share = int(later.sum()), float(later.mean())
    if share <= COPIES_MATTER:
        return Finding("duplicates", measure, share, COPIES_MATTER)
    most = texts[later].value_counts()
    rows = (np.flatnonzero((texts == most.index[0]).to_numpy()) + 1).tolist()
    problem = f"{n:,} texts ({share:.1%}) {how}, and count every time; the most frequent is in {_rows(rows)}."
    advice = "Leave copies out unless each is somebody's own; intervals are too narrow with them."
    return Finding("duplicates", measure, share, COPIES_MATTER, problem, advice, tuple(rows[:NAMED]))


def _in_both(checked: Checked, plain: pd.Series, long: NDArray[np.bool_]) -> Finding:
    new = checked.held_out & long
    both = new & plain.isin(plain[~checked.held_out]).to_numpy()
    share = float(both.sum() / max(new.sum(), 1))
    measure = "held-out texts that are in training too"
    if share <= COPIES_MATTER:
        return Finding("duplicates", measure, share, COPIES_MATTER)
    rows = (np.flatnonzero(both) + 1).tolist()
    problem = (
        f"{len(rows):,} held-out texts ({share:.1%}) are in training too, which flatters held-out skill: {_rows(rows)}."
    )
    return Finding(
        "duplicates", measure, share, COPIES_MATTER, problem, "Hold all copies of a text out together.", tuple(rows)
    )


def leakage(checked: Checked, names: Sequence[str], present: sp.csr_array) -> list[Finding]:
    """Words, and stated numbers, that are the response itself.

    present : (documents, features) not 0 where a document has a feature; names : (features,).
    """
    return [_stated_finding(checked), _fixed_finding(checked, names, present)]


def stated_number(text: str) -> float:
    """A rating that the text states, as a share of its scale: of 5 stars, or of what follows "/"; NaN for none.

    Examples
    --------
    >>> stated_number("Four stars from me."), stated_number("8/10"), stated_number("Room 5 was cold.")
    (0.8, 0.8, nan)
    """
    lower = text.lower()
    for words, pattern in STATEMENTS:
        if any(word in lower for word in words) and (match := pattern.search(lower)) is not None:
            number, scale = _as_number(match[1]), _as_number(match[2]) if match[2] else 5.0
            return number / scale if scale in (5, 6, 7, 10, 20, 100) and number <= 2 * scale else float("nan")
    return float("nan")


def _as_number(text: str) -> float:
    return float(NUMBERS.get(text, text.replace(",", ".")))


def _stated_finding(checked: Checked) -> Finding:
    measure, rows = "correlation of the response with a rating that texts state", checked.answered
    stated = np.array([stated_number(checked.reading.texts[row]) for row in rows.tolist()])
    responses = checked.spoken.responses[rows]
    known = np.isfinite(stated)
    n = int(known.sum())
    least = max(LEAST_STATED, STATED_SHARE * len(rows))
    varied = n >= LEAST_STATED and np.ptp(stated[known]) > 0 and np.ptp(responses[known]) > 0
    value = abs(float(stats.spearmanr(stated[known], responses[known])[0])) if varied else 0.0
    # Beyond what as many pairs have by chance.
    limit = max(STATED, min(1.0, float(stats.norm.isf(LEVEL)) / max(n - 1, 1) ** 0.5))
    if n < least or value <= limit:
        return Finding("leakage", measure, value, limit)
    where = rows[known]
    problem = (
        f"{n:,} texts ({n / len(rows):.1%}) state a rating (“5 stars”, “8/10”), which goes with the response to a "
        f"correlation of {value:.2f}, such as {_rows((where + 1).tolist())}.{_without(checked, where)}"
    )
    advice = "Take such statements out of the texts, or these texts out of the data: a theme cannot be worth a rating."
    return Finding("leakage", measure, value, limit, problem, advice, tuple((where[:NAMED] + 1).tolist()))


def _fixed_finding(checked: Checked, names: Sequence[str], present: sp.csr_array) -> Finding:
    """Features whose documents all but have the same response, as no word of people's own has it."""
    rows, responses = checked.answered, checked.spoken.responses
    kinds = kinds_of(responses[rows])
    here = sp.csc_array(present)[rows].astype(bool).astype(float)
    size = here.sum(axis=0)
    most = np.max([here.T @ (kinds == kind) for kind in range(kinds.max() + 1)], axis=0)
    purity = np.divide(most, size, out=np.zeros(len(size)), where=size > 0)
    # By how often the most telling words meet a response, and the commonest response is met anyway.
    usual = max(TELLING, 1 - (1 - float(np.bincount(kinds).max() / len(kinds))) * (1 - TELLING) * 2)
    chance = stats.binom.sf(most - 1, size, usual)
    fixed = np.flatnonzero((purity >= FIXED) & (chance < LEVEL))
    enough = size >= np.log(LEVEL) / np.log(usual)
    measure = "share of texts with a word that have the same response: most of all words"
    value = float(purity[enough].max()) if enough.any() else 0.0
    if not fixed.size:
        return Finding("leakage", measure, value, FIXED)
    order = fixed[np.argsort(-size[fixed], kind="stable")]
    with_it = rows[np.asarray(here[:, order].sum(axis=1)).ravel() > 0]
    listed = []
    for j in order[:NAMED].tolist():
        mean = float((here[:, [j]].T @ responses[rows]).item() / size[j])
        listed.append(f"“{names[j]}” ({int(size[j]):,} texts, {checked.naming.mean(mean)} on average)")
    more = f" and {len(order) - NAMED:,} more" if len(order) > NAMED else ""
    problem = (
        f"The response is all but fixed where there is {', '.join(listed)}{more}: {len(with_it):,} texts in all, such "
        f"as {_rows((with_it + 1).tolist())}.{_without(checked, with_it)}"
    )
    advice = "If these words were written because of the response, take them out of the texts."
    return Finding("leakage", measure, value, FIXED, problem, advice, tuple((with_it[:NAMED] + 1).tolist()))


def kinds_of(responses: Vector) -> NDArray[np.int64]:
    """(documents,) numbers of levels; of equal parts by rank where there are many.

    Examples
    --------
    >>> kinds_of(np.array([1.0, 5.0, 1.0]))
    array([0, 1, 0])
    """
    levels, places = np.unique(responses, return_inverse=True)
    if len(levels) <= PARTS:
        return places.astype(np.int64)
    return np.asarray((stats.rankdata(responses) - 1) * PARTS // len(responses), dtype=np.int64)


def _without(checked: Checked, rows: NDArray[np.int64]) -> str:
    """Skill with and without documents."""
    rest = np.setdiff1d(checked.answered, rows)
    if len(rest) < LEAST_STATED:
        return ""
    responses, means = checked.spoken.responses, checked.family.mean(checked.spoken.eta)
    every = r2_score(responses[checked.answered], means[checked.answered])
    return f" R2 is {every:.2f} with these texts and {r2_score(responses[rest], means[rest]):.2f} without."


def _rows(rows: Sequence[int]) -> str:
    """Some rows, from 1."""
    listed = ", ".join(f"{row:,}" for row in rows[:NAMED])
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    return f"row{'' if len(rows) == 1 else 's'} {listed}{more}"
