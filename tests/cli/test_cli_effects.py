"""`textsignal effects`, and ranges of `fit`, `drivers` and `report`."""

import pandas as pd
import pytest

from textsignal import load
from textsignal.datasets import synthetic_reviews

TABLE = synthetic_reviews(160, seed=3).to_frame()
COLUMNS = ("--text", "review", "--response", "rating")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, call):
    """A fit with intervals."""
    folder = tmp_path_factory.mktemp("effects")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    options = ("-k", "2", "--family", "adjacent-categories", "--interval", ".95", "--groups", "hotel", "-j", "1")
    assert call("fit", folder / "reviews.csv", *COLUMNS, *options, "-o", folder / "out", "--documents", "0") == 0
    return folder


def test_a_fit_with_ranges_has_them_in_its_table_and_on_its_page(folder):
    themes = pd.read_csv(folder / "out/themes.csv")
    for name in ("cost", "gain"):
        assert (themes[f"{name}_low"] < themes[f"{name}_high"]).all()
        assert themes[f"{name}_clear"].isin([True, False]).all()
    assert list(themes)[-1] == "finding"
    page = (folder / "out/report.html").read_text(encoding="utf-8")
    assert "Texts of the same hotel are treated as dependent" in page
    assert "cost_low" in page


def test_effects_are_those_of_the_model(folder, call, capsys):
    model, file = folder / "out/model", folder / "reviews.csv"
    plugin = ("--method", "plugin", "--level", ".9", "--groups", "hotel")
    assert call("effects", model, file, *COLUMNS, *plugin, "-o", folder / "effects.csv") == 0
    made = pd.read_csv(folder / "effects.csv")
    wanted = load(model).estimate_effects(
        texts=TABLE["review"], responses=TABLE["rating"], method="plugin", level=0.9, groups=TABLE["hotel"]
    )
    pd.testing.assert_frame_equal(made, wanted.to_frame(), rtol=1e-9)
    assert "Conditional on the themes" in capsys.readouterr().err
    assert call("effects", model, file, *COLUMNS, *plugin, "--by", "hotel") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "90% intervals, by hotel" in shown
    assert "against others" in shown


def test_the_bootstrap_shows_its_progress(folder, call, capsys):
    bootstrap = ("--method", "bootstrap", "--refits", "3")
    assert call("effects", folder / "out/model", folder / "reviews.csv", *COLUMNS, *bootstrap) == 0
    said = capsys.readouterr()
    assert "Bootstrap: 3 of 3 samples finished" in said.err
    assert "those of 3 samples" in " ".join(said.out.split())
    assert " to +" in said.out


def test_drivers_show_ranges(folder, call, capsys):
    options = ("--interval", ".8", "--groups", "hotel")
    assert call("drivers", folder / "out/model", folder / "reviews.csv", *COLUMNS, *options) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "80% intervals, each by itself" in shown
    assert "Holm" in shown


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("effects", "--groups", "chain"), "no column 'chain' for the groups"),
        (("effects", "--level", "95"), "--level 95.0 must be below 1"),
        (("effects", "--method", "plugin", "--groups", "rating2"), "--groups rating2: intervals need 4 or more groups"),
        (("drivers", "--interval", "95"), "--interval 95.0 must be above 0 and below 1"),
        (("drivers", "--groups", "hotel"), "give --interval 0.95 too"),
        (("report", "--interval", "0", "-o", "page.html"), "--interval 0.0 must be above 0 and below 1"),
        (("fit", "--interval", ".95", "--weights", "rating", "-o", "o"), "cannot be combined with --weights rating"),
        (
            ("fit", "--interval", ".95", "--response", "rating2", "-o", "o"),
            "--interval 0.95 is for one response, not for several",
        ),
        (("fit", "--groups", "rating2", "--interval", ".9", "-o", "o"), "--groups rating2: intervals need 4"),
    ],
)
def test_invalid_options_are_named(folder, call, capsys, tmp_path, monkeypatch, command, said):
    monkeypatch.chdir(tmp_path)
    TABLE.assign(rating2=TABLE["rating"] > 3).to_csv("reviews.csv", index=False)
    name, *options = command
    model = () if name == "fit" else (folder / "out/model",)
    assert call(name, *model, "reviews.csv", *COLUMNS, *options) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_intervals_need_a_table(folder, call, capsys):
    assert call("drivers", folder / "out/model", "--interval", ".95") == 2
    assert "needs a table of texts and responses" in " ".join(capsys.readouterr().err.split())
