"""Encoders that training left in a folder: layers over stored vectors, and networks with other weights."""

import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import encode_catalog, get_encoder, read_vectors
from likewise.encoders.families.run_files import Layer, write_run
from likewise.encoders.networks.network import Network
from likewise.errors import LikewiseError
from likewise.lineage import NOTHING_LEARNED
from likewise.workspace import WorkspaceFolder

from .helpers import images_of, make_workspace, random_picture

PICTURES = 12


def layers(*sizes: int) -> list[Layer]:
    rng = np.random.default_rng(0)
    return [
        (rng.normal(size=(before, after)).astype(np.float32), rng.normal(size=after).astype(np.float32))
        for before, after in pairwise(sizes)
    ]


def test_an_adapter_works_on_stored_vectors_and_on_pictures_alike(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, PICTURES)
    dim = get_encoder("colour").dim + get_encoder("layout").dim
    two = layers(dim, 16, 8)
    write_run(workspace.path / "runs" / "mine", "adapter", ["colour", "layout"], two, dim=8, lineage=NOTHING_LEARNED)
    encode_catalog(workspace, ["run:mine"], workers=1, shard_rows=5)
    assert workspace.encoders() == ["colour", "layout", "mine"]
    images = images_of(workspace)
    stored = read_vectors(workspace, "mine", images)
    bases = np.concatenate([read_vectors(workspace, name, images) for name in ("colour", "layout")], axis=1)
    hidden = np.maximum(bases.astype(np.float64) @ two[0][0] + two[0][1], 0.0)
    expected = hidden @ two[1][0] + two[1][1]
    assert np.abs(stored - expected / np.linalg.norm(expected, axis=1, keepdims=True)).max() < 1e-5

    encoder = get_encoder(f"run:{workspace.path / 'runs' / 'mine'}")
    picture = random_picture(3)
    again = encoder.encode([encoder.prepare(picture)])
    parts = [get_encoder(name) for name in ("colour", "layout")]
    row = np.concatenate([part.encode([part.prepare(picture)]) for part in parts], axis=1).astype(np.float64)
    wanted = np.maximum(row @ two[0][0] + two[0][1], 0.0) @ two[1][0] + two[1][1]
    assert np.abs(again - wanted / np.linalg.norm(wanted)).max() < 1e-5


def test_a_moved_workspace_still_knows_its_runs_and_new_weights_are_new_vectors(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, PICTURES)
    dim = get_encoder("layout").dim
    write_run(workspace.path / "runs" / "mine", "adapter", ["layout"], layers(dim, 4), dim=4, lineage=NOTHING_LEARNED)
    encode_catalog(workspace, ["run:mine"], workers=1)
    moved = WorkspaceFolder(tmp_path / "moved")
    shutil.move(workspace.path, moved.path)
    assert encode_catalog(moved, ["mine"], workers=1)[0].new_images == 0
    write_run(moved.path / "runs" / "mine", "adapter", ["layout"], layers(dim, 6, 4), dim=4, lineage=NOTHING_LEARNED)
    with pytest.raises(LikewiseError, match="--force"):
        encode_catalog(moved, ["run:mine"], workers=1)


def test_a_trained_network_has_its_own_weights_and_layers(tmp_path: Path) -> None:
    base = get_encoder("small")
    assert isinstance(base, Network) and base.model.load is not None
    state = {name: value.numpy().copy() for name, value in base.model.load().state_dict().items()}
    picture = base.prepare(random_picture(1))
    same = write_run(tmp_path / "same", "trunk", ["small"], [], dim=192, lineage=NOTHING_LEARNED, trunk=state)
    assert np.array_equal(get_encoder(f"run:{same.folder}").encode([picture]), base.encode([picture]))
    state["9.weight"] *= -1.0
    [(matrix, offset)] = layers(192, 5)
    other = write_run(
        tmp_path / "other", "trunk", ["small"], [(matrix, offset)], dim=5, lineage=NOTHING_LEARNED, trunk=state
    )
    encoder = get_encoder(f"run:{other.folder}?size=48")
    assert encoder.dim == 5 and encoder.version != get_encoder(f"run:{same.folder}").version
    vectors = encoder.encode([encoder.prepare(random_picture(1))])
    assert vectors.shape == (1, 5) and np.linalg.norm(vectors) == pytest.approx(1.0, abs=1e-6)


def test_an_unfinished_run_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="holds no trained encoder"):
        get_encoder(f"run:{tmp_path}")
