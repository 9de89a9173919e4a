"""Themes and tone beside other topic models, judged: the numbers of `docs/themes.md`.

    python benchmarks/themes.py --data FOLDER --page docs/themes.md      what is not finished yet, then the page
    python benchmarks/themes.py --data FOLDER --ours                     themes again, peers as they were
    python benchmarks/themes.py --data FOLDER --quick                    everything, small, on 1,000 rows
    python benchmarks/themes.py --render --page docs/themes.md           the page alone

A cell is one question to one method. Each is written to the results file as soon as it is finished, and a finished cell
is not computed again unless `--ours` or `--quick` asks for it. The review sets are not part of this repository;
`hotel_sentences_labelled` is for judging only and is never trained on.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from themes_data import SETS
from themes_measures import Values, aspect_values, fit_values, noise_values, stability_values, time_values
from themes_methods import METHODS, OURS, Method
from themes_page import page
from themes_results import Result
from threadpoolctl import threadpool_limits

from textsignal.data.write import keep_line, kept_lines

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("textsignal", "numpy", "scipy", "scikit-learn", "tomotopy", "bertopic")
#: Not in the extra `bench`: BERTopic asks for a language model's package that is not needed here.
INSTALL = "pip install tomotopy umap-learn hdbscan pyyaml plotly && pip install --no-deps bertopic"
BY_NAME = {method.name: method for method in METHODS}
#: Methods whose fits are cheap enough for five permutations of the responses, and for stability at all numbers.
CHEAP = ("themes", "predictive", "joint")
#: Methods that are left out for other numbers of topics: too slow.
SLOW = ("slda",)


@dataclass(frozen=True)
class Plan:
    """What is measured: on which sets, with which seeds, numbers of topics and sizes."""

    rows: int | None = None
    sets: tuple[str, ...] = tuple(SETS)
    steady_sets: tuple[str, ...] = ("hotel", "short", "clothing")
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    topics: tuple[int, ...] = (14, 8, 20, 30)
    noise: tuple[int, ...] = (400, 2000, 8000)
    draws: int = 5


FULL = Plan()
QUICK = Plan(1000, ("hotel", "short"), ("hotel",), (0, 1), (14, 8), (200, 400), 2)


@dataclass(frozen=True)
class Cell:
    """A question to a method. size : number of training documents, where the question has one."""

    question: str
    method: str
    set: str
    n_topics: int
    seed: int = 0
    size: int | None = None


def all_cells(plan: Plan) -> list[Cell]:
    """Every cell in the order they are computed: what matters most first."""
    names, usual = list(BY_NAME), plan.topics[0]
    cells = [Cell("fit", name, set_name, usual) for name in names for set_name in plan.sets]
    cells += [Cell("aspects", name, "aspects", usual) for name in names]
    cells += [Cell("fit", name, "hotel", usual, seed) for name in names for seed in plan.seeds[1:]]
    cells += [
        Cell("noise", name, "hotel", usual, draw, size)
        for name in names
        for size in plan.noise
        for draw in range(plan.draws if name in CHEAP else 1)
    ]
    cells += [Cell("stability", name, set_name, usual) for name in names for set_name in plan.steady_sets]
    cells += [Cell("time", OURS.name, "hotel", usual)]
    others = [(set_name, n) for set_name in ("hotel", "short") for n in plan.topics[1:]]
    cells += [Cell("fit", name, set_name, n) for name in names if name not in SLOW for set_name, n in others]
    cells += [Cell("stability", name, set_name, n) for name in CHEAP for set_name, n in others]
    return cells


def compute(cell: Cell, folder: Path, rows: int | None) -> Values:
    method: Method = BY_NAME[cell.method]
    if cell.question == "time":
        return time_values(folder, cell.n_topics, rows)
    with threadpool_limits(1):
        match cell.question:
            case "fit":
                return fit_values(method, folder, cell.set, cell.n_topics, cell.seed, rows)
            case "aspects":
                return aspect_values(method, folder, cell.n_topics, cell.seed, rows)
            case "noise":
                assert cell.size is not None
                return noise_values(method, folder, cell.n_topics, cell.size, cell.seed, rows)
            case _:
                return stability_values(method, folder, cell.set, cell.n_topics, rows)


def read_results(path: Path) -> dict[Cell, Result]:
    """Finished cells; of a cell that was computed again, the last."""
    found = (Result(**line) for line in kept_lines(path))
    return {Cell(r.question, r.method, r.set, r.n_topics, r.seed, r.size): r for r in found}


def machine() -> str:
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, " + ", ".join(
        f"{name} {installed(name)}" for name in PACKAGES
    )


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def run(options: argparse.Namespace, plan: Plan) -> None:
    wanted = [cell for cell in all_cells(plan) if any(fnmatch(cell.method, pattern) for pattern in options.methods)]
    finished = read_results(options.results)
    todo = [c for c in wanted if c not in finished or options.quick or (options.ours and c.method == OURS.name)]
    absent = {package for cell in todo for package in BY_NAME[cell.method].absent}
    if absent:
        sys.exit(f"{' and '.join(sorted(absent))} not installed: {INSTALL}")
    print(f"{len(todo)} of {len(wanted)} cells to compute", flush=True)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    for number, cell in enumerate(todo, 1):
        before = time.perf_counter()
        values = compute(cell, options.data, plan.rows)
        keep_line(asdict(Result(**asdict(cell), values=values, machine=machine())), options.results)
        print(f"{number}/{len(todo)} {cell}: {time.perf_counter() - before:.1f} s", flush=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the review sets")
    parser.add_argument("--results", type=Path, help="file of finished cells")
    parser.add_argument("--page", type=Path, help="file to write; default the screen")
    parser.add_argument("--methods", nargs="+", default=["*"], metavar="PATTERN", help=f"of {', '.join(BY_NAME)}")
    parser.add_argument("--ours", action="store_true", help="compute themes again")
    parser.add_argument("--quick", action="store_true", help="a small run on 1,000 rows, kept apart, all of it anew")
    parser.add_argument("--render", action="store_true", help="write the page from finished cells and stop")
    options = parser.parse_args(arguments)
    if options.data is None and not options.render:
        parser.error("give the folder of the review sets with --data")
    for pattern in options.methods:
        if not any(fnmatch(name, pattern) for name in BY_NAME):
            parser.error(f"no method matches {pattern!r}; there are {', '.join(BY_NAME)}")
    options.results = options.results or RESULTS / ("themes-quick.jsonl" if options.quick else "themes.jsonl")
    return options


def main() -> None:
    options = parse(sys.argv[1:])
    plan = QUICK if options.quick else FULL
    if not options.render:
        run(options, plan)
    wanted, finished = all_cells(plan), read_results(options.results)
    found = [finished[cell] for cell in wanted if cell in finished]
    text = page(found, len(wanted), plan.noise, plan.topics)
    if options.page is None:
        print(text)
    else:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(text, encoding="utf-8")
        print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
