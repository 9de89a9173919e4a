"""Rule for the number of topics, from cross-validated measures of each.

More topics are more to read and fewer hide subjects, while skill hardly depends on their number. Stability does:
whether topics are reproduced when they are learnt from other documents. So:

1. exclude cells whose held-out deviance is more than one standard error above the smallest;
2. for topics that model the text, as those on a matrix do, exclude cells with more topics than the fewest whose
   held-out text deviance is within one standard error of the smallest;
3. keep cells whose stability is within one standard error of the largest, or within `NEAR` of it;
4. of these, take the most topics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: Numbers of topics that are tried first; then all between the neighbours of the best. Two or three topics are nearly
#: always stable but uninformative, so themes begin with 5.
COARSE_THEMES, COARSE_TOPICS = (5, 8, 12, 17, 23, 30), (3, 6, 10, 15, 22, 30)
#: Up to this many numbers are listed one by one.
FEW = 4
#: A negligible difference in stability.
NEAR = 0.01


def dense_around(number: int, tried: Sequence[int]) -> list[int]:
    """Return the numbers between the neighbours of `number` among those tried, ascending.

    Examples
    --------
    >>> dense_around(8, [5, 8, 12]), dense_around(5, [5, 8, 12])
    ([6, 7, 9, 10, 11], [6, 7])
    """
    lower = max((each for each in tried if each < number), default=number)
    upper = min((each for each in tried if each > number), default=number)
    return [each for each in range(lower + 1, upper) if each not in tried]


def most_stable(cells: pd.DataFrame) -> int:
    """Return the row label of the cell with the most topics whose stability is near the largest.

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
    """Return the cells whose deviance is within one standard error of the smallest.

    Examples
    --------
    >>> cells = pd.DataFrame({"deviance": [2.0, 2.1, 2.4], "deviance_se": [0.2, 0.1, 0.1]})
    >>> skilled(cells).index.tolist()
    [0, 1]
    """
    best = cells[measure].idxmin()
    return cells[cells[measure] <= cells.at[best, measure] + np.nan_to_num(cells.at[best, f"{measure}_se"])]


def eligible(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that remain after steps 1 and 2 of the rule.

    cells : one for each number of topics.
    """
    kept = skilled(cells)
    if "text_deviance" not in cells:
        return kept
    most = skilled(cells, "text_deviance")["n_topics"].min()
    few = kept[kept["n_topics"] <= most]
    return kept if few.empty else few


def recommended(cells: pd.DataFrame) -> int:
    """Return the row label of the recommended cell.

    Each number of topics is represented by the supervision with the smallest deviance; for the chosen number, the
    smallest supervision whose deviance is within one standard error of the smallest is taken.
    """
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()]
    number = cells.at[most_stable(eligible(speaking)), "n_topics"]
    of_number = skilled(cells[cells["n_topics"] == number])
    return int(of_number.index[0] if "supervision" not in cells else of_number["supervision"].idxmin())


def why_stable(cells: pd.DataFrame, taken: int, noun: str, kept: pd.DataFrame | None = None) -> str:
    """Return a clause that explains the choice: its stability, and the best stability with more topics.

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
    """Describe the recommendation, its reason, and the cost of fewer or more topics; taken : a row label."""
    speaking = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()].sort_values("n_topics", ignore_index=True)
    row, best = cells.loc[taken], cells.loc[cells["deviance"].idxmin()]
    number = int(row["n_topics"])
    position = int(speaking.index[speaking["n_topics"] == number][0])
    supervised = f", with a supervision of {row['supervision']:g}" if "supervision" in cells else ""
    sentences = [f"Take {number} {noun}s{supervised}"]
    if len(speaking) > 1:
        kept = eligible(speaking)
        asked = (
            ", and held-out text asks for no more" if "text_deviance" in cells and position == kept.index[-1] else ""
        )
        sentences.append(_sentence(why_stable(speaking, position, noun, kept) + asked))
    at_best = "the best" if row.name == best.name else f"{best['r2']:.3f} at the least deviance, {_named(best)}"
    sentences.append(f"Held-out R2 is {row['r2']:.3f}, {at_best}")
    for other, loss in ((position - 1, "less is told apart"), (position + 1, _beyond(speaking, position, noun))):
        if other in speaking.index:
            cell = speaking.loc[other]
            sentences.append(f"With {cell['n_topics']:.0f} {loss}: R2 {cell['r2']:.3f}, cosine {cell['stability']:.2f}")
    return ". ".join(sentences) + "."


def _beyond(speaking: pd.DataFrame, position: int, noun: str) -> str:
    """Disadvantage of the next larger number."""
    if (
        position + 1 in speaking.index
        and speaking.at[position + 1, "stability"] < speaking.at[position, "stability"] - NEAR
    ):
        return f"{noun}s come back less surely"
    return "there is more to read and nothing gained"


def _named(cell: pd.Series) -> str:
    return f"with {cell['n_topics']:.0f}" + (f" and {cell['supervision']:g}" if "supervision" in cell else "")


def _sentence(clause: str) -> str:
    return clause[0].upper() + clause[1:]
