"""The search page over 50,000 images: a site in a process of its own, asked over HTTP as the page asks it.

`python -m benchmarks.search_page` trains a small image-text encoder on a drawn wardrobe, spreads its features over
50,000 images and fills the table of docs/conditions.md; `--images 2000` is a trial that fills nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.explore import RunningSite, Timing, table, timing
from benchmarks.pages import DOCS, fill
from likewise.catalog import make_catalog
from likewise.conditional.towers import FeatureWorkspace, TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.lineage import picture_lineage
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.encode import SHARD_ROWS
from likewise.encoders.storage.files import EncodedChunk, VectorsMeta
from likewise.encoders.storage.writing import ShardWriter
from likewise.labeling.store import open_votes
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.images import ensure_images
from likewise.machine import usable_cores
from likewise.synthetic import build_wardrobe
from likewise.web.serve import free_port
from likewise.workspace import FORMAT, WorkspaceFolder, write_json, write_parquet

PAGE = DOCS / "conditions.md"
N_IMAGES, DIM, N_DRAWN, N_QUESTIONS, N_FIRST = 50_000, 512, 400, 200, 8
KEY = "benchmark"
Question = Callable[[int], dict[str, Any]]
WORDS = ("in red", "with stripes", "for the summer", "in blue", "plain", "with flowers", "in green", "made of leather")
SERVE = f"""
import sys, uvicorn
from pathlib import Path
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
port = int(sys.argv[2])
app = create_app(SiteSettings(workspace=WorkspaceFolder(Path(sys.argv[1])), port=port, owner_key={KEY!r}))
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
"""


class OwnersSite(RunningSite):
    """The whole site, entered as its owner."""

    def __init__(self, workspace: WorkspaceFolder) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen([sys.executable, "-c", SERVE, str(workspace.path), str(self.port)])
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        urllib.request.install_opener(urllib.request.build_opener(cookies))

    def wait(self) -> None:
        super().wait_for(f"/owner/enter/{KEY}")


def write_workspace(folder: Path, n_images: int) -> tuple[WorkspaceFolder, list[int]]:
    """A catalog with words as its columns and an encoder's features, as `condition ask` would have left them."""
    drawn = WorkspaceFolder(folder / "drawn")
    rows = build_wardrobe(folder / "pictures", n_items=N_DRAWN, views_per_item=1, seed=0)
    make_catalog(drawn, rows, folder / "pictures", "wardrobe")
    train_two_tower(drawn, folder / "tower", TwoTowerSettings(steps=200, dim=DIM), workers=1)
    tower = TwoTower.from_spec(f"two-tower:{folder / 'tower'}")
    tower.encode(drawn, workers=1)
    known = pl.read_parquet(drawn.catalog_file)
    images = known["image"].to_list()
    features = tower.image_features(drawn, images)
    names = [f"{number:05d}.jpg" for number in range(n_images)]
    copied = np.arange(n_images) % len(images)
    for name, row in zip(names, copied.tolist(), strict=True):
        os.link(folder / "pictures" / images[row], folder / "pictures" / name)
    workspace = WorkspaceFolder(folder / "workspace")
    catalog = known[copied.tolist()].with_columns(*(pl.Series(column, names) for column in ("image", "item", "digest")))
    write_parquet(catalog, workspace.catalog_file)
    about = {"format": FORMAT, "root": str(folder / "pictures"), "source": "table"}
    about |= {"images": n_images, "left_out": 0}
    write_json(about, workspace.path / "workspace.json")
    write_features(FeatureWorkspace(workspace.path), tower, names, features[copied])
    engine = open_votes(workspace)
    with write_transaction(engine) as connection:
        numbers = ensure_images(connection, names)
    engine.dispose()
    return workspace, [numbers[name] for name in names]


def write_features(place: FeatureWorkspace, tower: TwoTower, names: list[str], features: np.ndarray) -> None:
    """Features near those of the drawn pictures, in the files of an encoder."""
    encoder, spec = get_encoder(tower.unscaled), tower.unscaled
    rng = np.random.default_rng(0)
    spread = (features + 0.5 * features.std() * rng.standard_normal(features.shape)).astype(np.float32)
    meta = VectorsMeta(encoder.name, encoder.version, encoder.dim, 0, SHARD_ROWS, complete=False, spec=spec)
    with ShardWriter(place, meta, names, picture_lineage(spec), force=False, try_again=lambda _: False) as writer:
        writer.start()
        row_of = {name: row for row, name in enumerate(names)}
        for shard in writer.missing:
            kept = writer.images_of(shard)
            writer.write_shard(shard, [EncodedChunk(tuple(kept), spread[[row_of[name] for name in kept]], ())])
        writer.finish()


def ask_all(
    site: OwnersSite, what: str, question: Callable[[int], dict[str, Any]], path: str = "/api/search"
) -> Timing:
    """Questions one after another; the first ones, which load and fill caches, are left out."""
    seconds, before = [], 0.0
    for number in range(N_FIRST + N_QUESTIONS):
        if number == N_FIRST:
            before = site.processor_seconds()
        started = time.perf_counter()
        site.ask(path, **question(number))
        seconds.append(time.perf_counter() - started)
    return timing(what, seconds[N_FIRST:], (site.processor_seconds() - before) / N_QUESTIONS)


def ask_page(site: OwnersSite, numbers: list[int]) -> list[Timing]:
    rng = np.random.default_rng(1)
    chosen = rng.choice(numbers, 4 * (N_FIRST + N_QUESTIONS)).tolist()

    def words(number: int) -> str:
        """A text nobody asked before: it has to be encoded."""
        return f"{WORDS[number % len(WORDS)]} number {number}"

    both = {"keep": "category"}
    return [
        ask_all(site, "an image and a new text", lambda i: both | {"image": chosen[i], "text": words(i)}),
        ask_all(
            site,
            "an image, two texts, a filter, one more and one less like",
            lambda i: {
                "image": chosen[i],
                "text": [WORDS[i % 8], words(i)],
                "more": chosen[-1 - i],
                "less": chosen[N_QUESTIONS + 20 + i],
                "where": "colour=red",
                "keep": "",
            },
        ),
        ask_all(site, "a new text alone", lambda i: {"text": f"{words(i)} alone"}),
        ask_all(
            site,
            "five places of the slider",
            lambda i: both | {"image": chosen[i], "text": WORDS[i % 8]},
            "/api/search/slider",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=N_IMAGES)
    given = parser.parse_args(sys.argv[1:] if sys.argv[0].endswith("search_page.py") else [])
    with tempfile.TemporaryDirectory() as folder:
        workspace, numbers = write_workspace(Path(folder), given.images)
        site = OwnersSite(workspace)
        try:
            site.wait()
            found = ask_page(site, numbers)
        finally:
            site.process.terminate()
            site.process.wait()
    load = os.getloadavg()[1]
    said = (
        f"{given.images:,} images, features of {DIM} dimensions, {usable_cores()} cores, no GPU, over HTTP; load "
        f"average {load:.0f} while it was measured."
    )
    blocks = {"conditions-search-speed": f"{table(found)}\n\n{said}"}
    print(*blocks.values(), sep="\n\n")
    if given.images == N_IMAGES:
        fill(PAGE, blocks)


if __name__ == "__main__":
    main()
