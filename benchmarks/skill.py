"""Skill and topics of textsignal beside its peers, on public review texts: the numbers of `docs/skill.md`.

    make skill                                    everything that is not finished yet, then the page
    python benchmarks/skill.py --render           the page alone
    python benchmarks/skill.py --redo 'predictive-*' --only short_reviews_10k

A cell is one set, number of terms, split and method. Each is written to the results file as soon as it is finished, and
a finished cell is not computed again unless `--redo` asks for it.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path

import numpy as np
from extras import PEERS, require
from joblib import Parallel, delayed
from scipy import special
from skill_data import FIRST, SOURCES, SPLITS, TERMS, Source, Split, load_split
from skill_methods import METHODS, Method, warm_up
from skill_page import page
from threadpoolctl import threadpool_limits

from textsignal import families
from textsignal.data.write import keep_line, kept_lines
from textsignal.evaluation.metrics import coherence, exclusivity, r2_score, rmse

ROOT = Path(__file__).resolve().parents[1]
#: Predictions are moved this share of the scale away from its ends before their deviance is taken.
MARGIN = 0.01
PACKAGES = ("textsignal", "numpy", "scipy", "scikit-learn", *PEERS)


@dataclass(frozen=True)
class Cell:
    """What is computed at a time. terms is None for a method that does not depend on the number of terms."""

    source: Source
    terms: int | None
    split: int
    method: Method

    @property
    def key(self) -> tuple[str, int | None, int, str]:
        return self.source.name, self.terms, self.split, self.method.name


@dataclass(frozen=True)
class Result:
    """A finished cell, a line of the results file. npmi, exclusivity : None for a method without topics."""

    set: str
    terms: int | None
    split: int
    method: str
    r2: float
    rmse: float
    deviance: float
    npmi: float | None
    exclusivity: float | None
    seconds: float
    machine: str

    @property
    def key(self) -> tuple[str, int | None, int, str]:
        return self.set, self.terms, self.split, self.method


def all_cells() -> list[Cell]:
    """Every cell, in the order they are computed: fast methods first, in groups of sets that fit into memory."""
    return [
        Cell(source, None if method.own_terms else n_terms, split, method)
        for n_terms in TERMS
        for group in (SOURCES[:FIRST], SOURCES[FIRST:])
        for method in METHODS
        for source in group
        for split in SPLITS
        if n_terms == TERMS[0] or not method.own_terms
    ]


def compute(cell: Cell, folder: Path) -> Result:
    split = load_split(cell.source, cell.terms or TERMS[0], cell.split, folder)
    warm_up()
    with threadpool_limits(1):
        before = time.process_time()
        outcome = cell.method.run(split)
        seconds = time.process_time() - before
    y, topics = split.test.y, outcome.topics
    return Result(
        *cell.key,
        r2=r2_score(y, outcome.predicted),
        rmse=rmse(y, outcome.predicted),
        deviance=deviance_explained(split, outcome.predicted),
        npmi=None if topics is None else float(coherence(split.train.counts, topics).mean()),
        exclusivity=None if topics is None else float(exclusivity(topics).mean()),
        seconds=seconds,
        machine=machine(),
    )


def deviance_explained(split: Split, predicted: np.ndarray) -> float:
    """1 - (binomial deviance of predictions) / (that of the training mean), on the test side."""
    scale, y = split.scale, split.scale.encode(split.test.y)

    def deviance(expected: np.ndarray) -> float:
        share = np.clip((expected - scale.lowest) / scale.n, MARGIN, 1 - MARGIN)
        return families.deviance(scale, y, special.logit(share))

    return 1 - deviance(predicted) / deviance(np.full(len(y), split.train.y.mean()))


def machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {packages}"


def read_results(path: Path) -> dict[tuple[str, int | None, int, str], Result]:
    """Finished cells; of a cell that was computed again, the last. A line cut short by a stop is not finished."""
    results = (Result(**line) for line in kept_lines(path))
    return {result.key: result for result in results}


def results_of(cells: list[Cell], folder: Path, n_jobs: int) -> Iterator[Result]:
    """Results as they are finished."""
    return Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(compute)(cell, folder) for cell in cells)


def wanted_cells(options: argparse.Namespace) -> list[Cell]:
    """Cells asked for, without those whose set is absent; says which are."""
    absent = [source for source in SOURCES if not source.path(options.data).exists()]
    for source in absent:
        print(f"{source.name} is left out: {source.path(options.data)} is not there; see --data", file=sys.stderr)
    if len(absent) == len(SOURCES):
        sys.exit(f"no set found in {options.data}; give the folder of the review files with --data")
    return [
        cell
        for cell in all_cells()
        if cell.source not in absent
        and (not options.only or cell.source.name in options.only)
        and (not options.terms or cell.terms in (None, *options.terms))
        and any(fnmatch(cell.method.name, pattern) for pattern in options.methods)
    ]


def run(options: argparse.Namespace) -> None:
    wanted, finished = wanted_cells(options), read_results(options.results)
    redone = {cell.key for cell in wanted if any(fnmatch(cell.method.name, pattern) for pattern in options.redo)}
    todo = [cell for cell in wanted if cell.key not in finished or cell.key in redone]
    print(f"{len(todo)} of {len(wanted)} cells to compute", flush=True)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    for number, result in enumerate(results_of(todo, options.data, options.jobs), 1):
        keep_line(asdict(result), options.results)
        name = " ".join(map(str, result.key))
        print(f"{number}/{len(todo)} {name}: R2 {result.r2:.3f}, {result.seconds:.1f} s", flush=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(method.name for method in METHODS)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the sets")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "skill.jsonl")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "skill.md", help="the page to write")
    parser.add_argument("--only", nargs="+", metavar="SET", choices=[source.name for source in SOURCES])
    parser.add_argument("--terms", nargs="+", type=int, choices=TERMS, help="numbers of terms")
    parser.add_argument("--methods", nargs="+", default=["*"], metavar="PATTERN", help=f"of {names}")
    parser.add_argument("--redo", nargs="+", default=[], metavar="PATTERN", help="methods to compute again")
    parser.add_argument("--jobs", type=int, default=1, help="cells computed at a time; with 1, seconds mean most")
    parser.add_argument("--render", action="store_true", help="write the page from finished cells and stop")
    options = parser.parse_args(arguments)
    for pattern in [*options.methods, *options.redo]:
        if not any(fnmatch(method.name, pattern) for method in METHODS):
            parser.error(f"no method matches {pattern!r}; there are {names}")
    return options


def main() -> None:
    options = parse(sys.argv[1:])
    if not options.render:
        require(*PEERS)
        run(options)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    sets, results = [source.name for source in SOURCES], list(read_results(options.results).values())
    options.page.write_text(page(results, sets, TERMS, len(SPLITS), MARGIN))
    print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
