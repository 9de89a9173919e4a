"""Streamed prediction from text: rows a second and peak memory, beside scikit-learn's in the same run.

    python benchmarks/predict.py                 10^5 and 10^6 synthetic reviews of about 60 words
    python benchmarks/predict.py --large         and 10^7, about 2 GB on disk

Reviews are written to Parquet as they are made. Each prediction runs in a process of its own, from file to file and in
batches: `textsignal.predict_file`, and `make_pipeline(CountVectorizer(), Ridge())` fed by Arrow. Peak memory is that of
the process, all imports included; the model is read before the clock starts. Processor time is of all threads: on a
machine that others use, it says more than seconds do.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SIZES, LARGE = (10**5, 10**6), 10**7
#: Reviews that models learn from, and whose parts all others are made of.
TRAINING, WORDS, N_THEMES, CHUNK = 20_000, 60, 10, 50_000
#: Words that only a few reviews have, as real ones do: two in each review.
RARE = 300_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} rows too")
    parser.add_argument("--rounds", type=int, default=2, help="of which the fastest counts")
    parser.add_argument("--jobs", type=int, default=-1, help="threads of textsignal")
    parser.add_argument("--child", nargs=4, metavar=("METHOD", "MODEL", "SOURCE", "JOBS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(predict(*options.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    texts = train(folder)
    rows = []
    for size in [*options.rows, *([LARGE] if options.large else [])]:
        source = folder / f"{size}.parquet"
        words = write_reviews(source, texts, size)
        found: dict[str, list[dict[str, float]]] = {"textsignal": [], "scikit-learn": []}
        for _ in range(1 if size >= LARGE else options.rounds):
            for method, runs in found.items():
                runs.append(run(method, folder, source, options.jobs))
        source.unlink()
        best = {method: min(run["seconds"] for run in runs) for method, runs in found.items()}
        work = {method: min(run["cpu"] for run in runs) for method, runs in found.items()}
        peak = {method: max(run["peak"] for run in runs) for method, runs in found.items()}
        rows.append(
            {"rows": size, "words": words}
            | {f"rows/s {method}": round(size / seconds) for method, seconds in best.items()}
            | {"ratio": round(best["scikit-learn"] / best["textsignal"], 2)}
            | {f"cpu us/row {method}": round(1e6 * each / size, 1) for method, each in work.items()}
            | {f"peak MiB {method}": round(each) for method, each in peak.items()}
        )
        print(pd.DataFrame(rows).to_string(index=False), flush=True)


def train(folder: Path) -> list[str]:
    """Fit both models and keep them in the folder; give the texts that reviews are made of."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    import textsignal as ts
    from textsignal.datasets import synthetic_reviews

    reviews = synthetic_reviews(TRAINING, seed=1)
    ts.TextResponseModel(N_THEMES).fit(reviews.texts, reviews.ratings).save(folder / "textsignal")
    pipeline = make_pipeline(CountVectorizer(), Ridge()).fit(reviews.texts, reviews.ratings)
    (folder / "scikit-learn").write_bytes(pickle.dumps(pipeline))
    return reviews.texts


def write_reviews(file: Path, texts: list[str], size: int) -> float:
    """Write so many reviews, each of several others and rare words; give their mean number of words."""
    rng = np.random.default_rng(size)
    together = max(1, round((WORDS - 2) / np.mean([text.count(" ") + 1 for text in texts[:1000]])))
    n_words = 0
    with pq.ParquetWriter(file, pa.schema({"id": pa.int64(), "review": pa.string()})) as writer:
        for start in range(0, size, CHUNK):
            rows = min(CHUNK, size - start)
            parts = rng.integers(len(texts), size=(rows, together)).tolist()
            rare = (rng.zipf(1.2, size=(rows, 2)) % RARE).tolist()
            made = [
                f"{' '.join([texts[i] for i in each])} rare{a} word{b}"
                for each, (a, b) in zip(parts, rare, strict=True)
            ]
            n_words += sum(text.count(" ") + 1 for text in made)
            writer.write_table(pa.table({"id": np.arange(start, start + rows), "review": made}))
    return round(n_words / size, 1)


def run(method: str, folder: Path, source: Path, jobs: int) -> dict[str, float]:
    """Predict in a process of its own."""
    command = [sys.executable, __file__, "--child", method, folder / method, source, str(jobs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def predict(method: str, model: str, source: str, jobs: str) -> dict[str, float]:
    """Seconds and peak memory of a prediction from file to file."""
    output = Path(source).with_suffix(f".{method}.parquet")
    if method == "textsignal":
        import textsignal as ts

        fitted = ts.load(model, n_jobs=int(jobs))
        ts.predict_batches(fitted, pd.DataFrame({"review": ["Compiled before the clock runs."]}), "review").__next__()
        before, worked = time.perf_counter(), time.process_time()
        ts.predict_file(fitted, source, output, "review")
    else:
        pipeline = pickle.loads(Path(model).read_bytes())
        before, worked = time.perf_counter(), time.process_time()
        with pq.ParquetFile(source) as file, pq.ParquetWriter(output, pa.schema({"prediction": pa.float64()})) as out:
            for batch in file.iter_batches(2**15, columns=["review"]):
                out.write_table(pa.table({"prediction": pipeline.predict(batch["review"].to_pylist())}))
    seconds, cpu = time.perf_counter() - before, time.process_time() - worked
    output.unlink()
    return {"seconds": seconds, "cpu": cpu, "peak": peak_memory()}


def peak_memory() -> float:
    """MiB that this process held at most; where the system tells no better, with what its parent held before."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    held = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return (held[0] if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


if __name__ == "__main__":
    main()
