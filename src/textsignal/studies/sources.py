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
#: Fewer reviews cannot be split into parts that say something.
LEAST_REVIEWS = 50


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
    given : each "ROLE=FILE", a role of `ROLES` and a table with one review per row, or "FILE" alone for tripadvisor.
    text, rating : columns; None takes those of the published files.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "reviews.csv"
    >>> _ = path.write_text("Review,Rating\n" + "".join(f"room {i} was fine,{1 + i % 5}\n" for i in range(60)))
    >>> samples_from_files([f"hotel={path}"])["hotel"].texts[:2]
    ('room 0 was fine', 'room 1 was fine')
    """
    found: dict[str, Sample] = {}
    for item in given:
        role, separator, file = item.partition("=")
        if not separator or role not in ROLES:
            if separator and not Path(item).exists():
                raise InputError(
                    f"{role!r} is not a sample of the paper; there are {', '.join(ROLES)}, as in hotel=FILE"
                )
            role, file = "tripadvisor", item
        if role in found:
            raise InputError(f"two files were given for {role}: {found[role].name} and {Path(file).name}")
        found[role] = _sample(ROLES[role], read_tripadvisor(file, text=text, rating=rating))
    return found


def samples_from_google(
    folder: Path, state: str, *, progress: Callable[[int], None] | None = None
) -> dict[str, Sample]:
    """Cut the paper's three subsets from the published Google Local files of a state.

    Parameters
    ----------
    folder : holds `review-<state>.json.gz` and `meta-<state>.json.gz`.
    state : as in the names of the files, such as New_York.
    progress : called with the number of lines read so far.
    """
    reviews, metadata = (folder / f"{kind}-{state}.json.gz" for kind in ("review", "meta"))
    return {
        name: _sample(
            role,
            read_google_local(
                reviews,
                metadata,
                category=role.category,
                min_words=role.min_words,
                limit=MOST_REVIEWS,
                progress=progress,
            ),
        )
        for name, role in ROLES.items()
        if role.category is not None
    }


def _sample(role: Role, read: ReviewSample) -> Sample:
    """Texts and ratings, at most as many as the paper's main sample has."""
    file = read.left_out[0].file
    texts, ratings = tuple(read.table["text"].tolist()), read.table["rating"].to_numpy(dtype=np.float64)
    if len(texts) < LEAST_REVIEWS:
        left_out = read.left_out[0].in_short() or "nothing"
        raise InputError(
            f"{file} gives {len(texts)} reviews for {role.title}, and a study needs at least {LEAST_REVIEWS}; "
            f"left out: {left_out}"
        )
    if np.ptp(ratings) == 0:
        raise InputError(f"every review of {file} has the rating {ratings[0]:g}, so there is nothing to explain")
    return Sample(file, texts, ratings).drawn(MOST_REVIEWS, seed=0)
