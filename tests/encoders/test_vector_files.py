"""Vectors made elsewhere come in four kinds of file, and every way they can be wrong is one sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from likewise.encoders.vector_files import read_vector_file
from likewise.errors import LikewiseError

KEYS = ["b.png", "a b.png", "ç.png"]
VECTORS = np.arange(12, dtype=np.float32).reshape(3, 4) / 7


def npz(path: Path) -> None:
    np.savez(path, embeddings=VECTORS.astype(np.float64), keys=np.array(KEYS))


def parquet_lists(path: Path) -> None:
    pl.DataFrame({"image": KEYS, "vector": VECTORS.tolist()}).write_parquet(path)


def parquet_columns(path: Path) -> None:
    pl.DataFrame({"image": KEYS} | {f"d{n}": VECTORS[:, n] for n in range(4)}).write_parquet(path)


def safetensors_table(path: Path) -> None:
    save_file({"vectors": VECTORS}, path, metadata={"keys": json.dumps(KEYS)})


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("v.npz", npz),
        ("lists.parquet", parquet_lists),
        ("columns.parquet", parquet_columns),
        ("v.safetensors", safetensors_table),
    ],
)
def test_files_that_carry_their_keys(tmp_path: Path, name: str, write: Callable[[Path], None]) -> None:
    write(tmp_path / name)
    keys, vectors = read_vector_file(tmp_path / name)
    assert keys == KEYS
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, VECTORS)


def test_safetensors_with_one_vector_per_key(tmp_path: Path) -> None:
    save_file(dict(zip(KEYS, VECTORS.astype(np.float16), strict=True)), tmp_path / "v.safetensors")
    keys, vectors = read_vector_file(tmp_path / "v.safetensors")
    assert keys == sorted(KEYS)
    np.testing.assert_array_equal(vectors[keys.index("ç.png")], VECTORS[2].astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("ending", ["txt", "json", "npy", "csv", "parquet"])
def test_npy_with_a_keys_file(tmp_path: Path, ending: str) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    path = tmp_path / f"keys.{ending}"
    if ending == "txt":
        path.write_text("\n".join(KEYS) + "\n", encoding="utf-8")
    elif ending == "json":
        path.write_text(json.dumps(KEYS))
    elif ending == "npy":
        np.save(path, np.array(KEYS))
    else:
        table = pl.DataFrame({"image": KEYS, "other": [1, 2, 3]})
        table.write_csv(path) if ending == "csv" else table.write_parquet(path)
    keys, vectors = read_vector_file(tmp_path / "v.npy", path)
    assert keys == KEYS
    np.testing.assert_array_equal(vectors, VECTORS)
    assert read_vector_file(tmp_path / "v.npy")[0] is None


def with_nan() -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    broken = VECTORS.astype(np.float64)
    broken[1, 2], broken[2, 0] = np.nan, np.inf
    return broken


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda p: np.savez(p, vectors=with_nan(), keys=np.array(KEYS)), "in 2 of 3 rows (first: row 2, a b.png)"),
        (lambda p: np.savez(p, vectors=VECTORS.astype(np.float64) * 1e300), "NaN or infinite numbers in 3 of 3"),
        (lambda p: np.savez(p, vectors=VECTORS, keys=np.array(KEYS[:2])), "has 3 rows but 2 keys"),
        (lambda p: np.savez(p, vectors=VECTORS, keys=np.array(["a", "b", "a"])), "two rows have the key a"),
        (lambda p: np.savez(p, vectors=VECTORS, keys=np.array(["a", "", "c"])), "the key of row 2 is empty"),
        (lambda p: np.savez(p, vectors=VECTORS, keys=np.array(KEYS, dtype=object)), "cannot be read as npz"),
        (lambda p: np.savez(p, a=VECTORS, b=VECTORS), "a (3, 4), b (3, 4): it needs exactly one table"),
        (lambda p: np.savez(p, a=VECTORS.astype(np.complex64)), "holds complex64"),
        (lambda p: np.savez(p, a=VECTORS[:0]), "of shape (0, 4)"),
        (lambda p: p.write_bytes(b"PK\x03\x04 no more"), "cannot be read as npz"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, write: Callable[[Path], None], sentence: str) -> None:
    path = tmp_path / "v.npz"
    write(path)
    with pytest.raises(LikewiseError) as caught:
        read_vector_file(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_vectors_of_several_lengths(tmp_path: Path) -> None:
    pl.DataFrame({"image": KEYS, "vector": [[1.0, 2.0], [1.0], [3.0, 4.0]]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(LikewiseError, match="row 2: the vector has 1 numbers, most have 2"):
        read_vector_file(tmp_path / "v.parquet")
    save_file({"a": VECTORS[0], "b": VECTORS[1, :2]}, tmp_path / "v.safetensors")
    with pytest.raises(LikewiseError, match="vectors of different lengths"):
        read_vector_file(tmp_path / "v.safetensors")


def test_other_endings_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match=r"does not exist"):
        read_vector_file(tmp_path / "none.npy")
    (tmp_path / "v.pt").write_bytes(b"")
    with pytest.raises(LikewiseError, match=r"ends in '.pt': vectors are read from .npy, .npz, .parquet, .safetensors"):
        read_vector_file(tmp_path / "v.pt")
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(LikewiseError, match="no column image"):
        pl.DataFrame({"x": KEYS, "y": KEYS}).write_csv(tmp_path / "k.csv")
        read_vector_file(tmp_path / "v.npy", tmp_path / "k.csv")
