"""A test of taste in the making, in a real browser: the crowd's questionnaire, the editor, the vote, and axe on all."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from likewise.catalog import make_catalog
from likewise.labeling.store.experts import read_experts
from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import read_answers
from likewise.outfits.aat import questions_from_drafts
from likewise.outfits.builder import OutfitTestBuilder, OutfitTestPlan
from likewise.outfits.lat import add_people_counts
from likewise.outfits.publish import catalog_items, read_drafts, selected_drafts
from likewise.outfits.stages import advance_test_stages
from likewise.synthetic import build_wardrobe, draw_item
from likewise.synthetic.outfits.people import simulate_test
from likewise.workspace import WorkspaceFolder
from tests.browser.site import OWNER_KEY, PHONE, TOO_SOON_MS, Site, opened, saved

AAT_PLAN = OutfitTestPlan(
    n_seed_outfits=400,
    n_experts=2,
    n_best=60,
    n_panel=2,
    n_consistent=40,
    n_rounds=1,
    days_between_rounds=0.0,
    n_questions=2,
    max_guests=3,
)

AGAIN = {colour: f"bags-drawn-again-{colour}" for colour in ("red", "orange", "pink", "yellow", "blue")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("outfits")
    workspace = WorkspaceFolder(folder / "ws")
    rows = build_wardrobe(folder / "pictures", n_items=160, views_per_item=1, workers=1)
    rows = pl.concat([rows, one_bag_in_five_colours(rows, folder / "pictures")])
    make_catalog(workspace, rows, folder / "pictures", "wardrobe")
    started = Site(workspace)
    builder = OutfitTestBuilder(workspace, "taste")
    builder.start(AAT_PLAN)
    with started.engine() as engine:
        _until_the_crowd(builder, engine)
    waiting = OutfitTestBuilder(workspace, "waiting")
    waiting.start(replace(AAT_PLAN, n_seed_outfits=20))
    with started.engine() as engine:
        advance_test_stages(waiting, engine)
    started.start()
    yield started
    started.kill()


def one_bag_in_five_colours(rows: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Rows and pictures of a bag drawn again, so that nothing but the colour differs."""
    bag = rows.filter(pl.col("category") == "bags").row(0, named=True)
    drawn = []
    for colour, name in AGAIN.items():
        row = bag | {"item": name, "image": f"{name}.jpg", "colour": colour}
        draw_item(row | {"item": bag["item"]}, 0, 0, size=96).save(folder / row["image"])
        drawn.append(row)
    return pl.DataFrame(drawn, schema=rows.schema)


def _until_the_crowd(builder: OutfitTestBuilder, engine: Any) -> None:
    """Simulated experts do everything but the last stage, which is opened again for real visitors."""
    simulate_test(builder, engine, n_crowd=0)
    builder.stage_file("crowd").unlink()
    assert advance_test_stages(builder, engine).stage == "crowd"


def check(page: Page) -> None:
    result = Axe().run(page)
    assert result.violations_count == 0, f"{page.url}\n{result.generate_report()}"
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than the window"


def crowd(site: Site) -> list[tuple[int, ...]]:
    """What the questionnaire yields now: per question, how many people chose what."""
    questions = OutfitTestBuilder(site.workspace, "taste").questions("final")
    with site.engine() as engine:
        answers = read_answers(engine, "taste-crowd").rename({"expert": "person"})
    return [question.people for question in add_people_counts(questions, answers.select("question", "person", "value"))]


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
        for place in range(1, 5):
            wrong.nth(place).check()
        for category in ("dresses", "shoes"):
            page.locator("summary", has_text=category).click()
            page.locator(f"input[name='worn-{category}']").nth(1).check()
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("alert")).to_contain_text("also differ in")  # drawn bags differ in more than colour
        assert right.nth(0).is_checked()  # what was chosen is still there
        check(page)
    with site.engine() as engine:
        assert read_drafts(engine) == []


def test_a_designer_writes_is_refused_mends_and_colleagues_vote_it_into_the_test(browser: Browser, site: Site) -> None:
    with opened(browser, allowed="400") as page:
        page.goto(site.invite("Emil"))
        page.goto(f"{site.url}/outfits/designs/new?dimension=color&sub=cool+tone&category=bags")
        page.locator(f"input[name=right][value={AGAIN['blue']}]").check()
        for colour in ("red", "orange", "pink", "yellow"):
            page.locator(f"input[name=wrong][value={AGAIN[colour]}]").check()
        page.get_by_label("The styling idea").fill("All in blue")
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("alert")).to_contain_text("no valid outfit")  # a bag alone
        page.locator("summary", has_text="shoes").click()
        page.locator("input[name=worn-shoes]").nth(1).check()
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("alert")).to_contain_text("the body is not covered")
        page.locator("summary", has_text="dresses").click()
        page.locator("input[name=worn-dresses]").nth(1).check()
        page.get_by_role("button", name="Propose").click()
        expect(page).to_have_url(f"{site.url}/outfits/designs")
        expect(page.get_by_text("All in blue")).to_be_visible()
        expect(page.get_by_text("0 for, 0 against")).to_be_visible()
        page.goto(f"{site.url}/outfits/votes")
        expect(page.get_by_text("All in blue")).to_have_count(0)  # nobody votes on their own
    with site.engine() as engine:
        assert selected_drafts(engine).drafts == []  # nobody has voted yet
    for name, says in (("Fay", "For"), ("Gus", "Against"), ("Hal", "For")):
        with opened(browser) as page:
            page.goto(site.invite(name))
            page.goto(f"{site.url}/outfits/votes")
            expect(page.get_by_text("All in blue")).to_be_visible()
            check(page)
            page.get_by_role("button", name=says).click()
            expect(page.get_by_role("button", name=says)).to_have_attribute("aria-pressed", "true")
    with site.engine() as engine:
        chosen = selected_drafts(engine)
    assert [one.author for one in chosen.drafts] == ["Emil"]
    assert list(chosen.votes.values()) == [(2, 1)]
    (question,) = questions_from_drafts(chosen.drafts, catalog_items(site.workspace))
    assert question.right is not None
    assert question.choices[question.right].item == AGAIN["blue"]
    assert (question.dimension, question.sub_dimension, len(question.choices)) == ("color", "cool tone", 5)


def test_a_designer_brings_a_picture_and_nothing_chosen_is_lost(browser: Browser, site: Site, tmp_path: Path) -> None:
    Image.new("RGB", (2400, 1600), "teal").save(tmp_path / "bag.jpg")
    (tmp_path / "no.jpg").write_text("no picture")
    with opened(browser, allowed="400") as page:
        page.goto(site.invite("Jo"))
        page.goto(f"{site.url}/outfits/designs/new?dimension=color&sub=warm+tone&category=bags")
        expect(page.locator("#main[data-state=ready]")).to_be_visible()
        for colour in ("red", "orange", "pink", "yellow"):
            page.locator(f"input[name=wrong][value={AGAIN[colour]}]").check()
        page.locator("#file").set_input_files(tmp_path / "no.jpg")
        expect(page.locator("#said")).to_contain_text("cannot be read as a picture")
        page.locator("#file").set_input_files(tmp_path / "bag.jpg")
        expect(page.locator("#said")).to_contain_text("Your picture is among the bags")
        own = page.locator("[data-shelf=bags] li").first
        expect(own.get_by_role("radio")).to_be_focused()
        assert own.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 768
        own.get_by_role("radio").check()
        page.locator("#picture-category").select_option("shoes")
        page.locator("#file").set_input_files(tmp_path / "bag.jpg")
        expect(page.locator("#said")).to_contain_text("among the shoes")
        check(page)
        page.locator("[data-shelf=shoes] li").nth(1).get_by_role("radio").check()
        page.locator("summary", has_text="dresses").click()
        page.locator("input[name=worn-dresses]").nth(1).check()
        page.get_by_label("The styling idea").fill("Teal against warm")
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("alert")).to_contain_text("confirm that the choices differ in color only")
        page.get_by_label("The choices differ in color only").check()
        page.get_by_role("button", name="Propose").click()
        expect(page).to_have_url(f"{site.url}/outfits/designs")
        expect(page.get_by_text("Teal against warm")).to_be_visible()
        expect(page.get_by_role("heading", name="My pictures")).to_be_visible()
        assert page.locator("section:has(#pictures-title) img").count() == 2
        check(page)
    with site.engine() as engine:
        [draft] = [one for one in read_drafts(engine) if one.author == "Jo"]
    assert draft.choices[0].startswith("design-") and set(draft.choices[1:]) < set(AGAIN.values())
    with opened(browser, **PHONE) as page:
        page.goto(site.invite("Kim"))
        page.goto(f"{site.url}/outfits/votes")
        expect(page.get_by_text("Teal against warm")).to_be_visible()
        check(page)


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


def test_every_category_and_every_reason_to_delete_has_a_key(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        page.goto(site.invite("Ida"))
        page.goto(f"{site.url}/questions")
        first = ready(page)
        keys = page.locator("#options kbd").all_text_contents()
        assert len(keys) == len(set(keys)) == page.locator("#options button").count() == 25
        page.keyboard.press(keys[24].lower())  # the last reason: not all of it is visible
        expect(page.locator(f'#main[data-question="{first}"]')).not_to_be_attached()
        ready(page)
        page.keyboard.press(keys[19].lower())
        saved(page)
    with site.engine() as engine:
        said = [row["value"] for row in read_answers(engine, "waiting-sort").iter_rows(named=True)]
    assert len(said) == 2
    assert "brooch" in said
    assert "delete: cut off" in said
