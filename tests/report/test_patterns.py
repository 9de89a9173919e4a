"""Patterns of Python for JavaScript."""

import re

from textsignal.report.values.browser import SPACE, javascript


def test_space_is_what_python_takes_for_space():
    spaces = re.compile(f"[{SPACE}]")
    assert all(bool(spaces.match(chr(code))) == chr(code).isspace() for code in range(0x11000))


def test_what_both_languages_write_alike_is_left_alone():
    for pattern in (r"a[.,;!?\])]+(?:b|c){2,}", r"(?<=[.!])(?<!x{2})\.", r"(?=•)[^<>]*"):
        assert javascript(pattern) == pattern


def test_classes_groups_and_possessive_quantifiers_are_rewritten():
    assert javascript(r"(?P<a>[\w'])*+") == r"(?<a>[\p{L}\p{N}_'])*"
    assert javascript(r"\w++\d") == r"[\p{L}\p{N}_]+[\p{Nd}]"
    assert javascript(r"[^\W\d_]") == r"[\p{L}\p{Nl}\p{No}]"
