"""`textsignal check`: rows are those of the table, and columns are named where they are wrong."""

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews

TABLE = synthetic_reviews(200, seed=3).to_frame()
COLUMNS = ("--text", "review", "--response", "rating")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    model = TextResponseModel(2, family="adjacent-categories", levels=(1, 5), n_jobs=1).fit(
        TABLE["review"], TABLE["rating"]
    )
    model.save(folder / "model")
    table = pd.concat([TABLE[:1], TABLE], ignore_index=True).astype({"rating": object})
    table.loc[0, "rating"] = "lost"
    copies = pd.concat([table, TABLE[:20]], ignore_index=True)
    copies.assign(age=np.arange(len(copies))).to_csv(folder / "reviews.csv", index=False)
    return folder


def test_rows_that_are_left_out_do_not_move_the_others(folder, call, capsys):
    beside = ("--by", "hotel", "--over", "date", "--covariates", "age", "-o", folder / "checks.csv")
    assert call("check", folder / "model", folder / "reviews.csv", *COLUMNS, *beside, "--on-bad-rows", "drop") == 0
    said = capsys.readouterr()
    assert "20 texts (9.0%) are copies of others" in said.out
    assert "rows 2, 202." in said.out
    assert f"Written to {folder / 'checks.csv'}" in " ".join(said.err.split())
    made = pd.read_csv(folder / "checks.csv")
    assert made.loc[made["wrong"], "check"].tolist() == ["duplicates"]
    assert any("against age" in measure for measure in made["measure"])


def test_what_cannot_be_used_is_named(folder, call, capsys):
    assert call("check", folder / "model", folder / "reviews.csv", *COLUMNS) == 2
    assert "row 1: 'lost'" in " ".join(capsys.readouterr().err.split())
    drop = ("--on-bad-rows", "drop")
    assert call("check", folder / "model", folder / "reviews.csv", *COLUMNS, *drop, "--covariates", "price") == 2
    assert "'price'" in capsys.readouterr().err
