"""What users of scikit-learn expect of TextResponseModel, and options that contradict each other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer, load
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

REVIEWS = synthetic_reviews(240, seed=3)


@pytest.fixture(scope="module", params=["themes", "predictive"])
def model(request):
    return TextResponseModel(n_themes=4, max_terms=300, training=request.param).fit(REVIEWS.texts, REVIEWS.ratings)


class TestScikitLearnSurface:
    @pytest.mark.parametrize(
        "options", [{}, {"training": "predictive"}, {"training": "joint"}, {"estimator": JBNMF(3)}]
    )
    def test_fit_transform_is_fit_then_transform(self, options):
        once = TextResponseModel(**options, max_terms=300)
        weights = once.fit_transform(REVIEWS.texts, REVIEWS.ratings)
        np.testing.assert_allclose(weights, once.transform(REVIEWS.texts), rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("options", [{}, {"training": "predictive"}])
    @pytest.mark.parametrize("container", [pd.Series, pd.DataFrame])
    def test_tables_keep_the_index_of_the_texts(self, options, container):
        index = [f"guest {n}" for n in range(len(REVIEWS.texts))][::-1]
        texts = container(list(REVIEWS.texts), index=index)
        model = TextResponseModel(4, max_terms=300, **options).set_output(transform="pandas")
        assert model.fit_transform(texts, REVIEWS.ratings).index.tolist() == index
        assert model.transform(texts).index.tolist() == index
        assert model.contributions(texts).index.tolist() == index

    def test_fit_transform_has_a_row_for_texts_that_were_not_fitted_to(self):
        price = pd.Series(np.arange(len(REVIEWS.texts), dtype=float)).mask(lambda n: n % 5 == 0)
        table = pd.DataFrame({"review": list(REVIEWS.texts), "price": price}).iloc[::-1]
        model = TextResponseModel(4, max_terms=300, missing="drop").set_output(transform="pandas")
        weights = model.fit_transform(table, REVIEWS.ratings[::-1])
        assert model.n_texts_ < len(table)
        pd.testing.assert_frame_equal(weights, model.transform(table), rtol=1e-4)

    def test_columns_of_transform_have_the_themes_labels(self, model):
        named = model.rename({0: "staff", 2: "dirt"})
        assert named.get_feature_names_out()[[0, 2]].tolist() == ["staff", "dirt"]
        frame = clone(model).set_output(transform="pandas").fit(REVIEWS.texts, REVIEWS.ratings).transform(REVIEWS.texts)
        assert isinstance(frame, pd.DataFrame)
        assert frame.columns.tolist() == model.get_feature_names_out().tolist()

    def test_labels_that_are_alike_make_columns_that_differ(self, model):
        names = model.rename({0: "same"}).rename({0: None}).get_feature_names_out()
        assert len(set(names)) == 4

    def test_components_and_classes(self, model):
        assert model.components_.shape == (4, len(model.terms_))
        assert len(model.terms_) == 300
        assert model.classes_.tolist() == [1, 2, 3, 4, 5]

    def test_parts_are_those_of_the_training(self, model):
        if model.training == "themes":
            for name in ("vectorizer_", "estimator_"):
                with pytest.raises(AttributeError, match=f"a model that is of themes has no {name}"):
                    getattr(model, name)
        else:
            assert model.components_ is model.estimator_.components_
            assert model.terms_.tolist() == model.vectorizer_.terms_.tolist()
        assert not hasattr(TextResponseModel(), "estimator_")

    def test_score_takes_weights(self, model):
        weight = np.arange(len(REVIEWS.texts)) % 3
        rows = np.repeat(np.arange(len(weight)), weight)
        repeated = model.score([REVIEWS.texts[i] for i in rows], REVIEWS.ratings[rows])
        assert model.score(REVIEWS.texts, REVIEWS.ratings, sample_weight=weight) == pytest.approx(repeated)

    def test_a_notebook_shows_the_themes_of_a_fitted_model(self, model):
        page = model._repr_html_()
        assert all(term in page for term in model.themes(3)["terms"].explode())
        assert "&lt;b&gt;" in model.rename({1: "<b>staff</b>"})._repr_html_()
        assert "TextResponseModel" in TextResponseModel()._repr_html_()


class TestTerms:
    def test_the_number_and_length_of_terms_need_no_vectorizer(self):
        model = TextResponseModel(
            n_themes=2, training="predictive", max_terms=50, ngram_range=(1, 2), stop_words=["the"]
        )
        model.fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(model.vectorizer_.terms_) == 50
        assert any(" " in term for term in model.vectorizer_.terms_)
        assert "the" not in model.vectorizer_.terms_

    def test_more_terms_than_the_default_are_kept_where_they_are_asked_for(self):
        model = TextResponseModel(training="predictive", max_terms=6000, stop_words=None)
        texts = [f"{text} word{i} word{i + 9000}" for i, text in enumerate(synthetic_reviews(3000, seed=0).texts)]
        model.set_params(n_themes=2, supervision=0.0).fit(texts, np.arange(3000) % 5)
        assert len(model.vectorizer_.terms_) == 6000

    @pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
    def test_other_vectorizers_are_refused_by_fit(self, vectorizer):
        with pytest.raises(InputError, match=r"vectorizer=.*Vectorizer\(\) cannot be used here; give a TextVectorizer"):
            TextResponseModel(vectorizer=vectorizer).fit(REVIEWS.texts, REVIEWS.ratings)


class TestContradictions:
    @pytest.mark.parametrize(
        "options",
        [
            {"n_themes": 3, "estimator": GLMNMF(n_themes=7)},
            {"n_themes": 10, "estimator": GLMNMF(n_themes=7)},
            {"training": "joint", "estimator": GLMNMF()},
            {"supervision": 0.1, "estimator": JBNMF()},
            {"levels": (1, 5), "estimator": JBNMF()},
            {"random_state": 3, "estimator": JBNMF()},
            {"max_terms": 100, "vectorizer": TextVectorizer()},
            {"ngram_range": (1, 2), "vectorizer": TextVectorizer()},
            {"stop_words": "de", "vectorizer": TextVectorizer()},
            {"training": "predictive", "estimator": JBNMF()},
        ],
    )
    def test_options_that_contradict_a_part_are_named(self, options):
        option, part = options
        with pytest.raises(InputError, match=rf"{option}=.* and {part}=.* contradict each other; give {option} to"):
            TextResponseModel(**options).fit(REVIEWS.texts, REVIEWS.ratings)

    def test_options_that_say_the_same_may_stand_beside_each_other(self):
        model = TextResponseModel(n_themes=3, levels=(1, 5), estimator=JBNMF(3, levels=[1, 5], max_iter=5))
        assert len(model.fit(REVIEWS.texts, REVIEWS.ratings).components_) == 3


class TestLoaded:
    @pytest.fixture
    def again(self, model, tmp_path):
        model.save(tmp_path / "model")
        return load(tmp_path / "model", n_jobs=1)

    def test_says_what_it_was_made_with(self, model, again):
        assert again.get_params() == model.get_params() | {"n_jobs": 1}
        assert (again.reader_ if model.training == "themes" else again.estimator_).n_jobs == 1

    def test_can_be_fitted_with_other_options(self, again):
        again.set_params(n_themes=3).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(again.components_) == 3

    def test_can_be_searched_over(self, again):
        search = GridSearchCV(again, {"n_themes": [2, 3]}, cv=2).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(search.best_estimator_.components_) == search.best_params_["n_themes"]

    def test_parts_that_were_given_are_given_again(self, tmp_path):
        given = TextResponseModel(estimator=JBNMF(3, max_iter=5), vectorizer=TextVectorizer(500, 200))
        given.fit(REVIEWS.texts, REVIEWS.ratings).save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.n_themes is None
        assert again.estimator.n_themes == 3
        again.set_params(estimator__n_themes=2).fit(REVIEWS.texts, REVIEWS.ratings)
        assert len(again.components_) == 2
