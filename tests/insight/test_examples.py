"""Examples: texts in which a theme leads, in the requested order."""

import numpy as np
import pandas as pd
import pytest

from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Gaussian
from textsignal.insight.examples import TYPICAL, find_texts

RNG = np.random.default_rng(1)
SHARES = RNG.dirichlet(np.ones(3), size=200)
RESPONSES = np.where(np.arange(200) % 10 == 0, np.nan, RNG.integers(1, 6, 200))
EXPECTED = RNG.uniform(1, 5, 200)


def predictions(shares=SHARES):
    """Predictions of texts with these shares of themes."""
    nothing = np.zeros(200)
    return Predictions(Gaussian(), EXPECTED, nothing, nothing, shares, shares, nothing > 0)


PARTS = {
    "texts": [f"text {i}" for i in range(200)],
    "responses": RESPONSES,
    "predictions": predictions(),
    "metadata": None,
}


@pytest.mark.parametrize("high", [True, False, None])
@pytest.mark.parametrize("theme", range(3))
def test_every_text_is_led_by_the_theme_and_is_itself(theme, high):
    found = find_texts(theme=theme, n=7, high=high, **PARTS)
    assert list(found.columns) == ["row", "text", "response", "prediction", "share"]
    assert len(found) == len(set(found["row"])) == 7
    assert (SHARES[found["row"]].argmax(axis=1) == theme).all()
    assert found["text"].tolist() == [f"text {i}" for i in found["row"]]
    for column, values in (("response", RESPONSES), ("prediction", EXPECTED), ("share", SHARES[:, theme])):
        np.testing.assert_array_equal(found[column], values[found["row"]])


def test_the_most_typical_texts_come_first_whatever_their_response():
    found = find_texts(theme=1, n=7, high=None, **PARTS)
    leading = np.sort(SHARES[SHARES.argmax(axis=1) == 1, 1])[::-1]
    np.testing.assert_array_equal(found["share"], leading[:7])


def test_high_and_low_responses_are_chosen_among_the_most_typical():
    typical = find_texts(theme=0, n=200, high=None, **PARTS).dropna(subset="response")[: 3 * TYPICAL]
    for high in (True, False):
        found = find_texts(theme=0, n=3, high=high, **PARTS)
        assert found["response"].tolist() == sorted(typical["response"], reverse=high)[:3]
        assert set(found["row"]) <= set(typical["row"])


def test_of_equal_responses_the_more_typical_comes_first():
    found = find_texts(theme=2, n=5, high=True, **(PARTS | {"responses": np.full(200, 3.0)}))
    assert found["share"].is_monotonic_decreasing
    np.testing.assert_array_equal(found["row"], find_texts(theme=2, n=5, high=None, **PARTS)["row"])


def test_a_theme_that_leads_nowhere_has_no_evidence():
    shares = np.column_stack([SHARES, np.zeros(200)])
    assert find_texts(theme=3, n=5, high=True, **(PARTS | {"predictions": predictions(shares)})).empty


def test_metadata_is_that_of_the_same_row():
    metadata = pd.DataFrame({"city": [f"city {i}" for i in range(200)]}, index=np.arange(200)[::-1])
    found = find_texts(theme=0, n=5, high=True, **(PARTS | {"metadata": metadata}))
    assert found["city"].tolist() == [f"city {i}" for i in found["row"]]


def test_metadata_must_fit():
    with pytest.raises(InputError, match="200 texts, but 3 rows of metadata"):
        find_texts(theme=0, n=5, high=True, **(PARTS | {"metadata": pd.DataFrame({"x": [1, 2, 3]})}))
    metadata = pd.DataFrame({"text": range(200), "share": range(200), "x": range(200)})
    with pytest.raises(InputError, match="columns with reserved names: text, share"):
        find_texts(theme=0, n=5, high=True, **(PARTS | {"metadata": metadata}))
