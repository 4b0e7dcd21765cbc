"""`--official` against the published evaluation, written down here from its description, on features in a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from likewise.conditional.composers import ComposerMethod, ImageAndText, ImageOnly, TextOnly
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TEMPLATE_SCHEMA
from likewise.conditional.published_arithmetic import PublishedMethod
from tests.cli.conftest import Run, run
from tests.conditional.test_published import picture

__all__ = ["run"]

torch = pytest.importorskip("torch")
N_IMAGES, N_TEMPLATES, DIM = 60, 40, 24


def features_file(folder: Path) -> Path:
    """Features of unequal lengths, two pictures with equal ones, as another program would write them."""
    rng = np.random.default_rng(8)
    images = rng.standard_normal((N_IMAGES, DIM), dtype=np.float32) * rng.uniform(0.5, 9.0, (N_IMAGES, 1))
    images[5] = images[4]
    np.savez(
        folder / "features.npz",
        images=np.array([f"{number + 1:012d}.jpg" for number in range(N_IMAGES)]),
        image_features=images.astype(np.float32),
        texts=np.array(["sky", "dog"]),
        text_features=3 * rng.standard_normal((2, DIM), dtype=np.float32),
    )
    return folder / "features.npz"


def genecis(folder: Path) -> Path:
    rng = np.random.default_rng(4)
    for number in range(1, N_IMAGES + 1):
        picture(folder / "val2017" / f"{number:012d}.jpg", number)
    entries = []
    for place in range(N_TEMPLATES):
        chosen = [{"val_image_id": int(number)} for number in rng.choice(N_IMAGES, 16, replace=False) + 1]
        if place == 0:  # a target that a distractor equals: published as a hit, here a tie
            chosen[0], chosen[1], chosen[2] = chosen[0], {"val_image_id": 5}, {"val_image_id": 6}
        entries.append(
            {"condition": ["sky", "dog"][place % 2], "reference": chosen[0], "target": chosen[1], "gallery": chosen[2:]}
        )
    (folder / "focus_object.json").write_text(json.dumps(entries))
    return folder


def published_scores(file: Path, folder: Path, mode: str) -> Any:
    """One template after another: features unscaled, the mix scaled, multiplied and summed in float32."""
    stored = np.load(file)
    row_of = {name: row for row, name in enumerate(stored["images"].tolist())}
    text_of = {text: row for row, text in enumerate(stored["texts"].tolist())}
    images, texts = torch.from_numpy(stored["image_features"]), torch.from_numpy(stored["text_features"])
    lines = []
    for entry in json.loads((folder / "focus_object.json").read_text()):
        keys = [f"{one['val_image_id']:012d}.jpg" for one in (entry["reference"], entry["target"], *entry["gallery"])]
        rows = images[[row_of[key] for key in keys]]
        caption = texts[text_of[entry["condition"]]][None]
        mixed = {"image": rows[:1], "text": caption, "both": 0.5 * rows[:1] + (1 - 0.5) * caption}[mode]
        query = torch.nn.functional.normalize(mixed, dim=-1)
        gallery = torch.nn.functional.normalize(rows[1:][None], dim=-1)
        lines.append((query[:, None, :] * gallery).sum(dim=-1))
    return torch.cat(lines)


def published_recall(scores: Any, k: int) -> float:
    order = scores.sort(dim=-1, descending=True)[1]
    return float((order[:, :k] == 0).any(dim=1).float().mean())


def test_official_recall_is_the_published_one_on_features_in_a_file(run: Run, tmp_path: Path) -> None:
    file, folder = features_file(tmp_path), genecis(tmp_path / "genecis")
    assert run("new", tmp_path / "ws", folder, "--reader", "genecis").code == 0
    options = ("--with", f"features:{file}", "--json")
    ran = run("condition", "evaluate", tmp_path / "ws", *options, "--official")
    assert ran.code == 0, ran.err
    value = {(row["method"], row["measure"]): row["value"] for row in json.loads(ran.out)}
    for mode, method in (("image", "image only"), ("text", "text only"), ("both", "image + text")):
        for k in (1, 2, 3):
            expected = published_recall(published_scores(file, folder, mode), k)
            assert value[method, f"Recall@{k}"] == pytest.approx(expected, abs=1e-7)
    fair = json.loads(run("condition", "evaluate", tmp_path / "ws", *options).out)
    fair_value = {(row["method"], row["measure"]): row["value"] for row in fair}
    assert fair_value["image + text", "Recall@3"] != value["image + text", "Recall@3"]  # unit directions, not unscaled


def test_official_scores_are_the_published_ones_to_the_last_bit(tmp_path: Path) -> None:
    file, folder = features_file(tmp_path), genecis(tmp_path / "genecis")
    stored = np.load(file)
    entries = json.loads((folder / "focus_object.json").read_text())
    rows = [
        (
            number,
            "focus_object",
            entry["condition"],
            *(f"{entry[name]['val_image_id']:012d}.jpg" for name in ("reference", "target")),
            [f"{one['val_image_id']:012d}.jpg" for one in entry["gallery"]],
        )
        for number, entry in enumerate(entries)
    ]
    templates = pl.DataFrame(rows, schema=TEMPLATE_SCHEMA, orient="row")
    features = ImageTextFeatures(
        stored["images"].tolist(), stored["image_features"], stored["texts"].tolist(), stored["text_features"]
    )
    [(_, batch)] = features.batches(templates)
    for mode, composer in (("image", ImageOnly()), ("text", TextOnly()), ("both", ImageAndText())):
        expected = published_scores(file, folder, mode).numpy().astype(np.float64)
        assert np.array_equal(PublishedMethod(composer).scores(batch), expected)
        close = ComposerMethod(composer).scores(batch)
        assert mode == "both" or np.allclose(close, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda arrays: arrays.pop("texts"), "no array texts"),
        (lambda arrays: arrays.update(texts=np.array(["sky", "cat"])), "no features of the text 'dog'"),
        (lambda arrays: arrays.update(images=arrays["images"][:-1]), "one row for each of `images`"),
        (lambda arrays: arrays.update(images=np.array([f"x{n}" for n in range(N_IMAGES)])), "no image of"),
    ],
)
def test_a_file_of_features_that_does_not_fit_is_refused(run: Run, tmp_path: Path, spoil: object, message: str) -> None:
    file, folder = features_file(tmp_path), genecis(tmp_path / "genecis")
    arrays = dict(np.load(file))
    assert callable(spoil)
    spoil(arrays)
    np.savez(file, **arrays)
    assert run("new", tmp_path / "ws", folder, "--reader", "genecis").code == 0
    ran = run("condition", "evaluate", tmp_path / "ws", "--with", f"features:{file}")
    assert ran.code == 2 and message in ran.err
