"""The benchmarks say what to install, and write their page from what is finished."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
#: A script as if packages of the extra were not installed.
WITHOUT = """
import runpy, sys
sys.modules |= dict.fromkeys(["tomotopy", "topica"])
sys.argv = sys.argv[1:]
sys.path.insert(0, {folder!r})
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_without_extra(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT.format(folder=str(BENCHMARKS)), str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", ["fit.py", "skill.py"])
def test_without_the_extra_one_line_says_what_to_install(script, tmp_path):
    result = run_without_extra(script, "--data", str(tmp_path))
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "tomotopy" in result.stderr
    assert "pip install -e '.[bench]'" in result.stderr


def test_the_page_of_skill_is_written_from_finished_cells_and_says_what_is_missing(tmp_path):
    page = tmp_path / "skill.md"
    result = run_without_extra("skill.py", "--render", "--results", str(tmp_path / "none.jsonl"), "--page", str(page))
    assert result.returncode == 0, result.stderr
    assert "**Not complete:**" in page.read_text()


def test_the_page_of_responses_is_written_from_finished_cells(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from responses_page import page

    stars = [
        {"set": "a", "split": split, "method": method, "log_loss": loss, "r2": 0.5, "covered": 0.9, "family": "ordinal"}
        for method, losses in (
            ("auto", (0.8, 1.0)),
            *((other, (0.9, 0.9)) for other in ("frequencies", "logistic", "binomial")),
        )
        for split, loss in enumerate(losses)
    ]
    values = {"textsignal": (0.7, 0.5), "2,000 terms": (0.6, 0.45), "1-2-grams": (0.5, 0.48)}
    others = [
        {"line": "wine: points", "split": split, "method": method, "value": value}
        for method, found in values.items()
        for split, value in enumerate(found)
    ]
    text = page(stars, others)
    assert "| a | 0.9000 | 0.9000 | 0.9000 | **0.9000** | 1 of 2 | ordinal | 0.500 | 0.500 | 0.900 |" in text
    assert "| wine: points | R2 | **0.6000** | 0.5250 | 0.4900 | +0.0600 (least +0.0200) |" in text
    assert "| clothing: recommended | AUC | **–** | – | – | – |" in text
