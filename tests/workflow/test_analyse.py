"""From a table to a fitted model: the split, the numbers of the summary, and unusable rows."""

import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from textsignal import TextResponseModel, TextVectorizer, load
from textsignal.data.read import read_table
from textsignal.data.roles import Roles
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, OutputError
from textsignal.reading import observed, themes
from textsignal.workflow.analyse import analyse
from textsignal.workflow.apply import predict_table

N = 203
#: Texts without a word that a model knows.
UNKNOWN = {8: "?", 9: "!"}
REVIEWS = synthetic_reviews(N, seed=6)
COLUMNS = Roles("review", ("rating",))


#: Columns of the shares of the themes of `model_of`, the overall verdict last.
THEMES = ["theme_0", "theme_1", "theme_2", "theme_3"]


def table_of(**cells):
    """The reviews as strings, as a CSV gives them, with some cells changed: rating={4: "five"}."""
    table = REVIEWS.to_frame().astype({"rating": str}).astype(object)
    for name, changes in cells.items():
        for row, value in changes.items():
            table.loc[row, name] = value
    return table


def model_of():
    return TextResponseModel(3, levels=(1, 5))


def run(table=None, columns=COLUMNS, **options):
    return analyse(table_of() if table is None else table, columns, model_of(), **options)


def error_of(table=None, columns=COLUMNS, **options):
    with pytest.raises(InputError) as caught:
        run(table, columns, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def training_rows(n_rows, seed=0, share=0.8):
    """The documented split: a permutation by default_rng(seed), its first 80% for training."""
    order = np.random.default_rng(seed).permutation(n_rows)
    flags = np.zeros(n_rows, dtype=bool)
    flags[order[: round(share * n_rows)]] = True
    return flags


def skill(responses, predictions, rows, training):
    """Skill, recomputed by its definition."""
    rows = rows & ~np.isnan(responses)
    y, predicted, mean = responses[rows], predictions[rows], np.nanmean(responses[training])
    return {
        "texts": rows.sum(),
        "r2": 1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2),
        "rmse": np.sqrt(np.mean((y - predicted) ** 2)),
        "mean_baseline_rmse": np.sqrt(np.mean((y - mean) ** 2)),
    }


@pytest.fixture(scope="module")
def analysis():
    table = table_of(rating={5: "", 6: "NA", 7: None}, review=UNKNOWN)
    return run(table)


@pytest.mark.parametrize(("seed", "holdout"), [(0, 0.2), (7, 0.2), (0, 0.35)])
def test_the_split_is_the_documented_one(seed, holdout):
    texts = run(seed=seed, holdout=holdout).texts
    np.testing.assert_array_equal(texts["held_out"], ~training_rows(N, seed, 1 - holdout))


def test_the_model_has_seen_the_training_rows_alone(analysis):
    training = training_rows(N)
    texts = table_of(review=UNKNOWN)["review"].to_numpy()
    responses = np.where(np.isin(np.arange(N), [5, 6, 7]), np.nan, REVIEWS.ratings)
    direct = clone(analysis.model).fit(texts[training], responses[training])
    np.testing.assert_array_equal(analysis.texts["prediction"], direct.predict(texts))
    np.testing.assert_array_equal(analysis.model.terms_, direct.terms_)


def test_the_table_of_texts_has_a_row_for_each(analysis):
    texts = analysis.texts
    assert list(texts.columns) == [
        *("row", "response", "prediction", "unseen_prediction", "held_out", "unknown"),
        *THEMES,
    ]
    assert texts["row"].tolist() == list(range(1, N + 1))
    assert np.flatnonzero(texts["response"].isna()).tolist() == [5, 6, 7]
    assert np.flatnonzero(texts["unknown"]).tolist() == [8, 9]
    known = ~texts["response"].isna()
    np.testing.assert_array_equal(texts["response"][known], REVIEWS.ratings[known])


def test_weights_are_those_of_the_model(analysis):
    texts = table_of(review=UNKNOWN)["review"]
    weights = analysis.texts[THEMES]
    np.testing.assert_array_equal(weights, analysis.model.transform(texts))
    assert (weights.sum(axis=1) <= 1 + 1e-12).all()


def test_the_summary_equals_numbers_recomputed_from_the_texts(analysis):
    texts, part, summary = analysis.texts, analysis.only.summary, analysis.summary
    held_out = texts["held_out"].to_numpy()
    y, predicted = texts["response"].to_numpy(), texts["unseen_prediction"].to_numpy()
    assert np.array_equal(predicted[held_out], texts["prediction"][held_out])
    assert asdict(part.train) == pytest.approx(skill(y, predicted, ~held_out, ~held_out))
    assert asdict(part.held_out) == pytest.approx(skill(y, predicted, held_out, ~held_out))
    assert part.train.texts + part.held_out.texts == N - 3
    assert (summary.rows, summary.dropped, summary.without_response, summary.without_known_term) == (N, "", 3, 2)
    assert summary.terms == len(analysis.model.terms_)
    assert (summary.themes, part.levels) == (3, (1, 5))
    assert part.made_of == analysis.model.reader_.described
    assert all(isinstance(value, str) for value in part.made_of.values())


def test_files_hold_the_results(analysis, tmp_path):
    analysis.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "model",
        "themes.csv",
        "texts.csv",
        "clauses.parquet",
        "summary.json",
        "report.html",
    }
    texts = pd.read_csv(tmp_path / "texts.csv")
    pd.testing.assert_frame_equal(texts, analysis.texts, check_exact=False, rtol=1e-7)
    themes = pd.read_csv(tmp_path / "themes.csv")
    expected = analysis.model.themes()
    assert themes["theme"].tolist() == expected.index.tolist()
    assert themes["is_overall"].sum() == 1
    findings = themes.pop("finding")
    assert all(line.startswith(f"“{label}”: ") for line, label in zip(findings, themes["label"], strict=True))
    listed = analysis.only.overall.findings()
    assert {*listed.to_fix, *listed.to_keep} & set(findings)
    lists = [name for name in ("raises", "lowers", "terms") if name in expected]
    for name in lists:
        assert themes[name].fillna("").tolist() == expected[name].map(", ".join).tolist()
    numbers = expected.drop(columns=lists).reset_index(drop=True)
    pd.testing.assert_frame_equal(themes.drop(columns=lists), numbers, check_dtype=False)
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary == asdict(analysis.summary) | asdict(analysis.only.summary) | {"levels": [1, 5]}
    first = REVIEWS.texts[:9]
    np.testing.assert_array_equal(load(tmp_path / "model").predict(first), analysis.model.predict(first))


def test_existing_results_are_not_written_over(analysis, tmp_path):
    analysis.write(tmp_path)
    with pytest.raises(OutputError, match="exists already"):
        analysis.write(tmp_path)


def test_skill_that_cannot_be_measured_is_null_in_the_summary(tmp_path):
    held_out = np.flatnonzero(~training_rows(N))
    analysis = run(table_of(rating=dict.fromkeys(held_out, "")))
    assert analysis.only.summary.held_out.texts == 0
    analysis.write(tmp_path)
    text = (tmp_path / "summary.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=pytest.fail)["held_out"]["r2"] is None


def test_without_holdout_all_rows_train():
    analysis = run(holdout=0)
    assert analysis.only.summary.held_out is None
    assert analysis.only.summary.train.texts == N
    assert not analysis.texts["held_out"].any()
    np.testing.assert_array_equal(
        analysis.texts["prediction"], clone(analysis.model).fit(REVIEWS.texts, REVIEWS.ratings).predict(REVIEWS.texts)
    )


def test_the_table_is_not_changed():
    table = table_of(rating={3: "", 4: " 5 "})
    before = table.copy()
    run(table)
    pd.testing.assert_frame_equal(table, before)


def test_numbers_and_strings_give_the_same():
    numbers = run(REVIEWS.to_frame().set_index(np.arange(N)[::-1]))
    pd.testing.assert_frame_equal(numbers.texts, run().texts)


BAD = {"review": {3: "", 30: "   "}, "rating": {10: "five", 20: "9", 21: "3.5", 30: "0"}}


def test_bad_rows_are_counted_and_named():
    message = error_of(table_of(**BAD), levels=(1, 5))
    assert message.startswith("5 bad rows: ")
    assert "2 empty texts (rows 4, 31)" in message
    assert "1 response that is not a number (row 11: 'five')" in message
    assert "2 responses outside 1 to 5 (rows 21: '9', 31: '0')" in message
    assert "1 response that is not a whole number (row 22: '3.5')" in message
    assert 'on_bad_rows="drop"' in message


def test_bad_rows_are_dropped_on_request():
    analysis = run(table_of(**BAD), levels=(1, 5), on_bad_rows="drop")
    kept = np.setdiff1d(np.arange(N), [3, 10, 20, 21, 30])
    assert analysis.texts["row"].tolist() == (kept + 1).tolist()
    np.testing.assert_array_equal(analysis.texts["response"], REVIEWS.ratings[kept])
    np.testing.assert_array_equal(analysis.texts["held_out"], ~training_rows(len(kept)))
    assert analysis.summary.rows == N - 5
    assert analysis.summary.dropped in error_of(table_of(**BAD), levels=(1, 5))


def test_half_stars_are_a_scale():
    table = table_of(rating=dict.fromkeys(range(0, 20, 2), "3.5") | dict.fromkeys(range(1, 20, 2), "1.5"))
    analysis = analyse(table, COLUMNS, TextResponseModel(3))
    assert analysis.model.levels_.tolist() == np.arange(1, 5.5, 0.5).tolist()
    assert analysis.only.summary.made_of["Response"].startswith("1 to 5 in steps of 0.5")
    assert len(analysis.texts) == N


def test_ordered_categories_are_a_scale():
    names = ["awful", "bad", "fine", "good", "best", "divine"]
    table = table_of().assign(rating=pd.Categorical(np.array(names)[REVIEWS.ratings - 1], names, ordered=True))
    table.loc[3, "rating"] = None
    analysis = analyse(table, COLUMNS, TextResponseModel(3))
    assert analysis.model.levels_.tolist() == names
    assert analysis.only.summary.levels == ("awful", "divine")
    assert analysis.only.summary.response_read.startswith("awful as 1, bad as 2")
    np.testing.assert_array_equal(analysis.texts["response"].drop(3), np.delete(REVIEWS.ratings, 3))


@pytest.mark.parametrize("option", ["by", "groups"])
def test_a_cell_that_cannot_name_a_group_is_named(option):
    table = table_of().assign(hotel="inn").astype(object)
    table.at[4, "hotel"] = {"id": 7}
    columns = replace(COLUMNS, **{option: "hotel"})
    message = error_of(table, columns, interval=0.9 if option == "groups" else None)
    assert message == "column 'hotel': row 5 holds a dict ({'id': 7}), which cannot name a group; give text or numbers"


@pytest.mark.parametrize("row", [np.flatnonzero(training_rows(N))[0], np.flatnonzero(~training_rows(N))[0]])
def test_a_rating_between_levels_is_bad_if_the_scale_is_learnt(row):
    table = table_of(rating={row: "3.5"})
    model = TextResponseModel(3)
    with pytest.raises(InputError, match=rf"1 response that is not a whole number \(row {row + 1}: '3\.5'\)"):
        analyse(table, COLUMNS, model)
    dropped = analyse(table, COLUMNS, model, on_bad_rows="drop")
    assert row + 1 not in dropped.texts["row"].tolist()
    assert dropped.only.summary.levels == (1, 5)


def test_no_row_left_is_an_error():
    message = error_of(table_of(review=dict.fromkeys(range(N), "")), on_bad_rows="drop")
    assert message.startswith("no row is left: 203 bad rows: 203 empty texts (rows 1, 2, 3, 4, 5 and 198 more)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"columns": Roles("reveiw", ("rating",))},
            "no column 'reveiw' for the text; did you mean 'review'? The columns are: review, rating",
        ),
        ({"columns": Roles("review", ("Rating",))}, "no column 'Rating' for the response; did you mean 'rating'?"),
        (
            {"columns": Roles("review", ("price",))},
            "no column 'price' for the response. The columns are: review, rating",
        ),
        ({"holdout": 1}, "holdout=1 must be at least 0 and below 1"),
        ({"holdout": -0.1}, "holdout=-0.1 must be at least 0 and below 1"),
        ({"holdout": float("nan")}, "holdout=nan must be at least 0 and below 1"),
        ({"holdout": 0.999}, "holdout=0.999 leaves none of the 203 rows for training"),
        ({"seed": -1}, "seed=-1 must be a whole number of at least 0"),
        ({"on_bad_rows": "skip"}, "on_bad_rows='skip' is not known; allowed: 'error', 'drop'"),
        ({"levels": (1, 4)}, "responses outside 1 to 4"),
    ],
)
def test_bad_options_get_a_clear_error(options, message):
    assert message in error_of(**options)


@pytest.mark.parametrize(
    ("name", "cell", "message"),
    [
        ("rating", "4", "the response is constant (always 4)"),
        ("rating", "", "no text has a response (all are missing)"),
        ("review", "the", "term is left"),
    ],
)
def test_a_table_without_information_is_an_error(name, cell, message):
    with pytest.raises(InputError) as caught:
        analyse(table_of(**{name: dict.fromkeys(range(N), cell)}), COLUMNS, TextResponseModel(3))
    assert message in str(caught.value)


# Predictions for a table


@pytest.fixture(scope="module")
def model():
    return model_of().fit(REVIEWS.texts, REVIEWS.ratings)


def test_every_row_gets_a_prediction(model):
    texts = [*REVIEWS.texts[:5], "", None, np.nan, "xylophone", "  "]
    table = predict_table(model, pd.DataFrame({"review": pd.Series(texts, dtype=object)}), "review")
    levels = model.levels_.tolist()
    assert list(table.columns) == ["row", "prediction", "level", "unknown", *[f"p_{level}" for level in levels]]
    assert table["row"].tolist() == list(range(1, 11))
    assert table["unknown"].tolist() == [False] * 5 + [True] * 5
    np.testing.assert_array_equal(table["prediction"][:5], model.predict(REVIEWS.texts[:5]))
    np.testing.assert_array_equal(table["level"][:5], model.predict_level(REVIEWS.texts[:5]))
    np.testing.assert_array_equal(table.filter(like="p_")[:5], model.predict_proba(REVIEWS.texts[:5]))
    assert table["prediction"][5:].nunique() == 1


def test_cells_that_are_not_strings_are_read_as_written(tmp_path, model):
    (tmp_path / "odd.jsonl").write_text('{"review": ["lovely", "breakfast"]}\n{"review": 5}\n{"review": null}\n')
    table = predict_table(model, read_table(tmp_path / "odd.jsonl"), "review")
    assert table["unknown"].tolist() == [False, True, True]


def test_predicting_needs_the_column(model):
    with pytest.raises(InputError, match="no column 'text' for the text"):
        predict_table(model, REVIEWS.to_frame(), "text")


class TestCopies:
    def table(self, times=5):
        return pd.concat([REVIEWS.to_frame()] * times, ignore_index=True)

    def test_copies_of_a_text_are_on_one_side_of_the_split(self):
        found = run(self.table())
        held_out = found.texts["held_out"].to_numpy().reshape(5, N)
        assert 0.1 < held_out.mean() < 0.3
        assert (held_out == held_out[0]).all()

    def test_a_copy_may_differ_in_case_space_and_punctuation(self):
        table = self.table(2)
        table.loc[N:, "review"] = table["review"][N:].map(lambda text: f"  {text.upper()}!!")
        held_out = run(table).texts["held_out"].to_numpy().reshape(2, N)
        assert (held_out[0] == held_out[1]).all()

    def test_the_summary_counts_them(self):
        assert run(self.table()).summary.copies == 4 * N
        assert run().summary.copies == 0

    def test_without_copies_the_split_is_the_documented_one(self):
        np.testing.assert_array_equal(run().texts["held_out"], ~training_rows(N))

    def test_held_out_skill_of_noise_stays_that_of_noise_when_reviews_are_repeated(self):
        table = REVIEWS.to_frame()
        table["rating"] = np.random.default_rng(0).permutation(table["rating"].to_numpy())
        repeated = pd.concat([table] * 8, ignore_index=True)
        assert run(repeated).only.summary.held_out.r2 < 0.1

    def test_copies_of_one_text_are_not_held_out(self):
        table = pd.DataFrame({"review": ["A clean room with a view."] * 40, "rating": np.arange(40) % 5 + 1})
        found = run(table)
        assert found.only.summary.held_out is None
        assert not found.texts["held_out"].any()


class TestMarkup:
    PAGE = '<div class="review"><script>alert("x")</script>{}&nbsp;<b>clean</b> room &amp; view<br/></div>'

    def test_html_is_not_in_the_themes(self):
        plain = run(table_of(review={i: f"{REVIEWS.texts[i]} clean room & view" for i in range(N)}))
        marked = run(table_of(review={i: self.PAGE.format(REVIEWS.texts[i]) for i in range(N)}))
        assert marked.model.terms_.tolist() == plain.model.terms_.tolist()
        assert not {"script", "class", "alert", "div", "nbsp", "amp"} & set(marked.model.terms_)
        np.testing.assert_array_equal(marked.texts["prediction"], plain.texts["prediction"])

    def test_the_summary_counts_texts_with_html(self):
        assert run(table_of(review={3: "<p>Clean.</p>", 5: "Fish &amp; chips"})).summary.with_markup == 2
        assert run().summary.with_markup == 0

    def test_html_is_removed_from_new_texts(self):
        model = run().model
        assert model.predict([self.PAGE.format("Dirty")]) == model.predict(["Dirty clean room & view"])
        explanation = model.explain("<i>Dirty</i> room")
        assert explanation.text == "Dirty room"
        assert [explanation.text[mark.start : mark.end] for mark in explanation.marks] == ["Dirty", "room"]

    def test_markup_may_be_kept(self):
        assert TextVectorizer().fit(["<em>clean</em>"]).terms_.tolist() == ["clean"]
        assert TextVectorizer(strip_markup=False).fit(["<em>clean</em>"]).terms_.tolist() == ["clean", "em"]


def test_each_text_is_tokenised_once_and_read_once(monkeypatch, tmp_path):
    """In the split, training, predictions, skill, texts.csv and drivers together."""
    tokenised, read = [], []

    def counting(of, calls, size):
        def counted(first, *arguments, **options):
            calls.append(size(first, *arguments))
            return of(first, *arguments, **options)

        return counted

    tokenise, read_together = observed.read_sentences, themes.read_together
    monkeypatch.setattr(observed, "read_sentences", counting(tokenise, tokenised, lambda texts, *_: len(texts)))
    monkeypatch.setattr(themes, "read_together", counting(read_together, read, lambda _, tokens, *__: len(tokens)))
    analyse(table_of(), replace(COLUMNS, by="hotel"), model_of()).write(tmp_path)
    assert tokenised == [N]
    assert read == [N]
