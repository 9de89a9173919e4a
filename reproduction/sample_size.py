"""Training and test R2 against the number of reviews (Section 4.4 of the paper, and an appendix on other reviews)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduction.choices import DEFAULT_CHOICES, Choices, choice_cells, fit_methods, settings_tried
from reproduction.claims import Claim, Results, Verdict, mean_and_spread, statement_claim
from reproduction.figures import label_lines, mean_and_sd, method_lines, panels
from reproduction.methods import chosen, label
from reproduction.page import table_of
from reproduction.samples import Sample
from reproduction.study import Cell, Columns, Plan, Study, Tables
from textsignal.plots import styled

SIZES, QUICK_SIZES = (500, 1_000, 2_000, 5_000, 10_000), (500, 2_000)
COMPARED = ("linear", "ridge", "published", "joint", "predictive")
SECTION, REPEATED = "Section 4.4", "Section 4.4, Discussion"
APPENDIX = "Additional overfitting analysis (appendix)"
#: Methods of the paper; the verdict on JBNMF is that on its Algorithm 1.
PAPER_METHODS = ("linear", "ridge", "published")
OURS = ("published", "joint", "predictive")
#: An almost perfect training R2, and the share of the gap of linear regression that is much smaller.
PERFECT, MUCH_SMALLER = 0.95, 0.5
#: Columns of the tables, their titles, and the limits of their axes.
VALUES = (
    ("train_r2", "training R2", (-0.5, 1.05)),
    ("r2", "test R2", (-0.5, 1.05)),
    ("gap", "training R2 - test R2", (-0.1, 1.5)),
)


def sizes_of(sample: Sample, sizes: Sequence[int]) -> list[int]:
    """Return the sizes that the sample has; the whole sample replaces all larger ones.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of(Sample("", ("good",) * 30, np.ones(30)), (10, 20, 50, 100))
    [10, 20, 30]
    """
    return sorted({min(size, len(sample)) for size in sizes})


def _cells(
    name: str, role: str, sizes: Sequence[int], quick_sizes: Sequence[int], choices: Choices, plan: Plan, tables: Tables
) -> list[Cell]:
    """Every size and seed; other settings at the smallest size, where they matter most."""
    sample, methods = plan.samples[role], chosen(plan.methods, COMPARED)
    known = sizes_of(sample, quick_sizes if plan.quick else sizes)
    cells = []
    for seed in range(plan.seeds):
        for size in known:
            columns: Columns = {"size": size, "method": " ".join(methods), "seed": seed}
            cells.append(Cell(name, columns, partial(fit_methods, sample, size, methods, seed), sample.digest))
        cells += choice_cells(name, {"size": known[0]}, sample, seed, choices, plan)
    return cells


def _figures(name: str, plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's three panels: training R2, test R2 and their gap."""
    table = tables[name]
    figure, axes = panels(1, 3, 2.7)
    for ax, (value, title, limits) in zip(axes, VALUES, strict=True):
        method_lines(ax, table, "size", value)
        _draw_sizes(ax, sorted(table["size"].unique()), title)
        ax.axhline(0, color="#666666", linewidth=0.6)
        ax.set_ylim(limits)
        _name_hidden(ax, mean_and_sd(table, ["method", "size"], value), limits)
    label_lines(figure, axes[0])
    return {"training-and-test": figure}


@styled
def _draw_sizes(ax: Axes, sizes: Sequence[int], title: str) -> None:
    ax.set_title(title, loc="left")
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size / 1000:g}k" if size >= 1000 else str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_xlabel("number of reviews M (log scale)")


@styled
def _name_hidden(ax: Axes, means: pd.DataFrame, limits: tuple[float, float]) -> None:
    """Write means beyond the limits into the corners on the right, where the lines leave room."""
    for edge, y, hidden in (
        ("bottom", 0.03, means[means["mean"] < limits[0]]),
        ("top", 0.97, means[means["mean"] > limits[1]]),
    ):
        lines = [f"{label(row.method)}, M={row.size:,}:\n{row.mean:.2f} ± {row.sd:.2f}" for row in hidden.itertuples()]
        ax.text(0.98, y, "\n".join(lines), transform=ax.transAxes, ha="right", va=edge, fontsize=6)


def _section(name: str, role: str, plan: Plan, tables: Tables) -> str:
    results = Results(tables[name], "size")
    sizes = results.keys
    header = ["method", *(f"M = {size:,}" for size in sizes)]
    by_size = "\n\n".join(
        f"{title[0].upper()}{title[1:]}:\n\n{table_of(header, results.rows(value, sizes))}"
        for value, title, _ in VALUES
    )
    whole = " The whole sample is not resampled, only split again." if sizes[-1] == len(plan.samples[role]) else ""
    tried = [
        [setting, mean_and_spread(rows["r2"]), mean_and_spread(rows["gap"])]
        for setting, rows in settings_tried(name, tables)
    ]
    return f"""
{plan.samples[role].name}: M = {", ".join(f"{size:,}" for size in sizes)} reviews drawn without replacement,
{plan.times}; a seed also draws the 80/20 split and the start.{whole}
Terms and their document frequencies come from the training side only. Sizes above that of the sample are replaced by
the whole sample. As in the paper, training R2 of joint training uses the weights from training, which depend on the
ratings; test R2 uses weights from text alone. Predictive training uses counts with rows of norm 1, the others TF-IDF;
the study of length shows how much of its lead over ridge regression the rows alone explain.

{by_size}

Lines are means, bands one standard deviation over draws. Means beyond an axis are printed in its corner.

{{figure:training-and-test}}

### Settings that the paper does not report

The paper does not report how reviews were drawn (here: again for each M and seed), whether K and alpha were chosen
again for each M (here: K=14 and alpha=.05, its choice for 10,000 reviews), nor the ridge penalty (here: chosen by
leave-one-out error on the training side). With M = {sizes[0]:,}, where this matters most, and other settings:

{table_of(["method and setting", "test R2", "training R2 - test R2"], tried)}
"""


def claims(name: str, plan: Plan, tables: Tables) -> list[Claim]:
    """Return the claims of Section 4.4 and of the discussion."""
    results = Results(tables[name], "size")
    return [*_small_claims(results), *_growth_claims(results)]


def _text(results: Results, methods: Sequence[str], size: int, value: str) -> str:
    """Means and spreads of the methods that were run."""
    run = [method for method in methods if method in results.methods]
    return ", ".join(f"{label(m)} {mean_and_spread(results.values(m, size, value))}" for m in run)


def _not_run(results: Results) -> str:
    return "" if "published" in results.methods else "JBNMF was not run."


def _small_claims(results: Results) -> list[Claim]:
    """Claims on the smallest sample, and on the gap of JBNMF at every size."""
    sizes, small, not_run = results.keys, results.keys[0], _not_run(results)

    def gap(method: str, size: int = small) -> float:
        return results.mean(method, size, "gap")

    def test(method: str) -> float:
        return results.mean(method, small, "r2")

    def text(value: str, *methods: str) -> str:
        return _text(results, methods, small, value)

    above = {
        method: [f"{size:,}" for size in sizes if gap(method, size) > gap("ridge", size)]
        for method in ("published", "predictive")
    }
    at = f" (M = {'; '.join(above['published'])})" if above["published"] else ""
    ours_above = f"That of predictive training is above it at {len(above['predictive'])} of {len(sizes)} sizes."
    ridge_better = test("ridge") > test("published")
    not_smaller = f"It is not below {MUCH_SMALLER:.0%} of linear regression's."
    return [
        statement_claim(
            SECTION,
            f"linear regression fits the training data almost perfectly at M={small:,}",
            f"training R2 {text('train_r2', 'linear')}",
            results.mean("linear", small, "train_r2") > PERFECT,
            agreed="There are more terms than training reviews.",
            differed=f"Its training R2 is not above {PERFECT:g}.",
        ),
        statement_claim(
            SECTION,
            f"its test R2 is negative at M={small:,}",
            f"test R2 {text('r2', 'linear')}",
            test("linear") < 0,
            differed="It predicts better than the mean.",
        ),
        statement_claim(
            SECTION,
            f"ridge regression substantially reduces the gap at M={small:,}",
            f"training - test R2 {text('gap', 'linear', 'ridge')}",
            gap("ridge") < MUCH_SMALLER * gap("linear"),
            agreed=f"Test R2 {text('r2', 'ridge')}.",
            differed=not_smaller,
        ),
        statement_claim(
            REPEATED,
            f"JBNMF avoids the collapse of linear regression: positive test R2 at M={small:,}",
            f"test R2 {text('r2', *OURS)}",
            test("published") > 0,
            differed="It predicts worse than the mean.",
            not_run=not_run,
        ),
        statement_claim(
            REPEATED,
            f"JBNMF has a much smaller gap than linear regression at M={small:,}",
            f"training - test R2 {text('gap', 'linear', *OURS)}",
            gap("published") < MUCH_SMALLER * gap("linear"),
            differed=not_smaller,
            not_run=not_run,
        ),
        statement_claim(
            REPEATED,
            "JBNMF is not uniformly less overfitted than ridge regression",
            f"its gap is above ridge's at {len(above['published'])} of {len(sizes)} sizes{at}",
            bool(above["published"]),
            agreed=ours_above if "predictive" in results.methods else "",
            differed="Its gap is below ridge regression's at every size.",
            not_run=not_run,
        ),
        statement_claim(
            SECTION,
            "JBNMF is a structured alternative where the sample is small and word regression unstable",
            f"test R2 at M={small:,}: {text('r2', 'linear', 'ridge', *OURS)}",
            test("published") > test("linear"),
            agreed="Against unregularised regression. "
            + ("Ridge regression predicts better." if ridge_better else "It beats ridge too."),
            differed="Linear regression predicts better.",
            not_run=not_run,
        ),
    ]


def _growth_claims(results: Results) -> list[Claim]:
    """Claims on growing samples."""
    first, last = results.keys[0], results.keys[-1]
    gaps = [results.mean("linear", size, "gap") for size in results.keys]
    test = {size: [results.mean(method, size, "r2") for method in PAPER_METHODS] for size in (first, last)}
    spread = {size: max(r2) - min(r2) for size, r2 in test.items()}
    return [
        statement_claim(
            SECTION,
            "the gap of linear regression narrows as the sample grows",
            " → ".join(f"{gap:.3f}" for gap in gaps),
            all(later < earlier for earlier, later in pairwise(gaps)),
            differed="It does not narrow at every step.",
        ),
        statement_claim(
            SECTION,
            "methods come closer in test performance as the sample grows",
            f"best - worst test R2 {spread[first]:.3f} at M={first:,}, {spread[last]:.3f} at M={last:,}",
            spread[last] < spread[first],
            agreed=f"At M={last:,}: {_text(results, ('linear', 'ridge', *OURS), last, 'r2')}.",
            differed="They do not.",
            not_run=_not_run(results),
        ),
    ]


def appendix_claims(name: str, plan: Plan, tables: Tables) -> list[Claim]:
    """Return the claims of the appendix, which repeats the study on other reviews."""
    results = Results(tables[name], "size")
    small, not_run = results.keys[0], _not_run(results)
    same = claims(name, plan, tables)
    denied = [claim.statement for claim in same if claim.verdict is not Verdict.agrees]
    gaps = {method: results.mean(method, small, "gap") for method in results.methods}
    moved = {}
    for method in PAPER_METHODS:
        along = [results.mean(method, size, "r2") for size in results.keys]
        moved[method] = max(along) - min(along)
    return [
        statement_claim(
            APPENDIX,
            "linear regression has the largest train-test gap in small samples",
            f"training - test R2 at M={small:,}: {_text(results, results.methods, small, 'gap')}",
            max(gaps, key=lambda method: gaps[method]) == "linear",
            differed="Another method has a larger one.",
            not_run=not_run,
        ),
        statement_claim(
            APPENDIX,
            "ridge regression and JBNMF have more stable test performance",
            "over all M the mean test R2 moves by " + ", ".join(f"{by:.3f} ({label(m)})" for m, by in moved.items()),
            max(moved["ridge"], moved["published"]) < moved["linear"],
            agreed=f"At M={small:,}: {_text(results, ('linear', 'ridge', *OURS), small, 'r2')}.",
            differed="They move no less than linear regression's.",
            not_run=not_run,
        ),
        statement_claim(
            APPENDIX,
            "the pattern is that of the TripAdvisor sample",
            f"{len(same) - len(denied)} of {len(same)} statements of Section 4.4 hold here",
            not denied,
            differed=f"These do not: {'; '.join(denied)}.",
            not_run=not_run,
        ),
    ]


def size_study(
    name: str,
    title: str,
    role: str,
    claims: Callable[[str, Plan, Tables], Sequence[Claim]],
    *,
    sizes: Sequence[int] = SIZES,
    quick_sizes: Sequence[int] = QUICK_SIZES,
    choices: Choices = DEFAULT_CHOICES,
) -> Study:
    """Return a study of sample size.

    Parameters
    ----------
    name, title, role : str
        Name and title of the study, and role of its sample.
    claims : callable
        Returns the claims, given the study's name, plan and tables.
    sizes, quick_sizes : sequence of int
        Numbers of reviews.
    choices : Choices
        Settings to try at the smallest size.
    """
    return Study(
        name=name,
        title=title,
        needs=(role,),
        seeds=10,
        quick_seeds=2,
        stages=(partial(_cells, name, role, sizes, quick_sizes, choices),),
        figures=partial(_figures, name),
        section=partial(_section, name, role),
        claims=partial(claims, name),
    )


SAMPLE_SIZE = size_study("sample-size", "Sample size and overfitting", "tripadvisor", claims)
OVERFITTING = size_study("overfitting", "Overfitting on Google Local hotels", "hotel", appendix_claims)
