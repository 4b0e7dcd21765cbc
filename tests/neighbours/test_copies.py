"""Copies: every near pair is found, altered pictures are near, and what a model knows from a copy is said."""

import json
import shutil
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageEnhance, ImageOps

from likewise.catalog import load_image, read_catalog
from likewise.catalog.perceptual_hash import COPY_BITS, as_words, perceptual_hash, read_hashes
from likewise.lineage.record import Lesson, Lineage, examples_from_catalog
from likewise.neighbours.copies import connected_groups, cosine_pairs, hash_pairs
from likewise.neighbours.leaks import IGNORED, find_leak, lineage_leak, store_decisions
from likewise.synthetic import build_wardrobe
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]


def test_every_near_pair_is_found_once(rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((300, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors.astype(np.float64) @ vectors.T
    expected = {(a, b) for a, b in zip(*np.nonzero(scores >= 0.8), strict=True) if a < b}
    found = cosine_pairs(vectors, 0.8)
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == expected
    fewer = cosine_pairs(vectors, 0.8, max_pairs=10)
    assert fewer.similarity.tolist() == pytest.approx(sorted(scores[np.triu_indices(300, 1)])[::-1][:10], abs=1e-6)
    assert fewer.floor == pytest.approx(fewer.similarity.min())


def test_bits_are_counted_as_bits(rng: np.random.Generator) -> None:
    hashes = rng.integers(0, 2**63, (60, 8), dtype=np.uint64)
    hashes[7] = hashes[3] ^ np.uint64(5)  # two bits in every word
    mirrored = hashes[20].reshape(2, 4)[::-1].ravel()
    hashes[21] = mirrored
    found = hash_pairs(hashes, 20)
    told = {(a, b): bits for a, b, bits in zip(found.first, found.second, -found.similarity, strict=True)}
    assert told == {(3, 7): 8.0, (20, 21): 0.0}


def test_new_rows_are_compared_with_all_others_and_old_ones_not_again(rng: np.random.Generator) -> None:
    hashes = rng.integers(0, 2**63, (700, 8), dtype=np.uint64)
    hashes[50:60] = hashes[:10]
    hashes[600:620] = hashes[40:60]  # copies of old rows, and below of each other
    hashes[690:] = hashes[600:610]
    hashes[5] = 0
    for new_from in (0, 600, 650, 700):
        every, found = hash_pairs(hashes, COPY_BITS), hash_pairs(hashes, COPY_BITS, new_from=new_from)
        wanted = {pair for pair in zip(every.first, every.second, strict=True) if pair[1] >= new_from}
        assert set(zip(found.first, found.second, strict=True)) == wanted
        assert len(wanted) > 0 or new_from == 700


def test_groups_are_connected_rows() -> None:
    assert connected_groups(6, np.array([0, 4]), np.array([4, 5])).tolist() == [0, 1, 2, 3, 0, 0]


def test_an_altered_picture_keeps_its_hash_and_another_does_not(tmp_path: Path) -> None:
    rows = build_wardrobe(tmp_path, n_items=20, views_per_item=1, seed=0)
    pictures = [load_image(tmp_path / image) for image in rows["image"]]
    squeezed = BytesIO()
    pictures[0].save(squeezed, "JPEG", quality=30)
    altered = {
        "scaled": pictures[0].resize((pictures[0].width // 2, pictures[0].height // 2)),
        "compressed": load_image(squeezed),
        "brighter": ImageEnhance.Brightness(pictures[0]).enhance(1.2),
    }
    own = as_words([perceptual_hash(picture) for picture in (pictures[0], *altered.values())])
    found = hash_pairs(own, COPY_BITS)
    assert {(0, place) for place in (1, 2, 3)} <= set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    mirrored = as_words([perceptual_hash(pictures[0]), perceptual_hash(ImageOps.mirror(pictures[0]))])
    assert len(hash_pairs(mirrored, COPY_BITS).first) == 1
    assert not len(hash_pairs(as_words([perceptual_hash(one) for one in pictures]), COPY_BITS).first)


@pytest.fixture
def leaking(tmp_path: Path, run: Run) -> WorkspaceFolder:
    """A drawn wardrobe whose first picture is there a second time, smaller, as another item."""
    rows = build_wardrobe(tmp_path / "pictures", n_items=20, views_per_item=1, seed=0)
    first = rows["image"][0]
    with Image.open(tmp_path / "pictures" / first) as picture:
        picture.resize((picture.width // 2, picture.height // 2)).save(tmp_path / "pictures" / "again.png")
    shutil.copy(tmp_path / "pictures" / rows["image"][1], tmp_path / "pictures" / "same.jpg")
    table = tmp_path / "pictures" / "catalog.csv"
    items = [*rows.select("image", "item").iter_rows(), ("again.png", "other"), ("same.jpg", rows["item"][1])]
    pl.DataFrame(items, schema=["image", "item"], orient="row").write_csv(table)
    ran = run("new", tmp_path / "ws", table, "--json")
    assert json.loads(ran.out)["copies"] == {"images": 4, "across_items": 2}
    return WorkspaceFolder(tmp_path / "ws")


def test_a_test_image_whose_copy_was_learned_is_named(leaking: WorkspaceFolder) -> None:
    catalog = read_catalog(leaking)
    [original] = [
        pair[1] for pair in find_leak(leaking, catalog, set(catalog["image"]) - {"again.png"}, {"again.png"}).pairs
    ]
    learned = [image for image in catalog["image"] if image not in ("again.png", "same.jpg")]
    lesson = Lesson("classes", "train finetune", "shop", examples_from_catalog(catalog, learned, whole_items=False))
    leak = lineage_leak(leaking, catalog, Lineage((lesson,)), ["again.png"])
    assert leak.pairs == [("again.png", original)]
    assert f"again.png is a copy of {original}" in leak.sentence("run")
    store_decisions(leaking, [(original, "again.png")], IGNORED)
    assert not lineage_leak(leaking, catalog, Lineage((lesson,)), ["again.png"]).pairs
    store_decisions(leaking, [("again.png", original)], None)
    assert lineage_leak(leaking, catalog, Lineage((lesson,)), ["again.png"]).pairs


def test_hashes_are_made_again_for_pictures_that_changed(leaking: WorkspaceFolder) -> None:
    catalog = read_catalog(leaking)
    before = read_hashes(leaking, catalog)
    leaking.hashes_file.unlink()
    assert (read_hashes(leaking, catalog) == before).all()  # those of `new` are those of the files
    assert (read_hashes(leaking, catalog.head(3)) == before[:3]).all()
    assert len(pl.read_parquet(leaking.hashes_file)) == len(catalog)
