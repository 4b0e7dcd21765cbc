"""The wardrobe's table of truth holds exactly the pairs of items that are similar; a catalog may bring its own."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.catalog.truth import check_truth
from likewise.cli.app import app
from likewise.errors import LikewiseError
from likewise.synthetic import SIMILAR_AT, build_wardrobe, make_items, similarity
from likewise.synthetic.truth import similar_item_pairs
from likewise.workspace import WorkspaceFolder


@pytest.mark.parametrize("seed", [0, 7])
def test_the_table_is_what_brute_force_finds_in_both_directions(seed: int) -> None:
    items = make_items(150, seed).sort("item")
    first, second = (each.ravel() for each in np.indices((150, 150)))
    similar = (similarity(items, first, second) >= SIMILAR_AT).reshape(150, 150)
    assert (similar == similar.T).all()
    names = items["item"].to_list()
    expected = {(names[a], names[b]) for a, b in np.argwhere(np.triu(similar, 1))}
    table = similar_item_pairs(items)
    assert set(table.iter_rows()) == expected
    assert len(expected) == len(table) > 20


def test_pairs_are_kept_once_in_order_and_only_of_the_catalog() -> None:
    catalog = pl.DataFrame({"item": ["a", "b", "c"]})
    table = pl.DataFrame({"item_b": ["a", "a", "b", "z"], "item_a": ["b", "a", "a", "c"]})
    assert check_truth(table, catalog).rows() == [("a", "b")]
    with pytest.raises(LikewiseError, match="has no column item_b"):
        check_truth(table.drop("item_b"), catalog)
    with pytest.raises(LikewiseError, match="names no two items of this catalog"):
        check_truth(pl.DataFrame({"item_a": ["x"], "item_b": ["y"]}), catalog)


def test_any_catalog_may_bring_its_truth(tmp_path: Path) -> None:
    rows = build_wardrobe(tmp_path / "pictures", n_items=20, views_per_item=1, seed=3, workers=1)
    rows.select("image", "item", "category").write_csv(tmp_path / "pictures" / "catalog.csv")
    items = rows["item"].unique().sort().to_list()
    pl.DataFrame({"item_a": items[1:2], "item_b": items[:1]}).write_csv(tmp_path / "truth.csv")
    source = str(tmp_path / "pictures" / "catalog.csv")
    new = ["new", str(tmp_path / "ws"), source, "--truth", str(tmp_path / "truth.csv"), "--json"]
    app(new, standalone_mode=False)
    workspace = WorkspaceFolder(tmp_path / "ws")
    assert workspace.has_truth
    assert pl.read_parquet(workspace.truth_file).rows() == [(items[0], items[1])]
    app([*new[:3], "--replace", "--json"], standalone_mode=False)
    assert not workspace.has_truth  # the new catalog did not bring one
