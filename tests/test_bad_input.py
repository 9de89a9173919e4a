"""What cannot be used gets a clear error of one line, from models of themes and of topics alike."""

import numpy as np
import pandas as pd
import pytest

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(50, seed=5).texts


@pytest.fixture(scope="module", params=["themes", "predictive"])
def training(request):
    return request.param


@pytest.fixture(scope="module")
def model(training):
    return TextResponseModel(3, training=training).fit(REVIEWS.texts, REVIEWS.ratings)


def error_of(model, *data, **options):
    with pytest.raises(InputError) as caught:
        model.fit(*data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("texts", "ratings", "message"),
    [
        ("one text", [3], "a list of texts is needed, not a single str; for one text give [text]"),
        (["one", "two"], [1, 2, 3], "2 texts, but 3 responses; give one for each text"),
        (["one", "two"], [], "2 texts, but 0 responses; give one for each text"),
        (["one", "two"], None, "2 texts, but 0 responses; give one for each text"),
        (["one", "two"], [[1, 2], [3, 4]], "responses have the shape (2, 2); give one column"),
        ([], [], "no texts were given"),
        (["one", None], [1, 2], 'text 2 is a NoneType (None), counting from 1; every text must be a string, ""'),
        (["one", np.nan], [1, 2], "text 2 is a float (nan), counting from 1"),
        (["one", 5.0], [1, 2], "text 2 is a float (5.0), counting from 1"),
        (["one", b"two"], [1, 2], "text 2 is a bytes (b'two'), counting from 1"),
        ({"one", "two"}, [1, 2], "a list of texts is needed, not a set: its order may be another; give a list"),
        (frozenset(["one", "two"]), [1, 2], "a list of texts is needed, not a frozenset"),
        ({"one": "a", "two": "b"}, [1, 2], "a list of texts is needed, not a dict"),
        (["one", "two"], {1, 2}, "the response must be numbers, NaN where there is none: a set is given"),
        (["one", "two"], frozenset([1, 2]), "a frozenset is given"),
    ],
)
def test_bad_texts_get_a_clear_error(training, texts, ratings, message):
    assert message in error_of(TextResponseModel(1, training=training), texts, ratings)


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ("themes", "no content term is left: the texts are empty, or hold nothing but function words"),
        ("predictive", "no term is left: the 4 texts are empty or hold nothing but"),
    ],
)
def test_texts_that_say_nothing_are_an_error(training, message):
    assert message in error_of(TextResponseModel(1, training=training), ["the", "and of", "", "!"], [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.full(300, 4), "the response is constant (always 4), so there is nothing to explain"),
        (lambda y: np.full(300, np.nan), "no document has a response (all are missing)"),
        (lambda y: np.where(np.arange(300) == 7, np.inf, y), "row 8: inf"),
        (lambda y: np.where(np.arange(300) == 7, 999, y), "responses run from 1 to 999"),
        (lambda y: [*y[:-1], "five"], "the response must be numbers, NaN where there is none"),
        (lambda y: [*y[:-1], [5]], "the response must be numbers, NaN where there is none"),
        (lambda y: y + 1j, "the response must be numbers, NaN where there is none: complex128 is given"),
        (lambda y: pd.to_datetime(pd.Series(y)), "the response must be numbers, NaN where there is none"),
        (lambda y: y.astype("datetime64[s]"), "the response must be numbers, NaN where there is none"),
        (lambda y: dict(enumerate(y)), "the response must be numbers, NaN where there is none"),
    ],
)
def test_bad_responses_get_a_clear_error(training, change, message):
    model = TextResponseModel(3, training=training)
    assert message in error_of(model, REVIEWS.texts, change(REVIEWS.ratings.astype(float)))


def test_a_broken_number_among_whole_ones_is_named_where_whole_ones_are_asked_for(training):
    broken = np.where(np.arange(300) == 7, 3.5, REVIEWS.ratings)
    message = error_of(TextResponseModel(3, training=training, family="binomial"), REVIEWS.texts, broken)
    assert "not a whole number" in message
    assert "row 8: 3.5" in message


def test_a_response_off_the_given_scale_is_named(training):
    message = error_of(TextResponseModel(3, training=training, levels=(1, 4)), REVIEWS.texts, REVIEWS.ratings)
    first = np.flatnonzero(REVIEWS.ratings == 5)[0]
    assert "not one of the levels 1 to 4" in message
    assert f"row {first + 1}: 5" in message


def test_a_constant_response_on_a_given_scale_is_an_error_too(training):
    for model in (
        TextResponseModel(3, training=training, levels=(1, 5)),
        TextResponseModel(estimator=GLMNMF(3, levels=(1, 5))),
    ):
        assert "the response is constant" in error_of(model, REVIEWS.texts, np.full(300, 5))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(299), "sample_weight must hold a number of at least 0 for each text"),
        (-np.ones(300), "Negative values"),
        (np.zeros(300), "at least one non-zero number"),
        (np.full(300, np.nan), "NaN"),
        ({1.0, 2.0}, "sample_weight must hold a number of at least 0 for each text"),
        (np.where(REVIEWS.ratings == 5, 1, 0), "the response is constant (always 5)"),
    ],
)
def test_bad_weights_get_a_clear_error(training, weight, message):
    assert message in error_of(TextResponseModel(3, training=training), REVIEWS.texts, REVIEWS.ratings, weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_topics=0 must be a whole number of at least 1"),
        ({"n_topics": 2.5}, "n_topics=2.5 must be a whole number of at least 1"),
        ({"n_topics": "5"}, "n_topics='5' must be a whole number of at least 1"),
        ({"family": "gamma"}, "family='gamma' is not known; allowed: binomial"),
        ({"levels": [3]}, "levels=[3]: give at least two whole numbers, such as (1, 5)"),
        ({"language": "klingon"}, "no stop words for 'klingon'"),
        ({"stop_words": "klingon"}, "no stop words for 'klingon'"),
        ({"stop_words": ["the", 3]}, "every stop word must be a string, but the list holds 3"),
        ({"max_terms": 0}, "must be a whole number"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"random_state": -1}, "random_state=-1 is not a seed"),
    ],
)
def test_bad_options_get_a_clear_error(training, options, message):
    model = TextResponseModel(training=training).set_params(**options)
    assert message in error_of(model, REVIEWS.texts, REVIEWS.ratings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"training": "magic"}, "training='magic' is not known; allowed: 'themes', 'predictive', 'joint'"),
        ({"n_topics": 61}, "n_topics=61 is more than anybody reads; give 1 to 60"),
        ({"language": 5}, "language=5 must be a name or code such as 'english' or 'de', or None"),
        ({"n_jobs": "two"}, "n_jobs='two' must be a number of threads"),
        ({"seed_words": ["breakfast"]}, "seed_words=['breakfast'] must name themes and their words, such as"),
        ({"seed_words": {"food": "breakfast"}}, "seed_words['food']='breakfast' must be a list of words"),
        ({"seed_words": {"food": [1]}}, "seed_words['food']=[1] must be a list of words"),
        ({"seed_words": {"food": 1}}, "seed_words['food']=1 must be a list of words"),
        ({"seed_words": {" ": ["breakfast"]}}, "seed_words has the label ' '; it must be a text that is not empty"),
        ({"seed_words": {"a": ["x"], "b": ["y"]}, "n_topics": 1}, "seed_words names 2 themes, but n_topics=1"),
        ({"supervision": 0.1}, "supervision=0.1 is nothing to training='themes'; give training=\"predictive\""),
        ({"word_residual": True}, "word_residual=True is nothing to training='themes'"),
        ({"ngram_range": (1, 2)}, "ngram_range=(1, 2) is nothing to training='themes'"),
        ({"training": "themes", "vectorizer": TextVectorizer()}, 'training="themes" takes no vectorizer'),
        ({"training": "themes", "estimator": GLMNMF(3)}, 'training="themes" takes no estimator'),
    ],
)
def test_bad_options_of_themes_get_a_clear_error(options, message):
    assert message in error_of(TextResponseModel(**options), REVIEWS.texts, REVIEWS.ratings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 301}, "cannot carry 301 topics"),
        ({"supervision": -1}, "supervision=-1 must be a number of at least 0"),
        ({"supervision": np.nan}, "supervision=nan must be a number of at least 0"),
        ({"seed_words": {"food": ["breakfast"]}}, "is nothing to training='predictive'; give training=\"themes\""),
        ({"vectorizer": TextVectorizer(min_df=301)}, "no term is left: none of the"),
        ({"vectorizer": TextVectorizer(stop_words="klingon")}, "no stop words for 'klingon'"),
    ],
)
def test_bad_options_of_topics_get_a_clear_error(options, message):
    model = TextResponseModel(**({"training": "predictive"} | options))
    assert message in error_of(model, REVIEWS.texts, REVIEWS.ratings)


def test_more_topics_than_texts_are_an_error(training):
    noun = {"themes": "themes", "predictive": "topics"}[training]
    message = error_of(TextResponseModel(4, training=training), REVIEWS.texts[:3], [1, 2, 3])
    assert f"cannot carry 4 {noun}" in message
    assert "fewer than n_topics=4" in message


def test_new_texts_are_checked_like_the_first(model):
    for ask in (model.predict, model.transform, model.predict_proba, model.predict_level, model.contributions):
        with pytest.raises(InputError, match="a list of texts is needed, not a single str"):
            ask("one text")
    with pytest.raises(InputError, match="text 2 is a NoneType"):
        model.predict(["one", None])
    for given in (None, 5, ["a list"]):
        with pytest.raises(InputError, match="every text must be a string"):
            model.explain(given)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.predict_level(NEW, "median"), 'rule=\'median\' is not known; give "round" or "mode"'),
        (lambda m: m.contributions(NEW, scale="stars"), "scale='stars' is not known; allowed: 'linear predictor', 'r"),
        (lambda m: m.topics(0), "n_terms=0 must be a whole number of at least 1"),
        (lambda m: m.score(NEW, [1]), "1 responses, but 50 predictions"),
        (lambda m: m.score(NEW, [np.nan] * 50), "no document has a response"),
        (lambda m: m.drivers(texts=[]), "no texts were given; there must be at least one"),
        (lambda m: m.drivers(texts=NEW, responses=[1]), "50 texts, but 1 responses"),
        (lambda m: m.drivers(texts=NEW, responses=[9] * 50), "not one of the levels 1 to 5"),
        (lambda m: m.drivers(texts=NEW, responses=["five"] * 50), "the response must be numbers"),
        (lambda m: m.drivers(responses=[1]), "responses were given without texts"),
        (lambda m: m.drivers(sample_weight=[1]), "sample_weight was given without texts"),
        (lambda m: m.drivers(texts=NEW, sample_weight=[1]), "sample_weight must hold a number"),
        (lambda m: m.drivers(texts=NEW, sample_weight=[-1] * 50), "sample_weight must hold a number of at least 0"),
        (lambda m: m.drivers(n_terms=0), "n_terms=0 must be a whole number of at least 1"),
        (lambda m: m.merge([0, 1], sample_weight=[1] * 300), "sample_weight was given without texts"),
        (lambda m: m.merge([0, 1], texts=NEW, responses=[3] * 50, sample_weight=[0] * 50), "non-zero"),
        (lambda m: m.drop([0], texts=[], responses=[]), "no texts were given"),
        (lambda m: m.drop([0], texts=NEW), "no document has a response"),
    ],
)
def test_questions_that_cannot_be_answered_get_a_clear_error(model, ask, message):
    with pytest.raises(InputError) as caught:
        ask(model)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": [1e-300] * 300}, "sample_weight is 1e-300 in row 1 (rows count from 1); give 0, or"),
        ({"sample_weight": [1.0] * 299 + [1e31]}, "sample_weight is 1e+31 in row 300"),
        ({"offset": [0.0] * 299 + [1e4]}, "offset is 10000 in row 300 (rows count from 1); for the binomial family"),
        ({"covariates": pd.DataFrame({"a": [0, 1e40] * 150})}, "covariate 'a' is too large in row 2: 1e+40"),
        ({"covariates": pd.DataFrame({"a": [0, 1e-40] * 150})}, "the largest number of 'a' is "),
    ],
)
def test_numbers_beside_the_text_have_a_largest_size(training, given, message):
    model = TextResponseModel(2, family="binomial", training=training)
    assert message in error_of(model, REVIEWS.texts, REVIEWS.ratings, **given)


@pytest.mark.parametrize(
    ("family", "ratings", "message"),
    [
        ("gaussian", 1e300 * REVIEWS.ratings, "response too large; responses lie between -1e+30 and 1e+30 (row 1: "),
        ("auto", 1e200 * REVIEWS.ratings, "response too large; responses lie between -1e+30 and 1e+30 (row 1: "),
        ("gaussian", 1e-300 * REVIEWS.ratings, "responses differ too little: they run from 1"),
        ("gaussian", 1e15 + REVIEWS.ratings, "subtract a constant, or give them in a smaller unit"),
        ("poisson", 1e13 * REVIEWS.ratings, "response above 1e+12, the largest count that the poisson family takes"),
    ],
)
def test_responses_have_a_largest_and_a_smallest_size(training, family, ratings, message):
    assert message in error_of(TextResponseModel(2, family=family, training=training), REVIEWS.texts, ratings)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GLMNMF(2, supervision=1e300), "supervision=1e+300 must be at most 1e+15"),
        (GLMNMF(2, penalty=1e16), "penalty=1e+16 must be at most 1e+15"),
        (GLMNMF(2, smoothing=1e16), "smoothing=1e+16 must be at most 1e+15"),
        (JBNMF(2, alpha=1e16), "alpha=1e+16 must be at most 1e+15"),
        (JBNMF(2, gamma=1e16), "gamma=1e+16 must be at most 1e+15"),
    ],
)
def test_options_have_a_largest_size(estimator, message):
    assert message in error_of(estimator, np.eye(4), [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (1e-300 * np.eye(4), "Values in X are between 0 and 1e-15: 4 in all, the first at row 0, column 0 (1e-300)"),
        (1e300 * np.eye(4), "Values in X are above 1e+15: 4 in all, the first at row 0, column 0 (1e+300)"),
    ],
)
def test_a_matrix_has_a_largest_and_a_smallest_size(X, message):
    assert message in error_of(GLMNMF(2), X, [1, 2, 3, 4])


def test_weights_of_nothing_are_our_error_for_a_matrix_too():
    assert "sample_weight must hold" in error_of(JBNMF(2), np.eye(4), [1, 2, 3, 4], sample_weight=np.zeros(4))
