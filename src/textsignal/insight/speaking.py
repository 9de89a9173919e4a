"""What a fitted model says texts speak of: drivers, contributions, sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from textsignal.checks import check_choice, check_number
from textsignal.errors import InputError
from textsignal.families import Family, check_trainable
from textsignal.insight.beside import index_of
from textsignal.insight.drivers import DRIVER_TERMS, grouped_drivers
from textsignal.insight.explanation import slope_of
from textsignal.insight.findings import Drivers
from textsignal.insight.naming import PERCENTAGE_POINTS, Naming
from textsignal.insight.ranges import check_interval, with_clear
from textsignal.insight.revise import Labels, Topic, topic_number
from textsignal.insight.table import with_words
from textsignal.insight.theme_sentences import find_sentences, sentence_table
from textsignal.insight.trusted import Trusted
from textsignal.reading.classes import ONE_CLASS, ClassReader, by_class
from textsignal.reading.labels import unique_labels
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.training.theme_reading import ThemeReading
from textsignal.uncertainty.effect_table import with_intervals


class Speaking(Trusted):
    """What texts speak of, how they speak of it and what that is worth."""

    family: str | Family
    labels_: Labels
    _training: Observed | None

    @abstractmethod
    def read(
        self, texts: Iterable[str] | Tokens, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Reading:
        """Everything the model says of texts."""

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
        interval: float | None = None,
        groups: ArrayLike | None = None,
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
        interval : a level such as .95 for columns with the ends of intervals: lift_low, lift_high, worth_low and
            worth_high, by `estimate_effects`, and lift_clear and worth_clear: whether it can be told from nothing, all
            topics judged together (Holm). It takes as long as two or three fits. None for none.
        groups : of the intervals: within which texts depend on each other, such as hotels.

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
        check_interval(interval)
        beside: dict[str, Any] = {
            "texts": texts,
            "responses": responses,
            "sample_weight": sample_weight,
            "covariates": covariates,
            "offset": offset,
        }
        given = None if all(value is None for value in beside.values()) else self._observed(**beside)

        def table(reader: Reader, observed: Observed | None) -> pd.DataFrame:
            spoken = reader.trained if observed is None else None
            if spoken is None:
                observed = self._observed(None, None) if observed is None else observed
                reader.family.encode(observed.responses)
                reading = reader.read(observed.tokens, observed.given)
                spoken = reader.spoken(reading, observed.responses, observed.weight)
            judged = spoken.judged(self.naming_.better)
            return with_words(reader, grouped_drivers(judged, by), self.labels_, n_terms)

        if not isinstance(self.reader_, ClassReader):
            made = table(self.reader_, given)
            if interval is not None:
                effects = self.estimate_effects(by, level=interval, groups=groups, **beside)
                made = with_clear(with_intervals(made, effects), effects.frame, interval)
            if given is None and (basis := self.reader_.basis):
                made.attrs["basis"] = basis
            return Drivers.of(made, self.naming_)
        if interval is not None:
            raise self.reader_.of_one_class("intervals")
        each = self.reader_.observed_by_class(given)
        tables = {label: table(self.reader_.of_class(label), each[label]) for label in self.reader_.classes}
        return Drivers.of(by_class(tables), self.naming_)

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
        table = pd.DataFrame(added, columns=unique_labels(self._topic_names()), index=index_of(texts))
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
