"""`textsignal topics`: the paper's model, its tables and a report from a table of texts and responses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsignal.cli import options as opt
from textsignal.cli.console import busy, count, out, say
from textsignal.cli.screen import topic_table
from textsignal.cli.tables import check_results, columns_in, what_was_read
from textsignal.data.write import whole_folder

#: Files that are written, next to the model.
RESULTS = ("topics.csv", "texts.csv", "report.html")


def topics(
    file: opt.FileArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")],
    text: opt.Text = None,
    response: opt.Response = None,
    n_topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 10,
    alpha: Annotated[float, typer.Option("--alpha", help="Weight of the response against the text.")] = 0.05,
    levels: opt.Levels = None,
    holdout: Annotated[float, typer.Option("--holdout", help="Share of rows held out to measure skill.")] = 0.2,
    on_bad_rows: opt.BadRows = opt.OnBadRows.error,
    encoding: opt.Encoding = None,
    sep: opt.Sep = None,
    sheet: opt.Sheet = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = -1,
    force: opt.Force = False,
) -> None:
    """Fit the paper's model, Joint Binomial NMF: topics and their effects; write model, topics and a report."""
    from textsignal.data.read import read_file
    from textsignal.data.source import Source
    from textsignal.estimators import JBNMF
    from textsignal.topic_model import TopicModel
    from textsignal.workflow.analyse import analyse_topics

    source = Source([str(file)], encoding=encoding, sheet=sheet, sep=sep)
    columns = columns_in(source, text, () if response is None else (response,))
    estimator = JBNMF(n_topics=n_topics, alpha=alpha, levels=opt.scale_of(levels), random_state=seed, n_jobs=jobs)
    check_results(output, RESULTS, source)
    with whole_folder(output, force=force) as place:
        read = read_file(file, encoding=encoding, sheet=sheet, sep=sep)
        say(f"{what_was_read(file, read)} Fitting {count(n_topics, 'topic')}.")
        with busy("Topics"):
            analysis = analyse_topics(
                read.table, columns, TopicModel(estimator), holdout=holdout, seed=seed, on_bad_rows=on_bad_rows.value
            )
        analysis.write(place)
    if analysis.dropped:
        say(f"Excluded: {analysis.dropped}.")
    out.print(topic_table(analysis.model.topics(8)))
    say(f"\nWritten to {output}: model/, {', '.join(RESULTS)}")
