"""The study of hotel reviews: what chooses settings, what tables hold, and how verdicts follow from them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from reproduction import STUDIES, Plan, Sample
from reproduction.claims import Verdict
from reproduction.hotels import (
    HOTELS,
    QUICK_COARSE,
    best_points,
    by_name,
    count_ratings,
    count_words,
    fit_points,
    performance,
    ranked,
    topic_rows,
)
from reproduction.methods import METHODS, Settings, methods_for
from reproduction.samples import split_rows, split_sample
from reproduction.study import run_cells
from textsignal.datasets import synthetic_reviews


def reviews(n=300):
    drawn = synthetic_reviews(n, seed=1)
    return Sample("synthetic", tuple(drawn.texts), np.asarray(drawn.ratings, dtype=float))


@pytest.fixture(scope="module")
def sample():
    return reviews()


def run(sample, training, folder):
    """Plan and tables of the quick study."""
    plan = Plan(2, methods_for(training), True, {"tripadvisor": sample})
    cells, tables = [], {}
    for stage in HOTELS.stages:
        cells += stage(plan, tables)
        tables = run_cells(cells, folder / "cells.jsonl", n_jobs=1)
    return plan, tables


@pytest.fixture(scope="module")
def joint(sample, tmp_path_factory):
    return run(sample, "joint", tmp_path_factory.mktemp("joint"))


@pytest.fixture(scope="module")
def predictive(sample, tmp_path_factory):
    return run(sample, "predictive", tmp_path_factory.mktemp("predictive"))


@pytest.fixture(params=["joint", "predictive"])
def found(request):
    return request.getfixturevalue(request.param)


def test_it_is_one_of_the_studies():
    assert STUDIES["hotels"] is HOTELS


def test_ratings_of_the_test_side_do_not_move_what_chooses(sample):
    _, test = split_rows(len(sample), 0)
    ratings = sample.ratings.copy()
    ratings[test] = ratings[test][::-1]
    before, after = (fit_points("joint", s, 0, 3, (0.05,))[0] for s in (sample, replace(sample, ratings=ratings)))
    assert after["validation_r2"] == before["validation_r2"]
    assert after["train_r2"] == before["train_r2"]
    assert after["r2"] != before["r2"]


def test_validation_documents_and_training_documents_of_a_split_are_apart_from_its_test_documents(sample):
    train, test = split_rows(len(sample), 3)
    side = sample.training_side(3)
    assert side.texts == tuple(sample.texts[i] for i in train)
    assert len(side) + len(test) == len(sample)


def test_a_sample_is_the_same_to_other_processes(sample):
    copy = pickle.loads(pickle.dumps(sample))
    assert copy == sample
    assert len({copy, sample}) == 1
    assert replace(sample, ratings=sample.ratings[::-1]) != sample


def test_words_left_out_of_a_split_are_no_terms(sample):
    assert "room" in split_sample(sample, 0).terms
    assert "room" not in split_sample(sample, 0, stop_words=["room"]).terms


def test_the_dense_stage_goes_around_what_validation_found_best(found):
    _, tables = found
    search = tables["hotels-search"]
    coarse = best_points(search[search["n_topics"].isin(QUICK_COARSE)], "validation_r2")
    for row in coarse.itertuples():
        mine = search[(search["method"] == row.method) & (search["seed"] == row.seed)]
        added = set(mine["n_topics"]) - set(QUICK_COARSE)
        assert added
        assert all(0 < abs(k - row.n_topics) <= 2 for k in added)


def test_only_joint_training_is_searched_over_alpha(joint, predictive):
    assert joint[1]["hotels-search"]["alpha"].notna().all()
    assert predictive[1]["hotels-search"]["alpha"].isna().all()


def test_a_choice_by_validation_never_beats_the_best_on_the_test_side(found):
    _, tables = found
    values = by_name(tables, "r2")
    for method in tables["hotels-search"]["method"].unique():
        assert (values[f"{method}-validated"] <= values[f"{method}-best"]).all()
        assert (values[method] <= values[f"{method}-best"]).all()


def test_every_line_of_the_performance_table_has_a_row_a_split(found):
    plan, tables = found
    assert {entry.method for entry in performance(tables)} == set(plan.methods)
    for entry in performance(tables):
        assert entry.rows["seed"].tolist() == list(range(plan.seeds))


def test_topics_account_for_all_text_and_have_terms_of_their_own_vocabulary(sample):
    split = split_sample(sample, 0)
    model = METHODS["joint"].fit(split, Settings(4)).model
    rows = topic_rows(model, split.terms)
    assert sum(row["prevalence"] for row in rows) == pytest.approx(1)
    assert sum(row["weight"] for row in rows) == pytest.approx(model.weights_.sum())
    assert {term for row in rows for term in row["terms"].split()} <= set(split.terms)


def test_rankings_go_by_size(joint):
    topics = joint[1]["hotels-topics"].query("method == 'published'")
    for column in ("effect", "prevalence"):
        first = ranked(topics, column)
        assert len(first) == 8
        assert first[column].abs().is_monotonic_decreasing
        left = topics.drop(first.index)[column].abs()
        assert left.max() <= first[column].abs().min()


def test_counts_of_ratings_and_words(sample):
    assert sum(row["documents"] for row in count_ratings(sample)) == len(sample)
    words = count_words(sample)
    counts = [row["count"] for row in words]
    assert counts == sorted(counts, reverse=True)
    assert not {"the", "not", "very"} & {row["word"] for row in words}


def test_each_figure_has_its_place_in_the_text_and_each_place_a_figure(found):
    plan, tables = found
    text = HOTELS.section(plan, tables)
    drawn = HOTELS.figures(plan, tables)
    assert text.count("{figure:") == len(drawn)
    for name in drawn:
        assert f"{{figure:{name}}}" in text


def test_a_topic_has_one_colour_in_both_rankings(joint):
    plan, tables = joint
    figure = HOTELS.figures(plan, tables)["topics-joint"]
    colors = [
        {name.get_text(): bar.get_facecolor() for name, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)}
        for ax in figure.axes
    ]
    shared = colors[0].keys() & colors[1].keys()
    assert shared
    assert all(colors[0][name] == colors[1][name] for name in shared)


def verdict_of(plan, tables, words):
    (claim,) = [claim for claim in HOTELS.claims(plan, tables) if words in claim.statement]
    return claim.verdict


def with_r2(tables, table, method, r2):
    """Tables in which a method has this R2 everywhere."""
    changed = tables[table].copy()
    changed.loc[changed["method"] == method, "r2"] = r2
    return {**tables, table: changed}


def test_verdicts_follow_from_the_tables(joint, predictive):
    plan, tables = joint
    for r2, verdict in ((0.56, Verdict.agrees), (0.3, Verdict.differs)):
        assert verdict_of(plan, with_r2(tables, "hotels-methods", "ridge", r2), "ridge regression: test R2") == verdict
    ridge = with_r2(with_r2(tables, "hotels-methods", "ridge", 0.5), "hotels-methods", "linear", 0.4)
    for r2, verdict in ((0.48, Verdict.agrees), (0.4, Verdict.differs), (0.51, Verdict.differs)):
        assert verdict_of(plan, with_r2(ridge, "hotels-search", "published", r2), "slightly below") == verdict
    plan, tables = predictive
    for r2, verdict in ((0.1, Verdict.agrees), (0.9, Verdict.differs)):
        changed = with_r2(with_r2(tables, "hotels-search", "predictive", r2), "hotels-methods", "ridge", 0.5)
        assert verdict_of(plan, changed, "modest loss") == verdict


def with_best_at(tables, n_topics, alpha):
    """Tables in which the search is best at one point."""
    search = tables["hotels-search"].copy()
    at = (search["n_topics"] == n_topics) & (search["alpha"] == alpha)
    search["r2"] = np.where(at, 0.9, 0.1)
    return {**tables, "hotels-search": search}


@pytest.mark.parametrize(
    ("words", "agreeing", "differing"),
    [
        ("best of the grid", (14, 0.05), (5, 0.1)),
        ("moderate numbers of topics", (14, 0.1), (5, 0.05)),
        ("larger alpha often", (14, 0.05), (14, 0.1)),
    ],
)
def test_a_search_is_judged_by_where_it_is_best(joint, words, agreeing, differing):
    plan, tables = joint
    assert verdict_of(plan, with_best_at(tables, *agreeing), words) == Verdict.agrees
    assert verdict_of(plan, with_best_at(tables, *differing), words) == Verdict.differs


def test_themes_must_be_more_at_home_in_topics_of_their_sign(joint):
    plan, tables = joint
    topics = tables["hotels-topics"]
    for sign, verdict in ((-1, Verdict.agrees), (1, Verdict.differs)):
        changed = topics.copy()
        changed["terms"] = np.where(
            changed["effect"] * sign > 0, "dirty smell sleep desk charged told", "great location staff breakfast walk"
        )
        assert verdict_of(plan, {**tables, "hotels-topics": changed}, "most negative") == verdict
        assert verdict_of(plan, {**tables, "hotels-topics": changed}, "most positive") == verdict


def test_claims_about_methods_that_were_not_run_are_not_judged(joint, predictive):
    assert verdict_of(*joint, "modest loss") == Verdict.unchecked
    assert verdict_of(*predictive, "joint, as published at K=14, alpha=0.05: test R2") == Verdict.unchecked
