"""The browser of the report's tests is found, installed or done without, on machines made of small scripts."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from chromium import HOW, privileges

TESTS = Path(__file__).parent
RUNS = "#!/bin/sh\necho Chromium 1.0\n"
#: A browser that is only a pointer to a store, as some systems ship.
STUB = "#!/bin/sh\necho 'install me from a store' >&2\nexit 1\n"
#: Writes down what it is asked for; `install` leaves a browser beside it.
INSTALLS = """#!/bin/sh
here="$(dirname "$0")"
echo "$(basename "$0") $*" >> "$here/log"
case "$*" in *install*|*add*) printf '%s' '{browser}' > "$here/chromium"; chmod +x "$here/chromium";; esac
"""
FAILS = '#!/bin/sh\necho "$(basename "$0") $*" >> "$(dirname "$0")/log"\nexit 100\n'
#: In place of Playwright: it keeps its browser beside itself, and gets it if `{may}` is true.
PLAYWRIGHT = """
import sys
from pathlib import Path
own = Path(__file__).with_name("own-chromium")
with open({log!r}, "a") as log:
    print("playwright", *sys.argv[1:], file=log)
if not {may}:
    sys.exit(1)
own.write_text({browser!r})
own.chmod(0o755)
"""
SYNC_API = """
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
own = str(Path(__file__).with_name("own-chromium"))
def sync_playwright():
    return nullcontext(SimpleNamespace(chromium=SimpleNamespace(executable_path=own)))
"""


@dataclass(frozen=True)
class Machine:
    """A PATH of our own scripts, and a Playwright that can or cannot download."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, programs: dict[str, str], *, downloads: bool) -> "Machine":
        machine = cls(folder)
        machine.programs.mkdir()
        for name, script in {"sudo": '#!/bin/sh\nshift\nexec "$@"\n', **programs}.items():
            (machine.programs / name).write_text(script)
            (machine.programs / name).chmod(0o755)
        for name in ("basename", "dirname", "env", "chmod", "sh", "true"):
            (machine.programs / name).symlink_to(str(shutil.which(name)))
        package = folder / "modules" / "playwright"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "sync_api.py").write_text(SYNC_API)
        (package / "__main__.py").write_text(PLAYWRIGHT.format(log=str(machine.log), may=downloads, browser=RUNS))
        return machine

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def log(self) -> Path:
        return self.programs / "log"

    def make_chromium(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """What `make chromium` runs."""
        environment = {"PATH": str(self.programs), "PYTHONPATH": str(self.folder / "modules"), **variables}
        command = [sys.executable, str(TESTS / "chromium.py")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def commands(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


class TestGettingABrowser:
    def test_one_that_is_there_is_taken_and_nothing_is_installed(self, tmp_path):
        machine = Machine.of(tmp_path, {"google-chrome": RUNS, "apt-get": FAILS}, downloads=True)
        assert f"Chromium: {machine.programs}/google-chrome" in machine.make_chromium().stdout
        assert machine.commands() == []

    def test_the_systems_package_is_installed_first_from_fresh_lists(self, tmp_path):
        machine = Machine.of(tmp_path, {"apt-get": INSTALLS.format(browser=RUNS)}, downloads=True)
        result = machine.make_chromium()
        assert result.returncode == 0, result.stderr
        assert f"Chromium: {machine.programs}/chromium" in result.stdout
        assert [command.split()[:2] for command in machine.commands()] == [
            ["apt-get", "update"],
            ["apt-get", "install"],
        ]

    @pytest.mark.parametrize("installer", [FAILS, INSTALLS.format(browser=STUB)], ids=["fails", "leaves a stub"])
    def test_where_the_package_does_not_come_playwrights_is_downloaded(self, tmp_path, installer):
        machine = Machine.of(tmp_path, {"apt-get": installer}, downloads=True)
        result = machine.make_chromium()
        assert result.returncode == 0, result.stderr
        assert "own-chromium" in result.stdout.splitlines()[-1]
        assert machine.commands()[-1] == "playwright install chromium"

    def test_where_neither_can_be_had_that_is_said_and_is_no_error(self, tmp_path):
        machine = Machine.of(tmp_path, {"apt-get": FAILS}, downloads=False)
        result = machine.make_chromium()
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines()[-1].startswith("Chromium: none")

    def test_none_is_looked_for_or_installed_where_none_is_wanted(self, tmp_path):
        machine = Machine.of(tmp_path, {"chromium": RUNS, "apt-get": FAILS}, downloads=True)
        assert "Chromium: none" in machine.make_chromium(TEXTSIGNAL_CHROMIUM="none").stdout
        assert machine.commands() == []

    def test_one_that_is_asked_for_and_does_not_run_is_an_error(self, tmp_path):
        machine = Machine.of(tmp_path, {"chromium": RUNS}, downloads=True)
        result = machine.make_chromium(TEXTSIGNAL_CHROMIUM="/nowhere/chromium")
        assert result.returncode != 0
        assert "TEXTSIGNAL_CHROMIUM is /nowhere/chromium" in result.stderr


class TestPrivileges:
    def test_root_needs_nothing(self):
        assert privileges(0) == []

    @pytest.mark.parametrize(("script", "expected"), [("exit 0", ["sudo", "-n"]), ("exit 1", None)])
    def test_others_need_a_sudo_that_asks_for_no_password(self, tmp_path, monkeypatch, script, expected):
        (tmp_path / "sudo").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "sudo").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert privileges(1000) == expected

    def test_others_without_sudo_may_not(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        assert privileges(1000) is None


class TestARunWithoutABrowser:
    """pytest itself, over two tests: one needs a browser, the other does not."""

    def run(self, folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        (folder / "test_two.py").write_text("def test_page(browser): ...\ndef test_number(): ...\n")
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment |= {"PYTHONPATH": str(TESTS), "TEXTSIGNAL_CHROMIUM": "none", **variables}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rN",
            "-p",
            "browser",
            "-p",
            "no:cacheprovider",
            *options,
            ".",
        ]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    @pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
    def test_it_passes_and_one_line_at_the_end_says_what_did_not_run(self, tmp_path, options):
        result = self.run(tmp_path, *options)
        assert result.returncode == 0, result.stdout
        assert "1 passed, 1 without browser" in result.stdout
        assert result.stdout.splitlines()[-1] == f"WARNING: 1 test of the report did not run: {HOW}"
        assert result.stdout.count("Chromium") == HOW.count("Chromium")

    @pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
    def test_it_fails_where_ci_is_set_and_runs_everything_else(self, tmp_path, options):
        result = self.run(tmp_path, *options, CI="true")
        assert result.returncode == pytest.ExitCode.TESTS_FAILED
        assert "1 passed, 1 without browser" in result.stdout
        assert result.stdout.splitlines()[-1] == f"ERROR: 1 test of the report did not run: {HOW}"

    def test_a_run_that_needs_no_browser_says_nothing(self, tmp_path):
        result = self.run(tmp_path, "-k", "number", CI="true")
        assert result.returncode == 0
        assert HOW not in result.stdout
