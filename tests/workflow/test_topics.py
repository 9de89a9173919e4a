"""The paper's model from a table: the split, its files and its report."""

import re

import numpy as np
import pandas as pd
import pytest

from textsignal import GLMNMF, JBNMF, TopicModel, load
from textsignal.data.roles import Roles
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, OutputError
from textsignal.workflow.analyse import analyse_topics

N = 160
REVIEWS = synthetic_reviews(N, seed=6)
COLUMNS = Roles("review", ("rating",))


def model_of():
    return TopicModel(JBNMF(3, max_iter=20, levels=(1, 5), n_jobs=1))


def table_of():
    table = REVIEWS.to_frame().astype(object)
    table.loc[3, "review"] = ""
    table.loc[5, "rating"] = None
    return table


@pytest.fixture(scope="module")
def analysis():
    return analyse_topics(table_of(), COLUMNS, model_of(), on_bad_rows="drop")


def test_the_model_is_fitted_to_the_training_rows_of_the_documented_split(analysis):
    assert analysis.dropped == "1 bad row: 1 empty text (row 4)"
    assert analysis.rows.tolist() == [row for row in range(N) if row != 3]
    order = np.random.default_rng(0).permutation(N - 1)
    training = np.sort(order[: round(0.8 * (N - 1))])
    np.testing.assert_array_equal(np.flatnonzero(~analysis.held_out), training)
    texts = [analysis.texts[row] for row in training]
    direct = model_of().fit(texts, analysis.responses[training])
    np.testing.assert_array_equal(analysis.model.predict(analysis.texts), direct.predict(analysis.texts))


def test_copies_of_a_text_are_on_one_side_of_the_split():
    table = pd.concat([REVIEWS.to_frame()] * 3, ignore_index=True)
    held_out = analyse_topics(table, COLUMNS, model_of()).held_out.reshape(3, N)
    assert held_out.any()
    assert (held_out == held_out[0]).all()


def test_files_hold_the_results(analysis, tmp_path):
    analysis.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model", "topics.csv", "texts.csv", "report.html"}
    topics, expected = pd.read_csv(tmp_path / "topics.csv"), analysis.model.topics().reset_index(drop=True)
    assert topics.pop("terms").tolist() == expected.pop("terms").map(", ".join).tolist()
    pd.testing.assert_frame_equal(topics, expected)
    texts, loaded = pd.read_csv(tmp_path / "texts.csv"), load(tmp_path / "model")
    assert isinstance(loaded, TopicModel)
    assert texts["row"].tolist() == (analysis.rows + 1).tolist()
    assert texts["held_out"].tolist() == analysis.held_out.tolist()
    assert np.flatnonzero(texts["response"].isna()).tolist() == [4]
    np.testing.assert_allclose(texts["prediction"], loaded.predict(analysis.texts), rtol=1e-6)
    np.testing.assert_allclose(texts.filter(like="topic_"), loaded.transform(analysis.texts), rtol=1e-6)


def test_the_report_has_skill_and_a_card_for_each_topic(analysis, tmp_path):
    analysis.write(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    known = ~np.isnan(analysis.responses)
    for name, rows in (("Training texts", known & ~analysis.held_out), ("Held-out texts", known & analysis.held_out)):
        texts = [analysis.texts[row] for row in np.flatnonzero(rows)]
        skill = analysis.model.score(texts, analysis.responses[rows])
        row = re.search(rf"{name}.*?</tr>", page, re.DOTALL)[0]
        assert str(rows.sum()) in row
        assert f"{skill:.3f}" in row
    for label in analysis.model.topic_names:
        assert label in page
    with pytest.raises(OutputError, match="exists already"):
        analysis.model.report(tmp_path / "report.html")


def test_a_report_of_a_loaded_model_needs_texts(analysis, tmp_path):
    analysis.model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    with pytest.raises(InputError, match="does not hold its texts; give texts"):
        loaded.report(tmp_path / "page.html")
    with pytest.raises(InputError, match="2 texts, but held_out has 1 flags"):
        loaded.report(tmp_path / "page.html", texts=REVIEWS.texts[:2], held_out=[True])
    hostile = "<script>alert(1)</script> friendly staff ann@example.com"
    loaded.report(tmp_path / "page.html", texts=[hostile] * 3, title="Our <b>topics</b>")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Our &lt;b&gt;topics" in page
    assert "<script" not in page
    assert "ann@example.com" not in page


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (Roles("reveiw", ("rating",)), {}, "no column 'reveiw' for the text"),
        (COLUMNS, {"holdout": 1}, "holdout=1 must be at least 0 and below 1"),
        (COLUMNS, {}, r"1 bad row: 1 empty text \(row 4\)"),
    ],
)
def test_bad_input_gets_a_clear_error(columns, options, message):
    with pytest.raises(InputError, match=message):
        analyse_topics(table_of(), columns, model_of(), **options)


def test_another_estimator_may_be_fitted():
    analysis = analyse_topics(REVIEWS.to_frame(), COLUMNS, TopicModel(GLMNMF(3, max_epochs=1, n_jobs=1)))
    assert analysis.model.family_.name == "binomial"
    assert len(analysis.model.topics()) == 3
