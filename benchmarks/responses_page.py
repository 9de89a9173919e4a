"""`docs/responses.md` from finished cells of `benchmarks/responses.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

HEAD = """# Responses: probabilities that can be believed

Made by `make responses`; the sets are not in this repository. 80% of every set trains, the rest is predicted; numbers
are means over {splits} splits for small sets, one split else. `family="auto"` is the default of `TextResponseModel`: it
looks at the response and takes, of those that fit, the family with the best log score on texts held back in training.

* **Log loss**: minus the mean logarithm of the probability that was given to what happened; the smaller, the better.
  *Frequencies* ignores the text: every test text gets the shares of levels in training. *Logistic* is scikit-learn's
  multinomial logistic regression on 2,000 terms in rows of norm 1, its penalty chosen by cross-validation.
* **Middle 90%**: share of test responses in the middle 90% of their predicted distributions. A level takes up the
  stretch from P(below it) to P(up to it) and counts as far as that lies between 5% and 95% (Czado, Gneiting and Held,
  2009, whose histograms the report shows). Where levels are few, an interval of whole levels must hold more than it
  says, so that its coverage tells little; this share is 90% wherever probabilities are right.
* **R2** is that of the expected response.
"""
COLUMNS = (
    "set",
    "frequencies",
    "logistic",
    "binomial",
    "**auto**",
    "auto took",
    "R2 binomial",
    "R2 auto",
    "middle 90%",
)


def page(results: Sequence[dict[str, Any]]) -> str:
    """The page; a number that is not finished yet is a dash."""
    names = list(dict.fromkeys(result["set"] for result in results))
    splits = max((result["split"] for result in results), default=0) + 1
    lines = [HEAD.format(splits=splits), _row(COLUMNS), _row(["---"] * len(COLUMNS))]
    return "\n".join(lines + [_row(_cells(name, results)) for name in names]) + "\n"


def _cells(name: str, results: Sequence[dict[str, Any]]) -> list[str]:
    def number(method: str, measure: str, digits: int = 3) -> str:
        found = [r[measure] for r in results if r["set"] == name and r["method"] == method]
        return f"{mean(found):.{digits}f}" if found else "–"

    taken = Counter(r["family"] for r in results if r["set"] == name and r["method"] == "auto")
    losses = [number(method, "log_loss") for method in ("frequencies", "logistic", "binomial")]
    return [
        name,
        *losses,
        f"**{number('auto', 'log_loss')}**",
        ", ".join(taken),
        number("binomial", "r2"),
        number("auto", "r2"),
        number("auto", "covered"),
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
