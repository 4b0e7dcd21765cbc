"""The leaderboard page in a real browser: sorts by any column, fetches nothing, fits a phone."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from likewise.report.leaderboard_page import write_leaderboard_page
from tests.report.test_leaderboard_page import result, write_result


@pytest.fixture
def standings(page: Page, tmp_path: Path) -> Page:
    fed = result("dino", 0.81, generator=True) + result("clip", 0.77, generator=True)
    ours = write_result(tmp_path / "one.parquet", fed)
    mine = write_result(tmp_path / "two.parquet", result("mine", 0.84), date="2026-04-02T08:00:00Z")
    file = write_leaderboard_page([ours, mine], tmp_path / "page.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(file.as_uri())
    assert [url for url in asked if not url.startswith(("data:", file.as_uri()))] == []
    return page


def order(page: Page) -> list[str]:
    rows = page.locator("tr[data-encoder]").evaluate_all("rows => rows.map(row => row.dataset.encoder)")
    return [str(name) for name in rows]


def test_any_column_sorts_both_ways_by_keyboard(standings: Page) -> None:
    assert order(standings) == ["mine", "dino", "clip"]
    for header, first in (("th[data-sort=number]", ["clip", "dino", "mine"]), ("th[data-sort=text]", None)):
        column = standings.locator(header).first
        column.locator("button").focus()
        standings.keyboard.press("Enter")
        once = order(standings)
        assert first is None or once == first
        standings.keyboard.press("Enter")
        assert order(standings) == once[::-1]
    assert order(standings) in (["clip", "dino", "mine"], ["mine", "dino", "clip"])


def test_it_is_accessible_and_fits_a_phone(standings: Page) -> None:
    found = Axe().run(standings)
    assert found.violations_count == 0, found.generate_report()
    standings.set_viewport_size({"width": 390, "height": 844})
    wide = standings.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    expect(standings.get_by_text("likewise evaluate shoes").first).to_be_attached()
