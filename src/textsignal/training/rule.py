"""Which number of topics to take, by what was measured with each.

More topics are more to read and fewer hide what people speak of, while skill hardly depends on their number. What does
is whether topics come back when they are learnt from other documents. So:

1. cells whose held-out deviance is more than one standard error above the least are out;
2. topics that are a model of the text, as those on a matrix are, shall not be more than the text asks for: than the
   fewest whose held-out text deviance is within one standard error of the least;
3. of the others, those stay whose stability is within one standard error of the greatest, or within `NEAR` of it;
4. of these, the most topics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: Numbers of topics that are tried first; then all between the neighbours of the one that is taken. Two or three topics
#: nearly always come back and say next to nothing, so themes begin with 5.
COARSE_THEMES, COARSE_TOPICS = (5, 8, 12, 17, 23, 30), (3, 6, 10, 15, 22, 30)
#: Up to so many numbers are listed one by one.
FEW = 4
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


def skilled(cells: pd.DataFrame, measure: str = "deviance") -> pd.DataFrame:
    """Cells whose deviance is within one standard error of the least.

    Examples
    --------
    >>> cells = pd.DataFrame({"deviance": [2.0, 2.1, 2.4], "deviance_se": [0.2, 0.1, 0.1]})
    >>> skilled(cells).index.tolist()
    [0, 1]
    """
    best = cells[measure].idxmin()
    return cells[cells[measure] <= cells.at[best, measure] + np.nan_to_num(cells.at[best, f"{measure}_se"])]


def eligible(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells that predict within one standard error of the best, and have no more topics than the text asks for.

    cells : one for each number of topics.
    """
    kept = skilled(cells)
    if "text_deviance" not in cells:
        return kept
    most = skilled(cells, "text_deviance")["n_topics"].min()
    few = kept[kept["n_topics"] <= most]
    return kept if few.empty else few


def recommended(cells: pd.DataFrame) -> int:
    """Row label of the cell to take.

    Of each number of topics the supervision with the least deviance speaks for it; of the number that is taken, the
    least supervision whose deviance is within one standard error of the least.
    """
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()]
    number = cells.at[most_stable(eligible(speaking)), "n_topics"]
    of_number = skilled(cells[cells["n_topics"] == number])
    return int(of_number.index[0] if "supervision" not in cells else of_number["supervision"].idxmin())


def why_stable(cells: pd.DataFrame, taken: int, noun: str, kept: pd.DataFrame | None = None) -> str:
    """Why so many, in a clause: how stable they are, and the best of those with more.

    taken : a row label; kept : the cells among which stability decides, None for all.
    """
    number, stability = cells.at[taken, "n_topics"], cells.at[taken, "stability"]
    others = cells if kept is None else kept
    more = others.loc[others["n_topics"] > number, "stability"]
    beyond = "" if more.empty else f", with more at best {more.max():.2f}"
    tried = cells["n_topics"].sort_values().tolist()
    listed = f"{tried[0]} to {tried[-1]}" if len(tried) > FEW else ", ".join(map(str, tried))
    return (
        f"of {listed} {noun}s, {number} are the most that come back "
        f"alike from either half of the texts (mean cosine {stability:.2f}{beyond})"
    )


def in_words(cells: pd.DataFrame, taken: int, noun: str) -> str:
    """What to take and why, and what a user loses with fewer or more; taken : a row label."""
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()].sort_values("n_topics", ignore_index=True)
    row, best = cells.loc[taken], cells.loc[cells["deviance"].idxmin()]
    number = int(row["n_topics"])
    place = int(speaking.index[speaking["n_topics"] == number][0])
    supervised = f", with a supervision of {row['supervision']:g}" if "supervision" in cells else ""
    said = [f"Take {number} {noun}s{supervised}"]
    if len(speaking) > 1:
        kept = eligible(speaking)
        asked = ", and held-out text asks for no more" if "text_deviance" in cells and place == kept.index[-1] else ""
        said.append(_sentence(why_stable(speaking, place, noun, kept) + asked))
    at_best = "the best" if row.name == best.name else f"{best['r2']:.3f} at the least deviance, {_named(best)}"
    said.append(f"Held-out R2 is {row['r2']:.3f}, {at_best}")
    for other, loss in ((place - 1, "less is told apart"), (place + 1, _beyond(speaking, place, noun))):
        if other in speaking.index:
            cell = speaking.loc[other]
            said.append(f"With {cell['n_topics']:.0f} {loss}: R2 {cell['r2']:.3f}, cosine {cell['stability']:.2f}")
    return ". ".join(said) + "."


def _beyond(speaking: pd.DataFrame, place: int, noun: str) -> str:
    """What is wrong with the next larger number."""
    if place + 1 in speaking.index and speaking.at[place + 1, "stability"] < speaking.at[place, "stability"] - NEAR:
        return f"{noun}s come back less surely"
    return "there is more to read and nothing gained"


def _named(cell: pd.Series) -> str:
    return f"with {cell['n_topics']:.0f}" + (f" and {cell['supervision']:g}" if "supervision" in cell else "")


def _sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:]
