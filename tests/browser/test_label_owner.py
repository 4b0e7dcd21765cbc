"""The owner's pages in a real browser: invite, watch, decide, pause, remove; and what the log keeps of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import OWNER_KEY, Site, running_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as started:
        for name, answer, but in [("Boris", "similar", 0), ("Chiara", "not similar", 4)]:
            started.invite(name)
            started.answer(name, answer, but)
        yield started


@pytest.fixture
def owner(page: Page, site: Site) -> Page:
    page.goto(f"{site.url}/owner/enter/{OWNER_KEY}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Shapes")
    return page


def test_an_invitation_is_shown_once_and_works(owner: Page, site: Site) -> None:
    owner.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
    owner.get_by_text("Invite an expert").click()
    owner.get_by_label("Name").fill("Anna <b>")
    owner.get_by_role("button", name="Make the link").click()
    expect(owner.locator(".invitation")).to_contain_text("Anna <b>")  # escaped, not bold
    expect(owner.locator(".invitation")).not_to_contain_text("earlier link")
    link = owner.get_by_label("Invitation link").input_value()
    owner.get_by_role("button", name="Copy").click()
    expect(owner.locator("#copied")).to_have_text("Copied")
    assert owner.evaluate("navigator.clipboard.readText()") == link
    owner.goto(f"{site.url}/owner")
    expect(owner.locator(".invitation")).to_have_count(0)
    guest = owner.context.browser
    assert guest is not None
    context = guest.new_context()
    expert = context.new_page()
    expert.goto(link)
    expect(expert.get_by_role("heading", level=1)).to_contain_text("Shapes")
    owner.get_by_text("Invite an expert").click()
    owner.get_by_label("Name").fill("Anna <b>")
    owner.get_by_role("button", name="Make the link").click()
    expect(owner.locator(".invitation")).to_contain_text("The earlier link no longer works; the votes are kept.")
    context.close()


def test_the_board_tells_progress_agreement_and_cost(owner: Page) -> None:
    row = owner.locator("#experts tbody tr").filter(has_text="Boris")
    expect(row).to_contain_text("24 of 24")
    expect(row).to_contain_text("2.0 s")
    expect(owner.locator("#divided .pairs > li")).not_to_have_count(0)
    expect(owner.locator("#queries li")).to_have_count(4)
    expect(owner.locator(".stability")).to_contain_text("Would more labels change the order?")
    expect(owner.locator("#agreement")).to_contain_text("Krippendorff's alpha")


def test_pause_decide_revoke_and_remove_leave_a_trace(owner: Page, site: Site) -> None:
    owner.get_by_role("button", name="Pause").click()
    expect(owner.locator("h1 .badge")).to_have_text("paused")
    owner.get_by_role("button", name="Resume").click()
    expect(owner.locator("h1 .badge")).to_have_count(0)
    pair = owner.locator("#divided .pairs > li").first
    pair.get_by_role("button", name="Not similar", exact=True).click()
    expect(owner.locator("#divided button[aria-pressed=true]")).to_have_count(1)
    owner.get_by_text("Revoke a link").click()
    owner.locator("#revoke-expert").select_option("Chiara")
    owner.get_by_role("button", name="Revoke", exact=True).click()
    expect(owner.locator("#experts tbody tr").filter(has_text="Chiara")).to_contain_text("revoked")
    owner.get_by_text("Remove an expert's votes").click()
    owner.locator("#remove-expert").select_option("Chiara")
    owner.get_by_label("Reason").fill("answered without looking")
    owner.get_by_role("button", name="Remove the votes").click()
    expect(owner.locator("#log")).to_contain_text("answered without looking")
    expect(owner.locator("#divided .pairs > li")).to_have_count(0)  # nobody disagrees with Boris any more


def test_exports_download(owner: Page) -> None:
    for name in ("labels.parquet", "vsd.json", "crowdkit.csv", "events.csv"):
        with owner.expect_download() as download:
            owner.get_by_role("link", name=name).click()
        assert download.value.path().stat().st_size > 0


def test_guidelines_and_examples_are_edited(owner: Page, site: Site) -> None:
    owner.get_by_role("link", name="Guidelines").click()
    owner.locator("#text").fill("Look at corners.\n\n<i>Nothing else.</i>")
    owner.locator("select[name=use]").nth(3).select_option("practice")
    owner.locator("input[name=note]").nth(3).fill("Count the corners.")
    owner.locator("select[name=use]").nth(4).select_option("example")
    owner.locator("input[name=note]").nth(4).fill("A clear case.")
    with owner.context.expect_page() as shown:
        owner.get_by_role("button", name="Preview").click()
    preview = shown.value
    expect(preview.get_by_role("status")).to_contain_text("Nothing is saved yet")
    expect(preview.get_by_text("<i>Nothing else.</i>")).to_be_visible()
    expect(preview.locator(".examples li")).to_have_count(3)  # two of before, and this one
    expect(preview.get_by_text("A clear case.")).to_be_visible()
    preview.close()
    owner.locator("select[name=use]").nth(4).select_option("")
    owner.get_by_role("button", name="Save").click()
    expect(owner.locator("#text")).to_have_value("Look at corners.\n\n<i>Nothing else.</i>")
    expect(owner.locator(".choices li.used")).to_have_count(4)
    owner.goto(site.invite("Dora"))
    expect(owner.get_by_text("<i>Nothing else.</i>")).to_be_visible()
    expect(owner.get_by_role("link", name="Start with 2 practice pairs")).to_be_visible()


def test_signing_out_closes_the_door(owner: Page, site: Site) -> None:
    owner.get_by_role("button", name="Sign out").click()
    assert owner.url == f"{site.url}/owner/login"
    owner.goto(f"{site.url}/owner")
    assert owner.url == f"{site.url}/owner/login"
