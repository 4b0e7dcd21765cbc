"""The mteb package itself takes a folder for a hub, runs our encoder on its pictures and finds our numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from likewise.cli.app import app
from likewise.encoders import get_encoder
from likewise.evaluation.step import evaluate
from likewise.workspace import WorkspaceFolder

pytestmark = [
    pytest.mark.slow,  # importing mteb takes seconds
    pytest.mark.filterwarnings("ignore"),
]
MEASURES = {"ndcg_at_5": "nDCG@5", "precision_at_5": "P@5"}
CHAIN = (
    "new {} --wardrobe --items 40 --views 1 --seed 1",
    "encode {} --with colour,layout,shape --workers 1",
    "discover {} --with colour,layout --n-queries 16 --k 6",
    "label simulate {}",
    "label consensus {}",
    "bundle benchmark {} {}-hub --to hub --with-images --title Wardrobe --licence CC0-1.0",
    "bundle mteb-results {} {}-results --task Wardrobe --with colour,shape",
)


class OurModel:
    """An encoder of ours as mteb asks for it: pictures in batches, and how two vectors compare."""

    def __init__(self, name: str) -> None:
        from mteb.models import ModelMeta

        self.encoder = get_encoder(name)
        self.mteb_model_meta = ModelMeta.create_empty({"name": f"likewise/{name}", "modalities": ["image"]})

    def encode(self, inputs: Any, **_: Any) -> "np.ndarray[Any, Any]":
        batches = ([self.encoder.prepare(image.convert("RGB")) for image in batch["image"]] for batch in inputs)
        return np.concatenate([self.encoder.encode(batch) for batch in batches])

    def similarity(self, one: Any, other: Any) -> Any:
        import torch

        return torch.as_tensor(np.asarray(one, np.float64) @ np.asarray(other, np.float64).T)

    def similarity_pairwise(self, one: Any, other: Any) -> Any:
        return self.similarity(one, other).diagonal()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """Every picture an item of its own: mteb leaves out the query itself, and knows no items."""
    path = tmp_path_factory.mktemp("mteb") / "wardrobe"
    for line in CHAIN:
        app(line.format(path, path).split(), standalone_mode=False)
    return WorkspaceFolder(path)


@pytest.fixture
def task(workspace: WorkspaceFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    nothing: dict[str, Any] = dict.fromkeys(
        (
            "reference",
            "date",
            "domains",
            "task_subtypes",
            "license",
            "annotations_creators",
            "dialect",
            "sample_creation",
        )
    )

    class Wardrobe(mteb.abstasks.AbsTaskRetrieval):  # type: ignore[misc, name-defined]
        metadata = mteb.TaskMetadata(
            name="Wardrobe",
            description="Drawn clothes that look alike.",
            type="Any2AnyRetrieval",
            category="i2i",
            modalities=["image"],
            eval_splits=["test"],
            eval_langs=["zxx-Zxxx"],
            main_score="ndcg_at_10",
            dataset={"path": f"{workspace.path}-hub", "revision": "main"},
            bibtex_citation="",
            **nothing,
        )
        ignore_identical_ids = True

    yield Wardrobe()


@pytest.mark.parametrize("encoder", ["colour", "shape"])
def test_mteb_finds_our_numbers_with_our_model(workspace: WorkspaceFolder, task: Any, encoder: str) -> None:
    import mteb

    ours = evaluate(workspace).evaluation.results.filter(pl.col("encoder") == encoder)
    values = dict(ours.select("measure", "value").iter_rows())
    found = task.evaluate(OurModel(encoder), "test", encode_kwargs={"batch_size": 8, "show_progress_bar": False})
    for theirs, name in MEASURES.items():
        assert found["default"][theirs] == pytest.approx(values[name], abs=5e-6), name  # mteb rounds to five places
    stored = mteb.TaskResult.from_disk(Path(f"{workspace.path}-results") / encoder / "Wardrobe.json")
    assert stored.task_name == "Wardrobe"
    assert stored.get_score(["test"], getter=lambda scores: scores["ndcg_at_5"]) == pytest.approx(values["nDCG@5"])
