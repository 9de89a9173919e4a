"""The browser of the report's tests: found where it usually is, or got when this is run as a script.

`TEXTSIGNAL_CHROMIUM` is the path of one to use, or "none" to do without: then none is looked for and none is got.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: What each system's installer runs, one after the other. The last has to succeed: old lists of packages may do.
PACKAGE = {
    "apt-get": (["update", "-qq"], ["install", "-y", "-qq", "chromium"]),
    "dnf": (["install", "-y", "-q", "chromium"],),
    "apk": (["add", "--quiet", "chromium"],),
}
HOW = (
    "no Chromium was found, which the tests of the report need: run `make chromium`, install the package chromium "
    "(apt-get install chromium), or set TEXTSIGNAL_CHROMIUM to the path of a Chromium or Chrome"
)


def unwanted() -> bool:
    """Whether the tests are to do without a browser."""
    return os.environ.get("TEXTSIGNAL_CHROMIUM") == "none"


def find_chromium() -> str | None:
    """Path of a Chromium that runs: the one that is asked for, one on the PATH, or Playwright's own."""
    if unwanted():
        return None
    if asked := os.environ.get("TEXTSIGNAL_CHROMIUM"):
        if not runs(asked):
            sys.exit(f"TEXTSIGNAL_CHROMIUM is {asked}, which does not run")
        return asked
    on_path = next(filter(runs, filter(None, map(shutil.which, NAMES))), None)
    own = None if on_path else playwrights_own()
    return on_path or (own if own and runs(own) else None)


def playwrights_own() -> str:
    """Where Playwright keeps the Chromium that it downloads, whether or not it has one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def runs(path: str) -> bool:
    """Whether a program says its version: a stub that asks for a store, or a lack of libraries, shows here."""
    return shutil.which(path) is not None and succeeds([path, "--version"], quiet=True)


def privileges(user: int) -> list[str] | None:
    """What to put before a command so that it may install packages: nothing for root; None where it may not."""
    if user == 0:
        return []
    sudo = ["sudo", "-n"]
    return sudo if shutil.which("sudo") and succeeds([*sudo, "true"], quiet=True) else None


def install_package(privileges: list[str]) -> bool:
    """Install the system's own Chromium; whether that succeeded."""
    installer = next(filter(shutil.which, PACKAGE), None)
    if installer is None:
        return False
    print(f"No Chromium found; installing the system's with {installer} for the tests of the report.", flush=True)
    command = [*privileges, "env", "DEBIAN_FRONTEND=noninteractive", installer]
    return [succeeds([*command, *step]) for step in PACKAGE[installer]][-1]


def install_playwrights(privileges: list[str] | None) -> bool:
    """Download Playwright's Chromium, and the libraries it lacks if we may; whether that succeeded."""
    print("No Chromium found; downloading Playwright's (about 170 MB) for the tests of the report.", flush=True)
    playwright = [sys.executable, "-m", "playwright"]
    if not succeeds([*playwright, "install", "chromium"]):
        return False
    return find_chromium() is not None or (
        privileges is not None and succeeds([*playwright, "install-deps", "chromium"])
    )


def succeeds(command: list[str], *, quiet: bool = False) -> bool:
    """Whether a command ends without an error; quiet: without its output."""
    return subprocess.run(command, check=False, capture_output=quiet).returncode == 0


def get_chromium() -> str | None:
    """Path of a Chromium, which is installed where there is none; None where none can be had."""
    if unwanted():
        return None
    if found := find_chromium():
        return found
    allowed = privileges(os.geteuid())
    if allowed is not None and install_package(allowed) and (found := find_chromium()):
        return found
    return find_chromium() if install_playwrights(allowed) else None


if __name__ == "__main__":
    print(f"Chromium: {get_chromium() or 'none, so the tests that need one are skipped'}")
