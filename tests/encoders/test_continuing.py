"""Vectors of elsewhere that go on with stored ones: only what is new is read, and another model's are noticed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.api.workspace import Workspace
from likewise.catalog import read_catalog
from likewise.encoders import import_vectors, left_out_images, read_vectors
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage import table_import
from likewise.encoders.storage.table_import import import_table
from likewise.errors import LikewiseError
from tests.cli.conftest import Run, run
from tests.conftest import draw_shape
from tests.encoders.test_tables import ENGINES, Write, quiet, write_parquet_folder, write_qdrant

__all__ = ["quiet", "run"]

COLOURS = ("red", "blue", "green", "gold", "cyan", "pink", "navy", "lime")
DIM = 6


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """24 photos in 24 items."""
    (tmp_path / "photos").mkdir()
    for number, colour in enumerate(COLOURS):
        for shape in ("circle", "square", "triangle"):
            draw_shape(shape, colour, number % 2).save(tmp_path / "photos" / f"{shape}-{colour}.png")
    workspace = Workspace(tmp_path / "shop")
    workspace.new(tmp_path / "photos")
    return workspace


def images_of(workspace: Workspace) -> list[str]:
    return read_catalog(workspace)["image"].to_list()


def seen_by(model: int, images: list[str], dim: int = DIM) -> Vectors:
    """What a model makes of a picture by its name: the same every time, and nothing like another model's."""
    mixing = np.random.default_rng(model).standard_normal((dim, dim))
    rows = [np.random.default_rng([*map(ord, image)]).gamma(0.3, size=dim) for image in images]
    return (np.array(rows) @ mixing).astype(np.float32)


def unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def save_file(path: Path, images: list[str], vectors: Vectors) -> Path:
    np.savez(path, images=np.array(images), vectors=vectors)
    return path


def change(workspace: Workspace, name: str, colour: str = "black") -> None:
    draw_shape("circle", colour, 0).save(workspace.root / name)
    workspace.update()


def test_a_changed_picture_does_not_get_the_vector_of_the_one_before_it(
    shop: Workspace, tmp_path: Path, run: Run
) -> None:
    images = images_of(shop)
    old = save_file(tmp_path / "mine.npz", images, seen_by(1, images))
    import_vectors(shop, "mine", old)
    change(shop, "circle-red.png")
    told = run("encode", shop.path, "--import", old, "--name", "mine")
    said = " ".join(told.out.split())
    assert told.code == 0 and "circle-red.png: its vector there is that of the picture which had this name" in said
    assert [each.image for each in left_out_images(shop, "mine")] == ["circle-red.png"]
    with pytest.raises(LikewiseError, match=r"circle-red\.png"):
        read_vectors(shop, "mine", ["circle-red.png"])
    assert import_vectors(shop, "mine", old).new_images == 0  # asked again, refused again
    half = save_file(tmp_path / "half.npz", images, seen_by(1, images).astype(np.float16))
    assert import_vectors(shop, "mine", half).new_images == 0
    renewed = seen_by(1, images)
    renewed[images.index("circle-red.png")] = seen_by(1, ["another picture"])[0]
    assert import_vectors(shop, "mine", save_file(tmp_path / "next.npz", images, renewed)).new_images == 1
    assert np.abs(read_vectors(shop, "mine", images) - unit(renewed)).max() < 1e-6
    assert not left_out_images(shop, "mine")


def test_the_vector_of_an_earlier_picture_is_found_through_renames(shop: Workspace, tmp_path: Path) -> None:
    images = images_of(shop)
    import_vectors(shop, "mine", save_file(tmp_path / "mine.npz", images, seen_by(1, images)))
    (shop.root / "circle-red.png").rename(shop.root / "z.png")
    shop.update()
    change(shop, "z.png")
    stale = save_file(tmp_path / "next.npz", ["z.png"], seen_by(1, ["circle-red.png"]))
    assert import_vectors(shop, "mine", stale).left_out == 1


@pytest.mark.parametrize("write", ENGINES)
def test_a_table_with_old_vectors_of_changed_pictures_leaves_them_out(
    shop: Workspace, tmp_path: Path, write: Write
) -> None:
    images = images_of(shop)
    source = write(tmp_path, images, seen_by(1, images), "image")
    import_table(shop, "mine", source)
    change(shop, "square-red.png")
    done = import_table(shop, "mine", source)
    assert (done.images, done.left_out) == (23, 1)


def test_an_item_may_keep_its_vector_while_one_of_its_photos_changes(shop: Workspace, tmp_path: Path) -> None:
    for number, name in enumerate(("a-1", "a-2", "b-1")):
        draw_shape("square", COLOURS[number], 1).save(tmp_path / f"{name}.png")
    table = tmp_path / "items.csv"
    table.write_text("image,item\na-1.png,a\na-2.png,a\nb-1.png,b\n")
    workspace = Workspace(tmp_path / "items")
    workspace.new(table)
    vectors = save_file(tmp_path / "items.npz", ["a", "b"], seen_by(1, ["a", "b"]))
    import_vectors(workspace, "mine", vectors, by="item")
    draw_shape("circle", "black", 1).save(tmp_path / "a-2.png")
    draw_shape("triangle", "black", 1).save(tmp_path / "b-1.png")
    workspace.update(table, accept_removals=True)
    import_vectors(workspace, "mine", vectors, by="item")
    assert [each.image for each in left_out_images(workspace, "mine")] == ["b-1.png"]


def grow(workspace: Workspace, n_new: int = 4) -> list[str]:
    names = [f"new-{number}.png" for number in range(n_new)]
    for number, name in enumerate(names):
        draw_shape("triangle", f"#{40 * number + 20:02x}9050", 1).save(workspace.root / name)
    workspace.update()
    return names


@pytest.mark.parametrize("kind", ["parquet", "lance"])
def test_a_table_that_grew_is_asked_for_new_images_only(
    shop: Workspace, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first import was interrupted before the table grew."""
    import lance
    import pyarrow as pa

    images = images_of(shop)
    place = tmp_path / ("parts" if kind == "parquet" else "t.lance")
    place.mkdir()

    def add(names: list[str], model: int = 1) -> None:
        vectors = seen_by(model, names)
        if kind == "parquet":
            number = len(list(place.iterdir()))
            pl.DataFrame({"image": names, "vector": vectors}).write_parquet(place / f"{number}.parquet")
        else:
            values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIM)
            mode = "append" if any(place.iterdir()) else "overwrite"
            lance.write_dataset(pa.table({"image": names, "vector": values}), place, mode=mode)

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    add(images[:20])
    monkeypatch.setattr(table_import, "SHARD_ROWS", 5)
    monkeypatch.setattr(table_import, "SHARDS_PER_BATCH", 2)
    with pytest.raises(KeyboardInterrupt):
        import_table(shop, "mine", str(place), on_progress=stop)
    assert shop.status().status.part("vectors/mine").command.endswith("--import FILE --name mine")
    add(images[20:])
    assert import_table(shop, "mine", str(place)).left_out == 0
    before = {path: path.stat().st_mtime_ns for path in (shop.vectors_folder / "mine").glob("shard-*.npy")}
    add(names := grow(shop))
    done = import_table(shop, "mine", str(place))
    assert (done.new_images, done.images, done.left_out) == (4, 28, 0)
    assert all(path.stat().st_mtime_ns == written for path, written in before.items())
    found = read_vectors(shop, "mine", [*images, *names])
    assert np.abs(found - unit(seen_by(1, [*images, *names]))).max() < 1e-6
    assert import_table(shop, "mine", str(place)).new_images == 0


def test_an_image_that_the_table_lacked_is_asked_for_again(shop: Workspace, tmp_path: Path) -> None:
    images = images_of(shop)
    vectors = seen_by(1, images)
    place = write_parquet_folder(tmp_path, images[1:], vectors[1:], "image")
    assert import_table(shop, "mine", place).left_out == 1
    assert import_table(shop, "mine", place).new_images == 0
    pl.DataFrame({"image": images[:1], "embedding": vectors[:1]}).write_parquet(Path(place) / "late.parquet")
    done = import_table(shop, "mine", place)
    assert (done.new_images, done.left_out) == (1, 0)


@pytest.mark.parametrize("write", ENGINES)
def test_a_table_that_was_filled_by_another_model_is_refused(shop: Workspace, tmp_path: Path, write: Write) -> None:
    """With new images and without."""
    images = images_of(shop)
    import_table(shop, "mine", write(tmp_path, images, seen_by(1, images), "image"))
    (tmp_path / "again").mkdir()
    other = write(tmp_path / "again", images, seen_by(2, images), "image")
    refused = r"has another vector of circle-blue.png than .* stored as mine.*--force"
    with pytest.raises(LikewiseError, match=refused):
        import_table(shop, "mine", other)
    assert np.abs(read_vectors(shop, "mine", images) - unit(seen_by(1, images))).max() < 1e-6
    grow(shop)
    with pytest.raises(LikewiseError, match=refused):
        import_table(shop, "mine", other)
    import_table(shop, "mine", other, force=True)
    assert np.abs(read_vectors(shop, "mine", images) - unit(seen_by(2, images))).max() < 1e-6


@pytest.mark.parametrize("model", [1, 2])
def test_new_vectors_of_another_model_in_the_same_collection_are_pointed_out(
    shop: Workspace, tmp_path: Path, run: Run, model: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old points stay as they were, so nothing that both have differs."""
    monkeypatch.setattr("tests.encoders.test_tables.DIM", 128)
    images = images_of(shop)
    alike = 0.5 * seen_by(1, ["what all pictures share"], 128)
    source = write_qdrant(tmp_path, images, seen_by(1, images, 128) + alike, "image")
    import_table(shop, "mine", source)
    names = grow(shop)
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(tmp_path / "qdrant"))
    shared = 0.5 * seen_by(model, ["what all pictures share"], 128)
    for number, vector in enumerate(seen_by(model, names, 128) + shared):
        point = models.PointStruct(
            id=900 + number, vector={"dino": vector.tolist(), "clip": vector.tolist()}, payload={"image": names[number]}
        )
        client.upsert("shoes", [point])
    client.close()
    told = run("encode", shop.path, "--import", source, "--name", "mine")
    assert told.code == 0, told.err
    assert ("are they of the same model?" in " ".join(told.out.split())) == (model == 2)
