"""The search page in a real browser: pick or upload a picture, type a condition, move the slider."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.conditional.search import Searcher
from likewise.conditional.towers import TwoTower
from tests.browser.site import OWNER_KEY, PHONE, Site, opened, running_site
from tests.conftest import draw_shape
from tests.encoders.tiny import make_model

LOOKS: list[dict[str, Any]] = [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The drawn shapes with the features of a tiny CLIP."""
    folder = tmp_path_factory.mktemp("search")
    before = os.environ.get("LIKEWISE_CACHE")
    os.environ["LIKEWISE_CACHE"] = str(folder / "cache")
    with running_site(folder) as started:
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


def names(page: Page) -> list[str]:
    """What is found, in order, once the page has it."""
    expect(page.locator("#main[data-state=showing]")).to_be_attached()
    return [text.split(". ", 1)[1] for text in page.locator("#found li span").all_inner_texts()]


def changed(page: Page, before: list[str]) -> list[str]:
    page.wait_for_function(
        "before => document.getElementById('main').dataset.state === 'showing' && "
        "[...document.querySelectorAll('#found li span')].map(one => one.innerText.split('. ')[1]).join() !== before",
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
        page.get_by_role("button", name=f"1. {first}").click()
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
        chip = page.get_by_role("button", name="category", exact=True)
        expect(chip).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#said")).to_contain_text("with the same category")
        chip.focus()
        page.keyboard.press("Enter")
        freed = changed(page, kept)
        assert freed == searcher.search("triangle/red-0.png", top_k=18, keep=())["image"].to_list()
        assert len({name.split("/")[0] for name in freed}) > 1
        expect(chip).to_have_attribute("aria-pressed", "false")
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
        assert len(image) == 12  # one picture of each item
        page.get_by_label("Condition", exact=True).fill("red")
        changed(page, image)
        check(page)
        (tmp_path / "words.png").write_text("no picture")
        page.set_input_files("#file", tmp_path / "words.png")
        expect(page.locator("#said")).to_contain_text("not a picture that the browser can read")
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
        expect(page.locator("main")).to_contain_text("likewise condition ask")
        check(page)


def test_experts_stay_blind(browser: Browser, site: Site) -> None:
    with opened(browser, "401") as page:
        page.goto(site.invite("Dora"))
        reply = page.goto(f"{site.url}/search")
        assert reply is not None and reply.status == 401
        assert page.request.get(f"{site.url}/api/search?text=red").status == 401
        assert page.request.post(f"{site.url}/api/search/upload", data=b"x").status in (401, 403)
