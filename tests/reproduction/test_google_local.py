"""The Google Local reader: the right reviews of the right businesses, drawn fairly, in bounded memory."""

import random
import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from published import business, gmap_id, review, without, write

from reproduction.google_local import read_google_local
from textsignal.errors import InputError


@pytest.fixture
def read(tmp_path):
    """Read reviews and businesses that are given as records."""

    def read_records(reviews, businesses, **options):
        write(tmp_path / "review.json", reviews)
        write(tmp_path / "meta.json", businesses)
        return read_google_local(tmp_path / "review.json", tmp_path / "meta.json", **options)

    return read_records


def texts(sample):
    return sample.table["text"].tolist()


def test_a_published_review_is_joined_to_its_business(read):
    sample = read(
        [review(3, of=2, rating=4, text="Schön 😀\nagain", time=1609459200123, pics=[{"url": ["a"]}])],
        [business(1), business(2, name="Café é", category=["Cafe", "Coffee shop"])],
    )
    assert sample.table.to_dict("records") == [
        {
            "text": "Schön 😀\nagain",
            "rating": 4,
            "time": pd.Timestamp("2021-01-01 00:00:00.123"),
            "gmap_id": gmap_id(2),
            "business": "Café é",
            "category": "Cafe|Coffee shop",
            "address": "House 2, 2 Elm St, New York, NY 10001",
        }
    ]
    assert sample.table["rating"].dtype == np.int64
    assert [account.file for account in sample.excluded] == ["review.json", "meta.json"]


def test_a_review_of_an_unknown_business_is_left_out(read):
    sample = read([review(1), review(2, of=9)], [business(1)])
    assert sample.excluded[0].reasons == {"business not in the metadata": 1}


def test_of_a_repeated_business_the_first_counts(read):
    businesses = [business(1, name="First"), business(1, name="Second"), business(1, category=None)]
    sample = read([review(1)], businesses, category="hotel")
    assert sample.table["business"].tolist() == ["First"]
    assert sample.excluded[1].reasons == {"repeated": 2}
    with pytest.raises(InputError, match="2 repeated, 1 without a category"):
        read([review(1)], businesses[::-1], category="hotel")


@pytest.mark.parametrize("change", [{"user_id": "2"}, {"of": 2}, {"text": "Other."}])
def test_a_review_is_repeated_if_user_business_and_text_are(read, change):
    first = review(1, rating=2)
    sample = read([first, review(1, **change), review(1, rating=5, time=7, name="X")], [business(1), business(2)])
    assert len(sample.table) == 2
    assert sample.table["rating"][0] == 2
    assert sample.excluded[0].reasons == {"repeated": 1}


@pytest.mark.parametrize("time", [None, "soon", -1, 10**15, 1.5, float("nan"), True])
def test_a_review_without_a_possible_time_is_used(read, time):
    sample = read([review(1, time=time), without(review(2), "time"), review(3, time=0)], [business(1)])
    assert sample.table["time"].tolist() == [pd.NaT, pd.NaT, pd.Timestamp(0)]
    assert sample.table["time"].dtype == "datetime64[ms]"


def test_what_the_metadata_lack_is_missing_in_the_table(read):
    table = read([review(1)], [business(1, name=None, address=None, category=None)]).table
    assert table[["business", "category", "address"]].isna().all(axis=None)


class TestCategory:
    @pytest.mark.parametrize(
        ("wanted", "category", "found"),
        [
            ("hotel", "Hotel", True),
            ("Hotel", "Resort hotel", True),
            ("hotel", "Hotel supply store", False),
            ("hotel", "Motel", False),
            ("hotel", "Hotels", False),
            ("cafe", "Café", True),
            ("CAFÉ", "Internet cafe", True),
            ("fast food restaurant", "Fast food restaurant", True),
            ("restaurant", "Fast food restaurant", True),
            ("fast food", "Fast food restaurant", False),
            ("food  restaurant", "Fast-food restaurant", True),
            ("southern restaurant", "Southern restaurant (US)", True),
            ("bar & grill", "Bar & grill", True),
            ("bar", "Bar & grill", False),
        ],
    )
    def test_a_category_is_met_by_names_that_end_in_its_words(self, read, wanted, category, found):
        businesses = [business(1, category=["Park", category]), business(2, category=[wanted])]
        sample = read([review(1, of=1), review(2, of=2)], businesses, category=wanted)
        assert sample.table["gmap_id"].tolist() == ([gmap_id(1)] if found else []) + [gmap_id(2)]
        if not found:
            assert sample.excluded[0].reasons == {"business of another category": 1}
            assert sample.excluded[1].reasons == {"of another category": 1}

    def test_any_of_several_will_do(self, read):
        # No business has a hotel without a cafe before it: a category counts as met wherever it stands.
        businesses = [business(1, category=["Cafe", "Hotel"]), business(2, category=["Bar"]), business(3)]
        reviews = [review(n, of=n) for n in (1, 2, 3)]
        assert texts(read(reviews, businesses[:2], category=["cafe", "hotel"])) == [reviews[0]["text"]]
        assert len(read(reviews, businesses, category=("bar", "hotel")).table) == 3

    @pytest.mark.parametrize("missing", [None, []])
    def test_a_business_without_category_is_kept_only_without_a_filter(self, read, missing):
        records = [review(1, of=1), review(2, of=2)], [business(1, category=missing), business(2)]
        assert len(read(*records).table) == 2
        sample = read(*records, category="hotel")
        assert texts(sample) == [records[0][1]["text"]]
        assert sample.excluded[0].reasons == {"business without a category": 1}

    @pytest.mark.parametrize("wanted", ["fast food", "Fast fod restaurant", ["hotel", "fast food"]])
    def test_one_that_no_business_has_is_an_error_with_those_that_are_near(self, read, wanted):
        businesses = [business(1), business(2, category=["Fast food restaurant", "Park"])]
        with pytest.raises(InputError, match=r"meta\.json has a category that ends in .*'Fast food restaurant'"):
            read([review(1)], businesses, category=wanted)

    @pytest.mark.parametrize("wanted", ["", " & ", [], ["hotel", ""], 5, [5], ["(US)"]])
    def test_it_must_be_words(self, read, wanted):
        with pytest.raises(InputError, match=f"category must be words .* got {re.escape(repr(wanted))}"):
            read([review(1)], [business(1)], category=wanted)


class TestState:
    @pytest.mark.parametrize(
        ("address", "found"),
        [
            ("Inn, 1 Elm St, New York, NY 10001", True),
            ("Inn, New York, NY 10001-1234", True),
            ("Inn, Albany, NY", True),
            ("Inn, Albany, NY 12207, United States", True),
            ("Inn, 1 NY Ave, Newark, NJ 07102", False),
            ("NY 10001 Diner, Newark, NJ 07102", False),
            ("Inn, New York", False),
            ("Inn, Company, 1001", False),
            ("", False),
            (None, False),
        ],
    )
    def test_it_is_the_end_of_the_address(self, read, address, found):
        businesses = [business(1, address=address), business(2)]
        sample = read([review(1, of=1), review(2, of=2)], businesses, state="ny")
        assert sample.table["gmap_id"].tolist() == ([gmap_id(1)] if found else []) + [gmap_id(2)]

    def test_one_that_no_address_has_is_an_error_with_those_that_are_there(self, read):
        businesses = [business(1), business(2), business(3, address="Newark, NJ 07102"), business(4, address=None)]
        with pytest.raises(InputError, match=r"state 'TX'; most addresses end in: NY \(2\), NJ \(1\), none \(1\)"):
            read([review(1)], businesses, state="TX")

    @pytest.mark.parametrize("state", ["New York", "N", "", 36, "N1"])
    def test_it_must_be_two_letters(self, read, state):
        with pytest.raises(InputError, match=f"state must be two letters .* got {re.escape(repr(state))}"):
            read([review(1)], [business(1)], state=state)


@pytest.fixture
def mixed():
    """Sixty reviews of six businesses of two categories and two states, short and long."""
    businesses = [
        business(n, category=["Hotel" if n % 2 else "Cafe"], address=f"Inn, Troy, {'NY' if n % 3 else 'VT'} 05401")
        for n in range(6)
    ]
    return [review(n, of=n % 6, text=f"word{n} " * (1 + n % 10)) for n in range(60)], businesses


def test_filters_compose(read, mixed):
    filters = {"category": "hotel", "state": "NY", "min_words": 4}
    alone = [set(texts(read(*mixed, **{name: value}))) for name, value in filters.items()]
    together = texts(read(*mixed, **filters))
    assert set(together) == set.intersection(*alone)
    assert 0 < len(together) < min(map(len, alone))


def test_nothing_in_common_to_all_filters_is_an_error_that_counts(read, mixed):
    with pytest.raises(InputError, match="60 fewer than 11 words"):
        read(*mixed, min_words=11)
    only = [business(1), business(2, category=["Bar"], address="Troy, VT 05401")]
    with pytest.raises(InputError, match=r"no line of .*meta\.json can be used: 1 .*, 1 "):
        read(*mixed[:1], only, category="hotel", state="VT")


def test_words_are_parted_by_white_space(read):
    reviews = [review(1, text=" well-kept \n\t rooms! ☹️ "), review(2, text="well-kept  rooms!")]
    sample = read(reviews, [business(1)], min_words=3)
    assert texts(sample) == [reviews[0]["text"]]
    assert sample.excluded[0].reasons == {"fewer than 3 words": 1}


class TestDraw:
    def test_same_seed_same_reviews(self, read, mixed):
        one, same, other = (texts(read(*mixed, limit=20, random_state=seed)) for seed in (1, 1, 2))
        assert one == same != other
        assert len(set(one)) == 20

    def test_the_order_of_lines_does_not_matter(self, read, mixed):
        reviews, businesses = mixed
        shuffled = random.Random(0).sample(reviews, len(reviews))
        drawn, again = read(reviews, businesses, limit=20), read(shuffled, businesses[::-1], limit=20)
        assert set(texts(drawn)) == set(texts(again))
        order = [record["text"] for record in shuffled]
        assert texts(again) == sorted(texts(again), key=order.index)

    def test_a_larger_limit_adds_reviews(self, read, mixed):
        draws = [set(texts(read(*mixed, limit=limit))) for limit in (1, 5, 20, 59, 60, 1000)]
        assert [len(drawn) for drawn in draws] == [1, 5, 20, 59, 60, 60]
        assert all(small <= large for small, large in pairwise(draws))

    def test_a_limit_that_all_meet_changes_nothing(self, read, mixed):
        pd.testing.assert_frame_equal(read(*mixed, limit=60, random_state=3).table, read(*mixed).table)

    def test_a_filter_keeps_what_was_drawn_before_it(self, read, mixed):
        everything, hotels = texts(read(*mixed, limit=20)), texts(read(*mixed, limit=20, category="hotel"))
        all_hotels = texts(read(*mixed, category="hotel"))
        assert set(everything) & set(all_hotels) <= set(hotels)

    def test_each_review_has_the_same_chance_however_often_it_is_repeated(self, read):
        reviews = [review(n) for n in range(12)] + [review(0)] * 9
        n_draws = 300
        counts = np.zeros(12)
        for seed in range(n_draws):
            drawn = read(reviews, [business(1)], limit=4, random_state=seed).table["time"]
            counts[drawn.to_numpy().astype(np.int64) - 1577836800000] += 1
        assert counts.sum() == 4 * n_draws
        assert np.abs(counts - n_draws / 3).max() < 4 * np.sqrt(n_draws * 2 / 9)

    def test_repeated_and_undrawn_reviews_are_told_apart(self, read, mixed):
        reviews, businesses = mixed
        for order in (reviews + reviews[:7], reviews[:7] + reviews):
            account = read(order, businesses, limit=20).excluded[0]
            assert account.reasons == {"repeated": 7, "not drawn": 40}
            assert (account.n_read, account.n_used) == (67, 20)


@pytest.mark.parametrize(
    ("argument", "value"), [("limit", 0), ("limit", 2.5), ("min_words", -1), ("min_words", "ten"), ("random_state", -1)]
)
def test_bad_arguments_are_named(read, argument, value):
    with pytest.raises(InputError, match=f"{argument}={re.escape(repr(value))} must be"):
        read([review(1)], [business(1)], **{argument: value})


def test_memory_is_that_of_the_limit(tmp_path):
    lines = (review(n, of=n % 50, text=f"{n} " + "a word " * 120) for n in range(40_000))
    path = write(tmp_path / "review.json", lines)
    meta = write(tmp_path / "meta.json", [business(n) for n in range(50)])
    tracemalloc.start()
    sample = read_google_local(path, meta, limit=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(sample.table) == 200
    assert peak < 0.1 * path.stat().st_size
