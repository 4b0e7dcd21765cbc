"""No vote is lost: dropped networks, killed servers, two tabs, refusals. What was clicked is what is stored."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Route, expect

from tests.browser.site import (
    CANDIDATES_PER_QUERY,
    NO_NETWORK,
    QUERIES,
    TOO_SOON_MS,
    Site,
    enter,
    listen,
    opened,
    press,
    running_site,
    saved,
    shown,
)

N_PAIRS = len(QUERIES) * CANDIDATES_PER_QUERY


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site"), own_process=True) as started:
        yield started


def test_the_network_drops_labelling_goes_on_and_everything_is_stored_once(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Anna")
        keys = site.keys_of_pairs()
        clicked = {keys[press(page, "f")]: "similar"}
        saved(page)
        page.context.set_offline(True)
        for key, answer in [("f", "similar"), ("j", "not similar"), ("f", "similar"), ("u", "cannot tell")]:
            clicked[keys[press(page, key)]] = answer
        expect(page.locator("#saved")).to_have_text("Offline, 4 kept here")
        shown(page)
        page.keyboard.press("z")  # undo works without a network, too
        expect(page.locator("#saved")).to_have_text("Offline, 5 kept here")
        page.wait_for_timeout(TOO_SOON_MS)
        clicked[keys[press(page, "j")]] = "not similar"
        assert len(site.events("Anna")) == 1
        page.context.set_offline(False)
        saved(page)
        assert site.votes("Anna") == clicked
        assert len(site.events("Anna")) == 7  # five answers, an undo, another answer
        expect(page.locator("#progress-text")).to_have_text("5 of 24 · 19 left")


def test_a_page_with_nothing_to_send_says_that_the_network_is_back(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Iris")
        saved(page)
        page.context.set_offline(True)
        expect(page.locator("#saved")).to_have_text("Offline")
        page.context.set_offline(False)
        saved(page)


def test_an_answer_whose_reply_was_lost_is_counted_once(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Boris")
        shown(page)

        def lose_the_reply(route: Route) -> None:
            route.fetch()  # the server stores it; the browser never hears of it
            route.abort()

        page.route("**/api/answers", lose_the_reply, times=1)
        press(page, "f")
        saved(page)
        assert len(site.events("Boris")) == 1


def test_the_server_is_killed_while_votes_wait_and_the_page_is_reloaded(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        context = page.context
        enter(page, site, "Chiara")
        keys = site.keys_of_pairs()
        clicked = {keys[press(page, "f")]: "similar"}
        saved(page)
        site.kill()
        for _ in range(3):
            clicked[keys[press(page, "j")]] = "not similar"
        expect(page.locator("#saved")).to_have_text("Offline, 3 kept here")
        warned: list[str] = []

        def accept(dialog: Dialog) -> None:
            warned.append(dialog.type)
            dialog.accept()

        page.on("dialog", accept)
        with page.expect_event("close"):
            page.close(run_before_unload=True)
        assert warned == ["beforeunload"]
        site.start()
        again = context.new_page()
        again.goto(f"{site.url}/work")  # the outbox was in the browser, not in the page
        saved(again)
        assert site.votes("Chiara") == clicked
        assert len(site.events("Chiara")) == 4


def test_the_server_is_killed_and_comes_back_and_the_page_goes_on_without_a_reload(
    browser: Browser, site: Site
) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Clara")
        loaded = page.evaluate("performance.timeOrigin")
        keys, clicked = site.keys_of_pairs(), {}
        for n_answers in (2, 3):
            clicked[keys[press(page, "f")]] = "similar"
            saved(page)
            site.kill()
            for _ in range(n_answers):
                clicked[keys[press(page, "j")]] = "not similar"
            expect(page.locator("#saved")).to_have_text(f"Offline, {n_answers} kept here")
            site.start()
            saved(page)  # by itself: nobody touches the page
            assert site.votes("Clara") == clicked
        while len(clicked) < N_PAIRS:  # more than the page had asked for before
            clicked[keys[press(page, "f")]] = "similar"
        expect(page.get_by_text("That was the last pair")).to_be_visible()
        saved(page)
        assert page.evaluate("performance.timeOrigin") == loaded
        assert site.votes("Clara") == clicked
        assert len(site.events("Clara")) == N_PAIRS


def test_two_tabs_share_one_outbox_and_never_ask_the_same_pair(browser: Browser, site: Site) -> None:
    with opened(browser, NO_NETWORK) as page:
        enter(page, site, "Dora")
        other = page.context.new_page()
        complaints: list[str] = []
        listen(other, complaints)
        other.goto(f"{site.url}/work")
        assert shown(other) == shown(page)  # both start with the same pair
        page.bring_to_front()
        answered = [press(page, "f"), press(page, "f")]
        expect(other.locator(f'#main[data-pair="{shown(page)}"]')).to_be_attached()
        page.context.set_offline(True)
        answered.append(press(page, "j"))
        other.bring_to_front()
        expect(other.locator(f'#main[data-pair="{answered[-1]}"]')).to_have_count(
            0
        )  # it heard of the answer and moved on
        answered += [press(other, "f"), press(other, "j")]
        for tab in (page, other):
            expect(tab.locator("#saved")).to_have_text("Offline, 3 kept here")
        page.context.set_offline(False)
        saved(page)
        saved(other)
        assert len(set(answered)) == 5
        keys = site.keys_of_pairs()
        wanted = ["similar", "similar", "not similar", "similar", "not similar"]
        assert site.votes("Dora") == {keys[pair]: answer for pair, answer in zip(answered, wanted, strict=True)}
        assert len(site.events("Dora")) == 5
        assert [text for text in complaints if NO_NETWORK not in text] == []


def test_a_busy_server_makes_answers_wait_and_a_refusal_is_shown(browser: Browser, site: Site) -> None:
    with opened(browser, "Failed to load resource") as page:
        enter(page, site, "Emil")
        shown(page)
        full = {"status": 503, "json": {"detail": "the disk is full"}}
        page.route("**/api/answers", lambda route: route.fulfill(**full))
        press(page, "f")
        expect(page.locator("#saved")).to_have_text("1 waiting: the disk is full")
        assert site.events("Emil") == []
        page.unroute("**/api/answers")
        saved(page)
        assert len(site.events("Emil")) == 1

        def refuse(route: Route) -> None:
            sent = route.request.post_data_json
            assert sent is not None
            (event,) = sent["events"]
            progress = {"answered": 1, "total": 24, "later": 0, "seconds_per_pair": None}
            refused = [{"client_id": event["client_id"], "why": "this pair is not in your queue"}]
            route.fulfill(json={"accepted": [], "refused": refused, "progress": progress})

        page.route("**/api/answers", refuse, times=1)
        press(page, "j")
        expect(page.locator("#refused")).to_contain_text("One answer was not taken:")
        expect(page.locator("#refused")).to_contain_text("this pair is not in your queue")
        page.get_by_role("button", name="I have read this").click()
        expect(page.locator("#refused")).to_be_hidden()
        expect(page.locator("#saved")).to_have_text("Saved")


def test_votes_of_one_person_never_become_anothers(browser: Browser, site: Site) -> None:
    with opened(browser, "Failed to load resource") as page:
        enter(page, site, "Fanny")
        first = press(page, "f")
        saved(page)
        link = site.invite("Gala")
        elsewhere = page.context.new_page()
        elsewhere.goto(link)  # somebody else signs in, in the same browser
        press(page, "j")
        expect(page.locator("#saved")).to_contain_text("Signed out, 1 kept here")
        assert site.events("Gala") == []
        assert site.votes("Fanny") == {site.keys_of_pairs()[first]: "similar"}
        page.context.clear_cookies()
        elsewhere.goto(site.invite("Fanny"))
        elsewhere.goto(f"{site.url}/work")
        saved(elsewhere)
        assert len(site.votes("Fanny")) == 2
        assert site.events("Gala") == []


def test_a_browser_without_storage_locks_and_random_uuids_still_sends_everything(browser: Browser, site: Site) -> None:
    with opened(browser) as page:
        # What plain http on a local network takes away, and a profile that keeps nothing.
        page.add_init_script(
            "delete Crypto.prototype.randomUUID; delete Navigator.prototype.locks;"
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
        )
        enter(page, site, "Hugo")
        for key in "fju":
            press(page, key)
        expect(page.locator("#progress-text")).to_have_text("3 of 24 · 21 left")
        expect(page.locator("#saved")).to_have_text("Saved")
        page.wait_for_load_state("networkidle")
        assert [event["answer"] for event in site.events("Hugo")] == ["similar", "not similar", "cannot tell"]


def test_opening_the_invitation_again_elsewhere_does_not_cut_off_a_page(browser: Browser, site: Site) -> None:
    with opened(browser, "Failed to load resource") as page:
        link = site.invite("Ida")
        page.goto(link)
        page.goto(f"{site.url}/work")
        shown(page)
        page.context.new_page().goto(link)  # a new session: the open page's token is stale now
        pair = press(page, "f")
        saved(page)
        assert site.votes("Ida") == {site.keys_of_pairs()[pair]: "similar"}


def test_answers_wait_in_the_order_in_which_they_were_given_whatever_the_clock_says(
    browser: Browser, site: Site
) -> None:
    """The clock is set back while answers wait, and the page is loaded again."""
    with opened(browser) as page:
        enter(page, site, "Ines")
        given = page.evaluate(
            """async () => {
                const { Outbox } = await import("/static/outbox.js");
                const given = [];
                for (const hours of [0, -1, -24 * 365]) {
                    const now = Date.now;
                    Date.now = () => now() + hours * 3600e3;
                    const outbox = new Outbox("clocks", "answers", "/nowhere", "/nothing"); // as a page loaded anew
                    outbox.flush = () => {};
                    outbox.add({ answer: `first at ${hours}` }, { answer: `second at ${hours}` });
                    given.push(outbox.waiting.map((one) => one.event.answer));
                    Date.now = now;
                }
                return given.at(-1);
            }"""
        )
        assert given == [f"{which} at {hours}" for hours in (0, -1, -8760) for which in ("first", "second")]
