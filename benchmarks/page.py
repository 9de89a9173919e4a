"""How soon the report's page is ready, and what its size is made of.

    python benchmarks/page.py --data ../shared/data [--report FILE]

A report of hotel_reviews_10k, 14 themes, by city and over review_date, is opened in Chromium, at full speed and with
the processor slowed down six times. Ready is when body[data-ready] is set: the findings can be read, and the chart of
drivers answers the mouse. Times are medians of five.
"""

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, sync_playwright

import textsignal as ts

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import HOW, find_chromium  # noqa: E402

SLOWER = (1, 6)
REPEATS = 5
#: Says on the console when the page is ready: asking the page again and again would slow it down.
WATCH = """new MutationObserver((_, observer) => {
  if (!document.body?.hasAttribute("data-ready")) return;
  observer.disconnect();
  console.log(`ready ${performance.now()}`);
}).observe(document, { subtree: true, childList: true, attributeFilter: ["data-ready"] });"""


def write_report(data: Path, file: Path) -> None:
    """Fit the documented 80/20 split, and report on it with texts."""
    table = pd.read_csv(data / "hotel_reviews_10k.csv.gz")
    texts, ratings = table["text"].fillna("").tolist(), table["rating"].to_numpy(dtype=float)
    held_out = np.ones(len(table), dtype=bool)
    held_out[np.random.default_rng(0).permutation(len(table))[: round(0.8 * len(table))]] = False
    model = ts.TextResponseModel(14)
    model.fit([texts[i] for i in np.flatnonzero(~held_out)], ratings[~held_out])
    given = {"texts": texts, "responses": ratings, "held_out": held_out}
    model.report(file, **given, by=table["city"], over=pd.to_datetime(table["review_date"], errors="coerce"))


def ready(browser: Browser, file: Path, slower: float) -> float:
    """Milliseconds from the start of loading until the page is ready."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
    with page.expect_console_message(lambda message: message.text.startswith("ready ")) as said:
        page.goto(file.as_uri(), wait_until="commit")
    context.close()
    return float(said.value.text.split()[1])


def sizes(file: Path) -> dict[str, int]:
    """Bytes of a page by part: style, scripts, blocks of data, and what is left, the text itself."""
    page = file.read_text(encoding="utf-8")
    parts = {"style": re.findall(r"<style>.*?</style>", page, re.DOTALL)}
    scripts = re.findall(r"<script>.*?</script>", page, re.DOTALL)
    parts |= {"Vega": scripts[:1], "our scripts": scripts[1:]}
    for block in re.findall(r'<script id="[^"]*" type="application/json">.*?</script>', page, re.DOTALL):
        parts[re.search(r'id="([^"]*)"', block)[1]] = [block]
    found = {name: sum(len(part.encode()) for part in given) for name, given in parts.items()}
    whole = file.stat().st_size
    return found | {"text and tables": whole - sum(found.values()), "whole": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--report", type=Path, help="a report that is there, instead of a new one")
    options = parser.parse_args()
    path = find_chromium()
    if path is None:
        sys.exit(HOW)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = options.report.resolve() if options.report else Path(folder, "report.html")
        if options.report is None:
            write_report(options.data, file)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for slower in SLOWER:
            times = [ready(browser, file, slower) for _ in range(REPEATS)]
            print(f"ready, {slower} x slower: median {statistics.median(times):,.0f} ms, least {min(times):,.0f} ms")
        browser.close()
        for name, size in sizes(file).items():
            print(f"{name:>16}: {size:>9,} bytes")


if __name__ == "__main__":
    main()
