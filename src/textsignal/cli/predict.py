"""`textsignal predict`: the response of new texts."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli.console import count, say
from textsignal.cli.options import EncodingOption, FileArgument, ForceOption, ModelArgument, SheetOption, TextOption
from textsignal.tables.write import whole_file


def predict(
    model: ModelArgument,
    file: FileArgument,
    text: TextOption,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="CSV to write; default the screen.")] = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    force: ForceOption = False,
) -> None:
    """Predict the response of new texts."""
    from textsignal.model import load
    from textsignal.tables.analyse import predict_table
    from textsignal.tables.read import read_table

    with nullcontext(sys.stdout) if output is None else whole_file(output, force=force) as target:
        predictions = predict_table(load(model), read_table(file, encoding=encoding, sheet=sheet), text)
        predictions.to_csv(target, index=False)
    unknown = int(predictions["unknown"].sum())
    if unknown:
        say(f"Without a term the model knows, mean weights used: {unknown:,} of {count(len(predictions), 'text')}.")
    if output is not None:
        say(f"Written to {output}: {count(len(predictions), 'row')}")
