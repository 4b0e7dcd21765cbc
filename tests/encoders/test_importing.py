"""Vectors made elsewhere come in with their keys, in any usual format, or are refused with a sentence."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.encoders import encode_catalog, import_vectors, left_out_images, read_vectors
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

from .helpers import images_of, make_workspace

PICTURES = 12


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return make_workspace(tmp_path, PICTURES)


def made_elsewhere(workspace: WorkspaceFolder) -> tuple[list[str], Vectors]:
    """Keys in an order of their own, and vectors of any length."""
    rng = np.random.default_rng(3)
    images = images_of(workspace)
    rng.shuffle(images)
    return images, rng.standard_normal((PICTURES, 5)).astype(np.float32) * 7


def write(kind: str, folder: Path, images: list[str], vectors: Vectors) -> tuple[Path, Path | None]:
    path = folder / f"mine.{kind.split()[0]}"
    keys: Path | None = None
    if kind.startswith("npy"):
        np.save(path, vectors)
        keys = folder / f"keys.{kind.split()[1]}"
        text = {"csv": "image,other\n", "txt": "", "json": ""}[kind.split()[1]]
        text += (
            json.dumps(images)
            if kind.endswith("json")
            else "".join(f"{image},1\n" if kind.endswith("csv") else f"{image}\n" for image in images)
        )
        keys.write_text(text)
    elif kind == "npz":
        np.savez(path, embeddings=vectors, keys=np.array(images), unrelated=np.zeros(3))
    elif kind == "parquet list":
        pl.DataFrame({"image": images, "vector": vectors.tolist()}).write_parquet(path)
    elif kind == "parquet columns":
        pl.DataFrame({"image": images} | {f"d{i}": vectors[:, i] for i in range(5)}).write_parquet(path)
    else:
        from safetensors.numpy import save_file

        save_file({"vectors": vectors}, path, metadata={"images": json.dumps(images)})
    return path, keys


@pytest.mark.parametrize(
    "kind", ["npy csv", "npy txt", "npy json", "npz", "parquet list", "parquet columns", "safetensors"]
)
def test_rows_are_matched_by_key_and_made_unit_length(workspace: WorkspaceFolder, tmp_path: Path, kind: str) -> None:
    images, vectors = made_elsewhere(workspace)
    path, keys = write(kind, tmp_path, images, vectors)
    done = import_vectors(workspace, "mine", path, keys)
    assert (done.encoder, done.dim, done.images, done.left_out) == ("mine", 5, PICTURES, 0)
    expected = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.abs(read_vectors(workspace, "mine", images) - expected).max() < 1e-6
    assert workspace.encoders() == ["mine"]


def test_images_without_a_row_are_left_out_and_listed(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images, vectors = made_elsewhere(workspace)
    path, keys = write("npy txt", tmp_path, images[2:], vectors[2:])
    assert import_vectors(workspace, "mine", path, keys).left_out == 2
    assert [each.image for each in left_out_images(workspace, "mine")] == sorted(images[:2])


def test_other_vectors_under_the_same_name_need_force(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images, vectors = made_elsewhere(workspace)
    path, keys = write("npy txt", tmp_path, images, vectors)
    import_vectors(workspace, "mine", path, keys)
    assert import_vectors(workspace, "mine", path, keys).new_images == 0
    np.save(path, -vectors)
    with pytest.raises(
        LikewiseError, match=r"another vector of 0000.png than the one stored as mine.*--name mine --force"
    ):
        import_vectors(workspace, "mine", path, keys)
    import_vectors(workspace, "mine", path, keys, force=True)
    assert read_vectors(workspace, "mine", images[:1])[0, 0] * vectors[0, 0] < 0


def test_what_cannot_be_right_is_refused_before_anything_is_written(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images, vectors = made_elsewhere(workspace)
    path, keys = write("npy txt", tmp_path, images, vectors)
    assert keys is not None

    def refused(said: str, name: str = "mine", file: Path = path, listed: Path | None = keys) -> None:
        with pytest.raises(LikewiseError, match=said) as caught:
            import_vectors(workspace, name, file, listed)
        assert "\n" not in str(caught.value)
        assert not (workspace.vectors_folder / "mine" / "meta.json").exists()

    refused("does not say which image each row belongs to", listed=None)
    refused("colour is the name of a built-in encoder", name="colour")
    refused("cannot name an encoder's vectors", name="../mine")
    refused("does not exist", file=tmp_path / "none.npy")
    refused("is of no kind that holds vectors", file=keys)
    keys.write_text("\n".join(images[:-1]))
    refused("lists 11 keys for 12 vectors")
    keys.write_text("\n".join([*images[:-2], "elsewhere/a.png", "b.png"]))
    refused(r"2 of 12 keys in .* are not images of the catalog \(first: elsewhere/a.png, b.png\)")
    keys.write_text("\n".join([*images[:-1], images[0]]))
    refused(r"twice \(again in row 12\)")
    keys.write_text("\n".join(images))
    bad = vectors.copy()
    bad[4, 2] = np.nan
    np.save(path, bad)
    refused(rf"row 5 of .*mine.npy \({images[4]}\) holds a value that is not a number")
    bad[4] = 0
    np.save(path, bad)
    refused("row 5 .* is zero everywhere")
    np.save(path, vectors[0])
    refused("not one row of numbers per image")
    path.write_bytes(b"rubbish")
    refused("cannot be read as .npy")
    ragged = tmp_path / "ragged.parquet"
    pl.DataFrame({"image": images[:2], "vector": [[1.0, 2.0], [1.0]]}).write_parquet(ragged)
    refused("row 2 of .* has 1 numbers, the first row 2", file=ragged, listed=None)


def test_imported_vectors_join_others(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images, vectors = made_elsewhere(workspace)
    import_vectors(workspace, "mine", *write("npy txt", tmp_path, images, vectors))
    [done] = encode_catalog(workspace, ["mine+layout"], workers=1)
    assert done.dim == 5 + read_vectors(workspace, "layout", images[:1]).shape[1]
