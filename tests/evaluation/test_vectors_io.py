"""Vectors are lined up by key, or by order when there is one row per image; anything else is refused."""

from pathlib import Path

import numpy as np
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.vectors_io import line_up, line_up_file

IMAGES = ["a.png", "b.png", "c.png"]
VECTORS = np.arange(12.0).reshape(3, 4)


def test_rows_are_found_by_key_whatever_their_order(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", vectors=VECTORS[[2, 0, 1, 1]], keys=np.array(["c.png", "a.png", "b.png", "z.png"]))
    found = line_up_file(tmp_path / "v.npz", IMAGES)
    np.testing.assert_array_equal(found.vectors, VECTORS.astype(np.float32))
    assert (found.by_key, found.n_unused) == (True, 1)


def test_without_keys_rows_are_in_the_order_of_the_images(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    found = line_up_file(tmp_path / "v.npy", IMAGES)
    np.testing.assert_array_equal(found.vectors, VECTORS.astype(np.float32))
    assert not found.by_key
    (tmp_path / "k.txt").write_text("c.png\nb.png\na.png\n")
    np.testing.assert_array_equal(line_up_file(tmp_path / "v.npy", IMAGES, tmp_path / "k.txt").vectors, VECTORS[::-1])


def test_arrays_are_checked_like_files() -> None:
    with pytest.raises(LikewiseError, match="the array has 2 rows for 3 images and no keys"):
        line_up(VECTORS[:2], IMAGES)
    with pytest.raises(LikewiseError, match=r"mine has no vector for 2 of 3 images \(b.png, c.png\).*look like a.png"):
        line_up(VECTORS[:1], IMAGES, ["a.png"], name="mine")
    broken = VECTORS.copy()
    broken[1, 1] = np.nan
    with pytest.raises(LikewiseError, match=r"NaN or infinite numbers in 1 of 3 rows \(first: row 2, b.png\)"):
        line_up(broken, IMAGES, IMAGES)
