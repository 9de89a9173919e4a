"""`textsignal drivers`, `effects` and `report` of files that are read in batches."""

import shutil

import pandas as pd
import pytest

import textsignal as ts
from textsignal import streaming
from textsignal.data.roles import Roles
from textsignal.datasets import synthetic_reviews
from textsignal.workflow.apply import drivers_table

N = 360
COLUMNS = ("--text", "review", "--response", "rating")
BASIS = "a random 250 of 360 rows"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table as a file, and in three of other sizes; a model of other texts."""
    folder = tmp_path_factory.mktemp("files")
    table = synthetic_reviews(N, seed=2).to_frame().assign(times=[1 + i % 3 for i in range(N)])
    table.to_parquet(folder / "all.parquet")
    (folder / "parts").mkdir()
    for number, (start, end) in enumerate([(0, 40), (40, 250), (250, N)]):
        table.iloc[start:end].to_parquet(folder / "parts" / f"{number}.parquet")
        table.iloc[start:end].to_csv(folder / "parts" / f"{number}.csv.gz", index=False)
    table.to_csv(folder / "all.csv", index=False)
    training = synthetic_reviews(300, seed=3)
    model = ts.TextResponseModel(4, family="binomial", n_jobs=1).fit(training.texts, training.ratings)
    model.naming_ = model.naming_.__class__.of(model.family_, "rating", None, "", False)
    model.save(folder / "model")
    return folder


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 250)


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (("drivers", *COLUMNS, "--by", "hotel", "--weights", "times"), "csv"),
        (("drivers", *COLUMNS, "--interval", ".9", "--groups", "hotel"), "csv"),
        (("effects", *COLUMNS, "--by", "hotel", "--method", "plugin", "--weights", "times"), "csv"),
        (("report", *COLUMNS, "--by", "hotel", "--over", "date", "--new", "--title", "What"), "html"),
    ],
)
def test_all_rows_give_what_the_table_gives(call, files, tmp_path, capsys, command, ending):
    name, *options = command
    given = {
        "whole": [files / "all.parquet"],
        "memory": [files / "all.parquet", "--memory", "1GB"],
        "parts": sorted((files / "parts").glob("*.parquet")),
    }
    made = set()
    for each, source in given.items():
        file = tmp_path / f"{each}.{ending}"
        assert call(name, files / "model", *source, *options, "-o", file) == 0
        # All but what the page says of the files, and of how it was made.
        lines = file.read_text().splitlines()
        made.add(tuple(line for line in lines if 'class="made"' not in line and ">textsignal report " not in line))
    assert len({*map(len, made)}) == len(made) == 1
    assert "random" not in capsys.readouterr().err


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet", "parts/*.csv.gz", "parts/[0-2].csv.gz"])
def test_folders_patterns_and_packed_files(call, files, tmp_path, source):
    for name, file in (("found", files / source), ("whole", files / "all.csv")):
        assert call("drivers", files / "model", file, *COLUMNS, "--by", "hotel", "-o", tmp_path / f"{name}.csv") == 0
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_sample_gives_what_its_rows_give(call, files, tmp_path, capsys, few):
    options = (*COLUMNS, "--by", "hotel", "--weights", "times", "-o")
    assert call("drivers", files / "model", files / "parts", *options, tmp_path / "found.csv") == 0
    assert f"3 files, 0.parquet to 2.parquet: what follows is of {BASIS}." in capsys.readouterr().err
    sample = ts.sample_rows(files / "all.csv", n=250)
    assert sample.n_rows == N
    columns = Roles("review", ("rating",), by="hotel", weights="times")
    expected = drivers_table(ts.load(files / "model"), sample.table, columns)
    found = pd.read_csv(tmp_path / "found.csv")
    for name in ("documents", "mentions", "mean_mention", "cost", "gain"):
        assert found[name].to_numpy() == pytest.approx(expected[name].to_numpy(), rel=1e-12)


def test_the_page_and_the_terminal_say_that_it_is_a_sample(call, files, tmp_path, capsys, few):
    page = tmp_path / "page.html"
    # Numbers of the rows of a sample are none of the fit's, so that no row counts as held out.
    shutil.copytree(files / "model", tmp_path / "model")
    held_out = pd.DataFrame({"row": range(1, 251), "response": 1.0, "held_out": True})
    held_out.to_csv(tmp_path / "texts.csv", index=False)
    assert call("report", tmp_path / "model", f"{files}/parts/*.parquet", *COLUMNS, "-o", page) == 0
    said = capsys.readouterr().err
    assert BASIS in said
    assert "No row is known to be held out" in said
    lead = page.read_text().split("What to fix first")[0]
    assert "250 texts, 4 themes: how often each theme is mentioned" in lead
    assert f"They come from {BASIS}; row numbers count within these." in lead
    assert "3 files, 0.parquet to 2.parquet" in lead
    assert call("effects", files / "model", files / "parts", *COLUMNS, "--method", "plugin") == 0
    assert BASIS in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "column", "cell", "commands", "problem"),
    [
        (7, "review", "", ("effects", "report"), "1 empty text (row 8 of"),
        (7, "rating", "five", ("effects", "report"), "1 response that is not a number (row 8 of"),
        (7, "rating", "9", ("drivers", "effects", "report"), "1 response outside 1 to 5 (row 8 of"),
        (7, "times", "-1", ("drivers", "effects"), "1 weight that cannot be used (row 8 of"),
    ],
)
def test_bad_cells_are_named_with_their_file(call, files, tmp_path, capsys, row, column, cell, commands, problem):
    table = pd.read_csv(files / "all.csv", dtype=str)
    table.iloc[:40].to_csv(tmp_path / "0.csv", index=False)
    rest = table.iloc[40:120].reset_index(drop=True)
    rest.loc[row, column] = cell
    rest.to_csv(tmp_path / "1.csv", index=False)
    for command in commands:
        output = ("-o", tmp_path / "page.html") if command == "report" else ("--weights", "times")
        assert call(command, files / "model", f"{tmp_path}/*.csv", *COLUMNS, *output) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"{problem} {tmp_path / '1.csv'}" in said


def test_bad_rows_are_excluded_and_named(call, files, tmp_path, capsys):
    table = pd.read_csv(files / "all.csv", dtype=str)
    table.loc[3, "review"] = ""
    table.to_csv(tmp_path / "bad.csv", index=False)
    options = (*COLUMNS, "--method", "plugin", "--on-bad-rows", "drop", "-o")
    for name, memory in (("one", ()), ("two", ("--memory", "2GB"))):
        assert call("effects", files / "model", tmp_path / "bad.csv", *memory, *options, tmp_path / f"{name}.csv") == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize("command", ["drivers", "effects", "report"])
def test_errors_are_one_line(call, files, tmp_path, capsys, command):
    page = ("-o", tmp_path / "page.html") if command == "report" else ()

    def error(*arguments):
        assert call(command, files / "model", *arguments, *page) == 2
        (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("textsignal:")]
        return line

    assert "no file matches" in error(f"{tmp_path}/*.csv", *COLUMNS)
    assert "no column 'stars' for the response" in error(files / "parts", "--text", "review", "--response", "stars")
    assert "0.parquet" in error(files / "parts", "--text", "reveiw", "--response", "rating")
    assert "--memory 2 cats is not a size" in error(files / "parts", *COLUMNS, "--memory", "2 cats")
    (tmp_path / "page.html").write_text("old")
    page = ("-o", tmp_path / "page.html") if command == "report" else ("-o", files / "parts" / "0.parquet")
    assert ("exists already" if command == "report" else "is read by this command") in error(files / "parts", *COLUMNS)
