"""Laws of the response families: derivatives, probabilities, the paper's predictions, what is refused."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from textsignal.errors import InputError
from textsignal.families import Binomial, as_family, deviance, linear_predictor, null_deviance
from textsignal.families.binomial import WIDEST_LEARNT_SCALE, WIDEST_SCALE

laws = settings(max_examples=60)
scales = st.builds(Binomial, n=st.integers(1, 20), lowest=st.integers(-5, 5))
etas = st.lists(st.floats(-30, 30), min_size=1, max_size=8).map(np.array)
probabilities = st.floats(1e-6, 1 - 1e-6)


def all_pairs(family: Binomial, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every encoded response with every eta."""
    y = np.arange(family.n + 1.0)
    return np.repeat(y, eta.size), np.tile(eta, y.size)


class TestLoss:
    @laws
    @given(scales, st.floats(-10, 10))
    def test_is_the_negative_log_likelihood_up_to_a_term_free_of_eta(self, family, eta):
        y, eta = all_pairs(family, np.array([eta]))
        free_of_eta = -np.log(special.comb(family.n, y))
        exact = -stats.binom.logpmf(y, family.n, special.expit(eta))
        np.testing.assert_allclose(family.loss(y, eta) + free_of_eta, exact, rtol=1e-9, atol=1e-9)

    @laws
    @given(scales, etas)
    def test_gradient_is_its_first_derivative(self, family, eta):
        y, eta = all_pairs(family, eta)
        step = 1e-5
        slope = (family.loss(y, eta + step) - family.loss(y, eta - step)) / (2 * step)
        np.testing.assert_allclose(family.gradient(y, eta), slope, rtol=1e-6, atol=1e-6)

    @laws
    @given(scales, etas)
    def test_curvature_is_its_second_derivative(self, family, eta):
        y, eta = all_pairs(family, eta)
        step = 1e-5
        bend = (family.gradient(y, eta + step) - family.gradient(y, eta - step)) / (2 * step)
        np.testing.assert_allclose(family.curvature(y, eta), bend, rtol=1e-6, atol=1e-6)

    @given(scales)
    def test_curvature_is_positive_and_loss_finite_however_large_eta_is(self, family):
        y, eta = all_pairs(family, np.array([-1e4, -800.0, 800.0, 1e4]))
        assert np.all(family.curvature(y, eta) > 0)
        assert np.all(np.isfinite(family.loss(y, eta)))

    @laws
    @given(scales, etas)
    def test_best_loss_is_never_beaten(self, family, eta):
        y, eta = all_pairs(family, eta)
        assert np.all(family.best_loss(y) <= family.loss(y, eta) + 1e-12 * family.n)

    @given(scales)
    def test_best_loss_is_reached_at_the_observed_share(self, family):
        y = np.arange(1.0, family.n)
        reached = family.loss(y, special.logit(y / family.n))
        np.testing.assert_allclose(family.best_loss(y), reached, rtol=1e-12, atol=1e-12)

    @given(scales)
    def test_best_loss_is_zero_at_both_ends_of_the_scale(self, family):
        np.testing.assert_array_equal(family.best_loss(np.array([0.0, family.n])), 0.0)


class TestPrediction:
    @laws
    @given(scales, etas)
    def test_mean_lies_on_the_scale_and_rises_with_eta(self, family, eta):
        mean = family.mean(np.sort(eta))
        assert np.all((mean >= family.lowest) & (mean <= family.lowest + family.n))
        assert np.all(np.diff(mean) >= 0)

    @laws
    @given(scales, etas)
    def test_mean_of_the_distribution_is_the_mean(self, family, eta):
        np.testing.assert_allclose(family.distribution(eta).mean(), family.mean(eta), rtol=1e-12, atol=1e-12)

    @laws
    @given(scales, etas)
    def test_levels_have_probabilities_that_sum_to_one_and_give_the_mean(self, family, eta):
        pmf = family.distribution(eta[:, None]).pmf(family.levels)
        np.testing.assert_allclose(pmf.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(pmf @ family.levels, family.mean(eta), rtol=1e-9, atol=1e-9)

    @laws
    @given(st.lists(probabilities, min_size=1, max_size=8))
    def test_stars_follow_the_papers_formulas(self, p):
        stars, p = Binomial(n=4, lowest=1), np.array(p)
        eta = special.logit(p)
        np.testing.assert_allclose(stars.mean(eta), 1 + 4 * p, rtol=1e-9)
        np.testing.assert_array_equal(stars.level(eta, "round"), 1 + np.floor(4 * special.expit(eta) + 0.5))

    @pytest.mark.parametrize(("n", "rounded"), [(1, 1), (3, 2), (5, 3)])
    @pytest.mark.parametrize("lowest", [-4, 0, 1])
    def test_round_takes_halves_up(self, n, rounded, lowest):
        # p = 1/2 with an odd number of steps: the mean lies between two levels.
        assert Binomial(n=n, lowest=lowest).level(np.array([0.0]), "round") == lowest + rounded

    @laws
    @given(scales, etas)
    def test_mode_is_a_most_probable_level(self, family, eta):
        pmf = family.distribution(eta[:, None]).pmf(family.levels)
        chosen = np.take_along_axis(pmf, (family.level(eta, "mode") - family.lowest)[:, None], axis=1)
        assert np.all(chosen[:, 0] >= pmf.max(axis=1) * (1 - 1e-9))

    @given(scales, st.sampled_from(["round", "mode"]))
    def test_certainty_is_clipped_to_the_scale(self, family, rule):
        ends = family.level(np.array([-1e4, 1e4]), rule)
        assert ends.tolist() == [family.lowest, family.lowest + family.n]

    def test_a_rule_that_is_not_known_names_those_that_are(self):
        with pytest.raises(InputError, match=r'rule=\'median\'.*"round" or "mode"'):
            Binomial(n=4, lowest=1).level(np.zeros(1), "median")


class TestScale:
    @pytest.mark.parametrize(("lowest", "highest"), [(1, 5), (0, 10), (1, 7), (-3, 3)])
    def test_is_learnt_from_the_lowest_and_highest_response(self, lowest, highest):
        responses = [highest, np.nan, lowest, lowest + 1]
        learnt = Binomial().learn(responses)
        assert learnt == Binomial(n=highest - lowest, lowest=lowest) == Binomial.from_levels((lowest, highest))
        assert learnt.levels.tolist() == list(range(lowest, highest + 1))

    def test_what_was_given_is_kept(self):
        assert Binomial(n=4, lowest=1).learn([2, 3]) == Binomial(n=4, lowest=1)
        assert Binomial(lowest=0).learn([2, 3]) == Binomial(n=3, lowest=0)
        assert Binomial(n=9).learn([2, 3]) == Binomial(n=9, lowest=2)

    @given(scales)
    def test_settings_give_the_family_again(self, family):
        assert Binomial(**family.settings()) == family

    def test_a_constant_response_cannot_be_learnt_from(self):
        with pytest.raises(InputError, match=r"constant \(always 3\)"):
            Binomial().learn([3, 3, np.nan, 3])

    def test_a_stray_code_is_no_scale(self):
        with pytest.raises(InputError, match=r"from 1 to 999.*stray code"):
            Binomial().learn([1, 5, 999])

    def test_the_widest_scale_is_learnt_and_a_wider_one_can_be_given(self):
        widest = WIDEST_LEARNT_SCALE
        assert Binomial().learn([0, widest]).n == widest
        with pytest.raises(InputError, match="stray code"):
            Binomial().learn([0, widest + 1])
        assert Binomial.from_levels((0, widest + 1)).learn([0]).n == widest + 1

    def test_responses_that_are_all_missing_teach_no_scale(self):
        with pytest.raises(InputError, match="no text has a response"):
            Binomial().learn([np.nan, np.nan])

    @pytest.mark.parametrize("levels", [(3,), (2, 2), (1.5, 4), (1, np.nan)])
    def test_levels_are_at_least_two_whole_numbers(self, levels):
        with pytest.raises(InputError, match="at least two whole numbers"):
            Binomial.from_levels(levels)

    @pytest.mark.parametrize("levels", [("a", "b"), (1, np.inf)])
    def test_levels_that_are_no_finite_numbers_are_refused(self, levels):
        with pytest.raises(InputError):
            Binomial.from_levels(levels)

    @pytest.mark.parametrize("options", [{"n": 0}, {"n": -2}, {"n": 2.5}, {"n": True}, {"lowest": 0.5}])
    def test_steps_and_lowest_are_whole_and_there_is_at_least_one_step(self, options):
        with pytest.raises(InputError):
            Binomial(**options)

    def test_an_open_scale_says_how_to_close_it(self):
        with pytest.raises(InputError, match=r"learn\(y\)"):
            Binomial().mean(np.zeros(1))


class TestEncode:
    @laws
    @given(scales, st.data())
    def test_shifts_to_zero_and_keeps_missing_responses(self, family, data):
        steps = data.draw(st.lists(st.integers(0, family.n) | st.just(np.nan), min_size=1, max_size=9))
        given_scale = np.array(steps) + family.lowest
        np.testing.assert_array_equal(family.encode(given_scale), steps)

    def test_does_not_change_what_it_is_given(self):
        y = np.array([1.0, 5.0])
        Binomial(n=4, lowest=1).encode(y)
        np.testing.assert_array_equal(y, [1.0, 5.0])

    @pytest.mark.parametrize("bad", [0, 6, 2.5, np.inf, -np.inf])
    def test_a_response_off_the_scale_is_named_with_its_row(self, bad):
        with pytest.raises(InputError, match=rf"\(row 3: {bad:g}; rows count from 1\)"):
            Binomial(n=4, lowest=1).encode([1, np.nan, bad, 3])

    @pytest.mark.parametrize("bad", [2.5, np.inf])
    def test_learning_names_the_row_as_it_was_given(self, bad):
        with pytest.raises(InputError, match=rf"\(row 3: {bad:g}; rows count from 1\)"):
            Binomial().learn([1, np.nan, bad, 3])

    def test_many_bad_rows_are_counted(self):
        with pytest.raises(InputError, match="row 5: 9 and 3 more"):
            Binomial(n=4, lowest=1).encode([9] * 8)

    @pytest.mark.parametrize("bad", [["good", "bad"], [[1], [2]], 3])
    def test_anything_but_one_number_a_document_is_refused(self, bad):
        with pytest.raises(InputError, match="the response must be"):
            Binomial(n=4, lowest=1).encode(bad)


class TestAsFamily:
    def test_a_name_gives_an_open_family_and_a_family_itself(self):
        assert as_family("binomial") == Binomial()
        family = Binomial(n=4, lowest=1)
        assert as_family(family) is family

    def test_an_unknown_name_lists_those_known(self):
        with pytest.raises(InputError, match=r"family='gamma'.*allowed: '?binomial"):
            as_family("gamma")


STARS = Binomial(n=4, lowest=1)


def responses(seed=0):
    """Encoded responses and how often each counts."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, 200).astype(float), rng.integers(0, 3, 200).astype(float)


class TestNullDeviance:
    @pytest.mark.parametrize("seed", range(3))
    def test_is_statsmodels_deviance_of_a_constant(self, seed):
        y, weight = responses(seed)
        endog = np.column_stack([y, 4 - y])
        glm = sm.GLM(endog, np.ones((len(y), 1)), family=sm.families.Binomial(), freq_weights=weight)
        assert null_deviance(STARS, y, weight) == pytest.approx(glm.fit().deviance, rel=1e-8)

    def test_missing_responses_are_left_out(self):
        y, weight = responses()
        holed = np.where(np.arange(len(y)) % 4 == 0, np.nan, y)
        observed = ~np.isnan(holed)
        assert null_deviance(STARS, holed, weight) == null_deviance(STARS, y[observed], weight[observed])

    @pytest.mark.parametrize("level", range(5))
    def test_of_a_constant_response_is_nothing(self, level):
        assert null_deviance(STARS, np.full(50, float(level)), np.ones(50)) == pytest.approx(0, abs=1e-6)


class TestDeviance:
    def test_is_statsmodels_deviance(self):
        y, weight = responses()
        x = np.column_stack([np.linspace(-1, 1, 200), np.ones(200)])
        glm = sm.GLM(np.column_stack([y, 4 - y]), x, family=sm.families.Binomial(), freq_weights=weight).fit()
        eta = linear_predictor(x[:, :1], glm.params[:1], glm.params[1])
        np.testing.assert_allclose(eta, x @ glm.params, rtol=1e-12, atol=1e-15)
        assert deviance(STARS, y, eta, weight) == pytest.approx(glm.deviance, rel=1e-8)

    def test_without_weights_every_document_counts_once(self):
        y, _ = responses()
        eta = np.zeros(200)
        assert deviance(STARS, y, eta) == deviance(STARS, y, eta, np.ones(200))


class TestLevelsBesideAFamily:
    @pytest.mark.parametrize(
        "family", ["binomial", Binomial(), Binomial(n=4), Binomial(lowest=1), Binomial(n=4, lowest=1)], ids=repr
    )
    def test_give_its_scale_where_they_agree(self, family):
        assert as_family(family, levels=(1, 5)) == Binomial(n=4, lowest=1)

    @pytest.mark.parametrize("family", [Binomial(n=6), Binomial(lowest=0), Binomial(n=6, lowest=0)], ids=repr)
    def test_are_refused_where_they_contradict_it_and_both_are_named(self, family):
        with pytest.raises(InputError, match=r"levels=\(1, 5\) and family=Binomial\(.*contradict"):
            as_family(family, levels=(1, 5))


def test_a_scale_that_no_memory_holds_is_refused():
    with pytest.raises(InputError, match="too wide a scale"):
        Binomial(n=10**30)
    assert Binomial(n=WIDEST_SCALE, lowest=0).levels.size == WIDEST_SCALE + 1
