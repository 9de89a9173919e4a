"""The number of themes where it is left to us: `n_topics="auto"`.

Themes alone are learnt again, in halves of the documents; words, tone and vectors are there already. What predicts is
mostly tone, so the number of themes is chosen by whether they come back (see `rule`).
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
    """How many themes, and why, for people; "" where it was given."""

    number: int
    why: str = ""


def choose_number(prepared: Prepared, seed: int, compute: Compute, seed_words: SeedWords = None) -> ThemeNumber:
    """The most themes that come back in halves of the documents, from 5 to 30."""
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
    """How stable each number of themes is, with its standard error over cuts."""
    # The largest first: no thread is left with a long one in the end.
    tasks = [(number, cut) for number in sorted(numbers, reverse=True) for cut in range(agreement.CUTS)]
    found = compute.engine.map(lambda task: halves.cosine(*task), tasks)
    table = pd.DataFrame(tasks, columns=["n_topics", "cut"]).assign(stability=found)
    cells = table.groupby("n_topics")["stability"].agg(["mean", "std"]).reset_index()
    return pd.DataFrame(
        {
            "n_topics": cells["n_topics"].astype(int),
            "stability": cells["mean"],
            "stability_se": cells["std"] / np.sqrt(agreement.CUTS),
        }
    )
