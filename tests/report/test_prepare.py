"""Content of a report, checked against the model and the documents themselves."""

import base64
import zlib
from dataclasses import replace

import numpy as np
import pytest
from small_reviews import HELD_OUT, N_TRAINING, REVIEWS, SETTINGS, N, prepare

from textsignal.errors import InputError
from textsignal.evaluation import metrics as evaluate
from textsignal.report.values.cards import TEXT_CAP, segments, stretch
from textsignal.text.cleaning import masked_characters


@pytest.fixture(scope="module")
def report(model):
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def test_cards_are_the_drivers_of_all_documents_the_largest_cost_first_the_verdict_last(report, model):
    table = model.drivers(texts=REVIEWS.texts, responses=REVIEWS.ratings, n_terms=15)
    table = table.sort_values(["is_overall", "cost"], ascending=[True, False], kind="stable")
    assert [theme.number for theme in report.themes] == table["theme"].tolist()
    assert [theme.is_overall for theme in report.themes] == [False] * 6 + [True]
    means = ("mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere")
    each = ("cost_per_complaint", "gain_per_praise", "share_of_low", "share_of_gap")
    for theme, row in zip(report.themes, table.itertuples(), strict=True):
        assert (theme.label, list(theme.terms)) == (row.label, row.terms)
        for name in ("mentions", "share", "praise", "complaints", "neutral", "cost", "gain"):
            assert getattr(theme, name) == pytest.approx(getattr(row, name), abs=1e-12)
        for name in (*means, *each):
            value = getattr(theme, name)
            assert (np.nan if value is None else value) == pytest.approx(getattr(row, name), nan_ok=True)
        assert list(theme.raises) == list(getattr(row, "raises", []))
        assert list(theme.lowers) == list(getattr(row, "lowers", []))
        assert theme.coherence == (None if theme.is_overall else model.coherence_[theme.number])


def test_documents_that_mention_a_theme(report, model):
    mentions = model.read(REVIEWS.texts).mentions
    for theme in report.themes:
        here, k = mentions.mentioned[:, theme.number], theme.number
        assert theme.texts == here.sum()
        assert theme.mentions == pytest.approx(here.mean())
        for rows, mean, bars in (
            (here, theme.mean_mention, theme.responses),
            (~here, theme.mean_elsewhere, theme.responses_elsewhere),
            (mentions.complains[:, k], theme.mean_complaint, ()),
            (mentions.praises[:, k], theme.mean_praise, ()),
        ):
            ratings = REVIEWS.ratings[rows]
            assert mean == (pytest.approx(ratings.mean()) if ratings.size else None)
            found = [bar.value for bar in bars]
            shares = [np.mean(ratings == level) for level in range(1, 6)] if ratings.size else []
            assert not bars or not shares or found == pytest.approx(shares)


def quoted(excerpt):
    return "".join(segment.text for segment in excerpt)


def test_quotes_are_of_their_documents_none_twice(report):
    for theme in report.themes:
        for quotes in (theme.praising, theme.complaining):
            assert len({quote.row for quote in quotes}) == len(quotes)
        for quote in (*theme.praising, *theme.complaining):
            row = quote.row - 1
            text = quoted(quote.clause)
            assert text in REVIEWS.texts[row]
            assert (quote.response, quote.held_out) == (REVIEWS.ratings[row], HELD_OUT[row])
            if quote.around:
                assert text in quoted(quote.around)
                assert [segment.text for segment in quote.around if segment.mark == "here"] == [text]


def test_clauses_shown_are_clear_cases_of_the_theme_and_their_words_are_marked_by_tone(report, model):
    zone, reading = model.reader_.fitted.words.zone, model.read(REVIEWS.texts).clauses
    texts, n_terms = reading.texts, np.diff(reading.units.indptr)
    some = 0
    for theme in report.themes:
        for quotes, good, mark in ((theme.praising, True, "up"), (theme.complaining, False, "down")):
            expected = model.find_clauses(theme.number, n=3, good=good, texts=REVIEWS.texts, responses=REVIEWS.ratings)
            assert [quoted(quote.clause) for quote in quotes] == expected["clause"].tolist()
            for quote, judgement in zip(quotes, expected["judgement"], strict=True):
                assert judgement > zone.high if good else judgement < zone.low
                assert any(segment.mark == mark for segment in quote.clause)
                here = np.flatnonzero(texts.documents == quote.row - 1)
                spans = [texts.texts[quote.row - 1][start:end] for start, end in texts.spans[here].tolist()]
                (u,) = [u for u, clause in zip(here.tolist(), spans, strict=True) if clause == quoted(quote.clause)]
                assert reading.clauses.places[u] == theme.number
                assert n_terms[u] > 0 or theme.is_overall
                some += 1
    assert some


ADDRESSES = ("ann.lee@example.com", "+1 (555) 123-4567", "0171 1234567")


@pytest.mark.parametrize("mask", [True, False])
def test_addresses_and_phone_numbers_are_masked_wherever_texts_are_shown(model, mask):
    first, *others = ADDRESSES
    behind = f" The staff of {' or '.join(others)} were rude, I wrote to {first} about the dirty room."
    texts = [f"{first}: {text}{behind}" for text in REVIEWS.texts]
    reading = model.read(texts)
    report = prepare(model, reading, REVIEWS.ratings, HELD_OUT, replace(SETTINGS, mask=mask))
    quotes = [quote for theme in report.themes for quote in (*theme.praising, *theme.complaining)]
    excerpts = [quoted(one) for quote in quotes for one in (quote.clause, quote.around)]
    browsed = zlib.decompress(base64.b64decode(report.browse.columns["texts"])).decode()
    assert all(any(address in shown for shown in excerpts) != mask for address in ADDRESSES)
    for shown in ("\n".join(excerpts), "\n".join(report.examples), browsed):
        for part, sign in (("example", "[e-mail]"), ("123", "[phone]")):
            assert (part in shown) != mask
            assert (sign in shown) == mask
    plain = prepare(model, reading, REVIEWS.ratings, HELD_OUT, replace(SETTINGS, mask=not mask))
    no_quotes = {"praising": (), "complaining": ()}
    assert [replace(theme, **no_quotes) for theme in report.themes] == [
        replace(theme, **no_quotes) for theme in plain.themes
    ]
    assert all(report.browse.columns[name] == plain.browse.columns[name] for name in ("themes", "points", "left"))


def test_a_mask_is_cut_neither_by_marks_nor_by_the_ends_of_an_excerpt():
    text = "Mail ann.lee@example.com today."
    marks = ["up" if 9 <= i < 12 else "down" if 13 <= i < 20 else "" for i in range(len(text))]
    shown = masked_characters(text)
    assert [piece.text for piece in segments(shown, marks)] == ["Mail [e-mail]", " today."]
    assert [piece.text for piece in segments(shown[:10], marks[:10])] == ["Mail [e-mail]"]
    assert [piece.text for piece in segments(shown[10:], marks[10:])] == [" today."]


def test_long_texts_are_cut_to_a_stretch_around_the_clause():
    text = "word " * 400 + "dirty bathroom " * 20 + "word " * 400
    start, end = stretch(text, 2000, 2300)
    assert 500 < end - start <= TEXT_CAP
    assert start <= 2000 < 2300 <= end
    assert text[start - 1] == text[end] == " "
    assert stretch("short", 0, 5) == (0, 5)
    assert stretch("x" * 5000, 10, 4990, cap=100) == (10, 110)


def test_skill_is_that_of_the_model(report, model):
    ours = report.prediction.rows[0]
    new = slice(N_TRAINING, None)
    predicted = model.predict(REVIEWS.texts[new])
    assert report.prediction.held_out
    assert ours.held_out.texts == N - N_TRAINING
    assert ours.held_out.r2 == pytest.approx(evaluate.r2_score(REVIEWS.ratings[new], predicted))
    # Of themes, training texts are predicted by fits that left them out.
    known = model.read(REVIEWS.texts[:N_TRAINING]).mentions
    unseen = known.family.mean(known.eta)
    assert ours.training.r2 == pytest.approx(evaluate.r2_score(REVIEWS.ratings[:N_TRAINING], unseen))
    assert ours.training.r2 <= model.score(REVIEWS.texts[:N_TRAINING], REVIEWS.ratings[:N_TRAINING]) + 1e-9
    assert ours.gap == pytest.approx(ours.training.r2 - ours.held_out.r2)
    rows = {row.name: row for row in report.prediction.rows}
    assert list(rows) == ["this model", "ridge", "linear", "mean"]
    assert rows["mean"].training.r2 == pytest.approx(0)
    assert rows["ridge"].held_out.r2 > rows["mean"].held_out.r2
    assert rows["linear"].training.r2 >= rows["ridge"].training.r2 - 0.01


def test_the_documents_are_described(report, model):
    described = report.summary
    assert (described.texts, described.training, described.held_out) == (N, N_TRAINING, N - N_TRAINING)
    assert described.terms == len(model.terms_)
    assert described.median_words == np.median(model.read(REVIEWS.texts).n_words)
    counts = np.diff(model.read(REVIEWS.texts).X.tocsc().indptr)
    assert {word.texts for word in described.cloud} <= set(counts)
    assert max(word.texts for word in described.cloud) == counts.max()
    reading = model.read(REVIEWS.texts)
    clauses, unseen = reading.clauses.texts, reading.unseen
    unplaced = unseen.places == 7
    assert (described.clauses, described.unplaced) == (len(clauses.documents), unplaced.sum())
    assert described.neutral == (~unplaced & (unseen.kinds == 0)).sum()
    shares = reading.clauses.shares
    assert described.unplaced_share == pytest.approx(shares[:, -1].mean(), abs=1e-12)
    assert [word.term for word in described.cloud] == sorted(word.term for word in described.cloud)


def test_copies_are_counted_and_held_out_ones_that_training_has_seen(model):
    texts = [*REVIEWS.texts[:5], *REVIEWS.texts[:3], "Something else altogether."]
    held_out = [False] * 5 + [True, True, False, True]
    documents = prepare(model, model.read(texts), np.full(9, np.nan), held_out).summary
    assert (documents.copies, documents.leaked) == (len(texts) - len(set(texts)), 2)


def test_nothing_is_read_again(model, monkeypatch):
    reading = model.read(REVIEWS.texts)
    for name in ("read", "tokenise"):
        monkeypatch.setattr(type(model.reader_), name, lambda *_: pytest.fail("read again"))
    assert len(prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS).themes) == 7


def test_responses_may_be_missing_and_texts_unknown(model):
    ratings = np.where(np.arange(N) % 3 == 0, np.nan, REVIEWS.ratings)
    texts = ["", "xylophone", *REVIEWS.texts[2:]]
    report = prepare(model, model.read(texts), ratings, HELD_OUT)
    assert report.summary.without_response == np.isnan(ratings).sum()
    assert report.summary.without_known_term == 2
    known = HELD_OUT & ~np.isnan(ratings)
    assert report.prediction.rows[0].held_out.texts == known.sum()


def test_without_any_response_there_is_no_skill(model):
    report = prepare(model, model.read(REVIEWS.texts), np.full(N, np.nan))
    assert report.prediction is None
    assert all(theme.mean_mention is None for theme in report.themes)


def test_without_held_out_documents_skill_is_that_of_training(model):
    prediction = prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings).prediction
    assert not prediction.held_out
    assert all(row.held_out is None and row.gap is None for row in prediction.rows)


def test_training_skill_far_above_held_out_skill_is_warned_of(model):
    ratings = REVIEWS.ratings.copy()
    reading = model.read(REVIEWS.texts)
    far_above = "Training skill is far above held-out skill"
    warnings = [" ".join(prepare(model, reading, ratings, HELD_OUT).findings.warnings)]
    ratings[N_TRAINING:] = np.random.default_rng(0).permutation(ratings[N_TRAINING:])
    warnings.append(" ".join(prepare(model, reading, ratings, HELD_OUT).findings.warnings))
    warnings.append(" ".join(prepare(model, reading, ratings).findings.warnings))
    assert [far_above in warning for warning in warnings] == [False, True, False]


def test_without_training_documents_there_are_no_baselines(model):
    report = prepare(model, model.read(REVIEWS.texts[N_TRAINING:]), REVIEWS.ratings[N_TRAINING:], HELD_OUT[N_TRAINING:])
    assert [row.name for row in report.prediction.rows] == ["this model"]
    assert report.prediction.rows[0].training is None


def test_labels_of_the_users_own_are_used_and_told_apart(model):
    model = model.rename({0: "Beds", 1: "Be\x00ds"})
    names = {theme.number: theme.label for theme in prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings).themes}
    assert names[0] == "Beds"
    assert names[1] == "Be␀ds"


@pytest.mark.parametrize(
    ("texts", "ratings", "held_out", "message"),
    [
        (["a", "b"], [1.0], None, "2 texts, but 1 responses"),
        (["a", "b"], [1.0, 2.0], [True], "2 texts, but held_out has 1 flags"),
        ([], None, None, "a report needs at least one text"),
        (["a"], [7.0], None, "not one of the levels 1 to 5"),
    ],
)
def test_what_does_not_fit_together_is_an_error(model, tmp_path, texts, ratings, held_out, message):
    with pytest.raises(InputError, match=message):
        model.report(tmp_path / "report.html", texts=texts, responses=ratings, held_out=held_out)
