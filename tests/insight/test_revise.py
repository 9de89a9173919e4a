"""Themes put right by hand: numbers, labels and profiles."""

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel, load
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.insight.revise import Revision, dropped, merged, renamed, theme_number
from textsignal.training.topics import coherence

NAMES = ["staff", "room", "noise", "room"]
OWN = ["staff", None, "noise", None]
TOPICS = np.random.default_rng(0).dirichlet(np.ones(6), size=4)
WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])
BEFORE = Revision(TOPICS, WEIGHTS, OWN, NAMES)


def test_a_theme_is_given_by_number_or_label():
    assert [theme_number(k, NAMES) for k in (0, np.int64(3), "noise")] == [0, 3, 2]


@pytest.mark.parametrize(
    ("theme", "message"),
    [
        ("pool", "no theme has the label 'pool'; give a number or one of: 0 'staff'; 1 'room'"),
        ("room", "2 themes have the label 'room'"),
        (4, "theme=4 is not a theme; themes are numbered from 0 to 3"),
        (-1, "theme=-1 is not a theme"),
        (True, "theme=True is not a theme"),
        (1.5, "theme=1.5 is neither a number nor a label"),
        (None, "theme=None is neither a number nor a label"),
    ],
)
def test_what_is_no_theme_is_an_error_that_says_what_there_is(theme, message):
    with pytest.raises(InputError) as caught:
        theme_number(theme, NAMES)
    assert message in str(caught.value)


def test_renaming_changes_the_themes_named_and_no_other():
    assert renamed({"noise": "loud", 1: "bed"}, OWN, NAMES) == ["staff", "bed", "loud", None]
    assert renamed({"staff": None}, OWN, NAMES) == [None, None, "noise", None]
    assert renamed({"staff": "noise", "noise": "staff"}, OWN, NAMES) == ["noise", None, "staff", None]
    assert OWN == ["staff", None, "noise", None]


@pytest.mark.parametrize("label", ["", "  ", 5, ["x"]])
def test_a_label_is_a_text_that_is_not_empty(label):
    with pytest.raises(InputError, match="must be a text that is not empty"):
        renamed({0: label}, OWN, NAMES)


def test_two_themes_cannot_have_one_label():
    with pytest.raises(InputError, match="two themes would be called 'noise'; labels must differ"):
        renamed({0: "noise"}, OWN, NAMES)


def test_a_merged_theme_is_the_mean_weighted_by_prevalence():
    revision = merged(BEFORE, [3, "noise"], "both")
    np.testing.assert_allclose(revision.themes, [TOPICS[0], TOPICS[1], (2 * TOPICS[2] + TOPICS[3]) / 3])
    np.testing.assert_allclose(revision.weights, [0.4, 0.3, 0.3])
    assert revision.labels == ["staff", None, "both"]
    np.testing.assert_allclose(revision.themes.sum(axis=1), 1)


def test_merging_does_not_depend_on_how_themes_are_scaled():
    size = np.array([5.0, 0.1, 2.0, 30.0])
    one = merged(BEFORE, [0, 2, 3], None).themes[0]
    scaled = TOPICS * size[:, None]
    two = merged(Revision(scaled, WEIGHTS / size, OWN, NAMES), [0, 2, 3], None).themes[0]
    np.testing.assert_allclose(two / two.sum(), one / one.sum())


def test_a_merged_theme_may_take_a_label_that_is_freed_but_none_that_is_not():
    assert merged(BEFORE, [1, 2], "noise").labels == ["staff", "noise", None]
    assert merged(BEFORE, [1, 2], None).labels == ["staff", None, None]
    with pytest.raises(InputError, match="two themes would be called 'staff'"):
        merged(BEFORE, [1, 2], "staff")


def test_themes_without_any_weight_are_merged_evenly():
    revision = merged(Revision(TOPICS, np.zeros(4), OWN, NAMES), [0, 1], None)
    np.testing.assert_allclose(revision.themes[0], TOPICS[:2].mean(axis=0))


def test_dropping_leaves_the_others_as_they_are():
    before = TOPICS.copy()
    revision = dropped(BEFORE, ["staff", 3, 3])
    np.testing.assert_array_equal(revision.themes, TOPICS[[1, 2]])
    np.testing.assert_array_equal(revision.weights, WEIGHTS[[1, 2]])
    assert revision.labels == [None, "noise"]
    assert dropped(BEFORE, "noise").labels == ["staff", None, None]
    np.testing.assert_array_equal(TOPICS, before)


def test_too_few_or_too_many_themes_are_errors():
    for group in ([], [1], [1, 1], ["noise", 2]):
        with pytest.raises(InputError, match="merging needs at least two themes"):
            merged(BEFORE, group, None)
    with pytest.raises(InputError, match="dropping all 4 themes leaves no model"):
        dropped(BEFORE, range(4))


REVIEWS = synthetic_reviews(300, seed=4)
NEW = [*synthetic_reviews(30, seed=5).texts, "xylophone", ""]
RATINGS = np.where(np.arange(300) % 7 == 0, np.nan, REVIEWS.ratings)
CHANGES = {
    "merge": lambda model, **given: model.merge([1, 3], "two in one", **given),
    "drop": lambda model, **given: model.drop([0, 4], **given),
}


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(5, n_jobs=1).fit(REVIEWS.texts, RATINGS)


def share(model):
    """(themes,) of all text, by their numbers."""
    return model.themes().sort_values("theme")["share"].to_numpy()


def bits(model):
    predictions = model.predictions(NEW)
    return predictions.weights.tobytes() + predictions.eta.tobytes() + predictions.unknown.tobytes()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_everything_about_a_changed_model_is_consistent(model, change):
    changed = change(model)
    assert changed.n_themes == {"merge": 4, "drop": 3}[{v: k for k, v in CHANGES.items()}[change]]
    # The overall verdict is the last row of everything.
    n_rows = changed.n_themes + 1
    tables = changed.themes(), changed.drivers()
    assert len(changed.components_) == len(changed.labels_) == len(changed.coherence_) == n_rows
    assert all(table["is_overall"].sort_index().tolist() == [False] * (n_rows - 1) + [True] for table in tables)
    np.testing.assert_array_equal(changed.coherence_, coherence(changed.read(REVIEWS.texts).X, changed.components_))
    assert changed.transform(NEW).shape == (32, n_rows)
    assert share(changed).sum() + changed.drivers().attrs["unplaced"] == pytest.approx(1)
    assert changed.predict_proba(NEW).sum(axis=1) == pytest.approx(1)
    explanation = changed.explain(NEW[0])
    total = explanation.baseline + explanation.themes["contribution"].sum()
    assert total == pytest.approx(changed.predictions(NEW[:1]).eta[0], abs=1e-10)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_old_model_stays_as_it_was(model, change):
    before, table = bits(model), model.themes()
    params = model.get_params()
    change(model)
    model.rename(0, "other")
    assert bits(model) == before
    assert model.themes().equals(table)
    assert {name: repr(value) for name, value in model.get_params().items()} == {
        name: repr(value) for name, value in params.items()
    }


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_model_is_stored_whole(model, change, tmp_path):
    changed = change(model).rename({0: "Ärger <b>"})
    changed.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert bits(again) == bits(changed)
    assert again.themes().equals(changed.themes())
    assert again.labels_ == changed.labels_
    assert again.labels_[0] == "Ärger <b>"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_loaded_model_asks_for_texts_and_then_says_the_same(model, change, tmp_path):
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    with pytest.raises(InputError, match=r"does not hold the texts it was trained on; give them: texts=\.\.\., resp"):
        change(loaded)
    with pytest.raises(InputError, match="does not hold the texts"):
        loaded.find_texts(0)
    assert bits(change(loaded, texts=REVIEWS.texts, responses=RATINGS)) == bits(change(model))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_model_keeps_its_tone(model, change):
    after = change(model)
    ours, theirs = after.reader_.fitted, model.reader_.fitted
    assert ours.words is theirs.words
    one, two = ours.training.clauses, theirs.training.clauses
    for name in ("tone", "kinds", "judgement", "evidence", "words"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert not np.array_equal(one.places, two.places)
    np.testing.assert_array_equal(ours.training.responses, RATINGS)
    given = after.drivers(texts=REVIEWS.texts, responses=RATINGS)
    pd.testing.assert_frame_equal(given, after.drivers(), check_exact=True)


def test_merging_all_themes_leaves_one_that_works(model):
    single = model.merge(range(5))
    assert single.n_themes == 1
    assert share(single).shape == (2,)
    clauses = single.clauses(REVIEWS.texts)
    assert set(clauses["theme"]) <= {-1, 0, 1}
    assert np.mean(clauses["theme"] == 0) > 0.5
    assert np.isfinite(single.predict(NEW)).all()


def test_the_overall_verdict_is_not_merged_and_not_dropped(model):
    for change in (lambda: model.merge([0, 5]), lambda: model.drop([5]), lambda: model.drop("Overall verdict")):
        with pytest.raises(InputError, match=r"Overall verdict|5"):
            change()


def test_a_merged_theme_is_the_mean_by_share_of_text(model):
    before, after = model.reader_.fitted.themes, model.merge([1, 3]).reader_.fitted.themes
    expected = np.average(before.topics[[1, 3]], axis=0, weights=before.prevalence[[1, 3]])
    np.testing.assert_allclose(after.topics[1], expected / expected.sum(), rtol=1e-9)
    np.testing.assert_allclose(np.delete(after.topics, 1, axis=0), before.topics[[0, 2, 4]], rtol=1e-12)


def test_merging_two_themes_merges_their_evidence_and_weights(model):
    merged = model.merge([1, 3])
    before, after = share(model), share(merged)
    assert after[1] == pytest.approx(before[1] + before[3], abs=0.05)
    together = model.transform(REVIEWS.texts)[:, [1, 3]].sum(axis=1)
    assert np.corrcoef(together, merged.transform(REVIEWS.texts)[:, 1])[0, 1] > 0.8


def test_sample_weights_count_in_the_refit():
    twice = np.where(np.arange(300) < 100, 2.0, 1.0)
    weighted = TextResponseModel(5, n_jobs=1).fit(REVIEWS.texts, RATINGS, twice).drop([0])
    texts, ratings = [*REVIEWS.texts, *REVIEWS.texts[:100]], np.append(RATINGS, RATINGS[:100])
    weights = weighted.drop([3], texts=REVIEWS.texts, responses=RATINGS, sample_weight=twice)
    repeated = weighted.drop([3], texts=texts, responses=ratings)
    np.testing.assert_allclose(weights.predict(NEW[:30]), repeated.predict(NEW[:30]), rtol=1e-6)


def test_labels_are_shown_and_found(model):
    named = model.rename(2, "service").rename({"service": "staff", 0: "noise"})
    assert named.labels_ == ["noise", None, "staff", None, None, None]
    table = named.themes().set_index("theme")["label"]
    assert (table[0], table[2]) == ("noise", "staff")
    assert table[1] == model.themes().set_index("theme")["label"][1]
    assert named.find_texts("staff").equals(model.find_texts(2))
    assert named.rename("staff").themes().equals(named.rename(2, None).themes())
    assert bits(named) == bits(model)
    assert [label for label in named.drop(["noise"]).labels_ if label] == ["staff"]
    assert "staff" in repr(named.explain("friendly staff"))


def test_a_new_fit_forgets_labels(model):
    named = model.rename(2, "service")
    assert named.fit(REVIEWS.texts, RATINGS).labels_ == [None] * 6


def test_evidence_comes_from_the_training_texts_or_from_others(model):
    found = model.find_texts(1, n=4, metadata=pd.DataFrame({"guest": np.arange(300) + 1000}))
    assert found["text"].tolist() == [REVIEWS.texts[i] for i in found["row"]]
    assert (found["guest"] == found["row"] + 1000).all()
    np.testing.assert_array_equal(found["response"], RATINGS[found["row"]])
    np.testing.assert_allclose(found["prediction"], model.predict(found["text"]))
    shares = model.transform(found["text"])
    np.testing.assert_array_equal(found["share"], shares[:, 1])
    others = model.find_texts(1, n=4, high=None, texts=NEW)
    assert set(others["text"]) <= set(NEW)
    assert others["response"].isna().all()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.find_texts("pool"), "no theme has the label 'pool'"),
        (lambda m: m.find_texts(0, n=0), "n=0 must be a whole number of at least 1"),
        (lambda m: m.find_texts(0, texts=["a"], responses=[1, 2]), "1 texts, but 2 responses"),
        (lambda m: m.find_texts(0, texts=["a"]), "none of these texts has a response"),
        (lambda m: m.find_texts(0, responses=[1, 2]), "responses were given without texts"),
        (lambda m: m.find_texts(0, texts="abc"), "a list of texts is needed"),
        (lambda m: m.rename(0, ""), "must be a text that is not empty"),
        (lambda m: m.merge([2]), "merging needs at least two themes"),
        (lambda m: m.drop(range(5)), "leaves no model"),
        (lambda m: m.drop([9]), "theme=9 is not a theme"),
        (lambda m: m.drop([0], texts=["a"]), "no text has a response"),
        (lambda m: m.drop([0], texts=["a", "b"], responses=[1, 9]), "not one of the levels 1 to 5"),
    ],
)
def test_bad_input_gets_a_clear_error(model, ask, message):
    with pytest.raises(InputError) as caught:
        ask(model)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
