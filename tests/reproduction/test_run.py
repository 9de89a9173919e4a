"""Running studies: what is written where, and what is refused."""

import pickle
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from reproduction import STUDIES, Plan, Sample, Study, reproduce
from reproduction.claims import number_claim
from reproduction.study import Cell
from textsignal.errors import InputError, OutputError

SAMPLE = Sample("reviews.csv", ("good room", "bad room", "fair room"), np.array([5.0, 1.0, 3.0]))


def mean_rating(sample):
    return [{"mean": sample.ratings.mean()}]


def doubled(number):
    return [{"twice": 2 * number}]


def first_stage(plan, tables):
    compute = partial(mean_rating, plan.samples["hotel"])
    return [Cell("tiny-means", {"seed": seed}, compute, plan.samples["hotel"].digest) for seed in range(plan.seeds)]


def second_stage(plan, tables):
    return [Cell("tiny-doubles", {}, partial(doubled, float(tables["tiny-means"]["mean"].mean())))]


def draw(plan, tables):
    figure = Figure()
    figure.add_subplot().plot([0, 1])
    return {"line": figure, "other": Figure()}


TINY = Study(
    name="tiny",
    title="A tiny study",
    needs=("hotel",),
    seeds=3,
    quick_seeds=1,
    stages=(first_stage, second_stage),
    figures=draw,
    section=lambda plan, tables: f"Over {plan.seeds} seeds.\n\n{{figure:line}}\n\nThe end.",
    claims=lambda plan, tables: [
        number_claim("Table 9", "mean", 3.0, tables["tiny-means"]["mean"], within=0.1, differed="other reviews")
    ],
)


def run(folder, **options):
    plan = Plan(samples={"hotel": SAMPLE})
    return reproduce([TINY], folder, plan, command="python -m reproduction tiny", n_jobs=1, **options)


def test_tables_figures_and_page_are_written(tmp_path):
    page = run(tmp_path / "out").read_text()
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {
        "cells.jsonl", "reproduction.md", "tiny-means.csv", "tiny-doubles.csv",
        "tiny-line.png", "tiny-line.svg", "tiny-other.png", "tiny-other.svg",
    }  # fmt: skip
    assert pd.read_csv(tmp_path / "out" / "tiny-doubles.csv")["twice"].tolist() == [6.0]
    assert "python -m reproduction tiny" in page
    assert "| Table 9 | mean | 3.000 | 3.000 ± 0.000 | **agrees** |" in page


def test_figures_stand_where_the_text_says_or_at_its_end(tmp_path):
    page = run(tmp_path / "out").read_text()
    section = page[page.index("## A tiny study") :]
    assert [link[1] for link in re.finditer(r"\]\(([^)]+)\)", section)] == ["tiny-line.png", "tiny-other.png"]
    assert section.index("tiny-line.png") < section.index("The end.") < section.index("tiny-other.png")


def test_a_page_elsewhere_links_to_the_figures(tmp_path):
    page = run(tmp_path / "docs" / "out", page_file=tmp_path / "docs" / "page.md")
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        assert (page.parent / link).exists()


def test_a_second_run_gives_the_same_bytes(tmp_path):
    contents = []
    for _ in range(2):
        run(tmp_path / "out")
        contents.append({file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()})
    assert contents[0] == contents[1]


def test_other_reviews_are_computed_anew(tmp_path):
    run(tmp_path / "out")
    other = Sample("other.csv", SAMPLE.texts, np.array([1.0, 1.0, 1.0]))
    reproduce([TINY], tmp_path / "out", Plan(samples={"hotel": other}), n_jobs=1)
    assert pd.read_csv(tmp_path / "out" / "tiny-means.csv")["mean"].tolist() == [1.0] * 3


def test_quick_and_given_numbers_of_seeds(tmp_path):
    for seeds, quick, n_rows in ((0, False, 3), (0, True, 1), (2, False, 2), (5, True, 5)):
        plan = Plan(seeds, quick=quick, samples={"hotel": SAMPLE})
        reproduce([TINY], tmp_path / "out", plan, n_jobs=1)
        assert len(pd.read_csv(tmp_path / "out" / "tiny-means.csv")) == n_rows


def test_a_missing_sample_is_named_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match=r"study tiny .* hotel; give a file with --reviews hotel=FILE"):
        reproduce([TINY], tmp_path / "out", Plan(), n_jobs=1)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(OutputError, match="holds other things"):
        run(tmp_path)
    with pytest.raises(OutputError, match="is a file"):
        run(tmp_path / "letters.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["letters.txt"]


def test_a_sample_is_drawn_in_its_order_and_named_by_its_content():
    sample = Sample("s", tuple(f"text {i}" for i in range(50)), np.arange(50.0))
    drawn = sample.drawn(10, seed=1)
    assert len(drawn) == 10
    assert np.all(np.diff(drawn.ratings) > 0)
    assert drawn.texts == tuple(f"text {i:.0f}" for i in drawn.ratings)
    assert drawn.digest == sample.drawn(10, seed=1).digest != sample.drawn(10, seed=2).digest
    assert sample.drawn(50, seed=0) is sample


def test_a_sample_that_has_travelled_is_the_same():
    copy = pickle.loads(pickle.dumps(SAMPLE))
    assert copy == SAMPLE
    assert hash(copy) == hash(SAMPLE)
    assert Sample("s", SAMPLE.texts, SAMPLE.ratings + 1) != SAMPLE


def test_studies_that_can_be_run_are_those_whose_samples_are_there():
    assert [study.name for study in STUDIES.values() if study.can_read({})] == ["simulation"]
    found = [study.name for study in STUDIES.values() if study.can_read({"tripadvisor": SAMPLE})]
    assert found == ["simulation", "hotels", "sample-size"]
