"""Building a wardrobe: the same bytes whatever the number of workers, the promised rows, nothing half-written."""

from pathlib import Path

import pytest
from PIL import Image

from likewise.errors import LikewiseError
from likewise.synthetic import ATTRIBUTE_NAMES, CATEGORIES, DEFAULT_SIZE, build_wardrobe


def _bytes(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_same_bytes_for_any_number_of_workers(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    alone = build_wardrobe(
        tmp_path / "one",
        n_items=20,
        views_per_item=1,
        wild_per_item=0.5,
        seed=3,
        workers=1,
        on_progress=lambda _, done, total: seen.append((done, total)),
    )
    together = build_wardrobe(tmp_path / "two", n_items=20, views_per_item=1, wild_per_item=0.5, seed=3, workers=2)
    files = _bytes(tmp_path / "one")
    assert files == _bytes(tmp_path / "two")
    assert alone.equals(together)
    assert sorted(files) == alone["image"].to_list() == sorted(alone["image"])
    assert seen[-1] == (30, 30) and seen == sorted(seen)


def test_rows_describe_the_pictures(tmp_path: Path) -> None:
    rows = build_wardrobe(tmp_path, n_items=20, views_per_item=2, wild_per_item=0.25, workers=1)
    assert rows.columns[:6] == ["image", "item", "category", "domain", "view", "caption"]
    assert set(ATTRIBUTE_NAMES) <= set(rows.columns)
    assert rows["domain"].value_counts().sort("domain").rows() == [("shop", 40), ("wild", 5)]
    assert rows["image"][0] == "shop/bags/bags-0000-v0.jpg"
    assert "shop/hair-wear/hair-wear-0000-v1.jpg" in rows["image"]
    assert set(rows["category"]) == set(CATEGORIES)
    with Image.open(tmp_path / rows["image"][0]) as image:
        assert (image.format, image.size) == ("JPEG", (DEFAULT_SIZE, DEFAULT_SIZE))
    assert len(set(_bytes(tmp_path).values())) == len(rows)


def test_another_seed_is_another_wardrobe(tmp_path: Path) -> None:
    for seed in (0, 1):
        build_wardrobe(tmp_path / str(seed), n_items=20, views_per_item=1, seed=seed, workers=1)
    first, second = _bytes(tmp_path / "0"), _bytes(tmp_path / "1")
    assert first.keys() == second.keys()
    assert all(first[name] != second[name] for name in first)


def test_mistakes_are_explained(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="at least 20"):
        build_wardrobe(tmp_path, n_items=10)
    with pytest.raises(LikewiseError, match="neither may be negative"):
        build_wardrobe(tmp_path, views_per_item=-1)
    with pytest.raises(LikewiseError, match="workers is 0"):
        build_wardrobe(tmp_path, workers=0)
