"""Pictures of reports, for the documentation: of the demo, and of three sets of reviews next to the repository.

    python docs/screenshots.py [--data ../shared/data] [--out docs/screens] [--only demo hotels]

Each report is made by the command that a user would type. Reviews of others are not ours to show, so their reports
are made without texts; the demo's are written by a grammar.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageOps
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import HOW, find_chromium  # noqa: E402

FIT = ("fit", "--text", "text", "--response", "rating", "--unit", "stars", "--themes", "14", "--no-texts")
#: Name -> what is typed.
REPORTS = {
    "demo": ("demo",),
    "hotels": (*FIT, "--by", "city", "--over", "review_date", "hotel_reviews_10k.csv.gz"),
    "fast-food": (*FIT, "short_reviews_10k.csv.gz"),
    "clothing": (*FIT, "--by", "department", "clothing_reviews_22k.csv.gz"),
}
#: Name -> width and height of the screen, and the part of the page that it shows.
PICTURES = {
    "first": (1280, 1000, "findings"),
    "drivers": (1280, 960, "what"),
    "card": (1280, 1000, "cards"),
    "groups": (1280, 1100, "groups"),
    "phone": (390, 1400, "findings"),
    "print": (696, 1025, "findings"),
}
DARK = "dark"
MARGIN = 49  # pixels around what is printed: 13 mm
COLOURS = 256


def make_report(name: str, data: Path, folder: Path) -> Path:
    """The report that a command writes."""
    command, *options = REPORTS[name]
    options = [str(data / option) if option.endswith(".gz") else option for option in options]
    output = folder / name
    subprocess.run(
        [sys.executable, "-m", "textsignal", command, *options, "-o", str(output)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return output / "report.html"


def show(page: Page, part: str) -> None:
    """Bring a part of the page to the top, with all that is drawn there."""
    page.evaluate("async () => { await textsignal.model; await textsignal.drawn(); }")
    if part == "cards":
        page.click("#cards > li:first-child summary")
        page.evaluate("document.querySelector('#cards > li').scrollIntoView()")
    elif part != "findings":
        page.evaluate(f"document.getElementById('{part}').scrollIntoView()")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(400)


def take(browser: Browser, report: Path, picture: str, file: Path, colours: str = "light") -> bool:
    """Take one picture and pack it well; False where the report has no such part."""
    width, height, part = PICTURES[picture]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
    page.goto(report.as_uri())
    page.wait_for_selector("body[data-ready]")
    found = page.locator(f"#{part}").count() > 0
    if found:
        show(page, part)
        if picture == "print":
            page.emulate_media(media="print")
        page.screenshot(path=file)
        pack(file, MARGIN if picture == "print" else 0)
    page.close()
    return found


def pack(file: Path, margin: int) -> None:
    """A picture of few colours, which a page has, with white paper around it where it is printed."""
    with Image.open(file) as picture:
        whole = ImageOps.expand(picture.convert("RGB"), margin, "white")
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screens")
    parser.add_argument("--only", nargs="+", choices=REPORTS, default=list(REPORTS))
    options = parser.parse_args()
    path = find_chromium()
    if path is None:
        sys.exit(HOW)
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in options.only:
            report = make_report(name, options.data, Path(folder))
            wanted = [(picture, picture, "light") for picture in PICTURES]
            wanted += [(DARK, "first", "dark")] if name == "hotels" else []
            for title, picture, colours in wanted:
                file = options.out / f"{name}-{title}.png"
                if take(browser, report, picture, file, colours):
                    sizes.append(file.stat().st_size)
                    print(f"{file}: {sizes[-1] / 1000:,.0f} kB")
        browser.close()
    print(f"together: {sum(sizes) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
