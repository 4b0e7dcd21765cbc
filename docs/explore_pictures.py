"""The pictures of docs/explore.md: the explore pages on photographs of clothes (CC0), in a real browser.

`python docs/explore_pictures.py --work FOLDER` uses the workspace FOLDER/clothing, and makes what it lacks: vectors, a
pool with simulated votes, the map by t-SNE.
"""

import argparse
import os
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.append(str(Path(__file__).parents[1]))

from tests.browser.conftest import CHROMIUM, FLAGS

import likewise as lw

DOCS = Path(__file__).parent
ENCODERS = ("efficientnet-lite0", "colour", "shape")
SIZE = {"width": 1280, "height": 860}
QUALITY = 78
EXPERTS = ("anna", "ben", "cleo")


def prepare(work: Path) -> lw.Workspace:
    shop = lw.Workspace(work / "clothing")
    if not shop.path.exists():
        shop.new(Path(os.environ["LIKEWISE_DATA"]) / "clothing" / "catalog.csv")
    shop.encode(*ENCODERS)
    if not shop.pool_file.exists():
        pairs = shop.discover(generators=ENCODERS, n_queries=60, n_random=50).table.select("query", "candidate")
        category = dict(shop.catalog().table.select("image", "category").iter_rows())
        rng = np.random.default_rng(0)
        votes = []
        for query, candidate in pairs.unique(maintain_order=True).iter_rows():
            chance = 0.85 if category[query] == category[candidate] else 0.08
            votes += [(query, candidate, who, "similar" if rng.random() < chance else "not similar") for who in EXPERTS]
        file = work / "votes.csv"
        pl.DataFrame(votes, ["query", "candidate", "expert", "answer"], orient="row").write_csv(file)
        shop.import_votes(file)
    return shop


def shoot(page: Page, address: str, name: str, seconds: float = 2.0) -> None:
    page.goto(address)
    page.wait_for_selector("#main[data-state=showing]", timeout=1_200_000)
    page.wait_for_timeout(1000 * seconds)  # pictures come as they are decoded
    with Image.open(BytesIO(page.screenshot())) as shown:
        shown.convert("RGB").save(DOCS / f"explore-{name}.jpg", quality=QUALITY, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", default="neighbours,copies,differences,map,phone", help="pictures to make again")
    given = parser.parse_args()
    shop, only = prepare(given.work), given.only.split(",")
    query = pl.read_parquet(shop.pool_file)["query"][40]
    chosen = "&".join(f"with={encoder}" for encoder in ENCODERS)
    site = shop.explore()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        wide = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
        views = {
            "neighbours": (wide, f"?image={query}&{chosen}"),
            "copies": (wide, "/copies?with=efficientnet-lite0"),
            "differences": (wide, "/differences?first=efficientnet-lite0&second=colour&order=difference"),
            "map": (wide, "/map?encoder=efficientnet-lite0&method=t-SNE&colour=category"),
            "phone": (phone, f"?image={query}&{chosen}"),
        }
        for name in only:
            page, address = views[name]
            shoot(page, f"{site.url}{address}", name)
        browser.close()
    site.stop()


if __name__ == "__main__":
    main()
