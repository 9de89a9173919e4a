"""Fits of generated texts and responses: finite results, or one of our errors in one line, and never a warning."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textsignal import GLMNMF, JBNMF, TextResponseModel, TopicModel
from textsignal.errors import TextSignalError
from textsignal.families import FAMILIES

WORDS = ["room", "staff", "dirty", "clean", "bed", "breakfast", "friendly", "noisy", "wifi", "pool", "price", "view"]
#: Sizes of responses, weights, covariates and offsets: ordinary, and at the ends of what a float holds.
EXTREMES = (1e-3, 1e3, 1e6, 1e9, 1e15, 1e29, 1e31, 1e300, 1e-6, 1e-9, 1e-15, 1e-29, 1e-31, 1e-300, 5e-324)
SIZES = (*(1.0,) * 2 * len(EXTREMES), *EXTREMES)
#: Responses that a family takes.
KINDS = {
    "poisson": ["stars", "counts", "two"],
    "negative-binomial": ["stars", "counts", "two"],
    "bernoulli": ["two"],
    "proportion": ["shares", "two"],
    "gaussian": ["normal", "nearly constant", "outlier", "mixed", "many", "counts"],
}
ON_A_SCALE = ["binomial", "beta-binomial", "adjacent-categories", "stereotype", "ordinal"]
KINDS |= {family: ["stars", "two"] for family in ON_A_SCALE}
ANY = ["stars", "counts", "shares", "normal", "constant", "nearly constant", "outlier", "mixed", "many", "two"]
FUZZ = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@dataclass(frozen=True)
class Case:
    """One fit: the model, and what is passed to `fit`."""

    model: Any
    texts: list[str]
    responses: list[Any]
    given: dict[str, Any]


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def corpora(draw: st.DrawFn) -> list[str]:
    """Few texts or many, distinct, repeated, of one word, empty or all the same."""
    rng = generator(draw(st.integers(0, 99)))
    n = draw(st.sampled_from([1, 2, 5, 8, 12, 20, 40, 60]))
    kind = draw(
        st.sampled_from(["sentences", "sentences", "one word", "repeated", "the same", "some empty", "no words"])
    )
    vocabulary = WORDS[: draw(st.sampled_from([1, 2, 5, len(WORDS)]))]
    most = 1 if kind == "one word" else 12
    texts = [
        " ".join(rng.choice(vocabulary, rng.integers(1, most + 1))) + rng.choice([".", "! ", ". The end."])
        for _ in range(n)
    ]
    if kind == "repeated":
        return [texts[i] for i in rng.integers(0, max(1, n // 4), n)]
    if kind == "the same":
        return texts[:1] * n
    if kind == "some empty":
        return ["" if rng.random() < 0.5 else text for text in texts]
    return ["..." for _ in texts] if kind == "no words" and rng.random() < 0.3 else texts


@st.composite
def numbers(draw: st.DrawFn, n: int, family: str) -> np.ndarray:
    """Responses that are numbers: of any size, nearly constant, with an outlier, on a scale, counts, missing."""
    rng = generator(draw(st.integers(0, 99)))
    size = draw(st.sampled_from(SIZES))
    kind = draw(st.sampled_from(KINDS.get(family, ANY) if draw(st.integers(0, 7)) else ANY))
    values = {
        "stars": rng.integers(1, 6, n).astype(float),
        "counts": np.floor(rng.exponential(min(size, 1e300), n)),
        "shares": rng.integers(0, 5, n) / 4,
        "normal": rng.normal(size=n) * size,
        "constant": np.full(n, size),
        "nearly constant": size * (1 + np.finfo(float).eps * rng.integers(0, 3, n)),
        "outlier": np.append(rng.integers(1, 6, n - 1), size).astype(float),
        "mixed": rng.choice([-size, size, 0.0, 1.0], n),
        "many": np.arange(n) * size / max(n, 1),
        "two": rng.integers(0, 2, n).astype(float),
    }[kind]
    missing = draw(st.sampled_from([0.0, 0.0, 0.3, 0.9]))
    values[rng.random(n) < missing] = np.nan
    return values


@st.composite
def responses(draw: st.DrawFn, n: int, family: str) -> list[Any]:
    """Numbers, or labels of classes; mostly those that the family takes."""
    if family != "categorical" and draw(st.integers(0, 7)):
        return draw(numbers(n, family)).tolist()
    rng = generator(draw(st.integers(0, 99)))
    labels = [f"class {number}" for number in range(draw(st.sampled_from([1, 2, 3, 60])))]
    return [None if rng.random() < 0.1 else str(label) for label in rng.choice(labels, n)]


@st.composite
def weights(draw: st.DrawFn, n: int) -> np.ndarray:
    """Sample weights: none but a few above 0, or of very different sizes."""
    rng = generator(draw(st.integers(0, 99)))
    size = draw(st.sampled_from(SIZES))
    return {
        "equal": np.full(n, size),
        "some zero": rng.integers(0, 2, n) * size,
        "all zero": np.zeros(n),
        "one large": np.append(np.ones(n - 1), size),
        "one counts": np.append(np.zeros(n - 1), size),
        "any": rng.exponential(size, n),
    }[draw(st.sampled_from(["equal", "some zero", "all zero", "one large", "one counts", "any"]))]


@st.composite
def columns(draw: st.DrawFn, n: int) -> dict[str, np.ndarray]:
    """Covariates: ordinary, constant, collinear, of any size, as many as texts."""
    rng = generator(draw(st.integers(0, 99)))
    size = draw(st.sampled_from(SIZES))
    first = rng.normal(size=n)
    return {
        "ordinary": {"a": first, "b": rng.normal(size=n)},
        "constant": {"a": np.full(n, size)},
        "collinear": {"a": first, "b": size * first, "c": 1 - first},
        "large": {"a": size * first},
        "many": {f"x{number}": rng.normal(size=n) for number in range(min(n, 20))},
        "one": {"a": np.append(np.zeros(n - 1), size)},
    }[draw(st.sampled_from(["ordinary", "constant", "collinear", "large", "many", "one"]))]


@st.composite
def additions(draw: st.DrawFn, n: int, *, frame: bool) -> dict[str, Any]:
    """Weights, covariates, offsets and groups, each for some of the cases; frame : covariates as a DataFrame."""
    rng = generator(draw(st.integers(0, 99)))
    passed: dict[str, Any] = {}
    if not draw(st.integers(0, 3)):
        passed["sample_weight"] = draw(weights(n))
    if not draw(st.integers(0, 3)):
        covariates = draw(columns(n))
        passed["covariates"] = pd.DataFrame(covariates) if frame else np.column_stack(list(covariates.values()))
        if not draw(st.integers(0, 2)):
            passed["groups"] = rng.integers(0, draw(st.sampled_from([1, 2, n])), n)
    if not draw(st.integers(0, 3)):
        size = draw(st.sampled_from([0.1, 1.0, 10.0, 100.0] * 3 + list(EXTREMES)))
        passed["offset"] = rng.choice([-1.0, 0.0, 1.0], n) * size
    return passed


FAMILY = st.sampled_from(["auto", *FAMILIES])


def n_themes(n: int) -> st.SearchStrategy[int]:
    """Themes, mostly of a number that so many texts can carry."""
    return st.sampled_from([number for number in (1, 2, 3, 8, 30) if number <= n] * 3 + [n + 1])


@st.composite
def text_cases(draw: st.DrawFn) -> Case:
    """A model of themes, or of topics by any training."""
    texts = draw(corpora())
    training = draw(st.sampled_from(["themes", "predictive", "joint"]))
    n, family = len(texts), draw(FAMILY)
    if training == "themes":
        model = TextResponseModel(draw(n_themes(n)), family=family, n_jobs=1)
    else:
        supervision, residual = draw(st.sampled_from([0.5, 0.0, 1.0, 1e6, 1e-9, 1e300])), draw(st.booleans())
        options = {"training": training, "supervision": supervision, "word_residual": residual}
        family = "binomial" if family == "auto" else family
        model = TopicModel(GLMNMF(draw(n_themes(n)), family=family, n_jobs=1, **options))
    passed = draw(additions(n, frame=training == "themes"))
    if training != "themes":
        passed.pop("groups", None)
    return Case(model, texts, draw(responses(n, family)), passed)


@st.composite
def estimators(draw: st.DrawFn, n: int) -> Any:
    """A GLMNMF or JBNMF with options at the ends of what is allowed."""
    size = st.sampled_from([0.0, 1e-9, 0.1, 1.0, 1e6, 1e100])
    common = {
        "n_topics": draw(n_themes(n)),
        "init": draw(st.sampled_from(["nndsvda", "random", "nmf"])),
        "max_iter": draw(st.sampled_from([1, 30])),
        "n_init": draw(st.sampled_from([1, 2])),
        "n_jobs": 1,
    }
    if draw(st.booleans()):
        return JBNMF(
            alpha=draw(size),
            lam=draw(size),
            gamma=draw(st.sampled_from(["adaptive", 0.0, 400.0, 1e100])),
            coefficient_step=draw(st.sampled_from(["newton", "gradient"])),
            learning_rate=draw(st.sampled_from([None, 1e-6, 1.0, 1e9, 1e200])),
            **common,
        )
    return GLMNMF(
        family=draw(st.sampled_from(list(FAMILIES))),
        training=draw(st.sampled_from(["joint", "predictive"])),
        supervision=draw(size),
        penalty=draw(st.one_of(st.none(), size)),
        fit_intercept=draw(st.booleans()),
        smoothing=draw(st.sampled_from([1.0, 1e-9, 1e6])),
        thinning=draw(st.sampled_from([0.0, 0.4, 0.99])),
        max_epochs=draw(st.sampled_from([1, 3])),
        batch_size=draw(st.sampled_from([1, 200])),
        word_residual=draw(st.booleans()),
        **common,
    )


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Counts of any size, with rows and columns of zeros."""
    rng = generator(draw(st.integers(0, 99)))
    shape = draw(st.sampled_from([1, 2, 8, 20, 40, 60])), draw(st.sampled_from([1, 2, 5, 30, 300]))
    X = rng.poisson(draw(st.sampled_from([0.05, 1.0, 20.0])), shape) * draw(st.sampled_from(SIZES))
    X[rng.random(shape[0]) < draw(st.sampled_from([0.0, 0.0, 0.5]))] = 0
    return X


@st.composite
def matrix_cases(draw: st.DrawFn) -> tuple[Any, np.ndarray, list[Any], dict[str, Any]]:
    X = draw(matrices())
    estimator = draw(estimators(len(X)))
    family = estimator.asked_family.name
    passed = draw(additions(len(X), frame=False))
    if isinstance(estimator, JBNMF) and draw(st.integers(0, 7)):
        passed = {name: passed[name] for name in passed if name == "sample_weight"}
    return estimator, X, draw(responses(len(X), family)), passed


@given(text_cases())
@FUZZ
def test_a_model_of_texts_is_finite_or_one_of_our_errors(case):
    with unwarned():
        fit_and_read(case)


@given(matrix_cases())
@FUZZ
def test_an_estimator_of_a_matrix_is_finite_or_one_of_our_errors(case):
    with unwarned():
        fit_matrix(*case)


def fit_and_read(case: Case) -> None:
    """Fit, then use all that reads the fitted model."""
    model = case.model
    if not ours(lambda: model.fit(case.texts, case.responses, **case.given)):
        return
    assert_finite(model.components_, "components")
    beside = {name: case.given[name] for name in ("covariates", "offset") if name in case.given}
    new = [*case.texts, "", "unknown words only", "clean room. Dirty bed!"]
    more = {
        name: pd.concat([values, values.iloc[[0] * 3]])
        if isinstance(values, pd.DataFrame)
        else np.concatenate([values, values[[0] * 3]])
        for name, values in beside.items()
    }
    one = {name: values[:1] for name, values in beside.items()}
    ours(lambda: check_predictions(model.predictions(new, **more)))
    ours(lambda: assert_finite(model.predict(new, **more), "predict"))
    if isinstance(model, TextResponseModel):
        ours(lambda: check_table(model.themes()))
        ours(lambda: check_table(pd.DataFrame(model.drivers())))
        ours(lambda: model.explain(new[0], **one))
    else:
        ours(lambda: check_table(model.topics()))
    ours(lambda: model.explain("clean room. Dirty bed!"))


def fit_matrix(estimator: Any, X: np.ndarray, y: list[Any], passed: dict[str, Any]) -> None:
    if not ours(lambda: estimator.fit(X, y, **passed)):
        return
    for name in ("components_", "weights_", "coef_", "intercept_", "word_effects_", "objective_"):
        assert_finite(getattr(estimator, name), name)
    beside = {name: passed[name] for name in ("covariates", "offset") if name in passed}
    ours(lambda: check_predictions(estimator.predictions(X, **beside)))
    ours(lambda: assert_finite(estimator.transform(X), "transform"))


def check_predictions(predictions: Any) -> None:
    assert_finite(predictions.weights, "weights")
    assert_finite(predictions.eta, "eta")
    assert_finite(predictions.mean, "mean")


def check_table(table: pd.DataFrame) -> None:
    """Numbers are finite, or missing where there is nothing to estimate."""
    assert not np.isinf(table.select_dtypes("number").to_numpy(float)).any()


def assert_finite(values: Any, name: str) -> None:
    array = np.asarray(values)
    if array.dtype.kind in "fc":
        assert np.isfinite(array).all(), f"{name} is not finite"


def ours(action: Any) -> bool:
    """True if it was done; False after one of our errors, which must be one line."""
    message = ""
    try:
        action()
    except TextSignalError as error:
        message = str(error) or "\n"
    assert "\n" not in message, f"the error is not one line: {message!r}"
    return not message


@contextmanager
def unwarned() -> Iterator[None]:
    """A context in which any warning fails the test, also one that a library turns on again."""
    with warnings.catch_warnings(record=True) as emitted:
        warnings.simplefilter("always")
        yield
    assert not emitted, [f"{each.message} ({each.filename}:{each.lineno})" for each in emitted]
