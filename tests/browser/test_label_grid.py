"""Grid mode in a real browser: a query with all its candidates, marked and submitted without a mouse."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.site import CANDIDATES_PER_QUERY, NO_NETWORK, PHONE, Site, enter, opened, running_site, saved

LOOK_MS = 900  # a page shown for less cannot be submitted


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as started:
        yield started


def on_page(page: Page) -> list[int]:
    """The pairs on the screen, in order."""
    expect(page.locator("#main[data-state=showing][data-pairs]")).to_be_attached()
    return [int(pair) for pair in (page.locator("#main").get_attribute("data-pairs") or "").split(",")]


def submit(page: Page) -> list[int]:
    pairs = on_page(page)
    page.wait_for_timeout(LOOK_MS)
    page.keyboard.press("Enter")
    expect(page.locator(f'#main[data-pairs="{",".join(map(str, pairs))}"][data-state=showing]')).not_to_be_attached()
    return pairs


def test_mark_with_numbers_arrows_and_space_and_submit_with_one_key(page: Page, site: Site) -> None:
    enter(page, site, "Anna", "/grid")
    pairs = on_page(page)
    assert len(pairs) == CANDIDATES_PER_QUERY
    for key in ("1", "3", "4", "3"):  # the third is marked and unmarked
        page.keyboard.press(key)
    page.keyboard.press("ArrowRight")  # from the third to the fourth
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Submit, 3 similar")).to_be_visible()
    expect(page.locator(".candidate[aria-pressed=true]")).to_have_count(3)
    assert submit(page) == pairs
    keys = site.keys_of_pairs()
    answers = ["similar", "not similar", "not similar", "similar", "similar", "cannot tell"]
    clicked = {keys[pair]: answer for pair, answer in zip(pairs, answers, strict=True)}
    saved(page)
    assert site.votes("Anna") == clicked
    times = [event["milliseconds"] for event in site.events("Anna")]
    assert len(set(times)) == 1  # the page's time in equal shares
    expect(page.locator("#progress-text")).to_have_text("6 of 24 · 18 left")
    page.get_by_role("link", name="Pair").click()  # the other mode goes on over the same votes
    expect(page.locator("#stage")).to_be_visible()
    expect(page.locator("#progress-text")).to_have_text("6 of 24 · 18 left")


def test_in_the_dark_no_white_bars_stand_beside_the_pictures(browser: Browser, site: Site) -> None:
    with opened(browser, color_scheme="dark") as page:
        enter(page, site, "Dana", "/grid")
        on_page(page)
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        beside = page.locator(".candidate img").first.evaluate("image => getComputedStyle(image).backgroundColor")
    assert paper == "rgb(20, 23, 27)"
    assert beside in ("rgba(0, 0, 0, 0)", paper)


def test_undo_brings_the_page_back_as_it_was_marked(page: Page, site: Site) -> None:
    enter(page, site, "Boris", "/grid")
    pairs = on_page(page)
    page.keyboard.press("2")
    submit(page)
    on_page(page)
    page.keyboard.press("z")
    expect(page.locator(f'#main[data-pairs="{",".join(map(str, pairs))}"]')).to_be_attached()
    expect(page.locator(".candidate").nth(1)).to_have_attribute("aria-pressed", "true")
    saved(page)
    assert site.votes("Boris") == {}
    page.keyboard.press("5")
    submit(page)
    saved(page)
    keys = site.keys_of_pairs()
    votes = site.votes("Boris")
    assert {pair for pair in pairs if votes[keys[pair]] == "similar"} == {pairs[1], pairs[4]}


def test_a_double_press_submits_one_page_and_offline_pages_are_kept(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Chiara", "/grid")
        first = on_page(page)
        page.wait_for_timeout(LOOK_MS)
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        saved(page)
        assert len(site.events("Chiara")) == len(first)
        page.wait_for_load_state("networkidle")  # the next page and the one after it are there
        page.context.set_offline(True)
        second = submit(page)
        expect(page.locator("#saved")).to_have_text(f"Offline, {len(second)} kept here")
        page.context.set_offline(False)
        saved(page)
        assert set(site.votes("Chiara")) == {site.keys_of_pairs()[pair] for pair in first + second}
        assert len(site.events("Chiara")) == len(first) + len(second)


def test_a_phone_by_touch(browser: Browser, site: Site) -> None:
    with opened(browser, **PHONE) as page:
        enter(page, site, "Dora", "/grid")
        pairs = on_page(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".candidate").nth(2).tap()
        page.wait_for_timeout(LOOK_MS)
        page.get_by_role("button", name="Submit, 1 similar").tap()
        saved(page)
        keys = site.keys_of_pairs()
        assert [pair for pair in pairs if site.votes("Dora")[keys[pair]] == "similar"] == [pairs[2]]


def test_candidates_use_the_room_they_have(browser: Browser, site: Site) -> None:
    """Thumbnails are as large as their number allows: they fill the width beside the query, or the height."""
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        enter(page, site, "Room", "/grid")
        expect(page.locator("#main[data-state=showing]")).to_be_attached()
        sizes = page.locator(".candidate img").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
        assert sizes and min(sizes) >= 180
