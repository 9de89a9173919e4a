"""What a fitted model offers to somebody who wants a page to read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from textsignal.data.covariates.design import Design
from textsignal.errors import InputError
from textsignal.insight.beside import name_of
from textsignal.insight.ranges import check_interval
from textsignal.insight.revise import Labels
from textsignal.insight.trusted import Trusted
from textsignal.reading.observed import Reading, Tokens
from textsignal.report.values.data import ReportSettings
from textsignal.report.values.wording import without_place


class Reporting(Trusted):
    """One page on a model."""

    labels_: Labels
    n_documents_: int
    design_: Design | None

    @abstractmethod
    def read(
        self, texts: Iterable[str] | Tokens, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Reading:
        """Everything the model says of texts."""

    def report(
        self,
        path: str | Path,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        held_out: ArrayLike | None = None,
        by: ArrayLike | pd.Series | None = None,
        over: ArrayLike | pd.Series | None = None,
        interval: float | None = None,
        groups: ArrayLike | pd.Series | None = None,
        with_texts: bool = True,
        mask: bool = True,
        n_documents: int = 1000,
        title: str = "",
        response_name: str | None = None,
        unit: str | None = None,
        force: bool = False,
    ) -> None:
        """Write a report on the model to one HTML file that needs nothing else.

        Parameters
        ----------
        path : the file, such as "report.html".
        texts, responses, covariates, offset : the documents that it is about; those of training if not given. A loaded
            model does not hold these.
        held_out : (documents,) which of `texts` training has not seen, to say how well new texts are predicted; None
            for none of them.
        by : (documents,) the group of each document, such as its hotel, to compare groups.
        over : (documents,) the date of each document, to see what changes.
        interval : a level such as .95 for ranges of what themes cost and bring, by `estimate_effects`; it takes as long
            as two or three fits. None for none.
        groups : (documents,) of the ranges: within which texts depend on each other, such as hotels.
        with_texts : whether documents are shown; if not, the file is checked to hold none.
        mask : whether e-mail addresses and phone numbers in documents are shown as "[e-mail]" and "[phone]"; all
            numbers are those of the unmasked documents.
        n_documents : documents to put into the file, to be looked through there; a sample where there are more.
        title : of the page.
        response_name, unit : what the response, and one step of it, are called, such as "Rating" and "stars"; None for
            what `name_response` said, or what the responses' column is called.
        force : replace a file that is there.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> training, new = slice(300), np.arange(400) >= 300
        >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts[training], reviews.ratings[training])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/report.html", texts=reviews.texts, responses=reviews.ratings, held_out=new)
        """
        from textsignal.report.page.render import write_report  # charts are slow to import

        check_is_fitted(self)
        check_interval(interval)
        if groups is not None and interval is None:
            raise InputError("groups are those of ranges; give interval=0.95 too")
        observed = self._observed(texts, responses, None, covariates, offset)
        effects = None
        if interval is not None:
            if (observed.weight != 1).any():
                raise InputError(
                    "a report counts every text once, but these have weights; drivers(interval=...) has ranges"
                )
            tokens = None if texts is None else observed.tokens
            beside: dict[str, Any] = {
                "texts": tokens,
                "responses": responses,
                "covariates": covariates,
                "offset": offset,
            }
            effects = self.estimate_effects(level=interval, groups=groups, **beside)
        settings = ReportSettings(
            title=title,
            response_name=self.naming_.response if response_name is None else response_name,
            unit=self.naming_.unit if unit is None else unit,
            with_texts=with_texts,
            mask=mask,
            n_documents=n_documents,
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            within="" if groups is None else name_of(groups, "group"),
            command=f"model = {self!r}\nmodel.fit(texts, responses)\nmodel.report({without_place(str(path))!r})",
        )
        reading = self.reader_.read(observed.tokens, observed.given)
        write_report(
            self,
            path,
            reading,
            observed.responses,
            held_out,
            settings,
            groups=by,
            times=over,
            effects=effects,
            force=force,
        )
