"""The simulation of the paper's appendix: sensitivity to topics and supervision, and a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment

from textsignal.datasets import SimulatedCorpus, simulate_corpus
from textsignal.estimators.base import TopicEstimator
from textsignal.evaluate import r2_score, rmse
from textsignal.studies.claims import mean_and_spread
from textsignal.studies.figures import heat_map, method_bars, method_lines, panels, write_legend
from textsignal.studies.methods import ALPHAS, JOINT, METHODS, QUICK_ALPHAS, Settings, chosen, fit_published, label
from textsignal.studies.page import table_of
from textsignal.studies.samples import Sample, Split, split_corpus, split_sample
from textsignal.studies.simulation.claims import (
    PAPER_R2,
    PAPER_RMSE,
    TRUE_TOPICS,
    WORD_LEVEL,
    ceiling_like_paper,
    claims,
    like_paper,
)
from textsignal.studies.study import Cell, Place, Plan, Row, Study, Tables

TOPICS, QUICK_TOPICS = tuple(range(2, 16)), (2, 5, 6, 10, 15)
#: Numbers of topics, and of draws, at which starts and learning rates are compared.
OPEN_TOPICS, OPEN_SEEDS = (5, 6, 15), 3


@lru_cache(maxsize=2)
def _draw(seed: int) -> tuple[SimulatedCorpus, Split, float]:
    """A corpus, its split, and the R2 of the true expected ratings on the test side."""
    corpus = simulate_corpus(random_state=seed)
    split, test = split_corpus(corpus)
    return corpus, split, corpus.ceiling(test)


def _skill(split: Split, predicted: Any, ceiling: float) -> Row:
    r2 = r2_score(split.y_test, predicted)
    return {"r2": r2, "rmse": rmse(split.y_test, predicted), "ceiling": ceiling, "share": r2 / ceiling}


def fit_over_alpha(method: str, seed: int, n_topics: int, alphas: Sequence[float]) -> list[Row]:
    """Skill of joint training along alpha."""
    _, split, ceiling = _draw(seed)
    rows = []
    for alpha in alphas:
        outcome = METHODS[method].fit(split, Settings(n_topics, alpha, seed))
        assert outcome.model is not None
        rows.append({"alpha": alpha, **_skill(split, outcome.predicted, ceiling), "iterations": outcome.model.n_iter_})
    return rows


def fit_once(method: str, seed: int, n_topics: int) -> list[Row]:
    """Skill of a method and, of topics, how well they recover the truth."""
    corpus, split, ceiling = _draw(seed)
    outcome = METHODS[method].fit(split, Settings(n_topics, seed=seed))
    found = recovery(corpus, outcome.model) if outcome.model is not None else {}
    return [_skill(split, outcome.predicted, ceiling) | found]


def fit_scrambled(method: str, seed: int) -> list[Row]:
    """Skill of word-level regression where training ratings stand beside other documents' texts."""
    corpus, _, ceiling = _draw(seed)
    split = split_sample(Sample("", tuple(corpus.texts()), corpus.ratings.astype(float)), 0)
    mixed = np.random.default_rng(seed).permutation(len(split.y))
    scrambled = Split(split.X, split.X_test, split.counts, split.counts_test, split.y[mixed], split.y_test, split.terms)
    return [_skill(split, METHODS[method].fit(scrambled, Settings()).predicted, ceiling)]


def fit_started(seed: int, start: str, rate: str, alphas: Sequence[float], topics: Sequence[int]) -> list[Row]:
    """Skill of Algorithm 1 with another start and learning rate, both of which the paper leaves open."""
    _, split, ceiling = _draw(seed)
    rows = []
    for n_topics in topics:
        for alpha in alphas:
            outcome = fit_published(
                split,
                Settings(n_topics, alpha, seed),
                learning_rate=None if rate == "safe" else float(rate),
                uniform_start=start == "uniform",
            )
            rows.append({"n_topics": n_topics, "alpha": alpha, **_skill(split, outcome.predicted, ceiling)})
    return rows


def recovery(corpus: SimulatedCorpus, model: TopicEstimator) -> Row:
    """How near fitted topics come to the true ones, matched one to one by cosine.

    cosine : mean over true topics; signs : share of true topics whose effect against the average text has the fitted
    one's sign; effects : correlation of the two over topics.
    """
    fitted = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    true = corpus.topics / np.linalg.norm(corpus.topics, axis=1, keepdims=True)
    cosines = true @ fitted.T
    rows, columns = linear_sum_assignment(-cosines)
    theirs = corpus.effects - corpus.weights.mean(axis=0) @ corpus.effects
    ours = model.centred_effects.effects
    return {
        "cosine": float(cosines[rows, columns].sum() / len(true)),
        "signs": float(np.mean(np.sign(theirs[rows]) == np.sign(ours[columns]))),
        "effects": float(np.corrcoef(theirs[rows], ours[columns])[0, 1]),
    }


def cells(plan: Plan, tables: Tables) -> list[Cell]:
    """Every combination of seed and method, and of topics where they vary."""
    topics, alphas = (QUICK_TOPICS, QUICK_ALPHAS) if plan.quick else (TOPICS, ALPHAS)
    found = []
    for seed in range(plan.seeds):
        for method in plan.methods:
            place: Place = {"method": method, "seed": seed}
            found.append(Cell("simulation-methods", place, partial(fit_once, method, seed, TRUE_TOPICS)))
            if method == "published" and seed < (1 if plan.quick else OPEN_SEEDS):
                found += _open_cells(seed, alphas)
        for method in WORD_LEVEL:
            found.append(
                Cell("simulation-scrambled", {"method": method, "seed": seed}, partial(fit_scrambled, method, seed))
            )
        for n_topics in topics:
            for method in chosen(plan.methods, JOINT):
                place = {"method": method, "seed": seed, "n_topics": n_topics, "alphas": " ".join(map(str, alphas))}
                compute = partial(fit_over_alpha, method, seed, n_topics, alphas)
                found.append(Cell("simulation-sensitivity", place, compute))
            for method in chosen(plan.methods, ["predictive"]):
                place = {"method": method, "seed": seed, "n_topics": n_topics}
                found.append(Cell("simulation-topics", place, partial(fit_once, method, seed, n_topics)))
    return found


def _open_cells(seed: int, alphas: Sequence[float]) -> list[Cell]:
    """Algorithm 1 with what the paper leaves open set in other ways, at the ends of the range of alpha."""
    ends = (min(alphas), max(alphas))
    return [
        Cell(
            "simulation-open",
            {"method": "published", "seed": seed, "start": start, "learning_rate": rate},
            partial(fit_started, seed, start, rate, ends, OPEN_TOPICS),
        )
        for start in ("scaled", "uniform")
        for rate in ("safe", "0.001")
    ]


def figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's two heat maps, skill along the number of topics as a share of the ceiling, and methods."""
    drawn = {"methods": _draw_methods(tables["simulation-methods"])}
    if "simulation-sensitivity" in tables:
        drawn |= {"sensitivity": _draw_sensitivity(tables["simulation-sensitivity"])}
    lines = _along_topics(tables)
    return drawn | ({"topics": _draw_topics(lines)} if len(lines) else {})


def _draw_sensitivity(table: pd.DataFrame) -> Figure:
    methods = table["method"].unique()
    figure, axes = panels(len(methods) * 2, 1, 1.75 * 2 * len(methods))
    for k, (value, unit, high) in enumerate((("r2", "test R2", True), ("rmse", "test RMSE (stars)", False))):
        grids = {m: table[table["method"] == m].groupby(["alpha", "n_topics"])[value].mean().unstack() for m in methods}
        limits = (
            min(grid.to_numpy().min() for grid in grids.values()),
            max(g.to_numpy().max() for g in grids.values()),
        )
        for row, method in enumerate(methods):
            title = f"{label(method)}: {unit}, mean of {table['seed'].nunique()} draws"
            heat_map(axes[2 * row + k], grids[method], title=title, limits=limits, best_high=high)
    return figure


def _draw_methods(table: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 3, 2.2, sharey=True)
    for ax, value, unit, paper in (
        (axes[0], "r2", "test R2", PAPER_R2),
        (axes[1], "rmse", "test RMSE (stars)", PAPER_RMSE),
        (axes[2], "share", "test R2 / ceiling", {}),
    ):
        method_bars(ax, table, value, paper=paper)
        ax.set_xlabel(unit)
    return figure


def _along_topics(tables: Tables) -> pd.DataFrame:
    """Share of the ceiling by number of topics: joint training at its largest alpha, predictive training as it is."""
    parts = []
    if "simulation-sensitivity" in tables:
        joint = tables["simulation-sensitivity"]
        parts.append(joint[joint["alpha"] == joint["alpha"].max()])
    if "simulation-topics" in tables:
        parts.append(tables["simulation-topics"])
    return pd.concat(parts) if parts else pd.DataFrame()


def _draw_topics(lines: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 1, 2.6)
    method_lines(axes[0], lines, "n_topics", "share")
    axes[0].axvline(TRUE_TOPICS, color="#666666", linewidth=0.6, linestyle=":")
    axes[0].set_xlabel("number of topics K (the truth: 5)")
    axes[0].set_ylabel("test R2 / ceiling")
    write_legend(axes[0])
    return figure


def section(plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    methods, scrambled = tables["simulation-methods"], tables["simulation-scrambled"]
    ceilings = methods.drop_duplicates("seed")["ceiling"]
    rows = []
    for name, group in methods.groupby("method", sort=False):
        recovered = [
            mean_and_spread(group[column]) if column in group and group[column].notna().all() else ""
            for column in ("cosine", "signs", "effects")
        ]
        rows.append(
            [label(str(name)), *(mean_and_spread(group[value]) for value in ("r2", "rmse", "share")), *recovered]
        )
    mixed = [
        [
            f"{label(str(name))}, ratings beside other texts",
            mean_and_spread(group["r2"]),
            mean_and_spread(group["rmse"]),
        ]
        for name, group in scrambled.groupby("method", sort=False)
    ]
    header = ["method", "R2", "RMSE", "R2 / ceiling", "cosine of topics", "signs right", "correlation of effects"]
    return f"""
{plan.seeds} draws of the appendix' process (seeds 0 to {plan.seeds - 1}; 5,000 documents, 2,000 terms, 5 topics), 80/20
split, word counts as X. The draw of the effects decides how much can be predicted at all: the R2 of the *true* expected
ratings, the ceiling, lies between {ceilings.min():.2f} and {ceilings.max():.2f} here (mean {ceilings.mean():.2f}). The
paper shows one draw and does not give its effects, so its numbers stand beside our draw whose ratings spread most like
its own (standard deviation 1.461): seed {like_paper(tables)}, ceiling {ceiling_like_paper(tables):.3f}.

### Methods at the true number of topics

{table_of(header, rows)}

Black lines mark the paper's numbers.

{{figure:methods}}

Word-level regression where the ratings of the training side are moved to other documents, on 500 terms chosen as in
the paper (compare the paper's linear {PAPER_R2["linear"]:.3f} and ridge {PAPER_R2["ridge"]:.3f}):

{table_of(["method", "R2", "RMSE"], mixed)}

### Sensitivity to the number of topics and alpha

A frame marks the best field.

{{figure:sensitivity}}

As a share of the ceiling, with a band of one standard deviation over draws; joint training at the largest alpha:

{{figure:topics}}

{_open_settings(tables)}
"""


def _open_settings(tables: Tables) -> str:
    """What the paper leaves open, and how far the result depends on it."""
    text = """### What the paper leaves open

Start: random, on the scale of the text, for *joint, as published*; singular vectors for *joint, adaptive*. Learning
rate: the longest that is safe for the data at hand. Ridge penalty: the one of least leave-one-out error on the training
side. Representation: word counts."""
    if "simulation-open" not in tables:
        return text
    table = tables["simulation-open"]
    settings = [(k, alpha) for k in OPEN_TOPICS for alpha in sorted(table["alpha"].unique())]
    shares = table.set_index(["n_topics", "alpha"]).groupby(["start", "learning_rate"], sort=False)["share"]
    rows = [
        [f"{start}, {rate}", *(f"{group.loc[setting].mean():.3f}" for setting in settings)]
        for (start, rate), group in shares
    ]
    header = ["start, learning rate", *(f"K={k}, alpha={alpha:g}" for k, alpha in settings)]
    n_draws = table["seed"].nunique()
    return f"""{text} *Joint, as published* with other choices, as a share of the ceiling, mean over draws ({n_draws}).
*Scaled*: random numbers on the scale of the text, *uniform*: between 0 and 1; *safe*: the longest step that is safe.

{table_of(header, rows)}"""


SIMULATION = Study(
    name="simulation",
    title="Simulation",
    needs=(),
    seeds=10,
    quick_seeds=2,
    stages=(cells,),
    figures=figures,
    section=section,
    claims=claims,
)
