"""Sample size: cells that say the same again, and a study that writes all it should."""

import numpy as np
import pandas as pd
import pytest

from reproduction import STUDIES, Plan, Sample, reproduce
from reproduction.choices import Choices, fit_choices, fit_methods, fit_penalties
from reproduction.claims import Verdict
from reproduction.methods import methods_for
from reproduction.sample_size import OVERFITTING, SAMPLE_SIZE, appendix_claims, claims, size_study, sizes_of
from textsignal.datasets import synthetic_reviews

COLUMNS = ["train_r2", "r2", "gap", "train_rmse", "rmse"]


@pytest.fixture(scope="module")
def sample():
    reviews = synthetic_reviews(160, 0)
    return Sample("synthetic", tuple(reviews.texts), reviews.ratings.astype(float))


def table_of(**skill):
    """A table of one seed: for each method (training, test R2) at M=500 and at M=10,000."""
    return pd.DataFrame(
        [
            {"method": method, "size": size, "seed": 0, "train_r2": train, "r2": test, "gap": train - test}
            for method, along in skill.items()
            for size, (train, test) in zip((500, 10_000), along, strict=True)
        ]
    )


#: Numbers as the paper describes them.
AS_CLAIMED = {
    "linear": [(1.0, -2.0), (0.6, 0.5)],
    "ridge": [(0.8, 0.3), (0.6, 0.55)],
    "published": [(0.4, 0.2), (0.6, 0.5)],
}
PLAN = Plan(1, ("linear", "ridge", "published"), False)


class TestCells:
    def test_a_row_has_every_score(self, sample):
        rows = fit_methods(sample, 100, ["linear", "ridge"], 0)
        assert [row["method"] for row in rows] == ["linear", "ridge"]
        for row in rows:
            assert list(row) == ["method", *COLUMNS]
            assert row["gap"] == pytest.approx(row["train_r2"] - row["r2"])

    @pytest.mark.parametrize("method", ["linear", "ridge", "published", "joint", "predictive"])
    def test_a_seed_gives_the_same_rows_and_another_seed_others(self, sample, method):
        once, again, other = (fit_methods(sample, 80, [method], seed) for seed in (1, 1, 2))
        assert once == again
        assert once != other

    def test_choices_hold_what_was_chosen_for_the_study(self, sample):
        rows = fit_choices(sample, 80, "joint", 0, Choices((3, 14), (0.05, 0.1)))
        assert [(row["n_topics"], row["alpha"]) for row in rows] == [(3, 0.05), (3, 0.1), (14, 0.05), (14, 0.1)]
        (usual,) = fit_methods(sample, 80, ["joint"], 0)
        assert {name: rows[2][name] for name in COLUMNS} == {name: usual[name] for name in COLUMNS}

    def test_larger_penalties_fit_the_training_side_less(self, sample):
        rows = fit_penalties(sample, 100, 0, Choices(penalties=(0.1, 1.0, 10.0)))
        assert rows[0]["train_r2"] > rows[1]["train_r2"] > rows[2]["train_r2"]

    def test_the_whole_sample_stands_in_for_sizes_above_it(self, sample):
        assert sizes_of(sample, (50, 100)) == [50, 100]
        assert sizes_of(sample, (50, 500, 1000)) == [50, 160]

    @pytest.mark.parametrize(("study", "role"), [(SAMPLE_SIZE, "tripadvisor"), (OVERFITTING, "hotel")])
    def test_every_cell_has_its_own_name_and_knows_its_data(self, sample, study, role):
        plan = Plan(2, ("mean", "linear", "ridge", "published", "joint", "predictive"), False, {role: sample})
        cells = study.stages[0](plan, {})
        assert len({cell.key for cell in cells}) == len(cells)
        assert {cell.data for cell in cells} == {sample.digest}
        assert {cell.table for cell in cells} == {study.name, f"{study.name}-choices", f"{study.name}-penalties"}


class TestClaims:
    def test_what_the_paper_describes_agrees(self):
        tables = {"study": table_of(**AS_CLAIMED)}
        assert {claim.verdict for claim in claims("study", PLAN, tables)} == {Verdict.agrees}
        assert {claim.verdict for claim in appendix_claims("study", PLAN, tables)} == {Verdict.agrees}

    @pytest.mark.parametrize(
        ("method", "numbers", "word"),
        [
            ("linear", [(0.9, -2.0), (0.6, 0.5)], "almost perfectly"),
            ("linear", [(1.0, 0.1), (0.6, 0.5)], "test R2 is negative"),
            ("linear", [(1.0, -2.0), (0.9, -2.4)], "narrows"),
            ("ridge", [(0.9, -1.0), (0.6, 0.55)], "substantially reduces"),
            ("published", [(0.4, -0.1), (0.6, 0.5)], "positive test R2"),
            ("published", [(0.9, -1.0), (0.6, 0.5)], "much smaller gap"),
            ("published", [(0.4, 0.2), (0.5, 0.49)], "not uniformly"),
            ("published", [(0.4, -2.1), (0.6, 0.5)], "structured alternative"),
            ("published", [(0.4, 0.2), (0.6, -3.0)], "come closer"),
        ],
    )
    def test_a_claim_that_the_numbers_deny_differs(self, method, numbers, word):
        tables = {"study": table_of(**AS_CLAIMED | {method: numbers})}
        (denied,) = [claim for claim in claims("study", PLAN, tables) if word in claim.statement]
        assert denied.verdict is Verdict.differs
        assert denied.reason
        *_, pattern = appendix_claims("study", PLAN, tables)
        assert denied.statement in pattern.reason

    def test_claims_on_what_was_not_run_are_not_checked(self):
        table = table_of(**{method: AS_CLAIMED[method] for method in ("linear", "ridge")})
        found = claims("study", PLAN, {"study": table})
        assert {claim.verdict for claim in found if "JBNMF" in claim.statement} == {Verdict.unchecked}
        assert {claim.verdict for claim in found if "linear regression fits" in claim.statement} == {Verdict.agrees}


@pytest.mark.parametrize("training", ["both", "predictive"])
def test_a_study_writes_tables_figures_and_its_part_of_the_page(tmp_path, sample, training):
    few = Choices((3,), (0.05, 0.1), (1.0,))
    study = size_study("tiny", "Tiny samples", "hotel", claims, sizes=(60, 100), quick_sizes=(60,), choices=few)
    plan = Plan(2, methods_for(training), samples={"hotel": sample})
    page = reproduce([study], tmp_path / "out", plan, n_jobs=1).read_text()
    table = pd.read_csv(tmp_path / "out" / "tiny.csv")
    assert list(table.columns) == ["size", "method", "seed", *COLUMNS]
    assert set(table["size"]) == {60, 100}
    assert ("published" in set(table["method"])) == (training == "both")
    assert np.isfinite(table[COLUMNS]).all(axis=None)
    for ending in ("png", "svg"):
        assert (tmp_path / "out" / f"tiny-training-and-test.{ending}").stat().st_size > 0
    assert "(tiny-training-and-test.png)" in page
    assert "{figure" not in page


def test_the_studies_are_found_by_name():
    assert STUDIES["sample-size"] is SAMPLE_SIZE
    assert STUDIES["overfitting"] is OVERFITTING
