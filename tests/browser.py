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


@pytest.fixture(scope="session")
def chromium_path() -> str:
    if (path := find_chromium()) is None:
        pytest.skip(HOW)
    return path


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield chromium
        chromium.close()


def without_browser(config: pytest.Config) -> int:
    """How many tests were skipped for want of a browser, in all processes of this run."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return sum(HOW in str(report.longrepr) for report in reporter.stats.get("skipped", []))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """On a CI machine, a run that left out the browser's tests has failed."""
    if is_reporting(session.config) and os.environ.get("CI") and without_browser(session.config):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if number := without_browser(config):
        kind = "ERROR" if os.environ.get("CI") else "WARNING"
        terminalreporter.write_line(
            f"{kind}: {number} test{'s' * (number > 1)} of the report did not run: {HOW}", red=True, bold=True
        )


def is_reporting(config: pytest.Config) -> bool:
    """Whether this is the process that sees every test's outcome: a worker of pytest-xdist does not."""
    return not hasattr(config, "workerinput")
