"""Tables of covariates as columns of numbers: laws of the coding, and what is refused by name."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from textsignal.data.covariates.design import Design, as_offset, as_table
from textsignal.data.covariates.formula import parse_formula
from textsignal.errors import InputError
from textsignal.storage import as_plain
from textsignal.stored_values import Checker

RNG = np.random.default_rng(0)
N = 60
TABLE = pd.DataFrame(
    {
        "price": RNG.gamma(2, 10, N),
        "country": RNG.choice(["it", "fr", "de"], N, p=[0.2, 0.5, 0.3]),
        "sparkling": RNG.random(N) < 0.5,
        "year": RNG.choice([2018, 2019, 2020], N),
    }
)
FORMULA = "log(price) * C(country) + bs(price, 4) + C(year) + center(year2)"
WIDE = TABLE.assign(year2=TABLE["year"] / 7)


def stored(design):
    return json.loads(json.dumps(as_plain(design)))


def restored(plain):
    checker = Checker({})
    design = checker.part(Design, plain, "covariates")
    checker.finish()
    return design


def learn(table=TABLE, formula=None, weight=None):
    return Design.learn(table, formula, np.ones(len(table)) if weight is None else weight)


def spans_the_same(one, other):
    """True if columns together with a constant give the same fitted values."""
    one, other = (np.column_stack([np.ones(len(part)), part]) for part in (one, other))
    return np.linalg.matrix_rank(np.column_stack([one, other])) == np.linalg.matrix_rank(one)


class TestCoding:
    def test_numbers_stay_and_categories_become_levels_against_the_most_frequent(self):
        assert learn().names == ("price", "country=de", "country=it", "sparkling", "year")

    def test_columns_are_around_their_means(self):
        weight = RNG.random(N)
        columns = learn(weight=weight).columns(TABLE)
        np.testing.assert_allclose(np.average(columns, axis=0, weights=weight), 0, atol=1e-12)

    @pytest.mark.parametrize("formula", [None, FORMULA])
    def test_rows_are_coded_one_by_one(self, formula):
        """Other rows of a table do not matter: knots, means and levels are those of training."""
        design = learn(WIDE, formula)
        whole = design.columns(WIDE)
        for row in range(5):
            np.testing.assert_allclose(design.columns(WIDE.iloc[[row]])[0], whole[row], atol=1e-12)

    def test_the_order_of_columns_and_further_ones_do_not_matter(self):
        other = TABLE[TABLE.columns[::-1]].assign(more=1)
        np.testing.assert_array_equal(learn().columns(other), learn().columns(TABLE))

    @pytest.mark.parametrize("kind", ["category", "string", object])
    def test_the_type_of_a_category_does_not_matter(self, kind):
        typed = TABLE.astype({"country": kind})
        np.testing.assert_array_equal(learn(typed).columns(TABLE), learn().columns(typed))

    def test_whole_numbers_and_floats_are_one_level(self):
        design = learn(TABLE, "C(year)")
        np.testing.assert_array_equal(design.columns(TABLE.astype({"year": float})), design.columns(TABLE))

    def test_a_constant_column_is_zero(self):
        assert not learn(TABLE.assign(one=1.0)).columns(TABLE.assign(one=1.0))[:, -1].any()

    @pytest.mark.parametrize("renamed", [{"fr": "zz"}, {"it": "aa", "de": "bb"}])
    def test_names_of_levels_do_not_matter(self, renamed):
        other = TABLE.replace({"country": renamed})
        assert spans_the_same(learn(other).columns(other), learn().columns(TABLE))

    def test_a_formula_of_all_columns_spans_what_the_columns_do(self):
        formula = learn(TABLE, "price + country + sparkling + year")
        assert spans_the_same(formula.columns(TABLE), learn().columns(TABLE))

    @pytest.mark.parametrize("formula", [None, FORMULA])
    def test_a_stored_design_makes_the_same_bits(self, formula):
        design = learn(WIDE, formula)
        again = restored(stored(design))
        assert again == design
        np.testing.assert_array_equal(again.columns(WIDE), design.columns(WIDE))


class TestRefused:
    def test_a_level_that_was_not_in_training(self):
        with pytest.raises(InputError, match=r"'country'.*not in training: row 3: 'xx'"):
            learn().columns(TABLE.assign(country=["it", "fr", "xx", *["de"] * (N - 3)]))

    def test_a_column_that_is_not_there(self):
        with pytest.raises(InputError, match=r"lack 'country', 'year'; there are 'price', 'sparkling'"):
            learn().columns(TABLE[["price", "sparkling"]])

    def test_missing_values_by_row_and_column(self):
        holed = TABLE.assign(
            price=TABLE["price"].mask(TABLE.index == 3), country=TABLE["country"].mask(TABLE.index < 1)
        )
        with pytest.raises(InputError, match=r"row 1: country; row 4: price \(rows count from 1\)"):
            learn().columns(holed)
        with pytest.raises(InputError, match=r"infinite.*row 6: price"):
            learn().columns(TABLE.assign(price=TABLE["price"].mask(TABLE.index == 5, np.inf)))

    def test_a_word_where_training_had_numbers(self):
        with pytest.raises(InputError, match="'price' is not a number in row 1: 'dear'"):
            learn().columns(TABLE.assign(price="dear"))

    def test_times_and_identifiers(self):
        with pytest.raises(InputError, match="'day' contains times"):
            learn(TABLE.assign(day=pd.Timestamp("2020-01-01")))
        many = pd.DataFrame({"id": [f"x{i}" for i in range(3000)]})
        with pytest.raises(InputError, match="3,000 levels"):
            learn(many)

    def test_tables_of_another_shape(self):
        with pytest.raises(InputError, match="60 texts, but 59 rows"):
            as_table(TABLE[1:], N)
        with pytest.raises(InputError, match="two covariates are called 'a'"):
            as_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), 1)
        with pytest.raises(InputError, match="must be a DataFrame"):
            as_table(np.ones((N, 2)), N)
        with pytest.raises(InputError, match="missing or infinite in row 2 "):
            as_offset([0.0, np.nan], 2)
        with pytest.raises(InputError, match="has the shape"):
            as_offset([0.0], 2)

    @pytest.mark.parametrize(
        "formula",
        [
            "__import__('os').system('true')",
            "price.mean()",
            "np.log(price)",
            "{(lambda: 1)()}",
            "price[0]",
            "eval('1')",
            "hashed(country)",
            "C(log(price))",
            "C(country, 1)",
            "y ~ price",
            "price +",
            "log(price",
            "{[x for x in price]}",
            "year + C(year)",
            "price - 1",
            "f'{price}'",
            'price + {"`" + str(__import__("os").system("true")) + "`"}',
            'I("`" + str(__import__("os").system("true")) + "`")',
            'I(price + 0*exp("`" if __import__("os").system("true") else "`"))',
            "{price}",
            "I('price')",
            "price.real",
            "log(price, out=price)",
            "log(*price)",
            "I(price if price else price)",
            "I(price := 1)",
            "I(price @ price)",
            "I(price and price)",
            "I(price < price)",
            "1 + 0",
            "2 * price",
            "price ** country",
            "bs(price, knots=price)",
            "bs(price, 4, 4, 4, 4, 4, 4, 4, 4)",
            "bs(price, df=4, df=5)",
            "bs(price, df=4, knots=[1])",
            "cr(price)",
            "I(bs(price, 4))",
            "I(price:year)",
            "log(country)",
            "`price",
            "price + ``",
            "1",
            "",
        ],
    )
    def test_formulas_that_may_not_be(self, formula):
        with pytest.raises(InputError, match=r"formula=|covariates lack ''"):
            learn(TABLE, formula)

    @pytest.mark.parametrize(
        "formula",
        [
            "(price + year) ** 100000000",
            "I(price ** 10 ** 10 ** 10)",
            "bs(price, 10**8)",
            "bs(price, 100000000)",
            "bs(price, 4, degree=1000)",
            "cr(price, df=1e9)",
            "(" * 1000 + "price" + ")" * 1000,
            "-" * 1000 + "price",
            "log(" * 300 + "price" + ")" * 300,
            " * ".join(f"x{i}" for i in range(30)),
            "(" + " + ".join(f"x{i}" for i in range(100)) + ") ** 2",
            "price" * 10**6,
            "price + " * 10**5 + "price",
            "I(price + 1e999)",
            "bs(price, knots=[" + "1," * 500 + "])",
        ],
    )
    def test_costly_formulas(self, formula):
        with pytest.raises(InputError) as caught:
            learn(WIDE, formula)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500

    def test_products_of_categories_with_too_many_columns(self):
        many = pd.DataFrame({name: [f"{name}{i % 500}" for i in range(1000)] for name in "abc"})
        with pytest.raises(InputError, match="makes 125,000,000 columns; at most 5,000"):
            learn(many, "a:b:c")

    def test_a_long_sum_is_not_a_deep_tree(self):
        wide = pd.DataFrame({f"x{i}": RNG.random(N) for i in range(150)})
        formula = " + ".join(wide.columns)
        assert learn(wide, formula).names == tuple(wide.columns)
        assert str(parse_formula(formula)) == formula

    def test_a_stored_formula_runs_nothing(self, tmp_path):
        for formula in (f"C(open('{tmp_path}/x', 'w'))", {"function": "open", "argument": 1.0, "options": {}}):
            forged = stored(learn(WIDE, FORMULA)) | {"formula": formula}
            with pytest.raises(ValueError, match=r"which a formula may not|which is not allowed"):
                restored(forged)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("formula", "cell", "term"),
        [
            ("log(price)", 0.0, "log(price)"),
            ("log(price)", -1.0, "log(price)"),
            ("log(price) + C(country)", 0.0, "log(price)"),
            ("bs(log(price), 4)", 0.0, "log(price)"),
            ("I(1 / price)", 0.0, "I(1 / price)"),
            ("I(price ** 0.5):C(country)", -4.0, "I(price ** 0.5)"),
            ("exp(price)", 800.0, "exp(price)"),
            ("center(log(price))", 0.0, "log(price)"),
        ],
    )
    def test_a_covariate_that_becomes_infinite(self, formula, cell, term):
        """The row, the column with its value, and the term are named, in training and in prediction."""
        price = TABLE["price"].mask(TABLE.index == 2, cell)
        expected = f"{term} of the formula is not a finite number, or too large, in row 3: price {cell:g}"
        with pytest.raises(InputError, match=re.escape(expected)):
            learn(TABLE.assign(price=price), formula)
        design = learn(TABLE, formula)
        with pytest.raises(InputError, match=re.escape(expected)):
            design.columns(TABLE.assign(price=price))

    def test_numbers_too_large_to_square(self):
        with pytest.raises(InputError, match=r"covariate 'price' is too large in row 1: 1e\+200"):
            learn(TABLE.assign(price=1e200))
        with pytest.raises(InputError, match=r"the offset is too large in row 2: 1e\+200"):
            as_offset([0.0, 1e200], 2)

    def test_a_spline_beyond_what_training_saw(self):
        design = learn(TABLE, "bs(price, 4)")
        with pytest.raises(InputError, match="extrapolation=clip"):
            design.columns(TABLE.assign(price=1e6))
        clipped = learn(TABLE, "bs(price, 4, extrapolation=clip)")
        assert np.isfinite(clipped.columns(TABLE.assign(price=1e6))).all()


@pytest.mark.parametrize(
    ("formula", "columns", "categories"),
    [
        ("a + b:c", ["a", "b", "c"], set()),
        ("`a b` + C(`c d`)", ["a b", "c d"], {"c d"}),
        ("log(a) * bs(b, df=4, degree=2) + I(a ** 2)", ["a", "b"], set()),
    ],
)
def test_columns_of_a_formula(formula, columns, categories):
    parsed = parse_formula(formula)
    assert (list(parsed.columns), parsed.categories) == (columns, categories)
