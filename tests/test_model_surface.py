"""What users of scikit-learn expect of TextResponseModel and TopicModel."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer, TopicModel, load
from textsignal.datasets import synthetic_reviews

REVIEWS = synthetic_reviews(240, seed=3)


def new(kind, number=4):
    """A model of themes, or of topics by a training, with 300 terms."""
    if kind == "themes":
        return TextResponseModel(number, max_terms=300)
    estimator = JBNMF(number) if kind == "JBNMF" else GLMNMF(number, training=kind)
    return TopicModel(estimator, TextVectorizer(max_terms=300, stop_words="english", weighting=estimator.weighting))


@pytest.fixture(scope="module", params=["themes", "predictive"])
def model(request):
    return new(request.param).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def themes():
    return new("themes").fit(REVIEWS.texts, REVIEWS.ratings)


def is_of_themes(model):
    """Themes have one row more than was asked for: the overall verdict, the last one."""
    return isinstance(model, TextResponseModel)


def number_of(model):
    """The option that is the number of themes or topics."""
    return "n_themes" if isinstance(model, TextResponseModel) else "estimator__n_topics"


class TestScikitLearnSurface:
    @pytest.mark.parametrize("kind", ["themes", "predictive", "joint", "JBNMF"])
    def test_fit_transform_is_fit_then_transform(self, kind):
        once = new(kind)
        weights = once.fit_transform(REVIEWS.texts, REVIEWS.ratings)
        np.testing.assert_allclose(weights, once.transform(REVIEWS.texts), rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("container", [pd.Series, pd.DataFrame])
    def test_tables_keep_the_index_of_the_texts(self, container):
        index = [f"guest {n}" for n in range(len(REVIEWS.texts))][::-1]
        texts = container(list(REVIEWS.texts), index=index)
        model = new("themes").set_output(transform="pandas")
        assert model.fit_transform(texts, REVIEWS.ratings).index.tolist() == index
        assert model.transform(texts).index.tolist() == index
        assert model.contributions(texts).index.tolist() == index

    def test_tables_of_topics_keep_the_index_of_the_texts(self):
        index = [f"guest {n}" for n in range(len(REVIEWS.texts))][::-1]
        texts = pd.Series(list(REVIEWS.texts), index=index)
        model = new("predictive").set_output(transform="pandas")
        assert model.fit_transform(texts, REVIEWS.ratings).index.tolist() == index
        assert model.transform(texts).index.tolist() == index

    def test_fit_transform_has_a_row_for_texts_that_were_not_fitted_to(self):
        price = pd.Series(np.arange(len(REVIEWS.texts), dtype=float)).mask(lambda n: n % 5 == 0)
        table = pd.DataFrame({"review": list(REVIEWS.texts), "price": price}).iloc[::-1]
        model = TextResponseModel(4, max_terms=300, missing="drop").set_output(transform="pandas")
        weights = model.fit_transform(table, REVIEWS.ratings[::-1])
        assert model.n_texts_ < len(table)
        pd.testing.assert_frame_equal(weights, model.transform(table), rtol=1e-4)

    def test_columns_of_transform_have_the_labels_of_the_user(self, themes):
        named = themes.rename({0: "staff", 2: "dirt"})
        assert named.get_feature_names_out()[[0, 2]].tolist() == ["staff", "dirt"]

    def test_columns_of_transform_have_the_labels(self, model):
        frame = clone(model).set_output(transform="pandas").fit(REVIEWS.texts, REVIEWS.ratings).transform(REVIEWS.texts)
        assert isinstance(frame, pd.DataFrame)
        assert frame.columns.tolist() == model.get_feature_names_out().tolist()

    def test_labels_that_are_alike_make_columns_that_differ(self, themes):
        names = themes.rename({0: "same"}).rename({0: None}).get_feature_names_out()
        assert len(set(names)) == 5
        assert names[-1] == "Overall verdict"

    def test_components_and_classes(self, model):
        assert model.components_.shape == (4 + is_of_themes(model), len(model.terms_))
        assert len(model.terms_) == 300
        assert model.classes_.tolist() == [1, 2, 3, 4, 5]

    def test_topics_and_terms_are_those_of_the_parts(self):
        model = new("predictive").fit(REVIEWS.texts, REVIEWS.ratings)
        assert model.components_ is model.estimator_.components_
        assert model.terms_.tolist() == model.vectorizer_.terms_.tolist()
        assert not hasattr(TopicModel(), "estimator_")

    def test_score_takes_weights(self, model):
        weight = np.arange(len(REVIEWS.texts)) % 3
        rows = np.repeat(np.arange(len(weight)), weight)
        repeated = model.score([REVIEWS.texts[i] for i in rows], REVIEWS.ratings[rows])
        assert model.score(REVIEWS.texts, REVIEWS.ratings, sample_weight=weight) == pytest.approx(repeated)

    def test_a_notebook_shows_the_themes_of_a_fitted_model(self, model, themes):
        page, table = model._repr_html_(), themes.themes(3) if model.__class__ is TextResponseModel else model.topics(3)
        assert all(term in page for term in table["terms"].explode())
        assert "&lt;b&gt;" in themes.rename({1: "<b>staff</b>"})._repr_html_()
        assert type(model).__name__ in type(model)()._repr_html_()


class TestTerms:
    def test_the_number_and_length_of_terms_are_those_of_the_vectorizer(self):
        vectorizer = TextVectorizer(max_terms=50, ngram_range=(1, 2), stop_words=["the"])
        model = TopicModel(GLMNMF(2), vectorizer).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(model.vectorizer_.terms_) == 50
        assert any(" " in term for term in model.vectorizer_.terms_)
        assert "the" not in model.vectorizer_.terms_

    def test_weights_of_terms_are_by_default_those_that_the_estimator_needs(self):
        for estimator in (GLMNMF(2, training="predictive"), GLMNMF(2, training="joint"), JBNMF(2, max_iter=5)):
            model = TopicModel(estimator).fit(REVIEWS.texts, REVIEWS.ratings)
            assert model.vectorizer_.weighting == estimator.weighting


class TestLoaded:
    @pytest.fixture
    def again(self, model, tmp_path):
        model.save(tmp_path / "model")
        return load(tmp_path / "model", n_jobs=1)

    def test_says_what_it_was_made_with(self, model, again):
        if isinstance(model, TextResponseModel):
            assert again.get_params() == model.get_params() | {"n_jobs": 1}
            assert again.reader_.n_jobs == 1
        else:
            fitted = model.estimator_.get_params() | {"family": model.family_}
            assert again.estimator.get_params() == fitted | {"n_jobs": 1}
            assert again.vectorizer.get_params() == model.vectorizer_.get_params() | {"dtype": "float64"}
            assert again.estimator_.n_jobs == 1

    def test_can_be_fitted_with_other_options(self, again):
        again.set_params(**{number_of(again): 3}).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(again.components_) == 3 + is_of_themes(again)

    def test_can_be_searched_over(self, again):
        search = GridSearchCV(again, {number_of(again): [2, 3]}, cv=2).fit(REVIEWS.texts, REVIEWS.ratings)
        number = search.best_params_[number_of(again)]
        assert len(search.best_estimator_.components_) == number + is_of_themes(again)

    def test_parts_that_were_given_are_given_again(self, tmp_path):
        given = TopicModel(JBNMF(3, max_iter=5), TextVectorizer(500, 200))
        given.fit(REVIEWS.texts, REVIEWS.ratings).save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.estimator.n_topics == 3
        assert again.vectorizer.max_terms == 200
        again.set_params(estimator__n_topics=2).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(again.components_) == 2
