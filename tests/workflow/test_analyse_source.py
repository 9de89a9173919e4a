"""Groups, dates and bad rows of a source: those of the table in memory if all rows are in the sample."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel, streaming
from textsignal.compute.engines.local import LocalEngine
from textsignal.data.read import groups_of, read_table
from textsignal.data.roles import Roles
from textsignal.data.rows import bad_together, check_rows, parse_response
from textsignal.data.source import read_batches
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.insight.inputs import as_times
from textsignal.workflow.analyse import analyse, analyse_source

N = 400
PLAIN = Roles("review", ("rating",))
COLUMNS = replace(PLAIN, by="hotel", over="date", groups="hotel")
BAD = {"review": {7: "", 200: "   ", 310: ""}, "rating": {11: "five", 205: "9", 206: "4.5"}}


def new_model():
    return TextResponseModel(4, family="binomial", levels=(1, 5), n_jobs=1)


@pytest.fixture(scope="module")
def table():
    """Reviews of hotels, some without hotel, date or response, and some that cannot be used."""
    found = synthetic_reviews(N, seed=4).to_frame().astype(str)
    for name in ("hotel", "date", "rating"):
        found.loc[np.arange(N) % 37 == len(name), name] = ""
    for name, cells in BAD.items():
        for row, cell in cells.items():
            found.loc[row, name] = cell
    return found


@pytest.fixture(scope="module")
def whole(table):
    """The analysis of the table in memory."""
    return analyse(table, COLUMNS, new_model(), levels=(1, 5), holdout=0, on_bad_rows="drop", interval=0.9)


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    """The same rows in three files, of which the second has no row that can be used."""
    folder = tmp_path_factory.mktemp("files")
    rows = table.iloc[[*range(200), 200, 205, *range(201, 205), *range(206, N)]].reset_index(drop=True)
    for name, part in {"a": rows[:200], "b": rows[200:202], "c": rows[202:]}.items():
        part.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def small_batches(monkeypatch):
    small = lambda source, columns: read_batches(source, columns, batch_rows=70)  # noqa: E731
    monkeypatch.setattr("textsignal.workflow.analyse.read_batches", small)


def of_source(source, columns=PLAIN, **options):
    return analyse_source(source, columns, new_model(), **{"holdout": 0, "on_bad_rows": "drop", **options})


def test_columns_and_bad_rows_of_a_source_are_those_of_the_table(table, whole, small_batches):
    found = of_source(table, COLUMNS, interval=0.9)
    pd.testing.assert_frame_equal(found.texts, whole.texts)
    one, other = found.only, whole.only
    pd.testing.assert_frame_equal(one.drivers, other.drivers, check_dtype=False)
    pd.testing.assert_frame_equal(pd.DataFrame(one.overall), pd.DataFrame(other.overall))
    pd.testing.assert_frame_equal(one.effects.frame, other.effects.frame)
    np.testing.assert_array_equal(one.reading.observed.times, other.reading.observed.times)
    assert one.reading.observed.groups.fillna("").tolist() == other.reading.observed.groups.fillna("").tolist()
    assert found.columns == whole.columns
    assert one.summary.made_of == other.summary.made_of
    assert found.summary.dropped.startswith("6 bad rows: ")
    reasons = [
        each.partition(": ")[2].replace("), ", ")|").split("|")
        for each in (found.summary.dropped, whole.summary.dropped)
    ]
    assert sorted(reasons[0]) == sorted(reasons[1])


def test_rows_of_a_sample_keep_their_own_columns(table, files, small_batches, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 250)
    rows = pd.concat([pd.read_csv(files / f"{name}.csv", dtype=str, keep_default_na=False) for name in "abc"])
    found = of_source(str(files / "*.csv"), replace(PLAIN, by="hotel", over="date"), holdout=0.2)
    observed = found.only.reading.observed
    own = rows.iloc[found.texts["row"] - 1]
    assert 100 < len(own) <= 250
    assert observed.groups.fillna("").tolist() == own["hotel"].tolist()
    days = pd.Series(observed.times).dt.strftime("%Y-%m-%d").fillna("")
    assert days.tolist() == own["date"].tolist()
    assert "of 394 texts" in found.model.reader_.fitted.basis
    assert found.model.n_texts_ == N - 6 - found.texts["held_out"].sum()
    assert found.summary.dropped.startswith("6 bad rows: 3 empty texts (rows 8, 201, 311)")
    assert found.summary.dropped.endswith("; rows count over all 3 files")


def test_a_resumed_run_keeps_the_columns(files, tmp_path, small_batches, monkeypatch):
    """Shards do not hold them, so that a later run may ask for others."""
    given = {"source": str(files / "*.csv"), "folder": tmp_path / "shards"}
    first = of_source(**given, columns=replace(PLAIN, over="date", by="hotel")).only
    monkeypatch.setattr(streaming, "write_shard", None)
    again = of_source(**given, columns=replace(PLAIN, by="hotel")).only
    assert again.reading.observed.groups.equals(first.reading.observed.groups)
    pd.testing.assert_frame_equal(again.drivers, first.drivers)


@pytest.mark.parametrize("name", ["reviews.parquet", "reviews.jsonl"])
def test_cells_that_are_not_text_are_read_as_in_memory(table, tmp_path, name):
    """Numbers of hotels, of which some are missing, days, and years."""
    typed = pd.DataFrame({"review": table["review"], "rating": 3.0}).iloc[:100]
    typed["hotel"] = pd.array([*range(50), *[None] * 20, *range(30)], dtype="Int64")
    typed["day"] = pd.to_datetime(table["date"][:100].replace("", None))
    typed["year"] = np.arange(100) % 7 + 2010
    typed["is_chain"] = [None, True, False, True] * 25
    if name.endswith("parquet"):
        typed.to_parquet(tmp_path / name)
    else:
        typed.to_json(tmp_path / name, orient="records", lines=True, date_format="iso")
    whole = read_table(tmp_path / name)
    source = read_batches(tmp_path / name, batch_rows=30)
    columns = Roles("review", ("rating",), by="hotel", over="day", groups="is_chain")
    found = [_others(source, columns), _others(source, replace(columns, over="year"))]
    for column in ("hotel", "is_chain"):
        assert list(map(str, groups_of(found[0], column))) == list(map(str, groups_of(whole, column)))
    for column, frame in zip(("day", "year"), found, strict=True):
        np.testing.assert_array_equal(as_times(frame[column], 100), as_times(whole[column], 100))


def _others(source, columns):
    """The columns of a sample, which is of all rows."""
    read = streaming.read_source(source, columns, new_model(), None, 10**9, LocalEngine(1), None, streaming.say_nothing)
    return read.others


class TestErrors:
    def test_a_bad_row_is_named_with_its_file(self, files, small_batches):
        with pytest.raises(InputError, match=r"a\.csv, row 12: 'five' in column 'rating'"):
            of_source(str(files / "*.csv"), on_bad_rows="error")

    def test_no_row_is_left(self, table):
        with pytest.raises(InputError, match=r"no row is left: 400 bad rows: 400 empty texts \(rows 1, 2, 3, 4, 5"):
            of_source(table.assign(review=""))

    def test_fractions_are_not_dropped_without_a_scale(self, table, small_batches):
        model = TextResponseModel(4, n_jobs=1)
        with pytest.raises(
            InputError, match=r"1 of \d+ responses are not whole numbers \(row 207: 4\.5\).*levels=\(1, 9\)"
        ):
            analyse_source(table, PLAIN, model, on_bad_rows="drop")

    def test_a_cell_that_is_not_a_date_is_named_by_its_row(self, table, small_batches):
        wrong = table.copy()
        wrong.loc[333, "date"] = "soon"
        with pytest.raises(InputError, match=r"column 'date': 'soon' in row 334 is not a date"):
            of_source(wrong, replace(PLAIN, over="date"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"by": "hostel"}, "no column 'hostel' for the by; did you mean 'hotel'"),
            ({"on_bad_rows": "ask"}, "on_bad_rows='ask' is not known"),
            ({"groups": "hotel"}, "groups='hotel' is for intervals"),
            ({"groups": "one", "interval": 0.9}, "intervals need 4 or more groups"),
            ({"by": "none"}, "by names no group"),
            ({"over": "none"}, "over holds no date"),
        ],
    )
    def test_invalid_columns_are_an_error_before_training(self, table, monkeypatch, options, message):
        monkeypatch.setattr(streaming, "count_shards", None)
        named = {name: value for name, value in options.items() if name in ("by", "over", "groups")}
        others = {name: value for name, value in options.items() if name not in named}
        with pytest.raises(InputError, match=message):
            of_source(table.assign(one="inn", none=""), replace(PLAIN, **named), **others)


def test_bad_rows_of_parts_are_those_of_the_whole():
    texts = ["Fine.", "", "Dull.", " ", "Good.", "Bad."] * 4
    response = parse_response(["four", "4", "9", "x"] * 6)
    whole = check_rows(texts, response, levels=(1, 5))
    for size in (1, 5, 24):
        rows = [slice(start, start + size) for start in range(0, 24, size)]
        parts = [check_rows(texts[own], parse_response(response.cells[own]), levels=(1, 5)) for own in rows]
        found = bad_together(parts)
        assert np.array_equal(found.mask, whole.mask)
        assert {one.describe() for one in found.problems} == {one.describe() for one in whole.problems}
