"""Classes without an order on the command line."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel, load
from textsignal.cli.models import rows_of_fit
from textsignal.data.roles import Roles
from textsignal.data.write import write_csv
from textsignal.datasets import synthetic_reviews
from textsignal.reading.options import ResponseScale
from textsignal.workflow.analyse import analyse
from textsignal.workflow.rows import n_classes, response_in

N = 160
REVIEWS = synthetic_reviews(N, seed=9)
CLASSES = ["bad", "fair", "so good"]
TABLE = pd.DataFrame({"Review": REVIEWS.texts, "Stars": REVIEWS.ratings})
TABLE["Kind"] = np.array(CLASSES, dtype=object)[np.digitize(REVIEWS.ratings, [2.5, 4.5])]
TABLE["Kind"] = TABLE["Kind"].mask(TABLE.index % 9 == 4)
TABLE["Hotel"] = [f"Hotel {i % 3}" for i in range(N)]
TABLE["Half"] = [f"{stars},5" for stars in REVIEWS.ratings]
TABLE["Many"] = [f"kind {i % 25}" for i in range(N)]
COLUMNS = ["--text", "Review", "--response", "Kind"]


@pytest.fixture(scope="module")
def out(tmp_path_factory, call):
    """What one fit wrote."""
    folder = tmp_path_factory.mktemp("classes")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    options = ["--by", "Hotel", "-k", 4, "-j", 1, "--documents", 10]
    assert call("fit", folder / "reviews.csv", *COLUMNS, *options, "-o", folder / "out") == 0
    return folder / "out"


def test_a_fit_writes_a_page_for_each_class_and_names_the_class_in_tables(out):
    assert {file.name for file in out.iterdir()} == {
        *("model", "themes.csv", "responses.csv", "texts.csv", "clauses.parquet", "drivers.csv", "summary.json"),
        *("report-bad.html", "report-fair.html", "report-so-good.html"),
    }
    assert load(out / "model").classes_.tolist() == CLASSES
    for name in ("themes.csv", "responses.csv", "drivers.csv"):
        table = pd.read_csv(out / name)
        assert next(iter(table)) == "class"
        assert table["class"].unique().tolist() == CLASSES


def test_texts_have_labels_and_the_probabilities_of_the_model(out):
    texts, model = pd.read_csv(out / "texts.csv"), load(out / "model")
    pd.testing.assert_series_equal(texts["response"], TABLE["Kind"], check_names=False, check_dtype=False)
    chances = texts[[f"p_{label}" for label in CLASSES]].to_numpy()
    np.testing.assert_allclose(chances, model.predict_proba(REVIEWS.texts), rtol=1e-6)
    assert texts["prediction"].tolist() == model.predict(REVIEWS.texts).tolist()


def test_a_class_that_looks_like_a_formula_is_recognised(tmp_path):
    texts = pd.DataFrame({"row": [1, 2], "response": ["=low", "high"], "held_out": [True, False]})
    write_csv(texts, tmp_path / "texts.csv")
    assert "'=low" in (tmp_path / "texts.csv").read_text()
    model = SimpleNamespace(naming_=SimpleNamespace(is_class=True, event="=low"))
    assert rows_of_fit(tmp_path / "model", model, "Kind")["response"].tolist() == [1, 0]


def test_skill_is_that_of_held_out_rows_compared_with_frequencies(out):
    texts, summary = pd.read_csv(out / "texts.csv"), json.loads((out / "summary.json").read_text())
    counted = texts.dropna(subset="response")
    held_out, training = counted[counted["held_out"]], counted[~counted["held_out"]]
    frequencies = training["response"].value_counts(normalize=True)
    skill = summary["held_out"]
    assert skill["texts"] == len(held_out)
    assert skill["accuracy"] == pytest.approx(np.mean(held_out["response"] == held_out["prediction"]))
    probabilities = [row[f"p_{row['response']}"] for _, row in held_out.iterrows()]
    assert skill["log_loss"] == pytest.approx(-np.log(probabilities).mean(), rel=1e-6)
    assert skill["frequency_accuracy"] == pytest.approx(np.mean(held_out["response"] == frequencies.idxmax()))
    assert skill["frequency_log_loss"] == pytest.approx(-np.log(held_out["response"].map(frequencies)).mean())
    right = np.mean(training["response"] == training["unseen_prediction"])
    assert summary["train"]["accuracy"] == pytest.approx(right)
    assert summary["classes"] == TABLE["Kind"].value_counts()[CLASSES].to_dict()


def test_pages_name_the_class(out):
    page = (out / "report-so-good.html").read_text(encoding="utf-8")
    for said in ("What moves “Kind: so good”", "All classes", "the share with Kind so good", "report-fair.html"):
        assert said in page
    assert "What to fix first" not in page
    assert "What speaks for so good" in page


def test_predict_gives_labels_and_probabilities(out, call, tmp_path):
    target = tmp_path / "predictions.csv"
    assert call("predict", out / "model", out.parent / "reviews.csv", "--text", "Review", "-o", target) == 0
    found = pd.read_csv(target)
    assert list(found) == ["row", "prediction", "unknown", *(f"p_{label}" for label in CLASSES)]
    assert found["prediction"].tolist() == load(out / "model").predict(REVIEWS.texts).tolist()


def test_themes_and_drivers_are_of_all_classes_or_of_one(out, call, tmp_path):
    model = load(out / "model")
    for command, table in (("themes", model.themes()), ("drivers", model.drivers())):
        target, one = tmp_path / f"{command}.csv", tmp_path / f"{command}-one.csv"
        assert call(command, out / "model", "-o", target) == 0
        np.testing.assert_allclose(pd.read_csv(target)["cost"], table["cost"])
        assert pd.read_csv(target)["class"].tolist() == table["class"].tolist()
        assert call(command, out / "model", "--class", "fair", "-o", one) == 0
        np.testing.assert_allclose(pd.read_csv(one)["cost"], table.loc[table["class"] == "fair", "cost"])
    target = tmp_path / "of-texts.csv"
    assert call("drivers", out / "model", out.parent / "reviews.csv", *COLUMNS, "-o", target) == 0
    np.testing.assert_allclose(pd.read_csv(target)["mean_mention"], model.drivers()["mean_mention"])


def test_explain_is_of_the_predicted_class_or_of_the_one_requested(out, call, capsys):
    text = "The bathroom was dirty and the staff were rude."
    (label,) = load(out / "model").predict([text])
    assert call("explain", out / "model", text) == 0
    assert f"Predicted class: {label}" in capsys.readouterr().err
    assert call("explain", out / "model", text, "--class", "so good") == 0
    assert "“Kind: so good”" in capsys.readouterr().err
    assert call("explain", out / "model", text, "--class", "odd") == 2
    assert "give one of bad, fair, so good" in capsys.readouterr().err


def test_a_report_is_of_one_class_and_knows_what_was_held_out(out, call, capsys, tmp_path):
    given = ["report", out / "model", out.parent / "reviews.csv", *COLUMNS, "--documents", 5]
    assert call(*given, "-o", tmp_path / "page.html") == 2
    assert "choose one with --class: bad, fair, so good" in capsys.readouterr().err
    assert call(*given, "--class", "bad", "-o", tmp_path / "page.html") == 0
    assert "No row is known to be held out" not in capsys.readouterr().err
    assert "What moves “Kind: bad”" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--response", "Many"], "holds 25 different texts; up to 20 are taken for classes: --family categorical"),
        (["--response", "Half"], "4 or 4.0 (a point, no comma)"),
        (["--response", "Review", "--family", "categorical"], "more than 100"),
        (["--response", "Kind", "--offset", "Stars"], "--offset Stars cannot be combined with classes"),
        (["--response", "Kind", "--lower-is-better"], "--lower-is-better cannot be combined with classes"),
        (["--response", "Kind", "--unit", "points"], "--unit points cannot be combined with classes"),
        (["--response", "Kind", "--interval", "0.9"], "--interval 0.9 is for one response, not for classes"),
        (["--response", "Kind", "--response", "Stars"], "fit it alone"),
    ],
)
def test_options_that_classes_cannot_have_are_refused(out, call, capsys, tmp_path, options, message):
    assert call("fit", out.parent / "reviews.csv", "--text", "Review", *options, "-o", tmp_path / "new") == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "new").exists()


def test_numbers_are_classes_on_request_and_two_labels_are_not():
    categorical = ResponseScale("categorical", None)

    def classes(table, name, scale):
        return n_classes(response_in(table, name, scale), scale)

    assert classes(TABLE, "Stars", categorical) == 5
    assert classes(TABLE, "Stars", ResponseScale("auto", None)) == 0
    assert classes(TABLE.assign(Kind=TABLE["Kind"].mask(TABLE["Kind"] == "fair")), "Kind", categorical) == 2
    assert response_in(TABLE, "Many", categorical).labels is not None


def test_a_class_of_a_single_row_is_trained_on():
    table = TABLE.assign(Kind=TABLE["Stars"].map(str).radd("stars "))
    row = int(np.random.default_rng(0).permutation(N)[-1])
    table.loc[row, "Kind"] = "rare"
    analysis = analyse(table, Roles("Review", ("Kind",)), TextResponseModel(3, n_jobs=1))
    assert not analysis.texts.loc[row, "held_out"]
    assert analysis.classes.counts["rare"] == 1
