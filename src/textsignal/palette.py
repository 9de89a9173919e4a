"""One colour for each topic in every figure, and one for each sign, safe for colour-blind readers."""

from __future__ import annotations

#: Okabe and Ito's colours, with grey for their black and without their yellow, which is invisible on white.
_BASE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#4D4D4D")
#: Each further round mixes them with this much white (positive) or black (negative).
_ROUNDS = (0.0, -0.4, 0.45, -0.65, 0.65, -0.2, 0.25, -0.55)

#: Colours of topics that raise and lower a response; distinct for every kind of colour blindness.
POSITIVE, NEGATIVE, NEUTRAL = "#0072B2", "#D55E00", "#666666"


def topic_colors(n: int) -> list[str]:
    """Return colours of topics 0 to n - 1, as "#RRGGBB": a topic's colour does not depend on the number of topics.

    The first seven are distinct for colour-blind readers; further ones are shades of these, so figures name topics too.
    """
    return [_mixed(_BASE[k % len(_BASE)], _ROUNDS[k // len(_BASE) % len(_ROUNDS)]) for k in range(n)]


def readable(color: str) -> str:
    """Return the colour, darkened to a contrast of 3 on a white page (WCAG, large letters)."""
    blacker = (_mixed(color, -percent / 100) for percent in range(100))
    return next(mixed for mixed in blacker if contrast_with_white(mixed) >= 3)


def contrast_with_white(color: str) -> float:
    """Return the contrast with white, 1.05 / (luminance + .05): from 1 for white to 21 for black."""
    shares = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    light = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05)


def _mixed(color: str, share: float) -> str:
    """Mix a colour with a share of white, or of black if negative."""
    end = 255 if share > 0 else 0
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(share) * (end - part)):02X}" for part in parts)
