"""The businesses of Google Local: which of them have a wanted category and state."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from textsignal.datasets.json_lines import Record, Skip, encoded, pick
from textsignal.errors import InputError

_BUSINESS = itemgetter("gmap_id", "name", "category", "address")
#: The state at the end of an address: "..., New York, NY 10001", zip code and country or not.
_STATE = re.compile(r",\s*([A-Z]{2})(?:\s+\d{5}(?:-\d{4})?)?(?:,\s*(?:USA|United States))?\s*$")


class Business(NamedTuple):
    """What a review's row says of its business; None where the metadata have nothing."""

    name: str | None
    category: str | None
    address: str | None


class Businesses:
    """Collects the businesses to keep, by gmap_id, and why the others are left out."""

    def __init__(self, category: str | Sequence[str] | None, state: str | None) -> None:
        self.kept: dict[str, Business] = {}
        self._left_out: dict[str, str] = {}
        self._categories = None if category is None else _Categories(category)
        self._state = _checked_state(state)
        self._states: Counter[str | None] = Counter()

    def add(self, record: Record) -> None:
        """Take a line of the metadata, or skip it with the reason; of a repeated business the first counts."""
        gmap_id, name, category, address = pick(_BUSINESS, record)
        if type(gmap_id) is not str:
            raise Skip("gmap_id is not a string")
        if not (_is_text(name) and _is_text(address)):
            raise Skip("name or address is not a string")
        if category is not None and not (type(category) is list and all(type(one) is str for one in category)):
            raise Skip("category is not a list of strings")
        joined = "|".join(category or ()) or None
        encoded(gmap_id, name, joined, address)
        if gmap_id in self.kept or gmap_id in self._left_out:
            raise Skip("repeated")
        if reason := self._reason(category or [], address):
            self._left_out[gmap_id] = reason
            raise Skip(reason)
        self.kept[gmap_id] = Business(name, joined, address)

    def _reason(self, category: list[str], address: str | None) -> str:
        """Why a business is left out; empty if it is not."""
        in_category = self._categories is None or self._categories.match(category)
        state = _state_of(address)
        self._states[state] += 1
        if not in_category:
            return "of another category" if category else "without a category"
        if self._state in (None, state):
            return ""
        return "in another state" if state else "without a state in its address"

    def demand(self, gmap_id: str) -> None:
        """Skip a review whose business is not kept."""
        if gmap_id not in self.kept:
            raise Skip(f"business {self._left_out.get(gmap_id, 'not in the metadata')}")

    def check(self, path: Path) -> None:
        """Raise if no business of a file is of a wanted category, or none is in the state."""
        if self._categories is not None:
            self._categories.check(path)
        if self._state is not None and self._states and self._state not in self._states:
            found = ", ".join(f"{state or 'none'} ({n:,})" for state, n in self._states.most_common(5))
            raise InputError(f"no business of {path} is in the state {self._state!r}; most addresses end in: {found}")


class _Categories:
    """The wanted categories: one is met by any name that ends in its words."""

    def __init__(self, category: str | Sequence[str]) -> None:
        names = [category] if isinstance(category, str) or not isinstance(category, Iterable) else list(category)
        if not names or not all(isinstance(name, str) and _words(name) for name in names):
            raise InputError(f"category must be words such as 'hotel', or a list of such, got {category!r}")
        self._wanted = {name: _words(name) for name in names}
        self._met: dict[str, frozenset[str]] = {}  # by each category name that has occurred: Google has some 4,000

    def match(self, category: list[str]) -> bool:
        """Whether a business of these categories is wanted."""
        met = [self._meet(name) for name in category]  # all of them, so that `check` knows what occurs
        return any(met)

    def _meet(self, name: str) -> frozenset[str]:
        if name not in self._met:
            words = _words(name)
            met = (one for one, wanted in self._wanted.items() if words[-len(wanted) :] == wanted)
            self._met[name] = frozenset(met)
        return self._met[name]

    def check(self, path: Path) -> None:
        """Raise if a wanted category was never met, though there were categories."""
        met = {one for ones in self._met.values() for one in ones}
        for one in self._wanted:
            if self._met and one not in met:
                raise InputError(f"no business of {path} has a category that ends in {one!r}; {self._hint(one)}")

    def _hint(self, one: str) -> str:
        wanted = set(self._wanted[one])
        near = [name for name in self._met if wanted <= set(_words(name))]
        near = sorted(near, key=len) or get_close_matches(one.capitalize(), self._met, n=5) or list(self._met)
        return f"among its {len(self._met):,} categories are {', '.join(map(repr, near[:5]))}"


def _words(name: str) -> list[str]:
    """Words of a category without case, accents and a last remark in brackets: "Café (US)" is cafe."""
    plain = unicodedata.normalize("NFKD", re.sub(r"\([^()]*\)\s*$", "", name))
    return re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)).casefold())


def _state_of(address: str | None) -> str | None:
    found = _STATE.search(address) if address else None
    return found[1] if found else None


def _checked_state(state: str | None) -> str | None:
    if state is not None and not (isinstance(state, str) and re.fullmatch("[A-Za-z]{2}", state)):
        raise InputError(f"state must be two letters such as 'NY', got {state!r}")
    return state and state.upper()


def _is_text(value: Any) -> bool:
    return value is None or type(value) is str
