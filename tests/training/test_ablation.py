"""What besides the loss changes accuracy, and the options that an ablation moves."""

import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.encoders.networks.recipe import Recipe
from likewise.errors import LikewiseError
from likewise.training import image_dataset
from likewise.training.ablation import FACTORS, make_variants, run_ablation
from likewise.training.custom_methods import find_method
from likewise.training.image_dataset import ImageDataset, training_recipe
from likewise.training.methods import METHODS_BY_NAME
from likewise.training.miners import make_miner, miner_names
from likewise.training.network import load_trunk, set_training_mode
from likewise.training.plan import make_plan
from likewise.training.trainer import draw_items, sample_batches, train_fold
from likewise.workspace import WorkspaceFolder

from .check_toy import Check, check_command, toy_fold_data, toy_plan, toy_workspace
from .test_hyperparameter_search import n_finished


def test_one_thing_is_changed_at_a_time() -> None:
    plan = make_plan("quick", trunk="small")
    variants = make_variants(plan, FACTORS)
    assert variants[0].factor == ""
    assert set(FACTORS) == {variant.factor for variant in variants[1:]}
    for variant in variants[1:]:
        changed = {name for name, value in vars(variant.plan).items() if value != getattr(plan, name)}
        assert len(changed) == 1, variant
    with pytest.raises(LikewiseError, match="of a trunk that is trained"):
        make_variants(make_plan("quick"), ["crops"])
    with pytest.raises(LikewiseError, match="--ablate takes some of"):
        make_variants(plan, ["colour"])


SETTINGS = {
    "optimiser": ["adam", "sgd"],
    "batch-size": ["16", "64"],
    "miner": ["MultiSimilarityMiner", "BatchHardMiner"],
    "embedding-size": ["4", "32"],
}


@pytest.mark.parametrize(
    "factors",
    [["embedding-size"], pytest.param(list(SETTINGS), marks=pytest.mark.slow)],
    ids=["one factor", "four factors"],
)
def test_an_ablation_of_heads_is_one_table_and_one_plot(factors: list[str], tmp_path: Path, check: Check) -> None:
    workspace = toy_workspace(tmp_path)
    more = ("--ablate", ",".join(factors), "--trials", "1", "--lr", "1e-3")
    found = pl.DataFrame(check(workspace, "contrastive", *more)["ablation"], infer_schema_length=None)
    main = found.filter(measure="MAP@R", embedding="separated")
    changed = [each for factor in factors for each in SETTINGS[factor]]
    assert main["setting"].to_list() == ["as planned", "without training", *changed]
    planned, untrained = main.row(0, named=True), main.row(1, named=True)
    assert planned["difference"] is None
    assert untrained["value"] < planned["value"] - 0.1  # training teaches something
    assert untrained["lr"] is None and untrained["n_reruns"] == 1
    for row in main[1:].iter_rows(named=True):
        assert row["difference"] == pytest.approx(row["value"] - planned["value"])
        assert row["difference_low"] <= row["difference"] <= row["difference_high"]
        assert row["p_holm"] >= row["p"] - 1e-9
    values = dict(main.select("setting", "value").iter_rows())
    assert values["32"] > values["4"]  # eight useful components do not fit into four
    assert set(main.filter(setting="adam")["lr"]) <= {1e-3, 1e-2, 1e-1}
    page = (workspace.path / "runs" / "ablation" / "ablation.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1 and page.count("<table") == 1 and "embedding-size: 32" in page
    assert "were best before any training" not in page
    idle = check(workspace, "contrastive", *more, "--lr", "1e-12", "--name", "idle")
    assert "were best before any training" in idle["notes"][0]
    still = pl.DataFrame(idle["ablation"], infer_schema_length=None).filter(measure="MAP@R", embedding="separated")
    assert still.filter(setting="without training")["value"][0] == untrained["value"]
    assert still["value"][0] <= untrained["value"]  # heads at random on what the trunk sees, which PCA keeps
    again = check(workspace, "contrastive", *more)["ablation"]
    assert pl.DataFrame(again, infer_schema_length=None).equals(found)  # nothing is trained again


def test_a_plan_that_is_refused_begins_no_run(tmp_path: Path) -> None:
    workspace, plan = toy_workspace(tmp_path), replace(toy_plan(), n_reruns=2)
    with pytest.raises(LikewiseError, match="leave miner out of --ablate"):
        run_ablation(workspace, ["cosface"], plan, ["miner"], lambda function, each: [*map(function, each)])
    assert not (workspace.path / "runs" / "ablation").exists()  # or the right options would be another run's


def test_miners_by_the_librarys_names() -> None:
    assert {"BatchHardMiner", "TripletMarginMiner", "MultiSimilarityMiner", "DistanceWeightedMiner"} <= set(
        miner_names()
    )
    method = find_method("triplet+TripletMarginMiner?margin=0.3&type_of_triplets=hard")
    made = method.make_loss({"margin": 0.1}, 4, 8)
    assert made.miner is not None and vars(made.miner)["margin"] == 0.3 and vars(made.loss)["margin"] == 0.1
    assert method.title == "Triplet+TripletMarginMiner" and method.kind == "embedding"
    trained = train_fold(toy_fold_data(), method, {"margin": 0.1}, replace(toy_plan(), dim=16, lr=1e-3), seed=1)
    assert not trained.failure
    for text, words in (
        ("BatchHardMinr", "did you mean 'BatchHardMiner'"),
        ("TripletMarginMiner?size=3", "cannot be made"),
    ):
        with pytest.raises(LikewiseError, match=words):
            make_miner(text)
    with pytest.raises(LikewiseError, match="compares images with classes"):
        find_method("cosface+BatchHardMiner")


def test_a_plans_miner_is_for_losses_without_one() -> None:
    fold, plan = toy_fold_data(dim=8), replace(toy_plan(), lr=1e-3)
    for name in ("contrastive", "ms-miner", "cosface"):
        method = METHODS_BY_NAME[name]
        params = {key: (each.low + each.high) / 2 for key, each in method.ranges.items()}
        params |= {"loss_lr": 1e-3} if "loss_lr" in params else {}
        without, mined = (
            train_fold(fold, method, params, each, 1) for each in (plan, replace(plan, miner="BatchHardMiner"))
        )
        same = [a.loss for a in without.curve] == [b.loss for b in mined.curve]
        assert same == (name != "contrastive"), name


def test_batches_by_class_by_item_and_by_image(rng: np.random.Generator) -> None:
    labels = np.repeat(np.arange(10), 20)
    items = np.concatenate(
        [np.repeat([10 * label, 10 * label + 1], [19, 1]) for label in range(10)]
    )  # 19 images, and 1
    method, plan = METHODS_BY_NAME["triplet"], toy_plan()
    drawn = {
        name: list(sample_batches(labels, items, method, replace(plan, sampling=name, max_steps=50), seed=3))
        for name in ("class", "item", "image")
    }
    for name in ("class", "item"):
        assert all(set(Counter(labels[batch].tolist()).values()) == {4} for batch in drawn[name])
    rare = {name: np.mean(items[np.concatenate(batches)] % 10 == 1) for name, batches in drawn.items()}
    assert rare["item"] == 0.5 and rare["class"] < 0.15 and rare["image"] < 0.15
    assert all(len(set(batch.tolist())) == len(batch) == plan.batch for batch in drawn["image"])
    again = list(sample_batches(labels, items, method, replace(plan, sampling="item", max_steps=50), seed=3))
    assert all(np.array_equal(a, b) for a, b in zip(again, drawn["item"], strict=True))
    one = draw_items(labels, labels, 8, 4, rng)  # a class of one item gives it four times
    assert len(one) == 8 and len(np.unique(labels[one])) == 2


def test_warm_up_and_cosine() -> None:
    plan = make_plan("quick", steps=100, warmup=9, schedule="cosine")
    factors = [plan.lr_factor(step) for step in range(1, 101)]
    assert factors[:9] == pytest.approx([step / 10 for step in range(1, 10)])
    assert factors[9] == 1.0 and factors[-1] < 0.001
    assert all(later < sooner for sooner, later in pairwise(factors[9:]))
    assert {make_plan("quick").lr_factor(step) for step in range(1, 301)} == {1.0}
    fold = toy_fold_data(dim=8)
    method, base = METHODS_BY_NAME["triplet"], replace(toy_plan(), lr=1e-2)
    curves = [
        [point.map_at_r for point in train_fold(fold, method, {"margin": 0.1}, each, 1).curve]
        for each in (base, replace(base, schedule="cosine"), replace(base, warmup_steps=10))
    ]
    assert curves[0] != curves[1] != curves[2]


def test_crops_of_three_kinds(tmp_path: Path, rng: np.random.Generator) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 96, 3)).astype(np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    recipe = training_recipe(Recipe(resize=32, cut=(32, 32)))

    def drawn(crops: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        dataset = ImageDataset(["a.png"], tmp_path, recipe, workers=0, crops=crops)  # type: ignore[arg-type]
        return np.concatenate([dataset.train_inputs([0], rng) for _ in range(6)])

    central = drawn("central")
    dataset = ImageDataset(["a.png"], tmp_path, recipe, workers=0)
    assert np.array_equal(central, np.repeat(dataset.eval_inputs([0]), 6, axis=0))
    assert len({each.tobytes() for each in drawn("simple")}) == len({each.tobytes() for each in drawn("resized")}) == 6
    spread = {crops: float(drawn(crops).std()) for crops in ("simple", "resized")}
    assert spread["resized"] < spread["simple"] * 1.2  # larger crops are blurred by making them small


@pytest.mark.parametrize("kept_bytes", [0, 3 * 32 * 32, 1 << 20])
def test_a_second_evaluation_sees_the_same_crops_whatever_is_kept(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    for name in "ab":
        Image.fromarray(rng.integers(0, 255, (40, 60, 3)).astype(np.uint8)).save(tmp_path / f"{name}.png")
    monkeypatch.setattr(image_dataset, "MAX_PREPARED_BYTES", kept_bytes)
    dataset = ImageDataset(["a.png", "b.png"], tmp_path, training_recipe(Recipe(resize=32, cut=(32, 32))), workers=0)
    first = dataset.eval_inputs([0, 1])
    for name in "ab":
        (tmp_path / f"{name}.png").unlink()  # decoded pictures are kept anyway
    dataset.train_inputs([0, 1], rng)
    assert np.array_equal(dataset.eval_inputs([1, 0, 1]), first[[1, 0, 1]])


def test_batch_norms_three_ways() -> None:
    for mode, (statistics, weights) in {
        "frozen": (False, False),
        "statistics": (False, True),
        "trained": (True, True),
    }.items():
        trunk, _ = load_trunk("small?size=32")
        set_training_mode(trunk, mode)  # type: ignore[arg-type]
        norms = [part for part in trunk.modules() if "BatchNorm" in type(part).__name__]
        assert norms and all(part.training == statistics for part in norms)
        assert all(each.requires_grad == weights for part in norms for each in part.parameters())


@pytest.mark.slow
def test_a_run_goes_on_with_another_number_of_workers(tmp_path: Path) -> None:
    undisturbed = toy_workspace(tmp_path)
    broken = WorkspaceFolder(tmp_path / "broken")
    shutil.copytree(undisturbed.path, broken.path)
    process = subprocess.Popen(check_command(broken, "cosface"), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    folder = broken.path / "runs" / "check"
    while process.poll() is None and n_finished(folder / "search.db") < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was done before it could be killed"
    for workspace, workers in ((undisturbed, "1"), (broken, "2")):
        command = [*check_command(workspace, "cosface"), "--workers", workers]
        subprocess.run(command, check=True, capture_output=True)
    for table in ("trials", "accuracy", "differences"):
        one, other = (
            pl.read_parquet(each.path / "runs" / "check" / f"{table}.parquet") for each in (undisturbed, broken)
        )
        assert one.equals(other), table
