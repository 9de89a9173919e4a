"""Several responses on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from textsignal import load
from textsignal.cli.options import families_of
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

N = 200
REVIEWS = synthetic_reviews(N, seed=9)
TABLE = pd.DataFrame({"Review": REVIEWS.texts, "Stars": REVIEWS.ratings, "Come back": np.array(REVIEWS.ratings) > 3})
TABLE["Come back"] = TABLE["Come back"].map({True: "yes", False: "no"}).mask(TABLE.index % 9 == 4)
TABLE["Hotel"] = [f"Hotel {i % 3}" for i in range(N)]
COLUMNS = ["--text", "Review", "--response", "Stars", "--response", "Come back"]


@pytest.fixture(scope="module")
def out(tmp_path_factory, call):
    """What one fit wrote."""
    folder = tmp_path_factory.mktemp("several")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    options = ["--family", "Stars=ordinal", "--by", "Hotel", "-k", 4, "-j", 1, "--documents", 10]
    assert call("fit", folder / "reviews.csv", *COLUMNS, *options, "-o", folder / "out") == 0
    return folder / "out"


def test_a_fit_writes_a_page_for_each_response_and_names_the_response_in_tables(out):
    assert {file.name for file in out.iterdir()} == {
        *("model", "themes.csv", "responses.csv", "texts.csv", "clauses.parquet", "drivers.csv", "summary.json"),
        *("report-stars.html", "report-come-back.html"),
    }
    model = load(out / "model")
    assert {name: one.family_.name for name, one in model.models.items()} == {
        "Stars": "ordinal",
        "Come back": "bernoulli",
    }
    for name in ("themes.csv", "responses.csv", "drivers.csv"):
        table = pd.read_csv(out / name)
        assert next(iter(table)) == "response"
        assert table["response"].unique().tolist() == ["Stars", "Come back"]
    texts = pd.read_csv(out / "texts.csv")
    np.testing.assert_array_equal(texts["response_Stars"], TABLE["Stars"])
    assert texts["response_Come back"].isna().sum() == TABLE["Come back"].isna().sum()
    summary = json.loads((out / "summary.json").read_text())["responses"]
    assert summary["Come back"]["response_read"] == "no as 0 and yes as 1"
    assert summary["Stars"]["held_out"]["texts"] == texts["held_out"].sum()


def test_predict_gives_every_response(out, call, tmp_path):
    target = tmp_path / "predictions.csv"
    assert call("predict", out / "model", out.parent / "reviews.csv", "--text", "Review", "-o", target) == 0
    found, model = pd.read_csv(target), load(out / "model")
    for name, predicted in model.predict(REVIEWS.texts).items():
        np.testing.assert_allclose(found[f"prediction_{name}"], predicted)


def test_themes_and_drivers_are_of_all_responses_or_of_one(out, call, tmp_path):
    model = load(out / "model")
    for command, table in (("themes", model.themes()), ("drivers", model.drivers())):
        target = tmp_path / f"{command}.csv"
        assert call(command, out / "model", "-o", target) == 0
        np.testing.assert_allclose(pd.read_csv(target)["cost"], table["cost"])
        one = tmp_path / f"{command}-one.csv"
        assert call(command, out / "model", "--response", "Stars", "-o", one) == 0
        assert "response" not in pd.read_csv(one)
    given = [out.parent / "reviews.csv", "--text", "Review", "--response", "Stars"]
    assert call("drivers", out / "model", *given, "-o", tmp_path / "of-texts.csv") == 0


def test_explain_and_report_are_of_one_response(out, call, capsys, tmp_path):
    assert call("explain", out / "model", "Dirty room.", "--response", "Stars") == 0
    assert call("explain", out / "model", "Dirty room.") == 2
    assert "choose one with --response: Stars, Come back" in capsys.readouterr().err
    assert call("explain", out / "model", "Dirty room.", "--response", "Votes") == 2
    given = ["--text", "Review", "--response", "Stars", "-o", tmp_path / "page.html", "--documents", 5]
    assert call("report", out / "model", out.parent / "reviews.csv", *given) == 0
    assert "No row is known to be held out" not in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--offset", "Stars"], ["--interval", "0.9"]])
def test_options_of_one_response_are_refused(out, call, capsys, tmp_path, options):
    file = out.parent / "reviews.csv"
    assert call("fit", file, *COLUMNS, *options, "-o", tmp_path / "new") == 2
    assert "several" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["odd"], "odd is not known"),
        (["Votes=poisson"], "'Votes' is not one of"),
        (["ordinal", "Stars=ordinal"], "name the"),
    ],
)
def test_invalid_families_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        families_of(given, ["Stars", "Come back"])
