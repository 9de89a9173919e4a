"""The TripAdvisor reader: every good row once, every other row counted."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reproduction.reviews import read_tripadvisor
from textsignal.errors import InputError

TEXTS = ["nice hotel", 'said "no", twice', "two\nlines", "NA", "😀 lovely", "naïve"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zip"])
@pytest.mark.parametrize("extra", [[], ["S.No."], ["", "Hotel", "Rating date"]])
def test_the_published_columns_are_read_and_others_ignored(tmp_path, name, extra):
    rows = pd.DataFrame({**{column: range(6) for column in extra}, "Review": TEXTS, "Rating": [5, 4, 3, 2, 1, 5]})
    rows.to_csv(tmp_path / name, index=False)
    sample = read_tripadvisor(tmp_path / name)
    assert sample.table.columns.tolist() == ["text", "rating"]
    assert sample.table["text"].tolist() == TEXTS
    assert sample.table["rating"].tolist() == [5, 4, 3, 2, 1, 5]
    assert sample.table["rating"].dtype == np.int64
    assert sample.excluded[0].reasons == {}
    assert sample.describe() == f"{name}: 6 of 6 used"


@pytest.mark.parametrize(
    ("text", "rating", "reason"),
    [
        ("", "4", "no text"),
        (" \t", "4", "no text"),
        ("", "", "no text"),
        ("fine", "", "no whole rating from 1 to 5"),
        ("fine", "0", "no whole rating from 1 to 5"),
        ("fine", "6", "no whole rating from 1 to 5"),
        ("fine", "4.5", "no whole rating from 1 to 5"),
        ("fine", "-4", "no whole rating from 1 to 5"),
        ("fine", "nan", "no whole rating from 1 to 5"),
        ("fine", "four", "no whole rating from 1 to 5"),
        ("good", "5", "repeated"),
        ("good", "5.0", "repeated"),
    ],
)
def test_a_row_that_is_left_out_is_counted_with_its_reason(tmp_path, text, rating, reason):
    rows = pd.DataFrame({"Review": ["good", text, "good"], "Rating": ["5", rating, "4"]})
    rows.to_csv(tmp_path / "t.csv", index=False)
    sample = read_tripadvisor(tmp_path / "t.csv")
    assert sample.table.to_dict("records") == [{"text": "good", "rating": 5}, {"text": "good", "rating": 4}]
    assert sample.excluded[0].reasons == {reason: 1}
    assert f"1  {reason}" in sample.describe()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "é", " ", ""]), st.sampled_from([None, 0, 1, 2.5, 5])), min_size=1)
)
def test_what_is_used_and_what_is_left_out_is_all_there_is(tmp_path, rows):
    path = tmp_path / "t.csv"
    pd.DataFrame(rows, columns=["Review", "Rating"]).to_csv(path, index=False)
    good = list(dict.fromkeys((text, rating) for text, rating in rows if text.strip() and rating in (1, 5)))
    if not good:
        with pytest.raises(InputError, match="no row that can be used"):
            read_tripadvisor(path)
        return
    sample = read_tripadvisor(path)
    assert list(sample.table.itertuples(index=False, name=None)) == good
    assert sample.table.index.tolist() == list(range(len(good)))
    assert sample.excluded[0].n_read == len(rows)
    assert sample.excluded[0].n_used == len(good)


def test_cells_that_are_no_strings_are_no_text(tmp_path):
    rows = pd.DataFrame({"Review": [["a"], ["b"]], "Rating": [5, 4]})
    rows.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet has no row that can be used: 2 no text"):
        read_tripadvisor(tmp_path / "t.parquet")


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path):
    (tmp_path / "t.csv").write_text("review_text,Rating\ngood,5\n")
    with pytest.raises(InputError, match=r"no column 'Review' for the text.* review_text, Rating"):
        read_tripadvisor(tmp_path / "t.csv")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*absent\.csv"):
        read_tripadvisor(tmp_path / "absent.csv")
