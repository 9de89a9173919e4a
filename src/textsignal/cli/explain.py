"""`textsignal explain`: what moves the prediction for one text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import out, say
from textsignal.cli.models import chosen, only
from textsignal.errors import InputError


def explain(
    model: opt.ModelArgument,
    text: Annotated[str | None, typer.Argument(help="The text; - reads it from standard input.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read the text from this file.")] = None,
    response: opt.OneResponse = None,
    label: opt.Class = None,
) -> None:
    """Show the contributions of themes, sentences and words to the prediction for one text."""
    from textsignal.loading import load
    from textsignal.model import TextResponseModel

    if (text is None) == (file is None):
        raise InputError("give one text: in quotes, as - for standard input, or in a --file")
    whole, loaded = _one_text(text, file), load(model)
    if not isinstance(loaded, TextResponseModel):
        out.print(loaded.explain(whole))
        return
    if label is None and loaded.names and len(loaded.namings_) == 1:
        chances = loaded.average_prediction(whole).by_level.iloc[0]
        label = str(chances.idxmax())
        say(f"Predicted class: {label}, with a probability of {chances.max():.0%}; --class explains another.")
    fitted = only(chosen(loaded, response, label), model)
    if fitted.naming_.is_class:
        say(f"What moves {fitted.naming_.subject}, by the model of that class against all others alone:")
    out.print(fitted.explain(whole))


def _one_text(text: str | None, file: Path | None) -> str:
    """Return the text itself, or the contents of the file or of standard input, in UTF-8."""
    if file is None and text != "-":
        return str(text)
    try:
        content = sys.stdin.buffer.read() if file is None else file.read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file or 'standard input'} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
