"""Texts cut into clauses and words in plain Python: the compiled pass must give the same bits."""

import re
from dataclasses import dataclass

import numpy as np

from textsignal.data.rows import checked_texts
from textsignal.text.clauses import clause_kinds, letter_kinds
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


#: A word, a pause, or a letter that stands alone.
PIECE = re.compile(rf"{WORD_OR_PAUSE.pattern}|\w")
DASHES, SEMICOLONS = frozenset("-–—"), frozenset(";；")


@dataclass(frozen=True)
class Word:
    """A word of a sentence, with the pauses before it.

    kind, alone : kinds of the word and of a letter that stands alone before it, of clauses.
    begin, end : where a clause that starts at the word begins, and the word ends, in the normalised sentence. A letter
        that stands alone is of the clause before, unless it joins or a pause is before it.
    """

    word: str
    pauses: frozenset
    kind: int
    alone: int
    begin: int
    end: int

    @property
    def paused(self):
        """True after a pause."""
        return bool(self.pauses)

    def has(self, kinds):
        """True if it is of one of these kinds, or the letter before it."""
        return bool((self.kind | self.alone) & kinds)

    def is_a(self, kinds):
        """True if the word itself is of one of these kinds."""
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
            firsts = [] if places is None else [p for p, starts in enumerate(cuts(found, language)) if starts]
            clauses = [found[a:b] for a, b in zip([0, *firsts], [*firsts, len(found)], strict=True)]
            opened = False
            for number, clause in enumerate(clauses):
                contrasts = bool(clause) and clause[0].has(CONTRAST)
                joined.append(APART if number == 0 else CONTRASTED if contrasts or opened else JOINED)
                opened = number == 0 and contrasts
                documents.append(document)
                begin = start if number == 0 else start + places[clause[0].begin][0]
                stop = end
                if number + 1 < len(clauses):
                    last = clause_end(normalise(sentence), clause[-1].end, clauses[number + 1][0].begin)
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


def clause_end(plain, behind, begin):
    """End of a clause whose last word ends `behind`, before one that begins: with letters and punctuation there."""
    last = max([i + 1 for i in range(behind, begin) if re.match(r"\w", plain[i])], default=behind)
    space = plain.find(" ", last, begin)
    return begin if space < 0 else space


def words_of(plain, language):
    """Words of a normalised sentence."""
    found, pauses, letters = [], set(), []
    for match in PIECE.finditer(f" {plain} "):
        if match[0] in PAUSES:
            pauses.add(match[0])
            letters = []
        elif WORD_OR_PAUSE.fullmatch(match[0]):
            kind = int(clause_kinds([match[0]], language)[0])
            alone = letter_kinds(language).get(ord(letters[-1][0]), 0) if letters else 0
            first = (letters[:1] if pauses else letters[-1:] if alone else []) or [match]
            found.append(Word(match[0], frozenset(pauses), kind, alone, first[0].start() - 1, match.end() - 1))
            pauses, letters = set(), []
        else:
            letters.append(match)
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
    for p in range(len(words) - 1):
        if p - first >= 2 and starts_clause(words, p, first, language):
            starts[p], first = True, p
    return starts


def starts_clause(words, p, first, language):
    """True if a new clause starts at word `p`, inside a clause that begins at word `first`."""
    word, clause, last = words[p], words[first:p], words[p - 1]
    has_verb = any(each.has(VERB) for each in clause)
    judges = any(each.has(OPINION) for each in clause)
    judged = judges and any(each.has(NAMING) for each in clause)
    opinion = language not in JUDGING or judges or any(each.has(NEGATING) for each in clause)
    dashed = bool(word.pauses & DASHES)
    # What joins is a letter that stands alone before the word, or the word.
    by_letter = bool(word.alone & (CONTRAST | JOINING))
    joint, after = (word.alone, p) if by_letter else (word.kind, p + 1)
    follows = by_letter or not words[p + 1].paused
    follower = words[p + 1] if word.is_a(JOINING) and not words[p + 1].paused else word
    listed = last.is_a(OPINION) and follower.is_a(OPINION) and not has_verb
    if word.pauses & SEMICOLONS:
        return True
    if joint & CONTRAST:
        holds = last.is_a(EXCEPTING | VERB) or (is_waiting(words[:p]) and last.is_a(OPINION))
        new = opinion or dashed or (follows and has_verb and begins_with_subject(words, after, SUBJECT))
        return new and (word.paused or not holds)
    if joint & JOINING and after + 1 < len(words):
        new = (has_verb or judged or word.paused) and begins_with_subject(words, after, SUBJECT)
        return follows and (new or (judged and not listed and judges_thing(words, after)))
    if not word.paused:
        return False
    subjects = SUBJECT | NAMING if has_verb else SUBJECT
    ready = opinion or dashed or has_verb or any(each.has(CONTRAST) for each in clause)
    return (
        (ready and begins_with_subject(words, p, subjects))
        or (((judged and not listed) or dashed) and judges_thing(words, p))
        or ((has_verb or judged) and word.is_a(VERB | NEGATING))
        or (dashed and word.is_a(OPINION) and begins_with_subject(words, p + 1, SUBJECT))
    )


def is_waiting(words):
    """True if a subject waits for its verb."""
    waiting = False
    for word in words:
        waiting = (waiting or word.has(SUBJECT)) and not word.has(VERB)
    return waiting


def begins_with_subject(words, p, subjects):
    """True if a subject starts at a word, and a verb follows within five, before a pause or a joining word."""
    if not words[p].has(subjects):
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
    return verbless and any(word.is_a(OPINION) for word in phrase) and any(word.is_a(NAMING) for word in phrase)


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
