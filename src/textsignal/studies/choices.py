"""Settings that the paper leaves open, tried on one split: numbers of topics, alpha and ridge penalties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from sklearn.linear_model import Ridge

from textsignal.studies.methods import JOINT, METHODS, Settings, chosen, label, regress, scores
from textsignal.studies.samples import MAX_TERMS, Sample, split_sample
from textsignal.studies.study import Cell, Place, Plan, Row, Tables


@dataclass(frozen=True)
class Choices:
    """Settings that the paper leaves open: joint training and ridge regression are fitted with each."""

    topics: tuple[int, ...] = (5, 14, 30)
    alphas: tuple[float, ...] = (0.01, 0.05, 0.2)
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0)


DEFAULT_CHOICES = Choices()


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
    return [{"penalty": penalty, **scores(split, regress(Ridge(penalty), split))} for penalty in choices.penalties]


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


def settings_tried(name: str, tables: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Settings that the paper leaves open, as people read them, and the rows of each."""
    for penalty, rows in tables[f"{name}-penalties"].groupby("penalty"):
        yield f"ridge regression, penalty {penalty:g}", rows
    if f"{name}-choices" in tables:
        joint = tables[f"{name}-choices"].groupby(["method", "n_topics", "alpha"], sort=False)
        for (method, n_topics, alpha), rows in joint:
            yield f"{label(method)}, K={n_topics}, alpha={alpha:g}", rows
