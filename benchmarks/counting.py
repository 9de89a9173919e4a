"""Words a second of our text pass beside scikit-learn's CountVectorizer, in one run on one machine.

    python benchmarks/counting.py --data ../shared/data

Ours: texts without markup, sentences, negation, numbers of words, and how often each word is in each document.
CountVectorizer: how often each word is in each document. Texts are those of hotel_reviews_10k, or synthetic reviews
where they are absent, over and over, with one word in a hundred changed so that the vocabulary grows as it does in
life. Words are parted by white space. Rounds go in turns, so that a busy spell of the machine hits all; the shortest
time counts. Beside it stand words per second of processor time, which other programs hardly change.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

import textsignal as ts
from textsignal.text.cleaning import without_markup
from textsignal.text.features import count_codes
from textsignal.text.tokens import read_sentences


def reviews(data: Path) -> list[str]:
    """Texts of real reviews, or synthetic ones where there are none."""
    file = data / "hotel_reviews_10k.csv.gz"
    if file.exists():
        return pd.read_csv(file)["text"].astype(str).tolist()
    return list(ts.datasets.synthetic_reviews(10_000, random_state=0).texts)


def repeated(texts: list[str], n_words: int) -> list[str]:
    """So many words of texts, over and over, one word in a hundred of each copy changed."""
    rng, copies, found = np.random.default_rng(0), [], 0
    while found < n_words:
        for text in texts:
            words = text.split(" ")
            for place in rng.integers(0, len(words), 1 + len(words) // 100 if copies else 0).tolist():
                words[place] += words[int(rng.integers(0, len(words)))]
            copies.append(" ".join(words))
            found += len(copies[-1].split())
            if found >= n_words:
                break
    return copies


def count_ours(n_jobs: int) -> Callable[[list[str]], None]:
    def count(texts: list[str]) -> None:
        read = read_sentences(texts, clean=without_markup, n_jobs=n_jobs)
        every = np.arange(len(read.words), dtype=np.int32)
        count_codes(read.codes, read.document_indptr, every, len(every), n_jobs)

    return count


def count_peer(texts: list[str]) -> None:
    CountVectorizer().fit_transform(texts)


def seconds(count: Callable[[list[str]], None], texts: list[str]) -> tuple[float, float]:
    """By the clock, and of all processors."""
    before, used = time.perf_counter(), time.process_time()
    count(texts)
    return time.perf_counter() - before, time.process_time() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--words", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = repeated(reviews(options.data), options.words)
    n_words = sum(len(text.split()) for text in texts)
    print(f"{len(texts):,} documents, {n_words:,} words")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, textsignal {ts.__version__}")
    counts = {"textsignal, 1 thread": count_ours(1), "textsignal, 2 threads": count_ours(2)}
    counts["scikit-learn CountVectorizer"] = count_peer
    for count in counts.values():
        count(texts[:200])  # compiled once, before the clock runs
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in counts}
    for _ in range(options.rounds):
        for name, count in counts.items():
            times[name].append(seconds(count, texts))
    peer = min(times["scikit-learn CountVectorizer"])[0]
    for name, runs in times.items():
        clock, used = (min(column) for column in zip(*runs, strict=True))
        print(
            f"{name:<30}{n_words / clock / 1e6:8.1f} million words a second,"
            f"{n_words / used / 1e6:8.1f} per processor second,{peer / clock:8.1f} times CountVectorizer"
        )


if __name__ == "__main__":
    main()
