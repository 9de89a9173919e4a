"""Raw texts in, everything out: what holds for models of themes and of topics alike."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from textsignal import GLMNMF, Binomial, TextResponseModel, TopicModel
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(50, seed=5).texts


def new(kind, number, **options):
    """A model of themes, or of topics by predictive training."""
    if kind == "themes":
        return TextResponseModel(number, **options)
    return TopicModel(GLMNMF(number, training="predictive", **options))


@pytest.fixture(scope="module", params=["themes", "topics"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def model(kind):
    return new(kind, 5).fit(REVIEWS.texts, REVIEWS.ratings)


def table_of(model, *args):
    return model.themes(*args) if isinstance(model, TextResponseModel) else model.topics(*args)


def n_rows(model, number):
    """Rows of a model's tables: its themes and the overall verdict, or its topics."""
    return number + isinstance(model, TextResponseModel)


def bits(model, texts=NEW):
    found = model.predictions(texts)
    return found.weights.tobytes() + found.eta.tobytes() + found.unknown.tobytes()


# What is planted is found


@pytest.mark.parametrize("kind", ["themes", "topics"])
def test_predictions_of_new_reviews_come_close_to_what_can_be_known(kind):
    reviews = synthetic_reviews(3000, seed=0)
    train, test = slice(2400), slice(2400, None)
    model = new(kind, 12).fit(reviews.texts[train], reviews.ratings[train])
    assert model.score(reviews.texts[test], reviews.ratings[test]) > 0.85 * reviews.ceiling(np.arange(2400, 3000))


# Inputs of every kind


def test_lists_series_arrays_and_generators_give_the_same_bits(model):
    ratings = REVIEWS.ratings
    index = np.arange(300)[::-1]
    forms = [
        (pd.Series(REVIEWS.texts, index=index), pd.Series(ratings, index=index)),
        (np.array(REVIEWS.texts, dtype=object), ratings.astype(float)),
        (np.array(REVIEWS.texts), ratings.tolist()),
        (pd.Series(REVIEWS.texts, dtype="string"), ratings.astype(np.int8)),
        (tuple(REVIEWS.texts), pd.Series(ratings, dtype="Int64")),
        ((text for text in REVIEWS.texts), ratings[:, None]),
        (model.tokenise(REVIEWS.texts), pd.DataFrame({"rating": ratings})),
    ]
    for texts, responses in forms:
        assert bits(clone(model).fit(texts, responses)) == bits(model)


def test_a_missing_response_may_be_written_in_any_way(kind):
    ratings = REVIEWS.ratings.astype(float)
    ratings[:9] = np.nan
    written = [
        [None] * 9 + REVIEWS.ratings[9:].tolist(),
        pd.array([pd.NA] * 9 + REVIEWS.ratings[9:].tolist(), dtype="Int64"),
        pd.Series([pd.NA] * 9 + REVIEWS.ratings[9:].tolist(), dtype=object),
    ]
    expected = bits(new(kind, 2).fit(REVIEWS.texts, ratings))
    for responses in written:
        assert bits(new(kind, 2).fit(REVIEWS.texts, responses)) == expected


@pytest.mark.usefixtures("threaded_blas")
def test_the_number_of_threads_changes_no_bit(model):
    name = "n_jobs" if isinstance(model, TextResponseModel) else "estimator__n_jobs"
    one, two = (clone(model).set_params(**{name: n_jobs}).fit(REVIEWS.texts, REVIEWS.ratings) for n_jobs in (1, 2))
    assert bits(one) == bits(two) == bits(model)


def test_fitting_twice_equals_fitting_once(model):
    again = clone(model).fit(REVIEWS.texts, REVIEWS.ratings).fit(REVIEWS.texts, REVIEWS.ratings)
    assert bits(again) == bits(model)


def test_fit_changes_none_of_its_inputs(kind):
    texts, ratings, weight = REVIEWS.texts.copy(), REVIEWS.ratings.astype(float), np.ones(300)
    ratings[3] = np.nan
    given = copy.deepcopy((texts, ratings, weight))
    new(kind, 3).fit(texts, ratings, weight)
    assert texts == given[0]
    np.testing.assert_array_equal(ratings, given[1])
    np.testing.assert_array_equal(weight, given[2])


def test_texts_without_response_teach_the_terms_and_themes(kind):
    ratings = REVIEWS.ratings.astype(float)
    ratings[150:] = np.nan
    model = new(kind, 4).fit(REVIEWS.texts, ratings)
    alone = new(kind, 4).fit(REVIEWS.texts[:150], ratings[:150])
    assert len(model.terms_) > len(alone.terms_)
    assert np.isfinite(model.predict(REVIEWS.texts)).all()
    assert model.score(REVIEWS.texts, ratings) == model.score(REVIEWS.texts[:150], ratings[:150])


def test_empty_texts_do_no_harm(kind):
    texts = REVIEWS.texts.copy()
    texts[::10] = [""] * 30
    model = new(kind, 4).fit(texts, REVIEWS.ratings)
    found = model.predictions(texts)
    np.testing.assert_array_equal(found.unknown, [text == "" for text in texts])
    assert np.isfinite(found.mean).all()


def test_emoji_are_words_like_others(kind):
    texts = [
        f"{text} {'😀' if rating > 3 else '😡'}" for text, rating in zip(REVIEWS.texts, REVIEWS.ratings, strict=True)
    ]
    model = new(kind, 4).fit(texts, REVIEWS.ratings)
    good, bad = model.predict(["😀", "😡"])
    assert good > bad
    assert not model.predictions(["😀", "😡"]).unknown.any()


def test_a_long_document_is_one_document_among_others(model):
    rng = np.random.default_rng(0)
    words = sorted({word for text in REVIEWS.texts for word in text.split()})
    long = " ".join(rng.choice(words, size=100_000))
    fitted = clone(model).fit([*REVIEWS.texts, long], [*REVIEWS.ratings, 3])
    assert np.isfinite(fitted.predict([long, *NEW])).all()
    # It counts no more than another: what is said of the others hardly changes.
    assert np.corrcoef(fitted.predict(NEW), model.predict(NEW))[0, 1] > 0.9


def test_a_document_does_not_depend_on_the_others(model):
    together = model.predictions(NEW)
    for position in (0, 7, 49):
        alone = model.predictions([NEW[position]])
        np.testing.assert_array_equal(alone.weights[0], together.weights[position])
        assert alone.eta[0] == together.eta[position]


def test_weights_of_one_change_nothing_and_others_do(model):
    ones, others = (clone(model).fit(REVIEWS.texts, REVIEWS.ratings, weight) for weight in (np.ones(300), RISING))
    assert bits(ones) == bits(model) != bits(others)


#: Later reviews count more.
RISING = np.linspace(0, 3, 300)


def test_responses_of_documents_without_weight_are_not_looked_at(kind):
    ratings, weight = REVIEWS.ratings.astype(float), np.ones(300)
    weight[100:] = 0
    one = new(kind, 3).fit(REVIEWS.texts, ratings, weight)
    ratings[100:] = np.where(ratings[100:] == 5, 1, 5)
    assert bits(new(kind, 3).fit(REVIEWS.texts, ratings, weight)) == bits(one)


# What it says


def test_all_predictions_are_one(model):
    found = model.predictions(NEW)
    np.testing.assert_array_equal(model.transform(NEW), found.weights)
    np.testing.assert_array_equal(model.predict(NEW), found.mean)
    np.testing.assert_array_equal(model.predict_proba(NEW), found.probabilities)
    for rule in ("round", "mode"):
        np.testing.assert_array_equal(model.predict_level(NEW, rule), found.level(rule))


def test_predictions_hang_together(model):
    mean, probability = model.predict(NEW), model.predict_proba(NEW)
    assert model.transform(NEW).shape == (50, n_rows(model, 5))
    assert (model.transform(NEW) >= 0).all()
    np.testing.assert_array_equal(model.levels_, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(probability @ model.levels_, mean)
    np.testing.assert_array_equal(model.predict_level(NEW), np.floor(mean + 0.5))
    np.testing.assert_array_equal(model.predict_level(NEW, "mode"), model.levels_[probability.argmax(axis=1)])


def test_texts_of_unknown_words_are_all_the_average_text(model):
    found = model.predictions([NEW[0], "xylophone zeppelin", "", "5 !"])
    np.testing.assert_array_equal(found.unknown, [False, True, True, True])
    np.testing.assert_allclose(found.weights[2:], found.weights[[1, 1]], rtol=1e-12)
    np.testing.assert_allclose(found.eta[1:], found.eta[1], rtol=1e-12)
    assert abs(found.mean[1] - REVIEWS.ratings.mean()) < 1


def test_score_is_r2_over_the_texts_that_have_a_response(model):
    ratings = REVIEWS.ratings.astype(float)
    predicted = model.predict(REVIEWS.texts)
    expected = 1 - np.sum((ratings - predicted) ** 2) / np.sum((ratings - ratings.mean()) ** 2)
    assert model.score(REVIEWS.texts, ratings) == pytest.approx(expected)
    ratings[100:] = np.nan
    assert model.score(REVIEWS.texts, ratings) == model.score(REVIEWS.texts[:100], ratings[:100])


def test_the_theme_table_has_one_row_per_theme(model):
    table = table_of(model)
    assert table.index.tolist() == table[table.columns[0]].tolist()
    assert sorted(table.index) == list(range(n_rows(model, 5)))
    assert all(len(terms) == 10 for terms in table["terms"])
    assert all(set(terms) <= set(model.terms_) for terms in table["terms"])
    assert len(set(table["label"])) == n_rows(model, 5)
    assert [len(terms) for terms in table_of(model, 3)["terms"]] == [3] * n_rows(model, 5)
    np.testing.assert_array_equal(table.sort_index()["coherence"], model.coherence_)
    assert model.components_.shape == (n_rows(model, 5), len(model.terms_))


def test_a_model_of_one_theme_works(kind):
    model = new(kind, 1).fit(REVIEWS.texts, REVIEWS.ratings)
    table = table_of(model)
    unplaced = model.drivers().attrs["unplaced"] if kind == "themes" else 0.0
    assert table["share" if kind == "themes" else "prevalence"].sum() + unplaced == pytest.approx(1)
    assert model.transform(NEW).shape == (50, n_rows(model, 1))
    assert np.isfinite(model.predict(NEW)).all()


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        ({}, range(1, 6)),
        ({"levels": (0, 10)}, range(0, 11)),
        ({"levels": [1, 2, 3, 4, 5, 6, 7]}, range(1, 8)),
        ({"family": Binomial(n=5, lowest=0)}, range(0, 6)),
        ({"family": Binomial(lowest=0)}, range(0, 6)),
    ],
)
def test_the_scale_is_given_or_learnt(kind, options, levels):
    model = new(kind, 3, **options).fit(REVIEWS.texts, REVIEWS.ratings)
    assert model.levels_.tolist() == list(levels)
    assert model.predict_proba(NEW).shape == (50, len(levels))
    assert ((model.predict(NEW) >= levels[0]) & (model.predict(NEW) <= levels[-1])).all()


def test_responses_may_start_anywhere(model):
    moved = clone(model).fit(REVIEWS.texts, REVIEWS.ratings + 10)
    assert moved.levels_.tolist() == [11, 12, 13, 14, 15]
    np.testing.assert_array_equal(moved.predictions(NEW).eta, model.predictions(NEW).eta)
    np.testing.assert_allclose(moved.predict(NEW), model.predict(NEW) + 10)


# As scikit-learn expects


def test_a_clone_is_not_fitted(model):
    for ask in (clone(model).predict, clone(model).transform, TextResponseModel().contributions):
        with pytest.raises(NotFittedError):
            ask(NEW)
    for unfitted in (TextResponseModel(), TopicModel(), clone(model)):
        with pytest.raises(NotFittedError):
            table_of(unfitted)
        with pytest.raises(NotFittedError):
            _ = unfitted.levels_


def test_a_pickled_model_says_the_same_bits(model):
    again = pickle.loads(pickle.dumps(model))
    assert bits(again) == bits(model)
    assert table_of(again).equals(table_of(model))


def test_no_texts_give_no_predictions(model):
    assert model.predict([]).shape == (0,)
    assert model.transform([]).shape == (0, len(model.components_))
    assert model.predict_proba([]).shape == (0, len(model.classes_))


# Texts that were tokenised


def test_texts_may_be_tokenised_once_for_several_uses(model):
    tokens = model.tokenise(NEW)
    np.testing.assert_array_equal(model.predict(tokens), model.predict(NEW))
    other = TopicModel() if isinstance(model, TextResponseModel) else TextResponseModel()
    with pytest.raises(InputError, match=r"these texts were tokenised for .*; give the texts themselves"):
        model.predict(other.tokenise(NEW))
    with pytest.raises(InputError, match=r"these texts were tokenised for .*; give the texts themselves"):
        other.fit(tokens, np.arange(50) % 5)
