"""A real browser for the tests: Debian's chromium, driven by playwright, with a fresh profile and no network.

Its headless shell is the same engine without windows, tabs and menus, and needs a quarter of the processor for a page.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = shutil.which("chromium")
HEADLESS = shutil.which("chromium-headless-shell") or CHROMIUM
expect.set_options(timeout=30_000)  # a busy machine is no failure


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if HEADLESS is None:
                item.add_marker(pytest.mark.skip(reason="no chromium on this machine: browser tests were NOT run"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    assert HEADLESS is not None
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=HEADLESS, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test when it logs an error."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []
