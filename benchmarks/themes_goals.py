"""What themes are asked to reach, and what they reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from themes_data import SETS
from themes_measures import NEGATIONS, TIMES
from themes_methods import OURS
from themes_results import JUDGED_SEEDS, MEAN_OF, Results, mean

R2 = {"hotel": 0.690, "short": 0.627, "clothing": 0.560, "kaggle": 0.58, "long": 0.60, "google": 0.54}
JUDGED = {"nmi": ("NMI", 0.38), "accuracy": ("accuracy", 0.76), "auc": ("AUC of polarity", 0.92)}
STEADY = {"hotel": 0.82, "short": 0.80, "clothing": 0.80}
ASPECT_MEAN, COHERENT_SETS, REACH_RATIO, SEED_RANGE, EXACT = 0.16, 5, 3.0, 0.005, 1e-10
NOISE_R2, NOISE_LIFT = (-0.02, 0.01), 0.01


@dataclass(frozen=True)
class Goal:
    """reached, met : None where it is not measured yet."""

    name: str
    asked: str
    reached: str | None
    met: bool | None

    @property
    def row(self) -> list[str]:
        answer = "–" if self.met is None else "yes" if self.met else "**no**"
        return [self.name, self.asked, self.reached or "–", answer]


def at_least(name: str, asked: float, value: float | None, form: str = ".3f") -> Goal:
    known = value is not None
    return Goal(
        name, f"at least {asked:{form}}", f"{value:{form}}" if known else None, value >= asked if known else None
    )


def at_most(name: str, asked: float, value: float | None, form: str) -> Goal:
    known = value is not None
    return Goal(
        name, f"at most {asked:{form}}", f"{value:{form}}" if known else None, value <= asked if known else None
    )


def goals(results: Results, noise: Sequence[int]) -> list[Goal]:
    """Every goal of themes."""
    ours = OURS.name
    seeds = results.over_seeds(ours, "r2")
    found = [at_least(f"R2 on {name}", asked, results.fit(ours, name, "r2")) for name, asked in R2.items()]
    found += [
        at_least(f"{label}, mean over seeds", asked, mean(results.over_seeds(ours, field, JUDGED_SEEDS)))
        for field, (label, asked) in JUDGED.items()
    ]
    found += [
        at_least("aspects whose theme is the right one", len(MEAN_OF), results.aspects_right(ours), "d"),
        at_least("mean partial correlation with ratings of aspects", ASPECT_MEAN, results.aspect_mean(ours)),
        at_least("sets on which NPMI reaches that of predictive", COHERENT_SETS, coherent_sets(results), "d"),
    ]
    found += [
        at_least(
            f"ratio of largest to smallest share of mentions on {name}", REACH_RATIO, reach_ratio(results, name), ".1f"
        )
        for name in ("hotel", "short")
    ]
    found += [at_least(f"stability on {name}", asked, results.steady(ours, name)) for name, asked in STEADY.items()]
    found += [
        at_most("range of R2 on hotel over seeds", SEED_RANGE, float(np.ptp(seeds)) if len(seeds) > 1 else None, ".4f"),
        at_least("negations on the right side", len(NEGATIONS), results.negations_right(ours), "d"),
        at_most("largest additivity error", EXACT, results.fit(ours, "hotel", "additivity"), ".0e"),
    ]
    return [*found, *(goal for size in noise for goal in noise_goals(results, size)), *time_goals(results)]


def coherent_sets(results: Results) -> int | None:
    pairs = [[results.fit(method, name, "npmi") for method in (OURS.name, "predictive")] for name in SETS]
    complete = all(None not in pair for pair in pairs)
    return sum(ours >= theirs for ours, theirs in pairs) if complete else None


def reach_ratio(results: Results, name: str) -> float | None:
    reach = results.fit(OURS.name, name, "reach")
    return None if reach is None else reach[1] / max(reach[0], 1e-12)


def noise_goals(results: Results, size: int) -> list[Goal]:
    r2, lift = (results.noise(OURS.name, size, field) for field in ("r2", "lift"))
    low, high = NOISE_R2
    name = f"{size:,} documents, responses permuted"
    span = f"{min(r2):.3f} to {max(r2):.3f}" if r2 else None
    within = low <= min(r2) and max(r2) <= high if r2 else None
    return [
        Goal(f"{name}: R2", f"{low} to {high}", span, within),
        at_most(f"{name}: largest cost", NOISE_LIFT, max(lift) if lift else None, ".4f"),
    ]


def time_goals(results: Results) -> list[Goal]:
    found = results.values("time", OURS.name, "hotel")
    if not found:
        return [
            Goal("time of a fit relative to predictive", "below 1", None, None),
            Goal(f"growth of time with {TIMES} times as many documents", f"at most {TIMES}", None, None),
        ]
    ratio = found["once"][OURS.name] / found["once"]["predictive"]
    growth = found["many"][OURS.name] / found["once"][OURS.name]
    return [
        Goal("time of a fit relative to predictive", "below 1", f"{ratio:.2f}", ratio < 1),
        at_most(f"growth of time with {TIMES} times as many documents", TIMES, growth, ".1f"),
    ]
