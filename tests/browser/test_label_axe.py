"""Every page of the site passes axe, in light and dark, on a desk and on a phone, and can be used without a mouse."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.labeling.store.experts import set_owner_password_hash
from likewise.labeling.store.questions import NewQuestion, add_questions
from likewise.web.passwords import hash_password
from tests.browser.site import OWNER_KEY, PHONE, Site, opened, running_site

EXPERT_PAGES = ("/welcome", "/practice", "/work", "/grid", "/questions", "/done")
OWNER_PAGES = ("/owner", "/owner/guidelines")
LOOKS: list[dict[str, Any]] = [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as started:
        with started.engine() as engine:
            add_questions(engine, "rating", [NewQuestion("r", ("circle/red-0.png",))])
        for name, answer in [("Boris", "similar"), ("Chiara", "not similar")]:
            started.invite(name)
            started.answer(name, answer, 2)
        yield started


CUT_TEXTS = """
[...document.querySelectorAll('p, caption, dd, figcaption, h1, h2, h3')]
  .filter(each => each.getBoundingClientRect().width && each.getBoundingClientRect().right > innerWidth + 1)
  .map(each => each.textContent.trim())
"""


def check(page: Page) -> None:
    result = Axe().run(page)
    assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than the window"
    assert page.evaluate(CUT_TEXTS) == [], f"{page.url}: sentences that go on outside of the window"


def ready(page: Page) -> None:
    if page.locator("#main[data-state]").count():
        expect(page.locator("#main[data-state=showing]")).to_be_attached()


@pytest.mark.parametrize("look", LOOKS, ids=["phone, light", "desk, dark"])
def test_an_experts_pages(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        page.goto(site.invite("Anna"))
        for path in EXPERT_PAGES:
            page.goto(f"{site.url}{path}")
            ready(page)
            check(page)
            if look is LOOKS[0]:
                continue
            if path in ("/work", "/grid"):
                page.keyboard.press("e")
                expect(page.locator("#zoom")).to_be_visible()
                check(page)
                page.keyboard.press("Escape")
            if path == "/work":
                page.keyboard.press("r")
                check(page)
                page.keyboard.press("Escape")
                page.locator("#keys-open").evaluate("button => button.click()")
                check(page)
                page.keyboard.press("Escape")
            if path == "/grid":
                for key in ("1", "2", "u"):
                    page.keyboard.press(key)
                check(page)


def test_without_a_password_nobody_is_asked_for_one(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(f"{site.url}/owner/login")
        expect(page.get_by_role("alert")).to_contain_text("No password is set")
        expect(page.get_by_label("Password")).to_have_count(0)
        check(page)


@pytest.mark.parametrize("look", LOOKS, ids=["phone, light", "desk, dark"])
def test_the_owners_pages(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with site.engine() as engine:
        set_owner_password_hash(engine, hash_password("a password of the tests"))
    with opened(browser, "403", **look) as page:
        page.goto(f"{site.url}/owner/login")
        page.get_by_label("Password").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        check(page)
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        for path in OWNER_PAGES:
            page.goto(f"{site.url}{path}")
            check(page)
        page.goto(f"{site.url}/owner")
        page.get_by_text("Remove an expert's votes").click()
        page.get_by_text("Invite an expert").click()
        check(page)
        page.get_by_label("Name").fill("Dora")
        page.get_by_role("button", name="Make the link").click()
        check(page)


def test_a_dead_link_is_explained(browser: Browser, site: Site) -> None:
    with opened(browser, "404") as page:
        page.goto(f"{site.url}/i/nonsense")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check(page)


def test_everything_on_the_pair_page_is_reached_by_tab_and_shows_its_focus(page: Page, site: Site) -> None:
    page.goto(site.invite("Emil"))
    page.goto(f"{site.url}/work")
    ready(page)
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.innerText.trim() || document.activeElement.ariaLabel,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        if name in reached or document_is(page):
            break
        reached.append(name)
        assert outline != "none", f"{name} does not show its focus"
    wanted = ("Similar F", "Not similar J", "Cannot tell U", "Later L", "Enlarge E", "Keys…", "Query picture: enlarge")
    assert [name for name in wanted if name not in reached] == []


def document_is(page: Page) -> bool:
    return bool(page.evaluate("document.activeElement === document.body"))
