"""Which models are classifiers and which are regressors, and what labels they take and give."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from textsignal import GLMNMF, JBNMF, TextResponseModel, TopicModel, load
from textsignal.datasets import simulate_corpus, synthetic_reviews
from textsignal.errors import InputError
from textsignal.estimators.predictions import accuracy, r2_score
from textsignal.families import Bernoulli, Categorical, Gaussian, Ordinal, deviance, null_deviance

CORPUS = simulate_corpus(n_documents=400, n_terms=150, random_state=3)
REVIEWS = synthetic_reviews(300, seed=1)
ORDER = ("low", "mid", "high")
#: Family, its levels and the labels that it gets, from ratings.
KINDS = {
    "bernoulli": (None, lambda y: np.array(["no", "yes"], dtype=object)[(y > 3).astype(int)]),
    "ordinal": (ORDER, lambda y: np.array(ORDER, dtype=object)[np.digitize(y, [2.5, 4.5])]),
    "categorical": (None, lambda y: np.array(ORDER, dtype=object)[np.digitize(y, [2.5, 4.5])]),
}
every_kind = pytest.mark.parametrize("name", KINDS)
both_trainings = pytest.mark.parametrize("training", ["predictive", "joint"])
#: Checks that cannot be passed, and why.
NOT_EXPECTED = {
    "bernoulli": {"check_classifier_not_supporting_multiclass": "its matrix is negative, which is refused first"},
    "ordinal": {"check_classifiers_classes": "its labels are text, whose order nobody gives"},
}  # fmt: skip


def matrix_model(name, training="predictive", **options):
    return GLMNMF(5, family=name, levels=KINDS[name][0], training=training, max_epochs=8, n_jobs=1, **options)


def text_model(name, **options):
    if name == "categorical":
        return TopicModel(GLMNMF(5, **{"family": name, "training": "predictive"} | options, n_jobs=1))
    return TextResponseModel(5, **{"family": name, "levels": KINDS[name][0]} | options, n_jobs=1)


def labels_of(name, ratings):
    return KINDS[name][1](ratings)


class TestScikitLearn:
    @pytest.mark.parametrize(
        ("name", "training"),
        [
            *((name, "predictive") for name in ("gaussian", "bernoulli", "ordinal", "categorical")),
            ("bernoulli", "joint"),
        ],
    )
    def test_check_estimator(self, name, training):
        model = GLMNMF(2, family=name, training=training, max_iter=20, max_epochs=5, n_jobs=1)
        expected = NOT_EXPECTED.get(name, {})
        results = check_estimator(model, expected_failed_checks=expected, on_skip=None, on_fail="raise")
        odd = {result["check_name"] for result in results if result["status"] != "passed"}
        assert odd <= {"check_array_api_input", *expected}
        assert len(results) > 40

    @every_kind
    @pytest.mark.parametrize("make", [matrix_model, text_model])
    def test_families_of_classes_are_classifiers(self, name, make):
        model = make(name)
        assert is_classifier(model)
        assert not is_regressor(model)
        assert model.__sklearn_tags__().classifier_tags.multi_class == (name != "bernoulli")
        option = "estimator__family" if isinstance(model, TopicModel) else "family"
        given = clone(model).set_params(
            **{option: {"bernoulli": Bernoulli(), "ordinal": Ordinal()}.get(name, Categorical())}
        )
        assert is_classifier(given)

    @pytest.mark.parametrize(
        "model",
        [GLMNMF(), GLMNMF(family="gaussian"), GLMNMF(family=Gaussian()), JBNMF(), TextResponseModel(),
         TextResponseModel(family="poisson"), TopicModel(), TopicModel(JBNMF())],
    )  # fmt: skip
    def test_all_others_are_regressors(self, model):
        assert is_regressor(model)
        assert not is_classifier(model)

    def test_a_model_is_what_its_estimator_is(self):
        assert is_classifier(TopicModel(estimator=GLMNMF(family="ordinal")))

    @every_kind
    @both_trainings
    def test_cross_validation_of_a_matrix(self, name, training):
        y = labels_of(name, CORPUS.ratings)
        model = matrix_model(name, training)
        chances = cross_val_predict(model, CORPUS.counts, y, cv=3, method="predict_proba")
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        # Columns are levels in order where the order was given, though scikit-learn numbers labels as they are sorted.
        classes = np.array(KINDS[name][0] or sorted(set(y)), dtype=object)
        assert np.mean(classes[chances.argmax(axis=1)] == y) > 0.6
        assert cross_val_score(model, CORPUS.counts, y, cv=3).mean() == pytest.approx(
            np.mean(classes[chances.argmax(axis=1)] == y), abs=0.01
        )

    @every_kind
    def test_cross_validation_of_texts(self, name):
        y = labels_of(name, REVIEWS.ratings)
        chances = cross_val_predict(text_model(name), REVIEWS.texts, y, cv=3, method="predict_proba")
        classes = np.array(KINDS[name][0] or sorted(set(y)), dtype=object)
        assert np.mean(classes[chances.argmax(axis=1)] == y) > 0.5


class TestLabels:
    @every_kind
    @pytest.mark.parametrize("make", [matrix_model, text_model])
    def test_labels_are_predicted_as_they_were_given(self, name, make):
        documents, ratings = (
            (CORPUS.counts, CORPUS.ratings) if make is matrix_model else (REVIEWS.texts, REVIEWS.ratings)
        )
        y = labels_of(name, ratings)
        model = make(name).fit(documents, y)
        assert model.classes_.tolist() == list(KINDS[name][0] or sorted(set(y)))
        predictions = model.predictions(documents)
        chances = model.predict_proba(documents)
        np.testing.assert_array_equal(model.predict(documents), model.classes_[chances.argmax(axis=1)])
        assert model.score(documents, y) == accuracy(y, model.predict(documents))
        np.testing.assert_array_equal(predictions.mean, model.family_.mean(predictions.eta))

    @pytest.mark.parametrize("labels", [(False, True), (0, 1), (2.0, 5.0), ("a", "b")])
    def test_types_of_labels_are_kept_when_stored(self, labels, tmp_path):
        y = np.array(labels)[(REVIEWS.ratings > 3).astype(int)]
        model = text_model("bernoulli").fit(REVIEWS.texts, y)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.classes_.tolist() == list(labels)
        assert again.classes_.dtype.kind == model.classes_.dtype.kind
        np.testing.assert_array_equal(again.predict(REVIEWS.texts), model.predict(REVIEWS.texts))
        assert is_classifier(again)

    @pytest.mark.parametrize("missing", [None, np.nan])
    @every_kind
    def test_missing_labels_are_left_out(self, name, missing):
        y = labels_of(name, CORPUS.ratings)
        y[::5] = missing
        model = matrix_model(name).fit(CORPUS.counts, y)
        assert model.score(CORPUS.counts, y) == accuracy(y, model.predict(CORPUS.counts))
        holed = text_model(name).fit(REVIEWS.texts, [missing, *labels_of(name, REVIEWS.ratings)[1:]])
        assert None not in holed.classes_

    def test_text_by_itself_is_taken_for_classes(self):
        y = labels_of("bernoulli", REVIEWS.ratings)
        auto = TextResponseModel(5, n_jobs=1).fit(REVIEWS.texts, y)
        given = text_model("bernoulli").fit(REVIEWS.texts, y)
        assert auto.family_ == given.family_
        np.testing.assert_array_equal(auto.predict(REVIEWS.texts), given.predict(REVIEWS.texts))
        assert "no, yes, bernoulli" in auto.reader_.described["Response"]
        ordered = TextResponseModel(5, levels=ORDER, n_jobs=1).fit(REVIEWS.texts, labels_of("ordinal", REVIEWS.ratings))
        assert ordered.family_.name == "ordinal"

    def test_names_of_levels_change_nothing_else(self):
        ratings = labels_of("ordinal", REVIEWS.ratings)
        numbers = np.array([ORDER.index(label) + 1 for label in ratings])
        named = text_model("ordinal").fit(REVIEWS.texts, ratings)
        plain = text_model("ordinal", levels=None).fit(REVIEWS.texts, numbers)
        np.testing.assert_array_equal(named.predict_proba(REVIEWS.texts), plain.predict_proba(REVIEWS.texts))
        np.testing.assert_array_equal(named.predictions(REVIEWS.texts).mean, plain.predictions(REVIEWS.texts).mean)
        pd.testing.assert_frame_equal(
            named.drivers(texts=REVIEWS.texts, responses=ratings), plain.drivers(texts=REVIEWS.texts, responses=numbers)
        )

    def test_a_report_names_levels(self, tmp_path):
        y = labels_of("ordinal", REVIEWS.ratings)
        text_model("ordinal").fit(REVIEWS.texts, y).report(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert '"labels": ["low", "mid", "high"]' in page or '"labels":["low","mid","high"]' in page

    def test_a_regressor_scores_means(self):
        y = CORPUS.ratings.astype(float)
        model = GLMNMF(5, max_epochs=5, n_jobs=1).fit(CORPUS.counts, y)
        assert model.score(CORPUS.counts, y) == r2_score(y, model.predict(CORPUS.counts))


@pytest.fixture(scope="module")
def y():
    """Classes that one direction of the text tells apart."""
    eta = logit(CORPUS.probability)
    eta = (eta - eta.mean()) / eta.std()
    return Categorical(("a", "b", "c")).sample(np.stack([2 * eta, -2 * eta], axis=1), np.random.default_rng(0))


@both_trainings
class TestCategorical:
    def fitted(self, y, training, **options):
        return GLMNMF(5, family="categorical", training=training, max_epochs=8, n_jobs=1, **options).fit(
            CORPUS.counts, y
        )

    def test_every_class_but_the_first_has_effects(self, y, training):
        model = self.fitted(y, training)
        assert model.coef_.shape == (2, 5)
        assert model.intercept_.shape == (2,)
        eta = model.transform(CORPUS.counts) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.predictions(CORPUS.counts).eta, eta)

    def test_it_explains_classes(self, y, training):
        model = GLMNMF(5, family="categorical", training=training, n_jobs=1).fit(CORPUS.counts[:300], y[:300])
        family, rest = model.family_, model.family_.encode(y[300:])
        left = deviance(family, rest, model.predictions(CORPUS.counts[300:]).eta)
        assert left < 0.95 * null_deviance(family, rest, np.ones(100))

    def test_names_of_classes_permute_probabilities(self, y, training):
        """The first class stays the first: the penalty is on differences to it."""
        names = {"a": "x", "b": "z", "c": "y"}
        one = self.fitted(y, training, max_iter=20)
        other = self.fitted(np.array([names[label] for label in y], dtype=object), training, max_iter=20)
        np.testing.assert_allclose(
            one.predict_proba(CORPUS.counts), other.predict_proba(CORPUS.counts)[:, [0, 2, 1]], atol=1e-6
        )

    def test_two_classes_are_a_bernoulli(self, y, training):
        two = np.where(y == "a", "a", "b").astype(object)
        one = self.fitted(two, training)
        other = GLMNMF(5, family="bernoulli", training=training, max_epochs=8, n_jobs=1).fit(CORPUS.counts, two)
        np.testing.assert_array_equal(one.predict_proba(CORPUS.counts), other.predict_proba(CORPUS.counts))

    def test_repeated_rows_are_weights(self, y, training):
        weight = np.arange(len(y)) % 3
        rows = np.repeat(np.arange(len(y)), weight)
        weighted = GLMNMF(5, family="categorical", training=training, max_epochs=4, n_jobs=1)
        weighted.fit(CORPUS.counts, y, sample_weight=weight)
        repeated = clone(weighted).fit(CORPUS.counts[rows], y[rows])
        np.testing.assert_allclose(
            weighted.predict_proba(CORPUS.counts), repeated.predict_proba(CORPUS.counts), atol=1e-5
        )

    @pytest.mark.usefixtures("threaded_blas")
    def test_threads_change_nothing(self, y, training):
        one = self.fitted(y, training)
        two = GLMNMF(5, family="categorical", training=training, max_epochs=8, n_jobs=2).fit(CORPUS.counts, y)
        np.testing.assert_array_equal(one.coef_, two.coef_)

    def test_a_model_is_stored_and_shows_topics_of_each_class(self, training, tmp_path):
        y = labels_of("categorical", REVIEWS.ratings)
        model = text_model("categorical", training=training).fit(REVIEWS.texts, y)
        table = model.topics()
        assert table["class"].unique().tolist() == ["high", "low", "mid"]
        sums = table.groupby("topic")["effect"].sum()
        np.testing.assert_allclose(sums, 0, atol=1e-9)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(REVIEWS.texts), model.predict_proba(REVIEWS.texts))
        with pytest.raises(InputError, match=r'2 linear predictors.*family="bernoulli"'):
            again.explain("The staff were friendly.")

    def test_what_needs_one_linear_predictor_is_refused(self, y, training):
        model = GLMNMF(5, family="categorical", training=training, max_epochs=2, n_jobs=1)
        with pytest.raises(InputError, match="covariates and an offset take one"):
            model.fit(CORPUS.counts, y, offset=np.zeros(len(y)))
        with pytest.raises(InputError, match="word_residual take one"):
            model.set_params(word_residual=True).fit(CORPUS.counts, y)


class TestWrongDomain:
    CASES = (
        ("poisson", None, [3, 0, -2], r'row 3: -2; .*family="gaussian" would fit'),
        ("binomial", (1, 5), [1, 6, 2], r"row 2: 6; .*levels=\(1, 6\) would fit"),
        ("ordinal", (1, 5), [1, 6, 2], r'row 2: 6; .*family="gaussian"'),
        ("bernoulli", None, [0, 1, 2], r'row 3: 2; .*family="categorical"'),
        ("bernoulli", None, ["a", "b", "c"], r"row 3: 'c'; .*family=\"categorical\""),
        ("ordinal", None, ["a", "b", "c"], r"row 1: 'a'; .*levels=.*family=\"categorical\""),
        ("ordinal", ORDER, ["low", "mid", "top"], r"row 3: 'top'; .*family=\"categorical\""),
        ("gaussian", None, [1.0, "cold", 2.0], r"'cold' is not \(row 2; .*family=\"categorical\""),
    )
    cases = pytest.mark.parametrize(("family", "levels", "y", "named"), CASES)

    @cases
    def test_a_matrix(self, family, levels, y, named):
        with pytest.raises(InputError, match=named):
            GLMNMF(1, family=family, levels=levels).fit(np.ones((3, 2)), y)

    @cases
    @pytest.mark.parametrize("kind", ["themes", "topics"])
    def test_texts(self, family, levels, y, named, kind):
        options = {"family": family, "levels": levels}
        model = TextResponseModel(1, **options) if kind == "themes" else TopicModel(GLMNMF(1, **options))
        with pytest.raises(InputError, match=named):
            model.fit(["lovely staff", "dirty room", "lovely room"], y)
