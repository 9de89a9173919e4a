"""Stability: refits reproduce planted themes and not noise, whatever the order of texts and number of threads."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal import TextResponseModel, load
from textsignal.checks import draw_seed
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.reading.observed import observe
from textsignal.text.tokens import text_keys
from textsignal.training.halves import halves, match_topics
from textsignal.uncertainty import stability as stability_module
from textsignal.uncertainty.stability import QUICK_REFITS, SAME, STABLE, quick_stability, share_reproduced, stability

REVIEWS = synthetic_reviews(600, seed=4)
COLUMNS = ["theme", "label", "reproduced", "cosine", "cost_sd", "cost_low", "cost_high"]


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(10, levels=(1, 5), n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def table(model):
    """Two refits of the model."""
    return model.stability(2)


def reading_of(model, texts=None):
    return model.read(REVIEWS.texts if texts is None else texts).clauses


@given(st.integers(1, 8), st.integers(0, 1000))
def test_themes_are_matched_one_to_one_and_found_in_any_order(n_themes, seed):
    rng = np.random.default_rng(seed)
    profiles = rng.gamma(0.3, size=(n_themes, 40)) + 1e-9
    order = rng.permutation(n_themes)
    match = match_topics(profiles, 3 * profiles[order])
    assert order[match.numbers].tolist() == list(range(n_themes))
    assert match.cosines == pytest.approx(1)


@given(st.integers(1, 6), st.integers(0, 3), st.integers(0, 1000))
def test_no_other_pairing_has_more_in_common(n_themes, more, seed):
    rng = np.random.default_rng(seed)
    one, other = (rng.gamma(0.3, size=(n, 10)) + 1e-9 for n in (n_themes, n_themes + more))
    match = match_topics(one, other)
    assert len(set(match.numbers.tolist())) == n_themes
    unit = [themes / np.linalg.norm(themes, axis=1, keepdims=True) for themes in (one, other)]
    some = rng.permutation(n_themes + more)[:n_themes]
    assert match.cosines.sum() >= np.sum(unit[0] * unit[1][some]) - 1e-9


@given(st.integers(20, 60), st.integers(1, 7), st.integers(0, 99))
def test_two_halves_are_all_documents_whatever_their_order(n, n_refits, seed):
    keys = text_keys([f"text {i}" for i in range(n)])
    samples = halves(keys, n_refits, seed)
    for one, other in zip(samples[::2], samples[1::2], strict=False):
        assert sorted([*one, *other]) == list(range(n))
        assert abs(len(one) - len(other)) <= 1
    order = np.random.default_rng(seed).permutation(n)
    again = halves(keys[order], n_refits, seed)
    for rows, others in zip(samples, again, strict=True):
        assert sorted(order[others]) == sorted(rows)
        assert np.all(np.diff(rows) > 0)


def test_halves_differ_by_seed_and_are_as_small_as_asked_for():
    keys = text_keys(REVIEWS.texts)
    assert not np.array_equal(halves(keys, 1, 0)[0], halves(keys, 1, 1)[0])
    assert [len(rows) for rows in halves(keys, 2, 0, most=50)] == [50, 50]


def test_a_model_refitted_on_itself_comes_back(model, monkeypatch):
    monkeypatch.setattr(stability_module, "halves", lambda keys, n_refits, seed: [np.arange(len(keys))])
    found = stability(model.reader_, model.read(REVIEWS.texts, REVIEWS.ratings), 1, draw_seed(0) - 1)
    np.testing.assert_allclose(found.cosines, 1)
    np.testing.assert_allclose(found.costs[0], model.drivers().sort_values("theme").query("not is_overall")["cost"])


def test_planted_themes_come_back_and_their_costs_hold(model):
    table = model.stability(6)
    assert list(table.columns) == COLUMNS
    assert sorted(table["theme"]) == list(range(10))
    assert table["reproduced"].mean() > 0.9
    assert table["reproduced"].is_monotonic_increasing
    drivers = model.drivers().query("not is_overall").set_index("theme").sort_index()
    assert (table.set_index("theme")["label"].sort_index() == drivers["label"]).all()
    steady = table[table["reproduced"] == 1].set_index("theme")
    assert (steady["cost_low"] <= steady["cost_high"]).all()
    near = steady["cost_low"] - 4 * steady["cost_sd"], steady["cost_high"] + 4 * steady["cost_sd"]
    assert drivers["cost"].loc[steady.index].between(*near).all()


def with_noise(model):
    """The model with terms at random in place of its first theme."""
    themes = model.reader_.fitted.themes
    topics = themes.topics.copy()
    topics[0] = np.random.default_rng(0).permutation(topics[0])
    return replace(model.reader_, fitted=replace(model.reader_.fitted, themes=replace(themes, topics=topics)))


def test_a_theme_of_noise_does_not_come_back(model):
    reader = with_noise(model)
    found = stability(reader, reader.read(observe(model.tokenise(REVIEWS.texts), REVIEWS.ratings)), 4, 0)
    assert share_reproduced(found.cosines)[0] == 0
    assert share_reproduced(found.cosines)[1:].mean() > 0.9
    assert np.isnan(found.table(list("abcdefghij")).iloc[0][["cost_sd", "cost_low", "cost_high"]].astype(float)).all()
    shares = quick_stability(reader, reading_of(model))
    assert shares[0] == 0
    assert np.sum(shares >= STABLE) >= 8


@pytest.mark.usefixtures("threaded_blas")
def test_any_number_of_threads_gives_the_same_bits(model):
    read = model.read(REVIEWS.texts, REVIEWS.ratings)
    one, two = (stability(replace(model.reader_, n_jobs=n_jobs), read, 3, 0) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.cosines, two.cosines)
    np.testing.assert_array_equal(one.costs, two.costs)
    reading = reading_of(model)
    quick = [quick_stability(replace(model.reader_, n_jobs=n_jobs), reading) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*quick)


def test_the_order_of_documents_does_not_matter(model, table):
    order = np.random.default_rng(1).permutation(600)
    texts, ratings = [REVIEWS.texts[i] for i in order], REVIEWS.ratings[order]
    pd.testing.assert_frame_equal(table, model.stability(2, texts=texts, responses=ratings), atol=1e-3)
    one, other = (quick_stability(model.reader_, reading_of(model, given)) for given in (None, texts))
    np.testing.assert_array_equal(one, other)


def test_another_seed_gives_other_halves(model, table):
    assert not table.equals(model.stability(2, seed=1))


def test_a_loaded_model_needs_its_texts(model, table, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", n_jobs=1)
    with pytest.raises(InputError, match="does not hold the texts it was trained on; give them: texts="):
        again.stability(2)
    pd.testing.assert_frame_equal(again.stability(2, texts=REVIEWS.texts, responses=REVIEWS.ratings), table)


def test_without_responses_themes_have_no_costs(model, table):
    without = model.stability(2, texts=REVIEWS.texts)
    assert without["cost_sd"].isna().all()
    pd.testing.assert_series_equal(without["cosine"], table["cosine"])


@pytest.mark.parametrize("options", [{"n_refits": 0}, {"n_refits": 1.5}, {"seed": -1}])
def test_options_are_checked(model, options):
    with pytest.raises(InputError, match=next(iter(options))):
        model.stability(**options)


def test_few_texts_have_no_halves_to_speak_of(model):
    with pytest.raises(InputError, match="12 texts with known terms are too few to find 10 themes"):
        model.stability(texts=REVIEWS.texts[:12], responses=REVIEWS.ratings[:12])


def test_a_seeded_theme_is_seeded_in_refits():
    seeds = {"morning": ["Breakfast"], "water": ["bathroom", "shower"]}
    model = TextResponseModel(10, seed_words=seeds, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings)
    table = model.stability(4).set_index("label")
    assert table.loc[["morning", "water"], "reproduced"].min() >= 0.75


class TestTheQuickCheck:
    def test_planted_themes_come_back(self, model):
        shares = quick_stability(model.reader_, reading_of(model))
        assert shares.shape == (10,)
        assert shares.mean() > 0.9
        np.testing.assert_allclose(shares * QUICK_REFITS, np.round(shares * QUICK_REFITS))

    def test_texts_that_training_has_not_seen_do_not_matter(self, model):
        more = [*synthetic_reviews(100, seed=9).texts, *REVIEWS.texts]
        with_more = quick_stability(model.reader_, reading_of(model, more))
        np.testing.assert_array_equal(with_more, quick_stability(model.reader_, reading_of(model)))

    def test_nothing_is_said_where_texts_of_training_are_missing_or_few(self, model):
        assert quick_stability(model.reader_, reading_of(model, REVIEWS.texts[1:])) is None
        few = TextResponseModel(3, levels=(1, 5), n_jobs=1).fit(REVIEWS.texts[:15], REVIEWS.ratings[:15])
        assert quick_stability(few.reader_, reading_of(few, REVIEWS.texts[:15])) is None


def test_a_share_of_refits_is_counted_from_the_threshold_on():
    assert share_reproduced(np.array([[SAME, 1.0], [SAME - 1e-9, 0.9]])).tolist() == [0.5, 1.0]
