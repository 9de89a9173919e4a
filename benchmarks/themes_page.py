"""From finished cells to the text of `docs/themes.md`. Every number on the page comes from a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from skill_data import TERMS
from skill_methods import TOMOTOPY_SWEEPS
from skill_page import table
from themes_data import EXCHANGED, SETS
from themes_goals import goals
from themes_measures import ADDED, ASPECTS, NEGATIONS, SAMPLES, TIMED, TIMES
from themes_methods import EMBEDDED, LDA_SWEEPS, METHODS, OURS, REACH_DOCUMENTS
from themes_results import JUDGED_SEEDS, MEAN_OF, Measure, Result, Results, mean

HEAD = """# Themes compared with other topic models

Made by `benchmarks/themes.py`; do not edit by hand. To regenerate it:

```sh
python benchmarks/themes.py --data FOLDER --page docs/themes.md           # computes what is not finished yet
python benchmarks/themes.py --data FOLDER --ours --page docs/themes.md    # recomputes themes only
```

The review sets are not part of this repository. All use the documented split
(`numpy.random.default_rng(0).permutation(rows)`, the first 80% train), 14 topics and seed 0 unless stated
otherwise. The best value of a column is bold.
"""

NOTES = """## How it was measured

- **R2** is computed from the expected response on the test texts. For LDA, sLDA and BERTopic, the binomial GLM with
  ridge penalty of [skill](skill.md) is fitted to each text's topic shares, which are inferred from the text alone for
  training and test texts. (sLDA's own prediction is on that page.)
- **NPMI** is the mean over topics and all pairs of a topic's ten most probable terms (BERTopic: of the largest
  c-TF-IDF), by co-occurrence in the training texts; a pair that never co-occurs counts -1.
- **People's labels**: trained on hotel reviews and evaluated on sentences labelled by people, which are not used for
  training. The main theme of a sentence is compared with its entity, for sentences with one entity that has 20
  sentences or more: NMI, and the accuracy if each theme predicts its most common label in one half, tested on the
  other. AUC of the linear predictor for polarity. Means over seeds {seeds}.
- **Guests' own ratings**: trained on the overall rating of three quarters of 6,000 reviews; on the rest, the topic
  whose contribution correlates most with a guest's rating of an aspect, given the overall rating. It counts as the
  right one if one of its eight leading terms names the aspect (list in `benchmarks/themes_measures.py`). Value is
  excluded from the mean.
- **Mentions**: share of training documents with a sentence of which at least half is about a theme; for the other
  methods, a sentence mostly about a topic, in the first {reach:,} documents.
- **Stability**: {samples} subsamples of 80% of the training side; cosines of matched topics (Hungarian), mean over
  all pairs.
- **Permuted responses**: R2 on a test side that is permuted too. Cost is the rise of the mean rating without the
  negative contributions of a topic; for topic models a contribution is share times effect relative to the average text,
  so a large topic has a cost even if its share hardly varies. For themes, predictive and joint, the largest cost of
  five permutations; one permutation for the others.
- **Other numbers of topics** are not computed for sLDA, and their stability only for our methods, because of run time.
- **Additivity**: largest difference between the linear predictor and the sum of constant and contributions, over
  {added:,} test documents; for themes also over sentences.
- **Seconds** in the table are processor time of one fit from raw text in one thread, with other work running on the
  machine. Themes, predictive and joint are also timed by wall clock, with all cores, alternating in one run: the
  minimum of {timed}. For ten times as many documents, documents are drawn with replacement and {exchanged:.0%} of their
  words are replaced at random so that none repeats; these are timed once.
- **LDA, sLDA**: tomotopy with its own defaults, one worker, {lda} and {slda} sweeps, the {terms:,} terms of
  [skill](skill.md). For sentences, a document's shares are the mean over its sentences, weighted by number of terms.
- **BERTopic**: its own classes without any download: TF-IDF (scikit-learn's English stop list) and {embedded}
  singular vectors, scaled to length 1, as the embedding; no UMAP; k-means for a given number of topics; c-TF-IDF. Each
  document, or sentence, has one topic.

## Unexpected results among the peers

- Units matter more than the model: topics of sentences agree with people's labels far better than topics of documents,
  and predict far worse, for LDA and BERTopic alike.
- The most coherent topics by NPMI do not match people's labels: sLDA leads on most sets, and its NMI is among the
  lowest. Using responses brings its topics hardly closer to the labels than those of LDA on documents.
- Clusters of documents by BERTopic are the most stable and predict little. Cosines of its c-TF-IDF, which downweights
  common words, are not quite comparable with those of shares of terms.
- The rule for the right theme is lenient with mixed topics: LDA's "not, hotel, star, but, more, rooms" is right for
  rooms and for cleanliness. Read it together with the correlation.
- With permuted responses joint training predicts worse than the mean, and predictive training still reports costs.

## Choices and the numbers they were based on

- Themes, chosen on the labelled sentences of hotels: term weights (frequency^.25, tone at half weight) and the softness
  of the start. Chosen by the stability, mentions, NPMI and labels of this page, about 40 settings in all: pairs of
  terms that co-occurred n times counting n / (n + 1), 23 dimensions, 60 clusterings, their terms weighted by the root
  of their frequency, three iterations of NMF. Counting half of a sentence as a mention was chosen with the share of
  mentions known. Expect lower values on other data: stability of short texts lies between .80 and .86 over seeds.
- Tone: steps, passes (25), halves, the size of phrases, averaging of runs on small sets, and the scope of negation,
  chosen by out-of-fold R2 on the training sides of these seven sets, among about 55 settings; the test sides were
  known. On google_local, the second smallest set, R2 varies by .004 with the random draw of halves: .54 is reached, but
  not reliably. The threshold of three standard errors, below which tone is set to zero: chosen by permuted responses of
  hotels.
- BERTopic: stop list and scaling of embeddings, the best of six settings by NMI with the labelled sentences (seed 0);
  the others had .07 to .16 on documents and .14 to .30 on sentences.
- LDA: sweeps, by the same NMI: 500 gave .157 on documents and .324 on sentences, 200 gave .153 and .335 (seed 0).
- sLDA: nothing was chosen. Predictive and joint: nothing was chosen here, but their defaults were developed on these
  sets, test sides included.
"""


def page(cells: Sequence[Result], n_cells: int, noise: Sequence[int], topics: Sequence[int]) -> str:
    """The whole page."""
    results = Results(cells)
    machines = "\n".join(f"- {text}" for text in sorted({cell.machine for cell in cells}))
    missing = f"**Not complete:** {n_cells - len(cells)} of {n_cells} cells are not finished; they show a dash.\n"
    groups = measures(results, noise)
    notes = NOTES.format(
        seeds=", ".join(map(str, JUDGED_SEEDS)),
        reach=REACH_DOCUMENTS,
        samples=SAMPLES,
        added=ADDED,
        timed=TIMED,
        exchanged=EXCHANGED,
        lda=LDA_SWEEPS,
        slda=TOMOTOPY_SWEEPS,
        terms=TERMS[0],
        embedded=EMBEDDED,
    )
    asked = table(["goal", "required", "reached", "met"], [goal.row for goal in goals(results, noise)])
    parts = [HEAD, missing if len(cells) < n_cells else "", f"Measured with:\n\n{machines}\n"]
    parts += ["## Goals for themes\n", asked, ahead(groups)]
    for title, columns in groups.items():
        parts += [f"## {title}\n", compared(columns)]
    parts += ["## Mentions: smallest and largest share\n", reach_table(results)]
    parts += ["## Negations: ratings expected by themes\n", negation_table(results)]
    parts += ["## Time\n", time_table(results)]
    parts += [
        f"## Other numbers of topics: {name}\n\n{topics_table(results, name, topics)}" for name in ("hotel", "short")
    ]
    return "\n".join(part for part in [*parts, notes] if part)


def measures(results: Results, noise: Sequence[int]) -> dict[str, list[Measure]]:
    """Everything that methods are compared by, a table a question."""

    def fits(field: str) -> list[Measure]:
        return [Measure(name, lambda method, name=name: results.fit(method, name, field)) for name in SETS]

    def judged(label: str, field: str) -> Measure:
        return Measure(label, lambda method: mean(results.over_seeds(method, field, JUDGED_SEEDS)))

    def aspect(name: str) -> Measure:
        return Measure(name, lambda method: results.aspects(method).get(name, {}).get("r"), None)

    def worst_noise(size: int) -> list[Measure]:
        return [
            Measure(f"{size:,}: R2", lambda method: mean(results.noise(method, size, "r2")), None),
            Measure(f"{size:,}: cost", lambda method: max(results.noise(method, size, "lift"), default=None), min),
        ]

    def spread(method: str) -> float | None:
        found = results.over_seeds(method, "r2")
        return float(np.ptp(found)) if len(found) > 1 else None

    return {
        "Test R2": fits("r2"),
        "Coherence: mean NPMI": fits("npmi"),
        "People's labels of sentences": [
            judged("NMI", "nmi"),
            judged("accuracy", "accuracy"),
            judged("AUC of polarity", "auc"),
            Measure(f"negations right, of {len(NEGATIONS)}", results.negations_right, form="d"),
        ],
        "Guests' own ratings of aspects: largest partial correlation": [
            *map(aspect, ASPECTS),
            Measure("mean", results.aspect_mean),
            Measure(f"right theme, of {len(MEAN_OF)}", results.aspects_right, form="d"),
        ],
        "Stability: mean cosine of matched topics": [
            Measure(name, lambda method, name=name: results.steady(method, name))
            for name in ("hotel", "short", "clothing")
        ],
        "R2 on hotel over five seeds": [
            Measure("least", lambda method: min(results.over_seeds(method, "r2"), default=None)),
            Measure("greatest", lambda method: max(results.over_seeds(method, "r2"), default=None)),
            Measure("range", spread, min, ".4f"),
        ],
        "Permuted responses, mean R2 and largest cost by number of documents": [
            column for size in noise for column in worst_noise(size)
        ],
        "Additivity, and seconds of one fit": [
            Measure("largest error", lambda method: results.fit(method, "hotel", "additivity"), None, ".0e"),
            Measure("seconds, hotel", lambda method: results.fit(method, "hotel", "seconds"), min, ".1f"),
            Measure("seconds, short", lambda method: results.fit(method, "short", "seconds"), min, ".1f"),
        ],
    }


def compared(columns: Sequence[Measure]) -> str:
    """Methods by measures, the best of a column bold."""

    def best(column: Measure) -> str | None:
        known = [value for method in METHODS if (value := column.of(method.name)) is not None]
        return format(column.best(known), column.form) if column.best and known else None

    leaders = [best(column) for column in columns]

    def entry(column: Measure, leader: str | None, method: str) -> str:
        text = column.text(method)
        return f"**{text}**" if text == leader else text

    rows = [
        [method.label, *(entry(c, leader, method.name) for c, leader in zip(columns, leaders, strict=True))]
        for method in METHODS
    ]
    return table(["method", *(column.name for column in columns)], rows)


def ahead(groups: dict[str, list[Measure]]) -> str:
    """Where another method is ahead of themes."""
    lines = []
    for title, columns in groups.items():
        for column in columns:
            better = [m for m in METHODS if is_ahead(column, m.name)]
            if better:
                others = ", ".join(f"{m.label} {column.text(m.name)}" for m in better)
                lines.append(f"- {title}, {column.name}: themes {column.text(OURS.name)}; {others}")
    return "\n".join(["Measures on which other methods are ahead of themes:\n", *lines, ""]) if lines else ""


def is_ahead(column: Measure, method: str) -> bool:
    """Whether a method is better than themes, in the digits that are shown."""
    ours, theirs = column.of(OURS.name), column.of(method)
    if column.best is None or ours is None or theirs is None or column.text(method) == column.text(OURS.name):
        return False
    return column.best([ours, theirs]) == theirs


def reach_table(results: Results) -> str:
    def entry(method: str, name: str) -> str:
        reach = results.fit(method, name, "reach")
        return "–" if reach is None else f"{reach[0]:.0%}, {reach[1]:.0%}"

    return table(["method", *SETS], [[m.label, *(entry(m.name, name) for name in SETS)] for m in METHODS])


def negation_table(results: Results) -> str:
    rows = [
        [negated, f"{rating:.2f}", twin, f"{other:.2f}", "yes" if right else "**no**"]
        for negated, rating, twin, other, right in results.negations(OURS.name)
    ]
    return table(["negated", "rating", "twin", "rating", "right side"], rows)


def time_table(results: Results) -> str:
    found = results.values("time", OURS.name, "hotel")
    if not found:
        return "Not measured yet.\n"
    rows = [
        [name, f"{once:.2f}", f"{found['many'][name]:.1f}", f"{found['many'][name] / once:.1f}"]
        for name, once in found["once"].items()
    ]
    head = ["wall-clock seconds", f"{found['documents']:,} documents", f"{TIMES} times as many", "ratio"]
    return table(head, rows)


def topics_table(results: Results, name: str, topics: Sequence[int]) -> str:
    """Methods and numbers of topics by measures; rows of which nothing is known are left out."""

    def text(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    def row(method: str, label: str, n_topics: int) -> list[str]:
        fields = ("r2", "npmi", *(("nmi", "accuracy") if name == "hotel" else ()))
        numbers = [results.fit(method, name, field, n_topics) for field in fields]
        return [label, str(n_topics), *map(text, [*numbers, results.steady(method, name, n_topics)])]

    head = ["method", "topics", "R2", "NPMI", *(("NMI", "accuracy") if name == "hotel" else ()), "stability"]
    rows = [row(m.name, m.label, n) for m in METHODS for n in sorted(topics)]
    return table(head, [row for row in rows if set(row[2:]) != {"–"}])
