"""Explanations: every part adds up, words stand where they stood, and hostile texts are shown as text."""

import html
import io
import re
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn.exceptions import NotFittedError

from textsignal import GLMNMF, JBNMF, TextResponseModel, TextVectorizer, TopicModel
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.estimators import TopicEstimator
from textsignal.insight.explanation import CLAUSE_CAP, MOST_BARS, SHOWN, TEXT_CAP, adding_up
from textsignal.text.tokenise import function_words_of, normalise

REVIEWS = synthetic_reviews(1000, seed=6)
ESTIMATORS: dict[str, TopicEstimator] = {
    "predictive": GLMNMF(8, training="predictive", max_epochs=3, n_jobs=1),
    "with single words": GLMNMF(8, word_residual=True, max_epochs=3, n_jobs=1),
    "joint": GLMNMF(8, training="joint", max_iter=30, n_jobs=1),
    "the paper's": JBNMF(8, alpha=0.1, max_iter=30, n_jobs=1),
}
HOSTILE = "<script>alert('x')</script> & \"quoted\" friendly <3 staff </p> \x1b[31m dirty\x00 [bold]room[/] \ud83d"


@pytest.fixture(scope="module", params=ESTIMATORS)
def model(request):
    return TopicModel(ESTIMATORS[request.param]).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def of_themes():
    return TextResponseModel(8).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module", params=["themes", "predictive"])
def one(request, of_themes):
    """Themes and topics are shown in one way."""
    if request.param == "themes":
        return of_themes
    return TopicModel(ESTIMATORS["predictive"]).fit(REVIEWS.texts, REVIEWS.ratings)


def terminal(explanation, **options):
    console = Console(file=io.StringIO(), width=80, **options)
    console.print(explanation)
    return console.file.getvalue()


def test_contributions_sum_to_the_linear_predictor_on_a_thousand_texts(model):
    predictions = model.predictions(REVIEWS.texts)
    worst = 0.0
    # Only words beyond topics differ between the models; the others are checked on every fifth text.
    step = 1 if getattr(model.estimator_, "word_residual", False) else 5
    for text, eta in list(zip(REVIEWS.texts, predictions.eta, strict=True))[::step]:
        explanation = model.explain(text)
        total = explanation.baseline + explanation.themes["contribution"].sum() + explanation.beyond
        worst = max(worst, abs(total - eta), abs(explanation.linear_predictor - eta))
    assert len(predictions.eta) == 1000
    assert worst < 1e-10


def test_words_and_marks_sum_to_the_contributions_of_topics(model):
    for text in REVIEWS.texts[:100]:
        explanation = model.explain(text)
        added = explanation.themes["contribution"].sum() + explanation.beyond
        assert explanation.words["contribution"].sum() == pytest.approx(added, abs=1e-10)
        assert sum(mark.contribution for mark in explanation.marks) == pytest.approx(added, abs=1e-10)


def test_topics_are_spread_over_words_by_their_share(model):
    text = "Friendly staff, but the bathroom was dirty and dirty again."
    explanation = model.explain(text)
    X = sp.csr_array(model.vectorizer_.transform([text]))
    x, scaled = (rows.toarray()[0] for rows in (X, model.estimator_.inference.rows(X)))
    w, H = model.transform([text])[0], model.estimator_.components_
    contribution = explanation.themes.set_index("theme")["contribution"].sort_index().to_numpy()
    pull = w[:, None] * H * x / (w @ H)
    expected = contribution @ (pull / pull.sum(axis=1, keepdims=True)) + scaled * model.estimator_.word_effects_
    for row in explanation.words.itertuples():
        column = model.vectorizer_.vocabulary_[row.word]
        assert row.contribution == pytest.approx(expected[column])
        assert row.theme == np.argmax(w * H[:, column])
        assert row.count == {"dirty": 2}.get(row.word, 1)
    assert set(explanation.words["word"]) == {model.vectorizer_.terms_[j] for j in np.flatnonzero(x)}


def test_topics_are_those_of_the_table_of_topics(model):
    explained = model.explain(REVIEWS.texts[0]).themes.sort_values("theme")
    table = model.topics().sort_values("topic")
    assert explained["label"].tolist() == table["label"].tolist()
    np.testing.assert_array_equal(explained["effect"], table["effect"])
    np.testing.assert_allclose(explained["contribution"], explained["weight"] * explained["effect"])
    assert (explained["contribution"].sort_index().abs().diff().dropna() <= 0).all()


def test_prediction_and_probabilities_are_those_of_the_model(model):
    text = REVIEWS.texts[3]
    explanation = model.explain(text)
    assert explanation.prediction == model.predict([text])[0]
    np.testing.assert_array_equal(explanation.probabilities, model.predict_proba([text])[0])
    assert explanation.probabilities.index.tolist() == [1, 2, 3, 4, 5]
    assert explanation.baseline_prediction == pytest.approx(1 + 4 / (1 + np.exp(-explanation.baseline)))


def test_single_precision_adds_up_too():
    model = TopicModel(ESTIMATORS["predictive"], TextVectorizer(dtype=np.float32))
    model.fit(REVIEWS.texts, REVIEWS.ratings)
    for text in REVIEWS.texts[:50]:
        explanation = model.explain(text)
        total = explanation.baseline + explanation.themes["contribution"].sum() + explanation.beyond
        assert total == pytest.approx(explanation.linear_predictor, abs=1e-10)


@pytest.mark.parametrize("text", ["xylophone zeppelin", "", "the and of", " \n"])
def test_a_text_without_a_known_term_is_taken_as_an_average_text(model, text):
    explanation = model.explain(text)
    assert explanation.unknown
    assert explanation.words.empty
    assert all(mark.contribution == 0 for mark in explanation.marks)
    assert explanation.prediction == pytest.approx(explanation.baseline_prediction)
    assert explanation.unknown_words == tuple(word for word in text.split() if word not in {"the", "and", "of"})
    for shown in (repr(explanation), explanation._repr_html_(), terminal(explanation)):
        assert "taken as an average text" in " ".join(shown.split())
    assert "mean weights" not in repr(model.explain("Friendly staff"))


def test_unknown_words_are_listed_once(one):
    explanation = one.explain("Xylophone staff, the xylophone and a zeppelin.")
    assert explanation.unknown_words == ("xylophone", "zeppelin")
    assert "Not in the model: xylophone, zeppelin" in repr(explanation)


def test_marks_hold_the_words_where_they_stand(one):
    text = "Great STAFF!\nThe staﬀ’s bathroom, co\u00adoperate 👍🏽 bathroom"
    explanation = one.explain(text)
    places = [text[mark.start : mark.end] for mark in explanation.marks]
    assert [word for word in places if word != "The"][:4] == ["Great", "STAFF", "staﬀ", "bathroom"]
    added = {row.word: row.contribution for row in explanation.words.itertuples()}
    marked = {}
    for mark in explanation.marks:
        word = normalise(text[mark.start : mark.end])
        marked[word] = marked.get(word, 0) + mark.contribution
    assert added
    for word, contribution in added.items():
        assert marked[word] == pytest.approx(contribution)


def test_terms_of_several_words_are_spread_over_them():
    vectorizer = TextVectorizer(max_terms=300, ngram_range=(1, 2), stop_words=None)
    model = TopicModel(ESTIMATORS["joint"], vectorizer)
    model.fit(REVIEWS.texts, REVIEWS.ratings)
    text = REVIEWS.texts[0]
    explanation = model.explain(text)
    assert any(" " in word for word in explanation.words["word"])
    added = explanation.themes["contribution"].sum()
    assert explanation.words["contribution"].sum() == pytest.approx(added)
    assert sum(mark.contribution for mark in explanation.marks) == pytest.approx(added)


def test_words_that_a_tokenizer_changes_are_explained_though_not_marked():
    def stems(text):
        return [f"#{word.lower()[:4]}" for word in text.split()]

    model = TopicModel(ESTIMATORS["joint"], TextVectorizer(tokenizer=stems))
    explanation = model.fit(REVIEWS.texts, REVIEWS.ratings).explain(REVIEWS.texts[0])
    assert explanation.words["contribution"].abs().sum() > 0
    assert all(mark.start == mark.end for mark in explanation.marks)
    assert REVIEWS.texts[0].split()[0] in terminal(explanation)


# How it is shown


def lists_of(shown):
    """Name, numbers and sum of each list of a text form."""
    lists = re.findall(r"^(\w+), in ([\w ]+)\n((?:  [+-].*\n)+)= (\S+)  sum$", shown, re.MULTILINE)
    return [
        (name, [Decimal(line.split()[0]) for line in lines.splitlines()], Decimal(total))
        for name, _, lines, total in lists
    ]


@pytest.mark.parametrize("number", range(12))
def test_every_list_adds_up_on_the_screen(one, number):
    """Digit by digit, to the difference between the two means of the headline."""
    explanation = one.explain(REVIEWS.texts[number])
    found = lists_of(repr(explanation))
    assert [name for name, *_ in found] == ["Clauses", "Themes", "Words"][explanation.clauses is None :]
    expected, baseline = (Decimal(mean) for mean in re.findall(r"\d+\.\d\d", repr(explanation).splitlines()[0]))
    for _, numbers, total in found:
        assert sum(numbers) == total == expected - baseline
    page, screen = explanation._repr_html_(), terminal(explanation)
    for _, numbers, total in found:
        assert all(f"{each:+f}".replace("-0.00", "+0.00") in page for each in (*numbers, total))
        assert all(f"{each:+f}".replace("-0.00", "+0.00") in screen for each in (*numbers, total))


def test_lists_of_a_share_are_in_percentage_points():
    model = TextResponseModel(4).fit(REVIEWS.texts, REVIEWS.ratings > 3).name_response("recommended")
    explanation = model.explain("Friendly staff, but a dirty bathroom.")
    found, head = lists_of(repr(explanation)), repr(explanation).splitlines()[0]
    expected, baseline = (Decimal(mean) for mean in re.findall(r"(\d+\.\d)%", head))
    assert head.startswith("Expected share with recommended True: ")
    assert "in percentage points" in repr(explanation)
    assert len(found) == 3
    for _, numbers, total in found:
        assert sum(numbers) == total == expected - baseline


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12), st.floats(0, 100), st.sampled_from([0, 1, 2, 3]))
def test_rounded_numbers_add_up_and_are_those_next_to_the_numbers(values, start, digits):
    end = start + sum(values)
    total = round(round(end, digits) - round(start, digits), digits)
    rounded = adding_up(np.array(values), total, digits)
    assert rounded.sum() == pytest.approx(total, abs=1e-9)
    assert np.abs(rounded - values).max() <= 10.0**-digits + 1e-9


def test_the_html_shows_the_whole_text_with_signs(one):
    text = "Friendly staff,\nbut a dirty bathroom & no towels."
    explanation = one.explain(text)
    shown = explanation._repr_html_()
    paragraph = re.search(r"<p style=.*?</p>", shown, re.DOTALL)[0]
    assert html.unescape(re.sub(r"<sup>.</sup>|<.*?>", "", paragraph)) == text
    assert {"<sup>+</sup>", "<sup>−</sup>"} <= set(re.findall(r"<sup>.</sup>", paragraph))
    for mark in re.findall(r'title="(.*?)">(.*?)<sup>(.)</sup>', paragraph):
        assert mark[0][0] == {"+": "+", "−": "-"}[mark[2]]


def test_the_beginning_of_a_long_text_is_shown_and_all_of_it_counts(one):
    text = "Friendly staff. " * 2000
    explanation = one.explain(text + "Dirty bathroom.")
    shown = html.unescape(re.sub(r"<sup>.</sup>|<[^>]*>", "", explanation._repr_html_()))
    assert text[:TEXT_CAP].rstrip() in shown
    assert len(shown) < TEXT_CAP + 2000
    assert f"the first {TEXT_CAP:,} of {len(explanation.text):,} characters" in shown
    assert "dirty" in set(explanation.words["word"])


def test_hostile_texts_are_shown_as_text(one):
    explanation = one.explain(HOSTILE)
    page = explanation._repr_html_()
    assert "script" not in page
    assert "&lt;3 " in page
    assert set(re.findall(r"</?(\w+)", page)) <= {
        "div",
        "p",
        "b",
        "mark",
        "sup",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    for form in (page, repr(explanation), terminal(explanation)):
        assert "\x1b" not in form
        assert "\x00" not in form
        form.encode("utf-8")
    assert "[bold]" in terminal(explanation)


def test_hostile_labels_are_shown_as_text(of_themes):
    named = of_themes.rename({k: f"<img src=x onerror=alert({k})>[red]\x1b[31m" for k in range(8)})
    explanation = named.explain("The bathroom was filthy.")
    assert (explanation.clauses["theme"] < 8).all()
    assert "<img" not in explanation._repr_html_()
    assert "[red]" in terminal(explanation)
    assert "\x1b" not in terminal(explanation)


def test_the_terminal_form_has_signs_without_colour(one):
    explanation = one.explain("Friendly staff, but a dirty bathroom.")
    plain = terminal(explanation)
    signs = {mark.contribution > 0: "+" if mark.contribution > 0 else "-" for mark in explanation.marks}
    strongest = max(explanation.marks, key=lambda mark: abs(mark.contribution))
    assert signs[strongest.contribution > 0] + explanation.text[strongest.start : strongest.end] in plain
    assert f"Expected response {explanation.prediction:.2f}" in plain
    assert [line.split()[0] for line in plain.splitlines() if "%" in line] == ["1", "2", "3", "4", "5"]
    assert "\x1b" not in plain
    coloured = terminal(explanation, force_terminal=True, color_system="standard")
    assert "\x1b[32m" in coloured
    assert "\x1b[31m" in coloured


def test_a_wide_scale_is_shown_without_bars():
    model = TopicModel(GLMNMF(3, levels=(1, 60), max_epochs=1, n_jobs=1))
    explanation = model.fit(REVIEWS.texts, REVIEWS.ratings).explain(REVIEWS.texts[0])
    assert len(explanation.probabilities) > MOST_BARS
    assert "%" not in terminal(explanation)


def test_few_themes_are_all_shown_and_many_are_summed_up():
    few = TopicModel(JBNMF(2, max_iter=5)).fit(REVIEWS.texts, REVIEWS.ratings)
    assert "more theme" not in repr(few.explain(REVIEWS.texts[0]))
    many = TextResponseModel(SHOWN + 6).fit(REVIEWS.texts, REVIEWS.ratings)
    explanation = many.explain(" ".join(REVIEWS.texts[:20]))
    themes = explanation.themes[explanation.themes["points"].abs() >= 0.005]
    assert len(themes) > SHOWN
    shown = repr(explanation)
    assert all(f"  {label}  (" in shown for label in themes["label"][:SHOWN])
    more = len(themes) - SHOWN
    assert f"  {more} more theme{'s' * (more > 1)}\n" in shown


def test_the_largest_clauses_are_shown_in_reading_order(of_themes):
    explanation = of_themes.explain(" ".join(REVIEWS.texts[:5]))
    clauses = explanation.clauses
    assert len(clauses) > SHOWN
    largest = clauses.loc[clauses["points"].abs().sort_values(ascending=False, kind="stable").index[:SHOWN]]
    lines = repr(explanation).split("Themes, in")[0].splitlines()[2:]
    listed = [line.split("  ")[2] for line in lines[:SHOWN]]
    assert listed == [" ".join(clause.split())[:CLAUSE_CAP] for clause in largest.sort_index()["clause"]]
    assert lines[SHOWN].endswith(f"{len(clauses) - SHOWN} more clauses")


def test_function_words_do_not_lead_a_theme(of_themes):
    for text in REVIEWS.texts[:50]:
        for words in of_themes.explain(text).themes["words"]:
            of_language = set(words) & function_words_of("english")
            assert of_language in (set(), set(words))


# Bad input


def test_an_input_that_is_not_a_text_is_an_error(one):
    for text in (None, 5, ["a list"]):
        with pytest.raises(InputError, match="every text must be a string"):
            one.explain(text)


def test_a_model_that_is_not_fitted_raises():
    with pytest.raises(NotFittedError):
        TextResponseModel().explain("text")
