"""Documents that show what a topic is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError

#: Documents with a high or low response are chosen among the most typical ones: this many times as many as asked for.
TYPICAL = 5


def find_documents(
    *,
    topic: int,
    n: int,
    high: bool | None,
    texts: Sequence[str],
    responses: Vector,
    predictions: Vector,
    shares: NDArray[np.floating],
    metadata: pd.DataFrame | None,
) -> pd.DataFrame:
    """Documents in which a topic leads.

    high : True for the highest responses among the most typical documents, False for the lowest, None for the most
        typical ones whatever their response.
    responses : (documents,) NaN where there is none; predictions : (documents,).
    shares : (documents, topics) of a document's weight; a document is the more typical the larger the topic's share.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    >>> found = find_documents(
    ...     topic=0,
    ...     n=2,
    ...     high=True,
    ...     texts=["a", "b", "c", "d"],
    ...     responses=np.array([1.0, 5.0, 5.0, 4.0]),
    ...     predictions=np.array([2.0, 4.0, 5.0, 3.0]),
    ...     shares=shares,
    ...     metadata=None,
    ... )
    >>> found[["row", "text", "response", "share"]]
       row text  response  share
    0    1    b       5.0    0.6
    1    3    d       4.0    0.7
    """
    share = shares[:, topic]
    leads = np.argmax(shares, axis=1) == topic
    if high is not None:
        leads &= ~np.isnan(responses)
    typical = np.flatnonzero(leads)
    typical = typical[np.argsort(-share[typical], kind="stable")]
    if high is not None:
        typical = typical[: TYPICAL * n]
        typical = typical[np.argsort(responses[typical] * (-1 if high else 1), kind="stable")]
    rows = typical[:n]
    found = pd.DataFrame(
        {
            "row": rows,
            "text": pd.Series([texts[i] for i in rows], dtype=object),  # it may hold what pandas' own strings cannot
            "response": responses[rows],
            "prediction": predictions[rows],
            "share": share[rows],
        }
    )
    return found if metadata is None else _with_metadata(found, metadata, len(texts))


def _with_metadata(found: pd.DataFrame, metadata: pd.DataFrame, n_documents: int) -> pd.DataFrame:
    if len(metadata) != n_documents:
        raise InputError(f"{n_documents} texts, but {len(metadata)} rows of metadata; give one for each text")
    taken = [str(name) for name in metadata.columns if name in found.columns]
    if taken:
        raise InputError(f"metadata has columns of the same name as ours: {', '.join(taken)}; rename or leave them out")
    return pd.concat([found, metadata.iloc[found["row"]].reset_index(drop=True)], axis=1)
