"""Tables from files: every format gives back what was written, every error names what is wrong and where."""

import bz2
import gzip
import lzma
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.data.read import column, read_file, read_table
from textsignal.data.rows import parse_response
from textsignal.data.source import read_batches
from textsignal.errors import InputError

TEXTS = ["Lovely 😀 ☹️", 'He said "no", twice', "two\nlines", "NA", "null", " None ", "naïve, l’hôtel\t!", "007"]
TABLE = pd.DataFrame({"Review": TEXTS, "Rating": [5, 4, 3, 2, 1, 5, 4, 3]})

WRITERS = {
    "t.csv": lambda path: TABLE.to_csv(path, index=False),
    "t.csv.gz": lambda path: TABLE.to_csv(path, index=False),
    "t.csv.zip": lambda path: TABLE.to_csv(path, index=False),
    "T.CSV": lambda path: TABLE.to_csv(path, index=False),
    "crlf.csv": lambda path: TABLE.to_csv(path, index=False, lineterminator="\r\n"),
    "bom.csv": lambda path: TABLE.to_csv(path, index=False, encoding="utf-8-sig"),
    "utf16.csv": lambda path: TABLE.to_csv(path, index=False, encoding="utf-16"),
    "t.csv.bz2": lambda path: TABLE.to_csv(path, index=False),
    "t.csv.xz": lambda path: TABLE.to_csv(path, index=False),
    "semicolon.csv": lambda path: TABLE.to_csv(path, index=False, sep=";"),
    "tab.csv.gz": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "bar.csv": lambda path: TABLE.to_csv(path, index=False, sep="|"),
    "utf16-semicolon.csv": lambda path: TABLE.to_csv(path, index=False, encoding="utf-16", sep=";"),
    "t.tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.tsv.xz": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.tsv.gz": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.tsv.zip": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.jsonl": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.jsonl.gz": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.ndjson": lambda path: TABLE.to_json(path, orient="records", lines=True, force_ascii=False),
    "t.json": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.jsonl.xz": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.jsonl.bz2": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.json.zip": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "array.json": lambda path: TABLE.to_json(path, orient="records"),
    "array.json.gz": lambda path: TABLE.to_json(path, orient="records", indent=2),
    "marked.json": lambda path: path.write_text("\n " + TABLE.to_json(orient="records"), encoding="utf-8-sig"),
    "t.parquet": lambda path: TABLE.to_parquet(path, index=False),
    "shuffled.parquet": lambda path: TABLE.set_index(np.arange(8)[::-1]).to_parquet(path, index=False),
    "t.xlsx": lambda path: TABLE.to_excel(path, index=False),
}


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def error_of(path, **options):
    with pytest.raises(InputError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_back_what_was_written(tmp_path, name):
    WRITERS[name](tmp_path / name)
    table = read_table(tmp_path / name)
    assert list(table.columns) == ["Review", "Rating"]
    assert list(table.index) == list(range(len(TEXTS)))
    assert column(table, "Review", "text").tolist() == TEXTS
    assert parse_response(column(table, "Rating", "response")).values.tolist() == TABLE["Rating"].tolist()


cell = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@settings(max_examples=50)
@given(st.lists(cell, min_size=1), st.sampled_from(["t.csv", "t.tsv", "t.jsonl.gz", "t.parquet"]))
def test_any_text_survives(texts, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        table = pd.DataFrame({"text": texts, "n": 1})
        match path.suffix:
            case ".parquet":
                table.to_parquet(path)
            case ".gz":
                table.to_json(path, orient="records", lines=True)
            case _:
                table.to_csv(path, index=False, quoting=1, sep="," if name == "t.csv" else "\t")
        assert read_table(str(path))["text"].tolist() == texts


def test_empty_cells_and_short_rows_are_empty_strings(tmp_path):
    table = read_table(written(tmp_path, "t.csv", 'text,rating\ngood,\n"",4\nshort\n'))
    assert table.to_dict("list") == {"text": ["good", "", "short"], "rating": ["", "4", ""]}


def test_json_lines_may_leave_out_keys_and_hold_half_an_emoji(tmp_path):
    table = read_table(written(tmp_path, "t.jsonl", '{"a": "\\ud83d", "b": 1}\n\n{"a": null}\n'))
    assert table["a"].tolist() == ["\ud83d", None]
    assert parse_response(table["b"]).values[0] == 1


def test_excel_sheet_by_name(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        TABLE.to_excel(book, sheet_name="one", index=False)
        TABLE[::-1].to_excel(book, sheet_name="two", index=False)
        pd.DataFrame().to_excel(book, sheet_name="bare", index=False)
    assert read_table(tmp_path / "t.xlsx", sheet="two")["Review"].tolist() == TEXTS[::-1]
    assert "has no sheet 'three'; it has one, two, bare" in error_of(tmp_path / "t.xlsx", sheet="three")
    assert error_of(tmp_path / "t.xlsx", sheet="bare").endswith("has no rows")


def test_excel_cells_come_as_strings(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["text", "rating"])
    book.active.append([12, 4.5])
    book.active.append(["NA", None])
    book.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").to_numpy().tolist() == [["12", "4.5"], ["NA", ""]]


def test_parquet_keeps_a_named_index_as_a_column(tmp_path):
    TABLE.set_index("Review").to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")["Review"].tolist() == TEXTS


def test_a_zip_of_a_mac_counts_as_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/t.csv", "a\nx\n")
        archive.writestr("__MACOSX/folder/._t.csv", "junk")
    assert read_table(tmp_path / "t.csv.zip")["a"].tolist() == ["x"]


# Encodings


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path, name, pack):
    start = '{"a": "x"}\n' * 3 if name == "t.jsonl" else 'a\n"two\nlines"\n'
    content = start.encode() + "naïve".encode("cp1252") + b"\n"
    path = written(tmp_path, name + (".gz" if pack is gzip.compress else ""), pack(content))
    message = error_of(path)
    assert f"{path}, line 4: byte 0xef is not utf-8" in message
    assert 'encoding="cp1252"' in message


def test_an_encoding_given(tmp_path):
    path = written(tmp_path, "t.csv", "text\nnaïve – l’hôtel\n".encode("cp1252"))
    assert read_table(path, encoding="cp1252")["text"].tolist() == ["naïve – l’hôtel"]
    assert "line 2: byte 0xef is not ascii" in error_of(path, encoding="ascii")
    assert "encoding='martian' is not known" in error_of(path, encoding="martian")
    assert "encoding='rot13' is not known" in error_of(path, encoding="rot13")


def test_mixed_encodings_name_the_first_misfit(tmp_path):
    content = "text\nnaïve\n".encode() + "naïve\n".encode("cp1252")
    assert "line 3: byte 0xef is not utf-8" in error_of(written(tmp_path, "t.csv", content))
    marked = b"\xef\xbb\xbf" + content
    assert "line 3: byte 0xef is not utf-8" in error_of(written(tmp_path, "u.csv", marked))
    cut = "text\nab\n".encode("utf-16")[:-1]
    assert "line 2: byte 0x0a is not utf-16" in error_of(written(tmp_path, "v.csv", cut))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("t.csv", {"sheet": "one"}),
        ("t.json", {"sep": ";"}),
        ("t.xlsx", {"sep": ";"}),
        ("t.xlsx", {"encoding": "utf-8"}),
        ("t.parquet", {"sheet": "one"}),
    ],
)
def test_an_option_of_another_format_is_refused(tmp_path, name, options):
    WRITERS[name](tmp_path / name)
    assert "to choose, but" in error_of(tmp_path / name, **options)


# Separators


def choice_of(folder, content, name="t.csv", **options):
    return read_file(written(folder, name, content), **options).choice


def test_what_was_chosen_is_told(tmp_path):
    assert choice_of(tmp_path, "a;b\n1,5;2\n") == "separated by semicolons"
    assert choice_of(tmp_path, "a\tb\n1;5\t2\n") == "separated by tabs"
    assert choice_of(tmp_path, "a,b\n1;5,2\n") == ""
    assert choice_of(tmp_path, "a;b\n1,5;2\n", sep=";") == ""
    assert choice_of(tmp_path, "a\tb\n1\t2\n", name="t.tsv") == ""


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("Review;Rating\ngut, sehr gut;4\nschlecht;1\n", ["Review", "Rating"]),
        ('Review, in full;Rating\n"gut; sehr";4\nschlecht;1\n', ["Review, in full", "Rating"]),
        ('id;text\n1;"two\nlines; and more"\n', ["id", "text"]),
        ("text\ngood; cheap\nbad\n", ["text"]),
        ("text,rating\na;b,4\nc;d,5\n", ["text", "rating"]),
        ("text,rating\nshort\n", ["text", "rating"]),
        ("a;b\nno semicolon here\n", ["a;b"]),
        ("text\n" + "x" * 200_000 + "\n", ["text"]),
        ("a;b\n" + "word, word;1\n" * 20_000, ["a", "b"]),
    ],
)
def test_the_separator_is_what_parts_header_and_rows_alike(tmp_path, content, columns):
    assert list(read_table(written(tmp_path, "t.csv", content)).columns) == columns


@pytest.mark.parametrize("sep", ["tab", r"\t", "\t"])
def test_a_separator_may_be_given(tmp_path, sep):
    assert read_table(written(tmp_path, "t.csv", "a;b\tc\n1\t2\n"), sep=sep).to_dict("list") == {
        "a;b": ["1"],
        "c": ["2"],
    }
    assert list(read_table(written(tmp_path, "t.tsv", "a#b\n1#2\n"), sep="#").columns) == ["a", "b"]


@pytest.mark.parametrize("sep", ["", ";;", '"', "\n", "é"])
def test_what_cannot_be_a_separator_is_named(tmp_path, sep):
    assert error_of(written(tmp_path, "t.csv", "a;b\n1;2\n"), sep=sep).startswith(f"sep={sep!r} is not a separator")


def test_the_other_sheets_are_named(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        for name in ("one", "two", "three"):
            TABLE.to_excel(book, sheet_name=name, index=False)
    assert read_file(tmp_path / "t.xlsx").choice == "sheet one; other sheets: two, three"
    assert read_file(tmp_path / "t.xlsx", sheet="two").choice == ""


# Damage


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14\x00" + bytes(100), "looks like a zip archive or an Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1" + bytes(100), "save it as .xlsx"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "looks like a picture"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "packed by gzip"),
        (bytes(range(256)) * 100, "zero bytes"),
        (bytes(1000), "zero bytes"),
        ("a,b\n1,2\n".encode("utf-16-le"), 'looks like utf-16-le without a byte order mark; give encoding="utf-16-le"'),
        ("a,b\n1,2\n".encode("utf-16-be"), 'give encoding="utf-16-be"'),
        ("a,b\n1,2\n".encode("utf-32-le"), 'give encoding="utf-32-le"'),
        ("a,b\n1,2\n".encode("utf-32-be"), 'give encoding="utf-32-be"'),
        (b"a,b\n\xff\xfe\x00\x00,2\n", "zero bytes: this does not look like text"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json"])
def test_bytes_that_are_not_text(tmp_path, name, content, message):
    found = error_of(written(tmp_path, name, content))
    assert message in found or (name == "t.json" and "is not JSON" in found)


@pytest.mark.parametrize("given", ["utf-16", "UTF_32"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json"])
def test_an_encoding_that_needs_a_byte_order_mark_and_has_none(tmp_path, name, given):
    wide = given.lower().replace("_", "-")
    path = written(tmp_path, name, "a,b\n1,2\n".encode(f"{wide}-be"))
    assert f'looks like {wide}-be without a byte order mark; give encoding="{wide}-be"' in error_of(
        path, encoding=given
    )
    assert f"is not {given}" in error_of(
        written(tmp_path, name, "žluť,日本\n日,本\n".encode(f"{wide}-be")), encoding=given
    )


def test_a_byte_order_mark_of_utf_32_is_read(tmp_path):
    assert read_table(written(tmp_path, "t.csv", "a,b\n1,ž\n".encode("utf-32"))).to_dict("list") == {
        "a": ["1"],
        "b": ["ž"],
    }


def test_a_key_that_is_not_text_is_named(tmp_path):
    line = r'{"a": 1}' + "\n" + r'{"\ud800": 1}'
    message = r"has a key that holds half of a surrogate pair: '\ud800'; rename it"
    assert f"line 2 {message}" in error_of(written(tmp_path, "t.jsonl", line.encode()))
    assert f"item 1 of its JSON array {message}" in error_of(written(tmp_path, "t.json", rb'[{"\ud800": 1}]'))


def test_objects_without_keys_are_no_rows(tmp_path):
    path = written(tmp_path, "t.jsonl", b"{}\n{}\n")
    assert error_of(path).endswith("has no rows")
    with pytest.raises(InputError, match="has no rows"):
        list(read_batches(path))


def test_many_columns_are_not_all_listed():
    table = pd.DataFrame([range(500)], columns=[f"a long name of a column {i}" for i in range(500)])
    with pytest.raises(InputError) as caught:
        column(table, "Review\n" * 100, "text")
    assert len(str(caught.value)) < 500
    assert str(caught.value).endswith(" more")


def test_a_path_that_is_no_file(tmp_path):
    assert error_of(tmp_path / "t.csv") == f"there is no file {tmp_path / 't.csv'}"
    (tmp_path / "d.csv").mkdir()
    assert "is a directory" in error_of(tmp_path / "d.csv")
    assert "cannot read" in error_of(tmp_path / f"{'x' * 1000}.csv")


def test_an_unknown_ending_lists_the_known(tmp_path):
    message = error_of(written(tmp_path, "t.doc", "x"))
    assert "of no known format" in message
    assert ".csv, .tsv, .jsonl, .ndjson, .json (with .gz, .bz2, .xz, .zip after it if packed)" in message
    assert message.endswith(".parquet or .xlsx")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.xlsx"])
def test_an_empty_file(tmp_path, name):
    assert error_of(written(tmp_path, name, b"")).endswith("is empty")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"\n\n"),
        ("t.csv", b"text,rating\n"),
        ("t.csv.gz", gzip.compress(b"", mtime=0)),
        ("t.csv", b"\xef\xbb\xbf"),
        ("t.jsonl", b"\n \n"),
    ],
)
def test_no_rows(tmp_path, name, content):
    message = error_of(written(tmp_path, name, content))
    assert message.endswith(("is empty", "has no rows"))


def test_no_rows_in_parquet(tmp_path):
    TABLE[:0].to_parquet(tmp_path / "t.parquet")
    assert error_of(tmp_path / "t.parquet").endswith("has no rows")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 cells under a header of 2"),
        ("a,b\n1,2,3\n", "line 2: 3 cells under a header of 2"),
        ('a,b\n"x\ny",2\n\n3,4,5\n', "line 5: 3 cells under a header of 2"),
        ('a,b\n1,2\n"x,2\n3,4\n', "line 3: unexpected end of data (is a quotation mark left open"),
    ],
)
def test_malformed_csv_names_the_line(tmp_path, content, message):
    path = written(tmp_path, "t.csv", content)
    assert f"{path}, {message}" in error_of(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": \n', "line 2 is not JSON: "),
        ("[1, 2]\n", "item 1 of its JSON array is not a JSON object"),
        ('[{"a": 1},\n{"a": 2}', "begins as a JSON array but is not one: "),
        ('[{"a": 1}]\n[{"a": 2}]\n', "begins as a JSON array but is not one: Extra data: line 2"),
        ('{"a": 1}\n\n"x"\n', "line 3 is not a JSON object"),
        ("[" * 100_000, "begins as a JSON array but is not one"),
    ],
)
def test_bad_json_names_the_line(tmp_path, content, message):
    assert message in error_of(written(tmp_path, "t.jsonl", content))


def test_a_zip_must_hold_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "x")
        archive.writestr("b.csv", "x")
    assert "must hold one file, but holds 2: a.csv, b.csv" in error_of(tmp_path / "t.csv.zip")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv.gz", b"no gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-20]),
        ("t.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)[:-20]),
        ("t.csv.zip", b"no zip"),
        ("t.csv.bz2", b"no bzip2"),
        ("t.csv.bz2", bz2.compress(b"a,b\n1,2\n" * 1000)[:-5]),
        ("t.csv.xz", b"no xz"),
        ("t.jsonl.xz", lzma.compress(b'{"a": 1}\n' * 1000)[:-20]),
        ("t.parquet", b"no parquet"),
        ("t.xlsx", b"no excel"),
    ],
)
def test_damaged_files(tmp_path, name, content):
    path = written(tmp_path, name, content)
    assert str(path) in error_of(path)


def test_a_zip_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        archive.writestr("a.txt", "x")
    assert "is not a readable Excel file" in error_of(tmp_path / "t.xlsx")


# Columns


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Reveiw", "no column 'Reveiw' for the text; did you mean 'Review'? The columns are: Review, Rating"),
        ("REVIEW", "no column 'REVIEW' for the text; did you mean 'Review'? The columns are: Review, Rating"),
        ("xyz", "no column 'xyz' for the text. The columns are: Review, Rating"),
    ],
)
def test_a_missing_column_lists_the_columns_and_the_nearest(name, message):
    with pytest.raises(InputError) as caught:
        column(TABLE, name, "text")
    assert str(caught.value) == message


def test_a_name_that_two_columns_have(tmp_path):
    pq.write_table(pa.table([pa.array(["x"]), pa.array(["y"])], names=["a", "a"]), tmp_path / "t.parquet")
    for table in (read_table(written(tmp_path, "t.csv", "a,a\nx,y\n")), read_table(tmp_path / "t.parquet")):
        with pytest.raises(InputError, match="2 columns are called 'a'; which is the text"):
            column(table, "a", "text")
