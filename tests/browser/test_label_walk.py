"""A random walk of two tabs through everything that goes wrong; in the end exactly the given answers stand."""

import json
import random
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import select

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.models import Event
from tests.browser.site import NO_NETWORK, TOO_SOON_MS, Site, enter, opened, running_site, saved

WALK_SECONDS = 30.0
KEYS = "ffjjul"
HISTORY = """() => {
    const name = Object.keys(sessionStorage).find(key => key.endsWith(':history:pair'));
    return name ? sessionStorage.getItem(name) : '[]';
}"""


class Walker:
    """One tab, and what its user has done in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.given: list[int] = []  # pairs whose answers can be taken back

    def undo(self, standing: dict[int, list[str]]) -> None:
        self.page.keyboard.press("z")
        standing[self.given.pop()].pop()
        self.page.wait_for_timeout(150)

    def answer(self, key: str, standing: dict[int, list[str]]) -> None:
        """Press a key; the page itself says whether it took that for an answer (a pair may just be changing)."""
        self.page.wait_for_timeout(TOO_SOON_MS)
        self.page.keyboard.press(key)
        history = json.loads(self.page.evaluate(HISTORY))
        if len(history) > len(self.given):
            self.given.append(history[-1]["pair"])
            standing.setdefault(history[-1]["pair"], []).append(history[-1]["answer"])


def stored_answers(site: Site) -> dict[int, str]:
    """The answer of each pair that stands, worked out from the raw events."""
    found: dict[int, dict[int, str]] = {}
    with site.engine() as engine, read_transaction(engine) as connection:
        rows = connection.execute(select(Event.pair, Event.revision, Event.answer, Event.undoes).order_by(Event.id))
        for pair, revision, answer, undoes in rows:
            if undoes is None:
                found.setdefault(pair, {})[revision] = answer
            else:
                del found[pair][undoes]
    return {pair: answers[max(answers)] for pair, answers in found.items() if answers}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_offline_kills_reloads_undos_and_two_tabs_lose_and_double_nothing(
    browser: Browser, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    standing: dict[int, list[str]] = {}
    with running_site(tmp_path, own_process=True) as site, opened(browser, NO_NETWORK) as page:
        site.change(repeat_share=0.2)
        enter(page, site, "Anna")
        other = page.context.new_page()
        other.goto(f"{site.url}/work")
        walkers = [Walker(page), Walker(other)]
        offline = dead = False
        until = time.monotonic() + WALK_SECONDS
        while time.monotonic() < until:
            walker = rng.choice(walkers)
            walker.page.bring_to_front()
            chance = rng.random()
            if chance < 0.12 and not dead:
                offline = not offline
                page.context.set_offline(offline)
            elif chance < 0.17 and not offline:
                if dead:
                    site.start()
                else:
                    site.kill()
                dead = not dead
            elif chance < 0.22 and not offline and not dead:
                walker.page.reload()
            elif chance < 0.36 and walker.given:
                walker.undo(standing)
            else:
                walker.answer(rng.choice(KEYS), standing)
        page.context.set_offline(False)
        if dead:
            site.start()
        for walker in walkers:
            walker.page.bring_to_front()
            saved(walker.page)
        assert stored_answers(site) == {pair: answers[-1] for pair, answers in standing.items() if answers}
        assert sum(map(len, standing.values())) > 5
