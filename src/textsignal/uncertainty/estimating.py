"""`estimate_effects`: which way intervals are got, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.checks import check_choice, check_groups, check_number
from textsignal.errors import InputError
from textsignal.insight.naming import Naming
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.observed import Observed
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.uncertainty.bootstrap import Progress, Resampling, bootstrap_themes, bootstrap_topics
from textsignal.uncertainty.calibration import NOTHING
from textsignal.uncertainty.effect_table import EffectTable, with_holm
from textsignal.uncertainty.effects import check_enough, effects_of, gather
from textsignal.uncertainty.parts import parts_of

#: Ways to intervals, with what is said of them.
METHODS = {
    "crossfit": (
        "Standard errors are those of the GLM on themes, by tone that has not seen the responses, times what pairs of "
        "halves of the texts say they fall short; what these miss of lifts and worths is added. Themes are taken as "
        "they are; stability() says how firm these are."
    ),
    "bootstrap": "Standard errors are those of {n_refits} samples of the texts drawn with replacement.",
    "plugin": (
        "Conditional on the topics: as if themes and tone had been known beforehand, and not learnt from these "
        "responses. Too narrow: pure noise is called clear far too often."
    ),
}
#: Level of intervals, and samples, where nobody says.
LEVEL, REFITS = 0.95, 200


def estimate_effects(
    reader: Reader,
    observed: Observed,
    labels: Sequence[str],
    naming: Naming,
    *,
    by: ArrayLike | pd.Series | None,
    groups: ArrayLike | None,
    method: str | None,
    level: float,
    n_refits: int,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> EffectTable:
    """Estimates about topics and their intervals; see `TextResponseModel.estimate_effects`."""
    of_matrix = isinstance(reader, MatrixReader)
    method = method or ("bootstrap" if of_matrix else "crossfit")
    check_choice("method", method, ["bootstrap"] if of_matrix else list(METHODS))
    check_number("level", level, least=0, above=True)
    if level >= 1:
        raise InputError(f"level={level!r} must be below 1, such as 0.95")
    check_number("n_refits", n_refits, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    clusters = check_groups(groups, len(observed.tokens))
    if clusters is None and observed.given is not None:
        clusters = observed.given.groups
    parts = parts_of(by, observed.weight)
    shared = (parts, labels, level)
    draws = Resampling(int(n_refits), int(seed), n_jobs, progress or (lambda number: None))
    if isinstance(reader, MatrixReader):
        check_enough(reader.family.encode(observed.responses), observed.weight, len(labels))
        frame = bootstrap_topics(reader, observed, clusters, naming.better, *shared, draws)
    else:
        assert isinstance(reader, ThemeReader)
        evidence = gather(reader, observed, clusters, naming.better, unseen=method != "plugin")
        known = NOTHING if method == "plugin" else evidence.calibrate(int(seed), n_jobs)
        if method == "bootstrap":
            frame = bootstrap_themes(evidence, reader.fitted.themes, *shared, known, draws)
        else:
            frame = effects_of(evidence, *shared, known)
    said = METHODS[method].format(n_refits=n_refits)
    if clusters is not None:
        said += f" Texts of a group are taken to depend on each other ({len(np.unique(clusters))} groups)."
    return EffectTable(with_holm(frame), level, said, naming)
