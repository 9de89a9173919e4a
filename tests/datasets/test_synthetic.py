"""Laws of the synthetic reviews: what is planted is what the data show."""

import re

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import r2_score

from textsignal.datasets import SyntheticReviews, synthetic_reviews
from textsignal.datasets.synthetic import COMPLAINTS_AT, FIRST_DAY, GROWING, HOTELS, LAST_DAY
from textsignal.errors import InputError


@pytest.fixture(scope="module")
def reviews() -> SyntheticReviews:
    return synthetic_reviews(n=4000, seed=1)


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def test_shapes(reviews):
    n_aspects = len(reviews.aspects)
    assert len(reviews.texts) == len(reviews.ratings) == len(reviews.probability) == 4000
    assert reviews.mentions.shape == (4000, n_aspects)
    assert reviews.mentions.dtype == bool
    assert set(reviews.ratings) == {1, 2, 3, 4, 5}
    sizes = reviews.mentions.sum(axis=1)
    assert (sizes.min(), sizes.max()) == (1, 5)


def test_frame_has_review_and_rating(reviews):
    frame = reviews.to_frame()
    assert frame.columns.tolist() == ["review", "rating", "hotel", "date"]
    assert frame["review"].tolist() == reviews.texts
    np.testing.assert_array_equal(frame["rating"], reviews.ratings)


def test_reviews_read_like_reviews(reviews):
    lengths = [len(words_of(text)) for text in reviews.texts]
    assert min(lengths) >= 25
    assert max(lengths) <= 120
    assert len(set(reviews.texts)) > 0.99 * len(reviews.texts)
    for text in reviews.texts:
        assert not re.search(r"[{}]|  |\ba [aeio]|\ban [^aeiouh]", text), text
        assert all(sentence[0].isupper() for sentence in re.findall(r"(?:^|[.!] )(\w)", text)), text


def test_most_ratings_are_high_and_the_ceiling_is_moderate(reviews):
    assert 0.6 < np.mean(reviews.ratings >= 4) < 0.75
    assert 0.6 < reviews.ceiling() < 0.75
    assert reviews.ceiling() == pytest.approx(r2_score(reviews.ratings, reviews.expected_ratings))


def test_shares_are_met(reviews):
    shares = np.array([aspect.share for aspect in reviews.aspects])
    error = np.sqrt(shares * (1 - shares) / len(reviews.texts))
    assert (np.abs(reviews.mentions.mean(axis=0) - shares) < 4 * error).all()


def test_planted_effects_are_visible(reviews):
    successes = np.column_stack([reviews.ratings - 1, 5 - reviews.ratings])
    design = sm.add_constant(reviews.mentions.astype(float))
    fit = sm.GLM(successes, design, family=sm.families.Binomial()).fit()
    for aspect, estimate, error in zip(reviews.aspects, fit.params[1:], fit.bse[1:], strict=True):
        if aspect.effect:
            assert np.sign(aspect.effect) * estimate > 5 * error, aspect.name
        else:
            assert abs(estimate) < 0.2, aspect.name


def test_aspects_differ_in_kind(reviews):
    rare = [aspect for aspect in reviews.aspects if aspect.share < 0.1]
    common = [aspect for aspect in reviews.aspects if aspect.share >= 0.1]
    assert any(aspect.effect == 0 for aspect in common)
    assert {np.sign(aspect.effect) for aspect in common} == {-1, 0, 1}
    assert {np.sign(aspect.effect) for aspect in rare} == {-1, 1}
    assert min(abs(a.effect) for a in rare) > max(abs(a.effect) for a in common)


def test_aspects_have_a_vocabulary(reviews):
    for aspect in reviews.aspects:
        phrases = [re.sub(r"\{\w+\}", " ", sentence) for sentence in aspect.sentences]
        phrases += [word for options in aspect.words.values() for word in options]
        content = set(words_of(" ".join(phrases))) - ENGLISH_STOP_WORDS
        assert len(content) >= 25, aspect.name
        slots = {slot for sentence in aspect.sentences for slot in re.findall(r"\{(\w+)\}", sentence)}
        assert slots == set(aspect.words), aspect.name


def test_keywords_identify_their_aspect(reviews):
    bags = [set(words_of(text)) for text in reviews.texts]
    for aspect, mentioned in zip(reviews.aspects, reviews.mentions.T, strict=True):
        for keyword in aspect.keywords:
            present = np.array([keyword in bag for bag in bags])
            assert present[mentioned].mean() > 0.05, keyword
            assert present[~mentioned].mean() < 0.02, keyword
        any_keyword = np.array([not bag.isdisjoint(aspect.keywords) for bag in bags])
        assert any_keyword[mentioned].mean() > 0.9, aspect.name


def test_same_seed_same_reviews():
    one, same, other = (synthetic_reviews(n=30, seed=seed) for seed in (4, 4, 5))
    assert one.texts == same.texts
    np.testing.assert_array_equal(one.ratings, same.ratings)
    np.testing.assert_array_equal(one.mentions, same.mentions)
    assert one.texts != other.texts


@pytest.mark.parametrize(("argument", "value"), [("n", 0), ("n", 1.5), ("n", "ten"), ("seed", -3)])
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(InputError, match=re.escape(f"{argument}={value!r} must be")):
        synthetic_reviews(**{argument: value})


def test_complaints_gather_at_a_hotel_and_one_kind_grows():
    reviews = synthetic_reviews(4000, seed=2)
    names = [aspect.name for aspect in reviews.aspects]
    assert set(reviews.hotels) == set(HOTELS)
    for name, hotel in COMPLAINTS_AT.items():
        complains, there = reviews.mentions[:, names.index(name)], reviews.hotels == hotel
        assert complains[there].mean() > 2 * complains[~there].mean()
    assert FIRST_DAY <= reviews.dates.min() < reviews.dates.max() <= LAST_DAY
    late = reviews.dates > FIRST_DAY + (LAST_DAY - FIRST_DAY) / 2
    for k, name in enumerate(names):
        grown = reviews.mentions[late, k].mean() / reviews.mentions[~late, k].mean()
        assert (grown > 1.5) if name in GROWING else (0.6 < grown < 1.4), name
