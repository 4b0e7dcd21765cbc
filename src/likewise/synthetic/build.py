"""Draws a whole wardrobe into a folder, in parallel, and returns its catalog rows."""

import io
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.machine import keep_freed_memory, usable_cores
from likewise.progress import ProgressCallback
from likewise.synthetic.draw import draw_item, draw_wild
from likewise.synthetic.items import folder_of, make_items
from likewise.synthetic.vocabulary import ATTRIBUTE_NAMES
from likewise.worker_processes import WorkerProcesses
from likewise.workspace import write_atomically

JPEG_QUALITY = 92
_IMAGES_PER_TASK = 16


@dataclass(frozen=True)
class _Shot:
    """One picture to draw."""

    path: Path
    attributes: dict[str, str | None]
    domain: str
    view: int
    seed: int


def build_wardrobe(
    root: Path,
    *,
    n_items: int = 600,
    views_per_item: int = 3,
    wild_per_item: float = 0.0,
    seed: int = 0,
    workers: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Draw every item under ``root`` and return one row per picture, sorted by ``image``.

    ``wild_per_item`` is the mean number of wild photos per item: 0.25 gives every fourth item (chosen by the seed)
    one, 1.5 gives each item one and half of them a second. The files depend on the seed and the item only, never on
    ``workers`` (default: the number of processors; 1 draws in this process).
    """
    if views_per_item < 0 or wild_per_item < 0 or views_per_item + wild_per_item == 0:
        raise LikewiseError(
            f"views_per_item is {views_per_item} and wild_per_item {wild_per_item}; neither may be negative, nor both 0"
        )
    if workers is not None and workers < 1:
        raise LikewiseError(f"workers is {workers}; use 1 or more, or leave it out for all processors")
    items = make_items(n_items, seed)
    wild = _wild_counts(n_items, wild_per_item, seed)
    rows: list[dict[str, str | int | None]] = []
    shots: list[_Shot] = []
    for item, n_wild in zip(items.iter_rows(named=True), wild, strict=True):
        folder = folder_of(item["category"])
        for domain, letter, count in (("shop", "v", views_per_item), ("wild", "w", n_wild)):
            for view in range(count):
                image = f"{domain}/{folder}/{item['item']}-{letter}{view}.jpg"
                shots.append(_Shot(root / image, item, domain, view, seed))
                rows.append({"image": image, "domain": domain, "view": view, **item})
    for folder_path in sorted({shot.path.parent for shot in shots}):
        folder_path.mkdir(parents=True, exist_ok=True)
    _draw_all(shots, workers or usable_cores(), on_progress)
    columns = ["image", "item", "category", "domain", "view", "caption", *ATTRIBUTE_NAMES, "line"]
    schema = dict.fromkeys(columns, pl.String()) | {"view": pl.Int64()}
    return pl.DataFrame(rows, schema=schema).sort("image")


def _wild_counts(n_items: int, wild_per_item: float, seed: int) -> list[int]:
    whole = int(wild_per_item)
    extra = round((wild_per_item - whole) * n_items)
    lucky = np.random.default_rng([seed, 7919]).permutation(n_items)[:extra]
    counts = np.full(n_items, whole)
    counts[lucky] += 1
    return [int(count) for count in counts]


def _draw_all(shots: list[_Shot], workers: int, on_progress: ProgressCallback | None) -> None:
    """Draw every shot: this process is one of the workers and takes batches from the end while the others start."""
    batches = [shots[start : start + _IMAGES_PER_TASK] for start in range(0, len(shots), _IMAGES_PER_TASK)]
    done = 0

    def count(drawn: int) -> None:
        nonlocal done
        done += drawn
        if on_progress is not None:
            on_progress("drawing", done, len(shots))

    if workers == 1 or len(batches) == 1:
        for batch in batches:
            count(_draw_batch(batch))
        return
    with WorkerProcesses(min(workers, len(batches)) - 1) as pool:
        waiting = {pool.submit(_draw_batch, batch): batch for batch in batches}
        for future in reversed(list(waiting)):
            if not future.cancel():
                break
            count(_draw_batch(waiting.pop(future)))
            for finished in [other for other in waiting if other.done()]:
                del waiting[finished]
                count(finished.result())
        for future in as_completed(waiting):
            count(future.result())


def _write_bytes(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _draw_batch(shots: list[_Shot]) -> int:
    keep_freed_memory()
    for shot in shots:
        draw = draw_item if shot.domain == "shop" else draw_wild
        buffer = io.BytesIO()
        draw(shot.attributes, shot.view, shot.seed).save(buffer, "JPEG", quality=JPEG_QUALITY)
        write_atomically(shot.path, partial(_write_bytes, buffer.getvalue()))
    return len(shots)
