"""CIRR, MIT-States and FashionIQ as a user types them: published layouts, `new`, then `condition evaluate`."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.conditional.towers import TwoTower
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.encoders.conftest import Tiny

__all__ = ["run"]

Right = dict[tuple[str, str], set[str]]
"""(reference, condition) -> right pictures"""


def picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8)
    Image.fromarray(noise).resize((40, 40), Image.Resampling.NEAREST).save(path)


def mit_states(folder: Path) -> list[tuple[set[str], Right]]:
    counts = {"ripe tomato": 5, "sliced tomato": 4, "moldy tomato": 3, "wet road": 3, "dry road": 3, "big dog": 4}
    for place, (name, n) in enumerate({**counts, "adj tomato": 2}.items()):
        for number in range(n):
            picture(folder / "images" / name / f"{number}.jpg", 10 * place + number)
    of = {name: {f"images/{name}/{number}.jpg" for number in range(n)} for name, n in counts.items()}
    right: Right = {}
    for name, pictures in of.items():
        for other, theirs in of.items():
            if name != other and name.split()[1] == other.split()[1] != "dog":
                right |= {(image, other.split()[0]): theirs for image in pictures}
    return [(set().union(*(of[name] for name in of if name != "big dog")), right)]


def fashioniq(folder: Path) -> list[tuple[set[str], Right]]:
    found = []
    for place, category in enumerate(("dress", "shirt", "toptee")):
        names = [f"B00{category[0].upper()}{number:02d}" for number in range(14)]
        for number, name in enumerate(names):
            picture(folder / "images" / f"{name}.png", 100 * place + number)
        asked = [
            {"target": names[n + 5], "candidate": names[n], "captions": [f"is {n} tones redder", "has no sleeves"]}
            for n in range(6)
        ]
        for kind, content in (("captions/cap", asked), ("image_splits/split", names)):
            path = folder / f"{kind}.{category}.val.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content))
        keys = [f"images/{name}.png" for name in names]
        right = {(keys[n], f"is {n} tones redder and has no sleeves"): {keys[n + 5]} for n in range(6)}
        found.append((set(keys), right))
    return found


def cirr(folder: Path) -> list[tuple[set[str], Right]]:
    names = [f"dev-{number // 6}-{number % 6}-img0" for number in range(24)]
    for number, name in enumerate(names):
        picture(folder / "dev" / f"{name}.png", number)
    asked = [
        {
            "pairid": 100 + n,
            "reference": names[6 * n],
            "target_hard": names[6 * n + 2],
            "target_soft": {names[6 * n + 2]: 1.0},
            "caption": f"add {n} more",
            "img_set": {"id": n, "members": names[6 * n : 6 * n + 6], "reference_rank": 0, "target_rank": 2},
        }
        for n in range(3)
    ]
    for place, content in (
        ("captions/cap.rc2.val.json", asked),
        ("image_splits/split.rc2.val.json", {name: f"./dev/{name}.png" for name in names}),
    ):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(json.dumps(content))
    right = {(f"dev/{names[6 * n]}.png", f"add {n} more"): {f"dev/{names[6 * n + 2]}.png"} for n in range(3)}
    return [({f"dev/{name}.png" for name in names}, right)]


MEASURES = {
    "mit_states": ((1, 5, 10), ["mAP@10"]),
    "fashioniq": ((10, 50), []),
    "cirr": ((1, 5, 10, 50), ["R@5+Rs@1"]),
}
"""What each benchmark reports."""


def by_hand(workspace: WorkspaceFolder, tower: TwoTower, gallery: set[str], right: Right, k: int) -> float:
    """Recall@k of image + text, one question after another: every picture of the split but the reference."""
    hit = 0
    keys = sorted(gallery)
    images = dict(zip(keys, tower.image_features(workspace, keys), strict=True))
    images = {key: row / np.linalg.norm(row) for key, row in images.items()}
    for (reference, condition), wanted in right.items():
        text = tower.text_features([condition])[0]
        query = images[reference] + text / np.linalg.norm(text)
        ranked = sorted((key for key in keys if key != reference), key=lambda key: -float(images[key] @ query))
        hit += bool(wanted & set(ranked[:k]))
    return hit / len(right)


@pytest.mark.parametrize("lay_out", [mit_states, fashioniq, cirr])
def test_a_published_split_is_measured_with_its_whole_gallery(
    run: Run, tiny: Tiny, cache: Path, tmp_path: Path, lay_out: Callable[[Path], list[tuple[set[str], Right]]]
) -> None:
    expected = lay_out(tmp_path / "data")
    made = run("new", tmp_path / "ws", tmp_path / "data", "--reader", lay_out.__name__)
    assert made.code == 0, made.err
    spec = f"hf:{tiny('clip')}"
    options = ("--with", spec, "--methods", "image,image+text", "--workers", 1)
    ran = run("condition", "evaluate", tmp_path / "ws", *options, "--json")
    assert ran.code == 0, ran.err
    rows = pl.DataFrame(json.loads(ran.out)).filter(templates=lay_out.__name__, method="image + text")
    ks, more = MEASURES[lay_out.__name__]
    assert rows["measure"].unique(maintain_order=True).to_list() == [*(f"Recall@{k}" for k in ks), *more]
    tasks = [task for task in rows["task"].unique(maintain_order=True) if task != "average"]
    assert len(tasks) == len(expected)
    for task, (gallery, right) in zip(tasks, expected, strict=True):
        of_task = rows.filter(task=task)
        assert of_task["n"].to_list() == [len(right)] * len(of_task)
        for k, value in zip(ks, of_task["value"], strict=False):
            assert value == pytest.approx(
                by_hand(WorkspaceFolder(tmp_path / "ws"), TwoTower.from_spec(spec), gallery, right, k)
            )
        one = np.mean([min(1.0, ks[0] * len(wanted) / (len(gallery) - 1)) for wanted in right.values()])
        assert ks[0] > 1 or of_task["chance"][0] == pytest.approx(one)
