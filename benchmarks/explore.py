"""The explore pages over 50,000 images and four encoders of 1,280 dimensions: a site in a process of its own, asked by
a browser. Vectors and hashes are drawn at random in groups, with copies among them; the pictures are small.

`python -m benchmarks.explore` fills the table of docs/explore.md; `--tsne` times the t-SNE map instead (minutes), and
`--images 2000` is a trial that fills nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.pages import DOCS, fill
from likewise.catalog.perceptual_hash import BITS, store_hashes
from likewise.encoders.storage.importing import import_vectors
from likewise.machine import usable_cores
from likewise.synthetic import build_wardrobe
from likewise.web.serve import free_port
from likewise.workspace import FORMAT, WorkspaceFolder, write_json, write_parquet

PAGE = DOCS / "explore.md"
N_IMAGES, DIM, N_ENCODERS, N_GROUPS, N_PICTURES = 50_000, 1_280, 4, 500, 120
N_QUERIES, N_MOVES, N_VIEWS = 200, 60, 7
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Timing:
    """What one thing took: seconds on the clock (half of the times, and 95 %), and of the site's processor time."""

    what: str
    median: float
    p95: float | None = None
    processor: float | None = None


def write_workspace(folder: Path, n_images: int, n_encoders: int = N_ENCODERS) -> WorkspaceFolder:
    """Catalog, vectors and hashes, as encoding would have left them."""
    rng = np.random.default_rng(0)
    root = folder / "pictures"
    drawn = build_wardrobe(root, n_items=N_PICTURES, views_per_item=1, seed=0)["image"].to_list()
    names = [f"{number:05d}.jpg" for number in range(n_images)]
    for number, name in enumerate(names):
        os.link(root / drawn[number % len(drawn)], root / name)
    workspace = WorkspaceFolder(folder / "workspace")
    kinds = rng.integers(0, 20, n_images)
    catalog = pl.DataFrame(
        {"image": names, "item": names, "category": [f"kind {kind}" for kind in kinds], "digest": names}
    )
    write_parquet(catalog, workspace.path / "catalog.parquet")
    write_json({"format": FORMAT, "root": str(root)}, workspace.path / "workspace.json")
    copied = rng.integers(0, n_images, n_images // 50)
    for number in range(n_encoders):
        vectors = grouped_vectors(n_images, copied, rng)
        np.savez(folder / "vectors.npz", images=np.array(names), vectors=vectors)
        import_vectors(workspace, f"encoder-{number}", folder / "vectors.npz")
    (folder / "vectors.npz").unlink()
    bits = rng.integers(0, 2, (n_images, 2 * BITS), dtype=np.uint8)
    bits[-len(copied) :] = bits[copied]
    hashes = [row.tobytes().hex() for row in np.packbits(bits, axis=1)]
    store_hashes(workspace, pl.DataFrame({"image": names, "digest": names, "hash": hashes}))
    return workspace


def grouped_vectors(n_images: int, copied: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float32]:
    """Around centres; the last ones are near copies of others."""
    centres = rng.standard_normal((N_GROUPS, DIM), dtype=np.float32)
    vectors = centres[rng.integers(0, N_GROUPS, n_images)]
    vectors += rng.standard_normal(vectors.shape, dtype=np.float32)
    vectors[-len(copied) :] = vectors[copied] + 0.2 * rng.standard_normal((len(copied), DIM), dtype=np.float32)
    return vectors


class RunningSite:
    """`likewise explore` in a process of its own."""

    def __init__(self, workspace: WorkspaceFolder) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "likewise", "explore", str(workspace.path), "--no-browser"]
        self.process = subprocess.Popen([*command, "--port", str(self.port)], stdout=subprocess.DEVNULL)

    def wait(self) -> None:
        self.wait_for("/explore")

    def wait_for(self, path: str) -> None:
        while True:
            try:
                self.ask(path)
                return
            except urllib.error.HTTPError:
                raise
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the site did not start") from None
                time.sleep(0.05)

    def ask(self, path: str, **values: Any) -> Any:
        query = urllib.parse.urlencode([(k, one) for k, v in values.items() for one in np.atleast_1d(v)])
        with urllib.request.urlopen(f"{self.url}{path}?{query}") as reply:
            content = reply.read()
        return json.loads(content) if path.startswith("/api") else content

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def until_made(self, what: str, path: str, **values: Any) -> Timing:
        """Work that goes on while a page waits."""
        started, before = time.perf_counter(), self.processor_seconds()
        said: set[tuple[str, int]] = set()
        while "total" in (reply := self.ask(path, **values)) and "what" in reply:
            said.add((reply["what"], reply["done"]))
            time.sleep(0.1)
        print(f"{what}: {len(said)} steps of progress shown, the last ones {sorted(said)[-2:]}")
        return Timing(what, time.perf_counter() - started, None, self.processor_seconds() - before)


def ask_neighbours(site: RunningSite, n_images: int) -> list[Timing]:
    rng = np.random.default_rng(1)
    names = [f"encoder-{number}" for number in range(N_ENCODERS)]
    seconds, before = [], 0.0
    for number, row in enumerate(rng.integers(0, n_images, N_QUERIES + 5)):
        if number == 5:  # the first ones load the vectors
            before = site.processor_seconds()
        started = time.perf_counter()
        site.ask("/api/explore/neighbours", **{"image": f"{row:05d}.jpg", "with": names})
        seconds.append(time.perf_counter() - started)
    used = (site.processor_seconds() - before) / N_QUERIES
    loading = Timing("vectors of four encoders, read from disk once", seconds[0])
    return [loading, timing("neighbours under four encoders", seconds[5:], used)]


def look(site: RunningSite) -> list[Timing]:
    """In chromium: the first view until it shows its pictures, and the map until it is drawn again after a move."""
    from playwright.sync_api import sync_playwright
    from tests.browser.conftest import FLAGS, HEADLESS

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=HEADLESS, args=FLAGS)
        views = []
        for _ in range(N_VIEWS):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            started = time.perf_counter()
            page.goto(f"{site.url}/explore")
            page.wait_for_selector("#main[data-state=showing]")
            page.wait_for_function("() => [...document.images].slice(0, 24).every((one) => one.complete)")
            views.append(time.perf_counter() - started)
            page.context.close()
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{site.url}/explore/map?method=PCA")
        page.wait_for_selector("#main[data-state=showing]")
        moves = page.evaluate(
            """async (n) => {
              const { map } = await import("/static/explore/map.js");
              const taken = [];
              for (let step = 0; step < n; step += 1) {
                map.pan(step % 2 ? 40 : -40, 13);
                await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
                taken.push(map.milliseconds / 1000);
              }
              return taken;
            }""",
            N_MOVES,
        )
        browser.close()
    return [timing("first view, with its pictures", views), timing("a move on the map", moves)]


def timing(what: str, seconds: list[float], processor: float | None = None) -> Timing:
    return Timing(what, float(np.median(seconds)), float(np.quantile(seconds, 0.95)), processor)


def table(found: list[Timing]) -> str:
    def told(seconds: float | None) -> str:
        if seconds is None:
            return ""
        return f"{1000 * seconds:,.0f} ms" if seconds < 2 else f"{seconds:,.0f} s"

    rows = [f"| {one.what} | {told(one.median)} | {told(one.p95)} | {told(one.processor)} |" for one in found]
    head = ["| | seconds on the clock | 95 % within | processor time of the site |", "|---|---:|---:|---:|"]
    return "\n".join([*head, *rows])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=N_IMAGES)
    parser.add_argument("--tsne", action="store_true")
    given = parser.parse_args(sys.argv[1:] if sys.argv[0].endswith("explore.py") else [])
    if given.tsne:
        measure_tsne(given.images)
        return
    with tempfile.TemporaryDirectory() as folder:
        site = RunningSite(write_workspace(Path(folder), given.images))
        try:
            site.wait()
            first = "/api/explore/map"
            found = ask_neighbours(site, given.images)
            found.append(site.until_made("copies: every pair compared, cosine and hash", "/api/explore/copies"))
            found.append(site.until_made("the map by principal components, once", first, method="PCA"))
            found += look(site)
        finally:
            site.process.terminate()
            site.process.wait()
    report({"explore-speed": table(found)}, given.images, f"{N_ENCODERS} encoders")


def measure_tsne(n_images: int) -> None:
    """The map by t-SNE as a page asks for it, until it is made."""
    with tempfile.TemporaryDirectory() as folder:
        site = RunningSite(write_workspace(Path(folder), n_images, n_encoders=1))
        try:
            site.wait()
            found = site.until_made("the map by t-SNE, once", "/api/explore/map", method="t-SNE")
        finally:
            site.process.terminate()
            site.process.wait()
    report({"explore-tsne": table([found])}, n_images, "1 encoder")


def report(measured: dict[str, str], n_images: int, encoders: str) -> None:
    load = os.getloadavg()[1]
    said = (
        f"{n_images:,} images, {encoders} of {DIM:,} dimensions, {usable_cores()} cores without a GPU; "
        f"load average {load:.0f} while it was measured."
    )
    blocks = {block: f"{found}\n\n{said}" for block, found in measured.items()}
    print(*blocks.values(), sep="\n\n")
    if n_images == N_IMAGES:
        fill(PAGE, blocks)


if __name__ == "__main__":
    main()
