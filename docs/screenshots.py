"""Pictures of the report of hotel_reviews_10k, for the documentation: desktop, phone and dark.

    python docs/screenshots.py [--data ../shared/data] [--out docs]

The reviews are not ours to show, so the report is made without texts.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import textsignal as ts

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import HOW, find_chromium  # noqa: E402

TRIED = "The staff were friendly and helpful, but the room was dirty and very noisy."
#: Name -> width, height and colours of the screen, and the section it shows.
PICTURES = {
    "report-desktop": (1280, 1440, "light", "top"),
    "report-drivers": (1280, 900, "light", "what"),
    "report-try": (1280, 1080, "light", "try"),
    "report-dark": (1280, 1440, "dark", "top"),
    "report-phone": (390, 1700, "light", "top"),
}


def write_report(data: Path, file: Path) -> None:
    """Fit the documented 80/20 split, and report on it."""
    table = pd.read_csv(data / "hotel_reviews_10k.csv.gz")
    texts, ratings = table["text"].fillna("").tolist(), table["rating"].to_numpy(dtype=float)
    training = np.random.default_rng(0).permutation(len(table))[: round(0.8 * len(table))]
    held_out = np.ones(len(table), dtype=bool)
    held_out[training] = False
    model = ts.TextResponseModel(14)
    model.fit([texts[i] for i in np.flatnonzero(~held_out)], ratings[~held_out])
    model.report(
        file,
        texts=texts,
        responses=ratings,
        held_out=held_out,
        with_texts=False,
        title="What moves the rating of a hotel",
        response_name="rating",
        unit="stars",
    )


def take(browser: Browser, report: Path, name: str, out: Path) -> Path:
    """Take one picture and pack it well."""
    width, height, colours, section = PICTURES[name]
    page: Page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
    page.goto(report.as_uri())
    page.wait_for_selector("body[data-ready]")
    if section != "top":
        page.fill("#try-text", TRIED)
        page.wait_for_selector("#try-result:visible")
        page.evaluate("textsignal.drawn()")
        page.evaluate(f"document.getElementById('{section}').scrollIntoView()")
        page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(300)
    file = out / f"{name}.png"
    page.screenshot(path=file)
    page.close()
    with Image.open(file) as picture:
        picture.convert("RGB").save(file, optimize=True)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    path = find_chromium()
    if path is None:
        sys.exit(HOW)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder, "report.html")
        write_report(options.data, report)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in PICTURES:
            file = take(browser, report, name, options.out)
            print(f"{file}: {file.stat().st_size / 1000:,.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
