"""A pytest plugin: the browser of the report's tests. Where there is none they are skipped, and the end says so."""

import os
from collections.abc import Iterator

import pytest
from chromium import HOW, find_chromium
from playwright.sync_api import Browser, sync_playwright

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]


NONE = "no Chromium"
#: How tests that need a browser are counted where there is none: apart from others that are skipped.
OUTCOME = "without browser"


@pytest.fixture(scope="session")
def chromium_path() -> str:
    if (path := find_chromium()) is None:
        pytest.skip(NONE)
    return path


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    lacks_browser = report.skipped and isinstance(report.longrepr, tuple | list) and NONE in report.longrepr[2]
    return (OUTCOME, "b", OUTCOME.upper()) if lacks_browser else None


def number_without_browser(config: pytest.Config) -> int:
    """How many tests did not run for want of a browser, in all processes of this run; 0 in a worker, which reports."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return len(reporter.stats.get(OUTCOME, [])) if reporter else 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """On a CI machine, a run that left out the browser's tests has failed."""
    if os.environ.get("CI") and number_without_browser(session.config):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of the run."""
    if number := number_without_browser(config):
        kind = "ERROR" if os.environ.get("CI") else "WARNING"
        line = f"{kind}: {number} test{'s' * (number > 1)} of the report did not run: {HOW}"
        config.pluginmanager.get_plugin("terminalreporter").write_line(line, red=True, bold=True)
