"""Tables of clauses: of a fit, and of new texts in batches; they add up, and batches make no difference."""

import numpy as np
import pandas as pd
import pytest

from textsignal.data.read import read_table
from textsignal.data.roles import Roles
from textsignal.data.write import whole_table, with_formulas
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.model import TextResponseModel
from textsignal.workflow.analyse import analyse, analyse_source
from textsignal.workflow.clauses import clause_tables
from textsignal.workflow.stream import clause_batches, write_tables

N = 1000
REVIEWS = synthetic_reviews(N, seed=4)
#: Empty, unknown and equal texts, markup and a formula.
ODD = ("", "xqzv", "not. NOT good, never!", "<b>Clean</b> room &amp; <i>rude</i> staff.", "=A1 is clean", "-1")
TABLE = REVIEWS.to_frame().assign(stay=np.sin(np.arange(N)))
TABLE.loc[[3, 100, 229, 400, 600, 999], "review"] = ODD
TABLE.loc[7, "review"] = TABLE.loc[5, "review"]
COLUMNS = Roles("review", ("rating",))
#: Columns of files, as of `model.clauses` but for the first.
NAMES = ["row", "clause", "start", "end", "theme", "label", "is_overall", "kind"]
NAMES += ["judgement", "tone", "speaking", "contribution"]
KINDS = ("themes", "several", "classes")


def fitted(kind):
    texts, ratings = list(TABLE["review"]), TABLE["rating"].to_numpy()
    responses = {
        "themes": ratings,
        "several": pd.DataFrame({"stars": ratings, "good": ratings > 3}),
        "classes": np.array(["poor", "fair", "good"])[np.digitize(ratings, [2.5, 4.5])],
    }
    return TextResponseModel(4, n_jobs=1).fit(texts, responses[kind])


@pytest.fixture(scope="module")
def models():
    return {kind: fitted(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def analysis():
    filled = TABLE.assign(review=TABLE["review"].replace("", "."))
    return analyse(filled, COLUMNS, TextResponseModel(4, n_jobs=1), interval=None)


def together(tables):
    return pd.concat(tables, ignore_index=True)


def sums(clauses, n=N):
    return np.bincount(clauses["row"] - 1, clauses["contribution"], minlength=n)


# Of a fit


def test_every_row_has_its_clauses(analysis):
    clauses, texts = together(analysis.clauses()), analysis.texts
    assert list(clauses) == NAMES
    assert clauses["row"].is_monotonic_increasing
    assert set(clauses["row"]) <= set(texts["row"])
    cleaned = dict(zip(texts["row"], analysis.only.reading.texts, strict=True))
    for row in clauses.itertuples():
        assert row.clause == cleaned[row.row][row.start : row.end]


def test_clauses_of_a_fit_add_up_to_predictions_that_have_not_seen_the_responses(analysis):
    clauses, reading = together(analysis.clauses()), analysis.only.reading
    constant = reading.fitted.effects.baseline(reading.unseen.evidence)
    eta = constant + sums(clauses)
    np.testing.assert_allclose(eta, reading.mentions.eta, atol=1e-10, rtol=0)
    means = analysis.model.family_.mean(eta)
    np.testing.assert_allclose(means, analysis.texts["unseen_prediction"], atol=1e-10, rtol=0)
    np.testing.assert_allclose(clauses["tone"] + clauses["speaking"], clauses["contribution"], atol=1e-10, rtol=0)


def test_clauses_of_a_fit_count_what_its_themes_count(analysis):
    clauses, themes = together(analysis.clauses()), analysis.only.themes()
    for theme in themes.itertuples():
        own = clauses[clauses["theme"] == theme.theme]
        assert (own["label"] == theme.label).all()
        assert (own["is_overall"] == theme.is_overall).all()
        for name, kinds in {"complaints": {"complaint"}, "praise": {"praise"}, "mentions": {*clauses["kind"]}}.items():
            assert own.loc[own["kind"].isin(kinds), "row"].nunique() / N == pytest.approx(
                getattr(theme, name), abs=1e-12
            )


def test_kinds_follow_from_judgement_and_tone(analysis):
    """A clause inside the neutral zone is neutral, and one that contradicts its tone is too."""
    clauses, fitted = together(analysis.clauses()), analysis.only.reading.fitted
    zone, gamma = fitted.words.zone, np.append(fitted.effects.gamma[:-1], 1.0)
    assert (gamma > 0).all()
    complaint, praise = clauses["kind"] == "complaint", clauses["kind"] == "praise"
    assert min(complaint.sum(), praise.sum()) > 100
    assert (clauses["judgement"][complaint] < zone.low).all()
    assert (clauses["judgement"][praise] > zone.high).all()
    assert (clauses["tone"][complaint] < 0).all()
    assert (clauses["tone"][praise] > 0).all()
    assert (clauses["kind"][~complaint & ~praise] == "neutral").all()


@pytest.mark.parametrize("rows", [1, 7, 10**6])
def test_batches_make_no_difference_to_a_fit(analysis, rows):
    some = analysis.texts["row"].to_numpy()
    readings = [analysis.only.reading]
    tables = list(clause_tables(analysis.model, readings, some, unseen=True, batch_texts=rows))
    assert max(table["row"].nunique() for table in tables) <= rows
    pd.testing.assert_frame_equal(together(tables), together(analysis.clauses()), check_exact=True)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_file_of_a_fit_holds_the_table(tmp_path, analysis, kind):
    names = analysis.write(tmp_path / kind, None, kind)
    assert [name for name in names if name.startswith("clauses")] == [f"clauses.{kind}"]
    stored = with_formulas(read_table(tmp_path / kind / f"clauses.{kind}"))
    expected = together(analysis.clauses())
    assert list(stored) == NAMES
    for name in NAMES:
        if pd.api.types.is_numeric_dtype(expected[name]) and expected[name].dtype != bool:
            np.testing.assert_array_equal(stored[name].astype(float), expected[name])
        else:
            assert stored[name].astype(str).tolist() == expected[name].astype(str).tolist()


def test_a_fit_may_be_written_without_clauses(tmp_path, analysis):
    names = analysis.write(tmp_path, None, None)
    assert not [name for name in names if name.startswith("clauses")]
    assert not list(tmp_path.glob("clauses.*"))
    with pytest.raises(InputError, match=r"clauses='xlsx' is not known; allowed: 'parquet', 'csv'"):
        analysis.write(tmp_path / "other", None, "xlsx")


def test_clauses_of_a_source_are_those_of_its_sample(tmp_path):
    for part in range(2):
        TABLE[part::2].assign(review=TABLE["review"].replace("", ".")).to_parquet(tmp_path / f"{part}.parquet")
    found = analyse_source(str(tmp_path / "*.parquet"), COLUMNS, TextResponseModel(4, n_jobs=1))
    clauses, texts, reading = together(found.clauses()), found.texts, found.only.reading
    assert clauses["row"].is_monotonic_increasing
    assert set(clauses["row"]) <= set(texts["row"])
    eta = reading.fitted.effects.baseline(reading.unseen.evidence) + sums(clauses)[texts["row"] - 1]
    np.testing.assert_allclose(eta, reading.mentions.eta, atol=1e-10, rtol=0)


# Of new texts


@pytest.mark.parametrize("rows", [1, 7, N])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_the_clauses_of_the_whole(models, kind, rows):
    table, model = (TABLE[:20] if rows == 1 else TABLE), models[kind]
    found = together(clause_batches(model, table, "review", batch_rows=rows))
    noun = {"several": "response", "classes": "class"}.get(kind)
    assert list(found) == [noun, *NAMES] if noun else NAMES
    for name, one in model.models.items():
        own = found[found[noun] == name].drop(columns=noun).reset_index(drop=True) if noun else found
        expected = one.clauses(table["review"])
        expected = expected.rename(columns={"text": "row"}).assign(row=expected["text"] + 1)
        pd.testing.assert_frame_equal(own, expected, check_dtype=False, rtol=0, atol=1e-12)
    if noun:  # the rows of a clause stand together
        assert found[noun].tolist() == list(map(str, model.names)) * (len(found) // len(model.names))
        assert found["row"].is_monotonic_increasing


def test_clauses_and_the_constant_add_up_to_the_linear_predictor(models):
    model = models["themes"]
    clauses = together(clause_batches(model, TABLE, "review", batch_rows=300))
    constant = model.contributions(TABLE["review"])["constant"].to_numpy()
    np.testing.assert_allclose(constant + sums(clauses), model.predictions(TABLE["review"]).eta, atol=1e-10, rtol=0)


def test_covariates_make_no_difference_to_clauses():
    model = TextResponseModel(3, n_jobs=1, family="gaussian")
    model.fit(TABLE["review"], TABLE["rating"], covariates=TABLE[["stay"]])
    found = together(clause_batches(model, TABLE[["review"]], "review"))
    np.testing.assert_array_equal(found["contribution"], model.clauses(TABLE["review"])["contribution"])


@pytest.mark.parametrize("name", ["c.csv", "c.jsonl.gz", "c.parquet"])
def test_files_of_different_batches_are_equal(tmp_path, models, name):
    TABLE[:10].to_parquet(tmp_path / "in-1.parquet")
    TABLE[10:60].to_parquet(tmp_path / "in-2.parquet")
    read, done = {}, []
    for rows in (7, 1000):
        with whole_table(tmp_path / name, force=True) as write:
            tables = clause_batches(
                models["several"], str(tmp_path / "in-*.parquet"), "review", batch_rows=rows, progress=done.append
            )
            count = write_tables(tables, write)
        read[rows] = read_table(tmp_path / name)
        assert count == len(read[rows])
        assert done[-1] == 60
    pd.testing.assert_frame_equal(read[7], read[1000], check_exact=True)
    if not name.endswith(".parquet"):
        assert set(read[7]["row"].astype(int)) == {*range(1, 61)} - {4}


def test_half_a_character_is_replaced(tmp_path, models):
    table = pd.DataFrame({"t": pd.Series(["Clean \ud800 room."], dtype=object)})
    with whole_table(tmp_path / "c.parquet", force=False) as write:
        write_tables(clause_batches(models["themes"], table, "t"), write)
    assert pd.read_parquet(tmp_path / "c.parquet")["clause"].tolist() == ["Clean \N{REPLACEMENT CHARACTER} room."]


@pytest.mark.parametrize("name", ["c.csv", "c.parquet"])
def test_texts_without_a_clause_give_a_table_without_rows(tmp_path, models, name):
    with whole_table(tmp_path / name, force=False) as write:
        assert write_tables(clause_batches(models["themes"], pd.DataFrame({"t": ["", " "]}), "t"), write) == 0
    if name == "c.parquet":
        assert list(pd.read_parquet(tmp_path / name)) == NAMES
    else:
        assert (tmp_path / name).read_text().strip() == ",".join(NAMES)


def test_errors_name_the_file(tmp_path, models):
    TABLE[:5].drop(columns="review").to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(InputError, match=r"new\.csv: no column 'review' for the text"):
        list(clause_batches(models["themes"], str(tmp_path / "*.csv"), "review"))
