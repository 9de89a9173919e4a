"""A report of every kind of response: half steps, two values, counts, any numbers."""

import re
from functools import cache

import numpy as np
import pytest
from scipy.special import logit
from small_reviews import prepare

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews
from textsignal.families import (
    Bernoulli,
    BetaBinomial,
    Binomial,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Stereotype,
)
from textsignal.report.page.charts import chart_specs
from textsignal.report.page.render import render
from textsignal.report.values.data import ReportSettings
from textsignal.report.values.texts import bins_of

REVIEWS = synthetic_reviews(500, seed=2)
ETA = logit(REVIEWS.probability)
HELD_OUT = np.arange(500) >= 400
KINDS = {
    "half steps": (Binomial(8, 1, 0.5), ETA),
    "beta-binomial": (BetaBinomial(10, 0, dispersion=0.3), ETA),
    "stereotype": (Stereotype(4, 1, offsets=(1.0, -1.0, -0.5, -0.2, 0.7)), 0.5 * ETA),
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
    assert sum(bar.value for bar in report.summary.responses) == pytest.approx(1)
    assert 2 <= len(report.bins.labels) <= 25
    for theme in report.themes:
        assert [bar.label for bar in theme.responses] == list(report.bins.labels)


@every
def test_skill_is_measured(kind):
    prediction = report_of(kind).prediction
    assert np.mean([bar.value for bar in prediction.pit]) == pytest.approx(1)
    # What the text does not tell scatters, and a Poisson has no parameter for that.
    assert abs(prediction.interval_held - prediction.interval_meant) < (0.2 if kind == "poisson" else 0.12)
    assert prediction.log_score < prediction.log_score_without
    assert sum(cell.cases for cell in prediction.agreement) == HELD_OUT.sum()
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
    given = "themesModel(JSON.parse(document.getElementById('model-data').textContent))"
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
    assert page.inner_text("#try-mean") == report_of(kind).naming.mean(predictions.mean[0])
    assert page.inner_text("#try-words").endswith(ends_with(kind, model))
    assert visit.errors == []


def ends_with(kind, model):
    """Return the last sentence on the first text: a chance, or an interval."""
    eta = model.predictions(TEXTS[:1]).eta
    if kind == "bernoulli":
        return "Probability of response 1 rather than 0."
    if not hasattr(model.family_, "levels"):
        low, high = (float(end[0]) for end in model.family_.distribution(eta).interval(0.9))
        digits = 0 if kind != "gaussian" else 2
        return f"90% interval: {low:.{digits}f} to {high:.{digits}f}."
    levels = model.levels_
    passing = min(level for level in levels if level > (levels[0] + levels[-1]) / 2)
    chance = model.predict_proba(TEXTS[:1])[0][levels >= passing].sum()
    return f"Probability of {passing:g} or better: {chance:.0%}."


#: What a response of a kind is called, and what its mean and changes of it are measured in.
CALLED = {
    "half steps": ("Stars", "Stars", "the average Stars"),
    "ordinal": ("grade", "points", "the average grade"),
    "bernoulli": ("recommended", "percentage points", "the share with recommended 1"),
    "poisson": ("helpful_votes", "helpful votes", "the average helpful votes"),
    "gaussian": ("score", "points", "the average score"),
}


def named(kind, **options):
    """Model and report of a kind by its name."""
    model, y = fitted(kind)
    model = model.name_response(CALLED[kind][0], **options)
    settings = ReportSettings(response_name=CALLED[kind][0])
    return model, prepare(model, model.read(REVIEWS.texts), y, HELD_OUT, settings)


@pytest.mark.parametrize("kind", CALLED)
def test_sentences_speak_of_the_response_in_question(kind):
    model, report = named(kind)
    _, unit, average = CALLED[kind]
    share = kind == "bernoulli"
    first = next(theme for theme in report.themes if theme.number == report.findings.to_fix[0].parts[0].number)
    sentence = str(report.findings.to_fix[0])
    steps, digits = (100, 1) if share else (1, 2)
    mean = f"{first.mean_complaint:.0%}" if share else f"{first.mean_complaint:.1f}"
    assert f"their {average.removeprefix('the ')} is {mean}" in sentence
    assert (
        f" {steps * first.cost_per_complaint:.{digits}f} {unit}, together {steps * first.cost:.{digits}f}" in sentence
    )
    assert f"{steps * first.cost:.{digits}f} {unit}" in sentence
    most = max(theme.cost for theme in report.themes if not theme.is_overall)
    verb = "lowers" if kind in WITHOUT_DIRECTION else "costs"
    assert f"{verb} most: {steps * most:.{digits}f} {unit}" in str(report.findings.conclusion)
    assert ("typical error" in report.findings.trust) != share
    drivers = model.drivers(texts=REVIEWS.texts, responses=fitted(kind)[1])
    assert drivers.findings().to_fix[0] == sentence


#: Kinds of which neither more nor less is better.
WITHOUT_DIRECTION = ("poisson", "negative-binomial", "gaussian")
#: All that a reader sees, hovers over or hears, without words of the texts.
READ = """() => {
    const ofTexts = "blockquote p, .terms, .terms-line, .cloud, [data-name], .clause";
    document.querySelectorAll(ofTexts).forEach((part) => part.remove());
    const of = (name) => [...document.querySelectorAll(`[${name}]`)].map((part) => part.getAttribute(name));
    return [document.body.innerText, ...["title", "aria-label", "placeholder"].flatMap(of)].join("\\n");
}"""


@every
def test_a_response_without_direction_has_no_praise_and_no_complaints(kind, tabs, tmp_path):
    model, y = fitted(kind)
    groups = np.where(np.arange(len(y)) % 3, "inn", "hotel")
    days = np.datetime64("2020-01-01") + np.arange(len(y)) % 300
    report = prepare(model, model.read(REVIEWS.texts), y, HELD_OUT, groups=groups, times=days)
    (tmp_path / "report.html").write_text(render(report), encoding="utf-8")
    visit = tabs.open(tmp_path / "report.html")
    page = visit.page
    page.evaluate("textsignal.drawn()")
    page.click("#open-all")
    page.fill("#try-text", TEXTS[0])
    page.wait_for_selector("#try-result:visible")
    page.evaluate("textsignal.showTexts({ theme: 1 })")
    page.locator("#found-texts .shaded").first.focus()
    page.locator("#heat td.cell").first.focus()
    directed = kind not in WITHOUT_DIRECTION
    kinds = [row.locator("td").nth(2).inner_text() for row in page.locator("#try-clauses tr").all()]
    assert set(kinds) <= ({"praise", "neutral", "complaint"} if directed else {"raises", "neutral", "lowers"})
    read = page.evaluate(READ)
    read = re.sub("the (larger|smaller) the better", "", read)
    words = set(re.findall(r"\b(?:prais|complain|better|worse|worst|costs?\b|gains?\b)\w*", read, re.IGNORECASE))
    assert {"praise", "complaints"} <= {word.lower() for word in words} if directed else not words, words
    assert visit.errors == []
    tabs.leave(visit)


@pytest.mark.parametrize("kind", CALLED)
def test_axes_stay_on_the_scale_and_name_it(kind):
    _, report = named(kind)
    specs = chart_specs(report)
    name, unit, _ = CALLED[kind]
    axes = [layer["encoding"]["x"]["axis"] for layer in specs["agreement"]["layer"]]
    for axis in axes:
        assert axis["title"] == (
            "predicted share of 1" if kind == "bernoulli" else f"predicted {name.replace('_', ' ')}"
        )
        assert report.bins.low <= min(axis["values"]) < max(axis["values"]) <= report.bins.high
    bars = [layer["encoding"]["x"]["axis"]["title"] for layer in specs["drivers"]["layer"][:1]]
    assert bars[0].startswith(unit)
    steps = 100 if kind == "bernoulli" else 1
    drawn = {row["theme"]: row["value"] for row in specs["drivers"]["data"]["values"] if row["side"] == "adds"}
    assert drawn == pytest.approx({theme.number: steps * theme.gain for theme in report.themes})


@pytest.mark.parametrize("kind", ["ordinal", "bernoulli"])
def test_where_less_is_better_everything_is_turned_round(kind):
    (_, report), (_, turned) = named(kind), named(kind, lower_is_better=True)
    by_number = {theme.number: theme for theme in report.themes}
    for theme in turned.themes:
        other = by_number[theme.number]
        assert (theme.cost, theme.gain) == pytest.approx((other.gain, other.cost))
        assert (theme.praise, theme.complaints) == pytest.approx((other.complaints, other.praise))
        assert (theme.mean_praise, theme.mean_complaint) == (other.mean_complaint, other.mean_praise)
        assert (theme.cost_per_complaint, theme.gain_per_praise) == (
            pytest.approx(other.gain_per_praise),
            pytest.approx(other.cost_per_complaint),
        )
        assert (theme.neutral, theme.mentions) == (other.neutral, other.mentions)
        assert (theme.raises, theme.lowers) == (other.raises, other.lowers)
        assert (theme.praising, theme.complaining) != (other.praising, other.complaining) or not theme.complaining
    costs = [theme.cost for theme in turned.themes if not theme.is_overall]
    assert costs == sorted(costs, reverse=True)
    assert turned.themes[-1].is_overall
    assert all(" lower." in str(sentence) for sentence in turned.findings.to_fix)
    assert all(" higher." in str(sentence) for sentence in turned.findings.to_keep)
    rows = chart_specs(turned)["drivers"]["data"]["values"]
    assert all(row["value"] >= 0 for row in rows if row["side"] == "costs")
    page = render(turned)
    assert "Orange dotted words raise the prediction, blue ones lower it" in page
    assert "Blue words raise" not in page


def test_colours_of_a_text_are_turned_round_where_less_is_better(tabs, opened, tmp_path):
    _, report = named("ordinal", lower_is_better=True)
    (tmp_path / "turned.html").write_text(render(report), encoding="utf-8")
    visits = [opened("ordinal"), tabs.open(tmp_path / "turned.html")]
    colours, points = [], []
    for visit in visits:
        visit.page.fill("#try-text", TEXTS[0])
        visit.page.wait_for_selector("#try-result:visible")
        words = visit.page.locator("#try-marked mark")
        colours.append(words.evaluate_all("all => all.map((one) => one.className.split(' ')[0])"))
        points.append(words.evaluate_all("all => all.map((one) => one.title)"))
        assert visit.errors == []
    assert points[0] == points[1]
    moving = [i for i, title in enumerate(points[0]) if not title.startswith("0.000")]
    assert {colours[0][i] for i in moving} == {"up", "down"}
    assert all(colours[0][i] != colours[1][i] for i in moving)
    assert "or better:" in visits[1].page.inner_text("#try-words")
    tabs.leave(visits[1])


@pytest.mark.parametrize("kind", ["poisson", "negative-binomial", "gaussian"])
def test_the_distribution_that_is_drawn_is_that_of_python(kind, opened):
    model, _ = fitted(kind)
    inner = report_of(kind).bins.edges[1:-1]
    given = "themesModel(JSON.parse(document.getElementById('model-data').textContent))"
    script = f"async ([eta, at]) => {{ const m = await {given}; return at.map((x) => m.family.cdf(eta, x)) }}"
    eta = float(model.predictions(TEXTS[:1]).eta[0])
    found = opened(kind).page.evaluate(script, [eta, inner.tolist()])
    np.testing.assert_allclose(found, model.family_.distribution(eta).cdf(inner), atol=1e-9)
