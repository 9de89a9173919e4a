"""Tables written in batches: what the whole table would be, and all of it or nothing."""

import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from textsignal.data.read import read_table
from textsignal.data.write import whole_table
from textsignal.data.write_batches import whole_batches
from textsignal.errors import OutputError

TABLE = pd.DataFrame(
    {
        "row": range(1, 6),
        "text": ["plain", 'a "quote", and', "two\nlines", "", "é 😀"],
        "number": [0.1, 1 / 3, np.nan, 1e-9, 3.0],
        "unknown": [True, False, True, False, False],
    }
)
FORMATS = [
    *("p.csv", "p.tsv", "p.csv.gz", "p.csv.bz2", "p.tsv.xz", "p.csv.zip", "p.jsonl", "p.ndjson.gz", "p.json"),
    *("p.parquet", "p.xlsx"),
]


def write(target, tables, *, force=False):
    with whole_batches(target, force=force) as add:
        for table in tables:
            add(table)


@pytest.mark.parametrize("name", FORMATS)
def test_batches_are_written_as_the_whole_table_is(tmp_path, name):
    write(tmp_path / name, [TABLE[:2], TABLE[2:3], TABLE[3:]])
    with whole_table(tmp_path / f"whole-{name}", force=False) as write_whole:
        write_whole(TABLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"whole-{name}"])
    pd.testing.assert_frame_equal(read_table(tmp_path / name), read_table(tmp_path / f"whole-{name}"))
    if name in ("p.csv", "p.tsv", "p.jsonl"):
        assert (tmp_path / name).read_bytes() == (tmp_path / f"whole-{name}").read_bytes()


def test_whole_numbers_may_miss_in_later_rows_of_parquet(tmp_path):
    later = pd.DataFrame({"n": [3.0, np.nan], "s": ["x", None]})
    write(tmp_path / "p.parquet", [pd.DataFrame({"n": [1, 2], "s": pd.Series([None, None], dtype=object)}), later])
    found = read_table(tmp_path / "p.parquet")
    assert found["n"].tolist()[:3] == [1, 2, 3]
    assert found["s"].tolist()[2] == "x"


def test_a_column_that_becomes_another_is_named(tmp_path):
    tables = [pd.DataFrame({"n": [1]}), pd.DataFrame({"n": ["one"]})]
    with pytest.raises(OutputError, match=r"p.parquet cannot hold this table: .*column n"):
        write(tmp_path / "p.parquet", tables)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMATS)
def test_what_stops_in_the_middle_leaves_nothing_or_the_old_file(tmp_path, name):
    (tmp_path / name).write_text("old")

    def stopped():
        yield TABLE
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / name, stopped(), force=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.fixture
def small_disk():
    """A limit on the size of files, which writing meets as it meets a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.jsonl", "p.parquet", "p.json"])
def test_a_full_disk_leaves_nothing_behind(tmp_path, small_disk, name):
    numbers = pd.DataFrame({"number": np.random.default_rng(0).random(20_000)})
    with pytest.raises(OSError, match=name):
        write(tmp_path / name, [numbers, numbers])
    assert list(tmp_path.iterdir()) == []


def test_a_kill_leaves_nothing_under_the_name_and_the_next_write_cleans_up(tmp_path):
    script = (
        "import sys, time, pandas as pd\nfrom pathlib import Path\n"
        "from textsignal.data.write_batches import whole_batches\n"
        "with whole_batches(Path(sys.argv[1]), force=False) as write:\n"
        "    write(pd.DataFrame({'n': range(9)}))\n    print('written', flush=True)\n    time.sleep(60)\n"
    )
    target = tmp_path / "p.csv"
    with subprocess.Popen([sys.executable, "-c", script, target], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"written\n"
        child.kill()
    assert not target.exists()
    assert len(list(tmp_path.iterdir())) == 1
    for _ in range(50):
        if child.poll() is not None:
            break
        time.sleep(0.1)
    write(target, [TABLE])
    assert list(tmp_path.iterdir()) == [target]
