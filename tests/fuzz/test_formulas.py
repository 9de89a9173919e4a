"""Formulas run no code: generated ones, mutations of known attacks, and stored ones that were tampered with."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from audit import audited
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from textsignal import cli
from textsignal.data.covariates.design import Design
from textsignal.data.covariates.formula import FUNCTIONS, parse_formula
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.storage import as_plain
from textsignal.stored_values import Checker

RNG = np.random.default_rng(0)
N = 30
TABLE = pd.DataFrame(
    {
        "price": RNG.gamma(2, 10, N),
        "age": RNG.integers(18, 80, N).astype(float),
        "country": RNG.choice(["it", "fr", "de"], N),
        "my col": RNG.random(N),
    }
)
#: A column's name is enough to get into a name space; these are names of things that run code.
NAMES = ["price", "age", "country", "`my col`", "eval", "exec", "open", "__import__", "os", "self", "np", "lambda"]
ATTACKS = [
    'price + {"`" + str(__import__("os").system("touch pwned")) + "`"}',
    'I("`" + str(__import__("os").system("touch pwned")) + "`")',
    'I(price + 0*exp("`" if __import__("os").system("touch pwned") else "`"))',
    "__import__('os').system('touch pwned')",
    "price.__class__.__mro__[1].__subclasses__()",
    "{[x for x in ().__class__.__base__.__subclasses__()]}",
    "I((lambda: open('pwned', 'w'))())",
    "C(country, contr.treatment(base=__import__('os').system('touch pwned')))",
    "bs(price, df=__import__('os').getpid())",
    "Q('price') + poly(age, 2) + lag(age) + hashed(country, levels=open('pwned', 'w'))",
    'f\'{__import__("os").system("touch pwned")}\'',
    'price + `a" + str(eval("1")) + "b`',
    "log(price, where=__import__('subprocess').run('touch pwned', shell=True))",
    "I(price[open('pwned', 'w')])",
    "{exec('import os')} | price",
    "[price + age ~ country]",
    "np.load('pwned', allow_pickle=True)",
    "I(price) ; import os",
    "price\nimport os\nos.system('touch pwned')",
    "\N{FULLWIDTH LATIN SMALL LETTER E}val('1')",
]
PIECES = sorted({piece for attack in ATTACKS for piece in re.findall(r"\w+|\W", attack)} | {"**", ":", "^", "%in%"})
#: Generated formulas in a run of the suite.
MANY = settings(max_examples=1500, suppress_health_check=[HealthCheck.too_slow])


def stored(design):
    return json.loads(json.dumps(as_plain(design)))


def restored(plain):
    checker = Checker({})
    design = checker.part(Design, plain, "covariates")
    checker.finish()
    return design


def numbers():
    return st.one_of(
        st.integers(0, 10**12).map(str), st.floats(0, 1e308).map(repr), st.sampled_from(["1e999", "0", "1", "2"])
    )


@st.composite
def options(draw, function):
    names = draw(st.lists(st.sampled_from([*FUNCTIONS[function], "out", "_state", "_context"]), max_size=3))
    values = st.one_of(numbers(), st.sampled_from(["clip", "True", "None", "[1, 2]", "'x'", "price", "10**8"]))
    return "".join(f", {name}={draw(values)}" for name in names)


@st.composite
def calls(draw, inner):
    function = draw(st.sampled_from([*FUNCTIONS, *FUNCTIONS, "eval", "Q", "poly", "hashed"]))
    return f"{function}({draw(inner)}{draw(options(function)) if function in FUNCTIONS else ''})"


def expressions():
    leaves = st.one_of(st.sampled_from(NAMES[:4]), st.sampled_from(NAMES), numbers())
    operators = st.sampled_from([" + ", " - ", "*", "/", ":", "**", "^", " @ ", "|", "~", ".", " if "])

    def wider(inner):
        binary = st.tuples(inner, operators, inner).map("".join)
        return st.one_of(binary, binary.map("({})".format), calls(inner), inner.map("-{}".format))

    return st.recursive(leaves, wider, max_leaves=8)


@st.composite
def mutations(draw):
    """Return an attack in which pieces were removed, doubled, swapped or replaced by pieces of other attacks."""
    pieces = re.findall(r"\w+|\W", draw(st.sampled_from(ATTACKS)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(pieces) - 1)) if pieces else 0
        change = draw(st.sampled_from(["remove", "replace", "insert", "double", "swap"]))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.sampled_from(NAMES), st.text(max_size=3)))
        if change == "remove" or not pieces:
            pieces[at : at + 1] = []
        elif change == "swap":
            pieces[at : at + 2] = reversed(pieces[at : at + 2])
        else:
            pieces[at : at + (change == "replace")] = [pieces[at] if change == "double" else piece]
    return "".join(pieces)


def use(formula):
    """Learn a design from a formula and compute its columns; return the message if the formula is refused."""
    try:
        design = Design.learn(TABLE, formula, np.ones(N))
        again = restored(stored(design))
        assert again == design
        np.testing.assert_array_equal(again.columns(TABLE), design.columns(TABLE))
        assert np.isfinite(design.columns(TABLE)).all()
    except InputError as error:
        return str(error)
    return ""


def is_harmless(formula):
    message = use(formula)
    with audited() as events:
        assert use(formula) == message
    assert not events
    assert "\n" not in message
    assert len(message) < 1000


@MANY
@given(expressions())
def test_generated_formulas_run_nothing(formula):
    is_harmless(formula)


@MANY
@given(mutations())
def test_mutated_attacks_run_nothing(formula):
    is_harmless(formula)


@MANY
@given(st.lists(st.sampled_from(PIECES + NAMES), max_size=12).map("".join))
def test_pieces_of_attacks_run_nothing(formula):
    is_harmless(formula)


@MANY
@given(st.text(max_size=40))
@example("price" + "\x00")
@example("`\ud800`")
def test_any_text_runs_nothing(formula):
    is_harmless(formula)


@pytest.mark.parametrize("attack", ATTACKS)
def test_known_attacks_are_refused(attack, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    is_harmless(attack)
    assert use(attack)
    assert not list(tmp_path.iterdir())


@MANY
@given(expressions())
def test_the_text_of_a_formula_parses_to_it(formula):
    try:
        parsed = parse_formula(formula)
    except InputError:
        return
    assert parse_formula(str(parsed)) == parsed


FORMULA = "log(price) * C(country) + bs(age, 4) + cc(price, df=4, constraints=center) + center(I(age ** 2))"
GOOD = stored(Design.learn(TABLE, FORMULA, np.ones(N)))
VALUES = [None, True, -1, 0, 10**400, 1e308, float("nan"), float("inf"), "", "eval", "x" * 10**5, [], {}, [[1.0]], "`"]
VALUES += [{"column": "os"}, {"function": "eval", "argument": 1.0, "options": {}}, *ATTACKS[:3]]


def paths(value, path=()):
    """Yield the path of every value inside a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def tampered(path, change, value):
    """Return the stored design with another value at a path, or without it, or with it twice."""
    forged = json.loads(json.dumps(GOOD))
    inner = forged
    for key in path[:-1]:
        inner = inner[key]
    if change == "remove":
        del inner[path[-1]]
    elif change == "double" and isinstance(inner, list):
        inner.insert(path[-1], inner[path[-1]])
    else:
        inner[path[-1]] = value
    return forged


@MANY
@given(
    st.sampled_from([path for path in paths(GOOD) if path]),
    st.sampled_from(["replace", "remove", "double"]),
    st.one_of(st.sampled_from(VALUES), st.floats(), st.text(max_size=5)),
)
def test_stored_designs_that_were_tampered_with(path, change, value):
    """They are refused in a short line, or make finite columns; neither runs anything."""
    forged, message = tampered(path, change, value), ""
    with audited() as events:
        try:
            design = restored(forged)
            columns = design.columns(TABLE)
            assert np.isfinite(columns).all()
            assert columns.shape == (N, len(design.names))
        except (ValueError, KeyError, TypeError) as error:
            message = repr(error)
    assert len(message) < 1000
    assert not events


def test_the_command_line_runs_no_formula(tmp_path, monkeypatch, capsys):
    """Attacks as --formula start no process and write no file."""
    monkeypatch.chdir(tmp_path)
    reviews = synthetic_reviews(30, seed=1).to_frame().assign(price=np.arange(30.0), country="it")
    reviews.to_csv("reviews.csv", index=False)

    def fit(formula):
        monkeypatch.setattr(
            sys, "argv", ["textsignal", "fit", "reviews.csv", "--text", "review", "--response", "rating"]
        )
        sys.argv += ["--formula", formula, "-o", "result", "-k", "2"]
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code

    fit("log(price")  # imports what the command needs
    for attack in ATTACKS:
        capsys.readouterr()
        with audited() as events:
            assert fit(attack)
        # Typer compiles the annotations of its options at every start.
        own = [event for event in events if event[0] not in ("compile", "exec")]
        assert [event for event in own if not re.search(r"reviews\.csv|\.result-|^\('new'", event[1])] == []
        assert not [event for event in events if re.search("pwned|touch|__import__", event[1])]
        assert re.search("--formula|no column", capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.csv"]
