"""Markup goes, text stays, and no text makes it slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.text.cleaning import without_markup
from textsignal.text.tokenise import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>Great</p><p>food</p>", ["great", "food"]),
        ("clean<br>quiet<br/>cheap<BR />near", ["clean", "quiet", "cheap", "near"]),
        ("<li>bed<li>bath", ["bed", "bath"]),
        ("won<b>der</b>ful", ["wonderful"]),
        ('<a href="x.html" title="a > b">link</a>', ["link"]),
        ("<div class='x' data-y=\"z\">text</div>", ["text"]),
        ("<script>alert('class');</script>fine", ["fine"]),
        ("<SCRIPT type='text/javascript'>if (a < b && c > d) {}</SCRIPT >fine", ["fine"]),
        ("<style>.class { color: red }</style>fine", ["fine"]),
        ("good<!-- hidden - words -- here -->bad", ["good", "bad"]),
        ("<!DOCTYPE html><?xml version='1.0'?>fine", ["fine"]),
        ("caf&eacute; &#39;quoted&#x27; fish&nbsp;chips", ["café", "quoted", "fish", "chips"]),
        ("didn&#39;t work &amp; wasn&rsquo;t clean", ["didn't", "work", "wasn't", "clean"]),
        ("dirty&lt;br /&gt;loud", ["dirty", "loud"]),
        ("<scripted>text</scripted>", ["text"]),
        ("<script>never closed", ["never", "closed"]),
    ],
)
def test_words_that_are_left(text, expected):
    assert words(without_markup(text)) == expected
    assert without_markup(text) != text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text",
        "I <3 this place",
        "a < b > c",
        "1<2 and 3>2",
        "R&D, B&B; Q&A",
        "&unknownthing; & &; &#;",
        "write to <me@example.com>",
        "<- here ->, <>, </>, < b>",
        "an open <b tag",
        "an open <!-- comment",
        "tom & jerry; x",
    ],
)
def test_what_only_looks_like_markup_is_left_alone(text):
    assert without_markup(text) == text


pieces = [
    "good ",
    "<3 ",
    "a < b ",
    "R&D ",
    "<p>",
    "</p>",
    "<br/>",
    "<b class='x'>",
    "</b>",
    "&eacute;",
    "&#39;",
    "&nbsp;",
]


@given(st.lists(st.sampled_from([*pieces, "<!-- x -->", "<script>a < b</script>", "<style>p {}</style>"])))
def test_once_is_enough(parts):
    once = without_markup("".join(parts))
    assert without_markup(once) == once


@given(st.lists(st.sampled_from(["good", "bad", "not clean", "50", "ünïcode"]), min_size=1))
def test_the_words_between_tags_are_the_words_of_the_text(parts):
    assert words(without_markup("<div><p>" + "</p>\n<p class='x'>".join(parts) + "</p></div>")) == words(
        " ".join(parts)
    )


@pytest.mark.parametrize(
    "part",
    [
        "<",
        "&",
        "<a",
        "<a'",
        '<a"',
        "<!--",
        "<!---",
        "<!----",
        "<script>",
        "<script",
        "</script",
        "<style><",
        "<script><",
        "&#",
        "&amp",
        "<![",
        "<?x",
        "<a/",
        "<b/x='>",
        "-->",
        "<!--<script>",
        "<a/'",
        '<a/"',
    ],
)
def test_a_million_characters_that_never_close(part):
    text = part * (1_000_000 // len(part))
    assert len(without_markup(text)) <= len(text)
    long = part + "x" * 1_000_000
    assert without_markup(long).endswith("x" * 1000)
    assert len(without_markup(part + " " * 1_000_000 + part)) > 0
