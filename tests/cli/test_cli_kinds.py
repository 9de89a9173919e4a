"""Labels, and responses off the domain of a family, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from textsignal import load
from textsignal.datasets import synthetic_reviews

REVIEWS = synthetic_reviews(150, seed=9)
TABLE = pd.DataFrame({"Review": REVIEWS.texts, "Stars": REVIEWS.ratings})
TABLE["Grade"] = np.array(["low", "mid", "high"])[np.digitize(REVIEWS.ratings, [2.5, 4.5])]
TABLE["Liked"] = np.where(REVIEWS.ratings > 3, "good", "bad")
TABLE["Votes"] = TABLE["Stars"].mask(TABLE.index == 140, -2)
TABLE["Six"] = TABLE["Stars"].mask(TABLE.index == 141, 6)
TABLE["Third"] = (TABLE["Stars"] > 3).astype(int).mask(TABLE.index == 142, 2)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("kinds") / "reviews.csv"
    TABLE.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("response", "options", "named", "fits"),
    [
        ("Votes", ["--family", "poisson"], "row 141: -2", "--family gaussian would fit"),
        ("Six", ["--levels", "1-5"], "row 142: '6'", "--levels 1-6 would take"),
        ("Third", ["--family", "bernoulli"], "row 143: 2", "--family categorical"),
        ("Grade", ["--family", "bernoulli"], "of a third class", "--family categorical"),
        ("Grade", ["--family", "ordinal"], "order is not known (row 1:", "levels="),
        ("Grade", ["--family", "gaussian"], "rows 1: 'mid'", "--family ordinal"),
    ],
)
def test_a_response_off_the_domain_is_named_by_its_row_of_the_table(call, file, capsys, response, options, named, fits):
    assert call("fit", file, "--text", "Review", "--response", response, *options, "-o", file.parent / "no") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert named in said
    assert fits in said
    assert not (file.parent / "no").exists()


@pytest.mark.parametrize(
    ("response", "options", "levels"),
    [("Grade", ["--family", "ordinal", "--levels", "low, mid,high"], ["low", "mid", "high"]),
     ("Liked", [], ["bad", "good"])],
)  # fmt: skip
def test_labels_are_fitted_predicted_and_reported(call, file, capsys, response, options, levels):
    out = file.parent / response
    fit = ["fit", file, "--text", "Review", "--response", response, "-k", 4, "-j", 1, "--documents", 10, *options]
    assert call(*fit, "-o", out) == 0
    first = 1 if response == "Grade" else 0
    told = ", ".join(f"{level} as {number}" for number, level in enumerate(levels, first))
    assert json.loads((out / "summary.json").read_text())["response_read"] == told
    assert load(out / "model").classes_.tolist() == levels
    assert call("predict", out / "model", file, "--text", "Review", "-o", out / "p.csv") == 0
    predicted = pd.read_csv(out / "p.csv")
    assert [name for name in predicted if name.startswith("p_")] == [f"p_{level}" for level in levels]
    assert set(predicted["level"]) <= set(levels)
    assert predicted["prediction"].between(first, first + len(levels) - 1).all()
    again = ["report", out / "model", file, "--text", "Review", "--response", response, "-o", out / "again.html"]
    assert call(*again) == 0
    capsys.readouterr()
    assert call("drivers", out / "model", file, "--text", "Review", "--response", response) == 0
    assert "What to fix first" in capsys.readouterr().out
