"""Response families, one file each."""

from textsignal.errors import InputError
from textsignal.families.base import Family, level_probabilities
from textsignal.families.binomial import Binomial

__all__ = ["FAMILIES", "Binomial", "Family", "as_family", "level_probabilities"]

FAMILIES: dict[str, type[Binomial]] = {"binomial": Binomial}


def as_family(family: str | Family) -> Family:
    """Give the family of that name, or the family itself.

    Examples
    --------
    >>> as_family("binomial")
    Binomial(n=None, lowest=None)
    """
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]()
    if isinstance(family, str) or not hasattr(family, "encode"):
        raise InputError(f"family={family!r} is not known; allowed: {', '.join(sorted(FAMILIES))}")
    return family
