"""Make the picture of the search page again, over a workspace that has a two-tower encoder's features.

python docs/search_picture.py WORKSPACE --image KEY --text "but in red"        (needs chromium)
"""

import argparse
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from likewise.labeling.store import open_votes
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.images import ensure_images
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

HERE = Path(__file__).parent
PORT = 8791
SITE = f"http://127.0.0.1:{PORT}"
KEY = "picture"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--image", required=True, help="the key of the reference")
    parser.add_argument("--text", default="but in red")
    parser.add_argument("--text-weight", type=float, default=0.5)
    given = parser.parse_args()
    workspace = WorkspaceFolder(given.workspace)
    engine = open_votes(workspace)
    with write_transaction(engine) as connection:
        number = ensure_images(connection, [given.image])[given.image]
    engine.dispose()
    with served_page(workspace) as page:
        page.goto(f"{SITE}/search?image={number}&text={given.text}&weight={given.text_weight}")
        page.wait_for_selector("#main[data-state=showing]", timeout=120_000)
        page.wait_for_selector("#places button")
        save_picture(page, HERE / "search.jpg")


@contextmanager
def served_page(workspace: WorkspaceFolder) -> Iterator[Page]:
    """A page of the workspace's site in a browser, signed in as the owner."""
    chromium = shutil.which("chromium") or sys.exit("chromium is needed for the picture of the page")
    settings = SiteSettings(workspace=workspace, port=PORT, owner_key=KEY)
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=PORT, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_context(viewport={"width": 1180, "height": 900}).new_page()
        page.goto(f"{SITE}/owner/enter/{KEY}")
        yield page
        browser.close()
    server.should_exit = True
    thread.join()


def save_picture(page: Page, path: Path) -> None:
    """What the window shows, as JPEG, once every image is there."""
    page.wait_for_load_state("networkidle")
    page.evaluate("Promise.all([...document.images].map(image => image.decode()))")
    shot = path.with_name(f".{path.stem}.png")
    page.screenshot(path=shot)
    Image.open(shot).convert("RGB").save(path, quality=85, optimize=True)
    shot.unlink()


if __name__ == "__main__":
    main()
