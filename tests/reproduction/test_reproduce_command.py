"""The command line of the studies: files that appear, and one line for every error."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from reproduction import STUDIES
from reproduction.__main__ import StudyName, Training, main
from reproduction.methods import TRAININGS
from textsignal.datasets import synthetic_reviews

REVIEWS = synthetic_reviews(200, seed=9)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with a table of reviews: (exit code, stderr)."""
    monkeypatch.chdir(tmp_path)
    REVIEWS.to_frame().rename(columns={"review": "Review", "rating": "Rating"}).to_csv("reviews.csv", index=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["reproduction", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code or 0, capsys.readouterr().err

    return call


def test_a_study_is_run_and_resumes(run):
    roles = [f"--reviews={role}=reviews.csv" for role in ("fast-food", "cafe", "hotel")]
    arguments = ["length", "--reviews", "reviews.csv", *roles, "--quick", "--training", "predictive", "-j", "1"]
    code, err = run(*arguments)
    assert code == 0, err
    assert "length: 0 of " in err
    folder = Path("reproduction/results")
    assert "The page: reproduction/results/reproduction.md" in " ".join(err.split())
    page = (folder / "reproduction.md").read_text()
    assert shlex.join(["python", "-m", "reproduction", *arguments]) in page
    assert all((folder / link).is_file() for link in re.findall(r"\]\((.+?)\)", page))
    kept = (folder / "cells.jsonl").read_bytes()
    assert run(*arguments)[0] == 0
    assert (folder / "cells.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hotels"], r"study hotels reads reviews that were not given: tripadvisor; give a file with --reviews"),
        (["hotels", "--reviews", "pub=reviews.csv"], "'pub' is not a sample of the paper"),
        (["hotels", "--reviews", "reviews.csv", "--text", "Revue"], "Revue"),
        (["hotels", "--reviews", "reviews.csv", "-o", "."], "holds other things"),
        (["length", "--google", "."], "review-New_York"),
    ],
)
def test_a_study_that_cannot_be_run_gives_one_line(run, tmp_path, arguments, message):
    code, err = run(*arguments)
    assert code == 2
    assert err.startswith("reproduction: ")
    assert re.search(message, " ".join(err.split()))
    assert [file.name for file in tmp_path.iterdir()] == ["reviews.csv"]


def test_every_study_and_training_can_be_named():
    assert {name.value for name in StudyName} == {*STUDIES, "all"}
    assert {training.value for training in Training} == set(TRAININGS)
