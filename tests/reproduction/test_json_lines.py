"""Bad lines and broken files: whatever is in a file, each line is used or counted with a reason."""

import gzip
import json
import random
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from published import business, line, review, without, write

from reproduction.google_local import read_google_local
from textsignal.errors import InputError

BAD_ANYWHERE = [
    (b"", "no JSON"),
    (b"<html>", "no JSON"),
    (line(review(2))[:-10], "no JSON"),
    (b"{'rating': 5}", "no JSON"),
    (b"[" * 100_000, "no JSON"),
    (b'{"rating": ' + b"9" * 5000 + b"}", "no JSON"),
    (b"\xff\xfe", "not in UTF-8"),
    (line(review(2)).replace(b"quiet", b"caf\xe9"), "not in UTF-8"),
    (b"[1, 2]", "JSON, but no object"),
    (b"null", "JSON, but no object"),
    (b"NaN", "JSON, but no object"),
    (b'"text"', "JSON, but no object"),
    (b"{}", "no key "),
]
BAD_REVIEWS = [
    *[(without(review(2), key), f"no key '{key}'") for key in ("user_id", "gmap_id", "rating", "text")],
    (review(2, user_id=7), "user_id or gmap_id is not a string"),
    (review(2, gmap_id=["0x89c2:0x0001"]), "user_id or gmap_id is not a string"),
    (review(2, text=None), "no text"),
    (review(2, text=" \n"), "no text"),
    (review(2, text=["fine"]), "text is not a string"),
    (review(2, text="half \ud83d"), "half a character (a lone surrogate)"),
    *[
        (review(2, rating=rating), "no whole rating from 1 to 5")
        for rating in (None, 0, 6, 4.5, float("nan"), float("inf"), "5", True, [5], {}, 10**400)
    ],
]
BAD_BUSINESSES = [
    *[(without(business(2), key), f"no key '{key}'") for key in ("gmap_id", "name", "category", "address")],
    (business(2, gmap_id=None), "gmap_id is not a string"),
    (business(2, name=5), "name or address is not a string"),
    (business(2, address=["NY"]), "name or address is not a string"),
    (business(2, category="Hotel"), "category is not a list of strings"),
    (business(2, category=["Hotel", None]), "category is not a list of strings"),
    (business(2, name="half \ud83d"), "half a character (a lone surrogate)"),
]


def read(folder, reviews, businesses, **options):
    return read_google_local(
        write(folder / "review.json.gz", reviews), write(folder / "meta.jsonl", businesses), **options
    )


def reason_of(account):
    assert sum(account.reasons.values()) == 1
    return next(iter(account.reasons))


@pytest.mark.parametrize(("bad", "reason"), BAD_ANYWHERE + BAD_REVIEWS)
def test_a_bad_review_is_skipped_with_its_reason(tmp_path, bad, reason):
    sample = read(tmp_path, [review(1), bad, review(3)], [business(1), business(2)])
    assert sample.table["text"].tolist() == [review(1)["text"], review(3)["text"]]
    assert reason_of(sample.excluded[0]).startswith(reason)
    assert sample.excluded[0].n_read == 3


@pytest.mark.parametrize(("bad", "reason"), BAD_ANYWHERE + BAD_BUSINESSES)
def test_a_bad_business_is_skipped_with_its_reason(tmp_path, bad, reason):
    sample = read(tmp_path, [review(1), review(2, of=3)], [business(1), bad, business(3)])
    assert len(sample.table) == 2
    assert reason_of(sample.excluded[1]).startswith(reason)


def test_a_whole_rating_may_be_written_with_a_point(tmp_path):
    assert read(tmp_path, [review(1, rating=4.0)], [business(1)]).table["rating"].tolist() == [4]


def test_emoji_survive_as_characters_and_as_escapes(tmp_path):
    text = "👍🏽 très bien ☹️"
    lines = [json.dumps(review(n, text=text), ensure_ascii=escaped).encode() for n, escaped in enumerate([True, False])]
    assert read(tmp_path, lines, [business(1)]).table["text"].tolist() == [text, text]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from(["user_id", "gmap_id", "rating", "text", "time", "name", "category", "address"])
CHANGES = st.dictionaries(KEYS, ANYTHING, max_size=3)
REVIEWS = st.binary(max_size=30) | ANYTHING.map(line) | CHANGES.map(lambda changes: line(review(2) | changes))
BUSINESSES = st.binary(max_size=30) | ANYTHING.map(line) | CHANGES.map(lambda changes: line(business(2) | changes))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REVIEWS, max_size=6), st.lists(BUSINESSES, max_size=6), st.sampled_from([None, 1, 3]))
def test_whatever_lines_hold_each_is_used_or_counted(tmp_path, reviews, businesses, limit):
    reviews, businesses = [*reviews, review(1)], [business(1), *businesses]
    sample = read(tmp_path, reviews, businesses, limit=limit)
    of_reviews, of_metadata = sample.excluded
    assert of_reviews.n_read == b"".join(line(record) + b"\n" for record in reviews).count(b"\n")
    assert of_metadata.n_read == b"".join(line(record) + b"\n" for record in businesses).count(b"\n")
    assert of_reviews.n_used == len(sample.table) >= 1
    assert min([*of_reviews.reasons.values(), *of_metadata.reasons.values()], default=1) > 0
    assert sample.table["rating"].isin([1, 2, 3, 4, 5]).all()


#: Lines that hardly compress, so that a share of the bytes is a share of the lines.
LINES = [review(n, text=f"{random.Random(n).getrandbits(2000):x}") for n in range(200)]
PACKED = gzip.compress(b"".join(line(record) + b"\n" for record in LINES), mtime=0)


class TestBrokenFiles:
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
    def test_lines_before_the_break_are_used(self, tmp_path, share):
        path = tmp_path / "review.json.gz"
        path.write_bytes(PACKED[: int(share * len(PACKED))])
        sample = read_google_local(path, write(tmp_path / "meta.json", [business(1)]))
        used = sample.table["text"].tolist()
        assert used == [record["text"] for record in LINES[: len(used)]]
        assert len(used) >= share * 200 - 5
        assert len(used) == sample.excluded[0].n_read
        assert f"the file breaks off after {len(used)} lines" in sample.describe()

    @pytest.mark.parametrize("cut", [*range(2, 60, 7), -9, -4])
    def test_wherever_it_breaks_it_is_an_error_or_an_account(self, tmp_path, cut):
        path = tmp_path / "review.json.gz"
        path.write_bytes(PACKED[:cut])
        meta = write(tmp_path / "meta.json", [business(1)])
        if cut > 0:
            with pytest.raises(InputError, match=r"cannot read .*review\.json\.gz"):
                read_google_local(path, meta)
        else:
            sample = read_google_local(path, meta)
            assert len(sample.table) == 200
            assert sample.excluded[0].broken_off

    @pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
    @pytest.mark.parametrize("damage", [bytes(50), b"\xff" * 50, b"textsignal" * 5])
    def test_a_damaged_middle_is_told(self, tmp_path, damage, share):
        middle = int(share * len(PACKED))
        path = tmp_path / "review.json.gz"
        path.write_bytes(PACKED[:middle] + damage + PACKED[middle + 50 :])
        sample = read_google_local(path, write(tmp_path / "meta.json", [business(1)]))
        assert sample.excluded[0].broken_off
        n_whole = int(share * 200) - 5
        assert sample.table["text"][:n_whole].tolist() == [record["text"] for record in LINES[:n_whole]]

    def test_a_whole_file_is_not_called_broken(self, tmp_path):
        sample = read(tmp_path, [review(1)], [business(1)])
        assert [account.broken_off for account in sample.excluded] == ["", ""]
        assert "breaks off" not in sample.describe()

    def test_a_broken_file_of_businesses_is_told_too(self, tmp_path):
        names = [f"{random.Random(n).getrandbits(900):x}" for n in range(90)]
        lines = b"".join(line(business(n, name=name)) + b"\n" for n, name in enumerate(names))
        meta = tmp_path / "meta.json.gz"
        meta.write_bytes(gzip.compress(lines)[:-500])
        sample = read_google_local(write(tmp_path / "review.json", [review(1)]), meta)
        assert sample.excluded[1].broken_off
        assert 50 < sample.excluded[1].n_used < 90


@pytest.mark.parametrize("which", ["review", "meta"])
class TestUnusableFiles:
    @pytest.fixture
    def error_of(self, tmp_path, which):
        """Read a file with some content beside a good one; give the message."""

        def message(name, content):
            paths = {
                "review": write(tmp_path / "good_review.json", [review(1)]),
                "meta": write(tmp_path / "good_meta.json", [business(1)]),
            }
            paths[which] = tmp_path / name
            if content is not None:
                paths[which].write_bytes(content)
            with pytest.raises(InputError) as caught:
                read_google_local(paths["review"], paths["meta"])
            return str(caught.value)

        return message

    def test_a_missing_file(self, error_of, tmp_path):
        assert error_of("absent.json.gz", None) == f"there is no file {tmp_path / 'absent.json.gz'}"

    def test_a_directory(self, error_of, tmp_path):
        (tmp_path / "folder.json").mkdir()
        assert "folder.json is a directory" in error_of("folder.json", None)

    @pytest.mark.parametrize(
        ("name", "content"), [("e.json", b""), ("e.json.gz", b""), ("e.json.gz", gzip.compress(b"", mtime=0))]
    )
    def test_an_empty_file(self, error_of, name, content):
        assert f"{name} is empty" in error_of(name, content)

    def test_a_file_that_is_not_gzipped(self, error_of):
        message = error_of("plain.json.gz", line(review(1)))
        assert "cannot read" in message
        assert "plain.json.gz: Not a gzipped file" in message

    def test_a_file_of_something_else(self, error_of):
        message = error_of("page.json", b"<!doctype html>\n<p>\xff\n[]\n")
        assert "no line of" in message
        assert "page.json can be used: 1 no JSON, 1 not in UTF-8, 1 JSON, but no object" in message
        assert "begins '<!doctype html>" in message

    def test_one_large_array(self, error_of):
        assert "1 JSON, but no object" in error_of("array.json", json.dumps([review(1), business(1)]).encode())

    def test_a_file_without_line_ends_does_not_fill_memory(self, error_of):
        content = gzip.compress(b" " * 40_000_000, 1)
        tracemalloc.start()
        message = error_of("endless.json.gz", content)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert "no JSON" in message
        assert peak < 10_000_000

    def test_the_other_file(self, error_of, which):
        other = {"review": business(1), "meta": review(1)}[which]
        missing = {"review": "user_id", "meta": "category"}[which]
        assert f"1 no key '{missing}'" in error_of("swapped.json", line(other))


def test_reviews_that_cannot_be_read_are_reported_before_the_metadata_are_read(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json"):
        read_google_local(tmp_path / "absent.json", write(tmp_path / "meta.json", [b"not even JSON"]))
