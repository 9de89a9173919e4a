"""Stability of themes: share of refits to other samples of the texts that reproduce each theme.

Themes of every refit are matched to the model's own, one to one, so that the sum of the cosines of their profiles is
largest. A refit reproduces a theme if that cosine is at least `SAME`.

Samples are halves of the texts. A number with variance s / n varies by s / (n / 2) - s / n = s / n between half of the
texts and all of them: as much as between bootstrap samples. So halves measure the same at half the cost, and no text is
in one twice, which would make words that met by chance look like words that belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.checks import check_number
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.errors import InputError
from textsignal.insight.drivers import change
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.text.tokens import text_keys
from textsignal.training.contributions import fit_theme_effects
from textsignal.training.halves import SeedWords, halves, match_topics, theme_text
from textsignal.training.theme_model import ThemeReading
from textsignal.uncertainty.effects import by_themes, talk_of
from textsignal.uncertainty.influence import Talk

#: Profiles of this cosine are of one theme. Of 4,800 matched pairs of themes, of halves and bootstrap samples of five
#: sets of reviews, 95% of those above it share 5 or more of their 10 leading words, and 15% of those below.
SAME = 0.65
#: A theme that a smaller share of refits reproduces is unstable.
STABLE = 0.5
#: Fewest texts that halves are taken of; at least two for each theme.
FEWEST = 20
#: The quick check: refits, the sentences and leading terms of each at most, and clusterings its start is the best of.
#: Of 96 themes of four sets of reviews, on which these were chosen, it called unstable all 11 that less than half of 20
#: whole refits reproduce, 4 of the 12 from there to four fifths and 1 of the 73 above; more of any did no better.
QUICK_REFITS, QUICK_SENTENCES, QUICK_TERMS, QUICK_TRIES = 4, 20_000, 1000, 8


def share_reproduced(cosines: Vector) -> Vector:
    """Return (themes,) the share of refits that reproduce each theme; cosines : (refits, themes) of matches."""
    return np.asarray(np.mean(cosines >= SAME, axis=0), dtype=float)


@dataclass(frozen=True, eq=False)
class Stability:
    """Cosines and costs of the matches of every theme: (refits, themes)."""

    cosines: Vector
    costs: Vector

    def table(self, labels: Sequence[str]) -> pd.DataFrame:
        """Return one row per theme, the least stable first, without the overall verdict; labels : of all themes."""
        labels = labels[: self.cosines.shape[1]]
        costs = pd.DataFrame(np.where(self.cosines >= SAME, self.costs, np.nan))
        table = pd.DataFrame(
            {
                "theme": np.arange(len(labels)),
                "label": list(labels),
                "reproduced": share_reproduced(self.cosines),
                "cosine": self.cosines.mean(axis=0),
                "cost_sd": costs.std().to_numpy(),
                "cost_low": costs.min().to_numpy(),
                "cost_high": costs.max().to_numpy(),
            }
        )
        return table.sort_values(["reproduced", "cosine", "theme"], kind="stable", ignore_index=True)


def stability(reader: ThemeReader, read: Reading, n_refits: int, seed: int, seed_words: SeedWords = None) -> Stability:
    """Refit themes to halves of the texts, each with another seed, and match them to the reader's own.

    Terms and the tone of words are kept.
    """
    check_number("n_refits", n_refits, least=1, whole=True)
    check_number("seed", seed, least=0, whole=True)
    fitted, profiles, reading = reader.fitted, reader.profiles[:-1], read.clauses
    text = theme_text(fitted, reading, read.observed.weight, seed_words)
    if text.n_speaking < _least(fitted.n_themes):
        raise InputError(
            f"{text.n_speaking:,} texts with known terms are too few to find {fitted.n_themes} themes in halves of "
            f"them; stability needs at least {_least(fitted.n_themes):,}"
        )
    clauses = read.unseen
    talk = talk_of(reader, read, clauses)
    samples = halves(text_keys(read.texts), int(n_refits), int(seed))

    def refit(number: int) -> tuple[Vector, Vector]:
        rows = samples[number]
        drawn = replace(talk, weight=np.where(np.isin(np.arange(len(talk.y)), rows), talk.weight, 0.0))
        with local_compute(1) as compute:
            themes = text.at(rows).themes(fitted.n_themes, int(seed) + number + 1, compute)
            costs = _costs(by_themes(drawn, fitted, themes, reading, clauses).at(rows), compute)
        others = themes.topics / themes.term_weights
        match = match_topics(profiles, others / others.sum(axis=1, keepdims=True))
        return match.cosines, costs[match.numbers]

    with LocalEngine(reader.n_jobs) as engine, threadpool_limits(1):
        cosines, costs = zip(*engine.map(refit, range(int(n_refits))), strict=True)
    return Stability(np.array(cosines), np.array(costs))


def _least(n_themes: int) -> int:
    """Fewest texts that halves are taken of."""
    return max(FEWEST, 2 * n_themes)


def _costs(talk: Talk, compute: Compute) -> Vector:
    """(themes,) costs of themes by a refit of the GLM on them; NaN if responses are constant."""
    known = talk.y[~np.isnan(talk.y) & (talk.weight > 0)]
    if not known.size or np.ptp(known) == 0:
        return np.full(talk.n_themes - 1, np.nan)
    given = replace(talk.given, groups=None)  # covariates need no standard errors here
    effects, family = fit_theme_effects(talk.texts, talk.prevalence, talk.y, talk.weight, talk.family, compute, given)
    eta = effects.linear_predictor(talk.texts)
    eta += given.linear_predictor(effects.covariate_effects)
    mentions = Mentions.of(family, eta, effects.gamma, talk.texts, talk.y, talk.weight, talk.better)
    return talk.better * change(mentions, mentions.complaint)[:-1]


def quick_stability(reader: ThemeReader, reading: ThemeReading, seed_words: SeedWords = None) -> Vector | None:
    """Return (themes,) the share of a few quick refits that reproduce each theme, for reports.

    Only themes are refitted, to the most frequent terms and with fewer tries. None if `reading` lacks some texts of
    training, or if these are too few.
    """
    fitted, keys = reader.fitted, reading.texts.keys
    row_of = {key: row for row, key in enumerate(keys.tolist())}
    row_of_each = np.array([row_of.get(key, -1) for key in fitted.training.keys.tolist()], dtype=np.int64)
    if np.any(row_of_each < 0):
        return None
    # Copies of a text are one text with their total weight.
    weight = np.bincount(row_of_each, fitted.training.weight, len(keys)).astype(float)
    rows = np.unique(row_of_each)
    text = theme_text(fitted, reading, weight, seed_words).at(rows)
    if text.n_speaking < _least(fitted.n_themes):
        return None
    terms = text.leading_terms(QUICK_TERMS)
    text, profiles = text.with_terms(terms), reader.profiles[:-1, terms]
    most = max(FEWEST, QUICK_SENTENCES * len(rows) // len(text.documents))
    samples = halves(keys[rows], QUICK_REFITS, 0, most)

    def cosines(number: int) -> Vector:
        with local_compute(1) as compute:
            themes = text.at(samples[number]).themes(fitted.n_themes, number + 1, compute, QUICK_TRIES)
        return match_topics(profiles, themes.topics / themes.term_weights).cosines

    with LocalEngine(reader.n_jobs) as engine, threadpool_limits(1):
        return share_reproduced(np.array(engine.map(cosines, range(QUICK_REFITS))))
