"""What a fitted model offers to somebody who has more documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import UNUSED

from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Design
from textsignal.errors import InputError
from textsignal.reading.observed import Observed, Tokens, observe
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.training.more_documents import learn_more


class Growing:
    """Learning from more documents without starting again."""

    reader_: Reader
    design_: Design | None
    n_documents_: int
    n_jobs: int | None
    _training: Observed | None

    # What scikit-learn's metadata routing is not about.
    __metadata_request__partial_fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012

    @abstractmethod
    def fit(self, texts: Any, responses: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the first documents."""

    def partial_fit(self, texts: Iterable[str], responses: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more documents, in about a second: for reviews that come in day after day.

        Themes, their names and the words that are known stay. Tone goes on by steps on the new documents, which count
        by their share of all, and what themes are worth is fitted again to documents old and new. After many of them,
        or when people speak of other things, `fit` to all. A model that is not fitted yet is fitted.

        Parameters
        ----------
        texts, responses, sample_weight : of the new documents, as in `fit`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(500, seed=1)
        >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts[:400], reviews.ratings[:400])
        >>> model.partial_fit(reviews.texts[400:], reviews.ratings[400:]).n_documents_
        500
        """
        if not hasattr(self, "reader_"):
            return self.fit(texts, responses, sample_weight)
        reader = self.reader_
        if not isinstance(reader, ThemeReader):
            raise InputError("partial_fit is for themes and one response that is no class; fit to all documents")
        if self.design_ is not None:
            raise InputError(
                "partial_fit knows no covariates, but the model was fitted with some; fit to all documents"
            )
        tokens = reader.tokenise(texts)
        if not len(tokens):
            return self
        new = observe(tokens, responses, sample_weight, reader.family)
        with local_compute(self.n_jobs) as compute:
            fitted = learn_more(reader.fitted, tokens, new.responses, new.weight, self.n_documents_, compute)
        self.reader_ = replace(reader, fitted=fitted)
        self.n_documents_ += len(tokens)
        self._training = None if self._training is None else _joined(self._training, new, reader)
        return self


def _joined(known: Observed, new: Observed, reader: ThemeReader) -> Observed:
    """Documents that were given, old and new."""
    tokens: Tokens = reader.tokenise([*known.texts, *new.texts])
    weighted = known.sample_weight is not None or new.sample_weight is not None
    return replace(
        known,
        tokens=tokens,
        responses=np.concatenate([known.responses, new.responses]),
        sample_weight=np.concatenate([known.weight, new.weight]) if weighted else None,
    )
