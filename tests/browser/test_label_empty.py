"""A site that was started before any pair was chosen: everyone reads what comes next, nobody is thanked for nothing."""

from playwright.sync_api import Page, expect

from likewise.workspace import WorkspaceFolder
from tests.browser.site import OWNER_KEY, Site


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
        page.goto(site.invite("Anna"))
        for way in ("work", "grid", "done"):
            page.goto(f"{site.url}/{way}")
            expect(page.locator("#panel-text")).to_contain_text("There are no pairs to answer yet")
    finally:
        site.kill()
