"""`docs/responses.md` from finished cells of `benchmarks/responses.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

import responses_real as real

HEAD = """# Responses: calibrated probabilities, and responses of other kinds

Made by `make responses`; the data sets are not in this repository. 80% of every set is used for training and the rest
for testing; numbers are means over {splits} splits. `family="auto"` is the default of `TextResponseModel`: of the
families that suit the response, it chooses the one with the best log score on texts held out during training.

## Levels

* **Log loss**: minus the mean logarithm of the probability assigned to the observed level; lower is better.
  *Frequencies* ignores the text: every test text is assigned the shares of levels in training. *Logistic* is
  scikit-learn's multinomial logistic regression on 2,000 terms in rows of norm 1, with a cross-validated penalty.
* **Lower in**: splits in which *auto* has a lower log loss than all three others. The first split is the documented
  one (`default_rng(0)`).{exceptions}
* **Middle 90%**: share of test responses in the middle 90% of their predicted distributions. A level covers the range
  from P(below it) to P(up to it) and counts with the fraction of it between 5% and 95% (Czado, Gneiting and Held, 2009,
  whose histograms the report shows). With few levels, an interval of whole levels necessarily covers more than its
  nominal level, so its coverage is not informative; this share is 90% whenever the probabilities are correct.
* **R2** is computed from the expected response.
* *Half steps* is the mean of two ratings, *2 to 10* their sum. *1 to 10* has simulated ratings: 4,000 short reviews
  with a ten-level scale that piles up at both ends (11.5% at the lowest) and follows their stars so loosely that the
  text explains about a fifth of it.
"""
COLUMNS = (
    "set",
    "frequencies",
    "logistic",
    "binomial",
    "**auto**",
    "lower in",
    "auto chose",
    "R2 binomial",
    "R2 auto",
    "middle 90%",
)
OTHERS = ("frequencies", "logistic", "binomial")

REAL_HEAD = """## Other kinds

Held-out performance compared with GLMs with a ridge penalty tuned by cross-validation on the training side: logistic
regression, Poisson and negative binomial regression, and linear regression. They use the same 2,000 terms as above, or
words and word pairs (tf-idf of 1-2-grams, 26,000 for wine and 48,000 for clothing). *Ahead* is the lead of textsignal
over the better of the two, as a mean and in the worst split. The negative binomial's deviance uses one dispersion for
all, estimated from the training counts. Covariates are the logarithm of the price (and whether it is missing), country
and variety, with categories of fewer than 10 training wines merged; ridge uses them in addition to words, standardised
and multiplied by a factor that is also tuned.
"""
MISSING_HEAD = """## Missing responses

R2 of ratings in hotel_reviews_10k where nine tenths of 8,000 training reviews have no rating, compared with a fit to
the labelled tenth only; the test reviews are the same for all three draws of the tenth.
"""
SEVERAL_HEAD = """## Several responses

R2 of the seven ratings in hotel_aspect_ratings_6k, from one fit with shared themes and from separate fits.
"""


def page(stars: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> str:
    """The page; a number that is not finished yet is a dash."""
    names = list(dict.fromkeys(result["set"] for result in stars))
    splits = max((result["split"] for result in stars), default=0) + 1
    values = {(result["line"], result["split"], result["method"]): result["value"] for result in others}
    parts = [
        HEAD.format(splits=splits, exceptions=_exceptions(stars)),
        _table(COLUMNS, [_cells(name, stars) for name in names]),
    ]
    columns = ("response", "measure", "**textsignal**", *(f"ridge, {peer}" for peer in real.PEERS), "ahead")
    lines = [line for line in real.LINES if line.others == real.PEERS]
    parts += [REAL_HEAD, _table(columns, [_compared(line, values) for line in lines])]
    columns = ("draw", "all texts", "the labelled tenth only", "difference")
    rows = [(real.MISSING, split, str(split)) for split in real.SPLITS]
    (tenth,) = (line.others[0] for line in real.LINES if line.name == real.MISSING)
    parts += [MISSING_HEAD, _table(columns, [_pair(*row, tenth, values) for row in rows])]
    ratings = [line.removeprefix(real.SEVERAL) for line, _, method in values if line.startswith(real.SEVERAL)]
    rows = [(f"{real.SEVERAL}{name}", 0, name) for name in dict.fromkeys(ratings)]
    columns = ("rating", "together", "alone", "difference")
    parts += [SEVERAL_HEAD, _table(columns, [_pair(*row, "alone", values) for row in rows])]
    return "\n".join(parts)


def _exceptions(results: Sequence[dict[str, Any]]) -> str:
    """Where another method has a lower log loss, and by how much."""
    losses = {(r["set"], r["split"], r["method"]): r["log_loss"] for r in results}
    found = [
        f"{method} on {name}, split {split}, by {losses[name, split, 'auto'] - loss:.4f}"
        for (name, split, method), loss in losses.items()
        if loss <= losses.get((name, split, "auto"), loss) and method != "auto"
    ]
    return f" Lower than *auto*: {'; '.join(found)}." if found else ""


def _cells(name: str, results: Sequence[dict[str, Any]]) -> list[str]:
    def numbers(method: str, measure: str) -> dict[int, float]:
        return {r["split"]: r[measure] for r in results if r["set"] == name and r["method"] == method}

    def number(method: str, measure: str, digits: int = 3) -> str:
        return _mean(list(numbers(method, measure).values()), digits)

    taken = Counter(r["family"] for r in results if r["set"] == name and r["method"] == "auto")
    ours, others = numbers("auto", "log_loss"), [numbers(method, "log_loss") for method in OTHERS]
    lower = [all(ours[split] < other.get(split, float("nan")) for other in others) for split in ours]
    return [
        name,
        *(number(method, "log_loss", 4) for method in OTHERS),
        f"**{number('auto', 'log_loss', 4)}**",
        f"{sum(lower)} of {len(lower)}",
        ", ".join(taken),
        number("binomial", "r2"),
        number("auto", "r2"),
        number("auto", "covered"),
    ]


def _compared(line: real.Line, values: dict[tuple[str, int, str], float]) -> list[str]:
    def numbers(method: str) -> dict[int, float]:
        return {split: value for (name, split, m), value in values.items() if (name, m) == (line.name, method)}

    ours, peers = numbers(real.OURS), [numbers(peer) for peer in line.others]
    ahead = [ours[split] - max(peer[split] for peer in peers) for split in ours if all(split in peer for peer in peers)]
    by = f"{mean(ahead):+.4f} (least {min(ahead):+.4f})" if ahead else "–"
    shown = [_mean(list(found.values()), 4) for found in (ours, *peers)]
    return [line.name, line.measure, f"**{shown[0]}**", *shown[1:], by]


def _pair(line: str, split: int, name: str, other: str, values: dict[tuple[str, int, str], float]) -> list[str]:
    """Ours, another and the difference, of one split."""
    found = [values.get((line, split, method)) for method in (real.OURS, other)]
    if found[0] is None or found[1] is None:
        return [name, "–", "–", "–"]
    return [name, f"**{found[0]:.4f}**", f"{found[1]:.4f}", f"{found[0] - found[1]:+.4f}"]


def _mean(found: Sequence[float], digits: int) -> str:
    return f"{mean(found):.{digits}f}" if found else "–"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)) + "\n"
