"""Compiled code is kept on disk where it can be; where it cannot, everything works and one warning says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import textsignal
from textsignal.compute.compiling import NO_PLACE, compiling

FIT = """
import numpy as np
import textsignal
from textsignal.training import draws  # compiled code outside the kernels
X = np.random.default_rng(0).poisson(1.0, (20, 8)).astype(float)
model = textsignal.GLMNMF(2, training="joint", max_iter=2, tol=0, n_jobs=1).fit(X, np.arange(20) % 5 + 1)
print(np.isfinite(model.predict(X)).all(), textsignal.__file__)
"""

#: Loops say where they are kept when they are made, so that one that runs shows it.
ONE_LOOP = """
import numpy as np
from textsignal.compute.kernels import compiled
from textsignal.training import draws
weights = compiled.zeros((20, 2), np.float64)
compiled.response_sums(weights, np.ones(20), np.ones(20))
"""


@pytest.fixture
def installation(tmp_path) -> Path:
    """A copy of the package in which no compiled code can be kept: a file stands where its folder would be."""
    package = tmp_path / "installed" / "textsignal"
    shutil.copytree(Path(textsignal.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return package.parent


def run(script: str, installation: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in another process, with the home folder and numba's own folder at a place below `cache`."""
    ours = {"HOME": str(cache / "home"), "NUMBA_CACHE_DIR": str(cache / "numba"), "PYTHONPATH": str(installation)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")} | ours
    command = [sys.executable, "-W", "always", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_read_only_installation_without_a_home_works_and_says_so_once(installation, tmp_path):
    (tmp_path / "file").touch()
    result = run(FIT, installation, tmp_path / "file")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split()[0] == "True"
    assert str(installation) in result.stdout
    assert result.stderr.count(NO_PLACE) == 1


def test_a_folder_that_can_be_written_to_is_used_in_silence(installation, tmp_path):
    result = run(ONE_LOOP, installation, tmp_path / "cache")
    assert result.returncode == 0, result.stderr
    assert NO_PLACE not in result.stderr
    assert list((tmp_path / "cache" / "numba").rglob("*.nbc"))


def test_other_errors_of_the_compiler_are_not_hidden():
    with pytest.raises(TypeError, match="function"):
        compiling()(3)
