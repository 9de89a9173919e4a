"""Response families, by the names under which users choose them."""

from dataclasses import replace

from numpy.typing import ArrayLike

from textsignal.errors import InputError
from textsignal.families.base import Family as Family
from textsignal.families.base import NoLevelsError as NoLevelsError
from textsignal.families.base import best_constant as best_constant
from textsignal.families.base import constant_predictor as constant_predictor
from textsignal.families.base import deviance as deviance
from textsignal.families.base import linear_predictor as linear_predictor
from textsignal.families.base import null_deviance as null_deviance
from textsignal.families.binomial import BetaBinomial as BetaBinomial
from textsignal.families.binomial import Binomial as Binomial
from textsignal.families.binomial import Proportion as Proportion
from textsignal.families.classes import Bernoulli as Bernoulli
from textsignal.families.classes import Categorical as Categorical
from textsignal.families.ordinal import AdjacentCategories as AdjacentCategories
from textsignal.families.ordinal import Ordinal as Ordinal
from textsignal.families.ordinal import Stereotype as Stereotype
from textsignal.families.unbounded import Gaussian as Gaussian
from textsignal.families.unbounded import NegativeBinomial as NegativeBinomial
from textsignal.families.unbounded import Poisson as Poisson

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        *(Binomial, BetaBinomial, AdjacentCategories, Stereotype, Ordinal, Bernoulli, Proportion, Poisson),
        *(NegativeBinomial, Gaussian, Categorical),
    )
}


def as_family(family: str | Family, levels: ArrayLike | None = None) -> Family:
    """Return the family of that name, or the family itself, on the scale defined by `levels`."""
    if isinstance(family, str) and family in FAMILIES:
        family = FAMILIES[family]()
    elif isinstance(family, str) or not hasattr(family, "encode"):
        raise InputError(f"family={family!r} is not known; allowed: {', '.join(FAMILIES)}")
    if levels is None:
        return family
    scale = family.from_levels(levels)
    given = family.not_default()
    if any(scale.settings()[name] not in (None, value) for name, value in given.items()):
        raise InputError(f"levels={levels!r} and family={family!r} contradict each other; give one of them")
    return replace(scale, **given)
