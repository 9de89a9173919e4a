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
