"""Documents of a model, and what it reads in them."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.checks import check_weight
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Family
from textsignal.families.responses import as_numbers, as_response, in_numbers
from textsignal.text.tokens import SentenceTexts, TokenisedTexts
from textsignal.training.theme_model import ThemeReading

#: Tokenised texts, for either kind of model.
Tokens = TokenisedTexts | SentenceTexts


@dataclass(frozen=True, eq=False)
class Observed:
    """Documents with responses, weights and covariates.

    responses : (documents,) NaN if missing.
    sample_weight : weight of each document, or None for 1.
    given : covariates and offset, or None if absent.
    family : of the response, as far as it is known; None if left open.
    """

    tokens: Tokens
    responses: NDArray[np.float64]
    sample_weight: ArrayLike | None = None
    given: Given | None = None
    family: Family | None = None

    def at(self, rows: NDArray[np.int64]) -> Observed:
        """Return some of the documents."""
        weight, given = self.sample_weight, self.given
        return Observed(
            self.tokens.at(rows),
            self.responses[rows],
            None if weight is None else np.asarray(weight, dtype=float)[rows],
            None if given is None else given.at(rows),
            self.family,
        )

    def but(self, left_out: NDArray[np.bool_]) -> Observed:
        """Return the documents without some of them; self if none is excluded."""
        return self.at(np.flatnonzero(~left_out)) if left_out.any() else self

    def with_given(self, given: Given | None) -> Observed:
        """Return the documents with covariates and offset."""
        return replace(self, given=given)

    @property
    def texts(self) -> Sequence[str]:
        """(documents,) the texts."""
        return self.tokens.texts

    @property
    def weight(self) -> Vector:
        """(documents,) weight of each."""
        weight = self.sample_weight
        return np.ones(len(self.tokens)) if weight is None else np.asarray(weight, dtype=float)


def observe(
    tokens: Tokens, responses: object, sample_weight: ArrayLike | None = None, family: Family | None = None
) -> Observed:
    """Check that there are documents, each with one response and one weight, and return them.

    family : of the response, which encodes labels as numbers; None if responses are numbers.
    """
    column = response_column(tokens, responses)
    values = as_numbers(as_response(column)) if family is None else in_numbers(column, family)
    if sample_weight is not None:
        check_weight(sp.csr_array((len(tokens), 1)), sample_weight)
    return Observed(tokens, values, sample_weight, family=family)


def response_column(tokens: Tokens, responses: object) -> NDArray[Any]:
    """Return (documents,) responses, one for each document, unconverted."""
    if len(tokens) == 0:
        raise InputError("no texts were given; there must be at least one")
    n_responses = len(responses) if isinstance(responses, Sized) else 0
    if n_responses != len(tokens):
        raise InputError(f"{len(tokens)} texts, but {n_responses} responses; give one for each text")
    if isinstance(responses, pd.Series | pd.DataFrame | pd.api.extensions.ExtensionArray):
        responses = responses.to_numpy(dtype=object, na_value=np.nan)
    # A list as objects: among text NumPy would turn a missing response into the word "nan".
    column = np.asarray(responses, dtype=object if isinstance(responses, list | tuple) else None)
    if column.ndim == 0 or column.dtype.kind in "cmM":
        kind = column.dtype if column.ndim else f"a {type(responses).__name__}"
        raise InputError(f"the response must be numbers, NaN where there is none: {kind} is given")
    if column.size != len(tokens):
        raise InputError(f"responses have the shape {column.shape}; give one column, with a number for each text")
    return column.ravel()


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as a fitted model reads them: tokenised once, inferred once.

    texts : the documents; n_words : (documents,) words in each; X : (documents, terms) CSR of the model's terms.
    predictions : of the model for them.
    contributions : (documents, themes) of each theme to the linear predictor.
    spoken : (documents, themes) True if a document mentions a theme.
    sentences : readings of their sentences by a model of themes; None for other models.
    """

    texts: Sequence[str]
    n_words: NDArray[np.int64]
    X: sp.csr_array
    predictions: Predictions
    contributions: Vector
    spoken: NDArray[np.bool_]
    sentences: ThemeReading | None = None
