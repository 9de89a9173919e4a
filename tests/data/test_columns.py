"""Columns by role: those that a table makes obvious, and errors that name the choices."""

import pandas as pd
import pytest

from textsignal.data.roles import Roles, obvious_columns
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

TABLE = synthetic_reviews(40, seed=1).to_frame()


@pytest.mark.parametrize("cells", [object, str])
def test_long_texts_and_the_only_numbers_are_taken(cells):
    """In a CSV file numbers are strings."""
    table = TABLE.astype(cells).assign(empty="", stay=True)
    assert obvious_columns(table, None) == Roles("review", ("rating",))


def test_short_texts_are_taken_if_they_are_the_only_words():
    table = pd.DataFrame({"note": ["Good.", None, "1"], "stars": ["5", "", "-1.5"]})
    assert obvious_columns(table, None) == Roles("note", ("stars",))


def test_named_columns_are_kept():
    assert obvious_columns(TABLE, "hotel", ("date",)) == Roles("hotel", ("date",))
    assert obvious_columns(TABLE, None, ("hotel",)) == Roles("review", ("hotel",))
    assert obvious_columns(TABLE.assign(votes=1), None, (), "votes") == Roles("review", ("votes",))
    assert obvious_columns(TABLE, None, (), "votes") == Roles("review", ("rating",))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            TABLE.assign(answer=TABLE["review"]),
            r"which column holds the texts\? Give text=NAME, one of review, answer$",
        ),
        (TABLE[["rating"]], r"which column holds the texts\? Give text=NAME, one of rating"),
        (TABLE.assign(votes=2), r"which column holds the response\? Give response=NAME, one of rating, votes"),
        (TABLE[["review", "hotel"]], r"which column holds the response\? Give response=NAME, one of hotel"),
    ],
)
def test_columns_that_are_not_obvious_are_an_error_with_the_choices(table, message):
    with pytest.raises(InputError, match=message):
        obvious_columns(table, None)


def test_a_column_has_one_role_in_a_source():
    columns = Roles("review", ("rating",), by="hotel", groups="hotel", covariates=("price",))
    assert columns.by_column == {"price": "covariate", "hotel": "groups", "rating": "response", "review": "text"}
    assert columns.with_covariates(["country"]).covariates == ("country",)
    assert columns.response == "rating"
