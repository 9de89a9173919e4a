"""Accessibility faults of a page, by axe."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def faults(page: Page, context: str | None = None) -> dict[str, list[str]]:
    """Rules that the page, or a part of it, breaks, each with the first places."""
    # What it finds right is not listed place by place, which would take as long as the search.
    found = Axe().run(page, context, {"resultTypes": ["violations"]}).response["violations"]
    return {fault["id"]: [node["html"] for node in fault["nodes"][:3]] for fault in found}
