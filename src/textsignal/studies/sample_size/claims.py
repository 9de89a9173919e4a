"""What the paper claims about sample size and overfitting (Section 4.4 and its appendix), beside what we find."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from textsignal.studies.claims import Claim, Verdict, mean_and_spread, statement_claim, unchecked
from textsignal.studies.methods import label
from textsignal.studies.study import Plan, Tables

SECTION, REPEATED = "Section 4.4", "Section 4.4, Discussion"
APPENDIX = "Additional overfitting analysis (appendix)"
#: The paper speaks of these; the verdict on JBNMF is that of its own algorithm.
PAPER_METHODS = ("linear", "ridge", "published")
OURS = ("published", "joint", "predictive")
#: A training R2 that is almost perfect, and the share of linear regression's gap that is much smaller.
PERFECT, MUCH_SMALLER = 0.95, 0.5


class Sizes:
    """A table of a study of sample size, asked by method and size."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.values = table.set_index(["method", "size"]).sort_index()
        self.means = self.values.groupby(level=["method", "size"]).mean()
        self.sizes = sorted(table["size"].unique())
        self.methods = list(table["method"].unique())

    def mean(self, method: str, size: int, value: str) -> float:
        """Mean over seeds."""
        return float(self.means.loc[(method, size), value])

    def along(self, method: str, value: str) -> list[float]:
        """Means over seeds from the smallest size to the largest."""
        return [self.mean(method, size, value) for size in self.sizes]

    def text(self, methods: Sequence[str], size: int, value: str) -> str:
        """Means and spreads of those methods that were run."""
        found = [method for method in methods if method in self.methods]
        return ", ".join(f"{label(m)} {mean_and_spread(self.values.loc[(m, size), value])}" for m in found)


def claims(name: str, plan: Plan, tables: Tables) -> list[Claim]:
    """Section 4.4 of the paper, and what its discussion repeats."""
    table = Sizes(tables[name])
    return [*_linear_claims(table), _ridge_claim(table), *_joint_claims(table), *_growth_claims(table)]


def _linear_claims(table: Sizes) -> list[Claim]:
    small = table.sizes[0]
    return [
        statement_claim(
            SECTION,
            f"linear regression fits the training data almost perfectly at M={small:,}",
            f"training R2 {table.text(['linear'], small, 'train_r2')}",
            table.mean("linear", small, "train_r2") > PERFECT,
            agreed="There are more terms than training reviews.",
            differed=f"Its training R2 is not above {PERFECT:g}.",
        ),
        statement_claim(
            SECTION,
            f"its test R2 is negative at M={small:,}",
            f"test R2 {table.text(['linear'], small, 'r2')}",
            table.mean("linear", small, "r2") < 0,
            differed="It predicts better than the mean.",
        ),
    ]


def _ridge_claim(table: Sizes) -> Claim:
    small = table.sizes[0]
    return statement_claim(
        SECTION,
        f"ridge regression substantially reduces the gap at M={small:,}",
        f"training - test R2 {table.text(['linear', 'ridge'], small, 'gap')}",
        table.mean("ridge", small, "gap") < MUCH_SMALLER * table.mean("linear", small, "gap"),
        agreed=f"Test R2 {table.text(['ridge'], small, 'r2')}.",
        differed=f"It is not below {MUCH_SMALLER:.0%} of linear regression's.",
    )


def _joint_claims(table: Sizes) -> list[Claim]:
    small = table.sizes[0]
    statements = (
        (REPEATED, f"JBNMF avoids the collapse of linear regression: positive test R2 at M={small:,}"),
        (REPEATED, f"JBNMF has a much smaller gap than linear regression at M={small:,}"),
        (REPEATED, "JBNMF is not uniformly less overfitted than ridge regression"),
        (SECTION, "JBNMF is a structured alternative where the sample is small and word regression unstable"),
    )
    if "published" not in table.methods:
        return [unchecked(where, statement, "", "JBNMF was not run.") for where, statement in statements]
    gap, test = table.mean("published", small, "gap"), table.mean("published", small, "r2")
    more = [
        f"{size:,}" for size in table.sizes if table.mean("published", size, "gap") > table.mean("ridge", size, "gap")
    ]
    answers = (
        (f"test R2 {table.text(OURS, small, 'r2')}", test > 0, "", "It predicts worse than the mean."),
        (
            f"training - test R2 {table.text(('linear', *OURS), small, 'gap')}",
            gap < MUCH_SMALLER * table.mean("linear", small, "gap"),
            "",
            f"It is not below {MUCH_SMALLER:.0%} of linear regression's.",
        ),
        (
            f"its gap is above ridge's at {len(more)} of {len(table.sizes)} sizes" + _at(more),
            bool(more),
            _more_overfitted(table),
            "Its gap is below ridge regression's at every size.",
        ),
        (
            f"test R2 at M={small:,}: {table.text(('linear', 'ridge', *OURS), small, 'r2')}",
            test > table.mean("linear", small, "r2"),
            "Against unregularised regression. "
            + (
                "Ridge regression predicts better."
                if table.mean("ridge", small, "r2") > test
                else "It beats ridge too."
            ),
            "Linear regression predicts better.",
        ),
    )
    return [
        statement_claim(where, statement, ours, holds, agreed=agreed, differed=differed)
        for (where, statement), (ours, holds, agreed, differed) in zip(statements, answers, strict=True)
    ]


def _at(sizes: Sequence[str]) -> str:
    return f" (M = {'; '.join(sizes)})" if sizes else ""


def _more_overfitted(table: Sizes) -> str:
    """What predictive training's gap is beside ridge regression's, if it was run."""
    if "predictive" not in table.methods:
        return ""
    more = [size for size in table.sizes if table.mean("predictive", size, "gap") > table.mean("ridge", size, "gap")]
    return f"Predictive training's is above it at {len(more)} of {len(table.sizes)} sizes."


def _growth_claims(table: Sizes) -> list[Claim]:
    statement = "methods come closer in test performance as the sample grows"
    first, last = table.sizes[0], table.sizes[-1]
    gaps = table.along("linear", "gap")
    narrowing = statement_claim(
        SECTION,
        "the gap of linear regression narrows as the sample grows",
        " → ".join(f"{gap:.3f}" for gap in gaps),
        all(later < earlier for earlier, later in pairwise(gaps)),
        differed="It does not narrow at every step.",
    )
    if "published" not in table.methods:
        return [narrowing, unchecked(SECTION, statement, "", "JBNMF was not run.")]
    spread = [
        max(tested) - min(tested) for tested in ([table.mean(m, s, "r2") for m in PAPER_METHODS] for s in (first, last))
    ]
    return [
        narrowing,
        statement_claim(
            SECTION,
            statement,
            f"best - worst test R2 {spread[0]:.3f} at M={first:,}, {spread[1]:.3f} at M={last:,}",
            spread[1] < spread[0],
            agreed=f"At M={last:,}: {table.text(('linear', 'ridge', *OURS), last, 'r2')}.",
            differed="They do not.",
        ),
    ]


def appendix_claims(name: str, plan: Plan, tables: Tables) -> list[Claim]:
    """The appendix: the same study on other reviews."""
    table = Sizes(tables[name])
    same = claims(name, plan, tables)
    held = [claim for claim in same if claim.verdict is Verdict.agrees]
    small = table.sizes[0]
    statements = (
        "linear regression has the largest train-test gap in small samples",
        "ridge regression and JBNMF have more stable test performance",
        "the pattern is that of the TripAdvisor sample",
    )
    if "published" not in table.methods:
        return [unchecked(APPENDIX, statement, "", "JBNMF was not run.") for statement in statements]
    gaps = {method: table.mean(method, small, "gap") for method in table.methods}
    tested = {method: table.along(method, "r2") for method in PAPER_METHODS}
    moved = {method: max(along) - min(along) for method, along in tested.items()}
    return [
        statement_claim(
            APPENDIX,
            statements[0],
            f"training - test R2 at M={small:,}: {table.text(table.methods, small, 'gap')}",
            max(gaps, key=lambda method: gaps[method]) == "linear",
            differed="Another method has a larger one.",
        ),
        statement_claim(
            APPENDIX,
            statements[1],
            "over all M the mean test R2 moves by " + ", ".join(f"{by:.3f} ({label(m)})" for m, by in moved.items()),
            max(moved["ridge"], moved["published"]) < moved["linear"],
            agreed=f"At M={small:,}: {table.text(('linear', 'ridge', *OURS), small, 'r2')}.",
            differed="They move no less than linear regression's.",
        ),
        statement_claim(
            APPENDIX,
            statements[2],
            f"{len(held)} of {len(same)} statements of Section 4.4 hold here",
            len(held) == len(same),
            differed="These do not: " + "; ".join(c.statement for c in same if c.verdict is not Verdict.agrees) + ".",
        ),
    ]
