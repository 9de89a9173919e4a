"""Choice of the number of themes for `n_topics="auto"`.

Only themes are relearnt, in halves of the documents; words, tone and vectors are reused. Predictive skill is mostly due
to tone, so the number of themes is chosen by their stability (see `rule`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from textsignal.compute.engines import Compute
from textsignal.errors import InputError
from textsignal.training import agreement
from textsignal.training.agreement import LEAST_EACH, ThemeHalves
from textsignal.training.halves import SeedWords
from textsignal.training.rule import COARSE_THEMES, dense_around, most_stable, why_stable
from textsignal.training.theme_model import Prepared


@dataclass(frozen=True)
class ThemeNumber:
    """Number of themes, and the reason for display; "" if the user set it."""

    number: int
    why: str = ""


def choose_number(prepared: Prepared, seed: int, compute: Compute, seed_words: SeedWords = None) -> ThemeNumber:
    """Choose the largest number of themes, from 5 to 30, that is reproduced in halves of the documents."""
    with threadpool_limits(1):
        return _most_that_come_back(ThemeHalves.of(prepared, seed, compute.engine, seed_words), compute)


def _most_that_come_back(halves: ThemeHalves, compute: Compute) -> ThemeNumber:
    most, least = halves.most_themes, max(COARSE_THEMES[0], len(halves.seed_words or ()))
    if most < least:
        raise InputError(
            f"{halves.n_speaking:,} texts with content terms are too few to choose a number of themes by; "
            f"it takes {least * LEAST_EACH:,}: give a number in place of n_topics='auto'"
        )
    coarse = [number for number in COARSE_THEMES if least <= number <= most] or [least]
    cells = _cells(halves, coarse, compute)
    taken = cells.at[most_stable(cells), "n_topics"]
    cells = pd.concat([cells, _cells(halves, dense_around(taken, coarse), compute)], ignore_index=True)
    row = most_stable(cells)
    return ThemeNumber(int(cells.at[row, "n_topics"]), why_stable(cells, row, "theme"))


def _cells(halves: ThemeHalves, numbers: Sequence[int], compute: Compute) -> pd.DataFrame:
    """Stability of each number of themes, with its standard error over cuts."""
    # Largest first, so that no thread ends with a long task.
    tasks = [(number, cut) for number in sorted(numbers, reverse=True) for cut in range(agreement.CUTS)]
    cosines = compute.engine.map(lambda task: halves.cosine(*task), tasks)
    table = pd.DataFrame(tasks, columns=["n_topics", "cut"]).assign(stability=cosines)
    cells = table.groupby("n_topics")["stability"].agg(["mean", "std"]).reset_index()
    return pd.DataFrame(
        {
            "n_topics": cells["n_topics"].astype(int),
            "stability": cells["mean"],
            "stability_se": cells["std"] / np.sqrt(agreement.CUTS),
        }
    )
