"""From files to the samples that studies read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textsignal.datasets import ReviewSample, read_google_local, read_tripadvisor
from textsignal.errors import InputError
from textsignal.studies.samples import Sample

#: The paper's main sample is of this size, and no study reads more.
MOST_REVIEWS = 10_000


@dataclass(frozen=True)
class Role:
    """A sample of the paper: what it is, and how it is cut from Google Local, where it comes from there."""

    title: str
    category: str | None = None
    min_words: int = 0


ROLES = {
    "tripadvisor": Role("TripAdvisor hotels"),
    "fast-food": Role("fast food (Google Local)", "fast food restaurant"),
    "cafe": Role("cafes (Google Local)", "cafe"),
    "hotel": Role("hotels, 30 words or more (Google Local)", "hotel", min_words=30),
}


def samples_from_files(
    given: Sequence[str], *, text: str | None = None, rating: str | None = None
) -> dict[str, Sample]:
    r"""Read samples from tables.

    Parameters
    ----------
    given : each "ROLE=FILE", a role of `ROLES` and a table with a review a row, or "FILE" alone for tripadvisor.
    text, rating : columns; None takes those of the published files.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "reviews.csv"
    >>> _ = path.write_text("Review,Rating\nlovely lobby,5\ncold soup,2\n")
    >>> samples_from_files([f"hotel={path}"])["hotel"].texts
    ('lovely lobby', 'cold soup')
    """
    found: dict[str, Sample] = {}
    for item in given:
        role, separator, file = item.partition("=")
        if not separator or role not in ROLES:
            if separator and not Path(item).exists():
                raise InputError(f"{role!r} is no sample of the paper; there are {', '.join(ROLES)}, as in hotel=FILE")
            role, file = "tripadvisor", item
        if role in found:
            raise InputError(f"two files were given for {role}: {found[role].name} and {Path(file).name}")
        found[role] = _sample(read_tripadvisor(file, text=text, rating=rating))
    return found


def samples_from_google(
    folder: Path, state: str, *, progress: Callable[[int], None] | None = None
) -> dict[str, Sample]:
    """Cut the paper's three subsets from the published Google Local files of a state.

    Parameters
    ----------
    folder : holds `review-<state>.json.gz` and `meta-<state>.json.gz`.
    state : as in the names of the files, such as New_York.
    progress : told how many lines have been read.
    """
    reviews, metadata = (folder / f"{kind}-{state}.json.gz" for kind in ("review", "meta"))
    return {
        name: _sample(
            read_google_local(
                reviews,
                metadata,
                category=role.category,
                min_words=role.min_words,
                limit=MOST_REVIEWS,
                progress=progress,
            )
        )
        for name, role in ROLES.items()
        if role.category is not None
    }


def _sample(read: ReviewSample) -> Sample:
    """Texts and ratings, at most as many as the paper's main sample has."""
    texts, ratings = tuple(read.table["text"].tolist()), read.table["rating"].to_numpy(dtype=np.float64)
    return Sample(read.left_out[0].file, texts, ratings).drawn(MOST_REVIEWS, seed=0)
