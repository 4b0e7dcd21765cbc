"""The map: the first two components without the extra, neighbours kept near with it, made once and kept."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.api.workspace import Workspace
from likewise.discovery.step import PoolSettings, make_pool
from likewise.encoders import encode_catalog, import_vectors
from likewise.errors import LikewiseError
from likewise.explore import projection
from likewise.explore.gallery import Gallery
from likewise.explore.labels import LabelReader
from likewise.explore.map_colours import colour_by
from likewise.explore.projection import PCA, TSNE, embed_tsne, make_map, read_map
from likewise.workspace import WorkspaceFolder


@pytest.fixture
def gallery(workspace: WorkspaceFolder) -> Gallery:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    return Gallery(workspace)


def test_the_plain_map_is_the_first_two_components(gallery: Gallery) -> None:
    table = make_map(gallery, "colour", PCA).table
    vectors = gallery.vectors("colour").vectors.astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    first = np.linalg.svd(centred, full_matrices=False)[2][:2] @ centred.T
    for ours, theirs in zip(("x", "y"), first, strict=True):
        assert abs(np.corrcoef(table[ours], theirs)[0, 1]) > 0.99
    assert np.abs(table["x"].to_numpy()).max() <= 1.0


def test_groups_that_are_apart_stay_apart(rng: np.random.Generator) -> None:
    pytest.importorskip("openTSNE")
    group = np.repeat(np.arange(4), 30)
    vectors = (10.0 * np.eye(4)[group] + rng.standard_normal((120, 4))).astype(np.float32)
    told: list[tuple[int, int]] = []
    points = embed_tsne(vectors, lambda what, done, total: told.append((done, total)))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * np.eye(120)
    assert (group[distances.argmin(axis=1)] == group).mean() > 0.98
    assert told[-1][0] == told[-1][1]


def test_a_map_is_made_once_until_the_vectors_change(gallery: Gallery, tmp_path: Path) -> None:
    made = make_map(gallery, "colour", PCA)
    stored = read_map(gallery, "colour", PCA)
    assert stored is not None and stored.table.equals(made.table)
    file = tmp_path / "mine.npz"
    rng = np.random.default_rng(1)
    for seed in range(2):
        np.savez(file, vectors=rng.standard_normal((24, 8)).astype(np.float32), keys=np.array(gallery.images))
        import_vectors(gallery.workspace, "mine", file, force=bool(seed))
        again = make_map(Gallery(gallery.workspace), "mine", PCA)
    assert again.table.equals(read_map(gallery, "mine", PCA).table)  # type: ignore[union-attr]


def test_a_map_of_vectors_that_were_replaced_meanwhile_is_not_taken_for_one_of_now(
    gallery: Gallery, tmp_path: Path
) -> None:
    """t-SNE takes minutes, in which somebody may encode again, or remove a picture."""
    rng, file = np.random.default_rng(1), tmp_path / "mine.npz"
    for seed in range(2):
        np.savez(file, vectors=rng.standard_normal((24, 8)).astype(np.float32), keys=np.array(gallery.images))
        import_vectors(gallery.workspace, "mine", file, force=bool(seed))
        if not seed:
            gallery.vectors("mine")  # read before they are replaced
    earlier = make_map(gallery, "mine", PCA)
    of_now = make_map(Gallery(gallery.workspace), "mine", PCA)
    assert not of_now.table.equals(earlier.table)
    gone = gallery.images[0]
    table = gallery.workspace.root / "catalog.csv"
    table.write_text("".join(line for line in table.read_text().splitlines(True) if not line.startswith(gone)))
    Workspace(gallery.workspace.path).update(table)
    assert gone not in set(make_map(Gallery(gallery.workspace), "mine", PCA).table["image"])


def test_too_many_images_are_said_and_a_sample_is_drawn(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MAX_IMAGES", 10)
    with pytest.raises(LikewiseError, match="draw a sample"):
        make_map(gallery, "shape", PCA)
    drawn = make_map(gallery, "shape", PCA, sample=True)
    assert len(drawn.table) == 10 and drawn.n_images == 24


def test_colours_follow_columns_and_models(gallery: Gallery) -> None:
    made = make_map(gallery, "colour", PCA)
    labels = LabelReader(gallery.workspace)
    by = colour_by(made, gallery, labels, "category")
    assert [by.names[code] for code in by.codes] == [image.split("/")[0] for image in made.table["image"]]
    query = "circle/red-0.png"
    found = colour_by(made, gallery, labels, "model", query, ["colour", "shape"])
    told = dict(zip(made.table["image"], (found.names[code] for code in found.codes), strict=True))
    assert told[query] == "query"
    assert told["circle/red-1.png"] == "not found"  # the query's own item
    assert found.rest is not None and found.names[found.rest] == "not found"
    assert found.note == "Found: the 10 nearest items of each model."  # of 24 images, a hundred would be all
    assert sum(name in ("colour only", "several") for name in told.values()) == 10
    with pytest.raises(LikewiseError, match="choose one on the map first"):
        colour_by(made, gallery, labels, "model")


def test_a_selection_becomes_the_queries_of_a_pool(gallery: Gallery, tmp_path: Path) -> None:
    file = tmp_path / "queries.csv"
    chosen = ["circle/red-0.png", "square/blue-1.png"]
    pl.DataFrame({"image": chosen}).write_csv(file)
    settings = PoolSettings(("colour", "shape"), k=2, n_queries=50, n_random=0, queries=str(file))
    assert make_pool(gallery.workspace, settings).query_gallery.queries == chosen


def test_both_ways_have_a_name() -> None:
    assert projection.best_method() in (TSNE, PCA)
