"""`textsignal compare` on the command line."""

from pathlib import Path

import pandas as pd
import pytest

from textsignal.datasets import synthetic_reviews

COLUMNS = ["--text", "review", "--response", "rating"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A working folder with a table in it, and a screen of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    table = synthetic_reviews(120, seed=3).to_frame()
    table.loc[4, "rating"] = None
    table.to_csv("reviews.csv", index=False)


def test_a_table_two_sentences_and_files(call, capsys):
    options = ["--groups", "hotel", "--folds", 2, "-k", 3, "-j", 1, "-o", "compare"]
    assert call("compare", "reviews.csv", *COLUMNS, *options) == 0
    said = capsys.readouterr()
    for method in ("textsignal", "mean", "ridge", "lasso", "GLM", "two-stage"):
        assert f"{method}: 2 folds done" in said.err
        assert f"\n  {method} " in said.out
    assert "best" in said.out
    assert "±" in said.out
    assert "Excluded without response: 1 row." in said.err
    table, predictions = pd.read_csv("compare/compare.csv"), pd.read_csv("compare/predictions.csv")
    assert len(table) == 6
    assert len(predictions) == 119
    assert 5 not in set(predictions["row"])
    assert "standard error" in Path("compare/summary.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--groups", "inn"], "inn"),
        (["--folds", 50], "--folds 50 need"),
        (["--family", "gamma"], "--family gamma is not known"),
    ],
)
def test_bad_input_is_one_line(call, capsys, options, message):
    assert call("compare", "reviews.csv", *COLUMNS, *options) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("textsignal: ")
    assert message in said
