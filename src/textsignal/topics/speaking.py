"""What a fitted model says texts speak of: drivers, contributions, sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from textsignal.checks import check_choice, check_number
from textsignal.errors import InputError
from textsignal.families import Family, check_trainable
from textsignal.readers.base import Reader
from textsignal.readers.classes import ONE_CLASS, ClassReader, by_class
from textsignal.readers.themes import ThemeReader
from textsignal.topics.drivers import DRIVER_TERMS, grouped_drivers
from textsignal.topics.explanation import slope_of
from textsignal.topics.findings import Drivers
from textsignal.topics.naming import PERCENTAGE_POINTS, Naming
from textsignal.topics.reading import Observed, Reading, Tokens
from textsignal.topics.revise import Labels, Topic, topic_number
from textsignal.topics.table import unique_labels
from textsignal.topics.theme_sentences import find_sentences, sentence_table
from textsignal.training.theme_reading import ThemeReading
from textsignal.uncertainty.bootstrap import Progress
from textsignal.uncertainty.effect_table import EffectTable
from textsignal.uncertainty.estimating import LEVEL, REFITS, estimate_effects
from textsignal.uncertainty.refits import SeedWords
from textsignal.uncertainty.stability import stability


class Speaking:
    """What texts speak of, how they speak of it and what that is worth."""

    family: str | Family
    reader_: Reader
    labels_: Labels
    naming_: Naming
    _training: Observed | None
    n_jobs: int | None
    seed_words: SeedWords

    @abstractmethod
    def read(
        self, texts: Iterable[str] | Tokens, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Reading:
        """Everything the model says of texts."""

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

    def drivers(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        n_terms: int = DRIVER_TERMS,
    ) -> Drivers:
        """What to fix first and what to keep: one row per topic, the largest lift first.

        Columns: topic (its number), label, reach (share of documents that speak of it), share (of all text),
        mean_response (where it is spoken of), mean_elsewhere (in the other documents), well and badly (shares of the
        documents that speak of it in which it moves the linear predictor for the better and for the worse), raises and
        lowers (for themes: the words that raise and lower it most), lift and worth (by how much the mean response would
        be better if nothing bad were said of it, and worse if nothing good were), terms. More is better, unless
        `name_response` was told otherwise. Classes without an order have rows of their own, each against all others,
        with the class in the first column. With `by` also group and documents (how many it has), the largest
        group first. `findings()` of the table says in sentences what to fix first and what to keep, and a notebook
        shows them.

        Lift and worth are what-ifs on the fitted model, not causal claims: what a topic takes off the mean response,
        or adds to it, against its being spoken of neutrally. For themes, texts that were in training count by tone
        that has not seen their responses. With covariates all of it is given these: texts are compared with others of
        the same covariates.

        Parameters
        ----------
        by : (documents,) the group of each document, such as its hotel; documents without one are left out.
        texts, responses, sample_weight, covariates, offset : the documents; those of training if not given.
        n_terms : terms to list.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> bool(model.drivers()["lift"].is_monotonic_decreasing)
        True
        >>> model.drivers(by=["one"] * 300 + ["other"] * 100)["group"].unique().tolist()
        ['one', 'other']
        """
        check_is_fitted(self)
        check_number("n_terms", n_terms, least=1, whole=True)
        others = (texts, responses, sample_weight, covariates, offset)
        given = None if all(value is None for value in others) else self._observed(*others)

        def table(reader: Reader, observed: Observed | None) -> pd.DataFrame:
            spoken = reader.trained if observed is None else None
            if spoken is None:
                observed = self._observed(None, None) if observed is None else observed
                reader.family.encode(observed.responses)
                reading = reader.read(observed.tokens, observed.given)
                spoken = reader.spoken(reading, observed.responses, observed.weight)
            judged = spoken.judged(self.naming_.better)
            return reader.drivers(grouped_drivers(judged, by), self.labels_, n_terms)

        if not isinstance(self.reader_, ClassReader):
            return Drivers.of(table(self.reader_, given), self.naming_)
        each = self.reader_.observed_by_class(given)
        tables = {label: table(self.reader_.of_class(label), each[label]) for label in self.reader_.classes}
        return Drivers.of(by_class(tables), self.naming_)

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
        return estimate_effects(
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

    def of(self, label: object) -> Self:
        """Give the model of one class against all others, where classes have no order: for explain, report, sentences.

        Its response is 1 for the class and 0 for others, so that means are shares.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> kinds = ["bad" if y < 3 else "fair" if y < 5 else "good" for y in reviews.ratings]
        >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, kinds)
        >>> bad = model.of("bad").explain("The bathroom was dirty.")
        >>> bad.prediction > bad.baseline_prediction
        True
        """
        check_is_fitted(self)
        if not isinstance(self.reader_, ClassReader):
            raise InputError("only themes of three or more classes without an order have a model of each class")
        model = copy(self)
        model.reader_, model.family = self.reader_.of_class(label), ONE_CLASS
        model.naming_ = replace(self.naming_, unit=PERCENTAGE_POINTS, event=str(label), is_class=True)
        model._training = self.reader_.observed_by_class(self._training)[label]
        return model

    def name_response(self, name: str, unit: str | None = None, *, lower_is_better: bool = False) -> Self:
        """The model with names for the response and one step of it, wherever sentences name them.

        Parameters
        ----------
        name : of the response.
        unit : what one step is called, such as "stars"; None for what suits the response: percentage points where it
            has two values, what is counted, or points.
        lower_is_better : whether less is better, as of severity: what raises it is then to be fixed.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> "stars higher" in model.name_response("rating", "stars").drivers().findings().to_fix[0]
        True
        """
        check_is_fitted(self)
        model = copy(self)
        model.naming_ = Naming.of(self.reader_.family, name, unit, self.naming_.given, lower_is_better)
        return model

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

    def contributions(
        self,
        texts: Iterable[str],
        *,
        scale: str = "linear predictor",
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """(documents x topics) what each topic adds, by its label; the column "constant" is the rest.

        With covariates or an offset the constant holds what these add.

        Parameters
        ----------
        texts : documents.
        scale : "linear predictor", to which rows add up; or "response": rows add up to the prediction, the constant
            being the prediction at the constant alone and every contribution being brought to points by one slope,
            that of the line from there to the text's own prediction.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> points = model.contributions(reviews.texts, scale="response")
        >>> bool(np.allclose(points.sum(axis=1), model.predict(reviews.texts)))
        True
        """
        check_choice("scale", scale, ["linear predictor", "response"])
        reading = self.read(texts, covariates=covariates, offset=offset)
        check_trainable(self.reader_.family, "contributions")
        family, eta, added = self.reader_.family, reading.predictions.eta, reading.contributions
        constant = eta - added.sum(axis=1)
        if scale == "response":
            slopes = np.array([slope_of(family, *pair) for pair in zip(constant.tolist(), eta.tolist(), strict=True)])
            constant, added = family.mean(constant), added * slopes[:, None]
        table = pd.DataFrame(added, columns=unique_labels(self._topic_names()))
        table.insert(0, "constant", constant, allow_duplicates=True)
        return table

    def sentences(self, text: str) -> pd.DataFrame:
        """One row per sentence of a text, for a model of themes.

        Columns: sentence, start, end (its place in the text, without HTML), topic and theme (its main one), share (of
        that in the sentence), tone and speaking (what it adds by how it speaks, and by what it speaks of),
        contribution (both). With the constant of `contributions`, they add up to the linear predictor.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> table = model.sentences("The staff were friendly. The bathroom was dirty.")
        >>> bool(table["contribution"][0] > table["contribution"][1])
        True
        """
        reader, reading = self._of_themes([text])
        return sentence_table(reading, reader.fitted.effects, self._topic_names()).drop(columns="document")

    def find_sentences(
        self,
        topic: Topic,
        n: int = 10,
        good: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Sentences that show what a theme is and how people speak of it, for a model of themes.

        Columns: row (position of its text, from 0), sentence, response, share (of the theme), contribution.

        Parameters
        ----------
        topic : its number or label.
        n : how many at most, each of another document.
        good : True for those that speak well of it, False for badly, None for the most typical ones.
        texts, responses : where to look; the training texts and responses if not given. A loaded model does not hold
            these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> list(model.find_sentences(0, n=3, good=False).columns)
        ['row', 'sentence', 'response', 'share', 'contribution']
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        number = topic_number(topic, self._topic_names())
        observed = self._observed(texts, responses)
        reader, reading = self._of_themes(observed.tokens)
        raising = None if good is None else good != self.naming_.lower_is_better
        return find_sentences(reading, reader.fitted.effects, number, int(n), raising, observed.responses)

    def _of_themes(self, texts: Iterable[str] | Tokens) -> tuple[ThemeReader, ThemeReading]:
        check_is_fitted(self)
        if isinstance(self.reader_, ClassReader):
            raise self.reader_.of_one_class("sentences")
        if not isinstance(self.reader_, ThemeReader):
            raise InputError('sentences are read by models of themes alone; fit with training="themes"')
        reading = self.reader_.read(texts).sentences
        assert reading is not None
        return self.reader_, reading
