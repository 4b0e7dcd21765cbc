"""The search page in a real browser: pick or upload a picture, type a condition, move the slider."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.conditional.search import Searcher
from likewise.conditional.towers import TwoTower
from likewise.workspace import write_parquet
from tests.browser.site import OWNER_KEY, PHONE, Site, opened, running_site
from tests.conftest import draw_shape
from tests.encoders.tiny import make_model

LOOKS: list[dict[str, Any]] = [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The drawn shapes, with their colour as a column and the features of a tiny CLIP."""
    folder = tmp_path_factory.mktemp("search")
    before = os.environ.get("LIKEWISE_CACHE")
    os.environ["LIKEWISE_CACHE"] = str(folder / "cache")
    with running_site(folder) as started:
        catalog = started.workspace.catalog_file
        colour = pl.col("item").str.split("-").list.last().alias("colour")
        write_parquet(pl.read_parquet(catalog).with_columns(colour), catalog)
        TwoTower.from_spec(f"hf:{make_model('clip', folder / 'clip')}").encode(started.workspace, workers=1)
        yield started
    os.environ.pop("LIKEWISE_CACHE")
    if before is not None:
        os.environ["LIKEWISE_CACHE"] = before


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Iterator[Site]:
    """A site whose workspace has the features of two encoders."""
    folder = tmp_path_factory.mktemp("two")
    with running_site(folder) as started:
        for family in ("clip", "siglip"):
            TwoTower.from_spec(f"hf:{make_model(family, folder / family)}").encode(started.workspace, workers=1)
        yield started


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("nothing")) as started:
        yield started


def come_in(page: Page, site: Site, query: str = "") -> None:
    page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
    page.goto(f"{site.url}/search{query}")
    expect(page.locator("#main:not([data-state=loading])")).to_be_attached()  # the page's script runs


def names(page: Page) -> list[str]:
    """What is found, in order, once the page has it."""
    expect(page.locator("#main[data-state=showing]")).to_be_attached()
    tiles = page.locator("#found .tile").all()
    return [tile.get_attribute("data-image") or "" for tile in tiles]


def changed(page: Page, before: list[str]) -> list[str]:
    page.wait_for_function(
        "before => document.getElementById('main').dataset.state === 'showing' && "
        "[...document.querySelectorAll('#found .tile')].map(one => one.dataset.image).join() !== before",
        arg=",".join(before),
    )
    return names(page)


def check(page: Page) -> None:
    result = Axe().run(page)
    assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than the window"


def test_pick_type_slide_and_go_on(browser: Browser, site: Site) -> None:
    searcher = Searcher.open(site.workspace, workers=1)
    with opened(browser) as page:
        come_in(page, site)
        page.get_by_role("button", name="Choose a picture").click()
        page.get_by_label("Find by name or category").fill("triangle")
        expect(page.locator("#find-said")).to_have_text("8 of 8 pictures")
        page.get_by_role("button", name="triangle/red-0.png").click()
        expect(page.get_by_role("img", name="Reference: triangle/red-0.png")).to_be_visible()
        alone = names(page)
        assert alone == searcher.search("triangle/red-0.png", top_k=18)["image"].to_list()
        page.get_by_label("Condition", exact=True).fill("but in blue")
        both = changed(page, alone)
        assert both == searcher.search("triangle/red-0.png", "but in blue", top_k=18)["image"].to_list()
        slider = page.get_by_label("Between image and text")
        slider.focus()
        page.keyboard.press("End")
        text = changed(page, both)
        assert text == searcher.search("triangle/red-0.png", "in blue", text_weight=1.0, top_k=18)["image"].to_list()
        expect(page.locator("#weight-said")).to_have_text("the text alone")
        address = page.url
        first = text[0]
        page.locator("#found .tile").first.click()
        expect(page.get_by_role("img", name=f"Reference: {first}")).to_be_visible()
        page.goto(address)  # the address says what was asked
        assert names(page) == text


def test_the_category_is_kept_until_one_click_frees_it(browser: Browser, site: Site) -> None:
    searcher = Searcher.open(site.workspace, workers=1)
    with opened(browser) as page:
        come_in(page, site)
        page.get_by_role("button", name="Choose a picture").click()
        page.get_by_label("Find by name or category").fill("triangle")
        page.get_by_role("button", name="triangle/red-0.png").click()
        kept = names(page)
        assert {name.split("/")[0] for name in kept} == {"triangle"}
        chip = page.get_by_role("button", name="category: triangle", exact=True)
        expect(chip).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#said")).to_contain_text("with category triangle")
        chip.focus()
        page.keyboard.press("Enter")
        freed = changed(page, kept)
        assert freed == searcher.search("triangle/red-0.png", top_k=18, keep=())["image"].to_list()
        assert len({name.split("/")[0] for name in freed}) > 1
        freed_chip = page.get_by_role("button", name="category", exact=True)
        expect(freed_chip).to_have_attribute("aria-pressed", "false")
        expect(freed_chip).to_be_focused()
        page.goto(page.url)  # the address says that nothing is kept
        assert names(page) == freed
        check(page)


def test_upload_a_picture_and_remove_it(browser: Browser, site: Site, tmp_path: Path) -> None:
    mine = tmp_path / "mine.png"
    draw_shape("circle", "green", 0).resize((900, 900)).save(mine)
    with opened(browser, "409") as page:
        come_in(page, site)
        page.set_input_files("#file", mine)
        expect(page.get_by_role("img", name="Reference: your picture mine.png")).to_be_visible()
        image = names(page)
        expect(page.locator("#said")).to_contain_text("among")
        page.get_by_label("Condition", exact=True).fill("red")
        changed(page, image)
        check(page)
        (tmp_path / "words.png").write_text("no picture")
        page.set_input_files("#file", tmp_path / "words.png")
        expect(page.locator("#said")).to_contain_text("cannot be read as a picture")
        page.get_by_role("button", name="Remove").click()
        expect(page.locator("#reference")).to_contain_text("searching by text only")
        expect(page.locator("#main[data-state=showing]")).to_be_attached()


@pytest.mark.parametrize("look", LOOKS, ids=["phone, light", "desk, dark"])
def test_axe_and_keyboard(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        come_in(page, site, "?text=red")
        names(page)
        check(page)
        page.get_by_role("button", name="Choose a picture").press("Enter")
        expect(page.locator("#find-said")).to_contain_text("24 of 24")
        expect(page.get_by_label("Find by name or category")).to_be_focused()
        check(page)


def test_several_encoders_are_offered(browser: Browser, two: Site, tmp_path: Path) -> None:
    mine = tmp_path / "mine.png"
    draw_shape("square", "blue", 1).save(mine)
    with opened(browser) as page:
        come_in(page, two)
        page.set_input_files("#file", mine)
        first = names(page)
        page.get_by_label("Encoder and method").select_option("siglip, image + text")
        second = changed(page, first)
        searcher = Searcher.open(two.workspace, f"hf:{two.workspace.path.parent / 'siglip'}", workers=1)
        assert set(second) <= set(searcher.images)
        check(page)


def test_without_features_the_page_says_what_to_do(browser: Browser, empty: Site) -> None:
    with opened(browser) as page:
        come_in(page, empty)
        expect(page.locator("main")).to_contain_text(f"likewise condition ask {empty.workspace.path}")
        tower = f"likewise condition two-tower {empty.workspace.path} {empty.workspace.path}/tower --columns category"
        expect(page.locator("main")).to_contain_text(tower)  # the shapes have no captions
        expect(page.locator("main")).not_to_contain_text("install")
        check(page)


def test_experts_stay_blind(browser: Browser, site: Site) -> None:
    with opened(browser, "401") as page:
        page.goto(site.invite("Dora"))
        reply = page.goto(f"{site.url}/search")
        assert reply is not None and reply.status == 401
        assert page.request.get(f"{site.url}/api/search?text=red").status == 401
        assert page.request.post(f"{site.url}/api/search/upload", data=b"x").status in (401, 403)


def test_conditions_are_chips_that_can_be_switched_off(browser: Browser, site: Site) -> None:
    searcher = Searcher.open(site.workspace, workers=1)
    with opened(browser) as page:
        come_in(page, site)
        for text in ("in red", "a circle"):
            page.get_by_label("Condition", exact=True).fill(text)
            page.keyboard.press("Enter")
            expect(page.get_by_role("button", name=text, exact=True)).to_have_attribute("aria-pressed", "true")
        page.wait_for_function("() => document.querySelectorAll('#conditions .chip').length === 2")
        both = searcher.search(text=["in red", "a circle"], top_k=18)
        expect(page.locator("#found .tile").first).to_have_attribute("data-image", both["image"][0])
        assert names(page) == both["image"].to_list()
        # the catalog knows shape and colour: every result says which condition it meets
        told = page.locator("#found .told").all_inner_texts()
        for said, row in zip(told, both.iter_rows(named=True), strict=True):
            assert {text for text in ("in red", "a circle") if f"✓ {text}" in said} == set(row["met"])
            assert {text for text in ("in red", "a circle") if f"✗ {text}" in said} == set(row["not_met"])
        page.get_by_role("button", name="a circle", exact=True).click()
        one = changed(page, both["image"].to_list())
        assert one == searcher.search(text="in red", top_k=18)["image"].to_list()
        page.go_back()  # Back undoes
        assert changed(page, one) == both["image"].to_list()
        page.get_by_role("button", name="Remove the condition in red").click()
        circle = changed(page, both["image"].to_list())
        assert circle == searcher.search(text="a circle", top_k=18)["image"].to_list()
        check(page)
        page.locator("#history summary").click()
        page.get_by_role("link", name="“in red”, “a circle”").click()
        assert changed(page, circle) == both["image"].to_list()


def test_filters_more_and_less_like_by_keyboard(browser: Browser, site: Site) -> None:
    searcher = Searcher.open(site.workspace, workers=1)
    with opened(browser) as page:
        come_in(page, site, "?text=red")
        first = names(page)
        page.get_by_label("Only where").select_option("colour")
        page.get_by_label("Value", exact=True).first.select_option("blue")
        page.get_by_role("button", name="Filter", exact=True).press("Enter")
        blue = changed(page, first)
        assert blue == searcher.search(text="red", where="colour=blue", top_k=18)["image"].to_list()
        page.get_by_role("button", name="Remove the filter colour=blue").click()
        assert changed(page, blue) == first
        page.keyboard.press("/")
        expect(page.get_by_label("Condition", exact=True)).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#found .tile").first).to_be_focused()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("l")
        moved = changed(page, first)
        expected = searcher.search(text="red", less_like=[first[1]], top_k=18)["image"].to_list()
        assert moved == expected and first[1] not in moved
        page.locator("#found .tile").nth(2).focus()
        page.keyboard.press("m")
        more = changed(page, moved)
        assert (
            more == searcher.search(text="red", less_like=[first[1]], more_like=[moved[2]], top_k=18)["image"].to_list()
        )
        check(page)
        page.get_by_role("button", name="No longer less like").click()
        changed(page, more)
        assert page.get_by_role("button", name="No longer more like").count() == 1


def test_the_slider_shows_what_it_changes(browser: Browser, site: Site) -> None:
    searcher = Searcher.open(site.workspace, workers=1)
    with opened(browser) as page:
        come_in(page, site)
        page.get_by_role("button", name="Choose a picture").click()
        page.get_by_label("Find by name or category").fill("triangle")
        page.get_by_role("button", name="triangle/red-0.png").click()
        before = names(page)
        expect(page.locator("#slider")).to_be_hidden()  # without a condition there is nothing to slide
        page.get_by_label("Condition", exact=True).fill("in blue")
        middle = changed(page, before)
        expect(page.locator("#places button")).to_have_count(5)
        for number, weight in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
            met = searcher.search("triangle/red-0.png", "in blue", text_weight=weight, top_k=18)["met"].list.len() > 0
            expect(page.locator("#places button").nth(number)).to_contain_text(f"{met.sum()} of {len(met)} met")
        expect(page.locator("#places [aria-current]")).to_have_attribute("value", "50")
        page.locator("#places button").last.click()
        last = changed(page, middle)
        wanted = searcher.search("triangle/red-0.png", "in blue", text_weight=1.0, top_k=18)["image"].to_list()
        assert last == wanted
        check(page)


def test_a_photo_is_dropped_and_pasted(browser: Browser, site: Site) -> None:
    drop = """async (kind) => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 90, height: 60 });
      canvas.getContext("2d").fillRect(10, 10, 40, 40);
      const content = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
      const data = new DataTransfer();
      data.items.add(new File([content], "camera.png", { type: "image/png" }));
      const event = kind === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
        : new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
      document.body.dispatchEvent(event);
    }"""
    for kind in ("drop", "paste"):
        with opened(browser, **(PHONE if kind == "paste" else {})) as page:
            come_in(page, site)
            page.evaluate(drop, kind)
            expect(page.get_by_role("img", name="Reference: your picture camera.png")).to_be_visible()
            assert names(page)


def test_empty_and_failed_states_show_a_way_out(browser: Browser, site: Site) -> None:
    with opened(browser, "409|ERR_FAILED|Failed to load") as page:
        come_in(page, site)
        expect(page.locator("#said")).to_contain_text("24 images can be searched")
        page.goto(f"{site.url}/search?text=red&where=colour%3Dnothing")
        expect(page.locator("#said")).to_contain_text("no image of the catalog meets 'colour=nothing'")
        page.get_by_role("button", name="Remove the filters").click()
        known = names(page)
        assert known
        page.goto(f"{site.url}/search?text=xqzvk+blorpf")
        names(page)
        expect(page.locator("#text-said")).to_contain_text("no word of it is in the catalog")
        page.goto(f"{site.url}/search?upload=gone&text=red")
        expect(page.locator("#said")).to_contain_text("this picture is not here any more")
        page.goto(f"{site.url}/search?text=red")
        names(page)
        page.route("**/api/search?*", lambda route: route.abort())
        page.get_by_label("Condition", exact=True).fill("blue")
        expect(page.locator("#said")).to_contain_text("the site does not answer")
        page.unroute("**/api/search?*")
        page.get_by_role("button", name="Try again").click()
        assert names(page)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_results_are_above_the_fold(browser: Browser, site: Site, width: int, height: int) -> None:
    with opened(browser, viewport={"width": width, "height": height}) as page:
        come_in(page, site, "?text=red&text=circle")
        names(page)
        box = page.locator("#found .tile img").first.bounding_box()
        assert box is not None and box["y"] + box["height"] < height
