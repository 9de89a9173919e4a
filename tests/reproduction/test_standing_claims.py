"""Claims on our methods that must stay true on reviews, real and synthetic; test_simulation.py has the others."""

import pytest

from reproduction.methods import METHODS, STARS, Settings, scores
from reproduction.samples import Sample, split_sample
from textsignal.datasets import synthetic_reviews
from textsignal.estimators import GLMNMF
from textsignal.evaluation.metrics import r2_score

#: Real sets of ratings from 1 to 5: name of the file, columns of text and rating.
SETS = [
    ("hotel_reviews_10k", "text", "rating"),
    ("hotel_reviews_long_10k", "text", "rating"),
    ("short_reviews_10k", "text", "rating"),
    ("google_local_4k", "text", "rating"),
    ("tripadvisor_kaggle_2k", "Review", "Rating"),
    ("clothing_reviews_22k", "text", "rating"),
]
OURS = ("published", "joint", "predictive")


def synthetic(n, seed):
    reviews = synthetic_reviews(n, seed)
    return Sample("synthetic", tuple(reviews.texts), reviews.ratings.astype(float))


def skill(split, method, seed=0):
    return scores(split, METHODS[method].fit(split, Settings(seed=seed)))


class TestPredictiveTrainingBeatsJointTraining:
    @pytest.mark.parametrize("columns", SETS, ids=lambda columns: columns[0])
    def test_on_every_real_set(self, review_file, columns):
        texts, ratings = review_file(*columns, n_rows=2000)
        split = split_sample(Sample(columns[0], tuple(texts), ratings), 0)
        assert skill(split, "predictive")["r2"] > skill(split, "joint")["r2"] + 0.02

    def test_on_synthetic_reviews(self):
        splits = {seed: split_sample(synthetic(2000, seed), seed) for seed in range(3)}
        for seed, split in splits.items():
            assert skill(split, "predictive", seed)["r2"] > skill(split, "joint", seed)["r2"]

    def test_within_one_estimator(self):
        split = split_sample(synthetic(2000, 0), 0)
        joint = GLMNMF(14, family=STARS, training="joint", random_state=0, n_jobs=1).fit(split.X, split.y)
        assert skill(split, "predictive")["r2"] > r2_score(split.y_test, joint.predict(split.X_test))


class TestLinearRegressionCollapsesOn500Reviews:
    def check(self, sample, seed):
        split = split_sample(sample, seed)
        linear = skill(split, "linear")
        assert linear["train_r2"] > 0.99
        assert linear["r2"] < -0.5
        for method in OURS:
            ours = skill(split, method, seed)
            assert ours["r2"] > 0.05, method
            assert ours["gap"] < 0.5 * linear["gap"], method

    @pytest.mark.parametrize("seed", range(3))
    def test_while_ours_does_not_on_hotel_reviews(self, review_file, seed):
        texts, ratings = review_file("hotel_reviews_long_10k", "text", "rating", n_rows=500)
        self.check(Sample("hotels", tuple(texts), ratings), seed)

    @pytest.mark.parametrize("seed", range(3))
    def test_while_ours_does_not_on_synthetic_reviews(self, seed):
        self.check(synthetic(500, seed), seed)
