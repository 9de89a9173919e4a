"""Forged models: random changes of stored models, signed again, are refused in one line or predict finite numbers."""

import atexit
import json
import shutil
import tempfile
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import stop_words
from audit import audited
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save
from stored import settings_of, sign

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer, TopicModel, load, storage
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, StorageError

N = 120
REVIEWS = synthetic_reviews(N, seed=2)
STARS = np.asarray(REVIEWS.ratings, dtype=float)
TABLE = pd.DataFrame({"price": np.arange(N) % 17 / 3, "country": np.array(["it", "fr", "de"])[np.arange(N) % 3]})
PRICES = TABLE[["price"]].to_numpy()
NEW = [*REVIEWS.texts[:3], "", "not clean", "xylophone 😀"]
#: The longest message about a model, without its path.
LONGEST = 400

RESPONSES = {
    "binomial": STARS,
    "beta-binomial": STARS,
    "adjacent-categories": STARS,
    "stereotype": STARS,
    "ordinal": STARS / 2,
    "bernoulli": np.where(STARS > 3, "good", "bad"),
    "proportion": STARS / 10,
    "poisson": STARS,
    "negative-binomial": STARS * 3,
    "gaussian": STARS + np.arange(N) / 100,
}
CLASSES = np.array(["bad", "fair", "good"])[np.digitize(STARS, [2.5, 4.5])]


def several():
    table = pd.DataFrame({"stars": STARS, "good": STARS > 3})
    return TextResponseModel(2, n_jobs=1).fit(REVIEWS.texts, table)


def one(responses, covariates=None, **options):
    return TextResponseModel(2, n_jobs=1, **options).fit(REVIEWS.texts, responses, covariates=covariates)


def topics(responses, covariates=None, **options):
    model = TopicModel(GLMNMF(2, n_jobs=1, **options), TextVectorizer(max_terms=50))
    return model.fit(REVIEWS.texts, responses, covariates=covariates)


FORMULA = "log(price + 1) * C(country) + bs(price, 4, extrapolation=clip)"
ATTACKS = [
    'price + {"`" + str(__import__("os").system("touch pwned")) + "`"}',
    {"column": '`" + str(__import__("os").system("touch pwned")) + "`'},
    {"function": "eval", "argument": {"column": "price"}, "options": {}},
    {"function": "bs", "argument": {"column": "price"}, "options": {"df": "__import__('os').getpid()"}},
    {"operator": "if", "operands": [{"column": "price"}, {"column": "country"}]},
    {"function": "I", "argument": "open('pwned', 'w')", "options": {}},
]


#: Themes and topics, all families, covariates, classes and several responses.
MODELS = {
    **{f"themes {name}": lambda name=name: one(RESPONSES[name], family=name) for name in RESPONSES},
    "themes auto": lambda: one(STARS, levels=(1, 5), seed_words={"food": ["breakfast"]}, stop_words=["the", "was"]),
    "predictive": lambda: topics(STARS, training="predictive", word_residual=True),
    "joint": lambda: topics(RESPONSES["poisson"], training="joint", family="poisson"),
    "the paper's": lambda: TopicModel(
        JBNMF(2, max_iter=20, n_jobs=1), TextVectorizer(max_terms=40, dtype=np.float32)
    ).fit(REVIEWS.texts, STARS),
    "predictive classes": lambda: topics(CLASSES, training="predictive", family="categorical"),
    "predictive, covariates": lambda: topics(STARS, PRICES, training="predictive", family="gaussian"),
    "themes, covariates": lambda: one(STARS, TABLE),
    "themes, formula": lambda: one(STARS, TABLE, formula=FORMULA),
    "classes": lambda: one(CLASSES),
    "several": several,
}


@cache
def workplace():
    """A folder for good and forged models, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="forged-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def good(name):
    """The folder of a good model, which was loaded and has predicted: everything lazy was imported and compiled."""
    folder = workplace() / f"good-{list(MODELS).index(name)}"
    MODELS[name]().save(folder)
    predict(load(folder))
    return folder


def copied(name):
    folder = workplace() / "forged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good(name), folder)
    return folder


def predict(model):
    """Predictions of a model, of each of its responses, for a few texts."""
    if isinstance(model, TopicModel):
        columns = len(model.estimator_.fitted_.covariate_effects)
        given = {"covariates": np.zeros((len(NEW), columns))} if columns else {}
    else:
        design = model.design_
        table = TABLE[: len(NEW)] if design is not None and design.covariates else None
        offset = None if design is None or design.offset is None else np.zeros(len(NEW))
        given = {"covariates": table, "offset": offset}
    predictions = model.predictions(NEW, **given)
    made = list(predictions.values()) if isinstance(predictions, dict) else [predictions]
    for each in made:
        check_finite(each.eta, each.mean, each.weights)
    return made


def check_finite(*arrays):
    for values in arrays:
        assert np.isfinite(np.asarray(values, dtype=float)).all()


def check(folder):
    """A forged model is refused in one short line, or predicts finite numbers; nothing is executed. True if loaded."""
    with audited() as events, warnings.catch_warnings():
        warnings.simplefilter("error")
        made, message = [], ""
        try:
            model = load(folder)
        except (StorageError, InputError) as error:
            message = str(error)
        else:
            try:
                made = predict(model)
            except InputError as error:
                # Covariates, or a category of them, may have another name.
                assert getattr(model, "design_", None) is not None
                message = str(error)
    assert message == "" or message.isprintable()
    assert len(message.replace(str(folder), "")) <= LONGEST, message
    # joblib counts the cores anew, and another language has other stop words.
    allowed = (str(folder), "/sys/fs/cgroup/", str(Path(stop_words.__file__).parent))
    assert not [event for event in events if event[0] != "open" or not any(place in event[1] for place in allowed)]
    # Not audited: SciPy compiles a template of its own for every frozen distribution.
    for predictions in made:
        if hasattr(predictions.family, "levels"):
            check_finite(predictions.probabilities)
    return bool(made)


def paths_of(value, path=()):
    """All paths of a JSON value; of a long list the first and last items."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from paths_of(each, (*path, name))
    elif isinstance(value, list):
        for number in sorted({*range(min(3, len(value))), *range(max(0, len(value) - 1), len(value))}):
            yield from paths_of(value[number], (*path, number))


@cache
def paths(name):
    found = [path for path in paths_of(settings_of(good(name))) if path]
    return [path for path in found if path[0] not in ("sha256", "arrays_sha256", "format", "format_version")]


@cache
def arrays(name):
    return load_file(good(name) / storage.ARRAYS_FILE)


NUMBERS = [0, 1, -1, 2, 3, 0.5, -0.5, 1e-320, 1e-50, 1e50, 1e99, -1e99, 1e308, 10**9, 2**31, 2**53 + 1, 2**63, 10**99]
BEYOND = [10**30 * 10**90, float("nan"), float("inf"), float("-inf"), True, False]
STRINGS = [
    "",
    "nan",
    "auto",
    "ordinal",
    "x" * 100_000,
    "\ud83d",
    "\x00\n\x1b[31m",
    "os.system",
    "../..",
    "not ",
    "é" * 99,
]
OTHERS = [
    None,
    [],
    {},
    [[]],
    [None],
    {"name": "gaussian"},
    {"name": []},
    [[[[[[1]]]]]],
    ["a", "a"],
    [1, "a"],
    [0.0] * 1000,
]
DEEP = json.loads("[" * 200 + "]" * 200)
WIDE = [list(range(100_000)), {str(number): number for number in range(1000)}, ["x" * 1000] * 100, DEEP]
VALUES = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(BEYOND),
    st.sampled_from(STRINGS),
    st.sampled_from(OTHERS),
    st.sampled_from(WIDE),
    st.floats(allow_nan=False),
    st.integers(),
    st.text(max_size=20),
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=5),
)
CHANGES = ("replace", "remove", "duplicate", "swap", "wrap", "negate", "add")


def changed(content, path, change, value, other):
    """Change a JSON value at a path, in place."""
    *outer, last = path
    inner = content
    for key in outer:
        inner = inner[key]
    old = inner[last]
    if change == "remove":
        del inner[last]
    elif change == "duplicate" and isinstance(inner, list):
        inner.append(deepcopy(old))
    elif change == "duplicate" and isinstance(old, list) and old:
        old.append(deepcopy(old[0]))
    elif change == "swap":
        found = content
        for key in other:
            found = found[key]
        inner[last] = deepcopy(found)
    elif change == "wrap":
        inner[last] = [old]
    elif change == "negate" and isinstance(old, int | float) and not isinstance(old, bool):
        inner[last] = -old
    elif change == "add" and isinstance(old, dict):
        old["more"] = deepcopy(value)
    else:
        inner[last] = deepcopy(value)


def forged_arrays(stored, name, change, other):
    """Stored arrays, one of them changed."""
    values = stored[name]
    number = values.astype(float) if values.dtype.kind in "fiub" else values
    extreme = {"nan": np.nan, "inf": np.inf, "huge": 1e300, "large": 1e99, "tiny": 1e-320, "wide": 1e12}
    if change in extreme:
        place = np.arange(number.size).reshape(number.shape) % 5 == 1
        result = np.where(place, extreme[change], number)
    else:
        result = {
            "float32": lambda: number.astype(np.float32),
            "int64": lambda: np.ones(values.shape, np.int64),
            "bool": lambda: np.ones(values.shape, bool),
            "int8": lambda: np.full(values.shape, 7, np.int8),
            "same type": lambda: values.copy(),
            "ones": lambda: np.ones_like(values),
            "zeros": lambda: np.zeros_like(values),
            "last": lambda: np.full_like(values, np.iinfo(values.dtype).max) if values.dtype.kind in "iu" else -number,
            "negative": lambda: -number,
            "large everywhere": lambda: np.full(values.shape, 1e99),
            "empty": lambda: np.zeros((0, *values.shape[1:]), values.dtype),
            "one number": lambda: np.array(1.0),
            "axis": lambda: values[..., None],
            "flat": lambda: values.ravel(),
            "turned": lambda: values.T,
            "backwards": lambda: values[::-1],
            "short": lambda: values[1:],
            "swapped": lambda: stored[other],
        }[change]()
    return stored | {name: np.ascontiguousarray(result).reshape(np.shape(result))}


ARRAY_CHANGES = [
    *("nan", "inf", "huge", "large", "tiny", "wide", "float32", "int64", "bool", "int8", "same type", "ones", "zeros"),
    *("last", "negative", "large everywhere", "empty", "one number", "axis", "flat", "turned", "backwards", "short"),
    *("swapped", "missing", "extra"),
]
quick = settings(max_examples=1500, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", MODELS)
def test_a_good_model_is_loaded_and_executes_nothing(name):
    assert check(copied(name))


@quick
@given(st.data())
def test_forged_settings(data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    folder = copied(name)
    content = settings_of(folder)
    for _ in range(data.draw(st.sampled_from([1, 1, 1, 2]))):
        path, other = data.draw(st.sampled_from(paths(name))), data.draw(st.sampled_from(paths(name)))
        change, value = data.draw(st.sampled_from(CHANGES)), data.draw(VALUES)
        try:
            changed(content, path, change, value, other)
        except (LookupError, TypeError):  # an earlier change has removed it
            continue
    sign(folder, content)
    check(folder)


@quick
@given(st.data())
def test_forged_arrays(data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    folder = copied(name)
    stored = arrays(name)
    array, other = data.draw(st.sampled_from(sorted(stored))), data.draw(st.sampled_from(sorted(stored)))
    change = data.draw(st.sampled_from(ARRAY_CHANGES))
    if change == "missing":
        forged = {key: values for key, values in stored.items() if key != array}
    elif change == "extra":
        forged = stored | {data.draw(st.sampled_from(["more", f"{array}.more", ""])): np.ones(3)}
    else:
        forged = forged_arrays(stored, array, change, other)
    (folder / storage.ARRAYS_FILE).write_bytes(save(forged))
    sign(folder, settings_of(folder))
    check(folder)


@quick
@given(st.data())
def test_damaged_files(data):
    """Bytes of a file are changed: headers of arrays, JSON that is cut, and files that are something else."""
    name = data.draw(st.sampled_from(["themes auto", "predictive", "several"]))
    folder = copied(name)
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    file = data.draw(st.sampled_from(files))
    content = bytearray(file.read_bytes())
    start = data.draw(st.integers(0, min(len(content), data.draw(st.sampled_from([64, 4096, 2**31])))))
    content[start : start + data.draw(st.integers(0, 8))] = data.draw(
        st.binary(max_size=8)
        | st.sampled_from([b"1e999", b"NaN", b"[" * 100_000, b"9" * 10_000, b'"a":1,"a":', b"\xed\xa0\x80"])
    )
    file.write_bytes(content)
    if file.name == storage.ARRAYS_FILE:
        sign(file.parent, settings_of(file.parent))
    check(folder)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("themes") or name == "classes"])
def test_a_response_of_other_themes_is_refused(name):
    """The reader of one response is replaced by that of another model."""
    folder = copied("several")
    settings, others = settings_of(folder), settings_of(good(name))
    kind, reader = next(iter(others["reader"].items()))
    settings["reader"]["responses"]["readers"][1] = reader if kind == "themes" else reader["readers"][0]
    place, path = "responses.readers.1", "themes" if kind == "themes" else "classes.readers.0"
    stored = {key: values for key, values in arrays("several").items() if not key.startswith(f"{place}.")}
    stored |= {
        place + key.removeprefix(path): values for key, values in arrays(name).items() if key.startswith(f"{path}.")
    }
    (folder / storage.ARRAYS_FILE).write_bytes(save(stored))
    sign(folder, settings)
    assert not check(folder)


@pytest.mark.parametrize("family", RESPONSES)
def test_a_stored_formula_is_a_tree_and_runs_nothing(family, tmp_path, monkeypatch):
    """Whatever stands in its place, text or nodes, loading refuses it; good models load and predict."""
    monkeypatch.chdir(tmp_path)
    model = one(RESPONSES[family], TABLE, family=family, formula=FORMULA)
    model.save("model")
    folder = tmp_path / "model"
    assert "log(price" not in json.dumps(settings_of(folder)["covariates"]["formula"])
    assert "formula" not in settings_of(folder)["options"]
    predict(load(folder))
    assert check(folder)
    assert load(folder).formula == FORMULA
    for attack in ATTACKS:
        for path in (("formula",), ("formula", "operands", 0), ("formula", "operands", 1, "argument")):
            forged = settings_of(folder)
            inner = forged["covariates"]
            for key in path[:-1]:
                inner = inner[key]
            good_part, inner[path[-1]] = inner[path[-1]], attack
            sign(folder, forged)
            assert not check(folder)
            inner[path[-1]] = good_part
            sign(folder, forged)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
