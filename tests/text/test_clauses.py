"""Where clauses begin and end inside sentences, and how they are joined."""

from itertools import pairwise

import numpy as np
import plain_reading
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_tokens import assert_same_tokens

from textsignal.text.clauses import clause_kinds, refers_back
from textsignal.text.cleaning import without_markup
from textsignal.text.scanning import APART, CONTRAST, CONTRASTED, JOINED, JOINING, NAMING, NEGATING, OPINION, VERB
from textsignal.text.shards import read_shard, write_shard
from textsignal.text.tokenise import AVAILABLE_LANGUAGES, normalise, words
from textsignal.text.tokens import SentenceTexts, read_sentences

#: Languages with lists of words that start clauses, by a word of contrast of each.
CONTRASTS = {
    "english": "but",
    "german": "aber",
    "french": "mais",
    "spanish": "pero",
    "russian": "но",
    "korean": "하지만",
}


def cut(text, language="english"):
    read = read_sentences([text], language)
    return [text[start:end] for start, end in read.spans.tolist()], read.joined.tolist()


@pytest.mark.parametrize(
    ("language", "clauses"),
    [
        ("english", ["Lovely lobby,", "but the room smelled."]),
        ("english", ["The staff were friendly", "and the breakfast was great."]),
        ("english", ["The room was clean,", "the bathroom was dirty."]),
        ("english", ["Great location", "although it was noisy at night."]),
        ("english", ["Nice ambience,", "terrible food."]),
        ("english", ["The food was good", "but not great."]),
        ("english", ["I liked the view;", "the bar was closed."]),
        ("english", ["The room was small", "yet the bed was comfortable."]),
        ("english", ["Great room,", "would stay again."]),
        ("english", ["The room was fine,", "never again."]),
        ("english", ["Rooms are dated,", "staff are rude."]),
        ("english", ["The trails are beautiful,", "while the playground is broken."]),
        ("english", ["Two small pools;", "no bar."]),
        ("spanish", ["El cuarto era grande", "y el baño estaba sucio."]),
        ("klingon", ["The room was clean;", "the bathroom was dirty."]),
        ("german", ["Das Zimmer war sauber,", "aber das Bad war schmutzig."]),
        ("german", ["Das Personal war freundlich", "und das Frühstück war lecker."]),
        ("german", ["Die Lage ist super,", "jedoch war es nachts laut."]),
        ("german", ["Schönes Zimmer,", "aber unfreundliches Personal."]),
        ("french", ["La chambre était propre", "mais la salle de bain était sale."]),
        ("french", ["Le personnel était aimable", "et le petit déjeuner était excellent."]),
        ("french", ["Bel hôtel,", "mais service très lent."]),
        ("spanish", ["La habitación era grande", "pero el baño estaba sucio."]),
        ("spanish", ["El personal fue amable,", "aunque el desayuno era pobre."]),
        ("spanish", ["Buena ubicación", "pero mucho ruido."]),
        ("italian", ["La camera era pulita", "ma il bagno era sporco."]),
        ("italian", ["Il personale era gentile,", "però la colazione era scarsa."]),
        ("italian", ["Bella vista", "ma servizio lento."]),
        ("dutch", ["De kamer was schoon", "maar de badkamer was vies."]),
        ("dutch", ["Het personeel was vriendelijk", "en het ontbijt was lekker."]),
        ("dutch", ["Mooi hotel,", "maar erg duur."]),
        ("portuguese", ["O quarto era limpo", "mas o banheiro estava sujo."]),
        ("portuguese", ["Os funcionários foram simpáticos,", "porém o café da manhã era fraco."]),
        ("portuguese", ["Boa localização", "mas muito barulho."]),
        ("russian", ["Номер был чистый,", "но ванная была грязная."]),
        ("polish", ["Pokój był czysty,", "ale łazienka była brudna."]),
        ("swedish", ["Rummet var rent", "men badrummet var smutsigt."]),
        ("turkish", ["Oda temizdi", "ama banyo çok kirliydi."]),
        ("greek", ["Το δωμάτιο ήταν καθαρό", "αλλά το μπάνιο ήταν βρώμικο."]),
        ("arabic", ["الغرفة نظيفة", "لكن الحمام كان قذرا"]),
        ("korean", ["방은 깨끗했다", "하지만 아침은 별로였다"]),
    ],
)
def test_a_sentence_of_two_judgements_is_two_clauses(language, clauses):
    found, joined = cut(" ".join(clauses), language)
    assert found == clauses
    first_word = words(clauses[1])[0]
    contrasts = clause_kinds([first_word], language)[0] & CONTRAST
    assert joined == [APART, CONTRASTED if contrasts else JOINED]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "Showers haven't been cleaned in weeks - total waste of money.",
            ["Showers haven't been cleaned in weeks", "total waste of money."],
        ),
        ("Great food - shame the coffee was cold.", ["Great food", "shame the coffee was cold."]),
        ("The pool was clean – a shame about the bar.", ["The pool was clean", "a shame about the bar."]),
        ("The bed was soft,i liked it.", ["The bed was soft,", "i liked it."]),
        ("The rooms were a 5, the bar was closed.", ["The rooms were a 5,", "the bar was closed."]),
        ("The beds were hard, a 2 star bar was closed.", ["The beds were hard,", "a 2 star bar was closed."]),
    ],
)
def test_a_dash_or_no_space_may_be_between_two_judgements(text, clauses):
    assert cut(text) == (clauses, [APART, JOINED])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "A friendly, attentive staff."),
        ("english", "Our tiny but delightful balcony."),
        ("english", "Nothing but praise for the staff."),
        ("english", "The staff and the manager were friendly."),
        ("english", "Clean and quiet."),
        ("english", "But the room smelled."),
        ("english", "The room was big, and clean."),
        ("english", "Room service; slow."),
        ("english", "The room was nothing but dirty."),
        ("german", "Das Personal und die Küche waren gut."),
        ("french", "Le personnel et la cuisine étaient bons."),
        ("spanish", "El personal y la cocina eran buenos."),
        ("klingon", "The room was clean, but the bathroom was dirty."),
        ("english", "We got in at 3:00 am."),
        ("english", "They said that the charge of $1,000 was wrong."),
    ],
)
def test_one_judgement_is_one_clause(language, text):
    assert cut(text, language) == ([text], [APART])


def test_a_sentence_that_opens_in_contrast_is_against_what_follows():
    clauses, joined = cut("Although the room was small, it was clean and we loved the view.")
    assert clauses[:2] == ["Although the room was small,", "it was clean"]
    assert joined[:3] == [APART, CONTRASTED, JOINED]


def test_clauses_of_several_sentences():
    text = "The lobby was lovely but the room smelled. Bed bugs! The staff were rude and the bar was closed."
    clauses, joined = cut(text)
    assert clauses == [
        "The lobby was lovely",
        "but the room smelled.",
        "Bed bugs!",
        "The staff were rude",
        "and the bar was closed.",
    ]
    assert joined == [APART, CONTRASTED, APART, APART, JOINED]


def test_the_scope_of_a_negation_ends_with_its_clause():
    read = read_sentences(["It was never clean but dirty rooms everywhere."])
    under = [read.words[code] for code in read.codes[read.under].tolist()]
    assert under == ["clean"]


def test_positions_are_those_of_the_text_without_markup():
    read = read_sentences(
        ["<p>The  lobby was lovely,\tbut the <b>room</b> &amp; bed smelled.</p>"], clean=without_markup
    )
    (text,) = read.texts
    assert [text[start:end] for start, end in read.spans.tolist()] == [
        "The  lobby was lovely,",
        "but the room & bed smelled.",
    ]


@pytest.mark.parametrize("accent", ["", "\u0301"])
def test_positions_of_characters_that_merge_with_their_neighbours(accent):
    text = f"The cafe{accent} was lovely\u200b, but the ro\u00adom smelled."
    assert cut(text)[0] == [f"The cafe{accent} was lovely\u200b,", "but the ro\u00adom smelled."]


#: Pieces of sentences at which the rules part, in several languages.
PIECES = [
    *("the room ", "was ", "clean ", "but ", "and ", "it ", "nothing ", "not ", "however, ", "staff ", "were rude "),
    *("plus ", "while ", "never ", "rooms ", "shame ", "would stay ", "i ", ",i ", "y ", "2 ", "el baño ", "Σ ", "'s "),
    *(
        ". ",
        ", ",
        "; ",
        "；",
        " - ",
        "– ",
        "—",
        "… ",
        "! ",
        "\n",
        "<br>",
        "cafe\u0301 ",
        "\u200b",
        "👍 ",
        "ﬁne ",
        "n't ",
    ),
    *("aber ", "das Zimmer ", "war ", "mais ", "la chambre ", "était ", "sale ", "і ", "лекин ", "但是 ", "。", "لكن "),
]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), max_size=4) | st.lists(
    st.text(max_size=40), max_size=3
)
LANGUAGES = st.sampled_from(["english", "german", "french", "spanish", "korean", "chinese", "klingon"])


@settings(max_examples=300)
@given(TEXTS, LANGUAGES)
def test_clauses_are_in_order_and_hold_the_words_of_the_text(texts, language):
    read = read_sentences(texts, language)
    whole = read_sentences(texts, "klingon")
    assert [read.words[code] for code in read.codes.tolist()] == [whole.words[code] for code in whole.codes.tolist()]
    np.testing.assert_array_equal(read.n_words, whole.n_words)
    # Each sentence is the union of its clauses, and begins with one that is apart.
    firsts = np.flatnonzero(read.joined == APART)
    lasts = np.append(firsts[1:], len(read.joined))[: len(firsts)] - 1
    found = np.column_stack([read.documents[firsts], read.spans[firsts, 0], read.spans[lasts, 1]]).tolist()
    assert found == [[i, *span] for i, text in enumerate(texts) for span in plain_reading.sentence_spans(text)]
    for document, text in enumerate(texts):
        spans = read.spans[read.documents == document].tolist()
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        inside = {i for start, end in spans for i in range(start, end)}
        assert all(i in inside for i in range(len(text)) if text[i].isalnum())
    assert set(read.joined.tolist()) <= {APART, JOINED, CONTRASTED}


@settings(max_examples=150)
@given(TEXTS, LANGUAGES)
def test_clauses_are_those_of_plain_python(texts, language):
    assert_same_tokens(read_sentences(texts, language), plain_reading.read_sentences(texts, language))


@settings(max_examples=60)
@given(TEXTS)
def test_languages_without_lists_are_cut_at_semicolons_alone(texts):
    read = read_sentences(texts, "klingon")
    for u in np.flatnonzero(read.joined != APART).tolist():
        assert ";" in normalise(texts[read.documents[u]][read.spans[u - 1, 0] : read.spans[u, 0]])
    assert not (read.joined == CONTRASTED).any()
    assert (clause_kinds(read.words, "klingon") == 0).all()


@settings(max_examples=60)
@given(st.lists(TEXTS, min_size=1, max_size=4), LANGUAGES)
def test_a_text_is_cut_the_same_whatever_other_texts_there_are(parts, language):
    read = [read_sentences(texts, language) for texts in parts]
    at_once = read_sentences([text for texts in parts for text in texts], language)
    assert_same_tokens(SentenceTexts.together(read), at_once)


@pytest.mark.parametrize("other", ["", "good", "The room was clean and the staff were kind."])
def test_a_sentence_without_opinion_is_cut_the_same_next_to_others(other):
    text = "Ten minutes by tram but many stairs."
    read = read_sentences([text, other])
    assert read.spans[read.documents == 0].tolist() == read_sentences([text]).spans.tolist()


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=6), st.data())
def test_some_of_the_texts_keep_how_clauses_are_joined(texts, data):
    read = read_sentences(texts)
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6)), dtype=np.int64)
    own = read_sentences([texts[i] for i in rows])
    np.testing.assert_array_equal(read.at(rows).joined, own.joined, strict=True)
    between = read.between(0, len(texts))
    np.testing.assert_array_equal(between.joined, read.joined, strict=True)
    np.testing.assert_array_equal(np.diff(between.ends).sum(), len(read.joined))


def test_shards_keep_how_clauses_are_joined(tmp_path):
    texts = ["The lobby was lovely, but the room smelled. It was old and the bar was closed.", "", "Clean."]
    read = read_sentences(texts)
    stored, _ = read_shard(write_shard(read, {}, tmp_path / "texts.shard"))
    np.testing.assert_array_equal(stored.joined, read.joined, strict=True)
    assert stored.joined.tolist() == [APART, CONTRASTED, APART, JOINED, APART]


def test_kinds_of_words():
    kinds = dict(
        zip(
            listed := ["but", "and", "was", "dirty", "room", "not", "xyzzy", "the"],
            clause_kinds(listed, "english"),
            strict=True,
        )
    )
    assert kinds["but"] & CONTRAST
    assert kinds["and"] & JOINING
    assert kinds["was"] & VERB
    assert kinds["dirty"] & OPINION
    assert kinds["not"] & NEGATING
    assert kinds["room"] & NAMING
    assert kinds["xyzzy"] & NAMING
    assert not kinds["the"] & NAMING


@pytest.mark.parametrize(("language", "word"), CONTRASTS.items())
def test_every_language_has_its_words_of_contrast(language, word):
    assert clause_kinds([word], language)[0] & CONTRAST


def test_all_languages_with_stop_words_have_words_of_contrast():
    # A clause is cut in each of them; the lists are read from one file.
    from textsignal.text.clauses import _LISTS

    assert set(_LISTS["contrast"]) == set(AVAILABLE_LANGUAGES)


def test_words_that_refer_to_the_clause_before():
    assert refers_back(["it", "room", "which"], "english").tolist()[:2] == [True, False]
    assert not refers_back(["it"], None).any()
    assert not refers_back(["it"], "klingon").any()
