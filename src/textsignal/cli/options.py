"""Options that several commands share, and their allowed values."""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textsignal.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class OnBadRows(enum.StrEnum):
    """Treatment of rows that cannot be used."""

    error = "error"
    drop = "drop"


class ClauseTable(enum.StrEnum):
    """Format of the table of clauses of a fit."""

    parquet = "parquet"
    csv = "csv"
    none = "none"


class Lexicon(enum.StrEnum):
    """Values of words that tone starts from."""

    auto = "auto"
    none = "none"


#: Panel of a command's help for options that most users do not need.
ADVANCED = "Advanced options"
#: Families of responses.
FAMILIES = (
    "auto",
    "binomial",
    "beta-binomial",
    "adjacent-categories",
    "stereotype",
    "ordinal",
    "bernoulli",
    "categorical",
    "proportion",
    "poisson",
    "negative-binomial",
    "gaussian",
)

ModelArgument = Annotated[Path, typer.Argument(help="Folder of a model that `textsignal fit` wrote.")]
FileArgument = Annotated[
    Path, typer.Argument(help="CSV, TSV, JSON, Parquet or Excel; compressed too (.gz, .zip, ...).")
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, JSON, Parquet or Excel; compressed too (.gz, .zip, ...). Several files, a folder of Parquet, "
        "or a pattern in quotes such as 'reviews/*.parquet' are read in batches, and may be larger than memory.",
        metavar="FILES...",
    ),
]
NewFilesArgument = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, JSON lines or Parquet, compressed too (.gz, .zip, ...), of any size; JSON; Excel. Several, "
        "a folder of Parquet files, or a pattern in quotes: 'reviews/*.parquet'.",
        metavar="FILES...",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Memory limit, such as 4GB: rows are read in batches; tone is learnt from all of them, themes from a "
        "random sample.",
        show_default="4GB for several files, else one file is read whole",
        rich_help_panel=ADVANCED,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        help="Folder for intermediate results of files read in batches; a stopped fit resumes from it.",
        show_default="none",
        rich_help_panel=ADVANCED,
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Engine that reads files in batches: local (this machine) or dask (Dask workers).",
        show_default="local",
        rich_help_panel=ADVANCED,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Address of Dask's scheduler, such as tcp://10.0.0.1:8786.",
        metavar="ADDRESS",
        rich_help_panel=ADVANCED,
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", "-t", help="Column that holds the texts.", show_default="the only column of long texts"),
]
Response = Annotated[
    str | None,
    typer.Option(
        "--response", "-r", help="Column that holds the response.", show_default="the model's, or the only numbers"
    ),
]
Responses = Annotated[
    list[str] | None,
    typer.Option(
        "--response",
        "-r",
        help="Column that holds the response; several responses share themes and have a page each.",
        show_default="the only column of numbers",
    ),
]
Table = Annotated[
    Path | None, typer.Option("--output", "-o", help="CSV, TSV, JSON, Parquet or Excel file; by default the terminal.")
]
SampleMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Memory limit, such as 4GB: rows are read in batches, and at most 100,000 at random are used.",
        show_default="4GB for several files, else one file is read whole",
    ),
]
Language = Annotated[
    str, typer.Option("--language", help="Language of the texts, for stop words and negations; or none.")
]
MaxTerms = Annotated[
    int | None,
    typer.Option("--max-terms", min=1, help="Maximum number of terms.", show_default="3000", rich_help_panel=ADVANCED),
]
OneResponse = Annotated[str | None, typer.Option("--response", help="Response, if the model has several.")]
Class = Annotated[str | None, typer.Option("--class", help="Class, if the model has three or more.")]
Family = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        help="Family of the response; auto takes the one that predicts held-out texts best. "
        "For several responses one for all, or name=family for some.",
        metavar=f"[{'|'.join(FAMILIES)}]",
        show_default="auto",
        rich_help_panel=ADVANCED,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
By = Annotated[str | None, typer.Option("--by", help="Column of groups with separate drivers, such as a hotel.")]
Covariates = Annotated[
    str | None,
    typer.Option(
        "--covariates",
        help="Columns of covariates, separated by commas; effects are adjusted for them.",
        rich_help_panel=ADVANCED,
    ),
]
Formula = Annotated[
    str | None,
    typer.Option(
        "--formula", help="Formula of covariates, such as 'log(price) * C(country)'.", rich_help_panel=ADVANCED
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        "--offset", help="Column to add to the linear predictor, such as log exposure.", rich_help_panel=ADVANCED
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval",
        help="Level of intervals of cost and gain, such as 0.95; takes as long as two or three fits.",
        show_default="no intervals",
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="Column of clusters of dependent texts, such as a hotel; intervals account for them.",
        rich_help_panel=ADVANCED,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="Column of weights: how many times each row counts.", rich_help_panel=ADVANCED),
]
Over = Annotated[str | None, typer.Option("--over", help="Column of dates; the report shows what changes over time.")]
Documents = Annotated[
    int,
    typer.Option(
        "--documents",
        min=0,
        max=5000,
        help="Number of texts in the report; a sample if there are more.",
        rich_help_panel=ADVANCED,
    ),
]
Clauses = Annotated[
    ClauseTable,
    typer.Option(
        "--clauses",
        help="Format of the table of all clauses: clauses.parquet, clauses.csv, or none.",
        rich_help_panel=ADVANCED,
    ),
]
WordValues = Annotated[
    Lexicon,
    typer.Option(
        "--lexicon",
        help="What words are worth in general: by the lexicon of the language, if there is one, or none.",
        rich_help_panel=ADVANCED,
    ),
]
Neutral = Annotated[
    float | None,
    typer.Option(
        "--neutral",
        help="Half the width of the zone of neutral clauses, in log-odds of praise against complaint.",
        show_default="from the texts",
        rich_help_panel=ADVANCED,
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed.", rich_help_panel=ADVANCED)]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        help="Device to learn themes and tone on: cpu, or cuda for an NVIDIA card.",
        rich_help_panel=ADVANCED,
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all cores.", rich_help_panel=ADVANCED)]
BadRows = Annotated[
    OnBadRows, typer.Option("--on-bad-rows", help="Treatment of rows with empty texts or unusable responses.")
]
NoTexts = Annotated[
    bool,
    typer.Option(
        "--no-texts",
        help="Write no texts, neither in the report nor in the table of clauses.",
        rich_help_panel=ADVANCED,
    ),
]
NoMask = Annotated[
    bool,
    typer.Option(
        "--no-mask",
        help="Show e-mail addresses and phone numbers in the report; by default they are masked.",
        rich_help_panel=ADVANCED,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="Unit of the response, such as stars.", show_default="one that suits the response"),
]
Lower = Annotated[bool, typer.Option("--lower-is-better", help="Lower responses are better, as for severity.")]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding of a CSV, TSV or JSON file; by default UTF-8.", rich_help_panel=ADVANCED),
]
Sep = Annotated[
    str | None,
    typer.Option(
        "--sep",
        help="Separator of a CSV or TSV file; by default recognised from its first lines.",
        rich_help_panel=ADVANCED,
    ),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of an Excel file; by default the first.", rich_help_panel=ADVANCED)
]


def _number_of(themes: str) -> int | str:
    """Parse a number of themes, or "auto"."""
    if str(themes) == "auto":
        return "auto"
    if not str(themes).isdecimal() or int(themes) < 1:
        raise typer.BadParameter(f"{themes!r} is neither a whole number of at least 1 nor auto")
    return int(themes)


Themes = Annotated[
    Any,
    typer.Option(
        "--themes",
        "-k",
        parser=_number_of,
        metavar="[INTEGER|auto]",
        help="Number of themes; auto takes the most that are reproducible.",
    ),
]
Levels = Annotated[
    str | None, typer.Option("--levels", help="Scale of the response, such as 1-5 or low,mid,high; learnt by default.")
]


def families_of(given: list[str] | None, responses: list[str]) -> str | dict[str, str]:
    """Return the family of all responses, or a mapping from their names."""
    if not given:
        return FAMILIES[0]
    pairs = [each.rpartition("=") for each in given]
    for name, _, family in pairs:
        if family not in FAMILIES:
            raise InputError(f"--family {family} is not known; give one of {', '.join(FAMILIES)}")
        if name and name not in responses:
            raise InputError(f"--family {name}={family}: {name!r} is not one of the responses {', '.join(responses)}")
    if len(pairs) == 1 and not pairs[0][0]:
        return pairs[0][2]
    if not all(name for name, _, _ in pairs):
        raise InputError("--family is given several times; name the response for each, such as --family stars=ordinal")
    return {name: family for name, _, family in pairs}


def names_of(listed: str | None, table: pd.DataFrame) -> list[str]:
    """Split names of columns at commas; a column whose name holds commas is one."""
    if listed is None:
        return []
    return [listed] if listed in table.columns else [name.strip() for name in listed.split(",")]


def scale_of(levels: str | None) -> tuple[Any, ...] | None:
    """Lowest and highest level of a scale such as "1-5", "1:5", "1 to 5" or "-2..2"; names in order, "low,mid,high"."""
    if levels is None:
        return None
    names = tuple(name.strip() for name in levels.split(","))
    if len(names) > 1 and all(names):
        return names
    match = re.fullmatch(r"(-?\d+)\s*(?:-|:|to|\.\.)\s*(-?\d+)", levels.strip())
    if match is None or int(match[1]) >= int(match[2]):
        raise InputError(f"--levels {levels}: give the lowest and the highest level, such as 1-5")
    return int(match[1]), int(match[2])
