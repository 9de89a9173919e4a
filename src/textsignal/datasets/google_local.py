"""Google Local reviews (2021): a file of reviews joined to a file of businesses, both too large for memory."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from textsignal.datasets.businesses import Business, Businesses
from textsignal.datasets.common import Seed, check_integer, generator
from textsignal.datasets.json_lines import (
    Progress,
    Record,
    Skip,
    check_used,
    encoded,
    first_line,
    pick,
    read_json_lines,
)
from textsignal.datasets.sample import LeftOut, ReviewSample

_REVIEW = itemgetter("user_id", "gmap_id", "rating", "text")
_YEAR_10000 = 253_402_300_800_000  # in milliseconds; the end of what calendars can show


def read_google_local(
    reviews: str | PathLike[str],
    metadata: str | PathLike[str],
    *,
    category: str | Sequence[str] | None = None,
    state: str | None = None,
    min_words: int = 0,
    limit: int | None = None,
    random_state: Seed = 0,
    progress: Progress | None = None,
) -> ReviewSample:
    r"""Read Google Local reviews (2021) as published, one pair of files a state.

    `review-<State>.json.gz` holds one review per line, `meta-<State>.json.gz` a business; `gmap_id` joins them.
    Each file is read once, a line at a time. In memory are the businesses, some 20 bytes for each review that
    passes the filters, and the reviews that are returned, of which `limit` sets the number.

    A line that cannot be used is left out and counted with the reason, and so are repeated businesses and
    repeated reviews (same user, business and text). Of a gzipped file that breaks off, the part before is used.

    Parameters
    ----------
    reviews, metadata : path-like
        The files: JSON lines, gzipped where the name ends in .gz.
    category : str or sequence of str, optional
        Keep businesses with a category that ends in these words, whatever their case and accents: "hotel"
        finds "Hotel" and "Resort hotel", but neither "Motel" nor "Hotel supply store"; "Fast food restaurant"
        is found by its name and by "restaurant". Of several categories any will do. A business without
        category is then left out.
    state : str, optional
        Keep businesses whose address ends in this state, as "NY" in "..., New York, NY 10001": a state's
        files hold some businesses of its neighbours.
    min_words : int
        Keep reviews of at least so many words, parted by white space.
    limit : int, optional
        Draw so many of the reviews, each as likely as any other. The draw is the same whatever the order of
        the lines, and a larger limit adds to the reviews of a smaller one.
    random_state : int, Generator or None
        Seed of the draw.
    progress : callable, optional
        Called with the number of lines read so far, of both files, every 10,000 lines.

    Returns
    -------
    ReviewSample
        The columns `text`, `rating`, `time` (in UTC; NaT if the file has none that is possible), `gmap_id`,
        `business` (its name), `category` (joined by "|") and `address`, in the order of the file, and what was
        left out.

    Raises
    ------
    InputError
        If a file cannot be read or has no line that can be used, or if no business is of a given category or
        in the state.

    Examples
    --------
    >>> import json
    >>> from textsignal.datasets import read_google_local
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
    report = progress or (lambda n_read: None)
    first_line(Path(reviews))  # before minutes are spent on the metadata

    businesses = Businesses(category, state)
    of_metadata = read_json_lines(Path(metadata), businesses.add, report)
    businesses.check(Path(metadata))
    check_used(Path(metadata), of_metadata)

    def use(record: Record) -> None:
        draw.offer(*_review(record, businesses, min_words))

    of_reviews = read_json_lines(Path(reviews), use, lambda n_read: report(of_metadata.n_read + n_read))
    check_used(Path(reviews), of_reviews)
    return ReviewSample(_table(draw.reviews(), businesses.kept), (draw.account(of_reviews), of_metadata))


class _Review(NamedTuple):
    text: str
    rating: int
    time: int | None
    gmap_id: str


def _review(record: Record, businesses: Businesses, min_words: int) -> tuple[bytes, _Review]:
    """A review to use, and the bytes that tell it from others. Its business is looked at before its text."""
    user_id, gmap_id, rating, text = pick(_REVIEW, record)
    if type(user_id) is not str or type(gmap_id) is not str:
        raise Skip("user_id or gmap_id is not a string")
    businesses.demand(gmap_id)
    if text is not None and type(text) is not str:
        raise Skip("text is not a string")
    if text is None or not text.strip():
        raise Skip("no text")
    if type(rating) not in (int, float) or rating not in (1, 2, 3, 4, 5):
        raise Skip("no whole rating from 1 to 5")
    if min_words and len(text.split()) < min_words:
        raise Skip(f"fewer than {min_words:,} words")
    return encoded(user_id, gmap_id, text), _Review(text, int(rating), _time(record.get("time")), gmap_id)


def _time(milliseconds: Any) -> int | None:
    return milliseconds if type(milliseconds) is int and 0 <= milliseconds < _YEAR_10000 else None


class _Draw:
    """Draws different reviews from a stream, each with the same chance.

    A review's rank is a hash of what tells it from others, keyed by the seed; the reviews of the lowest ranks
    are drawn. So a repeated review has the rank of the first, and neither the order of the stream nor another
    limit changes any rank.
    """

    def __init__(self, limit: int | None, key: bytes) -> None:
        self._limit = limit or math.inf
        self._key = key
        self._drawn: dict[int, _Review] = {}
        self._highest: list[int] = []  # heap of the negative ranks of those drawn
        self._ranks = array("Q")  # of all that were offered

    def offer(self, identity: bytes, review: _Review) -> None:
        """Take one more review."""
        rank = int.from_bytes(blake2b(identity, digest_size=8, key=self._key).digest(), "little")
        self._ranks.append(rank)
        if rank in self._drawn:
            return
        self._drawn[rank] = review
        heapq.heappush(self._highest, -rank)
        if len(self._drawn) > self._limit:
            del self._drawn[-heapq.heappop(self._highest)]

    def reviews(self) -> list[_Review]:
        """The reviews drawn, in the order of the stream."""
        return list(self._drawn.values())

    def account(self, offered: LeftOut) -> LeftOut:
        """Add to what was left out before the draw what the draw left out."""
        ranks = np.sort(np.frombuffer(self._ranks, dtype=np.uint64))  # np.unique would need several times the memory
        n_different = 1 + int(np.count_nonzero(ranks[1:] != ranks[:-1]))
        counts = {"repeated": len(ranks) - n_different, "not drawn": n_different - len(self._drawn)}
        return replace(offered, reasons={**offered.reasons, **{why: count for why, count in counts.items() if count}})


def _table(reviews: list[_Review], businesses: dict[str, Business]) -> pd.DataFrame:
    table = pd.DataFrame(reviews, columns=_Review._fields)
    table["time"] = np.array([review.time for review in reviews], dtype="datetime64[ms]")
    of_review = [businesses[gmap_id] for gmap_id in table["gmap_id"]]
    joined = pd.DataFrame(of_review, columns=["business", "category", "address"])
    return table.join(joined)
