"""Checks: every planted fault is named, and clean data are left in peace."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal import TextResponseModel, load
from textsignal.compute.engines.local import local_compute
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.evaluation.metrics import pit_shares
from textsignal.families import Bernoulli, Binomial, Gaussian, Poisson
from textsignal.insight.drivers import driver_table
from textsignal.reading.mentions import Mentions
from textsignal.training.glm import ResponseModel, fit_glm
from textsignal.uncertainty.checks import between, curve_of, influence_on_costs, plain_text, stated_number

REVIEWS = synthetic_reviews(600, seed=4)
TRAINING, NEW = slice(400), np.arange(600) >= 400
COLUMNS = ["check", "measure", "value", "limit", "wrong", "problem", "advice", "rows"]


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(6, levels=(1, 5), n_jobs=1).fit(REVIEWS.texts[TRAINING], REVIEWS.ratings[TRAINING])


@pytest.fixture(scope="module")
def clean(model):
    return model.check(by=pd.Series(REVIEWS.hotels[TRAINING], name="hotel"), over=REVIEWS.dates[TRAINING])


def kinds(check):
    return {finding.check for finding in check.wrong}


def problems(check, kind):
    return " ".join(finding.problem for finding in check.wrong if finding.check == kind)


def test_clean_data_are_left_in_peace(model, clean):
    assert not clean.wrong
    assert str(clean).startswith("Nothing looks wrong in skill, calibration, dispersion, residuals, duplicates,")
    assert not model.check(REVIEWS.texts, REVIEWS.ratings, held_out=NEW).wrong


def test_every_number_that_was_looked_at_is_given(clean):
    frame = clean.to_frame()
    assert list(frame.columns) == COLUMNS
    assert set(frame["check"]) == set(clean.looked_at)
    assert not frame["wrong"].any()
    assert np.isfinite(frame["value"]).all()
    measures = " ".join(frame["measure"])
    assert all(name in measures for name in ("PIT", "tenths", "length", "date", "hotel", "cost"))
    assert clean.pit["documents"].sum() == pytest.approx(400)
    assert clean.reliability["documents"].sum() == 400


def test_the_same_seed_finds_the_same(model, clean):
    again = model.check(by=pd.Series(REVIEWS.hotels[TRAINING], name="hotel"), over=REVIEWS.dates[TRAINING])
    assert again.to_frame().equals(clean.to_frame())


def test_responses_of_other_texts_are_no_skill(model):
    others = np.random.default_rng(0).permutation(REVIEWS.ratings)
    check = model.check(REVIEWS.texts, others)
    assert "next to nothing" in problems(check, "skill")
    assert str(check).startswith("skill: The text explains next to nothing")


def test_held_out_texts_that_are_not_like_training_are_a_gap(model):
    ratings = REVIEWS.ratings.copy()
    ratings[NEW] = np.random.default_rng(0).permutation(ratings[NEW])
    check = model.check(REVIEWS.texts, ratings, held_out=NEW)
    assert "held-out" in problems(check, "skill")


def test_predictions_that_are_too_high_are_off(model):
    check = model.check(REVIEWS.texts, np.maximum(REVIEWS.ratings - 1, 1))
    assert "Predicted distributions are off" in problems(check, "calibration")
    assert " is predicted, " in problems(check, "calibration")


def test_a_family_that_is_too_narrow_is_named_with_one_that_fits():
    rng = np.random.default_rng(1)
    ratings = 1 + rng.binomial(4, rng.beta(*(0.35 * p for p in (REVIEWS.probability, 1 - REVIEWS.probability))))
    model = TextResponseModel(2, family="binomial", levels=(1, 5), n_jobs=1).fit(REVIEWS.texts, ratings)
    check = model.check()
    found = problems(check, "dispersion")
    assert "scatter more than the binomial family implies" in found
    assert "family fits better than binomial" in found


def test_residuals_that_go_with_length_time_covariate_or_group_are_said(model):
    noise = np.random.default_rng(2).normal(size=400)
    ratings = np.clip(REVIEWS.ratings[TRAINING] + np.where(noise > 0, 1, -1), 1, 5)
    texts, days = REVIEWS.texts[TRAINING], np.datetime64("2024-01-01") + (100 * noise).astype("timedelta64[D]")
    covariates = pd.DataFrame({"price": noise, "noise_free": np.random.default_rng(3).normal(size=400)})
    hotels = pd.Series(np.where(noise > 0, "Inn", "Lodge"), name="hotel")
    found = problems(model.check(texts, ratings, covariates=covariates, over=days, by=hotels), "residuals")
    assert "depend on price" in found
    assert "depend on date" in found
    assert "differ by hotel" in found
    assert "noise_free" not in found
    assert "length" not in found
    long = [text + " The end." * 30 * int(z > 0) for text, z in zip(texts, noise, strict=True)]
    assert "depend on the length of the text" in problems(model.check(long, ratings), "residuals")


def test_copies_are_counted(model):
    texts = [*REVIEWS.texts[:300], *REVIEWS.texts[:50], *[text.upper() + " " for text in REVIEWS.texts[50:80]]]
    ratings = [*REVIEWS.ratings[:300], *REVIEWS.ratings[:80]]
    check = model.check(texts, ratings, held_out=np.arange(380) >= 300)
    found = problems(check, "duplicates")
    assert "50 texts (13.2%) are copies of others" in found
    assert "30 texts (7.9%) differ from others in case, spaces or punctuation alone" in found
    assert "80 held-out texts (100.0%) are in training too" in found
    assert (1, 301) in {finding.rows for finding in check.wrong}


def test_texts_that_state_the_rating_are_leaks(model):
    rng, names = np.random.default_rng(5), ["one star", "2 stars", "3/5", "four stars", "5 out of 5"]
    texts = [
        f"{text} I give it {names[y - 1]}." if rng.random() < 0.15 else text
        for text, y in zip(REVIEWS.texts, REVIEWS.ratings, strict=True)
    ]
    check = model.check(texts, REVIEWS.ratings)
    assert "state a rating" in problems(check, "leakage")
    assert "without." in problems(check, "leakage")
    rows = next(finding.rows for finding in check.wrong if finding.check == "leakage")
    assert all("I give it" in texts[row - 1] for row in rows)


def test_a_word_that_is_the_rating_is_a_leak():
    rng, words = np.random.default_rng(6), ["uno", "duo", "trio", "quartet", "quintet"]
    texts = [
        f"{text} {words[y - 1]}." if rng.random() < 0.5 else text
        for text, y in zip(REVIEWS.texts[:300], REVIEWS.ratings[:300], strict=True)
    ]
    model = TextResponseModel(2, family="binomial", levels=(1, 5), n_jobs=1).fit(texts, REVIEWS.ratings[:300])
    found = problems(model.check(), "leakage")
    assert "all but determine the response: “quintet”" in found


def test_a_text_that_makes_a_cost_is_named(model):
    weight = np.ones(400)
    worst = int(np.argmin(model.predict(REVIEWS.texts[TRAINING])))
    weight[worst] = 200
    check = model.check(REVIEWS.texts[TRAINING], REVIEWS.ratings[TRAINING], sample_weight=weight)
    assert f"Without the text in row {worst + 1:,} the cost of" in problems(check, "influence")


def test_a_group_that_makes_a_cost_is_named(model):
    table = model.drivers(texts=REVIEWS.texts, responses=REVIEWS.ratings)
    theme = int(table["theme"].iloc[0])
    bad = model.contributions(REVIEWS.texts).iloc[:, 1 + theme].to_numpy() < 0
    hotels = pd.Series(np.where(bad, "Inn", np.where(np.arange(600) % 2, "Lodge", "Mill")), name="hotel")
    assert "Without Inn (" in problems(model.check(REVIEWS.texts, REVIEWS.ratings, by=hotels), "influence")


def test_other_kinds_of_responses_are_checked():
    texts, y = REVIEWS.texts[:150], REVIEWS.ratings[:150]
    for responses, options in (
        (np.where(y > 3, "yes", "no"), {}),
        (y + np.random.default_rng(0).normal(size=150), {}),
        (y / 5, {"family": "proportion"}),
    ):
        fitted = TextResponseModel(2, n_jobs=1, **options).fit(texts, responses)
        assert "influence" in fitted.check().looked_at


def test_bad_input_is_named(model, tmp_path):
    texts, y = REVIEWS.texts, REVIEWS.ratings
    for options, message in (
        ({"responses": y[:5]}, "600 texts, but 5 responses"),
        ({"responses": y, "held_out": [True]}, "held_out has 1 flags"),
        ({"responses": y, "by": ["inn"]}, "by has 1 groups"),
        ({"responses": y, "over": ["soon"] * 600}, "'soon' in row 1 is not a date"),
        ({"responses": y, "covariates": pd.DataFrame({"a": [1]})}, "1 rows of covariates"),
        ({"responses": np.full(600, 3)}, "constant"),
        ({"responses": np.where(np.arange(600) < 9, y, np.nan)}, "9 texts have a response"),
    ):
        with pytest.raises(InputError, match=message):
            model.check(texts, **options)
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="texts"):
        load(tmp_path / "model").check()


def test_a_notebook_shows_what_was_written_not_markup(model):
    hotels = pd.Series(np.where(REVIEWS.ratings[TRAINING] > 3, "<b>", "&"), name="hotel")
    shown = model.check(by=hotels)._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "<li>" in shown


@given(st.sampled_from([Binomial(4, 1), Bernoulli((0, 1)), Gaussian(1.5), Poisson()]), st.integers(0, 99))
@settings(max_examples=20)
def test_places_of_responses_that_the_family_drew_are_even(family, seed):
    rng = np.random.default_rng(seed)
    eta = rng.normal(size=4000)
    shares = pit_shares(family, family.sample(eta, rng), eta)
    assert np.abs(shares - np.linspace(0, 1, 11)).max() < 0.04
    assert shares[0] == pytest.approx(0, abs=1e-9)
    assert shares[-1] == pytest.approx(1)


@given(st.integers(0, 1000))
@settings(max_examples=30)
def test_a_curve_and_its_error_are_those_of_least_squares_and_noise_has_none(seed):
    rng = np.random.default_rng(seed)
    number, noise = rng.normal(size=300), rng.normal(size=300)
    curve = curve_of(noise, number, np.ones(300), level=1e-5)
    assert curve.range < curve.chance
    bent = curve_of(noise + 3 * (number > 0), number, np.ones(300), level=1e-6)
    assert bent.range > bent.chance
    assert bent.slope > 3 * bent.error
    assert between(noise + 2 * (number > 0), (number > 0).astype(np.int64), np.ones(300)) == pytest.approx(1, abs=0.4)


def test_leaving_a_document_out_moves_costs_as_a_refit_does():
    rng = np.random.default_rng(0)
    n, family = 300, Binomial(4, 1)
    tone = rng.normal(size=(n, 2)) * (rng.random((n, 2)) < 0.6)
    shares = rng.dirichlet([1, 1], size=n)
    columns = np.column_stack([tone, shares[:, 0] - shares[:, 1]])
    y = family.sample(0.5 + columns @ [0.8, 0.5, 0.3], rng)

    def spoken(rows, weight):
        with local_compute(1) as compute:
            fit = fit_glm(ResponseModel(family, compute, 0.0, fit_intercept=True), columns, family.encode(y), weight)
        parts = fit.effects[:2] * tone
        whole = Mentions(
            family=family,
            eta=fit.linear_predictor(columns),
            tone=parts,
            complaint=np.minimum(parts, 0),
            praise=np.maximum(parts, 0),
            shares=shares,
            mentioned=tone != 0,
            complains=parts < 0,
            praises=parts > 0,
            unplaced=np.zeros(n),
            responses=y.astype(float),
            weight=weight,
        )
        return whole.at(rows)

    found = influence_on_costs(spoken(np.arange(n), np.ones(n)))
    costs = driver_table(spoken(np.arange(n), np.ones(n)))["cost"].to_numpy()
    assert found.costs == pytest.approx(costs)
    out = np.argsort(-np.abs(found.of_texts).max(axis=1))[:5]
    for row in out:
        weight = np.ones(n)
        weight[row] = 0
        refitted = driver_table(spoken(np.delete(np.arange(n), row), weight))["cost"].to_numpy()
        assert found.of_texts[row] == pytest.approx(refitted - costs, rel=0.1, abs=1e-4)
    weight, codes = np.ones(n), np.full(n, -1)
    weight[out], codes[out] = 0, 0
    refitted = driver_table(spoken(np.setdiff1d(np.arange(n), out), weight))["cost"].to_numpy()
    assert found.of_groups(codes)[0] == pytest.approx(refitted - costs, rel=0.15, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "share"),
    [("5 stars!", 1), ("a one-star place", 0.2), ("I'd say 7 out of 10", 0.7), ("4/5", 0.8), ("rated it 3.", 0.6)],
)
def test_ratings_that_are_stated_are_read(text, share):
    assert stated_number(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["Room 5.", "the stars above", "24/7", "10/12/2015", "", "one of the best"])
def test_other_numbers_are_no_ratings(text):
    assert np.isnan(stated_number(text))


@given(st.text())
def test_case_spaces_and_punctuation_do_not_matter(text):
    assert plain_text(plain_text(text)) == plain_text(text)
    assert plain_text(f"  {text} .") == plain_text(text)
