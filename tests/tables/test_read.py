"""Tables from files: every format gives back what was written, every error says what is wrong and where."""

import gzip
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.errors import InputError
from textsignal.tables.read import column, read_table
from textsignal.tables.rows import check_rows, parse_response

TEXTS = [
    "Lovely 😀 ☹️",
    'He said "no", twice',
    "two\nlines",
    "NA",
    "null",
    " None ",
    "naïve, l’hôtel\t!",
    "007",
]
TABLE = pd.DataFrame({"Review": TEXTS, "Rating": [5, 4, 3, 2, 1, 5, 4, 3]})

WRITERS = {
    "t.csv": lambda path: TABLE.to_csv(path, index=False),
    "t.csv.gz": lambda path: TABLE.to_csv(path, index=False),
    "t.csv.zip": lambda path: TABLE.to_csv(path, index=False),
    "T.CSV": lambda path: TABLE.to_csv(path, index=False),
    "crlf.csv": lambda path: TABLE.to_csv(path, index=False, lineterminator="\r\n"),
    "bom.csv": lambda path: TABLE.to_csv(path, index=False, encoding="utf-8-sig"),
    "utf16.csv": lambda path: TABLE.to_csv(path, index=False, encoding="utf-16"),
    "t.tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.tsv.gz": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.tsv.zip": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "t.jsonl": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.jsonl.gz": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "t.ndjson": lambda path: TABLE.to_json(path, orient="records", lines=True, force_ascii=False),
    "t.json": lambda path: TABLE.to_json(path, orient="records", lines=True),
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
    assert "--encoding cp1252" in message


def test_an_encoding_given(tmp_path):
    path = written(tmp_path, "t.csv", "text\nnaïve – l’hôtel\n".encode("cp1252"))
    assert read_table(path, encoding="cp1252")["text"].tolist() == ["naïve – l’hôtel"]
    assert "line 2: byte 0xef is not ascii" in error_of(path, encoding="ascii")
    assert "unknown encoding 'martian'" in error_of(path, encoding="martian")
    assert "unknown encoding 'rot13'" in error_of(path, encoding="rot13")


def test_mixed_encodings_name_the_first_misfit(tmp_path):
    content = "text\nnaïve\n".encode() + "naïve\n".encode("cp1252")
    assert "line 3: byte 0xef is not utf-8" in error_of(written(tmp_path, "t.csv", content))
    marked = b"\xef\xbb\xbf" + content
    assert "line 3: byte 0xef is not utf-8" in error_of(written(tmp_path, "u.csv", marked))
    cut = "text\nab\n".encode("utf-16")[:-1]
    assert "line 2: byte 0x0a is not utf-16" in error_of(written(tmp_path, "v.csv", cut))


@pytest.mark.parametrize(
    ("name", "options"),
    [("t.csv", {"sheet": "one"}), ("t.xlsx", {"encoding": "utf-8"}), ("t.parquet", {"sheet": "one"})],
)
def test_an_option_of_another_format_is_refused(tmp_path, name, options):
    WRITERS[name](tmp_path / name)
    assert "to choose, but" in error_of(tmp_path / name, **options)


# Damage


def test_a_path_that_is_no_file(tmp_path):
    assert error_of(tmp_path / "t.csv") == f"there is no file {tmp_path / 't.csv'}"
    (tmp_path / "d.csv").mkdir()
    assert "is a directory" in error_of(tmp_path / "d.csv")
    assert "cannot read" in error_of(tmp_path / f"{'x' * 1000}.csv")


def test_an_unknown_ending_lists_the_known(tmp_path):
    message = error_of(written(tmp_path, "t.doc", "x"))
    assert "of no known format" in message
    assert ".csv, .csv.gz, .csv.zip, .tsv" in message
    assert ".parquet, .xlsx" in message


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
        ('{"a": 1}\n{"a": \n', "line 2 is no JSON: "),
        ("[1, 2]\n", "line 1 is no JSON object"),
        ('{"a": 1}\n\n"x"\n', "line 3 is no JSON object"),
        ("[" * 100_000, "line 1 is no JSON"),
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
    assert "is no readable Excel file" in error_of(tmp_path / "t.xlsx")


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


# Responses and rows


@pytest.mark.parametrize(
    ("cell", "value"),
    [("4", 4.0), (" 5 ", 5.0), ("4.0", 4.0), ("-1e2", -100.0), (3, 3.0), (Decimal("2.5"), 2.5), (True, 1.0)],
)
def test_numbers(cell, value):
    response = parse_response([cell])
    assert response.values.tolist() == [value]
    assert not response.unparsable.any()


@pytest.mark.parametrize("cell", ["", "  ", "NA", "n/a", "NaN", "null", "None", None, np.nan, pd.NA, pd.NaT])
def test_no_response(cell):
    response = parse_response(pd.Series([cell], dtype=object))
    assert np.isnan(response.values).all()
    assert not response.unparsable.any()


@pytest.mark.parametrize("cell", ["five", "inf", "-Infinity", "4 stars", "4,5", "1_0", np.inf, [1], {}])
def test_unparsable(cell):
    response = parse_response([cell])
    assert np.isnan(response.values).all()
    assert response.unparsable.all()


@pytest.mark.parametrize("dtype", ["float64", "Float64", "Int64", "int8", "category", "str", "double[pyarrow]"])
def test_a_response_of_any_dtype(dtype):
    cells = pd.Series([4, 5, 1], index=[7, 7, 9]).astype(dtype)
    assert parse_response(cells).values.tolist() == [4, 5, 1]


def test_bad_rows_are_counted_and_named():
    texts = ["good", None, "fine", " \t\n", "bad", "so", 12, "x"]
    response = parse_response(["4", "5", "five", "", "9", "3.5", "1", ""])
    bad = check_rows(texts, response, levels=(1, 5))
    assert bad.describe() == (
        "6 bad rows: 2 empty texts (rows 2, 4), 1 text that is no string (row 7: 12), "
        "1 response that is no number (row 3: 'five'), 1 response outside 1 to 5 (row 5: '9'), "
        "1 response that is no whole number (row 6: '3.5')"
    )
    assert len(bad) == 6
    assert np.flatnonzero(~bad.mask).tolist() == [0, 7]


def test_a_row_bad_twice_counts_once():
    bad = check_rows([""], parse_response(["x"]))
    assert len(bad) == 1
    assert bad.describe() == "1 bad row: 1 empty text (row 1), 1 response that is no number (row 1: 'x')"


def test_only_the_first_rows_are_named():
    bad = check_rows([""] * 1000)
    assert bad.describe() == "1,000 bad rows: 1,000 empty texts (rows 1, 2, 3, 4, 5 and 995 more)"
    long = check_rows(["a", "b"], parse_response(["x" * 100, "y\nz"]))
    assert long.describe(limit=1).endswith("and 1 more)")
    assert len(long.describe(limit=2)) < 120
    assert "\n" not in long.describe()


def test_levels_are_only_checked_when_given():
    response = parse_response(pd.Series([0, 2.5, 99, np.nan]))
    assert not check_rows(["a"] * 4, response)
    assert check_rows(["a"] * 4, response).describe() == "no bad rows"
    assert check_rows(["a"] * 4, response, levels=(0, 10)).mask.tolist() == [False, True, True, False]


def test_as_many_responses_as_texts():
    with pytest.raises(InputError, match="2 texts but 1 responses"):
        check_rows(["a", "b"], parse_response(["1"]))


def test_input_is_left_alone():
    texts, cells = pd.Series(["a", None]), pd.Series(["1", " x"])
    before = texts.copy(), cells.copy()
    check_rows(texts, parse_response(cells))
    pd.testing.assert_series_equal(texts, before[0])
    pd.testing.assert_series_equal(cells, before[1])
