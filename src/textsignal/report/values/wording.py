"""Numbers, names and texts as a report writes them, in charts, tooltips and prose alike."""

from __future__ import annotations

import re
from pathlib import Path

from textsignal.insight.naming import Naming

#: Character code -> what is shown of it. Control characters break charts; lone surrogates cannot be encoded.
_SHOWN = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"},
    **dict.fromkeys(range(127, 160), "␡"),
    **dict.fromkeys(
        (*range(0xD800, 0xE000), *(0x10000 * plane + low for plane in range(17) for low in (65534, 65535))), "�"
    ),
}


def one_line(text: str) -> str:
    r"""Put a text on one line without control characters."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""Replace control characters by their pictures, and unpaired surrogates by the replacement character."""
    return text.translate(_SHOWN)


def without_place(argument: str) -> str:
    """Shorten absolute paths in an argument of a command: they do not exist elsewhere and may name the user.

    A path below the current folder becomes relative to it, any other only its last component.
    """
    name, equals, value = ("", "", argument) if Path(argument).is_absolute() else argument.partition("=")
    path, here = Path(value), Path.cwd()
    if not path.is_absolute():
        return argument
    return f"{name}{equals}{path.relative_to(here) if path.is_relative_to(here) else path.name}"


def count(value: float) -> str:
    """Write a count with thousands separators."""
    return f"{value:,.0f}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share of one as a percentage."""
    return f"{share:.{digits}%}"


def number(value: float, digits: int = 2) -> str:
    """Write a number with a typographic minus; NaN is a dash."""
    return "–" if value != value else f"{value:z.{digits}f}".replace("-", "−")


def signed_number(value: float, digits: int = 2) -> str:
    """Write a number with its sign; what rounds to zero has none."""
    written = number(value, digits)
    return f"+{written}" if value > 0 and set(written) & set("123456789") else written


def points(value: float, naming: Naming, more: int = 0) -> str:
    """Write a difference of means in steps of the response, with `more` digits than usual."""
    return number(naming.steps * value, naming.digits + more)


def signed_points(value: float, naming: Naming) -> str:
    """Write a difference of means in steps of the response, with its sign."""
    return signed_number(naming.steps * value, naming.digits)


def mean_response(value: float, naming: Naming, digits: int = 2) -> str:
    """Write a mean response with a typographic minus."""
    return naming.mean(value, digits).replace("-", "−")


def verbs(naming: Naming) -> tuple[str, str]:
    """Return what complaints and praise do to the average."""
    return ("lowers", "raises") if naming.is_class or naming.has_no_direction else ("costs", "adds")


def extremes(naming: Naming, group_name: str) -> tuple[str, str]:
    """Return headings of the groups in which complaints cost most, and praise adds most."""
    if naming.is_class or naming.has_no_direction:
        return "Lowered most", "Raised most"
    return f"Worst {group_name}", f"Best {group_name}"


def changes(naming: Naming) -> tuple[str, str]:
    """Return adverbs of a change for the better and for the worse."""
    return ("higher", "lower") if naming.is_class or naming.has_no_direction else ("better", "worse")


def kinds_of_clauses(naming: Naming) -> tuple[str, str, str]:
    """Return the kinds of a clause: for worse, neutral, for better."""
    if naming.is_class or naming.has_no_direction:
        return naming.short_ways[0], "neutral", naming.short_ways[1]
    return "complaint", "neutral", "praise"


def short_numbers(text: str) -> str:
    """Round numbers in a text to three significant digits if they have more than three decimals."""
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda match: f"{float(match[0]):.3g}", text)
