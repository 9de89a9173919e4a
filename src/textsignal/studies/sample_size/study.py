"""Skill against the number of reviews: training and test R2 and their gap (the paper's Section 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textsignal.studies.choices import DEFAULT_CHOICES, Choices, choice_cells, fit_methods
from textsignal.studies.claims import Claim
from textsignal.studies.methods import chosen
from textsignal.studies.sample_size.claims import appendix_claims, claims
from textsignal.studies.sample_size.figures import figures
from textsignal.studies.sample_size.section import section
from textsignal.studies.samples import Sample
from textsignal.studies.study import Cell, Place, Plan, Study, Tables

SIZES, QUICK_SIZES = (500, 1_000, 2_000, 5_000, 10_000), (500, 2_000)
COMPARED = ("linear", "ridge", "published", "joint", "predictive")


def sizes_of(sample: Sample, sizes: Sequence[int]) -> list[int]:
    """Those sizes that the sample has; the whole sample stands in for all that are larger than it.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of(Sample("", ("good",) * 30, np.ones(30)), (10, 20, 50, 100))
    [10, 20, 30]
    """
    return sorted({min(size, len(sample)) for size in sizes})


def cells(
    name: str,
    role: str,
    sizes: Sequence[int],
    quick_sizes: Sequence[int],
    choices: Choices,
    plan: Plan,
    tables: Tables,
) -> list[Cell]:
    """Every size and seed; other settings at the smallest size, where they matter most."""
    sample, methods = plan.samples[role], chosen(plan.methods, COMPARED)
    known = sizes_of(sample, quick_sizes if plan.quick else sizes)
    found = []
    for seed in range(plan.seeds):
        for size in known:
            place: Place = {"size": size, "method": " ".join(methods), "seed": seed}
            found.append(Cell(name, place, partial(fit_methods, sample, size, methods, seed), sample.digest))
        found += choice_cells(name, {"size": known[0]}, sample, seed, choices, plan)
    return found


def size_study(
    name: str,
    title: str,
    role: str,
    claims: Callable[[str, Plan, Tables], Sequence[Claim]],
    *,
    sizes: Sequence[int] = SIZES,
    quick_sizes: Sequence[int] = QUICK_SIZES,
    choices: Choices = DEFAULT_CHOICES,
) -> Study:
    """A study of sample size on the reviews of a role.

    Parameters
    ----------
    name, title, role : of the study and of the sample that it reads.
    claims : from the study's name, plan and tables.
    sizes, quick_sizes : numbers of reviews.
    choices : settings to try at the smallest of them.
    """
    return Study(
        name=name,
        title=title,
        needs=(role,),
        seeds=10,
        quick_seeds=2,
        stages=(partial(cells, name, role, sizes, quick_sizes, choices),),
        figures=partial(figures, name),
        section=partial(section, name, role),
        claims=partial(claims, name),
    )


SAMPLE_SIZE = size_study("sample-size", "Sample size and overfitting", "tripadvisor", claims)
OVERFITTING = size_study("overfitting", "Overfitting on Google Local hotels", "hotel", appendix_claims)
