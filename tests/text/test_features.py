"""Words, negated words and phrases, and what each occurrence carries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.compute.engines.local import LocalEngine
from textsignal.text.features import NEGATED, NEGATED_PHRASE, PHRASE, WORD, content_terms, count_texts, learn_features
from textsignal.text.tokenise import stop_words
from textsignal.text.tokens import read_sentences

TEXTS = st.lists(
    st.lists(st.sampled_from(["clean", "room", "not", "very", "dirty.", "staff,"]), max_size=9).map(" ".join),
    min_size=1,
    max_size=6,
)


ENGINE = LocalEngine()


def learnt(read, least, *, phrases=True):
    return learn_features(read.words, count_texts(read, ENGINE), least, phrases=phrases)


def weighed(texts):
    read = read_sentences(texts)
    features = learnt(read, 1)
    return read, features, *features.read(read, ENGINE)


@given(TEXTS)
def test_occurrences_carry_equal_parts_of_rows_that_have_norm_one(texts):
    read, features, found, counts = weighed(texts)
    roots = features.sizes * np.sqrt(counts.toarray())
    norm = np.linalg.norm(roots, axis=1, keepdims=True)
    rows = read.documents[found.sentences]
    dense = np.zeros(roots.shape)
    np.add.at(dense, (rows, found.features), found.values)
    np.testing.assert_allclose(dense, roots / np.where(norm > 0, norm, 1), atol=1e-12)
    np.testing.assert_allclose(found.values * counts.toarray()[rows, found.features], dense[rows, found.features])
    np.testing.assert_array_equal(read.sentence_of_word[found.words], found.sentences)
    assert counts.sum() == len(found.words)
    assert counts.has_sorted_indices


@given(TEXTS)
def test_blocks_add_up_to_the_whole(texts):
    _, features, found, counts = weighed(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textsignal.text.features.BLOCK_WORDS", 2)
        _, other, in_blocks, counts_of_blocks = weighed(texts)
    assert list(features.names) == list(other.names)
    for name in ("words", "sentences", "features", "values"):
        np.testing.assert_array_equal(getattr(found, name), getattr(in_blocks, name))
    assert abs(counts - counts_of_blocks).nnz == 0


def test_tone_of_sentences_is_that_of_their_occurrences():
    read, features, found, _ = weighed(["Not clean. Front desk.", "clean room", ""])
    effects, fits = np.random.default_rng(0).normal(size=(2, len(features))), np.array([1, -1, 0])
    expected = np.zeros(3)
    for sentence, feature, value in zip(found.sentences, found.features, found.values, strict=True):
        expected[sentence] += value * effects[fits[sentence], feature] * (fits[sentence] >= 0)
    np.testing.assert_allclose(found.tone_of_sentences(effects, fits), expected)
    assert expected[0] != 0 != expected[2]
    assert len(read.documents) == 3


def test_of_too_many_features_those_in_most_documents_stay(monkeypatch):
    monkeypatch.setattr("textsignal.text.features.MOST_FEATURES", 3)
    texts = ["front desk", "front desk", "front desk", "clean room", "clean", "room"]
    assert list(learnt(read_sentences(texts), 1).names) == ["desk", "front", "front desk"]


def test_a_negated_word_counts_as_that_alone_and_its_negation_as_itself():
    _, features, found, _ = weighed(["not clean", "clean", "why not?"])
    kinds = sorted((features.names[j], int(features.kinds[j])) for j in found.features)
    assert kinds == [
        ("clean", WORD),
        ("not", WORD),
        ("not", WORD),
        ("not clean", NEGATED),
        ("not clean", PHRASE),
        ("why", WORD),
        ("why not", PHRASE),
    ]


def test_a_phrase_under_a_negation_is_one_of_its_own_and_function_words_are_not_negated():
    _, features, found, _ = weighed(["I would not stay at home", "stay at home"])
    kinds = {(features.names[j], int(features.kinds[j])) for j in found.features}
    assert {("not stay", NEGATED), ("at", WORD), ("not home", NEGATED), ("stay", WORD)} <= kinds
    assert {("not stay at", NEGATED_PHRASE), ("stay at", PHRASE), ("not at home", NEGATED_PHRASE)} <= kinds
    assert ("not at", NEGATED) not in kinds
    assert features.sizes[features.is_phrase].max() < features.sizes[~features.is_phrase].min()


def test_phrases_stay_within_a_sentence_and_rare_features_are_left_out():
    read = read_sentences(["Front desk. Room clean.", "Front desk.", "Lobby"])
    features = learnt(read, 2)
    assert list(features.names) == ["desk", "front", "front desk"]
    assert PHRASE not in learnt(read, 1, phrases=False).kinds


def test_features_of_new_texts_are_those_that_were_learnt():
    _, features, _, _ = weighed(["not clean", "front desk"])
    found, _ = features.read(read_sentences(["The front desk was not clean", "unknown words", ""]), ENGINE)
    assert {features.names[j] for j in found.features} == {"desk", "front", "front desk", "not", "not clean"}


def test_an_empty_row_stays_empty():
    _, _, _, counts = weighed(["clean", ""])
    assert counts[[1]].nnz == 0


def content(read, limit, least):
    counts = count_texts(read, ENGINE)
    return content_terms(read.words, counts, "english", stop_words("english"), limit, least)


def test_content_says_what_a_text_is_about():
    read = read_sentences(["I really don't like 10 dirty rooms, not at all! The staff said very little."] * 3)
    assert content(read, 100, 1) == ["dirty", "rooms", "staff"]
    assert content(read, 1, 1) == ["dirty"]
    assert content(read, 100, 4) == []


@given(TEXTS, TEXTS)
def test_features_are_found_by_their_names_whatever_the_numbers_of_words(known, texts):
    features = learnt(read_sentences(known), 1)
    read = read_sentences(texts)
    found, _ = features.read(read, ENGINE)
    numbers = {(name, int(kind)): j for j, (name, kind) in enumerate(zip(features.names, features.kinds, strict=True))}
    word = [read.words[code] for code in read.codes]
    expected = set()
    for p in range(len(word)):
        if read.negated[p]:
            expected.add((p, numbers.get((f"not {word[p]}", NEGATED))))
        else:
            expected.add((p, numbers.get((word[p], WORD))))
        if p not in read.indptr:
            phrase, under = f"{word[p - 1]} {word[p]}", read.under[p - 1] and read.under[p]
            expected.add((p, numbers.get((f"not {phrase}", NEGATED_PHRASE) if under else (phrase, PHRASE))))
    assert set(zip(found.words.tolist(), found.features.tolist(), strict=True)) == {
        (p, number) for p, number in expected if number is not None
    }


def test_no_texts_hold_no_features():
    _, features, _, _ = weighed(["not clean"])
    found, counts = features.read(read_sentences([]), ENGINE)
    assert len(found.words) == 0
    assert counts.shape == (0, len(features))
