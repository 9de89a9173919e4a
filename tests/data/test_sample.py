"""Rows that are drawn at random: the same whatever files and batches they come in."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textsignal.data.read import read_table
from textsignal.data.sample import SampledRows, sample_rows
from textsignal.data.source import read_batches
from textsignal.errors import InputError

N = 600
TABLE = pd.DataFrame(
    {
        "review": [f"Stay {i}, {'fine ' * (i % 7)}" for i in range(N)],
        "rating": [float(i % 5 + 1) if i % 11 else np.nan for i in range(N)],
        "hotel": [f"Hotel {i % 4}" for i in range(N)],
    }
)
CHARACTERS = int((TABLE["review"].str.len() + TABLE["hotel"].str.len()).sum())


def same(one: SampledRows, other: SampledRows) -> bool:
    return np.array_equal(one.rows, other.rows) and one.table.equals(other.table) and one.n_rows == other.n_rows


@given(
    cuts=st.lists(st.integers(1, N - 1), max_size=4, unique=True).map(sorted),
    batch_rows=st.integers(20, 700),
    n=st.integers(1, N + 50),
    most_text=st.one_of(st.none(), st.integers(1, CHARACTERS + 10)),
)
@example(cuts=[], batch_rows=20, n=5, most_text=162)  # a short row fits where a longer one did not
@settings(max_examples=40, deadline=None)
def test_how_rows_are_cut_changes_nothing(cuts, batch_rows, n, most_text):
    whole = sample_rows(TABLE, n=n, most_text=most_text)
    ends = zip([0, *cuts], [*cuts, N], strict=True)
    parts = [TABLE.iloc[start:end] for start, end in ends]
    assert same(whole, sample_rows(read_batches(parts, batch_rows=batch_rows), n=n, most_text=most_text))
    assert whole.table.equals(TABLE.iloc[whole.rows].reset_index(drop=True))
    texts = whole.table["review"].str.len() + whole.table["hotel"].str.len()
    assert len(whole.table) == 1 or most_text is None or texts.sum() <= most_text
    assert len(whole.table) == min(n, N) or most_text is not None


def test_fewer_rows_are_some_of_more():
    more, fewer = (sample_rows(TABLE, n=n).rows for n in (300, 100))
    assert set(fewer) < set(more)


def test_every_row_is_drawn_as_often():
    drawn = np.concatenate([sample_rows(TABLE, ["rating"], n=150, seed=seed).rows for seed in range(100)])
    counts = np.bincount(drawn, minlength=N)
    # Binomial(100, 1/4): five standard deviations on either side; neighbours are drawn apart.
    assert np.all(np.abs(counts - 25) < 5 * np.sqrt(100 / 4 * 3 / 4))
    assert abs(np.corrcoef(counts[:-1], counts[1:])[0, 1]) < 0.2


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".xlsx"])
def test_all_rows_are_the_table(tmp_path, ending):
    file = tmp_path / f"reviews{ending}"
    write = {".csv": TABLE.to_csv, ".csv.gz": TABLE.to_csv, ".parquet": TABLE.to_parquet, ".xlsx": TABLE.to_excel}
    if ending == ".jsonl":
        TABLE.to_json(file, orient="records", lines=True)
    else:
        write[ending](file, index=False)
    found = sample_rows(read_batches(file, ["review", "rating"], batch_rows=100))
    pd.testing.assert_frame_equal(found.table, read_table(file)[["review", "rating"]])
    assert not found.basis
    assert found.place(4) == "5"


def test_places_name_file_and_row(tmp_path):
    files = [tmp_path / f"{name}.csv" for name in "ab"]
    TABLE.iloc[:250].to_csv(files[0], index=False)
    TABLE.iloc[250:].to_csv(files[1], index=False)
    found = sample_rows(f"{tmp_path}/*.csv", ["review"], n=100)
    assert found.basis == "a random 100 of 600 rows"
    for row, text in enumerate(found.table["review"]):
        number, _, file = found.place(row).partition(" of ")
        assert read_table(file)["review"][int(number) - 1] == text
    with pytest.raises(InputError, match=r"\(row 3\) \(rows are counted over the 100 that"), found.counted():
        raise InputError("wrong (row 3)")
    with pytest.raises(InputError, match=r"b\.csv\)$"), found.counted():
        raise InputError(f"wrong (row {found.place(99)})")


def test_progress_ends_with_all_rows():
    done = []
    sample_rows(read_batches(TABLE, batch_rows=100), n=5, progress=done.append)
    assert done == [100, 200, 300, 400, 500, 600]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"n": 0}, "n=0 must be a whole number of at least 1"),
        ({"seed": -1}, "seed=-1"),
        ({"columns": ["reveiw"]}, "no column 'reveiw' for the table; did you mean 'review'"),
        ({"columns": {"reveiw": "text"}}, "no column 'reveiw' for the text"),
    ],
)
def test_bad_input_is_named(options, problem):
    with pytest.raises(InputError, match=problem):
        sample_rows(TABLE, **options)
