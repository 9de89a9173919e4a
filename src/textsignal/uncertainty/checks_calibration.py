"""Whether predicted distributions can be believed: PIT, means by tenths, dispersion, and families that fit better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.evaluation import metrics as evaluate
from textsignal.families import Family, log_scores
from textsignal.families.auto import Candidates, candidates
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.covariate_effects import dispersion_of
from textsignal.training.family_choice import choose_family
from textsignal.training.glm import ResponseModel, fit_glm
from textsignal.uncertainty.checks import DRAWS, MATTERS, Checked, Finding

#: Bins of the PIT and tenths of documents; documents that responses are drawn for at most.
BINS, MOST_DRAWN = 10, 5000
#: Shares of documents in the wrong place of their predicted distribution that matter.
PIT_MATTERS = 0.04
#: Ratios of dispersions that matter: intervals are then a twelfth too narrow.
DISPERSION_MATTERS = 1.2
#: A family fits better from so many standard errors of the difference in log scores on, and by so much of a nat.
CLEAR_ERRORS, SCORE_MATTERS = 3.0, 0.02
#: Log scores above this are of responses that cannot be.
IMPOSSIBLE = 700.0
#: Parts that are held back in turn where families are compared.
FOLDS = 2


@dataclass(frozen=True, eq=False)
class Drawn:
    """Documents and responses drawn from the model for them.

    responses : (1 + draws, documents) those that were given, then those that were drawn.
    """

    family: Family
    eta: Vector
    weight: Vector
    responses: Vector

    @classmethod
    def of(cls, checked: Checked) -> Drawn | None:
        """Draws for the documents that are judged; None where the family cannot have drawn their responses."""
        step = -(-len(checked.rows) // MOST_DRAWN)
        eta, observed = checked.eta[::step], checked.responses[::step]
        if log_scores(checked.family, observed, eta).max() > IMPOSSIBLE:
            return None  # shares of trials, say
        rng = checked.rng(0)
        drawn = [_numbers(checked.family, checked.family.sample(eta, rng)) for _ in range(DRAWS)]
        return cls(checked.family, eta, checked.weight[::step], np.array([observed, *drawn], dtype=float))


def _numbers(family: Family, drawn: NDArray[np.generic]) -> Vector:
    """Draws as the numbers that stand for them."""
    return family.numbers[family.encode(drawn).astype(np.int64)] if family.has_text else drawn.astype(float)


def calibration(checked: Checked, drawn: Drawn | None) -> tuple[list[Finding], pd.DataFrame, pd.DataFrame]:
    """Findings, the PIT's histogram, and tenths of documents by prediction."""
    tenths = evaluate.calibration_table(checked.responses, checked.means, BINS)
    if drawn is None:
        return [], pd.DataFrame(columns=["low", "high", "documents", "expected"]), tenths
    below = np.array([evaluate.pit_shares(drawn.family, y, drawn.eta, BINS, drawn.weight) for y in drawn.responses])
    heights, n = np.diff(below[0]), drawn.responses.shape[1]
    edges = np.linspace(0, 1, BINS + 1)
    pit = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "documents": n * heights, "expected": n / BINS})
    return [_pit_finding(checked, below, edges, n), _mean_finding(checked, drawn)], pit, tenths


def _pit_finding(checked: Checked, below: Vector, edges: Vector, n: int) -> Finding:
    distances = np.abs(below - edges).max(axis=1)
    limit = max(float(distances[1:].max()), PIT_MATTERS)
    measure, value = "largest distance of the PIT from that of calibrated predictions", float(distances[0])
    if value <= limit:
        return Finding("calibration", measure, value, limit)
    inside = below[0][BINS - 1] - below[0][1]
    middle = 1 - 2 / BINS
    problem = (
        f"Predicted distributions are off: {inside:.0%} of {n:,} responses lie in the middle {middle:.0%} of theirs, "
        f"{below[0][BINS // 2]:.0%} in the lower half (largest distance {value:.3f}; tolerated up to {limit:.3f})."
    )
    advice = 'Trust means more than chances and intervals; try family="auto".'
    return Finding("calibration", measure, value, limit, problem, advice)


def _mean_finding(checked: Checked, drawn: Drawn) -> Finding:
    """Means of tenths by prediction against those predicted."""
    means = drawn.family.mean(drawn.eta)
    order = np.argsort(means, kind="stable")
    tenth = np.empty(len(means), dtype=np.int64)
    tenth[order] = np.arange(len(means)) * BINS // len(means)
    size = np.bincount(tenth, drawn.weight)
    gaps = np.array([np.bincount(tenth, drawn.weight * (y - means)) / size for y in drawn.responses])
    largest = np.abs(gaps).max(axis=1)
    limit = max(float(largest[1:].max()), MATTERS * checked.spread)
    worst = int(np.abs(gaps[0]).argmax())
    measure, value = "largest gap between mean response and mean prediction of tenths", float(largest[0])
    if value <= limit:
        return Finding("calibration", measure, value, limit)
    at, naming = tenth == worst, checked.naming
    predicted = float(np.average(means[at], weights=drawn.weight[at]))
    problem = (
        f"Where {naming.mean(predicted)} is predicted, {naming.mean(predicted + gaps[0][worst])} is found "
        f"({int(at.sum()):,} texts, a tenth of them by prediction; tolerated up to {naming.amount(limit)} apart)."
    )
    advice = "See `reliability` for all tenths; fit anew with texts such as these."
    return Finding("calibration", measure, value, limit, problem, advice)


def dispersion(checked: Checked, drawn: Drawn | None, *, families: bool = True) -> list[Finding]:
    """How much more responses scatter than the family says, and which family would fit better, if `families`."""
    if drawn is None:
        return []
    encoded = map(drawn.family.encode, drawn.responses)
    found = [dispersion_of(drawn.family, y, drawn.eta, drawn.weight) for y in encoded]
    usual = float(np.mean(found[1:]))
    ratios = np.array(found) / usual
    high, low = max(ratios[1:].max(), DISPERSION_MATTERS), min(ratios[1:].min(), 1 / DISPERSION_MATTERS)
    value, measure = float(ratios[0]), "scatter of responses over what the family says"
    better = [_better_family(checked)] if families else []
    if low <= value <= high:
        said = [Finding("dispersion", measure, value, float(high))]
    else:
        how, width = ("more", "narrow") if value > high else ("less", "wide")
        problem = (
            f"Responses scatter {how} than the {drawn.family.name} family says: {value:.2f} times as much (tolerated "
            f"{low:.2f} to {high:.2f}), so intervals of single texts are too {width}."
        )
        named = better and better[0].wrong
        advice = "" if named else "Trust means more than intervals of single texts; standard errors should be robust."
        said = [Finding("dispersion", measure, value, float(high if value > high else low), problem, advice)]
    return [*said, *better]


def _better_family(checked: Checked) -> Finding:
    """The family with the best log score of documents held back, by a GLM on the model's own linear predictor."""
    measure = "log score of the family over that of the best one"
    family, spoken = checked.family, checked.spoken
    # Of training too: so few parameters need no texts of their own, but some texts.
    rows = checked.answered[:: -(-len(checked.answered) // MOST_DRAWN)]
    eta, responses, weight = spoken.eta[rows], spoken.responses[rows], spoken.weight[rows]
    nothing = Finding("dispersion", measure, 0.0, SCORE_MATTERS)
    best = _best_at_first_sight(family, _others(family, responses), eta, responses, weight)
    if best is None:
        return nothing
    gains = _held_back(family, eta, responses, weight) - _held_back(best, eta, responses, weight)
    value = float(np.average(gains, weights=weight))
    limit = max(CLEAR_ERRORS * float(np.std(gains) / np.sqrt(len(gains))), SCORE_MATTERS)
    if value <= limit:
        return Finding("dispersion", measure, max(value, 0.0), limit)
    problem = (
        f"The {best.name} family fits better than {family.name}: held-back responses are {np.expm1(value):.0%} more "
        f"probable under it (log score lower by {value:.3f}; tolerated up to {limit:.3f})."
    )
    return Finding("dispersion", measure, value, limit, problem, f'Fit with family="{best.name}", or "auto".')


def _others(family: Family, responses: Vector) -> list[Family]:
    """Other families that the responses may be of, whose log scores can be compared."""
    levels = family.levels if hasattr(family, "levels") else None
    if family.has_text or (levels is not None and len(levels) == 2):
        return []
    try:
        found = candidates(responses, levels).families
    except InputError:
        return []
    lists = hasattr(family.distribution(np.zeros(1)), "pmf")
    alike = [other for other in found if hasattr(other.distribution(np.zeros(1)), "pmf") == lists]
    return [other for other in alike if other.name != family.name]


def _best_at_first_sight(
    family: Family, others: list[Family], eta: Vector, responses: Vector, weight: Vector
) -> Family | None:
    """The one with the best mean log score, where that is better by what matters."""
    if not others:
        return None
    folds = np.arange(len(eta)) % FOLDS
    with local_compute(1) as compute:
        choice = choose_family(Candidates("", (family, *others)), eta, folds, responses, weight, compute)
    scores = dict(choice.scores)
    best = min(others, key=lambda other: scores[other.name])
    return best if scores[family.name] - scores[best.name] > SCORE_MATTERS else None


def _held_back(family: Family, eta: Vector, responses: Vector, weight: Vector) -> Vector:
    """(documents,) log scores by fits that have not seen them."""
    y, folds = family.encode(responses), np.arange(len(eta)) % FOLDS
    centre, scale = float(np.mean(eta)), float(np.std(eta)) or 1.0
    columns, found = ((eta - centre) / scale)[:, None], np.empty(len(eta))
    with local_compute(1) as compute:
        model = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True)
        for fold in range(FOLDS):
            out = folds == fold
            fit = fit_glm(model, columns[~out], y[~out], weight[~out])
            found[out] = log_scores(fit.family, responses[out], fit.linear_predictor(columns[out]))
    return found
