"""Every network of the house runs on the stand-in device, and does there what it does on the CPU."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from PIL import Image

import likewise
from likewise.conditional.text_training import TextTrainingSettings, train_pseudo_words
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import TrainingSettings, train_combiner
from likewise.conditional.training_triplets import to_training_triplets
from likewise.conditional.two_tower import TwoTowerSettings, TwoTowerTrainingResult, train_two_tower
from likewise.encoders import encode_catalog, get_encoder, read_vectors, registry
from likewise.encoders.families import sentences as families_sentences
from likewise.encoders.families import two_tower
from likewise.encoders.families.huggingface import model
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.onnx_export import export_to_onnx
from likewise.encoders.text import encode_text
from likewise.outfits.looks.net_scorer import NetScorer
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.models.registry import load_model
from likewise.outfits.models.trained_model import TrainedOutfitModel
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.state import read_curves
from likewise.outfits.training.trainer import TrainingJob, train_model
from likewise.training.context import CheckConfig, FoldTask, open_context, run_fold
from likewise.training.final_evaluation import load_network, pretrained_features
from likewise.training.finetune.step import FinetuneSettings, finetune
from likewise.training.methods import PUBLISHED_BEST_VALUES
from likewise.training.perceptual.settings import NetworkPlan, PerceptualSettings
from likewise.training.perceptual.step import train_perceptual
from likewise.training.plan import make_plan
from likewise.training.trainer import embed
from likewise.workspace import WorkspaceFolder
from tests.conditional.test_combiner import questions
from tests.conditional.test_pseudo_words import sentences as masked_sentences
from tests.conditional.test_sentence_tower import sentences
from tests.devices.stand_in import MEMORY, NAME
from tests.encoders.conftest import Tiny
from tests.outfits.toy_outfits import ITEMS, KINDS, examples, job, ten_outfits, toy_features

__all__ = ["masked_sentences", "sentences"]

Arrays = Sequence[NDArray[np.floating[Any]]]
OnBoth = Callable[[Callable[[Path], Arrays]], None]

COVERED = {
    "conditional/base_features.py",
    "conditional/combiner.py",
    "conditional/pseudo_words.py",
    "conditional/text_training.py",
    "conditional/trainable.py",
    "conditional/training.py",
    "conditional/two_tower.py",
    "conditional/validation.py",
    "encoders/families/huggingface/model.py",
    "encoders/families/sentences.py",
    "encoders/families/two_tower.py",
    "encoders/networks/onnx_export.py",
    "encoders/networks/runtimes.py",
    "outfits/looks/net_scorer.py",
    "outfits/models/trained_model.py",
    "outfits/training/trainer.py",
    "outfits/training/validation.py",
    "training/final_evaluation.py",
    "training/finetune/dino.py",
    "training/finetune/step.py",
    "training/finetune/supervised.py",
    "training/network.py",
    "training/perceptual/network_training.py",
    "training/trainer.py",
}
"""Every module that runs or trains a network; the tests below go through each."""


def test_no_network_is_forgotten() -> None:
    source = Path(likewise.__file__).parent
    runs = re.compile(r"\.backward\(|inference_mode\(|no_grad\(\):\n\s+for batch")
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if runs.search(path.read_text())}
    assert found == COVERED


def test_nobody_else_chooses_a_device() -> None:
    source = Path(likewise.__file__).parent
    elsewhere = re.compile(r"\.cuda\(|is_available\(\)|torch\.device\(|environ.*LIKEWISE_DEVICE|\.to\(\"")
    found = {path.name for path in source.rglob("*.py") if elsewhere.search(path.read_text())}
    assert found == {"device.py"}


@pytest.fixture
def on_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OnBoth:
    """Do the same on the CPU and on the stand-in, in a folder each; both must give the same numbers."""

    def compare(work: Callable[[Path], Arrays]) -> None:
        found = []
        for where in ("cpu", NAME):
            monkeypatch.setenv("LIKEWISE_DEVICE", where)
            for kept in (
                registry.get_encoder, model._text_network, two_tower._loaded, families_sentences.load_sentence_encoder,
                families_sentences._remembered,
            ):  # fmt: skip
                kept.cache_clear()  # a process has one device, this one has two
            before = MEMORY.n_operations
            found.append(work(tmp_path / where))
            assert (MEMORY.n_operations > before) == (where == NAME)
        assert len(found[0]) and any(each.any() for each in found[0])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4)

    return compare


def pictures(n: int = 3) -> list[Image.Image]:
    noise = np.random.default_rng(0).integers(0, 256, (n, 40, 30, 3), dtype=np.uint8)
    return [Image.fromarray(each) for each in noise]


SPECS = {
    "small": "small?size=24&runtime=torch",
    "efficientnet": "efficientnet-lite0?size=64&runtime=torch",
    "stages": "efficientnet-lite0?pooling=stages&size=64&runtime=torch",
    "vit": "hf:vit?runtime=torch",
    "clip": "hf:clip?runtime=torch",
    "mae": "hf:mae?runtime=torch",
}


@pytest.mark.parametrize("name", SPECS)
def test_encoders_of_pictures(name: str, tiny: Tiny, on_both: OnBoth) -> None:
    family = re.match(r"hf:(\w+)", SPECS[name])
    spec = SPECS[name].replace(family[1], str(tiny(family[1]))) if family else SPECS[name]

    def encode(_: Path) -> Arrays:
        encoder = get_encoder(spec)
        return [encoder.encode([encoder.prepare(picture) for picture in pictures()])]

    on_both(encode)


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_texts_go_where_their_network_is_also_after_pictures(family: str, tiny: Tiny, on_both: OnBoth) -> None:
    spec = f"hf:{tiny(family)}"

    def encode(_: Path) -> Arrays:
        encoder = get_encoder(f"{spec}?runtime=torch")
        seen = encoder.encode([encoder.prepare(picture) for picture in pictures()])
        return [encode_text(spec, ["a red shoe", "a bag"]), seen, encode_text(spec, ["a hat"])]

    on_both(encode)


def test_both_sides_of_a_two_tower_encoder(learned: TwoTowerTrainingResult, on_both: OnBoth) -> None:
    spec = f"two-tower:{learned.folder}"

    def encode(_: Path) -> Arrays:
        encoder = get_encoder(f"{spec}?runtime=torch")
        return [encode_text(spec, ["red"]), encoder.encode([encoder.prepare(picture) for picture in pictures()])]

    on_both(encode)


def test_sentences_of_a_frozen_encoder(sentences: str, on_both: OnBoth) -> None:
    on_both(lambda _: [families_sentences.encode_sentences(sentences, ["a red dress", "a bag"])])


def test_a_batch_that_does_not_fit_is_halved(elsewhere: None) -> None:
    encoder = get_encoder("small?size=24&runtime=torch")
    prepared = [encoder.prepare(picture) for picture in pictures(13)]
    whole = encoder.encode(prepared)
    MEMORY.limit = 3 * 32 * 12 * 12  # the first layer of three pictures
    np.testing.assert_allclose(encoder.encode(prepared), whole, atol=1e-6)
    MEMORY.limit = 100
    with pytest.raises(RuntimeError, match="out of memory"):
        encoder.encode(prepared)


def test_a_network_is_exported(tmp_path: Path, elsewhere: None) -> None:
    encoder = get_encoder("small?size=24")
    assert isinstance(encoder, Network)
    export_to_onnx(encoder.model, tmp_path / "small.onnx")  # compares the two itself
    assert (tmp_path / "small.onnx").exists()


@pytest.mark.parametrize("method", ["contrastive", "arcface", "ms-miner"])
def test_the_check_trains_a_network_and_a_head(method: str, tmp_path: Path, on_both: OnBoth) -> None:
    from tests.training.check_toy import toy_workspace

    workspace = toy_workspace(tmp_path / "toy", n_classes=16)
    encode_catalog(workspace, ["colour"], workers=1)
    params = {name: best[0] for name, best in PUBLISHED_BEST_VALUES[method].items()}

    def train(_: Path) -> Arrays:
        found = []
        for trunk, encoder in (("small", "small?size=24"), ("frozen", "colour")):
            plan = make_plan("quick", trunk=trunk, steps=3, evaluate_every=3, dim=8)
            config = CheckConfig(workspace.path, "kind", encoder, plan)
            fold = run_fold(FoldTask(config, method, params, 0, 0, keep_weights=True))
            assert fold.weights is not None and not fold.failure, fold.failure
            context = open_context(config)
            network = load_network(context, fold.weights)
            rows = context.split.development[:5]
            found += [embed(network, context.eval_inputs, rows), pretrained_features(context, 0)(rows)]
        return found

    on_both(train)


@pytest.mark.parametrize("task", ["id+c", "dino"])
def test_fine_tuning(task: str, workspace: WorkspaceFolder, on_both: OnBoth) -> None:
    def train(folder: Path) -> Arrays:
        settings = FinetuneSettings("small?size=24", task, epochs=2, batch=8, n_local=2)  # type: ignore[arg-type]
        done = finetune(workspace, settings, folder.name)
        encode_catalog(workspace, [f"run:{folder.name}?runtime=torch"], workers=1)
        images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
        return [read_vectors(workspace, folder.name, images), done.curve["loss"].to_numpy()]

    on_both(train)


def test_fine_tuning_divides_a_batch_that_does_not_fit(workspace: WorkspaceFolder, elsewhere: None) -> None:
    """Without batch norms, which see only a part: the gradients of the parts add up to those of the whole."""
    from likewise.training.finetune.step import make_learner
    from likewise.training.finetune.targets import class_targets
    from likewise.training.network import load_trunk, set_training_mode

    settings = FinetuneSettings("small?size=24", "cat", batch=12)
    targets = class_targets(pl.read_parquet(workspace.catalog_file), "cat")
    found = []
    for limit in (1 << 62, 4 * 32 * 12 * 12):
        import torch

        torch.manual_seed(0)
        learner = make_learner(workspace, settings, targets, *load_trunk("small?size=24"))
        MEMORY.limit = limit
        set_training_mode(learner.trunk)
        inputs = learner.dataset.eval_inputs(list(range(12)))
        found.append(learner.step(inputs, np.arange(12)))  # type: ignore[arg-type]
        found.append(learner.step(inputs, np.arange(12)))  # type: ignore[arg-type]
    assert found[2] == pytest.approx(found[0], rel=1e-4)
    assert found[3] == pytest.approx(found[1], rel=1e-3) and found[1] != found[0]


def test_a_network_learns_from_answers(workspace: WorkspaceFolder, tmp_path: Path, on_both: OnBoth) -> None:
    items = sorted(set(pl.read_parquet(workspace.catalog_file)["item"]))
    rng = np.random.default_rng(0)
    lines = ["anchor,close,far", *(",".join(rng.choice(items, 3, replace=False)) for _ in range(80))]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    plan = NetworkPlan("small?size=16", steps=2, n_evaluations=1, batch=16, rate=1e-3, inner_folds=2)
    settings = PerceptualSettings(triplets=tmp_path / "answers.csv", trunk=plan, unseen=("answers",), n_folds=2)
    on_both(lambda folder: [train_perceptual(workspace, settings, folder.name).model.vectors])


def test_a_two_tower_encoder_is_trained(drawn: WorkspaceFolder, learned: object, on_both: OnBoth) -> None:
    def train(folder: Path) -> Arrays:
        train_two_tower(drawn, folder, TwoTowerSettings(steps=3, batch=16, dim=8), workers=1)
        tower = TwoTower.from_spec(f"two-tower:{folder}")
        tower.encode(drawn, workers=1)  # from the features of its base
        return [tower.text_features(["red"]), tower.image_features(drawn, tower.encoded_images(drawn)[:5])]

    on_both(train)


@pytest.mark.parametrize("tune", [(), ("image", "text")])
@pytest.mark.parametrize("which", ["clip", "two-tower"])
def test_a_combiner_is_trained(
    tune: tuple[str, ...],
    which: str,
    drawn: WorkspaceFolder,
    tower: TwoTower,
    small_tower: TwoTower,
    on_both: OnBoth,
) -> None:
    used = tower if which == "clip" else small_tower
    images = used.encoded_images(drawn)[:24]
    settings = TrainingSettings(tune, steps=2, batch=4, validate_every=2, negatives_per_triplet=2, dropout=0.0)

    def train(folder: Path) -> Arrays:
        triplets = to_training_triplets(questions(images, 30, 0))
        done = train_combiner(drawn, used, triplets, None, folder, settings)
        features = used.image_features(drawn, images[:4])
        return [done.combiner.compose(features, features[::-1])]

    on_both(train)


def test_pseudo_words_are_trained(
    drawn: WorkspaceFolder, masked_sentences: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_both: OnBoth
) -> None:
    monkeypatch.setenv("LIKEWISE_DEVICE", "cpu")
    settings = TwoTowerSettings(sentences=masked_sentences, steps=3, batch=16, dim=8)
    train_two_tower(drawn, tmp_path / "tower", settings, workers=1)
    used = TwoTower.from_spec(f"two-tower:{tmp_path / 'tower'}")

    def train(folder: Path) -> Arrays:
        quick = TextTrainingSettings(steps=2, batch=8, validate_every=2, dropout=0.0)
        words = train_pseudo_words(drawn, used, folder, quick).words
        pictures_of = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
        return [words.queries(pictures_of, ["red", "blue", "without a bag"])]

    on_both(train)


@pytest.mark.parametrize("kind", KINDS)
def test_outfit_models(kind: str, on_both: OnBoth) -> None:
    def train(folder: Path) -> Arrays:
        train_model(job(kind, 2), examples(users=("a", "b") * 5), toy_features(), folder)
        loaded = load_model(folder, toy_features())
        items = ten_outfits()[0].items
        asked = [OutfitQuestion("q", "FITB", items[1:], (items[0], ITEMS[5]), right=0)]
        scores = loaded.score(ten_outfits())
        assert isinstance(loaded, TrainedOutfitModel)
        looks = NetScorer(loaded, items).score_with([0], np.arange(1, len(items)))
        return [each - scores.mean() for each in (scores, loaded.answer(asked), looks)]  # only differences are learned

    on_both(train)


@pytest.mark.parametrize("kind", KINDS)
def test_outfit_models_train_in_bfloat16(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user or the device asks for it: nearly the same losses, and weights in float32."""
    losses = []
    for precision in ("float32", "bfloat16"):
        monkeypatch.setenv("LIKEWISE_PRECISION", precision)
        folder = tmp_path / precision
        train_model(job(kind, 2), examples(users=("a", "b") * 5), toy_features(), folder)
        assert np.isfinite(load_model(folder, toy_features()).score(ten_outfits())).all()
        losses.append(read_curves(folder, 2).filter(pl.col("name") == "loss")["value"].to_list())
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
    assert losses[1] != losses[0]


def test_outfit_training_divides_a_batch_that_does_not_fit(workspace: WorkspaceFolder, elsewhere: None) -> None:
    """With a network for pictures: the largest part that fits is found, and kept for the batches after it."""
    from likewise.encoders.networks.device import FittingBatches
    from likewise.outfits.training import trainer

    worn = tuple(
        Outfit(colour, tuple(Item(f"{s}-{colour}", s, f"{s}/{colour}-0.png") for s in ("circle", "square")))
        for colour in ("red", "orange", "blue", "green")
    )
    whole = TrainingJob("type-aware", "whole", job("type-aware", 1).preset, trunk="small?size=24")
    _, arrays, net = trainer._prepare(whole, OutfitExamples(worn, worn), WorkspaceFeatures(workspace))
    found = []
    for limit in (1 << 62, 4 * 32 * 12 * 12):
        MEMORY.limit, fitting = limit, FittingBatches()
        net.zero_grad()
        terms = trainer.backward(net, arrays, np.arange(4), 1, np.random.default_rng(0), fitting)
        found.append((terms["loss"], fitting.largest))
    assert found[0][1] is None and found[1][1] in (1, 2)
    assert found[1][0] == pytest.approx(found[0][0], rel=0.5)  # other negatives are drawn for the parts
    assert all(weight.grad is not None for weight in net.trunk.parameters() if weight.requires_grad)


def test_an_outfit_model_with_its_encoder(workspace: WorkspaceFolder, on_both: OnBoth) -> None:
    worn = tuple(
        Outfit(colour, tuple(Item(f"{s}-{colour}", s, f"{s}/{colour}-0.png") for s in ("circle", "square")))
        for colour in ("red", "orange", "blue", "green")
    )

    def train(folder: Path) -> Arrays:
        whole = TrainingJob("type-aware", "whole", job("type-aware", 1).preset, trunk="small")
        train_model(whole, OutfitExamples(worn, worn), WorkspaceFeatures(workspace), folder)
        return [load_model(folder, WorkspaceFeatures(workspace)).score(worn)]

    on_both(train)
