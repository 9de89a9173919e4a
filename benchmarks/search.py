"""Whether `textsignal.search` finds a number of themes that is right, and what `n_themes="auto"` costs.

    python benchmarks/search.py --data FOLDER [simulations] [hotels] [time]

simulations : of the paper's corpora with a ceiling above .3 (K = 5), how many are given 5 themes.
hotels : NMI of main themes against people's labels (judging only) by number of themes, and the number that is taken.
time : seconds of `n_themes="auto"` beside those of one fit, in turns; the least of each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sklearn.metrics import normalized_mutual_info_score
from themes_data import read_labelled, read_set

import textsignal as ts
from textsignal.datasets import SimulatedCorpus, simulate_corpus, synthetic_reviews

#: Simulations, the least ceiling of each, and the truth.
SIMULATIONS, CEILING, TRUE_TOPICS = 10, 0.3, 5
#: Numbers of themes that are judged, how near the best one must be, and how often fits are timed.
JUDGED, NEAR, TIMED = range(5, 31), 0.02, 3
PARTS = ("simulations", "hotels", "time")


def corpora() -> Iterator[tuple[int, SimulatedCorpus]]:
    """The first corpora of the paper's process whose ceiling is high enough, with their seeds."""
    found, seed = 0, 0
    while found < SIMULATIONS:
        corpus = simulate_corpus(random_state=seed)
        if corpus.ceiling() > CEILING:
            yield seed, corpus
            found += 1
        seed += 1


def simulations(n_jobs: int) -> None:
    """Numbers of themes that are taken."""
    for training in ("joint", "predictive"):
        right = 0
        for seed, corpus in corpora():
            found = ts.search(corpus.counts, corpus.ratings, training=training, supervision=0.5, n_jobs=n_jobs)
            right += found.recommended["n_themes"] == TRUE_TOPICS
            print(f"{training}, seed {seed}: {found.recommendation}", flush=True)
        print(f"{training}: {TRUE_TOPICS} themes in {right} of {SIMULATIONS}", flush=True)


def hotels(folder: Path, n_jobs: int) -> None:
    """NMI by number of themes, and the numbers that `search` and "auto" take."""
    documents, labelled = read_set(folder, "hotel"), read_labelled(folder)
    found = ts.search(documents.texts, documents.y, n_jobs=n_jobs)
    print(found.table.round(4).to_string(index=False))
    print(found.recommendation)
    auto = ts.TextResponseModel("auto", n_jobs=n_jobs).fit(documents.texts, documents.y)
    nmi = {}
    for number in JUDGED:
        model = ts.TextResponseModel(number, n_jobs=n_jobs).fit(documents.texts, documents.y)
        main = model.transform(labelled.texts).argmax(axis=1)
        nmi[number] = float(normalized_mutual_info_score(labelled.entities, main))
        print(f"{number} themes: NMI {nmi[number]:.4f}", flush=True)
    best = max(nmi, key=nmi.__getitem__)
    print(f"best: {best} themes, NMI {nmi[best]:.4f}")
    for name, taken in (("search", found.recommended["n_themes"]), ("auto", len(auto.components_))):
        verdict = "within" if nmi[taken] >= nmi[best] - NEAR else "not within"
        print(f"{name} takes {taken}: NMI {nmi[taken]:.4f}, {verdict} {NEAR} of the best")


def times(folder: Path, n_jobs: int) -> None:
    """Seconds of a fit of 10 themes, and of one that chooses their number."""
    reviews = synthetic_reviews(300, seed=0)
    ts.TextResponseModel("auto", n_jobs=n_jobs).fit(reviews.texts, reviews.ratings)  # compiles
    documents = read_set(folder, "hotel")
    turns = [{number: seconds(documents, number, n_jobs) for number in (10, "auto")} for _ in range(TIMED)]
    once, auto = (min(turn[number] for turn in turns) for number in (10, "auto"))
    print(f"one fit: {once:.1f} s; n_themes='auto': {auto:.1f} s, {auto / once:.2f} times as long")


def seconds(documents, number: int | str, n_jobs: int) -> float:
    before = time.perf_counter()
    ts.TextResponseModel(number, n_jobs=n_jobs).fit(documents.texts, documents.y)
    return time.perf_counter() - before


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; all by default")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the review sets")
    parser.add_argument("--jobs", type=int, default=-1, help="threads")
    options = parser.parse_args(arguments)
    parts = options.parts or PARTS
    if "simulations" in parts:
        simulations(options.jobs)
    if "hotels" in parts:
        hotels(options.data, options.jobs)
    if "time" in parts:
        times(options.data, options.jobs)


if __name__ == "__main__":
    main()
