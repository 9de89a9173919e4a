"""partial_fit: more documents move tone and what themes are worth, and nothing else."""

import copy

import numpy as np
import pandas as pd
import pytest

import textsignal as ts
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

N = 500
REVIEWS = synthetic_reviews(N + 200, seed=4)
OLD, NEW = slice(N), slice(N, N + 200)


@pytest.fixture(scope="module")
def fitted():
    return ts.TextResponseModel(5, family="binomial", n_jobs=1).fit(REVIEWS.texts[OLD], REVIEWS.ratings[OLD])


@pytest.fixture
def model(fitted):
    return copy.copy(fitted)


def grown(model, texts=REVIEWS.texts[NEW], ratings=REVIEWS.ratings[NEW], **options):
    return copy.copy(model).partial_fit(texts, ratings, **options)


def tone_of(model, word):
    features = model.reader_.fitted.features
    return model.reader_.fitted.words.tone[
        [*zip(features.names, features.kinds.tolist(), strict=True)].index((word, 0))
    ]


def test_no_documents_change_nothing(model):
    before = model.reader_
    assert model.partial_fit([], []) is model
    assert model.reader_ is before
    assert model.n_texts_ == N


def test_themes_stay_and_documents_are_known(model):
    before, after = model.reader_, grown(model)
    assert np.array_equal(after.components_, model.components_)
    assert list(after.terms_) == list(model.terms_)
    assert after.themes()["label"].sort_values().tolist() == model.themes()["label"].sort_values().tolist()
    assert np.array_equal(after.transform(REVIEWS.texts[NEW]), model.transform(REVIEWS.texts[NEW]))
    assert after.n_texts_ == N + 200
    assert model.reader_ is before, "a copy's numbers are its own"
    known = after.reader_.fitted.training
    assert np.array_equal(known.responses, REVIEWS.ratings[: N + 200])
    after.reader_.fitted.check()
    assert list(after.observed()[0].texts) == list(REVIEWS.texts[: N + 200])


def test_what_it_knows_of_new_documents_has_not_seen_their_responses(model):
    """The tone of new documents is what the model said before."""
    after, reading = grown(model), model.read(REVIEWS.texts[NEW])
    known, read = after.reader_.fitted.training.clauses, reading.clauses.clauses
    first = known.ends[N]
    np.testing.assert_array_equal(known.ends[N:] - first, read.ends)
    np.testing.assert_array_equal(known.evidence[N:], read.evidence)
    for name in ("places", "words", "kinds"):
        np.testing.assert_array_equal(getattr(known, name)[first:], getattr(read, name))
    np.testing.assert_allclose(known.tone[first:], read.tone, atol=1e-12)


def test_the_same_bits_twice_and_for_any_threads(model):
    one, two = grown(model), grown(model)
    threads = copy.copy(model).set_params(n_jobs=2).partial_fit(REVIEWS.texts[NEW], REVIEWS.ratings[NEW])
    for other in (two, threads):
        assert one.reader_.fitted.words.tone.tobytes() == other.reader_.fitted.words.tone.tobytes()
        assert one.predict(REVIEWS.texts).tobytes() == other.predict(REVIEWS.texts).tobytes()


@pytest.mark.parametrize(("rating", "sign"), [(1, -1), (5, 1)])
def test_a_word_that_comes_with_bad_ratings_sinks(model, rating, sign):
    others = list(REVIEWS.texts[NEW])
    texts = [f"The breakfast. {text}" for text in others[:60]] + others[60:]
    ratings = np.r_[np.full(60, rating), REVIEWS.ratings[NEW][60:]]
    assert sign * tone_of(grown(model, texts, ratings), "breakfast") > sign * tone_of(model, "breakfast")


def test_texts_without_responses_move_no_tone(model):
    after = grown(model, ratings=np.full(200, np.nan))
    assert np.array_equal(after.reader_.fitted.words.tone, model.reader_.fitted.words.tone)
    np.testing.assert_allclose(after.predict(REVIEWS.texts[NEW]), model.predict(REVIEWS.texts[NEW]), atol=1e-6)


def test_it_predicts_better():
    """New texts of the same kind bring a little; a fit to all of them brings more, and they agree."""
    test, gains = synthetic_reviews(2000, seed=9), []
    for seed in (4, 14, 24):
        reviews = synthetic_reviews(N + 200, seed=seed)
        model, whole = (
            ts.TextResponseModel(5, family="binomial", n_jobs=1).fit(reviews.texts[rows], reviews.ratings[rows])
            for rows in (OLD, slice(N + 200))
        )
        after = grown(model, reviews.texts[NEW], reviews.ratings[NEW])
        gains.append(after.score(test.texts, test.ratings) - model.score(test.texts, test.ratings))
        assert np.corrcoef(after.predict(test.texts), whole.predict(test.texts))[0, 1] > 0.95
    assert np.mean(gains) > 0
    assert min(gains) > -0.01


def test_a_model_that_is_not_fitted_is_fitted(fitted):
    model = ts.TextResponseModel(5, family="binomial", n_jobs=1).partial_fit(REVIEWS.texts[OLD], REVIEWS.ratings[OLD])
    assert np.array_equal(model.reader_.fitted.words.tone, fitted.reader_.fitted.words.tone)


def test_a_stored_model_goes_on(model, tmp_path):
    model.save(tmp_path / "model")
    stored = ts.load(tmp_path / "model")
    texts = REVIEWS.texts[NEW]
    assert np.array_equal(grown(stored).predict(texts), grown(model).predict(texts))
    grown(stored).save(tmp_path / "grown")
    assert ts.load(tmp_path / "grown").n_texts_ == N + 200
    pd.testing.assert_frame_equal(ts.load(tmp_path / "grown").drivers(), grown(model).drivers())


def test_what_cannot_be(model):
    with pytest.raises(InputError, match="row 2"):
        grown(model, ["Fine", "Poor"], [3, 9])
    with pytest.raises(InputError, match="1 texts, but 2 responses"):
        grown(model, ["Fine"], [3, 4])
    table = pd.DataFrame({"stars": REVIEWS.ratings[:80], "good": REVIEWS.ratings[:80] > 3})
    several = ts.TextResponseModel(2, n_jobs=1).fit(REVIEWS.texts[:80], table)
    with pytest.raises(InputError, match="partial_fit needs one response, and no classes; fit to all texts"):
        several.partial_fit(["Fine"], table[:1])
    beside = pd.DataFrame({"price": np.arange(80.0)})
    given = ts.TextResponseModel(2, n_jobs=1).fit(REVIEWS.texts[:80], REVIEWS.ratings[:80], covariates=beside)
    with pytest.raises(InputError, match="knows no covariates"):
        given.partial_fit(["Fine"], [3])
