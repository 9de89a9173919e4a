"""What a model of topics on a matrix offers beside what every model does."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from textsignal.errors import InputError
from textsignal.estimators import TopicEstimator
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.text.vectorise import TextVectorizer


class OfMatrix:
    """Its vectorizer, its estimator and the words beyond its topics; a model of themes has none of them."""

    reader_: Reader

    def words(self) -> pd.DataFrame:
        """Words that add to the linear predictor beyond the topics, strongest first: columns term and effect.

        Empty without `word_residual`, and where topics leave nothing to words. What topics alone predict is
        `predictions(texts).by_topics`.
        """
        check_is_fitted(self)
        if not isinstance(self.reader_, MatrixReader):
            raise InputError(
                "a model of themes has no words beyond them; see explain, or `raises` and `lowers` of topics"
            )
        effects = self.estimator_.word_effects_
        order = np.argsort(-np.abs(effects), kind="stable")[: np.count_nonzero(effects)]
        return pd.DataFrame({"term": [self.vectorizer_.terms_[j] for j in order], "effect": effects[order]})

    @property
    def vectorizer_(self) -> TextVectorizer:
        """The fitted vectorizer, of other trainings than themes."""
        return self._matrix_reader("vectorizer_").vectorizer

    @property
    def estimator_(self) -> TopicEstimator:
        """The fitted estimator, of other trainings than themes."""
        return self._matrix_reader("estimator_").estimator

    def _matrix_reader(self, name: str) -> MatrixReader:
        reader = self.__dict__.get("reader_")
        if isinstance(reader, MatrixReader):
            return reader
        raise AttributeError(f"a model that is {'of themes' if reader else 'not fitted'} has no {name}")
