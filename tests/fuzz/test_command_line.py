"""The command line with any options and any table: it works, or fails with one short line and leaves no file."""

import csv
import io
import json
import shutil
import sys
import warnings

import pandas as pd
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textsignal import TextResponseModel, cli
from textsignal.datasets import synthetic_reviews

#: The longest line about an error.
LONGEST = 900
REVIEWS = synthetic_reviews(40, seed=3)
COLUMNS = ("text", "stars", "city", "day", "price", "nested", "mixed", "empty", "wörd, x", "absent", "")
FEW = settings(max_examples=150, suppress_health_check=list(HealthCheck))

TEXTS = st.text(st.sampled_from("ab1,;|\t\"'\n\r é😀\ud800=-.%"), max_size=6)
NAMES = st.sampled_from(COLUMNS) | TEXTS
VALUES = (
    st.sampled_from(
        [
            "1-5",
            "5-1",
            "1,2,3",
            "low,high",
            "-1",
            "0",
            "1",
            "2",
            "auto",
            "nan",
            "inf",
            "1e9",
            "0.5",
            ".95",
            "all",
            "none",
        ]
    )
    | TEXTS
)
FORMULAS = (
    st.sampled_from(["price", "price * city", "bs(price, 3)", "log(price)", "C(city)", "price +", "a", "0"]) | TEXTS
)
CELLS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 10)
    | st.floats()
    | TEXTS
    | st.sampled_from(["2020-01-02", "4/5", "yes"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
#: Options and what may be given to each.
OF_TABLES = {
    "--by": NAMES,
    "--over": NAMES,
    "--offset": NAMES,
    "--weights": NAMES,
    "--groups": NAMES,
    "--interval": VALUES,
    "--encoding": st.sampled_from(["utf-8", "utf-16", "ascii", "hex", "", "idna"]) | TEXTS,
    "--sep": st.sampled_from([",", ";", "tab", "||", '"']) | TEXTS,
    "--sheet": TEXTS,
}
OF_FITS = OF_TABLES | {
    "--covariates": NAMES,
    "--formula": FORMULAS,
    "--levels": VALUES,
    "-k": VALUES | st.just("2"),
    "--family": st.sampled_from(["auto", "ordinal", "poisson", "categorical", "gaussian", "gamma", "stars=ordinal"]),
    "--holdout": VALUES,
    "--seed": VALUES,
    "--max-terms": VALUES,
    "--language": st.sampled_from(["english", "none", "klingon", "de"]) | TEXTS,
    "--on-bad-rows": st.sampled_from(["error", "drop", "keep"]),
    "--unit": TEXTS,
    "--memory": VALUES,
    "--response": NAMES,
}
OF_TOPICS = {name: OF_FITS[name] for name in ("--levels", "-k", "--holdout", "--seed", "--on-bad-rows")}
OF_TOPICS |= {name: OF_TABLES[name] for name in ("--encoding", "--sep", "--sheet")} | {"--alpha": VALUES}
#: Commands on a stored model, which are quick, with what else they take; reading a table is most of it.
OF_MODELS = {
    "predict": {"--keep": NAMES, "--offset": NAMES, "--encoding": OF_TABLES["--encoding"], "--sep": OF_TABLES["--sep"]},
    "drivers": {name: OF_TABLES[name] for name in ("--by", "--offset", "--weights", "--encoding", "--sep")},
    "themes": {"--terms": VALUES, "--response": NAMES, "--class": TEXTS},
    "explain": {"--response": NAMES, "--class": TEXTS},
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A stored model."""
    folder = tmp_path_factory.mktemp("stored") / "model"
    fitted = TextResponseModel(2, n_jobs=1, family="binomial").fit(REVIEWS.texts, REVIEWS.ratings)
    fitted.name_response("stars").save(folder)
    return folder


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def call(monkeypatch, capsys, place):
    """Run a command in this process and check how it ends; its exit code."""

    def run(*arguments):
        before = content(place)
        monkeypatch.setattr(sys, "argv", ["textsignal", *map(str, arguments)])
        capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(SystemExit) as left:
                cli.main()
        code, (out, err) = left.value.code or 0, capsys.readouterr()
        assert "Traceback" not in out + err
        assert code in (0, 1, 2), ascii(err)
        if code:
            last = err.splitlines()[-1]
            if not err.startswith("Usage: "):  # of the parser of options, with a frame around what is wrong
                assert last.startswith("textsignal: "), ascii(err)
                assert len(last) <= LONGEST, ascii(last)
            assert content(place) == before
        return code

    return run


def content(folder):
    """Every file below a folder, and what it holds."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@st.composite
def tables(draw):
    """Rows of a small table of reviews, some of whose columns hold anything."""
    n = draw(st.integers(1, 12))
    table = pd.DataFrame({"text": REVIEWS.texts[:n], "stars": REVIEWS.ratings[:n].tolist()}, dtype=object)
    table["city"] = [("Ulm", "Bonn")[row % 2] for row in range(n)]
    table["day"] = [f"2020-01-{row + 1:02}" for row in range(n)]
    table["price"] = [1.5 * row for row in range(n)]
    table["nested"] = [{"a": [row]} for row in range(n)]
    table["mixed"] = pd.Series(draw(st.lists(CELLS, min_size=n, max_size=n)), dtype=object)
    table["empty"] = ""
    table["wörd, x"] = [str(row) for row in range(n)]
    for name in draw(st.lists(st.sampled_from(["text", "stars", "city", "day", "price"]), max_size=2)):
        row = draw(st.integers(0, n - 1))
        table[name] = pd.Series([*table[name][:row], draw(CELLS), *table[name][row + 1 :]], dtype=object)
    return table


@st.composite
def files(draw):
    """Name and content of a file of such a table, sometimes cut or changed."""
    table = draw(tables())
    if draw(st.booleans()):
        lines = io.StringIO()
        csv.writer(lines, delimiter=draw(st.sampled_from(",;\t|"))).writerows([list(table), *table.to_numpy().tolist()])
        name, text = "new.csv", lines.getvalue()
    else:
        name, text = "new.jsonl", "\n".join(json.dumps(record) for record in table.to_dict("records"))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"]))
    content = text.encode(encoding, "replace")
    if draw(st.integers(0, 9)) == 9:
        content = content[: draw(st.integers(0, len(content)))]
    return name, content


def written(place, name, content):
    """Leave nothing but this file in a folder; its name."""
    for left in place.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    (place / name).write_bytes(content)
    return name


def options(draw, known, most):
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=most, unique=True))
    return [word for name in chosen for word in (name, draw(known[name]))]


def without_nul(arguments):
    """Words that a shell can pass on."""
    return [argument.replace("\0", "") if isinstance(argument, str) else argument for argument in arguments]


@FEW
@given(data=st.data(), file=files(), command=st.sampled_from(sorted(OF_MODELS)))
def test_a_stored_model_and_any_table(call, model, place, data, file, command):
    name = written(place, *file)
    arguments = options(data.draw, OF_MODELS[command], 3)
    if command in ("predict", "drivers"):
        arguments = [name, "--text", data.draw(st.just("text") | NAMES), *arguments]
        arguments += ["--response", data.draw(st.just("stars") | NAMES)] if command == "drivers" else []
    if command == "explain":
        arguments = ["--", data.draw(TEXTS)] if data.draw(st.booleans()) else [*arguments, "A clean room."]
    output = data.draw(st.sampled_from(["", "out.csv", "out.xlsx", "out.parquet", "out.json", "new.csv", "no/out.csv"]))
    if output and command != "explain":
        arguments = [*arguments, "-o", output]
    call(command, model, *without_nul(arguments))


@settings(FEW, max_examples=80)
@given(data=st.data(), file=files(), command=st.sampled_from(["fit", "search", "compare", "topics"]))
def test_a_fit_with_any_options(call, place, data, file, command):
    """Tables are so small that nearly every fit fails early; what one takes is bounded by its options."""
    name = written(place, *file)
    arguments = options(data.draw, OF_TOPICS if command == "topics" else OF_FITS, 4)
    columns = ["--text", data.draw(st.just("text") | NAMES), "--response", data.draw(st.just("stars") | NAMES)]
    if call(command, name, *columns, *without_nul(arguments), "-o", "out", "--jobs", 1) == 0:
        assert (place / "out").exists()


def test_options_are_known():
    """An option that is renamed would be drawn in vain."""
    commands = typer.main.get_command(cli.app).commands
    for name, drawn in {"fit": OF_FITS, "topics": OF_TOPICS, **OF_MODELS}.items():
        assert {*drawn} <= {option for parameter in commands[name].params for option in parameter.opts}
