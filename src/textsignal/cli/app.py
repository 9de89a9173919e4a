"""The command line put together: its commands, and the handling of their errors.

Errors of the package name options as Python's callers know them, ``name=value``; here, and only here, they become the
flags of the command line.
"""

from __future__ import annotations

import gc
import io
import re
import sys
from collections.abc import Callable
from typing import Annotated

import typer

import textsignal
from textsignal.cli.check import check
from textsignal.cli.clauses import clauses
from textsignal.cli.compare import compare
from textsignal.cli.console import say
from textsignal.cli.demo import demo
from textsignal.cli.drivers import drivers
from textsignal.cli.effects import effects
from textsignal.cli.explain import explain
from textsignal.cli.fit import fit
from textsignal.cli.predict import predict
from textsignal.cli.report import report
from textsignal.cli.search import search
from textsignal.cli.themes import themes
from textsignal.cli.topics import topics
from textsignal.errors import TextSignalError, TrainingError

app = typer.Typer(
    name="textsignal",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
EXAMPLES: dict[Callable[..., None], str] = {
    demo: "textsignal demo -o demo/",
    fit: "textsignal fit reviews.csv -o out/",
    predict: "textsignal predict out/model new.csv --text Review -o predictions.csv",
    themes: "textsignal themes out/model",
    drivers: "textsignal drivers out/model reviews.csv --text Review --response Rating --by Hotel",
    effects: "textsignal effects out/model reviews.csv --text Review --response Rating --groups Hotel",
    check: "textsignal check out/model reviews.csv --text Review --response Rating",
    clauses: "textsignal clauses out/model new.csv --text Review -o clauses.parquet",
    explain: 'textsignal explain out/model "The lobby is lovely but the room smelled."',
    report: "textsignal report out/model reviews.csv --text Review --response Rating -o report.html",
    search: "textsignal search reviews.csv --text Review --response Rating -o search/",
    topics: "textsignal topics reviews.csv --topics 14 --alpha 0.05 -o topics/",
    compare: "textsignal compare reviews.csv --text Review --response Rating --groups Hotel",
}
for command, example in EXAMPLES.items():
    app.command(epilog=f"Example: {example}")(command)

#: Arguments of Python whose flag has another name.
OTHER_NAMES = {"n_themes": "themes", "n_jobs": "jobs", "random_state": "seed", "n_refits": "refits"}
_VALUE = r"""("[^"]*"|'[^']*'|\(-?\d+, -?\d+\)|[\w.+-]*\w)"""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textsignal {textsignal.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Text with a response: which themes move the response, by how much, and how often they are mentioned."""


def main() -> None:
    """Run the command line: exit code 0, 1 for a failure, 2 for bad input."""
    # Objects of a command live until it ends, so frequent garbage collection finds none.
    gc.set_threshold(100_000, 50, 100)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape what the terminal cannot show, instead of failing
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except TrainingError as error:
        _fail(error, 1)
    except TextSignalError as error:
        _fail(error, 2)
    except OSError as error:  # a full disk, a folder taken away
        _fail(error, 1)


def _fail(error: Exception, code: int) -> None:
    say(f"textsignal: {in_flags(' '.join(str(error).split()))}")
    sys.exit(code)


def in_flags(message: str) -> str:
    """Write options as flags of the command line: ``holdout=1.2`` as ``--holdout 1.2``, ``force=True`` as ``--force``.

    Examples
    --------
    >>> in_flags("n_themes=0 must be a whole number; give encoding='cp1252', or force=True")
    '--themes 0 must be a whole number; give --encoding cp1252, or --force'
    >>> in_flags("give levels=(1, 5) or levels=(-2, 2)")
    'give --levels 1-5 or --levels -2:2'
    """
    flags = {
        parameter.name: parameter.opts[0]
        for command in typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
        for parameter in command.params
        if parameter.opts[0].startswith("--")
    }
    flags |= {name: flags[other] for name, other in OTHER_NAMES.items()}

    def flag(option: re.Match[str]) -> str:
        value = option[2].strip("\"'")
        if value.startswith("("):  # the two ends of a scale
            value = value.strip("()").replace(", ", ":" if "-" in value else "-")
        return flags[option[1]] if value == "True" else f"{flags[option[1]]} {'none' if value == 'None' else value}"

    return re.sub(rf"(?<![\w.'\"/-])({'|'.join(flags)})={_VALUE}", flag, message)
