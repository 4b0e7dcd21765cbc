"""A pool made through an index says how much of the truth the index found, in the file, on the screen and when read."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.cli import main
from likewise.discovery.step import PoolSettings, make_pool, read_pool, store_pool
from likewise.encoders.storage.importing import import_vectors
from likewise.scale.cost_constants import clustered_vectors
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet

N = 1200


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    """Vectors without pictures."""
    names = [f"{number:04d}.png" for number in range(N)]
    catalog = pl.DataFrame({"image": names, "item": names, "digest": names}).with_columns(
        pl.lit("thing").alias("category"), width=pl.lit(1, pl.Int32), height=pl.lit(1, pl.Int32)
    )
    target = WorkspaceFolder(tmp_path / "ws")
    write_parquet(catalog, target.catalog_file)
    write_json({"format": 1, "root": ".", "source": "folder", "left_out": 0}, target.settings_file)
    np.save(tmp_path / "mine.npy", clustered_vectors(N, 12))
    pl.DataFrame({"image": names}).write_csv(tmp_path / "keys.csv")
    import_vectors(target, "mine", tmp_path / "mine.npy", tmp_path / "keys.csv", force=False)
    return target


def test_the_recall_of_an_index_stays_with_the_pool(
    workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = PoolSettings(("mine",), k=5, n_queries=150, n_random=10)
    exact = make_pool(workspace, settings)
    assert exact.recalls == {}
    store_pool(workspace, exact)
    assert "index" not in read_json(workspace.pool_settings_file)["settings"]
    words = ["--k", "5", "--n-queries", "150", "--random", "10", "--index", "ivf", "--replace"]
    monkeypatch.setattr("sys.argv", ["likewise", "discover", str(workspace.path), *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert not leaving.value.code
    pool = read_pool(workspace)
    recall = pool.recalls["mine"]
    assert " ".join(f"mine: {recall}".split()) in " ".join(capsys.readouterr().out.split())
    assert (recall.kind, recall.k, recall.n_queries) == ("ivf", 5, 150 - 64)
    both = pool.rows.join(exact.rows, on=["query", "candidate", "generator", "score"], how="semi")
    assert recall.low <= len(both.filter(pl.col("generator") == "mine")) / (150 * 5) <= recall.high
    assert len(list((workspace.vectors_folder / "mine").glob("index-ivf-*.faiss"))) == 1


def test_an_index_and_a_cluster_are_not_asked_for_at_once(
    workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in {
        "--index ivf --engine ray": "choose either --index or --engine ray, which searches all parts exactly",
        "--engine spark": "--engine spark is unknown: use local or ray",
        "--address here:1": "add --engine ray",
        "--index flat": "there is no index 'flat'",
    }.items():
        monkeypatch.setattr("sys.argv", ["likewise", "discover", str(workspace.path), *words.split()])
        with pytest.raises(SystemExit) as leaving:
            main()
        assert leaving.value.code == 2
        assert said in capsys.readouterr().err
