"""The page that says where we agree with the paper, where not, and why."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from textsignal.studies.claims import Claim, Verdict, claim_table
from textsignal.studies.samples import Sample

PACKAGES = ("textsignal", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Part:
    """A study on the page: its title, its text, links to its figures by name, and its claims."""

    title: str
    text: str
    figures: Mapping[str, str]
    claims: tuple[Claim, ...]


def page(parts: Sequence[Part], samples: Mapping[str, Sample], command: str) -> str:
    """The whole page, in Markdown. A figure stands where its part's text says {figure:NAME}, or at its end."""
    claims = [claim for part in parts for claim in part.claims]
    pieces = [
        "# The paper's studies, reproduced\n",
        "Made by the command below. Numbers, verdicts and figures come from its tables, all but the paper's own.\n",
        f"```\n{command}\n```\n",
        _about(),
        _samples(samples),
        "## Every claim\n",
        _count(parts),
        claim_table(claims) + "\n",
        *(_section(part) for part in parts),
    ]
    return "\n".join(piece for piece in pieces if piece)


def table_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; columns after the first are numbers.

    Examples
    --------
    >>> print(table_of(["method", "R2"], [["ridge", "0.5"]]))
    | method | R2 |
    |---|---:|
    | ridge | 0.5 |
    """
    lines = [list(header), ["---"] + ["---:"] * (len(header) - 1), *map(list, rows)]
    written = ["| " + " | ".join(line) + " |" for line in lines]
    written[1] = written[1].replace(" ", "")
    return "\n".join(written)


def _about() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    return f"{packages}; {machine}. Means stand with standard deviations over draws or splits (±).\n"


def _samples(samples: Mapping[str, Sample]) -> str:
    if not samples:
        return ""
    rows = [
        [role, sample.name, f"{len(sample):,}", f"{sample.median_words:g}", f"{(sample.ratings >= 4).mean():.1%}"]
        for role, sample in samples.items()
    ]
    header = ["in the place of the paper's", "reviews read", "number", "median words", "4 or 5 stars"]
    return table_of(header, rows) + "\n"


def _count(parts: Sequence[Part]) -> str:
    """How many claims of each study have each verdict."""
    rows = [
        [part.title, *(str(sum(claim.verdict == verdict for claim in part.claims)) for verdict in Verdict)]
        for part in parts
    ]
    return table_of(["study", *(verdict.value for verdict in Verdict)], rows) + "\n"


def _section(part: Part) -> str:
    text, left = part.text.strip(), []
    for name, link in part.figures.items():
        picture, place = f"![{part.title}: {name.replace('-', ' ')}]({link})", f"{{figure:{name}}}"
        if place in text:
            text = text.replace(place, picture)
        else:
            left.append(picture)
    return "\n\n".join([f"## {part.title}", text, *left]) + "\n"
