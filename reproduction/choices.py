"""Methods with the paper's settings on one split, and settings that it leaves open: topics, alpha and ridge penalty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from sklearn.linear_model import Ridge

from reproduction.methods import JOINT, METHODS, Settings, chosen, label, regress, score_methods, scores
from reproduction.samples import MAX_TERMS, Sample, split_sample
from reproduction.study import Cell, Columns, Plan, Row, Tables


@dataclass(frozen=True)
class Choices:
    """Numbers of topics and alphas for joint training, and penalties for ridge regression."""

    topics: tuple[int, ...] = (5, 14, 30)
    alphas: tuple[float, ...] = (0.01, 0.05, 0.2)
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0)


DEFAULT_CHOICES = Choices()


def fit_methods(sample: Sample, size: int, methods: Sequence[str], seed: int, max_terms: int = MAX_TERMS) -> list[Row]:
    """Return scores of methods on `size` reviews; the seed draws the reviews, the split and the start."""
    return score_methods(split_sample(sample.drawn(size, seed), seed, max_terms), methods, seed)


def fit_choices(sample: Sample, size: int, method: str, seed: int, choices: Choices) -> list[Row]:
    """Return scores of joint training for every number of topics and alpha."""
    split = split_sample(sample.drawn(size, seed), seed)
    return [
        {"n_topics": k, "alpha": alpha, **scores(split, METHODS[method].fit(split, Settings(k, alpha, seed)))}
        for k in choices.topics
        for alpha in choices.alphas
    ]


def fit_penalties(sample: Sample, size: int, seed: int, choices: Choices) -> list[Row]:
    """Return scores of ridge regression with fixed penalties."""
    split = split_sample(sample.drawn(size, seed), seed)
    return [{"penalty": penalty, **scores(split, regress(Ridge(penalty), split))} for penalty in choices.penalties]


def choice_cells(table: str, columns: Columns, sample: Sample, seed: int, choices: Choices, plan: Plan) -> list[Cell]:
    """Return the cells of `TABLE-choices` and `TABLE-penalties` on `columns["size"]` reviews."""
    size, columns = int(columns["size"]), columns | {"seed": seed}
    cells = []
    for method in chosen(plan.methods, JOINT):
        grid: Columns = {"method": method, "topics": str(choices.topics), "alphas": str(choices.alphas)}
        compute = partial(fit_choices, sample, size, method, seed, choices)
        cells.append(Cell(f"{table}-choices", columns | grid, compute, sample.digest))
    compute = partial(fit_penalties, sample, size, seed, choices)
    return [*cells, Cell(f"{table}-penalties", columns | {"penalties": str(choices.penalties)}, compute, sample.digest)]


def settings_tried(name: str, tables: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each setting in words, and its rows."""
    for penalty, rows in tables[f"{name}-penalties"].groupby("penalty"):
        yield f"ridge regression, penalty {penalty:g}", rows
    if f"{name}-choices" in tables:
        joint = tables[f"{name}-choices"].groupby(["method", "n_topics", "alpha"], sort=False)
        for (method, n_topics, alpha), rows in joint:
            yield f"{label(method)}, K={n_topics}, alpha={alpha:g}", rows
