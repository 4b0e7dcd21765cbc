"""A rerun that diverges is counted and said; the check goes on to its tables, with what is left."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from likewise.training.seeds import derive_seed

from .check_toy import Check, Told, toy_workspace


def plant_losses(folder: Path, module: str, failing_reruns: tuple[int, ...], n_folds: int = 4) -> tuple[str, str]:
    """A loss that is not a number in one fold of some reruns, and one that always works, for the worse."""
    seeds = [derive_seed(0, "rerun", rerun, n_folds - 1) for rerun in failing_reruns]
    (folder / f"{module}.py").write_text(
        "import torch\n"
        "def loss():\n"
        "    def compute(embeddings, labels):\n"
        "        same = (labels[:, None] == labels[None, :]).float()\n"
        f"        broken = torch.initial_seed() in {seeds}\n"
        "        return ((embeddings @ embeddings.T - same) ** 2).mean() * (float('nan') if broken else 1.0)\n"
        "    return compute\n"
        "def backwards():\n"
        "    return lambda embeddings, labels: (embeddings @ embeddings.T)[labels[:, None] == labels[None, :]].mean()\n"
    )
    return f"{module}:loss", f"{module}:backwards"


def rows_of(found: dict[str, Any], method: str) -> list[dict[str, Any]]:
    return [row for row in found["accuracy"] if row["method"] == method]


def test_a_rerun_that_diverges_is_counted_and_the_others_make_the_tables(
    tmp_path: Path, check: Check, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = toy_workspace(tmp_path)
    moody, other = plant_losses(tmp_path, "moody", failing_reruns=(0, 2))
    monkeypatch.chdir(tmp_path)
    options = ("--reruns", "4", "--lr", "1e-3")
    found = check(workspace, f"{moody},{other}", *options)
    assert {row["n_reruns"] for row in rows_of(found, moody)} == {2}
    assert {row["n_reruns"] for row in rows_of(found, other)} == {4}
    method = found["methods"][moody]
    assert (method["n_reruns"], method["n_reruns_failed"]) == (2, 2)
    tested = [row for row in found["differences"] if {row["method_a"], row["method_b"]} == {moody, other}]
    assert {(row["n_reruns_a"], row["n_reruns_b"]) for row in tested} <= {(2, 4), (4, 2)}
    folder = workspace.path / "runs" / "check"
    sentence = "loss: 2 of 4 reruns diverged or failed and are not in its mean."
    assert sentence in (folder / "index.html").read_text(encoding="utf-8")
    noted = folder / "reruns" / "moody-loss" / "0.failed.json"
    written = noted.stat().st_mtime_ns
    assert sentence in " ".join(told(workspace, f"{moody},{other}", *options).split())
    assert noted.stat().st_mtime_ns == written and "not numbers" in noted.read_text()  # not tried again
    if found["winner"] == moody:
        assert (folder / "encoder" / "encoder.json").exists()  # of rerun 1, the first that worked


@pytest.mark.slow
def test_a_loss_whose_reruns_all_diverge_is_no_winner(
    tmp_path: Path, check: Check, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = toy_workspace(tmp_path)
    moody, other = plant_losses(tmp_path, "broken", failing_reruns=(0, 1))
    monkeypatch.chdir(tmp_path)
    options = ("--reruns", "2", "--lr", "1e-3")
    found = check(workspace, f"{moody},{other}", *options)
    best = {name: method["best"]["map_at_r"] for name, method in found["methods"].items()}
    assert best[moody] > best[other]  # validation alone would have chosen it
    assert found["winner"] == other and not rows_of(found, moody)
    page = (workspace.path / "runs" / "check" / "index.html").read_text(encoding="utf-8")
    assert "2 of 2 reruns diverged or failed and it is in no table" in page
    alone = check(workspace, moody, *options, "--name", "alone")
    assert alone["winner"] is None and {row["method"] for row in alone["accuracy"]} == {"pretrained"}
    page = (workspace.path / "runs" / "alone" / "index.html").read_text(encoding="utf-8")
    assert "No loss could be trained" in page
    assert pl.read_parquet(workspace.path / "runs" / "alone" / "differences.parquet").is_empty()
    assert "no loss could be trained" in told(workspace, moody, *options, "--name", "alone")
