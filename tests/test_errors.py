"""Messages: short, on one line, and with rows counted as their reader counts them."""

import numpy as np
import pytest

from textsignal.errors import InputError, RowsError, TextSignalError, listed, raise_rows, shortened, shown


def test_errors_are_of_one_tree():
    assert issubclass(InputError, TextSignalError)
    assert issubclass(RowsError, InputError)


def test_texts_are_on_one_line_and_cut_in_the_middle():
    assert (shortened("one\n two"), shortened("abcdefghij", 5)) == ("one two", "ab...ij")


def test_values_are_shown_as_python_writes_them():
    assert (shown("fine"), shown(np.float64(2.0)), shown(0.1)) == ("'fine'", "2", "0.1")


def test_many_names_are_not_all_listed():
    assert (listed(["text", "stars"]), listed(["fine"], shown)) == ("text, stars", "'fine'")
    assert listed([f"column {i}" for i in range(100)]).endswith("column 18, column 19, 80 more")


def test_rows_are_counted_from_any_number():
    error = RowsError("price is missing in row ", 2, "; give one")
    assert str(error) == "price is missing in row 3; give one"
    assert error.counted_from(101) == "price is missing in row 103; give one"


def test_rows_of_a_part_are_those_of_the_whole():
    with pytest.raises(RowsError, match=r"missing in row 10$"), RowsError.among([0, 7, 9]):
        raise RowsError("price is missing in row ", 2)


def test_rows_are_named():
    with pytest.raises(RowsError, match=r"^price is missing in row 2, row 3 \(rows count from 1\); give one$"):
        raise_rows(np.array([False, True, True]), "price is missing in ", "; give one")
