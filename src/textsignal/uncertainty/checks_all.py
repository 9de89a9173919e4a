"""All checks of a model and its documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from textsignal.errors import InputError
from textsignal.reading.observed import Reading
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.uncertainty.checks import FEWEST, Check, Checked
from textsignal.uncertainty.checks_calibration import Drawn, calibration, dispersion
from textsignal.uncertainty.checks_influence import influence
from textsignal.uncertainty.checks_residuals import residuals
from textsignal.uncertainty.checks_skill import skill
from textsignal.uncertainty.checks_texts import duplicates, leakage


def check_all(checked: Checked, reader: Reader, *, families: bool = True) -> Check:
    """Look at everything; families : whether other families are fitted too, which takes longer than all the rest."""
    n_answered = len(checked.answered)
    if n_answered < FEWEST:
        raise InputError(f"{n_answered:,} texts have a response, which are too few to check; give at least {FEWEST}")
    if checked.spread == 0:
        raise InputError(
            "the response is constant in these texts, so nothing can be checked; check the response column"
        )
    drawn = Drawn.of(checked)
    calibrated, pit, reliability = calibration(checked, drawn)
    findings = [
        *skill(checked),
        *calibrated,
        *dispersion(checked, drawn, families=families),
        *residuals(checked),
        *duplicates(checked),
        *leakage(checked, *features_of(reader, checked.reading)),
        *influence(checked),
    ]
    return Check(tuple(findings), n_answered, checked.where, pit, reliability)


def can_check(checked: Checked) -> bool:
    """Whether enough documents have a response, and not all the same."""
    return len(checked.answered) >= FEWEST and checked.spread > 0


def features_of(reader: Reader, reading: Reading) -> tuple[Sequence[str], sp.csr_array]:
    """Names of the model's features, and (documents, features) how often each document has them."""
    if not isinstance(reader, ThemeReader) or reading.sentences is None:
        return reader.terms, reading.X
    features, occurrences = reader.fitted.features, reading.sentences.occurrences
    documents = reading.sentences.texts.documents[occurrences.sentences]
    ones, shape = np.ones(len(documents)), (len(reading.texts), len(features))
    return features.names, sp.csr_array(sp.coo_array((ones, (documents, occurrences.features)), shape=shape))
