"""From a text to its words, and the lists of words that say too little to be terms."""

import re
import unicodedata
from collections.abc import Iterable

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from stop_words import AVAILABLE_LANGUAGES, LANGUAGE_MAPPING, get_stop_words

from textsignal.errors import InputError
from textsignal.text.negations import NEGATIONS, OPINION

# Accents and vowel signs written as characters of their own: `\w` alone would cut words in two at them.
MARKS = "".join(chr(code) for code in range(0x0300, 0x1D00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
_LETTER = rf"[\w{MARKS}]"
_APOSTROPHE = r"'(?!s\b)\w"  # with the letter after it; the possessive 's ends a word
# Groups are not possessive: Python 3.11.2 reads a possessive group around a lookahead wrongly.
_WORD = rf"\w(?:{_LETTER}|{_APOSTROPHE}){_LETTER}*+(?:{_APOSTROPHE}{_LETTER}*+)*"
# Clocks, symbols, stars, faces and things; not the skin tones (1F3FB to 1F3FF), which only modify.
PICTURE = "[\u231a-\u23ff\u2600-\u27bf\u2b1b-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
FLAG_PART = "[\U0001f1e6-\U0001f1ff]"
#: A word of a normalised text.
TOKEN = re.compile(rf"{_WORD}|{PICTURE}(?:\u200d{PICTURE})*|{FLAG_PART}{{2}}")

#: Punctuation behind which no word stands under a negation before it; a hyphen between spaces is such too.
PAUSE_MARKS = ".,;:!?()…–—、，；："

# What NFKC would spoil: it spells the signs as the words "tm", "sm" and "no", and cuts words at the accent.
REPLACED = dict.fromkeys("´‘’‛ʼ′", "'") | dict.fromkeys("™℠№", " ")
# Unseen parts of words and emoji: soft hyphen, non-joiner, variation selectors, skin tones.
_DROPPED = "\u00ad\u200c\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
ODD = re.compile(f"[{''.join(REPLACED)}{_DROPPED}]")

# Contractions that negate nothing; those in 's are for tokenizers that keep it.
_CONTRACTIONS = """
    i'm i'd i've i'll you're you'd you've you'll he's he'd he'll she's she'd she'll it's it'd it'll
    we're we'd we've we'll they're they'd they've they'll who's who'd who've who'll
    that's that'd that'll there's there'd there'll here's this'll what's what're what'd what'll
    how's how'd where's where'd when's why's why'd let's y'all
    could've might've must've should've would've
    im ive youre youve theyre theyve thats theres
"""
_ENGLISH = ENGLISH_STOP_WORDS.union(_CONTRACTIONS.split())


def words(text: str) -> list[str]:
    """Give the words of a text, lower-cased, in their order.

    A word is a run of two or more letters, digits or underscores of any script. Apostrophes inside a word
    belong to it, so that negations stay whole, but the possessive 's is dropped. Each emoji or symbol is a
    word of its own, whatever its skin tone. Forms that differ only in encoding (ligatures, full-width
    letters, accents as characters of their own, curly apostrophes) are one word.

    Scripts without spaces give whole runs as one word, and French or Italian elisions (*l'hôtel*) stay whole:
    for these, give `TextVectorizer` a tokenizer of your own.

    Parameters
    ----------
    text : str
        Any string; none makes this fail.

    Returns
    -------
    list of str
        The words; never one that holds whitespace.

    Examples
    --------
    >>> words("The hotel’s lobby wasn't clean: 2 stars ☹️")
    ['the', 'hotel', 'lobby', "wasn't", 'clean', 'stars', '☹']
    """
    return TOKEN.findall(normalise(text))


def stop_words(which: str | Iterable[str] | None) -> frozenset[str]:
    """Give a list of stop words.

    Parameters
    ----------
    which : str, iterable of str or None
        ``"english"`` (or ``"en"``) is scikit-learn's list with the contractions that negate nothing ("i'm",
        "they've", ...). Another language, by English name or ISO code, is the list of the package
        ``stop-words``. All are without the words of `negations`: those that negate ("not", "nicht", ...), and
        small words that carry opinion ("very", "too", ...). An iterable is taken as the list itself, whatever
        it holds. None is the empty list.

    Returns
    -------
    frozenset of str
        The stop words, in the form in which `words` gives words.

    Raises
    ------
    InputError
        If there is no list of that name, or a member is not a string.

    Examples
    --------
    >>> "the" in stop_words("english"), "not" in stop_words("english")
    (True, False)
    >>> "und" in stop_words("de"), "nicht" in stop_words("de")
    (True, False)
    >>> sorted(stop_words(["Hotel", "room"]))
    ['hotel', 'room']
    """
    if which is None:
        return frozenset()
    if isinstance(which, str):
        return _stop_words_of(which)
    if not isinstance(which, Iterable):
        raise InputError(f"stop words are a language, a list of words or None, not {which!r}")
    listed = list(which)
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"every stop word must be a string, but the list holds {word!r}")
    return frozenset(map(normalise, listed))


def language_name(language: str) -> str:
    """The English name of a language that is given by it or by its ISO code.

    Examples
    --------
    >>> language_name("de"), language_name("German")
    ('german', 'german')
    """
    name = LANGUAGE_MAPPING.get(language.lower(), language.lower())
    if name not in AVAILABLE_LANGUAGES:
        raise InputError(
            f"no stop words for {language!r}; there are lists for {', '.join(sorted(AVAILABLE_LANGUAGES))}; "
            "None leaves every word in"
        )
    return str(name)


def is_language_name(language: str) -> bool:
    """True for the English name of a language that there are stop words for."""
    return language in AVAILABLE_LANGUAGES


def _stop_words_of(language: str) -> frozenset[str]:
    name = language_name(language)
    # Some of the package's lists hold quotation marks and commas around their words.
    listed = _ENGLISH if name == "english" else {normalise(word.strip('", ')) for word in get_stop_words(name)}
    return frozenset(listed - NEGATIONS[name] - OPINION.get(name, frozenset()))


def normalise(text: str) -> str:
    """Give one form to what differs only in encoding or case."""
    if not text.isascii():
        text = ODD.sub(lambda odd: REPLACED.get(odd[0], ""), text)
        text = unicodedata.normalize("NFKC", text)
    return text.lower()
