"""The command line put together: its commands, and what becomes of their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from textsignal.cli.console import say
from textsignal.cli.demo import demo
from textsignal.cli.explain import explain
from textsignal.cli.fit import fit
from textsignal.cli.predict import predict
from textsignal.cli.report import report
from textsignal.cli.reproduce import reproduce
from textsignal.cli.topics import topics
from textsignal.errors import StudyError, TextSignalError, TrainingError

app = typer.Typer(
    name="textsignal",
    help="Topics that explain a response: which themes move the number beside a text, by how much, how often.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
EXAMPLES: dict[Callable[..., None], str] = {
    demo: "textsignal demo -o demo/",
    fit: "textsignal fit reviews.csv --text Review --response Rating -o out/",
    predict: "textsignal predict out/model new.csv --text Review -o predictions.csv",
    topics: "textsignal topics out/model",
    explain: 'textsignal explain out/model "The lobby is lovely but the room smelled."',
    report: "textsignal report out/model reviews.csv --text Review --response Rating -o report.html",
    reproduce: "textsignal reproduce hotels --reviews tripadvisor_hotel_reviews.csv -o reproduction/",
}
for command, example in EXAMPLES.items():
    app.command(epilog=f"Example: {example}")(command)


def main() -> None:
    """Run the command line: exit code 0, 1 for a failure, 2 for bad input."""
    try:
        app()
    except (TrainingError, StudyError) as error:
        _fail(error, 1)
    except TextSignalError as error:
        _fail(error, 2)
    except OSError as error:  # a full disk, a folder taken away
        _fail(error, 1)


def _fail(error: Exception, code: int) -> None:
    say(f"textsignal: {' '.join(str(error).split())}")
    sys.exit(code)
