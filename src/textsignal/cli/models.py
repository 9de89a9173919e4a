"""Stored models, of one response or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textsignal.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from textsignal.model import TextResponseModel


def models_of(folder: Path, response: str | None, *, names_column: bool = False) -> dict[str, TextResponseModel]:
    """The model of each response by its name, or of the one that is asked for.

    names_column : whether `response` also names a column of a table, which that of a model of one response may have
    another name in.
    """
    from textsignal.loading import load
    from textsignal.several import TextResponsesModel

    found = load(folder)
    if isinstance(found, TextResponsesModel):
        return found.models_ if response is None else {response: found[response]}
    if response not in (None, found.naming_.response) and not names_column:
        raise InputError(f"--response {response}: the model is of {found.naming_.response} alone")
    return {found.naming_.response: found}


def one_model(folder: Path, response: str | None, *, names_column: bool = False) -> TextResponseModel:
    """The model of the response that is asked for; a model of one response has that alone."""
    found = models_of(folder, response, names_column=names_column)
    if len(found) > 1:
        raise InputError(f"{folder} is of several responses; say --response with one of {', '.join(found)}")
    return next(iter(found.values()))
