"""The Combiner: its two ends are the baselines, it learns what needs both sides, and its files keep it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.conditional.combiner import (
    CONJUNCTIVE,
    LINEAR,
    CombinerShape,
    TrainedCombiner,
    combiner_module,
    read_combiner,
    write_combiner,
)
from likewise.conditional.composers import (
    ComposerMethod,
    ImageAndText,
    ImageOnly,
    SoftMinimum,
    TextOnly,
    baseline_methods,
)
from likewise.conditional.evaluate import score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TEMPLATE_SCHEMA, QueryBatch
from likewise.conditional.published_arithmetic import with_published_arithmetic
from likewise.conditional.recall import recall_at_k
from likewise.conditional.screening import question_set, screen_methods
from likewise.conditional.splits import SharedGalleryBenchmark, score_split, split_features
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import (
    TrainingArrays,
    TrainingSettings,
    contrastive_loss,
    recommended_settings,
    train_combiner,
)
from likewise.conditional.training_triplets import (
    keep_encoded_triplets,
    read_training_triplets,
    to_training_triplets,
    train_validation_split,
)
from likewise.conditional.validation import Validator, validation_size
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, write_json, write_parquet

QUICK = TrainingSettings(steps=60, batch=32, validate_every=20, learning_rate=1e-3)


def untrained(dim: int, kind: str = "gated") -> TrainedCombiner:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        shape = CombinerShape(dim, kind=kind)
        return TrainedCombiner(combiner_module(shape), shape, "hf:somewhere")


def force_gate(module: Any, towards: float) -> None:
    """Leave nothing but the gate, shut at the image (-inf) or at the text (+inf)."""
    import torch

    with torch.no_grad():
        for layer in (module.output, module.gate):
            layer.weight.zero_()
            layer.bias.zero_()
        module.gate.bias.fill_(towards)


@pytest.mark.parametrize(("towards", "baseline"), [(np.inf, TextOnly()), (-np.inf, ImageOnly())])
def test_with_the_gate_forced_to_one_side_it_is_the_baseline(towards: float, baseline: TextOnly | ImageOnly) -> None:
    rng = np.random.default_rng(0)
    asked = QueryBatch(
        rng.normal(size=(50, 24), scale=3).astype(np.float32),
        rng.normal(size=(50, 24)).astype(np.float32),
        rng.normal(size=(50, 10, 24)).astype(np.float32),
    )
    combiner = untrained(24)
    mixed = ComposerMethod(combiner).scores(asked)
    force_gate(combiner.module, towards)
    expected = ComposerMethod(baseline).scores(asked)
    np.testing.assert_allclose(ComposerMethod(combiner).scores(asked), expected, atol=1e-6)
    assert np.abs(mixed - expected).max() > 0.01


def test_the_network_is_the_published_one() -> None:
    """Widths 4 x and 8 x, counted by hand for d = 16; rows of length one; unscaled inputs make a difference."""
    d = 16
    combiner = untrained(d)
    linear = [(d, 4 * d), (d, 4 * d), (8 * d, 8 * d), (8 * d, d), (8 * d, 8 * d), (8 * d, 1)]
    assert sum(value.numel() for value in combiner.module.parameters()) == sum(a * b + b for a, b in linear)
    rng = np.random.default_rng(1)
    image, text = rng.normal(size=(2, 5, d)).astype(np.float32)
    query = combiner.compose(image, text)
    np.testing.assert_allclose(np.linalg.norm(query, axis=1), 1.0, atol=1e-6)
    assert np.abs(combiner.compose(3 * image, text) - query).max() > 1e-3
    with pytest.raises(LikewiseError, match="train one for this encoder"):
        combiner.compose(image[:, :8], text[:, :8])


def test_files_keep_a_combiner(tmp_path: Path) -> None:
    combiner = untrained(12)
    write_combiner(tmp_path / "c", combiner)
    again = read_combiner(tmp_path / "c")
    rng = np.random.default_rng(1)
    image, text = rng.normal(size=(2, 7, 12)).astype(np.float32)
    np.testing.assert_array_equal(combiner.compose(image, text), again.compose(image, text))
    assert again.tower == "hf:somewhere"
    with pytest.raises(LikewiseError, match="holds no Combiner"):
        read_combiner(tmp_path / "nowhere")


def questions(images: list[str], n: int, seed: int) -> pl.DataFrame:
    """Templates nobody can answer from one side: the target is a fixed partner of the reference, one per condition."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        reference, condition = int(rng.integers(len(images))), int(rng.integers(2))
        partner = [images[(reference + step) % len(images)] for step in (7, 13)]
        gallery = [partner[1 - condition], *rng.choice(images, 6, replace=False)]
        kept = [image for image in gallery if image not in (partner[condition], images[reference])]
        rows.append(
            (
                number,
                "partner",
                f"the {('left', 'right')[condition]} one",
                images[reference],
                partner[condition],
                kept[:5],
            )
        )
    return pl.DataFrame(rows, schema=TEMPLATE_SCHEMA, orient="row")


def test_training_learns_what_no_baseline_can_and_is_reproducible(
    drawn: WorkspaceFolder, small_tower: TwoTower, tmp_path: Path
) -> None:
    tower, images = small_tower, small_tower.encoded_images(drawn)[:60]
    train, test = questions(images, 400, 0), questions(images, 150, 1)
    settings = TrainingSettings(steps=150, batch=64, validate_every=50, learning_rate=2e-3, dropout=0.2)
    trained = train_combiner(drawn, tower, to_training_triplets(train), test, tmp_path / "a", settings)
    found = score_templates(
        test,
        ImageTextFeatures.load(drawn, tower, test),
        [*baseline_methods(), ComposerMethod(read_combiner(tmp_path / "a"))],
    )
    recall = {name: float(recall_at_k(tasks["partner"].ranks, 1).mean()) for name, tasks in found.items()}
    assert recall["combiner"] == pytest.approx(trained.best_recall)
    assert recall["combiner"] > max(recall[name] for name in ("image only", "text only", "image + text")) + 0.2
    assert trained.history[0]["recall"] < trained.best_recall
    again = train_combiner(drawn, tower, to_training_triplets(train), test, tmp_path / "b", settings)
    assert again.history[1:] == trained.history[1:]


def test_a_linear_one_begins_as_image_and_text_and_keeps_what_it_learns(
    drawn: WorkspaceFolder, small_tower: TwoTower, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    image, text = (rng.normal(size=(50, 24), scale=scale).astype(np.float32) for scale in (3, 1))
    begun = untrained(24, LINEAR).compose(image, text)
    np.testing.assert_allclose(begun, ImageAndText().compose(image, text), atol=1e-6)
    images = small_tower.encoded_images(drawn)[:60]
    train, test = to_training_triplets(questions(images, 400, 0)), questions(images, 150, 1)
    trained = train_combiner(drawn, small_tower, train, test, tmp_path / "a", recommended_settings("templates", LINEAR))
    assert trained.best_step > 0 and trained.best_recall > trained.history[0]["recall"]
    image, text = small_tower.image_features(drawn, images), small_tower.text_features(["the left one"] * 60)
    stored = read_combiner(tmp_path / "a")
    assert stored.shape.kind == LINEAR
    np.testing.assert_array_equal(stored.compose(image, text), trained.combiner.compose(image, text))


def random_batch(n: int = 40, dim: int = 24, candidates: int = 9) -> QueryBatch:
    rng = np.random.default_rng(3)
    reference, condition = (rng.normal(size=(n, dim)).astype(np.float32) for _ in range(2))
    return QueryBatch(reference, condition, rng.normal(size=(n, candidates, dim)).astype(np.float32))


def test_a_conjunctive_one_begins_as_the_soft_minimum_of_both_sides() -> None:
    """Against the formula in float64; one query vector comes near to it, and is image + text at first."""
    batch = random_batch()
    scores = ComposerMethod(untrained(24, CONJUNCTIVE)).scores(batch)
    unit = batch.gallery / np.linalg.norm(batch.gallery, axis=2, keepdims=True)
    sides = []
    for side in (batch.reference, batch.condition):
        query = (side / np.linalg.norm(side, axis=1, keepdims=True)).astype(np.float64)
        cosine = np.einsum("nd,ngd->ng", query, unit)
        sides.append(10 * (cosine - cosine.mean(axis=1, keepdims=True)))
    np.testing.assert_allclose(scores, -np.log(np.exp(-sides[0]) + np.exp(-sides[1])), atol=1e-4)
    np.testing.assert_allclose(SoftMinimum().scores(batch), scores, atol=1e-4)
    assert (scores <= np.minimum(*sides) + 1e-9).all() and (scores >= np.minimum(*sides) - np.log(2) - 1e-4).all()
    composed = untrained(24, CONJUNCTIVE).compose(batch.reference, batch.condition)
    np.testing.assert_allclose(composed, ImageAndText().compose(batch.reference, batch.condition), atol=1e-6)


def test_one_good_side_does_not_make_up_for_the_other_as_it_does_in_a_sum() -> None:
    """Of a twin of the reference, one that only meets the condition, and one that does both, the last is right."""
    axes = np.eye(4, dtype=np.float32)
    twin, only_meets, both = axes[0], axes[1], 0.5 * (axes[0] + axes[1]) + 0.8 * axes[2]
    batch = QueryBatch(axes[:1], axes[1:2], np.stack([twin, only_meets, both])[None])
    summed = ComposerMethod(ImageAndText()).scores(batch)[0]
    assert summed[0] > summed[2]
    assert ComposerMethod(untrained(4, CONJUNCTIVE)).scores(batch)[0].argmax() == 2


def test_a_conjunctive_one_learns_keeps_what_it_learns_and_has_no_published_arithmetic(
    drawn: WorkspaceFolder, small_tower: TwoTower, tmp_path: Path
) -> None:
    images = small_tower.encoded_images(drawn)[:60]
    train, test = to_training_triplets(questions(images, 400, 0)), questions(images, 150, 1)
    settings = recommended_settings("templates", CONJUNCTIVE)
    trained = train_combiner(drawn, small_tower, train, test, tmp_path / "a", settings)
    assert trained.best_step > 0 and trained.best_recall > trained.history[0]["recall"]
    stored = ComposerMethod(read_combiner(tmp_path / "a"))
    batch = next(iter(ImageTextFeatures.load(drawn, small_tower, test).batches(test)))[1]
    np.testing.assert_array_equal(stored.scores(batch), ComposerMethod(trained.combiner).scores(batch))
    assert with_published_arithmetic(stored) is stored
    shared = QueryBatch(batch.reference, batch.condition, batch.gallery[0])
    alone = QueryBatch(batch.reference, batch.condition, batch.gallery[:1].repeat(len(batch.reference), axis=0))
    np.testing.assert_allclose(stored.scores(shared), stored.scores(alone), atol=1e-4)


def test_what_is_no_candidate_of_a_triplet_does_not_change_what_it_teaches() -> None:
    """A triplet with fewer negatives than others has empty places: whatever stands there, the loss is the same."""
    import torch

    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 24)).astype(np.float32)
    negatives = np.full((8, 3), -1)
    negatives[:4, :2] = rng.integers(20, 28, (4, 2))
    losses = []
    for last in (features[0], -5 * features[0]):  # -1 would be read as the first row
        rows = np.concatenate([last[None], features[1:]])
        arrays = TrainingArrays(np.arange(1, 9), np.arange(9, 17), negatives, np.arange(8), [], [], rows, features[:8])
        settings = replace(recommended_settings("templates", CONJUNCTIVE), negatives_per_triplet=3)
        module = untrained(24, CONJUNCTIVE).module
        with torch.no_grad():
            losses.append(float(contrastive_loss(arrays, module, np.arange(8), settings, np.random.default_rng(1))))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_mined_triplets_train_a_conjunctive_one_and_templates_a_gated_one(tmp_path: Path) -> None:
    assert recommended_settings(str(tmp_path)).kind == CONJUNCTIVE  # a folder of `condition mine`
    assert recommended_settings("templates") == TrainingSettings()
    assert recommended_settings(str(tmp_path), "gated") == TrainingSettings()


@pytest.mark.parametrize("tune", [("image",), ("text",), ("image", "text")])
def test_tuning_changes_only_the_sides_it_names(
    drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path, tune: tuple[str, ...]
) -> None:
    images = tower.encoded_images(drawn)[:24]
    settings = TrainingSettings(tune, steps=3, batch=4, validate_every=3, tune_rate=1e-3, negatives_per_triplet=2)
    trained = train_combiner(
        drawn, tower, to_training_triplets(questions(images, 30, 0)), None, tmp_path / "c", settings
    )
    assert trained.tower.spec.startswith(f"hf:{tmp_path / 'c'}/c-")
    trained.tower.encode(drawn, workers=1)
    texts = ["red", "a blue hat"]
    image_moved = np.abs(trained.tower.image_features(drawn, images) - tower.image_features(drawn, images)).max()
    text_moved = np.abs(trained.tower.text_features(texts) - tower.text_features(texts)).max()
    best_is_trained = trained.best_step > 0
    assert (image_moved > 1e-4) == ("image" in tune and best_is_trained)
    assert (text_moved > 1e-4) == ("text" in tune and best_is_trained)


def test_held_out_references_are_not_trained_on() -> None:
    triplets = to_training_triplets(questions([f"{n}.jpg" for n in range(40)], 200, 0))
    rest, templates = train_validation_split(triplets, 0.2, seed=0)
    assert not set(rest["reference"]) & set(templates["reference"])
    for row in templates.iter_rows(named=True):
        assert row["target"] not in row["gallery"] and row["reference"] not in row["gallery"]
    with pytest.raises(LikewiseError, match="names images of this catalog"):
        keep_encoded_triplets(triplets, ["other.jpg"])


def test_the_command_trains_and_refuses_to_overwrite(drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path) -> None:
    images = tower.encoded_images(drawn)[:40]
    write_parquet(questions(images, 80, 0), tmp_path / "train.parquet")
    asked = ["condition", "train", str(drawn.path), "--name", "tried", "--with", tower.spec]
    asked += ["--on", str(tmp_path / "train.parquet"), "--steps", "4", "--batch", "8", "--json"]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["n_triplets"] + told["n_validation"] == 80
    assert read_combiner(drawn.path / "combiners" / "tried").about["best_step"] == told["best_step"]
    wrong = CliRunner().invoke(app, [*asked, "--kind", "round", "--name", "other"])
    assert str(wrong.exception) == "there is no round Combiner: choose gated, linear or conjunctive."
    refused = CliRunner().invoke(app, asked)
    assert isinstance(refused.exception, LikewiseError)
    assert "holds a Combiner already" in str(refused.exception)


def test_a_combiner_knows_what_it_has_learned_from_and_what_it_was_stopped_by(
    drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path
) -> None:
    images = tower.encoded_images(drawn)[:60]
    train, held, other = (questions(images[start : start + 20], 20, start) for start in (0, 20, 40))
    settings = TrainingSettings(steps=2, batch=8)
    train_combiner(drawn, tower, to_training_triplets(train), held, tmp_path / "c", settings)
    methods = [*baseline_methods(), ComposerMethod(read_combiner(tmp_path / "c"))]

    def learned(questions: pl.DataFrame) -> list[str]:
        return screen_methods(drawn, tower, methods, question_set(drawn, questions, "these")).learned

    assert learned(train) == learned(held) == ["combiner"]
    assert learned(other) == []  # every item of this wardrobe has one picture


def test_early_stopping_on_a_whole_split_masks_the_reference(drawn: WorkspaceFolder, small_tower: TwoTower) -> None:
    """With one gallery for all: text and image alone as composers give what `score_split` gives."""
    images = small_tower.encoded_images(drawn)[:50]
    asked = questions(images, 40, 0).with_columns(pl.concat_list("target").alias("targets"))
    split = SharedGalleryBenchmark("all", asked.select("template", "condition", "reference", "targets"), images)
    validator = Validator(drawn, small_tower, [split])
    for composer in (ImageOnly(), TextOnly()):
        expected = score_split(split, split_features(drawn, small_tower, [split]), [ComposerMethod(composer)])
        assert validator.recall(composer) == pytest.approx(recall_at_k(expected[composer.name]["all"].ranks, 1).mean())
    assert validation_size([split]) == 40


def test_the_triplets_that_a_data_set_brought_along(tmp_path: Path) -> None:
    workspace = WorkspaceFolder(tmp_path)
    write_json({"format": 1, "root": ".", "source": "cirr"}, workspace.settings_file)
    rows = {"reference": ["a", "b"], "condition": ["x", "y"], "target": ["c", "d"], "split": ["train", "val"]}
    write_parquet(pl.DataFrame(rows), workspace.tables_folder / "templates.parquet")
    assert read_training_triplets("official", workspace).rows() == [("a", "x", "c", [])]
