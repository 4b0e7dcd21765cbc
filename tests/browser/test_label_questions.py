"""The other kinds of question, for experts and for guests of a public questionnaire."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import NewQuestion, add_questions, read_answers
from tests.browser.site import TOO_SOON_MS, Site, enter, running_site, saved

CIRCLE, SQUARE, TRIANGLE = "circle/red-0.png", "square/red-0.png", "triangle/red-0.png"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as started:
        two = (("left", "Left", SQUARE), ("right", "Right", TRIANGLE))
        four = tuple(
            (colour, colour.title(), f"circle/{colour}-0.png") for colour in ("red", "orange", "blue", "green")
        )
        with started.engine() as engine:
            add_questions(engine, "triplet", [NewQuestion("t", (CIRCLE,), two)])
            add_questions(engine, "rating", [NewQuestion("r", (CIRCLE, SQUARE))])
            add_questions(engine, "keep", [NewQuestion("k", (CIRCLE,))])
            add_questions(engine, "choice", [NewQuestion("c", (SQUARE,), four, "Which circle goes with the square?")])
            add_questionnaire(
                engine,
                "shapes",
                "A study of shapes",
                consent="We study shapes.\n\nOne minute.",
                public=True,
                most_guests=5,
            )
            add_questions(engine, "rating", [NewQuestion("p", (TRIANGLE,))], "shapes")
        yield started


def answers(site: Site) -> dict[str, str]:
    """What stands, by question."""
    with site.engine() as engine:
        return {row["question"]: row["value"] for row in read_answers(engine).sort("revision").iter_rows(named=True)}


def kind_shown(page: Page) -> str:
    expect(page.locator("#main[data-question] #question")).to_be_visible()
    page.wait_for_timeout(TOO_SOON_MS)
    return page.locator("#question").get_attribute("data-kind") or ""


def test_every_kind_is_answered_by_one_key_and_the_last_can_be_answered_again(page: Page, site: Site) -> None:
    enter(page, site, "Anna", "/questions")
    keys = {"triplet": "2", "rating": "0", "keep": "2", "choice": "3"}
    for _ in range(3):
        kind = kind_shown(page)
        before = page.locator("#main").get_attribute("data-question")
        page.keyboard.press(keys[kind])
        expect(page.locator(f'#main[data-question="{before}"]')).not_to_be_attached()
    last = kind_shown(page)
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.keyboard.press("z")
    assert kind_shown(page) == last
    expect(page.locator("#options [aria-current=true]")).to_have_count(1)  # what was answered before
    page.keyboard.press(keys[last])
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    saved(page)
    assert answers(site) == {"t": "right", "r": "10", "k": "delete", "c": "blue"}
    expect(page.locator("#progress-text")).to_contain_text("4 of 4")


def test_a_guest_agrees_first_and_then_answers(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/q/shapes")
    expect(page.get_by_text("One minute.")).to_be_visible()
    page.get_by_role("checkbox").press("Space")
    page.get_by_role("button", name="Begin").press("Enter")
    assert kind_shown(page) == "rating"
    expect(page.get_by_role("navigation")).to_have_count(0)  # a guest has no other pages
    page.keyboard.press("7")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    saved(page)
    assert answers(site)["p"] == "7"
