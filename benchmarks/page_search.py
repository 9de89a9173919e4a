"""Time of a keystroke in "Read the texts" of a report: search, drawing and layout, in Chromium.

    textsignal report out/model reviews.csv --text text --response rating --documents 5000 -o report.html
    python benchmarks/page_search.py report.html

Every word is typed letter by letter, and the shortest of some rounds counts, at full speed and six times slower.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import HOW, find_chromium

TYPED = ("the", "staff", "not clean bathroom", "xylophone")
#: Types a text letter by letter; gives milliseconds from each keystroke until all is laid out.
KEYSTROKES = """text => [...text].map((_, i) => {
    const field = document.getElementById("find-words");
    const before = performance.now();
    field.value = text.slice(0, i + 1);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.offsetHeight;
    return performance.now() - before;
})"""
UNPACK = """async () => {
    const before = performance.now();
    await textsignal.showTexts();
    return performance.now() - before;
}"""


def measure(page: Page, report: Path, slower: int, rounds: int) -> None:
    """Print times of one speed of the processor."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("body[data-ready]", timeout=120_000)
    print(f"processor {slower} times slower: first use {page.evaluate(UNPACK):.0f} ms")
    for text in TYPED:
        times = np.min([page.evaluate(KEYSTROKES, text) for _ in range(rounds)], axis=0)
        found = page.inner_text("#found")
        print(f"  {text!r}: median {np.median(times):.1f} ms, slowest {times.max():.1f} ms a keystroke; {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    path = find_chromium()
    if path is None:
        sys.exit(HOW)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for slower in (1, 6):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            measure(page, options.report, slower, options.rounds)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
