"""The page of a gate in a browser: fetches nothing, is accessible, fits a phone, shows a result beside its query."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from likewise.evaluation.gate.step import run_gate
from likewise.report.gate_page import write_gate
from tests.evaluation.labelled_workspace import make_labelled


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = make_labelled(tmp_path_factory.mktemp("gate"))
    result = run_gate(workspace, "colour", "layout", measure="nDCG@3")
    return write_gate(workspace, result, workspace.gate_folder)


def test_it_fetches_nothing_and_a_click_compares_a_result_with_its_query(page: Page, file: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(file.as_uri())
    assert [url for url in asked if not url.startswith(("data:", file.as_uri()))] == []
    expect(page.locator("h1")).to_contain_text("layout against colour")
    first = page.locator("article.change").first
    assert first.locator(".sides > div").count() == 2
    first.locator(".zoom").first.click()
    expect(page.locator("#zoom")).to_be_visible()
    assert page.locator("#zoom-pictures svg").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_accessible_and_fits(browser: Browser, file: Path, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(file.as_uri())
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
