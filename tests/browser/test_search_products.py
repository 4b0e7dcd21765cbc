"""The search page over a shop's real products: the category is kept, the condition moves results, filters hold."""

import os
from collections.abc import Iterator

import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect

from likewise.catalog import make_catalog, read_catalog
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.workspace import WorkspaceFolder
from tests.browser.site import Site, opened
from tests.browser.test_search_page import changed, check, come_in, names
from tests.real.places import needs_data, real_data

pytestmark = [needs_data("products"), pytest.mark.slow]
TYPES = ("Tshirts", "Handbags", "Watches", "Casual Shoes")
COLOURS = ("Black", "Blue", "Red", "White")
PER_KIND = 12
LEARNING = TwoTowerSettings(columns=("title", "baseColour", "category"), steps=150, batch=64, dim=32)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A few products of some types and colours, with an encoder that has learned their titles."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("products")
    before = os.environ.get("LIKEWISE_CACHE")
    os.environ["LIKEWISE_CACHE"] = str(folder / "cache")
    data = real_data("products")
    rows = pl.read_csv(data / "catalog.csv").filter(
        pl.col("category").is_in(TYPES) & pl.col("baseColour").is_in(COLOURS)
    )
    kind = ("category", "baseColour")
    workspace = WorkspaceFolder(folder / "shop")
    make_catalog(workspace, rows.filter(pl.int_range(pl.len()).over(kind) < PER_KIND), data, "products")
    train_two_tower(workspace, folder / "tower", LEARNING, workers=1)
    TwoTower.from_spec(f"two-tower:{folder / 'tower'}").encode(workspace, workers=1)
    site = Site(workspace)
    site.start()
    yield site
    site.kill()
    os.environ.pop("LIKEWISE_CACHE")
    if before is not None:
        os.environ["LIKEWISE_CACHE"] = before


def choose(page: Page, site: Site, category: str, colour: str) -> str:
    """Pick the first product of a kind as the reference; its key."""
    catalog = read_catalog(site.workspace)
    image = str(catalog.filter(category=category, baseColour=colour)["image"][0])
    come_in(page, site)
    page.get_by_role("button", name="Choose a picture").click()
    page.get_by_label("Find by name or category").fill(image)
    page.get_by_role("button", name=image).click()
    expect(page.get_by_role("img", name=f"Reference: {image}")).to_be_visible()
    return image


@pytest.mark.parametrize(("category", "colour", "wanted"), [("Tshirts", "Blue", "Red"), ("Handbags", "Black", "White")])
def test_another_colour_of_the_same_thing(
    browser: Browser, shop: Site, category: str, colour: str, wanted: str
) -> None:
    known = {row["image"]: row for row in read_catalog(shop.workspace).iter_rows(named=True)}
    with opened(browser) as page:
        choose(page, shop, category, colour)
        alone = names(page)
        page.get_by_label("Condition", exact=True).fill(f"in {wanted.lower()}")
        found = changed(page, alone)
        assert {known[image]["category"] for image in found} == {category}
        met = [known[image]["baseColour"] == wanted for image in found]
        assert sum(met) > sum(known[image]["baseColour"] == wanted for image in alone)
        said = [f"✓ in {wanted.lower()}" in told for told in page.locator("#found .told").all_inner_texts()]
        assert said == met  # the catalog's colours are what the page says of every result
        page.get_by_label("Only where").select_option("baseColour")
        page.get_by_label("Value", exact=True).first.select_option(wanted)
        page.get_by_role("button", name="Filter", exact=True).press("Enter")
        only = changed(page, found)
        assert {known[image]["baseColour"] for image in only} == {wanted}
        check(page)
