"""Laws that hold for every family: derivatives, curvature, best loss, distribution, sampling, own parameters, edges."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.families import (
    FAMILIES,
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    Gaussian,
    NegativeBinomial,
    NoLevelsError,
    Ordinal,
    Poisson,
    Proportion,
    Stereotype,
    as_family,
    best_constant,
    deviance,
)
from textsignal.training.glm import ResponseModel, fit_glm

laws = settings(max_examples=25, deadline=None)


@dataclass(frozen=True)
class Case:
    """A family with its own parameters, what it was like before they were learnt, and encoded responses to try."""

    family: Any
    open: Any
    y: tuple[float, ...]
    saturated: tuple[float, ...] = ()
    tolerance: float = 0.15

    @property
    def levelled(self) -> bool:
        return hasattr(self.family, "levels")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return () if self.family.n_predictors == 1 else (self.family.n_predictors,)

    def etas(self, values) -> np.ndarray:
        """(documents, ...) linear predictors; of several predictors each is another mix."""
        eta = np.asarray(values, dtype=float)
        return eta if not self.shape else eta[:, None] * np.linspace(1, -0.5, self.shape[0])

    def pairs(self, values) -> tuple[np.ndarray, np.ndarray]:
        """Every response with every linear predictor."""
        eta = self.etas(values)
        return np.repeat(self.y, len(eta)), np.tile(eta, (len(self.y), *np.ones(len(self.shape), int)))


STARS = (0.0, 1.0, 2.0, 3.0, 4.0)
CASES = {
    "binomial": Case(Binomial(4, 1), Binomial(), STARS, (1.0, 2.0, 3.0)),
    "half steps": Case(Binomial(4, 1, 0.5), Binomial(step=0.5), STARS, (1.0, 2.0, 3.0)),
    "beta-binomial": Case(BetaBinomial(4, 1, dispersion=0.4), BetaBinomial(), STARS),
    "hardly dispersed": Case(BetaBinomial(4, 1, dispersion=1e-9), BetaBinomial(4, 1, dispersion=0.0), STARS),
    "adjacent-categories": Case(
        AdjacentCategories(4, 1, offsets=(0.3, -0.5, 0.1, -0.2, 0.3)), AdjacentCategories(), STARS, (1.0, 2.0, 3.0)
    ),
    "adjacent half steps": Case(
        AdjacentCategories(3, 1, 0.5, offsets=(-0.2, 0.3, 0.0, -0.1)),
        AdjacentCategories(step=0.5),
        STARS[:4],
        (1.0, 2.0),
    ),
    "stereotype": Case(
        Stereotype(4, 1, offsets=(0.3, -0.5, 0.1, -0.2, 0.3), places=(0.0, 0.4, 1.5, 3.2, 4.0)), Stereotype(), STARS
    ),
    "ordinal": Case(Ordinal((1, 2, 3, 5), (-2.0, 0.5, 1.5)), Ordinal(), (0.0, 1.0, 2.0, 3.0), (1.0, 2.0)),
    "two levels": Case(Ordinal((0, 1), (0.0,)), Ordinal(), (0.0, 1.0)),
    "bernoulli": Case(Bernoulli(("no", "yes")), Bernoulli(), (0.0, 1.0)),
    "proportion": Case(Proportion(), Proportion(), (0.0, 0.3, 1.0), (0.3,)),
    "poisson": Case(Poisson(), Poisson(), (0.0, 1.0, 7.0, 300.0), (1.0, 7.0)),
    "negative-binomial": Case(NegativeBinomial(0.7), NegativeBinomial(), (0.0, 1.0, 7.0, 300.0), (1.0, 7.0)),
    "gaussian": Case(Gaussian(0.8), Gaussian(), (-3.0, 0.0, 2.5), (-3.0, 2.5)),
    "categorical": Case(Categorical(("a", "b", "c", "d")), Categorical(), (0.0, 1.0, 2.0, 3.0)),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
scalar = pytest.mark.parametrize(
    "case", [case for case in CASES.values() if not case.shape], ids=[name for name in CASES if name != "categorical"]
)
few = st.lists(st.floats(-8, 8), min_size=1, max_size=6)


def slopes(function, eta, step=1e-5):
    """Numerical derivative of `function` in every linear predictor; the new axis comes last."""
    if eta.ndim == 1:
        return (function(eta + step) - function(eta - step)) / (2 * step)
    steps = step * np.eye(eta.shape[1])
    return np.stack([(function(eta + each) - function(eta - each)) / (2 * step) for each in steps], axis=-1)


def test_every_family_is_here():
    assert {type(case.family) for case in CASES.values()} == set(FAMILIES.values())


class TestLoss:
    @cases
    @laws
    @given(values=few)
    def test_gradient_is_its_first_derivative(self, case, values):
        y, eta = case.pairs(values)
        slope = slopes(lambda eta: case.family.loss(y, eta), eta)
        np.testing.assert_allclose(case.family.gradient(y, eta), slope, rtol=1e-5, atol=1e-4)

    @cases
    @laws
    @given(values=few)
    def test_curvature_is_its_second_derivative_or_what_that_is_on_average(self, case, values):
        y, eta = case.pairs(values)
        bend = slopes(lambda eta: case.family.gradient(y, eta), eta)
        found = case.family.curvature(y, eta)
        if isinstance(case.family, BetaBinomial):
            chances = case.family.distribution(eta).probabilities[np.arange(y.size), y.astype(int)]
            bend, found = (np.sum((chances * part).reshape(len(case.y), -1), axis=0) for part in (bend, found))
        np.testing.assert_allclose(found, bend, rtol=1e-5, atol=1e-5)

    @cases
    @laws
    @given(values=few)
    def test_is_the_negative_log_likelihood_up_to_what_no_parameter_moves(self, case, values):
        """Two linear predictors, and two values of own parameters, compare as in the distribution."""
        y, eta = case.pairs(values)
        other = case.family.refit(y, eta + 0.1, np.ones(y.size))
        kept = case.family.loss(y, eta) - other.loss(y, eta + 1)
        at = case.family.levels[y.astype(int)] if case.levelled else y
        with np.errstate(divide="ignore"):
            one, two = (log_density(each.distribution(e), at) for each, e in ((case.family, eta), (other, eta + 1)))
        # Shares of several trials have no probability in one trial; and some probabilities round to 0.
        sure = (one > -500) & (two > -500)
        np.testing.assert_allclose(kept[sure], two[sure] - one[sure], rtol=1e-6, atol=1e-6)

    @cases
    @laws
    @given(values=few)
    def test_best_loss_is_never_beaten(self, case, values):
        y, eta = case.pairs(values)
        best, loss = case.family.best_loss(y), case.family.loss(y, eta)
        assert np.all(best <= loss + 1e-9 * (1 + np.abs(loss)))

    @scalar
    def test_best_loss_is_reached_at_the_saturated_fit(self, case):
        y = np.array(case.y)
        grid = np.linspace(-25, 25, 20_001)
        reached = np.min([case.family.loss(y, np.full(y.size, eta)) for eta in grid], axis=0)
        np.testing.assert_allclose(case.family.best_loss(y), reached, atol=2e-3)

    @scalar
    def test_the_saturated_fit_is_flat(self, case):
        """Where the mean is the response itself, or midway between thresholds, the gradient is 0."""
        y = np.array(case.saturated)
        if isinstance(case.family, Ordinal):
            ends = np.array(case.family.thresholds)
            eta = (ends[1:] + ends[:-1]) / 2 if y.size else y
        else:
            shown = case.family.levels[y.astype(int)] if case.levelled else y
            eta = case.family.link(np.asarray(shown, dtype=float))
        np.testing.assert_allclose(case.family.gradient(y, eta), 0, atol=1e-9)
        np.testing.assert_allclose(case.family.loss(y, eta), case.family.best_loss(y), atol=1e-9)


def log_density(distribution, at):
    """Logarithm of the probability, or the density, of responses."""
    return np.log((distribution.pdf if hasattr(distribution, "pdf") else distribution.pmf)(at))


class TestEdges:
    @cases
    @pytest.mark.parametrize("size", [50.0, 800.0, 1e4])
    def test_everything_is_finite_and_curvature_positive_however_large_eta_is(self, case, size):
        y, eta = case.pairs([-size, size])
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            found = [function(y, eta) for function in (case.family.loss, case.family.gradient)]
            curvature = case.family.curvature(y, eta)
            assert np.all(np.isfinite(case.family.mean(eta)))
        assert all(np.all(np.isfinite(values)) for values in found)
        assert np.all(np.isfinite(curvature))
        assert np.all((curvature if not case.shape else np.linalg.eigvalsh(curvature)) > (-1e-12 if case.shape else 0))

    @cases
    @laws
    @given(values=few)
    def test_curvature_is_positive(self, case, values):
        curvature = case.family.curvature(*case.pairs(values))
        assert np.all((curvature if not case.shape else np.linalg.eigvalsh(curvature)) > 0)

    @cases
    def test_deviance_of_missing_responses_is_left_out(self, case):
        y, eta = case.pairs([0.3])
        holed = np.append(y, np.nan)
        assert deviance(case.family, holed, np.concatenate([eta, eta[:1]])) == deviance(case.family, y, eta)


class TestPrediction:
    @cases
    @laws
    @given(values=few)
    def test_mean_is_that_of_the_distribution(self, case, values):
        eta = case.etas(values)
        distribution, mean = case.family.distribution(eta), case.family.mean(eta)
        if case.shape:
            np.testing.assert_allclose(case.family.level_probabilities(eta), mean, atol=1e-12)
        elif isinstance(case.family, Bernoulli):
            np.testing.assert_allclose(distribution.pmf("yes"), mean, atol=1e-12)
        else:
            np.testing.assert_allclose(distribution.mean(), mean, rtol=1e-9, atol=1e-9)

    @scalar
    def test_mean_rises_with_eta_and_link_is_its_inverse(self, case):
        eta = np.linspace(-3, 3, 50)
        mean = case.family.mean(eta)
        assert np.all(np.diff(mean) > 0)
        np.testing.assert_allclose(case.family.link(mean), eta, atol=1e-8)

    @cases
    def test_link_takes_means_of_other_models(self, case):
        means = np.array([-1e3, 0.0, 1e3]) if not case.shape else np.eye(4)
        assert np.all(np.isfinite(case.family.link(means)))

    @cases
    @laws
    @given(values=few)
    def test_levels_have_probabilities_that_sum_to_one(self, case, values):
        if not case.levelled:
            with pytest.raises(NoLevelsError, match="have no levels"):
                case.family.level(case.etas(values), "mode")
            return
        eta = case.etas(values)
        chances = case.family.level_probabilities(eta)
        np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-12)
        chosen = [list(case.family.levels).index(level) for level in case.family.level(eta, "mode")]
        assert np.all(chances[np.arange(len(eta)), chosen] >= chances.max(axis=1) * (1 - 1e-9))

    @pytest.mark.parametrize("name", sorted({*CASES} - {"bernoulli", "categorical"}))
    def test_ppf_is_the_inverse_of_cdf(self, name):
        case = CASES[name]
        distribution = case.family.distribution(np.zeros(5))
        q = np.array([0.01, 0.2, 0.5, 0.9, 0.999])
        found = distribution.ppf(q)
        assert np.all(distribution.cdf(found) >= q - 1e-12)
        assert np.all(distribution.cdf(found - 1e-3) <= q + 1e-3)
        low, high = distribution.interval(0.9)
        assert np.all(low <= high)


class TestParameters:
    def drawn(self, case, n=6000, seed=0):
        """Columns, responses on the user's scale, and true coefficients."""
        rng = np.random.default_rng(seed)
        columns = rng.normal(size=(n, 2))
        truth = np.array([0.7, -0.4, 0.3])[:, None] * np.linspace(1, -0.5, max(1, *case.shape, 1))
        eta = columns @ truth[:2] + truth[2]
        return columns, case.family.sample(eta if case.shape else eta[:, 0], rng), truth if case.shape else truth[:, 0]

    @cases
    def test_samples_recover_coefficients_and_own_parameters(self, case):
        columns, responses, truth = self.drawn(case)
        family = case.open.learn(responses)
        with local_compute(1) as compute:
            fit = fit_glm(
                ResponseModel(family, compute, 0.0, True), columns, family.encode(responses), np.ones(len(columns))
            )
        np.testing.assert_allclose(fit.coefficients, truth, atol=case.tolerance)
        for name, value in case.family.settings().items():
            found = fit.family.settings()[name]
            if isinstance(value, str) or (isinstance(value, tuple) and isinstance(value[0], str)):
                assert found == value
            else:
                np.testing.assert_allclose(found, value, rtol=0.1, atol=0.12)

    @cases
    def test_weights_multiply(self, case):
        columns, responses, _ = self.drawn(case, 300)
        family = case.open.learn(responses)
        y, weight = family.encode(responses), np.arange(300) % 3.0
        rows = np.repeat(np.arange(300), weight.astype(int))
        with local_compute(1) as compute:
            model = ResponseModel(family, compute, 0.5, True)
            one = fit_glm(model, columns, y, weight)
            other = fit_glm(model, columns[rows], y[rows], np.ones(rows.size))
        np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-6)
        assert one.loss == pytest.approx(other.loss, rel=1e-8)

    @scalar
    @laws
    @given(seed=st.integers(0, 10**6))
    def test_refitting_lowers_the_loss_and_settles(self, case, seed):
        columns, responses, truth = self.drawn(case, 200, seed)
        if len(set(responses.tolist())) < 2:
            return
        family = case.family
        y, eta, weight = family.encode(responses), columns @ truth[:2], np.ones(200)
        once = family.refit(y, eta, weight)
        twice = once.refit(y, eta, weight)

        def loss(family):
            return float(np.sum(family.loss(y, eta)))

        assert loss(once) <= loss(family) + 1e-9 * abs(loss(family))
        assert loss(twice) == pytest.approx(loss(once), rel=1e-9)

    @cases
    def test_settings_give_the_family_again(self, case):
        family = case.family
        listed = {name: list(v) if isinstance(v, tuple) else v for name, v in family.settings().items()}
        assert type(family)(**listed) == family
        assert as_family(family) is family

    @cases
    def test_what_was_learnt_is_kept(self, case):
        _, responses, _ = self.drawn(case, 300)
        learnt = case.open.learn(responses)
        assert learnt.learn(responses) == learnt
        assert None not in learnt.settings().values()

    @scalar
    def test_the_best_constant_is_flat(self, case):
        _, responses, _ = self.drawn(case, 300)
        y = case.family.encode(responses)
        constant = best_constant(case.family, y, np.ones(300))
        assert abs(np.mean(case.family.gradient(y, np.full(300, constant)))) < 1e-4

    @scalar
    def test_the_family_of_words_takes_the_same_responses(self, case):
        _, responses, _ = self.drawn(case, 300)
        y = case.family.encode(responses)
        words = case.family.of_words
        assert np.all(np.isfinite(words.loss(y, np.zeros(300))))
        assert words.unit > 0


class TestEncode:
    @cases
    def test_missing_responses_stay_missing_and_nothing_is_changed(self, case):
        _, responses, _ = TestParameters().drawn(case, 20)
        given_ = np.array([*responses.tolist(), None], dtype=object)
        before = given_.copy()
        y = case.family.encode(given_)
        assert np.isnan(y[-1])
        assert not np.isnan(y[:-1]).any()
        assert list(before) == list(given_)

    @cases
    def test_series_are_taken(self, case):
        _, responses, _ = TestParameters().drawn(case, 20)
        column = pd.Series(responses, index=np.arange(20) + 7)
        np.testing.assert_array_equal(case.family.encode(column), case.family.encode(responses))

    @cases
    def test_all_missing_or_constant_responses_teach_nothing(self, case):
        if None not in case.open.settings().values() and not isinstance(case.open, Poisson | Proportion):
            return
        with pytest.raises(InputError, match="no text has a response"):
            case.open.learn([np.nan, np.nan])
        with pytest.raises(InputError, match="constant"):
            case.open.learn([1, 1, np.nan])

    @pytest.mark.parametrize(
        ("family", "responses", "named"),
        [
            (Binomial(4, 1), [1, np.nan, 6, 3], r"row 3: 6; .*levels=\(1, 6\) would fit"),
            (Binomial(4, 1), [1, np.nan, 2.5, 3], r'row 3: 2\.5; .*family="gaussian"'),
            (Binomial(4, 1, 0.5), [1, 1.5, 1.25, 3], r"1 to 3 in steps of 0\.5 \(row 3: 1\.25;"),
            (BetaBinomial(4, 1, dispersion=0.1), [1, 6], r"row 2: 6; .*levels=\(1, 6\) would fit"),
            (Ordinal((1, 2, 3)), [1, 2, 9], r'row 3: 9; .*family="gaussian"'),
            (Ordinal(), ["good", "bad", "good"], r"order is not known \(row 1: 'good'; .*family=\"categorical\""),
            (Gaussian(1.0), [1.0, "cold"], r"'cold' is not \(row 2; .*family=\"categorical\""),
            (Poisson(), [3, 0, -2], r'below 0; .*row 3: -2; .*family="gaussian" would fit'),
            (NegativeBinomial(1.0), [3, 0, -2], r'below 0; .*row 3: -2; .*family="gaussian" would fit'),
            (Poisson(), [3, 0.5], r'not a whole number; .*family="gaussian".*row 2: 0\.5'),
            (Proportion(), [0.3, 1.2], r'row 2: 1\.2; .*successes / trials.*family="poisson"'),
            (Bernoulli(("no", "yes")), ["no", "maybe"], r"row 2: 'maybe'; .*family=\"categorical\""),
            (Categorical(("a", "b", "c")), ["a", "z"], r"row 2: 'z'; .*levels="),
        ],
    )
    def test_a_response_off_the_domain_is_named_with_its_row_and_the_family_that_would_fit(
        self, family, responses, named
    ):
        with pytest.raises(InputError, match=named):
            family.encode(responses) if None not in family.settings().values() else family.learn(responses)

    @pytest.mark.parametrize(
        ("family", "responses", "named"),
        [
            (Bernoulli(), ["no", "yes", None, "maybe"], r"third class.*row 4: 'maybe'; .*\"categorical\""),
            (Bernoulli(), [0, 1, 1, 2], r"third class next to 0 and 1 \(row 4: 2; .*\"ordinal\""),
            (Ordinal(), np.arange(40) / 7, r'40 levels, .*row 1: 0; .*family="gaussian"'),
            (Binomial(), [1, 2.5], r'row 2: 2\.5'),
            (Categorical(), ["a", 1, "b"], r"text among numbers \(row 1: 'a', row 3: 'b'"),
            (Categorical(), np.arange(101), r'101 different ones.*row 1: 0; .*family="gaussian"'),
        ],
    )  # fmt: skip
    def test_what_cannot_be_learnt_says_so_too(self, family, responses, named):
        with pytest.raises(InputError, match=named):
            family.learn(responses)


class TestScales:
    @pytest.mark.parametrize("name", ["binomial", "beta-binomial", "adjacent-categories", "ordinal"])
    @pytest.mark.parametrize(
        ("levels", "listed"),
        [
            ((1, 5), [1, 2, 3, 4, 5]),
            ((1, 3, 0.5), [1, 1.5, 2, 2.5, 3]),
            ((0, 10, 2), [0, 2, 4, 6, 8, 10]),
            ([1, 1.5, 2], [1, 1.5, 2]),
            ((0.1, 0.5, 0.1), [0.1, 0.2, 0.3, 0.4, 0.5]),
        ],
    )
    def test_steps_are_a_scale(self, name, levels, listed):
        family = as_family(name, levels)
        np.testing.assert_allclose(family.levels, listed)
        np.testing.assert_allclose(family.encode(listed), np.arange(len(listed)))

    def test_ordinal_levels_may_lie_anywhere(self):
        assert Ordinal().learn([10, 1, 2.5, np.nan]).levels.tolist() == [1.0, 2.5, 10.0]
        assert as_family("ordinal", [1, 2, 5]).levels.tolist() == [1, 2, 5]

    def test_whole_levels_are_whole_numbers(self):
        assert Ordinal().learn([1.0, 2.0, 5.0]).levels.dtype.kind == "i"

    @pytest.mark.parametrize("family", [Gaussian(1.0), Poisson(), NegativeBinomial(1.0), Proportion()], ids=repr)
    def test_levels_are_nothing_to_families_without_them(self, family):
        assert not hasattr(family, "levels")
        with pytest.raises(InputError, match="do not apply"):
            as_family(family, levels=(1, 5))

    def test_own_parameters_that_are_given_stay_beside_levels(self):
        assert as_family(BetaBinomial(dispersion=0.2), (1, 5)) == BetaBinomial(4, 1, dispersion=0.2)
        with pytest.raises(InputError, match="contradict"):
            as_family(Binomial(step=0.5), (1, 5))

    @pytest.mark.parametrize(
        "build",
        [
            lambda: Ordinal((1, 1, 2)),
            lambda: AdjacentCategories(20, 0),
            lambda: AdjacentCategories(2, 0, offsets=(1.0, 2.0)),
            lambda: AdjacentCategories(2, 0, offsets=(1.0, 2.0, np.inf)),
            lambda: AdjacentCategories(offsets=(1.0, 2.0)),
            lambda: Ordinal(tuple(range(21))),
            lambda: Ordinal((1,)),
            lambda: Ordinal((1, 2, 3), (0.0,)),
            lambda: Ordinal((1, 2, 3), (1.0, -1.0)),
            lambda: Ordinal(("a", "a")),
            lambda: Ordinal(("a", 1)),
            lambda: Categorical(("a", 1, "b")),
            lambda: Gaussian(0.0),
            lambda: Gaussian(np.inf),
            lambda: NegativeBinomial(-1.0),
            lambda: BetaBinomial(4, 1, dispersion=-0.1),
            lambda: BetaBinomial(5000, 1),
            lambda: Binomial(4, 1, 0.0),
            lambda: Bernoulli(("a",)),
            lambda: Bernoulli(("a", "a")),
            lambda: Bernoulli(("a", None)),
            lambda: Categorical(("a", "b")),
        ],
    )
    def test_what_no_family_can_have_is_refused(self, build):
        with pytest.raises(InputError):
            build()


class TestLabels:
    @pytest.mark.parametrize(
        ("responses", "labels"),
        [
            (["no", "yes", "no"], ["no", "yes"]),
            ([True, False, None], [False, True]),
            ([1.0, 2.0, np.nan], [1, 2]),
            (np.array([0, 1]), [0, 1]),
            (pd.Series(["b", "a"], dtype="string"), ["a", "b"]),
            (pd.Categorical(["b", "a"]), ["a", "b"]),
        ],
    )
    def test_strings_truth_values_and_numbers_are_labels(self, responses, labels):
        family = Bernoulli().learn(responses)
        assert family.levels.tolist() == labels
        assert set(family.encode(responses)[:2]) == {0.0, 1.0}

    def test_the_mean_of_numbers_is_a_number_and_of_other_labels_a_chance(self):
        eta = np.array([0.0])
        assert Bernoulli((1, 2)).mean(eta) == 1.5
        assert Bernoulli(("a", "b")).mean(eta) == 0.5
        assert Bernoulli((False, True)).mean(eta) == 0.5

    def test_the_order_of_labels_can_be_given(self):
        assert as_family("bernoulli", ("yes", "no")).encode(["yes", "no"]).tolist() == [0, 1]


class TestNested:
    """Families that are others at an edge of their own parameters."""

    eta = np.linspace(-3, 3, 7)

    def test_a_beta_binomial_of_no_dispersion_is_the_binomial(self):
        y = np.array([0, 1, 2, 3, 4, 2, 1.0])
        one, other = BetaBinomial(4, 1, dispersion=0.0), Binomial(4, 1)
        for name in ("loss", "gradient", "curvature"):
            np.testing.assert_allclose(getattr(one, name)(y, self.eta), getattr(other, name)(y, self.eta), atol=1e-12)
        np.testing.assert_allclose(one.level_probabilities(self.eta), other.level_probabilities(self.eta), atol=1e-12)

    def test_a_beta_binomial_is_scipys(self):
        from scipy import special, stats

        p = special.expit(self.eta)[:, None]
        ours = BetaBinomial(6, 0, dispersion=0.3).level_probabilities(self.eta)
        np.testing.assert_allclose(ours, stats.betabinom(6, p / 0.3, (1 - p) / 0.3).pmf(np.arange(7)), atol=1e-12)

    def test_adjacent_categories_without_offsets_are_the_binomial(self):
        y = np.arange(self.eta.size) % 5.0
        for name in ("loss", "gradient", "curvature"):
            families = (AdjacentCategories(4, 1, offsets=(0.0,) * 5), Binomial(4, 1))
            one, other = (getattr(family, name)(y, self.eta) for family in families)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        assert AdjacentCategories(4, 1, offsets=(0.0,) * 5).unit == pytest.approx(1)

    def test_ordinal_of_two_levels_is_the_binomial_of_one_step(self):
        y = np.array([0, 1, 0, 1, 1, 0, 1.0])
        for name in ("loss", "gradient", "curvature"):
            one, other = (getattr(family, name)(y, self.eta) for family in (Ordinal((0, 1), (0.0,)), Binomial(1, 0)))
            np.testing.assert_allclose(one, other, atol=1e-12)

    def test_a_negative_binomial_of_hardly_any_dispersion_is_the_poisson(self):
        y = np.array([0, 1, 2, 3, 4, 2, 1.0])
        for name in ("gradient", "curvature"):
            one, other = (getattr(family, name)(y, self.eta) for family in (NegativeBinomial(1e-6), Poisson()))
            np.testing.assert_allclose(one, other, atol=1e-3)


class TestAdjacentCategories:
    def test_a_level_that_nobody_gave_is_rare_but_possible(self):
        y, eta = np.array([0.0, 1.0, 3.0, 3.0, 1.0, 0.0] * 20), np.tile(np.linspace(-1, 1, 6), 20)
        family = AdjacentCategories(3, 1).learn(y + 1).refit(y, eta, np.ones(y.size))
        chances = family.distribution(eta).probabilities
        assert 0.0005 < chances.mean(axis=0)[2] < 0.05

    @pytest.mark.parametrize("unit", [0.5, 2.0])
    def test_offsets_do_not_move_with_the_constant(self, unit):
        rng = np.random.default_rng(0)
        eta = rng.normal(size=400)
        y = Binomial(4, 0).sample(eta, rng).astype(float)
        first = AdjacentCategories(4, 0, offsets=(unit, 0.0, -2 * unit, 0.0, unit))
        found = first.refit(y, eta, np.ones(400))
        np.testing.assert_allclose([np.sum(found.offsets), np.arange(5) @ found.offsets], 0, atol=1e-9)
        again = replace(found, offsets=(0.0,) * 5).refit(y, eta, np.ones(400))
        np.testing.assert_allclose(again.offsets, found.offsets, atol=1e-8)


class TestStereotype:
    rng = np.random.default_rng(0)
    eta = rng.normal(size=3000)
    true = Stereotype(4, 0, offsets=(0.5, -0.5, 0.0, -0.5, 0.5), places=(0.0, 0.3, 1.0, 3.0, 4.0))
    y = true.sample(eta, rng).astype(float)

    def test_equal_distances_are_adjacent_categories(self):
        for name in ("loss", "gradient", "curvature"):
            families = (kind(4, 0, offsets=self.true.offsets) for kind in (Stereotype, AdjacentCategories))
            one, other = (getattr(family, name)(self.y, self.eta) for family in families)
            np.testing.assert_array_equal(one, other)

    def test_places_are_found_whatever_they_start_from(self):
        weight = np.ones(self.y.size)
        found = Stereotype(4, 0).learn(self.y).refit(self.y, self.eta, weight)
        np.testing.assert_allclose(found.places, self.true.places, atol=0.2)
        again = replace(found, offsets=(0.0,) * 5, places=(0.0, 1.5, 3.0, 3.5, 4.0)).refit(self.y, self.eta, weight)
        np.testing.assert_allclose(again.places, found.places, atol=1e-7)
        np.testing.assert_allclose(again.offsets, found.offsets, atol=1e-7)

    def test_its_fit_is_scikit_learns_multinomial_regression_but_for_the_prior(self):
        """On one column, with enough documents."""
        from sklearn.linear_model import LogisticRegression

        theirs = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000).fit(self.eta[:, None], self.y)
        with local_compute(1) as compute:
            model = ResponseModel(Stereotype(4, 0).learn(self.y), compute, 0.0, True)
            fit = fit_glm(model, self.eta[:, None], self.y, np.ones(self.y.size))
        ours = fit.family.level_probabilities(fit.linear_predictor(self.eta[:, None]))
        np.testing.assert_allclose(ours, theirs.predict_proba(self.eta[:, None]), atol=0.01)

    def test_levels_stay_in_order_where_responses_say_otherwise(self):
        """The second level is given where eta is highest."""
        eta = np.linspace(-2, 2, 300)
        y = np.select([eta > 1, eta > 0], [1.0, 2.0], 0.0)
        places = Stereotype(2, 0).learn(y).refit(y, eta, np.ones(300)).places
        assert 0 < places[1] < 2

    def test_without_text_distances_are_equal(self):
        assert Stereotype(4, 0).learn(self.y).places == (0, 1, 2, 3, 4)

    @pytest.mark.parametrize("places", [(0, 1), (0, 2, 1), (1, 1.5, 2), (0, 0, 2), (0, np.nan, 2)])
    def test_wrong_places_are_refused(self, places):
        with pytest.raises(InputError, match="must increase from 0 to n"):
            Stereotype(2, 0, places=places)


class TestOrdinal:
    def test_a_level_that_nobody_gave_keeps_a_small_probability(self):
        family = Ordinal((1, 2, 3, 4, 5)).learn([1, 2, 4, 4, 2, 1])
        rng = np.random.default_rng(0)
        y, eta = rng.choice([0.0, 1.0, 3.0], 400), rng.normal(size=400)
        with local_compute(1) as compute:
            fit = fit_glm(ResponseModel(family, compute, 0.0, True), eta[:, None], y, np.ones(400))
        chances = fit.family.level_probabilities(np.array([fit.intercept]))[0]
        assert np.all(chances > 1e-4)
        assert chances[[2, 4]].max() < 0.01

    def test_thresholds_are_centred(self):
        rng = np.random.default_rng(0)
        y, eta = rng.integers(0, 4, 300).astype(float), rng.normal(size=300)
        found = Ordinal((1, 2, 3, 4)).learn(y + 1).refit(y, eta, np.ones(300))
        assert np.sum(found.thresholds) == pytest.approx(0, abs=1e-12)
