"""Skill against the length of reviews, over four subsets (the paper's Section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sklearn.preprocessing import normalize

from textsignal.studies.choices import DEFAULT_CHOICES, Choices, choice_cells, fit_methods
from textsignal.studies.length.claims import SUBSETS, claims
from textsignal.studies.length.figures import figures
from textsignal.studies.length.section import section
from textsignal.studies.methods import JOINT, METHODS, Settings, chosen, scores
from textsignal.studies.samples import MAX_RAW_TERMS, MAX_TERMS, Sample, split_sample
from textsignal.studies.study import Cell, Place, Plan, Row, Study, Tables

REVIEWS, QUICK_REVIEWS = 10_000, 2_000
COMPARED = ("ridge", "published", "joint", "predictive")
#: Splits on which costly extras are computed: all 2,000 terms, and settings that the paper leaves open.
FEW = 2


def fit_subset(sample: Sample, size: int, methods: Sequence[str], seed: int, max_terms: int) -> list[Row]:
    """Skill of methods on a split of the subset, and the subset's median number of words."""
    return [{"words": sample.median_words, **row} for row in fit_methods(sample, size, methods, seed, max_terms)]


def fit_same_rows(sample: Sample, size: int, methods: Sequence[str], seed: int) -> list[Row]:
    """Skill of methods on what predictive training reads: counts, each row scaled to norm 1, in place of TF-IDF."""
    split = split_sample(sample.drawn(size, seed), seed)
    same = replace(split, X=normalize(split.counts), X_test=normalize(split.counts_test))
    return [{"method": method, **scores(same, METHODS[method].fit(same, Settings(seed=seed)))} for method in methods]


def cells(reviews: int, quick_reviews: int, choices: Choices, plan: Plan, tables: Tables) -> list[Cell]:
    """Every subset and seed; on few seeds all terms, and other settings."""
    found = []
    for seed in range(plan.seeds):
        for role in SUBSETS:
            sample = plan.samples[role]
            size = min(quick_reviews if plan.quick else reviews, len(sample))
            place: Place = {"subset": role, "size": size}
            found.append(_cell("length", place, sample, seed, MAX_TERMS, chosen(plan.methods, COMPARED)))
            alike = chosen(plan.methods, ("ridge", *JOINT))
            named: Place = {"method": " ".join(alike), "seed": seed}
            compute = partial(fit_same_rows, sample, size, alike, seed)
            found.append(Cell("length-rows", place | named, compute, sample.digest))
            if seed < FEW:
                wide = chosen(plan.methods, ("ridge", "predictive"))
                found.append(_cell("length-terms", place, sample, seed, MAX_RAW_TERMS, wide))
                found += choice_cells("length", place, sample, seed, choices, plan)
    return found


def _cell(table: str, place: Place, sample: Sample, seed: int, max_terms: int, methods: Sequence[str]) -> Cell:
    compute = partial(fit_subset, sample, int(place["size"]), methods, seed, max_terms)
    named: Place = {"max_terms": max_terms, "method": " ".join(methods), "seed": seed}
    return Cell(table, place | named, compute, sample.digest)


def length_study(
    *, reviews: int = REVIEWS, quick_reviews: int = QUICK_REVIEWS, choices: Choices = DEFAULT_CHOICES
) -> Study:
    """The study of length on at most so many reviews of each subset, with these settings tried beside the paper's."""
    return Study(
        name="length",
        title="Length of reviews",
        needs=tuple(SUBSETS),
        seeds=5,
        quick_seeds=1,
        stages=(partial(cells, reviews, quick_reviews, choices),),
        figures=figures,
        section=section,
        claims=claims,
    )


LENGTH = length_study()
