"""Make the pictures of these pages again: `python docs/pictures.py` (runs the demo, needs chromium)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
from PIL import Image

from likewise.synthetic import CATEGORIES, contact_sheet

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1180,1560"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "likewise", "demo", "demo"], cwd=folder, check=True)
        workspace = Path(folder) / "demo"
        picture_of_report(workspace / "report" / "index.html", Path(folder) / "report.png")
        page_of_wardrobe(workspace)


def picture_of_report(page: Path, screenshot: Path) -> None:
    chromium = shutil.which("chromium") or sys.exit("chromium is needed for the picture of the report")
    profile = f"--user-data-dir={screenshot.parent / 'profile'}"
    subprocess.run([chromium, *FLAGS, profile, f"--screenshot={screenshot}", page.as_uri()], check=True)
    Image.open(screenshot).convert("RGB").save(HERE / "report.png", optimize=True)


def page_of_wardrobe(workspace: Path) -> None:
    """Five items of every category, from the front."""
    catalog = pl.read_parquet(workspace / "catalog.parquet").filter(pl.col("view") == 0)
    shown = [catalog.filter(pl.col("category") == category).sample(5, seed=5)["image"] for category in CATEGORIES]
    pictures = [Image.open(workspace / "images" / image).resize((150, 150)) for part in shown for image in part]
    contact_sheet(pictures, 10).convert("RGB").save(HERE / "wardrobe.jpg", quality=82)


if __name__ == "__main__":
    main()
