import json
import shutil

import numpy as np
import pandas as pd
import pytest

import textsignal as ts
from textsignal.compute.hashing import drawn
from textsignal.data.roles import Roles
from textsignal.datasets import simulate_corpus, synthetic_reviews
from textsignal.errors import InputError
from textsignal.text.tokens import text_keys
from textsignal.training import halves
from textsignal.training.halves import dense_around
from textsignal.uncertainty import search
from textsignal.uncertainty.search import Finished, eligible, folds_of, in_words, recommended, skilled

REVIEWS = synthetic_reviews(120, seed=1)
SETTINGS = {"n_themes": [3, 6], "folds": 2}


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Fewer cuts and starts than users have."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (halves, search):
            patch.setattr(module, "CUTS", 2)
        patch.setattr(halves, "HALF_TRIES", 8)
        patch.setattr(halves, "LEAST_EACH", 15)
        patch.setattr(halves, "COARSE_THEMES", (5, 7))
        patch.setattr(search, "TOPIC_CUTS", 2)
        yield


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A file of finished tasks."""
    return tmp_path_factory.mktemp("search") / "cells.jsonl"


@pytest.fixture(scope="module")
def found(kept):
    return ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, n_jobs=1, resume=kept)


@pytest.fixture
def measured(monkeypatch):
    """Tasks that are computed."""
    tasks = []
    keep = Finished.keep
    monkeypatch.setattr(Finished, "keep", lambda self, task, values: tasks.append(task) or keep(self, task, values))
    return tasks


def test_a_table_has_a_row_per_cell_with_means_and_standard_errors(found):
    measures = ["deviance", "r2", "coherence", "exclusivity", "stability"]
    assert found.table["n_themes"].tolist() == [3, 6]
    assert set(found.table) == {"n_themes", *measures, *(f"{name}_se" for name in measures)}
    assert np.isfinite(found.table.to_numpy()).all()
    assert found.table["stability"].between(0, 1).all()
    assert found.table["exclusivity"].between(0, 1).all()
    assert found.best["n_themes"] == found.table.loc[found.table["deviance"].idxmin(), "n_themes"]
    assert ts.TextResponseModel(**found.recommended).n_themes in (3, 6)
    assert f"Take {found.recommended['n_themes']} themes" in found.recommendation
    assert "<table" in found._repr_html_()
    assert len(ts.plots.search(found).axes) == 4


def test_the_table_is_the_same_for_any_number_of_threads(found):
    other = ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, n_jobs=3)
    pd.testing.assert_frame_equal(found.table, other.table, check_exact=True)


def test_a_killed_search_goes_on_where_it_was(found, kept, measured, tmp_path):
    cut = tmp_path / "cells.jsonl"
    text = kept.read_text()
    cut.write_text(text[: int(0.6 * len(text))])
    whole, left = len(text.splitlines()) - 1, sum(line.endswith("}}") for line in cut.read_text().splitlines()) - 1
    other = ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, resume=cut)
    assert len(measured) == whole - left > 0
    pd.testing.assert_frame_equal(found.table, other.table, check_exact=True)
    del measured[:]
    ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, resume=cut)
    assert not measured


def test_a_file_of_other_data_or_settings_is_refused(found, kept, tmp_path):
    with pytest.raises(InputError, match="other texts, responses or groups"):
        ts.search(REVIEWS.texts, REVIEWS.ratings[::-1], **SETTINGS, resume=kept)
    with pytest.raises(InputError, match="folds=2, and this one of folds=3"):
        ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS | {"folds": 3}, resume=kept)
    with pytest.raises(InputError, match="random_state=0, and this one of random_state=1"):
        ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, random_state=1, resume=kept)
    for content in ("no JSON", json.dumps({"a": 1})):
        other = tmp_path / "notes.txt"
        other.write_text(content)
        with pytest.raises(InputError, match="is not a file of a search"):
            ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS, resume=other)
        assert other.read_text() == content


def test_a_first_line_that_was_cut_short_is_written_again(kept, found, tmp_path):
    cut = tmp_path / "cells.jsonl"
    cut.write_text(kept.read_text()[:30])
    with pytest.raises(InputError, match="n_themes=200"):  # the numbers are checked before anything is written
        ts.search(REVIEWS.texts, REVIEWS.ratings, n_themes=200, folds=2, resume=cut)
    first = kept.read_text().splitlines()[0]
    Finished(cut, json.loads(first)["search of"])
    assert cut.read_text().splitlines() == [first]


def test_the_true_number_of_themes_is_found():
    corpus = simulate_corpus(400, 200, n_topics=4, random_state=3)
    options = {"n_themes": [2, 4, 6], "supervision": 0.5, "folds": 2, "training": "joint"}
    found = ts.search(corpus.counts, corpus.ratings, **options)
    assert found.recommended == {"n_themes": 4, "supervision": 0.5}
    assert found.table["text_deviance"].idxmin() == 1


def test_a_matrix_is_searched_for_topics():
    X = ts.TextVectorizer(max_terms=200).fit_transform(REVIEWS.texts)
    found = ts.search(X, REVIEWS.ratings, n_themes=[2], supervision=[0.5, 1], folds=2, training="joint")
    assert found.table["supervision"].tolist() == [0.5, 1.0]
    assert found.noun == "topic"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"supervision": 0.5}, "does not apply to training='themes'"),
        ({"n_themes": [0]}, "n_themes=0"),
        ({"n_themes": []}, "n_themes is empty"),
        ({"folds": 1}, "folds=1"),
        ({"groups": ["a", "b"] * 60, "folds": 3}, "2 different groups"),
        ({"groups": ["a"]}, "120 texts, but 1 groups"),
        ({"training": "other"}, "training='other'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        ts.search(REVIEWS.texts, REVIEWS.ratings, **SETTINGS | options)


def test_what_cannot_be_searched_is_named():
    with pytest.raises(InputError, match="training='themes' takes texts"):
        ts.search(np.ones((20, 3)), np.arange(20))
    with pytest.raises(InputError, match="training='joint' takes a matrix"):
        ts.search(REVIEWS.texts, REVIEWS.ratings, training="joint")
    with pytest.raises(InputError, match="three or more classes"):
        ts.search(["a fine room"] * 30, ["x", "y", "z"] * 10)
    with pytest.raises(InputError, match="40 texts are too few"):
        ts.search(REVIEWS.texts[:40], REVIEWS.ratings[:40])
    with pytest.raises(InputError, match="3 texts have a response"):
        ts.search(REVIEWS.texts, [1, 2, 3, *[None] * 117])


def test_folds_keep_copies_and_groups_together_and_mind_no_order():
    keys = text_keys([f"text {n % 50}" for n in range(100)])
    folds = folds_of(keys, 4, None, 7)
    assert np.array_equal(folds[:50], folds[50:])
    assert np.bincount(folds).min() >= 24
    order = np.argsort(drawn(keys, 1), kind="stable")
    assert np.array_equal(folds_of(keys[order], 4, None, 7), folds[order])
    groups = np.arange(100) // 9
    folds = folds_of(keys, 4, groups, 7)
    assert all(len(set(folds[groups == group])) == 1 for group in range(12))
    assert set(folds) == {0, 1, 2, 3}


def cells(**columns):
    table = pd.DataFrame(columns)
    defaults = {"deviance": 1.0, "deviance_se": 0.1, "r2": 0.5, "stability": 0.9, "stability_se": 0.0}
    return table.assign(**{name: value for name, value in defaults.items() if name not in table})


def test_the_most_themes_of_those_that_come_back_are_taken():
    table = cells(n_themes=[5, 6, 9], stability=[0.95, 0.94, 0.8])
    assert recommended(table) == 1
    assert recommended(table.assign(stability_se=0.2)) == 2
    assert "Take 6 themes" in in_words(table, 1, "theme")
    assert "With 9, themes are reproduced less well" in in_words(table, 1, "theme")


def test_what_predicts_worse_by_more_than_one_standard_error_is_not_taken():
    table = cells(n_themes=[5, 6, 9], stability=[0.99, 0.9, 0.7], deviance=[2.0, 1.05, 1.0])
    assert skilled(table).index.tolist() == [1, 2]
    assert recommended(table) == 1


def test_themes_are_no_more_than_held_out_text_asks_for():
    table = cells(n_themes=[4, 5, 6], text_deviance=[9.0, 7.0, 7.1], text_deviance_se=[0.2, 0.2, 0.2])
    assert eligible(table)["n_themes"].tolist() == [4, 5]
    assert recommended(table) == 1
    assert "held-out text supports no more" in in_words(table, 1, "theme")


def test_the_least_supervision_that_predicts_as_praise_is_taken():
    table = cells(n_themes=[5, 5, 5, 8], supervision=[0.1, 0.5, 2.0, 0.5], deviance=[1.2, 1.05, 1.0, 1.0])
    table["stability"] = [0.9, 0.9, 0.9, 0.5]
    assert recommended(table) == 1


def test_the_second_stage_lies_between_neighbours_of_the_first():
    assert dense_around(12, [5, 8, 12, 17]) == [9, 10, 11, 13, 14, 15, 16]
    assert dense_around(17, [5, 8, 12, 17]) == [13, 14, 15, 16]


@pytest.fixture(scope="module")
def chosen():
    return ts.TextResponseModel("auto", n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings)


def test_a_model_chooses_its_number_of_themes_and_says_why(chosen, tmp_path):
    taken = len(chosen.components_) - 1  # without the overall verdict
    reason = chosen.reader_.described["Number of themes"]
    assert 5 <= taken <= 7
    assert f" {taken} are the most that are reproduced" in reason
    assert chosen.n_themes == "auto"
    chosen.save(tmp_path / "model")
    assert ts.load(tmp_path / "model").reader_.described["Number of themes"] == reason
    assert "Number of themes" not in chosen.merge([0, 1], "both").reader_.described


def test_the_number_of_themes_is_the_same_for_any_number_of_threads(chosen):
    other = ts.TextResponseModel("auto", n_jobs=3).fit(REVIEWS.texts, REVIEWS.ratings)
    assert np.array_equal(other.components_, chosen.components_)
    fixed = ts.TextResponseModel(len(chosen.components_) - 1).fit(REVIEWS.texts, REVIEWS.ratings)
    assert np.array_equal(fixed.components_, chosen.components_)


def test_where_a_number_cannot_be_chosen_it_is_said():
    with pytest.raises(InputError, match="40 texts with content terms are too few"):
        ts.TextResponseModel("auto").fit(REVIEWS.texts[:40], REVIEWS.ratings[:40])
    with pytest.raises(InputError, match="n_themes='many'"):
        ts.TextResponseModel("many").fit(REVIEWS.texts, REVIEWS.ratings)


def test_a_search_is_written_and_gone_on_from(found, kept, measured, tmp_path):
    from textsignal.workflow.studies import search_table

    table = REVIEWS.to_frame()
    shutil.copy(kept, tmp_path / "cells.jsonl")
    other = search_table(table, Roles("review", ("rating",)), tmp_path, n_themes=[3, 6], folds=2)
    assert not measured
    written = pd.read_csv(tmp_path / "table.csv")
    assert np.allclose(written, other.table, rtol=1e-5)
    assert {file.name for file in tmp_path.iterdir()} == {
        *("cells.jsonl", "table.csv", "search.png", "search.svg", "recommendation.txt")
    }
