"""Time of one default fit beside scikit-learn's KL-NMF and tomotopy's supervised LDA, in one run on one machine.

    pip install -e '.[bench]'; python benchmarks/fit.py --data ../shared/data

All take the term counts of the training part of hotel_reviews_10k (8,000 documents, 2,000 terms) and 14 topics, and
may use every core. Rounds go in turns, so that a busy spell of the machine hits all; the shortest time counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from extras import require
from sklearn.decomposition import NMF

import textsignal as ts

N_TOPICS, N_TERMS, SWEEPS = 14, 2_000, 500


def training_part(data: Path) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and ratings of the documented split."""
    table = pd.read_csv(data / "hotel_reviews_10k.csv.gz")
    rows = np.random.default_rng(0).permutation(len(table))[: len(table) * 8 // 10]
    texts, ratings = table["text"].to_numpy()[rows], table["rating"].to_numpy(dtype=float)[rows]
    return sp.csr_array(ts.TextVectorizer(5_000, N_TERMS, weighting="count").fit_transform(texts)), ratings


def fit_ours(X: sp.csr_array, y: np.ndarray) -> None:
    ts.GLMNMF(N_TOPICS).fit(X, y)


def fit_nmf(X: sp.csr_array, y: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NMF(N_TOPICS, beta_loss="kullback-leibler", solver="mu", max_iter=200, random_state=0).fit_transform(X)


def fit_tomotopy(X: sp.csr_array, y: np.ndarray) -> None:
    import tomotopy

    model = tomotopy.SLDAModel(k=N_TOPICS, vars="l", seed=0)
    for row, (start, stop) in enumerate(zip(X.indptr, X.indptr[1:], strict=False)):
        words = np.repeat(X.indices[start:stop], X.data[start:stop].astype(int)).astype(str)
        if len(words):
            model.add_doc(words.tolist(), [float(y[row])])
    model.train(SWEEPS, workers=0)


def seconds(fit: Callable[[sp.csr_array, np.ndarray], None], X: sp.csr_array, y: np.ndarray) -> float:
    before = time.perf_counter()
    fit(X, y)
    return time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    require("tomotopy")
    X, y = training_part(options.data)
    print(f"{X.shape[0]:,} documents, {X.shape[1]:,} terms, {X.nnz:,} nonzeros, {N_TOPICS} topics")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, textsignal {ts.__version__}")
    fit_ours(X[:200], y[:200])  # compiled once, before the clock runs
    fits = {
        "textsignal, predictive training": fit_ours,
        "scikit-learn NMF, KL, 200 iterations": fit_nmf,
        f"tomotopy sLDA, {SWEEPS} sweeps": fit_tomotopy,
    }
    times: dict[str, list[float]] = {name: [] for name in fits}
    for _ in range(options.rounds):
        for name, fit in fits.items():
            times[name].append(seconds(fit, X, y))
    ours = min(times["textsignal, predictive training"])
    for name, runs in times.items():
        print(f"{name:<40}{min(runs):8.1f} s{min(runs) / ours:8.2f} times ours")


if __name__ == "__main__":
    main()
