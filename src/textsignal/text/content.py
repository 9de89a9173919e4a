"""Content terms: words that say what a text is about, not how it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textsignal.text.counts import TextCounts
from textsignal.text.negations import OPINION, negates

# Words that are about nothing, beyond the stop list: they stand in sentences on every theme.
_GENERAL = {
    "english": """
        really just got get getting gets also even would could us one two three first second said told say says went go
        going goes did does done didn way much lot lots little bit many came come coming like know think make makes
        made making take took taking thing things people want wanted wants need needed needs sure ask asked thought
        time times day days ok okay pretty quite probably actually maybe definitely absolutely especially extremely
        simply truly super totally completely perhaps however although though yes hi oh lol etc
        able let lets gave give given giving doing stuff comes instead exactly usually unfortunately tell telling
        saying use used using put keep kept believe guess mean literally honestly seriously certainly basically
        obviously clearly
    """,
    "german": "schon mal ganz einfach eigentlich halt eben doch gibt gab geht ging kam kommt macht gemacht tag tage",
    "french": "fait faire aller va jour jours chose choses vraiment tout toute aussi alors donc peut dit",
    "spanish": "hace hacer ir va día días dia dias cosa cosas realmente también tambien entonces puede dijo",
    "italian": "fatto fare andare va giorno giorni cosa cose davvero anche allora quindi può detto",
    "dutch": "echt gewoon ook gaan gaat ging komt kwam maakt gemaakt dag dagen ding dingen zei",
    "portuguese": "fazer fez ir vai dia dias coisa coisas realmente também tambem então entao pode disse",
}

# Words that judge a thing, and say nothing about it.
_JUDGING = {
    "english": """
        good great nice bad best better worse worst excellent amazing awesome wonderful perfect perfectly fantastic
        lovely beautiful terrible horrible awful poor fine decent favorite favourite special happy sad love loved loves
        enjoy enjoyed hate hated outstanding superb fabulous incredible exceptional disappointing disappointed impressed
        unacceptable ridiculous disgusting horrendous mediocre average overall recommend recommended highly thank thanks
        appreciate appreciated pleased satisfied avoid
    """,
}
# Words that say how a thing is, not which it is.
_DESCRIBING = {
    "english": """
        big bigger large larger small smaller huge tiny long longer short new old high low easy hard different extra
        felt feel friendly helpful polite rude professional courteous attentive welcoming pleasant clean cleaner dirty
        filthy nasty gross fresh stale tasty delicious yummy cute pretty gorgeous flattering unflattering comfortable
        comfy uncomfortable cozy cosy soft rough modern dated outdated spacious cramped quiet noisy loud cold cool warm
        hot fast slow quick cheap expensive overpriced affordable reasonable convenient typical usual regular real true
        whole full empty light heavy tight loose wide narrow thin thick young kind sweet fun interesting broken wrong
        right worth
    """,
}


def _sets(lists: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: frozenset(listed.split()) for name, listed in lists.items()}


#: Words that judge, by language; and content terms that no label is made of: those, and words that describe.
JUDGING: Mapping[str, frozenset[str]] = _sets(_JUDGING)
DESCRIBING: Mapping[str, frozenset[str]] = {name: JUDGING[name] | words for name, words in _sets(_DESCRIBING).items()}


def content_terms(
    words: Sequence[str],
    counts: TextCounts,
    language: str | None,
    stop_words: frozenset[str],
    limit: int,
    least_documents: int,
) -> list[str]:
    """The most frequent words that are content, in the order of the alphabet.

    Left out are stop words, negations, small words of opinion, general words, numbers, contractions, and what is in
    fewer documents than `least_documents`.

    words : the distinct words of the texts, which were counted.

    Examples
    --------
    >>> from textsignal.compute.engines.local import LocalEngine
    >>> from textsignal.text.counts import count_texts
    >>> from textsignal.text.units import read_sentences
    >>> texts = read_sentences(["The room was not very clean. I'd really say 10 rooms!"])
    >>> content_terms(texts.words, count_texts(texts, LocalEngine()), "english", frozenset(["the", "was"]), 100, 1)
    ['clean', 'room', 'rooms']
    """
    name = language or ""
    left_out = stop_words | OPINION.get(name, frozenset()) | frozenset(_GENERAL.get(name, "").split())
    often, n_documents = counts.occurrences.tolist(), counts.documents.tolist()
    candidates = [
        (-often[j], word)
        for j, word in enumerate(words)
        if n_documents[j] >= least_documents and word not in left_out and _is_content(word, name)
    ]
    return sorted(word for _, word in sorted(candidates)[:limit])


def _is_content(word: str, language: str) -> bool:
    has_letter = any(letter.isalpha() for letter in word)
    return has_letter and "'" not in word and len(word) > 1 and not negates(word, language)
