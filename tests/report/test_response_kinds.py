"""A report of every kind of response: half steps, two values, counts, any numbers."""

from functools import cache

import numpy as np
import pytest
from scipy.special import logit

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews
from textsignal.families import (
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
)
from textsignal.report.page.render import render
from textsignal.report.values.bins import bins_of
from textsignal.report.values.prepare import prepare

REVIEWS = synthetic_reviews(500, seed=2)
ETA = logit(REVIEWS.probability)
HELD_OUT = np.arange(500) >= 400
KINDS = {
    "half steps": (Binomial(8, 1, 0.5), ETA),
    "beta-binomial": (BetaBinomial(10, 0, dispersion=0.3), ETA),
    "adjacent-categories": (AdjacentCategories(4, 1, offsets=(1.0, -1.0, -0.5, -0.2, 0.7)), 0.5 * ETA),
    "ordinal": (Ordinal((1, 2, 3, 5), (-1.5, 0.0, 1.5)), 1.5 * ETA),
    "bernoulli": (Bernoulli((0, 1)), 1.5 * ETA),
    "poisson": (Poisson(), 0.7 * ETA + 1),
    "negative-binomial": (NegativeBinomial(0.3), 0.7 * ETA + 3),
    "gaussian": (Gaussian(3.0), 80 + 5 * ETA),
}
TEXTS = ["The staff were friendly and helpful, but the bathroom was dirty.", "Never again!", "", "Lovely room."]
every = pytest.mark.parametrize("kind", KINDS)


@cache
def fitted(kind):
    family, eta = KINDS[kind]
    y = family.sample(eta, np.random.default_rng(0)).astype(float)
    levels = (1, 5, 0.5) if kind == "half steps" else None
    model = TextResponseModel(6, family=family.name, levels=levels, n_jobs=1)
    return model.fit([text for text, new in zip(REVIEWS.texts, HELD_OUT, strict=True) if not new], y[~HELD_OUT]), y


@cache
def report_of(kind):
    model, y = fitted(kind)
    return prepare(model, model.read(REVIEWS.texts), y, HELD_OUT)


@every
def test_bars_hold_all_responses(kind):
    report = report_of(kind)
    assert sum(bar.value for bar in report.documents.responses) == pytest.approx(1)
    assert 2 <= len(report.bins.labels) <= 25
    for topic in report.topics:
        assert [bar.label for bar in topic.spoken_responses] == list(report.bins.labels)


@every
def test_skill_is_measured(kind):
    prediction = report_of(kind).prediction
    assert np.mean([bar.value for bar in prediction.pit]) == pytest.approx(1)
    # What the text does not tell scatters, and a Poisson has no parameter for that.
    assert abs(prediction.interval_held - prediction.interval_meant) < (0.2 if kind == "poisson" else 0.12)
    assert prediction.log_score < prediction.log_score_without
    assert sum(cell.count for cell in prediction.agreement) == HELD_OUT.sum()
    assert len(prediction.agreement) <= HELD_OUT.sum()


@every
def test_chances_of_bins_sum_to_one_and_are_those_of_samples(kind):
    family, eta = KINDS[kind]
    y = family.sample(eta, np.random.default_rng(1)).astype(float)
    bins = bins_of(family, y)
    chances, happened = bins.chances(family, eta), bins.happened(y)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(happened.sum(axis=1), 1)
    np.testing.assert_allclose(chances.mean(axis=0), happened.mean(axis=0), atol=0.08)


@pytest.fixture(scope="module")
def opened(tabs, tmp_path_factory):
    """The page of each kind."""
    folder = tmp_path_factory.mktemp("kinds")

    def open_report(kind):
        file = folder / f"{kind}.html"
        file.write_text(render(report_of(kind)), encoding="utf-8")
        return tabs.open(file)

    return cache(open_report)


@every
def test_a_text_that_is_tried_has_the_numbers_of_python(kind, opened):
    model, _ = fitted(kind)
    visit = opened(kind)
    page = visit.page
    given = "textsignalModel(JSON.parse(document.getElementById('model-data').textContent))"
    found = page.evaluate(f"async (texts) => {{ const m = await {given}; return texts.map(m.predict) }}", TEXTS)
    predictions = model.predictions(TEXTS)
    family = model.family_
    np.testing.assert_allclose([one["mean"] for one in found], predictions.mean, rtol=1e-6, atol=1e-6)
    if hasattr(family, "levels"):
        chances = [one["probabilities"] for one in found]
        np.testing.assert_allclose(chances, model.predict_proba(TEXTS), atol=1e-6)
    else:
        ends = np.array(family.distribution(predictions.eta).interval(0.9)).T
        np.testing.assert_allclose([one["interval"] for one in found], ends, rtol=1e-6, atol=1e-5)
    page.fill("#try-text", TEXTS[0])
    page.wait_for_selector("#try-result:not([hidden])")
    assert page.inner_text("#try-mean") == model.naming_.mean(predictions.mean[0])
    words = page.inner_text("#try-words")
    assert ("Nine in ten" in words) == (not hasattr(family, "levels"))
    assert visit.errors == []


@pytest.mark.parametrize("kind", ["poisson", "negative-binomial", "gaussian"])
def test_the_distribution_that_is_drawn_is_that_of_python(kind, opened):
    model, _ = fitted(kind)
    inner = report_of(kind).bins.edges[1:-1]
    given = "textsignalModel(JSON.parse(document.getElementById('model-data').textContent))"
    script = f"async ([eta, at]) => {{ const m = await {given}; return at.map((x) => m.family.cdf(eta, x)) }}"
    eta = float(model.predictions(TEXTS[:1]).eta[0])
    found = opened(kind).page.evaluate(script, [eta, inner.tolist()])
    np.testing.assert_allclose(found, model.family_.distribution(eta).cdf(inner), atol=1e-9)
