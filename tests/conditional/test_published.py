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
    assert {row["measure"] for row in whole} == {"Recall@1", "Recall@5", "Recall@10"} and {
        row["n"] for row in whole
    } == {2}
    level = {round(row["chance"], 9) for row in whole if row["measure"] == "Recall@1"}
    assert level == {round(1 / 11, 9)}  # twelve without the reference
    subset = [row for row in rows if row["task"] == "cirr val subset"]
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
