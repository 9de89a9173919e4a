"""How a report writes numbers: charts, their tooltips and the text beside them alike."""

from __future__ import annotations

import re


def count(value: float) -> str:
    """A number of things.

    Examples
    --------
    >>> count(12345)
    '12,345'
    """
    return f"{value:,.0f}"


def percent(share: float, digits: int = 0) -> str:
    """A share of one.

    Examples
    --------
    >>> percent(0.125), percent(0.3456, 1)
    ('12%', '34.6%')
    """
    return f"{share:.{digits}%}"


def number(value: float, digits: int = 2) -> str:
    """A number with its minus as typographers write it; a dash where there is none.

    Examples
    --------
    >>> number(-1.234), number(-0.001), number(float("nan"))
    ('−1.23', '0.00', '–')
    """
    return "–" if value != value else f"{value:z.{digits}f}".replace("-", "−")


def signed_number(value: float, digits: int = 2) -> str:
    """A number with its sign, which nothing has none of.

    Examples
    --------
    >>> signed_number(0.421), signed_number(-0.421), signed_number(-0.001)
    ('+0.42', '−0.42', '0.00')
    """
    written = number(value, digits)
    return f"+{written}" if value > 0 and set(written) & set("123456789") else written


def short_numbers(text: str) -> str:
    """A text with at most three digits of any number that has more behind its point.

    Examples
    --------
    >>> short_numbers("Gaussian(deviation=2.224782041965393)")
    'Gaussian(deviation=2.22)'
    """
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.3g}", text)
