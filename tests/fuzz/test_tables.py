"""Files and columns of any kind: a table comes out of them, or one line that names what is wrong."""

import bz2
import gzip
import io
import json
import lzma
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textsignal.data.read import groups_of, read_table, texts_of
from textsignal.data.roles import model_inputs
from textsignal.data.rows import check_rows
from textsignal.data.source import read_batches
from textsignal.errors import InputError
from textsignal.insight.inputs import as_times
from textsignal.reading.options import ResponseScale
from textsignal.workflow.rows import n_classes, range_of, response_in

#: The longest message, without the path of the file.
LONGEST = 800
ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le")
GIVEN = (
    *ENCODINGS,
    "ascii",
    "utf-7",
    "shift_jis",
    "idna",
    "punycode",
    "undefined",
    "hex",
    "rot13",
    "",
    "a\0b",
    "UTF_16",
)
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": lambda content: zipped(content),
}
FEW = settings(max_examples=400, suppress_health_check=list(HealthCheck))

#: Text as people and machines write it: separators, quotation marks, ends of lines, halves of surrogate pairs.
TEXTS = st.text(st.sampled_from("ab1,;|\t\"'\n\r\0 é😀\ud800\ufeff=-."), max_size=8) | st.text(max_size=4)
NUMBERS = st.integers() | st.floats() | st.sampled_from([0, 1, 2.5, -0.0, 10**400, np.nan, np.inf])
PLAIN = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=4
)
DATES = (
    st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.just(pd.NaT)
    | st.just(pd.Timestamp("2020", tz="UTC"))
)
CELLS = (
    VALUES
    | DATES
    | st.binary(max_size=3)
    | st.decimals(allow_nan=False)
    | st.complex_numbers()
    | st.just(pd.NA)
    | st.sets(st.integers())
)


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("table", content)
    return packed.getvalue()


@cache
def sheets(ending):
    """A Parquet or an Excel file."""
    table, file = pd.DataFrame({"text": ["good", "bad"], "stars": [4, 1]}), io.BytesIO()
    (table.to_parquet if ending == ".parquet" else table.to_excel)(file)
    return file.getvalue()


@st.composite
def delimited(draw):
    """Lines of cells, most of them as many as the header has."""
    separator = draw(st.sampled_from(",;\t|:"))
    width, quote = draw(st.integers(1, 4)), draw(st.booleans())
    rows = draw(st.lists(st.lists(TEXTS, min_size=width, max_size=width + draw(st.integers(0, 1))), max_size=5))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    doubled = [[f'"{cell}"' if quote else cell for cell in row] for row in rows]
    return end.join(separator.join(row) for row in doubled) + draw(st.sampled_from(["", end, '"']))


@st.composite
def objects(draw):
    """Lines of JSON, or an array, of objects and sometimes of something else."""
    records = draw(st.lists(st.dictionaries(TEXTS, VALUES, max_size=3) | VALUES, max_size=4))
    if draw(st.booleans()):
        return json.dumps(records, ensure_ascii=draw(st.booleans()))
    return "\n".join(json.dumps(record, ensure_ascii=draw(st.booleans())) for record in records)


@st.composite
def files(draw):
    """Name and content of a file: of its format, damaged, or of nothing at all."""
    ending, packing = draw(st.sampled_from(ENDINGS)), draw(st.sampled_from([*PACKERS]))
    if ending in (".parquet", ".xlsx"):
        content, packing = sheets(ending), ""
    else:
        text = draw(delimited() if ending in (".csv", ".tsv") else objects())
        content = text.encode(draw(st.sampled_from(ENCODINGS)), draw(st.sampled_from(["replace", "ignore"])))
    content = PACKERS[packing](draw(st.one_of(st.just(content), st.just(content), st.binary(max_size=40))))
    damage = draw(st.sampled_from(["none", "none", "cut", "change", "swap"]))
    if damage == "cut":
        content = content[: draw(st.integers(0, len(content)))]
    elif damage == "change" and content:
        place = draw(st.integers(0, len(content) - 1))
        content = content[:place] + draw(st.binary(min_size=1, max_size=3)) + content[place + 1 :]
    elif damage == "swap":
        packing = draw(st.sampled_from([*PACKERS])) if ending not in (".parquet", ".xlsx") else ""
    return f"table{ending}{packing}", content


def outcome(read, *arguments, without="", **options):
    """What is read, or the message of an InputError, which is one short line."""
    try:
        return read(*arguments, **options)
    except InputError as error:
        message = str(error)
        assert message
        assert len(message.splitlines()) == 1
        assert len(message.replace(without or "\0", "")) <= LONGEST, ascii(message)
        return message


def in_batches(path, **options):
    return pd.concat([batch.table for batch in read_batches(str(path), batch_rows=2, **options)], ignore_index=True)


@FEW
@given(file=files(), encoding=st.none() | st.sampled_from(GIVEN), sep=st.none() | TEXTS | st.sampled_from([";", "tab"]))
def test_a_file_is_a_table_or_a_line_that_names_what_is_wrong(file, encoding, sep):
    name, content = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        options = {"encoding": encoding, "sep": sep}
        whole = outcome(read_table, path, without=str(path), **options)
        parts = outcome(in_batches, path, without=str(path), **options)
        assert [file.name for file in Path(folder).iterdir()] == [name]
    if isinstance(whole, pd.DataFrame):
        assert len(whole)
        if isinstance(parts, pd.DataFrame):
            # Batches take columns by name, so that names which are given twice are refused there.
            assert parts.astype(object).map(repr).to_dict("records") == whole.astype(object).map(repr).to_dict(
                "records"
            )
        else:
            assert not whole.columns.is_unique or "column" in parts
    else:
        assert isinstance(parts, str)


@st.composite
def tables(draw):
    """A table with texts and three columns of anything."""
    n = draw(st.integers(1, 6))
    columns = {}
    for name in ("text", "response", "other"):
        kind = draw(st.sampled_from([CELLS, CELLS, VALUES, TEXTS, NUMBERS, DATES, st.booleans(), st.integers(0, 5)]))
        cells = draw(st.lists(st.none() | kind if draw(st.booleans()) else kind, min_size=n, max_size=n))
        columns[name] = pd.Series([*cells, None], dtype=object)[:-1]
        if draw(st.booleans()):
            try:
                columns[name] = columns[name].infer_objects()
                columns[name] = columns[name].astype("category") if draw(st.booleans()) else columns[name]
            except (TypeError, ValueError, OverflowError):
                pass
    return pd.DataFrame(columns)


@FEW
@given(table=tables(), family=st.sampled_from(["auto", "bernoulli", "categorical", "ordinal", "gaussian", "poisson"]))
def test_columns_of_anything_are_read_or_refused(table, family):
    scale = ResponseScale(family, None)
    parsed = outcome(response_in, table, "response", scale)
    if not isinstance(parsed, str):
        assert len(parsed.values) == len(parsed.given) == len(table)
        assert n_classes(parsed, scale) <= len(table)
        span = range_of(parsed, family)
        bad = check_rows(table["text"], parsed, levels=span)
        assert 0 <= len(bad) <= len(table)
        outcome(lambda: check_message(bad))
    groups = outcome(groups_of, table, "other")
    if not isinstance(groups, str):
        assert groups.groupby(groups, sort=False).size().sum() == groups.notna().sum()
    times = outcome(as_times, table["other"], len(table))
    assert isinstance(times, str) or times.dtype == np.dtype("datetime64[D]")
    inputs = outcome(model_inputs, table, ["other"], None, "response", "response", learn=True)
    assert isinstance(inputs, str) or all(0 < len(problem.rows) <= len(table) for problem in inputs.problems())
    assert all(isinstance(text, str) for text in texts_of(table, "text"))


def check_message(bad):
    if len(bad):
        raise InputError(f"{bad.describe()}. {bad.advice()}")


@FEW
@given(names=st.lists(TEXTS | st.text(min_size=300, max_size=400), min_size=1, max_size=60), wanted=TEXTS)
def test_a_column_that_is_absent_or_there_twice_is_named_in_a_short_line(names, wanted):
    table = pd.DataFrame([[1] * len(names)], columns=pd.Index(names, dtype=object))
    found = outcome(groups_of, table, wanted)
    assert isinstance(found, str) == (names.count(wanted) != 1)
