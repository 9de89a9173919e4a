"""Seven ratings of hotels fitted at once, beside a fit of each alone: held-out R2.

    python benchmarks/responses_several.py --data FOLDER

One row per response: R2 with shared themes, R2 of its own fit, and the difference.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from textsignal import TextResponseModel
from textsignal.estimators.predictions import r2_score

FILE, TEXT = "hotel_aspect_ratings_6k.csv.gz", "text"
RESPONSES = ("overall", "value", "rooms", "location", "cleanliness", "front_desk", "service")
N_TOPICS = 14


def table(folder: Path, n_jobs: int = 1) -> pd.DataFrame:
    """The documented split: `default_rng(0).permutation`, the first 80% for training."""
    reviews = pd.read_csv(folder / FILE)
    order = np.random.default_rng(0).permutation(len(reviews))
    training, test = (reviews.iloc[rows] for rows in np.split(order, [int(0.8 * len(reviews))]))
    texts, new_texts = training[TEXT].tolist(), test[TEXT].tolist()
    together = TextResponseModel(N_TOPICS, n_jobs=n_jobs).fit(texts, training[[*RESPONSES]]).predict(new_texts)
    rows = []
    for name in RESPONSES:
        alone = TextResponseModel(N_TOPICS, n_jobs=n_jobs).fit(texts, training[name]).predictions(new_texts).mean
        scores = [r2_score(test[name].to_numpy(float), predicted) for predicted in (together[name].to_numpy(), alone)]
        rows.append((name, *scores, scores[0] - scores[1]))
    return pd.DataFrame(rows, columns=["response", "together_r2", "alone_r2", "difference"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the review sets")
    found = table(parser.parse_args().data)
    print(found.round(4).to_string(index=False))
    print(f"least difference: {found['difference'].min():+.4f}")


if __name__ == "__main__":
    main()
