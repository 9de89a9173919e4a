"""Length of reviews: what is compared, and what is made of it."""

import pandas as pd
import pytest

from reproduction import STUDIES, Plan, Sample, reproduce
from reproduction.choices import Choices
from reproduction.claims import Verdict
from reproduction.length import LENGTH, PAPER_GAPS, PAPER_WORDS, SUBSETS, fit_subset, gaps, length_study
from reproduction.methods import METHODS, methods_for
from textsignal.datasets import synthetic_reviews

claims = LENGTH.claims


def sample_of(n, seed, words):
    """Synthetic reviews cut to their first words."""
    reviews = synthetic_reviews(n, seed)
    texts = tuple(" ".join(text.split()[:words]) for text in reviews.texts)
    return Sample(f"{words} words", texts, reviews.ratings.astype(float))


@pytest.fixture(scope="module")
def samples():
    return {role: sample_of(90, seed, 8 + 8 * seed) for seed, role in enumerate(SUBSETS)}


def tables_of(behind, gained_by_rows=0.0):
    """Tables of one split in which methods are so far behind ridge regression, which other rows help by so much."""
    rows = [
        {"subset": role, "seed": 0, "method": method, "words": 10.0, "r2": 0.6 - lack}
        for method, lacking in ({"ridge": dict.fromkeys(SUBSETS, 0.0)} | behind).items()
        for role, lack in lacking.items()
    ]
    choices = [row | {"n_topics": 14, "alpha": 0.05} for row in rows if row["method"] in ("published", "joint")]
    alike = [row | {"r2": row["r2"] + gained_by_rows} for row in rows if row["method"] != "predictive"]
    tables = {"length": rows, "length-rows": alike, "length-choices": choices}
    return {name: pd.DataFrame(table) for name, table in tables.items()}


def plan_of(samples, methods=tuple(METHODS)):
    return Plan(1, methods, False, samples)


def verdict(found, word):
    (claim,) = [claim for claim in found if word in claim.statement]
    return claim.verdict


class TestGaps:
    def test_methods_are_held_against_ridge_on_the_same_split(self):
        table = pd.DataFrame(
            [
                {"subset": role, "seed": seed, "method": method, "r2": r2 + seed + shift}
                for role, shift in (("cafe", 0.0), ("hotel", 10.0))
                for seed in (1, 0)
                for method, r2 in (("joint", 0.25), ("ridge", 0.75))
            ]
        )
        found = gaps(table)
        assert set(found["method"]) == {"joint"}
        assert found["behind"].tolist() == pytest.approx([0.5] * 4)


class TestClaims:
    def test_the_papers_own_numbers_agree(self, samples):
        cut = {role: sample_of(60, 0, words) for role, words in zip(SUBSETS, PAPER_WORDS.values(), strict=True)}
        tables = tables_of({"published": PAPER_GAPS, "predictive": PAPER_GAPS})
        found = claims(plan_of(samples | {"fast-food": cut["fast-food"]}), tables)
        numbers = [claim for claim in found if claim.paper and "median" not in claim.statement]
        assert [claim.verdict for claim in numbers] == [Verdict.agrees] * 4
        assert verdict(found, "words, fast food") is Verdict.agrees
        assert verdict(found, "words, TripAdvisor") is Verdict.differs
        assert {claim.verdict for claim in found if not claim.paper} == {Verdict.agrees, Verdict.unchecked}

    def test_a_gap_that_grows_with_length_differs(self, samples):
        other = dict(zip(SUBSETS, reversed(PAPER_GAPS.values()), strict=True))
        found = claims(plan_of(samples), tables_of({"published": other}))
        for word in ("narrows", "shortest reviews", "competitive", "JBNMF, fast food"):
            assert verdict(found, word) is Verdict.differs

    def test_predictive_training_ahead_of_ridge_denies_the_reason_given(self, samples):
        ahead = dict.fromkeys(SUBSETS, -0.1)
        found = claims(plan_of(samples), tables_of({"published": PAPER_GAPS, "predictive": ahead}))
        assert verdict(found, "too little") is Verdict.differs
        assert verdict(found, "small loss") is Verdict.differs
        assert verdict(found, "shortest reviews") is Verdict.agrees

    def test_predictive_training_is_held_against_ridge_on_its_own_rows(self, samples):
        ahead = {"published": PAPER_GAPS, "predictive": dict.fromkeys(SUBSETS, -0.1)}
        found = claims(plan_of(samples), tables_of(ahead, gained_by_rows=0.3))
        assert verdict(found, "too little") is Verdict.agrees
        assert verdict(found, "small loss") is Verdict.agrees

    def test_claims_on_what_was_not_run_are_not_checked(self, samples):
        without_joint = claims(plan_of(samples), tables_of({"predictive": PAPER_GAPS}))
        assert verdict(without_joint, "narrows") is Verdict.unchecked
        without_predictive = claims(plan_of(samples), tables_of({"published": PAPER_GAPS}))
        assert verdict(without_predictive, "too little") is Verdict.unchecked


def test_rows_are_the_same_again_and_carry_the_median_length(samples):
    sample = samples["cafe"]
    (row,) = fit_subset(sample, 60, ["predictive"], 0, 500)
    assert row["words"] == sample.median_words
    assert fit_subset(sample, 60, ["predictive"], 0, 500) == [row]


def test_every_cell_has_its_own_name_and_knows_its_data(samples):
    cells = LENGTH.stages[0](Plan(3, tuple(METHODS), False, samples), {})
    assert len({cell.key for cell in cells}) == len(cells)
    assert {(cell.columns["subset"], cell.data) for cell in cells} == {(r, s.digest) for r, s in samples.items()}


@pytest.mark.parametrize("training", ["both", "predictive"])
def test_the_study_writes_tables_figures_and_its_part_of_the_page(tmp_path, samples, training):
    study = length_study(reviews=60, choices=Choices((3,), (0.05, 0.1), (1.0,)))
    plan = Plan(1, methods_for(training), samples=samples)
    page = reproduce([study], tmp_path / "out", plan, n_jobs=1).read_text()
    table = pd.read_csv(tmp_path / "out" / "length.csv")
    assert table.columns[:6].tolist() == ["subset", "size", "max_terms", "method", "seed", "words"]
    assert not table.duplicated(["subset", "method", "seed"]).any()
    assert set(table["subset"]) == set(SUBSETS)
    terms = pd.read_csv(tmp_path / "out" / "length-terms.csv")
    assert set(terms["method"]) == {"ridge", "predictive"}
    assert set(terms["max_terms"]) == {2000}
    for ending in ("png", "svg"):
        assert (tmp_path / "out" / f"length-words.{ending}").stat().st_size > 0
    assert "(length-words.png)" in page
    assert "{figure" not in page


def test_the_study_is_found_by_name():
    assert STUDIES["length"] is LENGTH
