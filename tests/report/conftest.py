"""Report of a small model, and how the browser opens them: without network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from small_reviews import HELD_OUT, N_TRAINING, REVIEWS, SETTINGS, write_report

from textsignal import TextResponseModel


@pytest.fixture(scope="session")
def model() -> TextResponseModel:
    """A fitted model of themes with effects in single precision, which the page has: both must agree to 1e-10."""
    themes = TextResponseModel(6, levels=(1, 5), n_jobs=1)
    return single(themes.fit(REVIEWS.texts[:N_TRAINING], REVIEWS.ratings[:N_TRAINING]))


def single(model: TextResponseModel) -> TextResponseModel:
    """Round the effects of words, and the themes, of a model to single precision."""

    def rounded(values: object, *names: str) -> object:
        return replace(values, **{name: np.float64(np.float32(getattr(values, name))) for name in names})

    fitted = model.reader_.fitted
    words, themes = rounded(fitted.words, "tone", "judgement"), rounded(fitted.themes, "topics", "term_weights")
    model.reader_ = replace(model.reader_, fitted=replace(fitted, words=words, themes=themes))
    return model


@dataclass
class Visit:
    """A page that was opened, and what it did meanwhile."""

    page: Page
    has_scripts: bool
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listeners: dict[str, Callable] = {
            "console": lambda message: self.errors.append(f"{message.type}: {message.text}"),
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": lambda request: self.requests.append(request.url),
            "dialog": lambda dialog: self.errors.append(f"dialog: {dialog.message}"),
        }


@pytest.fixture(scope="session")
def page_file(model, tmp_path_factory) -> Path:
    """Report of the model."""
    file = tmp_path_factory.mktemp("reports") / "report.html"
    write_report(model, file, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)
    return file


class Tabs:
    """Tabs of a browser, without network. One that is left is used again, since a new one takes longer to open."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self.free: dict[bool, list[Page]] = {True: [], False: []}  # those that run scripts, those that do not

    def open(
        self, path: Path, *, width: int = 1280, color_scheme: str = "light", java_script_enabled: bool = True
    ) -> Visit:
        """A file, opened anew."""
        if not self.free[java_script_enabled]:
            context = self.browser.new_context(java_script_enabled=java_script_enabled)
            context.set_offline(True)
            self.free[java_script_enabled].append(context.new_page())
        visit = Visit(self.free[java_script_enabled].pop(), java_script_enabled)
        for event, listener in visit.listeners.items():
            visit.page.on(event, listener)
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.emulate_media(media="null", color_scheme=color_scheme)
        visit.page.goto(path.as_uri())
        if java_script_enabled:
            visit.page.wait_for_selector("body[data-ready]")
            visit.page.evaluate("async () => { await textsignal.model; }")
        return visit

    def leave(self, visit: Visit) -> None:
        """Nothing is left for the next visit: neither what the page keeps nor where the mouse was."""
        if visit.has_scripts:
            visit.page.evaluate("localStorage.clear()")
        visit.page.mouse.move(0, 0)
        for event, listener in visit.listeners.items():
            visit.page.remove_listener(event, listener)
        visit.page.goto("about:blank")
        self.free[visit.has_scripts].append(visit.page)


@pytest.fixture(scope="module")
def tabs(browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def visit(tabs) -> Iterator[Callable[..., Visit]]:
    """Open a file for one test: visit(path, width=390, color_scheme="dark", java_script_enabled=False)."""
    visits: list[Visit] = []

    def open_file(path: Path, **options: object) -> Visit:
        visits.append(tabs.open(path, **options))
        return visits[-1]

    yield open_file
    for opened in visits:
        tabs.leave(opened)
