"""Response families, one file each."""

from numpy.typing import ArrayLike

from textsignal.errors import InputError
from textsignal.families.base import (
    Family,
    best_constant,
    deviance,
    level_probabilities,
    linear_predictor,
    null_deviance,
)
from textsignal.families.binomial import Binomial

__all__ = [
    "FAMILIES",
    "Binomial",
    "Family",
    "as_family",
    "best_constant",
    "deviance",
    "level_probabilities",
    "linear_predictor",
    "null_deviance",
]

FAMILIES: dict[str, type[Binomial]] = {"binomial": Binomial}


def as_family(family: str | Family, levels: ArrayLike | None = None) -> Family:
    """Give the family of that name, or the family itself, on the scale that `levels` give.

    Examples
    --------
    >>> as_family("binomial")
    Binomial(n=None, lowest=None)
    >>> as_family("binomial", levels=(1, 5))
    Binomial(n=4, lowest=1)
    """
    if isinstance(family, str) and family in FAMILIES:
        family = FAMILIES[family]()
    elif isinstance(family, str) or not hasattr(family, "encode"):
        raise InputError(f"family={family!r} is not known; allowed: {', '.join(sorted(FAMILIES))}")
    if levels is None:
        return family
    scale = Binomial.from_levels(levels)
    given = {name: value for name, value in family.settings().items() if value is not None}
    if not isinstance(family, Binomial) or any(scale.settings()[name] != value for name, value in given.items()):
        raise InputError(f"levels={levels!r} and family={family!r} contradict each other; give one of them")
    return scale
