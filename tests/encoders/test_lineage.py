"""What an encoder learned from follows its vectors through derivations, exports and imports."""

from pathlib import Path

import numpy as np
import pytest

from likewise.encoders.families.run_files import write_run
from likewise.encoders.lineage import encoder_lineage, picture_lineage
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.storage.exporting import ENDINGS, export_vectors
from likewise.encoders.storage.files import vectors_folder
from likewise.encoders.storage.importing import import_vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.lineage import Lineage
from likewise.lineage.files import lineage_file
from likewise.lineage.record import lesson_from_workspace
from likewise.workspace import WorkspaceFolder


@pytest.fixture
def trained(workspace: WorkspaceFolder) -> WorkspaceFolder:
    """A workspace with vectors of `colour` and of an adapter over it that learned one pair."""
    lesson = lesson_from_workspace(workspace, "labels", "train perceptual", ["circle/red-0.png"], answers=["pair"])
    folder = workspace.path / "runs" / "toy"
    encode_catalog(workspace, ["colour"], workers=1)
    dim = read_vectors(workspace, "colour", ["circle/red-0.png"]).shape[1]
    layer = np.eye(dim, 4, dtype=np.float32), np.zeros(4, np.float32)
    write_run(folder, "adapter", ["colour"], [layer], dim=4, lineage=Lineage((lesson,)))
    encode_catalog(workspace, ["run:toy"], workers=1)
    return workspace


def learned(workspace: WorkspaceFolder, encoder: str) -> list[tuple[str, str]]:
    return [(one.task, one.step) for one in encoder_lineage(workspace, encoder).lessons]


OWN = ("labels", "train perceptual")


def test_descriptors_learned_nothing_and_a_run_what_its_folder_says(trained: WorkspaceFolder) -> None:
    assert encoder_lineage(trained, "colour") == Lineage()
    assert lineage_file(vectors_folder(trained, "colour")).exists()
    assert learned(trained, "toy") == [OWN]


@pytest.mark.parametrize(
    ("spec", "name", "more"),
    [
        ("(run:toy)?pca=2&on=all&name=pc", "pc", [("pictures", "pca=2&on=all")]),
        ("(run:toy)?whiten=2&on=category:circle", None, [("pictures", "whiten=2&on=category:circle")]),
        ("colour+toy", None, []),
        ("(colour+toy)?pca=2&on=all", None, [("pictures", "pca=2&on=all")]),
    ],
)
def test_what_is_derived_learned_what_its_parts_learned(
    trained: WorkspaceFolder, spec: str, name: str | None, more: list[tuple[str, str]]
) -> None:
    [done] = encode_catalog(trained, [spec], workers=1)
    assert name is None or done.encoder == name
    assert learned(trained, done.encoder) == [OWN, *more]


def test_components_name_the_images_they_are_fitted_on(trained: WorkspaceFolder) -> None:
    [done] = encode_catalog(trained, ["colour?pca=2&on=category:circle"], workers=1)
    [lesson] = encoder_lineage(trained, done.encoder).lessons
    assert {image.split("/")[0] for image in lesson.examples.images["image"]} == {"circle"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_export_brings_it_back_into_any_workspace(trained: WorkspaceFolder, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"mine{ending}"
    done = export_vectors(trained, "toy", file)
    assert done.images == 24
    keys = done.beside[0] if done.beside else None
    import_vectors(trained, "again", file, keys)
    assert learned(trained, "again") == [OWN]
    images = ["square/blue-1.png", "circle/red-0.png"]
    assert np.allclose(read_vectors(trained, "again", images), read_vectors(trained, "toy", images), atol=1e-6)


def test_a_shard_of_a_workspace_brings_it_along_too(trained: WorkspaceFolder) -> None:
    folder = vectors_folder(trained, "toy")
    import_vectors(trained, "shard", folder / "shard-00000.npy", folder / "rows.parquet")
    assert learned(trained, "shard") == [OWN]


def test_vectors_without_a_record_are_of_unknown_lineage_and_so_is_what_is_made_of_them(
    trained: WorkspaceFolder, tmp_path: Path
) -> None:
    export_vectors(trained, "toy", tmp_path / "mine.npy")
    alone = tmp_path / "alone.npy"
    alone.write_bytes((tmp_path / "mine.npy").read_bytes())
    import_vectors(trained, "alone", alone, tmp_path / "mine.npy.keys.txt")
    encode_catalog(trained, ["colour+alone"], workers=1)
    assert encoder_lineage(trained, "alone").unknown == ("alone",)
    assert encoder_lineage(trained, "colour+alone").unknown == ("alone",)


def test_vectors_made_by_an_earlier_version_have_the_lineage_of_their_spec(trained: WorkspaceFolder) -> None:
    encode_catalog(trained, ["(run:toy)?pca=2&on=all&name=pc"], workers=1)
    for name in ("toy", "pc", "colour"):
        lineage_file(vectors_folder(trained, name)).unlink()
    assert learned(trained, "pc") == [OWN, ("pictures", "pca=2&on=all")]
    assert encoder_lineage(trained, "colour") == Lineage()


def test_public_networks_say_so_in_words_and_unknown_ones_are_unknown(tmp_path: Path) -> None:
    assert picture_lineage("efficientnet-lite0+colour").pretrained == (
        "efficientnet-lite0: ImageNet network for small machines, 224 pixels.",
    )
    assert picture_lineage("dinov2").pretrained == ("dinov2: DINOv2 ViT-B/14, self-supervised.",)
    assert picture_lineage("small") == Lineage()
    assert picture_lineage("python:mine:encode").unknown == ("mine.encode",)
    assert picture_lineage(f"onnx:{tmp_path}/model.onnx").unknown == ("model",)


def test_a_file_of_another_kind_is_refused(trained: WorkspaceFolder, tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="must end in"):
        export_vectors(trained, "toy", tmp_path / "mine.csv")
