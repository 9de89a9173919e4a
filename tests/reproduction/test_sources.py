"""From files to samples, by path and by role."""

import gzip
import json

import numpy as np
import pytest

from reproduction.samples import LEAST_REVIEWS, MOST_REVIEWS, samples_from_files, samples_from_google
from textsignal.errors import InputError

#: Enough rows for a sample.
FILLER = [f"room {i} was fine,{1 + i % 5}" for i in range(LEAST_REVIEWS)]


def table(folder, name, header, rows):
    """A file with these rows first."""
    path = folder / name
    path.write_text("\n".join([header, *rows, *FILLER]), encoding="utf-8")
    return path


def test_a_file_alone_is_the_main_sample(tmp_path):
    path = table(tmp_path, "kaggle.csv", "Review,Rating", ["fine stay,4", "dirty room,1"])
    found = samples_from_files([str(path)])
    assert list(found) == ["tripadvisor"]
    assert found["tripadvisor"].texts[:2] == ("fine stay", "dirty room")
    assert found["tripadvisor"].ratings[:2].tolist() == [4, 1]
    assert found["tripadvisor"].name == "kaggle.csv"


@pytest.mark.parametrize("header", ["Review,Rating", "text,rating", "review,stars"])
def test_usual_columns_are_found(tmp_path, header):
    path = table(tmp_path, "a.csv", header, ["fine stay,4"])
    assert samples_from_files([f"cafe={path}"])["cafe"].texts[0] == "fine stay"


def test_other_columns_are_given(tmp_path):
    path = table(tmp_path, "a.csv", "comment,score", ["fine stay,4"])
    assert samples_from_files([f"cafe={path}"], text="comment", rating="score")["cafe"].texts[0] == "fine stay"
    with pytest.raises(InputError, match="comment"):
        samples_from_files([f"cafe={path}"])


def test_rows_that_cannot_be_used_are_left_out(tmp_path):
    path = table(tmp_path, "a.csv", "Review,Rating", ["good,5", ",3", "odd,7", "good,5", "bad,1", "gone,"])
    found = samples_from_files([str(path)])["tripadvisor"]
    assert found.texts[:2] == ("good", "bad")
    assert len(found) == 2 + len(FILLER)


def test_a_path_may_hold_an_equals_sign(tmp_path):
    path = table(tmp_path, "a=b.csv", "Review,Rating", ["fine stay,4"])
    assert list(samples_from_files([str(path)])) == ["tripadvisor"]


def test_mistakes_are_named(tmp_path):
    path = table(tmp_path, "a.csv", "Review,Rating", ["fine stay,4"])
    with pytest.raises(
        InputError, match="'pub' is not a sample of the paper; there are tripadvisor, fast-food, cafe, hotel"
    ):
        samples_from_files([f"pub={path}"])
    with pytest.raises(InputError, match=r"two files were given for hotel"):
        samples_from_files([f"hotel={path}", f"hotel={path}"])
    with pytest.raises(InputError, match=r"absent\.csv"):
        samples_from_files([str(tmp_path / "absent.csv")])


def test_too_few_reviews_and_a_single_rating_are_refused(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("Review,Rating\n" + "fine,4\n" * 200)
    with pytest.raises(InputError, match=r"few\.csv gives 1 reviews for cafes .* at least 50; left out: 199 repeated"):
        samples_from_files([f"cafe={path}"])
    path.write_text("Review,Rating\n" + "".join(f"fine {i},4\n" for i in range(60)))
    with pytest.raises(InputError, match=r"every review of few\.csv has the rating 4"):
        samples_from_files([str(path)])


def test_no_more_than_the_papers_number_of_reviews(tmp_path):
    path = table(tmp_path, "a.csv", "Review,Rating", [f"text {i},{1 + i % 5}" for i in range(MOST_REVIEWS + 50)])
    sample, again = (samples_from_files([str(path)])["tripadvisor"] for _ in range(2))
    assert len(sample) == MOST_REVIEWS
    assert sample.digest == again.digest


def write_lines(path, records):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_subsets_of_google_local(tmp_path):
    kinds = {"h": "Hotel", "c": "Cafe", "f": "Fast food restaurant", "p": "Park"}
    write_lines(
        tmp_path / "meta-New_York.json.gz",
        [{"gmap_id": key, "name": key, "category": [kind], "address": "X, NY 10001"} for key, kind in kinds.items()],
    )
    long, short = " ".join(["word"] * 30), "too short"
    reviews = [
        {"user_id": f"{key}{i}", "gmap_id": key, "rating": 1 + i % 4, "text": f"{text} {key}{i}", "time": 0}
        for key in kinds
        for i, text in enumerate([long, short] * 60)
    ]
    write_lines(tmp_path / "review-New_York.json.gz", reviews)
    found = samples_from_google(tmp_path, "New_York")
    assert {role: len(sample) for role, sample in found.items()} == {"fast-food": 120, "cafe": 120, "hotel": 60}
    np.testing.assert_array_equal(np.unique(found["hotel"].ratings), [1, 3])
    with pytest.raises(InputError, match="review-Ohio"):
        samples_from_google(tmp_path, "Ohio")
