"""What `status` says of labels after an update, against a truth that is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.api.workspace import Workspace
from likewise.catalog import read_catalog
from likewise.encoders import read_vectors
from likewise.evaluation.coverage import CatalogCoverage
from tests.update.conftest import change_photos, save_shape, shape_of, vote


def true_precision(workspace: Workspace, encoder: str, k: int = 5) -> float:
    """P@k with every image of today as a query and every label known; each photo is an item of its own."""
    images = read_catalog(workspace)["image"].to_list()
    vectors = read_vectors(workspace, encoder, images)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    np.fill_diagonal(scores, -np.inf)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    hits = [[shape_of(query) == shape_of(images[at]) for at in best[row]] for row, query in enumerate(images)]
    return float(np.mean(hits))


def coverage(workspace: Workspace) -> CatalogCoverage:
    found = workspace.status().status.coverage
    assert found is not None
    return found


def test_no_number_is_further_off_than_status_says(shop: Path) -> None:
    """All images are queries and every result is labelled: what is off comes from the update alone."""
    workspace = Workspace(shop / "shoes")
    workspace.discover(k=5, n_queries=36, n_random=0, replace=True)
    vote(workspace)
    for shape in ("circle", "square", "triangle"):
        for colour in ("gold", "silver", "cyan"):
            save_shape(shop / "photos", shape, colour, 0)
    for gone in ("circle/red-0.png", "square/blue-1.png"):
        (shop / "photos" / gone).unlink()
    workspace.update()
    workspace.encode("colour", "shape")
    behind = coverage(workspace)
    share_new = 9 / 43
    for encoder, most in behind.off_by.items():
        measured = workspace.evaluate(encoders=[encoder], measures="P@5", store=False).table
        value = measured.filter(pl.col("measure") == "P@5")["value"].item()
        assert share_new < most < 1
        assert abs(value - true_precision(workspace, encoder)) <= most + 1e-9
    workspace.discover()
    asked = coverage(workspace)
    assert asked.n_open_pairs == asked.n_pairs - asked.n_labelled_pairs > 0
    assert asked.off_by["shape"] == pytest.approx(behind.off_by["shape"], abs=0.1)  # asking alone tells nothing
    assert "new pairs wait for a label" in workspace.status().status.next
    vote(workspace)
    done = coverage(workspace)
    assert done.off_by == {"colour": 0.0, "shape": 0.0}
    for encoder in done.off_by:
        measured = workspace.evaluate(encoders=[encoder], measures="P@5", store=False).table
        value = measured.filter(pl.col("measure") == "P@5")["value"].item()
        assert value == pytest.approx(true_precision(workspace, encoder))


def test_drawn_labels_speak_for_new_pairs_once_their_round_is_labelled(shop: Path) -> None:
    from likewise.discovery.step import PoolSettings, make_pool, store_pool

    workspace = Workspace(shop / "shoes")
    settings = PoolSettings(("colour", "shape"), n_queries=12, design="sampled", n_labels=240)
    store_pool(workspace, make_pool(workspace, settings), replace=True)
    vote(workspace)
    change_photos(shop / "photos")
    workspace.update()
    workspace.encode("colour", "shape")
    behind = coverage(workspace)
    assert all(share >= 3 / 35 for share in behind.off_by.values())  # two added, one changed: queries nobody was asked
    workspace.discover()
    asked = coverage(workspace)
    assert asked.n_open_pairs > 0
    assert any(share > 0 for share in asked.off_by.values())
    vote(workspace)
    assert coverage(workspace).off_by == {"colour": 0.0, "shape": 0.0}
