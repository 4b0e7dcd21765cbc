"""CIRCO from its files to mAP@k, and what other systems answered beside it in the same table."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.catalog import read_catalog
from likewise.conditional.run_files import read_query_vectors, read_run
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.conditional.test_average_precision import by_circo
from tests.conditional.test_published import cirr, picture
from tests.encoders.conftest import Tiny

__all__ = ["run"]

N = 60


def circo(folder: Path) -> list[dict[str, object]]:
    """Sixty pictures, six questions with one to four right answers, and one of the test split."""
    listed = [{"id": 7 * number, "file_name": f"{7 * number:012d}.jpg"} for number in range(1, N + 1)]
    for entry in listed:
        picture(folder / "COCO2017_unlabeled/unlabeled2017" / str(entry["file_name"]), int(str(entry["id"])))
    asked: list[dict[str, object]] = []
    for number in range(6):
        right = [7 * (number + 10 * step + 2) for step in range(1 + number % 4)]
        asked.append(
            {
                "id": number,
                "reference_img_id": 7 * (number + 1),
                "relative_caption": f"has {number} more",
                "shared_concept": "a thing",
                "target_img_id": right[-1],
                "gt_img_ids": right,
                "semantic_aspects": ["addition"],
            }
        )
    places = {
        "COCO2017_unlabeled/annotations/image_info_unlabeled2017.json": {"images": listed},
        "annotations/val.json": asked,
        "annotations/test.json": [{key: asked[0][key] for key in ("id", "reference_img_id", "relative_caption")}],
    }
    for name, content in places.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return asked


def test_circo_from_files_to_map_and_other_systems_in_the_same_table(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    asked = circo(tmp_path / "circo")
    ws, spec = tmp_path / "ws", f"hf:{tiny('clip')}"
    assert run("new", ws, tmp_path / "circo", "--reader", "circo").code == 0
    sent = run("condition", "submit", ws, tmp_path / "sent", "--with", spec, "--split", "val", "--workers", 1)
    assert sent.code == 0, sent.err
    ranked = tmp_path / "sent" / "circo-val.json"
    tower, folder = TwoTower.from_spec(spec), WorkspaceFolder(ws)
    texts = tower.text_features([str(question["relative_caption"]) for question in asked])
    key_of = dict(read_catalog(folder).select("name", "image").iter_rows())
    images = tower.image_features(folder, [key_of[str(question["reference_img_id"])] for question in asked])
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (images, texts)]
    np.savez(tmp_path / "sums.npz", questions=np.arange(6), vectors=unit[0] + unit[1])
    methods = f"image+text,run:{ranked},queries:{tmp_path / 'sums.npz'}"
    ran = run("condition", "evaluate", ws, "--with", spec, "--methods", methods, "--workers", 1, "--json")
    assert ran.code == 0, ran.err
    rows = pl.DataFrame(json.loads(ran.out))
    assert rows["measure"].unique(maintain_order=True).to_list() == [f"mAP@{k}" for k in (5, 10, 25, 50)]
    content = json.loads(ranked.read_text())
    right_of = {str(question["id"]): set(question["gt_img_ids"]) for question in asked}  # type: ignore[call-overload]
    for k in (5, 10, 25, 50):
        lists = [([name in right_of[key] for name in names], len(right_of[key])) for key, names in content.items()]
        expected = np.mean([by_circo(labels, k, n_right) for labels, n_right in lists])
        values = dict(rows.filter(measure=f"mAP@{k}").select("method", "value").iter_rows())
        assert set(values) == {"image + text", "circo-val", "sums"}
        assert list(values.values()) == pytest.approx([expected] * 3)
    shown = run("condition", "evaluate", ws, "--with", spec, "--methods", methods).out
    assert "mAP@25" in shown and "circo-val" in shown and "sums" in shown
    assert "what circo-val learned from is not recorded" in " ".join(shown.split())
    alone = run("condition", "evaluate", ws, "--methods", f"run:{ranked}", "--json")  # no encoder at all
    found = pl.DataFrame(json.loads(alone.out)).filter(measure="mAP@5")
    assert found["value"].to_list() == pytest.approx(
        rows.filter(measure="mAP@5", method="circo-val")["value"].to_list()
    )
    tested = run("condition", "submit", ws, tmp_path / "sent", "--with", spec, "--json")
    assert json.loads(tested.out)["files"] == [str(tmp_path / "sent" / "circo-test.json")]


def test_a_run_of_cirr_is_its_submission_file(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    ws, spec = tmp_path / "ws", f"hf:{tiny('clip')}"
    assert run("new", ws, cirr(tmp_path / "cirr"), "--reader", "cirr").code == 0
    options = ("--with", spec, "--split", "val", "--method", "text", "--workers", 1)
    assert run("condition", "submit", ws, tmp_path / "out", *options).code == 0
    run_file = tmp_path / "out" / "cirr-recall.json"
    ran = run("condition", "evaluate", ws, "--with", spec, "--methods", f"text,run:{run_file}", "--json")
    whole = pl.DataFrame(json.loads(ran.out)).filter(task="cirr val").pivot("method", index="measure", values="value")
    assert whole["cirr-recall"].to_list() == pytest.approx(whole["text only"].to_list())


def test_questions_of_ones_own_ask_the_whole_catalog(run: Run, tmp_path: Path, tiny: Tiny) -> None:
    rows = []
    for number in range(20):
        picture(tmp_path / "shop" / f"{number}.jpg", number)
        rows.append({"image": f"{number}.jpg"})
    pl.DataFrame(rows).write_csv(tmp_path / "shop" / "catalog.csv")
    assert run("new", tmp_path / "ws", tmp_path / "shop" / "catalog.csv").code == 0
    asked = pl.DataFrame({"reference": ["0", "1.jpg"], "condition": ["in red"] * 2, "targets": [["2", "3"], ["4"]]})
    asked.write_ndjson(tmp_path / "asked.jsonl")
    lines = "0 Q0 7.jpg 1 9.5 mine\n0 Q0 3.jpg 2 9.0 mine\n1 Q0 4.jpg 1 3 mine\n"
    (tmp_path / "mine.trec").write_text(lines)
    options = ("--questions", tmp_path / "asked.jsonl", "--json")
    ran = run("condition", "evaluate", tmp_path / "ws", "--methods", f"run:{tmp_path / 'mine.trec'}", *options)
    assert ran.code == 0, ran.err
    value = {row["measure"]: row["value"] for row in json.loads(ran.out)}
    assert value["Recall@1"] == 0.5 and value["Recall@5"] == 1.0
    # the first question has two right ones: the second place, and one among 17 equal last places
    first = (1 / 2 + sum((1 / 17) * 2 / (3 + place) for place in range(3))) / 2
    assert value["mAP@5"] == pytest.approx((first + 1.0) / 2)
    run_file = f"run:{tmp_path / 'mine.trec'}"
    wrong = run("condition", "evaluate", tmp_path / "ws", "--methods", run_file, "--questions", tmp_path / "mine.trec")
    assert wrong.code == 2 and "no table of questions" in wrong.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", '{"1": ["nobody.jpg"]}', "not in the catalog"),
        ("a.json", '{"1": ["a", "a"]}', "lists a twice"),
        ("a.json", '{"one": ["a"]}', "no number of a question"),
        ("a.json", "[]", "is no run"),
        ("a.csv", "question,image\n1,a\n", "neither score nor rank"),
        ("a.csv", "question,image,score\n1,a,much\n", "score is .much., not a number"),
        ("a.trec", "1 Q0 a 1\n", "line 1"),
        ("a.pdf", "", "is no file of a run"),
    ],
)
def test_runs_that_do_not_fit_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(LikewiseError, match=message):
        read_run(tmp_path / name, pl.DataFrame({"image": ["x/a.jpg", "x/b.jpg"]}))


def test_every_way_to_write_a_run_gives_the_same_answers(tmp_path: Path) -> None:
    catalog = pl.DataFrame({"image": ["x/a.jpg", "x/b.jpg", "x/c.jpg"]})
    table = pl.DataFrame({"task": ["t", "t"], "question": [3, 3], "image": ["b", "a"], "score": [0.0, -1.0]})
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    table.write_ndjson(tmp_path / "a.jsonl")
    (tmp_path / "a.json").write_text('{"t": {"3": ["b.jpg", "x/a.jpg"]}}')
    (tmp_path / "b.json").write_text('{"t": {"3": {"b": 0, "a": -1}}}')
    (tmp_path / "a.run").write_text("t/3 Q0 b 1 0 me\nt/3 Q0 a 2 -1 me\n")
    for name in ("a.csv", "a.parquet", "a.jsonl", "a.json", "b.json", "a.run"):
        assert read_run(tmp_path / name, catalog).answers == {("t", 3): {"x/b.jpg": 0.0, "x/a.jpg": -1.0}}, name


def test_query_vectors_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", questions=np.array([1, 1]), vectors=np.ones((2, 3)))
    with pytest.raises(LikewiseError, match="two vectors for one question"):
        read_query_vectors(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", questions=np.array([1]), vectors=np.full((1, 3), np.nan))
    with pytest.raises(LikewiseError, match="finite"):
        read_query_vectors(tmp_path / "b.npz")
    pl.DataFrame({"question": [5], "vector": [[3.0, 4.0]]}).write_parquet(tmp_path / "c.parquet")
    assert read_query_vectors(tmp_path / "c.parquet").vectors.tolist() == [pytest.approx([0.6, 0.8])]
