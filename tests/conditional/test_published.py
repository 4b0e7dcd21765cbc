"""Published benchmarks from their files to the table, through the commands, with pictures of our own."""

import json
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from tests.cli.conftest import Run, run
from tests.encoders.conftest import Tiny

__all__ = ["run"]


def picture(path: Path, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(number).integers(0, 255, (40, 48, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)


def cirr(folder: Path) -> Path:
    """Two splits of sixty and twelve pictures; only the first has answers."""
    for split, n_images in (("val", 12), ("test1", 60)):
        names = [f"{split}-{number}" for number in range(n_images)]
        for number, name in enumerate(names):
            picture(folder / "img_raw" / split / f"{name}.png", number + 100 * len(split))
        asked = []
        for pair, first in enumerate(range(0, n_images, 6)):
            entry = {
                "pairid": pair,
                "reference": names[first],
                "caption": f"make it {pair}",
                "img_set": {"members": names[first : first + 6]},
            }
            answer = {"target_hard": names[first + 1], "target_soft": {names[first + 1]: 1.0}} if split == "val" else {}
            asked.append(entry | answer)
        (folder / f"split.rc2.{split}.json").write_text(json.dumps({name: f"./{split}/{name}.png" for name in names}))
        (folder / f"cap.rc2.{split}.json").write_text(json.dumps(asked))
    return folder


def test_cirr_from_files_to_table_and_submission(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    ws, spec = tmp_path / "ws", f"hf:{tiny('clip')}"
    assert run("new", ws, cirr(tmp_path / "cirr"), "--reader", "cirr").code == 0
    ran = run("condition", "evaluate", ws, "--with", spec, "--workers", 1, "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)
    whole = [row for row in rows if row["task"] == "cirr val"]
    recalls = [f"Recall@{k}" for k in (1, 5, 10, 50)]
    assert {row["measure"] for row in whole} == {*recalls, "R@5+Rs@1"} and {row["n"] for row in whole} == {2}
    level = {round(row["chance"], 9) for row in whole if row["measure"] == "Recall@1"}
    assert level == {round(1 / 11, 9)}  # twelve without the reference
    subset = [row for row in rows if row["task"] == "cirr val subset"]
    value = {(row["method"], row["measure"]): row["value"] for row in whole}
    among = {(row["method"], row["measure"]): row["value"] for row in subset}
    for method in ("image only", "text only", "image + text"):
        mean = (value[method, "Recall@5"] + among[method, "Recall@1"]) / 2
        assert round(value[method, "R@5+Rs@1"], 9) == round(mean, 9)
    assert {round(row["chance"], 9) for row in subset if row["measure"] == "Recall@1"} == {0.2}
    sent = run("condition", "submit", ws, tmp_path / "out", "--with", spec, "--method", "text", "--json")
    assert json.loads(sent.out)["questions"] == 10, sent.err
    content = json.loads((tmp_path / "out" / "cirr-recall.json").read_text())
    assert len(content["3"]) == 50 and "test1-18" not in content["3"]
    wrong = run("condition", "submit", ws, tmp_path / "out", "--split", "val2")
    assert wrong.code == 2 and "no image is in the split 'val2'" in wrong.err


def test_genecis_objects_from_files_to_table(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    folder = tmp_path / "genecis"
    for number in range(1, 41):
        picture(folder / "val2017" / f"{number:012d}.jpg", number)
    ids = [{"val_image_id": number} for number in range(1, 41)]
    for task, first in (("focus_object", 0), ("change_object", 20)):
        entry = {
            "condition": "sky",
            "reference": ids[first],
            "target": ids[first + 1],
            "gallery": ids[first + 2 : first + 16],
        }
        again = entry | {"gallery": [ids[first + 1], *ids[first + 2 : first + 15]]}
        (folder / f"{task}.json").write_text(json.dumps([entry, again]))
    ws, spec = tmp_path / "ws", f"hf:{tiny('clip')}"
    assert run("new", ws, folder, "--reader", "genecis").code == 0
    audited = json.loads(run("condition", "audit", ws, "--json").out)
    found = {(row["task"], row["template"], row["problem"]) for row in audited["problems"]}
    assert {(task, 1, "target stands in the gallery") for task in ("focus_object", "change_object")} <= found
    detections = tmp_path / "found.csv"
    rows = [
        (f"{number:012d}.jpg", name, 0.9) for number in (1, 2, 21, 22) for name in ("sky-other-merged", "cat", "tree")
    ]
    pl.DataFrame(rows, schema=["image", "name", "score"], orient="row").write_csv(detections)
    options = (
        "--with",
        spec,
        "--workers",
        1,
        "--methods",
        "image,objects",
        "--detections",
        detections,
    )
    fair = json.loads(run("condition", "evaluate", ws, *options, "--json").out)
    value = {(row["method"], row["task"], row["measure"]): row["value"] for row in fair}
    assert value["detected objects", "focus_object", "Recall@1"] == 0.75  # a repeated target is a tie: half a hit
    official = json.loads(run("condition", "evaluate", ws, *options, "--official", "--json").out)
    value = {(row["method"], row["task"], row["measure"]): row["value"] for row in official}
    assert value["detected objects", "focus_object", "Recall@1"] == 1.0
    table = pl.read_parquet(ws / "results" / "conditions.parquet")
    assert set(table["ties"]) == {"fair", "official"} and set(table["templates"]) == {"official"}


def attribute_files(folder: Path) -> Path:
    """GeneCIS' attribute tasks over twelve pictures, the target and a distractor two boxes of one of them."""
    for number in range(1, 13):
        picture(folder / "VG_100K" / f"{number}.jpg", number)
    boxes = [{"image_id": number, "instance_bbox": [2, 2, 20, 20]} for number in range(1, 13)]
    other = {"image_id": 2, "instance_bbox": [20, 10, 18, 18]}
    for task, condition, size in (("focus_attribute", "color", 9), ("change_attribute", "red", 10)):
        entry = {"condition": condition, "reference": boxes[0], "target": boxes[1]}
        entries = [entry | {"gallery": [other, *boxes[2 : size + 1]]} for _ in range(2)]
        (folder / f"{task}.json").write_text(json.dumps(entries))
    return folder


def test_genecis_attributes_are_cut_out_before_they_are_measured(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    ws, spec = tmp_path / "ws", f"hf:{tiny('clip')}"
    assert run("new", ws, attribute_files(tmp_path / "genecis"), "--reader", "genecis").code == 0
    uncut = run("condition", "evaluate", ws, "--with", spec, "--workers", 1)
    assert uncut.code == 2 and "must be cut out" in uncut.err and "likewise condition crops" in uncut.err
    audited = json.loads(run("condition", "audit", ws, "--json").out)
    assert {row["problem"] for row in audited["problems"]} == {"same question twice"}  # no repeated picture
    assert run("condition", "crops", ws, tmp_path / "parts").code == 0
    options = ("--with", spec, "--workers", 1, "--methods", "text,attributes", "--json")
    ran = run("condition", "evaluate", tmp_path / "parts", *options)
    assert ran.code == 0, ran.err
    value = {(row["method"], row["task"], row["measure"]): row["value"] for row in json.loads(ran.out)}
    assert ("attribute prediction", "change_attribute", "Recall@1") in value
    assert value["attribute prediction", "focus_attribute", "Recall@1"] is not None


def test_object_tasks_are_measured_where_attribute_tasks_are_not_cut_out(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    folder = attribute_files(tmp_path / "genecis")
    for number in range(1, 17):
        picture(folder / "val2017" / f"{number:012d}.jpg", number)
    ids = [{"val_image_id": number} for number in range(1, 17)]
    entry = {"condition": "sky", "reference": ids[0], "target": ids[1], "gallery": ids[2:16]}
    (folder / "focus_object.json").write_text(json.dumps([entry]))
    assert run("new", tmp_path / "ws", folder, "--reader", "genecis").code == 0
    ran = run("condition", "evaluate", tmp_path / "ws", "--with", f"hf:{tiny('clip')}", "--workers", 1)
    assert ran.code == 0 and "not measured: 4 templates" in " ".join(ran.out.split())
    assert "focus object" in ran.out and "focus attribute" not in ran.out
