"""Vectors made from vectors: principal components, whitening, several encoders side by side, half precision."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from likewise.encoders import encode_catalog, get_encoder, left_out_images, read_vectors
from likewise.encoders.storage.files import resolve_stored_spec
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_json, write_parquet

from .helpers import files, images_of, make_workspace, random_picture

PICTURES = 60


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    workspace = make_workspace(tmp_path, PICTURES)
    catalog = pl.read_parquet(workspace.catalog_file)
    split = pl.Series("split", ["train"] * 40 + ["test"] * 20)
    write_parquet(catalog.with_columns(split), workspace.catalog_file)
    return workspace


def encode(workspace: WorkspaceFolder, *specs: str) -> None:
    encode_catalog(workspace, specs, workers=1, shard_rows=16)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("whiten", [False, True])
def test_components_are_those_of_scikit_learn_fitted_on_the_split(workspace: WorkspaceFolder, whiten: bool) -> None:
    from sklearn.decomposition import PCA

    spec = f"layout?{'whiten' if whiten else 'pca'}=8&on=split:train"
    encode(workspace, spec)
    images = images_of(workspace)
    before, after = (read_vectors(workspace, name, images) for name in ("layout", spec))
    model = PCA(8, whiten=whiten, svd_solver="full").fit(before[:40].astype(np.float64))
    expected = unit(model.transform(before.astype(np.float64)))
    assert after.shape == (PICTURES, 8)
    assert np.abs(after @ after.T - expected @ expected.T).max() < 1e-4
    assert workspace.encoders() == ["layout", f"layout_{'whiten' if whiten else 'pca'}-8_on-split-train"]


def test_components_need_a_stated_split_and_enough_images(workspace: WorkspaceFolder) -> None:
    with pytest.raises(LikewiseError, match=r"must say which images pca is fitted on: add on=split:train"):
        encode(workspace, "layout?pca=8")
    with pytest.raises(LikewiseError, match="either pca=N or whiten=N"):
        encode(workspace, "layout?on=all")
    with pytest.raises(LikewiseError, match=r"asks for 50 components, but 20 images .* at most 19"):
        encode(workspace, "layout?pca=50&on=split:test")
    with pytest.raises(LikewiseError, match="cannot select images by 'domain=wild'"):
        encode(workspace, "layout?pca=8&on=domain:wild")
    with pytest.raises(LikewiseError, match="use it with `likewise encode`"):
        get_encoder("layout?pca=8&on=all")


def test_the_similarity_of_encoders_side_by_side_is_their_weighted_mean(workspace: WorkspaceFolder) -> None:
    encode(workspace, "colour?weight=3+layout")
    images = images_of(workspace)
    colour, layout, both = (
        read_vectors(workspace, name, images) for name in ("colour", "layout", "colour?weight=3+layout")
    )
    expected = 0.75 * colour @ colour.T + 0.25 * layout @ layout.T
    assert np.abs(both @ both.T - expected).max() < 1e-5
    joined = get_encoder("colour?weight=3+layout")
    in_memory = joined.encode([joined.prepare(random_picture(number)) for number in range(3)])
    assert np.abs(in_memory - both[:3]).max() < 1e-6
    assert joined.dim == both.shape[1]


def test_components_of_several_and_an_image_that_one_of_them_lacks(workspace: WorkspaceFolder) -> None:
    encode(workspace, "colour")
    (workspace.root / "0005.png").write_bytes(b"broken")
    spec = "(colour+layout?flip=1)?pca=8&on=all"
    encode(workspace, spec)
    assert [each.image for each in left_out_images(workspace, spec)] == ["0005.png"]
    assert left_out_images(workspace, "colour") == ()
    assert read_vectors(workspace, spec, ["0004.png", "0006.png"]).shape == (2, 8)


def test_half_precision_takes_half_the_space_and_stays_close(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout", "layout?dtype=float16")
    images = images_of(workspace)
    full, half = read_vectors(workspace, "layout", images), read_vectors(workspace, "layout?dtype=float16", images)
    assert np.load(workspace.vectors_folder / "layout_float16" / "shard-00000.npy").dtype == np.float16
    assert half.dtype == np.float32
    assert 0 < np.abs(full - half).max() < 1e-3
    assert np.linalg.norm(half.astype(np.float64), axis=1) == pytest.approx(1.0, abs=1e-6)
    assert read_json(workspace.vectors_folder / "layout_float16" / "meta.json")["dtype"] == "float16"


def test_the_same_again_gives_the_same_files_and_nothing_is_done_twice(
    workspace: WorkspaceFolder, tmp_path: Path
) -> None:
    spec = "layout?pca=8&on=split:train"
    encode(workspace, spec, "layout+shape")
    twin = make_workspace(tmp_path / "twin", PICTURES)
    write_parquet(pl.read_parquet(workspace.catalog_file), twin.catalog_file)
    encode(twin, spec)
    name = "layout_pca-8_on-split-train"
    assert files(workspace.vectors_folder / name) == files(twin.vectors_folder / name)
    assert [each.new_images for each in encode_catalog(workspace, [spec, "layout+shape"], workers=1)] == [0, 0]


def test_options_of_built_in_encoders(workspace: WorkspaceFolder) -> None:
    encode(workspace, "layout", "layout?flip=1", "layout?crop=0.5")
    images = images_of(workspace)
    plain, flipped, cropped = (
        read_vectors(workspace, name, images) for name in ("layout", "layout_flip", "layout_crop-0.5")
    )
    assert np.abs(plain - flipped).max() > 1e-3
    assert np.abs(plain - cropped).max() > 1e-3
    with pytest.raises(LikewiseError, match="the built-in encoder layout has no option 'pooling'"):
        encode(workspace, "layout?pooling=mean")


def test_a_built_in_encoder_of_a_smaller_size_does_not_see_fine_detail(workspace: WorkspaceFolder) -> None:
    """A chessboard of single pixels is plain grey once it is reduced."""
    from PIL import Image

    board = np.indices((128, 128)).sum(axis=0) % 2 * 255
    Image.fromarray(board.astype(np.uint8)).save(workspace.root / "0000.png")
    Image.new("L", (128, 128), 127).save(workspace.root / "0001.png")
    encode(workspace, "texture", "texture?size=32", "texture?size=128")
    alike = {
        name: float(np.prod(read_vectors(workspace, name, ["0000.png", "0001.png"]), axis=0).sum())
        for name in ("texture", "texture_size-32", "texture_size-128")
    }
    assert alike["texture_size-32"] > 0.99 > 0.97 > alike["texture"]
    assert alike["texture_size-128"] == alike["texture"]
    with pytest.raises(LikewiseError, match="texture looks at 128 pixels: size=256 must not be more"):
        encode(workspace, "texture?size=256")


def test_the_name_of_a_built_in_encoder_stays_its_own(workspace: WorkspaceFolder) -> None:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    with pytest.raises(LikewiseError, match="shape is the name of a built-in encoder"):
        encode_catalog(workspace, ["(colour)?pca=2&on=all&name=shape"], workers=1, force=True)
    assert resolve_stored_spec(workspace, "shape") == "shape"
