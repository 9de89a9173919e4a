"""Stored models, of one response or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textsignal.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from textsignal.model import TextResponseModel
    from textsignal.several import TextResponsesModel


def models_of(
    folder: Path, response: str | None, label: str | None = None, *, names_column: bool = False
) -> dict[str, TextResponseModel]:
    """Return the model of each response by its name, or of each class by its label, or of the requested one.

    names_column : True if `response` also names a column of a table, which may differ from the name in a model of one
    response.
    """
    from textsignal.loading import load

    return chosen(load(folder), response, label, names_column=names_column)


def chosen(
    found: TextResponseModel | TextResponsesModel,
    response: str | None,
    label: str | None = None,
    *,
    names_column: bool = False,
) -> dict[str, TextResponseModel]:
    """Select from a loaded model, as `models_of` does."""
    from textsignal.reading.classes import ClassReader
    from textsignal.several import TextResponsesModel

    if isinstance(found, TextResponsesModel):
        if label is not None:
            raise InputError(f"--class {label}: the model is of several responses, not of classes")
        return found.models_ if response is None else {response: found[response]}
    if response not in (None, found.naming_.response) and not names_column:
        raise InputError(f"--response {response}: the model is of {found.naming_.response} alone")
    if isinstance(found.reader_, ClassReader):
        names = {str(each): each for each in found.reader_.classes}
        if label is not None and label not in names:
            raise InputError(f"--class {label}: there is no such class; give one of {', '.join(names)}")
        return {name: found.of(each) for name, each in names.items() if label in (None, name)}
    if label is not None:
        raise InputError(f"--class {label}: the model is not of three or more classes without an order")
    return {found.naming_.response: found}


def noun_of(models: dict[str, TextResponseModel]) -> str:
    """Return the kind of models: "response" or "class"."""
    return "class" if next(iter(models.values())).naming_.is_class else "response"


def one_model(
    folder: Path, response: str | None, label: str | None = None, *, names_column: bool = False
) -> TextResponseModel:
    """Return the model of the requested response or class; a model of one response has only that."""
    return only(models_of(folder, response, label, names_column=names_column), folder)


def only(found: dict[str, TextResponseModel], folder: Path) -> TextResponseModel:
    """Return the one requested model; raise if there are several."""
    from textsignal.report.values.comparisons import NOUNS

    if len(found) > 1:
        noun = noun_of(found)
        raise InputError(f"{folder} is of several {NOUNS[noun]}; say --{noun} with one of {', '.join(found)}")
    return next(iter(found.values()))


def rows_of_fit(folder: Path, model: TextResponseModel, response: str) -> pd.DataFrame | None:
    """Return the documents.csv next to a stored model, for the model's response or class; None if absent."""
    import pandas as pd

    from textsignal.data.write import with_formulas
    from textsignal.workflow.classes import split_of_class
    from textsignal.workflow.several import split_of

    split = folder.parent / "documents.csv"
    if not split.is_file():
        return None
    naming, rows = model.naming_, with_formulas(pd.read_csv(split))
    return split_of_class(rows, naming.event) if naming.is_class else split_of(rows, response)


def predicted_class(found: TextResponseModel | TextResponsesModel, text: str) -> tuple[str, float] | None:
    """Return the most probable class of a text and its probability, at average covariates; None without classes."""
    from textsignal.reading.classes import ClassReader
    from textsignal.several import TextResponsesModel

    if isinstance(found, TextResponsesModel) or not isinstance(reader := found.reader_, ClassReader):
        return None
    chances = reader.read([text], None if found.design_ is None else found.design_.average).predictions.by_level.iloc[0]
    return str(chances.idxmax()), float(chances.max())
