"""Texts cut into sentences and words in plain Python: the compiled pass must give the same bits."""

import numpy as np

from textsignal.data.rows import checked_texts
from textsignal.text.sentences import sentence_spans
from textsignal.text.tokenise import negates, normalise
from textsignal.text.tokens import PAUSES, SCOPE, WORD_OR_PAUSE, SentenceTexts, negation_of


def read_sentences(texts, language="english", clean=str):
    """Do as `textsignal.text.tokens.read_sentences` does."""
    given = checked_texts(texts)
    cleaned = [clean(text) for text in given]
    numbers, codes, under, ends = {}, [], [], [0]
    spans = [sentence_spans(text) for text in cleaned]
    for text, of_text in zip(cleaned, spans, strict=True):
        for start, end in of_text:
            left = 0
            for token in WORD_OR_PAUSE.findall(normalise(f" {' '.join(text[start:end].split())} ")):
                if token in PAUSES:
                    left = 0
                    continue
                codes.append(numbers.setdefault(token, len(numbers)))
                under.append(left > 0)
                left = SCOPE if negates(token, language) else max(0, left - 1)
            ends.append(len(codes))
    _, content = negation_of(list(numbers), language)
    codes, under = np.array(codes, np.int32), np.array(under, bool)
    return SentenceTexts(
        texts=cleaned,
        documents=np.repeat(np.arange(len(cleaned)), [len(of_text) for of_text in spans]),
        spans=np.array([span for of_text in spans for span in of_text], np.int64).reshape(-1, 2),
        words=list(numbers),
        codes=codes,
        indptr=np.array(ends, np.int64),
        under=under,
        negated=under & content[codes],
        cleaned=np.array([before != after for before, after in zip(given, cleaned, strict=True)], dtype=bool),
    )
