"""A test of taste in the making, in a real browser: the crowd's questionnaire, the editor, the vote, and axe on all."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.catalog import make_catalog
from likewise.catalog.wardrobe import build_wardrobe
from likewise.labeling.store.experts import read_experts
from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import read_answers
from likewise.outfits.lat import with_people
from likewise.outfits.plan import Making, Plan
from likewise.outfits.publish import read_drafts, selected_drafts
from likewise.outfits.simulated import simulate_test
from likewise.outfits.stages import advance
from likewise.workspace import Workspace
from tests.browser.site import OWNER_KEY, PHONE, TOO_SOON_MS, Site, opened, saved

PLAN = Plan(
    n_seed_outfits=400,
    n_experts=2,
    n_best=60,
    n_panel=2,
    n_consistent=40,
    n_rounds=1,
    days_between_rounds=0.0,
    n_questions=2,
    most_guests=3,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("outfits")
    workspace = Workspace(folder / "ws")
    rows = build_wardrobe(folder / "pictures", n_items=160, views_per_item=1, workers=1)
    make_catalog(workspace, rows, folder / "pictures", "wardrobe")
    started = Site(workspace)
    making = Making(workspace, "taste")
    making.begin(PLAN)
    with started.engine() as engine:
        _until_the_crowd(making, engine)
    waiting = Making(workspace, "waiting")
    waiting.begin(replace(PLAN, n_seed_outfits=20))
    with started.engine() as engine:
        advance(waiting, engine)
    started.start()
    yield started
    started.kill()


def _until_the_crowd(making: Making, engine: Any) -> None:
    """Simulated experts do everything but the last stage, which is opened again for real visitors."""
    simulate_test(making, engine, n_crowd=0)
    making.file("crowd").unlink()
    assert advance(making, engine).stage == "crowd"


def check(page: Page) -> None:
    result = Axe().run(page)
    assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than the window"


def crowd(site: Site) -> list[tuple[int, ...]]:
    """What the questionnaire yields now: per question, how many people chose what."""
    questions = Making(site.workspace, "taste").questions("final")
    with site.engine() as engine:
        answers = read_answers(engine, "taste-crowd").rename({"expert": "person"})
    return [question.people for question in with_people(questions, answers.select("question", "person", "value"))]


def ready(page: Page) -> str:
    expect(page.locator("#main[data-question] #question")).to_be_visible()
    page.wait_for_timeout(TOO_SOON_MS)
    return page.locator("#main").get_attribute("data-question") or ""


def test_one_person_of_the_crowd_counts_once_however_often_they_answer(browser: Browser, site: Site) -> None:
    seen: list[str] = []
    with opened(browser) as page:
        page.on("response", lambda reply: seen.append(reply.text()) if "/api/questions" in reply.url else None)
        page.goto(f"{site.url}/q/taste-crowd")
        expect(page.get_by_text("there is no right or wrong")).to_be_visible()
        check(page)
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("checkbox")).to_be_visible()  # nothing begins without consent
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Begin").click()
        first = ready(page)
        check(page)
        assert page.locator("#options button").count() == 5
        page.keyboard.press("2")
        expect(page.locator(f'#main[data-question="{first}"]')).not_to_be_attached()
        ready(page)
        page.keyboard.press("z")  # back to the first question, another answer
        assert ready(page) == first
        page.keyboard.press("4")
        ready(page)
        page.keyboard.press("1")
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        saved(page)
        page.goto(f"{site.url}/q/taste-crowd")  # coming again: the same person, nothing left to answer
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    people = crowd(site)
    assert sorted(sum(each) for each in people) == [1, 1]
    assert sorted(each.index(1) for each in people) == [0, 3]  # the last answer of the two
    shown = "".join(seen)
    assert "right" not in shown  # no answer is given away, not even to whoever reads the traffic
    assert "people" not in shown


def test_a_full_questionnaire_lets_nobody_else_in(browser: Browser, site: Site) -> None:
    for _ in range(2):
        with opened(browser) as page:
            page.goto(f"{site.url}/q/taste-crowd")
            page.get_by_role("checkbox").check()
            page.get_by_role("button", name="Begin").click()
            ready(page)
    with opened(browser, allowed="429|403") as page:
        page.goto(f"{site.url}/q/taste-crowd")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("has all the answers it needs")).to_be_visible()
    with site.engine() as engine:
        add_questionnaire(engine, "taste-crowd", "x", consent="y", public=True, most_guests=100)
        assert sum(expert.kind == "guest" for expert in read_experts(engine)) == 3


def test_the_editor_refuses_two_differences_and_keeps_a_clean_question_that_others_vote_on(
    browser: Browser, site: Site
) -> None:
    editor = f"{site.url}/outfits/designs/new?dimension=color&sub=same+color&category=bags"
    with opened(browser, allowed="400") as page:
        page.goto(site.invite("Dana"))
        page.goto(editor)
        right = page.locator("input[name=right]")
        wrong = page.locator("input[name=wrong]")
        right.nth(0).check()
        wrong.nth(1).check()
        wrong.nth(2).check()
        for category in ("dresses", "shoes"):
            page.locator("summary", has_text=category).click()
            page.locator(f"input[name='worn-{category}']").nth(1).check()
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("alert")).to_contain_text("also differ in")  # drawn bags differ in more than colour
        assert right.nth(0).is_checked()  # what was chosen is still there
        check(page)
    with site.engine() as engine:
        assert read_drafts(engine) == []


def test_a_draft_is_voted_in(browser: Browser, site: Site) -> None:
    from likewise.labeling.store.notes import add_note
    from likewise.outfits.aat import Draft
    from likewise.outfits.publish import DRAFT, catalog_items

    by_category: dict[str, list[str]] = {}
    for item in catalog_items(site.workspace).values():
        by_category.setdefault(item.category, []).append(item.item)
    worn = (by_category["dresses"][0], by_category["shoes"][0])
    draft = Draft("draft-1", "Emil", "color", "cool tone", worn, tuple(by_category["bags"][:3]), True, "All in blue")
    site.invite("Emil")
    with site.engine() as engine:
        emil = next(expert.id for expert in read_experts(engine) if expert.name == "Emil")
        add_note(engine, DRAFT, draft.name, emil, draft.body())
    with opened(browser) as page:
        page.goto(site.invite("Fay"))
        page.goto(f"{site.url}/outfits/votes")
        expect(page.get_by_text("All in blue")).to_be_visible()
        check(page)
        page.get_by_role("button", name="Against").click()
        page.get_by_role("button", name="For").click()
        expect(page.get_by_role("button", name="For")).to_have_attribute("aria-pressed", "true")
    with site.engine() as engine:
        chosen = selected_drafts(engine)
    assert [one.name for one in chosen.drafts] == ["draft-1"]
    assert chosen.votes["draft-1"] == (1, 0)


@pytest.mark.parametrize("look", [{"color_scheme": "light", **PHONE}, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_every_page_about_outfits_passes_axe(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        for path in ("/owner/outfits", "/owner/outfits/taste/questions"):
            page.goto(f"{site.url}{path}")
            check(page)
        page.goto(f"{site.url}/owner/outfits")
        page.locator("form[action$='waiting/advance'] .strong").click()
        expect(page.get_by_text("0 of")).to_be_visible()
        check(page)
    with opened(browser, **look) as page:
        page.goto(site.invite(f"Gwen {look['color_scheme']}"))
        for path in ("designs", "designs/new?dimension=season&sub=winter&category=shoes", "votes", "factors"):
            page.goto(f"{site.url}/outfits/{path}")
            check(page)
        page.get_by_label("season").check()
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Question 2 of")).to_be_visible()
