"""E-mail addresses and phone numbers are masked; other numbers are not."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from textsignal.text.cleaning import EMAIL_MASK, PHONE_MASK, masked_characters

#: Pieces of which texts with addresses, numbers and their near misses are made.
PIECES = st.sampled_from(
    [
        *("ann.lee", "@", "example", ".com", "555-123-4567", "(555) 123 4567", "+44 20 7946 0958", "0171 1234567"),
        *(
            "5551234567",
            "0",
            "12",
            "+",
            "-",
            ".",
            "(",
            ")",
            "/",
            " ",
            ", ",
            "$",
            "01.02.2019",
            "x",
            "[",
            "]",
            "\n",
            "ü",
            "٣",
        ),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


def masked(text):
    return "".join(masked_characters(text))


@pytest.mark.parametrize(
    "address",
    ["ann@example.com", "Ann.Lee+trips@mail.example.co.uk", "a_b-c@ex-ample.museum", "jörg@müller.de", "1@2.io"],
)
@pytest.mark.parametrize("text", ["{}", "Write to {}.", "({})", "mailto:{}?", "Ask:{}, or come."])
def test_an_address_is_masked(text, address):
    assert masked(text.format(address)) == text.format(EMAIL_MASK)


@pytest.mark.parametrize(
    "number",
    [
        *("+1 (555) 123-4567", "555-123-4567", "555.123.4567", "(555) 123 4567", "+44 20 7946 0958", "0171 1234567"),
        *("004917612345678", "5551234567", "+15551234567", "1-800-555-1234", "(555)123-4567", "555 123 4567"),
        *("+44 (0)20 7946 0958", "020 7946 0958", "06 12 34 56 78", "06.12.34.56.78", "030/1234567", "(0171) 1234567"),
        *("555–123–4567", "917 545-4480", "1 (555) 123-4567", "+49 176 12345678"),
    ],
)
@pytest.mark.parametrize("text", ["{}", "Call {}.", "tel:{}, room 12", "Ann {} or Bob"])
def test_a_phone_number_is_masked(text, number):
    assert masked(text.format(number)) == text.format(PHONE_MASK)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "$1,250.00",
            "1.250,00 €",
            "$10000000000",
            "12/10/2019",
            "2019-05-01",
            "01.02.2019 10.00",
            "05/06/2019 3 4 5",
        ),
        *(
            "2019",
            "1.250,00 €",
            "2015–2025",
            "2020-2030",
            "1999/2000",
            "room 1204",
            "rooms 1146, 1145 and 1044",
            "5/5",
            "2x4",
        ),
        *(
            "9-5",
            "9:00-17:00",
            "0900-1700",
            "1700-1800",
            "90210",
            "70118-1234",
            "2x4",
            "33-25-37.5",
            "5'2, 110-115 lbs",
        ),
        *(
            "9/18/15-9/20/15",
            "01/15/19-01/18/19",
            "18.12.15-20.12.15",
            "1,000,000 stars",
            "1111111111111",
            "10000000000",
        ),
        *("0.1234567891", "order #1234567890", "abc1234567890", "12345678901234567890", "wine@5", "Hotel@Times Square"),
        *("2 drinks@9.99 each", "@ 5.30", "me @ home.", "p7099298", "+1", "5+ 10", "192.168.100.100", "(2019) 300-400"),
    ],
)
def test_other_numbers_are_kept(text):
    assert masked(text) == text
    assert masked(f"We had {text}, again.") == f"We had {text}, again."


@given(TEXTS)
@example("5551234567.5551234567")
@example("(555) 123-4567joe@example.com")
def test_masking_twice_is_masking_once(text):
    assert masked(masked(text)) == masked(text)


@given(st.text(st.characters(exclude_characters="@")))
def test_a_text_without_at_signs_and_with_few_digits_is_kept(text):
    few = re.sub(r"\d", "", text) + "123-456"
    assert masked(few) == few


@given(TEXTS, st.data())
def test_a_stretch_is_cut_by_positions_in_the_text_itself(text, data):
    characters = masked_characters(text)
    cut = data.draw(st.integers(0, len(text)))
    assert len(characters) == len(text)
    assert "".join(characters[:cut]) + "".join(characters[cut:]) == masked(text)
    assert all(shown in (own, "", EMAIL_MASK, PHONE_MASK) for shown, own in zip(characters, text, strict=True))


@pytest.mark.parametrize("text", ["a" * 200_000, "1" * 200_000, "a@" * 50_000, "1-" * 50_000, "x@" + "a." * 50_000])
def test_no_text_takes_long(text):
    assert masked(text) == text


def test_masked_numbers_do_not_hide_their_neighbours():
    assert masked("555-123-4567/555-123-4568") == f"{PHONE_MASK}/{PHONE_MASK}"
    assert masked("5551234567.5551234568") == f"{PHONE_MASK}.{PHONE_MASK}"
