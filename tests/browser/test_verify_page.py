"""A person verifies a template on the labelling site: fifteen candidates that can be seen, on a desk and on a phone."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from likewise.conditional.templates.verify import choice_questions, questionnaire_slug, verify_templates
from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import add_questions, read_answers
from tests.browser.site import PHONE, TOO_SOON_MS, Site, enter, opened, running_site, saved
from tests.browser.verifying import templates_of_shapes

LOOKS: list[dict[str, Any]] = [PHONE, {"color_scheme": "dark"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("verify")) as started:
        with started.engine() as engine:
            add_questionnaire(engine, questionnaire_slug("shapes"), "Which one fits?")
            add_questions(
                engine, "choice", choice_questions("shapes", templates_of_shapes()), questionnaire_slug("shapes")
            )
        yield started


@pytest.mark.parametrize("look", LOOKS, ids=["phone", "desk, dark"])
def test_candidates_are_large_enough_and_an_answer_counts(browser: Browser, site: Site, look: dict[str, Any]) -> None:
    with opened(browser, **look) as page:
        name = f"Vera{len(look)}"
        enter(page, site, name, "/questions")
        expect(page.locator("#main[data-question]")).to_be_attached()
        expect(page.locator("#prompt")).to_be_in_viewport()
        assert page.locator(".face").count() == 15
        sizes = page.locator(".face img").evaluate_all("faces => faces.map(face => Math.min(face.width, face.height))")
        assert min(sizes) >= 48
        assert Axe().run(page).violations_count == 0
        with site.engine() as engine:
            [asked] = choice_questions("shapes", templates_of_shapes())
        [place] = [value for value, _, image in asked.options if image == templates_of_shapes()["target"][0]]
        page.wait_for_timeout(TOO_SOON_MS)
        page.locator(".face").nth(int(place) - 1).click()
        saved(page)
        with site.engine() as engine:
            answers = read_answers(engine, questionnaire_slug("shapes")).filter(expert=name)
        found = verify_templates("shapes", templates_of_shapes(), answers)
        assert found.verdicts["kept"].to_list() == [True] and found.scores["value"].to_list() == [1.0]
