"""Methods on the same folds: nothing leaks, differences are paired, and sentences say what the numbers do."""

import numpy as np
import pandas as pd
import pytest

import textsignal as ts
from textsignal.errors import InputError
from textsignal.evaluation.compare import Standing, auc_of, mean_of, r2_of, say_best, say_gain
from textsignal.evaluation.methods import METHODS, OUR_METHOD, ComparedTexts, count_ngrams, fold_numbers
from textsignal.families import Binomial
from textsignal.text.tokens import tokenised
from textsignal.workflow.studies import compare

N = 120
REVIEWS = ts.datasets.synthetic_reviews(N, seed=3)
TEXTS, RATINGS = list(REVIEWS.texts), np.asarray(REVIEWS.ratings, dtype=float)
MODEL = ts.TextResponseModel(n_themes=3)
STARS = ts.TextResponseModel(n_themes=3, family="beta-binomial")
NAMES = {"mean", "ridge", "lasso", "GLM", "two-stage", "textsignal"}


def run(responses, n_jobs=1, model=MODEL, **options):
    return ts.compare(TEXTS, responses, folds=2, model=model, n_jobs=n_jobs, **options)


@pytest.fixture(scope="module")
def stars():
    return run(RATINGS, model=STARS)


def test_all_methods_predict_every_document_once(stars):
    assert set(stars.table["method"]) == NAMES
    assert stars.predictions[[*NAMES]].notna().all(axis=None)
    assert stars.predictions["row"].tolist() == list(range(1, N + 1))
    np.testing.assert_array_equal(stars.predictions["response"], RATINGS)


def test_differences_are_to_ours_and_paired_over_documents(stars):
    table = stars.table.set_index("method")
    ours = stars.predicted["textsignal"]
    for name, row in table.iterrows():
        assert row["r2_difference"] == pytest.approx(row["r2"] - table["r2"]["textsignal"])
        assert row["r2"] == pytest.approx(ts.evaluate.r2_score(RATINGS, stars.predictions[name]))
        paired = stars.predicted[name].log_scores - ours.log_scores
        assert row["log_score_difference"] == pytest.approx(paired.mean())
        assert row["log_score_std_error"] == pytest.approx(paired.std(ddof=1) / N**0.5)
    assert table["r2"].is_monotonic_decreasing
    assert table["r2_std_error"]["textsignal"] == 0


@pytest.mark.usefixtures("threaded_blas")
def test_the_same_bits_for_any_number_of_workers(stars):
    other = run(RATINGS, n_jobs=3, model=STARS)
    pd.testing.assert_frame_equal(other.table, stars.table, check_exact=True)
    pd.testing.assert_frame_equal(other.predictions, stars.predictions, check_exact=True)
    assert other.sentences == stars.sentences


@pytest.mark.parametrize("method", [*METHODS, OUR_METHOD], ids=lambda method: method.name)
def test_what_is_left_out_is_not_learnt_from(method):
    """Other responses, and other words, of left-out documents change no prediction for the rest of them."""
    left_out = np.arange(N) % 2 == 0
    family = Binomial(4, 1)

    def predicted(responses, texts):
        words = tokenised(texts)
        tokens = MODEL.tokenise(texts)
        documents = ComparedTexts(tokens, words, count_ngrams(words), responses, responses, tokens.first_copies())
        split = documents.split(left_out, seed=0)
        model = ts.TextResponseModel(n_themes=3, family=family)
        return method.fit(split, family, model)

    first = predicted(RATINGS, TEXTS)
    others = [f"{text} wonderfully strange" if i == 0 else text for i, text in enumerate(TEXTS)]
    second = predicted(np.where(left_out, 6 - RATINGS, RATINGS), others)
    np.testing.assert_allclose(second.mean[1:], first.mean[1:], rtol=1e-9)
    np.testing.assert_allclose(second.eta[1:], first.eta[1:], rtol=1e-9, atol=1e-9)


def test_two_values_by_text_and_groups():
    labels = [None if i == 5 else "yes" if rating > 3 else "no" for i, rating in enumerate(RATINGS)]
    groups = np.arange(N) // 5
    found = run(labels, groups=groups)
    assert {"auc", "log_score"} <= set(found.table)
    assert "r2" not in found.table
    assert found.table.set_index("method")["auc"]["mean"] == pytest.approx(0.5)
    assert found.table["log_score"].is_monotonic_increasing
    assert 6 not in found.predictions["row"].tolist()
    assert (found.predictions.groupby(groups[found.rows - 1])["fold"].nunique() == 1).all()
    log_loss = np.mean(found.predicted["GLM"].log_scores)
    chances = found.predictions["GLM"].to_numpy()
    happened = found.predictions["response"].to_numpy() == "yes"
    assert log_loss == pytest.approx(-np.mean(np.log(np.where(happened, chances, 1 - chances))))
    assert "log loss" in found.sentences[0]


def test_classes_have_no_linear_regressions():
    found = run(np.where(RATINGS < 3, "bad", np.where(RATINGS < 5, "fair", "good")).tolist())
    assert set(found.table["method"]) == NAMES - {"ridge", "lasso"}
    assert set(found.predictions["GLM"]) <= {"bad", "fair", "good"}
    accuracy = (found.predictions["GLM"] == found.predictions["response"]).mean()
    assert found.table.set_index("method")["accuracy"]["GLM"] == pytest.approx(accuracy)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_other_numbers_have_a_finite_log_score(family):
    rng = np.random.default_rng(0)
    responses = RATINGS + rng.normal(size=N) if family == "gaussian" else rng.poisson(np.exp(RATINGS - 3)) * 1.0
    found = run(responses, model=ts.TextResponseModel(n_themes=3, family=family))
    assert np.isfinite(found.table.drop(columns=["method", "described"]).to_numpy(dtype=float)).all()
    assert set(found.families) == {family}


def test_two_groups_may_be_all_there_are():
    found = run(RATINGS, model=STARS, groups=np.arange(N) % 2)
    assert set(found.table["method"]) == NAMES
    assert found.caution == "There are only 2 groups, so that standard errors are rough."


def test_folds_keep_units_whole_and_spread_responses():
    rng = np.random.default_rng(1)
    units, responses = np.sort(rng.integers(0, 60, 400)), rng.integers(1, 6, 400).astype(float)
    folds = fold_numbers(units, responses, 5, seed=0)
    assert pd.Series(folds).groupby(units).nunique().max() == 1
    assert np.ptp(np.bincount(folds)) <= 2
    alone = fold_numbers(np.arange(400), responses, 5, seed=0)
    counts = pd.crosstab(alone, responses)
    assert (counts.max() - counts.min()).max() <= 1
    assert not np.array_equal(alone, fold_numbers(np.arange(400), responses, 5, seed=1))


@pytest.mark.parametrize("measure", ["r2", "auc", "mean"])
def test_standard_errors_are_those_of_the_jackknife(measure):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300).astype(float)
    theirs, ours = y + rng.normal(size=300), y + rng.normal(size=300)

    def difference(rows):
        def estimate(predicted):
            if measure == "r2":
                return r2_of(y[rows], predicted[rows])
            if measure == "auc":
                return auc_of(y[rows] == 1, predicted[rows], np.zeros(len(rows), int))
            return mean_of(predicted[rows])

        return estimate(theirs) - estimate(ours)

    whole = np.arange(300)
    left_out = np.array([difference(np.delete(whole, i)).value for i in whole])
    jackknife = np.sqrt(299 / 300 * np.sum((left_out - left_out.mean()) ** 2))
    assert difference(whole).std_error(whole) == pytest.approx(jackknife, rel=0.02)


def test_a_fold_of_equal_responses_has_no_r2():
    assert np.isnan(r2_of(np.ones(3), np.arange(3.0)).value)


def test_standard_errors_over_groups_see_what_they_share():
    rng = np.random.default_rng(3)
    groups = np.arange(600) // 20
    scores = rng.normal(size=30)[groups] + 0.1 * rng.normal(size=600)
    assert mean_of(scores).std_error(groups) > 3 * mean_of(scores).std_error(np.arange(600))


MEAN, RIDGE, *_ = METHODS
OURS = OUR_METHOD


@pytest.mark.parametrize(
    ("ahead", "error", "words"),
    [
        (0.004, 0.01, "not larger than its standard error"),
        (0.015, 0.01, "1.5 times its standard error (0.010), which is often due to chance"),
        (0.05, 0.01, "5.0 times its standard error (0.010), which is rarely due to chance"),
    ],
)
def test_the_first_sentence_weighs_the_difference_to_ours(ahead, error, words):
    mean, ours = Standing(MEAN, 0.0, -0.6, error), Standing(OURS, 0.6, 0.0, 0.0)
    other = Standing(RIDGE, 0.6 + ahead, ahead, error)
    lost = say_best("R2", {"ridge": other, "textsignal": ours, "mean": mean}, "ridge", clear=True)
    assert lost.startswith("Ridge predicts best")
    assert words in lost
    behind = Standing(RIDGE, 0.6 - ahead, -ahead, error)
    won = say_best("R2", {"textsignal": ours, "ridge": behind, "mean": mean}, "ridge", clear=True)
    assert won.startswith("Themes and tone predict best (by the log score ridge is best)")
    assert words in won


def test_the_second_sentence_praises_nothing_that_does_not_predict():
    standings = {"mean": Standing(MEAN, 0.0, 0.01, 0.01), "textsignal": Standing(OURS, -0.01, 0.0, 0.0)}
    assert "do not interpret what they show" in say_gain(standings, text_tells=False)
    first = say_best("R2", standings, "mean", clear=False)
    assert first.startswith("No method predicts clearly better than the mean (R2 0.000)")
    good = {"textsignal": Standing(OURS, 0.6, 0.0, 0.0), "ridge": Standing(RIDGE, 0.5, -0.1, 0.01)}
    assert "ridge gives a number for each word" in say_gain(good, text_tells=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds=1 must be"),
        ({"folds": 60}, "120 texts have a response, and folds=60 need at least 600"),
        ({"groups": np.arange(N) % 2, "folds": 3}, "there are 2 groups, and folds=3"),
        ({"groups": [1, 2]}, "120 texts, but 2 groups"),
        ({"model": ts.TextResponseModel(formula="price")}, "compare does not support covariates"),
        ({"model": ts.TextResponseModel(family="proportion")}, "whose weights it does not support"),
        ({"model": "themes"}, "must be a TextResponseModel"),
        ({"responses": np.ones(N)}, "constant"),
        ({"responses": RATINGS[:5]}, "120 texts, but 5 responses"),
        (
            {"responses": ["a"] * 5 + ["b", "c"] * 57 + ["b"], "groups": np.maximum(np.arange(N) // 5, 0)},
            "all texts of the class 'a' are held out together",
        ),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(InputError, match=message):
        compare(**{"texts": TEXTS, "responses": RATINGS, "n_jobs": 1} | options)
