"""Stored models, of one response, of several, or of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textsignal.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from textsignal.model import TextResponseModel


def load_themes(folder: Path) -> TextResponseModel:
    """Load a model of themes; raise if the folder holds one of topics."""
    from textsignal.loading import load
    from textsignal.model import TextResponseModel

    model = load(folder)
    if not isinstance(model, TextResponseModel):
        raise InputError(f"{folder} is a model of topics, which this command does not take; fit themes: textsignal fit")
    return model


def models_of(
    folder: Path, response: str | None, label: str | None = None, *, names_column: bool = False
) -> dict[str, TextResponseModel]:
    """Return the model of each response by its name, or of each class by its label, or of the requested one.

    names_column : True if `response` also names a column of a table, which may differ from the name in a model of one
    response.
    """
    return chosen(load_themes(folder), response, label, names_column=names_column)


def chosen(
    model: TextResponseModel, response: str | None, label: str | None = None, *, names_column: bool = False
) -> dict[str, TextResponseModel]:
    """Select from a loaded model, as `models_of` does."""
    names: dict[str, Any] = {str(name): name for name in model.names}
    several = len(model.namings_) > 1
    if label is not None and (several or not names):
        kind = "several responses, not of classes" if several else "one response without classes"
        raise InputError(f"--class {label}: the model is of {kind}")
    if not several and response not in (None, model.naming_.response) and not names_column:
        raise InputError(f"--response {response}: the model is of {model.naming_.response} alone")
    if not names:
        return {model.naming_.response: model}
    wanted, flag = (response, "--response") if several else (label, "--class")
    if wanted is not None and wanted not in names:
        raise InputError(f"{flag} {wanted}: the model has no such {flag[2:]}; give one of {', '.join(names)}")
    return {name: model.of(each) for name, each in names.items() if wanted in (None, name)}


def noun_of(models: dict[str, TextResponseModel]) -> str:
    """Return the kind of models: "response" or "class"."""
    return "class" if next(iter(models.values())).naming_.is_class else "response"


def one_model(
    folder: Path, response: str | None, label: str | None = None, *, names_column: bool = False
) -> TextResponseModel:
    """Return the model of the requested response or class; a model of one response has only that."""
    return only(models_of(folder, response, label, names_column=names_column), folder)


def only(models: dict[str, TextResponseModel], folder: Path) -> TextResponseModel:
    """Return the one requested model; raise if there are several."""
    if len(models) > 1:
        noun = noun_of(models)
        plural = "classes" if noun == "class" else "responses"
        raise InputError(f"{folder} models several {plural}; choose one with --{noun}: {', '.join(models)}")
    return next(iter(models.values()))


def rows_of_fit(folder: Path, model: TextResponseModel, response: str) -> pd.DataFrame | None:
    """Return the texts.csv next to a stored model, with the model's response or class in `response`; None if absent."""
    import pandas as pd

    from textsignal.data.write import with_formulas
    from textsignal.workflow.apply import is_class

    split = folder.parent / "texts.csv"
    if not split.is_file():
        return None
    naming, rows = model.naming_, with_formulas(pd.read_csv(split))
    if naming.is_class:
        return rows.assign(response=is_class(rows["response"], naming.event))
    return rows.rename(columns={f"response_{response}": "response"})
