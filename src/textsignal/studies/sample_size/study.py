"""Skill against the number of reviews: training and test R2 and their gap (the paper's Section 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge

from textsignal.figures.canvas import styled
from textsignal.studies.claims import Claim, mean_and_spread
from textsignal.studies.figures import label_lines, mean_and_sd, method_lines, panels
from textsignal.studies.methods import JOINT, METHODS, Outcome, Settings, chosen, label, scores
from textsignal.studies.page import table_of
from textsignal.studies.sample_size.claims import claims
from textsignal.studies.samples import MAX_TERMS, Sample, split_sample
from textsignal.studies.study import Cell, Place, Plan, Row, Study, Tables

SIZES, QUICK_SIZES = (500, 1_000, 2_000, 5_000, 10_000), (500, 2_000)
COMPARED = ("linear", "ridge", "published", "joint", "predictive")
#: Columns of the tables, what they are, and the part of each that a figure shows.
VALUES = (
    ("train_r2", "training R2", (-0.5, 1.05)),
    ("r2", "test R2", (-0.5, 1.05)),
    ("gap", "training R2 - test R2", (-0.1, 1.5)),
)


@dataclass(frozen=True)
class Choices:
    """Settings that the paper leaves open: joint training and ridge regression are fitted with each."""

    topics: tuple[int, ...] = (5, 14, 30)
    alphas: tuple[float, ...] = (0.01, 0.05, 0.2)
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0)


DEFAULT_CHOICES = Choices()


def seeds_of(plan: Plan) -> str:
    """The seeds of a plan in words."""
    return "once (seed 0)" if plan.seeds == 1 else f"{plan.seeds} times (seeds 0 to {plan.seeds - 1})"


def sizes_of(sample: Sample, sizes: Sequence[int]) -> list[int]:
    """Those sizes that the sample has; the whole sample stands in for all that are larger than it.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of(Sample("", ("good",) * 30, np.ones(30)), (10, 20, 50, 100))
    [10, 20, 30]
    """
    return sorted({min(size, len(sample)) for size in sizes})


def fit_methods(sample: Sample, size: int, methods: Sequence[str], seed: int, max_terms: int = MAX_TERMS) -> list[Row]:
    """Skill of methods on one split of `size` reviews; the seed draws the reviews, the split and the start."""
    split = split_sample(sample.drawn(size, seed), seed, max_terms)
    return [{"method": method, **scores(split, METHODS[method].fit(split, Settings(seed=seed)))} for method in methods]


def fit_choices(sample: Sample, size: int, method: str, seed: int, choices: Choices) -> list[Row]:
    """Skill of joint training over numbers of topics and alpha."""
    split = split_sample(sample.drawn(size, seed), seed)
    return [
        {"n_topics": k, "alpha": alpha, **scores(split, METHODS[method].fit(split, Settings(k, alpha, seed)))}
        for k in choices.topics
        for alpha in choices.alphas
    ]


def fit_penalties(sample: Sample, size: int, seed: int, choices: Choices) -> list[Row]:
    """Skill of ridge regression with penalties that are given, not chosen from the data."""
    split = split_sample(sample.drawn(size, seed), seed)
    rows = []
    for penalty in choices.penalties:
        model = Ridge(penalty).fit(split.X.toarray(), split.y)
        outcome = Outcome(model.predict(split.X.toarray()), model.predict(split.X_test.toarray()))
        rows.append({"penalty": penalty, **scores(split, outcome)})
    return rows


def choice_cells(table: str, place: Place, sample: Sample, seed: int, choices: Choices, plan: Plan) -> list[Cell]:
    """Cells of `TABLE-choices` and `TABLE-penalties` on as many reviews as their place says."""
    size, place = int(place["size"]), place | {"seed": seed}
    found = []
    for method in chosen(plan.methods, JOINT):
        grid: Place = {"method": method, "topics": str(choices.topics), "alphas": str(choices.alphas)}
        compute = partial(fit_choices, sample, size, method, seed, choices)
        found.append(Cell(f"{table}-choices", place | grid, compute, sample.digest))
    compute = partial(fit_penalties, sample, size, seed, choices)
    grid = {"penalties": str(choices.penalties)}
    return [*found, Cell(f"{table}-penalties", place | grid, compute, sample.digest)]


def cells(
    name: str,
    role: str,
    sizes: Sequence[int],
    quick_sizes: Sequence[int],
    choices: Choices,
    plan: Plan,
    tables: Tables,
) -> list[Cell]:
    """Every size and seed; other settings at the smallest size, where they matter most."""
    sample, methods = plan.samples[role], chosen(plan.methods, COMPARED)
    known = sizes_of(sample, quick_sizes if plan.quick else sizes)
    found = []
    for seed in range(plan.seeds):
        for size in known:
            place: Place = {"size": size, "method": " ".join(methods), "seed": seed}
            found.append(Cell(name, place, partial(fit_methods, sample, size, methods, seed), sample.digest))
        found += choice_cells(name, {"size": known[0]}, sample, seed, choices, plan)
    return found


def figures(name: str, plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's three panels: training R2, test R2 and their gap."""
    table = tables[name]
    figure, axes = panels(1, 3, 2.7)
    for ax, (value, unit, limits) in zip(axes, VALUES, strict=True):
        method_lines(ax, table, "size", value)
        _draw_sizes(ax, sorted(table["size"].unique()), unit)
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
    """Write means beyond the limits into the corner on the right, where large samples have come together."""
    for edge, hidden in (
        ("bottom", means[means["mean"] < limits[0]]),
        ("top", means[means["mean"] > limits[1]]),
    ):
        lines = [f"{label(row.method)}, M={row.size:,}:\n{row.mean:.2f} ± {row.sd:.2f}" for row in hidden.itertuples()]
        height = 0.03 if edge == "bottom" else 0.97
        ax.text(0.98, height, "\n".join(lines), transform=ax.transAxes, ha="right", va=edge, fontsize=6)


def section(name: str, role: str, plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    table = tables[name]
    sizes = sorted(table["size"].unique())
    shown = "\n\n".join(f"{unit[0].upper()}{unit[1:]}:\n\n{_by_size(table, value)}" for value, unit, _ in VALUES)
    whole = " The whole sample is not drawn, only split anew." if sizes[-1] == len(plan.samples[role]) else ""
    return f"""
{plan.samples[role].name}: M = {", ".join(f"{size:,}" for size in sizes)} reviews drawn without replacement,
{seeds_of(plan)}; a seed also draws the 80/20 split and the start.{whole}
Terms and their document frequencies come from the training side alone. A size above that of the sample is left out; the
whole sample stands in its place. As in the paper, training R2 of joint training is taken with the weights that training
left, which have seen the ratings; test R2 with weights from text alone. Predictive training reads counts with rows of
norm 1, the others TF-IDF; the study of length says how much of its lead over ridge regression the rows alone explain.

{shown}

Lines are means, bands one standard deviation over draws. Means beyond an axis are written in its corner.

{{figure:training-and-test}}

### What the paper leaves open

It does not say how reviews were drawn (anew for each M and seed here), whether K and alpha were chosen again for each M
(K=14 and alpha=.05, its choice for 10,000 reviews, here), nor the ridge penalty (leave-one-out error on the training
side chooses it here). With M = {sizes[0]:,}, where this matters most, and other settings:

{_choice_table(name, tables)}
"""


def _by_size(table: pd.DataFrame, value: str) -> str:
    sizes = sorted(table["size"].unique())
    rows = []
    for method in table["method"].unique():
        groups = table[table["method"] == method].groupby("size")[value]
        rows.append([label(method), *(mean_and_spread(groups.get_group(size)) for size in sizes)])
    return table_of(["method", *(f"M = {size:,}" for size in sizes)], rows)


def settings_tried(name: str, tables: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Settings that the paper leaves open, as people read them, and the rows of each."""
    for penalty, rows in tables[f"{name}-penalties"].groupby("penalty"):
        yield f"ridge regression, penalty {penalty:g}", rows
    if f"{name}-choices" in tables:
        joint = tables[f"{name}-choices"].groupby(["method", "n_topics", "alpha"], sort=False)
        for (method, n_topics, alpha), rows in joint:
            yield f"{label(method)}, K={n_topics}, alpha={alpha:g}", rows


def _choice_table(name: str, tables: Tables) -> str:
    rows = [
        [setting, mean_and_spread(found["r2"]), mean_and_spread(found["gap"])]
        for setting, found in settings_tried(name, tables)
    ]
    return table_of(["method and setting", "test R2", "training R2 - test R2"], rows)


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
    """A study of sample size on the reviews of a role.

    Parameters
    ----------
    name, title, role : of the study and of the sample that it reads.
    claims : from the study's name, plan and tables.
    sizes, quick_sizes : numbers of reviews.
    choices : settings to try at the smallest of them.
    """
    return Study(
        name=name,
        title=title,
        needs=(role,),
        seeds=10,
        quick_seeds=2,
        stages=(partial(cells, name, role, sizes, quick_sizes, choices),),
        figures=partial(figures, name),
        section=partial(section, name, role),
        claims=partial(claims, name),
    )


SAMPLE_SIZE = size_study("sample-size", "Sample size and overfitting", "tripadvisor", claims)
