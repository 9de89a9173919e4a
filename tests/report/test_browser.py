"""Data for the page's scripts, checked against the model, the documents and Python's `re`."""

import base64
import re
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, N, prepare

from textsignal.errors import InputError
from textsignal.insight.explanation import slope_of
from textsignal.report.values import browser
from textsignal.report.values.texts import bins_of_levels

GROUPS = pd.Series(["inn", "hotel <b>", None, "Ü " + "x" * 100], dtype=object).sample(N, replace=True, random_state=0)
DATES = pd.Series(np.datetime64("2020-01-01") + np.arange(N)).where(np.arange(N) % 7 > 0)


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


def lines(report, name):
    return unpacked(report.browse.columns[name]).decode().split("\n")


def numbers(report, name, dtype):
    return np.frombuffer(unpacked(report.browse.columns[name]), dtype)


def texts_of(report):
    """The texts, each in its clauses and what is behind the last of them."""
    texts = unpacked(report.browse.columns["texts"]).decode().split(browser.NEXT_TEXT)
    return [text.split(browser.CLAUSE_END) for text in texts]


@pytest.fixture(scope="module")
def reading(model):
    return model.read(REVIEWS.texts)


@pytest.fixture(scope="module")
def report(model, reading):
    return prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS, groups=GROUPS, times=DATES)


def test_how_texts_speak_of_themes_is_what_the_cards_count(report):
    how = numbers(report, "stances", np.uint8).reshape(N, -1)
    assert how.shape[1] == len(report.themes)
    for theme in report.themes:
        here = how[:, theme.number]
        mentioned, praises, complains = (here & bit > 0 for bit in browser.STANCES.values())
        assert mentioned.sum() == theme.texts
        assert not (praises | complains)[~mentioned].any()
        assert mentioned.mean() == pytest.approx(theme.mentions)
        assert complains.mean() == pytest.approx(theme.complaints)
        assert praises.mean() == pytest.approx(theme.praise)
        assert (mentioned & ~praises & ~complains).mean() == pytest.approx(theme.neutral)
    assert (how == sum(browser.STANCES.values())).any()  # one may do both


def test_every_text_is_there_with_its_facts(report, reading):
    assert ["".join(pieces) for pieces in texts_of(report)] == list(reading.texts)
    assert lines(report, "rows") == [str(row + 1) for row in range(N)]
    assert lines(report, "responses") == [f"{rating:g}" for rating in REVIEWS.ratings]
    assert lines(report, "predictions") == [f"{mean:.1f}" for mean in reading.predictions.mean]
    assert lines(report, "dates") == ["" if i % 7 == 0 else str(DATES[i].date()) for i in range(N)]
    assert numbers(report, "heldOut", np.uint8).tolist() == HELD_OUT.tolist()
    assert report.browse.groups == tuple(sorted({str(group) for group in GROUPS if group}))
    names = (None, *report.browse.groups)
    assert [names[number] for number in numbers(report, "groups", "<u4")] == GROUPS.tolist()


def test_responses_are_found_by_the_bars_of_the_histogram(report):
    counts = np.bincount(numbers(report, "levels", np.uint8), minlength=6)
    assert report.bins.labels == ("1", "2", "3", "4", "5")
    assert counts.tolist() == [0, *(round(bar.value * N) for bar in report.summary.responses)]


def test_many_levels_are_found_by_bins_and_a_missing_response_by_none():
    responses = np.array([0.0, 50, 100, np.nan, 5, 4.9])
    assert (bins_of_levels(np.arange(101.0)).numbers(responses) + 1).tolist() == [1, 11, 20, 0, 2, 1]


def test_clauses_are_those_of_the_reading_with_tone_that_has_not_seen_the_response(model):
    reading = model.read(REVIEWS.texts)
    report = prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS)
    clauses, mentions, effects = reading.clauses, reading.mentions, model.reader_.fitted.effects
    points, documents = numbers(report, "points", "<f8"), clauses.texts.documents
    assert [len(pieces) - 1 for pieces in texts_of(report)] == np.bincount(documents, minlength=N).tolist()
    places = numbers(report, "themes", "<u2")
    assert places.tolist() == clauses.clauses.places.tolist()
    kinds = numbers(report, "kinds", np.int8)
    assert kinds.tolist() == reading.unseen.kinds.tolist()
    # Clauses of a text add up to what the tone of each of its themes adds, and its complaints to what complaints add.
    baselines = effects.baseline(reading.unseen.evidence)
    pairs = zip(baselines.tolist(), mentions.eta.tolist(), strict=True)
    slopes = np.array([slope_of(model.reader_.family, *pair) for pair in pairs])
    of_sides = {"tone": np.ones(len(kinds), dtype=bool), "complaint": kinds < 0, "praise": kinds > 0}
    for side, chosen in of_sides.items():
        sums = np.zeros((N, mentions.n_themes + 1))
        np.add.at(sums, (documents[chosen], places[chosen]), points[chosen])
        expected = getattr(mentions, side) * slopes[:, None]
        np.testing.assert_allclose(sums[:, :-1], expected, rtol=0, atol=1e-10)
    # It is not the tone that has seen it.
    seen = np.bincount(documents, weights=clauses.clauses.tone, minlength=N)[~HELD_OUT]
    unseen = np.bincount(documents, weights=reading.unseen.tone, minlength=N)[~HELD_OUT]
    assert not np.allclose(seen, unseen, atol=1e-3)


def test_of_many_documents_the_same_are_drawn_in_their_order(model, reading):
    reports = [
        prepare(model, reading, REVIEWS.ratings, HELD_OUT, replace(SETTINGS, n_documents=50), groups=GROUPS)
        for _ in range(2)
    ]
    assert reports[0].browse == reports[1].browse
    assert reports[0].browse.n_texts == 50
    rows = [int(row) for row in lines(reports[0], "rows")]
    assert rows == sorted(set(rows))
    assert rows[-1] > 100
    assert ["".join(pieces) for pieces in texts_of(reports[0])] == [REVIEWS.texts[row - 1] for row in rows]


@pytest.mark.parametrize("n_documents", [-1, 5001])
def test_a_page_holds_no_more_than_5000_documents(model, reading, n_documents):
    settings = replace(SETTINGS, n_documents=n_documents)
    with pytest.raises(InputError, match="between 0 and 5,000 texts"):
        prepare(model, reading, REVIEWS.ratings, HELD_OUT, settings)


@pytest.mark.parametrize("change", [{"with_texts": False}, {"n_documents": 0}])
def test_without_texts_there_is_nothing_to_look_through(model, reading, change):
    assert prepare(model, reading, REVIEWS.ratings, HELD_OUT, replace(SETTINGS, **change)).browse is None


def test_long_texts_are_cut_between_words_or_sentences(model):
    odd = "a\x01b\x02c\x00 \ud800 line\r\nbreak. Second sentence."
    texts = ["The bed was dirty. " * 5000, "x" * 10_000, odd, "", *REVIEWS.texts[:20]]
    ratings = np.array([1.0, np.nan, 3, 4, *REVIEWS.ratings[:20]])
    report = prepare(model, model.read(texts), ratings)
    shown = ["".join(pieces) for pieces in texts_of(report)]
    assert (len(shown), report.browse.n_cut, report.browse.no_response) == (24, 2, True)
    left = numbers(report, "left", "<u4")
    cleaned = model.read(texts).texts
    for text, part, rest in list(zip(cleaned, shown, left, strict=True))[:2]:
        assert len(part) <= browser.LONGEST
        assert text.startswith(part)
        assert len(part) + rest == len(text)
    assert shown[0].endswith(("bed", "was", "dirty.", "The"))
    assert shown[2] == "a␁b␂c␀ � line\nbreak. Second sentence."
    assert left[2:].tolist() == [0] * 22
    assert len(numbers(report, "themes", "<u2")) == sum(len(pieces) - 1 for pieces in texts_of(report))


def test_space_is_what_python_takes_for_space():
    spaces = re.compile(f"[{browser.SPACE}]")
    assert all(bool(spaces.match(chr(code))) == chr(code).isspace() for code in range(0x11000))


def test_digits_are_what_python_takes_for_digits():
    others = re.compile(f"[{browser.DIGITS}]")
    assert all(
        (bool(others.match(chr(code))) or chr(code).isdecimal()) == chr(code).isdigit() for code in range(0x110000)
    )


def test_what_both_languages_write_alike_is_left_alone():
    for pattern in (r"a[.,;!?\])]+(?:b|c){2,}", r"(?<=[.!])(?<!x{2})\.", r"(?=•)[^<>]*"):
        assert browser.javascript(pattern) == pattern


def test_classes_groups_and_possessive_quantifiers_are_rewritten():
    assert browser.javascript(r"(?P<a>[\w'])*+") == r"(?<a>[\p{L}\p{N}_'])*"
    assert browser.javascript(r"\w++\d") == r"[\p{L}\p{N}_]+[\p{Nd}]"
    assert browser.javascript(r"[^\W\d_]") == r"[\p{L}\p{Nl}\p{No}]"
