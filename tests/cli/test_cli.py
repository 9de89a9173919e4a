"""The command line: written files, tables on screen, one line for every error."""

import gzip
import io
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import textsignal
from textsignal import TextResponseModel, TopicModel, cli, load, read_table
from textsignal.cli.options import scale_of
from textsignal.datasets import synthetic_reviews
from textsignal.errors import TrainingError

N = 200
REVIEWS = synthetic_reviews(N, seed=9)
TABLE = REVIEWS.to_frame().rename(columns={"review": "Review", "rating": "Rating"})
COLUMNS = ["--text", "Review", "--response", "Rating"]
#: Where the fit itself does not matter: few themes, and no family is looked for.
QUICK = ["-k", "2", "--family", "binomial"]
RESULTS = {"model", "themes.csv", "texts.csv", "clauses.parquet", "summary.json", "report.html"}
COLOUR_SETTINGS = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
SEVERE = "--lower-is-better"
#: Numbers of themes in tables.
NUMBERS = [
    *("is_overall", "mentions", "complaints", "praise", "neutral", "share"),
    *("mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere"),
    *("cost", "cost_per_complaint", "gain", "gain_per_praise", "share_of_low", "share_of_gap"),
]
COMMANDS = {command.callback.__name__: command for command in cli.app.registered_commands}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A working folder with a table in it, and a screen of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in COLOUR_SETTINGS:
        monkeypatch.delenv(name, raising=False)
    TABLE.to_csv("reviews.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What one fit wrote, and what it said."""
    folder = tmp_path_factory.mktemp("results")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    done = shell(["fit", "reviews.csv", *COLUMNS, "-o", "out", "-k", "4"], cwd=folder)
    return folder / "out", done


@pytest.fixture(scope="module")
def quick_results(call, tmp_path_factory):
    """What a quick fit of the table writes."""
    folder = tmp_path_factory.mktemp("quick")
    TABLE.to_csv(folder / "reviews.csv", index=False)
    assert call("fit", folder / "reviews.csv", *COLUMNS, "-o", folder / "out", *QUICK) == 0
    return folder / "out"


@pytest.fixture
def model(results, place):
    """A model in the working folder."""
    shutil.copytree(results[0] / "model", place / "model")
    return "model"


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["textsignal", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return call


@pytest.fixture
def ok(run):
    """Run a command that must succeed: (stdout, stderr)."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 0, err
        return out, err

    return call


@pytest.fixture
def error_of(run):
    """Run a command that must fail on bad input, write nothing, and say why in one line, which is returned."""

    def call(*arguments, code=2):
        before = files()
        found, out, err = run(*arguments)
        assert found == code, err
        assert out == ""
        *progress, line = err.splitlines()
        assert line.startswith("textsignal: ")
        assert not any(earlier.startswith("textsignal: ") or "Traceback" in earlier for earlier in progress)
        assert files() == before
        return line.removeprefix("textsignal: ")

    return call


COMMAND = Path(sys.executable).with_name("textsignal")


def environment(**settings):
    """The environment of a process, with a screen of 80 columns and no wishes for colour."""
    plain = {name: value for name, value in os.environ.items() if name not in COLOUR_SETTINGS}
    return plain | {"COLUMNS": "80"} | settings


def shell(arguments, **options):
    """Run the installed command in a process of its own."""
    command = [COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment(), **options)


#: A process that runs commands one after the other: to start one takes longer than to run them.
ONE_BY_ONE = """
import json, sys
from textsignal import cli
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["textsignal", *arguments]
    try:
        cli.main()
    except SystemExit as left:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        print("left with", left.code or 0, flush=True)
"""


def on_terminal(*commands, **settings):
    """What commands that succeed show on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", ONE_BY_ONE, json.dumps(commands)]
    env = environment(TERM="xterm-256color", **settings)
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], 60)[0]:
            shown += (part := os.read(ours, 65536))
            if not part:
                break
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    *parts, rest = shown.decode().split("left with 0\r\n")
    assert (len(parts), rest) == (len(commands), "")
    return parts


def files():
    """Every file in the working folder with its content."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


def uncoloured(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def csv(text):
    return pd.read_csv(io.StringIO(text))


# Help


def test_the_version(ok):
    assert ok("--version") == (f"textsignal {textsignal.__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option_and_an_example(ok, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "200")
    out, err = ok(name, "--help")
    out = uncoloured(out)
    assert err == ""
    assert f"Example: textsignal {name}" in out
    assert " ".join(COMMANDS[name].callback.__doc__.split()) in " ".join(out.split())


def test_help_fits_on_a_screen_of_80_columns(ok):
    for name in COMMANDS:
        assert max(map(len, uncoloured(ok(name, "--help")[0]).splitlines())) <= 80


def test_help_of_fit_shows_basic_options_first(ok):
    lines = uncoloured(ok("fit", "--help")[0]).splitlines()
    advanced = next(number for number, line in enumerate(lines) if "Advanced options" in line)
    basic = "\n".join(lines[:advanced])
    assert advanced <= 60
    assert all(option in basic for option in ("-t", "-r", "-k", "-o", "--by", "--over"))
    assert "--scheduler" not in basic


def test_without_arguments_the_commands_are_listed(run):
    code, out, err = run()
    assert code in (0, 2)
    assert all(name in out + err for name in COMMANDS)


def test_the_examples_of_the_help_work(ok):
    examples = {name: shlex.split(command.epilog.removeprefix("Example: ")) for name, command in COMMANDS.items()}
    Path("reviews.csv").rename("new.csv")
    shutil.copy("new.csv", "reviews.csv")
    for name in ("fit", "predict", "themes", "explain", "report"):
        assert examples[name][:2] == ["textsignal", name]
        ok(*examples[name][1:])
    assert {path.name for path in Path("out").iterdir()} == RESULTS
    assert len(pd.read_csv("predictions.csv")) == N
    assert examples["demo"] == ["textsignal", "demo", "-o", "demo/"]


# demo


def test_the_demo_shows_what_moves_its_synthetic_reviews(ok):
    out, err = ok("demo", "-o", "demo")
    assert "synthetic" in err
    assert {path.name for path in Path("demo").iterdir()} == RESULTS | {"drivers.csv"}
    for shown in ("R2", "held out", "What to fix first", "gain", "not causes", "bedbugs", "breakfast", "Station Hotel"):
        assert shown in out
    themes = pd.read_csv("demo/themes.csv")
    themes["effect"] = themes["gain"] - themes["cost"]
    effects = {
        word: themes.loc[themes["terms"].str.split(", ").map(lambda terms, of=word: of in terms), "effect"].iloc[0]
        for word in ("bedbugs", "staff", "bathroom", "station")
    }
    assert max(effects["bedbugs"], effects["bathroom"]) < effects["station"] < effects["staff"]
    assert effects["bedbugs"] < 0 < effects["staff"]
    assert "Written to demo" in err


def test_the_demo_writes_nothing_without_output(ok, monkeypatch):
    monkeypatch.setattr("textsignal.cli.demo.DEMO_REVIEWS", 200)
    before = files()
    out, err = ok("demo")
    assert "What moves the rating" in out
    assert "200 synthetic hotel reviews" in err
    assert files() == before


# fit


def test_fit_writes_model_themes_texts_and_summary(results):
    folder, done = results
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert {path.name for path in folder.iterdir()} == RESULTS
    themes, texts = pd.read_csv(folder / "themes.csv"), pd.read_csv(folder / "texts.csv")
    assert [*themes.columns] == ["theme", "label", *NUMBERS, "raises", "lowers", "coherence", "terms", "finding"]
    assert sorted(themes["theme"]) == [0, 1, 2, 3, 4]
    assert themes["theme"][themes["is_overall"]].tolist() == [4]
    weights = [f"theme_{k}" for k in range(5)]
    assert list(texts.columns) == [
        *("row", "response", "prediction", "unseen_prediction", "held_out", "unknown"),
        *weights,
    ]
    assert texts["held_out"].sum() == N // 5
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["held_out"].keys() == {"texts", "r2", "rmse", "mean_baseline_rmse"}
    assert summary["train"]["r2"] > 0
    model = load(folder / "model")
    np.testing.assert_allclose(texts["prediction"], model.predict(REVIEWS.texts), rtol=1e-6)
    np.testing.assert_allclose(texts[weights], model.transform(REVIEWS.texts), rtol=1e-6)


def test_fit_shows_its_skill_and_its_themes(results):
    folder, done = results
    summary = json.loads((folder / "summary.json").read_text())
    for skill in (summary["train"], summary["held_out"]):
        for name in ("r2", "rmse", "mean_baseline_rmse"):
            assert f"{skill[name]:.3f}" in done.stdout
    for row in pd.read_csv(folder / "themes.csv").itertuples():
        shares = [
            "<1%" if 0 < share < 0.005 else f"{share:.0%}" for share in (row.mentions, row.complaints, row.praise)
        ]
        numbers = [*shares, f"{row.cost:.2f}", f"{row.gain:.2f}"]
        assert re.search(" +".join(map(re.escape, numbers)), done.stdout)
        assert row.label.split()[0].strip(",") in done.stdout
    assert "reviews.csv: 200 rows. Fitting 4 themes." in done.stderr
    zone = load(folder / "model").reader_.fitted.words.zone
    stated = f"A clause is a complaint below {zone.low:.2f} and praise above {zone.high:.2f}, in log-odds"
    assert stated in " ".join(done.stdout.split())
    assert "Written to out: model/, themes.csv, texts.csv, clauses.parquet, summary.json, report.html" in done.stderr
    # Piped output is plain, and as wide as the screen.
    assert "\x1b" not in done.stdout + done.stderr
    assert "━" not in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_fit_is_one_public_call(ok):
    ok("fit", "reviews.csv", *COLUMNS, "-o", "themes", "-k", 3, "--holdout", 0, "--max-terms", 100, "--seed", 2)
    model = TextResponseModel(3, max_terms=100, random_state=2).fit(TABLE.Review, TABLE.Rating)
    np.testing.assert_array_equal(load("themes/model").predict(REVIEWS.texts), model.predict(REVIEWS.texts))


def test_the_seed_chooses_the_split(ok):
    for name, seed in {"one": 3, "two": 3, "three": 4}.items():
        ok("fit", "reviews.csv", *COLUMNS, "-o", name, *QUICK, "--seed", seed)
    one, two, three = (Path(name, "texts.csv").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_the_scale_may_be_given(ok):
    ok("fit", "reviews.csv", *COLUMNS, "-o", "out", *QUICK, "--levels", "0-7")
    assert load("out/model").levels_.tolist() == list(range(8))


@pytest.mark.parametrize(
    ("levels", "scale"),
    [
        *((written, (1, 5)) for written in ("1-5", "1:5", "1 to 5", "1..5", " 1 - 5 ")),
        ("-2-2", (-2, 2)),
        ("-5--1", (-5, -1)),
        ("low, mid,high", ("low", "mid", "high")),
    ],
)
def test_a_scale_may_be_written_in_many_ways(levels, scale):
    assert scale_of(levels) == scale


def test_stop_words_may_be_those_of_another_language(ok):
    ok("fit", "reviews.csv", *COLUMNS, "-o", "out", *QUICK, "--stop-words", "none")
    assert "the" in load("out/model").terms_
    ok("fit", "reviews.csv", *COLUMNS, "-o", "german", *QUICK, "--stop-words", "german")
    terms = set(load("german/model").terms_)
    assert "the" in terms
    assert "was" not in terms  # a German stop word too


# Columns that a file makes obvious


def test_fit_takes_obvious_columns_and_names_them(ok):
    _, err = ok("fit", "reviews.csv", "-o", "out", *QUICK)
    assert err.startswith("Columns taken: text 'Review', response 'Rating'.\n")
    assert load("out/model").naming_.response == "Rating"
    _, err = ok("predict", "out/model", "reviews.csv", "-o", "p.csv")
    assert err == "Columns taken: text 'Review'.\nWritten to p.csv: 200 rows\n"


def test_the_response_of_a_model_is_taken_if_the_table_has_it(ok, model):
    TABLE.assign(Votes=3).to_csv("votes.csv", index=False)
    _, err = ok("drivers", model, "votes.csv")
    assert err == "Columns taken: text 'Review', response 'Rating'.\n"


def test_columns_that_are_not_obvious_are_an_error_with_the_choices(error_of):
    TABLE.assign(Votes=3, Answer=TABLE["Review"]).to_csv("two.csv", index=False)
    line = "which column holds the texts? Give --text NAME, one of Review, Answer"
    assert error_of("fit", "two.csv", "-o", "out") == line
    line = "which column holds the response? Give --response NAME, one of Rating, Votes"
    assert error_of("fit", "two.csv", "--text", "Review", "-o", "out") == line


# topics


def test_topics_writes_tables_model_and_report(ok, error_of):
    options = ["reviews.csv", "-k", 3, "--alpha", 0.1, "-o", "topics"]
    out, err = ok("topics", *options)
    assert {path.name for path in Path("topics").iterdir()} == {"model", "topics.csv", "texts.csv", "report.html"}
    model = load("topics/model")
    assert isinstance(model, TopicModel)
    assert (model.estimator_.alpha, model.estimator_.n_topics) == (0.1, 3)
    assert "Columns taken: text 'Review', response 'Rating'.\nreviews.csv: 200 rows. Fitting 3 topics.\n" in err
    assert "Written to topics: model/, topics.csv, texts.csv, report.html" in err
    for row in model.topics().itertuples():
        assert f"{row.effect:+.2f}" in out
        assert f"{row.prevalence:.1%}" in out
        assert row.terms[0] in out
    assert "Expected response" in ok("explain", "topics/model", "Friendly staff.")[0]
    for command in ("themes", "drivers"):
        assert "topics/model is a model of topics" in error_of(command, "topics/model")
    assert "is read by this command" in error_of(
        "topics", "topics/texts.csv", "-t", "unknown", "-r", "row", "-o", "topics", "--force"
    )
    assert "topics exists already" in error_of("topics", *options)
    assert "--alpha -1.0 must be a number of at least 0" in error_of(
        "topics", "reviews.csv", "--alpha", -1, "-o", "new"
    )


# Formats


WRITERS = {
    "r.csv.gz": lambda path: TABLE.to_csv(path, index=False),
    "r.csv.zip": lambda path: TABLE.to_csv(path, index=False),
    "r.tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "r.parquet": lambda path: TABLE.to_parquet(path),
    "r.jsonl": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "r.jsonl.gz": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "r.xlsx": lambda path: TABLE.to_excel(path, index=False),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_results(ok, quick_results, name):
    WRITERS[name](name)
    ok("fit", name, *COLUMNS, "-o", "out", *QUICK)
    for written in ("themes.csv", "texts.csv", "summary.json"):
        assert Path("out", written).read_bytes() == (quick_results / written).read_bytes()


def test_a_sheet_and_an_encoding_may_be_chosen(ok):
    with pd.ExcelWriter("book.xlsx") as book:
        TABLE.head(1).to_excel(book, sheet_name="Notes", index=False)
        TABLE.to_excel(book, sheet_name="Reviews", index=False)
    assert "book.xlsx: 200 rows" in ok("fit", "book.xlsx", *COLUMNS, "-o", "a", *QUICK, "--sheet", "Reviews")[1]
    french = TABLE.assign(Review=TABLE["Review"] + " très très cher")
    french.to_csv("french.csv", index=False, encoding="cp1252", errors="replace")
    ok("fit", "french.csv", *COLUMNS, "-o", "b", *QUICK, "--encoding", "cp1252")
    assert "cher" in load("b/model").terms_


def test_rows_without_response_and_without_known_term_are_counted(ok):
    table = TABLE.astype(object)
    table.loc[3, "Rating"] = ""
    table.loc[[4, 5], "Review"] = "zxqv"
    table.loc[5, "Review"] = "???"
    table.to_csv("some.csv", index=False)
    _, err = ok("fit", "some.csv", *COLUMNS, "-o", "out", *QUICK)
    assert "Without a response, used for its words only: 1 row.\n" in err
    assert "Without a known word, taken as an average text: 2 texts.\n" in err


def test_semicolons_as_separators_are_recognised(ok, quick_results):
    TABLE.to_csv("reviews.csv", index=False, sep=";")
    _, err = ok("fit", "reviews.csv", *COLUMNS, "-o", "out", *QUICK)
    assert "reviews.csv: 200 rows (separated by semicolons). Fitting 2 themes." in err
    assert Path("out/texts.csv").read_bytes() == (quick_results / "texts.csv").read_bytes()
    TABLE.to_csv("odd.csv", index=False, sep="#")
    _, err = ok("predict", "out/model", "odd.csv", "--text", "Review", "--sep", "#", "-o", "p.csv")
    assert err == "Written to p.csv: 200 rows\n"


@pytest.mark.parametrize("first", [["Review", "Rating"], ["Rating"]])
def test_other_sheets_are_named(run, model, first):
    """Also if the first lacks the column."""
    with pd.ExcelWriter("book.xlsx") as book:
        TABLE[first].to_excel(book, sheet_name="First", index=False)
        TABLE.to_excel(book, sheet_name="Other", index=False)
    code, _, err = run("predict", model, "book.xlsx", "--text", "Review", "-o", "p.csv")
    assert code == (0 if "Review" in first else 2)
    assert "book.xlsx: sheet First; other sheets: Other.\n" in err


def test_fits_without_held_out_rows_are_remarked(ok):
    TABLE.assign(Review="The same clean room, again and again.").to_csv("same.csv", index=False)
    _, err = ok("fit", "same.csv", *COLUMNS, "-o", "same", *QUICK)
    assert "No row is held out, so skill on new texts is unknown.\n" in err


def test_the_reading_of_a_response_in_words_is_shown(ok):
    TABLE.assign(Rating=np.where(TABLE["Rating"] > 3, "pos", "neg")).to_csv("words.csv", index=False)
    _, err = ok("fit", "words.csv", *COLUMNS, "-o", "out", "-k", 2)
    assert "How responses were read: neg as 0 and pos as 1." in err
    assert json.loads(Path("out/summary.json").read_text())["levels"] == [0, 1]


@pytest.mark.parametrize(
    ("cells", "described"),
    [
        (np.round(np.linspace(0, 1, N), 2), "numbers from 0 to 0.99, "),
        (TABLE["Rating"] - 4, "-3 to 1, "),
        (TABLE["Rating"] > 3, "0 or 1, "),
        (np.where(TABLE["Rating"] > 3, "yes", "no"), "0 or 1, "),
        (np.where(TABLE["Rating"] > 3, "yes", "maybe"), "maybe, yes, "),
        (TABLE["Rating"].astype(str) + "/5", "1 to 5, "),
        (np.where(np.arange(N) % 6, TABLE["Rating"], TABLE["Rating"].clip(2) - 0.5), "1 to 5 in steps of 0.5, "),
    ],
    ids=["shares", "negative", "booleans", "yes", "labels", "of 5", "half stars"],
)
def test_responses_of_many_kinds(ok, cells, described):
    TABLE.assign(Rating=cells).to_csv("kinds.csv", index=False)
    _, err = ok("fit", "kinds.csv", *COLUMNS, "-o", "out", "-k", 2)
    assert f"\nResponse: {described}" in err


@pytest.mark.parametrize("cells", [TABLE["Rating"].astype(str) + ",5", TABLE["Rating"].astype(str) + " stars"])
def test_numbers_in_another_notation_are_refused(error_of, cells):
    TABLE.assign(Rating=cells).to_csv("kinds.csv", index=False)
    assert "write responses as numbers such as 4 or 4.0" in error_of("fit", "kinds.csv", *COLUMNS, "-o", "out", *QUICK)


def test_codes_for_missing_answers_are_remarked(ok):
    rows = np.arange(N)
    TABLE.assign(Rating=np.where(rows < 4, 99, 1 + rows % 10)).to_csv("codes.csv", index=False)
    _, err = ok("fit", "codes.csv", *COLUMNS, "-o", "out", "-k", 2)
    remark = "99 in 4 of 160 rows looks like a code for a missing answer next to 1 to 10: if so, make these cells empty"
    assert remark in err
    assert remark in Path("out/report.html").read_text()


def test_an_ordered_column_of_a_parquet_file_is_a_scale(ok):
    names = ["awful", "bad", "fine", "good", "best"]
    column = pd.Categorical(np.array(names)[TABLE["Rating"] - 1], names, ordered=True)
    TABLE.assign(Rating=column).to_parquet("ordered.parquet")
    _, err = ok("fit", "ordered.parquet", *COLUMNS, "-o", "out", "-k", 2)
    assert "How responses were read: awful as 1, bad as 2, fine as 3, good as 4, best as 5." in err
    assert load("out/model").levels_.tolist() == names


def test_a_column_of_dicts_cannot_be_groups(error_of):
    TABLE.assign(Place=[{"city": "Ulm"}] * N).to_json("nested.jsonl", orient="records", lines=True)
    line = error_of("fit", "nested.jsonl", *COLUMNS, "-o", "out", *QUICK, "--by", "Place")
    assert line.startswith("column 'Place': row 1 holds a dict ({'city': 'Ulm'}), which cannot name a group")


# Rows that cannot be used


@pytest.fixture
def bad(place):
    table = TABLE.astype(object)
    table.loc[3, "Review"] = ""
    table.loc[10, "Rating"] = "five"
    table.loc[20, "Rating"] = 9
    table.loc[21, "Rating"] = 3.5
    table.to_csv("bad.csv", index=False)
    return "bad.csv"


def test_bad_rows_are_an_error_or_excluded_on_request(ok, error_of, bad):
    fit = ["fit", bad, *COLUMNS, "-o", "out", *QUICK, "--levels", "1-5"]
    line = error_of(*fit)
    assert line.startswith("4 bad rows: 1 empty text (row 4), 1 response that is not a number (row 11: 'five'), ")
    assert "1 response outside 1 to 5 (row 21: '9'), 1 response that is not a whole number (row 22: '3.5')" in line
    assert "--on-bad-rows drop" in line
    _, err = ok(*fit, "--on-bad-rows", "drop")
    assert "Excluded: 4 bad rows: 1 empty text (row 4)" in err
    assert set(range(1, N + 1)) - set(pd.read_csv("out/texts.csv")["row"]) == {4, 11, 21, 22}
    assert json.loads(Path("out/summary.json").read_text())["dropped"].startswith("4 bad rows")


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("reviews.csv --text Reviw --response Rating", "no column 'Reviw' for the text; did you mean 'Review'? The "),
        ("reviews.csv --text Review --response Stars", "no column 'Stars' for the response. The columns are: Review"),
        ("nothing.csv --text Review --response Rating", "there is no file nothing.csv"),
        ("notes.txt --text Review --response Rating", "notes.txt is of no known format; its name must end in .csv, "),
        ("folder.csv --text Review --response Rating", "folder.csv is a folder without Parquet files; give a pattern"),
        ("empty.csv --text Review --response Rating", "empty.csv is empty"),
        ("header.csv --text Review --response Rating", "header.csv has no rows"),
        ("mixed.csv --text Review --response Rating", "mixed.csv, line 3: byte 0xe8 is not utf-8; give its encoding"),
        ("constant.csv --text Review --response Rating", "the response is constant (always 4)"),
        ("constant.csv --text Review --response Rating --levels 1-5", "the response is constant"),
        ("missing.csv --text Review --response Rating", "no text has a response (all are missing)"),
        ("stop.csv --text Review --response Rating -k 1", "no content term is left"),
        ("reviews.csv --text Rating --response Rating", "no content term is left"),
        ("reviews.csv --text Review --response Rating -k 161", "--themes 161 is too many to read; give 1 to 60"),
        ("reviews.csv --text Review --response Rating --by Hotel", "no column 'Hotel'"),
        ("reviews.csv --text Review --response Rating --levels five", "--levels five: give the lowest and the highest"),
        ("reviews.csv --text Review --response Rating --levels 5-1", "--levels 5-1: give the lowest and the highest"),
        ("reviews.csv --text Review --response Rating --levels 1-4", "responses outside 1 to 4 (rows "),
        ("reviews.csv --text Review --response Rating --seed 4294967296", "give a whole number from 0 to 4294967295"),
        ("reviews.csv --text Review --response Rating --levels 0-9999999", "--levels 0-9999999 is too wide a scale"),
        ("codes.csv --text Review --response Rating", "e.g. --levels 1-5, or --levels 1-999 if that is meant"),
        ("reviews.csv --text Review --response Rating --holdout 1", "--holdout 1.0 must be at least 0 and below 1"),
        ("reviews.csv --text Review --response Rating --stop-words elvish", "no stop words for 'elvish'; there are"),
        ("reviews.csv --text Review --response Rating --encoding utf-9", "--encoding utf-9 is not known; give utf-8, "),
        ("reviews.csv --text Review --response Rating --sep ,,", "--sep ,, is not a separator; give one character"),
        (
            "reviews.csv --text Review --response Rating -j 0",
            "--jobs 0 must be a number of threads, or -1 for all cores",
        ),
        ("mixed.csv --text Review --response Rating", "such as --encoding cp1252"),
        ("picture.csv --text Review --response Rating", "picture.csv is not text, in spite of its name"),
        ("zeros.csv --text Review --response Rating", "zeros.csv, line 1 holds zero bytes"),
        ("scores.csv --text Review --response Rating --levels 1-5", "The response looks continuous, from 0.333333 to "),
        (
            "reviews.csv --text Review --response Rating --sheet One",
            "reviews.csv has no sheet to choose, but --sheet One was",
        ),
    ],
)
def test_fit_names_the_problem_and_writes_nothing(error_of, arguments, message):
    Path("notes.txt").write_text("notes")
    Path("folder.csv").mkdir()
    Path("empty.csv").touch()
    Path("header.csv").write_text("Review,Rating\n")
    Path("mixed.csv").write_bytes("Review,Rating\nTrès bien,4\n".encode() + "Très cher,2\n".encode("cp1252"))
    Path("stop.csv").write_text("Review,Rating\nthe,4\nand,2\nof,1\n")
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("zeros.csv").write_bytes(bytes(999))
    TABLE.assign(Rating=np.arange(1, N + 1) / 3).to_csv("scores.csv", index=False)
    TABLE.assign(Rating=4).to_csv("constant.csv", index=False)
    TABLE.assign(Rating=TABLE["Rating"].mask(TABLE.index == 3, 999)).to_csv("codes.csv", index=False)
    TABLE.assign(Rating="").to_csv("missing.csv", index=False)
    line = error_of("fit", *shlex.split(arguments), "-o", "new/out")
    assert message in line
    assert not re.search(r"\b(holdout|levels|encoding|sep|sheet|n_jobs|force|on_bad_rows)=", line)
    assert "n_themes" not in line
    assert "family=" not in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "Missing argument 'FILES...'"),
        (["fit", "reviews.csv", *COLUMNS], "Missing option '--output' / '-o'"),
        (["fit", "reviews.csv", *COLUMNS, "-o", "out", "-k", "0"], "'--themes' / '-k'"),
        (["fit", "reviews.csv", *COLUMNS, "-o", "out", "-k", "two"], "'--themes' / '-k'"),
        (["fit", "reviews.csv", *COLUMNS, "-o", "out", "--max-terms", "0"], "'--max-terms'"),
        (["fit", "reviews.csv", *COLUMNS, "-o", "out", "--seed", "-1"], "'--seed'"),
        (["fit", "reviews.csv", *COLUMNS, "-o", "out", "--on-bad-rows", "skip"], "'skip' is not one of"),
        (["themes", "model", "-n", "0"], "'--terms' / '-n'"),
        (["explode"], "No such command 'explode'"),
    ],
)
def test_wrong_options_are_named(run, monkeypatch, arguments, message):
    monkeypatch.setenv("COLUMNS", "200")
    before = files()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in uncoloured(err)
    assert files() == before


def test_a_path_without_a_model_is_named(error_of, model):
    Path("file").write_text("x")
    Path("empty").mkdir()
    for command in (["themes"], ["predict"]):
        rest = ["reviews.csv", "--text", "Review"] if command == ["predict"] else []
        assert error_of(*command, "nowhere", *rest) == "there is no model at nowhere"
        assert "file is a file; a model is the folder" in error_of(*command, "file", *rest)
        assert error_of(*command, "empty", *rest) == "empty holds no model: model.json is missing"
        assert error_of(*command, ".", *rest).endswith("did you mean model?")
    settings = Path("model/model.json")
    settings.write_bytes(settings.read_bytes()[:300])
    assert "it may be truncated" in error_of("themes", "model")


# Outputs that are there, or cannot be


def test_existing_results_are_refused_without_force_and_replaced_with_it(ok, error_of, quick_results):
    shutil.copytree(quick_results, "out")
    Path("out/notes.txt").write_text("mine")
    assert "out exists already; give another name, or --force to replace it" in error_of(
        "fit", "reviews.csv", *COLUMNS, "-o", "out"
    )
    ok("fit", "reviews.csv", *COLUMNS, "-o", "out", *QUICK, "-k", 3, "--force")
    assert len(pd.read_csv("out/themes.csv")) == 4
    assert load("out/model").transform(["bed"]).shape == (1, 4)
    assert Path("out/notes.txt").read_text() == "mine"
    assert {path.name for path in Path("out").iterdir()} == RESULTS | {"notes.txt"}


def test_a_failure_under_force_leaves_the_old_results(error_of, quick_results):
    shutil.copytree(quick_results, "out")
    error_of("fit", "reviews.csv", "--text", "Nothing", "--response", "Rating", "-o", "out", "--force")


@pytest.mark.parametrize("target", ["reviews.csv", "reviews.csv/out"])
def test_an_output_that_cannot_be_a_folder_is_named_before_the_work(error_of, monkeypatch, target):
    monkeypatch.setattr("textsignal.data.read.read_file", pytest.fail)
    assert "reviews.csv" in error_of("fit", "reviews.csv", *COLUMNS, "-o", target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("there.csv", "there.csv exists already; give another name, or --force to replace it"),
        ("p.docx", "p.docx is of no format that can be written; its name must end in .csv, .tsv, .jsonl, "),
        ("folder.csv", "folder.csv is a folder; give the name of a file"),
        ("reviews.csv/p.csv", "cannot write to reviews.csv: Not a directory"),
    ],
)
def test_predictions_that_cannot_be_written_are_refused_before_the_work(error_of, monkeypatch, model, target, message):
    monkeypatch.setattr("textsignal.loading.load", pytest.fail)
    Path("there.csv").touch()
    Path("folder.csv").mkdir()
    assert message in error_of("predict", model, "reviews.csv", "--text", "Review", "-o", target)
    assert message in error_of("themes", model, "-o", target)


# predict


def test_predictions_go_to_a_file(ok, model):
    out, err = ok("predict", model, "reviews.csv", "--text", "Review", "-o", "new/folder/predictions.csv")
    assert (out, err) == ("", "Written to new/folder/predictions.csv: 200 rows\n")
    table = pd.read_csv("new/folder/predictions.csv")
    assert list(table.columns) == ["row", "prediction", "level", "unknown", "p_1", "p_2", "p_3", "p_4", "p_5"]
    loaded = load(model)
    np.testing.assert_array_equal(table["prediction"], loaded.predict(REVIEWS.texts))
    np.testing.assert_array_equal(table["level"], loaded.predict_level(REVIEWS.texts))
    np.testing.assert_array_equal(table.filter(like="p_"), loaded.predict_proba(REVIEWS.texts))


def test_predictions_to_the_screen_are_csv_and_nothing_else(ok, model):
    Path("new.csv").write_text('Review\nLovely breakfast and friendly staff.\nxylophone\n""\n')
    out, err = ok("predict", model, "new.csv", "--text", "Review")
    assert csv(out)["unknown"].tolist() == [False, True, True]
    assert err == "Without a word the model knows, taken as an average text: 2 of 3 texts.\n"
    ok("predict", model, "new.csv", "--text", "Review", "-o", "predictions.csv")
    assert Path("predictions.csv").read_text() == out


def test_predictions_replace_a_file_with_force_and_may_be_compressed(ok, model):
    Path("predictions.csv").write_text("old")
    ok("predict", model, "reviews.csv", "--text", "Review", "-o", "predictions.csv", "--force")
    ok("predict", model, "reviews.csv", "--text", "Review", "-o", "predictions.csv.gz")
    assert gzip.decompress(Path("predictions.csv.gz").read_bytes()) == Path("predictions.csv").read_bytes()


@pytest.mark.parametrize(
    "name", ["p.tsv", "p.xlsx", "p.parquet", "p.jsonl", "p.ndjson.gz", "p.json", "p.csv.xz", "P.CSV"]
)
@pytest.mark.parametrize("command", ["predict", "themes"])
def test_tables_are_written_in_the_format_of_their_name(ok, model, command, name):
    arguments = ["reviews.csv", "--text", "Review"] if command == "predict" else []
    ok(command, model, *arguments, "-o", name)
    ok(command, model, *arguments, "-o", "plain.csv")
    found, expected = read_table(name), pd.read_csv("plain.csv")
    assert list(found.columns) == list(expected.columns)
    number = "prediction" if command == "predict" else "cost"
    np.testing.assert_allclose(found[number].astype(float), expected[number], rtol=1e-12)


def test_predictions_carry_other_columns(ok, model):
    table = TABLE.head(3).assign(id=["a", "007", "=1+1"], **{"when, exactly": ["May", "June", "July"]})
    table.to_csv("new.csv", index=False)
    arguments = ["predict", model, "new.csv", "--text", "Review"]
    plain = csv(ok(*arguments)[0])
    kept = pd.read_csv(io.StringIO(ok(*arguments, "--keep", "id,Rating")[0]), dtype={"id": str})
    assert list(kept.columns) == ["row", "id", "Rating", *plain.columns[1:]]
    assert kept["id"].tolist() == ["a", "007", "'=1+1"]  # which no spreadsheet runs
    assert list(csv(ok(*arguments, "--keep", "when, exactly")[0]).columns)[:2] == ["row", "when, exactly"]
    every = csv(ok(*arguments, "--keep", "all")[0])
    assert list(every.columns) == ["row", *table.columns, *plain.columns[1:]]
    pd.testing.assert_frame_equal(every[plain.columns], plain)


def test_predictions_of_many_files_are_those_of_one(ok, error_of, model):
    TABLE[:120].to_parquet("part-1.parquet")
    TABLE[120:].to_parquet("part-2.parquet")
    ok("predict", model, "reviews.csv", "--text", "Review", "-o", "whole.csv")
    _, err = ok("predict", model, "part-*.parquet", "--text", "Review", "-o", "parts.csv")
    assert err == "Written to parts.csv: 200 rows\n"
    ok("predict", model, "part-1.parquet", "part-2.parquet", "--text", "Review", "-o", "listed.csv")
    assert Path("parts.csv").read_bytes() == Path("listed.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert error_of("predict", model, "gone-*.csv", "--text", "Review") == "no file matches gone-*.csv"
    arguments = ["predict", model, "part-*.parquet", "--text", "Review", "-o", "part-2.parquet", "--force"]
    assert "part-2.parquet is read by this command" in error_of(*arguments)


def test_columns_that_cannot_be_kept_are_named(error_of, model):
    TABLE.assign(prediction=1).to_csv("new.csv", index=False)
    arguments = ["predict", model, "new.csv", "--text", "Review", "--keep"]
    assert "no column 'rating' for the output; did you mean 'Rating'?" in error_of(*arguments, "Review,rating")
    assert "column 'prediction' cannot be kept" in error_of(*arguments, "all")


@pytest.mark.parametrize("name", ["reviews.csv", "./reviews.csv", "link.csv"])
def test_no_command_replaces_its_input(error_of, model, name):
    Path("link.csv").symlink_to("reviews.csv")
    for arguments in (
        ["predict", model, "reviews.csv", "--text", "Review"],
        ["report", model, "reviews.csv", *COLUMNS],
    ):
        assert "is read by this command and is not replaced" in error_of(*arguments, "-o", name, "--force")
        assert "is read by this command" in error_of(*arguments, "-o", "model/model.json", "--force")
    assert "is read by this command" in error_of("themes", model, "-o", "model/model.json", "--force")
    Path("out").mkdir()
    Path("reviews.csv").rename("out/texts.csv")
    fit = ["fit", "out/texts.csv", *COLUMNS, "-o", "out", "--force"]
    assert "texts.csv is read by this command" in error_of(*fit)


def test_predict_names_what_is_wrong_with_its_table(error_of, model):
    assert "did you mean 'Review'?" in error_of("predict", model, "reviews.csv", "--text", "review")
    assert error_of("predict", model, "gone.csv", "--text", "Review") == "there is no file gone.csv"


# themes


def test_themes_shows_the_table(ok, model):
    out, err = ok("themes", model, "-n", 3)
    assert err == ""
    for row in load(model).themes(3).itertuples():
        assert f"{row.cost:.2f}" in out
        assert row.label.split()[0].strip(",") in out
        assert all(part in out for word in (*row.raises[:4], *row.lowers[:4]) for part in word.split())


def test_themes_writes_a_csv(ok, model):
    out, err = ok("themes", model, "-n", 5, "-o", "themes.csv")
    assert (out, err) == ("", "Written to themes.csv: 5 rows\n")
    table, expected = pd.read_csv("themes.csv"), load(model).themes(5)
    assert table["terms"].str.split(", ").tolist() == expected["terms"].tolist()
    words = ["terms", "raises", "lowers"]
    expected = expected.drop(columns=words).reset_index(drop=True)
    pd.testing.assert_frame_equal(table.drop(columns=words), expected, rtol=1e-12)


# drivers


def test_drivers_are_of_the_training_texts_by_default(ok, model):
    out, err = ok("drivers", model)
    assert err == ""
    assert "not causes" in out
    for row in load(model).drivers().itertuples():
        assert f"{row.cost:.2f}" in out


def test_drivers_by_group(ok, model):
    TABLE.assign(Hotel=np.where(np.arange(N) % 3, "Alpha", "Beta")).to_csv("hotels.csv", index=False)
    out, _ = ok("drivers", model, "hotels.csv", *COLUMNS, "--by", "Hotel")
    assert " ".join(out.split()).count("(133)") == 1
    assert "Beta" in out
    _, err = ok("drivers", model, "hotels.csv", *COLUMNS, "--by", "Hotel", "-o", "drivers.csv")
    assert err == "Written to drivers.csv: 10 rows\n"
    table = pd.read_csv("drivers.csv")
    assert table["group"].unique().tolist() == ["Alpha", "Beta"]
    hotels = pd.read_csv("hotels.csv")
    expected = load(model).drivers(hotels["Hotel"], texts=hotels["Review"], responses=hotels["Rating"])
    np.testing.assert_allclose(table["cost"], expected["cost"], rtol=1e-12)


def test_fit_writes_drivers_by_group(ok):
    TABLE.assign(Hotel=np.where(np.arange(N) % 3, "Alpha", "")).to_csv("hotels.csv", index=False)
    out, err = ok("fit", "hotels.csv", *COLUMNS, "-o", "out", *QUICK, "-k", 3, "--by", "Hotel")
    assert "By Hotel" in out
    assert err.splitlines()[-2].endswith("summary.json, drivers.csv, report.html")
    assert pd.read_csv("out/drivers.csv")["documents"].tolist() == [133] * 4


def test_themes_that_raise_a_severity_are_to_be_fixed(ok):
    TABLE.assign(severity=6 - TABLE["Rating"]).to_csv("severity.csv", index=False)
    out, _ = ok("fit", "severity.csv", "--text", "Review", "--response", "severity", "-o", "out", "-k", 3, SEVERE)
    shown = " ".join(out.split())
    table = pd.read_csv("out/themes.csv")
    assert table["cost"].is_monotonic_decreasing
    costly = table[table["cost"] > table["gain"]]
    assert costly["finding"].str.endswith("points lower.").all()
    assert table["finding"][table["cost"] < table["gain"]].str.contains("points higher.").all()
    fixed = shown.split("What to fix first")[1].split("What moves")[0].split("What to keep")[0]
    costly, overall = costly[~costly["is_overall"]], table[table["is_overall"]]
    assert costly["finding"].iloc[0] in fixed
    assert overall["finding"].iloc[0] not in shown
    assert "would be lower without complaints" in shown
    assert "For the severity, less is better." in Path("out/report.html").read_text(encoding="utf-8")
    again, _ = ok("drivers", "out/model", "severity.csv", "--text", "Review", "--response", "severity")
    assert costly["finding"].iloc[0] in " ".join(again.split())


def test_two_values_are_shares_on_screen_and_in_tables(ok):
    TABLE.assign(liked=(TABLE["Rating"] > 3).astype(int)).to_csv("liked.csv", index=False)
    out, _ = ok("fit", "liked.csv", "--text", "Review", "--response", "liked", "-o", "out", "-k", 3)
    table = pd.read_csv("out/themes.csv")
    for row in table.itertuples():
        total, change = (row.cost, "higher") if row.cost >= row.gain else (row.gain, "lower")
        assert row.finding.endswith(f"would be {100 * total:.1f} percentage points {change}.")
    costly = table[(table["cost"] > table["gain"]) & ~table["is_overall"]]
    assert costly["finding"].iloc[0] in " ".join(out.split())
    assert "What moves “liked”" in out


def test_drivers_name_the_problem(error_of, model):
    assert error_of("drivers", model, "--by", "Hotel").endswith("name columns of a table; give the table too")
    TABLE[["Rating"]].to_csv("numbers.csv", index=False)
    assert error_of("drivers", model, "numbers.csv") == "which column holds the texts? Give --text NAME, one of Rating"
    assert "no column 'Hotel'" in error_of("drivers", model, "reviews.csv", *COLUMNS, "--by", "Hotel")


# explain

PRAISE = "The staff were friendly,\nbut a [bold]dirty[/bold] bathroom & no xylophone."


def test_explain_shows_the_text_with_signs_the_prediction_and_what_adds_up(ok, model):
    out, err = ok("explain", model, PRAISE)
    explanation = load(model).explain(PRAISE)
    assert err == ""
    assert f"Expected Rating {explanation.prediction:.2f}" in out
    assert re.search(r"[+-]friendly", out)
    assert "[bold]" in out
    assert "Not in the model: not xylophone" in out.replace("bold, ", "")
    for probability in explanation.probabilities:
        assert f"{probability:.0%}" in out
    for clause in explanation.clauses.itertuples():
        assert f"{clause.points:+.2f}" in out
    for theme in explanation.themes[:2].itertuples():
        assert f"{theme.points:+.2f}" in out or abs(theme.points) < 0.005
    assert max(map(len, out.splitlines())) <= 80


def test_explain_reads_a_file_or_standard_input(ok, model, monkeypatch):
    expected = ok("explain", model, PRAISE)
    Path("text.txt").write_bytes(b"\xef\xbb\xbf" + PRAISE.encode())
    assert ok("explain", model, "--file", "text.txt") == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PRAISE.encode())))
    assert ok("explain", model, "-") == expected


def test_explain_gets_bad_input_in_one_line(error_of, model):
    assert error_of("explain", model).startswith("give one text: in quotes")
    assert error_of("explain", model, "text", "--file", "reviews.csv").startswith("give one text")
    assert error_of("explain", model, "--file", "gone.txt") == "gone.txt cannot be read: No such file or directory"
    assert error_of("explain", "gone", "text") == "there is no model at gone"
    Path("latin.txt").write_bytes("schön".encode("latin-1"))
    assert error_of("explain", model, "--file", "latin.txt").startswith("latin.txt is not UTF-8 (byte 3)")


@pytest.fixture(scope="module")
def shown(results):
    """What two commands show on a terminal, by their name: with colours, and where none are wanted."""
    model = str(results[0] / "model")
    commands = ["explain", model, PRAISE], ["themes", model]
    coloured, plain = on_terminal(*commands), on_terminal(*commands, NO_COLOR="1")
    return {name: (coloured[i], plain[i]) for i, (name, *_) in enumerate(commands)}


def test_explain_colours_signs_on_a_terminal(shown):
    coloured, plain = shown["explain"]
    assert "\x1b[32m" in coloured
    assert "\x1b[31m" in coloured
    assert uncoloured(plain) == uncoloured(coloured)


# report


def test_a_report_of_a_stored_model_knows_what_was_held_out(ok, results):
    out, err = ok("report", results[0] / "model", "reviews.csv", *COLUMNS, "-o", "report.html", "--unit", "stars")
    assert (out, err) == ("", "Written to report.html: open it in a browser\n")
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"{N}: {N * 4 // 5} in training, {N // 5} held out" in page
    assert "What moves the Rating" in page
    assert "textsignal report" in page
    fitted = (results[0] / "report.html").read_text(encoding="utf-8")
    skill = r'<table class="skill">.*?</table>'
    assert re.search(skill, page, re.DOTALL)[0] == re.search(skill, fitted, re.DOTALL)[0]


def test_a_report_shows_no_path(ok, results, place):
    ok("report", results[0] / "model", place / "reviews.csv", *COLUMNS, "-o", place / "out.html")
    page = (place / "out.html").read_text(encoding="utf-8")
    assert "textsignal report model reviews.csv --text Review --response Rating -o out.html</pre>" in page
    assert str(place) not in page
    assert str(results[0]) not in page
    assert '<p class="made">reviews.csv · made ' in page


def test_rows_of_another_table_are_not_taken_for_held_out(ok, results):
    TABLE.sample(frac=1, random_state=1).to_csv("shuffled.csv", index=False)
    arguments = ["report", results[0] / "model", "shuffled.csv", *COLUMNS, "-o"]
    assert "No row is known to be held out" in ok(*arguments, "seen.html")[1]
    assert "No held-out texts." in Path("seen.html").read_text(encoding="utf-8")
    assert "No row is known" not in ok(*arguments, "new.html", "--new")[1]
    assert f"{N}: 0 in training, {N} held out" in Path("new.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["fit", "report"])
def test_a_report_without_texts(ok, results, command):
    if command == "fit":
        ok("fit", "reviews.csv", *COLUMNS, "-o", "out", *QUICK, "--no-texts")
    else:
        ok("report", results[0] / "model", "reviews.csv", *COLUMNS, "-o", "out/report.html", "--no-texts")
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "<blockquote" not in page
    assert not any(text in page for text in REVIEWS.texts)


@pytest.mark.parametrize("command", ["fit", "report"])
def test_addresses_in_a_report_are_masked_by_default(ok, results, command):
    TABLE.assign(Review="ann@example.com: " + TABLE["Review"]).to_csv("addresses.csv", index=False)
    for flags, is_shown in (((), False), (("--no-mask",), True)):
        if command == "fit":
            ok("fit", "addresses.csv", *COLUMNS, "-o", "out", *QUICK, "--force", *flags)
        else:
            model = results[0] / "model"
            ok("report", model, "addresses.csv", *COLUMNS, "-o", "out/report.html", "--force", *flags)
        page = Path("out/report.html").read_text(encoding="utf-8")
        assert ("ann@example.com" in page) == is_shown
        assert ("[e-mail]" in page) != is_shown


def test_a_report_is_not_replaced_and_names_the_problem(error_of, model):
    Path("report.html").write_text("mine")
    arguments = ["report", model, "reviews.csv", *COLUMNS, "-o"]
    assert "report.html exists already" in error_of(*arguments, "report.html")
    assert "no column 'Stars' for the response" in error_of(
        "report", model, "reviews.csv", "--text", "Review", "--response", "Stars", "-o", "new.html"
    )
    TABLE.assign(Rating=9).to_csv("nines.csv", index=False)
    assert "responses outside 1 to 5" in error_of("report", model, "nines.csv", *COLUMNS, "-o", "new.html")


# Failures


def test_training_that_breaks_down_is_a_failure_not_bad_input(error_of, monkeypatch):
    def broken(*_, **__):
        raise TrainingError("the objective became nan\nat iteration 3")

    monkeypatch.setattr("textsignal.workflow.analyse.analyse", broken)
    line = error_of("fit", "reviews.csv", *COLUMNS, "-o", "out", code=1)
    assert line == "the objective became nan at iteration 3"


def test_a_full_disk_is_a_failure_in_one_line(error_of, monkeypatch, model):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    for arguments in (["fit", "reviews.csv", *COLUMNS], ["predict", model, "reviews.csv", "--text", "Review"]):
        assert "No space left on device" in error_of(*arguments, "-o", "out.csv", code=1)


# In a process of its own


def test_exit_codes_are_those_of_the_process(model):
    predicted = shell(["predict", model, "reviews.csv", "--text", "Review"])
    assert (predicted.returncode, predicted.stderr) == (0, "")
    assert csv(predicted.stdout)["row"].tolist() == list(range(1, N + 1))
    wrong = shell(["predict", model, "reviews.csv", "--text", "Nothing"])
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("textsignal: reviews.csv: no column 'Nothing' for the text")
    assert wrong.stderr.count("\n") == 1


def test_a_reader_that_stops_early_gets_no_traceback(model):
    script = f'"{COMMAND}" predict {model} reviews.csv --text Review | head -n 1'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("row,prediction")
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_that_a_terminal_cannot_show_are_escaped(model, encoding):
    Path("emoji.csv").write_text("Review,id\nLovely staff,☹\n")
    env = environment(PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    commands = [
        ["explain", model, "Lovely staff ☹ friendly \N{HEAVY BLACK HEART}"],
        ["predict", model, "emoji.csv", "--text", "Review", "--keep", "id"],
        ["predict", model, "emoji.csv", "--text", "☹"],
        ["--help"],
    ]
    script = [sys.executable, "-c", ONE_BY_ONE, json.dumps(commands)]
    done = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, env=env)
    assert b"Traceback" not in done.stdout
    shown = done.stdout.split(b"left with ")
    assert [int(part.split()[0]) for part in shown[1:]] == [0, 0, 2, 0]
    assert [rb"\u2639" in part for part in shown[:3]] == [True] * 3


def test_a_terminal_shows_colours_unless_no_colour_is_requested(shown):
    coloured, plain = shown["themes"]
    assert "\x1b[32m" in coloured or "\x1b[31m" in coloured
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    visible = uncoloured(plain)
    assert visible == uncoloured(coloured)
    assert max(map(len, visible.splitlines())) <= 80


def test_a_terminal_shows_a_progress_bar():
    fit = ["fit", "reviews.csv", *COLUMNS, *QUICK]
    (shown,) = on_terminal([*fit, "-o", "out"])
    assert "Themes and tone" in shown
    assert "━" in shown
    assert {path.name for path in Path("out").iterdir()} == RESULTS


def test_a_search_resumes(ok):
    asked = ["search", "reviews.csv", *COLUMNS, "-o", "found", "-k", "2-3", "--folds", "2", "-j", "1"]
    _, said = ok(*asked)
    assert re.search(r"Take [23] themes\.", said)
    kept = Path("found/cells.jsonl").read_text(encoding="utf-8")
    ok(*asked)
    assert Path("found/cells.jsonl").read_text(encoding="utf-8") == kept
    assert "Take" in Path("found/recommendation.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "5-x"], "--themes 5-x: give whole numbers"),
        (["-k", "9-5"], "--themes 9-5 is empty"),
        (["--family", "none"], "--family none is not known"),
        (["-o", "."], "holds other things and no cells.jsonl"),
        (["--by", "Town"], "Town"),
    ],
)
def test_a_search_names_invalid_options(error_of, options, message):
    assert message in error_of("search", "reviews.csv", *COLUMNS, "-o", "found", *options)
