"""Covariates, offset and weights as columns of a table: fit, predict, drivers and report, and the command line."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel
from textsignal.cli import main
from textsignal.data.roles import Roles, model_inputs
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.insight.inputs import as_times
from textsignal.workflow.analyse import analyse
from textsignal.workflow.apply import drivers_table, predict_table, report_table

RNG = np.random.default_rng(0)
#: All cells are texts, as in a CSV file.
TABLE = synthetic_reviews(300, seed=1).to_frame().assign(
    price=[f"{price:.3f}" for price in RNG.normal(size=300)],
    country=RNG.choice(["it", "fr"], 300),
    log_nights="0.5",
    times="1",
)  # fmt: skip
PLAIN = Roles("review", ("rating",))
COLUMNS = replace(PLAIN, covariates=("price", "country"), offset="log_nights", weights="times")


@pytest.fixture(scope="module")
def analysis():
    return analyse(TABLE, COLUMNS, TextResponseModel(4, n_jobs=1))


def test_covariates_written_in_numbers_are_numbers(analysis):
    assert analysis.model.covariate_effects_["name"].tolist()[0] == "price"
    assert analysis.model.naming_.given == "price, country and the offset"
    assert analysis.model.naming_.response == "rating"


@pytest.mark.parametrize("cells", [["it", "fr"], [True, False], [1, 2], pd.to_datetime(["2020", "2021"])], ids=str)
def test_covariates_may_be_categories_of_pandas(cells):
    table = pd.DataFrame({"country": pd.Series([*cells, None]).astype("category")})
    (problem,) = model_inputs(table, ["country"], learn=True).problems()
    assert problem.rows.tolist() == [2]


@pytest.mark.parametrize("cell", [{"id": 7}, "\ud800"])
def test_a_cell_that_is_not_a_category_is_named(cell):
    with pytest.raises(
        InputError, match=r"column 'country': row 2 holds a (dict|str) \(.*\), which cannot name a group"
    ):
        model_inputs(pd.DataFrame({"country": pd.Series(["it", cell], dtype=object)}), ["country"], learn=True)


def test_whole_numbers_of_any_length_are_read():
    table = pd.DataFrame({"price": pd.Series([1, 10**400], dtype=object)})
    assert len(model_inputs(table, ["price"], learn=True).covariates) == 2
    with pytest.raises(InputError, match="is not a date"):
        as_times(table["price"], 2)


def test_a_table_is_predicted_by_its_own_covariates(analysis):
    predictions = predict_table(analysis.model, TABLE[:9], "review", offset="log_nights")["prediction"]
    given = {"covariates": TABLE[["price", "country"]][:9], "offset": np.full(9, 0.5)}
    np.testing.assert_array_equal(predictions, analysis.model.predict(TABLE["review"][:9].tolist(), **given))
    with pytest.raises(InputError, match="'country'"):
        predict_table(analysis.model, TABLE[["review", "price", "log_nights"]], "review", offset="log_nights")
    with pytest.raises(InputError, match="fitted with an offset"):
        predict_table(analysis.model, TABLE[:9], "review")


def test_drivers_of_the_table_are_those_of_all_its_rows(analysis):
    found = drivers_table(analysis.model, TABLE, replace(PLAIN, offset="log_nights", weights="times"))
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(analysis.model.drivers()))


def test_the_page_names_covariates_and_offset(analysis, tmp_path):
    path = tmp_path / "report.html"
    report_table(analysis.model, TABLE, path, replace(PLAIN, offset="log_nights"))
    page = path.read_text(encoding="utf-8")
    assert "All of this is given price, country and the offset" in page
    assert "Covariates are set to their averages" in page


def test_rows_without_a_covariate_are_bad():
    holed = TABLE.assign(country=TABLE["country"].mask(TABLE.index == 4, " "), times=["-1", *["1"] * 299])
    model = TextResponseModel(4, n_jobs=1)
    with pytest.raises(InputError, match=r"1 missing country \(row 5\), 1 weight that cannot be used \(row 1: '-1'\)"):
        analyse(holed, COLUMNS, model)
    assert analyse(holed, COLUMNS, model, on_bad_rows="drop").summary.rows == 298


@pytest.mark.parametrize("seed", [0, 1])
def test_a_covariate_that_becomes_infinite_is_named_by_its_row_in_the_table(seed):
    """Rows that are excluded or held out do not change its number."""
    good = TABLE.assign(nights=1.0 + np.arange(300) % 7)
    bad = good.assign(nights=good["nights"].mask(good.index == 9, 0))
    options = {"on_bad_rows": "drop", "seed": seed}
    model = TextResponseModel(4, n_jobs=1, formula="log(nights)")
    message = r"log\(nights\) of the formula is not a finite number.* in row 10: nights 0 "
    with pytest.raises(InputError, match=message):
        analyse(bad.assign(review=bad["review"].mask(bad.index == 3)), PLAIN, model, **options)
    with pytest.raises(InputError, match=message):
        predict_table(analyse(good, PLAIN, model, **options).model, bad, "review")


def test_a_level_of_one_row_is_not_held_out():
    rare = TABLE.assign(country=[f"c{i}" if i < 40 else "it" for i in range(300)])
    model = TextResponseModel(4, family="binomial", n_jobs=1)
    found = analyse(rare, replace(PLAIN, covariates=("country",)), model)
    assert not found.texts["held_out"][:40].any()


def test_cells_of_new_tables_are_not_made_numbers():
    """A category of which only levels that look like numbers are left."""
    cells = model_inputs(pd.DataFrame({"size": ["01", " 1 ", ""]}), ["size"]).covariates["size"]
    assert cells.tolist()[:2] == ["01", "1"]
    assert cells.isna().tolist() == [False, False, True]


def test_the_command_line_takes_them(tmp_path, capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["textsignal", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        output = capsys.readouterr()
        assert not end.value.code, output.err
        return " ".join(output.out.split())

    file, out, columns = tmp_path / "reviews.csv", tmp_path / "out", ["--text", "review", "--offset", "log_nights"]
    TABLE.to_csv(file, index=False)
    options = ["--response", "rating", "-o", out, "-k", "4", "-j", "1", "--weights", "times"]
    said = run("fit", file, *columns, *options, "--formula", "price * C(country)")
    assert "given price, country and the offset" in said
    run("predict", out / "model", file, *columns, "-o", tmp_path / "predictions.csv")
    assert len(pd.read_csv(tmp_path / "predictions.csv")) == 300
    assert "given price" in run("drivers", out / "model", file, *columns, "--weights", "times")
    run("report", out / "model", file, *columns, "--response", "rating", "-o", tmp_path / "report.html")
