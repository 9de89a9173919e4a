"""Response families, by the names under which users choose them."""

from dataclasses import fields, replace

from numpy.typing import ArrayLike

from textsignal.errors import InputError
from textsignal.families.base import (
    Family,
    NoLevelsError,
    best_constant,
    check_trainable,
    constant_predictor,
    deviance,
    distribution_of_numbers,
    level_probabilities,
    linear_predictor,
    log_scores,
    null_deviance,
)
from textsignal.families.binomial import BetaBinomial, Binomial, Proportion
from textsignal.families.classes import Bernoulli, Categorical
from textsignal.families.ordinal import AdjacentCategories, Ordinal, Stereotype
from textsignal.families.unbounded import Gaussian, NegativeBinomial, Poisson

__all__ = [
    "FAMILIES",
    "AdjacentCategories",
    "Bernoulli",
    "BetaBinomial",
    "Binomial",
    "Categorical",
    "Family",
    "Gaussian",
    "NegativeBinomial",
    "NoLevelsError",
    "Ordinal",
    "Poisson",
    "Proportion",
    "Stereotype",
    "as_family",
    "best_constant",
    "check_trainable",
    "constant_predictor",
    "deviance",
    "distribution_of_numbers",
    "level_probabilities",
    "linear_predictor",
    "log_scores",
    "null_deviance",
]

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        *(Binomial, BetaBinomial, AdjacentCategories, Stereotype, Ordinal, Bernoulli, Proportion, Poisson),
        *(NegativeBinomial, Gaussian, Categorical),
    )
}


def as_family(family: str | Family, levels: ArrayLike | None = None) -> Family:
    """Return the family of that name, or the family itself, on the scale defined by `levels`.

    Examples
    --------
    >>> as_family("binomial")
    Binomial(n=None, lowest=None)
    >>> as_family("binomial", levels=(1, 5))
    Binomial(n=4, lowest=1)
    >>> as_family("ordinal", levels=(1, 2, 0.5))
    Ordinal(values=(1.0, 1.5, 2.0), thresholds=None)
    """
    if isinstance(family, str) and family in FAMILIES:
        family = FAMILIES[family]()
    elif isinstance(family, str) or not hasattr(family, "encode"):
        raise InputError(f"family={family!r} is not known; allowed: {', '.join(FAMILIES)}")
    if levels is None:
        return family
    scale = family.from_levels(levels)
    defaults = {field.name: field.default for field in fields(family)}  # type: ignore[arg-type]
    given = {name: value for name, value in family.settings().items() if value != defaults[name]}
    if any(scale.settings()[name] not in (None, value) for name, value in given.items()):
        raise InputError(f"levels={levels!r} and family={family!r} contradict each other; give one of them")
    return replace(scale, **given)
