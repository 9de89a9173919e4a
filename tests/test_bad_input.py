"""What cannot be used gets a clear error of one line, from models of themes and of topics alike."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer, TopicModel
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
    return new(kind, 3).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def topics():
    return new("topics", 3).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def themes():
    return TextResponseModel(3).fit(REVIEWS.texts, REVIEWS.ratings)


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
        (["one", "two"], {1, 2}, "the response must be numbers, NaN if missing: a set is given"),
        (["one", "two"], frozenset([1, 2]), "a frozenset is given"),
    ],
)
def test_bad_texts_get_a_clear_error(kind, texts, ratings, message):
    assert message in error_of(new(kind, 1), texts, ratings)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("themes", "no content term is left: the texts are empty, or hold nothing but function words"),
        ("topics", "no term is left: the 4 texts are empty or hold nothing but"),
    ],
)
def test_texts_that_say_nothing_are_an_error(kind, message):
    assert message in error_of(new(kind, 1), ["the", "and of", "", "!"], [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.full(300, 4), "the response is constant (always 4), so there is nothing to explain"),
        (lambda y: np.full(300, np.nan), "no text has a response (all are missing)"),
        (lambda y: np.where(np.arange(300) == 7, np.inf, y), "row 8: inf"),
        (lambda y: np.where(np.arange(300) == 7, 999, y), "responses run from 1 to 999"),
        (lambda y: [*y[:-1], "five"], "the response must be numbers, NaN if missing"),
        (lambda y: [*y[:-1], [5]], "the response must be numbers, NaN if missing"),
        (lambda y: y + 1j, "the response must be numbers, NaN if missing: complex128 is given"),
        (lambda y: pd.to_datetime(pd.Series(y)), "the response must be numbers, NaN if missing"),
        (lambda y: y.astype("datetime64[s]"), "the response must be numbers, NaN if missing"),
        (lambda y: dict(enumerate(y)), "the response must be numbers, NaN if missing"),
    ],
)
def test_bad_responses_get_a_clear_error(kind, change, message):
    model = new(kind, 3)
    assert message in error_of(model, REVIEWS.texts, change(REVIEWS.ratings.astype(float)))


def test_a_broken_number_among_whole_ones_is_named_where_whole_ones_are_required(kind):
    broken = np.where(np.arange(300) == 7, 3.5, REVIEWS.ratings)
    message = error_of(new(kind, 3, family="binomial"), REVIEWS.texts, broken)
    assert "not a whole number" in message
    assert "row 8: 3.5" in message


def test_a_response_off_the_given_scale_is_named(kind):
    message = error_of(new(kind, 3, levels=(1, 4)), REVIEWS.texts, REVIEWS.ratings)
    first = np.flatnonzero(REVIEWS.ratings == 5)[0]
    assert "not one of the levels 1 to 4" in message
    assert f"row {first + 1}: 5" in message


def test_a_constant_response_on_a_given_scale_is_an_error_too(kind):
    assert "the response is constant" in error_of(new(kind, 3, levels=(1, 5)), REVIEWS.texts, np.full(300, 5))


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
def test_bad_weights_get_a_clear_error(kind, weight, message):
    assert message in error_of(new(kind, 3), REVIEWS.texts, REVIEWS.ratings, weight)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"number": 0}, "=0 must be a whole number of at least 1"),
        ({"number": 2.5}, "=2.5 must be a whole number of at least 1"),
        ({"number": "5"}, "='5' must be a whole number of at least 1"),
        ({"family": "gamma"}, "family='gamma' is not known; allowed: binomial"),
        ({"levels": [3]}, "levels=[3]: give at least two whole numbers, such as (1, 5)"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"random_state": -1}, "random_state=-1 is not a seed"),
    ],
)
def test_bad_options_get_a_clear_error(kind, options, message):
    model = new(kind, **({"number": 3} | options))
    assert message in error_of(model, REVIEWS.texts, REVIEWS.ratings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_themes": 61}, "n_themes=61 is too many to read; give 1 to 60"),
        ({"language": "klingon"}, "no stop words for 'klingon'"),
        ({"language": 5}, "language=5 must be a name or code such as 'english' or 'de', or None"),
        ({"stop_words": "klingon"}, "no stop words for 'klingon'"),
        ({"stop_words": ["the", 3]}, "every stop word must be a string, but the list holds 3"),
        ({"max_terms": 0}, "max_terms=0 must be a whole number"),
        ({"n_jobs": "two"}, "n_jobs='two' must be a number of threads"),
        ({"seed_words": ["breakfast"]}, "seed_words=['breakfast'] must name themes and their words, such as"),
        ({"seed_words": {"food": "breakfast"}}, "seed_words['food']='breakfast' must be a list of words"),
        ({"seed_words": {"food": [1]}}, "seed_words['food']=[1] must be a list of words"),
        ({"seed_words": {"food": 1}}, "seed_words['food']=1 must be a list of words"),
        ({"seed_words": {" ": ["breakfast"]}}, "seed_words has the label ' '; it must be a text that is not empty"),
        ({"seed_words": {"a": ["x"], "b": ["y"]}, "n_themes": 1}, "seed_words names 2 themes, but n_themes=1"),
        ({"family": {"stars": "ordinal"}}, "names responses; give them as a DataFrame, a column for each"),
        ({"levels": {"stars": (1, 5)}}, "names responses; give them as a DataFrame, a column for each"),
    ],
)
def test_bad_options_of_themes_get_a_clear_error(options, message):
    assert message in error_of(TextResponseModel(**options), REVIEWS.texts, REVIEWS.ratings)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"estimator": GLMNMF(301)}, "cannot carry 301 topics"),
        ({"estimator": GLMNMF(3, supervision=-1)}, "supervision=-1 must be a number of at least 0"),
        ({"estimator": GLMNMF(3, supervision=np.nan)}, "supervision=nan must be a number of at least 0"),
        ({"estimator": CountVectorizer()}, "estimator=CountVectorizer() cannot be used here; give a GLMNMF or JBNMF"),
        ({"vectorizer": TextVectorizer(min_df=301)}, "no term is left: none of the"),
        ({"vectorizer": TextVectorizer(max_terms=0)}, "must be a whole number"),
        ({"vectorizer": TextVectorizer(stop_words="klingon")}, "no stop words for 'klingon'"),
        (
            {"vectorizer": TextVectorizer(stop_words=["the", 3])},
            "every stop word must be a string, but the list holds 3",
        ),
        ({"vectorizer": CountVectorizer()}, "vectorizer=CountVectorizer() cannot be used here; give a TextVectorizer"),
        ({"vectorizer": TfidfVectorizer()}, "vectorizer=TfidfVectorizer() cannot be used here; give a TextVectorizer"),
    ],
)
def test_bad_parts_of_topics_get_a_clear_error(parts, message):
    assert message in error_of(TopicModel(**parts), REVIEWS.texts, REVIEWS.ratings)


def test_more_topics_than_texts_are_an_error(kind):
    noun = {"themes": "themes", "topics": "topics"}[kind]
    message = error_of(new(kind, 4), REVIEWS.texts[:3], [1, 2, 3])
    assert f"cannot carry 4 {noun}" in message
    assert f"fewer than n_{noun}=4" in message


def test_new_texts_are_checked_like_the_first(model):
    for ask in (model.predict, model.transform, model.predict_proba, model.predict_level):
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
        (lambda m: m.score(NEW, [1]), "1 responses, but 50 predictions"),
        (lambda m: m.score(NEW, [np.nan] * 50), "no text has a response"),
    ],
)
def test_questions_that_cannot_be_answered_get_a_clear_error(model, ask, message):
    assert_refused(model, ask, message)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.contributions(NEW, scale="stars"), "scale='stars' is not known; allowed: 'linear predictor', 'r"),
        (lambda m: m.contributions("one text"), "a list of texts is needed, not a single str"),
        (lambda m: m.themes(0), "n_terms=0 must be a whole number of at least 1"),
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
        (lambda m: m.drop([0], texts=NEW), "no text has a response"),
    ],
)
def test_questions_about_themes_that_cannot_be_answered_get_a_clear_error(themes, ask, message):
    assert_refused(themes, ask, message)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.topics(0), "n_terms=0 must be a whole number of at least 1"),
        (lambda m: m.topics(by="lift"), "by='lift' is not known; allowed: 'effect', 'prevalence'"),
        (lambda m: m.find_texts(9), "=9 is not a topic; topics are numbered from 0 to 2"),
        (lambda m: m.find_texts("pool"), "no topic has the label 'pool'"),
        (lambda m: m.find_texts(0, n=0), "n=0 must be a whole number of at least 1"),
        (lambda m: m.find_texts(0, responses=[1]), "responses were given without texts"),
        (lambda m: m.find_texts(0, texts=NEW, responses=[1]), "50 texts, but 1 responses"),
    ],
)
def test_questions_about_topics_that_cannot_be_answered_get_a_clear_error(topics, ask, message):
    assert_refused(topics, ask, message)


def assert_refused(model, ask, message):
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
    ],
)
def test_weights_and_offsets_have_a_largest_size(kind, given, message):
    assert message in error_of(new(kind, 2, family="binomial"), REVIEWS.texts, REVIEWS.ratings, **given)


@pytest.mark.parametrize(
    ("second", "message"),
    [(1e40, "covariate 'a' is too large in row 2: 1e+40"), (1e-40, "the largest number of 'a' is ")],
)
def test_covariates_have_a_largest_and_a_smallest_size(second, message):
    table = pd.DataFrame({"a": [0, second] * 150})
    model = TextResponseModel(2, family="binomial")
    assert message in error_of(model, REVIEWS.texts, REVIEWS.ratings, covariates=table)


@pytest.mark.parametrize(
    ("family", "ratings", "message"),
    [
        ("gaussian", 1e300 * REVIEWS.ratings, "response too large; responses lie between -1e+30 and 1e+30 (row 1: "),
        ("gaussian", 1e-300 * REVIEWS.ratings, "responses differ too little: they run from 1"),
        ("gaussian", 1e15 + REVIEWS.ratings, "subtract a constant, or give them in a smaller unit"),
        ("poisson", 1e13 * REVIEWS.ratings, "response above 1e+12, the largest count that the poisson family takes"),
    ],
)
def test_responses_have_a_largest_and_a_smallest_size(kind, family, ratings, message):
    assert message in error_of(new(kind, 2, family=family), REVIEWS.texts, ratings)


def test_an_automatic_family_has_a_largest_response():
    message = error_of(TextResponseModel(2), REVIEWS.texts, 1e200 * REVIEWS.ratings)
    assert "response too large; responses lie between -1e+30 and 1e+30 (row 1: " in message


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
