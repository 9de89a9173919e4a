"""Time and memory of a fit against the number of documents, and where the time goes.

    python benchmarks/scale.py 100000 1000000 10000000          made reviews, generated while they are read
    python benchmarks/scale.py --equal 100000                   streamed against in memory: R2 and themes
    python benchmarks/scale.py --file reviews.parquet --against COMMIT
                                                                a file of texts and ratings (columns text, rating), and
                                                                the fit in memory of an earlier commit beside it
    python benchmarks/scale.py --resampled FILE 240000          writes such a file: hotel reviews of the data folder,
                                                                half of their sentences exchanged for others

Every fit has a process of its own, whose largest memory is printed with its times.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scale_data import endless
from scipy.optimize import linear_sum_assignment

import textsignal as ts
from textsignal.datasets import synthetic_reviews
from textsignal.text.tokens import read_sentences

#: What is timed: steps that follow each other.
STEPS = {
    "reading": ("textsignal.streaming", "read_source"),
    "counting": ("textsignal.streaming", "count_shards"),
    "blocks and tone": ("textsignal.streaming", "stored_tone"),
    "of which tone": ("textsignal.training.streamed", "tone_effects"),
    "sample": ("textsignal.streaming", "prepare_read"),
    "themes and level 2": ("textsignal.reading.options", "fit_prepared"),
}
N_TOPICS, HELD_BACK = 14, 20_000


def timed(into: dict[str, float]) -> None:
    """Have the seconds of all steps put into a dictionary."""
    for name, (module, function) in STEPS.items():
        place = importlib.import_module(module)
        setattr(place, function, _timed(getattr(place, function), name, into))


def _timed(function: Callable[..., Any], name: str, into: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*given: Any, **named: Any) -> Any:
        before = time.perf_counter()
        result = function(*given, **named)
        into[name] = into.get(name, 0.0) + time.perf_counter() - before
        return result

    return wrapped


def warmed() -> None:
    """Loops are compiled before the clock runs."""
    made = synthetic_reviews(400, seed=0)
    ts.TextResponseModel(N_TOPICS).fit(made.texts, made.ratings)


def peak_gib() -> float:
    """Largest memory of this process; what `getrusage` says may be its parent's."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 2**20


def fit_once(source: Any, n_jobs: int) -> dict[str, Any]:
    warmed()
    steps: dict[str, float] = {}
    timed(steps)
    if not isinstance(source, Path):
        source = counted(source, steps)
    begun, before = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    model = ts.TextResponseModel(N_TOPICS, random_state=0, n_jobs=n_jobs).fit(source, "rating", text="text")
    wall, ended = time.perf_counter() - before, resource.getrusage(resource.RUSAGE_SELF)
    cpu = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    return {
        "documents": model.n_texts_,
        "sample": len(model.observed()[0].tokens),
        "wall": wall,
        "cpu": cpu,
        "GiB": peak_gib(),
        "steps": steps,
    }


def counted(tables: Iterator[pa.Table], into: dict[str, float]) -> Iterator[pa.Table]:
    """The same tables; the seconds that it took to make them are put into a dictionary."""
    while True:
        before = time.perf_counter()
        table = next(tables, None)
        into["of which making texts"] = into.get("of which making texts", 0.0) + time.perf_counter() - before
        if table is None:
            return
        yield table


def fit_earlier(file: Path, commit: str) -> float:
    """Seconds of reading a file and fitting it in memory, by the code of an earlier commit."""
    program = (
        "import sys, time, pandas as pd, textsignal as ts\n"
        "from textsignal.datasets import synthetic_reviews\n"
        "made = synthetic_reviews(400, seed=0); ts.TextResponseModel(14).fit(made.texts, made.ratings)\n"
        "before = time.perf_counter()\n"
        "table = pd.read_parquet(sys.argv[1])\n"
        "model = ts.TextResponseModel(14, random_state=0)\n"
        "model.fit(table['text'].tolist(), table['rating'].to_numpy(float))\n"
        "print(time.perf_counter() - before)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "earlier"
        subprocess.run(["git", "worktree", "add", "--detach", str(place), commit], check=True, capture_output=True)
        try:
            command = [sys.executable, "-c", program, str(file.resolve())]
            environment = os.environ | {"PYTHONPATH": str(place / "src")}
            run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=place)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(place)], check=True, capture_output=True)
    return float(run.stdout.splitlines()[-1])


def resample(file: Path, n_documents: int, data: Path) -> None:
    """Write reviews: hotel reviews, of which half of the sentences are others' with the same rating."""
    table = pd.read_csv(data / "hotel_reviews_10k.csv.gz")
    rng, ratings = np.random.default_rng(0), table["rating"].to_numpy()
    read = read_sentences(table["text"].astype(str))
    spans = np.split(read.spans, read.sentence_ends[1:-1])
    sentences = [[text[a:b] for a, b in found] for text, found in zip(read.texts, spans, strict=True)]
    pools = {
        level: [sentence for i in np.flatnonzero(ratings == level) for sentence in sentences[i]]
        for level in np.unique(ratings)
    }
    texts, rows = [], rng.integers(0, len(table), n_documents)
    for i in rows:
        pool = pools[ratings[i]]
        other = rng.random(len(sentences[i])) < 0.5
        drawn = rng.integers(0, len(pool), len(sentences[i]))
        pairs = zip(sentences[i], other, drawn, strict=True)
        texts.append(" ".join(pool[j] if is_other else sentence for sentence, is_other, j in pairs))
    pq.write_table(pa.table({"text": texts, "rating": ratings[rows].astype(float)}), file)


def equal(n_documents: int) -> None:
    """R2 on documents that neither has seen, and cosines of matched themes."""
    tables = list(endless(n_documents))
    texts = [text for table in tables for text in table["text"].to_pylist()]
    ratings = np.concatenate([table["rating"].to_numpy() for table in tables])
    (held,) = endless(HELD_BACK, seed=1)
    models = {
        "in memory": ts.TextResponseModel(N_TOPICS, random_state=0).fit(texts, ratings),
        "streamed": ts.TextResponseModel(N_TOPICS, random_state=0).fit(iter(tables), "rating", text="text"),
    }
    observed, new = held["rating"].to_numpy(), held["text"].to_pylist()
    for name, model in models.items():
        left = ((observed - model.predict(new)) ** 2).sum() / ((observed - observed.mean()) ** 2).sum()
        print(f"{name:<12} R2 {1 - left:.4f}")
    one, other = (_unit(model) for model in models.values())
    cosines = one @ other.T
    rows, columns = linear_sum_assignment(-cosines)
    found = np.sort(cosines[rows, columns])
    print(f"cosines of themes: least {found[0]:.4f}, mean {found.mean():.4f}")


def _unit(model: ts.TextResponseModel) -> np.ndarray:
    order = np.argsort(model.terms_)
    themes = model.components_[:, order]
    return themes / np.linalg.norm(themes, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of documents")
    parser.add_argument("--jobs", type=int, default=-1, help="threads")
    parser.add_argument("--file", type=Path, help="fit this file instead")
    parser.add_argument("--equal", type=int, help="compare with a fit in memory, of so many documents")
    parser.add_argument("--against", help="time the fit in memory of this commit too, of the same file")
    parser.add_argument("--resampled", type=Path, help="write a file of so many reviews")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of reviews")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.resampled:
        resample(options.resampled, options.sizes[0], options.data)
        return
    if options.equal:
        equal(options.equal)
    if options.child:
        source = options.file or endless(options.sizes[0])
        print(json.dumps(fit_once(source, options.jobs)))
        return
    given = [["--file", str(options.file)]] if options.file else [[str(size)] for size in options.sizes]
    for arguments in given:
        command = [sys.executable, __file__, "--child", "--jobs", str(options.jobs), *arguments]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        each = found["wall"] / found["documents"] * 1e6
        print(
            f"{found['documents']:,} documents: {found['wall']:.1f} s, {found['cpu']:.1f} s of CPU, "
            f"{each:.1f} us each, {found['GiB']:.2f} GiB, sample {found['sample']:,}"
        )
        print("   " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found["steps"].items()), flush=True)
        if options.file and options.against:
            earlier = fit_earlier(options.file, options.against)
            print(f"   {options.against} in memory: {earlier:.1f} s, {earlier / found['wall']:.1f} times as long")


if __name__ == "__main__":
    main()
