"""Intervals of numbers about themes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import textsignal as ts
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Binomial
from textsignal.insight.naming import Naming
from textsignal.training.theme_model import TextsByTheme
from textsignal.uncertainty import effects as effects_module
from textsignal.uncertainty.effects import EffectTable, with_intervals
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Talk, fit_loosely

#: Texts, and places: two themes and a place that no number is about.
N, K = 240, 3


@pytest.fixture(scope="module", autouse=True)
def few_cuts() -> Iterator[None]:
    """Laws hold for any number of halves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effects_module, "CUTS", 2)
        yield


@pytest.fixture(scope="module")
def reviews() -> ts.datasets.SyntheticReviews:
    return ts.datasets.synthetic_reviews(N, seed=3, opinions=True)


@pytest.fixture(scope="module")
def model(reviews: ts.datasets.SyntheticReviews) -> ts.TextResponseModel:
    return ts.TextResponseModel(4, n_jobs=1).fit(reviews.texts, reviews.ratings)


@pytest.fixture(scope="module")
def effects(model: ts.TextResponseModel) -> EffectTable:
    return model.estimate_effects()


@pytest.fixture(scope="module")
def talk() -> Talk:
    rng = np.random.default_rng(0)
    tone, shares = rng.normal(size=(N, K)), rng.dirichlet(np.ones(K), N)
    eta = tone @ [0.8, 0.3, 0.0] + shares @ [0.5, 0.0, -0.5]
    y = rng.binomial(4, 1 / (1 + np.exp(-eta))).astype(float)
    texts = TextsByTheme(
        tone=tone,
        shares=shares,
        evidence=rng.uniform(0.5, 1, N),
        raising=np.maximum(tone, 0),
        lowering=np.minimum(tone, 0),
        mentions=shares > 0.3,
        raises=tone > 0,
        lowers=tone < 0,
    )
    return Talk(Binomial(4, 1), texts, np.full(K, 1 / K), y, np.ones(N), np.arange(N) % 2, Given.nothing(N), away=0.2)


def loosely(talk: Talk) -> LooseFit:
    with local_compute(1) as compute:
        return fit_loosely(talk, compute)


@pytest.mark.parametrize("name", QUANTITIES)
def test_influence_is_the_derivative_by_a_documents_weight(talk: Talk, name: str) -> None:
    fit = loosely(talk)
    measured = QUANTITIES[name](fit, talk.weight)
    for document in (0, 17, 100):
        moved = []
        for step in (-0.01, 0.01):
            weight = talk.weight.copy()
            weight[document] += step
            other = loosely(replace(talk, weight=weight))
            moved.append(QUANTITIES[name](other, weight).estimates)
        slope = (moved[1] - moved[0]) / 0.02
        # The influence is a little larger, by the document's leverage.
        assert_allclose(measured.influence[document], slope, rtol=0.06, atol=2e-5)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_document_that_counts_twice_is_two(talk: Talk, name: str) -> None:
    weight = np.where(np.arange(N) < 40, 2.0, 1.0)
    rows = np.repeat(np.arange(N), weight.astype(int))
    heavy, long = loosely(replace(talk, weight=weight)), loosely(talk.at(rows))
    one, other = QUANTITIES[name](heavy, weight), QUANTITIES[name](long, np.ones(len(rows)))
    assert_allclose(one.estimates, other.estimates, rtol=1e-6, atol=1e-9)
    assert_allclose(one.variances, other.variances, rtol=1e-6)


def test_copies_in_a_group_say_no_more_than_one(talk: Talk) -> None:
    rows = np.repeat(np.arange(N), 3)
    grouped = replace(talk, given=replace(talk.given, groups=np.arange(N)))
    alone, together, apart = (
        QUANTITIES["cost"](loosely(each), each.weight).variances for each in (grouped, grouped.at(rows), talk.at(rows))
    )
    assert_allclose(together, alone, rtol=0.05)
    assert_allclose(apart, alone / 3, rtol=0.05)


def test_standard_errors_are_those_of_an_independent_package(talk: Talk) -> None:
    sm = pytest.importorskip("statsmodels.api")
    texts, evidence = talk.texts, talk.texts.evidence[:, None]
    speaking = (texts.shares[:, 1:] - 1 / K) * evidence
    columns = np.column_stack([texts.tone, speaking, talk.folds == 1, np.ones(N)]).astype(float)
    response, offset = np.column_stack([talk.y, 4 - talk.y]), talk.away * (1 - texts.evidence)
    found = sm.GLM(response, columns, family=sm.families.Binomial(), offset=offset).fit(cov_type="HC0")
    fit = loosely(talk)
    measured = QUANTITIES["gamma"](fit, talk.weight)
    assert_allclose(measured.estimates, found.params[: K - 1], rtol=1e-3)
    # HC2 is HC0 with what leverage takes off residuals put back: a little more.
    ratio = np.sqrt(measured.variances) / found.bse[: K - 1]
    assert np.all((ratio > 1) & (ratio < 1.05))


def test_one_row_per_theme_and_quantity(effects: EffectTable) -> None:
    frame = effects.to_frame()
    assert list(frame.columns) == [
        "theme",
        "label",
        "quantity",
        "estimate",
        "std_error",
        "low",
        "high",
        "p_value",
        "p_holm",
    ]
    assert frame.groupby("quantity").size().to_dict() == dict.fromkeys(QUANTITIES, 5)
    assert (frame["low"] < frame["high"]).all()
    tested = frame[frame["quantity"] != "mentions"]
    assert (tested["p_holm"] >= tested["p_value"]).all()
    assert frame.loc[frame["quantity"] == "mentions", "p_value"].isna().all()
    outside = (tested["low"] > 0) | (tested["high"] < 0)
    assert_array_equal(outside, tested["p_value"] < 0.05)


def test_intervals_grow_with_their_level(model: ts.TextResponseModel, effects: EffectTable) -> None:
    wide = model.estimate_effects(level=0.99)
    assert (wide.frame["low"] <= effects.frame["low"]).all()
    assert (wide.frame["high"] >= effects.frame["high"]).all()
    assert_array_equal(wide.frame["std_error"], effects.frame["std_error"])


def test_the_same_for_any_number_of_threads(model: ts.TextResponseModel, effects: EffectTable) -> None:
    model.n_jobs = 3
    try:
        pd.testing.assert_frame_equal(model.estimate_effects().frame, effects.frame, check_exact=True)
    finally:
        model.n_jobs = 1


def test_plug_in_is_narrower_and_says_so(model: ts.TextResponseModel, effects: EffectTable) -> None:
    plugin = model.estimate_effects(method="plugin")
    assert "Conditional on the themes" in plugin.summary()
    ratio = plugin.of("gamma")["std_error"].mean() / effects.of("gamma")["std_error"].mean()
    assert ratio < 0.9


def test_plug_in_calls_noise_clear_and_the_default_does_not(reviews: ts.datasets.SyntheticReviews) -> None:
    ratings = np.random.default_rng(0).permutation(reviews.ratings)
    model = ts.TextResponseModel(4, n_jobs=1, family="binomial").fit(reviews.texts, ratings)
    assert (model.estimate_effects().of("cost")["p_holm"] > 0.05).all()
    assert (model.estimate_effects(method="plugin").of("cost")["p_holm"] < 0.001).any()


def test_what_is_better_turns_cost_and_gain_round(model: ts.TextResponseModel, effects: EffectTable) -> None:
    turned = model.name_response("risk", lower_is_better=True).estimate_effects()
    one, other = (
        effects.of("cost").set_index("theme"),
        turned.of("gain").set_index("theme").loc[effects.of("cost")["theme"]],
    )
    assert_allclose(other["estimate"], one["estimate"])
    assert_allclose(other["low"], one["low"], rtol=0.2, atol=0.01)


class TestGroups:
    def test_two_groups_differ_by_the_same(self, model: ts.TextResponseModel) -> None:
        by = np.where(np.arange(N) % 3 == 0, "inn", "spa")
        table = model.estimate_effects(by).frame.set_index(["group", "quantity", "theme"]).sort_index()
        for name in ("cost", "tone", "mentions"):
            inn, spa = (table.loc[group, f"{name}_difference"] for group in ("inn", "spa"))
            assert_allclose(inn["estimate"], -spa["estimate"])
            assert_allclose(inn["std_error"], spa["std_error"])
            of_each = table.loc["inn", name]["estimate"] - table.loc["spa", name]["estimate"]
            assert_allclose(inn["estimate"], of_each)

    def test_groups_of_documents_that_depend_on_each_other(self, model: ts.TextResponseModel) -> None:
        clustered = model.estimate_effects(groups=np.arange(N) // 6)
        assert "40 groups" in clustered.summary()
        with pytest.raises(InputError, match="four or more groups"):
            model.estimate_effects(groups=np.arange(N) % 3)


class TestDrivers:
    def test_clear_is_significant_by_holm_and_above_0(self) -> None:
        effects = pd.DataFrame(
            {
                "theme": [0, 1, 2] * 2,
                "quantity": ["cost"] * 3 + ["gain"] * 3,
                "estimate": [0.1, 0.1, -0.1, 0.1, 0.1, 0.1],
                "p_holm": [0.001, 0.06, 0.001, np.nan, 0.04, 0.2],
                "low": 0.0,
                "high": 1.0,
            }
        )
        drivers = pd.DataFrame({"theme": [1, 0, 2], "cost": 0.0, "gain": 0.0})
        made = with_intervals(drivers, EffectTable(effects, 0.95, "", Naming()))
        assert made["cost_clear"].tolist() == [False, True, False]
        assert made["gain_clear"].tolist() == [True, False, False]
        by_group = pd.DataFrame({"group": ["b", "a"], "theme": [0, 0], "cost": 0.0, "gain": 0.0})
        grouped = effects.query("theme == 0").assign(group="a", p_holm=0.01)
        both = EffectTable(pd.concat([grouped, grouped.assign(group="b", p_holm=0.5)]), 0.95, "", Naming())
        assert with_intervals(by_group, both)["cost_clear"].tolist() == [False, True]

    def test_ends_stand_beside_cost_and_gain(self, model: ts.TextResponseModel, effects: EffectTable) -> None:
        drivers = model.drivers(interval=0.95)
        place = list(drivers.columns).index("cost")
        ends_of = [f"{name}{end}" for name in ("cost", "gain") for end in ("", "_low", "_high", "_clear")]
        ends_of.insert(4, "cost_per_complaint")
        assert list(drivers.columns[place : place + 9]) == ends_of
        ends = effects.of("gain").set_index("theme").loc[drivers["theme"]]
        assert_array_equal(drivers["gain_low"], ends["low"])
        assert_array_equal(drivers["cost"], model.drivers()["cost"])

    def test_of_each_group(self, model: ts.TextResponseModel) -> None:
        by = np.where(np.arange(N) % 3 == 0, "inn", "spa")
        drivers = model.drivers(by, interval=0.9)
        assert (drivers["cost_low"] < drivers["cost_high"]).all()
        assert set(drivers["group"]) == {"inn", "spa"}


class TestBootstrap:
    def test_the_same_for_any_number_of_threads(self, model: ts.TextResponseModel, effects: EffectTable) -> None:
        done: list[int] = []
        one = model.estimate_effects(method="bootstrap", n_refits=12, progress=done.append)
        assert sorted(done) == list(range(12))
        model.n_jobs = 3
        try:
            other = model.estimate_effects(method="bootstrap", n_refits=12)
        finally:
            model.n_jobs = 1
        pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)
        assert_array_equal(one.frame["estimate"], effects.frame["estimate"])
        ratio = one.of("cost")["std_error"].mean() / effects.of("cost")["std_error"].mean()
        assert 0.5 < ratio < 2

    def test_groups_are_drawn_whole(self, model: ts.TextResponseModel) -> None:
        by = np.where(np.arange(N) % 3 == 0, "inn", "spa")
        table = model.estimate_effects(by, method="bootstrap", n_refits=4, groups=np.arange(N) // 6)
        assert set(table.quantities) == {f"{name}{end}" for name in QUANTITIES for end in ("", "_difference")} - {
            "gamma",
            "gamma_difference",
        }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level=1.0 must be below 1"),
        ({"level": 0}, "level=0 must be a number above 0"),
        ({"method": "jackknife"}, "method='jackknife'"),
        ({"n_refits": 1}, "n_refits=1"),
        ({"groups": [1, 2]}, "240 texts, but 2 groups"),
        ({"by": ["one"]}, "by"),
        ({"responses": [1.0]}, "responses were given without texts"),
    ],
)
def test_bad_input_names_what_is_wrong(model: ts.TextResponseModel, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.estimate_effects(**options)


def test_too_few_texts_and_constant_responses(
    model: ts.TextResponseModel, reviews: ts.datasets.SyntheticReviews
) -> None:
    with pytest.raises(
        InputError, match="30 texts with a response are too few for intervals of 4 themes and the overall verdict; 40"
    ):
        model.estimate_effects(texts=reviews.texts[:30], responses=reviews.ratings[:30])
    with pytest.raises(InputError, match="the response is constant"):
        model.estimate_effects(texts=reviews.texts, responses=np.full(N, 3))


def test_missing_responses_and_covariates_take_part(reviews: ts.datasets.SyntheticReviews) -> None:
    rng = np.random.default_rng(0)
    ratings = np.where(rng.random(N) < 0.1, np.nan, reviews.ratings)
    covariates = pd.DataFrame({"price": rng.normal(size=N)})
    model = ts.TextResponseModel(3, n_jobs=1).fit(reviews.texts, ratings, covariates=covariates)
    assert np.isfinite(model.estimate_effects().of("cost")["std_error"]).all()


def test_shows_itself(effects: EffectTable) -> None:
    assert "Holm" in effects.summary()
    assert "std_error" in str(effects)
    assert "<table" in effects._repr_html_()
    assert len(ts.plots.intervals(effects, "gain").axes) == 1
