"""The file: whole or not at all, complete in itself, and without texts where none may be shown."""

import re
from dataclasses import replace

import pytest
from small_reviews import HELD_OUT, N_TRAINING, REVIEWS, SETTINGS, prepare, write_report

from textsignal import load
from textsignal.errors import InputError, OutputError
from textsignal.report.page.library import library
from textsignal.report.page.render import check_no_texts, render


def test_a_report_without_texts_holds_none(model, tmp_path):
    file = tmp_path / "report.html"
    settings = replace(SETTINGS, with_texts=False)
    write_report(model, file, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, settings)
    page = file.read_text(encoding="utf-8")
    assert "<blockquote" not in page
    for text in REVIEWS.texts:
        assert not any(sentence in page for sentence in re.split(r"(?<=[.!?]) ", text) if len(sentence.split()) > 3)
    check_no_texts(page, REVIEWS.texts)


def test_a_report_with_texts_is_found_out(page_file):
    page = page_file.read_text(encoding="utf-8")
    with pytest.raises(OutputError, match="the report holds words of text"):
        check_no_texts(page, REVIEWS.texts)


@pytest.mark.parametrize("text", ["It was a very cold room", "one two three four five six seven eight nine ten " * 3])
@pytest.mark.parametrize(
    "shown", ["<p>{}</p>", "<td>so: {}, then</td>", '<script type="application/json">["{}"]</script>']
)
def test_texts_are_found_wherever_they_are(text, shown):
    marked = text.replace("room", "<mark>room</mark>")
    with pytest.raises(OutputError, match="text 2"):
        check_no_texts(shown.format(marked), ["Something else altogether", text])


def test_a_list_of_terms_is_no_text():
    check_no_texts("<td>fast food, good service</td>", ["Fast food good service."])
    with pytest.raises(OutputError):
        check_no_texts("<td>Fast food, good service</td>", ["Fast food, good service."])


def test_a_part_of_a_text_is_found():
    words = [f"w{i}" for i in range(100)]
    for start in range(0, 80, 3):
        with pytest.raises(OutputError):
            check_no_texts(" ".join(words[start : start + 15]), [" ".join(words)])


def test_a_sentence_of_a_text_is_found():
    text = "We came late. The cost was out of order. A long way up to the ninth floor it is, and back."
    with pytest.raises(OutputError):
        check_no_texts("<p>The cost was out of order</p>", [text])
    check_no_texts("<p>We came late, the cost was out</p>", [text])


def test_a_file_that_is_there_is_replaced_only_by_force(model, tmp_path):
    file = tmp_path / "report.html"
    file.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        model.report(file)
    assert file.read_text() == "mine"
    model.report(file, force=True)
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_after_fit_the_report_is_on_the_training_texts(model, tmp_path):
    model.report(tmp_path / "report.html", title="Mine", with_texts=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Mine</title>" in page
    assert f"{N_TRAINING:,}: {N_TRAINING:,} in training, 0 held out" in page
    assert "No held-out texts." in page


def test_a_loaded_model_asks_for_texts(model, tmp_path):
    model.save(tmp_path / "model")
    model = load(tmp_path / "model")
    with pytest.raises(InputError, match=r"give them: texts=\.\.\., responses=\.\.\."):
        model.report(tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
    model.report(tmp_path / "report.html", texts=REVIEWS.texts, responses=REVIEWS.ratings, held_out=HELD_OUT)
    assert "100 held out" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_same_report_is_the_same_bytes(model):
    reading = model.read(REVIEWS.texts)
    reports = [prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS) for _ in range(2)]
    assert render(reports[0]) == render(reports[1])


def test_nothing_is_asked_of_anybody_else(page_file):
    page = page_file.read_text(encoding="utf-8").replace(library(), "")
    addresses = set(re.findall(r"https?://[^\s\"'\\<>]+", page))
    # Names of formats, not addresses that anything asks for.
    assert all(address.startswith(("https://vega.github.io/schema/", "http://www.w3.org/")) for address in addresses)
    assert not re.search(r"<(link|iframe|object|embed|base|form)\b", page)
    assert not re.search(r"<\w[^>]* (src|srcset|on\w+)=", page)
