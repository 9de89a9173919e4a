"""Cells: computed once, kept, in their own order, whatever happens in between."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from reproduction.study import Cell, StudyError, finished_cells, run_cells


def square(number, marks=None):
    if marks is not None:
        with marks.open("a") as file:
            file.write(f"{number}\n")
    return [{"square": np.float64(number**2)}]


def broken():
    raise ValueError("nothing to divide by")


def cells_of(numbers, marks=None):
    return [Cell("squares", {"number": number}, partial(square, number, marks)) for number in numbers]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_stand_in_the_order_of_the_cells(tmp_path, n_jobs):
    table = run_cells(cells_of([3, 1, 2]), tmp_path / "kept", n_jobs=n_jobs)["squares"]
    assert table.to_dict("list") == {"number": [3, 1, 2], "square": [9.0, 1.0, 4.0]}


def test_a_finished_cell_is_not_computed_again(tmp_path):
    marks, kept = tmp_path / "marks", tmp_path / "kept"
    run_cells(cells_of([1, 2], marks), kept, n_jobs=1)
    table = run_cells(cells_of([1, 2, 3], marks), kept, n_jobs=1)["squares"]
    assert marks.read_text().split() == ["1", "2", "3"]
    assert table["square"].tolist() == [1, 4, 9]


def test_first_and_later_runs_give_the_same_table(tmp_path):
    first = run_cells(cells_of([1, 2]), tmp_path / "kept", n_jobs=1)["squares"]
    later = run_cells(cells_of([1, 2]), tmp_path / "kept", n_jobs=1)["squares"]
    assert first.equals(later)
    assert (first.dtypes == later.dtypes).all()


def test_a_line_cut_short_is_computed_again_and_harms_no_other(tmp_path):
    kept = tmp_path / "kept"
    run_cells(cells_of([1, 2]), kept, n_jobs=1)
    kept.write_bytes(kept.read_bytes()[:-9])
    table = run_cells(cells_of([1, 2, 3]), kept, n_jobs=1)["squares"]
    assert table["square"].tolist() == [1, 4, 9]
    assert len(finished_cells(kept)) == 3


def test_cells_of_another_version_are_computed_again(tmp_path):
    marks, kept = tmp_path / "marks", tmp_path / "kept"
    kept.write_text(json.dumps(["0.0.0", cells_of([2])[0].key, [{"number": 2, "square": -1}]]) + "\n")
    assert run_cells(cells_of([2], marks), kept, n_jobs=1)["squares"]["square"].tolist() == [4]


def test_other_data_make_another_cell():
    place = {"seed": 0}
    assert Cell("t", place, broken, data="a").key != Cell("t", place, broken, data="b").key


def test_a_failing_cell_is_named_and_finished_ones_are_kept(tmp_path):
    kept = tmp_path / "kept"
    bad = [*cells_of([1]), Cell("quotients", {"seed": 7}, broken)]
    with pytest.raises(StudyError, match=r"quotients, \{'seed': 7\}: nothing to divide by"):
        run_cells(bad, kept, n_jobs=1)
    assert cells_of([1])[0].key in finished_cells(kept)


def test_progress_counts_finished_cells(tmp_path):
    calls = []
    kept = tmp_path / "kept"
    run_cells(cells_of([1]), kept, n_jobs=1)
    run_cells(cells_of([1, 2, 3]), kept, n_jobs=1, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_a_killed_run_keeps_what_it_finished(tmp_path):
    kept = tmp_path / "kept"
    script = tmp_path / "slow.py"
    script.write_text(
        "import sys, time\nfrom functools import partial\nfrom pathlib import Path\n"
        "from reproduction.study import Cell, run_cells\n"
        "def wait(n):\n    time.sleep(0 if n < 3 else 600)\n    return [{'n': n}]\n"
        "if __name__ == '__main__':\n"
        "    run_cells([Cell('t', {'n': n}, partial(wait, n)) for n in range(5)], Path(sys.argv[1]), n_jobs=1)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen([sys.executable, str(script), str(kept)], env=environment)
    try:
        for _ in range(600):
            if len(finished_cells(kept)) == 3:
                break
            time.sleep(0.1)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert len(finished_cells(kept)) == 3
