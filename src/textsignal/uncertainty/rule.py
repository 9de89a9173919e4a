"""Which number of topics to take, by what was measured with each.

More topics are more to read and fewer hide what people speak of, while skill hardly depends on their number. What does
is whether topics come back when they are learnt from other documents. So:

1. cells whose held-out deviance is more than one standard error above the least are out;
2. of the others, those stay whose stability is within one standard error of the greatest, or within `NEAR` of it;
3. of these, the most topics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: Numbers of topics that are tried first; then all between the neighbours of the one that is taken. Two or three topics
#: nearly always come back and say next to nothing, so themes begin with 5.
COARSE_THEMES, COARSE_TOPICS = (5, 8, 12, 17, 23, 30), (3, 6, 10, 15, 22, 30)
#: A difference in stability that is none.
NEAR = 0.01


def dense_around(number: int, tried: Sequence[int]) -> list[int]:
    """Numbers between the neighbours of `number` among those that were tried, ascending.

    Examples
    --------
    >>> dense_around(8, [5, 8, 12]), dense_around(5, [5, 8, 12])
    ([6, 7, 9, 10, 11], [6, 7])
    """
    lower = max((each for each in tried if each < number), default=number)
    upper = min((each for each in tried if each > number), default=number)
    return [each for each in range(lower + 1, upper) if each not in tried]


def most_stable(cells: pd.DataFrame) -> int:
    """Row label of the cell with the most topics whose stability is near the greatest.

    cells : columns n_topics, stability and stability_se.

    Examples
    --------
    >>> cells = pd.DataFrame({"n_topics": [5, 6, 9], "stability": [0.98, 0.97, 0.8], "stability_se": [0.02, 0.01, 0.1]})
    >>> most_stable(cells)
    1
    """
    best = cells["stability"].idxmax()
    near = max(NEAR, np.nan_to_num(cells.at[best, "stability_se"]))
    kept = cells[cells["stability"] >= cells.at[best, "stability"] - near]
    return int(kept["n_topics"].idxmax())


def skilled(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells whose held-out deviance is within one standard error of the least.

    Examples
    --------
    >>> cells = pd.DataFrame({"deviance": [2.0, 2.1, 2.4], "deviance_se": [0.2, 0.1, 0.1]})
    >>> skilled(cells).index.tolist()
    [0, 1]
    """
    best = cells["deviance"].idxmin()
    return cells[cells["deviance"] <= cells.at[best, "deviance"] + np.nan_to_num(cells.at[best, "deviance_se"])]


def recommended(cells: pd.DataFrame) -> int:
    """Row label of the cell to take.

    Of each number of topics the supervision with the least deviance speaks for it; of the number that is taken, the
    least supervision whose deviance is within one standard error of the least.
    """
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()]
    number = cells.at[most_stable(skilled(speaking)), "n_topics"]
    of_number = skilled(cells[cells["n_topics"] == number])
    return int(of_number.index[0] if "supervision" not in cells else of_number["supervision"].idxmin())


def why_stable(cells: pd.DataFrame, taken: int, noun: str) -> str:
    """Why so many, in a clause: how stable they are, and the best of those with more; taken : a row label."""
    number, stability = cells.at[taken, "n_topics"], cells.at[taken, "stability"]
    low, high = cells["n_topics"].min(), cells["n_topics"].max()
    most = f"of {low} to {high} {noun}s, {number} are the most that come back alike in two halves of the texts"
    more = cells.loc[cells["n_topics"] > number, "stability"]
    return f"{most} (cosine {stability:.2f}{'' if more.empty else f', with more at best {more.max():.2f}'})"


def in_words(cells: pd.DataFrame, taken: int, noun: str) -> str:
    """What was taken and why, and what a user loses with fewer or more; taken : a row label."""
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()].sort_values("n_topics")
    row, best = cells.loc[taken], cells.loc[cells["deviance"].idxmin()]
    number = row["n_topics"]
    why = why_stable(skilled(speaking), _speaker(speaking, number), noun)
    said = f"Take {number:.0f} {noun}s"
    if "supervision" in cells:
        said += f" and a supervision of {row['supervision']:g}"
    said += f": {why}, of those that predict within one standard error of the best (held-out R2 {row['r2']:.3f}"
    said += ", the best)." if row.name == best.name else f", the best {best['r2']:.3f} with {best['n_topics']:.0f})."
    fewer = speaking[speaking["n_topics"] < number].tail(1)
    more = speaking[speaking["n_topics"] > number].head(1)
    for other, what in ((fewer, "tell less apart"), (more, "are less sure to be found again")):
        if not other.empty:
            cell = other.iloc[0]
            said += f" {cell['n_topics']:.0f} {what}: R2 {cell['r2']:.3f}, cosine {cell['stability']:.2f}."
    return said


def _speaker(speaking: pd.DataFrame, number: float) -> int:
    return int(speaking.index[speaking["n_topics"] == number][0])
