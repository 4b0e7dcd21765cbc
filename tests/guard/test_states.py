"""The guard knows an item by every picture of it: other views, and what it looked like before an update."""

from pathlib import Path

import polars as pl

from likewise.api.workspace import Workspace
from likewise.catalog import make_catalog, read_catalog
from likewise.evaluation.screening import class_set, label_set, pair_answers, triplet_answers, triplet_set
from likewise.lineage import EvaluationSet, Lineage, Task
from likewise.lineage.guard import find_overlap
from likewise.lineage.record import lesson_from_workspace
from likewise.lineage.states import earlier_states
from likewise.workspace import WorkspaceFolder
from tests.conftest import draw_shape
from tests.update.test_update import store_again

ITEMS = ("red", "blue", "green", "orange")


def make_shop(folder: Path, prefix: str = "", name: str = "shop") -> WorkspaceFolder:
    """Four items in two views each, whose names begin as you like."""
    workspace = WorkspaceFolder(folder / name)
    (folder / f"{name}-pictures").mkdir(parents=True)
    rows = []
    for item in ITEMS:
        for view in (0, 1):
            image = f"{prefix}{item}-{view}.png"
            draw_shape("circle", item, view).save(folder / f"{name}-pictures" / image)
            rows.append((image, f"{prefix}{item}"))
    table = pl.DataFrame(rows, schema=["image", "item"], orient="row")
    make_catalog(workspace, table, folder / f"{name}-pictures", "table")
    return workspace


def taught(workspace: WorkspaceFolder, task: Task, answers: set[str]) -> Lineage:
    return Lineage((lesson_from_workspace(workspace, task, f"train on {task}", answers=answers),))


def pairs(*rows: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "candidate"], orient="row")


def learned(lineage: Lineage, asked: EvaluationSet) -> bool:
    return find_overlap("model", lineage, asked).learned


def test_a_label_of_two_items_is_known_from_other_views_of_them(tmp_path: Path) -> None:
    workspace = make_shop(tmp_path)
    catalog = read_catalog(workspace)
    model = taught(workspace, "labels", pair_answers(catalog, [("red-0.png", "blue-0.png")]))
    assert learned(model, label_set(catalog, pairs(("red-1.png", "blue-1.png"))))
    assert learned(model, label_set(catalog, pairs(("blue-1.png", "red-0.png"))))
    assert not learned(model, label_set(catalog, pairs(("red-0.png", "green-0.png"))))  # another pair of items


def test_triplets_are_known_under_other_names_of_the_items(tmp_path: Path) -> None:
    here, there = make_shop(tmp_path), make_shop(tmp_path, "shop-", "other")
    told = pl.DataFrame([("red", "blue", "green")], schema=["anchor", "close", "far"], orient="row")
    model = taught(here, "triplets", triplet_answers(read_catalog(here), told, "item"))
    renamed = told.select(pl.format("shop-{}", name).alias(name) for name in told.columns)
    assert learned(model, triplet_set(read_catalog(there), renamed, "item"))
    other = pl.DataFrame([("shop-red", "shop-blue", "shop-orange")], schema=told.schema, orient="row")
    assert not learned(model, triplet_set(read_catalog(there), other, "item"))


def test_pictures_that_an_update_changed_are_still_those_that_were_learned(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    for item in ITEMS:
        (photos / "circle").mkdir(parents=True, exist_ok=True)
        draw_shape("circle", item, 0).save(photos / "circle" / f"{item}.png")
    workspace = Workspace(tmp_path / "shop")
    workspace.new(photos)
    labelled = pairs(("circle/red.png", "circle/blue.png"))
    answers = pair_answers(read_catalog(workspace), labelled.iter_rows())
    models = {task: taught(workspace, task, answers if task == "labels" else set()) for task in ("labels", "classes")}
    store_again(photos)
    workspace.update(accept_removals=True)
    catalog, earlier = read_catalog(workspace), earlier_states(workspace)
    asked = {
        "labels": label_set(catalog, labelled, earlier=earlier),
        "classes": class_set(catalog, catalog["image"], "the classes", earlier),
    }
    for task, lineage in models.items():
        found = find_overlap("model", lineage, asked[task])
        assert found.learned and found.n_images <= len(ITEMS)
    assert not learned(models["labels"], label_set(catalog, labelled))  # by content alone they are others
