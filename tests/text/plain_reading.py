"""Texts cut into clauses and words in plain Python: the compiled pass must give the same bits."""

import re
from dataclasses import dataclass

import numpy as np

from textsignal.data.rows import checked_texts
from textsignal.text.clauses import clause_kinds
from textsignal.text.scanning import (
    APART,
    CONTRAST,
    CONTRASTED,
    EXCEPTING,
    JOINED,
    JOINING,
    NAMING,
    NEGATING,
    OPINION,
    SUBJECT,
    VERB,
)
from textsignal.text.sentences import BEFORE_ITEM, END, HELD, LAST_WORD, LONGEST, PART, PAUSE, SHORT_FORMS, TITLES, WORD
from textsignal.text.tokenise import JUDGING, negates, normalise, sources_of
from textsignal.text.tokens import PAUSES, SCOPE, WORD_OR_PAUSE, SentenceTexts, _normal, negation_of

ENDINGS = frozenset(word[-2:] for word in TITLES | SHORT_FORMS)


@dataclass(frozen=True)
class Word:
    """A word of a sentence; paused : True after a pause; kind : of clauses; start, end : in the normalised sentence."""

    word: str
    paused: bool
    kind: int
    start: int
    end: int

    def has(self, kinds):
        """True if it is of one of these kinds."""
        return bool(self.kind & kinds)


def read_sentences(texts, language="english", clean=str):
    """Do as `textsignal.text.tokens.read_sentences` does."""
    given = checked_texts(texts)
    cleaned = [clean(text) for text in given]
    numbers, codes, under, ends, documents, spans, joined = {}, [], [], [0], [], [], []
    for document, text in enumerate(cleaned):
        merges = any(_normal(letter) is None for letter in text)
        for start, end in sentence_spans(text):
            sentence = re.sub(r"\s", " ", text[start:end])
            found = words_of(normalise(sentence), language)
            places = sources(sentence, merges)
            firsts = [] if places is None else [p for p in range(len(found)) if cuts(found, language)[p]]
            clauses = [found[a:b] for a, b in zip([0, *firsts], [*firsts, len(found)], strict=True)]
            opened = False
            for number, clause in enumerate(clauses):
                contrasts = bool(clause) and clause[0].has(CONTRAST)
                joined.append(APART if number == 0 else CONTRASTED if contrasts or opened else JOINED)
                opened = number == 0 and contrasts
                documents.append(document)
                begin = start if number == 0 else start + places[clause[0].start][0]
                stop = end
                if number + 1 < len(clauses):
                    last, after = clause[-1].end, clauses[number + 1][0].start
                    plain = normalise(sentence)
                    while last < after and plain[last] != " ":
                        last += 1
                    stop = start + places[last - 1][1]
                spans.append((begin, stop))
                left = 0
                for word in clause:
                    left = 0 if word.paused else left
                    codes.append(numbers.setdefault(word.word, len(numbers)))
                    under.append(left > 0)
                    left = SCOPE if negates(word.word, language) else max(0, left - 1)
                ends.append(len(codes))
    _, content = negation_of(list(numbers), language)
    codes, under = np.array(codes, np.int32), np.array(under, bool)
    return SentenceTexts(
        texts=cleaned,
        documents=np.array(documents, np.int64),
        spans=np.array(spans, np.int64).reshape(-1, 2),
        words=list(numbers),
        codes=codes,
        indptr=np.array(ends, np.int64),
        under=under,
        negated=under & content[codes],
        joined=np.array(joined, np.int8),
        cleaned=np.array([before != after for before, after in zip(given, cleaned, strict=True)], dtype=bool),
    )


def words_of(plain, language):
    """Words of a normalised sentence."""
    found, paused = [], False
    for match in WORD_OR_PAUSE.finditer(f" {plain} "):
        if match[0] in PAUSES:
            paused = True
            continue
        kind = int(clause_kinds([match[0]], language)[0])
        found.append(Word(match[0], paused, kind, match.start() - 1, match.end() - 1))
        paused = False
    return found


def sources(sentence, merges):
    """Start and end in a sentence of each of its normalised characters; None if they are unknown.

    merges : True if a character of the text depends on its neighbours: an invisible one then belongs to that before it.
    """
    places = [*sources_of(sentence)]
    if len(places) != len(normalise(sentence)):
        return None
    return places if merges else [(start, start + 1) for start, _ in places]


def cuts(words, language):
    """(words,) True for a word at which a new clause starts; see `scanning.cut_clauses`."""
    starts, first = [False] * len(words), 0
    for p, word in enumerate(words):
        clause = words[first:p]
        if len(clause) < 2 or p + 1 == len(words):
            continue
        follows, last = not words[p + 1].paused, clause[-1]
        has_verb = any(each.has(VERB) for each in clause)
        judges = any(each.has(OPINION) for each in clause)
        judged = judges and any(each.has(NAMING) for each in clause)
        opinion = language not in JUDGING or judges or any(each.has(NEGATING) for each in clause)
        after = words[p + 1] if word.has(JOINING) and follows else word
        listed = last.has(OPINION) and after.has(OPINION) and not has_verb
        if word.has(CONTRAST):
            waiting = False
            for each in clause:
                waiting = (waiting or each.has(SUBJECT)) and not each.has(VERB)
            holds = last.has(EXCEPTING) or last.has(VERB) or (waiting and last.has(OPINION))
            starts[p] = opinion or (follows and has_verb and begins_with_subject(words, p + 1))
            starts[p] &= word.paused or not holds
        elif word.has(JOINING):
            if p + 2 < len(words) and follows:
                starts[p] = (has_verb or judged) and begins_with_subject(words, p + 1)
                starts[p] |= judged and not listed and judges_thing(words, p + 1)
        elif word.paused:
            contrasts = any(each.has(CONTRAST) for each in clause)
            starts[p] = (opinion or contrasts) and begins_with_subject(words, p)
            starts[p] |= judged and not listed and judges_thing(words, p)
        if starts[p]:
            first = p
    return starts


def begins_with_subject(words, p):
    """True if a subject starts at a word, and a verb follows within five, before a pause or a joining word."""
    if not words[p].has(SUBJECT):
        return False
    if words[p].has(VERB):
        return True
    for word in words[p + 1 : p + 6]:
        if word.paused or word.has(JOINING | CONTRAST):
            return False
        if word.has(VERB):
            return True
    return False


def judges_thing(words, p):
    """True if the words from `p` on, at most five, up to a pause or a joining word, name a thing and judge it."""
    phrase = [words[p]]
    for word in words[p + 1 : p + 5]:
        if word.paused or word.has(JOINING):
            break
        phrase.append(word)
    verbless = not any(word.has(VERB) for word in phrase)
    return verbless and any(word.has(OPINION) for word in phrase) and any(word.has(NAMING) for word in phrase)


def sentence_spans(text):
    """Start and end of every sentence with a word, without the space around it, in order."""
    spans = []
    start = 0
    for end in _ends(text):
        if HELD.search(text, start, end):
            part = text[start:end]
            left = start + len(part) - len(part.lstrip())
            right = start + len(part.rstrip())
            if right - left <= 2 * LONGEST or len(WORD.findall(text, left, right)) <= LONGEST:
                spans.append((left, right))
            else:
                spans.extend(_parts(text, left, right))
        start = end
    return spans


def _ends(text):
    """Where sentences end, the end of the text last."""
    start = 0
    for match in END.finditer(text):
        kind = match.lastgroup
        if kind == "stop":
            if not match["stop"] and _is_short(text, start, match.start()):
                continue
        elif kind == "line" and _is_wrapped(text, *match.span()):
            continue
        start = match.start() if kind == "bullet" else match.end()
        yield start
    yield len(text)


def _is_short(text, start, stop):
    """True if the full stop at `stop` belongs to a short form, an initial or the number of a list's item."""
    ending = text[max(0, stop - 2) : stop].lower()
    if text[stop] != "." or (len(ending) == 2 and ending.isalpha() and ending not in ENDINGS):
        return False
    last = LAST_WORD.search(text, max(start, stop - 12), stop)
    if last is None:
        return False
    word = last[0].lower()
    following = text[stop + 1 : stop + 9].lstrip()[:1]
    if word in TITLES:
        return word != "no" or following.isdigit()
    if word in SHORT_FORMS:
        return not following.isupper()
    is_initial = len(word) == 1 and word.isalpha() and last[0].isupper()
    is_number = word.isdigit() and last.start() - start < 4 and not text[start : last.start()].strip(BEFORE_ITEM)
    return is_initial or is_number


def _is_wrapped(text, start, end):
    """True if the line break from `start` to `end` is inside a sentence: between small letters, no empty line."""
    if "\n" in text[start + 1 : end] or not text[end : end + 1].islower():
        return False
    before = start - text.endswith("\r", 0, start)
    while before and text[before - 1] in " \t":
        before -= 1
    last = text[max(0, before - 1) : before]
    return last.islower() or last == ","


def _parts(text, start, end):
    """Parts of a very long run, cut at its pauses."""
    first, last, words = start, start, 0
    for pause in PAUSE.finditer(text, start, end):
        words += len(WORD.findall(text, last, pause.start()))
        last = pause.end()
        if words >= PART and last < end:
            yield first, first + len(text[first:last].rstrip())
            first, words = last, 0
    yield first, end
