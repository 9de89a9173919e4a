"""The browser of the report's tests: found where it usually is, or installed when this is run as a script."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = (
    "no Chromium was found, which the tests of the report need: run `make chromium`, install the package chromium "
    "(apt-get install chromium), or set TEXTSIGNAL_CHROMIUM to the path of a Chromium or Chrome"
)


def find_chromium() -> str | None:
    """Path of a Chromium: the one that is asked for, one on the PATH, or Playwright's own."""
    from playwright.sync_api import sync_playwright

    if asked := os.environ.get("TEXTSIGNAL_CHROMIUM"):
        return asked
    if found := next(filter(None, map(shutil.which, NAMES)), None):
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def main() -> None:
    """Say which Chromium is used; install Playwright's where there is none, with what it needs if we may."""
    if (found := find_chromium()) is None:
        print("No Chromium found; installing Playwright's (about 170 MB) for the tests of the report.", flush=True)
        needs = ["--with-deps"] if os.geteuid() == 0 else []
        if subprocess.run([sys.executable, "-m", "playwright", "install", *needs, "chromium"], check=False).returncode:
            sys.exit(HOW)
        found = find_chromium()
    print(f"Chromium: {found}")


if __name__ == "__main__":
    main()
