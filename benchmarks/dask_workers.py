"""A fit of synthetic reviews from Parquet on Dask's workers, beside threads of one process; and with one worker killed.

    python benchmarks/dask_workers.py                  10^6 reviews of about 60 words
    python benchmarks/dask_workers.py --rows 100000

Reviews are made of sentences of others, and written as they are made. Each fit runs in a process of its own, and so do
workers; what is compiled is compiled, and workers are there, before the clock starts. A worker has one thread. In
the last fit one of four workers is killed (SIGKILL) in the middle of the second pass of tone. All parameters are
compared with those of the local fit. One worker and two take turns, `--times` times, and their mean and least seconds
are told: where others share the machine, a fit takes a tenth more or less than the next.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, WORDS, N_THEMES = 10**6, 60, 10
#: Reviews whose sentences all others are made of; rows of a row group.
MADE_OF, CHUNK = 20_000, 2**15
#: (name, workers or None for the local engine, threads of it, whether a worker is killed).
FITS: tuple[tuple[str, int | None, int, bool], ...] = (
    ("local, 1 thread", None, 1, False),
    ("local, 2 threads", None, 2, False),
    ("Dask, 1 worker", 1, 1, False),
    ("Dask, 2 workers", 2, 1, False),
    ("Dask, 4 workers", 4, 1, False),
    ("Dask, 4 workers, one killed", 4, 1, True),
)
#: Fits that are compared with each other, and so are done more than once.
IN_TURN = ("Dask, 1 worker", "Dask, 2 workers")
#: The pass of tone in which a worker is killed.
KILLED_IN = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", help="fits whose name this pattern is found in, beside the first")
    parser.add_argument("--times", type=int, default=3, help="fits by one worker and by two, each")
    parser.add_argument("--child", nargs=3, metavar=("NUMBER", "FOLDER", "OUTPUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        number, folder, output = options.child
        print(json.dumps(run(*FITS[int(number)][1:], Path(folder), Path(output))))
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options.rows, options.only, options.times)


def compare(folder: Path, n_rows: int, only: str | None, times: int) -> None:
    write_reviews(folder / "few.parquet", 300)
    words = write_reviews(folder / "all.parquet", n_rows)
    print(f"{n_rows:,} reviews of {words:.0f} words, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    rows: list[dict[str, Any]] = []
    first: dict[str, np.ndarray] = {}
    for number in in_turn(only, times):
        found, own = fitted(folder, number)
        first = first or own
        different = max(float(np.abs(own[key] - first[key]).max()) for key in first)
        rows.append({"fit": FITS[number][0], **found, "largest difference": different})
        print(pd.DataFrame(rows).to_string(index=False), flush=True)
    seconds = pd.DataFrame(rows).groupby("fit")["seconds"]
    for name, of_fits in {"means": seconds.mean(), "fastest": seconds.min()}.items():
        if {*IN_TURN} <= {*of_fits.index}:
            one, two = of_fits[list(IN_TURN)]
            print(f"{name}: one worker {one:.1f} s, two {two:.1f} s, {one / two:.2f} times as fast", flush=True)


def in_turn(only: str | None, times: int) -> list[int]:
    """Numbers of the fits to do: the first, and those whose name the pattern is found in."""
    wanted = [number for number, (name, *_) in enumerate(FITS) if not number or not only or re.search(only, name)]
    again = [number for number in wanted if FITS[number][0] in IN_TURN]
    return wanted + (times - 1) * again


def fitted(folder: Path, number: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a fit in a process of its own tells of itself, and its parameters."""
    output = folder / f"{number}.npz"
    command = [sys.executable, __file__, "--child", str(number), str(folder), str(output)]
    # One thread of BLAS, as workers of Dask have.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    with np.load(output) as parameters:
        return json.loads(done.stdout) | {"load": round(os.getloadavg()[0], 1)}, dict(parameters)


def write_reviews(file: Path, n_rows: int) -> float:
    """Write so many reviews, each of sentences of others; give their mean number of words."""
    from textsignal.datasets import synthetic_reviews

    made_of, rng = synthetic_reviews(MADE_OF, seed=1), np.random.default_rng(1)
    cut = [(sentence, rating) for text, rating in zip(made_of.texts, made_of.ratings, strict=True)
           for sentence in re.split(r"(?<=[.!?]) ", text)]  # fmt: skip
    sentences, ratings = [sentence for sentence, _ in cut], np.array([rating for _, rating in cut], dtype=float)
    together = max(1, round(WORDS / np.mean([sentence.count(" ") + 1 for sentence in sentences])))
    n_words = 0
    with pq.ParquetWriter(file, pa.schema({"review": pa.string(), "rating": pa.float64()})) as writer:
        for start in range(0, n_rows, CHUNK):
            drawn = rng.integers(len(sentences), size=(min(CHUNK, n_rows - start), together))
            texts = [" ".join([sentences[i] for i in each]) for each in drawn.tolist()]
            n_words += sum(text.count(" ") + 1 for text in texts)
            writer.write_table(pa.table({"review": texts, "rating": np.rint(ratings[drawn].mean(axis=1))}))
    return n_words / n_rows


def run(workers: int | None, threads: int, kill: bool, folder: Path, output: Path) -> dict[str, Any]:
    """Seconds of a fit, and of its parts; parameters go to `output`."""
    from textsignal import TextResponseModel

    with engine_of(workers, folder / "killed" if kill else None) as engine:
        # What is left to the client is done while workers wait.
        model = TextResponseModel(N_THEMES, n_jobs=threads if workers is None else -1)
        model.fit(folder / "few.parquet", "rating", text="review", engine=engine)
        if workers is not None:
            engine.client.run(warm, folder / "few.parquet")
        if kill:
            engine.n_passes = 0
        before = time.perf_counter()
        model.fit(folder / "all.parquet", "rating", text="review", engine=engine)
        seconds = time.perf_counter() - before
    fitted = model.reader_.fitted
    texts = list(model.observed()[0].tokens.texts[:1000])
    np.savez(output, tone=fitted.words.tone, themes=fitted.themes.topics, predictions=model.predict(texts))
    killed = kill and (folder / "killed").exists()
    return {"seconds": round(seconds, 1), "features": len(fitted.features), "killed": killed}


def warm(file: Path) -> None:
    """Load on a worker what is compiled."""
    from textsignal import TextResponseModel

    TextResponseModel(2, n_jobs=1).fit(file, "rating", text="review")


@contextmanager
def engine_of(workers: int | None, mark: Path | None) -> Iterator[Any]:
    if workers is None:
        yield None
        return
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "memory_limit": 0}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster, direct_to_workers=True) as client:
        from textsignal.compute.engines.dask import DaskEngine

        yield DaskEngine(client) if mark is None else killing_engine(client, mark)


def killing_engine(client: Any, mark: Path) -> Any:
    """An engine of which one worker is killed in the middle of a step."""
    from textsignal.compute.engines.dask import DaskEngine

    class Killing(DaskEngine):
        n_passes = KILLED_IN  # is over, until the clock starts

        def keep(self, step: Callable[[Any], Any], blocks: Any, turns: Any = None) -> Any:
            is_pass = "_descend" in getattr(step, "__qualname__", "")
            self.n_passes += is_pass
            return super().keep(killing(step, mark) if is_pass and self.n_passes == KILLED_IN else step, blocks, turns)

    return Killing(client)


def killing(step: Callable[[Any], Any], mark: Path) -> Callable[[Any], Any]:
    def killed(block: Any) -> Any:
        found = step(block)
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return found
        os.kill(os.getpid(), signal.SIGKILL)

    return killed


if __name__ == "__main__":
    main()
