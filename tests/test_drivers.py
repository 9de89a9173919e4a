"""Drivers: what-ifs on the fitted model, over all documents or by group, of training texts or of others."""

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel, load
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(60, seed=5)
RATINGS = np.where(np.arange(300) % 7 == 0, np.nan, REVIEWS.ratings)
WEIGHT = np.where(np.arange(300) % 3 == 0, 2.0, 1.0)
SHARES = ["mentions", "complaints", "praise", "neutral", "share"]
MEANS = ["mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere"]
EFFECTS = ["cost", "cost_per_complaint", "gain", "gain_per_praise", "share_of_low", "share_of_gap"]
COLUMNS = ["theme", "label", "is_overall", *SHARES, *MEANS, *EFFECTS, "raises", "lowers", "terms"]
HOTELS = np.array(["Astoria", "Bellevue", "Central"], dtype=object)[np.minimum(np.arange(300) // 60, 2)]


@pytest.fixture(scope="module")
def themes():
    return TextResponseModel(5).fit(REVIEWS.texts, RATINGS, WEIGHT)


def by_theme(table):
    return table.sort_values("theme").set_index("theme")


def test_there_is_a_row_for_each_theme_the_largest_cost_first(themes):
    table = themes.drivers()
    assert list(table.columns) == COLUMNS
    assert sorted(table["theme"]) == list(range(6))
    assert by_theme(table)["is_overall"].tolist() == [False] * 5 + [True]
    assert table["cost"].is_monotonic_decreasing
    labels, terms = (by_theme(themes.themes())[name] for name in ("label", "terms"))
    assert (by_theme(table)["label"] == labels).all()
    assert (by_theme(table)["terms"] == terms).all()


def test_everything_is_by_its_definition(themes):
    """Of new texts, clause by clause."""
    weight, ratings = WEIGHT[:60], np.where(np.arange(60) % 9 == 4, np.nan, NEW.ratings)
    table = by_theme(themes.drivers(texts=NEW.texts, responses=ratings, sample_weight=weight))
    clauses, family = themes.clauses(NEW.texts), themes.family_
    eta = themes.predictions(NEW.texts).eta
    known = ~np.isnan(ratings)
    now, mean_response = np.average(family.mean(eta), weights=weight), np.average(ratings[known], weights=weight[known])
    n_words = clauses["clause"].map(lambda clause: len(themes.tokenise([clause]).codes))
    of_text = n_words / n_words.groupby(clauses["text"]).transform("sum")
    low = lowest_fifth(ratings, weight)

    def flags(kept):
        return np.isin(np.arange(60), clauses["text"][kept])

    def mean(kept):
        return np.average(ratings[kept & known], weights=weight[kept & known]) if (kept & known).any() else np.nan

    def without(kept):
        removed = np.bincount(clauses["text"][kept], clauses["tone"][kept], 60)
        return np.average(family.mean(eta - removed), weights=weight)

    for k, row in table.iterrows():
        here = clauses["theme"] == k
        bad, good = here & (clauses["kind"] == "complaint"), here & (clauses["kind"] == "praise")
        said, complains, praises = flags(here), flags(bad), flags(good)
        expected = {
            "mentions": np.average(said, weights=weight),
            "complaints": np.average(complains, weights=weight),
            "praise": np.average(praises, weights=weight),
            "neutral": np.average(said & ~complains & ~praises, weights=weight),
            "share": np.average(np.bincount(clauses["text"][here], of_text[here], 60), weights=weight),
            "mean_complaint": mean(complains),
            "mean_praise": mean(praises),
            "mean_mention": mean(said),
            "mean_elsewhere": mean(~said),
            "cost": without(bad) - now,
            "gain": now - without(good),
            "share_of_low": low[complains].sum() / low.sum(),
            "share_of_gap": (without(bad) - now) / (5 - mean_response),
        }
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name
        both = np.average(complains & praises, weights=weight)
        assert row["complaints"] + row["praise"] - both + row["neutral"] == pytest.approx(row["mentions"], abs=1e-12)
        assert row["is_overall"] == (k == 5)
    unplaced = np.average(np.bincount(clauses["text"], of_text * (clauses["theme"] < 0), 60), weights=weight)
    assert table.attrs["unplaced"] == pytest.approx(unplaced, abs=1e-12)
    assert table["share"].sum() + unplaced == pytest.approx(1)


def lowest_fifth(ratings, weight):
    """(texts,) weight in the fifth of the worst: one unit of weight after the other, ties in equal parts."""
    known = ~np.isnan(ratings)
    left, low = 0.2 * weight[known].sum(), np.zeros(len(ratings))
    for value in np.unique(ratings[known]):
        tied = ratings == value
        part = min(left / weight[tied].sum(), 1.0)
        low[tied] = part * weight[tied]
        left -= part * weight[tied].sum()
    return low


def test_the_lowest_fifth_is_that_of_the_worst_texts():
    """Where no two responses are equal: the first fifth by the response, or the last one if less is better."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    model = TextResponseModel(3, family="gaussian").fit(REVIEWS.texts[:200], values)
    for named, worst in (
        (model, np.argsort(values)),
        (model.name_response("risk", lower_is_better=True), np.argsort(-values)),
    ):
        known = named.reader_.known(named.naming_.better)
        expected = known.complains[worst[:40]].mean(axis=0)
        np.testing.assert_allclose(by_theme(named.drivers())["share_of_low"], expected, atol=1e-12)


def test_cost_is_complaints_times_cost_per_complaint_and_gain_likewise(themes):
    by = [None, HOTELS]
    for table in (themes.drivers(each) for each in by):
        for number, share, each in (
            ("cost", "complaints", "cost_per_complaint"),
            ("gain", "praise", "gain_per_praise"),
        ):
            said = table[share] > 0
            assert said.any()
            np.testing.assert_allclose(table[number][said], (table[share] * table[each])[said], rtol=4e-16)
            assert table.loc[~said, each].isna().all()
            assert (table.loc[~said, number] == 0).all()


def test_costs_come_from_complaints_alone(themes):
    """Texts that do not complain about a theme add nothing to its cost."""
    known = themes.reader_.known()
    table = by_theme(themes.drivers())
    mean = known.family.mean
    for k in range(known.n_themes):
        each = mean(known.eta - known.complaint[:, k]) - mean(known.eta)
        assert (each[~known.complains[:, k]] == 0).all()
        assert table.loc[k, "cost"] == pytest.approx(np.average(each, weights=known.weight), abs=1e-12)


def test_a_what_if_by_hand(themes):
    """Two texts, one theme: the stars that its complaints cost."""
    texts = ["The bathroom was dirty. The mould smelled.", "Lovely breakfast."]
    table = by_theme(themes.drivers(texts=texts))
    clauses = themes.clauses(texts)
    assert clauses["text"].tolist() == [0, 0, 1]
    assert clauses["kind"].tolist() == ["complaint", "complaint", "praise"]
    constant = themes.contributions(texts)["constant"].to_numpy()
    mean = themes.family_.mean
    eta = constant + np.bincount(clauses["text"], clauses["contribution"])
    for k in range(6):
        bad = (clauses["theme"] == k) & (clauses["kind"] == "complaint")
        better = mean(eta - np.bincount(clauses["text"][bad], clauses["tone"][bad], 2))
        assert table.loc[k, "cost"] == pytest.approx((better - mean(eta)).mean(), abs=1e-12)
    assert table["cost"].max() > 0
    for name in ("mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere", "share_of_low", "share_of_gap"):
        assert table[name].isna().all()


def test_training_texts_given_again_count_as_in_training(themes, tmp_path):
    themes.save(tmp_path / "model")
    again = load(tmp_path / "model")
    expected = themes.drivers()
    given = {"texts": REVIEWS.texts, "responses": RATINGS, "sample_weight": WEIGHT}
    for model in (themes, again):
        pd.testing.assert_frame_equal(model.drivers(**given), expected, check_exact=True)
    pd.testing.assert_frame_equal(again.drivers(), expected, check_exact=True)
    grouped = themes.drivers(by=HOTELS)
    pd.testing.assert_frame_equal(again.drivers(by=HOTELS, **given), grouped, check_exact=True)


def test_training_texts_among_others_count_out_of_fold(themes):
    order = np.random.default_rng(0).permutation(100)
    texts = [*NEW.texts, *[REVIEWS.texts[i] for i in order]]
    groups = ["new"] * 60 + ["old"] * 100
    given = {"texts": texts, "sample_weight": np.append(np.ones(60), WEIGHT[order])}
    found = themes.drivers(by=groups, **given).set_index("group")
    alone = themes.drivers(by=np.where(np.arange(300) < 100, "old", None))
    pd.testing.assert_series_equal(found.loc["old", "cost"], alone.set_index("group")["cost"], rtol=1e-12)
    seen = by_theme(themes.drivers(texts=[text + " " for text in REVIEWS.texts[:100]], sample_weight=WEIGHT[:100]))
    assert not np.allclose(seen["cost"], by_theme(alone)["cost"], atol=1e-6)  # a text is known by its characters


def test_a_group_has_the_drivers_of_its_documents(themes):
    groups = np.array(["a", "b"], dtype=object)[(np.arange(60) % 3 == 0).astype(int)]
    table = themes.drivers(by=groups, texts=NEW.texts, responses=NEW.ratings)
    assert table["group"].unique().tolist() == ["a", "b"]
    assert table.groupby("group")["documents"].first().tolist() == [40, 20]
    for name, part in table.groupby("group"):
        rows = np.flatnonzero(groups == name)
        alone = themes.drivers(texts=[NEW.texts[i] for i in rows], responses=NEW.ratings[rows])
        pd.testing.assert_frame_equal(
            part.drop(columns=["group", "documents"]), alone, check_exact=False, rtol=1e-10, check_frame_type=False
        )


def test_groups_stand_by_size_and_then_by_name(themes):
    assert themes.drivers(by=HOTELS)["group"].unique().tolist() == ["Central", "Astoria", "Bellevue"]
    assert themes.drivers(by=HOTELS).groupby("group", sort=False)["documents"].first().tolist() == [180, 60, 60]
    for _, part in themes.drivers(by=HOTELS).groupby("group"):
        assert part["cost"].is_monotonic_decreasing


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_documents_without_a_group_are_left_out(themes, missing):
    groups = pd.Series(HOTELS, index=np.arange(300)[::-1]).astype(object)
    groups.iloc[60:120] = missing
    table = themes.drivers(by=groups)
    assert table["group"].unique().tolist() == ["Central", "Astoria"]


@pytest.mark.parametrize(
    "by",
    [
        np.arange(300) % 4,
        pd.Series(np.arange(300) % 4 * 1.0),
        pd.Categorical.from_codes(np.arange(300) % 4, ["w", "x", "y", "unused"]),
        (np.arange(300) % 2 == 0).tolist(),
        pd.date_range("2026-01-01", periods=2).repeat(150),
        ["<b>"] * 150 + ["😀"] * 150,
    ],
)
def test_groups_may_be_of_any_kind(themes, by):
    groups = pd.Series(by)
    table = themes.drivers(by=by)
    assert len(table) == 6 * groups.nunique()
    assert set(table["group"]) == set(groups.unique())


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["a"], "300 texts, but by has 1 groups; give one group for each text"),
        ([], "300 texts, but by has 0 groups"),
        ("hotel", "300 texts, but by has 1 groups"),
        (5, "300 texts, but by has 1 groups"),
        ([["a", "b"]] * 300, r"by has the shape \(300, 2\)"),
        (pd.DataFrame({"hotel": HOTELS}), r"by has the shape \(300, 1\)"),
        ([None] * 300, "by names no group: all its values are missing"),
    ],
)
def test_groups_must_fit_the_texts(themes, by, message):
    with pytest.raises(InputError, match=message):
        themes.drivers(by=by)


def test_groups_without_weight_are_left_out_unless_all_are(themes):
    weight = np.where(np.arange(60) < 30, 0.0, 1.0)
    groups = np.where(np.arange(60) < 30, "none", "some")
    assert themes.drivers(by=groups, texts=NEW.texts, sample_weight=weight)["group"].unique().tolist() == ["some"]
    with pytest.raises(InputError, match="no text of any group counts"):
        themes.drivers(by=np.where(groups == "none", "none", None), texts=NEW.texts, sample_weight=weight)


def test_themes_of_themes_are_their_drivers(themes):
    table = themes.themes().drop(columns="coherence")
    pd.testing.assert_frame_equal(table, themes.drivers(), check_exact=True, check_frame_type=False)


def test_drivers_say_themselves_in_words_and_in_a_notebook(themes):
    table = themes.name_response("overall_rating", "stars").drivers()
    found = table.findings()
    assert found.to_fix or found.to_keep
    page = table._repr_html_()
    for sentence in (*found.to_fix, *found.to_keep):
        assert sentence in page
        assert "stars" in sentence
    assert page.count("<tr") == 1 + len(table)
    grouped = themes.drivers(by=HOTELS)
    assert grouped.findings() == ((), ())
    assert "Astoria" in grouped._repr_html_()
    assert type(table[table["cost"] > 0]) is pd.DataFrame


def test_names_of_the_response_are_kept(themes, tmp_path):
    named = themes.name_response("severity", "grades")
    named.save(tmp_path / "model")
    assert load(tmp_path / "model").naming_ == named.naming_
    assert themes.naming_.response == "response"
    fitted = TextResponseModel(3).fit(REVIEWS.texts, pd.Series(REVIEWS.ratings, name="Rating"))
    assert fitted.naming_.response == "Rating"
