"""From files to samples, by path and by role."""

import gzip
import json

import numpy as np
import pytest

from textsignal.errors import InputError
from textsignal.studies.sources import MOST_REVIEWS, samples_from_files, samples_from_google


def table(folder, name, header, rows):
    path = folder / name
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_a_file_alone_is_the_main_sample(tmp_path):
    path = table(tmp_path, "kaggle.csv", "Review,Rating", ["fine stay,4", "dirty room,1"])
    found = samples_from_files([str(path)])
    assert list(found) == ["tripadvisor"]
    assert found["tripadvisor"].texts == ("fine stay", "dirty room")
    assert found["tripadvisor"].ratings.tolist() == [4, 1]
    assert found["tripadvisor"].name == "kaggle.csv"


@pytest.mark.parametrize("header", ["Review,Rating", "text,rating", "review,stars"])
def test_usual_columns_are_found(tmp_path, header):
    path = table(tmp_path, "a.csv", header, ["fine stay,4"])
    assert samples_from_files([f"cafe={path}"])["cafe"].texts == ("fine stay",)


def test_other_columns_are_given(tmp_path):
    path = table(tmp_path, "a.csv", "comment,score", ["fine stay,4"])
    assert samples_from_files([f"cafe={path}"], text="comment", rating="score")["cafe"].texts == ("fine stay",)
    with pytest.raises(InputError, match="comment"):
        samples_from_files([f"cafe={path}"])


def test_rows_that_cannot_be_used_are_left_out(tmp_path):
    path = table(tmp_path, "a.csv", "Review,Rating", ["good,5", ",3", "odd,7", "good,5", "bad,1", "gone,"])
    assert samples_from_files([str(path)])["tripadvisor"].texts == ("good", "bad")


def test_a_path_may_hold_an_equals_sign(tmp_path):
    path = table(tmp_path, "a=b.csv", "Review,Rating", ["fine stay,4"])
    assert list(samples_from_files([str(path)])) == ["tripadvisor"]


def test_mistakes_are_named(tmp_path):
    path = table(tmp_path, "a.csv", "Review,Rating", ["fine stay,4"])
    with pytest.raises(
        InputError, match="'pub' is no sample of the paper; there are tripadvisor, fast-food, cafe, hotel"
    ):
        samples_from_files([f"pub={path}"])
    with pytest.raises(InputError, match=r"two files were given for hotel"):
        samples_from_files([f"hotel={path}", f"hotel={path}"])
    with pytest.raises(InputError, match=r"absent\.csv"):
        samples_from_files([str(tmp_path / "absent.csv")])


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
        {"user_id": f"{key}{i}", "gmap_id": key, "rating": 1 + i, "text": f"{text} {key}{i}", "time": 0}
        for key in kinds
        for i, text in enumerate([long, short])
    ]
    write_lines(tmp_path / "review-New_York.json.gz", reviews)
    found = samples_from_google(tmp_path, "New_York")
    assert {role: len(sample) for role, sample in found.items()} == {"fast-food": 2, "cafe": 2, "hotel": 1}
    np.testing.assert_array_equal(found["hotel"].ratings, [1])
    with pytest.raises(InputError, match="review-Ohio"):
        samples_from_google(tmp_path, "Ohio")
