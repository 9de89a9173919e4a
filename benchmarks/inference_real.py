"""Intervals on real reviews: halves, hotels whose guests rated aspects themselves, and how long it takes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

import textsignal as ts
from textsignal.compute.engines.local import local_compute
from textsignal.reading.observed import observe
from textsignal.uncertainty.effects import CUTS, Evidence, calibrate, effects_of, subgroups
from textsignal.uncertainty.influence import fit_loosely

N_TOPICS, REFITS = 14, 200
#: Aspects that guests of hotels rated; hotels with fewer reviews that speak of a theme say too little of it.
ASPECTS, FEWEST = ("rooms", "service", "location", "cleanliness", "value"), 5


@cache
def reviews(name: str, folder: Path) -> tuple[list[str], np.ndarray]:
    if name == "simulated":
        made = ts.datasets.synthetic_reviews(10_000, seed=0)
        return made.texts, made.ratings.astype(float)
    table = pd.read_csv(folder / f"{name}.csv.gz")
    return table["text"].astype(str).tolist(), table["rating"].to_numpy(float)


def halves(replicate: int, folder: Path) -> dict[str, Any]:
    """Costs of each theme in two halves that each learn tone by themselves, with the first half's themes.

    error : of the first half's costs, by that half alone.
    """
    table = pd.read_csv(folder / "hotel_reviews_10k.csv.gz")
    order = np.random.default_rng(replicate).permutation(len(table))
    texts, ratings = table["text"].astype(str).to_numpy()[order], table["rating"].to_numpy(float)[order]
    one, other = np.split(np.arange(len(order)), 2)
    model = ts.TextResponseModel(N_TOPICS, n_jobs=1, random_state=replicate).fit(texts[one].tolist(), ratings[one])
    rows = model.estimate_effects().of("cost").sort_values("theme")
    evidence = Evidence.of(model.reader_, observe(model.tokenise(texts[other].tolist()), ratings[other]))
    with local_compute(1) as compute:
        fit = fit_loosely(evidence.learnt_from(np.arange(len(other)), compute), compute)
    evidence = replace(evidence, fit=fit)
    costs, _ = effects_of(evidence, subgroups(None, fit.talk.weight), calibrate(evidence, CUTS, 0))[None, "cost"]
    return {"one": rows["estimate"].tolist(), "error": rows["std_error"].tolist(), "other": costs.tolist()}


def aspects(replicate: int, folder: Path) -> dict[str, Any]:
    """Whether the tone about a theme orders hotels as the guests' own ratings of an aspect do.

    Themes and tone are learnt from overall ratings alone. The theme of an aspect is the one whose tone goes with it
    best, given the overall rating, in reviews of one half of the hotels; the rank correlation is over the other half.
    """
    table = pd.read_csv(folder / "hotel_aspect_ratings_6k.csv.gz")
    model = ts.TextResponseModel(N_TOPICS, n_jobs=-1, random_state=0)
    model.fit(table["text"].astype(str).tolist(), table["overall"].to_numpy(float))
    spoken = model.reader_.known()
    hotels, number = np.unique(table["hotel_id"], return_inverse=True)
    rng = np.random.default_rng(0)
    choosing = rng.permutation(len(hotels)) < len(hotels) // 2
    labels = model.themes().set_index("theme")["label"]
    found = {}
    for aspect in ASPECTS:
        own = table[aspect].to_numpy(float)
        rows = choosing[number] & ~np.isnan(own)
        theme = int(
            np.argmax([_partial(spoken.tone[rows, k], own[rows], spoken.responses[rows]) for k in range(N_TOPICS)])
        )
        counted = spoken.mentioned[:, theme] & ~choosing[number] & ~np.isnan(own)
        frame = pd.DataFrame({"hotel": number, "tone": spoken.tone[:, theme], "own": own})[counted]
        means = frame.groupby("hotel").agg(tone=("tone", "mean"), own=("own", "mean"), n=("own", "size"))
        means = means[means["n"] >= FEWEST]
        draws = [means.iloc[rng.integers(0, len(means), len(means))] for _ in range(1000)]
        spread = [spearmanr(draw["tone"], draw["own"]).statistic for draw in draws]
        rho = spearmanr(means["tone"], means["own"]).statistic
        low, high = np.percentile(spread, [2.5, 97.5])
        found[aspect] = [labels[theme], len(means), float(rho), float(low), float(high)]
    return found


def _partial(one: np.ndarray, other: np.ndarray, given: np.ndarray) -> float:
    """Correlation of ranks of what a line through `given` leaves of both."""
    basis = np.column_stack([np.ones(len(given)), given])
    left = [values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0] for values in (one, other)]
    return float(np.corrcoef(rankdata(left[0]), rankdata(left[1]))[0, 1])


def time(replicate: int, folder: Path) -> dict[str, Any]:
    """Seconds of one fit, of `drivers(interval=.95)` and of 200 refits of the bootstrap, on all cores."""
    table = pd.read_csv(folder / "hotel_reviews_10k.csv.gz")
    texts, ratings = table["text"].astype(str).tolist(), table["rating"].to_numpy(float)
    ts.TextResponseModel(5).fit(texts[:500], ratings[:500]).estimate_effects(method="bootstrap", n_refits=2)
    times = [perf_counter()]
    model = ts.TextResponseModel(N_TOPICS).fit(texts, ratings)
    times.append(perf_counter())
    model.drivers(interval=0.95)
    times.append(perf_counter())
    model.estimate_effects(method="bootstrap", n_refits=REFITS)
    times.append(perf_counter())
    fit, drivers, bootstrap = np.diff(times).tolist()
    return {"fit": fit, "drivers": drivers, "bootstrap": bootstrap}
