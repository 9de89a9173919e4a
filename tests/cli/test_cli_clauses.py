"""Clauses on the command line: the table of a fit, that of new texts, and options that change what is neutral."""

import numpy as np
import pandas as pd
import pytest

import textsignal as ts
from textsignal import TextResponseModel, load
from textsignal.data.write import with_formulas
from textsignal.datasets import synthetic_reviews

N = 200
REVIEWS = synthetic_reviews(N, seed=9)
TABLE = REVIEWS.to_frame().rename(columns={"review": "Review", "rating": "Rating"})
TABLE.loc[3, "Review"] = "-Staff were friendly, but the bathroom was dirty."
COLUMNS = ("--text", "Review", "--response", "Rating")
QUICK = ("-k", 2, "--family", "binomial", "-j", 1, "--documents", 10)
NAMES = ["row", "clause", "start", "end", "theme", "label", "is_overall", "kind"]
NAMES += ["judgement", "tone", "speaking", "contribution"]


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """A table, and what a quick fit of it wrote."""
    folder = tmp_path_factory.mktemp("clauses")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    TABLE.to_parquet(folder / "reviews.parquet")
    assert call("fit", folder / "reviews.csv", *COLUMNS, *QUICK, "-o", folder / "out") == 0
    return folder


@pytest.fixture
def error_of(call, capsys, tmp_path):
    """Run a command that must fail in one line, which is returned, and write nothing."""

    def run(*arguments):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        capsys.readouterr()
        assert call(*arguments) == 2
        *_, line = capsys.readouterr().err.splitlines()
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        return line

    return run


def expected_of(model, **others):
    table = model.clauses(TABLE["Review"])
    return table.rename(columns={"text": "row"}).assign(row=table["text"] + 1, **others)


def same(found, expected):
    assert list(found) == list(expected)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=0, atol=1e-12)


# A fit


def test_a_fit_writes_the_clauses_of_all_rows(folder):
    clauses, texts = pd.read_parquet(folder / "out/clauses.parquet"), pd.read_csv(folder / "out/texts.csv")
    assert list(clauses) == NAMES
    assert set(clauses["row"]) == set(texts["row"])
    assert not (folder / "out/clauses.csv").exists()
    for row in clauses[clauses["row"] == 4].itertuples():
        assert row.clause == TABLE["Review"][3][row.start : row.end]
    themes = pd.read_csv(folder / "out/themes.csv")
    for theme in themes.itertuples():
        own = clauses[clauses["theme"] == theme.theme]
        complaints = own.loc[own["kind"] == "complaint", "row"].nunique()
        assert complaints / N == pytest.approx(theme.complaints, abs=1e-12)


def test_the_clauses_of_held_out_rows_are_those_of_the_model(folder):
    clauses, texts = pd.read_parquet(folder / "out/clauses.parquet"), pd.read_csv(folder / "out/texts.csv")
    new = set(texts["row"][texts["held_out"]])
    expected = expected_of(load(folder / "out/model"))
    found, expected = (table[table["row"].isin(new)].reset_index(drop=True) for table in (clauses, expected))
    assert len(found) > N // 5
    same(found, expected)


@pytest.mark.parametrize("kind", ["csv", "none"])
def test_the_format_may_be_chosen(call, capsys, folder, tmp_path, kind):
    out = tmp_path / "out"
    assert call("fit", folder / "reviews.csv", *COLUMNS, *QUICK, "-o", out, "--clauses", kind) == 0
    err = capsys.readouterr().err
    assert not (out / "clauses.parquet").exists()
    assert (out / "clauses.csv").exists() == ("clauses.csv" in err) == (kind == "csv")
    if kind == "csv":
        assert (out / "clauses.csv").read_text().count("'-Staff") == 1
        found = with_formulas(pd.read_csv(out / "clauses.csv"))
        same(found, pd.read_parquet(folder / "out/clauses.parquet"))


def test_without_texts_the_table_has_none_either(call, folder, tmp_path):
    out = tmp_path / "out"
    assert call("fit", folder / "reviews.csv", *COLUMNS, *QUICK, "-o", out, "--no-texts") == 0
    found, whole = (pd.read_parquet(path / "clauses.parquet") for path in (out, folder / "out"))
    same(found, whole.drop(columns="clause"))
    for path in out.rglob("*"):
        assert not path.is_file() or b"bathroom was dirty." not in path.read_bytes()


def test_options_of_a_fit_are_those_of_the_model(call, capsys, folder, tmp_path):
    options = ("--lexicon", "none", "--neutral", 0.8, "--holdout", 0, "--clauses", "none")
    assert call("fit", folder / "reviews.csv", *COLUMNS, *QUICK, "-o", tmp_path / "out", *options) == 0
    shown = capsys.readouterr()
    assert "A clause is a complaint below -0.80 and praise above 0.80" in " ".join(shown.out.split())
    assert "Lexicon: not used" in shown.err
    model = load(tmp_path / "out/model")
    assert (model.lexicon, model.neutral) == (None, 0.8)
    expected = TextResponseModel(2, family="binomial", lexicon=None, neutral=0.8).fit(TABLE["Review"], TABLE["Rating"])
    same(model.clauses(TABLE["Review"]), expected.clauses(TABLE["Review"]))


@pytest.mark.parametrize("command", ["fit", "themes", "drivers"])
def test_the_neutral_zone_is_stated(call, capsys, folder, tmp_path, command):
    given = {
        "fit": (folder / "reviews.csv", *COLUMNS, *QUICK, "-o", tmp_path / "out"),
        "themes": (folder / "out/model",),
        "drivers": (folder / "out/model", folder / "reviews.csv", *COLUMNS),
    }
    assert call(command, *given[command]) == 0
    zone = load(folder / "out/model").reader_.fitted.words.zone
    sentence = f"A clause is a complaint below {zone.low:.2f} and praise above {zone.high:.2f}, in log-odds of praise"
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_a_response_without_direction_is_raised_and_lowered(call, capsys, tmp_path):
    TABLE.assign(Price=80 + 20.5 * TABLE["Rating"] + np.sin(np.arange(N))).to_csv(tmp_path / "prices.csv", index=False)
    columns = ("--text", "Review", "--response", "Price")
    assert call("fit", tmp_path / "prices.csv", *columns, "-k", 3, "-j", 1, "-o", tmp_path / "out") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "What lowers the Price most" in out
    assert "mentions lowers raises" in out
    assert "A clause lowers the Price below -" in out
    assert not {"complaint", "complaints", "praise", "fix"} & set(out.replace(",", " ").replace(";", " ").split())
    assert set(pd.read_parquet(tmp_path / "out/clauses.parquet")["kind"]) == {"lowers", "raises", "neutral"}


def test_the_zone_of_every_response_is_stated(call, capsys, tmp_path):
    TABLE.assign(Liked=TABLE["Rating"] > 3).to_csv(tmp_path / "two.csv", index=False)
    columns = ("--text", "Review", "--response", "Rating", "--response", "Liked")
    assert call("fit", tmp_path / "two.csv", *columns, "-k", 3, "-j", 1, "-o", tmp_path / "out") == 0
    zones = {name: one.reader_.fitted.words.zone for name, one in load(tmp_path / "out/model").models.items()}
    listed = ", ".join(f"from {zone.low:.2f} to {zone.high:.2f} for {name}" for name, zone in zones.items())
    out = capsys.readouterr().out
    assert f"Neutral clauses, in log-odds: {listed}." in " ".join(out.split())
    # The overall verdict comes last: it is not a theme to compare with others.
    table = out.split("What moves which response")[1]
    labels = load(tmp_path / "out/model").theme_names
    assert max(labels, key=lambda label: table.index(label.split(",")[0])) == "Overall verdict"
    clauses = pd.read_parquet(tmp_path / "out/clauses.parquet")
    assert list(clauses) == ["response", *NAMES]
    assert clauses["response"].tolist() == ["Rating", "Liked"] * (len(clauses) // 2)


# New texts


@pytest.mark.parametrize("name", ["c.parquet", "c.csv", "c.jsonl.gz"])
def test_clauses_of_new_texts_are_those_of_the_model(call, capsys, folder, tmp_path, name):
    assert (
        call("clauses", folder / "out/model", folder / "reviews.parquet", "--text", "Review", "-o", tmp_path / name)
        == 0
    )
    expected = expected_of(load(folder / "out/model"))
    assert capsys.readouterr().err == f"Written to {tmp_path / name}: {len(expected):,} clauses\n"
    if name == "c.parquet":
        same(pd.read_parquet(tmp_path / name), expected)
        return
    found = with_formulas(ts.read_table(tmp_path / name))
    assert found["clause"].tolist() == expected["clause"].tolist()
    np.testing.assert_allclose(found["contribution"].astype(float), expected["contribution"], rtol=0, atol=1e-12)


def test_files_count_as_one(call, folder, tmp_path):
    for part in range(2):
        TABLE[100 * part : 100 * part + 100].to_csv(tmp_path / f"{part}.csv", index=False)
    assert call("clauses", folder / "out/model", f"{tmp_path}/?.csv", "-o", tmp_path / "c.parquet") == 0
    same(pd.read_parquet(tmp_path / "c.parquet"), expected_of(load(folder / "out/model")))


def test_bad_input_is_named(error_of, folder, tmp_path):
    model, target = folder / "out/model", tmp_path / "c.csv"
    new = tmp_path / "new.csv"
    TABLE[:5].to_csv(new, index=False)
    assert "did you mean 'Review'?" in error_of("clauses", model, new, "--text", "review", "-o", target)
    assert "there is no file gone.csv" in error_of("clauses", model, "gone.csv", "--text", "Review", "-o", target)
    assert "there is no model at" in error_of("clauses", tmp_path / "gone", new, "-o", target)
    assert "is of no format that can be written" in error_of("clauses", model, new, "-o", tmp_path / "c.txt")
    assert "new.csv is read by this command" in error_of("clauses", model, new, "-o", new, "--force")
    assert "is read by this command" in error_of("clauses", model, new, "-o", model / "model.json", "--force")
    fit = ("fit", new, *COLUMNS, *QUICK, "-o", tmp_path / "out", "--holdout", 0)
    assert "--neutral -1.0 must be" in error_of(*fit, "--neutral", -1)
    assert "--neutral nan must be" in error_of(*fit, "--neutral", "nan")
    assert "--neutral inf must be" in error_of(*fit, "--neutral", "inf")


def test_an_output_is_replaced_with_force_alone(call, error_of, folder, tmp_path):
    given = ("clauses", folder / "out/model", folder / "reviews.csv", "--text", "Review", "-o", tmp_path / "c.csv")
    (tmp_path / "c.csv").write_text("mine")
    assert "exists already; give another name, or --force to replace it" in error_of(*given)
    assert call(*given, "--force") == 0
    assert (tmp_path / "c.csv").read_text().startswith(",".join(NAMES))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/clauses.parquet").write_text("mine")
    fit = ("fit", folder / "reviews.csv", *COLUMNS, *QUICK, "-o", tmp_path / "out")
    assert "exists already; give another name, or --force to replace it" in error_of(*fit)


def test_a_model_of_topics_is_refused(call, error_of, folder, tmp_path):
    assert call("topics", folder / "reviews.csv", *COLUMNS, "-k", 2, "-o", tmp_path / "topics") == 0
    given = ("clauses", tmp_path / "topics/model", folder / "reviews.csv", "--text", "Review", "-o", tmp_path / "c.csv")
    assert "is a model of topics, which this command does not take" in error_of(*given)
