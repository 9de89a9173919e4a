"""Where sentences begin and end."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.text.sentences import LONGEST
from textsignal.text.tokens import read_sentences


def sentence_spans(text):
    # Without lists of words, sentences are not cut into clauses.
    return read_sentences([text], "klingon").spans.tolist()


def parts(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lovely lobby. The room smelled.", ["Lovely lobby.", "The room smelled."]),
        ("no capitals. still two sentences", ["no capitals.", "still two sentences"]),
        ("no punctuation at all in this one", ["no punctuation at all in this one"]),
        ("Great!!! Really?! Yes.", ["Great!!!", "Really?!", "Yes."]),
        ("Great location... small rooms…friendly staff", ["Great location...", "small rooms…", "friendly staff"]),
        ("Missing space.The room was fine.", ["Missing space.", "The room was fine."]),
        ("Mr. Smith of St. Louis met Dr. Jones.", ["Mr. Smith of St. Louis met Dr. Jones."]),
        ("Towels, soap, etc. were missing. Bad.", ["Towels, soap, etc. were missing.", "Bad."]),
        ("We ate pasta, pizza etc. The staff smiled.", ["We ate pasta, pizza etc.", "The staff smiled."]),
        ("Pasta, pizza etc.  The staff smiled.", ["Pasta, pizza etc.", "The staff smiled."]),
        ("Arrived at 3 p.m. and left. Fine.", ["Arrived at 3 p.m. and left.", "Fine."]),
        ("A 4.5 out of 5. Room 12. Nice", ["A 4.5 out of 5.", "Room 12.", "Nice"]),
        ("Stay in room no. 5 only.", ["Stay in room no. 5 only."]),
        ("Would I go back? No. Never.", ["Would I go back?", "No.", "Never."]),
        ("1. Clean\n2. Quiet\n3. Cheap", ["1. Clean", "2. Quiet", "3. Cheap"]),
        ("Pros:\n- staff\n- pool\n\nCons:\n- noise", ["Pros:", "- staff", "- pool", "Cons:", "- noise"]),
        ("• staff • pool", ["• staff", "• pool"]),
        ("a line that\nis wrapped. Next.", ["a line that\nis wrapped.", "Next."]),
        ('He said "great." Then left.', ['He said "great."', "Then left."]),
        ("房间很干净。早餐不好！", ["房间很干净。", "早餐不好！"]),
        ("कमरा साफ था। खाना ठीक था।", ["कमरा साफ था।", "खाना ठीक था।"]),
        ("الغرفة نظيفة؟ نعم.", ["الغرفة نظيفة؟", "نعم."]),
        ("Loved it 😀😀 Would return", ["Loved it 😀😀 Would return"]),
        ("👍", ["👍"]),
        ("www.hotel.com is down", ["www.hotel.com is down"]),
        ("", []),
        ("   ", []),
        ("...", []),
        ("!!! ??? ...", []),
    ],
)
def test_sentences_of_reviews(text, expected):
    assert parts(text) == expected


def test_a_very_long_run_is_cut_at_its_commas():
    text = ", ".join(["the room was clean and the bed was soft"] * 12)
    found = parts(text)
    assert 3 <= len(found) <= 12
    assert all(len(part.split()) <= 30 for part in found)
    assert parts(", ".join(["clean", "quiet", "cheap"])) == ["clean, quiet, cheap"]


def test_a_very_long_run_without_any_punctuation_is_one_sentence():
    assert len(parts("clean room " * 5 * LONGEST)) == 1


@given(st.text(alphabet="aB. !?\n,…•0👍。é'", max_size=60))
def test_sentences_are_in_order_do_not_overlap_and_hold_every_word(text):
    spans = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    inside = {i for start, end in spans for i in range(start, end)}
    assert all(i in inside for i, letter in enumerate(text) if letter.isalnum())


def test_hostile_texts_take_no_longer_than_their_length():
    for run in (". ", "a.", "\n", ",", "a ", " ", "a\n", "….", "a.B", "A", '."', ". \n", "1."):
        text = run * 200_000
        assert len(sentence_spans(text)) <= 200_000
        assert len(sentence_spans(text + "x")) <= 200_001
