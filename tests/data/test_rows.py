"""Responses become numbers where there is one way to read them; bad rows are counted, named and given advice."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from textsignal.data.rows import ArrowTexts, check_responses, check_rows, parse_response
from textsignal.errors import InputError


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
        "6 bad rows: 2 empty texts (rows 2, 4), 1 text that is not a string (row 7: 12), "
        "1 response that is not a number (row 3: 'five'), 1 response outside 1 to 5 (row 5: '9'), "
        "1 response that is not a whole number (row 6: '3.5')"
    )
    assert len(bad) == 6
    assert np.flatnonzero(~bad.mask).tolist() == [0, 7]


def test_a_row_bad_twice_counts_once():
    bad = check_rows([""], parse_response(["x"]))
    assert len(bad) == 1
    assert bad.describe() == "1 bad row: 1 empty text (row 1), 1 response that is not a number (row 1: 'x')"


def test_only_the_first_rows_are_named():
    bad = check_rows([""] * 1000)
    assert bad.describe() == "1,000 bad rows: 1,000 empty texts (rows 1, 2, 3, 4, 5 and 995 more)"
    long = check_rows(["a", "b"], parse_response(["x" * 100, "y\nz"]))
    assert len(long.describe()) < 120
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


@pytest.mark.parametrize(
    ("cells", "values", "reading"),
    [
        (["4.0 out of 5", "2 out of 5"], [4, 2], "'4.0 out of 5' as 4"),
        (["4/5", " 3 / 5", ""], [4, 3, np.nan], "'4/5' as 4"),
        (["10 of 10", "1/10"], [10, 1], "'10 of 10' as 10"),
        (["3/5", "3/5.0"], [3, 3], "'3/5' as 3"),
        (["True", "FALSE", "false"], [1, 0, 0], "false as 0 and true as 1"),
        (["pos", "neg", "NA"], [1, 0, np.nan], "neg as 0 and pos as 1"),
        (["positive", "Negative"], [1, 0], "negative as 0 and positive as 1"),
        (["yes ", "no"], [1, 0], "no as 0 and yes as 1"),
        ([True, False, None], [1, 0, np.nan], ""),
        (["4", "5"], [4, 5], ""),
        ([], [], ""),
    ],
)
def test_a_response_in_words_is_read_where_there_is_one_way(cells, values, reading):
    response = parse_response(pd.Series(cells, dtype=object))
    np.testing.assert_array_equal(response.values, values)
    assert not response.unparsable.any()
    assert response.reading == reading


@pytest.mark.parametrize(
    ("cells", "unparsable"),
    [
        (["4/5", "8/10"], [True, True]),
        (["4/5", "3"], [True, False]),
        (["6/5", "3/5"], [True, True]),
        (["1/2/2020", "2/2/2020"], [True, True]),
        (["yes", "neg"], [True, True]),
        (["yes", "1"], [True, False]),
        (["pos", "neg", "neutral"], [True, True, True]),
        (["4/5", "/5"], [True, True]),
    ],
)
def test_a_response_that_can_be_read_in_several_ways_is_refused(cells, unparsable):
    assert parse_response(cells).unparsable.tolist() == unparsable


def advice(cells, levels=(1, 5)):
    return check_rows(["text"] * len(cells), parse_response(cells), levels=levels).advice()


def test_leaving_rows_out_is_advised_for_a_few():
    assert 'on_bad_rows="drop"' in advice(["5", "4", "3", "2", "five", *"12345"])
    assert "drop" not in advice(["five", "four", "3"])
    assert "67% of all rows" in advice(["five", "four", "3"])


def test_a_continuous_response_is_not_to_be_dropped():
    scores = [f"{score:.2f}" for score in np.linspace(0.5, 97.3, 50)]
    found = advice(scores, levels=(0, 98))
    assert 'looks continuous, from 0.5 to 97.3: omit the scale, or give family="gaussian"' in found
    assert "round" in found
    assert "drop" not in found
    assert "drop" in advice([*"1234" * 10, "3.5"])
    halves = advice(["0.5", "1", "1.5", "2", "4.5", "5"], levels=(0, 5))
    assert halves.startswith("The response moves in halves, from 0.5 to 5: omit the scale")


@pytest.mark.parametrize("cells", [["3,5", "4,0"], ["★★★", "★"], ["60%", "80%"], ["good", "so-so"]])
def test_responses_that_cannot_be_read_are_told_how_one_is_written(cells):
    found = advice(cells)
    assert "100% of all rows: name another column" in found
    assert "4 or 4.0 (a point, no comma), as 4/5 or 4 out of 5, or as two words (false/true, no/yes, " in found


def test_several_scales_are_named():
    assert "these have several (5, 10)" in advice(["4/5", "8/10", "3/10"])


def test_problems_of_several_responses_name_the_column():
    responses = {name: parse_response(["9"]) for name in ("stars", "votes")}
    bad = check_responses(["Fine."], responses, {"stars": (1, 5), "votes": None})
    assert bad.describe() == "1 bad row: 1 response outside 1 to 5 in stars (row 1: '9')"


def test_texts_of_an_arrow_array_are_strings():
    texts = ArrowTexts(pa.array(["Clean room.", "Noisy", "Fine"], pa.large_string()))
    assert (len(texts), texts[0], texts[-2:]) == (3, "Clean room.", ["Noisy", "Fine"])
    assert list(texts) == ["Clean room.", "Noisy", "Fine"]
