"""Looks in a real browser: pick, complete, swap, read why, save and export; by keyboard, on a phone, and axe."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from likewise.catalog import make_catalog, read_catalog
from likewise.encoders.running.encode import encode_catalog
from likewise.synthetic import build_wardrobe
from likewise.workspace import WorkspaceFolder
from tests.browser.site import OWNER_KEY, PHONE, Site, opened


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("looks")
    workspace = WorkspaceFolder(folder / "ws")
    rows = build_wardrobe(folder / "pictures", n_items=160, views_per_item=1, workers=1)
    make_catalog(workspace, rows, folder / "pictures", "wardrobe")
    encode_catalog(workspace, ["colour"], workers=1)
    started = Site(workspace)
    started.start()
    yield started
    started.kill()


def check(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("look", [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_a_look_is_completed_changed_explained_and_saved(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        page.goto(f"{site.url}/owner/looks")
        check(page)
        column, value = str(page.get_by_label("Only where").get_attribute("placeholder")).split("=")
        assert value in read_catalog(site.workspace)[column].cast(pl.String)  # the example fits this catalog
        page.get_by_role("link", name="tops", exact=True).click()
        page.get_by_role("link", name="Add ").first.click()
        expect(page.locator("#look-title + .look img")).to_have_count(1)
        page.get_by_role("link", name="Complete").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="To complete the look")).to_be_visible()
        check(page)
        page.get_by_role("link", name="Add all").click()
        expect(page.get_by_role("heading", name="Why")).to_be_visible()
        expect(page.locator("#why")).to_contain_text("of the others of its category")
        check(page)
        before = page.url
        page.get_by_role("link", name="Swap").last.click()
        expect(page.get_by_role("heading", name="Instead of")).to_be_visible()
        page.get_by_role("link", name="Add ").first.click()
        assert page.url != before
        page.get_by_role("button", name="Save this look").click()
        expect(page.get_by_role("status").first).to_contain_text("Saved")
        with page.expect_download() as kept:
            page.get_by_role("link", name="Export").click()
        rows = kept.value.path().read_text().splitlines()
        assert rows[0] == "outfit,item,image,category,position" and len(rows) >= 5


def test_a_wrong_address_is_one_sentence(browser: Browser, site: Site) -> None:
    with opened(browser, "400") as page:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        answer = page.goto(f"{site.url}/owner/looks?item=nothing")
        assert answer is not None and answer.status == 400
        expect(page.get_by_text("there is no item")).to_be_visible()


def come_in(page: Page, site: Site, query: str = "") -> None:
    page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
    page.goto(f"{site.url}/owner/looks{query}")


def ready(page: Page) -> None:
    """The page's script runs: keys and dragging work."""
    expect(page.locator("#main[data-state=ready]")).to_be_attached()


def test_a_picture_of_ones_own_joins_the_look(browser: Browser, site: Site, tmp_path: Path) -> None:
    catalog = read_catalog(site.workspace)
    top = catalog.filter(pl.col("category") == "tops").row(0, named=True)
    mine = tmp_path / "shirt.png"
    Image.open(site.workspace.root / top["image"]).resize((900, 900)).save(mine)
    with opened(browser, "400") as page:
        come_in(page, site)
        ready(page)
        page.set_input_files("#file", mine)
        choice = page.get_by_label("What your picture shows")
        expect(choice).to_be_visible()
        guessed = choice.input_value()
        assert "own-" in page.url
        other = next(name for name in ("skirts", "tops") if name != guessed)
        ready(page)
        choice.select_option(other)
        expect(page.locator("#canvas strong").first).to_have_text(other)
        ready(page)
        page.get_by_label("What your picture shows").select_option("tops")
        expect(page.locator("#canvas strong").first).to_have_text("tops")
        check(page)
        page.get_by_role("link", name="Complete").click()
        page.get_by_role("link", name="Add all").click()
        expect(page.get_by_role("heading", name="This look fits better than")).to_be_visible()
        page.get_by_role("link", name="Why your picture").click()
        expect(page.locator("#why")).to_contain_text("your picture")
        page.get_by_role("button", name="Save this look").click()
        expect(page.get_by_role("status").first).to_contain_text("Saved")
        saved = page.locator(".saved-looks li").first
        expect(saved.locator("img").first).to_be_visible()
        assert saved.locator("img").first.evaluate("one => one.decode().then(() => one.naturalWidth)") > 0
        n_saved = page.locator(".saved-looks li").count()
        check(page)
        saved.get_by_role("button", name="Delete").click()
        expect(page.locator(".saved-looks li")).to_have_count(n_saved - 1)
        (tmp_path / "words.png").write_text("no picture")
        ready(page)
        page.set_input_files("#file", tmp_path / "words.png")
        expect(page.locator("#said")).to_contain_text("cannot be read as a picture")
        for wrong in ("own-000000000000", "../../../etc/passwd", "tops=/etc/passwd"):
            answer = page.goto(f"{site.url}/owner/looks?item={wrong}")
            assert answer is not None and answer.status == 400


def test_drag_and_keys(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        come_in(page, site, "?slot=tops")
        ready(page)
        page.locator("#offers [draggable]").first.drag_to(page.locator("#canvas h1"))
        expect(page.locator("#canvas .look img")).to_have_count(1)
        ready(page)
        page.keyboard.press("c")
        expect(page.get_by_role("heading", name="To complete the look")).to_be_visible()
        ready(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#offers .tile").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#canvas .look img")).to_have_count(2)
        ready(page)
        page.keyboard.press("s")
        expect(page.get_by_role("status").first).to_contain_text("Saved")


def test_a_picture_is_dropped_on_the_canvas(browser: Browser, site: Site) -> None:
    with opened(browser, **PHONE) as page:
        come_in(page, site)
        ready(page)
        page.evaluate(
            """async () => {
              const canvas = Object.assign(document.createElement("canvas"), { width: 90, height: 60 });
              canvas.getContext("2d").fillRect(10, 10, 40, 40);
              const content = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
              const data = new DataTransfer();
              data.items.add(new File([content], "camera.png", { type: "image/png" }));
              const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
              document.getElementById("canvas").dispatchEvent(event);
            }"""
        )
        expect(page.get_by_label("What your picture shows")).to_be_visible()
        check(page)
