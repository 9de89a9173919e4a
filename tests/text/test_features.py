"""Words, negated words and phrases, and what each occurrence carries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textsignal.text.content import content_terms
from textsignal.text.features import NEGATED, NEGATED_PHRASE, PHRASE, WORD, learn_features, unit_roots, weigh
from textsignal.text.tokenise import stop_words
from textsignal.text.units import read_sentences

TEXTS = st.lists(
    st.lists(st.sampled_from(["clean", "room", "not", "very", "dirty.", "staff,"]), max_size=9).map(" ".join),
    min_size=1,
    max_size=6,
)


def weighed(texts, read=None):
    read = read_sentences(texts) if read is None else read
    features = learn_features(read, 1, phrases=True)
    found = features.find(read)
    return read, features, found, weigh(found, features, read.documents[read.sentence_of_word], len(read))


@given(TEXTS)
def test_rows_have_norm_one_and_occurrences_add_up_to_them(texts):
    read, _, found, result = weighed(texts)
    norms = np.sqrt(np.asarray(result.matrix.multiply(result.matrix).sum(axis=1)))
    assert np.allclose(norms[np.diff(result.matrix.indptr) > 0], 1)
    dense = np.zeros(result.matrix.shape)
    np.add.at(dense, (read.documents[read.sentence_of_word][found.words], found.features), result.values)
    np.testing.assert_allclose(dense, result.matrix.toarray(), atol=1e-12)
    assert result.counts.sum() == len(found.words)


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
    features = learn_features(read, 2, phrases=True)
    assert list(features.names) == ["desk", "front", "front desk"]
    assert PHRASE not in learn_features(read, 1, phrases=False).kinds


def test_features_of_new_texts_are_those_that_were_learnt():
    _, features, _, _ = weighed(["not clean", "front desk"])
    found = features.find(read_sentences(["The front desk was not clean", "unknown words", ""]))
    assert {features.names[j] for j in found.features} == {"desk", "front", "front desk", "not", "not clean"}


def test_an_empty_row_stays_empty():
    _, features, _, result = weighed(["clean", ""])
    assert unit_roots(result.counts, features.sizes)[[1]].nnz == 0


def test_content_says_what_a_text_is_about():
    read = read_sentences(["I really don't like 10 dirty rooms, not at all! The staff said very little."] * 3)
    assert content_terms(read, "english", stop_words("english"), 100, 1) == ["dirty", "rooms", "staff"]
    assert content_terms(read, "english", stop_words("english"), 1, 1) == ["dirty"]
    assert content_terms(read, "english", stop_words("english"), 100, 4) == []


@given(TEXTS, TEXTS)
def test_features_are_found_by_their_names_whatever_the_numbers_of_words(learnt, texts):
    features = learn_features(read_sentences(learnt), 1, phrases=True)
    read = read_sentences(texts)
    found = features.find(read)
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
