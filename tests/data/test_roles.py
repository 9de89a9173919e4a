"""Columns that a table makes obvious."""

import pandas as pd
import pytest

from textsignal.data.roles import Roles, obvious_columns
from textsignal.errors import InputError

TABLE = pd.DataFrame({"city": ["Rome"], "review": ["The staff were friendly and helpful."], "stars": [5]})


def test_long_texts_and_the_only_numbers_are_obvious():
    assert obvious_columns(TABLE, None) == Roles("review", ("stars",))


def test_columns_that_are_not_obvious_are_listed():
    with pytest.raises(InputError, match=r"which column holds the texts\? Give text='...', one of review, title"):
        obvious_columns(TABLE.assign(title="As always, very fine indeed"), None)
    with pytest.raises(InputError, match=r"which column holds the response.* one of stars, votes"):
        obvious_columns(TABLE.assign(votes=1), None)
