"""The benchmark of themes: what its measures mean, and that its page needs no peer's package."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
#: A script as if other packages were not installed.
WITHOUT = """
import runpy, sys
sys.modules |= dict.fromkeys(["tomotopy", "bertopic"])
sys.argv = sys.argv[1:]
sys.path.insert(0, {folder!r})
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def measures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("themes_measures")


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("themes_data")


def run_without_peers(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT.format(folder=str(BENCHMARKS)), str(BENCHMARKS / "themes.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_themes_that_are_the_labels_are_always_right(measures):
    labels = np.array(["room", "staff", "food"], dtype=object)[np.arange(300) % 3]
    assert measures.accuracy((np.arange(300) + 1) % 3, labels) == 1.0
    assert measures.accuracy(np.zeros(300, dtype=int), labels) < 0.5


def test_matched_topics_may_change_places_and_have_other_terms(measures):
    topics = pd.DataFrame(np.random.default_rng(0).random((5, 3)), index=list("abcde"))
    moved = topics.iloc[::-1, [2, 0, 1]]
    assert measures.matched_cosine(topics, moved) == pytest.approx(1)
    assert measures.matched_cosine(topics, topics.rename(index=str.upper)) == pytest.approx(0)


def test_a_partial_correlation_does_not_see_what_is_given(measures):
    a, b, given = np.random.default_rng(0).normal(size=(3, 200))
    plain = measures.partial_correlation(a, b, given)
    assert measures.partial_correlation(a + 5 * given, 3 * b - given, given) == pytest.approx(plain)
    assert measures.partial_correlation(-a, b, given) == pytest.approx(-plain)
    assert measures.partial_correlation(2 * given, b, given) == 0.0


def test_resampled_documents_are_many_and_none_repeats(data):
    words = [f"word{j}" for j in range(500)]
    texts = [" ".join(words[i : i + 60]) for i in range(20)]
    documents = data.Documents(texts, np.arange(20) % 5 + 1.0, data.STARS)
    many = data.resampled(documents, 10)
    assert len(many) == len(many.y) == 200
    assert len(set(many.texts)) == 200
    assert {len(text.split()) for text in many.texts} == {60}


def test_permuted_responses_are_the_same_in_another_order(data):
    documents = data.Documents(["text"] * 50, np.arange(50.0), data.STARS)
    y = data.permuted(documents, 1).y
    assert sorted(y) == list(range(50))
    assert (y != documents.y).any()


def test_sentences_know_their_texts(data):
    sentences, owners = data.cut_sentences(["Good room. Bad food.", "", "Nice."])
    assert sentences == ["Good room.", "Bad food.", "Nice."]
    assert owners.tolist() == [0, 0, 2]


def test_a_peer_without_its_package_says_what_to_install(tmp_path):
    results = str(tmp_path / "cells.jsonl")
    result = run_without_peers("--data", str(tmp_path), "--methods", "lda", "bertopic", "--results", results)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "tomotopy" in result.stderr
    assert "bertopic" in result.stderr
    assert "pip install" in result.stderr


def test_the_page_is_written_from_finished_cells_and_says_what_is_missing(tmp_path):
    page = tmp_path / "themes.md"
    result = run_without_peers("--render", "--results", str(tmp_path / "none.jsonl"), "--page", str(page))
    assert result.returncode == 0, result.stderr
    assert "**Not complete:**" in page.read_text()
