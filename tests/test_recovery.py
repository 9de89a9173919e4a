"""Recovery: of every family and training, themes, effects and own parameters that simulated data were made with.

The truth is  eta = constant + sum_k effect_k share_k,  share_k the part of a text that is about theme k. Shares add up
to 1, so that only differences of effects mean something: all are compared against the average text.

What is compared: trainings weigh text in units of their own (rows of norm 1 and smoothed weights in predictive
training, tone of words in that of themes), but all give a linear predictor. Its least-squares slopes on the *true*
shares are effects in the units of the truth, whatever a model is made of: "so much more where a text is about this
alone". Joint training of rows that sum to 1 has weights that are shares, and there the coefficients themselves are
compared too.

How near: within 10%, or two standard errors, of what the GLM on the true shares gives for the same responses. No text
tells more than that, and the luck of the draw is the same for both. Its standard errors are taken, which are smaller
than those of models that have to guess shares. Of the truth itself even that GLM misses one effect in twenty by more
than two standard errors; so nine in ten of all effects of a training must be within 10% or two of these.

What is not held to that is the tone of single words, in the training of themes: it is shrunk on purpose (few passes,
half of the words left out in each), by up to a third here. Effects by predictive training are about 5% too small: its
smoothed weights blur shares.

`pytest -s tests/test_recovery.py` prints what was recovered.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.preprocessing import normalize

from textsignal import GLMNMF, TextResponseModel
from textsignal.compute.engines.local import local_compute
from textsignal.datasets import simulate_corpus
from textsignal.families import (
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Proportion,
    Stereotype,
)
from textsignal.training.glm import ResponseModel, fit_glm

#: The family, the size of effects in units of `EFFECTS`, and the constant.
TRUTH = {
    "binomial": (Binomial(4, 1), 1.0, 0.0),
    "beta-binomial": (BetaBinomial(10, 0, dispersion=0.2), 1.0, 0.0),
    "adjacent-categories": (AdjacentCategories(4, 1, offsets=(1.0, -1.0, -0.5, -0.2, 0.7)), 0.6, 0.0),
    "stereotype": (Stereotype(4, 1, offsets=(1.0, -1.0, -0.5, -0.2, 0.7), places=(0.0, 0.3, 1.0, 3.0, 4.0)), 0.6, 0.0),
    "ordinal": (Ordinal((1, 2, 3, 4, 5), (-1.5, -0.5, 0.5, 1.5)), 1.5, 0.0),
    "bernoulli": (Bernoulli((0, 1)), 1.5, 0.0),
    "proportion": (Proportion(), 1.0, 0.0),
    "poisson": (Poisson(), 0.7, 0.5),
    "negative-binomial": (NegativeBinomial(0.4), 0.7, 0.5),
    "gaussian": (Gaussian(3.0), 5.0, 80.0),
}
EFFECTS = np.array([-1.5, -0.5, 0.5, 1.5])
N_THEMES = len(EFFECTS)
#: Of own parameters: how near, as a part of the largest.
NEAR = 0.15
every_family = pytest.mark.parametrize("name", TRUTH)


@dataclass(frozen=True, eq=False)
class Data:
    """Texts and the truth behind them: (documents, themes [+ 1]) shares, and the tone where there is one."""

    texts: object
    shares: np.ndarray
    effects: np.ndarray

    def responses(self, name):
        """Responses and weights: of proportions, trials that differ."""
        family, size, constant = TRUTH[name]
        eta, rng = constant + self.shares @ (size * self.effects), np.random.default_rng(1)
        if name != "proportion":
            return family.sample(eta, rng).astype(float), np.ones(len(eta))
        trials = rng.integers(1, 12, len(eta))
        return rng.binomial(trials, family.mean(eta)) / trials, trials.astype(float)

    @property
    def centring(self):
        """(columns, columns) takes the average text off effects of shares; tone stays as it is."""
        matrix = np.eye(self.shares.shape[1])
        matrix[:N_THEMES, :N_THEMES] -= self.shares[:, :N_THEMES].mean(axis=0)
        return matrix

    def true_effects(self, name):
        return self.centring @ (TRUTH[name][1] * self.effects)

    def reference(self, name):
        """Effects by the GLM on the truth, against the average text, and their standard errors.

        The first theme is what others are compared with.
        """
        y, weight = self.responses(name)
        family, contrast = TRUTH[name][0], self.centring[:, 1:]
        with local_compute(1) as compute:
            model = ResponseModel(family, compute, 0.0, fit_intercept=True)
            fit = fit_glm(model, self.shares[:, 1:], family.encode(y), weight)
        covariance = np.linalg.inv(fit.hessian)[:-1, :-1]
        return contrast @ fit.effects, np.sqrt(np.diag(contrast @ covariance @ contrast.T))

    def slopes(self, eta):
        """Of a model's linear predictor on the truth, against the average text."""
        return self.centring @ np.linalg.lstsq(self.shares, eta, rcond=None)[0]


CORPUS = simulate_corpus(
    3000, 150, N_THEMES, mean_length=80, topic_sparsity=0.1, term_sparsity=0.05, random_state=3
)  # fmt: skip
ROWS = {"predictive": CORPUS.counts, "joint": normalize(CORPUS.counts, "l1")}
COUNTS = Data(CORPUS.counts, CORPUS.weights, EFFECTS)

#: Words of themes, and words of tone that stand with any of them.
NOUNS = [
    ["bed", "pillow", "mattress", "duvet", "sheets", "linen", "blanket", "headboard"],
    ["waiter", "menu", "chef", "kitchen", "supper", "soup", "dessert", "plate"],
    ["train", "tram", "harbour", "bridge", "square", "museum", "market", "station"],
    ["invoice", "deposit", "refund", "fee", "card", "payment", "price", "receipt"],
]
GOOD = ["wonderful", "excellent", "great", "perfect", "lovely"]
BAD = ["awful", "terrible", "poor", "dreadful", "horrible"]
SENTENCES, TONE = 4, 1.5


def written(n=1200, seed=0):
    """Documents of four sentences, each about one theme; a third praises, a third blames, a third does neither."""
    rng = np.random.default_rng(seed)
    truth, texts = np.zeros((n, N_THEMES + 1)), []
    for row in truth:
        about, sentences = rng.dirichlet(np.full(N_THEMES, 0.3)), []
        words = {1: list(rng.permutation(GOOD)), -1: list(rng.permutation(BAD))}
        for theme, tone in zip(
            rng.choice(N_THEMES, SENTENCES, p=about), rng.choice([-1, 0, 1], SENTENCES), strict=True
        ):
            row[[theme, N_THEMES]] += np.array([1, tone]) / SENTENCES
            one, other, third = rng.permutation(NOUNS[theme])[:3]
            said = f" were {words[int(tone)].pop()}" if tone else ""
            sentences.append(f"The {one} and the {other}{said} with the {third}.")
        texts.append(" ".join(sentences))
    return Data(texts, truth, np.append(EFFECTS, TONE))


TEXTS = written()


@cache
def topics_of(name, training):
    y, weight = COUNTS.responses(name)
    return GLMNMF(N_THEMES, family=name, training=training, n_jobs=1).fit(ROWS[training], y, weight)


@cache
def themes_of(name):
    y, weight = TEXTS.responses(name)
    return TextResponseModel(N_THEMES, family=name, n_jobs=1).fit(TEXTS.texts, y, sample_weight=weight)


def matched(found, true):
    """Cosines of topics and of the true ones they match best, and the found one for each true one."""
    cosines = normalize(true) @ normalize(found).T
    rows, places = linear_sum_assignment(-cosines)
    return cosines[rows, places], places


def near(found, expected, errors):
    """(effects,) whether they are within 10% or two standard errors."""
    return np.abs(found - expected) <= np.maximum(0.1 * np.abs(expected), 2 * errors)


def assert_recovered(found, data, name):
    """Effects of themes (themes,), against the average text."""
    true, (expected, errors) = (
        data.true_effects(name)[:N_THEMES],
        (values[:N_THEMES] for values in data.reference(name)),
    )
    print(f"found {found.round(2)}, by true shares {expected.round(2)} +- {errors.round(2)}, true {true.round(2)}")
    np.testing.assert_array_equal(np.sign(found), np.sign(true))
    assert near(found, expected, errors).all()


def effects_of(name, training):
    """A model's effects, of themes and of tone where there is one, and the data it was fitted to."""
    if training == "themes":
        return TEXTS.slopes(themes_of(name).predictions(TEXTS.texts).eta), TEXTS
    return COUNTS.slopes(topics_of(name, training).predictions(ROWS[training]).eta), COUNTS


@pytest.mark.parametrize("training", ["predictive", "joint", "themes"])
def test_nine_in_ten_effects_are_near_the_truth(training):
    right = []
    for name in TRUTH:
        found, data = effects_of(name, training)
        right.extend(near(found, data.true_effects(name), data.reference(name)[1])[:N_THEMES])
    print(f"\n{training}: {sum(right)} of {len(right)} effects within 10% or two standard errors of the truth")
    assert np.mean(right) >= 0.9


class TestTopics:
    """On counts, which joint training takes as shares of each row."""

    @pytest.mark.parametrize("training", ["predictive", "joint"])
    @every_family
    def test_topics_and_effects(self, name, training):
        model = topics_of(name, training)
        cosines, places = matched(model.components_, CORPUS.topics)
        print(f"\n{name}, {training}: cosines {cosines.round(3)}")
        assert cosines.min() > 0.9
        assert_recovered(effects_of(name, training)[0], COUNTS, name)
        if training == "joint":
            assert_recovered(COUNTS.centring @ model.coef_[places], COUNTS, name)

    @pytest.mark.parametrize("training", ["predictive", "joint"])
    @pytest.mark.parametrize(
        ("name", "parameter"),
        [("gaussian", "deviation"), ("beta-binomial", "dispersion"), ("negative-binomial", "dispersion"),
         ("ordinal", "thresholds"), ("adjacent-categories", "offsets"), ("stereotype", "places")],
    )  # fmt: skip
    def test_own_parameters(self, name, parameter, training):
        true, found = (
            np.array(getattr(family, parameter)) for family in (TRUTH[name][0], topics_of(name, training).family_)
        )
        print(f"\n{name}, {training}: {parameter} {found.round(2)}, true {true}")
        np.testing.assert_allclose(found, true, atol=NEAR * np.abs(true).max())

    @pytest.mark.parametrize("training", ["predictive", "joint"])
    def test_the_unit_of_a_number_does_not_matter(self, training):
        """Points or cents: the same topics, effects in points or cents."""
        y, _ = COUNTS.responses("gaussian")
        cents = GLMNMF(N_THEMES, family="gaussian", training=training, n_jobs=1).fit(ROWS[training], 100 * y)
        points = topics_of("gaussian", training)
        np.testing.assert_allclose(cents.components_, points.components_, atol=0.01)
        np.testing.assert_allclose(cents.predict(ROWS[training]) / 100, points.predict(ROWS[training]), atol=0.3)


class TestThemes:
    """On texts of sentences."""

    @every_family
    def test_themes_and_effects(self, name):
        fitted = themes_of(name).reader_.fitted
        true = np.array([[term in nouns for term in fitted.terms] for nouns in NOUNS], dtype=float)
        cosines, _ = matched(fitted.themes.topics, true)
        print(f"\n{name}, themes: cosines {cosines.round(3)}")
        assert cosines.min() > 0.9
        (*found, tone), true_tone = effects_of(name, "themes")[0], TEXTS.true_effects(name)[-1]
        assert_recovered(np.array(found), TEXTS, name)
        print(f"tone {tone:.2f}, true {true_tone:.2f}")
        assert 0.6 < tone / true_tone < 1.1


class TestClasses:
    """Classes without an order: an effect of every theme on each class but the first, against which it is."""

    EFFECTS = np.column_stack([EFFECTS, [1.0, -1.5, 1.5, -1.0]])
    FAMILY = Categorical(("bar", "inn", "spa"))

    def data(self, data):
        """Responses, true effects against the average text, and those by the GLM on the truth with their errors."""
        n_columns, contrast = data.shares.shape[1], data.centring[:, 1:]
        effects = np.vstack([self.EFFECTS, np.full((n_columns - N_THEMES, 2), TONE)])
        y = self.FAMILY.sample(data.shares @ effects, np.random.default_rng(1))
        with local_compute(1) as compute:
            model = ResponseModel(self.FAMILY, compute, 0.0, fit_intercept=True)
            fit = fit_glm(model, data.shares[:, 1:], self.FAMILY.encode(y), np.ones(len(y)))
        inverse = np.linalg.inv(fit.hessian).reshape(n_columns, 2, n_columns, 2)[:-1, :, :-1, :]
        variance = np.einsum("ki,ipjp,kj->kp", contrast, inverse, contrast)
        return y, (data.centring @ effects)[:N_THEMES], (contrast @ fit.effects)[:N_THEMES], variance[:N_THEMES] ** 0.5

    def check(self, found, data):
        _, true, expected, errors = self.data(data)
        print(f"found {found.T.round(2)}, by true shares {expected.T.round(2)} +- {errors.T.round(2)}")
        np.testing.assert_array_equal(np.sign(found), np.sign(true))
        assert near(found, expected, errors).all()

    @pytest.mark.parametrize("training", ["predictive", "joint"])
    def test_topics(self, training):
        model = GLMNMF(N_THEMES, family="categorical", training=training, n_jobs=1)
        model.fit(ROWS[training], self.data(COUNTS)[0])
        assert matched(model.components_, CORPUS.topics)[0].min() > 0.9
        self.check(COUNTS.slopes(model.predictions(ROWS[training]).eta), COUNTS)

    def test_themes(self):
        model = TextResponseModel(N_THEMES, family="categorical", n_jobs=1).fit(TEXTS.texts, self.data(TEXTS)[0])
        true = np.array([[term in nouns for term in model.terms_] for nouns in NOUNS], dtype=float)
        assert matched(model.components_, true)[0].min() > 0.9
        self.check(TEXTS.slopes(model.predictions(TEXTS.texts).eta)[:N_THEMES], TEXTS)
