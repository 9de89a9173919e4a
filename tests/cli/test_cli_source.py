"""`textsignal fit` of files that are read in batches."""

import json

import numpy as np
import pandas as pd
import pytest

import textsignal as ts
from textsignal import streaming
from textsignal.data.roles import Roles
from textsignal.datasets import synthetic_reviews
from textsignal.workflow.analyse import analyse

N = 450
BASIS = "of 450 texts, tone comes from all that were not held back."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    table = synthetic_reviews(N, seed=2).to_frame()
    for number in range(3):
        table.iloc[number * 150 : number * 150 + 150].to_parquet(folder / f"{number}.parquet")
    table.to_csv(folder / "all.csv", index=False)
    return folder


OPTIONS = ("--text", "review", "--response", "rating", "-k", 4, "--family", "binomial", "-j", 1)


@pytest.fixture(scope="module")
def run(call, files, tmp_path_factory):
    """A fit to a sample, and what it wrote on the screen."""
    out = tmp_path_factory.mktemp("run") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "MOST_SAMPLED", 300)
        assert call("fit", f"{files}/*.parquet", *OPTIONS, "-o", out, "--folder", out.parent / "shards") == 0
    return out


def test_what_is_written(run, files):
    assert {path.name for path in run.iterdir()} == {
        *("model", "themes.csv", "texts.csv", "clauses.parquet", "summary.json", "report.html")
    }
    texts, table = pd.read_csv(run / "texts.csv"), pd.read_csv(files / "all.csv")
    assert 150 < len(texts) <= 300
    assert np.array_equal(texts["response"], table["rating"][texts["row"] - 1])
    assert texts["held_out"].sum() == round(0.2 * len(texts))
    summary = json.loads((run / "summary.json").read_text())
    assert summary["rows"] == len(texts)
    assert summary["held_out"]["texts"] == texts["held_out"].sum()
    assert summary["held_out"]["r2"] > 0.1
    assert "of 450 texts" + summary["made_of"]["Texts"].partition("of 450 texts")[2] + "." == BASIS


def test_the_model_and_the_page_say_what_they_were_learnt_from(run):
    model = ts.load(run / "model")
    n_drawn = len(pd.read_csv(run / "texts.csv"))
    assert model.reader_.fitted.basis.endswith(BASIS)
    assert model.n_texts_ == N - round(0.2 * n_drawn)
    page = (run / "report.html").read_text()
    assert f"{n_drawn} texts, " in page
    assert model.reader_.fitted.basis in page.split("What to fix first")[0]
    assert "3 files, 0.parquet to 2.parquet" in page


def test_remarks_on_the_screen(call, files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 300)
    assert call("fit", files, *OPTIONS, "-o", tmp_path / "out", "--holdout", 0) == 0
    said = capsys.readouterr().err
    assert "3 files, 0.parquet to 2.parquet: 450 rows. Fitting 4 themes; rows are read in batches." in said
    lines = ["Reading: 450 of 450 rows", "Counting words", "Learning tone", "Learning themes"]
    assert [line for line in said.splitlines() if line in lines] == lines
    assert "of 450 texts, tone comes from all of them. What follows is of the" in said.replace("\n", " ")
    assert said.count("tone comes from all of them") == 1
    assert "report.html" in said


def test_groups_dates_and_bad_rows_of_a_sample(call, files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 300)
    table = pd.read_csv(files / "all.csv")
    table.assign(review=table["review"].where(table.index % 100 != 3, "")).to_csv(tmp_path / "bad.csv", index=False)
    flags = ("--by", "hotel", "--over", "date", "--groups", "hotel", "--interval", 0.9, "--on-bad-rows", "drop")
    out = tmp_path / "out"
    assert call("fit", tmp_path / "bad.csv", *OPTIONS, "-o", out, "--memory", "2GB", *flags) == 0
    captured = capsys.readouterr()
    screen = " ".join(captured.err.split())
    assert "Excluded: 5 bad rows: 5 empty texts (rows 4, 104, 204, 304, 404)." in screen
    assert "of 445 texts, tone comes from all that were not held back." in screen
    assert "drivers.csv" in screen
    assert "By hotel, the largest groups" in captured.out
    drivers = pd.read_csv(out / "drivers.csv")
    texts = pd.read_csv(out / "texts.csv")
    sampled = table.iloc[texts["row"] - 1]
    assert (
        drivers.drop_duplicates("group").set_index("group")["documents"].to_dict()
        == sampled.groupby("hotel").size().to_dict()
    )
    page = (out / "report.html").read_text()
    assert "5 empty texts (rows 4, 104" in page
    assert str(pd.to_datetime(sampled["date"]).dt.year.max()) in page


def test_one_file_with_memory_is_the_fit_of_the_table(call, files, tmp_path):
    """All rows are in the sample; the words of held-back rows are known in batches alone, so nothing is held back."""
    assert call("fit", files / "all.csv", *OPTIONS, "-o", tmp_path / "out", "--memory", "2GB", "--holdout", 0) == 0
    model = ts.TextResponseModel(4, family="binomial", n_jobs=1)
    whole = analyse(pd.read_csv(files / "all.csv"), Roles("review", ("rating",)), model, holdout=0)
    found = pd.read_csv(tmp_path / "out" / "texts.csv")
    pd.testing.assert_frame_equal(found, whole.texts, check_dtype=False, rtol=1e-7)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--covariates", "hotel"), "--covariates cannot be used with files that are read in batches"),
        (("--by", "hostel"), "no column 'hostel'"),
        (("--groups", "hotel"), "--groups hotel is for intervals; give --interval"),
        (("--response", "other"), "more than one --response cannot be used"),
        (("--memory", "2 cats"), "--memory 2 cats is not a size"),
        (("--memory", "1MB"), "--memory 1MB is too little"),
        (("--holdout", "1"), "--holdout 1.0 must be at least 0 and below 1"),
    ],
)
def test_options_that_a_source_cannot_have(call, files, tmp_path, capsys, flags, message):
    options = ("--text", "review", "--response", "rating", "-j", 1)
    assert call("fit", f"{files}/*.parquet", *options, "-o", tmp_path / "out", *flags) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_a_pattern_that_matches_nothing(call, tmp_path, capsys):
    assert call("fit", f"{tmp_path}/*.csv", *OPTIONS, "-o", tmp_path / "out") == 2
    assert "no file matches" in capsys.readouterr().err


def test_workers_of_dask_write_what_this_machine_does(call, files, run, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="textsignal[dask] is not installed")
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 300)
    options = {"protocol": "tcp", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **options) as cluster:
        engine = ("--engine", "dask", "--scheduler", cluster.scheduler_address)
        assert call("fit", f"{files}/*.parquet", *OPTIONS, "-o", tmp_path / "out", *engine) == 0
    assert (tmp_path / "out" / "themes.csv").read_bytes() == (run / "themes.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--engine", "spark"), "give local or dask"),
        (("--engine", "dask"), "belong together"),
        (("--scheduler", "tcp://127.0.0.1:1"), "belong together"),
    ],
)
def test_an_invalid_engine_is_an_error(call, files, tmp_path, capsys, options, problem):
    assert call("fit", f"{files}/*.parquet", *OPTIONS, "-o", tmp_path / "out", *options) == 2
    assert problem in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
