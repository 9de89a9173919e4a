"""The texts in use, with everything that goes with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
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
from textsignal.families import Family
from textsignal.families.responses import as_numbers, as_response, in_numbers
from textsignal.text.cleaning import without_markup
from textsignal.text.tokens import SentenceTexts, TokenisedTexts, read_sentences


@dataclass(frozen=True, eq=False)
class Observed:
    """Tokenised texts with responses, weights, covariates, groups and times; None if absent.

    responses : (texts,) NaN if missing; weight : (texts,) how often each counts.
    given : covariates and offset; family : of the response, as far as it is known.
    groups : (texts,) may have missing values; times : (texts,) days, NaT if missing.
    held_out : (texts,) True if not used in training.
    """

    tokens: SentenceTexts
    responses: Vector
    weight: Vector
    given: Given | None = None
    family: Family | None = None
    groups: pd.Series | None = None
    times: NDArray[np.datetime64] | None = None
    held_out: NDArray[np.bool_] | None = None

    def at(self, rows: NDArray[np.int64]) -> Observed:
        """Return some of the texts."""
        return replace(
            self,
            tokens=self.tokens.at(rows),
            responses=self.responses[rows],
            weight=self.weight[rows],
            given=None if self.given is None else self.given.at(rows),
            groups=None if self.groups is None else self.groups.iloc[rows],
            times=None if self.times is None else self.times[rows],
            held_out=None if self.held_out is None else self.held_out[rows],
        )

    def but(self, excluded: NDArray[np.bool_]) -> Observed:
        """Return the texts without some of them; self if none is excluded."""
        return self.at(np.flatnonzero(~excluded)) if excluded.any() else self

    @property
    def texts(self) -> Sequence[str]:
        """(texts,) the texts."""
        return self.tokens.texts

    @property
    def counted(self) -> Vector:
        """(texts,) responses, NaN where the weight is 0 too."""
        return np.where(self.weight > 0, self.responses, np.nan)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """(texts,) True if held out of training."""
        return np.zeros(len(self.tokens), dtype=bool) if self.held_out is None else self.held_out

    def __len__(self) -> int:
        return len(self.tokens)


def observe(
    tokens: SentenceTexts, responses: object, sample_weight: ArrayLike | None = None, family: Family | None = None
) -> Observed:
    """Check that there are texts, each with one response and one weight, and return them.

    family : of the response, which encodes labels as numbers; None if responses are numbers.
    """
    column = response_column(len(tokens), responses)
    values = as_numbers(as_response(column)) if family is None else in_numbers(column, family)
    return Observed(tokens, values, as_weight(len(tokens), sample_weight), family=family)


def as_weight(n_texts: int, sample_weight: ArrayLike | None) -> Vector:
    """Return (texts,) weights, 1 by default; raise if they cannot be weights."""
    if sample_weight is None:
        return np.ones(n_texts)
    check_weight(sp.csr_array((n_texts, 1)), sample_weight)
    return np.asarray(sample_weight, dtype=float)


def response_column(n_texts: int, responses: object) -> NDArray[Any]:
    """Return (texts,) responses, one for each text, unconverted."""
    if n_texts == 0:
        raise InputError("no texts were given; there must be at least one")
    n_responses = len(responses) if isinstance(responses, Sized) else 0
    if n_responses != n_texts:
        raise InputError(f"{n_texts} texts, but {n_responses} responses; give one for each text")
    if isinstance(responses, pd.Series | pd.DataFrame | pd.api.extensions.ExtensionArray):
        responses = responses.to_numpy(dtype=object, na_value=np.nan)
    # A list as objects: among text NumPy would turn a missing response into the word "nan".
    column = np.asarray(responses, dtype=object if isinstance(responses, list | tuple) else None)
    if column.ndim == 0 or column.dtype.kind in "cmM":
        kind = column.dtype if column.ndim else f"a {type(responses).__name__}"
        raise InputError(f"the response must be numbers, NaN if missing: {kind} is given")
    if column.size != n_texts:
        raise InputError(f"responses have the shape {column.shape}; give one column, with a number for each text")
    return column.ravel()


def tokenise(texts: Iterable[str] | SentenceTexts, language: str | None, n_jobs: int | None = -1) -> SentenceTexts:
    """Cut texts into sentences and words, without markup; return texts that are cut already."""
    if isinstance(texts, TokenisedTexts):
        raise InputError("these texts were tokenised for topics on a matrix; give the texts themselves")
    if isinstance(texts, SentenceTexts):
        return texts
    return read_sentences(texts, language or "", without_markup, n_jobs=n_jobs)
