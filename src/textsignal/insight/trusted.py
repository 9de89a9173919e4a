"""How far the numbers of a fitted model can be trusted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from textsignal.checks import check_number
from textsignal.data.covariates.design import Design, as_table
from textsignal.errors import InputError
from textsignal.insight.beside import as_groups, as_times, name_of
from textsignal.insight.naming import Naming
from textsignal.reading.classes import ClassReader
from textsignal.reading.observed import Observed, Tokens
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.training.halves import SeedWords
from textsignal.uncertainty.bootstrap import Progress
from textsignal.uncertainty.checks import Check, Checked
from textsignal.uncertainty.checks_all import check_all
from textsignal.uncertainty.effect_table import EffectTable
from textsignal.uncertainty.estimating import LEVEL, REFITS, estimate_effects
from textsignal.uncertainty.stability import stability


class Trusted:
    """Intervals of what topics do, whether topics come back, and what looks wrong."""

    reader_: Reader
    design_: Design | None
    naming_: Naming
    n_jobs: int | None
    seed_words: SeedWords

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

    def estimate_effects(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        groups: ArrayLike | None = None,
        method: str | None = None,
        level: float = LEVEL,
        n_refits: int = REFITS,
        seed: int = 0,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> EffectTable:
        """What themes do to the response, with standard errors, intervals and tests that hold.

        One row per theme and quantity: lift and worth (as in `drivers`, but from a GLM without shrinkage, so that
        lifts may be below 0), reach, tone (what is said of a theme adds to the response, where it is spoken of),
        speaking (what speaking of it at all adds, whatever is said) and gamma (how much its tone counts). With `by`
        these of each group, and its differences to all other groups. `p_value` is of the hypothesis that there is
        nothing, `p_holm` holds for all themes together. Themes are taken as they are: `stability` says how firm.

        Parameters
        ----------
        by : (documents,) groups to compare; documents without one are left out of the comparison.
        groups : (documents,) within which texts depend on each other, such as hotels: errors are cluster-robust.
        method : "crossfit", the default for themes; "bootstrap", the default, and the only way, for other topics; or
            "plugin", which takes topics and tone as known beforehand and is too narrow.
        level : of the intervals.
        n_refits, seed, progress : samples of the bootstrap; seed of these and of halves; called after each sample.
        texts, responses, sample_weight, covariates, offset : the documents; those of training if not given. A loaded
            model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> model.estimate_effects().of("lift").columns[2:6].tolist()
        ['quantity', 'estimate', 'std_error', 'low']
        """
        check_is_fitted(self)
        if isinstance(self.reader_, ClassReader):
            raise self.reader_.of_one_class("intervals")
        found = estimate_effects(
            self.reader_,
            self._observed(texts, responses, sample_weight, covariates, offset),
            self._topic_names(),
            self.naming_,
            by=by,
            groups=groups,
            method=method,
            level=level,
            n_refits=n_refits,
            seed=seed,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        basis = self.reader_.basis
        return replace(found, method=f"{found.method} {basis}") if basis else found

    def stability(
        self,
        n_refits: int = 20,
        *,
        seed: int = 0,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """How often each topic comes back in other samples of the documents: one row per topic, the least stable first.

        Topics are learnt anew from halves of the documents, each with another seed, and matched to the model's one to
        one. Columns: topic (its number), label, comes_back (share of refits in which its match has a cosine of at least
        .65: what mostly shares half of its ten leading words), cosine (of the profiles, on average), lift_sd, lift_low,
        lift_high (how far its lift moves over the refits in which it comes back: standard deviation, least and most).

        The model's terms are kept, and for themes the tone of words: lifts move by what themes are cut to be and by
        which documents speak, not by what tone might have been.

        Parameters
        ----------
        n_refits : how many; themes are refitted in about a sixth of the time of a whole fit, other topics in half.
        seed : of halves and refits.
        texts, responses, sample_weight, covariates, offset : the documents; those of training if not given. A loaded
            model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> bool(model.stability(n_refits=4)["comes_back"].max() == 1)
        True
        """
        check_is_fitted(self)
        if isinstance(self.reader_, ClassReader):
            raise self.reader_.of_one_class("refits")
        observed = self._observed(texts, responses, sample_weight, covariates, offset)
        better = self.naming_.better
        found = stability(self.reader_, observed, n_refits, seed, self.n_jobs, self.seed_words, better)
        return found.table(self._topic_names())

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
