"""Whether intervals hold: under no effect, for a known truth, within groups and between halves of real reviews.

    make inference                                      everything that is not finished yet, then docs/inference.md
    python benchmarks/inference.py --render             the page alone
    python benchmarks/inference.py --only 'null hotel*' --replicates 20

A cell is one setting and replicate. Each is written to a file of results as soon as it is finished, and a finished cell
is not computed again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import inference_real as real
import numpy as np
import pandas as pd
from inference_page import page
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

import textsignal as ts
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.data.write import keep_line, kept_lines
from textsignal.families import Binomial
from textsignal.uncertainty.effects import (
    CUTS,
    EffectTable,
    Evidence,
    bootstrap,
    calibrate,
    effect_frame,
    effects_of,
    subgroups,
)
from textsignal.uncertainty.influence import Talk, cost, fit_loosely

ROOT = Path(__file__).resolve().parents[1]
REPLICATES, REFITS, N_ASPECTS = 200, 100, 8
#: One more theme than aspects: words that judge nothing make one of their own.
TRUTH_TOPICS = N_ASPECTS + 1
#: Reviews of hotels, of which each has its own level; how far hotels differ in what is said of them.
GROUPED, HOTELS, HOTEL_SD, GATHERED = 4000, 40, 0.65, 0.8
#: Quantities of the null whose tests are counted.
TESTED = ("cost", "gain", "gamma", "tone", "speaking")

Cell = Callable[[int, Path], dict[str, Any]]


def model(n_themes: int, seed: int) -> ts.TextResponseModel:
    return ts.TextResponseModel(n_themes, family="binomial", levels=(1, 5), n_jobs=1, random_state=seed)


def null(name: str, n_themes: int) -> Cell:
    """Ratings are permuted, so that every effect is 0; nine in ten replicates have 400 texts, the others 2,000."""

    def run(replicate: int, folder: Path) -> dict[str, Any]:
        rng = np.random.default_rng(replicate)
        texts, ratings = real.reviews(name, folder)
        rows = rng.choice(len(texts), 2000 if replicate % 10 == 9 else 400, replace=False)
        fitted = model(n_themes, replicate).fit([texts[i] for i in rows], rng.permutation(ratings[rows]))
        # As estimate_effects does, but both methods share the halves.
        evidence = Evidence.of(fitted.reader_, fitted.training_observed())
        parts, known = subgroups(None, evidence.fit.talk.weight), calibrate(evidence, CUTS, 0)
        labels = fitted.terms_[:n_themes]
        variances = {"crossfit": None, "bootstrap": bootstrap(evidence, parts, REFITS, 0)}
        found = {
            name: effect_frame(effects_of(evidence, parts, known, each), labels, 0.95, np.inf)
            for name, each in variances.items()
        }
        found["plugin"] = fitted.estimate_effects(method="plugin").frame
        return {"n": len(rows), **{name: tests(effects) for name, effects in found.items()}}

    return run


def tests(effects: pd.DataFrame) -> dict[str, Any]:
    """For each quantity: how many estimates, how many with |z| above 1.96, how many intervals that leave out 0."""
    counts = {}
    for name in TESTED:
        rows = effects[effects["quantity"] == name]
        z = rows["estimate"] / rows["std_error"]
        outside = (rows["low"] > 0) | (rows["high"] < 0)
        counts[name] = [int(z.notna().sum()), int((z.abs() > 1.96).sum()), int((outside & z.notna()).sum())]
    return counts


def truth(n: int) -> Cell:
    """Reviews with known costs and gains."""

    def run(replicate: int, folder: Path) -> dict[str, Any]:
        made = ts.datasets.synthetic_reviews(n, seed=replicate, opinions=True)
        fitted = model(TRUTH_TOPICS, replicate).fit(made.texts, made.ratings)
        of_aspect = themes_of_aspects(fitted, made)
        effects = fitted.estimate_effects()
        return {
            "cost": rows_of(effects, "cost", of_aspect),
            "gain": rows_of(effects, "gain", of_aspect),
            "oracle": oracle(made),
        }

    return run


def themes_of_aspects(fitted: ts.TextResponseModel, made: ts.datasets.SyntheticReviews) -> list[int]:
    """The theme of each aspect, one to one, by how much of its profile the aspect's things are."""
    place = {term: j for j, term in enumerate(fitted.terms_)}
    shares = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    hits = np.array(
        [
            [shares[k, [place[w] for w in a.keywords if w in place]].sum() for k in range(len(shares))]
            for a in made.aspects
        ]
    )
    return linear_sum_assignment(-hits)[1].tolist()


def rows_of(effects: EffectTable, quantity: str, themes: list[int]) -> list[list[float]]:
    """Estimate, standard error, both ends and p value of each aspect."""
    table = effects.of(quantity).set_index("theme").loc[themes]
    return table[["estimate", "std_error", "low", "high", "p_value"]].to_numpy().tolist()


def oracle(made: ts.datasets.SyntheticReviews) -> list[list[float]]:
    """Cost of each aspect and its standard error, of a GLM on the true tones."""
    n = len(made.texts)
    none = np.zeros((n, len(made.aspects)))
    talk = Talk(
        family=Binomial(4, 1),
        tone=made.tones.astype(float),
        shares=none,
        mentioned=made.mentions,
        prevalence=none[0],
        y=made.ratings - 1.0,
        weight=np.ones(n),
        folds=np.zeros(n, dtype=np.int64),
        given=Given.nothing(n),
    )
    with local_compute(1) as compute:
        fit = fit_loosely(talk, compute)
    found = cost(fit, talk.weight)
    return np.column_stack([found.estimates, np.sqrt(found.variances)]).tolist()


def groups(replicate: int, folder: Path) -> dict[str, Any]:
    """Hotels differ in how they are spoken of and, for reasons that no text names, in their ratings."""
    rng = np.random.default_rng(replicate)
    made = ts.datasets.synthetic_reviews(GROUPED, seed=replicate, opinions=True)
    liking = GATHERED * made.tones @ rng.normal(size=(N_ASPECTS, HOTELS)) + rng.gumbel(size=(GROUPED, HOTELS))
    hotels = liking.argmax(axis=1)
    eta = logit(made.probability) + rng.normal(0, HOTEL_SD, HOTELS)[hotels]
    ratings = 1 + rng.binomial(4, expit(eta))
    strength = np.array([aspect.effect for aspect in made.aspects]) * np.where(made.tones < 0, -1, 0)
    costs = 4 * (expit(eta[:, None] - strength) - expit(eta)[:, None]).mean(axis=0)
    fitted = model(TRUTH_TOPICS, replicate).fit(made.texts, ratings)
    of_aspect = themes_of_aspects(fitted, made)
    return {
        "truth": costs.tolist(),
        "plain": rows_of(fitted.estimate_effects(), "cost", of_aspect),
        "clustered": rows_of(fitted.estimate_effects(groups=hotels), "cost", of_aspect),
    }


@dataclass(frozen=True)
class Setting:
    """What is computed, how often, and whether it is timed, and so has the machine to itself."""

    name: str
    cell: Cell
    replicates: int = REPLICATES
    alone: bool = False


SETTINGS = (
    *(
        Setting(f"null {name}, {n_themes} themes", null(name, n_themes))
        for name in ("hotel_reviews_10k", "short_reviews_10k", "simulated")
        for n_themes in (5, 20)
    ),
    Setting("truth 2000", truth(2000)),
    Setting("truth 400", truth(400)),
    Setting("groups", groups, 60),
    Setting("halves", real.halves, 5),
    Setting("aspects", real.aspects, 1),
    Setting("time", real.time, 1, alone=True),
)


def computed(setting: Setting, replicate: int, folder: Path) -> tuple[str, int, dict[str, Any]]:
    if setting.alone:
        return setting.name, replicate, setting.cell(replicate, folder)
    with threadpool_limits(1):
        return setting.name, replicate, setting.cell(replicate, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of reviews")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "inference.jsonl")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "inference.md")
    parser.add_argument("--only", default="*", help="settings by name, such as 'null*'")
    parser.add_argument("--replicates", type=int, default=REPLICATES, help="at most so many of each setting")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    parser.add_argument("--render", action="store_true", help="the page alone")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    finished = {(name, replicate) for name, replicate, _ in kept_lines(options.results)}
    todo = [
        (setting, replicate)
        for setting in SETTINGS
        if fnmatch(setting.name, options.only) and not options.render
        for replicate in range(min(setting.replicates, options.replicates))
        if (setting.name, replicate) not in finished
    ]
    for alone in (False, True):
        part = [(setting, replicate) for setting, replicate in todo if setting.alone == alone]
        workers = Parallel(n_jobs=1 if alone else options.jobs, return_as="generator_unordered")
        for line in workers(delayed(computed)(setting, replicate, options.data) for setting, replicate in part):
            keep_line(line, options.results)
            print(line[0], line[1], flush=True)
    options.page.write_text(page(list(kept_lines(options.results))), encoding="utf-8")


if __name__ == "__main__":
    main()
