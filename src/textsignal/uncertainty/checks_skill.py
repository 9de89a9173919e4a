"""Whether the text predicts anything, and new texts as well as those of training."""

from __future__ import annotations

import numpy as np

from textsignal.arrays import Vector
from textsignal.estimators.skill import r2_score
from textsignal.evaluation.metrics import overfit_warning
from textsignal.uncertainty.checks import FEWEST, Checked, Finding

#: Standard errors from which on a difference is one.
CLEAR = 3.0


def r2_error(responses: Vector, means: Vector) -> float:
    """Standard error of R2, by the delta method.

    Examples
    --------
    >>> bool(r2_error(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4])) == 0)
    True
    """
    squares, spread = (responses - means) ** 2, (responses - responses.mean()) ** 2
    if spread.sum() == 0:
        return float("nan")
    parts = (squares - squares.sum() / spread.sum() * spread) / spread.mean()
    return float(np.std(parts) / np.sqrt(len(parts)))


def skill(checked: Checked) -> list[Finding]:
    """Skill of what has not been seen against none, and against that of training."""
    r2, error = r2_score(checked.responses, checked.means), r2_error(checked.responses, checked.means)
    measure, limit = "R2", CLEAR * error
    if r2 > limit:
        found = [Finding("skill", measure, r2, limit)]
    else:
        problem = (
            f"The text tells next to nothing of {checked.naming.subject}: R2 is {r2:.3f} in {len(checked.rows):,} "
            f"texts (standard error {error:.3f})."
        )
        advice = "Check that responses stand beside their own texts; believe no lift."
        found = [Finding("skill", measure, r2, limit, problem, advice)]
    return [*found, *_gap(checked)]


def _gap(checked: Checked) -> list[Finding]:
    """Training, out of fold where that is known, against held out."""
    new = checked.held_out[checked.answered]
    training, held_out = checked.answered[~new], checked.answered[new]
    if min(len(training), len(held_out)) < FEWEST:
        return []
    responses, means = checked.spoken.responses, checked.family.mean(checked.spoken.eta)
    (first, one), (second, other) = (
        (r2_score(responses[rows], means[rows]), r2_error(responses[rows], means[rows]))
        for rows in (training, held_out)
    )
    limit, measure = CLEAR * float(np.hypot(one, other)), "R2 of training texts above that of held-out ones"
    warning = overfit_warning(first, second, len(held_out))
    if first - second <= limit or warning is None:
        return [Finding("skill", measure, first - second, limit)]
    if checked.out_of_fold:
        problem = (
            f"R2 is {first:.2f} on training texts, out of fold, but {second:.2f} on {len(held_out):,} held-out ones "
            f"(tolerated up to {limit:.2f} apart): these are not like those."
        )
        return [Finding("skill", measure, first - second, limit, problem, "Look at what differs between the two.")]
    advice = "Fewer topics, or less supervision, may hold better."
    return [Finding("skill", measure, first - second, limit, f"{warning}.", advice)]
