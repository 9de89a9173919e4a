"""What a response looks like, and which families it may be of."""

import numpy as np
import pytest

from textsignal.errors import InputError
from textsignal.families import Bernoulli, Poisson
from textsignal.families.auto import candidates

RNG = np.random.default_rng(0)
SCALE = ["binomial", "beta-binomial", "ordinal", "adjacent-categories", "stereotype"]


def names(y, levels=None):
    return [family.name for family in candidates(y, levels).families]


@pytest.mark.parametrize(
    ("y", "described", "expected"),
    [
        ([0, 1, 1, np.nan], "0 or 1", ["bernoulli"]),
        ([True, False], "0 or 1", ["bernoulli"]),
        ([1, 5, 5], "1 or 5", ["bernoulli"]),
        ([1, 2, 4, 5], "1 to 5", SCALE),
        ([0.5, 1, 3.5], "0.5 to 3.5 in steps of 0.5", SCALE),
        ([10, 30, 100], "10 to 100 in steps of 10", SCALE),
        (np.arange(0, 11), "0 to 10", SCALE),
        (81 + RNG.poisson(7, 500) % 15, "81 to 95", SCALE),
        (np.arange(80, 101), "numbers from 80 to 100", ["gaussian"]),
        (np.arange(0, 101), "numbers from 0 to 100", ["gaussian"]),
        (RNG.normal(size=50), "numbers from ", ["gaussian"]),
        (RNG.negative_binomial(0.5, 0.05, 2000), "counts from 0 to ", ["poisson", "negative-binomial"]),
        ([-5.0, *RNG.negative_binomial(0.5, 0.05, 2000)], "numbers from -5 to ", ["gaussian"]),
    ],
)
def test_what_it_looks_like(y, described, expected):
    assert candidates(y).described.startswith(described)
    assert names(y) == expected


def test_a_scale_that_is_given_is_taken():
    assert names([1, 2], (1, 5)) == SCALE
    assert all(len(family.levels) == 5 for family in candidates([1, 2], (1, 5)).families)
    assert names([0, 100, 50], (0, 100)) == SCALE[:2]


@pytest.mark.parametrize("y", [[1, 2, 4, 5], [0.5, 1, 3.5], RNG.negative_binomial(0.5, 0.05, 500)], ids=str)
def test_all_encode_a_response_alike_and_have_one_loss_for_words(y):
    families = candidates(y).families
    codes = [family.encode(y) for family in families]
    eta = np.linspace(-1, 1, len(y))
    slopes = [family.of_words.gradient(codes[0], eta) for family in families]
    for other, slope in zip(codes, slopes, strict=True):
        np.testing.assert_array_equal(other, codes[0])
        if not isinstance(families[0], Poisson):
            np.testing.assert_allclose(slope, slopes[0])


def test_nothing_is_left_open():
    for y in ([0, 1], [1, 2, 5], RNG.normal(size=9), RNG.negative_binomial(0.5, 0.05, 500)):
        assert all(None not in family.settings().values() for family in candidates(y).families)
    assert candidates([0.0, 1.0]).families == (Bernoulli((0, 1)),)


@pytest.mark.parametrize("code", [999, 99, -99])
def test_a_stray_code_is_no_response(code):
    with pytest.raises(InputError, match=r"looks like a stray code.*levels=\(1, 5\)"):
        candidates([1, 2, 3, 4, 5] * 30 + [code])


def test_a_constant_or_missing_response_has_no_family():
    with pytest.raises(InputError, match="constant"):
        candidates([3, 3, 3])
    with pytest.raises(InputError, match="no document has a response"):
        candidates([np.nan])
