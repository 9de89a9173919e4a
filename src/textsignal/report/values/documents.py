"""What a report knows of every document: what the model and the baselines say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.evaluation.baselines import fit_baselines
from textsignal.insight.inputs import Times
from textsignal.reading.observed import Reading
from textsignal.reading.spoken import Spoken
from textsignal.report.values.bins import Bins, bins_of
from textsignal.report.values.data import Floats, ReportedModel
from textsignal.text.masking import masked_characters
from textsignal.training.inference import unit_rows

#: Training and held-out documents that baselines are compared on at most, each.
COMPARED = 20_000
#: Fewest training documents that baselines are fitted on.
FEWEST = 10


@dataclass(frozen=True)
class ReportTexts:
    """What is known of every document, in a few numbers each.

    reading : the texts as the model reads them.
    responses : (documents,), NaN where there is none.
    held_out : (documents,) whether training has not seen it.
    mean : (documents,) expected response.
    shares : (documents, topics) share of each topic in the text.
    spoken : what they say about topics, by numbers that have not seen their responses.
    baselines : name -> (documents,) predictions; NaN for documents that they are not compared on.
    groups, times : (documents,) the group of each, missing where it has none, and its day; None where none are known.
    mask : whether e-mail addresses and phone numbers are masked where a text is shown.
    """

    reading: Reading
    responses: Floats
    held_out: NDArray[np.bool_]
    mean: Floats
    shares: Floats
    spoken: Spoken
    baselines: dict[str, Floats]
    groups: pd.Series | None = None
    times: Times | None = None
    mask: bool = True

    def shown(self, row: int) -> Sequence[str]:
        """(characters,) what the page shows of each character of a document, as `masked_characters` gives it."""
        text = self.reading.texts[row]
        return masked_characters(text) if self.mask else text

    @cached_property
    def bins(self) -> Bins:
        """Stretches of the response that these documents are counted in."""
        return bins_of(self.spoken.family, self.responses)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """(documents,) whether it has no known term."""
        return self.reading.predictions.unknown

    @property
    def n_known(self) -> NDArray[np.int64]:
        """(documents,) number of different known terms."""
        return np.diff(self.reading.X.indptr)

    @property
    def leader(self) -> NDArray[np.int64]:
        """(documents,) each document's topic of most text; -1 for a document with no known term."""
        return np.where(self.unknown, -1, self.shares.argmax(axis=1))


def describe_documents(
    model: ReportedModel,
    reading: Reading,
    responses: Floats,
    held_out: NDArray[np.bool_],
    groups: pd.Series | None = None,
    times: Times | None = None,
) -> ReportTexts:
    """Put together what is known of every document; nothing is read or inferred again."""
    return ReportTexts(
        reading=reading,
        responses=responses,
        held_out=held_out,
        mean=reading.predictions.mean,
        shares=reading.predictions.shares,
        spoken=model.reader_.spoken(reading, responses, None).judged(model.naming_.better),
        baselines=_baselines(reading, responses, held_out),
        groups=groups,
        times=times,
    )


def _baselines(reading: Reading, responses: Floats, held_out: NDArray[np.bool_]) -> dict[str, Floats]:
    """Predictions of baselines fitted to some training documents, for these and as many held-out ones."""
    answered = ~np.isnan(responses)
    training, new = _sample(answered & ~held_out), _sample(answered & held_out)
    if training.size < FEWEST:
        return {}
    compared = np.concatenate([training, new])
    X = unit_rows(reading.X[compared])
    predicted = {}
    for name, regressor in fit_baselines(X[: training.size], responses[training]).items():
        predicted[name] = np.full(responses.size, np.nan)
        predicted[name][compared] = regressor.predict(X)
    return predicted


def _sample(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """At most COMPARED of these rows, at random, in their order."""
    chosen = np.flatnonzero(rows)
    if chosen.size > COMPARED:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, COMPARED, replace=False))
    return chosen
