"""Predictions in batches: bit for bit those of the whole table, from any source to any file."""

import numpy as np
import pandas as pd
import pytest

from textsignal.data.read import read_table
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, OutputError
from textsignal.model import TextResponseModel
from textsignal.workflow.apply import predict_table
from textsignal.workflow.stream import PredictedRows, predict_batches, predict_file

N = 230
REVIEWS = synthetic_reviews(N, seed=2)
#: Long, short, empty and unknown texts, covariates, offset and a column to keep.
TABLE = REVIEWS.to_frame().assign(
    price=np.linspace(20, 300, N), country=np.resize(["it", "fr", "de"], N), log=np.sin(np.arange(N))
)
TABLE.loc[[3, 100, 229], "review"] = ["", "xqzv", "not. NOT good, never!"]
KINDS = ("themes", "ordinal", "with covariates", "classes", "several")


@pytest.fixture(scope="module")
def models():
    texts, ratings = list(TABLE["review"]), TABLE["rating"].to_numpy()
    options = {"n_themes": 3, "n_jobs": 1}
    covariates = TABLE[["price", "country"]]
    names = np.array(["poor", "fair", "good"])[np.digitize(ratings, [2.5, 4.5])]
    several = pd.DataFrame({"stars": ratings, "good": ratings > 3})
    return {
        "themes": TextResponseModel(**options).fit(texts, ratings),
        "with covariates": TextResponseModel(family="gaussian", **options).fit(
            texts, ratings, covariates=covariates, offset=TABLE["log"]
        ),
        "classes": TextResponseModel(**options).fit(texts, names),
        "several": TextResponseModel(**options).fit(texts, several),
        "ordinal": TextResponseModel(family="ordinal", **options).fit(texts, ratings),
    }


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_the_predictions_of_the_whole_bit_for_bit(models, kind, rows):
    table = TABLE[:20] if rows == 1 else TABLE
    offset = "log" if kind == "with covariates" else None
    expected = predict_table(models[kind], table, "review", keep=["price"], offset=offset)
    parts = list(predict_batches(models[kind], table, "review", keep=["price"], offset=offset, batch_rows=rows))
    assert max(map(len, parts)) <= rows
    found = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl.gz", "p.parquet", "p.xlsx"])
def test_files_of_a_pattern_become_one_file(tmp_path, models, name):
    TABLE[:100].to_parquet(tmp_path / "in-1.parquet")
    TABLE[100:].to_parquet(tmp_path / "in-2.parquet")
    rows = []
    done = predict_file(
        models["themes"], f"{tmp_path}/in-*.parquet", tmp_path / name, "review", batch_rows=60, progress=rows.append
    )
    expected = predict_table(models["themes"], TABLE, "review")
    assert done == PredictedRows(N, int(expected["unknown"].sum()))
    assert rows == [60, 100, 160, 220, 230]
    found = read_table(tmp_path / name)
    assert list(found) == list(expected)
    np.testing.assert_allclose(found["prediction"].astype(float), expected["prediction"], rtol=1e-14)
    assert found["row"].astype(int).tolist() == list(range(1, N + 1))


def test_errors_name_file_and_rows(tmp_path, models):
    model = models["with covariates"]
    TABLE[:100].to_csv(tmp_path / "1.csv", index=False)
    TABLE[100:].assign(country=["it"] * 70 + ["xx"] + ["it"] * 59).to_csv(tmp_path / "2.csv", index=False)

    def error_of(**options):
        with pytest.raises(InputError) as caught:
            predict_file(model, str(tmp_path / "*.csv"), tmp_path / "p.csv", "review", **options)
        assert not (tmp_path / "p.csv").exists()
        return str(caught.value)

    message = error_of(offset="log", batch_rows=50)
    assert (
        "2.csv: covariate 'country' has levels that were not in training: row 71: 'xx' (rows count from 1)" in message
    )
    assert "1.csv: no column 'Log' for the offset; did you mean 'log'?" in error_of(offset="Log")
    assert "keep='some' is not known" in error_of(keep="some")


def test_an_offset_in_words_is_an_error(models):
    table = TABLE.assign(log="yes")
    with pytest.raises(InputError, match="the offset is not written in numbers"):
        list(predict_batches(models["with covariates"], table, "review", offset="log"))


def test_an_input_is_not_replaced(tmp_path, models):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(OutputError, match="is read by this command"):
        predict_file(models["themes"], tmp_path / "*.csv", tmp_path / "t.csv", "review", force=True)
