"""Test R2 against the length of reviews, over four subsets (Section 4.5 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.preprocessing import normalize

from reproduction.choices import DEFAULT_CHOICES, Choices, choice_cells, fit_methods, settings_tried
from reproduction.claims import Claim, Results, mean_and_spread, number_claim, statement_claim, unchecked
from reproduction.figures import label_lines, method_lines, panels
from reproduction.methods import JOINT, chosen, label, score_methods
from reproduction.page import table_of
from reproduction.samples import MAX_RAW_TERMS, MAX_TERMS, Sample, split_sample
from reproduction.study import Cell, Columns, Plan, Row, Study, Tables
from textsignal.plots import styled

REVIEWS, QUICK_REVIEWS = 10_000, 2_000
COMPARED = ("ridge", "published", "joint", "predictive")
#: Splits on which costly extras are computed: all 2,000 terms, and settings that the paper leaves open.
FEW = 2
SECTION, REPEATED = "Section 4.5", "Section 4.5, Discussion"
#: Subsets by the role of their sample, from the paper's shortest reviews to its longest.
SUBSETS = {"fast-food": "fast food", "cafe": "cafe", "hotel": "hotel", "tripadvisor": "TripAdvisor"}
SHORT, LONG = ("fast-food", "cafe"), ("hotel", "tripadvisor")
PAPER_WORDS = {"fast-food": 8, "cafe": 13, "hotel": 58, "tripadvisor": 77}
#: Test R2 of ridge regression minus that of JBNMF.
PAPER_GAPS = {"fast-food": 0.272, "cafe": 0.214, "hotel": 0.056, "tripadvisor": 0.018}
#: Largest relative difference of words and absolute difference of gaps that agree, and a substantial gap.
WORDS_WITHIN, GAP_WITHIN, SUBSTANTIAL = 0.1, 0.05, 0.1
#: Share of the length of an axis that the name of a subset needs.
LABEL_ROOM = 0.08


def fit_subset(sample: Sample, size: int, methods: Sequence[str], seed: int, max_terms: int) -> list[Row]:
    """Return scores of methods on a split of a subset, and its median number of words."""
    return [{"words": sample.median_words, **row} for row in fit_methods(sample, size, methods, seed, max_terms)]


def fit_same_rows(sample: Sample, size: int, methods: Sequence[str], seed: int) -> list[Row]:
    """Return scores of methods on the input of predictive training: counts with rows of norm 1 instead of TF-IDF."""
    split = split_sample(sample.drawn(size, seed), seed)
    same = replace(split, X=normalize(split.counts), X_test=normalize(split.counts_test))
    return score_methods(same, methods, seed)


def _cells(reviews: int, quick_reviews: int, choices: Choices, plan: Plan, tables: Tables) -> list[Cell]:
    """Every subset and seed; all terms and other settings on few seeds."""
    cells = []
    for seed in range(plan.seeds):
        for role in SUBSETS:
            sample = plan.samples[role]
            size = min(quick_reviews if plan.quick else reviews, len(sample))
            columns: Columns = {"subset": role, "size": size}
            cells.append(_cell("length", columns, sample, seed, MAX_TERMS, chosen(plan.methods, COMPARED)))
            alike = chosen(plan.methods, ("ridge", *JOINT))
            fitted: Columns = {"method": " ".join(alike), "seed": seed}
            compute = partial(fit_same_rows, sample, size, alike, seed)
            cells.append(Cell("length-rows", columns | fitted, compute, sample.digest))
            if seed < FEW:
                wide = chosen(plan.methods, ("ridge", "predictive"))
                cells.append(_cell("length-terms", columns, sample, seed, MAX_RAW_TERMS, wide))
                cells += choice_cells("length", columns, sample, seed, choices, plan)
    return cells


def _cell(table: str, columns: Columns, sample: Sample, seed: int, max_terms: int, methods: Sequence[str]) -> Cell:
    compute = partial(fit_subset, sample, int(columns["size"]), methods, seed, max_terms)
    fitted: Columns = {"max_terms": max_terms, "method": " ".join(methods), "seed": seed}
    return Cell(table, columns | fitted, compute, sample.digest)


def gaps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all methods but ridge regression; `behind` is ridge's R2 on the same split minus theirs."""
    ridge = table[table["method"] == "ridge"].set_index(["subset", "seed"])["r2"].rename("ridge")
    others = table[table["method"] != "ridge"].join(ridge, on=["subset", "seed"])
    return others.assign(behind=others["ridge"] - others["r2"])


def _on_same_rows(tables: Tables) -> pd.DataFrame:
    """Methods on the input of predictive training, and predictive training."""
    table, rows = tables["length"], tables["length-rows"]
    words = table.groupby("subset")["words"].first()
    return pd.concat([rows.assign(words=rows["subset"].map(words)), table[table["method"] == "predictive"]])


def _figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """Test R2 against the median number of words, and its difference from that of ridge regression."""
    table = tables["length"]
    words = table.groupby("subset", sort=False)["words"].first()
    # Lines are grouped by their x, so subsets of equal length are moved apart a little.
    words = words * [1 + 1e-3 * k for k in range(len(words))]
    table = table.assign(words=table["subset"].map(words))
    figure, axes = panels(1, 2, 3)
    method_lines(axes[0], table, "words", "r2")
    method_lines(axes[1], gaps(table), "words", "behind")
    paper = list(PAPER_WORDS.values()), list(PAPER_GAPS.values())
    axes[1].plot(*paper, "k:x", markersize=4, label="JBNMF in the paper, its subsets")
    for ax, title in zip(axes, ("test R2", "test R2 of ridge regression - test R2"), strict=True):
        _draw_words(ax, words, title)
        ax.axhline(0, color="#666666", linewidth=0.6)
    label_lines(figure, *axes)
    return {"words": figure}


@styled
def _draw_words(ax: Axes, words: pd.Series, title: str) -> None:
    ax.set_title(title, loc="left")
    ax.set_xscale("log")
    ax.minorticks_off()
    positions, names = tick_names(words)
    ax.set_xticks(positions, names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_xlabel("subset: median number of words (log scale)")


def tick_names(words: pd.Series) -> tuple[list[float], list[str]]:
    """Return positions and labels of ticks; subsets whose labels would overlap share one.

    Examples
    --------
    >>> tick_names(pd.Series({"cafe": 13.0, "fast-food": 14.0, "hotel": 61.0}))[1]
    ['cafe: 13, fast food: 14', 'hotel: 61']
    """
    ordered = words.sort_values()
    room = LABEL_ROOM * np.log(ordered.iloc[-1] / ordered.iloc[0])
    groups = (np.diff(np.log(ordered), prepend=np.log(ordered.iloc[0])) > room).cumsum()
    positions, names = [], []
    for _, near in ordered.groupby(groups):
        positions.append(float(np.exp(np.log(near).mean())))
        names.append(", ".join(f"{SUBSETS[str(role)]}: {count:.0f}" for role, count in near.items()))
    return positions, names


def _section(plan: Plan, tables: Tables) -> str:
    table = tables["length"]
    names = ", ".join(f"{plan.samples[role].name} for {name}" for role, name in SUBSETS.items())
    few = tables["length-penalties"]["seed"].nunique()
    splits = "on the first split" if few == 1 else f"on the first {few} splits"
    paper = ["JBNMF in the paper", *(f"{PAPER_GAPS[role]:.3f}" for role in SUBSETS)]
    behind = [paper, *Results(gaps(table), "subset").rows("behind", SUBSETS)]
    tried = [
        [setting, *(mean_and_spread(rows[rows["subset"] == role]["r2"]) for role in SUBSETS)]
        for setting, rows in settings_tried("length", tables)
    ]
    return f"""
Four subsets of at most {table["size"].max():,} reviews: {names}.
Each is split 80/20 {plan.times}. The paper's 500 terms, K=14 and alpha=.05.

{_r2_table(table)}

Test R2 of ridge regression minus that of a method, on the same splits, compared with the paper's for JBNMF:

{table_of(["ridge regression - method", *SUBSETS.values()], behind)}

Bands are one standard deviation over splits. Ridge regression uses TF-IDF here, as in the paper.

{{figure:words}}

Predictive training uses counts with rows of norm 1, the others TF-IDF. To separate the effect of training from that of
the rows, the other methods are shown on the same rows as predictive training, on the same splits (test R2):

{_r2_table(_on_same_rows(tables))}

By default, predictive training uses not 500 terms but up to {MAX_RAW_TERMS:,}. Test R2 with these, and that of
ridge regression on the same terms (as TF-IDF), {splits}:

{_r2_table(tables["length-terms"])}

### Settings that the paper does not report

The paper does not report whether K and alpha were chosen again for each subset, on which reviews, nor the ridge
penalty. Test R2 with other settings, {splits}:

{table_of(["setting", *SUBSETS.values()], tried)}

The best of these settings is known only from the test side.
"""


def _r2_table(table: pd.DataFrame) -> str:
    words = table.groupby("subset", sort=False)["words"].first()
    header = ["method", *(f"{SUBSETS[str(role)]} ({n:g} words)" for role, n in words.items())]
    return table_of(header, Results(table, "subset").rows("r2", words.index))


def _claims(plan: Plan, tables: Tables) -> list[Claim]:
    """Section 4.5 of the paper, and its repetition in the discussion."""
    behind, alike = (Results(gaps(table), "subset") for table in (tables["length"], _on_same_rows(tables)))
    caution = "A caution, not a result. It holds here too: the subsets differ in more than the length of their reviews."
    return [
        *(_words_claim(plan, role) for role in SUBSETS),
        *(_gap_claim(behind, tables, role) for role in SUBSETS),
        *_joint_claims(behind, plan),
        *_predictive_claims(alike, behind),
        unchecked(SECTION, "the comparison does not isolate length from category and platform", "", caution),
    ]


def _text(behind: Results, subsets: Sequence[str], methods: Sequence[str]) -> str:
    """Means and spreads of the methods that were run."""
    return "; ".join(
        f"{label(method)}: "
        + ", ".join(f"{mean_and_spread(behind.values(method, role, 'behind'))} ({SUBSETS[role]})" for role in subsets)
        for method in methods
        if method in behind.methods
    )


def _words_claim(plan: Plan, role: str) -> Claim:
    paper, ours = PAPER_WORDS[role], plan.samples[role].median_words
    stands_in = f"{plan.samples[role].name} stands in for the paper's reviews"
    return statement_claim(
        SECTION,
        f"median number of words, {SUBSETS[role]}",
        f"{ours:g}",
        abs(ours - paper) <= WORDS_WITHIN * paper,
        paper=f"{paper}",
        agreed=f"{stands_in}.",
        differed=f"{stands_in}; it is a different sample.",
    )


def _gap_claim(behind: Results, tables: Tables, role: str) -> Claim:
    statement, paper = f"test R2 of ridge regression - JBNMF, {SUBSETS[role]}", PAPER_GAPS[role]
    if "published" not in behind.methods:
        return unchecked(SECTION, statement, f"{paper:.3f}", "JBNMF was not run.")
    reason = (
        "The reviews are not the paper's, so the numbers may differ. "
        f"{_text(behind, (role,), ('joint', 'predictive'))}. {_best_setting(tables, role)}"
    )
    ours = behind.values("published", role, "behind")
    return number_claim(SECTION, statement, paper, ours, within=GAP_WITHIN, agreed=reason, differed=reason)


def _best_setting(tables: Tables, role: str) -> str:
    """Gap of the published algorithm with the setting that is best on the test side."""
    choices, table = tables["length-choices"], tables["length"]
    here = choices[(choices["subset"] == role) & (choices["method"] == "published")]
    test = here.groupby(["n_topics", "alpha"])["r2"].mean()
    n_topics, alpha = test.idxmax()
    same_splits = (table["subset"] == role) & table["seed"].isin(here["seed"].unique())
    ridge = table[same_splits & (table["method"] == "ridge")]["r2"].mean()
    gap = ridge - test.max()
    return f"With K={n_topics} and alpha={alpha:g}, best on the test side, the published one has {gap:.3f}."


def _joint_claims(behind: Results, plan: Plan) -> list[Claim]:
    not_run = "" if "published" in behind.methods else "JBNMF was not run."
    mean = {role: behind.mean("published", role, "behind") for role in SUBSETS}
    competitive = max(PAPER_GAPS[role] for role in LONG)
    # Our subsets are not in the paper's order of length.
    along = [mean[role] for role in sorted(SUBSETS, key=lambda role: plan.samples[role].median_words)]
    falls = "falls" if all(later < earlier for earlier, later in pairwise(along)) else "does not fall"
    in_order = f"by our own median words it {falls} at every step ({', '.join(f'{gap:.3f}' for gap in along)})"
    return [
        statement_claim(
            SECTION,
            "JBNMF is substantially below ridge regression on the shortest reviews",
            _text(behind, SHORT, JOINT),
            min(mean[role] for role in SHORT) > SUBSTANTIAL,
            differed=f"The gap is not above {SUBSTANTIAL:g} on both short subsets.",
            not_run=not_run,
        ),
        statement_claim(
            SECTION,
            "the gap narrows for longer reviews",
            _text(behind, (*SHORT, *LONG), ("published",)),
            min(mean[role] for role in SHORT) > max(mean[role] for role in LONG),
            agreed=f"Both short subsets have a larger gap than both long ones; {in_order}.",
            differed="A long subset has a gap as large as a short one.",
            not_run=not_run,
        ),
        statement_claim(
            REPEATED,
            "JBNMF becomes competitive where reviews hold enough text",
            _text(behind, LONG, JOINT),
            round(max(mean[role] for role in LONG), 3) <= competitive,
            agreed=f"The gap is at most {competitive:g}, the larger of the paper's on long reviews.",
            differed=f"The gap is above {competitive:g}, the larger of the paper's on long reviews: closer, not close.",
            not_run=not_run,
        ),
    ]


def _predictive_claims(alike: Results, behind: Results) -> list[Claim]:
    """Causes that the paper sees in the text: predictive training against ridge regression on the same rows."""
    not_run = "" if "predictive" in alike.methods else "Predictive training was not run."
    values = {role: alike.values("predictive", role, "behind") for role in SUBSETS}
    mean = {role: float(rows.mean()) for role, rows in values.items()}
    # The standard deviation of a single split is undefined and counts as 0.
    clear = [role for role, rows in values.items() if mean[role] < -(rows.std(ddof=1) if len(rows) > 1 else 0.0)]
    lead = f"Ahead by more than a standard deviation over splits on {len(clear)} of {len(SUBSETS)} subsets."
    ours = "behind ridge on the same rows: "
    tfidf = f"Behind ridge on TF-IDF, the paper's: {_text(behind, tuple(SUBSETS), ('predictive',))}."
    return [
        statement_claim(
            REPEATED,
            "very short reviews hold too little to recover stable topic mixtures, so topics predict poorly there",
            ours + _text(alike, SHORT, (*JOINT, "predictive")),
            max(mean[role] for role in SHORT) > SUBSTANTIAL,
            agreed=f"Predictive training falls behind on short reviews too. {tfidf}",
            differed="The same number of topics, on the same terms and rows, does not lag so far behind when trained "
            f"to predict from text alone. {tfidf}",
            not_run=not_run,
        ),
        statement_claim(
            REPEATED,
            "topics cost a small loss of predictive accuracy against ridge regression",
            ours + _text(alike, tuple(SUBSETS), ("predictive",)),
            max(mean.values()) > 0,
            agreed=f"Predictive training loses on at least one subset. {lead} {tfidf}",
            differed=f"Predictive training loses nothing on any subset on average. {lead} {tfidf}",
            not_run=not_run,
        ),
    ]


def length_study(
    *, reviews: int = REVIEWS, quick_reviews: int = QUICK_REVIEWS, choices: Choices = DEFAULT_CHOICES
) -> Study:
    """Return the study of length, on at most `reviews` of each subset and with other settings from `choices`."""
    return Study(
        name="length",
        title="Length of reviews",
        needs=tuple(SUBSETS),
        seeds=5,
        quick_seeds=1,
        stages=(partial(_cells, reviews, quick_reviews, choices),),
        figures=_figures,
        section=_section,
        claims=_claims,
    )


LENGTH = length_study()
