"""Batches: together they are the rows of `read_table`, and every error names file and row."""

import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.data import read as reading
from textsignal.data.read import read_table
from textsignal.data.source import Source, read_batches
from textsignal.errors import InputError

TABLE = pd.DataFrame(
    {
        "id": range(9),
        "Review": ["Fine", "two\nlines, quoted", 'so "good"', "NA", "", " x ", "😀 é", "a;b\tc|d", "007"],
        "votes": [1, 2, None, 4, 5, 6, 7, 8, 9],
    }
)
NASTY = (
    'a,b\n1,"x\r\ny"\n\n2\n"q""r", s \n"",NA\n"open, no",007\n',
    "a;b\r\n1,5;x\r\n;\r\n2,5;null\r\n",
    "a|b\n\n\n1|'2\n3|4",
    "\ufeffa,b\nä,ö\n",
    "a,b\n",
)


def whole(source, **options):
    """All batches of a source as one table."""
    batches = list(read_batches(source, **options))
    assert [batch.first for batch in batches] == np.cumsum([0, *map(len, batches[:-1])]).tolist()
    return pd.concat([batch.table for batch in batches], ignore_index=True)


def error_of(source, **options):
    with pytest.raises(InputError) as caught:
        list(read_batches(source, **options))
    message = str(caught.value)
    assert "\n" not in message
    return message


def write(path, table=TABLE):
    if ".parquet" in path.name:
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path, row_group_size=4)
    elif ".json" in path.name or ".ndjson" in path.name:
        table.to_json(path, orient="records", lines=".json." not in path.name + ".")
    elif path.suffix == ".xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


FILES = [
    *("t.csv", "t.tsv", "t.csv.gz", "t.csv.bz2", "t.tsv.xz", "t.csv.zip", "t.jsonl", "t.ndjson.gz", "t.json"),
    *("t.jsonl.xz", "t.parquet", "t.xlsx"),
]


@pytest.mark.parametrize("rows", [1, 2, 5, 100])
@pytest.mark.parametrize("name", FILES)
def test_batches_are_the_rows_of_the_table(tmp_path, name, rows):
    path = write(tmp_path / name)
    found, expected = whole(path, batch_rows=rows), read_table(path)
    pd.testing.assert_frame_equal(found, expected)
    assert all(len(batch) <= rows for batch in read_batches(path, batch_rows=rows))


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("packed", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("text", NASTY[:4])
def test_nasty_delimited_files_come_as_from_the_table(tmp_path, text, packed, rows):
    path = tmp_path / packed
    path.write_bytes(gzip.compress(text.encode()) if packed.endswith("gz") else text.encode())
    pd.testing.assert_frame_equal(whole(path, batch_rows=rows), read_table(path))


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("text;n\nnaïve;1\nl’hôtel;2\n".encode(encoding))
    options = {"encoding": encoding} if encoding == "cp1252" else {}
    expected = read_table(tmp_path / "t.csv", **options)
    pd.testing.assert_frame_equal(whole(tmp_path / "t.csv", batch_rows=1, **options), expected)


cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cell, cell), min_size=1), st.integers(1, 4), st.sampled_from(["t.csv", "t.tsv", "t.jsonl"]))
def test_any_text_comes_as_from_the_table(rows, batch_rows, name):
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / name, pd.DataFrame(rows, columns=["a", "b"]))
        pd.testing.assert_frame_equal(whole(path, batch_rows=batch_rows), read_table(path))


def test_texts_are_held_by_arrow(tmp_path):
    for name in ("t.csv", "t.parquet"):
        batch = next(iter(read_batches(write(tmp_path / name), ["Review"])))
        assert batch.table["Review"].dtype == pd.StringDtype("pyarrow", na_value=np.nan)


def test_json_keys_of_later_rows_count(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a": 3, "b": null}\n')
    expected = read_table(tmp_path / "t.jsonl")
    pd.testing.assert_frame_equal(whole(tmp_path / "t.jsonl", batch_rows=1), expected)
    pd.testing.assert_frame_equal(whole(tmp_path / "t.jsonl", columns=["b"], batch_rows=1), expected[["b"]])
    assert "t.jsonl: no column 'c'" in error_of(tmp_path / "t.jsonl", columns=["c"], batch_rows=1)


def test_long_rows_make_small_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    monkeypatch.setattr(reading, "FIRST_ROWS", 1)
    table = pd.DataFrame({"text": [f"{i}" * 300 for i in range(8)]})
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        path = write(tmp_path / name, table)
        assert max(len(batch) for batch in read_batches(path)) <= 4
        assert whole(path)["text"].tolist() == table["text"].tolist()


# sources


def sources(folder):
    """Every kind of source gives equal rows."""
    parts = [TABLE[:4], TABLE[4:]]
    for place, part in enumerate(parts):
        (folder / "parts").mkdir(exist_ok=True)
        part.to_parquet(folder / "parts" / f"{place}.parquet", index=False)
    arrow = pa.Table.from_pandas(TABLE, preserve_index=False)
    return {
        "pattern": str(folder / "parts" / "*.parquet"),
        "deep pattern": str(folder / "**" / "*.parquet"),
        "folder": folder / "parts",
        "list": [folder / "parts" / "0.parquet", str(folder / "parts" / "1.parquet")],
        "pandas": TABLE,
        "arrow": arrow,
        "dataset": ds.dataset(folder / "parts"),
        "in memory": ds.dataset(arrow),
        "reader": pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=2)),
        "iterator": iter(parts),
        "tables": [parts[0], pa.Table.from_pandas(parts[1], preserve_index=False)],
        "generator": (part for part in parts),
    }


ONE_SHOT = {"reader", "iterator", "generator"}
KINDS = "pattern, deep pattern, folder, list, pandas, arrow, dataset, in memory, reader, iterator, tables, generator"


@pytest.mark.parametrize("kind", KINDS.split(", "))
def test_sources_give_the_same_rows_and_say_whether_they_do_so_twice(tmp_path, kind):
    source = read_batches(sources(tmp_path)[kind], ["Review", "id"], batch_rows=3)
    tables = [batch.table for batch in source]
    pd.testing.assert_frame_equal(pd.concat(tables, ignore_index=True), TABLE[["Review", "id"]], check_dtype=False)
    assert all(len(table) <= 3 for table in tables)
    assert source.is_one_shot == (kind in ONE_SHOT)
    if source.is_one_shot:
        with pytest.raises(InputError, match="was read already"):
            iter(source)
    else:
        assert sum(map(len, source)) == len(TABLE)


def test_batches_say_where_they_stand(tmp_path):
    source = read_batches(sources(tmp_path)["folder"], batch_rows=3)
    assert [(Path(batch.file).name, batch.first, batch.row) for batch in source] == [
        ("0.parquet", 0, 0),
        ("0.parquet", 3, 3),
        ("1.parquet", 4, 0),
        ("1.parquet", 7, 3),
    ]
    assert [batch.place.split("/")[-1] for batch in source][1] == "0.parquet, rows 4 to 4"
    assert source.n_rows == 9
    assert Source(write(tmp_path / "t.csv")).n_rows is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("gone.csv", "there is no file gone.csv"),
        ("gone/*.csv", "no file matches gone/*.csv"),
        ("t.docx", "of no known format"),
        (7, "int is not a source of rows"),
        ([TABLE, "x"], "item 2 of the source is a str"),
        ([], "the source has no rows"),
        (TABLE[:0], "the source has no rows"),
    ],
)
def test_what_is_no_source_is_named(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    Path("t.docx").write_text("x")
    assert message in error_of(source)


def test_options_that_do_not_fit_are_named(tmp_path):
    assert "sep is for files" in error_of(TABLE, sep=";")
    assert "batch_rows=0 is not a number of rows" in error_of(TABLE, batch_rows=0)
    assert "columns='id' is one name" in error_of(TABLE, columns="id")
    assert "has no encoding to choose" in error_of(write(tmp_path / "t.parquet"), encoding="utf-8")
    (tmp_path / "none").mkdir()
    assert "is a folder without Parquet files" in error_of(tmp_path / "none")


def test_choices_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    notices = []
    whole(tmp_path / "t.csv", notice=lambda file, choice: notices.append((Path(file).name, choice)))
    assert notices == [("t.csv", "separated by semicolons")]


# what goes wrong


def test_a_missing_column_is_named_with_its_file(tmp_path):
    for place in range(6):
        write(tmp_path / f"{place}.csv", TABLE.drop(columns="votes") if place == 4 else TABLE)
    message = error_of(str(tmp_path / "*.csv"), columns={"votes": "offset"})
    assert message.startswith(f"{tmp_path / '4.csv'}: no column 'votes' for the offset")
    assert "did you mean 'Review'?" in error_of(TABLE, columns=["review"])


def test_an_empty_part_among_others_is_passed_over(tmp_path):
    write(tmp_path / "0.parquet", TABLE[:0])
    write(tmp_path / "1.parquet")
    assert len(whole(tmp_path)) == 9
    assert error_of(tmp_path / "0.parquet").endswith("0.parquet has no rows")


BIG = pd.DataFrame({"text": [f"text {i} of many" * 20 for i in range(400)]})


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.jsonl.gz", "t.parquet"])
def test_a_truncated_file_is_named(tmp_path, name):
    path = write(tmp_path / name, BIG.sample(frac=1, random_state=0))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    assert str(path) in error_of(path, batch_rows=2)


def test_a_damaged_parquet_file_is_named_with_the_place(tmp_path):
    path = tmp_path / "t.parquet"
    numbers = pd.DataFrame({"text": [os.urandom(40).hex() for _ in range(5000)]})
    pq.write_table(pa.Table.from_pandas(numbers), path, row_group_size=1000, compression="gzip", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 2000] = bytes(2000)
    path.write_bytes(content)
    assert error_of(path, batch_rows=500).startswith(f"cannot read {path} (after row 2,")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.csv.gz"])
def test_invalid_utf8_in_the_middle_is_named_with_its_line(tmp_path, name):
    lines = [b"text", *[b"fine"] * 50, b"caf\xe9", *[b"fine"] * 50]
    if name == "t.jsonl":
        lines = [b'{"text": "' + line + b'"}' for line in lines]
    content = b"\n".join(lines)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert f"{name}, line 52: byte 0xe9 is not utf-8" in error_of(tmp_path / name, batch_rows=5)


@pytest.mark.parametrize("bad", [2, 6, 11])
def test_a_ragged_line_is_named(tmp_path, bad):
    lines = ["a,b", *["x,y"] * 20]
    lines[bad] = "x,y,z"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert f"t.csv, line {bad + 1}: 3 cells under a header of 2" in error_of(tmp_path / "t.csv", batch_rows=5)


def test_a_line_that_is_not_json_is_named(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a"\n')
    assert "t.jsonl, line 3 is not JSON" in error_of(tmp_path / "t.jsonl", batch_rows=1)


@pytest.mark.parametrize("change", ["grows", "is touched", "goes"])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_file_that_changes_while_it_is_read_is_named(tmp_path, name, change):
    path = write(tmp_path / name)
    batches = iter(read_batches(path, batch_rows=4))
    next(batches)
    if change == "grows":
        path.write_bytes(path.read_bytes() + b"\n")
    elif change == "is touched":
        os.utime(path, ns=(1, 1))
    else:
        path.unlink()
    with pytest.raises(InputError, match=r"(changed while it was read \(after row 4\)|there is no file)"):
        list(batches)


def test_a_file_that_changes_between_two_passes_is_named(tmp_path):
    path = write(tmp_path / "t.csv")
    source = read_batches(path)
    assert len(list(source)) == 1
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="changed while it was read"):
        list(source)
