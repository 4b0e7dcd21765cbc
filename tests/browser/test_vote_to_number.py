"""From a vote to a number: an expert answers on the site, `likewise report` runs, and the page shows another number."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from likewise.cli import main
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.evaluation.ranking import MAIN
from likewise.workspace import WorkspaceFolder
from tests.browser.site import Site, enter, make_workspace, opened, press, saved


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    made = make_workspace(tmp_path)
    encode_catalog(made, ["colour", "shape"], workers=1)
    store_pool(made, make_pool(made, PoolSettings(("colour", "shape"), k=2, n_queries=6, n_random=0)), replace=True)
    return made


def report_numbers(page: Page, workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """`likewise report`, and each model's number as it stands on the page."""
    monkeypatch.setattr(sys, "argv", ["likewise", "report", str(workspace.path)])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    page.goto(workspace.report_file.as_uri())
    rows = page.locator("#leaderboard-table tr[data-encoder]")
    names = rows.evaluate_all("rows => rows.map(row => row.dataset.encoder)")
    headers = page.locator("#leaderboard-table th[data-measure]").evaluate_all("all => all.map(h => h.dataset.measure)")
    at = headers.index(str(MAIN))
    values = rows.evaluate_all(f"rows => rows.map(row => row.querySelectorAll('td[data-value]')[{at}].dataset.value)")
    return dict(zip(names, map(float, values), strict=True))


def test_a_vote_on_the_site_changes_a_number_of_the_report(
    browser: Browser, workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(workspace)
    site.start()
    try:
        with opened(browser) as page, opened(browser) as report:
            enter(page, site, "Anna")
            site.answer("Anna", "not similar", but=2)
            page.reload()
            press(page, "f")  # similar
            saved(page)
            before = report_numbers(report, workspace, monkeypatch)
            press(page, "f")
            saved(page)
            after = report_numbers(report, workspace, monkeypatch)
    finally:
        site.kill()
    assert set(before) == set(after) == {"colour", "shape"}
    assert before != after
