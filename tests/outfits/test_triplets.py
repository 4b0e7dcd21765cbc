"""SCE-Net learns what looks alike from triplets, and the guard knows that this is not what goes together."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.errors import LikewiseError
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.models.registry import load_model
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.screening import model_lineage
from likewise.outfits.training.step import TrainingRequest, load_examples
from likewise.outfits.training.triplets import TripletExamples
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]
pytest.importorskip("torch")
N_ITEMS = 60


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plain shoes whose brightness is what people go by, and whose hue they do not mind."""
    from typer.testing import CliRunner

    from likewise.cli.app import app

    folder, rng = tmp_path_factory.mktemp("triplets"), np.random.default_rng(1)
    light = rng.uniform(0.2, 1.0, N_ITEMS)
    for number in range(N_ITEMS):
        hue = rng.dirichlet(np.ones(3)) * 255 * light[number]
        noise = rng.normal(scale=8, size=(12, 12, 3))
        Image.fromarray(np.clip(hue * 2 + noise, 0, 255).astype(np.uint8)).save(folder / f"{number:02d}.png")
    rows = [(f"{number:02d}.png", f"shoe-{number:02d}", "shoes") for number in range(N_ITEMS)]
    pl.DataFrame(rows, schema=["image", "item", "category"], orient="row").write_csv(folder / "catalog.csv")
    told = []
    for _ in range(900):
        anchor, one, other = rng.choice(N_ITEMS, 3, replace=False).tolist()
        near, far = sorted((one, other), key=lambda place: abs(light[place] - light[anchor]))
        told.append((f"shoe-{anchor:02d}", f"shoe-{near:02d}", f"shoe-{far:02d}"))
    pl.DataFrame(told, schema=["anchor", "close", "far"], orient="row").write_csv(folder / "triplets.csv")
    for words in (("new", folder / "ws", folder / "catalog.csv"), ("encode", folder / "ws", "--with", "colour")):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
    return folder


def test_sce_net_is_trained_on_triplets_and_scores_outfits(run: Run, shop: Path) -> None:
    ask = ("outfits", "train", shop / "ws", "--model", "sce-net", "--with", "colour", "--triplets",
           shop / "triplets.csv", "--order", "anchor close far", "--epochs", 8, "--lr", 0.003)  # fmt: skip
    done = run(*ask, "--json")
    assert done.code == 0, done.err
    trained = json.loads(done.out)["trained"]
    assert trained["validation_accuracy"] > 0.65  # of two; the triplets of validation hold items training never showed
    workspace = WorkspaceFolder(shop / "ws")
    model = load_model(shop / "ws" / "outfit_models" / "sce-net", WorkspaceFeatures(workspace))
    [lesson] = model_lineage(model).lessons
    assert (lesson.task, lesson.topic) == ("triplets", "similarity")
    pair = Outfit("o", tuple(Item(f"shoe-{n:02d}", "shoes", f"{n:02d}.png") for n in (3, 4)))
    assert np.isfinite(model.score([pair])).all()
    turned = run(*ask[:-4], "--name", "turned", "--order", "anchor far close", "--json")
    assert turned.code == 2 and "order" in turned.err  # a header that contradicts the order


def test_triplets_keep_their_negatives_and_ties_are_left_out(shop: Path, tmp_path: Path) -> None:
    rows = pl.read_csv(shop / "triplets.csv").head(40).with_columns(votes_close=pl.lit(2), votes_far=pl.lit(1))
    tied = rows.head(1).with_columns(votes_far=pl.lit(2))
    turned = rows.slice(1, 1).with_columns(votes_far=pl.lit(3))
    path = tmp_path / "t.csv"
    pl.concat([tied, turned, rows.slice(2)]).write_csv(path)
    asked = TrainingRequest("sce-net", encoders="colour", triplets=path, order="anchor close far")
    made = load_examples(WorkspaceFolder(shop / "ws"), asked)
    assert isinstance(made, TripletExamples) and made.far_by_pair is not None
    n_told = sum(len(far) for far in made.far_by_pair.values()) + len(made.valid_triplets)
    assert n_told == 39
    anchor, close, far = (turned[role][0] for role in ("anchor", "close", "far"))
    told = {(o.items[0].item, o.items[1].item) for o in (*made.train, *made.valid)}
    assert (anchor, far) in told and (anchor, close) not in told
    for other in (
        TrainingRequest("type-aware", encoders="colour", triplets=path, order="anchor close far"),
        TrainingRequest("sce-net", encoders="colour", triplets=path),
    ):
        with pytest.raises(LikewiseError, match=r"triplets"):
            load_examples(WorkspaceFolder(shop / "ws"), other)
