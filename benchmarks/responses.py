"""Responses of all kinds by textsignal and by GLMs on words: makes `docs/responses.md`.

    make responses                                  everything that is not finished yet, then the page
    python benchmarks/responses.py --render         the page alone
    python benchmarks/responses.py --redo 'auto' --only kaggle
    python benchmarks/responses.py --redo textsignal --only 'wine*'

A cell is one set or line of the page, split and method. Each is written to a file of results as soon as it is finished,
and a finished cell is not computed again unless `--redo` asks for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import responses_real as real
from responses_page import page
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import textsignal as ts
from textsignal.data.write import keep_line, kept_lines
from textsignal.estimators.predictions import r2_score
from textsignal.reading.options import TOPIC_TERMS

ROOT = Path(__file__).resolve().parents[1]
N_TOPICS, N_TERMS, SPLITS = 14, 2000, (0, 1, 2)
#: Inverse penalties of the logistic regression; the best of all by cross-validation.
STRENGTHS, FOLDS = np.logspace(-1, 3, 9), 3
#: Probability of the intervals whose coverage is measured.
INTERVAL = 0.9


@dataclass(frozen=True)
class Source:
    """A set: its file, columns, how responses are made of these, and how many rows are taken."""

    name: str
    file: str
    text: str = "text"
    response: Callable[[pd.DataFrame], pd.Series] = lambda table: table["rating"]
    rows: int | None = None

    def read(self, folder: Path) -> tuple[list[str], np.ndarray]:
        table = pd.read_csv(folder / f"{self.file}.csv.gz", nrows=self.rows)
        table = pd.DataFrame({"text": table[self.text], "y": self.response(table)}).dropna()
        return table["text"].astype(str).tolist(), table["y"].to_numpy(float)


#: Shares of the levels of a simulated scale of ten, piled up at both ends.
TEN = np.array([0.115, 0.06, 0.05, 0.045, 0.055, 0.06, 0.08, 0.12, 0.165, 0.25])


def ten_points(table: pd.DataFrame) -> pd.Series:
    """A scale of ten, drawn at random: text explains about a fifth of it."""
    noise = np.random.default_rng(0).normal(size=len(table))
    latent = 0.65 * (table["rating"] - table["rating"].mean()) / table["rating"].std() + 0.76 * noise
    return 1 + pd.Series(np.searchsorted(np.cumsum(TEN)[:-1], latent.rank(pct=True)), index=table.index)


SOURCES = (
    Source("kaggle", "tripadvisor_kaggle_2k", "Review", lambda table: table["Rating"]),
    Source("google", "google_local_4k"),
    Source("short", "short_reviews_10k"),
    Source("hotel", "hotel_reviews_10k"),
    Source("clothing", "clothing_reviews_22k"),
    Source("half steps", "hotel_aspect_ratings_6k", response=lambda table: (table["overall"] + table["service"]) / 2),
    Source("2 to 10", "hotel_aspect_ratings_6k", response=lambda table: table["overall"] + table["rooms"]),
    Source("1 to 10", "short_reviews_10k", response=ten_points, rows=4000),
)


@dataclass(frozen=True)
class Split:
    """Training and test texts and responses, and the levels that occur in training."""

    texts: list[str]
    y: np.ndarray
    new_texts: list[str]
    new_y: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        return np.unique(self.y)


@dataclass(frozen=True)
class Outcome:
    """levels : (levels,); chances : (test documents, levels); family : the one that was taken, or ""."""

    levels: np.ndarray
    chances: np.ndarray
    family: str = ""


@dataclass(frozen=True)
class Result:
    """A finished cell, a line of the results file; covered : see `coverage`."""

    set: str
    split: int
    method: str
    log_loss: float
    r2: float
    covered: float
    family: str

    @property
    def key(self) -> tuple[str, int, str]:
        return self.set, self.split, self.method


def frequencies(split: Split) -> Outcome:
    shares = np.array([np.mean(split.y == level) for level in split.levels])
    return Outcome(split.levels, np.tile(shares, (len(split.new_y), 1)))


def logistic(split: Split) -> Outcome:
    """The penalty is the one with the best log loss in cross-validation on the training side."""
    counter = ts.TextVectorizer(TOPIC_TERMS[0], N_TERMS, weighting="count")
    X = normalize(counter.fit_transform(split.texts))
    model = LogisticRegressionCV(
        Cs=STRENGTHS, cv=FOLDS, scoring="neg_log_loss", max_iter=2000, l1_ratios=(0.0,), use_legacy_attributes=False
    )
    model.fit(X, [f"{y:05.1f}" for y in split.y])
    new = normalize(counter.transform(split.new_texts))
    return Outcome(np.array([float(label) for label in model.classes_]), model.predict_proba(new))


def ours(family: str) -> Callable[[Split], Outcome]:
    def run(split: Split) -> Outcome:
        levels = None
        if family != "auto" and np.any(split.y % 1):
            levels = (split.y.min(), split.y.max(), 0.5)
        model = ts.TextResponseModel(N_TOPICS, family=family, levels=levels, n_jobs=1).fit(split.texts, split.y)
        return Outcome(model.levels_, model.predict_proba(split.new_texts), model.family_.name)

    return run


METHODS = {"frequencies": frequencies, "binomial": ours("binomial"), "auto": ours("auto"), "logistic": logistic}


def coverage(places: np.ndarray, chances: np.ndarray) -> float:
    """Share of responses in the middle 90% of their predicted distributions.

    A level takes up the stretch from P(below it) to P(up to it), and counts as far as that lies between 5% and 95%:
    the expected coverage of the interval that draws lots at the levels its ends fall into. With few levels an interval
    of whole levels must hold more than it says (an interval from 4 to 5 stars may well hold 97%), so that its coverage
    tells little; this one holds 90% wherever probabilities are right.
    """
    high = np.cumsum(chances, axis=1)[np.arange(len(places)), places]
    low = high - chances[np.arange(len(places)), places]
    ends = (1 - INTERVAL) / 2, (1 + INTERVAL) / 2
    inside = np.clip(np.minimum(high, ends[1]) - np.maximum(low, ends[0]), 0, None)
    return float(np.mean(inside / np.maximum(high - low, np.finfo(float).tiny)))


def compute(source: Source, seed: int, method: str, folder: Path) -> Result:
    texts, y = source.read(folder)
    order = np.random.default_rng(seed).permutation(len(texts))
    cut = int(0.8 * len(texts))
    train, test = order[:cut], order[cut:]
    split = Split([texts[i] for i in train], y[train], [texts[i] for i in test], y[test])
    with threadpool_limits(1):
        outcome = METHODS[method](split)
    places = np.searchsorted(outcome.levels, split.new_y)
    chances = outcome.chances[np.arange(len(places)), places]
    return Result(
        source.name,
        seed,
        method,
        log_loss=float(-np.mean(np.log(chances))),
        r2=r2_score(split.new_y, outcome.chances @ outcome.levels.astype(float)),
        covered=coverage(places, outcome.chances),
        family=outcome.family,
    )


@dataclass(frozen=True)
class RealResult:
    """A finished cell of the other tables."""

    line: str
    split: int
    method: str
    value: float

    @property
    def key(self) -> tuple[str, int, str]:
        return self.line, self.split, self.method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the sets")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results", help="folder of results")
    parser.add_argument("--redo", default="", help="methods to compute again, such as 'auto'")
    parser.add_argument("--only", default="*", help="sets, or lines of the page, to compute")
    parser.add_argument("--render", action="store_true", help="write the page alone")
    given = parser.parse_args()
    given.results.mkdir(exist_ok=True)
    files = given.results / "responses.jsonl", given.results / "responses_real.jsonl"
    stars = {result.key: result for result in (Result(**line) for line in kept_lines(files[0]))}
    others = {result.key: result for result in (RealResult(**line) for line in kept_lines(files[1]))}

    def asked(key: tuple[str, int, str], done: Iterable[tuple[str, int, str]]) -> bool:
        wanted = not given.render and fnmatch(key[0], given.only)
        return wanted and (key not in done or fnmatch(key[2], given.redo))

    def keep(result: Any, done: dict[Any, Any], file: Path) -> None:
        keep_line(asdict(result), file)
        done[result.key] = result
        print(result, flush=True)

    for source, seed, method in [(s, seed, m) for m in METHODS for s in SOURCES for seed in SPLITS]:
        if asked((source.name, seed, method), stars):
            keep(compute(source, seed, method, given.data), stars, files[0])
    for line, split, method in real.cells():
        if asked((line.name, split, method), others):
            value = real.cell(line, split, method, given.data)
            keep(RealResult(line.name, split, method, value), others, files[1])
    if asked((f"{real.SEVERAL}overall", 0, real.OURS), others):
        for found in real.several(given.data):
            keep(RealResult(**found), others, files[1])
    text = page(*([asdict(result) for result in done.values()] for done in (stars, others)))
    (ROOT / "docs" / "responses.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
