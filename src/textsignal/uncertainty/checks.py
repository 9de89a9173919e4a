"""What looks wrong with a model and its data, and what to do about it: the values.

Every measure has a limit that comes from a null, as a rule of responses drawn from the model itself, and from what is
too small to matter: with enough documents everything is significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import Family
from textsignal.insight.inputs import Times
from textsignal.insight.naming import Naming
from textsignal.reading.observed import Reading
from textsignal.reading.spoken import Spoken

#: Draws under the null; a measure is beyond chance where it is above all of them, in one of a hundred clean samples.
DRAWS = 99
#: The same as a level of tests.
LEVEL = 0.01
#: Differences of mean responses below this share of their standard deviation do not matter.
MATTERS = 0.15
#: Fewest documents with a response that are checked.
FEWEST = 50


@dataclass(frozen=True)
class Finding:
    """One measure that was looked at.

    check : what kind of check it is of; measure : what was measured, in words; value : the number.
    limit : from where on it would look wrong; NaN where no single number says that.
    problem : what looks wrong, as a sentence; "" where nothing does. advice : what to do about it.
    rows : of documents that are meant, from 1.
    """

    check: str
    measure: str
    value: float
    limit: float
    problem: str = ""
    advice: str = ""
    rows: tuple[int, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether something looks wrong."""
        return bool(self.problem)


@dataclass(frozen=True, eq=False)
class Check:
    """What looks wrong with a model and its data; prints as plain lines, and a notebook shows a list.

    findings : every measure that was looked at, wrong or not; documents : that have a response and were looked at.
    where : what predictions are judged on, in words.
    pit : histogram of the places of responses in their predicted distributions: low, high, documents, expected.
    reliability : tenths of documents by prediction: predicted, observed, standard_error, documents.

    Examples
    --------
    >>> copies = Finding("duplicates", "share of copies", 0.1, 0.01, "40 texts (10%) are copies.", "Leave them out.")
    >>> fine = Finding("skill", "R2", 0.6, 0.1)
    >>> print(Check((fine, copies), 400, "judged out of fold", pd.DataFrame(), pd.DataFrame()))
    duplicates: 40 texts (10%) are copies. Leave them out.
    Nothing else looks wrong in skill (400 texts with a response; judged out of fold).
    """

    findings: tuple[Finding, ...]
    documents: int
    where: str
    pit: pd.DataFrame
    reliability: pd.DataFrame

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What looks wrong, in the order of the checks."""
        return tuple(finding for finding in self.findings if finding.wrong)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Names of the checks."""
        return tuple(dict.fromkeys(finding.check for finding in self.findings))

    def to_frame(self) -> pd.DataFrame:
        """One row per measure: check, measure, value, limit, wrong, problem, advice, rows."""
        names = ("check", "measure", "value", "limit", "wrong", "problem", "advice", "rows")
        return pd.DataFrame(
            [{name: getattr(finding, name) for name in names} for finding in self.findings], columns=list(names)
        )

    def lines(self) -> list[str]:
        """What looks wrong, a line each, and at last what was looked at."""
        said = [f"{finding.check}: {finding.problem} {finding.advice}".rstrip() for finding in self.wrong]
        return [*said, self._rest]

    @property
    def _rest(self) -> str:
        """What was looked at and is fine."""
        wrong = {finding.check for finding in self.wrong}
        fine = [name for name in self.looked_at if name not in wrong]
        told = "Nothing else looks wrong" if wrong else "Nothing looks wrong"
        looked = f" in {', '.join(fine)}" if fine else ""
        return f"{told}{looked} ({self.documents:,} texts with a response; {self.where})."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What looks wrong as a list, and what was looked at."""
        items = "".join(
            f"<li><strong>{escape(finding.check)}</strong>: {escape(finding.problem)} {escape(finding.advice)}</li>"
            for finding in self.wrong
        )
        return f"{f'<ul>{items}</ul>' if items else ''}<p>{escape(self._rest)}</p>"


@dataclass(frozen=True, eq=False)
class Checked:
    """What is checked: documents, and what the model says of them.

    reading, spoken : of all documents, `spoken` by numbers that have not seen their responses where these are known.
    labels : (topics,) what each is called; naming : what the response is called.
    held_out : (documents,) which of them training has not seen.
    out_of_fold : whether numbers of training documents have not seen their responses.
    groups : (documents,) missing where there is none; times : (documents,) NaT where there is none; None for none.
    covariates : one row per document; None for none. seed : of draws.
    """

    reading: Reading
    spoken: Spoken
    labels: Sequence[str]
    naming: Naming
    held_out: NDArray[np.bool_]
    out_of_fold: bool
    groups: pd.Series | None = None
    times: Times | None = None
    covariates: pd.DataFrame | None = None
    group_name: str = "group"
    time_name: str = "date"
    seed: int = 0

    @property
    def family(self) -> Family:
        """The response's."""
        return self.spoken.family

    @cached_property
    def answered(self) -> NDArray[np.int64]:
        """Numbers of the documents that have a response and count."""
        return np.flatnonzero(~np.isnan(self.spoken.responses) & (self.spoken.weight > 0))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of the documents that predictions are judged on: those held out, where there are enough."""
        new = self.answered[self.held_out[self.answered]]
        return new if len(new) >= FEWEST else self.answered

    @property
    def responses(self) -> Vector:
        """(rows,) responses of these."""
        return self.spoken.responses[self.rows]

    @property
    def eta(self) -> Vector:
        """(rows,) linear predictors of these."""
        return self.spoken.eta[self.rows]

    @property
    def weight(self) -> Vector:
        """(rows,) how often each of these counts."""
        return self.spoken.weight[self.rows]

    @cached_property
    def means(self) -> Vector:
        """(rows,) expected responses of these."""
        return self.family.mean(self.eta)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the responses."""
        return float(np.std(self.responses))

    @property
    def where(self) -> str:
        """What predictions are judged on, in words."""
        if len(self.rows) < len(self.answered) or self.held_out[self.rows].all():
            return f"predictions judged on {len(self.rows):,} texts that training has not seen"
        if self.out_of_fold:
            return "predictions judged out of fold, by tone of fits that left each text out"
        return "predictions judged on the very texts that the model was fitted to, which flatters it"

    def rng(self, number: int) -> np.random.Generator:
        """Draws of one check, whatever others draw."""
        return np.random.default_rng([self.seed, number])
