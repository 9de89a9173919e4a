"""The scikit-learn surface: conventions hold, odd input works or is refused by name."""

import pickle
import re
from contextlib import nullcontext
from functools import cache, partial, reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.callback import FitCallback, ProgressBar
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from textsignal import GLMNMF, JBNMF, Binomial
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import reference
from textsignal.errors import InputError
from textsignal.estimators import nmf
from textsignal.estimators.predictions import r2_score

joint_glm = partial(GLMNMF, training="joint")
predictive_glm = partial(GLMNMF, max_epochs=10)
#: Every way to train; options that another one takes are given all the same.
WAYS = {"JBNMF": JBNMF, "joint": joint_glm, "predictive": predictive_glm}
every_way = pytest.mark.parametrize("estimator", WAYS.values(), ids=WAYS)
joint_ways = pytest.mark.parametrize("estimator", [JBNMF, joint_glm], ids=["JBNMF", "joint"])


@pytest.fixture(scope="module")
def X(simulation):
    return simulation.counts


@pytest.fixture(scope="module")
def y(simulation):
    return simulation.ratings.astype(float)


FITTED = (
    "components_", "weights_", "coef_", "intercept_", "mean_weights_", "word_effects_", "family_", "levels_", "alpha_",
    "n_iter_", "stop_reason_", "converged_", "objective_", "trace_",
)  # fmt: skip


def small(estimator, **options):
    return estimator(**{"n_topics": 3, "max_iter": 10, "random_state": 0} | options)


@pytest.fixture(scope="module")
def fitted(X, y):
    """Fits that several tests look at and none changes: fitted(estimator, **options)."""
    return cache(lambda estimator, **options: small(estimator, **options).fit(X, y))


def name_of(estimator):
    return type(small(estimator)).__name__.lower()


#: Checks of regressors that responses on a scale of steps cannot pass, and why.
NOT_OF_SCALES = {"check_regressors_no_decision_function": "levels of a scale have probabilities"} | dict.fromkeys(
    ["check_n_features_in_after_fitting", "check_regressors_train", "check_regressor_data_not_an_array",
     "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in"],
    "its responses are any numbers",
)  # fmt: skip


@every_way
class TestConventions:
    def test_check_estimator(self, estimator):
        model = estimator(max_iter=20, n_jobs=1)
        results = check_estimator(model, expected_failed_checks=NOT_OF_SCALES, on_skip=None, on_fail="raise")
        odd = {result["check_name"] for result in results if result["status"] != "passed"}
        # The first one only where SCIPY_ARRAY_API is not set.
        assert odd <= {"check_array_api_input", *NOT_OF_SCALES}
        assert len(results) > 40

    @pytest.mark.parametrize("n_topics", [2, 3, 10])
    @pytest.mark.parametrize(
        "check", [check_sample_weight_equivalence_on_dense_data, check_sample_weight_equivalence_on_sparse_data]
    )
    def test_weights_of_documents_equal_their_repetition(self, estimator, check, n_topics):
        check(name_of(estimator), estimator(n_topics, n_jobs=1))

    def test_before_fit_there_is_nothing_of_a_fit(self, estimator):
        model = small(estimator)
        for name in (*FITTED, "fitted_"):
            assert not hasattr(model, name), name

    def test_after_fit_everything_is_read_from_one_value(self, estimator, fitted):
        model = fitted(estimator)
        assert [name for name in vars(model) if name.endswith("_")] == ["n_features_in_", "fitted_"]
        for name in FITTED:
            assert getattr(model, name) is not None, name

    def test_a_clone_has_the_options_and_not_the_fit(self, estimator, X, y):
        model = small(estimator, tol=1e-3, levels=(1, 5)).fit(X, y)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            copy.predict(X)

    def test_fit_leaves_the_options_alone(self, estimator, X, y):
        model = small(estimator, levels=[1, 2, 3, 4, 5])
        before = model.get_params()
        assert model.fit(X, y).get_params() == before

    def test_sits_in_a_pipeline(self, estimator):
        texts = ["clean room", "dirty room", "clean bed", "dirty bed", "clean clean", "dirty dirty"] * 3
        model = make_pipeline(CountVectorizer(), small(estimator, n_topics=2, max_iter=50))
        model.fit(texts, [5, 1, 5, 1, 5, 1] * 3)
        good, bad = model.predict(["clean", "dirty"])
        assert good > bad + 1
        assert list(model.get_feature_names_out()) == [f"{name_of(estimator)}{k}" for k in range(2)]

    def test_sits_in_a_grid_search(self, estimator, X, y):
        search = GridSearchCV(small(estimator), {"n_topics": [1, 5]}, cv=3, error_score="raise").fit(X, y)
        assert search.best_params_ == {"n_topics": 5}
        assert search.best_score_ > 0.2

    def test_a_pickle_predicts_the_same_bits(self, estimator, fitted, X):
        model = fitted(estimator)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))

    def test_output_can_be_a_table(self, estimator, X, y):
        weights = small(estimator).set_output(transform="pandas").fit(X, y).transform(X)
        assert isinstance(weights, pd.DataFrame)
        assert list(weights.columns) == [f"{name_of(estimator)}{k}" for k in range(3)]

    def test_tables_keep_the_index_of_the_documents(self, estimator, simulation, y):
        table = pd.DataFrame(simulation.counts.toarray(), columns=list(simulation.terms)).set_axis(range(7, 7 + len(y)))
        model = small(estimator).set_output(transform="pandas")
        assert model.fit_transform(table, y).index.equals(table.index)
        assert model.transform(table).index.equals(table.index)

    def test_a_table_s_columns_are_kept_as_names(self, estimator, simulation, y):
        table = pd.DataFrame(simulation.counts.toarray(), columns=list(simulation.terms))
        model = small(estimator).fit(table, y)
        assert list(model.feature_names_in_) == list(simulation.terms)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(table.iloc[:, ::-1])

    def test_sparse_and_dense_text_give_the_same_bits(self, estimator, fitted, X, y):
        one, other = fitted(estimator), small(estimator).fit(X.toarray(), y)
        np.testing.assert_array_equal(one.components_, other.components_)
        np.testing.assert_array_equal(one.predict(X), other.predict(X.toarray()))

    def test_other_sparse_formats_and_index_types_give_the_same_bits(self, estimator, fitted, X, y):
        wide = X.copy()
        wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        expected = fitted(estimator).components_
        for other in (sp.csc_array(X), sp.coo_array(X), sp.csr_matrix(X), wide):
            np.testing.assert_array_equal(small(estimator).fit(other, y).components_, expected)


class Counter:
    """Counts iterations, and asks to stop after some of them."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.iterations, self.phases = stop_after, 0, []

    def setup(self, estimator, context):
        self.phases.append("setup")

    def teardown(self, estimator, context):
        self.phases.append("teardown")

    def on_fit_task_begin(self, estimator, context, **_):
        self.phases.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, **_):
        self.phases.append(f"end {context.task_name}")
        self.iterations += context.task_name == "iteration"
        return self.iterations == self.stop_after


@every_way
class TestCallbacks:
    def test_hear_of_every_iteration(self, estimator, X, y):
        counter = Counter()
        assert isinstance(counter, FitCallback)
        model = small(estimator, tol=0).set_callbacks(counter).fit(X, y)
        assert counter.iterations == model.n_iter_ == 10
        assert counter.phases[:2] == ["setup", "begin fit"]
        assert counter.phases[-2:] == ["end fit", "teardown"]

    def test_can_stop_training(self, estimator, X, y):
        model = small(estimator, tol=0).set_callbacks(Counter(stop_after=3)).fit(X, y)
        assert (model.n_iter_, model.stop_reason_, model.converged_) == (3, "callback", False)
        assert len(model.objective_) == 3
        assert np.all(np.isfinite(model.predict(X)))

    def test_change_no_bits(self, estimator, fitted, X, y):
        watched = small(estimator).set_callbacks(Counter()).fit(X, y)
        np.testing.assert_array_equal(watched.components_, fitted(estimator).components_)

    def test_a_watched_fit_can_be_pickled(self, estimator, X, y):
        model = small(estimator).set_callbacks(Counter()).fit(X, y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))

    def test_progress_bar_is_shown(self, estimator, X, y, capsys):
        small(estimator).set_callbacks(ProgressBar()).fit(X, y)
        assert type(small(estimator)).__name__ in capsys.readouterr().out


@every_way
class TestPrediction:
    @pytest.fixture
    def model(self, estimator, fitted):
        return fitted(estimator, max_iter=50)

    def test_probabilities_sum_to_one_and_their_mean_is_the_prediction(self, model, X):
        probabilities = model.predict_proba(X)
        assert probabilities.shape == (X.shape[0], 5)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(probabilities @ model.levels_, model.predict(X), rtol=1e-9)

    def test_levels_are_the_rounded_mean_or_the_most_probable(self, model, X):
        np.testing.assert_array_equal(model.predict_level(X), np.floor(model.predict(X) + 0.5))
        probabilities = model.predict_proba(X)
        most_probable = model.levels_[probabilities.argmax(axis=1)]
        np.testing.assert_array_equal(model.predict_level(X, rule="mode"), most_probable)

    def test_prediction_is_the_family_s_mean_of_weights_times_effects(self, model, X):
        eta = model.intercept_ + model.transform(X) @ model.coef_
        np.testing.assert_allclose(model.predict(X), 1 + 4 / (1 + np.exp(-eta)), rtol=1e-9)

    def test_score_is_the_r2_of_documents_that_have_a_response(self, model, X, y):
        holed = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
        assert model.score(X, holed) == r2_score(holed, model.predict(X))
        assert model.score(X, y) > 0.1

    def test_a_document_without_a_known_term_gets_the_mean_weights(self, model, X):
        empty = sp.csr_array((2, X.shape[1]))
        np.testing.assert_array_equal(model.transform(empty), [model.mean_weights_] * 2)
        assert np.all(np.isfinite(model.predict(empty)))
        assert model.predictions(empty).unknown.tolist() == [True, True]

    def test_does_not_depend_on_the_other_documents(self, model, X):
        np.testing.assert_array_equal(model.predict(X)[[7]], model.predict(X[[7]]))

    def test_needs_as_many_terms_as_training_had(self, model, X):
        with pytest.raises(ValueError, match="features"):
            model.predict(X[:, :-1])

    def test_refuses_bad_text_by_row_and_column(self, model, X):
        bad = X[:3].toarray()
        bad[2, 4] = -1
        with pytest.raises(InputError, match="row 2, column 4"):
            model.predict(bad)


@every_way
class TestOddInputThatWorks:
    def test_one_topic(self, estimator, X, y):
        model = small(estimator, n_topics=1).fit(X, y)
        assert model.components_.shape == (1, X.shape[1])
        assert np.all(np.isfinite(model.predict(X)))

    def test_as_many_topics_as_documents(self, estimator, X, y):
        model = small(estimator, n_topics=6).fit(X[:6], [1, 2, 3, 4, 5, 5])
        assert np.all(np.isfinite(model.predict(X[:6])))

    def test_one_term(self, estimator):
        model = small(estimator, n_topics=1).fit(np.array([[1.0], [5.0], [2.0], [0.0]]), [1, 5, 2, 3])
        assert np.all(np.isfinite(model.predict([[3.0]])))

    def test_more_topics_than_terms(self, estimator, X, y):
        columns = np.argsort(-X.sum(axis=0))[:2]
        model = small(estimator, n_topics=5).fit(X[:, columns], y)
        assert np.all(np.isfinite(model.predict(X[:, columns])))

    def test_empty_documents_and_terms_that_never_occur(self, estimator, X, y):
        holed = X.toarray()
        holed[[0, 9]] = 0
        holed[:, [2, 5]] = 0
        model = small(estimator).fit(holed, y)
        for values in (model.components_, model.weights_, model.coef_, model.predict(holed)):
            assert np.all(np.isfinite(values))

    def test_a_document_of_a_million_words(self, estimator, X, y):
        huge = X.toarray()
        huge[0] *= 1e6 / huge[0].sum()
        model = small(estimator).fit(huge, y)
        assert np.all(np.isfinite(model.predict(huge)))
        assert np.all(np.isfinite(model.objective_))

    @pytest.mark.parametrize("unit", [1e-9, 1e9])
    def test_text_in_any_unit(self, estimator, X, y, unit):
        model = small(estimator).fit(unit * X, y)
        assert np.all(np.isfinite(model.predict(unit * X)))
        assert np.all(np.isfinite(model.objective_))

    def test_whole_numbers_as_text_and_response(self, estimator, fitted, X, y):
        one = small(estimator).fit(X.astype(np.int64), y.astype(int))
        np.testing.assert_array_equal(one.components_, fitted(estimator).components_)

    @pytest.mark.parametrize(("lowest", "highest"), [(0, 10), (1, 7), (-3, 3)])
    def test_other_scales(self, estimator, X, y, lowest, highest):
        ratings = np.clip(np.round(lowest + (y - 1) / 4 * (highest - lowest)), lowest, highest)
        model = small(estimator).fit(X, ratings)
        assert model.levels_.tolist() == list(range(lowest, highest + 1))
        predicted = model.predict(X)
        assert np.all((predicted >= lowest) & (predicted <= highest))

    def test_a_scale_wider_than_what_was_seen(self, estimator, X, y):
        model = small(estimator, levels=(1, 9)).fit(X, y)
        assert model.predict_proba(X).shape == (X.shape[0], 9)

    def test_a_response_in_one_column(self, estimator, fitted, X, y):
        with pytest.warns(UserWarning, match="column-vector"):
            model = small(estimator).fit(X, y[:, None])
        np.testing.assert_array_equal(model.components_, fitted(estimator).components_)

    def test_single_precision_stays_single(self, estimator, fitted, X, y):
        model = small(estimator).fit(X.astype(np.float32), y)
        assert model.components_.dtype == model.weights_.dtype == np.float32
        assert model.transform(X.astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(model.predict(X.astype(np.float32)), fitted(estimator).predict(X), atol=0.05)


@every_way
class TestBadText:
    @pytest.mark.parametrize(
        ("value", "named"), [(-1.0, "Negative values"), (np.nan, "contains NaN"), (np.inf, "contains infinity")]
    )
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
    def test_is_named_with_row_and_column(self, estimator, X, y, value, named, form):
        bad = X.toarray()
        bad[11, 3] = value
        with pytest.raises(InputError, match=rf"{named}.*row 11, column 3"):
            small(estimator).fit(form(bad), y)

    def test_all_zeros_leave_nothing_to_learn(self, estimator, X, y):
        with pytest.raises(InputError, match="all zeros"):
            small(estimator).fit(sp.csr_array(X.shape), y)

    def test_text_in_documents_of_no_weight_alone_leaves_nothing_to_learn(self, estimator, X, y):
        with_empty = X.toarray()
        with_empty[:20] = 0
        weight = np.zeros(len(y))
        weight[:20] = 1
        with pytest.raises(InputError):
            small(estimator).fit(with_empty, y, weight)

    def test_fewer_documents_than_topics_are_too_few(self, estimator, X):
        with pytest.raises(InputError, match=r"2 sample\(s\) cannot carry 3 topics"):
            small(estimator).fit(X[:2], [1, 5])


@every_way
class TestBadResponse:
    def test_of_the_wrong_length_names_both_lengths(self, estimator, X, y):
        with pytest.raises(ValueError, match=r"\[300, 299\]"):
            small(estimator).fit(X, y[:-1])

    def test_that_is_not_given_is_asked_for(self, estimator, X):
        with pytest.raises(InputError, match="requires y"):
            small(estimator).fit(X, None)

    def test_in_words_is_not_a_number(self, estimator, X):
        with pytest.raises(InputError, match="must be numbers"):
            small(estimator).fit(X, ["good", "bad"] * 150)

    @pytest.mark.parametrize("value", [np.inf, -np.inf, 2.5])
    def test_that_no_scale_has_is_named_with_its_row(self, estimator, X, y, value):
        bad = y.copy()
        bad[0], bad[17] = np.nan, value
        with pytest.raises(InputError, match=f"row 18: {value:g}"):
            small(estimator).fit(X, bad)

    def test_is_named_with_its_row_where_other_documents_have_no_weight(self, estimator, X, y):
        bad, weight = y.copy(), np.ones(300)
        bad[17], weight[:10] = 2.5, 0
        with pytest.raises(InputError, match=r"row 18: 2\.5"):
            small(estimator).fit(X, bad, weight)

    def test_off_the_given_scale_is_named_with_its_row(self, estimator, X, y):
        bad = y.copy()
        bad[17] = 6
        with pytest.raises(InputError, match=r"levels 1 to 5 \(row 18: 6;"):
            small(estimator, levels=(1, 5)).fit(X, bad)

    @pytest.mark.parametrize("levels", [None, (1, 5)])
    def test_that_is_all_missing_is_refused(self, estimator, X, levels):
        with pytest.raises(InputError, match="no text has a response"):
            small(estimator, levels=levels).fit(X, np.full(300, np.nan))

    @pytest.mark.parametrize("levels", [None, (1, 5), (0, 7), (0, 12)], ids=str)
    def test_that_is_constant_is_refused_whatever_the_level(self, estimator, X, levels):
        for value in range(1, 6):
            with pytest.raises(InputError, match="constant"):
                small(estimator, levels=levels).fit(X, np.full(300, float(value)))


@every_way
class TestBadDocumentWeights:
    @pytest.mark.parametrize(
        "weight", [np.full(300, -1.0), np.zeros(300), np.full(300, np.nan), np.ones(299), ["a"] * 300]
    )
    def test_are_refused(self, estimator, X, y, weight):
        with pytest.raises(ValueError, match=r"weight|NaN|shape|could not convert"):
            small(estimator).fit(X, y, weight)


class TestBadOptions:
    @every_way
    @pytest.mark.parametrize(
        ("option", "value", "allowed"),
        [
            ("n_topics", 0, "whole number of at least 1"),
            ("n_topics", 2.5, "whole number of at least 1"),
            ("n_topics", "many", "whole number of at least 1"),
            ("max_iter", 0, "whole number of at least 1"),
            ("n_init", 0, "whole number of at least 1"),
            ("tol", -1e-3, "number of at least 0"),
            ("tol", np.nan, "number of at least 0"),
            ("init", "svd", "'nndsvda', 'random', 'nmf'"),
            ("levels", (3,), "at least two whole numbers"),
        ],
    )
    def test_say_what_is_allowed(self, estimator, X, y, option, value, allowed):
        with pytest.raises(InputError, match=rf"{option}.*{re.escape(allowed)}"):
            small(estimator, **{option: value}).fit(X, y)

    @pytest.mark.parametrize(
        ("estimator", "option", "value", "allowed"),
        [
            (JBNMF, "alpha", -1, "number of at least 0"),
            (JBNMF, "lam", np.inf, "number of at least 0"),
            (JBNMF, "gamma", "auto", '"adaptive" or a number of at least 0'),
            (JBNMF, "gamma", -1, "number of at least 0"),
            (JBNMF, "coefficient_step", "adam", "'newton', 'gradient'"),
            (JBNMF, "learning_rate", 0, "number above 0"),
            (GLMNMF, "supervision", -1, "number of at least 0"),
            (GLMNMF, "penalty", -1, "number of at least 0"),
            (GLMNMF, "training", "alternating", "'joint'"),
            (GLMNMF, "family", "gamma", "binomial"),
        ],
    )
    def test_of_one_estimator_say_what_is_allowed(self, estimator, X, y, option, value, allowed):
        with pytest.raises(InputError, match=rf"{option}.*{re.escape(allowed)}"):
            small(estimator, **{option: value}).fit(X, y)


class Counting:
    """An engine of two blocks and one thread, that counts what it is asked."""

    def __init__(self):
        self.maps, self.sweeps = 0, 0

    def cut(self, n_documents, n_nonzeros, n_terms):
        return [(0, n_documents // 2), (n_documents // 2, n_documents)] if n_documents > 1 else [(0, n_documents)]

    def map(self, step, blocks):
        self.maps += 1
        return [step(block) for block in blocks]

    def sweep(self, step, blocks):
        self.sweeps += 1
        return reduce(add, map(step, blocks))


@pytest.mark.parametrize("way", WAYS)
def test_another_engine_and_other_kernels_run_through_fit_and_predict(way, X, y, monkeypatch):
    # Stronger supervision shortens steps where a loss would rise, and rounding may decide whether it does.
    options = {"max_iter": 5} | ({"supervision": 0.1} if way == "joint" else {})
    rows = slice(120)
    default = small(WAYS[way], **options).fit(X[rows], y[rows])
    expected = default.predictions(X)
    engine = Counting()
    monkeypatch.setattr(nmf, "local_compute", lambda n_jobs: nullcontext(Compute(engine, reference)))
    model = small(WAYS[way], **options).fit(X[rows], y[rows])
    assert engine.maps > 0
    assert engine.sweeps > 0
    maps = engine.maps
    predictions = model.predictions(X)
    assert engine.maps == maps + 1
    np.testing.assert_allclose(model.components_, default.components_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(predictions.weights, expected.weights, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(predictions.eta, expected.eta, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.fitted_.hessian, default.fitted_.hessian, rtol=1e-6)


@pytest.mark.parametrize("way", ["joint", "predictive"])
def test_an_empty_training_document_has_the_weights_that_transform_gives(way, X, y):
    holed = X.toarray()
    holed[[3, 8]] = 0
    model = small(WAYS[way]).fit(holed, y)
    np.testing.assert_array_equal(model.weights_, model.transform(holed))
    np.testing.assert_array_equal(model.weights_[3], model.mean_weights_)


@every_way
def test_the_hessian_is_that_of_the_response_at_the_training_weights(estimator, X, y):
    model = small(estimator, levels=(1, 5)).fit(X, y)
    Z = np.column_stack([model.weights_, np.full(300, model.intercept_ != 0)])
    curvature = model.family_.curvature(y - 1, Z @ np.append(model.coef_, model.intercept_))
    information = (Z.T * curvature) @ Z
    ours = model.fitted_.hessian
    np.testing.assert_allclose(ours - np.diag(np.diag(ours)), information - np.diag(np.diag(information)), rtol=1e-8)
    assert np.ptp((np.diag(ours) - np.diag(information))[:-1]) < 1e-8 * ours.max()


@pytest.mark.parametrize("estimator", [joint_glm, predictive_glm], ids=["joint", "predictive"])
def test_levels_that_contradict_the_family_are_refused_and_both_are_named(estimator, X, y):
    with pytest.raises(InputError, match=r"levels=\(1, 5\) and family=Binomial\(n=6, lowest=0\) contradict"):
        small(estimator, family=Binomial(n=6, lowest=0), levels=(1, 5)).fit(X, y)
    assert small(estimator, family="binomial", levels=(0, 6)).fit(X, y).family_ == Binomial(n=6, lowest=0)


def test_weights_cannot_be_given_where_they_follow_from_the_text(X, y):
    with pytest.raises(InputError, match="finds weights from the text; give starting topics H alone"):
        small(predictive_glm).fit(X, y, W=np.ones((300, 3)))


def test_a_fit_stopped_early_is_that_of_fewer_iterations(X, y):
    stopped = small(JBNMF, tol=0).set_callbacks(Counter(stop_after=3)).fit(X, y)
    np.testing.assert_array_equal(stopped.components_, small(JBNMF, tol=0, max_iter=3).fit(X, y).components_)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@joint_ways
def test_joint_training_descends_in_any_unit(estimator, X, y, unit):
    objective = small(estimator).fit(unit * X, y).objective_
    assert np.all(np.diff(objective) <= 1e-12 * np.abs(objective[:-1]))


@joint_ways
class TestGivenStart:
    def test_of_another_shape_says_which_is_needed(self, estimator, X, y):
        with pytest.raises(InputError, match=re.escape("W has shape (300, 4); it must be (300, 3)")):
            small(estimator).fit(X, y, W=np.ones((300, 4)))
        with pytest.raises(InputError, match=re.escape("H has shape (150, 3); it must be (3, 150)")):
            small(estimator).fit(X, y, H=np.ones((150, 3)))

    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
    def test_holds_finite_numbers_of_at_least_zero(self, estimator, X, y, value):
        for name, shape in (("W", (300, 3)), ("H", (3, 150))):
            bad = np.ones(shape)
            bad[1, 2] = value
            with pytest.raises(InputError, match=f"{name} must hold finite numbers of at least 0"):
                small(estimator).fit(X, y, **{name: bad})

    def test_is_where_training_starts(self, estimator, X, y):
        rng = np.random.default_rng(0)
        W, H = rng.random((300, 3)), rng.random((3, 150))
        model = small(estimator).fit(X, y, W=W, H=H)
        D, data = W @ H, X.toarray()
        seen = data > 0
        text = D.sum() - data.sum() + np.sum(data[seen] * np.log(data[seen] / D[seen]))
        assert model.trace_["text_loss"][0] == pytest.approx(text, rel=1e-9)


def test_a_family_gives_the_scale(X, y):
    model = small(GLMNMF, family=Binomial(n=6, lowest=0)).fit(X, y)
    assert model.levels_.tolist() == list(range(7))
    assert model.family_ == Binomial(n=6, lowest=0)


def test_the_papers_model_has_no_intercept(fitted):
    assert fitted(JBNMF).intercept_ == 0


def test_the_intercept_can_be_left_out(X, y):
    assert small(GLMNMF).fit(X, y).intercept_ != 0
    assert small(GLMNMF, fit_intercept=False).fit(X, y).intercept_ == 0
