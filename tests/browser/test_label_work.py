"""Pair mode in a real browser, from the invitation to the last pair. What was clicked is what is stored."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from tests.browser.site import GENERATOR, PHONE, TOO_SOON_MS, Site, enter, opened, press, running_site, saved, shown


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as started:
        yield started


def test_from_the_invitation_over_guidelines_and_practice_to_stored_votes(page: Page, site: Site) -> None:
    page.goto(site.invite("Anna"))
    assert page.url == f"{site.url}/welcome"
    expect(page.get_by_text("Ignore the colour.")).to_be_visible()
    expect(page.locator(".examples li")).to_have_count(2)
    expect(page.locator(".examples li.similar")).to_contain_text("Same outline, other colour.")
    page.get_by_role("link", name="Start with 1 practice pair").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Practice: Do these two look alike?")
    expect(page.locator("#stage")).to_be_visible()
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press("j")
    expect(page.locator("#feedback")).to_contain_text("The owner sees it differently: similar. Both are squares.")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Start with the pairs").press("Enter")
    keys = site.keys_of_pairs()
    clicked = {keys[press(page, key)]: answer for key, answer in KEYS.items()}
    saved(page)
    assert site.votes("Anna") == clicked
    expect(page.locator("#progress-text")).to_have_text("3 of 24 · 21 left · 1 for later")
    expect(page.locator("#pace-text")).to_contain_text("s a pair, about")


KEYS = {"f": "similar", "j": "not similar", "u": "cannot tell", "l": "later"}


def test_undo_takes_answers_back_one_by_one_even_after_a_reload(page: Page, site: Site) -> None:
    enter(page, site, "Boris")
    keys = site.keys_of_pairs()
    first, second = press(page, "f"), press(page, "f")
    shown(page)
    page.keyboard.press("z")
    expect(page.locator(f'#main[data-pair="{second}"]')).to_be_attached()
    press(page, "j")
    saved(page)
    assert site.votes("Boris") == {keys[first]: "similar", keys[second]: "not similar"}
    page.reload()
    shown(page)
    page.keyboard.press("z")
    expect(page.locator(f'#main[data-pair="{second}"]')).to_be_attached()
    page.keyboard.press("z")
    expect(page.locator(f'#main[data-pair="{first}"]')).to_be_attached()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    saved(page)
    assert site.votes("Boris") == {}
    assert [event["answer"] for event in site.events("Boris")].count("similar") == 2  # nothing is deleted


def test_keys_can_be_remapped_and_stay(page: Page, site: Site) -> None:
    enter(page, site, "Chiara")
    shown(page)
    page.get_by_role("button", name="Keys…").press("Enter")
    page.locator("[data-remap=similar]").press("Enter")
    page.keyboard.press("j")  # taken by "not similar": the two swap
    expect(page.locator("#keys-said")).to_have_text("“Similar” is now J, “Not similar” is now F.")
    page.keyboard.press("Escape")
    expect(page.locator("[data-action=similar]")).to_have_text("Similar J")
    keys = site.keys_of_pairs()
    first = press(page, "j")
    page.reload()
    expect(page.locator('[data-action="not similar"]')).to_have_text("Not similar F")
    second = press(page, "f")
    saved(page)
    assert site.votes("Chiara") == {keys[first]: "similar", keys[second]: "not similar"}


def test_cannot_tell_with_a_reason_and_keys_are_ignored_while_typing(page: Page, site: Site) -> None:
    enter(page, site, "Dora")
    pair = shown(page)
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press("r")
    page.keyboard.type("fuzzy jungle, 2 full")
    expect(page.locator(f'#main[data-pair="{pair}"]')).to_be_attached()
    expect(page.locator("#stage")).to_be_visible()  # the pair stays in sight
    page.keyboard.press("Enter")
    expect(page.locator(f'#main:not([data-pair="{pair}"])')).to_be_attached()
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press("r")
    page.keyboard.press("2")
    saved(page)
    reasons = [(event["answer"], event["reason"]) for event in site.events("Dora")]
    assert reasons == [("cannot tell", "fuzzy jungle, 2 full"), ("cannot tell", "They are not comparable")]


def test_a_double_press_and_a_double_click_answer_one_pair(page: Page, site: Site) -> None:
    enter(page, site, "Emil")
    shown(page)
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press("f")
    page.keyboard.press("f")
    shown(page)
    page.wait_for_timeout(TOO_SOON_MS)
    page.get_by_role("button", name="Not similar").dblclick()
    saved(page)
    assert [event["answer"] for event in site.events("Emil")] == ["similar", "not similar"]
    page.wait_for_timeout(TOO_SOON_MS)
    page.evaluate(
        "for (const repeat of [true, true]) document.dispatchEvent(new KeyboardEvent('keydown', {key: 'f', repeat}))"
    )
    assert len(site.events("Emil")) == 2


def test_response_time_counts_from_the_moment_both_pictures_are_there(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        released: list[float] = []

        def slowly(route: Route) -> None:
            page.wait_for_timeout(700)
            released.append(page.evaluate("performance.now()"))
            route.continue_()

        page.goto(site.invite("Fanny"))
        page.route("**/media/thumb/*", slowly)
        page.goto(f"{site.url}/work")
        expect(page.locator("#panel-text")).to_have_text("Loading the pictures…")
        expect(page.locator("#stage")).to_be_hidden()
        shown(page)
        assert page.evaluate(
            "[...document.querySelectorAll('#stage img')].map(i => i.complete && i.naturalWidth > 0)"
        ) == [
            True,
            True,
        ]
        page.unroute("**/media/thumb/*")
        page.wait_for_timeout(TOO_SOON_MS)
        hidden_from = page.evaluate(f"{HIDE}; performance.now()")
        page.wait_for_timeout(1500)
        hidden_to = page.evaluate("performance.now()")
        page.evaluate(SHOW)
        page.keyboard.press("f")
        answered = page.evaluate("performance.now()")
        saved(page)
        (event,) = site.events("Fanny")
        visible = answered - max(released) - (hidden_to - hidden_from)  # by the page's own clock, however slow all is
        assert (
            TOO_SOON_MS <= event["milliseconds"] <= visible + 1
        )  # neither the loading nor the hidden second and a half


TELL = "document.dispatchEvent(new Event('visibilitychange'))"
HIDE = f"Object.defineProperty(document, 'hidden', {{value: true, configurable: true}}); {TELL}"
SHOW = f"delete document.hidden; {TELL}"


def test_the_originals_open_by_key_and_click_and_answers_work_there(page: Page, site: Site) -> None:
    enter(page, site, "Gala")
    pair = shown(page)
    page.keyboard.press("e")
    expect(page.locator("#zoom")).to_be_visible()
    expect(page.locator('#zoom img[src^="/media/full/"], #zoom img[src*="/media/full/"]')).to_have_count(2)
    page.keyboard.press("e")
    expect(page.locator("#zoom")).to_be_hidden()
    page.locator("#candidate").click()
    expect(page.locator("#zoom")).to_be_visible()
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press("j")
    expect(page.locator("#zoom")).to_be_hidden()
    saved(page)
    assert site.votes("Gala") == {site.keys_of_pairs()[pair]: "not similar"}


def test_a_phone_by_touch(browser: Browser, site: Site) -> None:
    with opened(browser, **PHONE) as page:
        enter(page, site, "Hugo")
        pair = shown(page)
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size[0] <= 390
        assert size[1] <= 844  # both pictures and all answers without scrolling
        for picture in page.locator("#stage .picture").all():
            box = picture.bounding_box()
            assert box is not None
            assert box["height"] > 200
        for button in page.locator("#answers button").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 40
        page.get_by_role("button", name="Enlarge", exact=True).tap()
        expect(page.locator("#zoom .by-touch")).to_be_visible()
        expect(page.locator("#zoom .by-key")).to_be_hidden()  # a phone has neither Esc nor answer keys
        page.get_by_role("button", name="Close").tap()
        page.wait_for_timeout(TOO_SOON_MS)
        page.get_by_role("button", name="Similar", exact=True).tap()
        saved(page)
        assert site.votes("Hugo") == {site.keys_of_pairs()[pair]: "similar"}


@pytest.mark.parametrize("look", [PHONE, {"viewport": {"width": 1280, "height": 720}}], ids=["phone", "laptop"])
def test_the_start_and_the_question_are_in_view(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        page.goto(site.invite("Karl"))
        expect(page.get_by_role("link", name="Start with 1 practice pair")).to_be_in_viewport(ratio=1)
        enter(page, site, "Karl")
        shown(page)
        expect(page.get_by_text("Do these two look alike?")).to_be_in_viewport(ratio=1)
        for name in ("Similar", "Not similar"):
            expect(page.locator("#answers").get_by_role("button", name=name).first).to_be_in_viewport(ratio=1)
        query, candidate = (each.bounding_box() for each in page.locator("#stage .picture").all())
        assert query is not None and candidate is not None
        apart = query["x"] - candidate["x"] if look is PHONE else query["y"] - candidate["y"]
        assert abs(apart) < 2  # one below the other, or beside it: neither is pushed to its own edge


def test_pause_reaches_the_expert_and_the_end_is_said(page: Page, site: Site) -> None:
    site.change(paused=True)
    try:
        enter(page, site, "Ida")
        expect(page.locator("#panel-text")).to_contain_text("paused")
    finally:
        site.change(paused=False)
    page.get_by_role("button", name="Check again").click()
    first = press(page, "l")
    saved(page)
    site.answer("Ida", "similar", but=2)  # all the others, except this one and one more
    page.reload()
    press(page, "f")
    assert press(page, "j") == first  # "later" comes back at the end
    expect(page.locator("#panel-text")).to_contain_text("That was the last pair. Everything is stored.")
    answers = list(site.votes("Ida").values())
    assert (answers.count("similar"), answers.count("not similar")) == (23, 1)


def test_a_picture_that_cannot_be_loaded_holds_nobody_up(browser: Browser, site: Site) -> None:
    with opened(browser, "Failed to load resource") as page:
        page.goto(site.invite("Jan"))
        page.route("**/media/thumb/*", lambda route: route.fulfill(status=404))
        page.goto(f"{site.url}/work")
        expect(page.locator("#panel-text")).to_have_text("A picture of this pair cannot be loaded.")
        page.locator("#panel-actions").get_by_role("button", name="Cannot tell").dblclick()  # counts once
        expect(page.locator("#panel-text")).to_have_text("A picture of this pair cannot be loaded.")
        page.unroute("**/media/thumb/*")
        page.get_by_role("button", name="Try again").click()
        press(page, "f")
        saved(page)
        stored = [(event["answer"], event["reason"], event["milliseconds"] is None) for event in site.events("Jan")]
        assert stored == [("cannot tell", "a picture could not be loaded", True), ("similar", None, False)]


def test_nothing_an_expert_receives_names_a_picture_or_a_model(page: Page, site: Site) -> None:
    received: list[str] = []

    def keep(response: Response) -> None:
        if response.status == 200 and not any(part in response.url for part in ("/media/", "/static/")):
            received.append(response.text())

    page.goto(site.invite("Karl"))
    page.on("requestfinished", lambda request: keep(request.response() or pytest.fail("no response")))
    for path in ("/practice", "/work", "/grid"):
        page.goto(f"{site.url}{path}")
        page.wait_for_load_state("networkidle")
    page.goto(f"{site.url}/work")
    press(page, "f")
    shown(page)
    page.keyboard.press("z")
    saved(page)
    everything = "".join(received).replace("Both are squares", "")  # the owner's own note may say so
    for word in ('"pairs"', '"candidates"', '"accepted"', "application/json"):
        assert word in everything
    for word in (GENERATOR, "circle", "square", "triangle", ".png"):
        assert word not in everything
