"""The compiled pass gives what plain Python gives, bit for bit."""

import numpy as np
import plain_reading
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_tokens import assert_same_tokens

from textsignal.errors import InputError
from textsignal.text.cleaning import without_markup
from textsignal.text.tokenise import words
from textsignal.text.tokens import SentenceTexts, Vocabulary, _normalised, read_sentences, tokenised

#: Characters at which rules part, pieces of words among them, and some that have it in them.
NASTY = [
    *" .!?…,;:-–—'’\"”»)]([*•▪\n\r\t_\v\x1c\x1f\x85\xa0\u2028\u3000\u200b\u200c\u200d\ufeff\xad\ufe0f",
    *"aAzZsSnNéÉßøØŁİıſKΣσς0159²½①٣",
    *"。！？।、，：ﬁ…‥‼″¨™№℃´‘ʼ\u0301\u0307\u0323\u0e33\u0916\u093c한\u1100\u1161\u11a8漢ｱﾞﷺ",
    *"👍🏽👩💻🇩🇪❤☹❶⃣🅰😀\ud800\U000e0001\x00<&>",
    *["not ", "don't ", "n't", "etc.", "e.g.", "Mr.", "no. ", "U.S. ", "1. ", "A. ", "'s ", "B.Bb", "wasn’t ", " - "],
    *["the room ", "was ", "good", "dirty ", "but ", " and ", "nothing ", "it ", "staff ", "however, ", "Mais ", "la "],
    *["&amp;", "<br>", "word " * 30, "a," * 20, "ab - cd ; " * 9],
]
TEXTS = st.lists(st.lists(st.sampled_from(NASTY), max_size=40).map("".join), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
def test_parts_together_are_as_if_read_at_once(parts, in_arrow):
    def read(texts):
        return read_sentences(pa.array(texts, pa.large_string()) if in_arrow else texts, "english", without_markup)

    if in_arrow:
        parts = [[text.encode("utf-8", "replace").decode() for text in part] for part in parts]
    kept = [[text for text in part if "a" in text] for part in parts]
    rows = [np.flatnonzero(["a" in text for text in part]) for part in parts]
    found = SentenceTexts.together([read(part).at(own) for part, own in zip(parts, rows, strict=True)])
    assert_same_tokens(found, read([text for part in kept for text in part]))


@settings(max_examples=250, deadline=None)
@given(TEXTS, st.sampled_from(["english", "french", "klingon"]), st.sampled_from([str, without_markup, str.title]))
def test_sentences_and_words_are_those_of_plain_python(texts, language, clean):
    assert_same_tokens(read_sentences(texts, language, clean), plain_reading.read_sentences(texts, language, clean))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_characters_are_read_as_plain_python_reads_them(texts):
    assert_same_tokens(read_sentences(texts), plain_reading.read_sentences(texts))


def test_characters_all_over_unicode_are_read_as_plain_python_reads_them():
    codes = [*range(0x250), *range(0x250, 0x3400, 11), *range(0xFE00, 0x10000, 11), *range(0x1F000, 0x1FB00, 11)]
    texts = [f"Ab{chr(code)}cd {chr(code)} not {chr(code)}e. {chr(code)}\n{chr(code)} f.{chr(code)}" for code in codes]
    assert_same_tokens(read_sentences(texts), plain_reading.read_sentences(texts))
    tokens = tokenised(texts)
    assert [[tokens.words[code] for code in part] for part in np.split(tokens.codes, tokens.indptr[1:-1])] == [
        words(text) for text in texts
    ]


@given(TEXTS)
def test_tokenised_texts_hold_the_words_of_each(texts):
    tokens = tokenised(texts)
    parts = np.split(tokens.codes, tokens.indptr[1:-1]) if texts else []
    assert [[tokens.words[code] for code in part] for part in parts] == [words(text) for text in texts]
    assert list(tokens.words) == list(dict.fromkeys(word for text in texts for word in words(text)))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_blocks_and_threads_change_nothing(monkeypatch, n_jobs):
    texts = [f"Not clean {i % 7}0. Room {i}, <b>not</b> word{i % 11} café Σ{i}!" for i in range(200)] + ["", "x" * 3000]
    expected = plain_reading.read_sentences(texts, clean=without_markup)
    monkeypatch.setattr("textsignal.text.tokens.BLOCK_BYTES", 500)
    assert_same_tokens(read_sentences(texts, clean=without_markup, n_jobs=n_jobs), expected)


@pytest.mark.parametrize("run", [". ", "a.", "\n", ",", "a ", " ", "a\n", "….", "a.B", "A", '."', ". \n", "1.", " -"])
def test_hostile_texts_are_read_as_plain_python_reads_them(run):
    texts = [run * 300, run * 300 + "x"]
    assert_same_tokens(read_sentences(texts), plain_reading.read_sentences(texts))
    assert len(read_sentences([run * 500_000]).texts) == 1


def test_a_document_of_a_million_words_and_empty_ones():
    read = read_sentences(["", "clean room " * 500_000, "", " "])
    assert read.n_words.tolist() == [0, 1_000_000, 0, 0]
    assert read.documents.tolist() == [1]


def test_few_texts_need_python_to_normalise_them(monkeypatch):
    texts = ["Café – “nice”… 5″ no; 👍🏽❤️ 20€ n°2 naïve, it’s a ‘test’ ™ ²"[:k] for k in range(20)] + [
        "cafe\u0301",
        "ΟΔΟΣ",
    ]
    normalised = []

    def recorded(sentence):
        normalised.append(sentence)
        return _normalised(sentence)

    monkeypatch.setattr("textsignal.text.tokens._normalised", recorded)
    read_sentences(texts)
    assert normalised == texts[-2:]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_texts_may_lie_in_arrow(kind):
    texts = ["Clean room. Not <b>noisy</b>!", "", "Café 👍🏽", "a &amp; b", "cafe\u0301"]
    expected = plain_reading.read_sentences(texts, clean=without_markup)
    array = pa.array(["left out", *texts], pa.string()).cast(kind)
    assert_same_tokens(read_sentences(array[1:], clean=without_markup), expected)
    chunked = pa.chunked_array([array[1:3], array[3:]])
    read = read_sentences(chunked, clean=without_markup)
    assert_same_tokens(read, expected)
    assert read.texts[0] == "Clean room. Not noisy!"
    assert list(read.texts[1:3]) == ["", "Café 👍🏽"]
    assert tokenised(chunked, clean=without_markup).words == tokenised(texts, clean=without_markup).words


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (pa.array(["fine", None]), "text 2 is a NoneType"),
        (pa.array([b"fine"]), "of type binary"),
        (pa.array([1, 2]), "of type int64"),
        (pa.array([b"fine", b"\xff"]).view(pa.string()), "damaged"),
    ],
)
def test_arrow_without_texts_is_refused(array, problem):
    with pytest.raises(InputError, match=problem):
        read_sentences(array)


def test_batches_number_words_as_all_texts_at_once():
    texts = [f"Room {i % 5} was not word{i * 7 % 13} café." for i in range(40)]
    vocabulary = Vocabulary()
    batches = [read_sentences(texts[start : start + 9]) for start in range(0, 40, 9)]
    codes = [vocabulary.number(batch.words)[batch.codes] for batch in batches]
    at_once = read_sentences(texts)
    assert vocabulary.words == list(at_once.words)
    assert len(vocabulary) == len(at_once.words)
    np.testing.assert_array_equal(np.concatenate(codes), at_once.codes, strict=True)
