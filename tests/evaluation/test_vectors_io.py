"""Vectors are lined up by key, or by order when there is one row per image; all else is refused in one sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from likewise.errors import LikewiseError
from likewise.evaluation.exchange.vectors_io import align_vectors, read_aligned_vectors

IMAGES = ["a b.png", "b.png", "ç.png"]
MIXED = ["ç.png", "a b.png", "other.png", "b.png"]
VECTORS = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
STORED = VECTORS[[2, 0, 1, 1]]


def npz(path: Path) -> None:
    np.savez(path, embeddings=STORED.astype(np.float64), keys=np.array(MIXED))


def parquet_lists(path: Path) -> None:
    pl.DataFrame({"image": MIXED, "vector": STORED.tolist()}).write_parquet(path)


def parquet_columns(path: Path) -> None:
    pl.DataFrame({"image": MIXED} | {f"d{n}": STORED[:, n] for n in range(4)}).write_parquet(path)


def safetensors(path: Path) -> None:
    save_file({"vectors": STORED}, path, metadata={"keys": json.dumps(MIXED)})


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.npz", npz),
        ("lists.parquet", parquet_lists),
        ("columns.parquet", parquet_columns),
        ("v.safetensors", safetensors),
    ],
)
def test_rows_are_found_by_key_whatever_their_order(tmp_path: Path, name: str, write: Callable[[Path], None]) -> None:
    write(tmp_path / name)
    found = read_aligned_vectors(tmp_path / name, IMAGES)
    np.testing.assert_array_equal(found.vectors, VECTORS)
    assert found.vectors.dtype == np.float32
    assert (found.by_key, found.n_unused) == (True, 1)


@pytest.mark.parametrize("ending", ["txt", "json", "npy", "csv", "parquet"])
def test_npy_with_a_list_of_keys(tmp_path: Path, ending: str) -> None:
    np.save(tmp_path / "v.npy", STORED)
    path = tmp_path / f"keys.{ending}"
    if ending == "txt":
        path.write_text("\n".join(MIXED) + "\n", encoding="utf-8")
    elif ending == "json":
        path.write_text(json.dumps(MIXED))
    elif ending == "npy":
        np.save(path, np.array(MIXED))
    elif ending == "csv":
        pl.DataFrame({"image": MIXED, "other": [1, 2, 3, 4]}).write_csv(path)
    else:
        pl.DataFrame({"image": MIXED, "other": [1, 2, 3, 4]}).write_parquet(path)
    np.testing.assert_array_equal(read_aligned_vectors(tmp_path / "v.npy", IMAGES, path).vectors, VECTORS)


def test_npy_without_keys_is_in_the_order_of_the_images(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS.astype(np.float16))
    found = read_aligned_vectors(tmp_path / "v.npy", IMAGES)
    np.testing.assert_array_equal(found.vectors, VECTORS.astype(np.float16).astype(np.float32))
    assert (found.by_key, found.n_unused) == (False, 0)


def broken(row: int, column: int, value: float) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    changed = VECTORS.astype(np.float64)
    changed[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("vectors", "keys", "sentence"),
    [
        (VECTORS[:2], None, "mine has 2 rows for 3 images and no keys"),
        (VECTORS, IMAGES[:2], "has 3 rows but 2 keys"),
        (VECTORS, ["b.png", "ç.png", "b.png"], "two rows have the key b.png (the second is row 3)"),
        (VECTORS[:1], ["b.png"], "no vector for 2 of 3 images (a b.png, ç.png)"),
        (broken(1, 2, np.nan), IMAGES, "NaN or infinite numbers for 1 of 3 images (first: b.png)"),
        (broken(2, 0, np.inf), None, "for 1 of 3 images (first: ç.png)"),
        (broken(0, 0, 1e300), None, "NaN or infinite numbers for 1 of 3 images"),  # more than float32 holds
        (VECTORS.astype(np.complex64), None, "holds complex64 of shape (3, 4)"),
        (VECTORS[0], None, "of shape (4,)"),
        (VECTORS[:, :0], None, "of shape (3, 0)"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    vectors: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", keys: list[str] | None, sentence: str
) -> None:
    with pytest.raises(LikewiseError) as caught:
        align_vectors(vectors, IMAGES, keys, name="mine")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_vectors(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="does not exist"):
        read_aligned_vectors(tmp_path / "none.npy", IMAGES)
    (tmp_path / "v.npy").write_bytes(b"no numbers")
    with pytest.raises(LikewiseError, match="cannot be read as npy"):
        read_aligned_vectors(tmp_path / "v.npy", IMAGES)
    np.savez(tmp_path / "v.npz", vectors=VECTORS)
    with pytest.raises(LikewiseError, match="does not say which image each row belongs to"):
        read_aligned_vectors(tmp_path / "v.npz", IMAGES)
