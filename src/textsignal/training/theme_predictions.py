"""Reading of texts for prediction only: tone about themes, shares of the text, and unknown documents.

The numbers equal those of a `ThemeReading`, in a fraction of its time and memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import Rows, pad
from textsignal.text import prediction
from textsignal.text.features import PHRASE_SIZE, Features, Known
from textsignal.text.prediction import Sentences
from textsignal.text.tokens import SentenceTexts
from textsignal.training.theme_reading import sentence_ends
from textsignal.training.themes import Themes

#: Documents that are read at once by a thread: their numbers stay in its cache.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class ToneAndShares:
    """Tone and shares of documents.

    tones : (tones, documents, themes) tone about each theme; shares : (documents, themes) of the text.
    unknown : (documents,) True if there is neither a feature nor a content term.
    """

    tones: Vector
    shares: Vector
    unknown: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PredictionLexicon:
    """All words that features and content terms are made of, each with a number.

    numbers : of each word; words : (words + 1, 4) what each is, as `kernels.prediction` has it; last all other words.
    known : the features.
    """

    numbers: dict[str, int]
    words: NDArray[np.int32]
    known: Known

    @classmethod
    def of(cls, features: Features, terms: Sequence[str]) -> PredictionLexicon:
        """By the names of features and content terms."""
        known = features.known
        kinds = (known.words, known.negated, known.parts, {word: j for j, word in enumerate(terms)})
        words = {word: number for number, word in enumerate(dict.fromkeys(word for each in kinds for word in each))}
        columns = np.full((len(words) + 1, len(kinds)), -1, dtype=np.int32)
        for column, each in enumerate(kinds):
            columns[[words[word] for word in each], column] = list(each.values())
        return cls(words, columns, known)

    def of_words(self, words: Sequence[str]) -> NDArray[np.int32]:
        """(words, 4) what each of some distinct words is."""
        return self.words[np.fromiter((self.numbers.get(word, -1) for word in words), np.int64, len(words))]


@dataclass(frozen=True, eq=False)
class ThemePredictor:
    """Reads what prediction needs."""

    lexicon: PredictionLexicon
    themes: Themes

    def read(self, texts: SentenceTexts, tones: Sequence[Vector], compute: Compute) -> ToneAndShares:
        """Read documents, in blocks of them; tones : each (features,)."""
        sentences = Sentences(sentence_ends(texts), texts.indptr, texts.codes, texts.under, texts.negated)
        words, themes, inference = self.lexicon.of_words(texts.words), self.themes, self.themes.inference
        phrases, effects = (len(self.lexicon.known.parts), self.lexicon.known.phrases), np.stack(list(tones), axis=1)
        topics: Array = pad(themes.topics.T, compute.kernels, np.dtype(float))
        tone = np.empty((len(tones), len(texts), len(themes.topics)))
        shares = np.empty(tone.shape[1:])
        sentence_tone = np.empty((len(texts.documents), len(tones)))
        has_feature, has_term = np.zeros((2, len(texts)), dtype=bool)

        def read_block(first: int) -> None:
            block = (sentences, first, min(first + BLOCK, len(texts)))
            outputs = (sentence_tone, has_feature)
            prediction.read_tone(*block, words, *phrases, effects, PHRASE_SIZE, *outputs)
            rows = Rows(*prediction.read_terms(*block, words, themes.term_weights, has_term))
            weights, _ = inference.of_block(rows, topics, compute.kernels)
            prediction.gather(*block, weights, themes.prevalence, sentence_tone, tone, shares)

        compute.engine.map(read_block, range(0, len(texts), BLOCK))
        return ToneAndShares(tone, shares, ~(has_feature | has_term))
