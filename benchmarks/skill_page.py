"""From finished cells to the text of `docs/skill.md`. Every number on the page comes from a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import skill_methods as methods
from skill_methods import METHODS, Method

import textsignal as ts
from textsignal.evaluation.methods import NMF_UPDATES
from textsignal.reading.options import TOPIC_TERMS

HEAD = """# Skill compared with other methods

Made by `benchmarks/skill.py`; do not edit by hand. To regenerate it:

```sh
make skill                                # computes what is not finished yet, then writes this page
python benchmarks/skill.py --render       # writes this page from finished cells alone
```

The review sets are not part of this repository: `make skill SKILL="--data FOLDER"` names their folder.
"""

NOTES = """## How it was measured

Split s uses `p = numpy.random.default_rng(s).permutation(rows)` and trains on the first 80%; s = 0, 1, 2. Numbers are
means over the {n_splits} splits, with ± half the range for R2. The splits share rows, so this range is not a standard
error. All methods in a table use the same terms: our `TextVectorizer` with its own stop list, the {raw} most frequent
words of the training texts, reduced to the number of terms in the heading. Ridge on 1-2-grams and the mean do not
depend on the terms and appear in both tables. All use {topics} topics, seed {seed} and one thread. Ratings range from 1
to 5, Binomial(4); those of wine from 80 to 100, Binomial(20). clothing_10k is the first 10,000 rows of
clothing_reviews_22k.

- **R2** and **RMSE** are computed from the expected response on the test texts, neither rounded nor clipped.
- **Deviance explained** is 1 - deviance / (deviance of the training mean), binomial, for all methods. Predictions of
  linear methods can leave the scale, so for this measure the predictions of all methods are kept {margin:.0%} of the
  width of the scale away from its ends.
- **NPMI** is the mean over topics and over all pairs of a topic's ten most probable terms, by co-occurrence in the
  training texts; a pair that never co-occurs counts -1.
- **Exclusivity** is the mean over topics and their ten most probable terms of p(term given topic), divided by its sum
  over all topics.
- **Seconds** are processor time for fitting and predicting in one thread; other work on the machine can increase
  them. Counting words is excluded, except for 1-2-grams.

The methods use the defaults of their packages unless stated otherwise:

- *the paper's X* is TF-IDF; *l2 X* is counts with rows of norm 1. Ridge is scikit-learn's `RidgeCV` with five folds.
- *binomial GLM*: scikit-learn's `LogisticRegression`, with every text entered once as a success and once as a failure,
  weighted by the response; the penalty is chosen on a fifth of the training part.
- *1-2-grams*: all that occur in two training texts or more, stop words kept, rows of norm 1.
- *two-stage*: scikit-learn's KL-`NMF` of counts, multiplicative updates, at most {nmf} iterations; then the binomial
  GLM on the topic shares of each text.
- *tomotopy*: `SLDAModel` with a linear response, standardised; {tomotopy} sweeps.
- *topica*: `SupervisedLDA`, variational, {topica} iterations, response standardised.
- *textsignal*: `GLMNMF`; joint training on the paper's X, predictive on counts.

Settings tried beforehand: for two-stage, counts or l2 rows and weights or shares; for topica, variational inference or
its Gibbs sampler with 200 and 500 sweeps. The setting with the highest test R2 on split 0 of hotel_reviews_10k was
used. No settings of the other peers were tried. The defaults of textsignal were also developed on these sets, including
split 0 and its test side, with more attempts than for any peer; interpret its numbers accordingly.
"""


class Result(Protocol):
    """What the page needs of a finished cell."""

    set: str
    terms: int | None
    split: int
    method: str
    r2: float
    npmi: float | None
    machine: str


@dataclass(frozen=True)
class Column:
    """A column of a set's table. best : which of its numbers is printed bold, None for none."""

    name: str
    field: str
    digits: int
    best: Callable[[Sequence[float]], float] | None
    spread: bool = False


COLUMNS = (
    Column("R2", "r2", 3, max, spread=True),
    Column("RMSE", "rmse", 3, min),
    Column("deviance explained", "deviance", 3, max),
    Column("NPMI", "npmi", 3, max),
    Column("exclusivity", "exclusivity", 2, max),
    Column("seconds", "seconds", 1, None),
)
R2, NPMI = COLUMNS[0], COLUMNS[3]
DASH = "–"


@dataclass(frozen=True)
class Goal:
    """What predictive training is asked to reach; r2 may be the name of a method to be above."""

    set: str
    r2: float | str
    npmi: float | None = None


GOALS = (
    Goal("hotel_reviews_10k", 0.68, 0.11),
    Goal("short_reviews_10k", 0.57, 0.125),
    Goal("clothing_10k", 0.51, 0.06),
    Goal("tripadvisor_kaggle_2k", 0.55),
    Goal("hotel_reviews_long_10k", "ridge-l2"),
)


@dataclass(frozen=True)
class Results:
    """Finished cells by set, terms and method; numbers in the order of splits."""

    cells: Sequence[Result]
    n_splits: int

    def values(self, name: str, n_terms: int, method: Method, field: str) -> list[float]:
        """One number per split; empty unless all splits are finished and the method has this number."""
        terms = None if method.own_terms else n_terms
        found = {
            c.split: getattr(c, field) for c in self.cells if (c.set, c.terms, c.method) == (name, terms, method.name)
        }
        complete = len(found) == self.n_splits and None not in found.values()
        return [found[split] for split in sorted(found)] if complete else []

    def texts(self, name: str, n_terms: int, column: Column) -> list[str]:
        """A set's column: one text per method, the best bold."""
        values = [self.values(name, n_terms, method, column.field) for method in METHODS]
        means = [f"{np.mean(v):.{column.digits}f}" if v else DASH for v in values]
        known = [float(text) for text in means if text != DASH]
        best = column.best(known) if column.best and known else None
        texts = [f"**{t}**" if t != DASH and float(t) == best else t for t in means]
        if not column.spread:
            return texts
        return [f"{t} ± {np.ptp(v) / 2:.{column.digits}f}" if v else t for t, v in zip(texts, values, strict=True)]


def page(cells: Sequence[Result], sets: Sequence[str], terms: Sequence[int], n_splits: int, margin: float) -> str:
    """The whole page."""
    results = Results(cells, n_splits)
    notes = NOTES.format(
        n_splits=n_splits,
        raw=f"{TOPIC_TERMS[0]:,}",
        topics=methods.N_TOPICS,
        seed=methods.SEED,
        margin=margin,
        nmf=NMF_UPDATES,
        tomotopy=methods.TOMOTOPY_SWEEPS,
        topica=methods.TOPICA_ITERATIONS,
    )
    machines = "\n".join(f"- {text}" for text in sorted({cell.machine for cell in cells}))
    parts = [HEAD, missing(results, sets, terms), f"Measured with:\n\n{machines}\n"]
    most = max(terms)
    parts += [f"## Test R2, and mean NPMI in parentheses, with {most:,} terms\n", summary(results, sets, most)]
    parts += ["## Goals\n", goals(results, most), notes]
    for n_terms in terms:
        parts.append(f"## All numbers with {n_terms:,} terms\n")
        parts += [f"### {name}, {n_terms:,} terms\n\n{set_table(results, name, n_terms)}" for name in sets]
    return "\n".join(part for part in parts if part)


def missing(results: Results, sets: Sequence[str], terms: Sequence[int]) -> str:
    """Says how much of the page is not there yet."""
    places = [(name, n_terms, method) for name in sets for n_terms in terms for method in METHODS]
    absent = [place for place in places if not results.values(*place, "r2")]
    if not absent:
        return ""
    return f"**Not complete:** {len(absent)} of {len(places)} rows lack a split or more and show a dash.\n"


def summary(results: Results, sets: Sequence[str], n_terms: int) -> str:
    """Methods by sets."""
    r2 = {name: results.texts(name, n_terms, R2) for name in sets}
    npmi = {name: results.texts(name, n_terms, NPMI) for name in sets}

    def entry(name: str, row: int) -> str:
        skill, topics = r2[name][row].split(" ± ")[0], npmi[name][row]
        return skill if topics == DASH else f"{skill} ({topics})"

    rows = [[method.label, *(entry(name, i) for name in sets)] for i, method in enumerate(METHODS)]
    return table(["method", *sets], rows) + "\nThe best value of a column is bold.\n"


def goals(results: Results, n_terms: int) -> str:
    """What was asked for beside what is reached, with the default supervision."""
    supervision = ts.GLMNMF().supervision
    ours = methods.predictive(supervision)
    by_name = {method.name: method for method in METHODS}
    rows = []
    for goal in GOALS:
        r2, npmi = (results.values(goal.set, n_terms, ours, field) for field in ("r2", "npmi"))
        if goal.r2 in by_name:
            peer = by_name[goal.r2]
            asked = [f"above {peer.label}: {both(results.values(goal.set, n_terms, peer, 'r2'))}", both(r2)]
        else:
            asked = [f"{goal.r2:.3f}", both(r2)]
        rows.append([goal.set, *asked, f"{goal.npmi:.3f}" if goal.npmi else DASH, both(npmi)])
    heading = f"Predictive training with its default supervision of {supervision:g} and {n_terms:,} terms. "
    heading += "Each entry is the documented split (s = 0), then the mean over splits.\n\n"
    return heading + table(["set", "R2 required", "R2 reached", "NPMI required", "NPMI reached"], rows)


def both(values: list[float]) -> str:
    return f"{values[0]:.3f}, mean {np.mean(values):.3f}" if values else DASH


def set_table(results: Results, name: str, n_terms: int) -> str:
    """A set's methods by measures."""
    columns = [results.texts(name, n_terms, column) for column in COLUMNS]
    rows = [[method.label, *texts] for method, *texts in zip(METHODS, *columns, strict=True)]
    return table(["method", *(column.name for column in COLUMNS)], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
