"""CIRR, MIT-States and FashionIQ: whole splits as galleries, and the file that CIRR's server takes."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.catalog.readers import read
from likewise.conditional.composers import baseline_methods
from likewise.conditional.evaluate import TaskResults, recall_table
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.splits import (
    KS,
    SharedGalleryBenchmark,
    cirr_splits,
    fashioniq_splits,
    mit_states_split,
    score_split,
)
from likewise.conditional.submission import check_submission, ranked_names, write_submission
from likewise.errors import LikewiseError
from tests.real.places import real_data


def drawn(split: SharedGalleryBenchmark, dim: int = 16) -> ImageTextFeatures:
    rng = np.random.default_rng(2)
    texts = split.queries["condition"].unique().sort().to_list()  # `unique` has no order of its own
    return ImageTextFeatures(
        split.gallery,
        rng.standard_normal((len(split.gallery), dim), dtype=np.float32),
        texts,
        rng.standard_normal((len(texts), dim), dtype=np.float32),
    )


def test_cirr_validation_has_every_image_of_the_split_as_gallery() -> None:
    folder = real_data("cirr")
    reading = read(folder, "cirr")
    [split] = cirr_splits(reading.rows, reading.tables["templates"], "val")
    listed = json.loads((folder / "split.rc2.val.json").read_text())
    assert {f"./{image}" for image in split.gallery} == set(listed.values())
    assert len(split.queries) == len(json.loads((folder / "cap.rc2.val.json").read_text())) == 4181
    assert set(split.queries["targets"].explode()) <= set(split.gallery)
    answers = score_split(split, drawn(split), baseline_methods())
    table = recall_table({"random": answers}, ks=KS)
    assert table["n"].to_list() == [4181] * 9
    first = table.filter(measure="Recall@10", method="text only").row(0, named=True)
    assert first["chance"] == pytest.approx(10 / (len(split.gallery) - 1))  # the reference is no candidate
    assert first["low"] <= first["chance"] <= first["high"]
    assert split.subsets is not None and set(split.subsets["gallery"].list.len()) == {4}


def small_cirr(folder: Path) -> tuple[SharedGalleryBenchmark, pl.DataFrame, dict[str, str]]:
    names = [f"test1-{number}" for number in range(60)]
    sets = [names[start : start + 6] for start in range(0, 60, 6)]
    asked = [
        {"pairid": number, "reference": names[number], "caption": f"more {number}", "img_set": {"members": members}}
        for number, members in ((0, sets[0]), (7, sets[1]), (13, sets[2]))
    ]
    (folder / "split.rc2.test1.json").write_text(json.dumps({name: f"./test1/{name}.png" for name in names}))
    (folder / "cap.rc2.test1.json").write_text(json.dumps(asked))
    reading = read(folder, "cirr")
    [split] = cirr_splits(reading.rows, reading.tables["templates"], "test1")
    return split, reading.tables["templates"], dict(reading.rows.select("image", "name").iter_rows())


def test_a_submission_holds_what_the_server_asks_for(tmp_path: Path) -> None:
    split, templates, names = small_cirr(tmp_path)
    members = dict(templates.select("template", "members").iter_rows())
    features = drawn(split)
    contents = ranked_names(split, members, names, features, baseline_methods()[0])
    paths = write_submission(tmp_path / "out", contents, templates, names)
    recall, subset = (json.loads(path.read_text()) for path in paths)
    assert (recall["version"], recall["metric"]) == ("rc2", "recall")
    assert {len(recall[pair]) for pair in ("0", "7", "13")} == {50}
    assert {len(subset[pair]) for pair in ("0", "7", "13")} == {3}
    assert set(subset["7"]) <= {names[image] for image in members[7]} - {"test1-7"}
    directions = features.image_features / np.linalg.norm(features.image_features, axis=1, keepdims=True)
    reference = split.gallery.index("test1/test1-7.png")
    order = np.argsort(-(directions @ directions[reference]))
    assert recall["7"][0] == names[split.gallery[order[1]]]  # after itself
    with pytest.raises(LikewiseError, match="no question with a known answer"):
        score_split(split, features, baseline_methods())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda content: content.pop("7"), "1 are missing"),
        (lambda content: content.update(version="rc1"), '"version": "rc2"'),
        (lambda content: content["0"].pop(), "needs 50 different names"),
        (lambda content: content["0"].__setitem__(0, content["0"][1]), "needs 50 different names"),
        (lambda content: content["13"].__setitem__(4, "test1-13"), "lists its own reference"),
        (lambda content: content["13"].__setitem__(4, "train-3"), "names train-3"),
    ],
)
def test_a_wrong_submission_is_refused(tmp_path: Path, spoil: object, message: str) -> None:
    split, templates, names = small_cirr(tmp_path)
    members = dict(templates.select("template", "members").iter_rows())
    content = ranked_names(split, members, names, drawn(split), baseline_methods()[1])["recall"]
    assert callable(spoil)
    spoil(content)
    with pytest.raises(LikewiseError, match=message):
        check_submission(content, templates, names, "mine.json")


def test_mit_states_has_several_right_answers(tmp_path: Path) -> None:
    for adjective, noun, count in (
        ("ripe", "tomato", 3),
        ("sliced", "tomato", 4),
        ("big", "dog", 2),
        ("adj", "tea", 1),
    ):
        folder = tmp_path / "images" / f"{adjective} {noun}"
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"{number}.jpg").touch()
    reading = read(tmp_path, "mit_states")
    split = mit_states_split(reading.rows, reading.tables["queries"], "test")
    assert len(split.gallery) == 7 and len(split.queries) == 7  # each of seven tomatoes, the other adjective
    assert set(split.queries.filter(condition="sliced")["targets"].list.len()) == {4}
    rows = np.zeros((7, 2), np.float32)
    rows[:, 0] = 1.0
    same = ImageTextFeatures(split.gallery, rows, ["ripe", "sliced"], np.ones((2, 2), np.float32))
    table = recall_table({"same": score_split(split, same, baseline_methods()[:1])}, ks=(1, 5))
    # six candidates: three queries have four right ones, four have three
    assert table["value"][0] == pytest.approx((3 * 4 / 6 + 4 * 3 / 6) / 7) == pytest.approx(table["chance"][0])


def test_fashioniq_has_a_gallery_per_category(tmp_path: Path) -> None:
    for category, names in (("dress", ["A1", "A2", "A3"]), ("shirt", ["B1", "B2", "A1"])):
        (tmp_path / f"split.{category}.val.json").write_text(json.dumps(names))
        asked = [{"candidate": names[0], "target": names[2], "captions": ["is red", "is longer"]}]
        (tmp_path / f"cap.{category}.val.json").write_text(json.dumps(asked))
    reading = read(tmp_path, "fashioniq")
    dress, shirt = fashioniq_splits(reading.rows, reading.tables["templates"], "val")
    assert [len(dress.gallery), len(shirt.gallery)] == [3, 3]
    assert dress.queries["condition"].to_list() == ["is red and is longer"]
    answers: TaskResults = {"image only": {}}
    for split in (dress, shirt):
        for method, tasks in score_split(split, drawn(split), baseline_methods()[:1]).items():
            answers[method] |= tasks
    named = recall_table({"random": answers}, ks=(1,))["task"].to_list()
    assert named == ["fashioniq dress val", "fashioniq shirt val", "average"]
