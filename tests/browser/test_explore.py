"""The explore pages in a real browser: without an account, by mouse, by keyboard, on a phone, in the dark."""

import base64
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import likewise as lw
from likewise.encoders import encode_catalog
from tests.browser.site import OWNER_KEY, PHONE, Site, opened, running_site
from tests.conftest import draw_shape

LOOKS: list[dict[str, Any]] = [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}]
RED = "circle/red-0.png"
BOTH = f"?image={RED}&with=colour&with=shape"


class QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("explore"), for_looking=True) as started:
        encode_catalog(started.workspace, ["colour", "shape"], workers=1)
        yield started


def ready(page: Page) -> None:
    expect(page.locator("#main[data-state=showing]")).to_be_attached(timeout=60_000)  # the first map loads libraries


def check(page: Page) -> None:
    result = Axe().run(page)
    assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than the window"


def shown(page: Page, encoder: str) -> list[str]:
    """The images that one encoder's list shows, in order."""
    ready(page)
    section = page.locator("#lists section").filter(has=page.get_by_role("heading", name=encoder))
    return [str(one.get_attribute("data-image")) for one in section.locator(".tile").all()]


def test_click_go_back_and_send_the_address(browser: Browser, site: Site) -> None:
    found = lw.Workspace(site.workspace.path).search(["colour", "shape"], RED, k=12).table
    with opened(browser) as page:
        page.goto(f"{site.url}/explore")
        ready(page)
        page.locator(f".tile[data-image='{RED}']").click()
        expect(page.locator("#query img")).to_have_attribute("alt", f"Searching with {RED}")
        for encoder in ("colour", "shape"):
            assert shown(page, encoder) == found.filter(encoder=encoder)["candidate"].to_list()
        address = page.url
        other = shown(page, "shape")[0]
        page.locator("#lists section").nth(1).locator(".tile").first.click()
        expect(page.locator("#query img")).to_have_attribute("alt", f"Searching with {other}")
        page.go_back()
        expect(page.locator("#query img")).to_have_attribute("alt", f"Searching with {RED}")
    with opened(browser) as colleague:
        colleague.goto(address)
        assert shown(colleague, "colour") == found.filter(encoder="colour")["candidate"].to_list()


def test_the_keyboard_alone_walks_filters_and_finds(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/explore{BOTH}")
        first = shown(page, "colour")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.dataset.image") == first[1]
        page.keyboard.press("Enter")
        expect(page.locator("#query img")).to_have_attribute("alt", f"Searching with {first[1]}")
        page.keyboard.press("2")
        page.keyboard.press("n")
        expect(page.locator("#query img")).not_to_have_attribute("alt", f"Searching with {first[1]}")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("triangle-g")
        expect(page.locator(".tile")).to_have_count(2)


def test_a_dropped_picture_and_a_filter(browser: Browser, site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("brought") / "mine.png"
    draw_shape("square", "blue", 1).save(file)
    with opened(browser) as page:
        page.goto(f"{site.url}/explore")
        ready(page)
        page.set_input_files("#file", file)
        expect(page.locator("#query canvas")).to_be_visible()
        assert shown(page, "shape")[0].startswith("square/") and "blue" in shown(page, "colour")[0]
        page.select_option("#column", "category")
        page.select_option("#value", "circle")
        page.get_by_role("button", name="Add").click()
        page.wait_for_url("**where=category%3Dcircle**")
        expect(page.locator(".tile .name").first).to_have_text("circle")
        assert all(image.startswith("circle/") for image in shown(page, "colour"))


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_a_picture_comes_from_the_desktop_or_the_clipboard(browser: Browser, site: Site, way: str) -> None:
    content = BytesIO()
    draw_shape("square", "blue", 1).save(content, "PNG")
    bring = """([way, content]) => {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      const carried = new DataTransfer();
      carried.items.add(new File([bytes], "mine.png", { type: "image/png" }));
      const options = { bubbles: true, cancelable: true, dataTransfer: carried, clipboardData: carried };
      document.dispatchEvent(way === "drop" ? new DragEvent("drop", options) : new ClipboardEvent("paste", options));
    }"""
    with opened(browser) as page:
        page.goto(f"{site.url}/explore?with=shape")
        ready(page)
        page.evaluate(bring, [way, base64.b64encode(content.getvalue()).decode()])
        expect(page.locator("#query canvas")).to_be_visible()
        assert shown(page, "shape")[0].startswith("square/")


def test_a_picture_that_is_gone_keeps_its_place(browser: Browser, tmp_path: Path) -> None:
    with running_site(tmp_path, for_looking=True) as site:
        encode_catalog(site.workspace, ["colour"], workers=1)
        (site.workspace.root / RED).write_bytes(b"damaged since")
        with opened(browser, allowed="404") as page:
            page.goto(f"{site.url}/explore?with=colour")
            ready(page)
            tile = page.locator(f".tile[data-image='{RED}']")
            expect(tile).to_contain_text("cannot be read")
            tile.click()
            expect(page.locator("#query")).to_contain_text("cannot be read")
            assert shown(page, "colour")  # its vector is there


def test_no_picture_is_said_in_words(browser: Browser, site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("broken") / "broken.png"
    file.write_bytes(b"no picture")
    with opened(browser) as page:
        page.goto(f"{site.url}/explore")
        ready(page)
        page.set_input_files("#file", file)
        expect(page.locator("#said")).to_contain_text("cannot be read as a picture")


@pytest.mark.parametrize("look", LOOKS, ids=["phone", "dark"])
def test_readers_phones_and_dark_rooms(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        for path in ("/explore", f"/explore{BOTH}", "/explore/copies", "/explore/differences", "/explore/map"):
            page.goto(f"{site.url}{path}")
            ready(page)
            check(page)


def test_nothing_is_cut_off_on_tiles_and_in_the_bar_of_views(browser: Browser, site: Site) -> None:
    outside = """([inner, outer]) => [...document.querySelectorAll(inner)].filter((one) => {
        const at = one.getBoundingClientRect(), box = one.closest(outer).getBoundingClientRect();
        return at.width && (at.left < box.left - 1 || at.right > box.right + 1);
    }).length"""
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{site.url}/explore{BOTH}&k=3")
        ready(page)
        assert page.locator(".tile .only").count() > 0  # the mark that pushed the score off its card
        assert page.evaluate(outside, [".rank-score > *", ".tile"]) == 0
    with opened(browser, **PHONE) as page:
        page.goto(f"{site.url}/explore{BOTH}")
        ready(page)
        assert page.locator(".modes a").count() >= 4
        assert page.evaluate(outside, [".modes a", "body"]) == 0
        half_seen = """() => [...document.querySelector('.tiles').children].some((one) => {
            const at = one.getBoundingClientRect();
            return at.left < innerWidth - 20 && at.right > innerWidth;
        })"""
        assert page.evaluate(half_seen)  # the list goes on to the right


def test_the_owner_asks_the_experts(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/explore?image=triangle/red-1.png&with=colour")
        ready(page)
        expect(page.locator("#ask")).to_be_hidden()
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        page.goto(f"{site.url}/explore?image=triangle/red-1.png&with=colour")
        page.get_by_role("button", name="Ask the experts").click()
        expect(page.locator("#said")).to_contain_text("pairs go to the experts")


def test_a_lasso_on_the_map_selects_pictures(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/explore/map?encoder=colour&method=PCA&colour=category")
        ready(page)
        expect(page.locator("#list-title")).to_contain_text("In view: 24 images")
        pixels = "map => map.getContext('2d').getImageData(0, 0, map.width, map.height).data"
        coloured = f"{pixels}.filter((one, at) => at % 4 == 3 && one).length"
        assert page.locator("#map").evaluate(coloured) > 24 * 10  # few points are large enough to be seen
        box = page.locator("#map").bounding_box()
        assert box is not None
        page.get_by_role("button", name="Lasso").click()
        x, y, right, bottom = box["x"] + 2, box["y"] + 2, box["x"] + box["width"] - 2, box["y"] + box["height"] - 2
        page.mouse.move(x, y)
        page.mouse.down()
        for corner in ((right, y), (right, bottom), (x, bottom), (x, y)):
            page.mouse.move(*corner, steps=4)
        page.mouse.up()
        expect(page.locator("#list-title")).to_contain_text("Selected: 24 images")
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Export as queries").click()
        lines = downloading.value.path().read_text().splitlines()
        assert lines[0] == "image" and len(lines) == 25
        expect(page.locator("#said")).to_contain_text(f"likewise discover {site.workspace.path} --queries queries.csv")
        page.wait_for_url("**lasso=**")
        with opened(browser) as colleague:
            colleague.goto(page.url)
            expect(colleague.locator("#list-title")).to_contain_text("Selected: 24 images")
        page.locator("#map").press("Escape")
        page.locator("#map").press("-")
        page.wait_for_url("**zoom=0.8**")
        page.locator("#list .tile").first.click()
        page.wait_for_url("**/explore?image=**")


def test_a_click_on_the_map_selects_one_picture_and_nothing_fades(browser: Browser, site: Site) -> None:
    pixels = "map => map.getContext('2d').getImageData(0, 0, map.width, map.height).data"
    faded = f"{pixels}.filter((one, at) => at % 4 == 3 && one == 60).length"
    with opened(browser) as page:
        page.goto(f"{site.url}/explore/map?encoder=colour&method=PCA&colour=category&image={RED}&clicked=true")
        ready(page)
        expect(page.locator("#list-title")).to_have_text("Selected: 1 image")
        expect(page.locator("#list .tile")).to_have_attribute("data-image", RED)
        page.select_option("#colour", "model")
        expect(page.locator("#said")).to_contain_text("the 10 nearest items of each model")
        assert page.locator("#map").evaluate(faded) == 0
        page.wait_for_url("**clicked=true**")
        page.goto(f"{site.url}/explore/map?encoder=colour&method=PCA&colour=model")
        expect(page.locator("#said")).to_contain_text("Click a picture on the map")
        page.goto(f"{site.url}/explore/map?encoder=colour&method=PCA&colour=category&image={RED}&clicked=true")
        expect(page.locator("#list-title")).to_have_text("Selected: 1 image")
        page.locator("#map").press("Escape")
        expect(page.locator("#list-title")).to_have_text("In view: 24 images")
        expect(page).not_to_have_url(re.compile("clicked"))


def test_copies_by_keyboard_slide_mark_ignore_and_export(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        page.goto(f"{site.url}/explore/copies?with=colour&cosine=1.01&bits=-1")
        ready(page)
        before = page.locator("#groups > li").count()
        assert before == 0
        expect(page.locator("#said")).to_contain_text("lower the cosine or raise the bits")
        page.locator("#cosine").focus()
        page.keyboard.press("Home")  # the lowest cosine that is kept
        expect(page.locator("#groups > li").first).to_be_visible()
        assert page.locator("#groups > li").count() > before
        page.wait_for_url("**cosine=0.8**")
        first = page.locator("#groups > li").first
        images = {str(one.get_attribute("data-image")) for one in first.locator(".tile").all()}
        first.get_by_role("button", name="Ignore").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("1 ignored")
        page.select_option("#show", "ignored")
        assert {str(one.get_attribute("data-image")) for one in page.locator("#groups .tile").all()} == images
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#said")).to_have_text("No group is ignored.")
        page.select_option("#show", "open")
        page.get_by_role("button", name="Mark as copies").first.click()
        page.select_option("#show", "all")
        expect(page.locator("#groups")).to_contain_text("marked as copies")
        with page.expect_download() as downloading:
            page.locator("#export").click()
        table = pl.read_csv(downloading.value.path())
        assert images <= {*table["image"], *table["other"]} and "copy" in table["decision"].to_list()


def test_the_map_by_keyboard_selects_what_is_in_view_and_asks(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        page.goto(f"{site.url}/explore/map?encoder=shape&method=PCA&zoom=0.8&x=0&y=0")
        ready(page)
        page.get_by_role("button", name="Select what is in view").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#list-title")).to_contain_text("Selected: 24 images")
        page.get_by_role("button", name="Ask the experts about these pairs").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("to the experts")


def test_a_notebook_shows_the_page_below_its_cell(browser: Browser, site: Site, tmp_path: Path) -> None:
    page_of_cell = lw.Workspace(site.workspace.path).explore()
    (tmp_path / "notebook.html").write_text(page_of_cell._repr_html_())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with opened(browser, allowed="404") as page:
            page.goto(f"http://127.0.0.1:{server.server_port}/notebook.html")
            inside = page.frame_locator("iframe")
            inside.locator(f".tile[data-image='{RED}']").click()
            expect(inside.locator("#query img")).to_have_attribute("alt", f"Searching with {RED}")
        with opened(browser, allowed="frame-ancestors|X-Frame-Options|ERR_BLOCKED|404") as page:  # the site itself
            (tmp_path / "notebook.html").write_text(f'<iframe src="{site.url}/explore"></iframe>')
            page.goto(f"http://127.0.0.1:{server.server_port}/notebook.html")
            page.wait_for_timeout(500)
            assert page.frame_locator("iframe").locator(".tile").count() == 0
    finally:
        server.shutdown()
        server.server_close()
        page_of_cell.stop()
