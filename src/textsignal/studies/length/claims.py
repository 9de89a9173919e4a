"""What the paper claims about the length of reviews (Section 4.5), beside what we find."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from textsignal.studies.claims import Claim, mean_and_spread, number_claim, statement_claim, unchecked
from textsignal.studies.methods import label
from textsignal.studies.study import Plan, Tables

SECTION, REPEATED = "Section 4.5", "Section 4.5, Discussion"
#: Subsets by the role of their sample, from the paper's shortest reviews to its longest.
SUBSETS = {"fast-food": "fast food", "cafe": "cafe", "hotel": "hotel", "tripadvisor": "TripAdvisor"}
SHORT, LONG = ("fast-food", "cafe"), ("hotel", "tripadvisor")
PAPER_WORDS = {"fast-food": 8, "cafe": 13, "hotel": 58, "tripadvisor": 77}
#: Test R2 of ridge regression less that of JBNMF.
PAPER_GAPS = {"fast-food": 0.272, "cafe": 0.214, "hotel": 0.056, "tripadvisor": 0.018}
#: How near a number of ours is to agree, and a gap that is substantial.
WORDS_WITHIN, GAP_WITHIN, SUBSTANTIAL = 0.1, 0.05, 0.1


def gaps(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of all methods but ridge regression, with what their test R2 is behind ridge's on the same split."""
    ridge = table[table["method"] == "ridge"].set_index(["subset", "seed"])["r2"].rename("ridge")
    others = table[table["method"] != "ridge"].join(ridge, on=["subset", "seed"])
    return others.assign(behind=others["ridge"] - others["r2"])


def with_predictive(tables: Tables) -> pd.DataFrame:
    """Methods on the rows that predictive training reads, and predictive training itself."""
    table = tables["length"]
    words = table.groupby("subset")["words"].first()
    rows = tables["length-rows"]
    return pd.concat([rows.assign(words=rows["subset"].map(words)), table[table["method"] == "predictive"]])


class Behind:
    """What methods are behind ridge regression, asked by method and subset."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.values = gaps(table).set_index(["method", "subset"]).sort_index()["behind"]
        self.methods = list(self.values.index.unique("method"))

    def mean(self, method: str, subset: str) -> float:
        """Mean over splits."""
        return float(self.values.loc[(method, subset)].mean())

    def spread(self, method: str, subset: str) -> float:
        """Standard deviation over splits, 0 of a single one."""
        found = self.values.loc[[(method, subset)]]
        return float(found.std(ddof=1)) if len(found) > 1 else 0.0

    def text(self, subsets: tuple[str, ...], methods: tuple[str, ...]) -> str:
        """Means and spreads of those methods that were run."""
        return "; ".join(
            f"{label(method)}: "
            + ", ".join(f"{mean_and_spread(self.values.loc[(method, role)])} ({SUBSETS[role]})" for role in subsets)
            for method in methods
            if method in self.methods
        )


def claims(plan: Plan, tables: Tables) -> list[Claim]:
    """Section 4.5 of the paper, and what its discussion repeats."""
    behind = Behind(tables["length"])
    words = [_words_claim(plan, role) for role in SUBSETS]
    joint = [
        *_gap_claims(behind, tables),
        *_joint_claims(behind, {role: plan.samples[role].median_words for role in SUBSETS}),
    ]
    return [*words, *joint, *_predictive_claims(Behind(with_predictive(tables)), behind), _cause_claim()]


def _words_claim(plan: Plan, role: str) -> Claim:
    paper, ours = PAPER_WORDS[role], plan.samples[role].median_words
    return statement_claim(
        SECTION,
        f"median number of words, {SUBSETS[role]}",
        f"{ours:g}",
        abs(ours - paper) <= WORDS_WITHIN * paper,
        paper=f"{paper}",
        agreed=f"{plan.samples[role].name} stands in for the paper's reviews.",
        differed=f"{plan.samples[role].name} stands in for the paper's reviews; it is another sample.",
    )


def _gap_claims(behind: Behind, tables: Tables) -> list[Claim]:
    """The paper's four numbers, each beside ours."""
    found = []
    for role, paper in PAPER_GAPS.items():
        statement = f"test R2 of ridge regression - JBNMF, {SUBSETS[role]}"
        if "published" not in behind.methods:
            found.append(unchecked(SECTION, statement, f"{paper:.3f}", "JBNMF was not run."))
            continue
        reason = (
            "The reviews are not the paper's, so this need not be its number. "
            f"{behind.text((role,), ('joint', 'predictive'))}. {_best_setting(tables, role)}"
        )
        ours = behind.values.loc[("published", role)]
        found.append(number_claim(SECTION, statement, paper, ours, within=GAP_WITHIN, agreed=reason, differed=reason))
    return found


def _best_setting(tables: Tables, role: str) -> str:
    """How near the published algorithm comes to ridge regression with the setting that is best on the test side."""
    choices, fitted = tables["length-choices"], tables["length"]
    here = choices[(choices["subset"] == role) & (choices["method"] == "published")]
    same = fitted[(fitted["subset"] == role) & fitted["seed"].isin(here["seed"].unique())]
    tested = here.groupby(["n_topics", "alpha"])["r2"].mean()
    n_topics, alpha = tested.idxmax()
    ridge = same[same["method"] == "ridge"]["r2"].mean()
    return (
        f"With K={n_topics} and alpha={alpha:g}, best on the test side, the published one: {ridge - tested.max():.3f}."
    )


def _joint_claims(behind: Behind, words: dict[str, float]) -> list[Claim]:
    statements = (
        (SECTION, "JBNMF is substantially below ridge regression on the shortest reviews"),
        (SECTION, "the gap narrows for longer reviews"),
        (REPEATED, "JBNMF becomes competitive where reviews hold enough text"),
    )
    if "published" not in behind.methods:
        return [unchecked(where, statement, "", "JBNMF was not run.") for where, statement in statements]
    mean = {role: behind.mean("published", role) for role in SUBSETS}
    both = ("published", "joint")
    competitive = max(PAPER_GAPS[role] for role in LONG)
    answers = (
        (
            behind.text(SHORT, both),
            min(mean[role] for role in SHORT) > SUBSTANTIAL,
            "",
            f"The gap is not above {SUBSTANTIAL:g} on both short subsets.",
        ),
        (
            behind.text((*SHORT, *LONG), ("published",)),
            min(mean[role] for role in SHORT) > max(mean[role] for role in LONG),
            f"Both short subsets have a larger gap than both long ones; {_in_order(words, mean)}.",
            "A long subset has a gap as large as a short one.",
        ),
        (
            behind.text(LONG, both),
            round(max(mean[role] for role in LONG), 3) <= competitive,
            f"The gap is at most {competitive:g}, the larger of the paper's on long reviews.",
            f"The gap is above {competitive:g}, the larger of the paper's on long reviews: closer, not close.",
        ),
    )
    return [
        statement_claim(where, statement, ours, holds, agreed=agreed, differed=differed)
        for (where, statement), (ours, holds, agreed, differed) in zip(statements, answers, strict=True)
    ]


def _in_order(words: dict[str, float], mean: dict[str, float]) -> str:
    """Whether the gap falls at every step of our own subsets' lengths, which are not ordered as the paper's are."""
    along = [mean[role] for role in sorted(words, key=lambda role: words[role])]
    falls = all(later < earlier for earlier, later in pairwise(along))
    listed = ", ".join(f"{gap:.3f}" for gap in along)
    return f"by our own median words it {'falls' if falls else 'does not fall'} at every step ({listed})"


def _predictive_claims(alike: Behind, behind: Behind) -> list[Claim]:
    """What the paper puts down to the text, asked of predictive training beside ridge regression on the same rows."""
    statements = (
        "very short reviews hold too little to recover stable topic mixtures, so topics predict poorly there",
        "topics cost a small loss of predictive accuracy against ridge regression",
    )
    if "predictive" not in alike.methods:
        return [unchecked(REPEATED, statement, "", "Predictive training was not run.") for statement in statements]
    mean = {role: alike.mean("predictive", role) for role in SUBSETS}
    clear = [role for role in SUBSETS if mean[role] < -alike.spread("predictive", role)]
    lead = f"Ahead by more than a standard deviation over splits on {len(clear)} of {len(SUBSETS)} subsets."
    ours = "behind ridge on the same rows: "
    tfidf = f"Behind ridge on TF-IDF, the paper's: {behind.text(tuple(SUBSETS), ('predictive',))}."
    return [
        statement_claim(
            REPEATED,
            statements[0],
            ours + alike.text(SHORT, ("published", "joint", "predictive")),
            max(mean[role] for role in SHORT) > SUBSTANTIAL,
            agreed=f"Predictive training falls behind on short reviews too. {tfidf}",
            differed="As many topics, on the same terms and rows, do not lag so far behind when they are trained to "
            f"predict from text alone. {tfidf}",
        ),
        statement_claim(
            REPEATED,
            statements[1],
            ours + alike.text(tuple(SUBSETS), ("predictive",)),
            max(mean.values()) > 0,
            agreed=f"Predictive training loses on at least one subset. {lead} {tfidf}",
            differed=f"Predictive training loses nothing on any subset on average. {lead} {tfidf}",
        ),
    ]


def _cause_claim() -> Claim:
    reason = "A caution, not a result. It holds here too: the subsets differ in more than the length of their reviews."
    return unchecked(SECTION, "the comparison does not isolate length from category and platform", "", reason)
