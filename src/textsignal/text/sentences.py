"""Rules that cut a text into sentences, shared by the compiled pass and the page's scripts."""

import re

_TITLES = """
    mr mrs ms dr prof st mt ft vs jr sr fr no nr approx apt ave blvd rd bldg dept inc ltd tel ca bzw
"""
_SHORT = "etc e.g i.e eg ie a.m p.m am pm u.s u.k d.h z.b usw min max hr hrs"
#: Words whose full stop does not end a sentence: before a name or a number; and before a small letter.
TITLES, SHORT_FORMS = frozenset(_TITLES.split()), frozenset(_SHORT.split())
STOPS, BULLETS = ".!?…", "•▪◦‣●"
#: Full stops of scripts without a space after them.
OTHER_STOPS = "。！？｡।॥؟۔።"
CLOSING = "\"'”’»)\\]"
CAPITALS, COMMAS, DASHES, QUOTES = "A-ZÀ-ÖØ-Þ", ",:、，：", "-–—", "'’"
#: What may stand before the number of a list's item.
BEFORE_ITEM = " \t([-*•"
#: Where a sentence may end: stops before a space, stops between a small and a capital letter, dots before a word, stops
#: of other scripts, line breaks and bullets. One set of characters comes first, which `re` finds much sooner than
#: alternatives; the rest looks back at the character found, and tries a run only at its first character.
END = re.compile(
    rf"[{STOPS}{OTHER_STOPS}\n{BULLETS}](?:"
    rf"(?<=[{STOPS}])(?<![{STOPS}]{{2}})(?P<stop>[{STOPS}]*[{CLOSING}]*)(?=\s|$)"
    rf"|(?<=[^\W\d_][{STOPS}])[{STOPS}]*(?=[{CAPITALS}][^\W\d_]*[a-z\s])"
    r"|(?:(?<=\.)(?<!\.\.)\.+|(?<=…)(?<!……)…*)(?=\w)"
    rf"|(?<=[{OTHER_STOPS}])[{OTHER_STOPS}]*[{CLOSING}]*"
    r"|(?<=\n)(?P<line>\s*)"
    rf"|(?P<bullet>(?<=[{BULLETS}]))"
    r")"
)
LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
WORD = re.compile(rf"\w[\w{QUOTES}]*")
#: A letter, a digit or a picture.
HELD = re.compile("[^\\W_]|[\u2040-\u205e\u2060-\u2fff\u3001-\U0010ffff]")
PAUSE = re.compile(rf"[{COMMAS}]+\s*|\s+[{DASHES}]+\s+")
#: A run of more than `LONGEST` words without a stop is cut at its pauses, into parts of about `PART` words.
LONGEST, PART = 40, 15
