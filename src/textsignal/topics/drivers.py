"""What themes bring and cost: reach, mean response, words that raise and lower it, lift and worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.text.features import Features
from textsignal.topics.table import relevance, unique_labels
from textsignal.training.contributions import levers
from textsignal.training.theme_model import FittedThemes, ThemeReading, ThemeTraining

#: Words in a label; words that are listed as raising and lowering a theme, and the least documents that use them.
LABEL_WORDS, LISTED = 3, 6
#: Of two words with a common stem only one is in a label: "room" and "rooms".
STEM = 4


def theme_labels(model: FittedThemes) -> list[str]:
    """What themes are called: their most characteristic terms, none twice."""
    profiles = plain_profiles(model)
    ranked = np.argsort(-relevance(profiles, model.themes.prevalence), axis=1, kind="stable")
    return unique_labels([", ".join(_distinct(model.terms, row)) for row in ranked])


def _distinct(terms: Sequence[str], ranked: np.ndarray) -> list[str]:
    chosen: list[str] = []
    for j in ranked[: 5 * LABEL_WORDS]:
        term = terms[j]
        if not any(term[:STEM] == other[:STEM] for other in chosen):
            chosen.append(term)
        if len(chosen) == LABEL_WORDS:
            break
    return chosen


def plain_profiles(model: FittedThemes) -> Vector:
    """(themes, terms) shares of terms in each theme by plain counts, each summing to 1."""
    profiles = model.themes.topics / model.themes.term_weights
    return profiles / profiles.sum(axis=1, keepdims=True)


def theme_table(model: FittedThemes, words: ThemeWords, labels: Sequence[str], n_terms: int = 10) -> pd.DataFrame:
    """One row per theme, the largest lift first.

    Columns: topic (its number), label, reach (share of documents that speak of it), share (of all text), mean_response
    (where it is spoken of), well and badly (shares of these documents in which it raises and lowers the linear
    predictor), raises and lowers (the words that do so most), lift and worth (what-ifs on the model: by how much the
    mean response would rise if nothing bad were said of it, and fall if nothing good were), terms.
    """
    training = model.training
    lever = levers(training.tone, training.shares, model.effects, training.weight, model.family)
    profiles = plain_profiles(model)
    ranked = np.argsort(-relevance(profiles, model.themes.prevalence), axis=1, kind="stable")[:, :n_terms]
    table = pd.DataFrame(
        {
            "topic": np.arange(model.n_themes),
            "label": list(labels),
            "reach": np.average(training.spoken, axis=0, weights=training.weight),
            "share": np.average(training.shares, axis=0, weights=training.weight),
            "mean_response": [_mean_response(training, k) for k in range(model.n_themes)],
            "well": [_side(training, model, k, 1) for k in range(model.n_themes)],
            "badly": [_side(training, model, k, -1) for k in range(model.n_themes)],
            "raises": words.raises,
            "lowers": words.lowers,
            "lift": lever.lift,
            "worth": lever.worth,
            "terms": [[model.terms[j] for j in row] for row in ranked],
        }
    )
    return table.sort_values("lift", ascending=False, kind="stable", ignore_index=True)


def _mean_response(training: ThemeTraining, theme: int) -> float:
    rows = training.spoken[:, theme] & ~np.isnan(training.responses) & (training.weight > 0)
    if not rows.any():
        return float("nan")
    return float(np.average(training.responses[rows], weights=training.weight[rows]))


def _side(training: ThemeTraining, model: FittedThemes, theme: int, sign: int) -> float:
    rows = training.spoken[:, theme] & (training.weight > 0)
    if not rows.any():
        return float("nan")
    tone = sign * model.effects.gamma[theme] * training.tone[rows, theme]
    return float(np.average(tone > 0, weights=training.weight[rows]))


class ThemeWords:
    """Words that raise and lower each theme most, over all training documents.

    raises, lowers : for each theme, words from the strongest on.
    """

    def __init__(self, model: FittedThemes, reading: ThemeReading) -> None:
        sums = _sums(reading, model.features) * model.effects.gamma
        self.raises = [_strongest(column, model.features) for column in sums.T]
        self.lowers = [_strongest(-column, model.features) for column in sums.T]


def _sums(reading: ThemeReading, features: Features) -> Vector:
    """(features, themes) what all occurrences of a feature add to a theme."""
    places = reading.places[reading.texts.sentence_of_word[reading.occurrences.words]]
    columns = [
        np.bincount(reading.occurrences.features, weights=reading.values * place, minlength=len(features))
        for place in places.T
    ]
    return np.array(columns, dtype=float).T


def _strongest(sums: Vector, features: Features) -> list[str]:
    order = np.argsort(-sums, kind="stable")[: 3 * LISTED]
    names = dict.fromkeys(features.names[j] for j in order if sums[j] > 0)
    return list(names)[:LISTED]
