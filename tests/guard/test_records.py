"""The record of what a model learned from stays with its vectors: through tables, bare copies, lost and other files."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.catalog import make_catalog, read_catalog
from likewise.encoders.families.run_files import write_run
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.storage.exporting import export_vectors
from likewise.encoders.storage.files import read_meta, vectors_folder
from likewise.encoders.storage.importing import import_vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.encoders.storage.table_import import import_source
from likewise.evaluation.screening import class_set, screen_encoders
from likewise.lineage import Lineage
from likewise.lineage.files import lineage_file
from likewise.lineage.record import lesson_from_workspace
from likewise.workspace import WorkspaceFolder
from tests.conftest import draw_shape

COLOURS = ("red", "blue", "green", "orange", "purple", "brown")


def add_run(workspace: WorkspaceFolder, name: str, seed: int) -> None:
    dim = read_vectors(workspace, "colour", read_catalog(workspace)["image"].to_list()[:1]).shape[1]
    layer = np.random.default_rng(seed).normal(size=(dim, 4)).astype(np.float32), np.zeros(4, np.float32)
    lineage = Lineage((lesson_from_workspace(workspace, "classes", "train finetune"),))
    write_run(workspace.path / "runs" / name, "adapter", ["colour"], [layer], dim=4, lineage=lineage)


def make_shop(folder: Path, seed: int) -> WorkspaceFolder:
    """Six pictures, and a model `taught` that learned their classes."""
    pictures, workspace = folder / "pictures", WorkspaceFolder(folder / "shop")
    pictures.mkdir(parents=True)
    for colour in COLOURS:
        draw_shape("circle", colour, 0).save(pictures / f"{colour}.png")
    table = pl.DataFrame({"image": [f"{colour}.png" for colour in COLOURS], "item": list(COLOURS)})
    make_catalog(workspace, table, pictures, "table")
    encode_catalog(workspace, ["colour"], workers=1)
    add_run(workspace, "taught", seed)
    encode_catalog(workspace, ["run:taught"], workers=1)
    return workspace


@pytest.fixture
def shop(tmp_path: Path) -> WorkspaceFolder:
    return make_shop(tmp_path, 1)


def is_marked(workspace: WorkspaceFolder, name: str) -> bool:
    catalog = read_catalog(workspace)
    return screen_encoders(workspace, [name], class_set(catalog, catalog["image"], "the classes")).learned == [name]


def test_a_folder_of_parquet_files_keeps_the_record(shop: WorkspaceFolder, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    export_vectors(shop, "taught", tmp_path / "parts" / "0.parquet")
    import_source(shop, str(tmp_path / "parts"), name="from-folder")
    import_source(shop, f"{tmp_path / 'parts' / '0.parquet'}?key=image", name="from-file")
    assert is_marked(shop, "from-folder") and is_marked(shop, "from-file")


def test_bare_vectors_of_a_stored_model_have_its_record(shop: WorkspaceFolder, tmp_path: Path) -> None:
    images = read_catalog(shop)["image"].to_list()
    vectors = read_vectors(shop, "taught", images)
    np.savez(tmp_path / "bare.npz", keys=images, vectors=3.0 * vectors)  # as any other program would write them
    import_vectors(shop, "bare", tmp_path / "bare.npz")
    pl.DataFrame({"key": images, "vector": vectors.tolist()}).write_parquet(tmp_path / "bare.parquet")
    import_source(shop, f"{tmp_path / 'bare.parquet'}?key=key", name="bare-table")
    assert is_marked(shop, "bare") and is_marked(shop, "bare-table")
    np.savez(tmp_path / "other.npz", keys=images, vectors=np.random.default_rng(5).normal(size=(len(images), 4)))
    import_vectors(shop, "other", tmp_path / "other.npz")
    assert encoder_lineage(shop, "other").unknown == ("other",) and not is_marked(shop, "other")


@pytest.mark.parametrize("name", ["dinov2", "mine"])
def test_a_record_that_is_gone_or_another_one_is_noticed(shop: WorkspaceFolder, tmp_path: Path, name: str) -> None:
    export_vectors(shop, "taught", tmp_path / "taught.npz")
    import_vectors(shop, name, tmp_path / "taught.npz")
    record, empty = lineage_file(vectors_folder(shop, name)), lineage_file(vectors_folder(shop, "colour"))
    assert is_marked(shop, name) and not encoder_lineage(shop, name).unknown
    shutil.copy(empty, record)
    assert encoder_lineage(shop, name).unknown == (name,)
    record.unlink()
    assert encoder_lineage(shop, name).unknown == (name,)
    shutil.copy(empty, lineage_file(vectors_folder(shop, "taught")))
    assert is_marked(shop, "taught")  # its run says so


def test_a_file_with_the_other_images_does_not_take_the_record_away(shop: WorkspaceFolder, tmp_path: Path) -> None:
    images = read_catalog(shop)["image"].to_list()
    export_vectors(shop, "taught", tmp_path / "taught.parquet")
    record = pl.read_parquet_metadata(tmp_path / "taught.parquet")["lineage"]
    first = pl.read_parquet(tmp_path / "taught.parquet").head(4)
    first.write_parquet(tmp_path / "first.parquet", metadata={"lineage": record})
    import_vectors(shop, "mine", tmp_path / "first.parquet")
    assert is_marked(shop, "mine")
    np.savez(tmp_path / "rest.npz", keys=images[4:], vectors=np.random.default_rng(2).normal(size=(2, 4)))
    import_vectors(shop, "mine", tmp_path / "rest.npz")
    assert is_marked(shop, "mine")


def test_a_run_of_another_workspace_is_not_taken_for_the_own_one_of_that_name(tmp_path: Path) -> None:
    here, there = make_shop(tmp_path / "a", 1), make_shop(tmp_path / "b", 2)
    images = read_catalog(here)["image"].to_list()
    encode_catalog(here, [f"run:{there.path / 'runs' / 'taught'}?name=theirs"], workers=1)
    theirs = read_vectors(there, "taught", images)
    assert np.allclose(read_vectors(here, "theirs", images), theirs, atol=1e-6)
    assert not np.allclose(read_vectors(here, "taught", images), theirs, atol=1e-2)
    assert encode_catalog(here, ["theirs"], workers=1)[0].new_images == 0
    meta = read_meta(vectors_folder(here, "taught"))
    assert meta is not None and meta.spec == "run:taught"  # so that the workspace may be moved or copied
