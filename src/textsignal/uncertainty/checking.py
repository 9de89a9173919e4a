"""What a fitted model offers to somebody who asks whether it can be trusted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from textsignal.checks import check_number
from textsignal.covariates.design import Design, as_table
from textsignal.errors import InputError
from textsignal.readers.base import Reader
from textsignal.readers.classes import ClassReader
from textsignal.readers.themes import ThemeReader
from textsignal.topics.beside import as_groups, as_times, name_of
from textsignal.topics.naming import Naming
from textsignal.topics.reading import Observed, Tokens
from textsignal.uncertainty.checks import Check, Checked
from textsignal.uncertainty.checks_all import check_all


class Checking:
    """What looks wrong."""

    reader_: Reader
    naming_: Naming
    design_: Design | None

    @abstractmethod
    def _observed(
        self,
        texts: Iterable[str] | Tokens | None,
        responses: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Observed:
        """What was given, or else what the model was trained on."""

    @abstractmethod
    def _topic_names(self) -> list[str]:
        """What every topic is called, in the order of their numbers."""

    def check(
        self,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        *,
        held_out: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        by: ArrayLike | pd.Series | None = None,
        over: ArrayLike | pd.Series | None = None,
        seed: int = 0,
    ) -> Check:
        """What looks wrong with the model and its data, and what to do about it.

        Looked at are skill (whether the text predicts anything, and held-out texts as well as training ones),
        calibration (PIT, means by tenths), dispersion (and families that fit better), residuals against length, time,
        covariates and groups, duplicates, leakage (texts that say the response itself) and influence of single texts
        and groups on a lift. What is within chance, or too small to matter, is not said; `to_frame()` has all numbers.

        Parameters
        ----------
        texts, responses, sample_weight, offset : the documents; those of training if not given. A loaded model does not
            hold these.
        held_out : (documents,) which of them training has not seen; predictions are judged on these alone. Without it,
            themes are judged out of fold.
        covariates : one row per document: those that the model was fitted with, and any others that residuals are to
            be held against.
        by : (documents,) the group of each document; over : (documents,) the date of each.
        seed : of draws.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
        >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
        >>> model.check().wrong
        ()
        """
        check_is_fitted(self)
        check_number("seed", seed, least=0, whole=True)
        if isinstance(self.reader_, ClassReader):
            raise self.reader_.of_one_class("checks")
        own = covariates if texts is not None and self.design_ is not None and self.design_.covariates else None
        observed = self._observed(texts, responses, sample_weight, own, offset)
        n = len(observed.tokens)
        reading = self.reader_.read(observed.tokens, observed.given)
        spoken = self.reader_.spoken(reading, observed.responses, observed.weight)
        checked = Checked(
            reading=reading,
            spoken=spoken.judged(self.naming_.better),
            labels=self._topic_names(),
            naming=self.naming_,
            held_out=_flags(held_out, n),
            out_of_fold=isinstance(self.reader_, ThemeReader),
            groups=None if by is None else as_groups(by, n),
            times=None if over is None else as_times(over, n),
            covariates=as_table(covariates, n),
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            seed=int(seed),
        )
        return check_all(checked, self.reader_)


def _flags(held_out: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    if held_out is None:
        return np.zeros(n, dtype=bool)
    flags = np.asarray(held_out, dtype=bool)
    if flags.shape != (n,):
        raise InputError(f"{n:,} texts, but held_out has {flags.size:,} flags; give one for each text")
    return flags
