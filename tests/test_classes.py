"""Classes without an order, explained by themes: chances, tables and models of each class against all others."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import cross_val_predict

from textsignal import TextResponseModel, load
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, StorageError
from textsignal.reading.several import ClassReader

N, N_TOPICS = 400, 5
REVIEWS = synthetic_reviews(N, seed=4)
KINDS = np.array(["bad" if y < 3 else "fair" if y < 5 else "good" for y in REVIEWS.ratings], dtype=object)
CLASSES = ["bad", "fair", "good"]


def new(**options):
    return TextResponseModel(N_TOPICS, **({"n_jobs": 1} | options))


@pytest.fixture(scope="module")
def model():
    return new().fit(REVIEWS.texts, KINDS)


def test_auto_takes_three_labels_for_classes_and_predicts_labels(model):
    assert model.family_.name == "categorical"
    assert model.classes_.tolist() == CLASSES
    chances = model.predict_proba(REVIEWS.texts)
    assert chances.shape == (N, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    predicted = model.predict(REVIEWS.texts)
    assert predicted.tolist() == [CLASSES[place] for place in chances.argmax(axis=1)]
    assert model.score(REVIEWS.texts, KINDS) == np.mean(predicted == KINDS)
    assert is_classifier(new(family="categorical"))


def test_chances_of_new_texts_are_better_than_frequencies_and_as_sure_as_they_may_be():
    training, test = np.arange(N) < 300, np.arange(N) >= 300
    texts = np.array(REVIEWS.texts, dtype=object)
    fitted = new().fit(texts[training], KINDS[training])
    chances = fitted.predict_proba(texts[test])
    happened = KINDS[test][:, None] == np.array(CLASSES)
    shares = np.array([np.mean(KINDS[training] == name) for name in CLASSES])
    assert -np.log(chances[happened]).mean() < -np.log(np.broadcast_to(shares, chances.shape)[happened]).mean() - 0.1
    np.testing.assert_allclose(chances.mean(axis=0), happened.mean(axis=0), atol=0.1)


def test_chances_of_training_texts_out_of_fold_have_the_frequencies_of_classes(model):
    reader = model.reader_
    eta = np.column_stack([each.known().eta for each in reader.readers])
    whole = eta @ reader.coefficients[:-1] + reader.coefficients[-1]
    shares = [np.mean(name == KINDS) for name in CLASSES]
    np.testing.assert_allclose(reader.family.mean(whole).mean(axis=0), shares, rtol=1e-6)


def test_each_class_is_a_model_of_it_against_all_others(model):
    indicators = pd.DataFrame({name: (name == KINDS).astype(int) for name in CLASSES})
    several = TextResponseModel(N_TOPICS, family="bernoulli", n_jobs=1).fit(REVIEWS.texts, indicators)
    for name in CLASSES:
        one = model.of(name)
        np.testing.assert_array_equal(one.predict_proba(REVIEWS.texts), several.of(name).predict_proba(REVIEWS.texts))
        pd.testing.assert_frame_equal(pd.DataFrame(one.drivers()), pd.DataFrame(several.of(name).drivers()))
        assert one.naming_.average == f"the share with response {name}"


def test_tables_have_the_class_first(model):
    for table, each in ((model.themes(), "themes"), (model.drivers(), "drivers")):
        assert next(iter(table)) == "class"
        assert table["class"].unique().tolist() == CLASSES
        for name in CLASSES:
            own = table[table["class"] == name].drop(columns="class")
            pd.testing.assert_frame_equal(pd.DataFrame(own), pd.DataFrame(getattr(model.of(name), each)()))
    assert model.drivers().findings() == ((), ())
    assert len(model.get_feature_names_out()) == N_TOPICS + 1


def test_drivers_of_other_texts_take_labels(model):
    table = model.drivers(texts=REVIEWS.texts[:60], responses=KINDS[:60])
    own = model.of("good").drivers(texts=REVIEWS.texts[:60], responses=(KINDS[:60] == "good").astype(int))
    for name in ("mean_mention", "mean_complaint", "share_of_low"):
        np.testing.assert_array_equal(table.loc[table["class"] == "good", name], own[name])


def test_a_model_of_one_class_explains_and_reports(model, tmp_path):
    one = model.of("bad")
    assert one.explain("The bathroom was dirty.").prediction > one.explain("Friendly staff.").prediction
    clauses = one.clauses(["The bathroom was dirty. Friendly staff."])
    # A class has no direction: what raises its share is no praise.
    assert clauses["kind"].tolist() == ["raises", "lowers"]
    assert set(one.clauses()["kind"]) == {"raises", "lowers", "neutral"}
    raising = one.find_clauses(clauses["theme"][0], n=2, good=True)
    assert len(raising) == 2
    assert (raising["contribution"] > 0).all()
    one.report(tmp_path / "report.html", n_documents=5)
    assert "the share with response bad" in (tmp_path / "report.html").read_text()


def test_a_saved_model_says_the_same(model, tmp_path):
    model.rename(0, "first").save(tmp_path / "model")
    again = load(tmp_path / "model", n_jobs=1)
    assert again.classes_.tolist() == CLASSES
    np.testing.assert_array_equal(again.predict_proba(REVIEWS.texts), model.predict_proba(REVIEWS.texts))
    assert "first" in again.of("fair").themes()["label"].tolist()


def test_parts_that_do_not_fit_are_refused(model, tmp_path):
    reader = model.reader_
    other = new(random_state=5).fit(REVIEWS.texts, KINDS).reader_
    assert isinstance(reader, ClassReader)
    for number, (damaged, message) in enumerate(
        (
            (replace(reader, readers=reader.readers[:2]), "readers has the size 2; it must be 3"),
            (
                replace(reader, coefficients=reader.coefficients[1:]),
                "coefficients has the size 3 x 2; it must be 4 x 2",
            ),
            (
                replace(reader, coefficients=reader.coefficients * np.nan),
                "coefficients holds values that are not finite",
            ),
            (
                replace(reader, readers=(*reader.readers[:2], other.readers[2])),
                "the themes of 'good' are not those of the others",
            ),
        )
    ):
        forged = copy(model)
        forged.reader_ = damaged
        forged.save(tmp_path / f"{number}")
        with pytest.raises(StorageError, match=message):
            load(tmp_path / f"{number}")


def test_merging_refits_chances(model):
    merged = model.merge([0, 1], "both")
    assert merged.n_themes == N_TOPICS - 1
    chances = merged.predict_proba(REVIEWS.texts)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert not np.array_equal(chances, model.predict_proba(REVIEWS.texts))


def test_missing_labels_are_left_out():
    some = KINDS.copy()
    some[::5] = None
    fitted = new().fit(REVIEWS.texts, some)
    assert fitted.classes_.tolist() == CLASSES
    values = [observed.responses for observed in fitted.observed()]
    assert all(np.isnan(own[::5]).all() and np.isin(own[1:5], (0, 1)).all() for own in values)
    np.testing.assert_array_equal(np.nansum(values, axis=0)[1:5], 1)


def test_numbers_may_be_classes():
    numbers = np.select([KINDS == "bad", KINDS == "fair"], [7, 3], 20)
    fitted = new(family="categorical").fit(REVIEWS.texts, numbers)
    assert fitted.classes_.tolist() == [3, 7, 20]
    assert set(fitted.predict(REVIEWS.texts)) <= {3, 7, 20}


def test_two_labels_are_no_such_classes():
    fitted = new(family="categorical").fit(REVIEWS.texts, np.where(KINDS == "bad", "bad", "other"))
    assert fitted.family_.name == "bernoulli"
    with pytest.raises(InputError, match="this model has one response"):
        fitted.of("bad")


def test_chances_can_be_cross_validated():
    chances = cross_val_predict(new(family="categorical"), REVIEWS.texts, KINDS, method="predict_proba", cv=2)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.explain("x"), r"model.of\('bad'\)"),
        (lambda model: model.clauses(["x"]), r"model.of\('bad'\)"),
        (lambda model: model.find_clauses(0), r"model.of\('bad'\)"),
        (lambda model: model.stability(), r"model.of\('bad'\)"),
        (lambda model: model.covariate_effects_, r"model.of\('bad'\)"),
        (lambda model: model.find_texts(0), r"model.of\('bad'\)"),
        (lambda model: model.contributions(["x"]), r"model.of\('bad'\)"),
        (lambda model: model.of("odd"), "there is no class 'odd'"),
    ],
)
def test_what_is_of_one_class_says_so(model, ask, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        ask(model)


def test_a_class_without_documents_is_named():
    with pytest.raises(InputError, match="of the class 'fine'"):
        new(family="categorical", levels=[*CLASSES, "fine"]).fit(REVIEWS.texts, KINDS)
