"""Outputs: whole or not at all, and nothing replaced or left behind that should not be."""

import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.data.read import read_table
from textsignal.data.write import (
    check_not_input,
    file_names,
    whole_file,
    whole_folder,
    whole_table,
    with_formulas,
    without_formulas,
)
from textsignal.errors import OutputError


class Stopped(BaseException):
    """Something that stops a program without being an error, as Ctrl-C does."""


def tree(folder):
    """Every path below a folder with its content, None for folders."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_text()
        for path in sorted(folder.rglob("*"))
    }


def write_folder(target, *, force=False, **files):
    with whole_folder(target, force=force) as folder:
        for name, content in files.items():
            (folder / name).write_text(content)


def write_file(target, content="new", *, force=False):
    with whole_file(target, force=force) as file:
        file.write_text(content)


@pytest.mark.parametrize("name", ["out", "a/b/out"])
def test_a_folder_holds_what_was_written_and_nothing_else(tmp_path, name):
    write_folder(tmp_path / name, one="1", two="2")
    assert tree(tmp_path / name) == {"one": "1", "two": "2"}
    assert [path.name for path in (tmp_path / name).parent.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["out.csv", "a/b/out.csv"])
def test_a_file_holds_what_was_written_and_stands_alone(tmp_path, name):
    write_file(tmp_path / name)
    assert tree((tmp_path / name).parent) == {"out.csv": "new"}


def test_nothing_is_at_the_target_before_the_end(tmp_path):
    with whole_folder(tmp_path / "out", force=False) as folder:
        (folder / "one").write_text("1")
        assert not (tmp_path / "out").exists()
    with whole_file(tmp_path / "out.csv", force=False) as file:
        file.write_text("1")
        assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, Stopped])
@pytest.mark.parametrize("target", ["out", "new/parent/out"])
@pytest.mark.parametrize("whole", [whole_folder, whole_file])
def test_what_stops_in_the_middle_leaves_nothing_behind(tmp_path, whole, target, stop):
    def write():
        with whole(tmp_path / target, force=False) as place:
            (place / "part" if place.is_dir() else place).write_text("half")
            raise stop

    with pytest.raises(stop):
        write()
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("force", [False, True])
def test_what_stops_in_the_middle_leaves_an_existing_target_as_it_was(tmp_path, force):
    (tmp_path / "out" / "model").mkdir(parents=True)
    (tmp_path / "out.csv").write_text("old")
    if force:
        (tmp_path / "out" / "model" / "old").write_text("old")
        (tmp_path / "out" / "topics.csv").write_text("old")
    else:
        (tmp_path / "out" / "model").rmdir()  # an empty folder needs no force
        (tmp_path / "out.csv").unlink()
    before = tree(tmp_path)

    def stop_in(whole, name, inside):
        with whole(tmp_path / name, force=force) as place:
            (place / inside).write_text("new")
            raise Stopped

    with pytest.raises(Stopped):
        stop_in(whole_folder, "out", "topics.csv")
    with pytest.raises(Stopped):
        stop_in(whole_file, "out.csv", "")
    assert tree(tmp_path) == before


def test_an_existing_folder_is_refused_without_force(tmp_path):
    write_folder(tmp_path / "out", one="1")
    with pytest.raises(OutputError, match=r"out exists already; give another name, or force=True"):
        write_folder(tmp_path / "out", one="2")
    assert tree(tmp_path) == {"out": None, "out/one": "1"}


def test_an_existing_file_is_refused_without_force(tmp_path):
    write_file(tmp_path / "out.csv", "old")
    with pytest.raises(OutputError, match=r"out\.csv exists already"):
        write_file(tmp_path / "out.csv", "new")
    assert tree(tmp_path) == {"out.csv": "old"}


def test_an_empty_folder_is_taken_as_it_is(tmp_path):
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", one="1")
    assert tree(tmp_path) == {"out": None, "out/one": "1"}


def test_force_replaces_what_was_written_and_keeps_other_files(tmp_path):
    out = tmp_path / "out"
    (out / "model").mkdir(parents=True)
    (out / "notes").mkdir()
    for name in ("model/stale", "topics.csv", "notes/mine.txt", ".hidden"):
        (out / name).write_text("old")
    with whole_folder(out, force=True) as folder:
        (folder / "model").mkdir()
        (folder / "model" / "fresh").write_text("new")
        (folder / "topics.csv").write_text("new")
    assert tree(tmp_path) == {
        "out": None,
        "out/.hidden": "old",
        "out/model": None,
        "out/model/fresh": "new",
        "out/notes": None,
        "out/notes/mine.txt": "old",
        "out/topics.csv": "new",
    }


def test_force_replaces_a_file_by_a_folder_and_a_folder_by_a_file(tmp_path):
    out = tmp_path / "out"
    (out / "topics.csv").mkdir(parents=True)
    (out / "topics.csv" / "inside").write_text("old")
    (out / "model").write_text("old")
    with whole_folder(out, force=True) as folder:
        (folder / "model").mkdir()
        (folder / "topics.csv").write_text("new")
    assert tree(out) == {"model": None, "topics.csv": "new"}


def test_force_replaces_a_file(tmp_path):
    write_file(tmp_path / "out.csv", "old")
    write_file(tmp_path / "out.csv", "new", force=True)
    assert tree(tmp_path) == {"out.csv": "new"}


@pytest.mark.parametrize("force", [False, True])
def test_a_file_is_no_folder_and_a_folder_no_file(tmp_path, force):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="file is a file; give the name of a folder"):
        write_folder(tmp_path / "file", force=force)
    with pytest.raises(OutputError, match="folder is a folder; give the name of a file"):
        write_file(tmp_path / "folder", force=force)
    assert tree(tmp_path) == {"file": "mine", "folder": None}


@pytest.mark.parametrize("write", [write_folder, write_file])
def test_a_target_that_cannot_be_written_is_named_before_the_work(tmp_path, write):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"cannot write to .*file: Not a directory"):
        write(tmp_path / "file" / "out")
    assert tree(tmp_path) == {"file": "mine"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("write", [write_folder, write_file])
def test_a_folder_without_permission_is_named(tmp_path, write):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(OutputError, match=r"cannot write to .*locked: Permission denied"):
        write(tmp_path / "locked" / "out")


def test_a_pipe_or_device_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="pipe is not a regular file"):
        write_file(tmp_path / "pipe", force=True)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_outputs_have_the_permissions_that_the_user_chose(tmp_path):
    before = os.umask(0o027)
    try:
        write_folder(tmp_path / "out", one="1")
        write_file(tmp_path / "out.csv")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"out": 0o750, "one": 0o640, "out.csv": 0o640}


def test_a_relative_target_lies_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(Path("out"), one="1")
    write_file(Path("out.csv"))
    write_folder(Path(), force=True, two="2")
    assert tree(tmp_path) == {"out": None, "out/one": "1", "out.csv": "new", "two": "2"}


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    write_folder(tmp_path / "real", one="1")
    (tmp_path / "out").symlink_to("real")
    write_folder(tmp_path / "out", force=True, one="2")
    assert (tmp_path / "out").is_symlink()
    assert tree(tmp_path / "real") == {"one": "2"}


def test_other_files_are_the_same_files_and_links_stay_links(tmp_path):
    out = tmp_path / "out"
    (out / "notes").mkdir(parents=True)
    (out / "notes" / "mine").write_text("mine")
    (out / "link").symlink_to("nowhere")
    out.chmod(0o751)
    before = (out / "notes" / "mine").stat().st_ino
    write_folder(out, force=True, one="1")
    assert (out / "notes" / "mine").stat().st_ino == before
    assert (out / "link").readlink() == Path("nowhere")
    assert stat.S_IMODE(out.stat().st_mode) == 0o751


def test_a_process_in_the_folder_stays_in_it(tmp_path, monkeypatch):
    write_folder(tmp_path / "out", one="1")
    (tmp_path / "out" / "inner").mkdir()
    for place in ("out", "out/inner"):
        monkeypatch.chdir(tmp_path / place)
        write_folder(tmp_path / "out", force=True, one=place)
        assert Path.cwd().samefile(tmp_path / place)
        assert (tmp_path / "out" / "one").read_text() == place


def test_what_is_read_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("mine")
    Path("link.csv").symlink_to("in.csv")
    check_not_input(Path("out.csv"), [Path("in.csv")])
    for name in ("in.csv", "./in.csv", "link.csv", str(tmp_path / "in.csv")):
        with pytest.raises(OutputError, match=r"csv is read by this command and is not replaced"):
            check_not_input(Path(name), [Path("in.csv")])


# Tables

TABLE = pd.DataFrame({"text": ["=1+1", "two\nlines; ☹", "plain, too", "007"], "value": [0.1, 1 / 3, 2.5, -1e-9]})
ENDINGS = [
    ".csv",
    ".tsv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".csv.gz",
    ".tsv.bz2",
    ".jsonl.xz",
    ".json.zip",
    ".parquet",
    ".xlsx",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_is_read_back_as_it_was_written(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    with whole_table(path, force=False) as write:
        write(TABLE)
    found = read_table(path)
    assert list(found.columns) == ["text", "value"]
    if ending.startswith((".csv", ".tsv")):  # a spreadsheet would run the first text
        assert found["text"].tolist() == ["'=1+1", *TABLE["text"].tolist()[1:]]
        found = with_formulas(found)
    assert found["text"].tolist() == TABLE["text"].tolist()
    np.testing.assert_allclose(found["value"].astype(float), TABLE["value"], rtol=1e-14)


def test_no_text_becomes_a_formula_and_none_is_cut(tmp_path):
    with whole_table(tmp_path / "t.xlsx", force=False) as write:
        write(TABLE.assign(text=["=1+1", "bell\a", "x" * 32_767, "+1"]))
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [sheet.cell(row, 1).data_type for row in range(2, 6)] == ["s"] * 4
    assert sheet.cell(2, 1).value == "=1+1"
    assert sheet.cell(3, 1).value == "bell\ufffd"
    assert len(sheet.cell(4, 1).value) == 32_767


RUN = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "- dirty", "+1 555", "-5/3"]
PLAIN = ["-5", "+1.5", "-1e-9", "-3,50", "-5%", "-", "=", "fine", "a=b", "", "'tis", "'-5", "1-2", " =1"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_a_spreadsheet_runs_no_text_and_no_name(tmp_path, ending):
    table = pd.DataFrame({"=1+1": RUN, "-5": -0.5, "group": pd.Categorical(RUN), "effect": np.arange(len(RUN))})
    with whole_table(tmp_path / f"t{ending}", force=False) as write:
        write(table)
    found = pd.read_csv(tmp_path / f"t{ending}", sep="\t" if ending == ".tsv" else ",")
    assert list(found) == ["'=1+1", "-5", "group", "effect"]
    assert found["'=1+1"].tolist() == found["group"].tolist() == [f"'{text}" for text in RUN]
    assert found["-5"].tolist() == [-0.5] * len(RUN)


def test_a_carriage_return_ends_no_row(tmp_path):
    with whole_table(tmp_path / "t.csv", force=False) as write:
        write(pd.DataFrame({"text": ["fine\r=1+1", "plain"], "value": [-0.5, 1.0]}))
    assert (tmp_path / "t.csv").read_bytes() == b'"text","value"\n"fine\r=1+1",-0.5\n"plain",1.0\n'
    assert read_table(tmp_path / "t.csv")["text"].tolist() == ["fine\r=1+1", "plain"]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet", ".xlsx"])
def test_formats_that_know_texts_hold_them_as_they_are(tmp_path, ending):
    table = pd.DataFrame({"=1+1": ["=1+1", "-2+3", "@SUM(1)"]})
    with whole_table(tmp_path / f"t{ending}", force=False) as write:
        write(table)
    assert read_table(tmp_path / f"t{ending}").to_dict("list") == table.to_dict("list")


@pytest.mark.parametrize("text", PLAIN)
def test_texts_and_numbers_that_are_not_run_are_kept(text):
    table = pd.DataFrame({"text": [text, None], "number": [-0.5, np.nan]})
    pd.testing.assert_frame_equal(without_formulas(table), table)


@given(st.lists(st.text("=+-@\t\r'.,5e%a") | st.text() | st.none()))
def test_what_a_spreadsheet_would_run_is_given_back_as_it_was(texts):
    table = pd.DataFrame({"text": pd.Series(texts, dtype=object)})
    safe = without_formulas(table)
    for text in safe["text"]:
        assert not text or text[0] not in "=+-@\t\r" or len(text) == 1 or not set(text) - set("+-0123456789.,eE%")
    assert with_formulas(safe)["text"].tolist() == texts


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        ("t.xlsx", ["x" * 32_768], "a text of 32,768 characters"),
        ("t.parquet", ["x", 1.5], "cannot hold this table"),
        ("t.csv", ["\ud83d"], "surrogates not allowed"),
    ],
)
def test_a_table_that_a_format_cannot_hold_is_refused_whole(tmp_path, name, texts, message):
    table = pd.DataFrame({"text": pd.Series(texts, dtype=object)})
    with pytest.raises(OutputError, match=message), whole_table(tmp_path / name, force=False) as write:
        write(table)
    assert tree(tmp_path) == {}


def test_an_ending_that_says_no_format_lists_those_that_do(tmp_path):
    with (
        pytest.raises(OutputError, match=r"must end in \.csv, \.tsv, .*\.parquet or \.xlsx"),
        whole_table(tmp_path / "t.doc", force=True),
    ):
        pass


# Killed in the middle

KILLED = """
import itertools, os, shutil, sys
from pathlib import Path
from textsignal.errors import OutputError
from textsignal.data import write

if sys.argv[2] == "in place":
    write._renameat2 = None
OUT = Path(sys.argv[1], "out")

def run(name, force=True):
    with write.whole_folder(OUT, force=force) as folder:
        (folder / "texts.csv").write_text(name)
        (folder / "model").mkdir()
        (folder / "model" / "settings").write_text(name)
        (folder / "report.html").write_text(name)

def state():
    names = ["texts.csv", "model/settings", "report.html"]
    return [(OUT / name).read_text() for name in names if (OUT / name).exists()]

def hidden():
    return [path.name for place in (OUT, OUT.parent) for path in place.iterdir() if path.name[0] == "."]

for moment in itertools.count():
    shutil.rmtree(OUT, ignore_errors=True)
    run("old", force=False)
    (OUT / "notes").mkdir()
    (OUT / "notes" / "mine.txt").write_text("mine")
    child = os.fork()
    if child == 0:
        events = itertools.count()
        sys.addaudithook(lambda event, _: event[:3] in ("os.", "shu", "ope") and next(events) == moment and os._exit(9))
        run("new")
        os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    found = state()
    try:
        run("refused", force=False)
    except OutputError:
        pass
    repaired, left = state(), hidden()
    run("later")
    mine = (OUT / "notes" / "mine.txt").read_text()
    print(killed, ",".join(found), ",".join(repaired), ",".join(left + hidden()) or "-", ",".join(state()), mine)
    if not killed:
        break
"""


@pytest.mark.parametrize("missing", ["link", "exchange"])
def test_a_disk_without_links_or_exchange_will_do(tmp_path, monkeypatch, missing):
    def refuse(*_, **__):
        raise OSError(95, "Operation not supported")

    if missing == "link":
        monkeypatch.setattr("os.link", refuse)
    else:
        monkeypatch.setattr("textsignal.data.write._renameat2", lambda *_: -1)
    write_folder(tmp_path / "out", one="old")
    (tmp_path / "out" / "notes").mkdir()
    (tmp_path / "out" / "notes" / "mine").write_text("mine")
    write_folder(tmp_path / "out", force=True, one="new")
    assert tree(tmp_path) == {"out": None, "out/notes": None, "out/notes/mine": "mine", "out/one": "new"}


@pytest.mark.parametrize("way", ["exchange", "in place"])
def test_killed_at_any_moment_results_are_of_one_run(tmp_path, way):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, way], capture_output=True, text=True, check=True)
    moments = [line.split(" ") for line in done.stdout.splitlines()]
    assert len(moments) > 20
    assert moments[-1][:2] == ["False", "new,new,new"]
    whole = {"old,old,old", "new,new,new"}
    for _, found, repaired, left, later, mine in moments:
        assert len(set(found.split(",")) - {""}) <= 1
        assert found in whole or way == "in place"
        assert repaired in whole
        assert (left, later, mine) == ("-", "later,later,later", "mine")
    assert {repaired for _, _, repaired, *_ in moments} == whole


def test_scratch_of_a_process_that_lives_is_left_alone(tmp_path):
    write_folder(tmp_path / "out", one="1")
    with whole_folder(tmp_path / "out", force=True) as ours:
        write_folder(tmp_path / "out", force=True, one="2")
        (ours / "one").write_text("3")
    assert tree(tmp_path) == {"out": None, "out/one": "3"}


def test_a_file_cleans_up_after_a_killed_process(tmp_path):
    script = (
        "import os, pathlib, sys; from textsignal.data import write\n"
        "with write.whole_file(pathlib.Path(sys.argv[1]), force=True) as file: file.write_text('half'); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "out.csv"], check=False)
    assert done.returncode == 9
    assert [path.name[0] for path in tmp_path.iterdir()] == ["."]
    write_file(tmp_path / "out.csv")
    assert tree(tmp_path) == {"out.csv": "new"}


MIXED = pd.DataFrame(
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
    with whole_table(target, force=force) as add:
        for table in tables:
            add(table)


@pytest.mark.parametrize("name", FORMATS)
def test_batches_are_written_as_the_whole_table_is(tmp_path, name):
    write(tmp_path / name, [MIXED[:2], MIXED[2:3], MIXED[3:]])
    with whole_table(tmp_path / f"whole-{name}", force=False) as write_whole:
        write_whole(MIXED)
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
        yield MIXED
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
        "from textsignal.data.write import whole_table\n"
        "with whole_table(Path(sys.argv[1]), force=False) as write:\n"
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
    write(target, [MIXED])
    assert list(tmp_path.iterdir()) == [target]


def test_names_of_files_are_plain_and_differ():
    names = file_names(["Overall", "front desk", "overall", "../.."])
    assert names == ["overall", "front-desk", "overall-2", "response"]
