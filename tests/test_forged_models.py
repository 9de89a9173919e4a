"""Forged models, whose checksums are right: whatever cannot be is refused, by name and in one line."""

import tempfile
from dataclasses import fields
from functools import cache

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from stored import bits, error_of, settings_of, sign

from textsignal import GLMNMF, TextResponseModel, TextVectorizer, TopicModel, load, storage
from textsignal.datasets import synthetic_reviews
from textsignal.errors import StorageError
from textsignal.storage import ESTIMATOR_OPTIONS, ModelOptions, StoredScale, VectorizerOptions
from textsignal.stored_values import alternatives, is_array, rule_of, stored_fields, type_hints

REVIEWS = synthetic_reviews(200, seed=2)


@cache
def fitted(kind):
    model = TextResponseModel(4) if kind == "themes" else TopicModel(GLMNMF(4))
    return model.fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture
def topics(tmp_path):
    """A folder with a good model of topics in it."""
    fitted("topics").save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def themes(tmp_path):
    """A folder with a good model of themes in it."""
    fitted("themes").save(tmp_path / "themes")
    return tmp_path / "themes"


def forge(folder, path, value):
    """Write another value at a path of the settings."""
    settings = settings_of(folder)
    inner = settings
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    sign(folder, settings)


def write_arrays(folder, arrays):
    """Arrays in place of the stored ones, with checksums that are right."""
    (folder / storage.ARRAYS_FILE).write_bytes(save(arrays))
    sign(folder, settings_of(folder))


OF_HEAD = [
    (("n_texts",), 10**30),
    (("n_texts",), 0),
    (("n_texts",), "200"),
    (("n_texts",), True),
    (("labels",), ["one label for four topics"]),
    (("labels",), [1, 2, 3, 4]),
    (("labels",), None),
    (("options", "n_topics"), 3),
    (("options",), {}),
    (("options",), []),
    (("scales",), []),
    (("scales",), {}),
    (("scales",), None),
    (("scales", 0), None),
    (("scales", 0, "family"), "magic"),
    (("scales", 0, "more"), 1),
    (("namings",), []),
    (("namings",), None),
    (("namings", 0), None),
]
OF_READER = [
    (("reader",), {}),
    (("reader",), []),
    (("reader",), None),
    (("reader",), {"magic": {}}),
    (("reader",), {"themes": {}, "topics": {}}),
    (("reader",), {"responses": {}}),
    (("reader",), {"classes": {}}),
    (("more",), 1),
]


@pytest.mark.parametrize(("path", "value"), OF_HEAD)
def test_a_forged_head_is_refused(themes, path, value):
    forge(themes, path, value)
    assert "does not hold what a model must" in error_of(themes)


@pytest.mark.parametrize("kind", ["themes", "topics"])
@pytest.mark.parametrize(("path", "value"), OF_READER)
def test_a_forged_reader_is_refused(tmp_path, kind, path, value):
    fitted(kind).save(tmp_path / "model")
    forge(tmp_path / "model", path, value)
    assert "does not hold what a model must" in error_of(tmp_path / "model")


@pytest.mark.parametrize("name", ["options", "scales", "labels", "n_texts", "namings"])
def test_a_model_of_topics_has_no_head(themes, topics, name):
    forge(topics, (name,), settings_of(themes)[name])
    assert f"a model of topics has '{name}', which is not known" in error_of(topics)


def test_one_response_has_one_scale_and_one_name(themes):
    for name in ("scales", "namings"):
        settings = settings_of(themes)
        sign(themes, settings | {name: settings[name] * 2})
        assert "does not hold what a model must" in error_of(themes)
        sign(themes, settings)
    settings = settings_of(themes)
    sign(themes, settings | {name: settings[name] * 2 for name in ("scales", "namings")})
    assert "model.namings has 2 items, but there is one response" in error_of(themes)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("estimator", "params", "name"), "os.system"),
        (("estimator", "fitted", "family", "name"), "eval"),
        (("estimator", "fitted", "family", "n"), 10**30),
        (("estimator", "fitted", "family", "n"), "many"),
        (("estimator", "fitted", "family", "n"), None),
        (("estimator", "fitted", "family"), None),
        (("estimator", "fitted", "intercept"), "0.5"),
        (("estimator", "fitted", "intercept"), None),
        (("estimator", "fitted", "smoothing"), -1.0),
        (("estimator", "fitted", "unit_rows"), 1),
        (("estimator", "fitted", "reason"), 7),
        (("estimator", "fitted", "trace"), []),
        (("estimator", "fitted"), {}),
        (("estimator", "params", "n_topics"), 7),
        (("estimator", "params"), None),
        (("estimator", "params", "n_epochs"), 3),
        (("vectorizer", "n_documents"), 10**30),
        (("vectorizer",), []),
        (("vectorizer", "terms"), ["one", "two"]),
        (("vectorizer", "params", "weighting"), "magic"),
        (("vectorizer", "params", "ngram_range"), [1, 10**9]),
    ],
)
def test_forged_topics_are_refused(topics, path, value):
    forge(topics, ("reader", "topics", *path), value)
    assert "does not hold what a model must" in error_of(topics)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), None),
        ((), []),
        ((), {}),
        (("fitted",), None),
        (("fitted", "family", "name"), "eval"),
        (("fitted", "family", "n"), 10**30),
        (("fitted", "family", "n"), "many"),
        (("fitted", "family", "n"), None),
        (("fitted", "family", "n"), 3),
        (("fitted", "family"), None),
        (("fitted", "language"), 5),
        (("fitted", "language"), "klingon"),
        (("fitted", "language"), "de"),
        (("fitted", "terms"), ["one", "two"]),
        (("fitted", "terms"), "one"),
        (("fitted", "terms"), None),
        (("fitted", "terms"), {"one": 1}),
        (("fitted", "features", "names"), ["one", "two"]),
        (("fitted", "features", "names"), "one"),
        (("fitted", "features", "names"), [["one"]]),
        (("fitted", "features"), None),
        (("fitted", "effects", "constant"), "0.5"),
        (("fitted", "effects", "constant"), True),
        (("fitted", "effects", "constant"), None),
        (("fitted", "effects", "average"), None),
        (("fitted", "words"), None),
        (("fitted", "words", "judged"), -0.5),
        (("fitted", "words", "spread"), -1),
        (("fitted", "words", "spread"), 1e-50),
        (("fitted", "words", "slope"), "0.5"),
        (("fitted", "words", "zone"), None),
        (("fitted", "words", "zone", "low"), 0.1),
        (("fitted", "words", "zone", "high"), -0.1),
        (("fitted", "verdict"), None),
        (("fitted", "verdict", "bias"), None),
        (("fitted", "verdict", "words"), ["stay", "stay"]),
        (("fitted", "verdict", "words"), []),
        (("words", "labels"), ["one"]),
        (("words", "labels"), [1, 2, 3, 4]),
        (("words", "labels"), None),
        (("words", "raises"), [["one"]]),
        (("words", "raises"), ["one", "two", "three", "four", "five"]),
        (("words", "lowers"), [[1]] * 5),
        (("words", "lowers"), "four"),
        (("words",), None),
    ],
)
def test_forged_themes_are_refused(themes, path, value):
    forge(themes, ("reader", "themes", *path), value)
    assert "does not hold what a model must" in error_of(themes)


@pytest.mark.parametrize("name", ["terms", "features"])
def test_a_list_that_holds_other_than_strings_is_refused(themes, name):
    settings = settings_of(themes)["reader"]["themes"]["fitted"]
    path, listed = (
        (("terms",), settings["terms"]) if name == "terms" else (("features", "names"), settings[name]["names"])
    )
    for value in (5, None, ["word"]):
        forge(themes, ("reader", "themes", "fitted", *path), [*listed[:-1], value])
        assert "does not hold what a model must" in error_of(themes)


FORGERIES = {
    "short": lambda values: np.ascontiguousarray(values[..., 1:]),
    "missing": lambda values: None,
    "not a number": lambda values: np.where(np.arange(values.size).reshape(values.shape) == 1, np.nan, values),
    "infinite": lambda values: np.where(np.arange(values.size).reshape(values.shape) == 1, np.inf, values),
    "whole numbers": lambda values: np.ones_like(values, dtype=np.uint32),
    "bytes": lambda values: np.ones_like(values, dtype=np.uint8),
    "one number": lambda values: np.array(1.0),
    "empty": lambda values: np.zeros((0, *values.shape[1:])),
    "another axis": lambda values: np.ascontiguousarray(values[..., None]),
}


@cache
def names_of(kind):
    """Names of all arrays of a stored model."""
    with tempfile.TemporaryDirectory() as folder:
        fitted(kind).save(f"{folder}/model")
        return sorted(load_file(f"{folder}/model/{storage.ARRAYS_FILE}"))


def refused(folder, name, forgery):
    arrays = load_file(folder / storage.ARRAYS_FILE)
    forged = FORGERIES[forgery](arrays.pop(name))
    write_arrays(folder, arrays if forged is None else arrays | {name: forged})
    assert "does not hold what a model must" in error_of(folder)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_arrays_of_topics_that_cannot_be_are_refused(topics, forgery):
    good = (topics / storage.ARRAYS_FILE).read_bytes()
    names = [name for name in names_of("topics") if "trace" not in name]
    assert len(names) > 6
    for name in names:
        refused(topics, name, forgery)
        (topics / storage.ARRAYS_FILE).write_bytes(good)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_arrays_of_themes_that_cannot_be_are_refused(themes, forgery):
    good = (themes / storage.ARRAYS_FILE).read_bytes()
    names = names_of("themes")
    if forgery == "not a number":  # a response may be missing
        names = [name for name in names if not name.endswith("responses")]
    assert len(names) > 15
    for name in names:
        refused(themes, name, forgery)
        (themes / storage.ARRAYS_FILE).write_bytes(good)


@pytest.mark.parametrize("name", ["topics", "mean_weights"])
def test_what_is_never_negative_is_refused_where_it_is(topics, name):
    name = f"topics.estimator.fitted.{name}"
    arrays = load_file(topics / storage.ARRAYS_FILE)
    arrays[name] = arrays[name] - 2 * arrays[name].max()
    write_arrays(topics, arrays)
    assert f"{name} holds {arrays[name].min():g}; allowed: 0 to 1e+15" in error_of(topics)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("themes.topics", lambda values: -values, "themes.topics holds -"),
        ("themes.topics", lambda values: 0 * values, "themes.topics must have numbers above 0 in each row"),
        ("themes.term_weights", lambda values: -values, "term_weights holds -"),
        ("themes.term_weights", lambda values: 0 * values, "term_weights holds 0; allowed: 1e-100 to 1e+100"),
        ("themes.prevalence", lambda values: -values, "prevalence holds -"),
        ("features.kinds", lambda values: values + np.int8(1), "kinds holds 4; allowed: 0 to 3"),
        ("features.kinds", lambda values: 0 * values + np.int8(3), "a phrase is not of two words"),
        ("prevalence", lambda values: 0 * values, "prevalence must have numbers above 0"),
        ("overall", lambda values: -values, "overall holds -"),
        ("overall", lambda values: 0 * values, "overall must have numbers above 0"),
        ("words.judgement", lambda values: values * 1e20, "allowed: -1e+15 to 1e+15"),
        ("words.general", lambda values: values[1:], "general has the size"),
        ("verdict.scores", lambda values: values[1:], "verdict.scores has the size"),
        ("verdict.judges", lambda values: values[1:], "verdict.judges has the size"),
        ("training.clauses.places", lambda values: values + np.int16(6), "places holds"),
        ("training.clauses.places", lambda values: -values - np.int16(1), "places holds -"),
        ("training.clauses.kinds", lambda values: 2 * values, "kinds holds -2; allowed: -1 to 1"),
        ("training.clauses.words", lambda values: -values, "words holds -"),
        ("training.clauses.evidence", lambda values: values + 2, "evidence holds"),
        ("training.clauses.evidence", lambda values: -values, "evidence holds -"),
        ("training.clauses.evidence", lambda values: values[1:], "evidence has the size"),
        ("training.weight", lambda values: -values, "weight holds -1; allowed: 0 to 1e+100"),
        ("training.weight", lambda values: 0 * values, "weight must have numbers above 0"),
        ("training.responses", lambda values: values + 9, "response not one of the levels 1 to 5"),
        ("training.clauses.ends", lambda values: values[::-1].copy(), "ends must begin with 0 and never decrease"),
        ("training.clauses.ends", lambda values: values * 2, "places has the size"),
        ("training.clauses.ends", lambda values: np.delete(values, 1), "ends has the size"),
        ("training.clauses.tone", lambda values: values[1:], "tone has the size"),
    ],
)
def test_numbers_of_themes_that_cannot_be_are_named(themes, name, change, message):
    arrays = load_file(themes / storage.ARRAYS_FILE)
    full = f"themes.fitted.{name}"
    write_arrays(themes, arrays | {full: change(arrays[full])})
    assert message in error_of(themes)


def test_forging_nothing_is_no_forgery(themes):
    write_arrays(themes, load_file(themes / storage.ARRAYS_FILE))
    forge(themes, ("n_texts",), 200)
    assert bits(load(themes)) == bits(fitted("themes"))


@pytest.mark.parametrize("new", [TextResponseModel(1), TopicModel(GLMNMF(1))], ids=["themes", "topics"])
def test_a_model_of_one_term_is_loaded_though_its_coherence_is_no_number(tmp_path, new):
    texts = ["room", "", "the room"] * 5
    model = new.fit(texts, np.arange(15) % 5)
    model.save(tmp_path / "model")
    assert np.isnan(load(tmp_path / "model").coherence_).all()
    assert bits(load(tmp_path / "model"), texts) == bits(model, texts)


def predicts_finite_numbers(folder):
    predictions = load(folder).predictions(REVIEWS.texts[:3])
    return bool(np.isfinite(predictions.eta).all() and np.isfinite(predictions.mean).all())


#: Values that broke loading or predicting from inside: options first, then settings of families and fitted numbers.
BREAKING = [
    ("themes", ("options", "n_jobs"), "nan"),
    ("themes", ("options", "n_jobs"), 0),
    ("themes", ("options", "n_jobs"), 10**9),
    ("themes", ("options", "n_jobs"), [1]),
    ("themes", ("options", "n_themes"), [4]),
    ("themes", ("options", "n_themes"), 0),
    ("themes", ("scales", 0, "family"), {"name": "gaussian", "deviation": 0}),
    ("themes", ("scales", 0, "family"), {"name": ["gaussian"]}),
    ("themes", ("scales", 0, "levels"), {"a": 1}),
    ("themes", ("options", "random_state"), -1),
    ("themes", ("options", "language"), "klingon"),
    ("themes", ("options", "stop_words"), 5),
    ("themes", ("options", "seed_words"), ["breakfast"]),
    ("themes", ("options", "max_terms"), "all"),
    ("themes", ("options", "formula"), 1),
    ("themes", ("options", "missing"), "guess"),
    ("themes", ("options", "lexicon"), "vader"),
    ("themes", ("options", "lexicon"), ["dirty"]),
    ("themes", ("options", "lexicon"), {"dirty": "bad"}),
    ("themes", ("options", "lexicon"), {"not clean": -1}),
    ("themes", ("options", "neutral"), -0.1),
    ("themes", ("options", "neutral"), "wide"),
    ("themes", ("options", "device"), "toaster"),
    ("themes", ("options", "device"), ["cpu"]),
    ("themes", ("namings", 0, "response"), "half of a pair: \ud83d"),
    ("themes", ("namings", 0, "lower_is_better"), 1),
    ("themes", ("labels",), ["\ud83d", None, None, None, None]),
    ("themes", ("labels",), [None] * 4),
    ("themes", ("reader", "themes", "fitted", "family", "lowest"), 10**30),
    ("themes", ("reader", "themes", "fitted", "family", "step"), 0),
    ("themes", ("reader", "themes", "fitted", "family", "step"), 1e-50),
    ("themes", ("reader", "themes", "fitted", "family", "n"), 10**9),
    ("themes", ("reader", "themes", "fitted", "family"), {"name": "poisson", "dispersion": 1.0}),
    ("themes", ("reader", "themes", "fitted", "family"), {"name": "gaussian", "deviation": "wide"}),
    ("themes", ("reader", "themes", "fitted", "family"), {"name": "ordinal", "values": 5, "thresholds": None}),
    (
        "themes",
        ("reader", "themes", "fitted", "family"),
        {"name": "ordinal", "values": [1, 2], "thresholds": [*range(10**6)]},
    ),
    ("themes", ("reader", "themes", "fitted", "family"), {"name": "categorical", "labels": [1, 2, 3]}),
    ("themes", ("reader", "themes", "fitted", "family"), {"name": "bernoulli", "labels": [[1], {"a": 2}]}),
    ("topics", ("reader", "topics", "estimator", "params", "n_jobs"), "nan"),
    ("topics", ("reader", "topics", "estimator", "params", "init"), {}),
    ("topics", ("reader", "topics", "estimator", "fitted", "smoothing"), 1e50),
    ("topics", ("reader", "topics", "vectorizer", "params", "stop_words"), [["the"]]),
    ("topics", ("reader", "topics", "vectorizer", "params", "dtype"), "object"),
    ("topics", ("reader", "topics", "vectorizer", "terms", 0), 5),
]


@pytest.mark.parametrize(("kind", "path", "value"), BREAKING)
def test_a_value_that_broke_loading_is_refused_in_a_short_line(tmp_path, kind, path, value):
    fitted(kind).save(tmp_path / "model")
    forge(tmp_path / "model", path, value)
    message = error_of(tmp_path / "model")
    assert "does not hold what a model must" in message
    assert message.isprintable()
    assert len(message) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("value", ["x" * 100_000, ["x" * 100_000], [*range(100_000)], {"x" * 100_000: 1}])
@pytest.mark.parametrize(
    "path",
    [
        *(("options", "n_jobs"), ("options", "device"), ("scales", 0, "family"), ("options",), ("namings",)),
        *(("n_texts",), ("format_version",), ("reader",), ("covariates",), ("reader", "themes", "words")),
        ("reader", "themes", "fitted", "family", "name"),
        ("reader", "themes", "fitted", "language"),
        ("reader", "themes", "fitted", "effects", "constant"),
    ],
)
def test_a_long_value_is_not_repeated(themes, path, value):
    forge(themes, path, value)
    assert len(error_of(themes)) < 400 + len(str(themes))


#: Arrays of themes that predictions depend on.
EXTREME_ARRAYS = (
    *("effects.gamma", "effects.beta", "words.tone", "words.judgement", "verdict.scores", "themes.topics"),
    *("themes.prevalence", "themes.term_weights"),
)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("themes", f"themes.fitted.{name}") for name in EXTREME_ARRAYS),
        *(("topics", f"topics.estimator.fitted.{name}") for name in ("effects", "word_effects", "topics")),
        ("topics", "topics.vectorizer.idf"),
    ],
)
@pytest.mark.parametrize("number", [1e308, 1e99, 1e-320])
def test_a_model_of_extreme_numbers_is_refused_or_predicts_finite_ones(tmp_path, kind, name, number):
    folder = tmp_path / "model"
    fitted(kind).save(folder)
    arrays = load_file(folder / storage.ARRAYS_FILE)
    write_arrays(folder, arrays | {name: np.full_like(arrays[name], number)})
    if number == 1e308:
        assert "holds 1e+308; allowed" in error_of(folder)
        return
    try:
        assert predicts_finite_numbers(folder)
    except StorageError:
        error_of(folder)


#: Settings as text that JSON takes, or Python's reader of it, and a model does not hold.
TEXTS = {
    "not a number": ('"n_texts": 200', '"n_texts": NaN', "holds NaN, which is not a number"),
    "infinity": ('"n_texts": 200', '"n_texts": -Infinity', "holds -Infinity, which is not a number"),
    "a number beyond floats": ('"n_texts": 200', '"n_texts": 1e999', "the number 1e999, which is too large"),
    "a long number": ('"n_texts": 200', f'"n_texts": {"9" * 5000}', "a number of 5,000 digits"),
    "a longer number": ('"n_texts": 200', f'"n_texts": 0.{"9" * 99_999}e400', "which is too large"),
    "a name twice": ('"n_texts": 200', '"n_texts": 200, "n_texts": 7', "a name occurs twice"),
    "nesting": ('"n_texts": 200', f'"n_texts": {"[" * 900}{"]" * 900}', ""),
    "more nesting": ('"n_texts": 200', f'"n_texts": {"[" * 10**6}{"]" * 10**6}', "cannot be read"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_json_that_no_model_has_is_refused_in_a_short_line(themes, name):
    file = themes / storage.SETTINGS_FILE
    old, new, expected = TEXTS[name]
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    message = error_of(themes)
    assert expected in message
    assert len(message) < 400 + len(str(themes))


def test_a_file_beyond_all_models_is_not_read(themes):
    with (themes / storage.SETTINGS_FILE).open("ab") as file:
        file.truncate(2**30 + 1)
    assert "it has 1,073,741,825 bytes" in error_of(themes)


def test_what_no_declaration_names_is_refused(themes):
    forge(themes, ("reader", "themes", "words", "more"), [])
    assert "themes.words has 'more', which is not known" in error_of(themes)
    settings = settings_of(themes)
    del settings["reader"]["themes"]["words"]["more"]
    sign(themes, settings)
    write_arrays(themes, load_file(themes / storage.ARRAYS_FILE) | {"more": np.ones(3)})
    assert "the array 'more' is not declared" in error_of(themes)


@pytest.mark.parametrize("kind", storage.DECLARED)
def test_every_stored_array_has_a_declared_shape(kind):
    for each in stored_fields(kind):
        if any(map(is_array, alternatives(type_hints(kind)[each.name]))):
            assert rule_of(each).shape, f"{kind.__name__}.{each.name}"


def test_options_of_models_and_parts_are_all_declared():
    scales = {each.name for each in fields(StoredScale)}
    others = scales | {"formula"}  # the formula is stored with covariates
    assert {each.name for each in fields(ModelOptions)} == {*TextResponseModel().get_params(deep=False)} - others
    assert {each.name for each in fields(VectorizerOptions)} == {*TextVectorizer().get_params()} - {"tokenizer"}
    for name, kind in storage.ESTIMATORS.items():
        assert {each.name for each in fields(ESTIMATOR_OPTIONS[name])} == {*kind().get_params()} - {"family"}
