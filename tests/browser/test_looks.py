"""Looks in a real browser: pick, complete, swap, read why, save and export; by keyboard, on a phone, and axe."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.catalog import make_catalog
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
        page.get_by_role("link", name="tops", exact=True).click()
        page.get_by_role("link", name="Add ").first.click()
        expect(page.locator("#look-title + .look img")).to_have_count(1)
        page.get_by_role("link", name="Complete").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="To complete the look")).to_be_visible()
        check(page)
        page.get_by_role("link", name="Add all").click()
        expect(page.get_by_role("heading", name="Why")).to_be_visible()
        expect(page.get_by_text("The weakest piece is")).to_be_visible()
        check(page)
        before = page.url
        page.get_by_role("link", name="Swap").last.click()
        expect(page.get_by_role("heading", name="Instead of")).to_be_visible()
        page.get_by_role("link", name="Add ").first.click()
        assert page.url != before
        page.get_by_role("button", name="Save this look").click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
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
