"""Time of tone inside a whole fit of themes, beside predictive training, from raw text, in one run on one machine.

    python benchmarks/tone.py --data FOLDER

Rounds go in turns, so that a busy spell of the machine hits all; the shortest time counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pandas as pd
from themes import N_THEMES, halves, read

import textsignal as ts
from textsignal.training import theme_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the review sets")
    parser.add_argument("--sets", nargs="+", default=["hotel", "short", "google"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    spent: list[float] = []
    fit_tone = theme_model.fit_tone

    def timed(*arguments: Any) -> Any:
        before = time.perf_counter()
        tone = fit_tone(*arguments)
        spent.append(time.perf_counter() - before)
        return tone

    theme_model.fit_tone = timed
    rows = []
    for name in options.sets:
        texts, y, scale = read(options.data, name)
        train, _ = halves(len(y))
        documents, ratings = [texts[i] for i in train], y[train]
        models = {
            "themes": ts.TextResponseModel(N_THEMES, family=scale),
            "predictive": ts.TopicModel(ts.GLMNMF(N_THEMES, training="predictive", family=scale)),
        }
        times: dict[str, list[float]] = {training: [] for training in models}
        for model in models.values():
            model.fit(documents[:300], ratings[:300])  # compiled once, before the clock runs
        spent.clear()
        for _ in range(options.rounds):
            for training, model in models.items():
                before = time.perf_counter()
                model.fit(documents, ratings)
                times[training].append(time.perf_counter() - before)
        rows.append({"set": name, "tone": min(spent), **{training: min(runs) for training, runs in times.items()}})
    print(pd.DataFrame(rows).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
