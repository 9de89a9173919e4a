"""Candidate families of a response, and its description."""

import numpy as np
import pandas as pd
import pytest

from textsignal.errors import InputError
from textsignal.families import Bernoulli, Poisson
from textsignal.families.auto import candidates, labelled, of_order, reads_as_scale

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


@pytest.mark.parametrize(
    ("scale", "codes", "remark"),
    [
        (
            (1, 10),
            [99] * 4,
            "counts from 1 to 99 (99 in 4 of 504 rows looks like a code for a missing answer next to 1 to 10: ",
        ),
        ((0, 10), [97, 98, 99], "(97, 98, 99 in 3 of 503 rows look like codes for a missing answer next to 0 to 10: "),
        ((1, 10), [99] * 40, "numbers from 1 to 99 (99 in 40 of 540 rows looks "),
        ((1, 5), [9], "1 to 9 (9 in 1 of 501 rows looks like a code for a missing answer next to 1 to 5: "),
        ((1, 5), [8, 9, 9], "1 to 9 (8, 9 in 3 of 503 rows look "),
        ((1, 5), [-1] * 3, "-1 to 5 (-1 in 3 of 503 rows looks "),
        ((0, 5), [-9] * 3, "-9 to 5 (-9 in 3 of 503 rows looks "),
        ((0, 100), [999] * 6, "numbers from 0 to 999 (999 in 6 of 506 rows looks "),
    ],
)
def test_codes_for_missing_answers_next_to_a_scale_are_remarked(scale, codes, remark):
    ratings = RNG.integers(scale[0], scale[1] + 1, 500)
    described = candidates([*ratings, *codes]).described
    assert remark in described
    assert described.endswith(": if so, make these cells empty)")
    assert "missing answer" not in candidates(ratings).described


@pytest.mark.parametrize(
    "y",
    [
        [*RNG.integers(0, 11, 500), -1],
        [*RNG.integers(-1, 2, 500)],
        [*RNG.integers(1, 10, 500)],
        [*RNG.integers(1, 8, 500), 9],
        [*RNG.integers(1, 11, 500), *[99] * 100],
        [*RNG.integers(1, 11, 500), 100, 55],
        RNG.integers(18, 100, 2000),
        np.round(RNG.lognormal(3, 1, 2000)),
        RNG.integers(80, 101, 2000),
        *(RNG.poisson(mean, n) for mean in (0.3, 2, 5, 60) for n in (100, 300, 5000)),
        *(RNG.negative_binomial(0.2, share, n) for share in (0.02, 0.1, 0.5) for n in (100, 300, 5000)),
        *(RNG.zipf(tail, n).clip(0, 10**6) for tail in (1.5, 2, 3) for n in (100, 300, 5000)),
    ],
)
def test_real_counts_and_scales_are_not_remarked(y):
    assert "missing answer" not in candidates(y).described


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("clothing_reviews_22k", "positive_feedback_count"),
        ("clothing_reviews_22k", "age"),
        ("wine_reviews_13k", "points"),
        ("wine_reviews_13k", "price"),
    ],
)
def test_real_columns_are_not_remarked(review_file, name, column):
    assert "missing answer" not in candidates(review_file(name, "text", column, None)[1]).described


def test_whole_numbers_of_any_size_are_numbers():
    assert candidates([1_250_831_234_567, 1_627_012_345_678, 1_400_000_000_001]).described.startswith(
        "numbers from 1.25"
    )


def test_ordered_categories_are_levels():
    assert of_order(("low", "mid", "high")).levels.tolist() == ["low", "mid", "high"]
    assert of_order((1, 2, 5)).levels.tolist() == [1, 2, 5]
    assert of_order(("yes", "no")) == Bernoulli(("yes", "no"))


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ((), "no text has a response"),
        (("good",), "the response is constant"),
        ((5, 4, 3), r"must increase, but they are 5, 4, 3: make them text with \.cat\.rename_categories\(str\)"),
        ((1, "two"), "must be all text or all numbers; '1' is of type int"),
        (pd.interval_range(0, 3), r"'\(0, 1\]' is of type Interval: make them text"),
        (tuple(range(30)), "has 30 ordered categories; there may be 20 at most"),
    ],
)
def test_ordered_categories_that_cannot_be_levels_are_refused(categories, message):
    with pytest.raises(InputError, match=message):
        of_order(tuple(categories))


def test_a_constant_or_missing_response_has_no_family():
    with pytest.raises(InputError, match="constant"):
        candidates([3, 3, 3])
    with pytest.raises(InputError, match="no text has a response"):
        candidates([np.nan])


def test_text_and_truth_values_are_labels():
    assert labelled(["no", "yes", None]) == Bernoulli(("no", "yes"))
    assert labelled([True, False]) == Bernoulli((False, True))
    assert labelled([1, 2]) is None
    assert labelled(["low", "high"], ["low", "mid", "high"]).values == ("low", "mid", "high")


def test_half_steps_are_a_scale_and_other_fractions_are_not():
    assert reads_as_scale(np.array([1, 1.5, 4.5]))
    assert not reads_as_scale(np.array([1, 1.2, 4.5]))
