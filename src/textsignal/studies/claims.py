"""Claims of the paper beside what we find: the verdict follows from the numbers, never from us."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


class Verdict(enum.StrEnum):
    """What we say to a claim."""

    agrees = "agrees"
    differs = "differs"
    unchecked = "cannot be checked"


@dataclass(frozen=True)
class Claim:
    """A claim and what became of it.

    where : section, figure or table of the paper.
    statement : what it says, in few words.
    paper, ours : its number and ours, as shown; "" where it gives none.
    verdict, reason : ours on it, and why.
    """

    where: str
    statement: str
    paper: str
    ours: str
    verdict: Verdict
    reason: str


def number_claim(
    where: str, statement: str, paper: float, ours: ArrayLike, *, within: float, agreed: str = "", differed: str
) -> Claim:
    """A claim of a number: it agrees where our mean is no further from it than `within`.

    Parameters
    ----------
    where, statement : of the paper.
    paper : its number.
    ours : one number per draw or split, shown as mean and standard deviation.
    agreed, differed : what to say in either case.
    """
    found = np.atleast_1d(np.asarray(ours, dtype=float))
    if not found.size:
        return unchecked(where, statement, f"{paper:.3f}", "The methods that it speaks of were not run.")
    agrees = abs(float(found.mean()) - paper) <= within
    return Claim(
        where,
        statement,
        f"{paper:.3f}",
        mean_and_spread(found),
        Verdict.agrees if agrees else Verdict.differs,
        agreed if agrees else differed,
    )


def statement_claim(
    where: str, statement: str, ours: str, holds: bool, *, paper: str = "", agreed: str = "", differed: str
) -> Claim:
    """A claim in words: `holds` says whether our numbers, shown as `ours`, bear it out."""
    verdict = Verdict.agrees if holds else Verdict.differs
    return Claim(where, statement, paper, ours, verdict, agreed if holds else differed)


def unchecked(where: str, statement: str, paper: str, reason: str) -> Claim:
    """A claim that nothing at hand can check."""
    return Claim(where, statement, paper, "", Verdict.unchecked, reason)


def mean_and_spread(values: ArrayLike) -> str:
    """Mean and, of several values, standard deviation.

    Examples
    --------
    >>> mean_and_spread([0.5, 0.7])
    '0.600 ± 0.141'
    """
    found = np.atleast_1d(np.asarray(values, dtype=float))
    if found.size == 1:
        return f"{found[0]:z.3f}"
    return f"{found.mean():z.3f} ± {found.std(ddof=1):.3f}"


def claim_table(claims: Iterable[Claim]) -> str:
    """Claims as a table in Markdown."""
    lines = ["| where | the paper says | its number | ours | verdict | reason |", "|---|---|---|---|---|---|"]
    for claim in claims:
        cells = (claim.where, claim.statement, claim.paper, claim.ours, f"**{claim.verdict}**", claim.reason)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)
