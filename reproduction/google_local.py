"""Reader of Google Local reviews (2021): a file of reviews joined to a file of businesses, both larger than memory."""

from __future__ import annotations

import gzip
import heapq
import json
import math
import re
import unicodedata
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from hashlib import blake2b
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reproduction.reviews import Excluded, ReviewSample
from textsignal.data.read import check_file, unpacked
from textsignal.datasets.simulated import Seed, check_integer, generator
from textsignal.errors import InputError, one_line

Record = dict[str, Any]

#: Most bytes of a line in memory. A longer line, as in a file without line ends, is read as several.
LONGEST = 2**20
_REVIEW = itemgetter("user_id", "gmap_id", "rating", "text")
_BUSINESS = itemgetter("gmap_id", "name", "category", "address")
_YEAR_10000 = 253_402_300_800_000  # in milliseconds; later times cannot be shown
#: The state at the end of an address: "..., New York, NY 10001", with or without zip code and country.
_STATE = re.compile(r",\s*([A-Z]{2})(?:\s+\d{5}(?:-\d{4})?)?(?:,\s*(?:USA|United States))?\s*$")


def read_google_local(
    reviews: str | PathLike[str],
    metadata: str | PathLike[str],
    *,
    category: str | Sequence[str] | None = None,
    state: str | None = None,
    min_words: int = 0,
    limit: int | None = None,
    random_state: Seed = 0,
) -> ReviewSample:
    r"""Read Google Local reviews (2021) as published, one pair of files per state.

    `review-<State>.json.gz` holds one review per line, `meta-<State>.json.gz` one business; `gmap_id` joins them.
    Each file is read once, line by line. Memory holds the businesses, about 20 bytes for each review that passes the
    filters, and the returned reviews, at most `limit`.

    Unusable lines, repeated businesses and repeated reviews (same user, business and text) are excluded and counted by
    reason. If a gzipped file breaks off, the lines before the break are used.

    Parameters
    ----------
    reviews, metadata : path-like
        The files: JSON lines, gzipped if the name ends in .gz.
    category : str or sequence of str, optional
        Keep businesses with a category that ends in these words, ignoring case and accents: "hotel" matches "Hotel"
        and "Resort hotel", but neither "Motel" nor "Hotel supply store". With several categories, any match counts.
    state : str, optional
        Keep businesses whose address ends in this state, as "NY" in "..., New York, NY 10001". The files of a state
        hold some businesses of its neighbours.
    min_words : int
        Keep reviews of at least this number of words, separated by white space.
    limit : int, optional
        Draw this number of reviews with equal probability. The draw does not depend on the order of the lines, and a
        larger limit adds to the reviews of a smaller one.
    random_state : int, Generator or None
        Seed of the draw.

    Returns
    -------
    ReviewSample
        The columns `text`, `rating`, `time` (UTC; NaT if missing or impossible), `gmap_id`, `business` (its name),
        `category` (joined by "|") and `address`, in the order of the file.

    Raises
    ------
    InputError
        If a file cannot be read or has no usable line, or if no business has the category or is in the state.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> hotel = {"gmap_id": "0x1:0x2", "name": "Elm Inn", "category": ["Inn", "Hotel"], "address": "Troy, NY 12180"}
    >>> _ = (folder / "meta-New_York.json").write_text(json.dumps(hotel))
    >>> stay = {"user_id": "7", "gmap_id": "0x1:0x2", "rating": 4, "text": "Quiet rooms.", "time": 1577836800000}
    >>> silent = {**stay, "user_id": "8", "text": None}
    >>> _ = (folder / "review-New_York.json").write_text("\n".join(map(json.dumps, [stay, silent, stay])))
    >>> sample = read_google_local(folder / "review-New_York.json", folder / "meta-New_York.json", category="hotel")
    >>> sample.table[["text", "rating", "business", "category"]].to_dict("records")
    [{'text': 'Quiet rooms.', 'rating': 4, 'business': 'Elm Inn', 'category': 'Inn|Hotel'}]
    >>> print(sample.describe())
    review-New_York.json: 1 of 3 used
        1  no text
        1  repeated
    meta-New_York.json: 1 of 1 used
    """
    check_integer("min_words", min_words, at_least=0)
    if limit is not None:
        check_integer("limit", limit, at_least=1)
    draw = _Draw(limit, generator("random_state", random_state).bytes(16))
    _first_line(Path(reviews))  # fail before minutes are spent on the metadata

    businesses = _Businesses(category, state)
    of_metadata = _read_json_lines(Path(metadata), businesses.add)
    businesses.check(Path(metadata))
    _check_used(Path(metadata), of_metadata)

    of_reviews = _read_json_lines(Path(reviews), lambda record: draw.offer(*_review(record, businesses, min_words)))
    _check_used(Path(reviews), of_reviews)
    return ReviewSample(_table(draw.reviews(), businesses.kept), (draw.account(of_reviews), of_metadata))


class _Review(NamedTuple):
    text: str
    rating: int
    time: int | None
    gmap_id: str


def _review(record: Record, businesses: _Businesses, min_words: int) -> tuple[bytes, _Review]:
    """Identity of a usable review, and the review. The business is checked before the text."""
    user_id, gmap_id, rating, text = _pick(_REVIEW, record)
    if type(user_id) is not str or type(gmap_id) is not str:
        raise _Skip("user_id or gmap_id is not a string")
    businesses.demand(gmap_id)
    if text is not None and type(text) is not str:
        raise _Skip("text is not a string")
    if text is None or not text.strip():
        raise _Skip("no text")
    if type(rating) not in (int, float) or rating not in (1, 2, 3, 4, 5):
        raise _Skip("no whole rating from 1 to 5")
    if min_words and len(text.split()) < min_words:
        raise _Skip(f"fewer than {min_words:,} words")
    time = record.get("time")
    possible = type(time) is int and 0 <= time < _YEAR_10000
    return _encode(user_id, gmap_id, text), _Review(text, int(rating), time if possible else None, gmap_id)


def _table(reviews: list[_Review], businesses: dict[str, _Business]) -> pd.DataFrame:
    table = pd.DataFrame(reviews, columns=_Review._fields)
    table["time"] = np.array([review.time for review in reviews], dtype="datetime64[ms]")
    of_review = [businesses[gmap_id] for gmap_id in table["gmap_id"]]
    return table.join(pd.DataFrame(of_review, columns=["business", "category", "address"]))


class _Draw:
    """Draws distinct reviews from a stream with equal probability.

    The rank of a review is a hash of its identity, keyed by the seed; the lowest ranks are drawn. A repeated review
    therefore has the rank of the first, and ranks depend neither on the order of the stream nor on the limit.
    """

    def __init__(self, limit: int | None, key: bytes) -> None:
        self._limit = limit or math.inf
        self._key = key
        self._drawn: dict[int, _Review] = {}
        self._highest: list[int] = []  # heap of the negative ranks of drawn reviews
        self._ranks = array("Q")  # of all offered reviews

    def offer(self, identity: bytes, review: _Review) -> None:
        rank = int.from_bytes(blake2b(identity, digest_size=8, key=self._key).digest(), "little")
        self._ranks.append(rank)
        if rank in self._drawn:
            return
        self._drawn[rank] = review
        heapq.heappush(self._highest, -rank)
        if len(self._drawn) > self._limit:
            del self._drawn[-heapq.heappop(self._highest)]

    def reviews(self) -> list[_Review]:
        return list(self._drawn.values())

    def account(self, offered: Excluded) -> Excluded:
        """Add the repeated reviews and those not drawn to the exclusions."""
        ranks = np.sort(np.frombuffer(self._ranks, dtype=np.uint64))  # np.unique needs several times the memory
        n_different = 1 + int(np.count_nonzero(ranks[1:] != ranks[:-1]))
        counts = {"repeated": len(ranks) - n_different, "not drawn": n_different - len(self._drawn)}
        return replace(offered, reasons={**offered.reasons, **{why: count for why, count in counts.items() if count}})


class _Business(NamedTuple):
    name: str | None
    category: str | None
    address: str | None


class _Businesses:
    """Businesses to keep, by gmap_id, and the reasons for excluding the others."""

    def __init__(self, category: str | Sequence[str] | None, state: str | None) -> None:
        if state is not None and not (isinstance(state, str) and re.fullmatch("[A-Za-z]{2}", state)):
            raise InputError(f"state must be two letters such as 'NY', got {state!r}")
        self.kept: dict[str, _Business] = {}
        self._excluded: dict[str, str] = {}
        self._categories = None if category is None else _Categories(category)
        self._state = state and state.upper()
        self._states: Counter[str | None] = Counter()

    def add(self, record: Record) -> None:
        """Add a line of the metadata, or raise `_Skip`; the first of repeated businesses counts."""
        gmap_id, name, category, address = _pick(_BUSINESS, record)
        if type(gmap_id) is not str:
            raise _Skip("gmap_id is not a string")
        if not all(value is None or type(value) is str for value in (name, address)):
            raise _Skip("name or address is not a string")
        if category is not None and not (type(category) is list and all(type(one) is str for one in category)):
            raise _Skip("category is not a list of strings")
        joined = "|".join(category or ()) or None
        _encode(gmap_id, name, joined, address)
        if gmap_id in self.kept or gmap_id in self._excluded:
            raise _Skip("repeated")
        if reason := self._reason(category or [], address):
            self._excluded[gmap_id] = reason
            raise _Skip(reason)
        self.kept[gmap_id] = _Business(name, joined, address)

    def _reason(self, category: list[str], address: str | None) -> str:
        """Reason to exclude a business; empty to keep it."""
        in_category = self._categories is None or self._categories.match(category)
        match = _STATE.search(address) if address else None
        state = match[1] if match else None
        self._states[state] += 1
        if not in_category:
            return "of another category" if category else "without a category"
        if self._state in (None, state):
            return ""
        return "in another state" if state else "without a state in its address"

    def demand(self, gmap_id: str) -> None:
        """Raise `_Skip` for a review whose business is not kept."""
        if gmap_id not in self.kept:
            raise _Skip(f"business {self._excluded.get(gmap_id, 'not in the metadata')}")

    def check(self, path: Path) -> None:
        """Raise if no business has one of the categories, or none is in the state."""
        if self._categories is not None:
            self._categories.check(path)
        if self._state is not None and self._states and self._state not in self._states:
            found = ", ".join(f"{state or 'none'} ({n:,})" for state, n in self._states.most_common(5))
            raise InputError(f"no business of {path} is in the state {self._state!r}; most addresses end in: {found}")


class _Categories:
    """Requested categories; a name matches if it ends in the words of one."""

    def __init__(self, category: str | Sequence[str]) -> None:
        names = [category] if isinstance(category, str) or not isinstance(category, Iterable) else list(category)
        if not names or not all(isinstance(name, str) and _words(name) for name in names):
            raise InputError(f"category must be words such as 'hotel', or a list of such, got {category!r}")
        self._requested = {name: _words(name) for name in names}
        self._matched: dict[str, frozenset[str]] = {}  # by each name in the file: Google has some 4,000

    def match(self, category: list[str]) -> bool:
        return any([self._match(name) for name in category])  # noqa: C419 - `check` needs all names

    def _match(self, name: str) -> frozenset[str]:
        if name not in self._matched:
            words = _words(name)
            matched = (one for one, ending in self._requested.items() if words[-len(ending) :] == ending)
            self._matched[name] = frozenset(matched)
        return self._matched[name]

    def check(self, path: Path) -> None:
        """Raise if a requested category never matched, although the file has categories."""
        matched = frozenset().union(*self._matched.values())
        for one in self._requested:
            if self._matched and one not in matched:
                raise InputError(f"no business of {path} has a category that ends in {one!r}; {self._hint(one)}")

    def _hint(self, one: str) -> str:
        requested = set(self._requested[one])
        near = [name for name in self._matched if requested <= set(_words(name))]
        near = sorted(near, key=len) or get_close_matches(one.capitalize(), self._matched, n=5) or list(self._matched)
        return f"among its {len(self._matched):,} categories are {', '.join(map(repr, near[:5]))}"


def _words(name: str) -> list[str]:
    """Words of a category without case, accents and a final remark in brackets: "Café (US)" is cafe."""
    plain = unicodedata.normalize("NFKD", re.sub(r"\([^()]*\)\s*$", "", name))
    return re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)).casefold())


class _Skip(Exception):
    """Reason to exclude a line."""


class _BrokenOff(Exception):
    """Reason why a file ends too early."""


def _read_json_lines(path: Path, use: Callable[[Record], None]) -> Excluded:
    """Pass the object in each line to `use`, which raises `_Skip` to exclude it; one line is in memory at a time."""
    reasons: Counter[str] = Counter()
    n_read, broken_off = 0, ""
    try:
        for line in _lines(path):
            n_read += 1
            try:
                use(_record(line))
            except _Skip as reason:
                reasons[str(reason)] += 1
    except _BrokenOff as reason:
        broken_off = str(reason)
    return Excluded(path.name, n_read, dict(reasons), broken_off)


def _check_used(path: Path, excluded: Excluded) -> None:
    if not excluded.n_used:
        start = _first_line(path)[:60].decode("utf-8", "replace")
        raise InputError(f"no line of {path} can be used: {excluded.in_short()}; its first line begins {start!r}")


def _first_line(path: Path) -> bytes:
    for line in _lines(path):
        return line
    raise InputError(f"{path} is empty")


def _lines(path: Path) -> Iterator[bytes]:
    n_read = 0
    try:
        check_file(path)
        with unpacked(path) as stream:
            for n_read, line in enumerate(iter(partial(stream.readline, LONGEST), b""), 1):  # noqa: B007
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        if n_read:
            raise _BrokenOff(one_line(error)) from error
        raise InputError(f"cannot read {path}: {one_line(error)}") from error
    except (OSError, RuntimeError) as error:
        raise InputError(f"cannot read {path}: {one_line(error)}") from error


def _record(line: bytes) -> Record:
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError:
        raise _Skip("not in UTF-8") from None
    except (ValueError, RecursionError):
        raise _Skip("no JSON") from None
    if type(record) is not dict:
        raise _Skip("JSON, but no object")
    return record


def _pick(fields: Callable[[Record], tuple[Any, ...]], record: Record) -> tuple[Any, ...]:
    try:
        return fields(record)
    except KeyError as missing:
        raise _Skip(f"no key {missing}") from None


def _encode(*strings: str | None) -> bytes:
    """Strings separated by zero bytes; raise `_Skip` for half of a surrogate pair, which no table can hold."""
    try:
        return "\0".join([string or "" for string in strings]).encode()
    except UnicodeEncodeError:
        raise _Skip("half a character (a lone surrogate)") from None
