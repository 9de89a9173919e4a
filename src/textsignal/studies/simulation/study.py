"""The simulation of the paper's appendix: sensitivity to topics and supervision, and a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from textsignal.datasets import SimulatedCorpus, simulate_corpus
from textsignal.estimators.base import TopicEstimator
from textsignal.estimators.skill import r2_score, rmse
from textsignal.studies.methods import ALPHAS, JOINT, METHODS, QUICK_ALPHAS, Settings, chosen, fit_published
from textsignal.studies.samples import Sample, Split, split_corpus, split_sample
from textsignal.studies.simulation.claims import (
    TRUE_TOPICS,
    WORD_LEVEL,
    claims,
)
from textsignal.studies.simulation.figures import figures
from textsignal.studies.simulation.section import section
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
