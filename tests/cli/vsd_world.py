"""A data set in the layout that VSD-Fashion is released in, small, with a known truth.

Items belong to groups; two items are similar when their group is one. Three generators see the groups, each through
noise of its own: `near` and `odd` bring vectors, `layout` is computed from the pictures. Their first K candidates are
labelled. `near` has half of its coordinates from something that has nothing to do with similarity: who learns from
labels can leave these out.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.catalog.readers.vsd import TASKS
from likewise.encoders import get_encoder

Floats = NDArray[np.float64]
ZERO_SHOT, OPEN, CLOSED, WILD = TASKS
K = 6
GENERATORS = ("layout", "near", "odd")
N_GROUPS, ITEMS_PER_GROUP, VIEWS, N_QUERIES = 12, 11, 2, 48
N_COORDINATES = 6


@dataclass
class VsdWorld:
    """Where it lies, its pictures (`shop` first, then `wild`), and what every generator makes of them."""

    root: Path
    images: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    vectors: dict[str, Floats] = field(default_factory=dict)

    @property
    def n_shop(self) -> int:
        return N_GROUPS * ITEMS_PER_GROUP * VIEWS

    def folder(self, task: str) -> Path:
        return self.root / "in_fashion" / task

    def first(self, generator: str, query: int, gallery: list[int]) -> list[int]:
        """The first K candidates: never the query's own item, the best image of each other one."""
        vectors = self.vectors[generator]
        found: dict[str, int] = {}
        for row in sorted(gallery, key=lambda row: -float(vectors[row] @ vectors[query])):
            if self.items[row] != self.items[query]:
                found.setdefault(self.items[row], row)
        return list(found.values())[:K]

    def labelled(self, query: int, gallery: list[int]) -> dict[int, int]:
        """The union of the generators' candidates, and whether each is similar."""
        rows = {row for generator in GENERATORS for row in self.first(generator, query, gallery)}
        return {row: int(self.groups[row] == self.groups[query]) for row in sorted(rows)}

    def tags(self, queries: list[int], gallery: list[int]) -> list[dict[str, object]]:
        return [
            {"key": [self.images[query], self.images[row]], "value": value}
            for query in queries
            for row, value in self.labelled(query, gallery).items()
        ]


def make_world(root: Path, seed: int = 3) -> VsdWorld:
    """Pictures and the JSON files of all four tasks."""
    rng, world = np.random.default_rng(seed), VsdWorld(root)
    n_items = N_GROUPS * ITEMS_PER_GROUP
    for item in range(n_items):
        for view in range(VIEWS):
            _add(world, item % N_GROUPS, f"img/WOMEN/Dresses/id_{item + 1:08d}/0{view + 1}_1_front.jpg", rng)
    for item in range(N_GROUPS):
        _add(world, item, f"img/TOPS/Blouse/id_{item + 1:08d}/comsumer_01.jpg", rng)
    truth = rng.normal(size=(N_GROUPS, N_COORDINATES))[world.groups]
    by_item = {item: rng.normal(size=(2, N_COORDINATES)) for item in dict.fromkeys(world.items)}
    of_item = np.array([by_item[item] for item in world.items])
    small = 0.3 * rng.normal(size=truth.shape)
    world.vectors["near"] = _unit(np.concatenate([truth + 0.8 * of_item[:, 0] + small, 1.6 * of_item[:, 1]], axis=1))
    world.vectors["odd"] = _unit(truth + 1.2 * rng.normal(size=truth.shape))
    layout = get_encoder("layout")
    pictures = [layout.prepare(Image.open(root / image).convert("RGB")) for image in world.images]
    world.vectors["layout"] = np.asarray(layout.encode(pictures), np.float64)
    _write_tasks(world, rng)
    return world


def _add(world: VsdWorld, group: int, image: str, rng: np.random.Generator) -> None:
    """A picture of four fields whose colours follow from the group, much blurred by noise."""
    fields = np.random.default_rng(100 + group).uniform(40, 215, size=(2, 2, 3)) + rng.normal(0, 45, size=(2, 2, 3))
    pixels = np.repeat(np.repeat(fields, 16, axis=0), 16, axis=1).clip(0, 255).astype(np.uint8)
    (world.root / image).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(world.root / image, quality=95)
    world.images.append(image)
    world.items.append(image.rpartition("/")[0])
    world.groups.append(group)


def _unit(rows: Floats) -> Floats:
    """Rounded as vectors are stored."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32).astype(np.float64)


def _write_tasks(world: VsdWorld, rng: np.random.Generator) -> None:
    shop = list(range(world.n_shop))
    wild = list(range(world.n_shop, len(world.images)))
    queries = sorted(rng.choice(shop[::VIEWS], N_QUERIES, replace=False).tolist())
    first, second = queries[: N_QUERIES // 2], queries[N_QUERIES // 2 :]
    entries = [
        {"id": world.items[row], "path": world.images[row], "phase": "gallery", "bbox": [2, 2, 28, 28]} for row in shop
    ]
    _write(world.root / "in_fashion" / "metadata.json", {"images": entries})  # shared by the tasks in the catalog
    _write(world.folder(ZERO_SHOT) / "seeds.json", {"seeds": [world.images[row] for row in queries]})
    _write(world.folder(ZERO_SHOT) / "tags.json", world.tags(queries, shop))
    for task, parts in ((OPEN, (queries, queries)), (CLOSED, (first, second))):
        for part, asked in zip(("train", "test"), parts, strict=True):
            tags = world.tags(asked, shop)
            if task == OPEN:  # the same queries, other candidates
                tags = tags[0 if part == "train" else 1 :: 2]
            _write(world.folder(task) / f"{part}_seeds.json", {"seeds": [world.images[row] for row in asked]})
            _write(world.folder(task) / f"{part}_tags.json", tags)
            manifest = [{"path": image} for image in world.images[: world.n_shop]]
            _write(world.folder(task) / f"{part}_images.json", {"images": manifest})
    of_wild = [{"id": world.items[row], "path": world.images[row], "phase": "query"} for row in wild]
    _write(world.folder(WILD) / "metadata.json", {"images": entries + of_wild})
    seeds = {"seeds": [world.images[row] for row in wild], "gallery_phases": ["gallery"]}
    _write(world.folder(WILD) / "seeds.json", seeds)
    _write(world.folder(WILD) / "tags.json", world.tags(wild, shop))


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
