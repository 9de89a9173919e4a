"""How a report writes names, texts and changes."""

from __future__ import annotations

from textsignal.topics.findings import NOTHING


def one_line(text: str) -> str:
    r"""A text that can stand in a chart, which control characters would bring down.

    Examples
    --------
    >>> one_line(" a\tb\n c")
    'a b c'
    """
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""A text with control characters as their pictures and half surrogates as the replacement character.

    Examples
    --------
    >>> visible("a\x00b\ud800")
    'a␀b�'
    """
    return "".join(map(_sign, text))


def _sign(character: str) -> str:
    code = ord(character)
    if code < 32 and character not in "\n\t":
        return chr(0x2400 + code)
    if 127 <= code < 160:
        return "␡"
    return "�" if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE else character


def signed(value: float, unit: str) -> str:
    """A change in words.

    Examples
    --------
    >>> signed(0.4211, "stars"), signed(-0.001, "stars")
    ('+0.42 stars', '±0.00 stars')
    """
    number = f"{value:+.2f}".replace("-", "−") if abs(value) >= NOTHING else "±0.00"
    return f"{number} {unit}"


def signed_number(value: float) -> str:
    """A number with its sign, which 0.00 has none of.

    Examples
    --------
    >>> signed_number(0.4211), signed_number(-0.1), signed_number(-0.001)
    ('+0.42', '−0.10', '0.00')
    """
    return f"{value:+.2f}".replace("-", "−") if abs(value) >= NOTHING else "0.00"


def cut(text: str, length: int) -> str:
    """A text of so many characters at most.

    Examples
    --------
    >>> cut("The Grand Hotel", 9), cut("Inn", 9)
    ('The Gran…', 'Inn')
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"
