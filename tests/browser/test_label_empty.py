"""A site that was started before any pair was chosen: everyone reads what comes next, nobody is thanked for nothing."""

from pathlib import Path

from playwright.sync_api import Page, expect

from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.workspace import WorkspaceFolder
from tests.browser.site import OWNER_KEY, Site, make_workspace


def test_before_a_pool_exists_the_owner_reads_the_next_command_and_experts_wait(
    workspace: WorkspaceFolder, page: Page
) -> None:
    site = Site(workspace)
    site.start()
    try:
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        expect(page.locator(".lead")).to_contain_text(
            f"There are no pairs to label yet. Run likewise encode {workspace.path}"
        )
        expect(page.locator("main")).not_to_contain_text("–")  # no figure that nothing is known of
        page.goto(f"{site.url}/owner/guidelines")
        expect(page.locator("main")).to_contain_text(f"once likewise discover {workspace.path} has drawn them")
        for room in ("owner/looks", "explore"):
            answer = page.goto(f"{site.url}/{room}")
            assert answer is not None and answer.ok
            expect(page.locator("main code")).to_have_text(f"likewise encode {workspace.path}")
        page.goto(site.invite("Anna"))
        for way in ("work", "grid", "done"):
            page.goto(f"{site.url}/{way}")
            expect(page.locator("#panel-text")).to_contain_text("There are no pairs to answer yet")
        encode_catalog(workspace, ["colour"], workers=1)
        store_pool(workspace, make_pool(workspace, PoolSettings(("colour",), k=2, n_queries=3, n_random=0)))
        page.goto(f"{site.url}/work")  # the same site, not started again
        expect(page.locator("#main[data-state=showing]")).to_be_attached()
    finally:
        site.kill()


def test_before_the_first_answer_the_owner_reads_what_comes_next(page: Page, tmp_path: Path) -> None:
    site = Site(make_workspace(tmp_path))
    encode_catalog(site.workspace, ["colour"], workers=1)
    site.start()
    try:
        site.invite("Anna")
        page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
        expect(page.locator("main")).not_to_contain_text("–")
        expect(page.locator("#experts tbody tr")).to_contain_text("has not begun")
        expect(page.locator(".stability")).to_contain_text("Known after the first answers.")
        expect(page.locator("#chain .note")).to_contain_text("invited experts answer here")
        expect(page.locator("#chain .note code")).to_have_text(f"likewise report {site.workspace.path}")
        expect(page.locator("main")).not_to_contain_text("`")
        expect(page.locator("#goal code")).to_have_text(f"likewise discover {site.workspace.path} --design sampled")
        expect(page.locator("#agreement p")).to_have_text("Known once two experts have answered the same pairs.")
        site.answer("Anna", "similar", but=20)
        page.reload()
        expect(page.locator(".stability")).to_contain_text("Known once labels are made of the answers.")
        expect(page.locator("#agreement p")).to_have_text("Known once two experts have answered the same pairs.")
        expect(page.locator(".facts")).to_contain_text("\u00a0%of the answered pairs")
    finally:
        site.kill()
