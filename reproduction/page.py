"""The Markdown page: every claim with its verdict, then a section per study."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from reproduction.claims import Claim, Verdict
from reproduction.samples import Sample

PACKAGES = ("textsignal", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Section:
    """A study on the page.

    Attributes
    ----------
    title, text : str
        Heading and Markdown; ``{figure:NAME}`` in the text is replaced by that figure.
    figures : mapping of str to str
        Links to figures by name. Figures without a placeholder follow the text.
    claims : tuple of Claim
        Claims of the study.
    """

    title: str
    text: str
    figures: Mapping[str, str]
    claims: tuple[Claim, ...]


def page(sections: Sequence[Section], samples: Mapping[str, Sample], command: str) -> str:
    """Return the whole page in Markdown; `command` is the command that writes it."""
    pieces = [
        "# The paper's studies, reproduced\n",
        "Made by the command below. All numbers, verdicts and figures except the paper's own come from its tables.\n",
        f"```\n{command}\n```\n",
        _versions(),
        _sample_table(samples),
        "## All claims\n",
        _verdict_counts(sections),
        claim_table(claim for section in sections for claim in section.claims) + "\n",
        *(_section(section) for section in sections),
    ]
    return "\n".join(piece for piece in pieces if piece)


def table_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table in Markdown; all columns but the first are aligned as numbers.

    Examples
    --------
    >>> print(table_of(["method", "R2"], [["ridge", "0.5"]]))
    | method | R2 |
    |---|---:|
    | ridge | 0.5 |
    """
    rule = "|---|" + "---:|" * (len(header) - 1)
    first, *others = ("| " + " | ".join(line) + " |" for line in (header, *rows))
    return "\n".join([first, rule, *others])


def claim_table(claims: Iterable[Claim]) -> str:
    """Format claims as a table in Markdown."""
    lines = ["| where | claim of the paper | its number | ours | verdict | reason |", "|---|---|---|---|---|---|"]
    for claim in claims:
        cells = (claim.where, claim.statement, claim.paper, claim.ours, f"**{claim.verdict}**", claim.reason)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def _versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    return f"{packages}; {machine}. Means are given with standard deviations over draws or splits (±).\n"


def _sample_table(samples: Mapping[str, Sample]) -> str:
    if not samples:
        return ""
    rows = [
        [role, sample.name, f"{len(sample):,}", f"{sample.median_words:g}", f"{(sample.ratings >= 4).mean():.1%}"]
        for role, sample in samples.items()
    ]
    header = ["stands in for the paper's", "reviews", "number", "median words", "4 or 5 stars"]
    return table_of(header, rows) + "\n"


def _verdict_counts(sections: Sequence[Section]) -> str:
    rows = [
        [section.title, *(str(sum(claim.verdict == verdict for claim in section.claims)) for verdict in Verdict)]
        for section in sections
    ]
    return table_of(["study", *(verdict.value for verdict in Verdict)], rows) + "\n"


def _section(section: Section) -> str:
    text, after = section.text.strip(), []
    for name, link in section.figures.items():
        picture, placeholder = f"![{section.title}: {name.replace('-', ' ')}]({link})", f"{{figure:{name}}}"
        if placeholder in text:
            text = text.replace(placeholder, picture)
        else:
            after.append(picture)
    return "\n\n".join([f"## {section.title}", text, *after]) + "\n"
