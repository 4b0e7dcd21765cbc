"""A whole network learns from people: it finds what they look at, and what is kept is what was measured."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.encoders import encode_catalog, read_vectors
from likewise.encoders.lineage import encoder_lineage
from likewise.errors import LikewiseError
from likewise.evaluation.training_gains import trained_from_base
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.cross_validation import learn_and_cross_validate
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.network_learner import NetworkLearner
from likewise.training.perceptual.network_training import NetworkInputs, NetworkTraining
from likewise.training.perceptual.settings import NetworkPlan, PerceptualSettings
from likewise.training.perceptual.step import train_perceptual
from likewise.workspace import WorkspaceFolder

N_ITEMS = 40
PLAN = NetworkPlan("small?size=16", steps=40, n_evaluations=2, batch=48, rate=1e-3, inner_folds=2)


@pytest.fixture
def world(tmp_path: Path) -> tuple[WorkspaceFolder, Path]:
    """Two pictures of every item, and people who see nothing but how red it is."""
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (N_ITEMS, 3))
    folder = tmp_path / "pictures"
    folder.mkdir()
    rows = []
    for item, colour in enumerate(colours):
        for light in range(2):
            pixels = np.clip(colour + rng.integers(-20, 20, (16, 16, 3)), 0, 255).astype(np.uint8)
            rows.append((f"{item:02d}-{light}.png", f"thing {item:02d}"))
            Image.fromarray(pixels).save(folder / rows[-1][0])
    pl.DataFrame(rows, schema=["image", "item"], orient="row").write_csv(folder / "catalog.csv")
    lines = ["anchor,close,far"]
    for _ in range(900):
        anchor, one, other = rng.choice(N_ITEMS, 3, replace=False)
        gaps = [abs(int(colours[anchor, 0]) - int(colours[each, 0])) for each in (one, other)]
        close, far = (one, other) if gaps[0] < gaps[1] else (other, one)
        lines.append(f"thing {anchor:02d},thing {close:02d},thing {far:02d}")
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    workspace = WorkspaceFolder(tmp_path / "world")
    reading = read(folder / "catalog.csv")
    make_catalog(workspace, reading.rows, reading.root, "table")
    return workspace, tmp_path / "answers.csv"


def test_a_network_learns_what_people_look_at_and_stays_the_one_that_was_measured(
    world: tuple[WorkspaceFolder, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    workspace, answers = world
    encode_catalog(workspace, [PLAN.encoder, "colour"], workers=1)
    settings = PerceptualSettings(triplets=answers, trunk=PLAN, unseen=("queries",), n_folds=2)
    done = train_perceptual(workspace, settings, "seeing")
    rows = {row["encoder"]: row for row in done.results.filter(pl.col("measure") == "majority").to_dicts()}
    assert set(rows) == {"seeing", "small_size-16", "colour"}
    for other in ("small_size-16", "colour"):  # all colours look different to them
        assert rows[other]["gain"] > 0.05 and rows[other]["gain_low"] > 0.0
    search_table = done.model.search_table
    assert (
        search_table["steps"].to_list() == [0, 20, 40]
        and search_table["negative_log_likelihood"][0] > search_table["negative_log_likelihood"].min()
    )
    assert done.summary.choice["steps"] > 0 and done.reliability.expected_error < 0.1

    encode_catalog(workspace, ["run:seeing"], workers=1)
    images = read(workspace.root / "catalog.csv").rows["image"].to_list()
    assert np.allclose(read_vectors(workspace, "seeing", images), done.model.vectors, atol=1e-5)
    assert [lesson.task for lesson in encoder_lineage(workspace, "seeing").lessons] == ["triplets"]
    assert trained_from_base(workspace, workspace.encoders()) == []  # it was not tuned on the catalog
    again = train_perceptual(
        workspace, PerceptualSettings(triplets=answers, hidden=(0,), unseen=("items",), n_folds=2), "plain"
    )
    assert "seeing" not in set(again.results["encoder"]) and "run:" not in " ".join(again.summary.bases)
    with pytest.raises(LikewiseError, match="needs no stored vectors"):
        train_perceptual(workspace, PerceptualSettings(bases=("colour",), triplets=answers, trunk=PLAN), "both")


def network_inputs(workspace: WorkspaceFolder) -> NetworkInputs:
    images = tuple(f"{item:02d}-0.png" for item in range(N_ITEMS))
    return NetworkInputs(PLAN, workspace.root, images, ImageVectors((), (), np.arange(N_ITEMS)))


def test_pairs_teach_a_network_too_and_the_same_seed_teaches_the_same(world: tuple[WorkspaceFolder, Path]) -> None:
    workspace, _ = world
    inputs = network_inputs(workspace)
    red = np.array([float(np.asarray(Image.open(workspace.root / image))[..., 0].mean()) for image in inputs.images])
    query, close = np.divmod(np.arange(N_ITEMS**2), N_ITEMS)
    kept = query != close
    query, close = query[kept], close[kept]
    label = (np.abs(red[query] - red[close]) < 40).astype(np.int64)
    yes = label.astype(np.float64)
    stimuli = [f"{number:02d}" for number in range(N_ITEMS)]
    answers = Answers(stimuli, np.arange(N_ITEMS), query, close, np.full(len(query), -1), yes, 1.0 - yes, label)
    start, *_, last = NetworkTraining(inputs, answers, 3).train(40)
    likely = [
        snapshot.logits(inputs.image_vectors, answers)[label == 1].mean()
        - snapshot.logits(inputs.image_vectors, answers)[label == 0].mean()
        for snapshot in (start, last)
    ]
    assert likely[1] > 2 * likely[0]
    learned = learn_and_cross_validate(NetworkLearner(inputs), inputs.image_vectors, answers, ["queries"], 2, 0)
    held_out = learned.held_out[0]
    right = (held_out.probability > 0.5) == (label[held_out.rows] == 1)
    assert right.mean() > max(label.mean(), 1 - label.mean()) + 0.03
    *_, again = NetworkTraining(inputs, answers, 3).train(40)
    assert np.array_equal(again.vectors, last.vectors)
    *_, other = NetworkTraining(inputs, answers, 4).train(40)
    assert not np.array_equal(other.vectors, last.vectors)


def test_statistics_of_batch_norms_stay_fixed(world: tuple[WorkspaceFolder, Path]) -> None:
    inputs = network_inputs(world[0])
    rows = np.arange(N_ITEMS)
    far = np.roll(rows, 2)
    ones = np.ones(N_ITEMS)
    answers = Answers([""] * N_ITEMS, rows, rows, np.roll(rows, 1), far, ones, 0 * ones, ones.astype(np.int64))
    training = NetworkTraining(inputs, answers, 0)
    before = training.weights()
    training.step(rows)
    after = training.weights()
    for name in before:
        fixed = "running" in name or "num_batches" in name
        assert np.array_equal(before[name], after[name]) == fixed, name
